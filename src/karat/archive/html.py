"""One file with everything: the client, and every piece compressed, for a browser without server or network."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Final

from karat.archive.archive import Archive
from karat.archive.pieces import names, piece

_HEAD: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Karat">
"""


def bundled(name: str) -> str:
    """A file of the client as it is shipped: `client.js`, `client.css` or `licences.txt`."""
    return (files("karat.archive") / "bundle" / name).read_text(encoding="utf-8")


def policy(*, script: str, style: str, connect: str = "'none'") -> str:
    """What a browser may do with the page: run this script, use this style, and ask nobody else."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {script}",
            f"style-src {style}",
            f"connect-src {connect}",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def html(archive: Archive) -> Iterator[bytes]:
    """The file, part by part."""
    script, style = bundled("client.js"), bundled("client.css")
    allowed = policy(script=_source(script), style=_source(style))
    yield _HEAD.encode()
    yield f'<meta http-equiv="Content-Security-Policy" content="{escape(allowed)}">\n'.encode()
    yield f"<title>{escape(archive.title)}</title>\n<style>{style}</style>\n</head>\n<body>\n".encode()
    yield b'<div id="karat"><noscript>This report needs JavaScript.</noscript></div>\n'
    for name in names(archive):
        # Neither names nor Base64 have letters that HTML would take for its own.
        data = b64encode(gzip.compress(piece(archive, name), 9, mtime=0))
        yield f'<script type="application/octet-stream" id="piece:{name}">'.encode() + data + b"</script>\n"
    yield f"<script>{script}</script>\n".encode()
    licences = bundled("licences.txt").replace("--", "–")
    yield f"<!--\n{licences}-->\n</body>\n</html>\n".encode()


def _source(text: str) -> str:
    """A script or style, as a policy names it."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
