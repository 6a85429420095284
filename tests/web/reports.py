"""Reports as files, taken apart."""

from __future__ import annotations

import base64
import gzip
import json
import re


def pieces_in(page: str) -> dict[str, object]:
    """What is inlined in a page, by name."""
    found = re.findall(r'<script type="application/octet-stream" id="resource:([^"]+)">([^<]*)</script>', page)
    return {name: json.loads(gzip.decompress(base64.b64decode(data))) for name, data in found}


def beyond_data(page: str) -> int:
    """How many bytes a page has besides its pieces."""
    return len(re.sub(r'<script type="application/octet-stream"[^<]*</script>\n', "", page).encode())
