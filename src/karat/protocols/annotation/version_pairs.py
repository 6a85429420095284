"""Agreement of pairs of versions of documents, with intervals over documents.

All pairs of a document are drawn together in bootstrap samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import msgspec
import numpy as np

from karat.analysis.explanation.agreement import (
    AgreementScore,
    Judgements,
    ScoreOptions,
    collect_category_judgements,
    collect_judgements,
    count_matches,
    score_f1,
)
from karat.kb.protocol import KB
from karat.matching.read.facets import dimension_names
from karat.model.corpus import Corpus
from karat.model.document import Document
from karat.model.output.json_files import JsonRecord
from karat.model.results.statistics import ratio
from karat.model.tables.columns import Floats, Longs
from karat.stats.agreement import cohen_kappa, krippendorff_alpha


class VersionPair(NamedTuple):
    """Two versions of one document."""

    document: str
    """Id of the document, the unit of bootstrap samples."""
    first: Document
    """A version, or the gold standard."""
    second: Document
    """Another version."""


class VersionAgreement(JsonRecord, frozen=True):
    """The agreement of pairs of versions of the same documents."""

    documents: int
    """Number of documents."""
    pairs: int
    """Number of pairs; more than documents if a document has more than two annotators."""
    spans: AgreementScore
    """Micro F1 of the marked spans."""
    links: AgreementScore
    """Micro F1 of the links: span and entity are equal."""
    kappa: AgreementScore
    """Cohen's kappa of the entities on spans that both marked, pooled over all pairs."""
    alpha: AgreementScore
    """Krippendorff's alpha of the entities on spans that both marked, pooled over all pairs."""
    categories: Mapping[str, AgreementScore]
    """Krippendorff's alpha of the categories by dimension, on spans that both marked."""


def pair_versions(documents: Mapping[str, Document]) -> list[VersionPair]:
    """Return all pairs of the versions of one document, which are given by annotator."""
    return [
        VersionPair(documents[first].id, documents[first], documents[second])
        for first, second in combinations(sorted(documents), 2)
    ]


def compare_pairs(pairs: Sequence[VersionPair], kb: KB | None, options: ScoreOptions) -> VersionAgreement:
    """Compute the agreement of pairs of versions; which version is the first does not matter."""
    units = {document: index for index, document in enumerate(sorted({pair.document for pair in pairs}))}
    unit_of_pair = np.array([units[pair.document] for pair in pairs], np.int64)
    first = _build_corpus([pair.first for pair in pairs])
    second = _build_corpus([pair.second for pair in pairs])
    ids = [str(index) for index in range(len(pairs))]
    links = collect_judgements([first, second], ids, kb)[0]
    marked = _group_by_document(links, unit_of_pair).select((0, 1), marked_by_all=True)
    dimensions = sorted({name for corpus in (first, second) for name in dimension_names(corpus.labels)})
    return VersionAgreement(
        documents=len(units),
        pairs=len(pairs),
        spans=score_f1(_sum_units(count_matches(first, second, "mention", kb), unit_of_pair), "mention", options),
        links=score_f1(_sum_units(count_matches(first, second, "strong", kb), unit_of_pair), "strong", options),
        kappa=options.score(cohen_kappa, marked),
        alpha=options.score(krippendorff_alpha, marked),
        categories={
            dimension: options.score(
                krippendorff_alpha,
                _group_by_document(collect_category_judgements([first, second], ids, dimension), unit_of_pair).select(
                    (0, 1)
                ),
            )
            for dimension in dimensions
        },
    )


def _build_corpus(documents: Sequence[Document]) -> Corpus:
    """Return documents as a corpus, with their positions as ids, because an id may occur several times."""
    return Corpus.from_reader(
        [msgspec.structs.replace(document, id=str(index)) for index, document in enumerate(documents)], name="pairs"
    )


def _group_by_document(judgements: Judgements, unit_of_pair: Longs) -> Judgements:
    """Return judgements of pairs as those of documents, so that all pairs of a document are resampled together."""
    return Judgements(judgements.codes, unit_of_pair[judgements.document], int(unit_of_pair.max(initial=-1)) + 1)


def _sum_units(rows: Floats, unit_of_pair: Longs) -> Floats:
    """Return the sums of the rows of all pairs of each document."""
    sums = np.zeros((int(unit_of_pair.max()) + 1, rows.shape[1]))
    np.add.at(sums, unit_of_pair, rows)
    return sums


def count_link_matches(pairs: Sequence[VersionPair], kb: KB | None) -> Floats:
    """Return the sums of matching and missing links of each pair, in the columns of `Statistics`."""
    first = _build_corpus([pair.first for pair in pairs])
    return count_matches(first, _build_corpus([pair.second for pair in pairs]), "strong", kb)


def compute_f1(sums: Floats) -> Floats:
    """Return F1 of each row of sums; 0 if nothing matches, NaN if nothing was marked."""
    precision, recall = ratio(sums[:, 0], sums[:, 0] + sums[:, 1]), ratio(sums[:, 2], sums[:, 2] + sums[:, 3])
    f1 = ratio(2 * precision * recall, precision + recall)
    is_marked = sums.sum(axis=1) > 0
    values: Floats = np.where(is_marked & np.isnan(f1), 0.0, f1)
    return values
