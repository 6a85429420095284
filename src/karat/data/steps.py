"""Named changes to a gold standard, each counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from karat.errors import UsageError
from karat.model.corpus import Corpus
from karat.model.document import Document
from karat.registry import get
from karat.spec.step import Step


@dataclass(frozen=True, slots=True)
class Size:
    """How much there is of a corpus; characters are code points of its texts."""

    documents: int
    labels: int
    tags: int
    characters: int


@dataclass(frozen=True, slots=True)
class Change:
    """What a step did."""

    before: Size
    after: Size

    def __str__(self) -> str:
        pairs = [(name, getattr(self.before, name), getattr(self.after, name)) for name in Size.__slots__]
        changed = [f"{old:,} → {new:,} {name}" for name, old, new in pairs if old != new]
        return ", ".join(changed) or "no change"


def stepped(corpus: Corpus, names: Sequence[str]) -> tuple[Corpus, Mapping[str, Change]]:
    """The corpus after some steps, in that order, and what each did.

    The steps are named in `about`, and what they left out is counted in `skipped`.
    """
    steps = {name: get("steps", name, Step) for name in names}
    if len(steps) < len(names):
        raise UsageError("a step is named twice. Name each once: a second time changes nothing.")
    if not corpus.has_text:
        raise UsageError(f"{corpus.name} was loaded without its texts. Load it again with text=True.")
    documents = list(corpus)
    changes: dict[str, Change] = {}
    for name, step in steps.items():
        kept = [done for document in documents if (done := step.apply(document)) is not None]
        changes[name] = Change(_size(documents), _size(kept))
        documents = kept
    taken = ", ".join(filter(None, [corpus.about.get("steps"), *steps]))
    made = Corpus.built(documents, name=corpus.name, about={**corpus.about, "steps": taken} if taken else corpus.about)
    return replace(made, skipped={**corpus.skipped, **_left_out(changes)}), changes


def _size(documents: Sequence[Document]) -> Size:
    return Size(
        len(documents),
        sum(len(document.labels) for document in documents),
        sum(len(document.tags) for document in documents),
        sum(len(document.text) for document in documents),
    )


def _left_out(changes: Mapping[str, Change]) -> dict[str, int]:
    counts = {
        f"{what} left out by {name}": getattr(change.before, what) - getattr(change.after, what)
        for name, change in changes.items()
        for what in ("documents", "labels", "tags")
    }
    return {what: count for what, count in counts.items() if count}
