"""Corpora in numbers, worked by hand; and against what benchmarks say about themselves."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Corpus, Document, Label, Tag
from karat.data.describe import TraitCount, describe
from karat.kb.in_memory_kb import InMemoryKB
from karat.kb.tsv_folder import load_tsv_folder
from karat.matching.facts.facts import label_facts
from karat.matching.facts.label_traits import TRAITS
from karat.model.registry import get_plugin
from karat.model.spec.step import Step
from karat.model.truth import NO, UNKNOWN, YES
from karat.render.data.stats import render_paper_table

TEXT = "The German visited Berlin. Angela Merkel met her there in may."


def corpus():
    labels = (
        Label(4, 10, "Q183", name="Germany", types=("LOC",)),
        Label(19, 25, "Q64", mention_id="b", types=("LOC",)),
        Label(19, 25, "Q1022", mention_id="b"),
        Label(27, 40, "Q567", mention_id="m"),
        Label(27, 33, None, mention_id="n", parent="m"),
        Label(45, 48, "Q567", kind="coreference", optional=True),
        Label(58, 61, UNLINKED),
    )
    return Corpus.from_documents(
        [Document("a", TEXT, labels), Document("b", "Nothing here", tags=(Tag("Q1"), Tag("Q2")))],
        name="tiny",
        domain="news",
    )


def test_sentences_that_a_document_lists_are_counted_as_listed():
    listed = Document("a", "Dr. No met Ann. She left.", meta={"sentences": "0,15 16,25"})
    guessed = Document("b", "Dr. No met Ann. She left.")
    part = Document("c", "One. Two. Three.", meta={"sentences": "0,4 5,9 10,16"}, evaluation_span=(0, 9))
    sizes = [describe(Corpus.from_documents([document])).numbers["sentences"] for document in (listed, guessed, part)]
    assert sizes == [2, 3, 2]


def test_what_there_is():
    numbers = describe(corpus()).numbers
    expected = {
        "documents": 2,
        "sentences": 3,
        "words": 13,
        "labels": 7,
        "mentions": 5,  # German, Berlin, Merkel, her, may
        "entities": 4,
        "tags": 2,
        "segmentations": 1,
        "overlap": 2,  # the two spans at 27
        "nil": 0,  # the only NIL is a part of another segmentation
        "unlinked": 1,
        "optional": 1,
        "alternative": 2,  # Berlin; Merkel, which can be segmented otherwise
        "coreference": 1,
        "required": 4,  # all but her
        "surfaces": 6,
        "ambiguous surfaces": 1,
        "documents without labels": 0,
        "annotations per document": 4.5,
        "hardest problem": "A2W",
        "domain": "news",
    }
    assert {name: numbers[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("label", "refers"),
    [
        ({}, 1),  # by its text, as in every mention type
        ({"kind": "coreference"}, 1),
        ({"categories": ("coreference:no",)}, 0),  # the file denies it
        ({"start": 19, "end": 25}, 0),
        ({"start": 19, "end": 25, "kind": "coreference"}, 1),
        ({"mention_id": "m", "parent": "x"}, 0),  # a part of another mention
    ],
)
def test_coreference_is_counted_as_mention_types_tell_it(label, refers):
    whole = (Label(41, 48, "Q2", mention_id="x"),) if "parent" in label else ()
    own = Label(**{"start": 45, "end": 48, "entity": "Q567"} | label)
    found = describe(Corpus.from_documents([Document("a", TEXT, (*whole, own))]))
    assert found.numbers["coreference"] == refers


def test_the_registry_says_domain_and_document_type(karat_cli):
    ran = karat_cli("data", "stats", "demo")
    lines = {line[:14].strip(): line.split("  ")[-1].strip() for line in ran.out.splitlines()}
    assert (lines["domain"], lines["document type"], lines["language"]) == ("mixed", "short texts", "en")


def snapshot(folder):
    (folder / "entities.tsv").write_text(
        "id\tname\ttypes\nQ183\tGermany\tQ27096213\nQ64\tBerlin\tQ27096213\nQ567\tAngela Merkel\tQ215627\n"
        "Q1022\tBerlin Brigade\tQ43229\n",
        encoding="utf-8",
    )
    (folder / "popular.tsv").write_text("surface\tids\nBerlin\tQ64\nGerman\tQ188|Q183\n", encoding="utf-8")
    (folder / "demonyms.txt").write_text("German\n", encoding="utf-8")
    return load_tsv_folder(folder)


def test_what_a_knowledge_base_adds(tmp_path):
    columns = describe(corpus(), snapshot(tmp_path)).columns
    # German, Berlin (the city or the brigade), Angela Merkel and may are required.
    assert columns == {  # number, percent, undecided, and the required mentions that percentages refer to
        "lowercase": TraitCount(1, 25, 0, 4, 25),  # may
        "multiword": TraitCount(1, 25, 0, 4, 25),
        "nil": TraitCount(0, 0, 0, 4, 0),
        "demonym": TraitCount(1, 25, 0, 4, 25),
        "metonym": TraitCount(1, 25, 0, 4, 25),  # Berlin may be the brigade, and is popular for the place
        "partial": TraitCount(0, 0, 0, 4, 0),  # Berlin Brigade is a metonym before
        "rare": TraitCount(0, 0, 1, 4, 25),  # nobody knows what Angela Merkel is popular for
        "person": TraitCount(1, 25, 0, 4, 25),
        "location": TraitCount(2, 50, 0, 4, 50),
        "organisation": TraitCount(1, 25, 0, 4, 25),
    }


def test_every_label_counts_in_traits(tmp_path):
    found = describe(corpus(), snapshot(tmp_path))
    numbers = {name: share.number for name, share in found.traits.items()}
    assert numbers == {
        "capitalised": 5,
        "lowercase": 2,
        "caseless": 0,
        "multiword": 1,
        "non-named": 0,
        "nil": 1,  # Angela alone
        "unmapped": 0,
        "demonym": 1,
        "metonym": 1,
        "partial": 0,
        "rare": 0,
        "person": 2,
        "location": 2,
        "organisation": 1,
        "optional": 1,
        "part": 1,
    }
    assert found.mention_types == {
        "entity-named": 4,
        "coreference-pronominal": 1,
        "entity-undecided": 1,  # may is not linked
        "entity-unknown": 1,
    }
    assert found.words == {"1": 6, "2": 1}


def test_without_a_fact_there_is_no_number():
    found = describe(corpus())
    # German is a place by its type, Berlin may be; nobody knows what Merkel is.
    assert found.columns["demonym"] == TraitCount(None, None, 3, 4, None)
    assert found.columns["rare"] == TraitCount(None, None, 3, 4, None)
    assert found.columns["location"] == TraitCount(2, 50, 1, 4, 75)
    assert found.undefined == {
        "document type": "not stated by the source",
        "language": "not stated by the source",
        "demonym": "needs --kb with demonyms.txt",
        "metonym": "needs --kb with popular.tsv",
        "rare": "needs --kb with popular.tsv",
    }


PLACE, PERSON, CLUB = "Q27096213", "Q215627", "Q43229"
FACTS = {
    "names": {"Q1": "Ulm", "Q2": "Ulm Harriers", "Q3": "Ada Ulm", "Q4": "chess", "Q5": "Ulmish"},
    "types": {"Q1": [PLACE], "Q2": [CLUB], "Q3": [PERSON], "Q4": [], "Q5": ["Q17376908"], "Q9": []},
    "popular": {"Ulm": ["Q1"], "Ulmer": ["Q1"], "Ulmish": ["Q1", "Q5"], "chess": ["Q9"], "Harriers": ["Q2"]},
    "demonyms": ["Ulmer", "Ulmish", "Harriers"],
}


def held(text, label, **facts):
    root = () if label.parent is None else (Label(0, len(text), UNLINKED, mention_id=label.parent),)
    side = label_facts(
        Corpus.from_documents([Document("a", text, (label, *root))]), InMemoryKB.from_tables(**FACTS | facts)
    )
    found = {name: trait.evaluate(side)[0] for name, trait in TRAITS.items()}
    return {name for name, value in found.items() if value == YES}, {
        name for name, value in found.items() if value == UNKNOWN
    }


@pytest.mark.parametrize(
    ("text", "label", "expected"),
    [
        ("Ulm", {"entity": "Q1"}, {"capitalised", "location"}),
        ("Ulmer", {"entity": "Q1"}, {"capitalised", "location", "demonym"}),
        ("Ulmish", {"entity": "Q5"}, {"capitalised", "demonym"}),
        ("Harriers", {"entity": "Q2"}, {"capitalised", "organisation", "partial"}),  # a demonym, but of no place
        ("Ulm", {"entity": "Q2"}, {"capitalised", "organisation", "metonym"}),  # a part of the name, too
        ("Ulm", {"entity": "Q3"}, {"capitalised", "person", "partial"}),  # rare, too
        ("Ulm", {"entity": "Q9", "types": (PERSON,), "name": "Eve"}, {"capitalised", "person", "rare"}),
        ("Ulm", {"entity": "Q9", "types": (PERSON,), "name": "Ulm"}, {"capitalised", "person", "rare"}),
        ("Ulm", {"entity": "Q9", "same_as": ("Q1",)}, {"capitalised", "location"}),
        ("chess", {"entity": "Q4"}, {"lowercase", "non-named", "rare"}),
        ("chess", {"entity": "Q4", "kind": "coreference"}, {"lowercase"}),
        ("The chess", {"entity": "Q4"}, {"capitalised", "multiword"}),  # refers back, by its looks
        ("7 of ", {"entity": "7", "types": ("QUANTITY",), "name": "Unknown"}, {"caseless", "multiword"}),
        ("Ulm", {"entity": "Q3", "kind": "quantity"}, {"capitalised", "person"}),
        ("Ulm", {"entity": None}, {"capitalised", "nil"}),
        ("Ulm", {"entity": None, "categories": ("nil:no-mapping",)}, {"capitalised", "nil", "unmapped"}),
        ("Ulm", {"entity": "Q1", "parent": "a", "optional": True}, {"capitalised", "location", "part", "optional"}),
        ("Ulm", {"entity": "Q1", "categories": ("missing-parent:7",)}, {"capitalised", "location", "part"}),
        ("Ulm", {}, {"capitalised"}),
    ],
)
def test_traits_by_hand(text, label, expected):
    found, undecided = held(text, Label(0, len(text), **label))
    assert found == expected
    assert not undecided


@pytest.mark.parametrize(
    ("text", "id", "missing", "undecided"),
    [
        ("Aalen", "Q1", {}, {"rare"}),  # not in the table of popular surfaces
        ("Aalen", "Q2", {}, {"metonym", "rare"}),
        ("Harriers", "Q2", {}, {"metonym", "partial"}),  # were it a metonym, it would not count as partial
        ("Ulm", "Q2", {"types": {"Q2": [CLUB]}}, {"metonym", "partial"}),  # whether Ulm is a place is not known
        ("Ulmer", "Q1", {"demonyms": None}, {"demonym"}),
        ("ulm", "Q1", {"names": {}, "popular": {"ulm": ["Q1"]}}, {"non-named", "partial"}),
        ("Ulm", "Q8", {}, {"metonym", "partial", "rare", "person", "location", "organisation"}),
    ],
)
def test_a_missing_fact_leaves_undecided_what_depends_on_it(text, id, missing, undecided):
    popular = {surface: ids for surface, ids in FACTS["popular"].items() if surface != "Harriers"}
    found, open_ = held(text, Label(0, len(text), id), **{"popular": popular} | missing)
    assert open_ == undecided
    assert not found & {"demonym", "metonym", "partial", "rare"}


LABELS = st.builds(
    Label,
    start=st.just(0),
    end=st.just(1),
    entity=st.sampled_from([None, "Q1", "Q2", "Q3", "Q4", "Q5", "Q9", UNLINKED]),
    types=st.sampled_from([(), (), (PLACE,), (CLUB,), ("QUANTITY",)]),
    name=st.sampled_from([None, "Ulm Harriers", "chess"]),
    kind=st.sampled_from([None, None, "coreference", "datetime"]),
)
TEXTS = st.sampled_from(["Ulm", "Ulmer", "Harriers", "chess", "Aalen", "he", "the club"])


@given(
    TEXTS,
    LABELS,
    st.sets(st.sampled_from(sorted(FACTS))),
    st.sets(st.sampled_from(["Q1", "Q2", "Q3", "Ulm", "Harriers"])),
)
def test_knowing_less_never_changes_a_trait_but_to_undecided(text, label, tables, rows):
    less = {
        table: None
        if table in tables
        else facts
        if table == "demonyms"
        else {k: v for k, v in facts.items() if k not in rows}
        for table, facts in FACTS.items()
    }
    full, unsure = held(text, label)
    found, undecided = held(text, label, **less)
    assert found <= full
    assert full - found <= undecided
    assert unsure <= undecided
    for some in (full, found):
        assert len(some & {"demonym", "metonym", "partial", "rare"}) <= 1
        assert len(some & {"capitalised", "lowercase", "caseless"}) == 1


def test_on_the_command_line(karat_cli, tmp_path):
    path = tmp_path / "gold.jsonl"
    karat.save(corpus(), path)
    found = json.loads(karat_cli("data", "stats", path, "--json", "-").out)
    assert {"documents": 2, "mentions": 5, "entities": 4, "nil": 0}.items() <= found.items()
    assert found["undefined"]["demonym"].startswith("needs --kb")
    assert found["columns"]["multiword"] == {
        "number": 1,
        "percent": 25,
        "undecided": 0,
        "total": 4,
        "max_percent": 25.0,
    }
    snapshot(tmp_path)
    shown = karat_cli("data", "stats", path, "--kb", tmp_path).out
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert lines[lines.index("rare 0–1 (0.0–25.0 %)") + 1] == "undecided 1"
    assert "demonym 1 (25.0 %)" in lines
    assert "tiny, undecided labels: non-named 1, rare 1" in lines
    table = karat_cli("data", "stats", path, "demo")
    assert table.code == 0
    assert "mentions" in table.out
    latex = karat_cli("data", "stats", path, "--latex").out
    assert "\ndataset & docs & words & mentions & entities & " in latex
    assert latex.count(r" \\") == 3
    assert karat_cli("data", "stats", tmp_path / "missing.jsonl").code == 2
    assert karat_cli("data", "stats", path, "--kb", tmp_path / "missing").code == 2


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("wiki-fair", {"mentions": 1761, "nil": 152, "optional": 455, "alternative": 120}),
        ("news-fair", {"mentions": 507, "nil": 90, "optional": 89, "alternative": 23}),
    ],
)
def test_table_2_of_the_fair_evaluation(name, expected, shared):
    path = next((shared / "elevant" / "benchmarks").glob(f"{name}.benchmark.jsonl*"))
    numbers = describe(karat.load(path)).numbers
    assert {column: numbers[column] for column in expected} == expected


@pytest.mark.shared
@pytest.mark.parametrize(("name", "mentions"), [("news-fair-no-coref", 275), ("wiki-fair-no-coref", 1034)])
def test_shares_stand_beside_the_mentions_they_refer_to(name, mentions, shared):
    """Table 3 of the fair evaluation prints 275 and 1,035; the published file has 1,034 mentions that are required."""
    path = next((shared / "elevant" / "benchmarks").glob(f"{name}.benchmark.jsonl*"))
    statistics = describe(karat.load(path))
    assert {share.total for share in statistics.columns.values()} == {mentions}
    row = next(
        line
        for line in render_paper_table([statistics], "markdown").splitlines()
        if line.startswith("| news") or line.startswith("| wiki")
    )
    assert row.split(" | ")[3] == f"{mentions:,}"


def test_the_table_for_papers_counts_undecided_mentions(tmp_path):
    table = render_paper_table([describe(corpus(), snapshot(tmp_path))], "markdown")
    row = next(line for line in table.splitlines() if line.startswith("| tiny")).split(" | ")
    assert row[3] == "4"  # not 5: one mention is optional
    assert "tiny, mentions undecided for lack of facts: rare 1" in table
    assert "0.0–25.0" in row
    labels = (
        Label(0, 1, "Q1", types=("PER",)),
        Label(2, 3, "Q2"),
        Label(4, 5, "Q3", optional=True, types=("Q215627",)),
    )
    table = render_paper_table(
        [describe(Corpus.from_documents([Document("a", "A B C", labels)], name="c"))], "markdown"
    )
    assert "| 50.0–100.0 |" in table
    assert "c, mentions undecided for lack of facts: person 1" in table


@pytest.mark.parametrize(
    ("type_id", "role"),
    [
        *((name, "person") for name in ("Person", "PERSON", "person", "PER", "pers", "pers.ind", "Q215627", "Q5")),
        *(
            (name, "person")
            for name in ("http://dbpedia.org/ontology/Person", "dbo:Person", "https://schema.org/Person")
        ),
        *(
            (name, "location")
            for name in ("Place", "Location", "LOC", "GPE", "loc.adm.town", "Q27096213", "DBpedia:Place")
        ),
        *((name, "organisation") for name in ("Organisation", "Organization", "ORG", "org.adm", "Q43229")),
        *((name, None) for name in ("Thing", "Product", "Personification", "Organism", "OTHER", "Q21562")),
    ],
)
def test_types_in_any_usual_spelling_have_their_role(type_id, role):
    document = Document("a", "A", (Label(0, 1, "Q1", types=(type_id,)),))
    columns = describe(Corpus.from_documents([document])).columns
    assert {name for name in ("person", "location", "organisation") if columns[name].number} == ({role} - {None})


@pytest.mark.parametrize(("type_id", "expected"), [("Entity", YES), ("MENTION", YES), ("LOC", NO), ("drink", NO)])
def test_general_types_leave_the_role_to_the_entity(type_id, expected):
    corpus = Corpus.from_documents([Document("a", "Ada", (Label(0, 3, "Q7259", types=(type_id,)),))])
    kb = InMemoryKB.from_tables(types={"Q7259": ("Q215627",)})
    assert TRAITS["person"].evaluate(label_facts(corpus, kb)).tolist() == [expected]
    if type_id == "Entity":
        assert TRAITS["person"].evaluate(label_facts(corpus, None)).tolist() == [UNKNOWN]


def test_types_have_names(karat_cli, tmp_path):
    types = ("Q215627", "Q3895768", "Q515", "Q999999999", "OTHER")
    path = tmp_path / "gold.jsonl"
    karat.save(Corpus.from_documents([Document("a", "A", (Label(0, 1, "Q1", types=types),))], name="c"), path)
    lines = json.loads(karat_cli("data", "stats", path, "--json", "-").out)
    assert lines["types"] == dict.fromkeys(sorted(types), 1)
    assert lines["type names"] == {"Q215627": "person", "Q3895768": "fictional location", "Q515": "city"}
    shown = " ".join(karat_cli("data", "stats", path).out.split())
    assert "types: OTHER 1, person (Q215627) 1, fictional location (Q3895768) 1, city (Q515) 1, Q999999999 1" in shown


def test_labels_that_are_nil_by_their_id_are_nil_in_statistics_and_steps():
    """As in scoring by default: one of two labels is NIL."""
    labels = [Label(0, 6, "http://aksw.org/notInWiki/Macron"), Label(11, 17, "Q567")]
    corpus = Corpus.from_documents([Document("a", "Macron met Merkel.", labels)])
    numbers = describe(corpus).numbers
    assert (numbers["nil"], numbers["entities"], numbers["labels"]) == (1, 1, 2)
    drop = get_plugin("steps", "drop-nil", Step)
    assert [label.entity for label in drop.apply(corpus["a"]).labels] == ["Q567"]
