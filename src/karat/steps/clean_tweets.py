"""Clean tweets."""

from __future__ import annotations

import re

import msgspec

from karat.model.document import Document
from karat.spec.step import Step

_SHORTENED = re.compile(r"(?:http://|bit|yfrog|tinyurl|twitpic|justgiving|plixi)[^ ]*")


def _apply(document: Document) -> Document:
    if document.labels or document.evaluation_span:
        return document
    return msgspec.structs.replace(document, text=_SHORTENED.sub(" ", document.text))


STEP = Step(
    title="Clean tweets",
    says="Addresses are replaced by a blank, as BAT has it for Meij's tweets: from `http://` or a shortener's name "
    "(also inside words, such as rabbit) to the next blank. Documents with labels stay as they are, since spans would "
    "move.",
    apply=_apply,
)
