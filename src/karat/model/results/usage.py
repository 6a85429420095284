"""Runtime, tokens of language models, and cost of systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import fsum, inf
from typing import Final, NamedTuple

import msgspec

from karat.model.errors import InputError


class Quantity(NamedTuple):
    """Something that a system uses, and how tables show its mean."""

    title: str
    """The name in tables."""
    unit: str
    """The unit of table columns."""
    factor: float
    """The factor from the mean per document to the unit."""


QUANTITIES: Final[Mapping[str, Quantity]] = {
    "seconds": Quantity("runtime", "ms per document", 1000),
    "tokens": Quantity("tokens", "tokens per document", 1),
    "cost": Quantity("cost", "cost per 1,000 documents", 1000),
}
"""All quantities by the field of responses."""


class UsageSum(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sum of a quantity over the documents that state it."""

    total: float
    """The sum."""
    documents: int
    """The number of documents."""


def add_usage(blocks: Iterable[Mapping[str, UsageSum]]) -> dict[str, UsageSum]:
    """Return the sums over blocks of documents."""
    sums: dict[str, list[UsageSum]] = {}
    for block in blocks:
        for name, usage in block.items():
            sums.setdefault(name, []).append(usage)
    return {
        name: UsageSum(fsum(usage.total for usage in parts), sum(usage.documents for usage in parts))
        for name, parts in sums.items()
    }


def complete_usage(
    usage: Mapping[str, UsageSum], metadata: Mapping[str, str], run: str, n_documents: int
) -> dict[str, UsageSum]:
    """Return the sums; a quantity that documents lack has the total in the metadata of the run, if it is there.

    Raise `InputError` if such a total is invalid; `run` is the name for the message.
    """
    totals = {
        name: UsageSum(_parse_total(metadata[name], name, run), n_documents)
        for name in QUANTITIES
        if name in metadata and (name not in usage or usage[name].documents < n_documents)
    }
    return {**usage, **totals}


def _parse_total(value: str, name: str, run: str) -> float:
    """Return a total in the metadata of a run."""
    try:
        total = float(value)
    except ValueError:
        total = -1.0
    if not 0 <= total < inf:
        raise InputError(
            f"the manifest of {run}",
            actual=f"{name}: {value!r}",
            expected="a number of at least 0",
            remedy="Correct it",
        )
    return total
