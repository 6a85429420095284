"""The names of measures, which print and parse back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from karat.errors import KaratError

_GRAMMAR = re.compile(
    r"(?P<relation>[^\[\]:@|]+)(?:\[(?P<filters>[^\[\]]+)\])?:(?:(?P<aggregate>[a-z]+)\.)?(?P<measure>[a-z][a-z0-9-]*)"
    r"(?:@(?P<label>[^=@]+)=(?P<value>.*))?",
    re.DOTALL,
)
_SAFE = " !\"#$&'()*+-./:;<=>?@^_`{|}~\\"


@dataclass(frozen=True, slots=True)
class ViewName:
    """A relation and what it is restricted to: `strong`, `weak[nil]`, `strong[types=PER,in-kb]`."""

    relation: str
    filters: tuple[str, ...] = ()

    def __str__(self) -> str:
        return (
            f"{self.relation}[{','.join(quote(f, safe=_SAFE) for f in self.filters)}]"
            if self.filters
            else self.relation
        )


@dataclass(frozen=True, slots=True)
class MeasureName:
    """A view and a measure of it, with an aggregate where it has one, perhaps for one value of a label.

    `strong:micro.f1`, `weak[nil]:macro.p`, `strong:accuracy`, `strong:micro.r@types=PER`. A filter chooses the
    items before they are matched; a label value after `@` picks the cases afterwards.
    """

    view: ViewName
    measure: str
    aggregate: str | None = None
    group: tuple[str, str] | None = None

    def __str__(self) -> str:
        aggregate = f"{self.aggregate}." if self.aggregate else ""
        group = f"@{self.group[0]}={self.group[1]}" if self.group else ""
        return f"{self.view}:{aggregate}{self.measure}{group}"

    @property
    def short(self) -> str:
        """The measure without its view: `micro.f1`."""
        return f"{self.aggregate}.{self.measure}" if self.aggregate else self.measure


def parse_measure(text: str) -> MeasureName:
    """The measure that a name stands for; whether its parts exist is for the registries to say."""
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        raise KaratError(
            f"{text!r} is no measure name. Write RELATION[FILTER,…]:AGGREGATE.MEASURE@LABEL=VALUE, "
            "such as strong:micro.f1, weak[nil]:macro.p, strong:accuracy or strong:micro.r@types=PER."
        )
    filters = tuple(unquote(f) for f in match["filters"].split(",")) if match["filters"] else ()
    group = (match["label"], match["value"]) if match["label"] else None
    return MeasureName(ViewName(match["relation"], filters), match["measure"], match["aggregate"], group)
