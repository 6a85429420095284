"""Errors that systems avoided: cases in which an error of a category was possible."""

from __future__ import annotations

import pyarrow.compute as pc

from karat.evaluation.cases.errors import categories
from karat.model.output.json_files import JsonRecord
from karat.model.tables.arrow import Arrow
from karat.web.archive.archive import Archive
from karat.web.archive.resource import Resource

_COLUMN = "avoided"
_SEPARATOR = " "  # occurs in no name of a category


class AvoidedTrack(JsonRecord, frozen=True):
    """The error categories that every case of a system avoids, as indices into `combinations`.

    Cases are in the order of the same system's track in `cases/DATASET`.
    """

    system: int
    cases: list[int]


class AvoidedResource(JsonRecord, frozen=True):
    """`avoided/DATASET`: the errors that systems avoided, by error category."""

    combinations: list[list[int]]
    """Lists of indices of error categories, in the order of `categories` in `cases/DATASET`."""
    tracks: list[AvoidedTrack]


def build_avoided(archive: Archive, key: str) -> AvoidedResource:
    """Build the avoided errors of every system on the dataset `key`."""
    systems, indices = archive.systems, {name: index for index, name in enumerate(categories())}
    combinations: dict[tuple[int, ...], int] = {}
    tracks = []
    for system, table in sorted(_list_tables(archive, key), key=lambda item: systems.index(item[0])):
        # Many cases share few combinations, so only distinct ones are split into names.
        joined = pc.fill_null(
            pc.binary_join(table.column(_COLUMN).combine_chunks(), _SEPARATOR), ""
        ).dictionary_encode()
        codes = [
            combinations.setdefault(
                tuple(indices[name] for name in text.split(_SEPARATOR) if name in indices), len(combinations)
            )
            for text in joined.dictionary.to_pylist()
        ]
        cases = [codes[code] for code in joined.indices.to_pylist()]
        tracks.append(AvoidedTrack(systems.index(system), cases))
    return AvoidedResource([list(row) for row in combinations], tracks)


def _list_tables(archive: Archive, key: str) -> list[tuple[str, Arrow]]:
    """Return the systems on a dataset whose cases have error categories, each with the table of its cases."""
    tables = [(entry.system, archive.read_verdicts(entry)) for entry in archive.get_entries(key)]
    return [(system, table) for system, table in tables if table is not None and _COLUMN in table.column_names]


RESOURCE = Resource(
    AvoidedResource,
    build_avoided,
    is_per_dataset=True,
    is_available=lambda archive, key: bool(_list_tables(archive, key)),
)
