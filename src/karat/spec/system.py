"""What a file in `karat.systems` holds, and how systems are named.

A system is named `NAME[option=value,…]:REST`, of which all but the name may be left out: `prior`,
`graph[variant=local]`, `command:./linker -q`. What stands behind the colon is the option `rest` of systems with one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args, get_origin, get_type_hints

from karat.errors import UnknownNameError, UsageError
from karat.model.document import Document, Label, Reply
from karat.spec.outside import Outside, TrainingCard

Link: TypeAlias = Callable[[Iterable[Document]], Iterator[Reply]]
"""Replies to documents: one each, in their order, as the documents come. What fails on one document only is the `error`
of its reply; what makes all of them fail is raised."""

Refine: TypeAlias = Callable[[Iterable[tuple[Document, Reply]]], Iterator[Reply]]
"""One stage of a system: each reply so far, with its document, as it is after the stage."""

Stage: TypeAlias = Literal["detect", "candidates", "rank"]
"""`detect` marks mentions, `candidates` gives each of them entities that it may stand for, `rank` links it to one of
these, to NIL, or drops it."""

STAGES: tuple[Stage, ...] = get_args(Stage)

_NAME = re.compile(r"([\w./\\-]+)(?:\[([^\]]*)\])?(?::(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of a system that has none."""


@dataclass(frozen=True, slots=True)
class System:
    """A linker that Karat runs.

    `start` opens whatever is heavy (packs, models, connections) and gives the function that links; it takes the
    options, a frozen dataclass of type `options` whose fields are made by `option`, and whether the mentions are given.
    Then the labels of each document are the spans to be linked, without links, and each gets one answer at most.
    Otherwise documents have no labels. One that `sees_gold`, or whose options do, gets documents as they are.

    `solves` is the hardest problem it solves (`karat.spec.choices.task`), `space` the id space of its links, empty
    where it is that of the pack in its option `kb`. `spans` says whether it takes given mentions. `stages` are those of
    its parts that can be used in a pipeline by themselves. `stamp` says on what else than the options the answers
    depend, such as the digest of a pack or the version of a model: it is part of the manifest and of every cache key.
    `rest` says what follows the colon of its name, `needs` what must be there before it runs, and `extra` which extra
    of the package. Of a system that could not be tried, `untried` says what file to hand in in its place. `outside`
    says where one that is not part of Karat does its work, `training` what it was made from.
    """

    title: str
    says: str
    start: Callable[[Any, bool], Link]
    options: type[Any] = NoOptions
    solves: str = "sa2kb"
    spans: Literal["never", "welcome", "needed"] = "never"
    space: str = ""
    stages: Mapping[Stage, Callable[[Any], Refine]] = field(default_factory=dict)
    stamp: Callable[[Any], Mapping[str, str]] = lambda options: {}
    rest: str = ""
    needs: tuple[str, ...] = ()
    extra: str | None = None
    sees_gold: bool = False
    untried: str = ""
    outside: Callable[[Any], Outside] | None = None
    training: TrainingCard = field(default_factory=TrainingCard)


class SystemName(NamedTuple):
    """A system as users name it, with the options in the name, as written."""

    name: str
    options: Mapping[str, str] = {}


def option(default: Any, says: str) -> Any:  # noqa: ANN401  # as `dataclasses.field`, of which it is a case
    """A field of a system's options: its default, and what it says in the help."""
    return field(default=default, metadata={"says": says})


def parse_system(text: str) -> SystemName:
    """The name that a text writes."""
    found = _NAME.fullmatch(text)
    if found is None:
        raise UsageError(f"{text!r} names no system. Write NAME, NAME[option=value,…] or NAME:REST.")
    pairs = [each.partition("=") for each in found[2].split(",")] if found[2] else []
    rest = {} if found[3] is None else {"rest": found[3]}
    return SystemName(found[1], {name.strip(): value.strip() for name, _, value in pairs} | rest)


def options_of(system: System, given: Mapping[str, str], name: str) -> Any:  # noqa: ANN401  # of the system's own type
    """The options of a system from what was written; `name` is what the system is called in messages."""
    hints = get_type_hints(system.options)
    unknown = [key for key in given if key.replace("-", "_") not in hints]
    if unknown:
        raise UnknownNameError(f"option of {name}", unknown[0], [key.replace("_", "-") for key in hints])
    read = {
        key.replace("-", "_"): _read(value, hints[key.replace("-", "_")], f"{name}: {key}")
        for key, value in given.items()
    }
    return replace(system.options(), **read)


def options_said(options: Any) -> dict[str, str]:  # noqa: ANN401  # of any system
    """Each option with its value, as the signature and the manifest write them; those at their default left out."""
    return {
        each.name.replace("_", "-"): _written(getattr(options, each.name))
        for each in fields(options)
        if getattr(options, each.name) != each.default
    }


def asked(document: Document, *, given: bool) -> Document:
    """What a system that does not see gold gets of a document: its text, and the spans to be linked if they are given.

    Alternatives of one mention are one span, that of the first; optional mentions are asked about like all others.
    """
    units: dict[str, None] = {}
    spans: dict[tuple[int, int], None] = {}
    for label in document.labels if given else ():
        if label.parent is None and (label.unit is None or label.unit not in units):
            spans[label.start, label.end] = None
            units.update({} if label.unit is None else {label.unit: None})
    return Document(document.id, document.text, tuple(Label(start, end) for start, end in sorted(spans)))


def _written(value: object) -> str:
    return "yes" if value is True else "no" if value is False else str(value)


_SAID = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def _read(text: str, kind: Any, where: str) -> Any:  # noqa: ANN401  # the type of a field
    """A value as a field of that type has it."""
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise UnknownNameError(f"value of {where}", text, get_args(kind))
        return text
    plain = next((each for each in (*get_args(kind), kind) if each in (bool, int, float, str)), str)
    try:
        return _SAID[text.lower()] if plain is bool else plain(text)
    except (ValueError, KeyError):
        expected = {bool: "yes or no", int: "a whole number", float: "a number"}[plain]
        raise UsageError(f"{where}: {text!r} is no value. Give {expected}.") from None
