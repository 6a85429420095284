"""The reader skipped and repaired nothing.

Readers count everything they cannot keep, such as spans beyond the text, differing surfaces and duplicates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.model.counts.skip_counter import name_locations
from karat.model.document import Document
from karat.model.spec.rule import Finding, LintContext, Rule


def _find_in_corpus(documents: Sequence[Document], context: LintContext) -> Iterator[Finding]:
    """Yield one finding for each kind of thing that the reader skipped or repaired."""
    for description, count in sorted(name_locations(context.skipped).items()):
        yield Finding(None, f"{description}: {count}", proposal="Check the source")


RULE = Rule(
    title="Reading",
    description="The reader skipped and repaired nothing in the source.",
    severity="hint",
    find_in_corpus=_find_in_corpus,
)
