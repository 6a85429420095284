"""Named changes to a gold standard, with counts of what each changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from karat.kb.protocol import KB
from karat.model.corpus import STEPS_KEY, Corpus
from karat.model.counts.skip_counter import merge_counts
from karat.model.document import Document
from karat.model.errors import UsageError
from karat.model.output.command_options import format_option
from karat.model.registry import get_plugin
from karat.model.run import Run
from karat.model.spec.step import DocumentChange, Step


class CorpusSize(msgspec.Struct, frozen=True):
    """The size of a corpus; `characters` are code points of its texts."""

    documents: int
    labels: int
    tags: int
    characters: int


class StepChange(msgspec.Struct, frozen=True):
    """The size of a corpus before and after a step."""

    before: CorpusSize
    after: CorpusSize

    def __str__(self) -> str:
        pairs = [(name, getattr(self.before, name), getattr(self.after, name)) for name in CorpusSize.__struct_fields__]
        changed = [f"{old:,} → {new:,} {name}" for name, old, new in pairs if old != new]
        return ", ".join(changed) or "no change"


def apply_steps(corpus: Corpus, names: Sequence[str], kb: KB | None = None) -> tuple[Corpus, Mapping[str, StepChange]]:
    """Apply the named steps to a corpus, in order; return the new corpus and its size before and after each step.

    The steps are recorded in `metadata`, and so in signatures; what they exclude is counted in `skipped`. `kb`: the
    knowledge base for steps that need one. Raises `UsageError` if a step is named twice, a knowledge base is missing,
    or the corpus was loaded without texts.
    """
    steps = {name: get_plugin("steps", name, Step) for name in names}
    if len(steps) < len(names):
        raise UsageError("a step is named twice. Name each step once.")
    if not corpus.has_text:
        raise UsageError(f"{corpus.name} was loaded without its texts. Load it again with text=True.")
    documents = list(corpus)
    changes: dict[str, StepChange] = {}
    for name, step in steps.items():
        apply = _get_document_change(name, step, kb, documents)
        changed = [done for document in documents if (done := apply(document)) is not None]
        changes[name] = StepChange(_measure_size(documents), _measure_size(changed))
        documents = changed
    source = "" if kb is None else f" by {kb.name}@{kb.digest}"
    labels = [name if step.build_from_kb is None else f"{name}{source}" for name, step in steps.items()]
    description = ", ".join(filter(None, [corpus.metadata.get(STEPS_KEY), *labels]))
    result = Corpus.from_reader(
        documents,
        name=corpus.name,
        metadata={**corpus.metadata, STEPS_KEY: description} if description else corpus.metadata,
    )
    return replace(result, skipped=merge_counts(corpus.skipped, _count_excluded(changes))), changes


def _get_document_change(name: str, step: Step, kb: KB | None, documents: Sequence[Document]) -> DocumentChange:
    """Return the function that applies a step to one of `documents`.

    Raise `UsageError` if it lacks a knowledge base.
    """
    if step.build_from_kb is None:
        assert step.apply is not None, "a step has a change, with or without a knowledge base"
        return step.apply
    if kb is None:
        raise UsageError(f"the step {name} needs a knowledge base. Pass one with {format_option('kb')}.")
    return step.build_from_kb(kb, documents)


def filter_run(run: Run, before: Corpus, after: Corpus) -> Run:
    """Return `run` without responses to documents that are in `before` but not in `after`, since steps removed them.

    Their number is added to `skipped`.
    """
    removed = set(before.ids.to_pylist()) - set(after.ids.to_pylist())
    rows = frozenset(row for row, id in enumerate(run.ids.to_pylist()) if id in removed)
    if not rows:
        return run
    rest = run.drop_rows(rows)
    return replace(rest, skipped=merge_counts(rest.skipped, {"responses to documents that steps excluded": len(rows)}))


def _measure_size(documents: Sequence[Document]) -> CorpusSize:
    """Count documents, labels, tags and characters."""
    return CorpusSize(
        len(documents),
        sum(len(document.labels) for document in documents),
        sum(len(document.tags) for document in documents),
        sum(len(document.text) for document in documents),
    )


def _count_excluded(changes: Mapping[str, StepChange]) -> dict[str, int]:
    """Count the documents, labels and tags that each step removed, by description, without zeros."""
    counts = {
        f"{kind} excluded by {name}": getattr(change.before, kind) - getattr(change.after, kind)
        for name, change in changes.items()
        for kind in ("documents", "labels", "tags")
    }
    return {kind: count for kind, count in counts.items() if count}
