"""Random samples of documents and of the parts of them to annotate, as the fair-evaluation paper draws them.

Bast, Hertel and Prange (A Fair and In-Depth Evaluation of Existing End-to-End Entity Linking Systems, section 5)
annotate three random consecutive paragraphs of each article, or fewer if the article is shorter.
"""

from __future__ import annotations

import re
from random import Random
from typing import Final, Literal, TypeAlias

from karat.model.corpus import Corpus
from karat.model.document import Document
from karat.model.errors import UsageError
from karat.model.span import Span

SpanRule: TypeAlias = Literal["document", "paragraphs", "given"]
"""How the part of a document to annotate is chosen: all, some random consecutive paragraphs, or its evaluation span."""

_BLANK_LINES: Final = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_LINE_BREAK: Final = re.compile(r"\n")


def draw_documents(corpus: Corpus, n_documents: int | None, seed: int) -> list[Document]:
    """Draw documents at random without replacement, in random order; None draws all.

    The sample depends on the seed and the documents, not on their order. Raise `UsageError` if there are too few.
    """
    documents = sorted(corpus, key=lambda document: document.id)
    n_documents = len(documents) if n_documents is None else n_documents
    if not 1 <= n_documents <= len(documents):
        raise UsageError(
            f"{n_documents} documents were requested, and there are {len(documents)}. Pass a number from 1 to "
            f"{len(documents)}."
        )
    return _random(seed, "documents").sample(documents, n_documents)


def choose_span(document: Document, rule: SpanRule, n_paragraphs: int, seed: int) -> Span:
    """Return the part of a document to annotate; `n_paragraphs` is the number of paragraphs that `paragraphs` draws.

    The choice depends on the seed and the document id. Raise `UsageError` for `given` if the document has no
    evaluation span.
    """
    if rule == "given":
        if document.evaluation_span is None:
            raise UsageError(
                f"document {document.id!r} has no evaluation span. Pass texts with spans, or another rule than given."
            )
        return Span(*document.evaluation_span)
    if rule == "document":
        return Span(0, len(document.text))
    paragraphs = split_paragraphs(document.text)
    n_paragraphs = min(n_paragraphs, len(paragraphs))
    first = _random(seed, f"span {document.id}").randint(0, len(paragraphs) - n_paragraphs)
    return Span(paragraphs[first].start, paragraphs[first + n_paragraphs - 1].end)


def split_paragraphs(text: str) -> list[Span]:
    """Return the paragraphs of a text, without white space around them.

    Blank lines separate paragraphs; in a text without blank lines, every line is a paragraph.
    """
    text_span = _strip(text, 0, len(text))
    if text_span is None:
        return [Span(0, len(text))] if text else []
    body = text[text_span.start : text_span.end]
    separator = _BLANK_LINES if _BLANK_LINES.search(body) else _LINE_BREAK
    bounds = [text_span.start]
    for match in separator.finditer(body):
        bounds += [text_span.start + match.start(), text_span.start + match.end()]
    bounds.append(text_span.end)
    spans = (_strip(text, start, end) for start, end in zip(bounds[::2], bounds[1::2], strict=True))
    return [span for span in spans if span is not None]


def _strip(text: str, start: int, end: int) -> Span | None:
    """Return a part of a text without white space around it; None if nothing is left."""
    part = text[start:end]
    if not part.strip():
        return None
    return Span(start + len(part) - len(part.lstrip()), end - (len(part) - len(part.rstrip())))


def _random(seed: int, purpose: str) -> Random:
    """Return a source of random numbers for one purpose, so that draws do not influence each other."""
    return Random(f"{seed} {purpose}")
