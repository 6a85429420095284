"""A paper of our own with one value of each outcome, for the tests of pages."""

from __future__ import annotations

from karat.model.results.exhibit import Cell, Exhibit, Explanation
from karat.model.results.plot import Plot, PlotPoint, PlotSeries
from karat.model.spec.suite import Reproduction, Suite, summarise_exhibits

LATER = Explanation("later system version", "the outputs were made later", missing_file="rel.2023")
SLIP = Explanation("slip in the paper", "90 % instead of 95 %", value_if_changed="3.0")
MISSING = Explanation("data missing", "no output", missing_file="results/tagme")

CELLS = (
    Cell("ReFinED", "F1", "73.3%", "73.3%"),
    Cell("ReFinED", "width", "4.0", "2.5", SLIP),
    Cell("REL", "F1", "67.7%", "67.2%", LATER),
    Cell("REL", "width", "3.0", "2.5", SLIP),
    Cell("TagMe", "F1", "43.0%", None, MISSING),
)
PLOT = Plot(
    "bars",
    "F1 of systems",
    (
        PlotSeries("ReFinED", (PlotPoint("AIDA", 73.3),)),
        PlotSeries("REL", (PlotPoint("AIDA", 67.2, (60.0, 70.0)),)),
    ),
    y_title="F1 in %",
)


def reproduce(path: str, kb: str | None) -> Reproduction:
    """Return one exhibit with one value of each outcome."""
    own = (("system", "F1"), ("prior", "40.1"))
    command = "karat compare DIR/gold DIR/rel"
    return summarise_exhibits([Exhibit("Table 1", "Overview", command, CELLS, (PLOT,), own, notes=("One note.",))])


SUITE = Suite(title="A paper of ours", description="One table. Data: a folder.", run=reproduce, data_path=".")
