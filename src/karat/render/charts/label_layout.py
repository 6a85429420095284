"""The layout of point labels: close to their points, without overlaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from karat.analysis.curves.oracle import ThresholdRange
from karat.model.tables.columns import Floats

WIDTH, HEIGHT = 480, 300
"""The size of a chart in pixels, without axes and titles."""

SIZE = 12
"""Font size of labels."""

_LETTER = 0.45 * SIZE  # the mean width of a letter, with a little to spare
_LINE = SIZE + 3
_POINT = 6  # half the side of a point
_NEAR = 0.8 * _LINE  # a label further off needs a leader
_INK = 0.5  # how far a label goes to cover one pixel less of a line
_CROSSED = 5.0  # how far it goes to have one place less of its leader under another label
_PATH = np.linspace(0, 1, 20)[:, None]  # the places of a leader that are looked at


class ChartLabel(NamedTuple):
    """A labelled point of a line, in axis units."""

    line: str
    x: float
    y: float
    text: str


class ChartPosition(NamedTuple):
    """A position in axis units."""

    x: float
    y: float


class PlacedLabel(NamedTuple):
    """A label, the centre of its text, and the end of its leader line if it needs one."""

    label: ChartLabel
    text: ChartPosition
    leader: ChartPosition | None


class Frame(NamedTuple):
    """The ranges of both axes, for conversion between axis units and pixels."""

    x_range: ThresholdRange
    y_range: ThresholdRange

    def to_pixels(self, x: Floats, y: Floats) -> Floats:
        """Convert axis positions to pixels from the upper left corner: an array with a row (x, y) per position."""
        (left, right), (low, high) = self
        return np.column_stack([(x - left) / (right - left) * WIDTH, (high - y) / (high - low) * HEIGHT])

    def from_pixels(self, x: float, y: float) -> ChartPosition:
        """Convert a pixel position, from the upper left corner, to an axis position."""
        (left, right), (low, high) = self
        return ChartPosition(left + x / WIDTH * (right - left), high - y / HEIGHT * (high - low))


class _Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: _Box) -> bool:
        """Return whether two boxes have some area in common."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def count_inside(self, points: Floats) -> int:
        """Count the points, given as rows (x, y), inside the box."""
        x, y = points.T
        return int(np.count_nonzero((x > self.left) & (x < self.right) & (y > self.top) & (y < self.bottom)))

    def find_nearest_point(self, x: float, y: float) -> tuple[float, float]:
        """Return the point of the box that is nearest to a point."""
        return min(max(x, self.left), self.right), min(max(y, self.top), self.bottom)


def place_labels(
    labels: Sequence[ChartLabel], lines: Sequence[tuple[Floats, Floats]], frame: Frame
) -> list[PlacedLabel]:
    """Place each label near its point, and off the lines if there is room close by.

    `lines`: x and y values of each line, in axis units. The highest point is placed first, and no later label covers an
    earlier one as long as there is room.
    """
    ink = np.concatenate([np.empty((0, 2)), *(_rasterise_line(x, y, frame) for x, y in lines if len(x))])
    points = frame.to_pixels(np.array([label.x for label in labels]), np.array([label.y for label in labels])).tolist()
    point_boxes = [_Box(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y in points]
    label_boxes: list[_Box] = []
    placed_labels: list[PlacedLabel] = []
    for (px, py), label in sorted(zip(points, labels, strict=True), key=lambda both: both[0][1]):
        boxes = list(_iterate_candidate_boxes(px, py, len(label.text) * _LETTER))
        free = [box for box in boxes if not any(map(box.overlaps, [*point_boxes, *label_boxes]))]
        box = min(free or boxes, key=partial(_layout_cost, px, py, ink, label_boxes))
        label_boxes.append(box)
        end = box.find_nearest_point(px, py)
        text = frame.from_pixels((box.left + box.right) / 2, (box.top + box.bottom) / 2)
        placed_labels.append(
            PlacedLabel(label, text, frame.from_pixels(*end) if np.hypot(end[0] - px, end[1] - py) > _NEAR else None)
        )
    return placed_labels


def _layout_cost(px: float, py: float, ink: Floats, label_boxes: Sequence[_Box], box: _Box) -> float:
    """Return the cost of a label's box: its distance from the point (`px`, `py`), and what box and leader line cover.

    `ink`: pixels of the lines that the box should not cover. `label_boxes`: boxes that the leader should not cross.
    """
    start, vector = np.array([px, py]), np.array(box.find_nearest_point(px, py)) - (px, py)
    n_crossed = sum(other.count_inside(start + _PATH * vector) for other in label_boxes)
    return float(np.hypot(*vector)) + _INK * box.count_inside(ink) + _CROSSED * n_crossed


def _rasterise_line(x: Floats, y: Floats, frame: Frame) -> Floats:
    """Return about one pixel position per pixel that a line, given in axis units, covers."""
    corners = frame.to_pixels(x, y)
    distance = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(corners, axis=0)).sum(axis=1))])
    positions = np.arange(0, distance[-1] + 1)
    return np.column_stack(
        [np.interp(positions, distance, corners[:, 0]), np.interp(positions, distance, corners[:, 1])]
    )


def _iterate_candidate_boxes(px: float, py: float, width: float) -> Iterator[_Box]:
    """Yield the possible boxes of a label of `width` pixels: around its point and inside the chart."""
    for x in np.linspace(px - 1.2 * width, px + 1.2 * width, 13).clip(width / 2, WIDTH - width / 2).tolist():
        for y in np.arange(py - 9 * _LINE, py + 9 * _LINE, _LINE / 3).clip(_LINE / 2, HEIGHT - _LINE / 2).tolist():
            yield _Box(x - width / 2, y - _LINE / 2, x + width / 2, y + _LINE / 2)
