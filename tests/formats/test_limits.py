"""What is too much is refused with one message that names the limit, and read where the limit is raised."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from collections import Counter
from types import SimpleNamespace

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import karat
from karat.formats.parsing.blank_texts import make_blank_documents
from karat.formats.parsing.lines import read_line_blocks, read_lines, read_raw_lines
from karat.formats.parsing.nif import terms
from karat.formats.parsing.xml import read_elements
from karat.matching.facts.labels import family_roots
from karat.model.defects import UniqueIds
from karat.model.document import Document, Label
from karat.model.errors import InputError
from karat.model.spec.rule import LintContext
from karat.plugins.rules import word_boundary
from karat.protocols.suites.cases import reproduce_cases
from karat.storage import files
from karat.storage.downloads import unpack_member
from karat.storage.files import Source
from karat.storage.parquet import SortedTable

LINE = b'{"id": "d", "text": "Ulm", "labels": []}\n'


def packed(path, data: bytes) -> Source:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(data))
    else:
        with pa.CompressedOutputStream(str(path), "zstd") as file:
            file.write(data)
    return Source(str(path))


@pytest.fixture(params=["x.jsonl.gz", "x.jsonl.zst"])
def compressed(request, tmp_path):
    return lambda data: packed(tmp_path / request.param, data)


def test_a_small_file_that_fills_a_memory_is_refused(compressed, monkeypatch):
    monkeypatch.setattr(files, "_ALWAYS_ALLOWED_SIZE", 1 << 16)
    source = compressed(LINE + b" " * (1 << 22))
    for read in (source.read_bytes, lambda: list(read_lines(source)), lambda: karat.load(source.path)):
        with pytest.raises(InputError, match=r"grow to more than .* at most 250 times .* KARAT_MAX_GROWTH"):
            read()
    monkeypatch.setenv("KARAT_MAX_GROWTH", "100000")
    assert len(source.read_bytes()) == (1 << 22) + len(LINE)


def test_the_size_of_what_was_compressed_has_a_limit(compressed, monkeypatch):
    source = compressed(LINE * 10)
    monkeypatch.setenv("KARAT_MAX_BYTES", str(10 * len(LINE)))
    assert source.read_bytes() == LINE * 10
    with source.open_stream() as file:
        assert file.readline() == LINE
        assert file.read(5) == LINE[:5]
    monkeypatch.setenv("KARAT_MAX_BYTES", str(10 * len(LINE) - 1))
    with pytest.raises(InputError, match=r"found more than .* bytes.* KARAT_MAX_BYTES"):
        source.read_bytes()


def test_a_plain_file_has_the_size_that_anybody_can_see(tmp_path, monkeypatch):
    (tmp_path / "x.jsonl").write_bytes(LINE)
    monkeypatch.setenv("KARAT_MAX_BYTES", "3")
    assert Source(str(tmp_path / "x.jsonl")).read_bytes() == LINE


def test_a_pipe_without_end_is_refused(monkeypatch):
    class Endless(io.RawIOBase):
        def read(self, size=-1):
            return b"x" * size

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Endless()))
    monkeypatch.setenv("KARAT_MAX_PIPE", "1000000")
    with pytest.raises(InputError, match=r"standard input: .* KARAT_MAX_PIPE"):
        Source("-").read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="devices are files only elsewhere")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_without_end_is_refused(device, monkeypatch):
    monkeypatch.setenv("KARAT_MAX_PIPE", "1000000")
    source = Source(device)
    for read in (source.read_bytes, lambda: source.first_bytes, lambda: karat.load(device)):
        with pytest.raises(InputError, match=rf"{device}: found more than 1,000,000 bytes.* KARAT_MAX_PIPE"):
            read()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are files only elsewhere")
def test_pipes_are_read_as_files_are(tmp_path):
    os.mkfifo(tmp_path / "x.jsonl")
    writer = threading.Thread(target=lambda: (tmp_path / "x.jsonl").write_bytes(LINE), daemon=True)
    writer.start()
    assert len(list(karat.load(str(tmp_path / "x.jsonl")))) == 1
    writer.join()
    command = [sys.executable, "-m", "karat", "data", "stats", "/dev/stdin"]
    ran = subprocess.run(command, input=LINE, capture_output=True, check=True)
    assert b"documents" in ran.stdout


def archive(path, entries: dict[str, bytes]):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
            for name, data in entries.items():
                zipped.writestr(name, data)
    else:
        with tarfile.open(path, "w:gz") as tar:
            for name, data in entries.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_archives_have_limits(name, tmp_path, monkeypatch):
    path = archive(tmp_path / name, {f"in/{i}": b" " * 100_000 for i in range(8)})
    unpack_member(path, "in", tmp_path / "out")
    assert len(list((tmp_path / "out").iterdir())) == 8
    monkeypatch.setenv("KARAT_MAX_MEMBERS", "7")
    with pytest.raises(InputError, match=r"more than 7 entries.* KARAT_MAX_MEMBERS"):
        unpack_member(path, "in", tmp_path / "many")
    monkeypatch.setenv("KARAT_MAX_MEMBERS", "8")
    monkeypatch.setattr(files, "_ALWAYS_ALLOWED_SIZE", 1000)
    with pytest.raises(InputError, match=r"grow to more than .* KARAT_MAX_GROWTH"):
        unpack_member(path, "in", tmp_path / "bomb")
    assert not (tmp_path / "bomb").exists()
    assert not (tmp_path / "many").exists()


def test_a_folder_of_too_many_files_is_not_listed(tmp_path, monkeypatch):
    for i in range(4):
        (tmp_path / str(i)).write_text("x")
    monkeypatch.setenv("KARAT_MAX_MEMBERS", "3")
    with pytest.raises(InputError, match=r"more than 3 files.* KARAT_MAX_MEMBERS"):
        _ = Source(str(tmp_path)).file_names


@pytest.mark.parametrize("read", [read_lines, read_raw_lines, lambda source: read_line_blocks(source, 7)])
def test_a_line_has_a_limit(read, tmp_path, monkeypatch):
    path = tmp_path / "x.txt"
    monkeypatch.setenv("KARAT_MAX_LINE", "20")
    path.write_bytes(b"short\n" * 3 + b"x" * 19 + b"\n" + b"y" * 19)
    assert list(read(Source(str(path))))
    path.write_bytes(b"short\n" * 3 + b"x" * 200)
    with pytest.raises(InputError, match=r"x.txt:4: found a line of more than 20 bytes.* KARAT_MAX_LINE"):
        list(read(Source(str(path))))


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_pieces_are_whole_lines(size, tmp_path):
    data = b"a\n\nbcd\n" + b"e" * 30 + b"\r\nf"
    (tmp_path / "x").write_bytes(data)
    pieces = list(read_line_blocks(Source(str(tmp_path / "x")), size))
    assert b"".join(piece for _, piece in pieces) == data
    assert all(piece.endswith(b"\n") for _, piece in pieces[:-1])
    assert [number for numbers, _ in pieces for number in numbers] == [1, 2, 3, 4, 5]
    assert [numbers[0] for numbers, _ in pieces] == [
        1 + data[: sum(len(piece) for _, piece in pieces[:i])].count(b"\n") for i in range(len(pieces))
    ]


def test_xml_has_a_depth(tmp_path, monkeypatch):
    path = tmp_path / "x.xml"
    path.write_bytes(b"<r>" + b"<a>" * 499 + b"</a>" * 499 + b"</r>")
    assert [element.tag for element in read_elements(Source(str(path)), "r")] == ["r"]
    path.write_bytes(b"<r>" + b"<a>" * 500 + b"</a>" * 500 + b"</r>")
    with pytest.raises(InputError, match=r"elements more than 500 deep.* KARAT_MAX_NESTING"):
        list(read_elements(Source(str(path)), "r"))
    monkeypatch.setenv("KARAT_MAX_NESTING", "501")
    assert [element.tag for element in read_elements(Source(str(path)), "r")] == ["r"]


def test_json_that_is_too_deep_is_an_error_of_the_line(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(
        LINE + b'{"id": "e", "text": "Ulm", "labels": [], "meta": {"a": ' + b"[" * 9999 + b"]" * 9999 + b"}}"
    )
    with pytest.raises(InputError, match=r"x.jsonl:2: "):
        karat.load(str(path))


NIF = (
    "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
    "<http://a.example/d#char=0,3> a nif:Context ; nif:isString "
)


def test_values_of_a_property_in_turtle_have_a_limit(tmp_path, monkeypatch):
    path = tmp_path / "x.ttl"
    path.write_text(NIF + '"Ulm" ; nif:topic ' + " , ".join(f'"{i}"' for i in range(20)) + " .\n")
    monkeypatch.setenv("KARAT_MAX_VALUES", "20")
    assert karat.load(str(path)).name == "x"
    monkeypatch.setenv("KARAT_MAX_VALUES", "19")
    with pytest.raises(InputError, match=r"x\.ttl: found a resource with more than 19 values.* KARAT_MAX_VALUES"):
        karat.load(str(path))


def test_a_literal_without_end_is_searched_once():
    """The pattern is asked for matches: one that takes the whole rest, not one try per quotation mark."""
    rest = b'"' + b'\\"' * 1000
    assert [match.span() for match in terms._QUOTED.finditer(b"nif:a " + rest)] == [(6, 6 + len(rest))]
    assert terms.count_undeclared_prefixes(b'nif:isString "itsrdf:x ' + b'\\"' * 1000) == 1
    text = b'a "b\\"c" "d\nxsd:e """f"g\n""" <h> """i'
    assert terms._QUOTED.sub(b"_", text) == b"a _ _xsd:e _ _ _"


def test_many_duplicate_ids_are_numbered_with_one_look_each():
    class Counted(dict):
        looks = 0

        def __contains__(self, key):
            Counted.looks += 1
            return super().__contains__(key)

    ids = UniqueIds()
    ids._last_numbers = Counted()
    assert [ids.reserve("a") for _ in range(1000)] == ["a", *(f"a ({i})" for i in range(2, 1001))]
    assert Counted.looks < 3000
    assert [ids.reserve(name) for name in ("b (2)", "b", "b", "b", "b (2)")] == [
        "b (2)",
        "b",
        "b (3)",
        "b (4)",
        "b (2) (2)",
    ]


def nested(count: int, key: str) -> str:
    """A line with many spans, each inside the one before."""
    items = [{"start": i, "end": 2 * count - i, "entity": f"Q{i + 1}"} for i in range(count)]
    return json.dumps({"id": "d", **({"text": "x" * 2 * count} if key == "labels" else {}), key: items}) + "\n"


def test_nested_mentions_have_a_limit_in_lint_and_report(tmp_path, monkeypatch, karat_cli):
    monkeypatch.chdir(tmp_path)
    for key in ("labels", "predictions"):
        (tmp_path / f"{key}.jsonl").write_text(nested(40, key))
    monkeypatch.setenv("KARAT_MAX_OVERLAPS", str(40 * 39 // 2))
    assert karat_cli("data", "lint", "labels.jsonl").err == ""
    monkeypatch.setenv("KARAT_MAX_OVERLAPS", str(40 * 39 // 2 - 1))
    linted = karat_cli("data", "lint", "labels.jsonl")
    assert linted.code == 2
    assert "document 'd': found more than 779 pairs of overlapping mentions" in linted.err
    assert "KARAT_MAX_OVERLAPS" in linted.err
    monkeypatch.setenv("KARAT_MAX_OVERLAPS", "1599")
    reported = karat_cli("report", "--gold", "labels.jsonl", "predictions.jsonl", "--out", "r.html")
    assert reported.code == 2
    assert "document 'd': found 1,600 pairs of a mention and an overlapping prediction" in reported.err
    assert not (tmp_path / "r.html").exists()


def test_crowded_documents_add_up_in_a_report_and_normal_ones_do_not(tmp_path, monkeypatch, karat_cli):
    monkeypatch.chdir(tmp_path)
    surplus = 40 * (40 - 32)  # pairs of a document beyond 32 per mention
    for count, is_refused in ((40, True), (32, False)):
        for key in ("labels", "predictions"):
            lines = [nested(count, key).replace('"id": "d"', f'"id": "d{number}"') for number in range(6)]
            (tmp_path / f"{key}.jsonl").write_text("".join(lines))
        monkeypatch.setenv("KARAT_MAX_OVERLAPS", str(6 * surplus - 1))  # more than any single document has
        reported = karat_cli("report", "--gold", "labels.jsonl", "predictions.jsonl", "--out", "r.html")
        assert (reported.code == 2) == is_refused
        assert (f"documents to 'd5': found {6 * surplus:,} pairs" in reported.err) == is_refused


def test_the_words_around_nested_mentions_are_searched_once(monkeypatch):
    looks = Counter()
    monkeypatch.setattr(word_boundary, "is_inside_word", lambda text, offset: looks.update([offset]) or offset % 1000)
    document = msgspec.json.decode(nested(400, "labels"), type=Document)
    findings = list(word_boundary.RULE.find(document, LintContext()))
    assert len(findings) == 400
    assert max(looks.values()) <= 3


def test_blank_texts_have_a_limit(tmp_path, monkeypatch):
    annotation = {"doc": "d", "start": 0, "length": 2147483647, "uris": ["Q1"]}
    case = {"id": "c", "framework": "gerbil", "kind": "counts", "task": "annotations", "matching": "strong"}
    case |= {"docs": ["d"], "gold": [annotation], "system": [], "expected": {"tp": 0}}
    (tmp_path / "cases.json").write_text(json.dumps([case]))
    with pytest.raises(InputError, match=r"cases.json, case 'c': found offsets up to 2,147,483,647.* KARAT_MAX_BLANK"):
        reproduce_cases(str(tmp_path / "cases.json"))
    label = Label(0, 600, "Q1")
    monkeypatch.setenv("KARAT_MAX_BLANK", "1200")
    assert len(make_blank_documents({"a": [label], "b": []}, 1)) == 2
    monkeypatch.setenv("KARAT_MAX_BLANK", "1199")
    with pytest.raises(InputError, match=r"offsets up to 600 in 2 documents without texts.* KARAT_MAX_BLANK"):
        make_blank_documents({"a": [label], "b": []}, 1)


ITEMS = pa.list_(pa.struct([("start", pa.int32()), ("end", pa.int32()), ("entity", pa.string())]))


def bomb(kind: str, count: int) -> pa.Table:
    """A table that is small only while it is encoded."""
    if kind == "runs":
        nulls = [pa.nulls(count * 1000, field.type) for field in ITEMS.value_type]
        items = pa.StructArray.from_arrays(nulls, fields=list(ITEMS.value_type))
        labels = pa.ListArray.from_arrays(pa.array([0, count * 1000], pa.int32()), items)
        return pa.table({"id": ["d"], "text": ["Ulm"], "labels": labels})
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array(["x" * 10_000]))
    texts = texts if kind == "dictionary" else texts.dictionary_decode()
    return pa.table({"id": [str(i) for i in range(count)], "text": texts, "labels": pa.array([[]] * count, ITEMS)})


@pytest.mark.parametrize("kind", ["runs", "dictionary", "compression"])
@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_tables_are_measured_before_they_are_decoded(kind, name, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_ALWAYS_ALLOWED_SIZE", 1 << 20)
    path, table = tmp_path / name, bomb(kind, 2000)
    if name == "x.parquet":
        pq.write_table(table, path, compression="zstd", use_dictionary=kind == "dictionary", store_schema=False)
    else:
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_stream(path, table.schema, options=options) as stream:
            stream.write_table(table)
    assert path.stat().st_size < 64_000
    del table
    before = pa.total_allocated_bytes()
    for format_name in ("karat-parquet", "hf-datasets") if name == "x.parquet" else ("hf-datasets",):
        with pytest.raises(InputError, match=r"bytes that grow to more than .* KARAT_MAX_GROWTH"):
            karat.load(str(path), format=format_name)
    assert pa.total_allocated_bytes() < before + 2_000_000  # decoded, each table has 16 MB and more


def test_a_dictionary_bomb_in_a_snapshot_is_refused_before_it_is_decoded(tmp_path):
    count, path = 20_000, tmp_path / "entities.parquet"
    labels = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array(["x" * 20_000]))
    table = pa.table({"id": sorted(f"Q{number}" for number in range(count)), "label": labels})
    pq.write_table(table, path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 1 << 20
    with pytest.raises(InputError, match="grow to more than"):
        SortedTable(path, "id").look_up(["Q1"], "label")


def test_a_long_chain_of_parents_is_followed_once():
    count = 20_000
    labels = [
        Label(n, n + 1, "Q1", mention_id=str(n), parent=str(n - 1) if n else None) for n in reversed(range(count))
    ]
    document = Document("d", "x" * count, labels)
    began = time.process_time()
    assert set(family_roots(document)) == {"0"}
    assert time.process_time() - began < 2  # following each chain to its end takes half a minute
