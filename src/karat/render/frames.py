"""Conversion of Arrow tables to data frames of pandas or Polars."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from karat.model.errors import KaratError, UnknownNameError
from karat.model.tables.arrow import Arrow

_LIBRARIES = {"pandas": "pandas", "polars": "Polars"}


def to_data_frame(table: Arrow, library: str | None) -> Any:  # noqa: ANN401  # pandas' or Polars'
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
