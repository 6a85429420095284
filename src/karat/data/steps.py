"""Named changes to a gold standard, each counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from karat.errors import UsageError
from karat.kb.protocol import KB
from karat.model.corpus import STEPS, Corpus
from karat.model.document import Document
from karat.model.run import Run
from karat.registry import get
from karat.spec.step import DocumentChange, Step


class Size(msgspec.Struct, frozen=True):
    """How much there is of a corpus; characters are code points of its texts."""

    documents: int
    labels: int
    tags: int
    characters: int


class Change(msgspec.Struct, frozen=True):
    """What a step did."""

    before: Size
    after: Size

    def __str__(self) -> str:
        pairs = [(name, getattr(self.before, name), getattr(self.after, name)) for name in Size.__struct_fields__]
        changed = [f"{old:,} → {new:,} {name}" for name, old, new in pairs if old != new]
        return ", ".join(changed) or "no change"


def stepped(corpus: Corpus, names: Sequence[str], kb: KB | None = None) -> tuple[Corpus, Mapping[str, Change]]:
    """The corpus after some steps, in that order, and what each did; some ask a knowledge base.

    The steps are named in `about`, and so in signatures; what they left out is counted in `skipped`.
    """
    steps = {name: get("steps", name, Step) for name in names}
    if len(steps) < len(names):
        raise UsageError("a step is named twice. Name each once: a second time changes nothing.")
    if not corpus.has_text:
        raise UsageError(f"{corpus.name} was loaded without its texts. Load it again with text=True.")
    documents = list(corpus)
    changes: dict[str, Change] = {}
    for name, step in steps.items():
        apply = _change(name, step, kb, documents)
        kept = [done for document in documents if (done := apply(document)) is not None]
        changes[name] = Change(_size(documents), _size(kept))
        documents = kept
    asked = "" if kb is None else f" by {kb.name}@{kb.digest}"
    said = [name if step.by_kb is None else f"{name}{asked}" for name, step in steps.items()]
    taken = ", ".join(filter(None, [corpus.about.get(STEPS), *said]))
    made = Corpus.built(documents, name=corpus.name, about={**corpus.about, STEPS: taken} if taken else corpus.about)
    return replace(made, skipped={**corpus.skipped, **_left_out(changes)}), changes


def _change(name: str, step: Step, kb: KB | None, documents: Sequence[Document]) -> DocumentChange:
    """What a step does to each of some documents."""
    if step.by_kb is None:
        assert step.apply is not None, "a step changes documents by itself or by a knowledge base"
        return step.apply
    if kb is None:
        raise UsageError(f"the step {name} asks a knowledge base. Give one with --kb, such as --kb NAME.")
    return step.by_kb(kb, documents)


def to_the_rest(run: Run, before: Corpus, after: Corpus) -> Run:
    """The answers to what steps left of a corpus: replies to documents that are gone are left out, and counted."""
    gone = set(before.ids.to_pylist()) - set(after.ids.to_pylist())
    rows = frozenset(row for row, id in enumerate(run.ids.to_pylist()) if id in gone)
    if not rows:
        return run
    kept = run.without(rows)
    return replace(kept, skipped={**kept.skipped, "replies to documents that steps left out": len(rows)})


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
