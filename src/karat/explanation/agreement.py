"""How far annotators of the same documents agree.

What is compared. An *item* is a span of a document that at least one annotator marked. Spans are the same if document,
start and end are; spans that only overlap are two items, on each of which one annotator said nothing. The category that
an annotator gives an item is the entity it is linked to, or NIL, or `without link` where it is marked but not linked,
or `none` where it is not marked. Of a mention with alternatives the first is taken, and parts of another segmentation
are left out, as when a gold file stands for answers, and so is what lies outside a document's evaluation span. An
annotator without a document says nothing about it: its items are missing there, and not `none`.

Nobody says what nobody marked, so that annotators never all agree on `none` (two may, where a third marked a span):
kappa and alpha over all items are lower than they would be over all spans of the text, and F1 is what kappa would
become there (Hripcsak and Rothschild, Agreement, the F-Measure, and Reliability in Information Retrieval, JAMIA 12(3),
2005). Kappa over the items that both marked says how far they agree on the entity.

On categories, such as those of base form or reference, annotators are compared by dimension, over the spans to which
two of them gave one. Whoever did not mark a span, or gave it none of the dimension, is missing there: what to mark is a
question of its own. Several categories of one dimension on one label, as a set, are a category.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from karat.errors import InputError, UsageError
from karat.evaluation.evaluation import evaluate
from karat.kb.any_spelling import in_any_spelling
from karat.kb.protocol import KB
from karat.matching.read.facets import dimension_names
from karat.matching.read.reading import Reading, resolved
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.tables.columns import NIL, NO_LINK, Bools, Longs
from karat.spec.choices.conventions import Ids
from karat.stats.agreement import (
    Coefficient,
    all_the_same,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    over_documents,
)
from karat.stats.samples.bootstrap import Interval, interval
from karat.stats.samples.intervals import RESAMPLES, widened

_Item: TypeAlias = tuple[int, int, int]
"""A document, and where a span begins and ends in it."""

RELATIONS: Final = ("strong", "weak", "mention")

_NONE, _NIL, _NO_LINK = ("",), ("", "NIL"), ("", "without link")
"""Categories that are no entity; tuples, so that no id is the same."""


class Agreed(NamedTuple):
    """A coefficient with its interval over documents, the items it is over, and why it has no value."""

    value: float | None
    interval: Interval | None
    items: int
    reason: str | None = None


class PairAgreed(NamedTuple):
    """Two annotators: micro F1 by relation, and Cohen's kappa.

    `kappa` is over all items of documents that both have, whoever marked them, `kappa_of_links` over those that both
    marked, `kappa_of_categories` by dimension over those that both gave a category.
    """

    one: str
    two: str
    documents: int
    f1: Mapping[str, Agreed]
    kappa: Agreed
    kappa_of_links: Agreed
    kappa_of_categories: Mapping[str, Agreed]


class CategoryAgreement(NamedTuple):
    """All annotators on the categories of one dimension.

    `same` is the share of items on which all who gave one gave the same.
    """

    same: Agreed
    fleiss: Agreed
    alpha: Agreed


@dataclass(frozen=True)
class Agreement:
    """Annotators of the same documents; `left_out` counts what could not be compared.

    `fleiss` and `alpha` are over all items, those `_of_links` over items that all annotators of a document marked;
    `categories` has what they agree on by dimension.
    """

    annotators: tuple[str, ...]
    documents: int
    items: int
    level: float
    resamples: int
    pairs: tuple[PairAgreed, ...]
    fleiss: Agreed
    fleiss_of_links: Agreed
    alpha: Agreed
    alpha_of_links: Agreed
    categories: Mapping[str, CategoryAgreement]
    left_out: Mapping[str, int]


class Judgements(NamedTuple):
    """Codes of categories, one row per annotator and one column per item; -1 is missing, 0 is `none`.

    Documents are numbered in the order of their ids.
    """

    codes: Longs
    document: Longs
    documents: int

    def of(self, annotators: Sequence[int], *, linked: bool = False) -> Judgements:
        """Only some annotators, and the items of documents that two of them have, whoever of all marked them.

        If `linked`, only the items that all of them marked who could.
        """
        codes = self.codes[list(annotators)]
        stay = (codes >= 0).sum(axis=0) > 1
        if linked:
            stay &= (codes != 0).all(axis=0)
        return Judgements(codes[:, stay], self.document[stay], self.documents)


def agree(
    corpora: Sequence[Corpus],
    *,
    kb: KB | None = None,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
) -> Agreement:
    """Compare annotators, each with a corpus of their own; their names must differ.

    Intervals are from samples of documents. With a knowledge base, ids that stand for the same entity are the same.
    """
    annotators = tuple(corpus.name for corpus in corpora)
    if len(corpora) < 2 or len(set(annotators)) < len(annotators):
        raise UsageError("agreement is that of at least two annotators with different names. Give them so.")
    ids = _shared_documents(corpora)
    judged, left_out_labels = judgements(corpora, ids, kb)
    by_dimension = {dimension: category_judgements(corpora, ids, dimension) for dimension in _dimensions(corpora)}
    left_out = {
        "documents that only one annotator has": len({i for each in corpora for i in each.ids.to_pylist()}) - len(ids),
        "labels that are alternatives or parts of others, or outside the evaluation span": left_out_labels,
    }
    how = _How(resamples, level, seed)
    every = range(len(corpora))
    everything, linked = judged.of(every), judged.of(every, linked=True)
    return Agreement(
        annotators=annotators,
        documents=len(ids),
        items=everything.codes.shape[1],
        level=level,
        resamples=resamples,
        pairs=tuple(_pair(corpora, judged, by_dimension, pair, kb, how) for pair in combinations(every, 2)),
        fleiss=how.agreed(fleiss_kappa, everything, complete=True),
        fleiss_of_links=how.agreed(fleiss_kappa, linked, complete=True),
        alpha=how.agreed(krippendorff_alpha, everything),
        alpha_of_links=how.agreed(krippendorff_alpha, linked),
        categories={dimension: _categorised(own, how) for dimension, own in by_dimension.items()},
        left_out={what: count for what, count in left_out.items() if count},
    )


class _How(NamedTuple):
    resamples: int
    level: float
    seed: int

    def agreed(self, coefficient: Coefficient, judged: Judgements, *, complete: bool = False) -> Agreed:
        """A coefficient with its interval; `complete` if it needs the judgements of all."""
        if complete:
            there = (judged.codes >= 0).all(axis=0)
            judged = Judgements(judged.codes[:, there], judged.document[there], judged.documents)
        items = judged.codes.shape[1]
        value = coefficient(judged.codes, None)
        if np.isnan(value):
            return Agreed(None, None, items, "there are no such items" if not items else "all is in one category")
        wide = widened(self.level, len(np.unique(judged.document)))
        if wide is None or not self.resamples:
            return Agreed(value, None, items)
        drawn = over_documents(
            coefficient, judged.codes, judged.document, judged.documents, resamples=self.resamples, seed=self.seed
        )
        return Agreed(value, interval(drawn, wide), items)


def judgements(corpora: Sequence[Corpus], ids: Sequence[str], kb: KB | None = None) -> tuple[Judgements, int]:
    """What each annotator says about each item, and how many labels were left out."""
    said: list[dict[_Item, int]] = []
    codes: dict[tuple[str, ...], int] = {_NONE: 0}
    has = np.zeros((len(corpora), len(ids)), np.bool_)
    left_out, ids_as = 0, Ids.NORMALISED  # as scores read them
    how = Reading(kb=None if kb is None else in_any_spelling(kb, ids_as), ids=ids_as)
    for annotator, corpus in enumerate(corpora):
        labels, documents = corpus.labels, _places(corpus, ids)
        has[annotator, documents[documents >= 0]] = True
        entities = [(name,) for name in resolved(labels.names.to_pylist(), how)]
        number = dict(enumerate(codes.setdefault(each, len(codes)) for each in entities))
        number |= {NIL: codes.setdefault(_NIL, len(codes)), NO_LINK: codes.setdefault(_NO_LINK, len(codes))}
        own = {item: number[int(labels.entity[row])] for item, row in _marked(corpus, documents).items()}
        left_out += int((documents[labels.document] >= 0).sum()) - len(own)
        said.append(own)
    items = sorted({item for own in said for item in own})
    document = np.array([item[0] for item in items], np.int64)
    table = np.array([[own.get(item, 0) for item in items] for own in said], np.int64).reshape(len(said), len(items))
    return Judgements(np.where(has[:, document], table, -1), document, len(ids)), left_out


def category_judgements(corpora: Sequence[Corpus], ids: Sequence[str], dimension: str) -> Judgements:
    """What each annotator says about each span in a dimension of the categories; -1 where that is nothing."""
    said = [_categories(corpus, _places(corpus, ids), dimension) for corpus in corpora]
    items = sorted({item for own in said for item in own})
    values = {value: code for code, value in enumerate(sorted({value for own in said for value in own.values()}))}
    rows = [[values[own[item]] if item in own else -1 for item in items] for own in said]
    codes = np.array(rows, np.int64).reshape(len(said), len(items))
    return Judgements(codes, np.array([item[0] for item in items], np.int64), len(ids))


def _categories(corpus: Corpus, documents: Longs, dimension: str) -> dict[_Item, tuple[str, ...]]:
    """The categories of a dimension on every span that has one."""
    column = corpus.labels.field("categories")
    given = [] if column is None else column.to_pylist()
    found = {}
    for item, row in _marked(corpus, documents).items() if given else ():
        own = sorted({each for each in given[row] or () if each.partition(":")[0] == dimension and ":" in each})
        if own:
            found[item] = tuple(own)
    return found


def _dimensions(corpora: Sequence[Corpus]) -> list[str]:
    """The dimensions of which two annotators use categories."""
    used = Counter(name for corpus in corpora for name in dimension_names(corpus.labels))
    return sorted(name for name, count in used.items() if count > 1)


def _categorised(judged: Judgements, how: _How) -> CategoryAgreement:
    every = judged.of(range(len(judged.codes)))
    return CategoryAgreement(
        same=how.agreed(all_the_same, every),
        fleiss=how.agreed(fleiss_kappa, every, complete=True),
        alpha=how.agreed(krippendorff_alpha, every),
    )


def _places(corpus: Corpus, ids: Sequence[str]) -> Longs:
    """Which of some documents each document of a corpus is, -1 if none."""
    place = {document: number for number, document in enumerate(ids)}
    return np.array([place.get(document, -1) for document in corpus.ids.to_pylist()], np.int64)


def _marked(corpus: Corpus, documents: Longs) -> dict[_Item, int]:
    """The spans that an annotator marked, and the row of the label that stands there for the mention."""
    labels = corpus.labels
    document = documents[labels.document]
    rows = np.flatnonzero((document >= 0) & _evaluated(corpus) & corpus.units.mentions)
    found: dict[_Item, int] = {}
    for row, *item in zip(
        rows.tolist(), document[rows].tolist(), labels.start[rows].tolist(), labels.end[rows].tolist(), strict=True
    ):
        found.setdefault((item[0], item[1], item[2]), row)
    return found


def _evaluated(corpus: Corpus) -> Bools:
    """Which labels lie inside the part of their document that is to be compared."""
    labels = corpus.labels
    if "evaluation_span" not in corpus.table.column_names:
        return np.ones(len(labels), np.bool_)
    spans = [each or (0, None) for each in corpus.table.column("evaluation_span").to_pylist()]
    start = np.array([span[0] for span in spans], np.int64)
    end = np.array([np.iinfo(np.int64).max if span[1] is None else span[1] for span in spans], np.int64)
    return (labels.start >= start[labels.document]) & (labels.end <= end[labels.document])


def _shared_documents(corpora: Sequence[Corpus]) -> list[str]:
    """The ids of documents that at least two annotators have, sorted; their texts must be the same."""
    seen: dict[str, tuple[str, object]] = {}
    shared: set[str] = set()
    for corpus in corpora:
        digests = corpus.table.column("text_digest").to_pylist()
        for document, digest in zip(corpus.ids.to_pylist(), digests, strict=True):
            other, known = seen.setdefault(document, (corpus.name, digest))
            if other != corpus.name:
                shared.add(document)
            if known != digest:
                raise InputError(
                    f"{corpus.name}, document {document!r}",
                    found=f"another text than {other} has under this id",
                    expected="the same text for all annotators",
                    remedy="Give each text an id of its own, or correct the file",
                )
    if not shared:
        raise UsageError("no document is in the files of two annotators. Give files of the same documents.")
    return sorted(shared)


def _pair(
    corpora: Sequence[Corpus],
    judged: Judgements,
    by_dimension: Mapping[str, Judgements],
    pair: tuple[int, int],
    kb: KB | None,
    how: _How,
) -> PairAgreed:
    one, two = (corpora[place] for place in pair)
    common = set(one.ids.to_pylist()) & set(two.ids.to_pylist())
    first, second = _only(one, common), _only(two, common)
    none = Agreed(None, None, 0, "they have no document in common")
    f1 = dict.fromkeys(RELATIONS, none) if first is None or second is None else _f1(first, second, kb, how)
    return PairAgreed(
        one.name,
        two.name,
        len(common),
        f1,
        how.agreed(cohen_kappa, judged.of(pair)),
        how.agreed(cohen_kappa, judged.of(pair, linked=True)),
        {dimension: how.agreed(cohen_kappa, own.of(pair)) for dimension, own in by_dimension.items()},
    )


def _only(corpus: Corpus, ids: set[str]) -> Corpus | None:
    """The documents that both have."""
    if len(ids) == len(corpus):
        return corpus
    return Corpus.of((document for document in corpus if document.id in ids), name=corpus.name) if ids else None


def _f1(one: Corpus, two: Corpus, kb: KB | None, how: _How) -> dict[str, Agreed]:
    """Micro F1 with the first as gold standard; the same the other way round, unless mentions have alternatives.

    Where links are compared, what is marked without link is left out on both sides.
    """
    run, found = Run.of_gold(two, name=two.name), {}
    for relation in RELATIONS:
        choices = {"optional": "required", "quantities": "id", "seed": str(how.seed)}
        if relation != "mention":
            choices["unlinked"] = "absent"
        name = f"{relation}:micro.f1"
        result = evaluate(one, run, measures=[name], kb=kb, resamples=how.resamples, level=how.level, choices=choices)
        score, counts, ends = result.score(name), result.counts(relation), result.intervals.get(name)
        items = round(counts.matched_gold + counts.unmatched_gold + counts.unmatched_answers)
        found[relation] = Agreed(score.value, None if ends is None else Interval(*ends), items, score.reason)
    return found
