"""When two ids are the same: cases worked out by hand."""

from __future__ import annotations

import json
from unittest import mock

import pyarrow as pa
import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.kb.catalogue import open_kb
from karat.kb.ids.normal_forms import normalise_ids, recognise_id
from karat.kb.importers.importer import import_snapshot
from karat.kb.in_memory_kb import InMemoryKB
from karat.model.spec.settings.conventions import Ids
from tests.conftest import with_settings

BERLIN = "https://en.wikipedia.org/wiki/Berlin"
DBPEDIA = "http://dbpedia.org/resource/"
KÖLN = "https://de.wikipedia.org/wiki/Köln"


def sides(*links: tuple[str | None, str | None]):
    """A gold standard and predictions on the same spans, linked so."""
    text = "x" * len(links)
    labels = tuple(Label(n, n + 1, gold) for n, (gold, _) in enumerate(links))
    predictions = tuple(Prediction(n, n + 1, prediction) for n, (_, prediction) in enumerate(links))
    return Corpus.from_documents([Document("d", text, labels)], name="gold"), Run.from_responses(
        [Response("d", predictions)], name="mine"
    )


def same(one: str, two: str, **options) -> bool:
    if "profile" not in options:  # an explicit setting: no knowledge base bridges the ids
        options.setdefault("ids", "normalised")
    return bool(karat.evaluate(*sides((one, two)), **with_settings(options, match="strong"))["strong:micro.f1"])


@pytest.mark.parametrize(
    ("normal", "spellings"),
    [
        (
            "Q64",
            "Wikidata:Q64 wd:Q64 wikidata:Q64 http://www.wikidata.org/entity/Q64 https://www.wikidata.org/wiki/Q64 "
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
        assert recognise_id(id).normal_form == normal
        assert same(normal, id)
        assert not same(normal, id, ids="as-written")


def test_a_common_spelling_needs_no_look_of_its_own():
    ids = pa.array(["http://de.wikipedia.org/wiki/A_B", "wd:Q1", "http://dbpedia.org/page/A_b", "Q1"])
    with mock.patch("karat.kb.ids.normal_forms._normalise_id", side_effect=AssertionError):
        read = normalise_ids(ids, Ids.NORMALISED).to_pylist()
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
    corpus = Corpus.from_documents([Document("d", "x", (Label(0, 1, "local", same_as=("wd:Q64",)),))])
    result = karat.evaluate(
        corpus, Run.from_responses([Response("d", (Prediction(0, 1, "http://www.wikidata.org/entity/Q64"),))])
    )
    assert result["strong:micro.f1"] == 1
    assert result.id_health.unmatchable == 0


JEDI = "https://en.wikipedia.org/wiki/List_of_Jedi"


def test_two_fragments_of_one_page_are_two_entities():
    """Both counted as the page before, and this link as correct."""
    kit, plo = f"{JEDI}#Kit_Fisto", "enwiki:list of Jedi#Plo%20Koon"
    result = karat.evaluate(*sides((kit, plo), (plo, f"{JEDI}#Plo_Koon"), (JEDI, kit), (JEDI, "enwiki:List_of_Jedi")))
    assert result.counts("strong").matched_gold == 2
    assert result.id_health.dropped_fragments == (0, 0)
    assert not same("http://dbpedia.org/resource/A#b", "dbr:A#c")
    assert same("http://dbpedia.org/resource/A#b c", "dbr:A#b_c")


def test_the_only_fragment_of_a_page_is_dropped_and_counted():
    result = karat.evaluate(*sides((JEDI, f"{JEDI}#Kit_Fisto"), (f"{JEDI}#Kit Fisto", JEDI), (BERLIN, f"{BERLIN}#")))
    assert result["strong:micro.f1"] == 1
    assert result.id_health.dropped_fragments == (1, 2)


def test_fragments_of_candidates_count_among_those_of_the_data():
    kit, plo = f"{JEDI}#Kit_Fisto", f"{JEDI}#Plo_Koon"
    corpus = Corpus.from_documents([Document("d", "x", (Label(0, 1, kit),))])
    candidates = (karat.Candidate(plo), karat.Candidate("Q1"))
    run = Run.from_responses([Response("d", (Prediction(0, 1, JEDI, candidates=candidates),))])
    assert karat.evaluate(corpus, run)["strong:micro.f1"] == 0


def test_fragments_are_two_entities_with_a_knowledge_base_too():
    kb = InMemoryKB.from_tables(same_as=[("Q1", JEDI)], entities=["Q1"])
    assert same("Q1", JEDI, kb=kb)
    assert same("Q1", f"{JEDI}#Kit_Fisto", kb=kb)
    assert not same(f"{JEDI}#Plo_Koon", f"{JEDI}#Kit_Fisto", kb=kb)


@pytest.mark.parametrize(
    ("gold", "predicted", "matches"),
    [
        (["mywiki:apple"], ["mywiki:Apple"], 0),  # of the user, by its small letter
        (["devwiki:apple"], ["devwiki:Apple"], 0),  # of no language
        (["devwiki:A b"], ["devwiki:A_b"], 0),
        (["mywiki:A b"], ["mywiki:A_b"], 1),
        (["mywiki:apple", "enwiki:Ulm"], ["mywiki:Apple", "enwiki:Ulm"], 2),
        (["mywiki:apple", "https://en.wikipedia.org/wiki/Ulm"], ["mywiki:Apple", "enwiki:Ulm"], 2),
        (["enwiki:apple", "Q1"], ["enwiki:Apple", "Q1"], 2),
        (["zh_min_nanwiki:A"], ["https://zh-min-nan.wikipedia.org/wiki/A"], 1),
    ],
)
def test_a_prefix_is_a_wikipedia_if_the_data_agree(gold, predicted, matches):
    result = karat.evaluate(*sides(*zip(gold, predicted, strict=True)))
    assert result.counts("strong").matched_gold == matches


@pytest.mark.parametrize(
    ("gold", "predicted", "matches"),
    [
        (["q12"], ["Q12"], 0),
        (["q12", "Q1"], ["Q12", "Q1"], 2),
        (["Q12", "Q1"], ["q12", "Q2"], 1),
        (["Q12", "Q1"], ["q12", "x"], 0),  # nothing says that the predictions are of Wikidata
        (["Q12", "Q1"], ["q12", "wd:Q1"], 2),
        (["Q90", "E11.9"], ["http://www.wikidata.org/entity/Q90", None], 0),  # ICD-10
        (["Q90", "I10"], ["Q90", "I10"], 2),
        (["Q90", "I10", "Q90"], ["Q90", "wd:Q5", "wd:Q90"], 1),
        (["Q90", "I10", "Q3052772"], ["wd:Q90", "I10", "wd:Q3052772"], 3),  # too long for a code of ICD-10
    ],
)
def test_what_is_an_item_of_wikidata(gold, predicted, matches):
    links = list(zip(gold, predicted, strict=True))
    assert karat.evaluate(*sides(*links)).counts("strong").matched_gold == matches
    kb = InMemoryKB.from_tables(entities=["Q1", "Q5", "Q12", "Q90", "Q3052772"])
    assert karat.evaluate(*sides(*links), kb=kb).counts("strong").matched_gold == matches


def test_a_code_of_icd_is_named_as_such():
    health = karat.evaluate(*sides(("Q90", "wd:Q90"), ("I10", None))).id_health
    assert health.gold == {"I and a number": 1, "Q and a number": 1}
    assert health.unmatchable == 1


def test_dotted_and_dotless_i_are_two_letters():
    tr, en = "https://tr.wikipedia.org/wiki/", "https://en.wikipedia.org/wiki/"
    assert not same(f"{tr}ırmak", f"{tr}irmak")
    assert same(f"{tr}ırmak", f"{tr}Irmak")
    assert same(f"{tr}istanbul", f"{tr}İstanbul")
    assert not same(f"{en}ırmak", f"{en}Irmak")
    assert same(f"{en}irmak", f"{en}Irmak")


def test_what_was_merged_is_listed_and_fragments_are_counted():
    links = [("Q64", "wd:Q64"), (BERLIN, f"{BERLIN}#History"), ("Q1", "Q1"), (KÖLN, KÖLN), (None, "q64")]
    health = karat.evaluate(*sides(*links)).id_health
    assert health.spellings == {"Q64": ("Q64", "q64", "wd:Q64"), BERLIN: (BERLIN, f"{BERLIN}#History")}
    assert health.dropped_fragments == (0, 1)
    assert health.gold == {"QID": 2, "Wikipedia de": 1, "Wikipedia en": 1}
    assert health.predictions == {"QID": 3, "Wikipedia de": 1, "Wikipedia en": 1}
    assert health.is_healthy
    assert next(health.format_spellings()) == "Q64 is written Q64, q64, wd:Q64"


def test_a_knowledge_base_is_asked_in_its_own_spelling():
    kb = InMemoryKB.from_tables(
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
    options = {"profile": "gerbil", "ids": "normalised"}
    assert same("http://www.wikidata.org/entity/Q64", "Q64", **options)
    assert not same("http://www.wikidata.org/entity/Q64", "Q65", **options)
    assert same("Q64", "Q65", profile="gerbil")  # emerging entities both, for GERBIL


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
    assert same(one, two, profile="gerbil") is right
    assert same(two, one, profile="gerbil") is right


def test_a_page_of_wikipedia_is_in_gerbils_knowledge_base_by_the_bridge():
    result = karat.evaluate(*sides((BERLIN, BERLIN), ("http://x.org/a", "http://x.org/b")), profile="gerbil")
    assert result.counts("strong[in-kb]").matched_gold == 1
    assert result.counts("strong[nil]").matched_gold == 1


@pytest.mark.parametrize(
    "profile", ["bat", "bat-paper", "elevant", "elevant-paper", "hipe", "neleval", "neleval-tac14"]
)
def test_peers_compare_ids_as_written(profile):
    assert karat.evaluate(*sides(("Q64", "Q64")), profile=profile).signature["ids"] == "as-written"


def test_ids_are_normalised_unless_somebody_says_otherwise():
    assert karat.evaluate(*sides(("Q64", "Q64"))).signature["ids"] == "normalised"


# NIL by its id --------------------------------------------------------------------------------------------------------

NOT_IN_WIKI = "http://aksw.org/notInWiki/Ulm"


def test_not_in_wiki_is_nil_by_default():
    """It counted as an entity of the knowledge base before."""
    result = karat.evaluate(*sides((NOT_IN_WIKI, None), (None, f"{NOT_IN_WIKI}2"), ("Q1", "Q1")))
    assert result["strong:micro.f1"] == 1
    assert result.counts("strong[in-kb]").matched_gold == 1
    assert result.counts("strong[nil]").matched_gold == 2
    assert "1 gold label and 1 prediction are NIL by their id (nil-ids=not-in-wiki)" in result.notes
    assert karat.evaluate(*sides((NOT_IN_WIKI, None)), settings={"nil-ids": "null"})["strong:micro.f1"] == 0


@pytest.mark.parametrize(
    ("profile", "nil_ids"),
    [
        ("karat", [NOT_IN_WIKI]),
        ("gerbil", []),  # all ids without a known prefix are emerging entities
        ("elevant", [NOT_IN_WIKI, "NIL", "<NIL>", "<unk>", "http://www.wikidata.org/entity/"]),
        ("neleval", ["NIL", "NIL001", "NILx"]),
        ("bat", ["--NME--", "NIL", "NIL001", "*null*"]),
        ("hipe", ["NIL"]),
        ("zelda", []),
        ("finegrained", []),
    ],
)
def test_which_ids_are_nil(profile, nil_ids):
    ids = [NOT_IN_WIKI, "NIL", "<NIL>", "<unk>", "http://www.wikidata.org/entity/", "NIL001", "NILx", "--NME--"]
    ids += ["*null*", "O", "-", "None", "unknown"]
    for id in ids:
        notes = karat.evaluate(*sides((id, id), ("Q1", "Q1")), profile=profile).notes
        is_noted = any("are NIL by their id" in note for note in notes)
        assert is_noted == (id in nil_ids), (profile, id, notes)


@pytest.mark.parametrize(
    ("id", "value"),
    [
        *(("NIL", "hipe"), ("<NIL>", "elevant"), ("<unk>", "elevant"), ("--NME--", "bat"), ("*null*", "bat")),
        *(("NIL001", "neleval"), ("O", None), ("-", None), ("None", None), ("unknown", None), ("<NO_MAPPING>", None)),
        *((f"https://en.wikipedia.org/wiki/{nil}", None) for nil in ("<NIL>", "%3CNIL%3E", "NIL", "--NME--")),
    ],
)
def test_other_ids_that_look_like_nil_are_reported_with_the_setting_that_reads_them(id, value):
    notes = karat.evaluate(*sides((id, None), (id, "Q1"))).notes
    name = "NIL…" if id == "NIL001" else id
    note = f"2 gold labels are linked to the id {name!r}, which is an ordinary entity: NIL is written as null"
    note += ", or `NIL` in tables and Doc objects"
    assert note + ("" if value is None else f"; settings={{'nil-ids': {value!r}}} reads it as NIL") in notes
    if value is not None:
        notes = karat.evaluate(*sides((id, None), (id, "Q1")), settings={"nil-ids": value}).notes
        assert any("are NIL by their id" in note for note in notes)


def test_ids_like_nil_are_no_names_that_gold_labels_match():
    pairs = [("QUANTITY", None), ("Q1", "Q1"), ("Q2", "<NIL>")]
    result = karat.evaluate(*sides(*pairs))
    assert (result.id_health.predictions, result.id_health.unmatchable) == ({"QID": 1, "ids like NIL": 1}, 0)
    assert result.id_health.summary.endswith("1 gold label cannot match any predicted id")
    result = karat.evaluate(*sides(*pairs), settings={"nil-ids": "elevant"})
    assert (result.id_health.gold, result.id_health.predictions) == ({"QID": 2, "names": 1}, {"QID": 1})
    assert result.id_health.unmatchable_gold == 1


def test_nil_ids_are_the_clusters_of_neleval():
    links = [("NIL001", "NIL7"), ("NIL001", "NIL7"), ("NIL002", "NIL7")]
    result = karat.evaluate(*sides(*links), profile="neleval", measures=["muc", "strong_nil_match"])
    assert result["strong_nil_match:micro.f1"] == 1
    assert (result["muc:micro.p"], result["muc:micro.r"]) == (0.5, 1)


def test_an_entity_with_another_id_is_not_nil():
    corpus = Corpus.from_documents([Document("d", "x", (Label(0, 1, NOT_IN_WIKI, same_as=("Q1",)),))])
    run = Run.from_responses([Response("d", (Prediction(0, 1, "Q1"),))])
    assert karat.evaluate(corpus, run)["strong:micro.f1"] == 1


def test_what_is_nil_by_its_id_is_not_found_where_nil_never_is():
    result = karat.evaluate(
        *sides((NOT_IN_WIKI, None), ("Q1", "Q1")), profile="finegrained", settings={"nil-ids": "not-in-wiki"}
    )
    assert result.counts("strong").matched_gold == 1


# The state of ids -----------------------------------------------------------------------------------------------------


def health(*links, **options):
    if "profile" not in options:
        options.setdefault("ids", "normalised")
    return karat.evaluate(*sides(*links), **with_settings(options)).id_health


def test_where_all_is_well_little_is_said():
    assert health(("Q1", "Q1"), ("Q2", None)).summary == "ids: QID on both sides"
    assert health((BERLIN, "http://en.wikipedia.org/wiki/Rome")).summary == "ids: Wikipedia en on both sides"
    assert health(("Q1", None)).summary == "ids: gold QID 1; predictions without ids"


@pytest.mark.parametrize(
    ("gold", "predicted", "remedy", "options"),
    [
        ("http://dbpedia.org/resource/Berlin", "Q64", "try --kb starter of karat score", {"kb": "starter"}),
        (
            "http://dbpedia.org/resource/Berlin",
            "https://www.wikidata.org/wiki/Q64",
            "try --kb starter",
            {"kb": "starter"},
        ),
        ("http://www.wikidata.org/entity/Q64", "Q64", "try settings={'ids': 'normalised'}", {"ids": "normalised"}),
    ],
)
def test_the_warning_that_all_predictions_are_emerging_entities_says_what_helps(gold, predicted, remedy, options):
    """GERBIL takes ids that do not begin as it knows them for emerging entities: 0 of 1, and 1 of 1 with the remedy."""
    before, after = (
        karat.evaluate(*sides((gold, predicted)), **with_settings({"profile": "gerbil", **more}))
        for more in ({}, options)
    )
    assert before["strong:micro.f1"] == 0
    (warning,) = (note for note in before.notes if "no predicted id starts with a prefix" in note)
    assert warning.startswith("warning: ")
    assert f"; {remedy}" in warning
    assert after["strong[in-kb]:micro.f1"] == 1


def test_no_setting_of_ids_is_advised_for_a_predicted_id_that_only_its_prefix_excludes():
    """The gold standard has the id of the prediction too, so that neither normal forms nor the bridge can help."""
    gold = Corpus.from_documents([Document("d", "x", (Label(0, 1, "http://my.org/A", same_as=(f"{DBPEDIA}A",)),))])
    run = Run.from_responses([Response("d", (Prediction(0, 1, "http://my.org/A"),))])
    for ids in ("bridged", "normalised"):
        result = karat.evaluate(gold, run, profile="gerbil", settings={"ids": ids})
        (warning,) = (note for note in result.notes if note.startswith("warning: "))
        assert "no predicted id starts with a prefix of the knowledge base (an example is 'http://my.org/A')" in warning
        assert warning.endswith("try --kb DIR of karat score, with ids of both kinds in DIR/same_as.tsv")
    mapped = karat.evaluate(
        gold, run, profile="gerbil", kb=InMemoryKB.from_tables(same_as=[(f"{DBPEDIA}A", "http://my.org/A")])
    )
    assert mapped["strong[in-kb]:micro.f1"] == 1


@pytest.mark.parametrize(("qid", "found"), [("Q64", 0), ("http://www.wikidata.org/entity/Q64", 1)])
def test_a_single_qid_in_the_gold_standard_does_not_hide_what_helps(qid, found):
    """Q64 is found if written in full; Paris and Rome (Q90, Q220) need the knowledge base: 3 of 3 mentions."""
    links = [("http://www.wikidata.org/entity/Q64", qid)]
    links += [
        (f"http://dbpedia.org/resource/{name}", qid.replace("64", id))
        for name, id in (("Paris", "90"), ("Rome", "220"))
    ]
    before, after = (karat.evaluate(*sides(*links), profile="gerbil", kb=kb) for kb in (None, "starter"))
    assert (before.counts("strong").matched_gold, after.counts("strong").matched_gold) == (found, 3)
    assert "gold labels cannot match any predicted id: try --kb starter of karat score" in before.id_health.summary


def test_the_advised_prefix_is_that_of_the_ids_to_which_the_knowledge_base_maps():
    """Berlin and Rome are corp:1 and corp:2 in the knowledge base: 1 of 2 is right, once `corp:` is a known prefix."""
    kb = InMemoryKB.from_tables(same_as=[("corp:1", f"{DBPEDIA}Berlin"), ("corp:2", f"{DBPEDIA}Rome")])
    data = sides((f"{DBPEDIA}Berlin", f"{DBPEDIA}Rome"), (f"{DBPEDIA}Rome", f"{DBPEDIA}Rome"))
    result = karat.evaluate(*data, profile="gerbil", kb=kb)
    (warning,) = (note for note in result.notes if "no gold id starts with a prefix" in note)
    assert f"an example is 'corp:1', for '{DBPEDIA}Berlin'" in warning
    assert "such as settings={'prefixes': 'corp:'}" in warning
    assert karat.evaluate(*data, profile="gerbil", kb=kb, settings={"prefixes": "corp:"})["strong:micro.f1"] == 1 / 2


def test_the_example_of_an_id_without_known_prefix_is_not_nil():
    links = [("http://aksw.org/notInWiki/Quibble", None), ("http://dbpedia.org/resource/Paris", "Q90")]
    result = karat.evaluate(*sides(*links), profile="gerbil", settings={"prefixes": "Q"})
    (warning,) = (note for note in result.notes if "no gold id starts with a prefix" in note)
    assert "settings={'prefixes': 'http://dbpedia.org/resource/'}" in warning


def test_predictions_that_cannot_match():
    found = health(("Q1", "Q1"), ("Q2", BERLIN), ("Q3", "http://dbpedia.org/resource/Berlin"))
    assert (found.unmatchable, found.unknown_predictions, found.is_healthy) == (2, None, False)
    assert "2 predictions cannot match any gold id: try --kb DIR" in found.summary
    assert health(("Q1", "wd:Q1"), profile="bat").remedy == "try settings={'ids': 'normalised'}"
    assert health(("dbr:Berlin", BERLIN)).remedy == "try settings={'ids': 'bridged'}"
    assert (
        health(("Angela_Merkel", "Angela Merkel"), ("Rome", "Rome")).remedy
        == "write names in the same way on both sides"
    )
    assert health(("Q1", "Q1"), ("Q2", "Angela_Merkel"), ("Q3", "Angela Merkel")).remedy.startswith("try --kb DIR")
    assert health(("Angela_Merkel", "Rome"), ("Rome", "New_York")).is_healthy
    assert health(("Q1", None), (None, BERLIN)).unmatchable == 1
    assert health((None, BERLIN)).unmatchable == 0  # nothing to match


def test_predictions_that_a_knowledge_base_does_not_know():
    kb = InMemoryKB.from_tables(
        name="wiki", entities=["Q1", "Q2"], same_as=[("Q2", "http://en.wikipedia.org/wiki/Berlin")]
    )
    found = health(("Q1", "wd:Q1"), ("Q2", BERLIN), ("Q1", "Q999"), ("Q2", "mesh:D1"), ("Q2", f"{BERLIN}_Wall"), kb=kb)
    assert (found.unknown_predictions, found.undecided, found.unknown_gold) == (
        2,
        1,
        0,
    )  # Q999 and the wall; MeSH is not its own
    assert (found.unmatchable, found.remedy) == (2, "add rows to same_as.tsv of wiki")
    assert "2 predictions unknown to wiki" in found.summary
    assert (
        health(("Q1", "Q999"), kb=InMemoryKB.from_tables(redirects={"Q3": "Q4"})).unknown_predictions is None
    )  # it lists no entities


def test_a_snapshot_gets_no_rows_but_is_imported(tmp_path):
    """A snapshot has no `same_as.tsv` to which users could add rows."""
    source = tmp_path / "own.jsonl"
    source.write_text('{"id": "Q1", "name": "one"}', encoding="utf-8")
    import_snapshot(str(source), tmp_path / "own", date="2026-01-01", space="wikidata")
    kb = open_kb(str(tmp_path / "own"))
    assert health(("Q1", "mesh:D1"), kb=kb).remedy == (
        "pass a --kb with these ids: karat kb import reads them from same_as"
    )


@pytest.mark.parametrize("ids", ["as-written", "normalised"])
def test_qids_in_lower_case_match_nothing_and_are_named(ids):
    result = karat.evaluate(*sides(("Q64", "q64"), ("Q90", "q90")), settings={"ids": ids})
    assert result["strong:micro.f1"] == 0
    (warning,) = [note for note in result.notes if note.startswith("warning: no predicted id")]
    assert warning == (
        "warning: no predicted id (QIDs in lower case) can match a gold id (QID); "
        "write QIDs with a capital letter, Q64 for q64"
    )


def test_some_qids_in_lower_case_are_counted_as_unmatchable():
    result = karat.evaluate(*sides(("Q64", "Q64"), ("Q90", "q90")), settings={"ids": "as-written"})
    assert (result.id_health.unmatchable, result["strong:micro.f1"]) == (1, 0.5)
    assert result.id_health.remedy == "write QIDs with a capital letter, Q64 for q64"


def test_numbers_in_place_of_qids():
    assert health(("Q1", "64"), ("Q2", "36")).remedy == (
        "write Q64 for 64 if the numbers are QIDs, or try --kb DIR of karat score, with ids of both kinds in "
        "DIR/same_as.tsv"
    )
    assert health(("64", "Q64")).remedy.startswith("write Q64 for 64")
    assert health(("Q1", "Q1"), ("Q64", "64")).remedy.startswith("write Q64 for 64")
    assert health(("mesh:D1", "64")).remedy.startswith("try --kb DIR")


def test_no_links_no_word_about_ids():
    assert karat.evaluate(*sides(("Q1", BERLIN)), settings={"match": "mention"}).id_health is None
    assert karat.evaluate(*sides(("Q1", BERLIN)), profile="neleval", measures="sets::span").id_health is None
    assert karat.evaluate(*sides(("Q1", BERLIN)), profile="neleval").id_health.unmatchable == 1


def test_the_state_of_ids_is_in_the_file():
    result = karat.evaluate(*sides(("Q1", "wd:Q1"), ("Q2", BERLIN)))
    assert karat.Result.from_json(result.to_json()).id_health == result.id_health
    assert karat.Result.from_json(json.loads(result.to_json())).to_json() == result.to_json()


def test_common_spellings_are_read_at_once_as_one_by_one():
    ids = [
        "Q1",
        "wd:Q1",
        "http://www.wikidata.org/wiki/Q7",
        "http://en.wikipedia.org/wiki/A_B",
        "http://en.wikipedia.org/wiki/A__B",
    ]
    read = normalise_ids(pa.array(ids), Ids.NORMALISED).to_pylist()
    assert read == ["Q1", "Q1", "Q7", *["https://en.wikipedia.org/wiki/A_B"] * 2]


def test_canonical_ids_of_a_knowledge_base_are_no_emerging_entities():
    """GERBIL knows ids by their prefixes, which the plain items of a knowledge base lack."""
    kb = InMemoryKB.from_tables(same_as=[("Q64", "http://dbpedia.org/resource/Berlin"), ("Q220", f"{DBPEDIA}Rome")])
    gold, wrong = sides((f"{DBPEDIA}Berlin", f"{DBPEDIA}Rome"), (f"{DBPEDIA}Unlisted", f"{DBPEDIA}Rome"))
    for settings in ({}, {"prefixes": "gerbil,Q"}):
        result = karat.evaluate(gold, wrong, profile="gerbil", kb=kb, settings=settings)
        assert (result["strong:micro.f1"], result["strong[in-kb]:micro.f1"]) == (0, 0)
    right = sides((f"{DBPEDIA}Berlin", "Q64"))
    assert karat.evaluate(*right, profile="gerbil", kb=kb)["strong[in-kb]:micro.f1"] == 1


@pytest.mark.parametrize("ids", ["bridged", "normalised"])
def test_a_resource_that_the_knowledge_base_lacks_is_no_emerging_entity(ids):
    """Two unlisted resources of English are in GERBIL's knowledge base and differ; two of German are emerging."""
    kb = InMemoryKB.from_tables(same_as=[("Q64", f"{DBPEDIA}Berlin")])
    german = "http://de.dbpedia.org/resource/"
    links = ((f"{DBPEDIA}Berlin", "Q64"), (f"{DBPEDIA}Ulm", f"{DBPEDIA}Gera"), (f"{german}Ulm", f"{german}Gera"))
    result = karat.evaluate(*sides(*links), profile="gerbil", kb=kb, settings={"ids": ids})
    assert (result["strong[in-kb]:micro.f1"], result["strong[nil]:micro.f1"]) == (1 / 2, 1)
    assert "emerging entities by their prefix: 1 gold label, 1 prediction" in result.notes


def test_titles_are_mapped_to_items_whatever_their_first_letter():
    kb = InMemoryKB.from_tables(same_as=[("Q36", "Republic of Poland"), ("Berlin (city)", "Q64")])
    assert kb.canonical_ids(["Republic of Poland", "Berlin (city)", "Q64"]) == ["Q36", "Q64", "Q64"]


@pytest.mark.parametrize(
    ("profile", "remedy"),
    [
        ("karat", "add rows to redirects.tsv or same_as.tsv of wiki"),
        ("gerbil", "add rows to redirects.tsv or same_as.tsv of wiki"),
        ("bat", "try settings={'ids': 'normalised'}, or add rows to redirects.tsv or same_as.tsv of wiki"),
    ],
)
def test_pages_that_the_knowledge_base_lacks_need_rows_not_another_setting(profile, remedy):
    """The knowledge base maps the gold page to Q2 and does not know its redirect, which the system returned."""
    berlin, redirect = (f"http://dbpedia.org/resource/{title}" for title in ("Berlin", "Berlin_(Germany)"))
    tables = {"name": "wiki", "entities": ["Q2"], "same_as": [("Q2", berlin)]}
    kb, complete = InMemoryKB.from_tables(**tables), InMemoryKB.from_tables(**tables, redirects={redirect: berlin})
    assert karat.evaluate(*sides((berlin, redirect)), profile=profile, kb=kb).id_health.remedy == remedy
    assert karat.evaluate(*sides((berlin, redirect)), profile=profile, kb=complete)["strong:micro.f1"] == 1
