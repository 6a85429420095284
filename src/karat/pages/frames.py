"""Tables as data frames, where a library for them is installed."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from karat.errors import KaratError, UnknownNameError
from karat.model.tables.arrow import Arrow

_LIBRARIES = {"pandas": "pandas", "polars": "Polars"}


def framed(table: Arrow, library: str | None) -> Any:  # noqa: ANN401  # pandas' or Polars'
    """An Arrow table as a data frame of the library that is asked for, or of the first that is installed."""
    if library is not None and library not in _LIBRARIES:
        raise UnknownNameError("library of data frames", library, _LIBRARIES)
    wanted = _LIBRARIES if library is None else [library]
    found = next((name for name in wanted if find_spec(name) is not None), None)
    if found is None:
        titles = " or ".join(_LIBRARIES[name] for name in wanted)
        raise KaratError(f"data frames need {titles}. Run: pip install {' or '.join(wanted)}")
    return table.to_pandas() if found == "pandas" else import_module("polars").from_arrow(table)
