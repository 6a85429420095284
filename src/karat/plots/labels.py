"""Where the labels of points go, so that none covers another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.plots.oracle import Reach

WIDTH, HEIGHT = 480, 300
"""The size of a chart in pixels, without axes and titles."""

SIZE = 12
"""The size of letters in a label."""

_LETTER = 0.55 * SIZE  # the mean width of a letter, with some to spare
_LINE = SIZE + 4
_POINT = 6  # half the side of a point
_STEPS = 12  # places that are tried above and below a point


class Label(NamedTuple):
    """A point of a line, in the units of the axes, and what is said about it."""

    line: str
    x: float
    y: float
    text: str


class Placed(NamedTuple):
    """A label and the middle of its text, in the units of the axes; `away` where a leader has to lead to it."""

    label: Label
    x: float
    y: float
    away: bool


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


def placed(labels: Sequence[Label], across: Reach, up: Reach) -> list[Placed]:
    """The labels, each as near to its point as the others allow; the highest point chooses first."""
    points = [_pixels(label, across, up) for label in labels]
    taken = [_Box(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y in points]
    found: list[Placed] = []
    for (px, py), label in sorted(zip(points, labels, strict=True), key=lambda both: both[0][1]):
        half = len(label.text) * _LETTER / 2
        x = min(max(px, half), WIDTH - half)
        boxes = [_Box(x - half, y - _LINE / 2, x + half, y + _LINE / 2) for y in _heights(py)]
        # Where all places are taken there are more labels than the chart can hold: then they cover each other.
        step, box = next(((i, b) for i, b in enumerate(boxes) if not any(map(b.meets, taken))), (0, boxes[0]))
        taken.append(box)
        middle = (box.top + box.bottom) / 2
        found.append(Placed(label, *_units(x, middle, across, up), away=step > 1))
    return found


def _heights(py: float) -> Iterator[float]:
    """Middles of text above and below a point, from the nearest on, inside the chart."""
    first = _POINT + _LINE / 2 + 1
    inside = [py + side * (first + step * _LINE) for step in range(_STEPS) for side in (-1, 1)]
    return iter([y for y in inside if _LINE / 2 <= y <= HEIGHT - _LINE / 2])


def _pixels(label: Label, across: Reach, up: Reach) -> tuple[float, float]:
    x = (label.x - across.low) / (across.high - across.low or 1)
    y = (label.y - up.low) / (up.high - up.low or 1)
    return x * WIDTH, (1 - y) * HEIGHT


def _units(x: float, y: float, across: Reach, up: Reach) -> tuple[float, float]:
    return across.low + x / WIDTH * (across.high - across.low), up.low + (1 - y / HEIGHT) * (up.high - up.low)
