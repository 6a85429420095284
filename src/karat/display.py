"""Values that show themselves: in a notebook, in a paper, as a data frame, as a chart.

What they look like is for `karat.pages`, which stands above all of them. So a value only names its page, and the page
is imported when somebody looks: a table costs nothing where none is drawn.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar, Literal


class Displayed:
    """What notebooks show as a table. The page has `display`, from a layout to text, and `frame`, an Arrow table."""

    __slots__ = ()
    _page: ClassVar[str]

    def _repr_html_(self) -> str:
        return self._displayed("html")

    def to_markdown(self) -> str:
        """Tables in Markdown, and what has to be said about them."""
        return self._displayed("markdown")

    def to_latex(self) -> str:
        r"""Tables for a paper (`\usepackage{booktabs}`); what has to be said about them stands there as comments."""
        return self._displayed("latex")

    def frame(self, library: Literal["pandas", "polars"] | None = None) -> Any:  # noqa: ANN401  # pandas' or Polars'
        """All of it as a data frame of pandas, or of Polars where that is asked for or alone installed."""
        return import_module("karat.pages.frames").framed(import_module(self._page).frame(self), library)

    def _displayed(self, layout: str) -> str:
        text: str = import_module(self._page).display(self, layout)
        return text


class Plotted:
    """What can be drawn. The module of its charts has `plot`, from a kind of chart to a specification."""

    __slots__ = ()
    _charts: ClassVar[str]

    def plot(self, kind: str | None = None) -> Any:  # noqa: ANN401  # Altair's
        """A chart of Altair, which notebooks show and `save` writes; needs the extra `plots`."""
        spec = import_module(self._charts).plot(self, kind)
        return import_module("altair").Chart.from_dict(spec)
