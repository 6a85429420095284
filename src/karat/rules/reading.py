"""The reader left nothing out and mended nothing.

What a reader cannot keep it counts; this is where a linter hears of spans past the end of a text, surfaces that differ,
labels and documents given twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.model.document import Document
from karat.spec.rule import Context, Finding, Rule


def _corpus_find(documents: Sequence[Document], context: Context) -> Iterator[Finding]:
    for what, count in sorted(context.skipped.items()):
        yield Finding(None, f"{what}: {count}", proposal="Look at the source")


RULE = Rule(
    title="Reading",
    says="The reader found nothing in the source to leave out or to mend.",
    severity="hint",
    corpus_find=_corpus_find,
)
