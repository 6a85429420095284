"""A plot as values, without a drawing library: what a chart shows, not how it looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

PlotKind: TypeAlias = Literal["bars", "lines", "dots", "graph"]
"""Grouped bars over names; lines over numbers; dots over numbers or names; nodes with directed edges."""


@dataclass(frozen=True, slots=True)
class PlotPoint:
    """A point of a series."""

    x: float | str
    """The position: a number, or a name on an axis of names."""
    y: float | None
    """The value; None if it cannot be computed: the point is named but not drawn."""
    interval: tuple[float, float] | None = None
    """The ends of the confidence interval of `y`; None without one."""
    label: str = ""
    """Text beside the point."""


@dataclass(frozen=True, slots=True)
class PlotSeries:
    """The points of one system, source or measure."""

    name: str
    """The name in the legend."""
    points: tuple[PlotPoint, ...]
    """The points, in the order in which a line connects them."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A chart with axes and series, or a graph with edges."""

    kind: PlotKind
    """The form of the chart."""
    title: str
    """The heading."""
    series: tuple[PlotSeries, ...] = ()
    """The series of bars, lines and dots; of a graph, its nodes: `x` is the name, `y` the layer from the top (0)."""
    x_title: str = ""
    """The label of the horizontal axis."""
    y_title: str = ""
    """The label of the vertical axis."""
    y_range: tuple[float, float] | None = None
    """The ends of the vertical axis; None fits the values."""
    edges: tuple[tuple[str, str], ...] = ()
    """The edges of a graph, from node to node."""
    is_x_logarithmic: bool = False
    """Whether the horizontal axis is logarithmic."""
