"""A single HTML file with the client and all resources, compressed; it needs no server and no network."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Final

from karat.model.output.progress import track_progress
from karat.web.archive.archive import Archive
from karat.web.archive.resource import build_resource, list_resources

_HEAD: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Karat">
"""


def read_bundle_file(name: str) -> str:
    """Return the text of a file of the web bundle, such as `client.js`, `judge.css` or `licences.txt`."""
    return (files("karat.web.archive") / "bundle" / name).read_text(encoding="utf-8")


def build_content_policy(*, script: str, style: str, connect: str = "'none'") -> str:
    """Return a Content-Security-Policy header that allows only these sources of scripts, styles and connections."""
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


def render_html(archive: Archive) -> Iterator[bytes]:
    """Yield the parts of a single HTML file that shows an archive."""
    script, style = read_bundle_file("client.js"), read_bundle_file("client.css")
    content_policy = build_content_policy(script=_hash_source(script), style=_hash_source(style))
    yield _HEAD.encode()
    yield f'<meta http-equiv="Content-Security-Policy" content="{escape(content_policy)}">\n'.encode()
    yield f"<title>{escape(archive.title)}</title>\n<style>{style}</style>\n</head>\n<body>\n".encode()
    # Browsers show this while they read a large file.
    yield b'<div id="karat"><p class="waiting">Loading the report \xe2\x80\xa6</p>'
    yield b"<noscript>This report needs JavaScript.</noscript></div>\n"
    names = list(list_resources(archive))
    with track_progress("building pages", len(names)) as advance:
        for name in names:
            # Neither names nor Base64 have letters that HTML would take for its own.
            data = b64encode(gzip.compress(build_resource(archive, name), 6, mtime=0))
            yield f'<script type="application/octet-stream" id="resource:{name}">'.encode() + data + b"</script>\n"
            advance(1)
    yield f"<script>{script}</script>\n".encode()
    licences = read_bundle_file("licences.txt").replace("--", "–")
    yield f"<!--\n{licences}-->\n</body>\n</html>\n".encode()


def _hash_source(text: str) -> str:
    """Return the hash of a script or style in the notation of Content-Security-Policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
