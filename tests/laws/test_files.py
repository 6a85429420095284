"""Laws of files: what is written is what is read, and nothing but an `InputError` ever escapes a reader."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, InputError, Label, Response, Run
from karat.formats.parsing.lines import is_utf8
from karat.formats.plugins import karat_jsonl
from karat.model.tables.rows import to_table
from karat.model.tables.schema import GOLD, PREDICTIONS, combine_tables
from karat.storage.files import Source
from tests import strategies

SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet", ".parquet.gz")


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(documents=strategies.rich_documents(), metadata=strategies.metadata)
def test_a_corpus_comes_back_as_it_was(suffix, documents, metadata):
    corpus = Corpus.from_documents(documents, name="näme", **metadata)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"x{suffix}"
        karat.save(corpus, path)
        again = karat.load(path)
    assert list(again) == documents
    assert (again.name, again.metadata) == ("näme", metadata)
    assert again.digest == corpus.digest


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(responses=strategies.rich_responses(), metadata=strategies.metadata)
def test_a_run_comes_back_as_it_was(suffix, responses, metadata):
    run = Run.from_responses(responses, name="näme", **metadata)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"x{suffix}"
        karat.save(run, path)
        again = karat.load_run(path)
    assert list(again) == responses
    assert (again.name, again.metadata) == ("näme", metadata)
    assert again.digest == run.digest


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
@given(documents=strategies.rich_documents())
def test_without_texts_the_digest_and_the_lengths_are_the_same(suffix, documents):
    corpus = Corpus.from_documents(documents)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"x{suffix}"
        karat.save(corpus, path)
        bare = karat.load(path, text=False)
    assert not bare.has_text
    assert bare.digest == corpus.digest
    assert bare.lengths.tolist() == [len(document.text) for document in documents]


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
@given(documents=strategies.rich_documents(), responses=strategies.rich_responses(), size=st.integers(1, 400))
def test_pieces_of_any_size_become_the_same(suffix, documents, responses, size):
    corpus, run = Corpus.from_documents(documents), Run.from_responses(responses)
    with TemporaryDirectory() as folder, patch.object(karat_jsonl, "_BLOCK_SIZE", size):
        gold, predictions = Path(folder) / f"gold{suffix}", Path(folder) / f"predictions{suffix}"
        karat.save(corpus, gold)
        karat.save(run, predictions)
        again, bare, run_again = karat.load(gold), karat.load(gold, text=False), karat.load_run(predictions)
    assert list(again) == documents
    assert list(run_again) == responses
    assert again.digest == bare.digest == corpus.digest
    assert run_again.digest == run.digest
    assert again.table.column("labels").num_chunks == run_again.table.column("predictions").num_chunks == 1


@given(st.lists(strategies.rich_documents(), min_size=1, max_size=3))
def test_labels_become_one_piece_as_they_are(documents):
    tables = [to_table(each, GOLD) for each in documents]
    whole, taken = pa.concat_tables(tables), [table.slice(0) for table in tables]
    one = combine_tables(taken)
    assert not taken
    assert one.column_names == whole.column_names
    assert one.to_pylist() == whole.to_pylist()
    one.validate(full=True)


@given(st.binary(max_size=20) | st.text(max_size=20).map(str.encode))
def test_utf8_is_what_python_takes(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        assert not is_utf8(data)
    else:
        assert is_utf8(data)


@given(strategies.rich_documents(), st.data())
def test_the_digest_sees_every_change(documents, data):
    place = data.draw(st.integers(0, len(documents) - 1))
    old = documents[place]
    changes = [
        {"text": old.text + "x"},
        {"id": old.id + "x"},
        {"meta": {**old.meta, "new key": "x"}},
        {"labels": (*old.labels, Label(0, 1, "an entity of its own"))},
    ]
    if old.labels:
        changes.append({"labels": old.labels[1:]})
    change = data.draw(st.sampled_from(changes))
    new = Document(**{name: getattr(old, name) for name in old.__struct_fields__} | change)
    changed = [*documents[:place], new, *documents[place + 1 :]]
    assert Corpus.from_documents(changed).digest != Corpus.from_documents(documents).digest


def _mutated():
    """Bytes that are nearly a gold file."""
    line = (
        b'{"id":"a","text":"x\xc3\xa4 y","labels":[{"start":0,"end":1,"entity":"Q1","types":["T"],"optional":true}],'
        b'"meta":{"k":"v"},"evaluation_span":[0,3],"tags":[{"entity":"Q1","score":0.5}]}\n'
    )
    pieces = st.sampled_from(
        rb'null|"|{|}|[|]|,|:|0|-1|1e999|NaN|\ud800|1.5|true|"x"|99999999999|"entity":null|[[|{"id":"a"'.split(b"|")
        + b"\xff \n \r\n \x00 \t".split(b" ")
    )
    edits = st.lists(st.tuples(st.integers(0, len(line)), st.integers(0, 8), pieces), max_size=3)
    return st.builds(_edited, st.just(line), edits)


def _edited(line, edits):
    for place, length, piece in edits:
        line = line[:place] + piece + line[place + length :]
    return line


@given(st.binary(max_size=60) | _mutated() | st.lists(_mutated(), max_size=3).map(b"".join))
@example(b"")
@example(b"PAR1")
@example(b"\x1f\x8b\x08")
@example(b"\x28\xb5\x2f\xfd")
@example(b'{"karat":1}\n{}')
@example(b'{"karat":"gold/2"}')
@example(b'{"id":"a","text":"x","labels":' + b"[" * 5000)
@example(b"[" * 200_000)
@example(b'{"\xffid":"a"}\n')
def test_readers_raise_nothing_but_input_errors(data):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(data)
        for read in (karat.load, karat.load_run):
            for format in (None, "karat-jsonl", "karat-parquet"):
                problem = _raised(read, path, format)
                if problem is not None:
                    assert str(path) in str(problem)
                    assert problem.actual
                    assert problem.expected
                    assert problem.remedy


def _raised(read, path, format):
    try:
        list(read(path, format=format))  # whatever loads can be looked at
    except InputError as problem:
        return problem
    return None


@given(_mutated() | st.lists(_mutated(), max_size=2).map(b"".join))
@example(b'{"id":"a","text":"\\udc00","labels":[]}')
@example(b'{"id":"a","text":"\\ud800","labels":[]}')
@example(b'{"id":"a","text":"\xed\xb0\x80","labels":[]}')
def test_the_fast_and_the_exact_way_agree(data):
    """Whatever Arrow accepts, the line by line reader accepts with the same meaning."""
    for side, schema in ((karat_jsonl._GOLD_LINES, GOLD), (karat_jsonl._PREDICTION_LINES, PREDICTIONS)):
        end = len(data.rstrip(b" \t\r\n"))
        table = karat_jsonl._read_columns(data, 0, end, side)
        if table is None:
            continue
        build = Corpus.from_table if schema is GOLD else Run.from_table
        source = Source("x")
        try:
            fast = list(build(table, name="x", metadata={}, locate_row=str))
        except InputError:
            continue
        lines = [line for line in data[:end].split(b"\n") if line.strip()]
        objects = [karat_jsonl._parse_line(line, 1, source, side.object_type) for line in lines]
        assert list(build(to_table(objects, schema), name="x", metadata={}, locate_row=str)) == fast


_ODD_VALUES = [
    None,
    "Q1",
    "",
    0,
    -1,
    0.5,
    True,
    [],
    {},
    [None],
    [1],
    {"k": None},
    {"entity": None},
    2**31,
    10**19,
    1e22,
]
_STRINGS = st.sampled_from(["x", "y", None])
_NUMBERS = st.sampled_from([0, 1, 0.5, None, 10**17, 10**18, -(10**18), 12345678901234567890, 2**53 + 1])
_IDS = st.sampled_from(["Q1", "NIL", None, None])
_TYPES = st.lists(st.sampled_from(["T", "U"]), max_size=2)


def _objects(required, optional):
    """Objects with some fields, of which one in twenty-five has a value of any other kind."""

    def rarely_odd(values):
        return st.integers(0, 24).flatmap(lambda number: values if number else st.sampled_from(_ODD_VALUES))

    sides = [{name: rarely_odd(values) for name, values in side.items()} for side in (required, optional)]
    return st.fixed_dictionaries(sides[0], optional=sides[1])


_SPAN = {"start": st.just(0), "end": st.just(1)}
_TAGS = st.lists(_objects({"entity": _IDS}, {"same_as": _TYPES, "rank": st.just(1), "score": _NUMBERS}), max_size=2)
_TRIPLES = st.lists(_objects(dict.fromkeys(("subject", "predicate", "object"), _STRINGS), {}), max_size=1)
_CANDIDATES = st.lists(_objects({"entity": _IDS}, {"score": _NUMBERS}), max_size=2)
_LABEL_FIELDS = {"entity": _IDS, "types": _TYPES, "optional": st.booleans(), "mention_id": _STRINGS}
_PREDICTION_FIELDS = {"entity": _IDS, "types": _TYPES, "score": _NUMBERS, "candidates": _CANDIDATES}
_NAMES = st.sampled_from("abc")
_GOLD_LINES = _objects(
    {"id": _NAMES, "text": st.sampled_from(["xyz", '"entity":null'])},
    {
        "labels": st.lists(_objects(_SPAN, _LABEL_FIELDS), max_size=2),
        "tags": _TAGS,
        "relations": _TRIPLES,
        "meta": st.dictionaries(st.sampled_from(["k", "entity"]), _STRINGS),
    },
)
_PREDICTION_LINES = _objects(
    {"id": _NAMES},
    {
        "predictions": st.lists(_objects(_SPAN, _PREDICTION_FIELDS), max_size=2),
        "tags": _TAGS,
        "relations": _TRIPLES,
        **dict.fromkeys(("tokens", "cost", "seconds"), _NUMBERS),
    },
)


def _lines(objects):
    """Lines with objects, written with different spaces and sometimes with an escaped key."""

    def write(row, spaces, number):
        line = json.dumps(row, separators=spaces)
        return line if number else line.replace('"entity"', '"entit\\u0079"', 1)

    spaces = st.sampled_from([(",", ":"), (", ", ": "), (",", " : ")])
    return st.lists(st.builds(write, objects, spaces, st.integers(0, 9)), min_size=1, max_size=3)


def _agree(lines, layout, schema):
    """Compare both ways to read some lines: the same objects, or a refusal by both."""
    data, build = "\n".join(lines).encode(), Corpus.from_table if schema is GOLD else Run.from_table

    def read(make_table):
        try:
            return list(build(make_table(), name="x", metadata={}, locate_row=str))
        except InputError:
            return "refused"

    def read_one_by_one():
        return to_table(
            [karat_jsonl._parse_line(line.encode(), 1, Source("x"), layout.object_type) for line in lines], schema
        )

    table = karat_jsonl._read_columns(data, 0, len(data), layout)
    if table is not None:
        assert read(lambda: table) == read(read_one_by_one)


@given(_lines(_GOLD_LINES))
@example(['{"id":"a","text":"x","labels":[{"start":0,"end":1,"entity":null}],"tags":[{"entity":null}]}'])
@example(['{"id":"a","text":"x","labels":[{"start":0,"end":1}],"tags":[{"entity":null}]}'])
def test_both_ways_agree_on_gold_lines(lines):
    _agree(lines, karat_jsonl._GOLD_LINES, GOLD)


@given(_lines(_PREDICTION_LINES))
@example(['{"id":"a","cost":1000000000000000000}'])
@example(['{"id":"a","tokens":1000000000000000000}'])
@example(['{"id":"a","predictions":[{"start":0,"end":1},{"start":0,"end":1,"candidates":[{"entity":null}]}]}'])
def test_both_ways_agree_on_lines_of_predictions(lines):
    _agree(lines, karat_jsonl._PREDICTION_LINES, PREDICTIONS)


@pytest.mark.parametrize("side", ["gold", "predictions"])
def test_a_tag_of_null_is_refused_and_matches_no_other(side, tmp_path):
    """Both files were read with the entity \\x00, which gave an F1 of 1 for entities."""
    items = '[{"start":0,"end":1},{"start":1,"end":2,"entity":null}]'
    gold = f'{{"id":"a","text":"xyz","labels":{items},"tags":[{{"entity":null}}]}}\n'
    predictions = f'{{"id":"a","predictions":{items},"tags":[{{"entity":null}}]}}\n'
    path = tmp_path / "x.jsonl"
    path.write_text(gold if side == "gold" else predictions)
    with pytest.raises(InputError, match=r"x\.jsonl:1: found `null` at `tags\[0\]\.entity`"):
        karat.load(path) if side == "gold" else karat.load_run(path)


@pytest.mark.parametrize("more", ["", "\n\n{}"])  # the second is read line by line
def test_a_score_of_more_than_18_digits_is_a_float_in_both_ways(more, tmp_path):
    path = tmp_path / "x.jsonl"
    line = '{"id":"a","predictions":[{"start":0,"end":1,"entity":"Q1","score":12345678901234567890}]}'
    path.write_text(line + more.replace("{}", '{"id":"b","predictions":[]}'))
    first, *_ = karat.load_run(path)
    assert first.predictions[0].score == 12345678901234567890.0


@given(st.lists(_mutated(), max_size=4).map(b"\n".join), st.integers(1, 200), st.booleans())
def test_in_blocks_and_at_once_the_same_is_read(data, size, skip):
    """The same documents or responses, or the same defect at the same line."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.jsonl"
        path.write_bytes(data)
        for read in (karat.load, karat.load_run):
            how = partial(_outcome, read, path, "skip" if skip else "fail")
            at_once = how()
            with patch.object(karat_jsonl, "_BLOCK_SIZE", size):
                assert how() == at_once
                if read is karat.load:
                    assert how(text=False)[:5] == at_once[:5]


def _outcome(read, path, on_error, **how):
    try:
        found = read(path, format="karat-jsonl", on_error=on_error, **how)
    except InputError as problem:
        return [str(problem)]
    whole = None if how else list(found)
    return [found.name, found.metadata, found.digest, dict(found.skipped), found.ids.to_pylist(), whole]


@given(strategies.pairs(), st.sampled_from([".jsonl", ".parquet"]))
def test_files_and_objects_score_alike(pair, suffix):
    corpus, run = (replace(side, name="mine") for side in pair)  # without a name, that of the file is read
    with TemporaryDirectory() as folder:
        gold, predictions = Path(folder) / f"gold{suffix}", Path(folder) / f"predictions{suffix}"
        karat.save(corpus, gold)
        karat.save(run, predictions)
        read = karat.evaluate(karat.load(gold), karat.load_run(predictions))
    made = karat.evaluate(corpus, run)
    assert read.measures == made.measures
    assert read.signature == made.signature


def test_nulls_and_missing_fields_mean_the_same_but_in_entity_and_lists_of_mentions(tmp_path):
    """For lists of mentions, see tests/formats/test_missing_fields.py."""
    rows = [
        {
            "id": "a",
            "text": "xyz",
            "labels": [{"start": 0, "end": 1, "entity": None, "types": None, "mention_id": None}],
        },
        {"id": "b", "text": "xyz", "labels": [{"start": 0, "end": 1}], "meta": None, "tags": None},
        {"id": "c", "text": "xyz", "relations": None, "evaluation_span": None},
    ]
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    first, second, third = karat.load(path)
    assert first == Document("a", "xyz", (Label(0, 1, None),))
    assert second == Document("b", "xyz", (Label(0, 1),))
    assert third == Document("c", "xyz")


@pytest.mark.parametrize(
    ("line", "entity"),
    [
        ('{"id":"a","text":"x","labels":[{"start":0,"end":1}],"meta":{"entity":null}}', karat.UNLINKED),
        ('{"id":"a","text":"x","labels":[{"start":0,"end":1,"entit\\u0079":null}]}', None),
        ('{"id":"a","text":"x","labels":[{"start":0,"end":1,"entity" : null}]}', None),
        ('{"id":"a","text":"\\"entity\\":null","labels":[{"start":0,"end":1}]}', karat.UNLINKED),
    ],
)
def test_nil_is_told_from_no_link_however_it_is_written(line, entity, tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text(line)
    (document,) = karat.load(path)
    assert document.labels[0].entity is entity


def test_nil_and_no_link_in_one_file(tmp_path):
    labels = (Label(0, 1, None), Label(1, 2), Label(2, 3, "Q1"), Label(3, 4, None))
    corpus = Corpus.from_documents(
        [Document(f"d{i}", "abcd", labels[i % 3 :]) for i in range(200)] + [Document("e", "x")]
    )
    karat.save(corpus, tmp_path / "gold.jsonl")
    read = karat.load(tmp_path / "gold.jsonl")
    assert list(read) == list(corpus)
    assert read.digest == corpus.digest


def test_a_field_that_first_shows_late_is_read(tmp_path):
    documents = [Document(f"d{i}", "abcd", (Label(0, 1, "Q1", optional=i > 100),), meta={}) for i in range(200)]
    karat.save(Corpus.from_documents(documents), tmp_path / "gold.jsonl")
    assert list(karat.load(tmp_path / "gold.jsonl")) == documents


def test_a_document_longer_than_a_block_is_read(tmp_path):
    text = "long " * 2_000_000
    corpus = Corpus.from_documents([Document("a", "x"), Document("b", text, (Label(5, 9, "Q1"),)), Document("c", "x")])
    karat.save(corpus, tmp_path / "gold.jsonl")
    assert list(karat.load(tmp_path / "gold.jsonl")) == list(corpus)


def test_several_gzip_members_are_one_file(tmp_path):
    path = tmp_path / "gold.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id":"a","text":"x"}\n') + gzip.compress(b'{"id":"b","text":"y"}\n'))
    assert [document.id for document in karat.load(path)] == ["a", "b"]


def test_responses_without_predictions_are_read(tmp_path):
    path = tmp_path / "predictions.jsonl"
    path.write_text('{"id":"a"}\n{"id":"b","error":"timeout"}\n')
    assert list(karat.load_run(path)) == [Response("a"), Response("b", error="timeout")]
