"""What is too much is refused with one message that names the limit, and read where the limit is raised."""

from __future__ import annotations

import gzip
import io
import sys
import tarfile
import zipfile
from types import SimpleNamespace

import pyarrow as pa
import pytest

import karat
from karat.formats.parsing.lines import read_line_blocks, read_lines, read_raw_lines
from karat.formats.parsing.xml import read_elements
from karat.model.errors import InputError
from karat.storage import files
from karat.storage.downloads import unpack_member
from karat.storage.files import Source

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
    monkeypatch.setenv("KARAT_MAX_BYTES", "1000000")
    with pytest.raises(InputError, match=r"standard input: .* KARAT_MAX_BYTES"):
        Source("-").read_bytes()


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
