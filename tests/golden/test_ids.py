"""When two ids are the same: cases worked out by hand."""

from __future__ import annotations

from unittest import mock

import pyarrow as pa
import pytest

import karat
from karat import Answer, Corpus, Document, Label, Reply, Run
from karat.kb.spelling import recognised, spelt
from karat.kb.tables import Tables
from karat.spec.choices.conventions import Ids

BERLIN = "https://en.wikipedia.org/wiki/Berlin"
KÖLN = "https://de.wikipedia.org/wiki/Köln"


def sides(*links: tuple[str | None, str | None]):
    """A gold standard and answers on the same spans, linked so."""
    text = "x" * len(links)
    labels = tuple(Label(n, n + 1, gold) for n, (gold, _) in enumerate(links))
    answers = tuple(Answer(n, n + 1, answer) for n, (_, answer) in enumerate(links))
    return Corpus.of([Document("d", text, labels)], name="gold"), Run.of([Reply("d", answers)], name="mine")


def same(one: str, two: str, **options) -> bool:
    return bool(karat.evaluate(*sides((one, two)), match="strong", **options)["strong:micro.f1"])


@pytest.mark.parametrize(
    ("normal", "spellings"),
    [
        (
            "Q64",
            "q64 wd:Q64 wikidata:Q64 http://www.wikidata.org/entity/Q64 https://www.wikidata.org/wiki/Q64 "
            "https://m.wikidata.org/wiki/q64 //www.wikidata.org/entity/Q64 www.wikidata.org/entity/Q64 "
            "https://www.wikidata.org/wiki/Special:EntityData/Q64 https://www.wikidata.org/wiki/Q64#P31",
        ),
        (
            BERLIN,
            "http://en.wikipedia.org/wiki/Berlin http://en.m.wikipedia.org/wiki/Berlin enwiki:Berlin "
            "https://en.wikipedia.org/wiki/berlin https://en.wikipedia.org/wiki/%42erlin "
            "https://EN.Wikipedia.org/wiki/_Berlin_ en.wikipedia.org/wiki/Berlin#History",
        ),
        (
            KÖLN,
            "https://de.wikipedia.org/wiki/K%C3%B6ln https://de.wikipedia.org/wiki/Ko\u0308ln "
            "http://de.wikipedia.org/wiki/k%c3%b6ln",
        ),
        (
            "http://dbpedia.org/resource/AC/DC",
            "https://dbpedia.org/resource/AC/DC http://dbpedia.org/page/AC%2FDC dbr:AC/DC dbpedia:AC/DC "
            "http://en.dbpedia.org/resource/AC/DC#it",
        ),
        ("http://fr.dbpedia.org/resource/Paris", "https://fr.dbpedia.org/page/Paris dbpedia-fr:Paris"),
    ],
)
def test_spellings_of_one_id(normal, spellings):
    for id in spellings.split():
        assert recognised(id).normal == normal
        assert same(normal, id)
        assert not same(normal, id, ids="as-written")


def test_a_common_spelling_needs_no_look_of_its_own():
    ids = pa.array(["http://de.wikipedia.org/wiki/A_B", "wd:Q1", "http://dbpedia.org/page/A_b", "Q1"])
    with mock.patch("karat.kb.spelling._normal", side_effect=AssertionError):
        read = spelt(ids, Ids.NORMALISED).to_pylist()
    assert read == ["https://de.wikipedia.org/wiki/A_B", "Q1", "http://dbpedia.org/resource/A_b", "Q1"]


def test_blanks_are_underscores_in_titles():
    assert same("http://en.wikipedia.org/wiki/New York", "https://en.wikipedia.org/wiki/New__York")
    assert same("http://dbpedia.org/resource/New York", "http://dbpedia.org/resource/New_York")
    assert not same("http://dbpedia.org/resource/New__York", "http://dbpedia.org/resource/New_York")


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (BERLIN, "https://de.wikipedia.org/wiki/Berlin"),
        (BERLIN, "https://simple.wikipedia.org/wiki/Berlin"),
        (BERLIN, "https://en.wikipedia.org/wiki/BERLIN"),
        (BERLIN, "http://dbpedia.org/resource/Berlin"),
        (BERLIN, "Berlin"),
        ("http://dbpedia.org/resource/Berlin", "http://de.dbpedia.org/resource/Berlin"),
        ("http://dbpedia.org/resource/IPod", "http://dbpedia.org/resource/iPod"),
        ("https://jbo.wikipedia.org/wiki/dotco", "https://jbo.wikipedia.org/wiki/Dotco"),
        ("https://en.wikipedia.org/wiki/Andr%E9", "https://en.wikipedia.org/wiki/Andr%EA"),  # no UTF-8
        ("https://en.wikipedia.org/wiki/%2541", "https://en.wikipedia.org/wiki/A"),  # encoded twice is another title
        ("Q64", "http://example.org/entity/Q64"),
        ("Q64", "P64"),
        ("Angela_Merkel", "Angela Merkel"),
        ("http://yago-knowledge.org/resource/Berlin", "https://yago-knowledge.org/resource/Berlin"),
        ("http://www.wikipedia.org/wiki/Berlin", "https://www.wikipedia.org/wiki/Berlin"),
        ("mesh:D1", "MESH:D1"),
    ],
)
def test_what_stays_apart(one, two):
    assert not same(one, two)
    assert same(one, one)


def test_a_further_id_counts_however_it_is_written():
    corpus = Corpus.of([Document("d", "x", (Label(0, 1, "local", same_as=("wd:Q64",)),))])
    result = karat.evaluate(corpus, Run.of([Reply("d", (Answer(0, 1, "http://www.wikidata.org/entity/Q64"),))]))
    assert result["strong:micro.f1"] == 1
    assert result.id_health.unmatchable == 0


def test_what_was_merged_is_listed_and_fragments_are_counted():
    links = [("Q64", "wd:Q64"), (BERLIN, f"{BERLIN}#History"), ("Q1", "Q1"), (KÖLN, KÖLN), (None, "q64")]
    health = karat.evaluate(*sides(*links)).id_health
    assert health.merged == {"Q64": ("Q64", "q64", "wd:Q64"), BERLIN: (BERLIN, f"{BERLIN}#History")}
    assert health.fragments == (0, 1)
    assert health.gold == {"QID": 2, "Wikipedia de": 1, "Wikipedia en": 1}
    assert health.answers == {"QID": 3, "Wikipedia de": 1, "Wikipedia en": 1}
    assert health.well
    assert next(health.spellings()) == "Q64 is written Q64, q64, wd:Q64"


def test_a_knowledge_base_is_asked_in_its_own_spelling():
    kb = Tables.of(
        redirects={"http://en.wikipedia.org/wiki/K%C3%B6ln": "http://en.wikipedia.org/wiki/Cologne"},
        same_as=[("http://www.wikidata.org/entity/Q365", "http://en.wikipedia.org/wiki/Cologne")],
        names={"http://www.wikidata.org/entity/Q365": "Cologne"},
    )
    for one, two in (("Q365", "https://en.m.wikipedia.org/wiki/cologne"), ("wd:Q365", "enwiki:Köln")):
        assert same(one, two, kb=kb)
        assert not same(one, two)
        assert not same(one, two, kb=kb, ids="resolved")  # as written
    assert not same("Q365", "https://de.wikipedia.org/wiki/Cologne", kb=kb)


def test_prefixes_look_at_any_spelling():
    options = {"like": "gerbil", "ids": "normalised"}
    assert same("http://www.wikidata.org/entity/Q64", "Q64", **options)
    assert not same("http://www.wikidata.org/entity/Q64", "Q65", **options)
    assert same("Q64", "Q65", like="gerbil")  # emerging entities both, for GERBIL


@pytest.mark.parametrize(
    ("one", "two", "right"),
    [
        (BERLIN, "http://dbpedia.org/resource/Berlin", True),
        ("http://en.wikipedia.org/wiki/Berlin", "http://en.dbpedia.org/resource/Berlin", True),
        ("http://dbpedia.org/resource/K%C3%B6ln", "http://en.wikipedia.org/wiki/Köln", True),
        (BERLIN, "http://dbpedia.org/resource/Rome", False),
        ("http://dbpedia.org/resource/Berlin", "http://de.wikipedia.org/wiki/Berlin", False),
        ("http://dbpedia.org/resource/Berlin", "http://en.wikipedia.org/wiki/berlin", False),
        ("http://dbpedia.org/resource/New_York", "http://en.wikipedia.org/wiki/New York", False),
        ("http://www.wikidata.org/entity/Q64", "Q64", False),
        ("http://de.dbpedia.org/resource/Berlin", "http://de.wikipedia.org/wiki/Rom", True),  # emerging entities both
    ],
)
def test_gerbils_bridge(one, two, right):
    assert same(one, two, like="gerbil") is right
    assert same(two, one, like="gerbil") is right


def test_a_page_of_wikipedia_is_in_gerbils_knowledge_base_by_the_bridge():
    result = karat.evaluate(*sides((BERLIN, BERLIN), ("http://x.org/a", "http://x.org/b")), like="gerbil")
    assert result.counts("strong[in-kb]").matched_gold == 1
    assert result.counts("strong[nil]").matched_gold == 1


@pytest.mark.parametrize("like", ["bat", "bat-paper", "elevant", "elevant-paper", "hipe", "neleval", "neleval-tac14"])
def test_peers_compare_ids_as_written(like):
    assert karat.evaluate(*sides(("Q64", "Q64")), like=like).signature["ids"] == "as-written"


def test_ids_are_normalised_unless_somebody_says_otherwise():
    assert karat.evaluate(*sides(("Q64", "Q64"))).signature["ids"] == "normalised"


# The state of ids -----------------------------------------------------------------------------------------------------


def health(*links, **options):
    return karat.evaluate(*sides(*links), **options).id_health


def test_where_all_is_well_little_is_said():
    assert health(("Q1", "Q1"), ("Q2", None)).line == "ids: QID on both sides"
    assert health((BERLIN, "http://en.wikipedia.org/wiki/Rome")).line == "ids: Wikipedia en on both sides"
    assert health(("Q1", None)).line == "ids: gold QID 1; answers without links"


def test_answers_that_cannot_match():
    found = health(("Q1", "Q1"), ("Q2", BERLIN), ("Q3", "http://dbpedia.org/resource/Berlin"))
    assert (found.unmatchable, found.unknown, found.well) == (2, None, False)
    assert "2 answers cannot match any gold id: --kb DIR" in found.line
    assert health(("Q1", "wd:Q1"), like="bat").remedy == "--set ids=normalised would help"
    assert health(("dbr:Berlin", BERLIN)).remedy == "--set ids=bridged would help"
    assert health(("Angela_Merkel", "Angela Merkel"), ("Rome", "Rome")).remedy == "write names alike on both sides"
    assert health(("Angela_Merkel", "Rome"), ("Rome", "New_York")).well
    assert health(("Q1", None), (None, BERLIN)).unmatchable == 1
    assert health((None, BERLIN)).unmatchable == 0  # nothing to match


def test_answers_that_a_knowledge_base_does_not_know():
    kb = Tables.of(name="wiki", entities=["Q1", "Q2"], same_as=[("Q2", "http://en.wikipedia.org/wiki/Berlin")])
    found = health(("Q1", "wd:Q1"), ("Q2", BERLIN), ("Q1", "Q999"), ("Q2", "mesh:D1"), ("Q2", f"{BERLIN}_Wall"), kb=kb)
    assert (found.unknown, found.undecided, found.gold_unknown) == (2, 1, 0)  # Q999 and the wall; MeSH is not its own
    assert (found.unmatchable, found.remedy) == (2, "rows in same_as.tsv of wiki would help")
    assert "2 answers unknown to wiki" in found.line
    assert health(("Q1", "Q999"), kb=Tables.of(redirects={"Q3": "Q4"})).unknown is None  # it lists no entities


def test_no_links_no_word_about_ids():
    assert karat.evaluate(*sides(("Q1", BERLIN)), match="mention").id_health is None
    assert karat.evaluate(*sides(("Q1", BERLIN)), like="neleval", measures="sets::span").id_health is None
    assert karat.evaluate(*sides(("Q1", BERLIN)), like="neleval").id_health.unmatchable == 1


def test_the_state_of_ids_is_in_the_file():
    result = karat.evaluate(*sides(("Q1", "wd:Q1"), ("Q2", BERLIN)))
    assert karat.Result.from_json(result.to_json()).id_health == result.id_health


def test_common_spellings_are_read_at_once_as_one_by_one():
    ids = [
        "Q1",
        "wd:Q1",
        "http://www.wikidata.org/wiki/Q7",
        "http://en.wikipedia.org/wiki/A_B",
        "http://en.wikipedia.org/wiki/A__B",
    ]
    read = spelt(pa.array(ids), Ids.NORMALISED).to_pylist()
    assert read == ["Q1", "Q1", "Q7", *["https://en.wikipedia.org/wiki/A_B"] * 2]
