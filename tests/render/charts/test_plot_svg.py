"""Plots as SVG: well-formed for every name and value, and every point is drawn or listed."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from karat.model.results.plot import Plot, PlotPoint, PlotSeries
from karat.render.charts.plot_svg import draw_plot

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
VALUES = st.none() | st.floats(-1e6, 1e6)
SVG = "{http://www.w3.org/2000/svg}"


@given(
    st.sampled_from(["bars", "lines", "dots"]),
    st.lists(st.tuples(NAMES, st.lists(VALUES, min_size=1, max_size=5)), min_size=1, max_size=4),
    st.booleans(),
    NAMES,
)
def test_a_chart_is_well_formed_and_loses_no_point(kind, rows, has_names, title):
    series = tuple(
        PlotSeries(
            name,
            tuple(PlotPoint(f"x{index}" if has_names else float(index), value) for index, value in enumerate(values)),
        )
        for name, values in rows
    )
    root = ElementTree.fromstring(draw_plot(Plot(kind, title, series)))
    texts = [element.text or "" for element in root.iter(f"{SVG}text")]
    assert sum(text.startswith("Not drawn: ") for text in texts) == sum(None in values for _, values in rows)
    if kind == "bars":
        n_drawn = sum(value is not None for _, values in rows for value in values)
        bars = [element for element in root.iter(f"{SVG}rect") if element.find(f"{SVG}title") is not None]
        assert len(bars) == n_drawn


def test_heights_of_bars_are_proportional():
    plot = Plot("bars", "t", (PlotSeries("s", (PlotPoint("a", 25.0), PlotPoint("b", 50.0))),), y_range=(0, 100))
    root = ElementTree.fromstring(draw_plot(plot))
    heights = [float(e.get("height", "")) for e in root.iter(f"{SVG}rect") if e.find(f"{SVG}title") is not None]
    assert heights == [74.0, 148.0]  # a quarter and a half of 296 pixels


def test_a_logarithmic_axis_places_powers_of_ten_at_equal_distances():
    points = tuple(PlotPoint(x, 0.5, label=str(x)) for x in (1.0, 10.0, 100.0))
    plot = Plot("dots", "t", (PlotSeries("s", points),), is_x_logarithmic=True)
    root = ElementTree.fromstring(draw_plot(plot))
    first, second, third = (
        float(e.get("x", "")) for e in root.iter(f"{SVG}text") if e.text in ("1.0", "10.0", "100.0")
    )
    assert round(second - first, 6) == round(third - second, 6) > 0


def test_a_graph_has_a_box_for_each_node_and_an_arrow_for_each_edge():
    nodes = PlotSeries("", (PlotPoint("A", 0.0, label="two\nlines"), PlotPoint("B", 1.0), PlotPoint("C", 1.0)))
    root = ElementTree.fromstring(draw_plot(Plot("graph", "t", (nodes,), edges=(("A", "B"), ("A", "C")))))
    assert sum(e.get("marker-end") is not None for e in root.iter(f"{SVG}path")) == 2
    assert [e.text for e in root.iter(f"{SVG}text")] == ["t", "A", "two", "lines", "B", "C"]
