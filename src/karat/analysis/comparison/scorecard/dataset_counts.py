"""Counts behind scorecards: facts about each dataset, and counts per document for each system.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from karat.analysis.comparison.entries import text_digests
from karat.analysis.comparison.grid import GridCell
from karat.data.describe import Description, describe
from karat.evaluation.cases.category_bounds import CategoryBounds, bound_categories
from karat.evaluation.cases.errors import CategoryCounts, count_errors, mark_missing_candidates
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.measures import detection_view
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.errors import UsageError
from karat.model.measure_name import ViewName, parse_measure
from karat.model.profile_signatures import get_profile
from karat.model.spec.settings.threshold import Threshold
from karat.model.tables.columns import Floats, Longs

TRAITS = {"disambiguation-demonym": "demonym", "disambiguation-metonymy": "metonym"}
"""Error categories that need a dataset with enough such mentions, with the trait of these mentions."""


@dataclass(frozen=True, slots=True)
class MentionShare:
    """Number of linked mentions of a dataset that have a trait."""

    count: int | None
    """Number of mentions with the trait; None if unknown."""
    linked: int
    """Number of linked mentions."""
    undecided: int
    """Number of mentions for which the trait cannot be decided."""
    reason: str | None = None
    """Reason for a missing `count`."""

    @property
    def value(self) -> float | None:
        """Share of linked mentions with the trait; undecided mentions count as without it. None if unknown."""
        return self.count / self.linked if self.count is not None and self.linked else None


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """Facts about a dataset that scorecards need. Rows are documents, sorted by id."""

    mentions: Floats
    """Number of required mentions by document, linked or not."""
    shares: Mapping[str, MentionShare]
    """Share of mentions with a trait, by error category."""
    texts: frozenset[object]
    """Digests of the texts, to find documents that also occur in other datasets."""


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """Counts of a run on a dataset, by document."""

    links: Floats
    """The sums of the four `Weights` of linking, one row per document."""
    detection: Floats
    """The sums of the four `Weights` of detection, one row per document."""
    categories: Mapping[str, CategoryCounts]
    """Counts of error categories."""
    bounds: Mapping[str, CategoryBounds]
    """Bounds of the categories of disambiguation, over all documents."""


def collect_dataset_facts(corpus: Corpus, kb: KB | None, order: Longs) -> DatasetFacts:
    """Return the facts about a corpus that scorecards need, with documents in the order of the indices `order`."""
    units, labels = corpus.mention_index, corpus.labels
    required = units.is_representative & ~units.optional
    mentions = np.bincount(labels.document[required], minlength=len(corpus)).astype(np.float64)
    description = describe(corpus, kb)
    return DatasetFacts(
        mentions=mentions[order],
        shares={category: _mention_share(description, trait) for category, trait in TRAITS.items()},
        texts=text_digests(corpus),
    )


def _mention_share(description: Description, trait: str) -> MentionShare:
    """Return the count of linked mentions with a trait, such as `demonym`, from the description of a corpus."""
    required, nil = description.numbers["required"], description.columns["nil"].number
    assert isinstance(required, int)
    share = description.columns[trait]
    return MentionShare(share.number, required - (nil or 0), share.undecided, description.undefined.get(trait))


def count_documents(cell: GridCell, view: str) -> DocumentCounts:
    """Count links, detections and errors of a system on a dataset, by document in the order of ids.

    Raises `UsageError` for a result, and if the threshold is selected by a sweep.
    """
    if cell.evaluation is None:
        raise UsageError("a scorecard needs cases, and result files contain none. Pass gold and predictions.")
    evaluation, order = cell.evaluation, cell.order
    if not isinstance(evaluation.request.conventions.threshold, Threshold):
        raise UsageError("a scorecard compares systems at a fixed threshold. Set threshold to a number, or none.")
    categorised = evaluation.categorise_cases(view)
    counts = count_errors(categorised, len(order), None)
    if not categorised.has_candidates:
        counts = mark_missing_candidates(counts)
    return DocumentCounts(
        links=evaluation.views[view].statistics.weights[order],
        detection=_detection_weights(evaluation, detection_view_name(view))[order],
        categories={name: _reorder(category_counts, order) for name, category_counts in counts.items()},
        bounds=bound_categories(categorised.table.cases, evaluation.request.conventions.categories),
    )


def detection_view_name(view: str) -> str:
    """Return the name of the detection view of a linking view, which compares spans only.

    Raise `UsageError` without one.
    """
    return str(_require_detection_view(parse_measure(f"{view}:micro.f1").view))


def _require_detection_view(view: ViewName) -> ViewName:
    """Return the detection view of a linking view, which compares spans only, or raise `UsageError`."""
    result = detection_view(view)
    if result is None:
        raise UsageError(
            f"a scorecard needs a view of linked spans, and {view} is not. Choose strong or strong[in-kb]."
        )
    return result


def _detection_weights(evaluation: Evaluation, mention_view: str) -> Floats:
    """Return the sums of the four `Weights` of detection, one row per document.

    The columns are matched and unmatched predictions, matched and unmatched gold. Coreference is excluded if the
    profile excludes it. `mention_view` is the name of the detection view.
    """
    measures = [parse_measure(name) for name in get_profile(evaluation.request.profile).measures]
    if not any(str(name.view) == mention_view and name.group == ("mention-type", "entity") for name in measures):
        return evaluation.views[mention_view].statistics.weights
    cases = evaluation.block.drop_coreference(evaluation.verdicts(mention_view))
    return cases.document_sums(0, len(evaluation.inputs.corpus))


def _reorder(counts: CategoryCounts, order: Longs) -> CategoryCounts:
    """Return the counts with documents in the order of the indices `order`."""
    return replace(counts, errors=counts.errors[order], total=None if counts.total is None else counts.total[order])
