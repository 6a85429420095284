"""Clean tweets."""

from __future__ import annotations

import re

import msgspec

from karat.model.document import Document
from karat.model.spec.step import Step

_WEB_ADDRESS = re.compile(r"(?:http://|bit|yfrog|tinyurl|twitpic|justgiving|plixi)[^ ]*")


def _remove_addresses(document: Document) -> Document:
    """Return the document with a space for each web address; unchanged if it has labels or an evaluation span."""
    if document.labels or document.evaluation_span:
        return document
    return msgspec.structs.replace(document, text=_WEB_ADDRESS.sub(" ", document.text))


STEP = Step(
    title="Clean tweets",
    description="Replaces web addresses by a space, as BAT does for Meij's tweets: from `http://` or the name of a "
    "URL shortener (also inside words such as rabbit) to the next space. Documents with labels are not "
    "changed, since spans would move.",
    apply=_remove_addresses,
)
