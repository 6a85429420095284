"""Any ontology as a snapshot: tables, JSONL, OBO, and SKOS or other RDF."""

from __future__ import annotations

import gzip
import json

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.data.id_resolution import resolve_ids
from karat.kb.catalogue import open_kb
from karat.kb.importers.importer import import_snapshot
from karat.kb.protocol import IdStatus
from karat.kb.snapshot.snapshot import Snapshot
from karat.kb.tsv_folder import load_tsv_folder
from karat.model.errors import InputError, UnknownNameError
from karat.systems.plugins.llm import resolve_entities

OBO = """format-version: 1.2

[Term]
id: TOY:1
name: disease
def: "What makes ill\\, in short." [x:y]

[Term]
id: TOY:2
name: cold
synonym: "common cold" EXACT []
is_a: TOY:1 ! disease
alt_id: TOY:9
xref: UMLS:C0009443

[Term]
id: TOY:3
name: ague
is_obsolete: true
replaced_by: TOY:2

[Typedef]
id: part_of
"""

SKOS = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix x: <http://example.org/> .
x:cat a skos:Concept ; skos:prefLabel "cat"@en, "Katze"@de ; skos:altLabel "pussycat"@en ;
  skos:definition "an animal"@en ; skos:broader x:animal ; skos:exactMatch <http://www.wikidata.org/entity/Q146> .
x:animal a skos:Concept ; skos:prefLabel "animal"@en .
x:old owl:deprecated true ; <http://purl.org/dc/terms/isReplacedBy> x:cat .
"""


def made(tmp_path, name, text, **options):
    source = tmp_path / name
    source.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    import_snapshot(str(source), tmp_path / "snapshot", date="2026-01-01", **options)
    return Snapshot.open(tmp_path / "snapshot")


@pytest.mark.parametrize("name", ["toy.obo", "toy.obo.gz"])
def test_obo(tmp_path, name):
    snapshot = made(tmp_path, name, OBO, space="TOY")
    assert snapshot.names(["TOY:2", "TOY:9", "TOY:3"]) == ["cold"] * 3
    assert snapshot.descriptions(["TOY:1"]) == ["What makes ill, in short."]
    assert snapshot.aliases(["TOY:2"]) == [frozenset({"cold", "common cold"})]
    assert dict(snapshot.hierarchy.find_ancestors("TOY:2")) == {"TOY:2": 0, "TOY:1": 1}
    assert snapshot.id_statuses(["TOY:9", "TOY:3", "TOY:2"]) == [
        IdStatus.REDIRECTED,
        IdStatus.REDIRECTED,
        IdStatus.UNCHANGED,
    ]
    assert snapshot.manifest.repairs == {
        "cross-references, skipped: they may name other entities (--merge-xrefs reads them)": 1
    }
    assert [each.id for each in snapshot.name_index.find_similar("comon cold")] == ["TOY:2"]


def test_cross_references_of_obo_may_mean_the_same(tmp_path):
    snapshot = made(tmp_path, "toy.obo", OBO, xrefs_are_same_as=True)
    assert snapshot.canonical_ids(["UMLS:C0009443"]) == ["TOY:2"]


def test_skos(tmp_path):
    snapshot = made(tmp_path, "toy.ttl", SKOS)
    cat = "http://example.org/cat"
    assert snapshot.canonical_ids(["http://www.wikidata.org/entity/Q146", "http://example.org/old"]) == [cat, cat]
    assert (snapshot.names([cat]), snapshot.descriptions([cat])) == (["cat"], ["an animal"])
    assert snapshot.aliases([cat]) == [frozenset({"cat", "pussycat"})]
    assert list(snapshot.hierarchy.find_ancestors(cat)) == [cat, "http://example.org/animal"]
    assert snapshot.manifest.repairs["labels and texts in other languages"] == 1


def test_names_in_another_language(tmp_path):
    assert made(tmp_path, "toy.ttl", SKOS, language="de").names(["http://example.org/cat"]) == ["Katze"]


def test_jsonl(tmp_path):
    lines = [
        {"id": "X1", "name": "Anna", "aliases": {"A.": 7, "Annie": 1}, "types": ["PER"], "same_as": ["Q1"]},
        {"id": "X2", "name": "Otto", "aliases": ["A."], "types": [], "old_ids": ["X0"], "links": ["X1"]},
    ]
    snapshot = made(tmp_path, "toy.jsonl", "\n".join(map(json.dumps, lines)))
    assert snapshot.canonical_ids(["X0", "Q1"]) == ["X2", "X1"]
    assert snapshot.types(["X1", "X2", "X3"]) == [frozenset({"PER"}), frozenset(), None]
    # How often X2 is called "A." is unknown, so it may be more often than 7 times; only X1 is called "Annie".
    assert snapshot.popular_entities(["A.", "Annie"]) == [None, frozenset({"X1"})]
    assert snapshot.manifest.anchor_counts == "as imported"
    assert snapshot.contains(["X1", "X3"]) == [True, False]


@pytest.mark.parametrize(
    ("first", "second", "popular", "criterion"),
    [
        ({}, {}, None, "unknown without counts, links or population, except for names of one entity"),
        ({"aliases": {"Paris": 7}}, {"aliases": {"Paris": 3}}, {"X1"}, "counts of aliases"),
        ({"aliases": {"Paris": 7}}, {"aliases": {"Paris": 7}}, {"X1", "X2"}, "counts of aliases"),
        ({"in_links": 0, "population": 9}, {"in_links": 1}, {"X2"}, "links to the entity, then its population"),
        ({"in_links": 1, "population": 9}, {"in_links": 1}, {"X1"}, "links to the entity, then its population"),
        ({"in_links": 5}, {}, None, "links to the entity, then its population"),
        ({"population": 9}, {"population": 8}, {"X1"}, "population of the entity"),
        ({"population": 9}, {}, None, "population of the entity"),
        # X2 links to X1 once, however often it says so, and nothing links to X2.
        ({}, {"links": ["X1", "X1"]}, {"X1"}, "links to the entity, then its population"),
    ],
)
def test_the_popular_entity_of_a_name_of_two_is_unknown_unless_their_frequencies_are_known(
    tmp_path, first, second, popular, criterion
):
    """Both were popular, so that no mention was rare."""
    lines = [
        {"id": "X1", "name": "Paris", "aliases": ["Paris"], **first},
        {"id": "X2", "name": "Paris Hilton", "aliases": ["Paris"], **second},
    ]
    snapshot = made(tmp_path, "toy.jsonl", "\n".join(map(json.dumps, lines)))
    # The only entity of a name is its most frequent one.
    assert snapshot.popular_entities(["Paris", "Paris Hilton"]) == [popular, {"X2"}]
    assert snapshot.manifest.popularity == criterion


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "a.jsonl",
            '{"id": "X1"}\n\n{"id": "X1", "name": "one"}\n',
            "a.jsonl:3: found the id 'X1' repeated .* at .*:1;",
        ),
        ("a.jsonl", '{"id": ""}\n', "a.jsonl:1: found an empty id"),
        ("a.jsonl", '{"id": "X1", "aliases": {"": 3}}\n', "a.jsonl:1: found an empty text in 'aliases'"),
        ("a.obo", "[Term]\nid: X:1\n[Term]\nid: X:1\nname: a\n", "a.obo:3: found the id 'X:1' repeated"),
        ("a.jsonl", "\n", "a.jsonl: found no entity"),
        ("a.nt", "", "a.nt: found no entity"),
    ],
)
def test_an_entity_that_cannot_be_read_is_located(tmp_path, name, text, message):
    """Messages named a row of a sorted table, and a file without entities became a snapshot without any."""
    with pytest.raises(InputError, match=message):
        made(tmp_path, name, text)


@pytest.mark.parametrize(
    ("facts", "count"), [({}, None), ({"population": 9}, None), ({"in_links": 0}, 0), ({"aliases": {"Paris": 7}}, 7)]
)
def test_a_count_of_a_found_name_is_unknown_unless_something_is_counted(karat_cli, tmp_path, facts, count):
    """It was 0."""
    made(tmp_path, "toy.jsonl", json.dumps({"id": "X1", "name": "Paris", **facts}))
    ran = karat_cli("kb", "find", "Paris", "--kb", tmp_path / "snapshot", "--json", "-")
    assert [one["count"] for one in json.loads(ran.out)["entities"]] == [count]


def test_a_concept_with_names_in_other_languages_only_is_an_entity_without_name(tmp_path):
    """It was in no table, so its ids were those of no entity."""
    snapshot = made(
        tmp_path,
        "toy.ttl",
        """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
        <http://x/1> skos:prefLabel "cat"@en . <http://x/2> skos:prefLabel "Hund"@de .""",
    )
    assert snapshot.contains(["http://x/1", "http://x/2", "http://x/3"]) == [True, True, False]
    assert snapshot.names(["http://x/1", "http://x/2"]) == ["cat", None]


def test_tables_say_the_same_as_a_snapshot(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "entities.tsv").write_text("Q1\tAnna\tPER\nQ2\tOtto\nQ3\tten\tQUANTITY\n", encoding="utf-8")
    (folder / "redirects.tsv").write_text("Q9\tQ1\n", encoding="utf-8")
    (folder / "popular.tsv").write_text("A.\tQ1|Q2\n", encoding="utf-8")
    (folder / "demonyms.txt").write_text("German\n", encoding="utf-8")
    import_snapshot(str(folder), tmp_path / "snapshot", date="2026-01-01", space="wikidata")
    tables, snapshot = load_tsv_folder(folder), open_kb(tmp_path / "snapshot")
    ids = ["Q1", "Q2", "Q3", "Q9", "Q7"]
    for ask in ("canonical_ids", "contains", "names", "types", "id_statuses", "may_be_popular"):
        assert getattr(snapshot, ask)(ids) == getattr(tables, ask)(ids), ask
    for ask in ("popular_entities", "are_demonyms"):
        assert getattr(snapshot, ask)(["A.", "German", "x"]) == getattr(tables, ask)(["A.", "German", "x"]), ask


def test_a_table_without_entities_knows_its_ids_as_the_folder_does(tmp_path):
    """The snapshot mapped `Venus (planet)` to Q313 and called it unknown, and `llm` mapped nothing."""
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "same_as.tsv").write_text("Q313\tVenus (planet)\nQ1\tTwins\nQ2\tTwins\n", encoding="utf-8")
    import_snapshot(str(folder), tmp_path / "snapshot", date="2026-01-01")
    tables, snapshot = load_tsv_folder(folder), Snapshot.open(tmp_path / "snapshot")
    ids = ["Venus (planet)", "Q313", "Q1", "Twins", "Q7"]
    assert snapshot.id_statuses(ids) == tables.id_statuses(ids)
    assert snapshot.contains(ids) is tables.contains(ids) is None
    (found,) = resolve_entities((Prediction(0, 1, "Venus (planet)"),), snapshot)
    assert found.entity == "Q313"


SPELLINGS = {
    "Q1": ["The_Boat_Race", "The Boat Race", "enwiki:The_Boat_Race", "https://en.wikipedia.org/wiki/The%20Boat_Race"],
    "Q2": ["enwiki:The_Post", "Old Post", "Old_Post", "The Post"],
    "Q3": ["anna karenina", "anna_karenina"],
    "Twins": ["Twins", "https://en.wikipedia.org/wiki/Twins"],
    "Nobody": ["Nobody"],
}


@pytest.mark.parametrize("options", [{}, {"space": "wikidata"}, {"space": "wikidata", "title_space": "enwiki"}])
@pytest.mark.parametrize("listed", ["", "Q1\nQ2\nQ3\nQ4\nQ5\n"])
def test_scores_resolving_and_an_imported_snapshot_map_the_same_spellings(tmp_path, options, listed):
    """`kb resolve` took titles letter by letter, and an import lost those with underscores."""
    folder = tmp_path / "tables"
    folder.mkdir()
    rows = ["wd:Q1\tThe_Boat_Race", "Q2\tThe Post", "Q3\tanna karenina", "Q4\tTwins", "Q5\tTwins"]
    (folder / "same_as.tsv").write_text("\n".join(rows))
    (folder / "redirects.tsv").write_text("Old_Post\tenwiki:The_Post\n")
    if listed:
        (folder / "entities.tsv").write_text(listed)
    import_snapshot(str(folder), tmp_path / "snapshot", date="2026-01-01", **options)
    for kb in (load_tsv_folder(folder), open_kb(tmp_path / "snapshot")):
        for entity, spellings in SPELLINGS.items():
            expected = [entity if entity.startswith("Q") else spelling for spelling in spellings]
            predictions = tuple(Prediction(n, n + 1, id) for n, id in enumerate(spellings))
            (resolved,), report = resolve_ids(Run.from_responses([Response("d", predictions)]), kb)
            assert [prediction.entity for prediction in resolved.predictions] in (
                expected,
                [f"wd:{id}" for id in expected],
            )
            assert (IdStatus.AMBIGUOUS in report.ids_by_status) == (entity == "Twins")
            labels = tuple(Label(n, n + 1, entity) for n in range(len(spellings)))
            result = karat.evaluate(
                Corpus.from_documents([Document("d", "abcdefgh", labels)]),
                Run.from_responses([Response("d", predictions)]),
                kb=kb,
            )
            assert result["strong:micro.f1"] == 1, (entity, kb.name)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("bad.jsonl", '{"id": "A"}\n{"name": "b"}', r"bad\.jsonl:2"),
        ("bad.jsonl", '{"id": "A", "label": "a"}', "label"),
        ("bad.obo", "hello", "no stanza"),
        ("bad.obo", "[Term]\nname: x\n", "0 ids"),
        ("bad.ttl", "<x> <y> .", r"bad\.ttl:1"),
        ("bad.txt", "x", "unknown suffix"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(tmp_path, name, text, message):
    with pytest.raises(InputError, match=message):
        made(tmp_path, name, text)
    assert not (tmp_path / "snapshot").exists()


def test_unknown_formats_and_missing_files(tmp_path):
    with pytest.raises(UnknownNameError):
        made(tmp_path, "toy.obo", OBO, format="owlish")
    with pytest.raises(InputError, match="no such file"):
        import_snapshot(str(tmp_path / "none.obo"), tmp_path / "snapshot", date="2026-01-01")


def test_the_commands(karat_cli, tmp_path):
    (tmp_path / "toy.obo").write_text(OBO, encoding="utf-8")
    ran = karat_cli("kb", "import", tmp_path / "toy.obo", "--date", "2026-01-01", "--out", tmp_path / "toy")
    assert (ran.code, "entities" in ran.out) == (0, True)
    shown = json.loads(karat_cli("kb", "show", tmp_path / "toy", "--json", "-").out)
    assert (shown["entities"], shown["aliases"], shown["date"]) == (3, 4, "2026-01-01")
    assert "TOY:2" in karat_cli("kb", "find", "COMMON", "--kb", tmp_path / "toy").out
    assert karat_cli("kb", "find", "x", "--kb", tmp_path).code == 2
    nothing = karat_cli("kb", "find", "COMMON", "--kb", tmp_path / "toy", "--limit", "0")
    assert (nothing.code, "--limit" in nothing.err, "Traceback" in nothing.err) == (2, True, False)
