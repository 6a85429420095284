"""The folder of published data that the suites of papers read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from karat.model.errors import InputError
from karat.model.results.exhibit import Explanation


@dataclass(frozen=True, slots=True)
class PublishedData:
    """A folder with the subfolders `elevant`, `finegrained`, `zelda`, `bat`, `formats` and `kb`, as far as at hand.

    A suite computes what the files allow, and explains every other value by the file that is missing.
    """

    path: Path
    """The folder."""

    def find(self, name: str) -> Path | None:
        """Return the path of the file or folder `name`, such as `zelda/test/AIDA-B.jsonl`; None if it is missing."""
        path = self.path / name
        return path if path.exists() else None

    def explain_missing(self, name: str) -> Explanation:
        """Return the explanation of a value that cannot be computed without the file `name` of this folder."""
        return Explanation("data missing", f"the folder of data has no {name}", missing_file=name)


def open_data(path: str, *names: str) -> PublishedData:
    """Return the folder of data at `path`; raise `InputError` if it has none of the files and folders `names`."""
    data = PublishedData(Path(path))
    if not any(data.find(name) for name in names):
        raise InputError(
            path, actual="none of them", expected=f"a folder with {' or '.join(names)}", remedy="Check --data"
        )
    return data
