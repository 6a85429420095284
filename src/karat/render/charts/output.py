"""Output of charts to files."""

from __future__ import annotations

from pathlib import Path

from karat.model.errors import UsageError
from karat.render.charts.drawing import Spec
from karat.render.charts.encoders import ENCODERS
from karat.render.charts.requirements import check_extra
from karat.storage.atomic_writing import check_output_path, open_for_writing


def save_chart(spec: Spec, path: str) -> None:
    """Write a chart in the format of the path's suffix: `.svg`, `.png`, `.pdf`, `.html` or `.json`.

    Raise as `check_chart_path` does.
    """
    check_chart_path(path)
    data = ENCODERS[_get_suffix(path)](spec)
    with open_for_writing(path) as file:
        file.write(data)


def check_chart_path(path: str) -> None:
    """Raise `KaratError` if no chart can be written to `path`: by its suffix, its folder, or for lack of packages.

    Call this function before long work.
    """
    if _get_suffix(path) not in ENCODERS:
        raise UsageError(f"{path}: charts are written as {', '.join(ENCODERS)}. Choose one of these suffixes.")
    check_output_path(path)
    check_extra()


def _get_suffix(path: str) -> str:
    """Return the suffix of a path in lower case, such as `.svg`; empty if it has none."""
    return Path(path).suffix.lower()
