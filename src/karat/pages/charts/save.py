"""Charts into files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from karat.errors import UsageError
from karat.pages.charts.drawing import Spec
from karat.pages.charts.extra import check_extra
from karat.storage.files import check_target, writing

_SCALE = 3  # pixels of a picture for one of the chart: sharp in print at the width of a page


def save_chart(spec: Spec, path: str) -> None:
    """Write a chart as the suffix says: `.svg`, `.png`, `.pdf`, `.html` (which needs nothing else) or `.json`."""
    check_chart(path)
    data = _FORMATS[_suffix(path)](spec)
    with writing(path) as file:
        file.write(data)


def check_chart(path: str) -> None:
    """Raise an error where no chart can be written, before any work is done for it."""
    if _suffix(path) not in _FORMATS:
        raise UsageError(f"{path}: charts are written as {', '.join(_FORMATS)}. Choose one of these suffixes.")
    check_target(path)
    check_extra()


def _suffix(path: str) -> str:
    return Path(path).suffix.lower()


def _svg(spec: Spec) -> bytes:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])).encode()


def _png(spec: Spec) -> bytes:
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(spec, scale=_SCALE, allowed_base_urls=[]))


def _pdf(spec: Spec) -> bytes:
    import vl_convert

    return bytes(vl_convert.vegalite_to_pdf(spec, allowed_base_urls=[]))


def _html(spec: Spec) -> bytes:
    import vl_convert

    # Bundled: the libraries are inside the file, which then works without network.
    return str(vl_convert.vegalite_to_html(spec, bundle=True)).encode()


def _json(spec: Spec) -> bytes:
    return msgspec.json.format(msgspec.json.encode(spec)) + b"\n"


_FORMATS: Final[dict[str, Callable[[Spec], bytes]]] = {
    ".svg": _svg,
    ".png": _png,
    ".pdf": _pdf,
    ".html": _html,
    ".json": _json,
}
