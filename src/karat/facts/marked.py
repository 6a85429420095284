"""Where the text of a document lies outside all labels."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from karat.model.document import Document
from karat.model.span import Span


@dataclass(frozen=True, slots=True)
class Marked:
    """The spans of all labels of a document, in order, those that overlap put together."""

    spans: list[Span]

    @classmethod
    def of(cls, document: Document) -> Marked:
        """What is marked in a document."""
        merged: list[Span] = []
        for span in sorted(label.span for label in document.labels):
            if merged and span.start < merged[-1].end:
                merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
            else:
                merged.append(span)
        return cls(merged)

    def free(self, span: Span) -> bool:
        """Whether a span shares no character with any label."""
        place = bisect_left(self.spans, (span.end, 0))
        return place == 0 or self.spans[place - 1].end <= span.start
