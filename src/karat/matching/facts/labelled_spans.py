"""Text of a document that is covered by labels."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from karat.model.document import Document
from karat.model.span import Span


@dataclass(frozen=True, slots=True)
class LabelledSpans:
    """The spans of all labels of a document, in order, with overlapping spans merged."""

    spans: list[Span]
    """Merged spans in order."""

    @classmethod
    def from_document(cls, document: Document) -> LabelledSpans:
        """Merge the spans of all labels of a document; spans that only touch stay separate."""
        merged: list[Span] = []
        for span in sorted(label.span for label in document.labels):
            if merged and span.start < merged[-1].end:
                merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
            else:
                merged.append(span)
        return cls(merged)

    def is_free(self, span: Span) -> bool:
        """Return whether a span overlaps no label."""
        index = bisect_left(self.spans, (span.end, 0))
        return index == 0 or self.spans[index - 1].end <= span.start
