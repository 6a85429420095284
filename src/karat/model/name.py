"""The names of measures, which print and parse back."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote, unquote

import msgspec

from karat.errors import KaratError

_GRAMMAR = re.compile(
    r"(?:(?P<task>[a-z0-9-]+)/(?![^:\[]*\.py[:\[]))?"
    r"(?P<relation>[a-z_-]+:[a-z_+~]*:[a-z_+]+(?=:)|[^\[\]:@|]+)(?:\[(?P<filters>[^\[\]]+)\])?"
    r":(?:(?P<aggregate>[a-z]+)\.)?(?P<measure>[a-z][a-z0-9-]*)(?:@(?P<cutoff>[1-9][0-9]*))?"
    r"(?:@(?P<label>[^=@]+)=(?P<value>.*))?",
    re.DOTALL,
)
_SAFE = " !\"#$&'()*+-./:;<=>?@^_`{|}~\\"


class ViewName(msgspec.Struct, frozen=True):
    """A relation and what it is restricted to: `strong`, `weak[nil]`, `strong[types=PER,in-kb]`.

    A task in front, as in `d2kb/strong`, stands for another one than that of the whole evaluation. In place of a
    relation there may be a clustering (`b-cubed`) or a key as in neleval (`sets:is_linked:span+kbid`).
    """

    relation: str
    filters: tuple[str, ...] = ()
    task: str | None = None

    def __str__(self) -> str:
        task = f"{self.task}/" if self.task else ""
        filters = f"[{','.join(quote(f, safe=_SAFE) for f in self.filters)}]" if self.filters else ""
        return f"{task}{self.relation}{filters}"


class MeasureName(msgspec.Struct, frozen=True):
    """A view and a measure of it, with an aggregate where it has one, perhaps for one value of a label.

    `strong:micro.f1`, `weak[nil]:macro.p`, `strong:accuracy`, `strong:micro.r@types=PER`. A filter chooses the
    items before they are matched; a label value after `@` picks the cases afterwards. A number after `@` is how far
    down a ranking the measure looks: `entity:macro.p@5`.
    """

    view: ViewName
    measure: str
    aggregate: str | None = None
    group: tuple[str, str] | None = None
    cutoff: int | None = None

    def __str__(self) -> str:
        group = f"@{self.group[0]}={self.group[1]}" if self.group else ""
        return f"{self.view}:{self.short}{group}"

    @property
    def short(self) -> str:
        """The measure without its view: `micro.f1`."""
        aggregate = f"{self.aggregate}." if self.aggregate else ""
        cutoff = f"@{self.cutoff}" if self.cutoff else ""
        return f"{aggregate}{self.measure}{cutoff}"


@lru_cache(maxsize=4096)
def parse_measure(text: str) -> MeasureName:
    """The measure that a name stands for; whether its parts exist is for the registries to say."""
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        raise KaratError(
            f"{text!r} is no measure name. Write TASK/RELATION[FILTER,…]:AGGREGATE.MEASURE@LABEL=VALUE, "
            "such as strong:micro.f1, weak[nil]:macro.p, d2kb/strong:micro.f1 or strong:micro.r@types=PER."
        )
    filters = tuple(unquote(f) for f in match["filters"].split(",")) if match["filters"] else ()
    group = (match["label"], match["value"]) if match["label"] else None
    view = ViewName(match["relation"], filters, match["task"])
    cutoff = int(match["cutoff"]) if match["cutoff"] else None
    return MeasureName(view, match["measure"], match["aggregate"], group, cutoff)
