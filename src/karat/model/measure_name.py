"""Names of measures and views.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote, unquote

import msgspec

from karat.model.errors import KaratError, format_suggestions

_GRAMMAR = re.compile(
    r"(?:(?P<task>[a-z0-9-]+)/(?![^:\[]*\.py[:\[]))?"
    r"(?P<relation>[a-z_-]+:[a-z_+~]*:[a-z_+]+(?=:)|[^\[\]:@|]+)(?:\[(?P<filters>[^\[\]]+)\])?"
    r":(?:(?P<aggregate>[a-z]+)\.)?(?P<measure>[a-z][a-z0-9-]*)(?:@(?P<cutoff>[1-9][0-9]*))?"
    r"(?:@(?P<label>[^=@]+)=(?P<value>.*))?",
    re.DOTALL,
)
_SAFE = " !\"#$&'()*+-./:;<=>?@^_`{|}~\\"


class ViewName(msgspec.Struct, frozen=True):
    """A match relation with filters: `strong`, `weak[nil]`, `strong[types=PER,in-kb]`."""

    relation: str
    """The match relation, clustering (`b-cubed`) or neleval key (`sets:is_linked:span+kbid`)."""
    filters: tuple[str, ...] = ()
    """The filters."""
    task: str | None = None
    """The task, if it differs from that of the evaluation, as in `d2kb/strong`."""

    def __str__(self) -> str:
        task = f"{self.task}/" if self.task else ""
        filters = f"[{','.join(quote(f, safe=_SAFE) for f in self.filters)}]" if self.filters else ""
        return f"{task}{self.relation}{filters}"


class MeasureName(msgspec.Struct, frozen=True):
    """A measure of a view: `strong:micro.f1`, `weak[nil]:macro.p`, `strong:accuracy`, `strong:micro.r@types=PER`.

    A filter selects the items before matching; a group selects the cases after matching.
    """

    view: ViewName
    """The view."""
    measure: str
    """The name of the measure."""
    aggregate: str | None = None
    """The aggregate, such as `micro`, if the measure has one."""
    group: tuple[str, str] | None = None
    """The facet and the value of a group, after `@`."""
    cutoff: int | None = None
    """The rank cut-off, as in `entity:macro.p@5`."""

    def __str__(self) -> str:
        return f"{self.view}:{self.short_name}{self._group_suffix}"

    @property
    def cases(self) -> str:
        """The cases that the measure counts: the view and the group, as in `strong@types=PER`."""
        return f"{self.view}{self._group_suffix}"

    @property
    def _group_suffix(self) -> str:
        """The group as it is written at the end of a name; empty without a group."""
        return f"@{self.group[0]}={self.group[1]}" if self.group else ""

    @property
    def short_name(self) -> str:
        """The name without the view: `micro.f1`."""
        aggregate = f"{self.aggregate}." if self.aggregate else ""
        cutoff = f"@{self.cutoff}" if self.cutoff else ""
        return f"{aggregate}{self.measure}{cutoff}"


@lru_cache(maxsize=4096)
def parse_measure(text: str) -> MeasureName:
    """Parse a measure name; raise `KaratError` if it breaks the grammar.

    Whether the relation, measure and other parts exist is not checked here.
    """
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        name, at, value = text.partition("@")
        lowered = name.lower() + at + value
        suggestion = f"{format_suggestions([lowered])} " if _GRAMMAR.fullmatch(lowered) else ""
        raise KaratError(
            f"{text!r} is not a measure name. {suggestion}Write TASK/RELATION[FILTER,…]:AGGREGATE.MEASURE@FACET=VALUE, "
            "such as strong:micro.f1, weak[nil]:macro.p, d2kb/strong:micro.f1 or strong:micro.r@types=PER."
        )
    filters = tuple(unquote(f) for f in match["filters"].split(",")) if match["filters"] else ()
    group = (match["label"], match["value"]) if match["label"] else None
    view = ViewName(match["relation"], filters, match["task"])
    cutoff = int(match["cutoff"]) if match["cutoff"] else None
    return MeasureName(view, match["measure"], match["aggregate"], group, cutoff)
