"""All linked labels have an id of one scheme, such as a QID, if most have.

A mistyped QID (`Q64x`, `Q 64`) is read as a title, which no predicted QID equals.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from karat.kb.ids.normal_forms import recognise_id
from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule, RuleExample
from karat.model.spec.settings.nil_spellings import NIL_LIKE_WORD

_MIN_SHARE = 0.8  # below, the gold standard mixes schemes on purpose


def _find_in_corpus(documents: Sequence[Document], context: LintContext) -> Iterator[Finding]:
    """Report linked labels without an id of the scheme that most linked labels have; `same_as` counts too."""
    links = [
        (document, label, _find_schemes(label))
        for document in documents
        for label in document.labels
        if _is_linked(label)
    ]
    counts = Counter(scheme for _, _, schemes in links for scheme in sorted(schemes))
    for main, count in counts.most_common(1):
        if count >= _MIN_SHARE * len(links):
            for document, label, schemes in links:
                if main not in schemes:
                    description = f"{label.entity} is no {main}, unlike {count:,} of {len(links):,} links"
                    yield Finding.from_label(document, label, description, "Correct the id, or use NIL")


def _is_linked(label: Label) -> bool:
    """Return whether the label has the id of an entity, not a value or a word for NIL."""
    return (
        isinstance(label.entity, str)
        and label.kind not in ("quantity", "datetime")
        and re.search(NIL_LIKE_WORD, label.entity) is None
    )


def _find_schemes(label: Label) -> set[str]:
    """Return the known schemes of the ids of a label, such as `QID`."""
    recognised_ids = (recognise_id(id) for id in (label.entity, *label.same_as) if isinstance(id, str))
    return {recognised_id.scheme for recognised_id in recognised_ids if recognised_id is not None}


RULE = Rule(
    title="Ids of another scheme",
    description="If 80 % of the links have ids of one scheme, such as QIDs, all have.",
    severity="warning",
    find_in_corpus=_find_in_corpus,
    example=RuleExample(
        (
            Document(
                "d",
                "Ulm Ulm Ulm Ulm Ulm Ulm Ulm Ulm Ulm Ulm",
                (*(Label(4 * i, 4 * i + 3, "Q3012") for i in range(9)), Label(36, 39, "Q3012x")),
            ),
        ),
        (("Ulm", "Q3012x is no QID, unlike 9 of 10 links", False),),
    ),
)
