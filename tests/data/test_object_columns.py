"""Tables of objects with columns of their own: data frames, datasets and dictionaries."""

from __future__ import annotations

import pytest

import karat
from karat.model.errors import InputError, UsageError

TEXT = "Berlin is an hour from Poland."
ROW_COLUMNS = {"doc": "doc_id", "text": "body", "start": "begin", "end": "stop", "entity": "qid"}
ROWS = [
    {"doc_id": "d1", "body": TEXT, "begin": 0, "stop": 6, "qid": "Q64"},
    {"doc_id": "d1", "body": TEXT, "begin": 23, "stop": 29, "qid": None},
]
NESTED = [
    {"doc_id": "d1", "body": TEXT, "ents": [{"s": 0, "e": 6, "q": "Q64"}, {"s": 23, "e": 29, "q": None}]},
]
NESTED_COLUMNS = {"doc": "doc_id", "text": "body", "start": "ents.s", "end": "ents.e", "entity": "ents.q"}
PARALLEL = [{"doc_id": "d1", "body": TEXT, "begin": [0, 23], "stop": [6, 29], "qid": ["Q64", None]}]
STRUCT_OF_LISTS = [{"doc_id": "d1", "body": TEXT, "ents": {"s": [0, 23], "e": [6, 29], "q": ["Q64", None]}}]


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (ROWS, ROW_COLUMNS),
        (NESTED, NESTED_COLUMNS),
        (PARALLEL, ROW_COLUMNS),
        (STRUCT_OF_LISTS, NESTED_COLUMNS),
    ],
    ids=["rows", "nested", "parallel", "struct of lists"],
)
def test_mentions_may_be_rows_nested_or_parallel_lists(rows, columns):
    (document,) = karat.load(rows, columns=columns)
    assert document.text == TEXT
    assert [(label.start, label.end, label.entity) for label in document.labels] == [(0, 6, "Q64"), (23, 29, None)]
    run = karat.load_run(rows, columns={role: name for role, name in columns.items() if role != "text"})
    assert karat.evaluate(karat.load(rows, columns=columns), run)["strong:micro.f1"] == 1.0


def test_arrow_tables_are_read_by_their_columns():
    pa = pytest.importorskip("pyarrow")
    (document,) = karat.load(pa.Table.from_pylist(PARALLEL), columns=ROW_COLUMNS)
    assert len(document.labels) == 2


@pytest.mark.extras
def test_data_frames_are_read_by_their_columns():
    pd = pytest.importorskip("pandas")
    for rows, columns in ((ROWS, ROW_COLUMNS), (NESTED, NESTED_COLUMNS), (PARALLEL, ROW_COLUMNS)):
        (document,) = karat.load(pd.DataFrame(rows), columns=columns)
        assert [label.entity for label in document.labels] == ["Q64", None]


def test_mentions_given_by_their_text_are_located():
    run = karat.load_run(
        [{"doc_id": "d1", "surface": "Poland", "qid": "Q36"}],
        columns={"doc": "doc_id", "mention": "surface", "entity": "qid"},
        corpus=karat.load(ROWS, columns=ROW_COLUMNS),
    )
    (response,) = run
    assert (response.predictions[0].start, response.predictions[0].end) == (23, 29)


def test_a_missing_column_names_those_that_exist():
    with pytest.raises(UsageError, match=r"no column 'nowhere'\. It has doc_id, body, begin, stop, qid"):
        karat.load(ROWS, columns={**ROW_COLUMNS, "start": "nowhere"})


def test_parallel_lists_of_different_lengths_are_refused():
    rows = [{**PARALLEL[0], "stop": [6]}]
    with pytest.raises(InputError, match=r"table: row 1: .*expected a list of 2 values, as in 'begin'"):
        karat.load(rows, columns=ROW_COLUMNS)
