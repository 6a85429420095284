"""Explanations of the score gaps to other profiles."""

from __future__ import annotations

from collections.abc import Mapping

from karat.analysis.explanation.setting_flips import Flip
from karat.render.gap import CauseRecord, GapFile
from karat.web.archive.archive import Archive
from karat.web.archive.resource import Resource
from karat.web.archive.shape import FlippedCaseInfo, Reasons, ReasonsResource, ReasonStep

_FLIPS = 300
"""Maximum number of flips listed per setting; all are counted."""


def build_reasons(archive: Archive, key: str) -> ReasonsResource:
    """Build the explanations of all systems' score gaps to other profiles on the dataset `key`."""
    corpus, systems = archive.read_corpus(key), archive.systems
    document_indices = {} if corpus is None else {id: index for index, id in enumerate(corpus.ids.to_pylist())}
    has_visible_texts = archive.get_visible_corpus(key) is not None
    explanations = [
        _build_explanation(
            archive.read_explanation(entry, profile),
            systems.index(entry.system),
            document_indices,
            with_texts=has_visible_texts,
        )
        for entry in sorted(archive.get_entries(key), key=lambda entry: systems.index(entry.system))
        for profile in sorted(entry.reasons)
    ]
    return ReasonsResource(archive.datasets[key].dataset, explanations)


def _build_explanation(
    explanation: GapFile, system: int, document_indices: Mapping[str, int], *, with_texts: bool
) -> Reasons:
    """Build the explanation of the system with index `system`.

    `document_indices` has the index of each document by id; without `with_texts`, surfaces of flips are empty.
    """
    return Reasons(
        system,
        explanation.reference.profile,
        explanation.reference.measure,
        explanation.evaluated.measure,
        explanation.reference.score,
        explanation.evaluated.score,
        [_build_step(cause, document_indices, with_texts=with_texts) for cause in explanation.causes],
        list(explanation.irrelevant_settings),
    )


def _build_step(cause: CauseRecord, document_indices: Mapping[str, int], *, with_texts: bool) -> ReasonStep:
    """Build the share of a setting in the gap, with at most `_FLIPS` of the cases that it flips."""
    return ReasonStep(
        [(name, theirs, ours) for name, (theirs, ours) in cause.settings.items()],
        cause.share,
        [_build_flip(flip, document_indices, with_texts=with_texts) for flip in cause.flips[:_FLIPS]],
        len(cause.flips),
    )


def _build_flip(flip: Flip, document_indices: Mapping[str, int], *, with_texts: bool) -> FlippedCaseInfo:
    """Build a flipped case; document index -1 means unknown."""
    return FlippedCaseInfo(
        document_indices.get(flip.document, -1),
        flip.start,
        flip.end,
        flip.text if with_texts else "",
        flip.gold,
        flip.prediction,
        (flip.gold_before, flip.gold_after),
        (flip.prediction_before, flip.prediction_after),
    )


RESOURCE = Resource(
    ReasonsResource,
    build_reasons,
    is_per_dataset=True,
    is_available=lambda archive, key: any(entry.reasons for entry in archive.get_entries(key)),
)
