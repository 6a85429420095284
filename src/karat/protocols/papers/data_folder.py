"""The folder of published data that the suites of papers read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from karat.model.errors import InputError
from karat.model.results.exhibit import Exhibit, Explanation

_MISSING: Final = "the folder of data has no "


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
        return Explanation("data missing", f"{_MISSING}{name}", missing_file=name)


def open_data(path: str, *names: str) -> PublishedData:
    """Return the folder of data at `path`; raise `InputError` if it has none of the files and folders `names`."""
    data = PublishedData(Path(path))
    if not any(data.find(name) for name in names):
        raise InputError(
            path, actual="none of them", expected=f"a folder with {' or '.join(names)}", remedy="Check --data"
        )
    return data


def list_missing_files(exhibits: Iterable[Exhibit]) -> dict[str, dict[str, int]]:
    """Return the files that the folder of data lacks, each with the number of values that fall away by exhibit."""
    missing: dict[str, dict[str, int]] = {}
    for exhibit in exhibits:
        for cell in exhibit.cells:
            explanation = cell.explanation
            if cell.value is None and explanation is not None and explanation.text.startswith(_MISSING):
                counts = missing.setdefault(explanation.missing_file or "", {})
                counts[exhibit.name] = counts.get(exhibit.name, 0) + 1
    return missing
