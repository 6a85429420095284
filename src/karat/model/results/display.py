"""Mixins for objects that display themselves in notebooks, papers, data frames and charts.

`karat.render` defines what they look like. An object only names its render module, which is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Literal

from karat.model.errors import KaratError, UnknownNameError
from karat.model.tables.arrow import Arrow

_LIBRARIES = {"pandas": "pandas", "polars": "Polars"}


class TableDisplay:
    """An object that notebooks show as a table.

    `_page` names its render module, which has the functions `display` (object and layout to text) and `to_table`
    (object to Arrow table).
    """

    __slots__ = ()
    _page: ClassVar[str]

    def _repr_html_(self) -> str:
        """Return the table as HTML, which notebooks show."""
        return self._render("html")

    def to_markdown(self) -> str:
        """Return the object as Markdown tables, with notes."""
        return self._render("markdown")

    def to_latex(self) -> str:
        r"""Return the object as LaTeX tables (`\usepackage{booktabs}`), with notes as comments."""
        return self._render("latex")

    def to_frame(self, library: Literal["pandas", "polars"] | None = None) -> Any:  # noqa: ANN401  # pandas' or Polars'
        """Return all values of the object as a pandas data frame, or a Polars one.

        Without `library`, Polars is used only if pandas is not installed.
        """
        return _to_data_frame(import_module(self._page).to_table(self), library)

    def _render(self, layout: str, *others: TableDisplay) -> str:
        """Return the object, next to others if its render module can show several, in `html`, `markdown` or `latex`."""
        text: str = import_module(self._page).display(self, layout, *others)
        return text


class ChartDisplay:
    """An object that can be drawn as a chart.

    `_charts` names its chart module, whose function `plot` returns the Vega-Lite specification of a kind of chart.
    """

    __slots__ = ()
    _charts: ClassVar[str]

    def plot(self, kind: str | None = None) -> Any:  # noqa: ANN401  # Altair's
        """Return an Altair chart of a kind, or of the default kind for None; needs the extra `plots`.

        Notebooks show the chart, and its method `save` writes it to a file.
        """
        spec = import_module(self._charts).plot(self, kind)
        return import_module("altair").Chart.from_dict(spec)


def _to_data_frame(table: Arrow, library: str | None) -> Any:  # noqa: ANN401  # pandas' or Polars'
    """Convert an Arrow table to a data frame of `library`, `pandas` or `polars`; None: the first that is installed.

    Raise `UnknownNameError` on another library, and `KaratError` if none is installed.
    """
    if library is not None and library not in _LIBRARIES:
        raise UnknownNameError("library of data frames", library, _LIBRARIES)
    candidates = _LIBRARIES if library is None else [library]
    installed = next((name for name in candidates if find_spec(name) is not None), None)
    if installed is None:
        titles = " or ".join(_LIBRARIES[name] for name in candidates)
        raise KaratError(f"data frames need {titles}. Run: pip install {' or '.join(candidates)}")
    return table.to_pandas() if installed == "pandas" else import_module("polars").from_arrow(table)
