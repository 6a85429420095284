"""Output of charts to files: SVG, PNG, PDF, HTML or JSON, by the suffix of the path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from karat.model.errors import UsageError
from karat.model.output.control_chars import escape_json
from karat.model.output.json_files import encode_indented
from karat.render.charts.drawing import Spec
from karat.render.charts.requirements import check_extra
from karat.storage.atomic_writing import check_output_path, open_for_writing

_MARKER = "chart goes here"
_MARKER_JSON = f'{{"description":"{_MARKER}"}}'
_SCALE = 3  # pixels of a picture for one of the chart: sharp in print at the width of a page


def _to_svg(spec: Spec) -> bytes:
    """Return a Vega-Lite chart as SVG."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])).encode()


def _to_png(spec: Spec) -> bytes:
    """Return a Vega-Lite chart as PNG."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(spec, scale=_SCALE, allowed_base_urls=[]))


def _to_pdf(spec: Spec) -> bytes:
    """Return a Vega-Lite chart as PDF."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_pdf(spec, allowed_base_urls=[]))


def _to_html(spec: Spec) -> bytes:
    """Encode a chart as an HTML file that contains all libraries and works without network."""
    import vl_convert

    # Bundled: the libraries are inside the file, which then works without network. vl-convert writes a chart into its
    # script as it is, so that a name with </script> in it would end the script: this place is filled here.
    before, after = str(vl_convert.vegalite_to_html({"description": _MARKER}, bundle=True)).split(_MARKER_JSON)
    data = msgspec.json.encode(spec).replace(b"<", b"\\u003c")
    return before.encode() + escape_json(data) + after.encode()


ENCODERS: Final[dict[str, Callable[[Spec], bytes]]] = {
    ".svg": _to_svg,
    ".png": _to_png,
    ".pdf": _to_pdf,
    ".html": _to_html,
    ".json": encode_indented,
}
"""Encoders by file suffix; HTML files are self-contained."""


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
