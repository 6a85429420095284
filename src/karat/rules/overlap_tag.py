"""Tags that say how a mention overlaps others agree with the spans."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.model.document import Document, Label
from karat.model.span import Span
from karat.spec.lint import Context, Finding, Rule
from karat.spec.lint_labels import overlaps, relabelled, spans, tags

_TAGS = {(False, False): "None", (False, True): "Maximal", (True, True): "Intermediate", (True, False): "Minimal"}
"""By whether a span lies in another one, and whether another one lies in it."""


def _find(document: Document, context: Context) -> Iterator[Finding]:
    if not any(tags(label, "overlap") for label in document.labels):
        return
    geometry = _geometry(document)
    for label in document.labels:
        right = geometry.get(label.span)
        said = tags(label, "overlap")
        if right is not None and len(said) == 1 and said[0] != right:
            says = f"tagged overlap:{said[0]}, but the spans say {right}"
            yield Finding.at(document, label, says, f"Take overlap:{right}, or mark what is missing", fixable=True)


def _geometry(document: Document) -> dict[Span, str]:
    """The tag of each span; a span that only crosses others has none, since no tag says so."""
    found = list(spans(document))
    inside: set[Span] = set()
    around: set[Span] = set()
    crossing: set[Span] = set()
    for one, other in overlaps(found):
        if other.end <= one.end:
            around.add(one)
            inside.add(other)
        else:
            crossing |= {one, other}
    loose = crossing - inside - around
    return {span: _TAGS[span in inside, span in around] for span in found if span not in loose}


def _fix(document: Document, context: Context) -> Document:
    geometry = _geometry(document)
    return relabelled(document, (_tagged(label, geometry.get(label.span)) for label in document.labels))


def _tagged(label: Label, right: str | None) -> Label:
    said = tags(label, "overlap")
    if right is None or len(said) != 1:
        return label
    new = tuple(f"overlap:{right}" if tag.startswith("overlap:") else tag for tag in label.categories)
    return msgspec.structs.replace(label, categories=new)


RULE = Rule(
    title="Overlap tag",
    says="`overlap:` None, Maximal, Intermediate and Minimal agree with the spans of the document.",
    severity="warning",
    find=_find,
    fix=_fix,
)
