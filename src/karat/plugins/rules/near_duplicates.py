"""No two documents are nearly equal, by the rule with which `karat data split` keeps near-duplicates together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.model.document import Document
from karat.model.spec.rule import Finding, LintContext, Rule
from karat.stats.near_duplicates import MIN_SHARED, RUN_LENGTH, TextIndex
from karat.stats.word_ngrams import split_words

_PROPOSAL = "Keep one of the two, or put both into one split"


def _find_in_corpus(documents: Sequence[Document], context: LintContext) -> Iterator[Finding]:
    """Report documents with the words of an earlier document by id, or with most of its runs of words."""
    first_by_words: dict[str, Document] = {}
    for document in sorted(documents, key=lambda document: (document.id, document.text)):
        words = " ".join(split_words(document.text))
        if not words:
            continue
        first = first_by_words.setdefault(words, document)
        if first is not document:
            yield Finding(document.id, f"has the words of document {first.id!r}", proposal=_PROPOSAL)
    distinct = list(first_by_words.values())
    index = TextIndex([document.text for document in distinct])
    for number, document in enumerate(distinct):
        earlier = [similar for similar in index.find_similar(document.text) if similar.position < number]
        if earlier:
            closest = max(earlier, key=lambda similar: similar.shared)
            description = f"shares {closest.shared:.0%} of its runs of {RUN_LENGTH} words with document"
            yield Finding(document.id, f"{description} {distinct[closest.position].id!r}", proposal=_PROPOSAL)


RULE = Rule(
    title="Near-duplicate documents",
    description=f"No two documents share {100 * MIN_SHARED:g} % of the runs of {RUN_LENGTH} words of the shorter one.",
    severity="hint",
    find_in_corpus=_find_in_corpus,
    is_gold_only=True,
)
