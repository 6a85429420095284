"""Charts as bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from karat.pages.charts.drawing import Spec
from karat.printable import shown_json

_HERE = "the chart stands here"
_PLACE = f'{{"description":"{_HERE}"}}'
_SCALE = 3  # pixels of a picture for one of the chart: sharp in print at the width of a page


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

    # Bundled: the libraries are inside the file, which then works without network. vl-convert writes a chart into its
    # script as it is, so that a name with </script> in it would end the script: this place is filled here.
    before, after = str(vl_convert.vegalite_to_html({"description": _HERE}, bundle=True)).split(_PLACE)
    data = msgspec.json.encode(spec).replace(b"<", b"\\u003c")
    return before.encode() + shown_json(data) + after.encode()


def _json(spec: Spec) -> bytes:
    return msgspec.json.format(shown_json(msgspec.json.encode(spec))) + b"\n"


ENCODERS: Final[dict[str, Callable[[Spec], bytes]]] = {
    ".svg": _svg,
    ".png": _png,
    ".pdf": _pdf,
    ".html": _html,
    ".json": _json,
}
"""By the suffix of a file, how a chart becomes its bytes; HTML needs nothing else."""
