"""Files of an archive that Karat did not write like this are refused by name; errors of ours stay what they are."""

from __future__ import annotations

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from karat.model.errors import InputError
from karat.storage.content_store import FolderStore, MemoryStore
from karat.web.archive import case_search
from karat.web.archive.archive import Archive
from karat.web.archive.case_search import CaseQuery, search_cases
from karat.web.archive.resource import build_resource
from tests.fuzzing.archives import archive_files, replace_file


def find_file(kind):
    return next((name, data) for name, data in archive_files().items() if name[0] == kind)


def to_bytes(table):
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def replace_cases(change):
    name, data = find_file("verdicts")
    return Archive(MemoryStore(replace_file(name, to_bytes(change(pq.read_table(io.BytesIO(data)))))))


def set_column(name, values, kind=None):
    def change(table):
        rows = (values * table.num_rows)[: table.num_rows]
        return table.set_column(table.column_names.index(name), name, pa.array(rows, kind))

    return change


DAMAGES = {
    "0 columns 'kind'": lambda table: table.drop_columns(["kind"]),
    "2 columns 'related'": lambda table: table.append_column("related", table.column("related")),
    "column 'gold_name' is int64, not text": set_column("gold_name", [1]),
    "column 'errors' is string, not lists of texts": set_column("errors", ["x"]),
    "column 'by:types' is int64, not lists of texts": set_column("by:types", [1]),
    "column 'matched_gold' has nulls": set_column("matched_gold", [None], pa.float64()),
    "nulls in 'prediction' and 'prediction_end' differ": set_column("prediction_end", [None], pa.int32()),
    "unknown kind of case 'x'": set_column("kind", ["x"]),
    "mention -1": set_column("mention", [-1]),
    "mention 99 of": set_column("mention", [99]),
}


@pytest.mark.parametrize("finding", DAMAGES)
def test_a_table_of_cases_that_karat_did_not_write_is_refused(finding):
    archive = replace_cases(DAMAGES[finding])
    key = next(iter(archive.datasets))
    with pytest.raises(InputError) as caught:
        build_resource(archive, f"cases/{key}")
    assert finding in caught.value.actual


def test_curves_that_contradict_themselves_are_refused():
    name, data = find_file("curves")
    first, *rest = data.splitlines()
    for change, finding in (
        (lambda curve: curve["points"]["micro.f1"].pop(), "a curve over threshold whose columns have"),
        (lambda curve: curve.update(over="x"), "an unknown curve over 'x'"),
    ):
        curve = json.loads(first)
        change(curve)
        archive = Archive(MemoryStore(replace_file(name, b"\n".join([json.dumps(curve).encode(), *rest]))))
        with pytest.raises(InputError, match=finding):
            build_resource(archive, f"curves/{next(iter(archive.datasets))}")


@pytest.mark.parametrize("problem", [KeyError("ours"), TypeError("ours"), ValueError("ours"), IndexError("ours")])
def test_an_error_of_ours_is_not_reported_as_damage(problem, monkeypatch):
    """Every error of these types was called an archive whose files contradict each other."""

    def fail(*_):
        raise problem

    monkeypatch.setattr(Archive, "read_result", fail)
    with pytest.raises(type(problem), match="ours"):
        build_resource(Archive(MemoryStore(archive_files())), "leaderboard")


@pytest.fixture
def folder(tmp_path):
    store = FolderStore.open_or_create(str(tmp_path / "archive"))
    for (kind, _), data in archive_files().items():
        store.put(kind, data)
    return store


@pytest.mark.extras
def test_a_damaged_table_is_refused_by_the_search(folder):
    (kind, digest), data = find_file("verdicts")
    path = folder.get_path(kind, digest)
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    assert search_cases(Archive(folder), CaseQuery()).total
    for damaged, finding in (
        (data[:-20], "ArrowInvalid"),
        (b"PAR1" + bytes(footer - 4) + data[footer:], "Error"),  # all pages, which only DuckDB reads
        (to_bytes(pq.read_table(io.BytesIO(data)).drop_columns(["gold_name"])), "0 columns 'gold_name'"),
    ):
        path.write_bytes(damaged)
        for act in (
            lambda: search_cases(Archive(folder), CaseQuery()),
            lambda: build_resource(Archive(folder), "entities"),
        ):
            with pytest.raises(InputError, match="an invalid archive file") as caught:
                act()
            assert finding in caught.value.actual


@pytest.mark.extras
def test_a_wrong_query_of_ours_is_not_reported_as_damage(folder, monkeypatch):
    import duckdb

    monkeypatch.setattr(case_search, "_GOLD_QUERY", "SELECT no_such_column FROM cases")
    with pytest.raises(duckdb.BinderException, match="no_such_column"):
        build_resource(Archive(folder), "entities")
