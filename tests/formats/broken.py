"""Files that are nearly right: whatever is wrong with them, a reader says so in one `InputError`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import strategies as st

from karat.model.errors import InputError
from karat.storage.files import Source

PIECES = (
    rb'null|"|{|}|[|]|,|:|0|-1|1e999|NaN|\ud800|1.5|true|"x"|99999999999|B-|I-|O|# |(|)|--NME--|'.split(b"|")
    + b"\xff \n \r\n \x00 \t \n\n".split(b" ")
    + ["😀".encode(), b"\xc2\xa0", b"-DOCSTART-\n"]
)


def nearly(data: bytes):
    """The bytes with a few edits."""
    edits = st.lists(
        st.tuples(st.integers(0, len(data)), st.integers(0, 8), st.sampled_from(PIECES)), min_size=1, max_size=3
    )
    return edits.map(lambda found: _edited(data, found))


def _edited(data, edits):
    for place, length, piece in edits:
        data = data[:place] + piece + data[place + length :]
    return data


def read_or_refused(read, data: bytes, name: str = "x", beside: dict[str, bytes] | None = None) -> None:
    """Read a file of these bytes to its end; only an `InputError` with all its parts may come of it."""
    with TemporaryDirectory() as folder:
        for other, content in (beside or {}).items():
            (Path(folder) / other).write_bytes(content)
        (Path(folder) / name).write_bytes(data)
        problem = _raised(read, Source(str(Path(folder) / name)))
    if problem is not None:
        assert problem.where
        assert problem.actual
        assert problem.expected
        assert problem.remedy


def _raised(read, source: Source) -> InputError | None:
    try:
        list(read(source))
    except InputError as problem:
        return problem
    return None
