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
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from karat.errors import InputError, UsageError
from karat.evaluation.evaluation import evaluate
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.tables.columns import NIL, NO_LINK, Bools, Longs
from karat.stats.agreement import Coefficient, cohen_kappa, fleiss_kappa, krippendorff_alpha, over_documents
from karat.stats.samples.bootstrap import Interval, interval
from karat.stats.samples.intervals import RESAMPLES, widened

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
    marked.
    """

    one: str
    two: str
    documents: int
    f1: Mapping[str, Agreed]
    kappa: Agreed
    kappa_of_links: Agreed


@dataclass(frozen=True)
class Agreement:
    """Annotators of the same documents; `left_out` counts what could not be compared.

    `fleiss` and `alpha` are over all items, those `_of_links` over items that all annotators of a document marked.
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
        pairs=tuple(_pair(corpora, ids, judged, pair, kb, how) for pair in combinations(every, 2)),
        fleiss=how.agreed(fleiss_kappa, everything, complete=True),
        fleiss_of_links=how.agreed(fleiss_kappa, linked, complete=True),
        alpha=how.agreed(krippendorff_alpha, everything),
        alpha_of_links=how.agreed(krippendorff_alpha, linked),
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
    place = {document: number for number, document in enumerate(ids)}
    said: list[dict[tuple[int, int, int], int]] = []
    codes: dict[tuple[str, ...], int] = {_NONE: 0}
    has = np.zeros((len(corpora), len(ids)), np.bool_)
    left_out = 0
    for annotator, corpus in enumerate(corpora):
        labels, units = corpus.labels, corpus.units
        documents = np.array([place.get(document, -1) for document in corpus.ids.to_pylist()], np.int64)
        has[annotator, documents[documents >= 0]] = True
        names = labels.names.to_pylist()
        entities = [(name,) for name in (names if kb is None else kb.canonical(names))]
        number = dict(enumerate(codes.setdefault(each, len(codes)) for each in entities))
        number |= {NIL: codes.setdefault(_NIL, len(codes)), NO_LINK: codes.setdefault(_NO_LINK, len(codes))}
        inside = (documents[labels.document] >= 0) & _evaluated(corpus)
        first = inside & units.mentions
        own: dict[tuple[int, int, int], int] = {}
        rows = zip(
            documents[labels.document][first].tolist(),
            labels.start[first].tolist(),
            labels.end[first].tolist(),
            labels.entity[first].tolist(),
            strict=True,
        )
        for document, start, end, entity in rows:
            own.setdefault((document, start, end), number[entity])
        left_out += int((documents[labels.document] >= 0).sum()) - len(own)
        said.append(own)
    items = sorted({item for own in said for item in own})
    document = np.array([item[0] for item in items], np.int64)
    table = np.array([[own.get(item, 0) for item in items] for own in said], np.int64).reshape(len(said), len(items))
    return Judgements(np.where(has[:, document], table, -1), document, len(ids)), left_out


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
    corpora: Sequence[Corpus], ids: Sequence[str], judged: Judgements, pair: tuple[int, int], kb: KB | None, how: _How
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
