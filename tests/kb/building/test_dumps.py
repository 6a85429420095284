"""Dumps are read in blocks, from any compression, and on from where they broke off."""

from __future__ import annotations

import gzip

import pytest

from karat.model.errors import InputError
from karat.storage.dumps import Dump, DumpBlock, DumpError
from tests.kb.building.generated import store

LINES = [f"line {number} {'x' * (number % 97)}\n".encode() for number in range(200_000)]
WHOLE = b"".join(LINES)


@pytest.fixture(scope="module", params=["", ".gz", ".bz2", ".zst"])
def stored(request, tmp_path_factory):
    return store(tmp_path_factory.mktemp("dumps") / f"dump.json{request.param}", [WHOLE], members=5)


def test_blocks_are_the_content(stored):
    blocks = list(Dump(stored).iterate_blocks(b"\n"))
    assert b"".join(block.data for block in blocks) == WHOLE
    assert all(block.data.endswith(b"\n") for block in blocks if block.data)
    assert [block.is_last for block in blocks] == [False] * (len(blocks) - 1) + [True]
    assert len(blocks) > 1


def test_reading_goes_on_at_every_point(stored):
    dump = Dump(stored)
    blocks = list(dump.iterate_blocks(b"\n"))
    for number, block in enumerate(blocks):
        rest = b"".join(each.data for each in dump.iterate_blocks(b"\n", block.point))
        assert rest == b"".join(each.data for each in blocks[number + 1 :])


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst"])
def test_a_cut_dump_gives_what_it_has_and_then_an_error(tmp_path, suffix):
    whole = store(tmp_path / f"dump{suffix}", [WHOLE], members=5)
    cut = tmp_path / f"cut{suffix}"
    data = whole.read_bytes()
    cut.write_bytes(data[: len(data) * 2 // 3])
    blocks: list[DumpBlock] = []
    with pytest.raises(DumpError, match=r"found .* after [\d,]+ bytes; expected a complete dump"):
        blocks.extend(Dump(cut).iterate_blocks(b"\n"))
    found, point = [block.data for block in blocks], blocks[-1].point
    assert WHOLE.startswith(b"".join(found))
    assert Dump(cut).fingerprint(point) == Dump(whole).fingerprint(point)
    rest = b"".join(block.data for block in Dump(whole).iterate_blocks(b"\n", point))
    assert b"".join(found) + rest == WHOLE


def test_the_end_is_in_the_last_block_wherever_blocks_end(tmp_path):
    """A dump may end where a block does, and a cut may take nothing but a checksum."""
    lines = b"".join(b"%07d\n" % number for number in range(1 << 19)) + b"]\n"  # as much as one block
    for content in (lines, lines[2:] + b"]\n", lines * 2):
        path = store(tmp_path / "dump.gz", [content])
        assert list(Dump(path).iterate_blocks(b"\n"))[-1].data.endswith(b"]\n")
        path.write_bytes(path.read_bytes()[:-4])
        blocks: list[DumpBlock] = []
        with pytest.raises(DumpError):
            blocks.extend(Dump(path).iterate_blocks(b"\n"))
        store(path, [content])
        assert list(Dump(path).iterate_blocks(b"\n", blocks[-1].point))[-1].data.endswith(b"]\n")


def test_several_gzip_members_are_one_content(tmp_path):
    path = tmp_path / "dump.gz"
    path.write_bytes(b"".join(gzip.compress(line) for line in LINES[:50]) + b"\0" * 512)
    assert b"".join(block.data for block in Dump(path).iterate_blocks(b"\n")) == b"".join(LINES[:50])


def test_wrong_compression_is_said(tmp_path):
    path = tmp_path / "page.sql.gz"
    path.write_bytes(b"<html>Too many requests</html>")
    with pytest.raises(InputError, match=r"not compressed as \.gz says"):
        list(Dump(path).iterate_blocks(b"\n"))


def test_damaged_bytes_are_said(tmp_path):
    path = store(tmp_path / "dump.bz2", [WHOLE])
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)
    with pytest.raises(DumpError, match="damaged bytes"):
        list(Dump(path).iterate_blocks(b"\n"))


def test_no_file_is_said(tmp_path):
    with pytest.raises(InputError, match="no readable file"):
        list(Dump(tmp_path / "none.gz").iterate_blocks(b"\n"))
