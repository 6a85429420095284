"""How the ids of answers differ from those of the gold standard, in words."""

from __future__ import annotations

from karat.model.tables.arrow import Arrow

_SHOWN = 2


def ids_said(gold: Arrow, run: Arrow, corpus: str) -> str:
    """What the ids of both sides are, as ranges where they are numbers."""
    here, there = _numbers(run), _numbers(gold)
    if here is not None and there is not None:
        return f"the ids here are {_range(here)}, those of {corpus} {_range(there)}"
    return f"the ids here are {_some(run)}, those of {corpus} {_some(gold)}"


def numbered_apart(gold: Arrow, run: Arrow, corpus: str) -> str:
    """The same, where both are numbers and do not begin or end alike; else nothing."""
    here, there = _numbers(run), _numbers(gold)
    if here is None or there is None or (min(here), max(here)) == (min(there), max(there)):
        return ""
    return ids_said(gold, run, corpus)


def numbering(gold: Arrow, run: Arrow) -> str:
    """What to do about ids that are numbers, and as many on both sides, from another start; else nothing."""
    here, there = _numbers(run), _numbers(gold)
    if here is None or there is None or len(here) != len(there) or min(here) == min(there):
        return ""
    shift = min(there) - min(here)
    return f"Number the documents of both files alike ({'add' if shift > 0 else 'subtract'} {abs(shift)} here)"


def _numbers(ids: Arrow) -> list[int] | None:
    """The ids as numbers, None where one is none."""
    found: list[int] = []
    for id in ids.to_pylist():
        if not (isinstance(id, str) and id.isascii() and id.isdigit() and len(id) <= 18):
            return None
        found.append(int(id))
    return found or None


def _range(numbers: list[int]) -> str:
    return f"{min(numbers)}–{max(numbers)}" if len(numbers) > 1 else str(numbers[0])


def _some(ids: Arrow) -> str:
    shown = [repr(id) for id in ids[:_SHOWN].to_pylist()]
    return ", ".join([*shown, *(["…"] if len(ids) > _SHOWN else [])])
