"""Systems, as `karat systems` prints and writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from karat.fitting import columns, wrapped
from karat.pages.files import Written, indented
from karat.registry import get, names
from karat.spec.choices.task import TASKS
from karat.spec.outside import card_of
from karat.spec.system import System

_SPANS: Final = {"never": "no", "welcome": "yes", "needed": "only"}
_WHERE: Final = {"karat": "comes with Karat", "outside": "works outside Karat"}


class ListedOption(Written, frozen=True):
    """An option of a system: what it is called, its default, which values it may have, and what it says."""

    name: str
    default: str
    values: tuple[str, ...]
    says: str


class ListedSystem(Written, frozen=True):
    """A system: the hardest problem it solves, its id space, what it needs, and its options.

    `space` is empty where it is that of the pack. `spans` says whether it takes given mentions. `where` says whether it
    is part of Karat, and `untried` what to hand in where it does not run. `training` says what it was made from.
    """

    name: str
    title: str
    says: str
    solves: str
    spans: Literal["never", "welcome", "needed"]
    space: str
    needs: tuple[str, ...]
    stages: tuple[str, ...]
    extra: str | None
    sees_gold: bool
    untried: str
    rest: str
    options: tuple[ListedOption, ...]
    where: Literal["karat", "outside", "nowhere"]
    training: Mapping[str, str]


class SystemsFile(Written, frozen=True):
    """What `karat systems --json` writes."""

    layout: Literal["karat-systems/1"]
    systems: tuple[ListedSystem, ...]


def every() -> list[ListedSystem]:
    """All systems."""
    return [listed(name) for name in names("systems")]


def listed(name: str) -> ListedSystem:
    """A system by name."""
    system = get("systems", name, System)
    hints = get_type_hints(system.options)
    options = tuple(
        ListedOption(
            each.name.replace("_", "-"),
            _written(each.default),
            _values(hints[each.name]),
            each.metadata.get("says", ""),
        )
        for each in fields(system.options)
        if each.name != "rest"
    )
    return ListedSystem(
        name,
        system.title,
        system.says,
        system.solves,
        system.spans,
        system.space,
        system.needs,
        tuple(system.stages),
        system.extra,
        system.sees_gold,
        system.untried,
        system.rest,
        options,
        "nowhere" if system.untried else "karat" if system.outside is None else "outside",
        card_of(system.training.said()),
    )


def list_json(rows: Sequence[ListedSystem]) -> bytes:
    """All of them."""
    return indented(SystemsFile("karat-systems/1", tuple(rows)))


def list_page(rows: Sequence[ListedSystem], *, width: int | None = None) -> str:
    """All of them, a line each: those that come with Karat, those outside, and those of which only answers are read."""
    blocks = []
    for where, title in _WHERE.items():
        cells = [[title, "solves", "spans", "needs", "ids"], *(_cells(row) for row in rows if row.where == where)]
        blocks.append(columns(cells, range(5), width))
    untried = [[row.name, row.solves, row.space or "–", row.untried] for row in rows if row.untried]
    blocks.append(columns([["untried", "solves", "ids", "hand in its answers as"], *untried], range(4), width))
    return "\n\n".join([*blocks, _BELOW])


_BELOW: Final = """\
karat systems show NAME                what it is, and its options
karat run NAME… --on DATASET           run it
karat run answers:FILE --on DATASET    answers that somebody handed in
"""


def _cells(row: ListedSystem) -> list[str]:
    return [_written_as(row), row.solves, _SPANS[row.spans], _needs(row), row.space or "of the pack"]


def _written_as(row: ListedSystem) -> str:
    """How it is named; an example of what follows the colon is left to its own page."""
    return f"{row.name}:…" if row.rest else row.name


def _needs(row: ListedSystem) -> str:
    said = [*row.needs, *([f"extra {row.extra}"] if row.extra else []), *(["gold"] if row.sees_gold else [])]
    return ", ".join(said) or "–"


def show_page(row: ListedSystem, *, width: int | None = None) -> str:
    """One of them, with its options."""
    head = [f"{row.name}: {row.title}", "", row.says, ""]
    facts = [
        ["solves", f"{row.solves}, {TASKS[row.solves].title.lower()}"],
        ["takes spans", _SPANS[row.spans]],
        ["ids", row.space or ("–" if row.untried else "those of the pack")],
        ["needs", _needs(row)],
        ["stages", ", ".join(row.stages) or "–"],
        *([f"made from: {name}", said] for name, said in row.training.items()),
    ]
    if row.untried:
        facts = [facts[0], facts[2], ["hand in", f"it could not be tried: its answers as {row.untried}"], *facts[5:]]
    text = wrapped("\n".join(head), width or 120) + "\n" + columns(facts, (0, 1), width) + "\n"
    if row.options:
        table = [["option", "default", "says"]]
        table += [[each.name, each.default, _said(each)] for each in row.options]
        text += f"\n{columns(table, (0, 1, 2), width)}\n"
        option = f"{row.options[0].name}={row.options[0].default or 'VALUE'}"
        rest = f":{row.rest}" if row.rest else ""
        text += f"\n{row.name}[{option}]{rest} is how options are written in a name\n"
    return text


def _said(option: ListedOption) -> str:
    return f"{option.says} One of {', '.join(option.values)}." if option.values else option.says


def _written(value: object) -> str:
    return "yes" if value is True else "no" if value is False else "" if value is None else str(value)


def _values(kind: Any) -> tuple[str, ...]:  # noqa: ANN401  # the type of a field
    return tuple(map(str, get_args(kind))) if get_origin(kind) is Literal else ()
