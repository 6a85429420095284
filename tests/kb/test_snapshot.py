"""Snapshots: what is written is read, whatever is asked of a knowledge base, and no failed build harms an older one."""

from __future__ import annotations

import json
import time

import pyarrow as pa
import pytest

from karat.kb.catalogue import open_kb
from karat.kb.ids.id_spaces import parse_id_key
from karat.kb.protocol import IdStatus
from karat.kb.snapshot.manifest import SnapshotManifest
from karat.kb.snapshot.snapshot import Snapshot
from karat.kb.snapshot.table_schemas import TABLE_SCHEMAS
from karat.kb.snapshot.writer import open_snapshot_writer
from karat.model.errors import InputError, UnknownNameError, UsageError
from karat.storage.parquet import ROWS_PER_BLOCK

ABOUT = SnapshotManifest(karat="snapshot/2", name="toy", date="2026-01-01", space="wikidata", title_space="enwiki")


def written(folder, manifest=ABOUT, **tables):
    with open_snapshot_writer(folder, manifest) as snapshot:
        for name, columns in tables.items():
            snapshot.write_columns(name, columns)
    return Snapshot.open(folder)


@pytest.fixture
def toy(tmp_path):
    return written(
        tmp_path / "toy",
        entities={
            "id": ["Q64", "Q1", "Q9", "V5"],
            "name": ["Berlin", "universe", None, "five"],
            "kind": ["normal", None, "disambiguation", None],
            "description": ["capital of Germany", None, None, None],
            "value": [None, None, None, "QUANTITY"],
        },
        redirects={"id": ["Q999", "Q998", "Q5", "Q6", "Q7"], "target": ["Q998", "Q64", "Q6", "Q5", "Q7"]},
        same_as={"id": ["Q64", "Q1"], "other": ["enwiki:Berlin", "freebase:m.0abc"]},
        types={"id": ["Q64", "Q1"], "types": [["Q515"], []]},
        subclass_of={"class": ["Q515"], "superclass": ["Q486972"]},
        aliases={"id": ["Q64", "Q1", "Q64"], "alias": ["Berlin", "Berlin", "Spree-Athen"], "count": [90, 10, 3]},
        demonyms={"surface": ["German"], "id": ["Q183"]},
    )


def test_every_spelling_of_an_entity_leads_to_it(toy):
    ids = ["Q64", "wd:Q64", "http://www.wikidata.org/entity/Q64", "https://en.wikipedia.org/wiki/Berlin", "Q999"]
    assert toy.canonical_ids([*ids, "http://dbpedia.org/resource/Berlin", "Berlin", "enwiki:Berlin"]) == ["Q64"] * 8
    assert toy.canonical_ids(["/m/0abc", "http://rdf.freebase.com/ns/m.0abc"]) == ["Q1", "Q1"]


def test_what_is_not_known_stays_as_it_is_written(toy):
    ids = ["Hamburg", "https://de.wikipedia.org/wiki/Berlin", "Q77", "Q5", ""]
    assert toy.canonical_ids(ids) == ids
    assert toy.canonical_ids(["wd:Q77"]) == ["Q77"]  # another spelling of the same id


def test_standings(toy):
    asked = {
        "Q64": IdStatus.UNCHANGED,
        "Berlin": IdStatus.MAPPED,
        "Q998": IdStatus.REDIRECTED,
        "Q9": IdStatus.DISAMBIGUATION,
        "Q77": IdStatus.UNKNOWN,
    }
    assert toy.id_statuses(list(asked)) == list(asked.values())


def test_facts(toy):
    assert toy.names(["Q64", "Q9", "Q77", "Berlin"]) == ["Berlin", None, None, "Berlin"]
    assert toy.descriptions(["Q64", "Q1"]) == ["capital of Germany", None]
    assert toy.types(["Q64", "Q1", "Q9", "V5"]) == [frozenset({"Q515"}), frozenset(), None, frozenset({"QUANTITY"})]
    assert toy.aliases(["Q64", "Q9"]) == [frozenset({"Berlin", "Spree-Athen"}), None]
    assert toy.popular_entities(["Berlin", "Hamburg"]) == [frozenset({"Q64"}), None]
    assert toy.are_demonyms(["German", "Berlin"]) == [True, False]
    assert toy.contains(["Q64", "Q77"]) == [True, False]
    assert toy.may_be_popular(["Q64", "Q77", "Hamburg"]) == [True, True, False]
    assert dict(toy.hierarchy.find_ancestors("Q515")) == {"Q515": 0, "Q486972": 1}


def test_all_tables_are_optional(tmp_path):
    empty = written(tmp_path / "empty")
    assert empty.canonical_ids(["Q1", "x"]) == ["Q1", "x"]
    assert (empty.contains(["Q1"]), empty.names(["Q1"]), empty.types(["Q1"])) == (None, [None], [None])
    assert (empty.aliases(["Q1"]), empty.popular_entities(["x"]), empty.are_demonyms(["x"])) == ([None], [None], [None])
    assert empty.id_statuses(["Q1"]) == [IdStatus.UNKNOWN]
    assert not empty.hierarchy.superclasses


def test_a_snapshot_with_some_entities_says_nothing_about_others(tmp_path):
    manifest = SnapshotManifest(karat="snapshot/2", name="some", date="2026-01-01", space="wikidata", complete=False)
    some = written(tmp_path / "some", manifest, entities={"id": ["Q64"]})
    assert some.contains(["Q64", "Q77"]) is None
    assert some.may_be_popular(["Q64", "Q77"]) == [True, False]


def test_repairs_are_counted(toy):
    assert toy.manifest.repairs == {
        "cycles of redirects, not followed": 1,
        "redirects to themselves, skipped": 1,
    }
    assert toy.canonical_ids(["Q5", "Q6", "Q7"]) == ["Q5", "Q6", "Q7"]


def test_popular_entities_without_counts_are_those_with_most_links_then_people(tmp_path):
    snapshot = written(
        tmp_path / "p",
        entities={"id": ["A", "B", "C"], "in_links": [1, 5, 5], "population": [900, 10, 20]},
        aliases={"id": ["A", "B", "C"], "alias": ["x", "x", "x"]},
    )
    assert snapshot.popular_entities(["x"]) == [frozenset({"C"})]
    assert snapshot.manifest.popularity == "links to the entity, then its population"


def test_many_blocks(tmp_path):
    ids = [f"Q{number}" for number in range(2 * ROWS_PER_BLOCK + 5)]
    snapshot = written(tmp_path / "many", entities={"id": ids, "name": [id.lower() for id in ids]})
    asked = ["Q0", ids[-1], "nothing", ids[ROWS_PER_BLOCK], "Q0", "zzz", ""]
    assert snapshot.names(asked) == ["q0", ids[-1].lower(), None, ids[ROWS_PER_BLOCK].lower(), "q0", None, None]
    assert sum(snapshot.contains(ids)) == len(ids)
    assert snapshot.names(asked * ROWS_PER_BLOCK)[: len(asked)] == snapshot.names(asked)


def test_the_digest_is_of_the_content(tmp_path):
    one = written(tmp_path / "1", entities={"id": ["A", "B"], "name": ["a", "b"]})
    two = written(tmp_path / "2", entities={"id": ["B", "A"], "name": ["b", "a"]})
    other = written(tmp_path / "3", entities={"id": ["A", "B"], "name": ["b", "a"]})
    assert one.digest == two.digest != other.digest


def test_opening_takes_less_than_50_ms(toy):
    begun = time.perf_counter()
    Snapshot.open(toy.folder)
    assert time.perf_counter() - begun < 0.05


def test_a_stream_in_order_is_written_as_it_comes(tmp_path):
    tables = (pa.table({"target": [f"Q{n}"], "source": ["Q1"]}) for n in range(1, 9))
    with open_snapshot_writer(tmp_path / "s", ABOUT) as snapshot:
        assert snapshot.write_table("links", tables, is_sorted=True) == 8


@pytest.mark.parametrize(
    ("table", "columns", "message"),
    [
        ("entities", {"id": ["A", ""]}, "row 2: found an empty id"),
        ("entities", {"id": ["A"], "kind": ["odd"]}, "the kind 'odd'"),
        ("entities", {"id": ["A", "A"], "name": ["a", "b"]}, "'A' repeated"),
        ("entities", {"name": ["a"]}, "the columns name"),
    ],
)
def test_tables_are_checked(tmp_path, table, columns, message):
    with pytest.raises(InputError, match=message), open_snapshot_writer(tmp_path / "bad", ABOUT) as snapshot:
        snapshot.write_columns(table, columns)
    assert not list(tmp_path.iterdir())


def test_a_stream_out_of_order_is_refused(tmp_path):
    tables = [pa.table({"target": ["Q2"], "source": ["Q1"]}), pa.table({"target": ["Q1"], "source": ["Q1"]})]
    with pytest.raises(InputError, match="Q1 Q1"), open_snapshot_writer(tmp_path / "s", ABOUT) as snapshot:
        snapshot.write_table("links", tables, is_sorted=True)


def test_unknown_and_repeated_tables(tmp_path):
    with open_snapshot_writer(tmp_path / "s", ABOUT) as snapshot:
        with pytest.raises(UnknownNameError):
            snapshot.write_table("entity", pa.table({"id": ["A"]}))
        snapshot.write_columns("entities", {"id": ["A"]})
        with pytest.raises(InputError, match="second table"):
            snapshot.write_columns("entities", {"id": ["A"]})


def test_a_failed_build_leaves_the_older_snapshot(toy):
    before = toy.digest
    with pytest.raises(InputError), open_snapshot_writer(toy.folder, ABOUT) as snapshot:
        snapshot.write_columns("entities", {"id": ["Q2", ""]})
    assert Snapshot.open(toy.folder).digest == before
    assert [path.name for path in toy.folder.parent.iterdir()] == ["toy"]


def test_a_build_replaces_the_older_snapshot_as_a_whole(toy):
    written(toy.folder, entities={"id": ["Q2"]})
    assert sorted(path.name for path in toy.folder.iterdir()) == ["entities.parquet", "manifest.json"]


def test_two_builds_of_one_folder_never_mix(toy):
    with (
        open_snapshot_writer(toy.folder, ABOUT) as first,
        pytest.raises(UsageError, match="is already being built"),
        open_snapshot_writer(toy.folder, ABOUT),
    ):
        first.columns("entities", {"id": ["Q2"]})


def test_the_lock_of_a_build_that_was_killed_is_no_hindrance(toy):
    lock = toy.folder.with_name(".toy.lock")
    lock.write_text("4194305", encoding="ascii")  # above the highest number of a process on Linux
    (toy.folder.with_name(".toy.part")).mkdir()
    written(toy.folder, entities={"id": ["Q2"]})
    assert [path.name for path in toy.folder.parent.iterdir()] == ["toy"]


def test_a_folder_a_name_and_nothing(toy, tmp_path, monkeypatch):
    assert open_kb(toy.folder).digest == toy.digest
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    written(tmp_path / "home" / "kb" / "mine", entities={"id": ["Q2"]})
    assert open_kb("mine").contains(["Q2"]) == [True]
    with pytest.raises(InputError, match=r"no snapshot of this name.*starter, mine"):
        open_kb("yours")


def test_damaged_snapshots_are_told(toy):
    manifest = toy.folder / "manifest.json"
    said = json.loads(manifest.read_bytes())
    manifest.write_text(json.dumps({**said, "karat": "snapshot/9"}), encoding="utf-8")
    with pytest.raises(InputError, match="newer Karat"):
        Snapshot.open(toy.folder)
    manifest.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"manifest\.json"):
        Snapshot.open(toy.folder)
    manifest.write_text(json.dumps(said), encoding="utf-8")
    table = toy.folder / "entities.parquet"
    data = table.read_bytes()
    table.write_bytes(data[:-1])
    with pytest.raises(InputError, match="another size"):
        Snapshot.open(toy.folder)
    table.write_bytes(b"x" * len(data))
    with pytest.raises(InputError, match="a damaged table"):
        Snapshot.open(toy.folder).names(["Q64"])


def test_every_table_says_who_needs_it():
    assert all(shape.purpose and 0 < shape.n_keys <= len(shape.columns) for shape in TABLE_SCHEMAS.values())


@pytest.mark.parametrize(
    ("id", "key"),
    [
        ("Q64", "wikidata:Q64"),
        ("https://www.wikidata.org/wiki/Q64", "wikidata:Q64"),
        ("https://de.wikipedia.org/wiki/M%C3%BCnchen", "dewiki:München"),
        ("http://de.dbpedia.org/resource/Bad_Homburg", "dewiki:Bad Homburg"),
        ("http://dbpedia.org/resource/AC/DC", "enwiki:AC/DC"),
        ("https://en.wikipedia.org/?curid=3354", "enwiki-page:3354"),
        ("http://yago-knowledge.org/resource/Berlin", "enwiki:Berlin"),
        ("/m/0156q", "freebase:m.0156q"),
        ("m.0156q", "freebase:m.0156q"),
        ("C0006826", "umls:C0006826"),
        ("MESH:D008175", "MESH:D008175"),
        ("Berlin", None),
        ("http://example.org/Berlin", None),
    ],
)
def test_keys(id, key):
    found = parse_id_key(id)
    assert (None if found is None else str(found)) == key
