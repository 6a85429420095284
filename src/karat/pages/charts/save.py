"""Charts into files."""

from __future__ import annotations

from pathlib import Path

from karat.errors import UsageError
from karat.pages.charts.drawing import Spec
from karat.pages.charts.encode import ENCODERS
from karat.pages.charts.extra import check_extra
from karat.storage.files import check_target, writing


def save_chart(spec: Spec, path: str) -> None:
    """Write a chart as the suffix says: `.svg`, `.png`, `.pdf`, `.html` (which needs nothing else) or `.json`."""
    check_chart(path)
    data = ENCODERS[_suffix(path)](spec)
    with writing(path) as file:
        file.write(data)


def check_chart(path: str) -> None:
    """Raise an error where no chart can be written, before any work is done for it."""
    if _suffix(path) not in ENCODERS:
        raise UsageError(f"{path}: charts are written as {', '.join(ENCODERS)}. Choose one of these suffixes.")
    check_target(path)
    check_extra()


def _suffix(path: str) -> str:
    return Path(path).suffix.lower()
