"""Draw a `Plot` as SVG, without a drawing library."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Final, NamedTuple

from karat.model.output.control_chars import escape_controls
from karat.model.results.plot import Plot, PlotPoint, PlotSeries

_WIDTH, _HEIGHT = 680, 360
_LEFT, _RIGHT, _TOP = 62, 14, 34
_LETTER = 6.2  # pixels that a letter of 11 pixels takes, with a little to spare
_LINE = 17  # pixels between two lines of text
_FONT: Final = "Liberation Sans, Arial, Helvetica, sans-serif"
_COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#444444", "#E69F00", "#56B4E9")
_DASHES: Final = ("", "8 3", "2 2", "9 3 2 3", "5 3", "14 4", "1 3", "8 2 2 2")
_MARKS: Final = ("circle", "square", "triangle", "diamond")


class _Axis(NamedTuple):
    """A scale from values to pixels, with its ticks and their labels."""

    to_pixel: Callable[[float | str], float]
    ticks: Sequence[tuple[float | str, str]]


class _Frame(NamedTuple):
    """The rectangle of pixels between the axes."""

    left: float
    top: float
    right: float
    bottom: float


def draw_plot(plot: Plot) -> str:
    """Return the plot as an SVG document; points without a value are listed below it."""
    parts = _draw_graph(plot) if plot.kind == "graph" else _draw_chart(plot)
    body = "\n".join(parts.lines)
    title = _escape(plot.title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {parts.height:.0f}" width="{_WIDTH}" '
        f'height="{parts.height:.0f}" font-family="{_FONT}" font-size="11" role="img">\n'
        f"<title>{title}</title>\n"
        f'<rect width="100%" height="100%" fill="white"/>\n'
        f'<text x="{_WIDTH / 2}" y="18" text-anchor="middle" font-size="13" font-weight="bold">{title}</text>\n'
        f"{body}\n</svg>\n"
    )


class _Drawing(NamedTuple):
    """The elements of a drawing and its height in pixels."""

    lines: list[str]
    height: float


def _escape(text: str) -> str:
    """Return text for SVG, with markup and control characters escaped."""
    return escape(escape_controls(text))


def _draw_chart(plot: Plot) -> _Drawing:
    """Draw bars, lines or dots with axes, legend and the list of points without a value."""
    names = list(dict.fromkeys(p.x for series in plot.series for p in series.points if isinstance(p.x, str)))
    is_slanted = sum(len(name) for name in names) * _LETTER > _WIDTH - _LEFT - _RIGHT
    label_room = min(140.0, max(map(len, names)) * _LETTER * 0.7 + 12) if is_slanted else 18.0
    frame = _Frame(_LEFT, _TOP, _WIDTH - _RIGHT, _HEIGHT - 30)
    y_axis = _make_value_axis(plot, frame)
    x_axis = _make_name_axis(names, frame) if names else _make_number_axis(plot, frame)
    lines = [*_draw_axes(plot, frame, x_axis, y_axis, is_slanted=is_slanted)]
    for index, series in enumerate(plot.series):
        lines += _DRAWERS[plot.kind](index, series, plot, x_axis, y_axis)
    y = frame.bottom + label_room + 10
    if plot.x_title:
        y += 8
        lines.append(_text((frame.left + frame.right) / 2, y, plot.x_title, anchor="middle"))
    legend, y = _draw_legend(plot, y + 14)
    lines += legend
    for note in _list_undrawn(plot):
        y += _LINE
        lines.append(_text(_LEFT, y, note, colour="#666666"))
    return _Drawing(lines, y + 12)


def _make_name_axis(names: Sequence[str], frame: _Frame) -> _Axis:
    """Return a horizontal axis with one band of equal width for each name."""
    band = (frame.right - frame.left) / len(names)
    positions = {name: frame.left + (index + 0.5) * band for index, name in enumerate(names)}
    return _Axis(lambda x: positions[str(x)], [(name, name) for name in names])


def _make_number_axis(plot: Plot, frame: _Frame) -> _Axis:
    """Return a horizontal axis of numbers that fits all points, linear or logarithmic."""
    values = [float(p.x) for series in plot.series for p in series.points] or [0.0, 1.0]
    low, high = min(values), max(values)
    if plot.is_x_logarithmic and low > 0:
        low_exponent, high_exponent = math.floor(math.log10(low)), math.ceil(math.log10(high))
        span = max(1, high_exponent - low_exponent)
        ticks: list[tuple[float | str, str]] = [
            (10.0**exponent, f"{10.0**exponent:g}") for exponent in range(low_exponent, low_exponent + span + 1)
        ]
        width = frame.right - frame.left
        return _Axis(lambda x: frame.left + (math.log10(float(x)) - low_exponent) / span * width, ticks)
    return _make_linear_axis(low, high, frame.left, frame.right)


def _make_value_axis(plot: Plot, frame: _Frame) -> _Axis:
    """Return the vertical axis: the range that the plot sets, else one that fits all values and intervals."""
    if plot.y_range is not None:
        return _make_linear_axis(*plot.y_range, frame.bottom, frame.top)
    values = [
        value
        for series in plot.series
        for point in series.points
        if point.y is not None
        for value in (point.y, *(point.interval or ()))
    ]
    low = min([0.0, *values]) if plot.kind == "bars" else min(values, default=0.0)
    return _make_linear_axis(low, max(values, default=1.0), frame.bottom, frame.top)


def _make_linear_axis(low: float, high: float, start: float, end: float) -> _Axis:
    """Return an axis from `low` at pixel `start` to `high` at pixel `end`, widened to full ticks."""
    step = _find_step(low, high)
    first, last = math.floor(low / step + 1e-9), max(math.ceil(high / step - 1e-9), math.floor(low / step + 1e-9) + 1)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    ticks: list[tuple[float | str, str]] = [(i * step, f"{i * step:.{digits}f}") for i in range(first, last + 1)]
    low, span = first * step, (last - first) * step
    return _Axis(lambda value: start + (float(value) - low) / span * (end - start), ticks)


def _find_step(low: float, high: float) -> float:
    """Return the distance between ticks: 1, 2 or 5 times a power of ten, for about five ticks."""
    rough = (high - low) / 5 or 1.0
    magnitude = 10.0 ** math.floor(math.log10(rough))
    return next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= rough * 0.999)


def _draw_axes(plot: Plot, frame: _Frame, x_axis: _Axis, y_axis: _Axis, *, is_slanted: bool) -> Iterator[str]:
    """Yield grid lines, tick labels and the title of the vertical axis."""
    for value, label in y_axis.ticks:
        y = y_axis.to_pixel(value)
        yield f'<path d="M{frame.left:.1f} {y:.1f}H{frame.right:.1f}" stroke="#dddddd"/>'
        yield _text(frame.left - 6, y + 4, label, anchor="end")
    for value, label in x_axis.ticks:
        x = x_axis.to_pixel(value)
        if is_slanted:
            turn = f' transform="rotate(-40 {x:.1f} {frame.bottom + 12:.1f})"'
            yield _text(x, frame.bottom + 12, label if len(label) <= 30 else f"{label[:29]}…", anchor="end", extra=turn)
        else:
            yield _text(x, frame.bottom + 16, label, anchor="middle")
    yield f'<path d="M{frame.left:.1f} {frame.bottom:.1f}H{frame.right:.1f}" stroke="#222222"/>'
    middle = (frame.top + frame.bottom) / 2
    yield _text(14, middle, plot.y_title, anchor="middle", extra=f' transform="rotate(-90 14 {middle:.1f})"')


def _draw_bars(index: int, series: PlotSeries, plot: Plot, x_axis: _Axis, y_axis: _Axis) -> Iterator[str]:
    """Yield one bar of a series for each name, beside the bars of the other series, with whiskers for intervals."""
    band = (_WIDTH - _LEFT - _RIGHT) / max(1, len(x_axis.ticks)) * 0.84
    width = band / len(plot.series)
    for point in series.points:
        if point.y is None:
            continue
        x = x_axis.to_pixel(point.x) - band / 2 + index * width
        top, base = sorted((y_axis.to_pixel(point.y), y_axis.to_pixel(max(0.0, float(y_axis.ticks[0][0])))))
        yield (
            f'<rect x="{x:.1f}" y="{top:.1f}" width="{max(1.0, width - 1):.1f}" height="{base - top:.1f}" '
            f'fill="{_colour(index)}">{_tooltip(series, point)}</rect>'
        )
        yield from _draw_interval(x + width / 2, point, y_axis, "#222222")
        if point.label:
            yield _text(x + width / 2, top - 3, point.label, anchor="middle")


def _draw_lines(index: int, series: PlotSeries, _: Plot, x_axis: _Axis, y_axis: _Axis) -> Iterator[str]:
    """Yield the line of a series; points without a value interrupt it."""
    path, is_open = [], False
    for point in series.points:
        if point.y is not None:
            path.append(f"{'L' if is_open else 'M'}{x_axis.to_pixel(point.x):.1f} {y_axis.to_pixel(point.y):.1f}")
        is_open = point.y is not None
    dash = f' stroke-dasharray="{_DASHES[index % len(_DASHES)]}"' if _DASHES[index % len(_DASHES)] else ""
    yield (
        f'<path d="{"".join(path)}" fill="none" stroke="{_colour(index)}" stroke-width="1.8"{dash}>'
        f"<title>{_escape(series.name)}</title></path>"
    )


def _draw_dots(index: int, series: PlotSeries, plot: Plot, x_axis: _Axis, y_axis: _Axis) -> Iterator[str]:
    """Yield the marks of a series with whiskers and labels; over names, series are drawn side by side."""
    band = (_WIDTH - _LEFT - _RIGHT) / max(1, len(x_axis.ticks)) * 0.6
    for point in series.points:
        if point.y is None:
            continue
        x = x_axis.to_pixel(point.x)
        if isinstance(point.x, str):
            x += band * ((index + 0.5) / len(plot.series) - 0.5)
        y = y_axis.to_pixel(point.y)
        yield from _draw_interval(x, point, y_axis, _colour(index))
        yield _draw_mark(index, x, y, _tooltip(series, point))
        if point.label:
            yield _text(x + 7, y + 4, point.label)


_DRAWERS: Final[dict[str, Callable[[int, PlotSeries, Plot, _Axis, _Axis], Iterator[str]]]] = {
    "bars": _draw_bars,
    "lines": _draw_lines,
    "dots": _draw_dots,
}


def _draw_interval(x: float, point: PlotPoint, y_axis: _Axis, colour: str) -> Iterator[str]:
    """Yield the whiskers of the interval of a point at pixel `x`, if it has one."""
    if point.interval is not None:
        low, high = (y_axis.to_pixel(end) for end in point.interval)
        yield (
            f'<path d="M{x - 3:.1f} {low:.1f}h6M{x:.1f} {low:.1f}V{high:.1f}M{x - 3:.1f} {high:.1f}h6" '
            f'stroke="{colour}" fill="none"/>'
        )


def _draw_mark(index: int, x: float, y: float, inside: str = "") -> str:
    """Return the mark of a series at a pixel: the shape and colour follow from its index."""
    shapes = {
        "circle": f"M{x - 4:.1f} {y:.1f}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
        "square": f"M{x - 3.5:.1f} {y - 3.5:.1f}h7v7h-7z",
        "triangle": f"M{x:.1f} {y - 4.5:.1f}l4.5 8h-9z",
        "diamond": f"M{x:.1f} {y - 5:.1f}l4 5l-4 5l-4 -5z",
    }
    return f'<path d="{shapes[_MARKS[index % len(_MARKS)]]}" fill="{_colour(index)}">{inside}</path>'


def _draw_legend(plot: Plot, y: float) -> tuple[list[str], float]:
    """Return the legend, from pixel `y` on, and the pixel of its last line; none if there is only one series."""
    if len(plot.series) < 2:
        return [], y - 14
    lines, x = [], float(_LEFT)
    for index, series in enumerate(plot.series):
        width = 26 + len(series.name) * _LETTER + 12
        if x + width > _WIDTH and x > _LEFT:
            x, y = float(_LEFT), y + _LINE
        if plot.kind == "lines":
            dash = f' stroke-dasharray="{_DASHES[index % len(_DASHES)]}"' if _DASHES[index % len(_DASHES)] else ""
            lines.append(f'<path d="M{x:.1f} {y:.1f}h22" stroke="{_colour(index)}" stroke-width="2"{dash}/>')
        elif plot.kind == "dots":
            lines.append(_draw_mark(index, x + 14, y))
        else:
            lines.append(f'<rect x="{x + 6:.1f}" y="{y - 6:.1f}" width="14" height="11" fill="{_colour(index)}"/>')
        lines.append(_text(x + 26, y + 4, series.name))
        x += width
    return lines, y


def _list_undrawn(plot: Plot) -> list[str]:
    """Return a sentence for each series with points without a value."""
    return [
        f"Not drawn: {series.name} at {', '.join(str(p.x) for p in points)}."
        if len(points) < len(series.points)
        else f"Not drawn: {series.name}."
        for series in plot.series
        if (points := [point for point in series.points if point.y is None])
    ]


def _draw_graph(plot: Plot) -> _Drawing:
    """Draw the nodes of a graph in layers from the top, each with its label below its name, and its edges as arrows."""
    nodes = {str(point.x): point for series in plot.series for point in series.points}
    texts = {name: [name, *(node.label.split("\n") if node.label else [])] for name, node in nodes.items()}
    layers: dict[float, list[str]] = {}
    for name, node in nodes.items():
        layers.setdefault(node.y or 0.0, []).append(name)
    boxes: dict[str, _Frame] = {}
    top = 44.0
    for _, members in sorted(layers.items()):
        bottom = top + 14 * max(len(texts[name]) for name in members) + 8
        for index, name in enumerate(members):
            middle = _WIDTH * (index + 0.5) / len(members)
            half_width = max(map(len, texts[name])) * _LETTER / 2 + 7
            boxes[name] = _Frame(middle - half_width, top, middle + half_width, top + 14 * len(texts[name]) + 8)
        top = bottom + 46
    lines = [
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#444444"/></marker></defs>'
    ]
    for start, end in plot.edges:
        line = f"M{_middle(boxes[start]):.1f} {boxes[start].bottom:.1f}L{_middle(boxes[end]):.1f} {boxes[end].top:.1f}"
        lines.append(f'<path d="{line}" stroke="#444444" marker-end="url(#tip)"/>')
    for name, box in boxes.items():
        lines.append(
            f'<rect x="{box.left:.1f}" y="{box.top:.1f}" width="{box.right - box.left:.1f}" '
            f'height="{box.bottom - box.top:.1f}" rx="3" fill="white" stroke="#222222"/>'
        )
        lines += [
            _text(_middle(box), box.top + 14 * (row + 1), text, anchor="middle") for row, text in enumerate(texts[name])
        ]
    return _Drawing(lines, top - 30)


def _middle(box: _Frame) -> float:
    """Return the horizontal middle of a box in pixels."""
    return (box.left + box.right) / 2


def _text(x: float, y: float, text: str, *, anchor: str = "start", colour: str = "#222222", extra: str = "") -> str:
    """Return a text element at a pixel; `anchor` is `start`, `middle` or `end`, `extra` are further attributes."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{extra}>{_escape(text)}</text>'


def _tooltip(series: PlotSeries, point: PlotPoint) -> str:
    """Return the title element of a point: series, position and value with its interval."""
    bounds = "" if point.interval is None else f" [{point.interval[0]:g}, {point.interval[1]:g}]"
    return f"<title>{_escape(series.name)}, {_escape(str(point.x))}: {point.y:g}{bounds}</title>"


def _colour(index: int) -> str:
    """Return the colour of the series at `index`."""
    return _COLOURS[index % len(_COLOURS)]
