"""Which stage of a system loses what: detection, candidates, ranking, NIL; and what it were if each were perfect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from karat.errors import UsageError
from karat.evaluation.evaluation import evaluate
from karat.kb.resolve import resolve
from karat.linking.gold import Canonical, GoldLinks, corrected, with_right, without_nil
from karat.linking.lexicon import packs_of
from karat.linking.named import NamedSystem, link
from karat.linking.pipeline import stage_of
from karat.linking.stages import joined
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.spec.system import STAGES, Refine, asked

RECALLS = (1, 2, 5, 10, 20)
"""How many candidates of a mention are looked at for its recall."""


@dataclass(frozen=True, slots=True)
class StageLoss:
    """A stage: of how many mentions that reach it how many it gets right, and the F1 if it got all of them right.

    `reason` says why there is no such F1.
    """

    stage: str
    right: int
    among: int
    f1: float | None
    reason: str = ""

    @property
    def share(self) -> float | None:
        """How many are right, None where no mention reaches the stage."""
        return self.right / self.among if self.among else None


@dataclass(frozen=True, slots=True)
class Attribution:
    """What the stages of a system lose on a corpus, by one measure; `recall` is that of candidates by their number."""

    system: str
    corpus: str
    measure: str
    f1: float | None
    stages: tuple[StageLoss, ...]
    recall: Mapping[int, float]


def attribution(system: NamedSystem, corpus: Corpus, *, measure: str = "strong:micro.f1") -> Attribution:
    """What each stage of a system loses; ids are compared by the pack of the system, if it has one."""
    canonical: Canonical = list
    if hasattr(system.options, "kb"):
        pack = packs_of(system.options.kb)[0]
        corpus, canonical = resolve(corpus, pack)[0], pack.canonical
    run = link(system, corpus)

    def f1(other: Run) -> float | None:
        return evaluate(corpus, other, measures=[measure])[measure]

    counts = _counted(corpus, run)
    ranked = any(reply.answers and any(answer.candidates for answer in reply.answers) for reply in run)
    perfect: dict[str, float | None] = {
        "NIL": f1(_changed(corpus, run, without_nil(canonical))),
    }
    reasons: dict[str, str] = {}
    if system.system.spans == "never":
        reasons["detection"] = "it takes no given mentions"
    else:
        perfect["detection"] = f1(link(system, corpus, given=True))
    if ranked:
        perfect["ranking"] = f1(_changed(corpus, run, corrected(canonical)))
    else:
        reasons["ranking"] = "it says no candidates"
    if all(stage in system.system.stages for stage in STAGES):
        detect, propose, rank = (stage_of(system, stage, given=False) for stage in STAGES)
        better = joined(detect, propose, with_right(canonical), rank)
        perfect["candidates"] = f1(Run.of(better(corpus), name=system.name))
    else:
        reasons["candidates"] = "its stages cannot be had one by one"
    stages = tuple(StageLoss(stage, *counts[stage], perfect.get(stage), reasons.get(stage, "")) for stage in counts)
    return Attribution(system.name, corpus.name, measure, f1(run), stages, _recall(corpus, run) if ranked else {})


def _changed(corpus: Corpus, run: Run, stage: Refine) -> Run:
    """A run after one more stage."""
    replies = {reply.id: reply for reply in run}
    return Run.of(
        stage((document, replies[document.id]) for document in corpus if document.id in replies), name=run.name
    )


def _counted(corpus: Corpus, run: Run) -> dict[str, tuple[int, int]]:
    """For each stage how many mentions it got right of those that reached it; places are compared letter by letter."""
    gold, replies = GoldLinks(corpus, list), {reply.id: reply for reply in run}
    spans = found = reachable = proposed = chosen = nils = left = 0
    for document in corpus:
        needed = replace(document, labels=tuple(label for label in document.labels if not label.optional))
        wanted = {(label.start, label.end) for label in asked(needed, given=True).labels}
        spans += len(wanted)
        for answer in replies[document.id].answers if document.id in replies else ():
            right = gold.at(document, answer)
            if (answer.start, answer.end) not in wanted:
                continue
            found += 1
            ids = {entity for entity in right if isinstance(entity, str)}
            nils += None in right
            left += None in right and answer.entity is None
            if ids:
                there = answer.entity in ids or any(candidate.entity in ids for candidate in answer.candidates)
                reachable, proposed, chosen = reachable + 1, proposed + there, chosen + (answer.entity in ids)
    return {
        "detection": (found, spans),
        "candidates": (proposed, reachable),
        "ranking": (chosen, proposed),
        "NIL": (left, nils),
    }


def _recall(corpus: Corpus, run: Run) -> dict[int, float]:
    """How many mentions that were found, and have an entity, have it among their first candidates."""
    gold, replies = GoldLinks(corpus, list), {reply.id: reply for reply in run}
    places: list[int] = []
    for document in corpus:
        for answer in replies[document.id].answers if document.id in replies else ():
            ids = {entity for entity in gold.at(document, answer) if isinstance(entity, str)}
            if ids:
                ranks: Sequence[int] = [n for n, each in enumerate(answer.candidates, 1) if each.entity in ids]
                places.append(min(ranks, default=0))
    return {k: sum(0 < place <= k for place in places) / len(places) for k in RECALLS} if places else {}


def refuse_gold(system: NamedSystem) -> None:
    """An error about a system that sees the gold, whose stages lose nothing that can be told."""
    if system.sees_gold:
        raise UsageError(f"{system.name} sees the gold standard. Name a system that does not.")
