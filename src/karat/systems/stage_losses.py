"""Losses of each stage of a system (detection, candidates, ranking, NIL), and the F1 with a perfect stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from karat.data.id_resolution import resolve_ids
from karat.evaluation.evaluation import score_run
from karat.model.corpus import Corpus
from karat.model.document import EntityId, Prediction
from karat.model.errors import UsageError
from karat.model.output.json_files import JsonRecord
from karat.model.run import Run
from karat.model.spec.system import STAGES, Refine, hide_gold
from karat.systems.api import link
from karat.systems.linking.gold import (
    Canonicaliser,
    GoldLinks,
    make_gold_candidate_stage,
    make_gold_nil_stage,
    make_ranking_correction_stage,
)
from karat.systems.linking.lexicon import open_snapshots
from karat.systems.linking.pipeline import get_stage
from karat.systems.linking.stages import chain_stages
from karat.systems.linking.system import ConfiguredSystem

RECALL_DEPTHS = (1, 2, 5, 10, 20)
"""Numbers of candidates for which recall is reported."""


class StageLoss(JsonRecord, frozen=True):
    """The accuracy of one stage of a system, and the F1 that the system would have if the stage were perfect.

    `stage`: detection, candidates, ranking or NIL.
    `correct`: number of mentions that the stage handles correctly.
    `total`: number of mentions that reach the stage.
    `f1`: F1 of the system if the stage were perfect; None if it cannot be computed.
    `reason`: why `f1` is None.
    """

    stage: str
    correct: int
    total: int
    f1: float | None
    reason: str = ""

    @property
    def share(self) -> float | None:
        """The share of mentions handled correctly; None if no mention reaches the stage."""
        return self.correct / self.total if self.total else None


class StageReport(JsonRecord, frozen=True):
    """The losses of all stages of a system on a corpus.

    `system`, `corpus`: their names.
    `measure`: name of the measure.
    `f1`: F1 of the system.
    `stages`: one entry per stage.
    `recall`: share of detected linked mentions whose gold entity is among the first k candidates, by k; empty if the
    system returns no candidates.
    """

    system: str
    corpus: str
    measure: str
    f1: float | None
    stages: tuple[StageLoss, ...]
    recall: Mapping[int, float]


def measure_stage_losses(system: ConfiguredSystem, corpus: Corpus, *, measure: str = "strong:micro.f1") -> StageReport:
    """Run a system and measure how many mentions each stage gets wrong, and its F1 if that stage were perfect.

    If the system has an option `kb`, gold ids are replaced by the canonical ids of its first snapshot before they are
    compared. `measure` names the F1 that is reported.
    """
    canonicalise: Canonicaliser = list
    if hasattr(system.options, "kb"):
        snapshot = open_snapshots(system.options.kb)[0]
        corpus, canonicalise = resolve_ids(corpus, snapshot)[0], snapshot.canonical_ids
    run = link(system, corpus)

    def f1(candidate_run: Run) -> float | None:
        return score_run(corpus, candidate_run, measures=[measure])[measure]

    stage_counts = _count_stages(corpus, run)
    has_candidates = any(
        response.predictions and any(prediction.candidates for prediction in response.predictions) for response in run
    )
    oracle_f1: dict[str, float | None] = {
        "NIL": f1(_apply_stage(corpus, run, make_gold_nil_stage(canonicalise))),
    }
    reasons: dict[str, str] = {}
    if system.system.gold_mentions == "never":
        reasons["detection"] = "it accepts no gold mentions"
    else:
        oracle_f1["detection"] = f1(link(system, corpus, gold_mentions=True))
    if has_candidates:
        oracle_f1["ranking"] = f1(_apply_stage(corpus, run, make_ranking_correction_stage(canonicalise)))
    else:
        reasons["ranking"] = "it returns no candidates"
    if all(stage in system.system.stages for stage in STAGES):
        detect, propose, rank = (get_stage(system, stage, gold_mentions=False) for stage in STAGES)
        oracle_link = chain_stages(detect, propose, make_gold_candidate_stage(canonicalise), rank)
        oracle_f1["candidates"] = f1(Run.from_responses(oracle_link(corpus), name=system.name))
    else:
        reasons["candidates"] = "its stages cannot run separately"
    stages = tuple(
        StageLoss(stage, *stage_counts[stage], oracle_f1.get(stage), reasons.get(stage, "")) for stage in stage_counts
    )
    return StageReport(
        system.name, corpus.name, measure, f1(run), stages, _candidate_recall(corpus, run) if has_candidates else {}
    )


def _apply_stage(corpus: Corpus, run: Run, stage: Refine) -> Run:
    """Return the run after a further stage has changed its responses; documents without response are skipped."""
    responses = {response.id: response for response in run}
    return Run.from_responses(
        stage((document, responses[document.id]) for document in corpus if document.id in responses), name=run.name
    )


def _count_stages(corpus: Corpus, run: Run) -> dict[str, tuple[int, int]]:
    """Return, by stage, the number of mentions that the stage handles correctly and the number that reach the stage.

    Detection counts required gold mentions whose exact span is predicted, once or more often. Candidates and ranking
    count detected mentions with a gold entity, NIL counts detected mentions whose gold link is NIL.
    """
    spans = detected = reachable = proposed = chosen = nils = nil_correct = 0
    for gold_entities, predictions in _iterate_mentions(corpus, run):
        spans += 1
        if not predictions:
            continue
        detected += 1
        predicted = {prediction.entity for prediction in predictions}
        ids = {entity for entity in gold_entities if isinstance(entity, str)}
        nils += None in gold_entities
        nil_correct += None in gold_entities and None in predicted
        if ids:
            candidates = {candidate.entity for prediction in predictions for candidate in prediction.candidates}
            reachable += 1
            proposed += not ids.isdisjoint(predicted | candidates)
            chosen += not ids.isdisjoint(predicted)
    return {
        "detection": (detected, spans),
        "candidates": (proposed, reachable),
        "ranking": (chosen, proposed),
        "NIL": (nil_correct, nils),
    }


def _iterate_mentions(corpus: Corpus, run: Run) -> Iterator[tuple[Sequence[EntityId], Sequence[Prediction]]]:
    """Yield the gold entities of each required mention, and the predictions on exactly its span, which may be several.

    None is NIL, `UNLINKED` a mention without link.
    """
    gold, responses = GoldLinks(corpus, list), {response.id: response for response in run}
    for document in corpus:
        required = replace(document, labels=tuple(label for label in document.labels if not label.optional))
        by_span: dict[tuple[int, int], list[Prediction]] = {}
        for prediction in responses[document.id].predictions if document.id in responses else ():
            by_span.setdefault((prediction.start, prediction.end), []).append(prediction)
        labels = hide_gold(required, gold_mentions=True).labels
        for start, end in dict.fromkeys((label.start, label.end) for label in labels):
            yield gold.find_links_at(document, start, end), by_span.get((start, end), [])


def _candidate_recall(corpus: Corpus, run: Run) -> dict[int, float]:
    """Return the share of detected linked mentions with the gold entity among the first k candidates, by k.

    Like the stages, it counts required mentions, each once. Empty if no linked mention is detected.
    """
    ranks_of_gold: list[int] = []
    for gold_entities, predictions in _iterate_mentions(corpus, run):
        ids = {entity for entity in gold_entities if isinstance(entity, str)}
        if ids and predictions:
            ranks = [
                rank
                for prediction in predictions
                for rank, candidate in enumerate(prediction.candidates, 1)
                if candidate.entity in ids
            ]
            ranks_of_gold.append(min(ranks, default=0))
    return (
        {k: sum(0 < rank <= k for rank in ranks_of_gold) / len(ranks_of_gold) for k in RECALL_DEPTHS}
        if ranks_of_gold
        else {}
    )


def check_no_gold(system: ConfiguredSystem) -> None:
    """Raise `UsageError` if a system reads the gold labels."""
    if system.needs_gold:
        raise UsageError(f"{system.name} uses the gold labels. Name a system that does not.")
