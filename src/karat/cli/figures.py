"""Writing of figures to a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from karat.cli.output import echo

if TYPE_CHECKING:
    from karat.model.results.plot import Plot


def write_figures(plots: Mapping[str, Plot], folder: str) -> None:
    """Write each plot to `folder` as SVG, and print how many on standard error."""
    from karat.model.output.text_layout import format_count
    from karat.render.charts.plot_svg import draw_plot
    from karat.storage.atomic_writing import open_for_writing

    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, plot in plots.items():
        with open_for_writing(str(Path(folder) / f"{name}.svg")) as file:
            file.write(draw_plot(plot).encode())
    echo(f"{folder}: {format_count(len(plots), 'figure')}", err=True)
