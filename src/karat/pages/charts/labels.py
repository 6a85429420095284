"""Where the labels of points go: near them, and not on each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from karat.curves.oracle import Reach
from karat.model.tables.columns import Floats

WIDTH, HEIGHT = 480, 300
"""The size of a chart in pixels, without axes and titles."""

SIZE = 12
"""The size of letters in a label."""

_LETTER = 0.45 * SIZE  # the mean width of a letter, with a little to spare
_LINE = SIZE + 3
_POINT = 6  # half the side of a point
_NEAR = 0.8 * _LINE  # a label further off needs a leader
_INK = 0.5  # how far a label goes to cover one pixel less of a line
_CROSSED = 5.0  # how far it goes to have one place less of its leader under another label
_PATH = np.linspace(0, 1, 20)[:, None]  # the places of a leader that are looked at


class ChartLabel(NamedTuple):
    """A point of a line, in the units of the axes, and what is said about it."""

    line: str
    x: float
    y: float
    text: str


class ChartPlace(NamedTuple):
    """A place in the units of the axes."""

    x: float
    y: float


class PlacedLabel(NamedTuple):
    """A label, the middle of its text, and where a leader meets the text if it needs one."""

    label: ChartLabel
    text: ChartPlace
    leader: ChartPlace | None


class Frame(NamedTuple):
    """What the axes of a chart show."""

    across: Reach
    up: Reach

    def pixels(self, x: Floats, y: Floats) -> Floats:
        """Places in pixels from the upper left corner, one row each."""
        (left, right), (low, high) = self
        return np.column_stack([(x - left) / (right - left) * WIDTH, (high - y) / (high - low) * HEIGHT])

    def place(self, x: float, y: float) -> ChartPlace:
        """What is at a pixel."""
        (left, right), (low, high) = self
        return ChartPlace(left + x / WIDTH * (right - left), high - y / HEIGHT * (high - low))


class _Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def holds(self, points: Floats) -> int:
        x, y = points.T
        return int(np.count_nonzero((x > self.left) & (x < self.right) & (y > self.top) & (y < self.bottom)))

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        return min(max(x, self.left), self.right), min(max(y, self.top), self.bottom)


def placed(labels: Sequence[ChartLabel], lines: Sequence[tuple[Floats, Floats]], frame: Frame) -> list[PlacedLabel]:
    """The labels, each near its point, and off the lines where that is not far.

    The highest point chooses first, and no later label covers an earlier one as long as there is room.
    """
    ink = np.concatenate([np.empty((0, 2)), *(_ink(x, y, frame) for x, y in lines if len(x))])
    points = frame.pixels(np.array([label.x for label in labels]), np.array([label.y for label in labels])).tolist()
    taken = [_Box(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y in points]
    others: list[_Box] = []
    found: list[PlacedLabel] = []
    for (px, py), label in sorted(zip(points, labels, strict=True), key=lambda both: both[0][1]):
        boxes = list(_boxes(px, py, len(label.text) * _LETTER))
        free = [box for box in boxes if not any(map(box.meets, [*taken, *others]))]
        box = min(free or boxes, key=partial(_cost, px, py, ink, others))
        others.append(box)
        end = box.nearest(px, py)
        text = frame.place((box.left + box.right) / 2, (box.top + box.bottom) / 2)
        found.append(
            PlacedLabel(label, text, frame.place(*end) if np.hypot(end[0] - px, end[1] - py) > _NEAR else None)
        )
    return found


def _cost(px: float, py: float, ink: Floats, others: Sequence[_Box], box: _Box) -> float:
    """How bad a place for the label of a point is."""
    start, way = np.array([px, py]), np.array(box.nearest(px, py)) - (px, py)
    crossed = sum(other.holds(start + _PATH * way) for other in others)
    return float(np.hypot(*way)) + _INK * box.holds(ink) + _CROSSED * crossed


def _ink(x: Floats, y: Floats, frame: Frame) -> Floats:
    """About one place in pixels for each pixel that a line covers."""
    corners = frame.pixels(x, y)
    along = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(corners, axis=0)).sum(axis=1))])
    at = np.arange(0, along[-1] + 1)
    return np.column_stack([np.interp(at, along, corners[:, 0]), np.interp(at, along, corners[:, 1])])


def _boxes(px: float, py: float, width: float) -> Iterator[_Box]:
    """Where a label may go: around its point and inside the chart."""
    for x in np.linspace(px - 1.2 * width, px + 1.2 * width, 13).clip(width / 2, WIDTH - width / 2).tolist():
        for y in np.arange(py - 9 * _LINE, py + 9 * _LINE, _LINE / 3).clip(_LINE / 2, HEIGHT - _LINE / 2).tolist():
            yield _Box(x - width / 2, y - _LINE / 2, x + width / 2, y + _LINE / 2)
