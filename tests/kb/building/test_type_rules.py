"""Types of a whitelist: which classes lead to them, and what is adjusted and mended on the way."""

from __future__ import annotations

import json
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.kb.catalogue import open_kb
from karat.kb.dumps.class_graph import find_types_above
from karat.kb.dumps.items import ItemReader
from karat.kb.importers.importer import import_snapshot
from karat.kb.type_names import WHITELIST_NAMES
from karat.kb.type_rules import TypeRules, read_type_rules
from karat.kb.wikidata_download import download_snapshot
from karat.model.errors import InputError, UsageError
from tests.kb.building.generated import item, json_dump, store

WHITELIST = "Q215627\tPerson\nQ95074\tFictional Character\nQ729\tAnimal\n# nothing\n\nQ17537576\tCreative Work\nQ41"
ADJUSTMENTS = "Q95074 REPLACE_WITH Q215627  # character -> person\nQ729 MINUS Q215627"
CORRECTIONS = """# Subclass-of
REMOVE wd:Q7397 wdt:P279 wd:Q17537576  # software - creative work
ADD wd:Q14 wdt:P31 wd:Q7725634
ADD wd:Q14 wdt:P31 wd:Q7725634
ADD wd:Q99999 wdt:P31 wd:Q5"""
ITEMS = [
    item("Q11", {"en": "Anna"}, claims={"P31": ["Q5"]}),
    item("Q12", {"en": "Bugs"}, claims={"P31": ["Q15632617"]}),
    item("Q13", {"en": "Laika"}, claims={"P31": ["Q144"]}),
    item("Q14", {"en": "Poem"}, claims={"P31": ["Q1"]}),
    item("Q15", {"en": "Program"}, claims={"P31": ["Q7397"]}),
    item("Q16", {"en": "Nobody knows"}),
    item("Q17", {"en": "In a round"}, claims={"P31": ["Q41"]}),
    item("Q18", {"en": "In a round too"}, claims={"P31": ["Q42"]}),
    item("Q5", {"en": "human"}, claims={"P279": ["Q215627", "Q729"]}),
    item("Q144", {"en": "dog"}, claims={"P279": ["Q729"]}),
    item("Q15632617", {"en": "fictional animal"}, claims={"P279": ["Q95074", "Q144"]}),
    item("Q7725634", {"en": "poem"}, claims={"P279": ["Q17537576"]}),
    item("Q7397", {"en": "software"}, claims={"P279": ["Q17537576", "Q1"]}),
    item("Q215627", {"en": "person"}, claims={"P279": ["Q35120"]}),
    item("Q41", {"en": "one"}, claims={"P279": ["Q42"]}),
    item("Q42", {"en": "other"}, claims={"P279": ["Q41"]}),
]
TYPES = {
    "Q11": {"Q215627"},
    "Q12": {"Q215627"},
    "Q13": {"Q729"},
    "Q14": {"Q17537576"},
    "Q15": set(),
    "Q16": set(),
    "Q17": {"Q41"},
    "Q18": {"Q41"},
    "Q5": set(),  # a class is no instance of what it is below
    "Q77": None,
}


@pytest.fixture
def rules(tmp_path):
    for name, text in (("types.tsv", WHITELIST), ("adjust.txt", ADJUSTMENTS), ("mend.txt", CORRECTIONS)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return read_type_rules(str(tmp_path / "types.tsv"), [str(tmp_path / "adjust.txt"), str(tmp_path / "mend.txt")])


@pytest.mark.extras
def test_items_have_the_types_that_their_classes_lead_to(karat_cli, rules, tmp_path):
    dump = store(tmp_path / "wikidata-20261101-all.json.gz", json_dump(ITEMS))
    asked = ("--types", tmp_path / "types.tsv", "--adjust", tmp_path / "adjust.txt", "--adjust", tmp_path / "mend.txt")
    ran = karat_cli("kb", "build", "wikidata", dump, *asked, "--out", tmp_path / "wd")
    assert (ran.code, "untyped" in ran.out) == (0, True), ran.err
    kb = open_kb(tmp_path / "wd")
    assert kb.types(list(TYPES)) == list(TYPES.values())
    assert kb.manifest.repairs == {
        "corrections about unknown ids": 1,
        "corrections that change nothing": 1,
        "statements corrected": 2,
        "superclasses of whitelist types, skipped": 2,
    }
    assert {"types.tsv", "adjust.txt", "mend.txt"} == kb.manifest.sources[-1].files.keys()
    tops = {row["class"] for row in pq.read_table(tmp_path / "wd" / "subclass_of.parquet").to_pylist()}
    assert not tops & set(rules.whitelist)  # so that nothing above a type comes back with --by type


@pytest.mark.extras
def test_other_corrections_read_a_dump_anew(rules, tmp_path):
    assert ItemReader().description == ItemReader(rules=TypeRules(rules.whitelist, rules.adjustments)).description
    assert ItemReader().description != ItemReader(rules=rules).description


def test_an_import_has_them_too(karat_cli, rules, tmp_path):
    lines = [
        {"id": each["id"], "types": [_id(s) for s in claims.get("P31", [])], "parents": [_id(s) for s in above]}
        for each in ITEMS
        for claims in [each["claims"] or {}]
        for above in [claims.get("P279", [])]
        if each["id"] not in ("Q41", "Q42", "Q17", "Q18")  # an import takes no cycles
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    asked = ("--types", tmp_path / "types.tsv", "--adjust", tmp_path / "adjust.txt", "--adjust", tmp_path / "mend.txt")
    where = ("--date", "2026-01-01", "--out", tmp_path / "snapshot")
    ran = karat_cli("kb", "import", tmp_path / "x.jsonl", *where, *asked)
    assert ran.code == 0, ran.err
    ids = [id for id in TYPES if id not in ("Q17", "Q18", "Q5")]
    assert open_kb(tmp_path / "snapshot").types(ids) == [TYPES[id] for id in ids]


def _id(statement):
    return statement["mainsnak"]["datavalue"]["value"]["id"]


def test_terms_of_an_ontology_are_of_what_they_are_below(tmp_path):
    terms = {"T:1": "", "T:2": "is_a: T:1\n", "T:3": "is_a: T:2 ! two\n", "T:4": "is_a: T:9\n", "T:5": ""}
    text = "".join(f"[Term]\nid: {id}\nname: n{id}\n{more}" for id, more in terms.items())
    (tmp_path / "toy.obo").write_text(text, encoding="utf-8")
    import_snapshot(str(tmp_path / "toy.obo"), tmp_path / "snapshot", date="2026-01-01", rules=TypeRules(("T:1",)))
    found = open_kb(tmp_path / "snapshot").types(["T:2", "T:3", "T:4", "T:5"])
    assert found == [{"T:1"}, {"T:1"}, frozenset(), None]


def test_without_superclasses_nobody_can_fetch_them(rules, tmp_path):
    with pytest.raises(UsageError, match="Omit --no-classes"):
        download_snapshot(
            ["Q11"], tmp_path / "x", date="2026-01-01", reader=ItemReader(rules=rules), with_classes=False
        )


@given(st.lists(st.tuples(*[st.sampled_from("ABCDEF")] * 2), max_size=12), st.sets(st.sampled_from("ABCX"), min_size=1))
def test_classes_lead_where_a_plain_search_leads(pairs, types):
    def led(start):
        found, queue = {start}, [start]
        while queue:
            one = queue.pop()
            new = {high for low, high in pairs if low == one} - found
            found |= new
            queue += new
        return found & types

    columns = [pa.chunked_array([[pair[place] for pair in pairs]], pa.string()) for place in (0, 1)]
    reached = find_types_above(pa.table(columns, ["class", "superclass"]), sorted(types))
    assert all(set(reached.get(each, ())) == led(each) for each in "ABCDEFX")


def test_corrections_hold_in_their_order(tmp_path):
    lines = ["REMOVE Q1 P279 Q2", "ADD Q1 P279 Q2"]
    for way, left in ((lines, ["Q2"]), (lines[::-1], [])):
        path = tmp_path / "mend.txt"
        path.write_text("\n".join(way), encoding="utf-8")
        assert read_type_rules(rule_files=[str(path)]).correct_classes("P279", "Q1", ["Q2"], Counter()) == left


@pytest.mark.parametrize(
    ("types", "adjust", "said"),
    [
        ("a b\n", "", r"types\.tsv:1: found 'a b'"),
        ("# none\n", "", "no type"),
        ("Q1\n", "Q1 INSTEAD_OF Q2", r"adjust\.txt:1: found 'Q1 INSTEAD_OF Q2'.*REPLACE_WITH"),
        ("Q1\n", "Q2 REPLACE_WITH Q1", "'Q2', which is not in the whitelist"),
        ("Q1\n", "Q1 MINUS Q2", "'Q2', which is not in the whitelist"),
        ("Q1\n", "\nADD Q1 P17 Q2", r"adjust\.txt:2"),
    ],
)
def test_wrong_rules_are_said(tmp_path, types, adjust, said):
    (tmp_path / "types.tsv").write_text(types, encoding="utf-8")
    (tmp_path / "adjust.txt").write_text(adjust, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_type_rules(str(tmp_path / "types.tsv"), [str(tmp_path / "adjust.txt")])


def test_adjustments_without_a_whitelist_make_no_sense(tmp_path):
    (tmp_path / "adjust.txt").write_text(ADJUSTMENTS, encoding="utf-8")
    with pytest.raises(UsageError, match="--types"):
        read_type_rules(None, [str(tmp_path / "adjust.txt")])


def test_the_published_rules_are_read_and_published_types_are_adjusted(shared):
    folder = shared / "elevant"
    rules = read_type_rules(
        str(folder / "whitelist_types.tsv"),
        [str(folder / "type_adjustments.txt"), str(folder / "type_corrections.txt")],
    )
    assert (len(rules.whitelist), len(rules.adjustments), len(rules.corrections)) == (31, 3, 65)
    assert len({type for each in rules.whitelist for type in rules.adjust_types({each})}) == 29
    for line in (folder / "kb" / "entities.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        types = [type for type in line.split("\t")[2].split("|") if type in rules.whitelist]
        assert rules.adjust_types(types) == sorted(types)


def test_a_whitelist_by_name():
    rules = read_type_rules("fair")
    assert rules.whitelist == tuple(WHITELIST_NAMES)
    assert rules.sources[0].name == "rules for types in fair"
