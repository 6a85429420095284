"""Documents that a system failed on or has no predictions for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from karat.model.errors import shorten
from karat.model.results.result import WARNING

FAILED_DOCUMENTS: Final = "failed documents"
"""The description under which documents with an error are counted."""
MISSING_DOCUMENTS: Final = "documents without predictions"
"""The description under which documents that the run does not have are counted."""
FAILED_NOTE: Final = "failed: "
"""How the note begins that names failed documents; tables shorten it."""

_MAX_ERROR_LENGTH: Final = 200  # characters


def rank_note(note: str) -> int:
    """Return the rank by which notes on a result are sorted, because commands print only the first ones.

    Warnings come first, then documents that failed or have no predictions, whose mentions all count as missed.
    """
    if note.startswith(WARNING):
        return 0
    return 1 if note.startswith((FAILED_DOCUMENTS, MISSING_DOCUMENTS, FAILED_NOTE)) else 2


def group_by_error(failures: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return the sorted document ids of pairs of id and error, by error, most frequent first."""
    by_error: dict[str, list[str]] = {}
    for id, error in failures:
        by_error.setdefault(error, []).append(id)
    return sort_failures({error: tuple(ids) for error, ids in by_error.items()})


def sort_failures(ids_by_error: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return sorted document ids by error, most frequent first; the order of documents makes no difference."""
    ordered = sorted(ids_by_error.items(), key=lambda item: (-len(item[1]), item[0]))
    return {error: tuple(sorted(ids, key=lambda id: (len(id), id))) for error, ids in ordered}  # d2 before d10


def describe_failures(ids_by_error: Mapping[str, tuple[str, ...]], max_ids: int) -> str:
    """Return the errors, each with the first `max_ids` of its documents, as `ERROR (a, b, … and 3 more); ERROR (c)`."""
    parts = []
    for error, ids in ids_by_error.items():
        more = [f"… and {len(ids) - max_ids:,} more"] if len(ids) > max_ids else []
        parts.append(f"{shorten(error, _MAX_ERROR_LENGTH)} ({', '.join([*ids[:max_ids], *more])})")
    return "; ".join(parts)
