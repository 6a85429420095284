"""Bad input to builds and imports: a clear error or a counted repair, and never harm to a snapshot that is there."""

from __future__ import annotations

import bz2
import json
import shutil
from contextlib import suppress

import pytest

from karat.kb.catalogue import open_kb
from karat.kb.dumps.items import ItemReader
from karat.kb.dumps.wikidata import WikidataDumps, build_wikidata
from karat.kb.dumps.wikipedia import WikipediaDumps, build_wikipedia
from karat.kb.protocol import IdStatus
from karat.kb.snapshot.manifest import SnapshotManifest
from karat.kb.snapshot.writer import open_snapshot_writer
from karat.model.errors import InputError, UsageError
from tests.kb.building import world
from tests.kb.building.generated import item, json_dump, store

DAY = "2026-11-01"
DUMP = "wikidata-20261101-all.json.gz"


@pytest.fixture
def good(tmp_path):
    """A snapshot that was there before, and a check that nothing else is or was changed."""
    with open_snapshot_writer(
        tmp_path / "snapshot", SnapshotManifest(karat="snapshot/2", name="snapshot", date=DAY)
    ) as snapshot:
        snapshot.write_columns("entities", {"id": ["Q1"]})
    before = {path.name: path.read_bytes() for path in (tmp_path / "snapshot").iterdir()}
    yield tmp_path / "snapshot"
    assert {path.name: path.read_bytes() for path in (tmp_path / "snapshot").iterdir()} == before
    assert not (tmp_path / ".snapshot.part").exists()


def whole(tmp_path):
    return store(tmp_path / "whole.gz", json_dump(world.ITEMS)).read_bytes()


BROKEN = {
    "not compressed as it says": (lambda data: b"<html>Too many requests</html>", "not compressed as .gz says"),
    "cut": (lambda data: data[:-30], "Download the file again and repeat the command"),
    "damaged": (lambda data: data[:40] + bytes(20) + data[60:], "damaged bytes"),
    "another file": (lambda data: bz2.compress(b"\n".join([b"-- MariaDB dump", b"INSERT"])), "a complete dump"),
    "nothing": (lambda data: b"", "not compressed as .gz says"),
}


@pytest.mark.extras
@pytest.mark.parametrize("how", BROKEN)
def test_broken_dumps_are_one_clear_error(karat_cli, good, tmp_path, how):
    broken, said = BROKEN[how]
    (tmp_path / DUMP).write_bytes(broken(whole(tmp_path)))
    ran = karat_cli("kb", "build", "wikidata", tmp_path / DUMP, "--out", good)
    assert ran.code == 2
    assert said in ran.err
    assert DUMP in ran.err
    assert len(ran.err.strip().splitlines()) == 1


@pytest.mark.extras
def test_compression_is_told_by_the_bytes(karat_cli, tmp_path):
    (tmp_path / DUMP).write_bytes(bz2.compress(b"".join(json_dump(world.ITEMS))))
    ran = karat_cli("kb", "build", "wikidata", tmp_path / DUMP, "--out", tmp_path / "snapshot")
    assert (ran.code, "Q64 = freebase:m.0156q = Q8888" in ran.out) == (0, True)


@pytest.mark.extras
def test_a_second_build_reads_nothing_while_the_first_runs(good, tmp_path):
    (tmp_path / DUMP).write_bytes(whole(tmp_path))
    metadata = SnapshotManifest(karat="snapshot/2", name="snapshot", date=DAY)
    with suppress(KeyboardInterrupt), open_snapshot_writer(good, metadata):
        with pytest.raises(UsageError, match="is already being built"):
            build_wikidata(WikidataDumps(tmp_path / DUMP), good, date=DAY, reader=ItemReader())
        assert not (tmp_path / ".snapshot.read").exists()
        raise KeyboardInterrupt


@pytest.mark.extras
def test_a_title_that_two_days_lead_elsewhere_is_counted(tmp_path):
    files = world.wikipedia_files(tmp_path)
    dumps = WikipediaDumps(**{**files, "articles": (files["articles"],)})
    build_wikipedia(dumps, tmp_path / "en", wiki="enwiki", date="2026-10-01")
    items = [item("Q64", {"en": "Berlin"}), item("Q9", {"en": "Berlin (band)"}, sitelinks={"enwiki": "Berlin"})]
    store(tmp_path / DUMP, json_dump(items))
    asked = WikidataDumps(tmp_path / DUMP, wikipedia=tmp_path / "en")
    found = build_wikidata(asked, tmp_path / "wd", date=DAY, reader=ItemReader())
    assert found.repairs["ids that the Wikipedia snapshot resolves differently, resolved by the dump"] == 1
    assert open_kb(tmp_path / "wd").canonical_ids(["enwiki:Berlin", "enwiki:Old capital"]) == ["Q9", "Q64"]


def imported(karat_cli, folder, lines, out="new", *more):
    (folder / "x.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return karat_cli("kb", "import", folder / "x.jsonl", "--date", DAY, "--out", folder / out, *more)


def test_an_id_with_two_names_is_refused_and_one_that_says_the_same_again_is_counted(karat_cli, good, tmp_path):
    twice = [{"id": "X1", "name": "Anna"}, {"id": "X1", "name": "Otto"}]
    ran = imported(karat_cli, tmp_path, twice, "snapshot")
    assert (ran.code, "'X1' repeated" in ran.err) == (2, True)
    ran = imported(karat_cli, tmp_path, twice[:1] * 2)
    assert (ran.code, "1 rows of entities that are duplicates, skipped" in ran.out) == (0, True)


def test_types_in_two_rows_of_an_id_are_joined(karat_cli, tmp_path):
    """The second row was skipped as a duplicate before, and its types with it."""
    lines = [{"id": "X1", "name": "Anna", "types": types} for types in (["A"], ["B", "A"], ["A"])]
    ran = imported(karat_cli, tmp_path, lines)
    assert ran.code == 0, ran.err
    assert "1 rows of types joined with another row of the same key" in ran.out
    assert "1 rows of types that are duplicates, skipped" in ran.out
    assert open_kb(tmp_path / "new").types(["X1"]) == [{"A", "B"}]


def test_cycles_and_redirects_to_themselves_are_counted(karat_cli, tmp_path):
    lines = [
        {"id": "X1", "old_ids": ["X1", "X2"], "parents": ["X2"]},
        {"id": "X2", "old_ids": ["X1"], "parents": ["X3"]},
        {"id": "X3", "parents": ["X1", "X3"]},
    ]
    ran = imported(karat_cli, tmp_path, lines)
    assert ran.code == 0
    kb = open_kb(tmp_path / "new")
    assert kb.manifest.repairs == {
        "cycles of redirects, not followed": 1,
        "redirects to themselves, skipped": 1,
        "subclass-of statements that close a cycle, skipped": 2,
    }
    assert kb.canonical_ids(["X1", "X2"]) == ["X1", "X2"]
    assert kb.hierarchy.find_ancestors("X1").keys() == {"X1", "X2", "X3"}


def test_two_items_that_are_said_to_be_one_are_told_with_the_chain(karat_cli, tmp_path):
    lines = [
        {"id": "Q1", "same_as": ["enwiki:Anna"]},
        {"id": "Q2", "same_as": ["freebase:m.01"]},
        {"id": "enwiki:Anna", "same_as": ["freebase:m.01"]},
        {"id": "Q3", "same_as": ["enwiki:Otto"]},
    ]
    ran = imported(karat_cli, tmp_path, lines, "new", "--id-space", "wikidata")
    assert "not merged: Q1 = enwiki:Anna = freebase:m.01 = Q2 (conflicts.tsv lists every conflict)" in ran.out
    kb = open_kb(tmp_path / "new")
    assert kb.id_statuses(["Q1", "Q2", "enwiki:Anna"]) == [IdStatus.AMBIGUOUS] * 3
    assert kb.canonical_ids(["Q1", "enwiki:Otto"]) == ["Q1", "Q3"]
    assert (tmp_path / "new" / "conflicts.tsv").read_text() == "wikidata\tQ1 = enwiki:Anna = freebase:m.01 = Q2\n"


def test_a_snapshot_that_is_copied_half_is_told(good, tmp_path):
    shutil.copytree(good, tmp_path / "half")
    (tmp_path / "half" / "entities.parquet").unlink()
    with pytest.raises(InputError, match="a missing table, or one of another size"):
        open_kb(tmp_path / "half")
