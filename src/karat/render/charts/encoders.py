"""Encoders from chart specifications to file contents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from karat.model.output.control_chars import escape_json
from karat.render.charts.drawing import Spec

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


def _to_json(spec: Spec) -> bytes:
    """Return a Vega-Lite chart as indented JSON."""
    return msgspec.json.format(escape_json(msgspec.json.encode(spec))) + b"\n"


ENCODERS: Final[dict[str, Callable[[Spec], bytes]]] = {
    ".svg": _to_svg,
    ".png": _to_png,
    ".pdf": _to_pdf,
    ".html": _to_html,
    ".json": _to_json,
}
"""Encoders by file suffix; HTML files are self-contained."""
