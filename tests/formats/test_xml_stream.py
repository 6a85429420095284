"""XML as a stream of records."""

from __future__ import annotations

import io
import tracemalloc
from contextlib import nullcontext
from itertools import chain, repeat

import pytest

from karat.formats.parsing.xml import get_root_name, read_elements
from karat.model.errors import InputError
from karat.storage.files import Source

ONE = b"<d><a>" + b"Ulm " * 20 + b"</a>\n<b/></d>\n<other>" + b"x" * 50 + b"</other>\n"


class Endless(io.RawIOBase):
    """XML that is made while it is read."""

    def __init__(self, count: int) -> None:
        self.parts = chain([b"<all>"], repeat(ONE, count), [b"</all>"])

    def read(self, size: int = -1) -> bytes:
        found = b"".join(part for _, part in zip(range(max(size, 1) // len(ONE) + 1), self.parts, strict=False))
        return found

    def readable(self) -> bool:
        return True


class Stream:
    label = "endless.xml"

    def __init__(self, count: int) -> None:
        self.count = count

    def open_stream(self):
        return nullcontext(Endless(self.count))


def test_memory_follows_a_record_and_not_the_file():
    peaks = []
    for count in (2_000, 20_000):  # 0.4 and 4 MB
        tracemalloc.start()
        assert sum(len(record) for record in read_elements(Stream(count), "d")) == 2 * count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]
    assert peaks[1] < 500_000


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<!DOCTYPE x [<!ENTITY a "aaa"><!ENTITY b "&a;&a;">]><x><d>&b;</d></x>', "not allowed .*EntitiesForbidden"),
        ('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x><d>&a;</d></x>', "not allowed .*EntitiesForbidden"),
        ('<?xml version="1.0" encoding="no-such"?><x/>', "unknown encoding"),
    ],
)
def test_entities_other_files_and_unknown_encodings_are_refused(tmp_path, text, found):
    path = tmp_path / "x.xml"
    path.write_text(text)
    with pytest.raises(InputError, match=found):
        list(read_elements(Source(str(path)), "d"))


def test_a_file_that_was_cut_off_says_where(tmp_path):
    path = tmp_path / "x.xml"
    path.write_text("<x>\n<d>one</d>\n<d>tw")
    with pytest.raises(InputError, match=r"x\.xml:3: found XML that cannot be read"):
        list(read_elements(Source(str(path)), "d"))


def test_records_are_outermost_and_complete(tmp_path):
    path = tmp_path / "x.xml"
    path.write_text("<x><y><d n='1'><d n='2'>deep</d></d></y><d n='3'/></x>")
    assert [(r.get("n"), "".join(r.itertext())) for r in read_elements(Source(str(path)), "d")] == [
        ("1", "deep"),
        ("3", ""),
    ]


def test_the_root_is_told_from_the_first_bytes():
    assert get_root_name(b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- <no> -->\n<a.b:c x='1'>") == "a.b:c"
    assert get_root_name(b'{"id": "<a>"}') == ""
