"""Inter-annotator agreement.

An *item* is a span of a document that at least one annotator marked. Spans are equal if document, start and end are;
overlapping spans are two items, each with no mark by one annotator. The category that an annotator gives an item is
its entity, NIL, `unlinked` if it is marked but not linked, or `none` if it is not marked. Parts of other segmentations
and labels outside the evaluation span are excluded. If an annotator lacks a document, its items are missing for this
annotator, not `none`.

Two mentions with alternatives agree if one alternative of each does. For kappa and alpha, the category of a mention
with alternatives is the one that most of the compared annotators gave the span; of several, the one whose id sorts
first. Two annotators who share an alternative therefore have the same category in their kappa.

Cohen's kappa of two annotators is computed over three sets of items: spans that any annotator marked, also a third one
(`kappa`), spans that at least one of the two marked (`kappa_of_pair`, the pairwise definition, which does not depend on
the other annotators), and spans that both marked (`kappa_of_links`).

Unmarked spans are not items, so annotators never all agree on `none` (two may, if a third marked a span). Kappa and
alpha over all items are therefore lower than over all spans of the text, where kappa would approach F1 (Hripcsak and
Rothschild, Agreement, the F-Measure, and Reliability in Information Retrieval, JAMIA 12(3), 2005). Kappa over the items
that both annotators marked measures agreement on the entity.

Categories, such as base form or reference, are compared by dimension, over the spans with a category from at least two
annotators. An annotator who did not mark a span, or gave it no category of the dimension, is missing there. Several
categories of one dimension on one label form one category, as a set.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from karat.analysis.explanation.shared_alternatives import drop_unlinked_mentions, list_entities, predict_mentions
from karat.data.inputs import GoldInput, load_golds
from karat.evaluation.evaluation import score_run
from karat.evaluation.id_bridge import bridge_ids
from karat.evaluation.request import Request
from karat.evaluation.score_intervals import to_result
from karat.kb.catalogue import open_kb
from karat.kb.protocol import KB
from karat.matching.read.facets import dimension_names
from karat.matching.read.text_alignment import pair_corpora
from karat.model.corpus import Corpus
from karat.model.errors import InputError, UsageError
from karat.model.keywords import check_keywords
from karat.model.output.json_files import JsonFile, JsonRecord
from karat.model.results.statistics import ratio
from karat.model.tables.columns import Bools, Floats, Longs
from karat.stats.agreement import (
    Coefficient,
    cohen_kappa,
    fleiss_kappa,
    full_agreement,
    krippendorff_alpha,
    resample_coefficient,
)
from karat.stats.samples.additive import AdditiveScore
from karat.stats.samples.bootstrap import Interval, percentile_interval
from karat.stats.samples.confidence_intervals import RESAMPLES, bootstrap_intervals, expand_confidence

_Item: TypeAlias = tuple[int, int, int]
"""Document number, start and end of a span."""

RELATIONS: Final = ("strong", "weak", "mention")


class AgreementScore(JsonRecord, frozen=True, rename={"reason": "undefined"}):
    """A coefficient with its interval over documents, its number of items, and the reason if it is undefined."""

    value: float | None
    interval: Interval | None
    items: int
    reason: str | None = None


class AnnotatorPairAgreement(JsonRecord, frozen=True):
    """The agreement of two annotators."""

    annotator_a: str
    """Name of the first annotator."""
    annotator_b: str
    """Name of the second annotator."""
    documents: int
    """Number of documents that both annotated."""
    f1: Mapping[str, AgreementScore]
    """Micro F1 by relation."""
    kappa: AgreementScore
    """Cohen's kappa over all items of their shared documents: the spans that any annotator marked."""
    kappa_of_pair: AgreementScore
    """Cohen's kappa over the items that at least one of the two marked."""
    kappa_of_links: AgreementScore
    """Cohen's kappa over the items that both marked."""
    kappa_of_categories: Mapping[str, AgreementScore]
    """Cohen's kappa by dimension, over the items to which both gave a category."""


class CategoryAgreement(JsonRecord, frozen=True):
    """The agreement of all annotators on the categories of one dimension."""

    same: AgreementScore
    """Share of items to which all annotators with a category gave the same."""
    fleiss: AgreementScore
    """Fleiss' kappa."""
    alpha: AgreementScore
    """Krippendorff's alpha."""


class Agreement(JsonFile, frozen=True, tag="karat-agreement/2"):
    """The agreement of annotators of the same documents: the output of `karat agreement --json`."""

    annotators: tuple[str, ...]
    """Names of the annotators."""
    documents: int
    """Number of documents that at least two annotators have."""
    items: int
    """Number of items."""
    confidence: float
    """Confidence level of the intervals."""
    resamples: int
    """Number of bootstrap samples."""
    excluded: Mapping[str, int]
    """Counts of what could not be compared, by description."""
    pairs: tuple[AnnotatorPairAgreement, ...]
    """Agreement of each pair of annotators."""
    fleiss: AgreementScore
    """Fleiss' kappa over all items."""
    fleiss_of_links: AgreementScore
    """Fleiss' kappa over the items that all annotators of a document marked."""
    alpha: AgreementScore
    """Krippendorff's alpha over all items."""
    alpha_of_links: AgreementScore
    """Krippendorff's alpha over the items that all annotators of a document marked."""
    categories: Mapping[str, CategoryAgreement]
    """Agreement on categories by dimension."""
    kb: str | None = None
    """Name of the knowledge base that resolves ids, or maps ids of different schemes onto each other."""


class Judgements(NamedTuple):
    """Category codes, one row per annotator and one column per item.

    An item is a span that at least one annotator marked. -1 means missing; of links, 0 means `none` (not marked).
    """

    codes: Longs
    """The codes."""
    document: Longs
    """Document number of each item; documents are sorted by id."""
    documents: int
    """Number of documents."""

    def select(
        self, annotators: Sequence[int], *, marked_by_any: bool = False, marked_by_all: bool = False
    ) -> Judgements:
        """Return the judgements of some annotators, given by index, on the items that at least two of them judged.

        With `marked_by_any`, only items that at least one of these annotators marked. With `marked_by_all`, only items
        that all of them marked, as far as they have the document.
        """
        codes = self.codes[list(annotators)]
        mask = (codes >= 0).sum(axis=0) > 1
        if marked_by_any:
            mask &= (codes > 0).any(axis=0)
        if marked_by_all:
            mask &= (codes != 0).all(axis=0)
        return Judgements(codes[:, mask], self.document[mask], self.documents)


def disambiguate_corpora(corpora: Sequence[Corpus], paths: Sequence[str]) -> list[Corpus]:
    """Return `corpora`; a corpus with the same name as another corpus is renamed to its path in `paths`."""
    names = [corpus.name for corpus in corpora]
    return [
        replace(corpus, name=path) if names.count(corpus.name) > 1 else corpus
        for corpus, path in zip(corpora, paths, strict=True)
    ]


@check_keywords
def agreement(
    golds: Sequence[GoldInput] | Mapping[str, GoldInput],
    *,
    kb: KB | str | os.PathLike[str] | None = None,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    seed: int = 0,
) -> Agreement:
    """Measure the agreement of annotators, one gold standard each; their names must differ.

    Each of `golds` is a path, a name from the catalogue, plain dictionaries, or an object; `golds` may be a mapping
    from names.
    Intervals at the level `confidence` are computed from `resamples` bootstrap samples of documents. With a knowledge
    base, ids of the same entity are equal; by default the built-in one maps ids of different schemes onto each other.
    Documents whose ids differ are paired by their text. Raises `InputError` if two annotators have different texts
    under one id.
    """
    corpora = pair_corpora(load_golds(golds))
    kb = open_kb(kb) if isinstance(kb, str | os.PathLike) else kb
    annotators = tuple(corpus.name for corpus in corpora)
    if len(corpora) < 2 or len(set(annotators)) < len(annotators):
        raise UsageError(
            "agreement needs at least two annotators with different names. Pass corpora with distinct names, or a "
            "mapping from names."
        )
    ids = _shared_documents(corpora)
    if kb is None:
        requests = (bridge_ids(Request.from_options(), corpus, corpora) for corpus in corpora)
        kb = next((request.kb for request in requests if request.kb is not None), None)
    answers, n_excluded_labels = collect_answers(corpora, ids, kb)
    by_dimension = {
        dimension: collect_category_judgements(corpora, ids, dimension) for dimension in _shared_dimensions(corpora)
    }
    all_ids = {id for corpus in corpora for id in corpus.ids.to_pylist()}
    excluded = {
        "documents of a single annotator": len(all_ids) - len(ids),
        "labels that are parts, alternatives with another span, or outside the evaluation span": n_excluded_labels,
    }
    options = ScoreOptions(resamples, confidence, seed)
    all_annotators = range(len(corpora))
    item_judgements = answers.choose(all_annotators)
    all_items, linked_items = (
        item_judgements.select(all_annotators),
        item_judgements.select(all_annotators, marked_by_all=True),
    )
    return Agreement(
        annotators=annotators,
        documents=len(ids),
        items=all_items.codes.shape[1],
        confidence=confidence,
        resamples=resamples,
        pairs=tuple(
            _score_pair(corpora, answers.choose(pair), by_dimension, pair, kb, options)
            for pair in combinations(all_annotators, 2)
        ),
        fleiss=options.score(fleiss_kappa, all_items, needs_all_annotators=True),
        fleiss_of_links=options.score(fleiss_kappa, linked_items, needs_all_annotators=True),
        alpha=options.score(krippendorff_alpha, all_items),
        alpha_of_links=options.score(krippendorff_alpha, linked_items),
        categories={
            dimension: _score_categories(dimension_judgements, options)
            for dimension, dimension_judgements in by_dimension.items()
        },
        excluded={description: count for description, count in excluded.items() if count},
        kb=None if kb is None else kb.name,
    )


class ScoreOptions(NamedTuple):
    """Options of the bootstrap intervals."""

    resamples: int
    confidence: float
    seed: int

    def score(
        self, coefficient: Coefficient, judgements: Judgements, *, needs_all_annotators: bool = False
    ) -> AgreementScore:
        """Compute a coefficient on the judgements, with its interval over documents.

        With `needs_all_annotators`, only items judged by all annotators are used. There is no interval for a single
        document.
        """
        if needs_all_annotators:
            is_complete = (judgements.codes >= 0).all(axis=0)
            judgements = Judgements(
                judgements.codes[:, is_complete], judgements.document[is_complete], judgements.documents
            )
        items = judgements.codes.shape[1]
        value = coefficient(judgements.codes, None)
        if np.isnan(value):
            return AgreementScore(
                None, None, items, "there are no such items" if not items else "all items have the same category"
            )
        widened_level = expand_confidence(self.confidence, len(np.unique(judgements.document)))
        if widened_level is None or not self.resamples:
            return AgreementScore(value, None, items)
        samples = resample_coefficient(
            coefficient,
            judgements.codes,
            judgements.document,
            judgements.documents,
            resamples=self.resamples,
            seed=self.seed,
        )
        return AgreementScore(value, percentile_interval(samples, widened_level), items)


class Answers(NamedTuple):
    """The links that each annotator gave each item, with all alternatives."""

    codes: tuple[Mapping[_Item, tuple[int, ...]], ...]
    """Codes of the alternatives of each item that an annotator marked, in the order of their ids."""
    has_document: Bools
    """Whether each annotator (row) has each document (column)."""

    def choose(self, annotators: Sequence[int]) -> Judgements:
        """Return one link per item for some annotators, given by index, on the items that anyone marked.

        Of alternatives, it is the one that most of these annotators gave; of several, the one whose id sorts first.
        """
        items = sorted({item for codes in self.codes for item in codes})
        chosen = [_choose_codes([self.codes[index].get(item, ()) for index in annotators]) for item in items]
        document = np.array([item[0] for item in items], np.int64)
        table = np.array(chosen, np.int64).reshape(len(items), len(annotators)).T
        has_document = self.has_document[list(annotators)][:, document]
        return Judgements(np.where(has_document, table, -1), document, self.has_document.shape[1])


def _choose_codes(alternatives: Sequence[tuple[int, ...]]) -> list[int]:
    """Return one code of each annotator for an item, 0 if not marked: the alternative that most annotators gave."""
    votes = Counter(code for codes in alternatives for code in codes)
    return [max(codes, key=lambda code: votes[code], default=0) for codes in alternatives]


def collect_judgements(corpora: Sequence[Corpus], ids: Sequence[str], kb: KB | None = None) -> tuple[Judgements, int]:
    """Return the link that each annotator gave each item, as codes, and the number of excluded labels.

    `ids` are the documents to use. Code 0 means not marked, -1 that the annotator lacks the document.
    """
    answers, excluded = collect_answers(corpora, ids, kb)
    return answers.choose(range(len(corpora))), excluded


def collect_answers(corpora: Sequence[Corpus], ids: Sequence[str], kb: KB | None = None) -> tuple[Answers, int]:
    """Return the links that each annotator gave each item, and the number of excluded labels.

    `ids` are the documents to use. Labels that are parts, alternatives of another span, or outside the evaluation span
    are excluded.
    """
    entities_by_annotator = list_entities(corpora, kb)
    distinct = sorted({entity for entities in entities_by_annotator for entity in entities})
    numbers = {entity: number for number, entity in enumerate(distinct, 1)}
    has_document = np.zeros((len(corpora), len(ids)), np.bool_)
    codes_by_annotator, excluded = [], 0
    for annotator, (corpus, entities) in enumerate(zip(corpora, entities_by_annotator, strict=True)):
        documents = _document_indices(corpus, ids)
        has_document[annotator, documents[documents >= 0]] = True
        alternatives = _group_alternatives(corpus)
        rows_by_span = {
            item: alternatives[row, item[1], item[2]] for item, row in _index_spans(corpus, documents).items()
        }
        codes_by_annotator.append(
            {item: tuple(sorted({numbers[entities[row]] for row in rows})) for item, rows in rows_by_span.items()}
        )
        excluded += int((documents[corpus.labels.document] >= 0).sum()) - sum(map(len, rows_by_span.values()))
    return Answers(tuple(codes_by_annotator), has_document), excluded


def collect_category_judgements(corpora: Sequence[Corpus], ids: Sequence[str], dimension: str) -> Judgements:
    """Return the category that each annotator gave each span in one dimension, as codes; -1 if there is none.

    `ids` are the documents to use. Several categories of one label form one category.
    """
    values_by_annotator = [_categories_by_span(corpus, _document_indices(corpus, ids), dimension) for corpus in corpora]
    items = sorted({item for item_values in values_by_annotator for item in item_values})
    values = {
        value: code
        for code, value in enumerate(
            sorted({value for item_values in values_by_annotator for value in item_values.values()})
        )
    }
    rows = [
        [values[item_values[item]] if item in item_values else -1 for item in items]
        for item_values in values_by_annotator
    ]
    codes = np.array(rows, np.int64).reshape(len(values_by_annotator), len(items))
    return Judgements(codes, np.array([item[0] for item in items], np.int64), len(ids))


def _categories_by_span(corpus: Corpus, documents: Longs, dimension: str) -> dict[_Item, tuple[str, ...]]:
    """Return the categories of a dimension, sorted, for every span that has one.

    `documents` has the number of each document of the corpus, or -1 to skip it.
    """
    column = corpus.labels.field("categories")
    category_lists = [] if column is None else column.to_pylist()
    categories = {}
    for item, row in _index_spans(corpus, documents).items() if category_lists else ():
        names = sorted(
            {name for name in category_lists[row] or () if name.partition(":")[0] == dimension and ":" in name}
        )
        if names:
            categories[item] = tuple(names)
    return categories


def _shared_dimensions(corpora: Sequence[Corpus]) -> list[str]:
    """Return the dimensions in which at least two annotators use categories, sorted."""
    used = Counter(name for corpus in corpora for name in dimension_names(corpus.labels))
    return sorted(name for name, count in used.items() if count > 1)


def _score_categories(judgements: Judgements, options: ScoreOptions) -> CategoryAgreement:
    """Compute the agreement of all annotators on the categories of one dimension."""
    selected = judgements.select(range(len(judgements.codes)))
    return CategoryAgreement(
        same=options.score(full_agreement, selected),
        fleiss=options.score(fleiss_kappa, selected, needs_all_annotators=True),
        alpha=options.score(krippendorff_alpha, selected),
    )


def _document_indices(corpus: Corpus, ids: Sequence[str]) -> Longs:
    """Return the index in `ids` of each document of a corpus; -1 for documents that are not in `ids`."""
    positions = {document: number for number, document in enumerate(ids)}
    return np.array([positions.get(document, -1) for document in corpus.ids.to_pylist()], np.int64)


def _index_spans(corpus: Corpus, documents: Longs) -> dict[_Item, int]:
    """Map each span that an annotator marked to the row of the label that represents its mention.

    `documents` has the number of each document of the corpus, or -1 to skip it. Labels outside the evaluation span are
    skipped.
    """
    labels = corpus.labels
    document = documents[labels.document]
    rows = np.flatnonzero((document >= 0) & _evaluated_mask(corpus) & corpus.mention_index.is_representative)
    rows_by_span: dict[_Item, int] = {}
    for row, *item in zip(
        rows.tolist(), document[rows].tolist(), labels.start[rows].tolist(), labels.end[rows].tolist(), strict=True
    ):
        rows_by_span.setdefault((item[0], item[1], item[2]), row)
    return rows_by_span


def _group_alternatives(corpus: Corpus) -> dict[tuple[int, int, int], list[int]]:
    """Return the rows of the labels that share mention, start and end; a mention is the row that represents it."""
    labels = corpus.labels
    rows: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    keys = zip(corpus.mention_index.mention.tolist(), labels.start.tolist(), labels.end.tolist(), strict=True)
    for row, key in enumerate(keys):
        rows[key].append(row)
    return rows


def _evaluated_mask(corpus: Corpus) -> Bools:
    """Return a mask of the labels inside the evaluation span of their document."""
    labels = corpus.labels
    if "evaluation_span" not in corpus.table.column_names:
        return np.ones(len(labels), np.bool_)
    spans = [bounds or (0, None) for bounds in corpus.table.column("evaluation_span").to_pylist()]
    start = np.array([span[0] for span in spans], np.int64)
    end = np.array([np.iinfo(np.int64).max if span[1] is None else span[1] for span in spans], np.int64)
    return (labels.start >= start[labels.document]) & (labels.end <= end[labels.document])


def _shared_documents(corpora: Sequence[Corpus]) -> list[str]:
    """Return the sorted ids of documents that at least two annotators have.

    Raises `InputError` if their texts differ, and `UsageError` if there are no such documents.
    """
    first_seen: dict[str, tuple[str, object]] = {}
    shared: set[str] = set()
    for corpus in corpora:
        digests = corpus.table.column("text_digest").to_pylist()
        for document, digest in zip(corpus.ids.to_pylist(), digests, strict=True):
            other, first_digest = first_seen.setdefault(document, (corpus.name, digest))
            if other != corpus.name:
                shared.add(document)
            if first_digest != digest:
                raise InputError(
                    f"{corpus.name}, document {document!r}",
                    actual=f"a different text from that of {other} under the same id",
                    expected="the same text for all annotators",
                    remedy="Give each text a distinct id, or correct the file",
                )
    if not shared:
        raise UsageError(
            "no document occurs in the files of two annotators, by id or text. Pass files of the same documents."
        )
    return sorted(shared)


def _score_pair(
    corpora: Sequence[Corpus],
    item_judgements: Judgements,
    by_dimension: Mapping[str, Judgements],
    pair: tuple[int, int],
    kb: KB | None,
    options: ScoreOptions,
) -> AnnotatorPairAgreement:
    """Compute the agreement of two annotators, given by their indices.

    `item_judgements` are their links on all items; `by_dimension` are the categories of all annotators.
    """
    first_corpus, second_corpus = (corpora[index] for index in pair)
    common = set(first_corpus.ids.to_pylist()) & set(second_corpus.ids.to_pylist())
    first_shared, second_shared = _select_documents(first_corpus, common), _select_documents(second_corpus, common)
    no_score = AgreementScore(None, None, 0, "the annotators share no document")
    f1 = (
        dict.fromkeys(RELATIONS, no_score)
        if first_shared is None or second_shared is None
        else _compute_f1(first_shared, second_shared, kb, options)
    )
    return AnnotatorPairAgreement(
        first_corpus.name,
        second_corpus.name,
        len(common),
        f1,
        options.score(cohen_kappa, item_judgements.select((0, 1))),
        options.score(cohen_kappa, item_judgements.select((0, 1), marked_by_any=True)),
        options.score(cohen_kappa, item_judgements.select((0, 1), marked_by_all=True)),
        {
            dimension: options.score(cohen_kappa, dimension_judgements.select(pair))
            for dimension, dimension_judgements in by_dimension.items()
        },
    )


def _select_documents(corpus: Corpus, ids: set[str]) -> Corpus | None:
    """Return the corpus with only the documents in `ids`; None if `ids` is empty."""
    if len(ids) == len(corpus):
        return corpus
    return (
        Corpus.from_documents((document for document in corpus if document.id in ids), name=corpus.name)
        if ids
        else None
    )


def _compute_f1(
    first_corpus: Corpus, second_corpus: Corpus, kb: KB | None, options: ScoreOptions
) -> dict[str, AgreementScore]:
    """Compute micro F1 by match relation, with the first annotator as gold standard and the second as system.

    The roles can be exchanged.
    """
    return {
        relation: score_f1(count_matches(first_corpus, second_corpus, relation, kb), relation, options)
        for relation in RELATIONS
    }


def count_matches(first: Corpus, second: Corpus, relation: str, kb: KB | None) -> Floats:
    """Return the sums of matches and misses of each document, in the columns of `Statistics`.

    If links are compared, mentions with an unlinked label are excluded.
    """
    settings = {"optional": "required", "quantities": "id"}
    if relation != "mention":
        settings["unlinked"] = "absent"
        first, second = drop_unlinked_mentions(first), drop_unlinked_mentions(second)
    run = predict_mentions(second, first, relation, kb)
    return score_run(first, run, measures=[f"{relation}:micro.f1"], kb=kb, settings=settings).views[relation].weights


def score_f1(rows: Floats, relation: str, options: ScoreOptions) -> AgreementScore:
    """Compute micro F1 from the matches and misses of documents; which annotator is the first does not matter."""
    action = "marked" if relation == "mention" else "linked"
    n_items = round(float(rows[:, 1:].sum()))
    score = AdditiveScore(np.column_stack([rows[:, 0] + rows[:, 2], rows[:, 1] + rows[:, 3]]), _compute_share)
    return score_sums(score, n_items, f"neither annotator {action} anything", options)


def _compute_share(sums: Floats) -> Floats:
    """Return F1 of each row of matches and misses of both annotators; NaN if nothing was marked."""
    return ratio(sums[:, 0], sums[:, 0] + sums[:, 1])


def score_sums(score: AdditiveScore, items: int, reason: str, options: ScoreOptions) -> AgreementScore:
    """Return the value of a score with its interval; `reason` says why it may be undefined."""
    if np.isnan(score.value):
        return AgreementScore(None, None, items, reason)
    interval = None
    if options.resamples:
        (bounds,) = bootstrap_intervals(
            [score], resamples=options.resamples, seed=options.seed, confidence=options.confidence
        )
        interval = to_result(bounds, "documents").interval
    return AgreementScore(score.value, interval, items)
