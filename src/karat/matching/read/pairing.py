"""A corpus and a run side by side: the same documents, the same codes for entities, cut into blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from operator import is_
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from karat.errors import InputError, UsageError
from karat.kb.any_spelling import behind
from karat.kb.protocol import KB
from karat.kb.spelling import plain
from karat.matching.read.facets import Facets
from karat.matching.read.ids import ids_said, numbered_apart, numbering
from karat.matching.read.reading import Codes, Reading, renamed, resolved
from karat.matching.read.trees import Trees, trees
from karat.matching.read.widening import WordGaps, widened, words_of
from karat.model.corpus import WITHOUT_TEXT, Corpus, said_of
from karat.model.document import Reply
from karat.model.items import OTHER, Answers, Gold, Items, Lists, Ranked
from karat.model.run import Run
from karat.model.tables import check
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, NO_LINK, Bools, Floats, Ints, Longs, Mentions, Units, by_place
from karat.model.tables.digest import fingerprints

_T = TypeVar("_T")

KINDS = {1: "QUANTITY", 2: "DATETIME"}
"""The kinds of values, by their code in `Items.kind`, as types say them."""

_ENTITY, _NIL_CLUSTER, _GOLD_NIL = "=", "?", "!"  # what names of clusters begin with, by what they are names of

BLOCK = 5_000
"""Documents per block: arrays that stay in the processor's cache."""


class Bare(NamedTuple):
    """Both sides as spans with one id each: where each document begins, and the start, end and entity of its items.

    `linked` says that every item is linked, be it to NIL.
    """

    gold: tuple[Longs, Ints, Ints, Ints]
    answers: tuple[Longs, Ints, Ints, Ints]
    linked: bool


class Pairing(msgspec.Struct, frozen=True, dict=True):
    """What matching needs of both sides.

    `order` puts the answers into the order of the corpus (None: they are in it), `offsets` says where the answers to
    each document begin, and `place` which document of the corpus each reply is to, or -1. `names` are the ids of common
    entity codes; `gold_entity` and `answer_entity` give them for every label and answer, after all that the `reading`
    asks for. Codes of labels come first, and are the same whatever the run.
    """

    corpus: Corpus
    run: Run
    reading: Reading
    order: Longs | None
    offsets: Longs
    place: Longs
    names: Arrow
    gold_entity: Ints
    answer_entity: Ints
    gold_same: Lists | None
    answer_same: Lists | None

    def blocks(self, size: int = BLOCK) -> Iterator[tuple[int, int]]:
        """The first document of each block, and the one behind its last."""
        for first in range(0, len(self.corpus), size):
            yield first, min(first + size, len(self.corpus))

    def gold(self, first: int, last: int) -> Gold:
        """The gold labels of some documents that lie inside the evaluation span."""
        labels, units = self.corpus.labels, self.units
        low, high = int(labels.offsets[first]), int(labels.offsets[last])
        rows = slice(low, high)
        items = Items(
            np.arange(low, high),
            labels.document[rows],
            labels.start[rows],
            labels.end[rows],
            self.gold_entity[rows],
            self.names,
            None if self.gold_same is None else self.gold_same.take(np.arange(low, high)),
            None if self._types is None else self._types[0].take(np.arange(low, high)),
            None if self._clusters is None else self._clusters[0][rows],
            kind=None if self._kinds is None else self._kinds[0][rows],
            content=partial(fingerprints, labels),
        )
        items = self._widened(items)
        parent, optional = units.parent[rows], units.optional[rows]
        if self.reading.required:
            optional = np.zeros(high - low, np.bool_)
        gold = Gold(
            items, units.unit[rows] - low, np.where(parent < 0, -1, parent - low), optional, self.reading.merged
        )
        stay = self._counting(items)
        if self._gold_again is not None:
            stay &= ~self._gold_again[rows]
        return gold if stay.all() else kept(gold, stay)

    def answers(self, first: int, last: int) -> Answers:
        """The answers to some documents that lie inside the evaluation span; repeated ones if they count."""
        items = self._widened(self._answered(first, last))
        score = self._score[items.row]
        if self._spans is None and self._again is None:
            return Answers(items, score)
        stay = self._counting(items)
        if self._again is not None:
            stay &= ~self._again[items.row]
        return Answers(items.take(stay), score[stay])

    @cached_property
    def bare(self) -> Bare | None:
        """All items, if each is a mention or an answer that counts and says no more; without a copy for every block."""
        how, labels, answers = self.reading, self.corpus.labels, self.run.answers
        alone = how.separate or (labels.field("unit") is None and not how.merged)
        optional = not how.required and labels.field("optional") is not None and bool(labels.flag("optional").any())
        more = (self.gold_same, self.answer_same, self._kinds, self._spans, self._gold_again, self._again)
        if not alone or optional or how.words or any(each is not None for each in more):
            return None
        start, end, entity = answers.start, answers.end, self.answer_entity
        if self.order is not None:
            start, end, entity = start[self.order], end[self.order], entity[self.order]
        linked = min(int(codes.min(initial=0)) for codes in (self.gold_entity, entity)) > NO_LINK
        gold = labels.offsets, labels.start, labels.end, self.gold_entity
        return Bare(gold, (self.offsets, start, end, entity), linked)

    def _answered(self, first: int, last: int) -> Items:
        """All answers to some documents."""
        answers = self.run.answers
        low, high = int(self.offsets[first]), int(self.offsets[last])
        places = np.arange(low, high) if self.order is None else self.order[low:high]
        rows = slice(low, high) if self.order is None else places
        return Items(
            places,
            np.repeat(np.arange(first, last, dtype=np.int32), np.diff(self.offsets[first : last + 1])),
            answers.start[rows],
            answers.end[rows],
            self.answer_entity[rows],
            self.names,
            None if self.answer_same is None else self.answer_same.take(places),
            None if self._types is None else self._types[1].take(places),
            None if self._clusters is None else self._clusters[1][rows],
            kind=None if self._kinds is None else self._kinds[1][rows],
            candidates=self._candidates,
            content=partial(fingerprints, answers),
        )

    @cached_property
    def _candidates(self) -> Ranked | None:
        """What answers rank, if they rank anything."""
        column = self.run.answers.field("candidates")
        return None if column is None else Ranked(lambda: _ranked(column, self.names, self.reading))

    @cached_property
    def skipped(self) -> dict[str, int]:
        """What was left out, or is worth knowing, in words."""
        corpus, run = self.corpus, self.run
        known = self.place >= 0
        failed = 0
        if "error" in run.table.column_names:
            failed = int(np.sum(run.table.column("error").is_valid().to_numpy() & known))
        labels_outside = answers_outside = 0
        if self._spans is not None:
            labels_outside = len(corpus.labels) - len(self.gold(0, len(corpus)).unit)
            answers_outside = int((~self._inside(self._answered(0, len(corpus)))).sum())  # matched or not
        return {
            "unanswered documents": len(corpus) - int(known.sum()),
            "failed documents": failed,
            "unknown documents": int((~known).sum()),
            "answers in unknown documents": int(np.diff(run.answers.offsets)[~known].sum()),
            f"answers given twice ({'one counts' if self.reading.once else 'each counts'})": self._repeated,
            "labels outside the evaluation span": labels_outside,
            "answers outside the evaluation span": answers_outside,
        }

    @property
    def _repeated(self) -> int:
        if not self.reading.once:
            return self.run.repeated
        return 0 if self._again is None else int(self._again.sum())

    @cached_property
    def has_gold(self) -> Bools:
        """Which documents have something to find, whatever a view looks at."""
        return np.diff(self.corpus.labels.offsets) > 0

    def of_gold(self, name: str, find: Callable[[], _T], kb: KB | None = None) -> _T:
        """What is found out about the gold labels as they are read, and with a knowledge base: the same for all runs.

        It is noted at the corpus, the last of each name.
        """
        reading, things = self.reading, [behind(each) for each in (self.reading.kb, self.reading.kinds, kb)]
        known = self.corpus.noted.get(name)
        if known is None or known[0] != reading or not all(map(is_, known[1], things)):
            known = self.corpus.noted[name] = (reading, things, find())
        found: _T = known[2]
        return found

    @cached_property
    def labels(self) -> Mentions:
        """The gold labels with their entities as they were read; NIL is NIL here even where nothing may match it."""
        labels = self.corpus.labels
        entity = np.where(labels.entity == NIL, labels.entity, self.gold_entity)
        return msgspec.structs.replace(labels, entity=entity, names=self.names)

    @cached_property
    def units(self) -> Units:
        """Which labels are one mention, as the choice `alternatives` reads them."""
        return self.corpus.units.read_as(
            "separate" if self.reading.separate else "merged" if self.reading.merged else "unit",
            msgspec.structs.replace(self.corpus.labels, entity=self.gold_entity, names=self.names),
        )

    @cached_property
    def answered(self) -> Mentions:
        """The answers with their entities as they were read."""
        return msgspec.structs.replace(self.run.answers, entity=self.answer_entity, names=self.names)

    @cached_property
    def facets(self) -> Facets:
        """The labels by which both sides are filtered and grouped."""
        whole = self.reading.whole
        if whole is None or whole.known is None:
            return Facets(self.labels, self.answered)
        return Facets(self.labels, self.answered, _known(whole.known, self.reading).labels, whole.answered)

    @cached_property
    def _gold_again(self) -> Bools | None:
        """Which labels say again what an earlier one says, where they count once."""
        return self._repeating(self.corpus.labels) if self.reading.once else None

    @cached_property
    def _again(self) -> Bools | None:
        """Which answers say again what an earlier one says, where they count once."""
        return self._repeating(self.run.answers) if self.reading.once and self.run.repeated else None

    def _repeating(self, side: Mentions) -> Bools | None:
        """Which rows say nothing new. Types and NIL clusters are something new where a view looks at them."""
        besides = np.zeros(len(side), np.int64)
        types, clusters = side.field("types"), side.field("nil_cluster")
        if self.reading.typed and types is not None:
            besides = _numbered(pc.binary_join(types, "\x1f").fill_null(""))
        if self.reading.clustered and clusters is not None:
            besides = besides * (len(side) + 1) + np.where(side.entity == NIL, _numbered(clusters), 0)
        rows = check.repeated(side, besides, partial(_by_score, side))
        if not len(rows):
            return None
        again = np.zeros(len(side), np.bool_)
        again[rows] = True
        return again

    @cached_property
    def plain(self) -> tuple[Bools, Bools]:
        """Which ids of labels and which of answers, as they are written, are items like most."""
        return plain(self.corpus.labels.names), plain(self.run.answers.names)

    @cached_property
    def type_names(self) -> Arrow:
        """The types that codes in `Items.types` stand for."""
        found = [mentions.field("types") for mentions in (self.corpus.labels, self.run.answers)]
        return pa.chunked_array([ids.flatten() for ids in found if ids is not None], pa.string()).unique()

    @cached_property
    def _types(self) -> tuple[Lists, Lists] | None:
        if not self.reading.typed:
            return None
        sides = (self.corpus.labels, self.run.answers)
        gold, answers = (_lists(side.field("types"), self.type_names, len(side)) for side in sides)
        return gold, answers

    @cached_property
    def _nil_clusters(self) -> Arrow:
        """The NIL clusters that either side names."""
        found = [side.field("nil_cluster") for side in (self.corpus.labels, self.run.answers)]
        return pa.chunked_array([ids for ids in found if ids is not None], pa.string()).unique().drop_null()

    @cached_property
    def _clusters(self) -> tuple[Ints, Ints] | None:
        """The cluster of each label and answer: its entity, or what NIL cluster it names, or itself alone."""
        if not self.reading.clustered:
            return None
        names = self._nil_clusters
        alone = len(self.names) + len(names)
        codes = []
        for side, entity in ((self.corpus.labels, self.gold_entity), (self.run.answers, self.answer_entity)):
            column, own = side.field("nil_cluster"), alone + np.arange(len(side))
            if column is not None:
                named = pc.index_in(column, names, skip_nulls=True).fill_null(-1).to_numpy(zero_copy_only=False)
                own = np.where(named >= 0, len(self.names) + named, own)
            codes.append(np.where(entity >= 0, entity, own).astype(np.int32))
            alone += len(side)
        return codes[0], codes[1]

    @cached_property
    def cluster_names(self) -> Arrow:
        """What the codes of clusters, which begin with those of entities, are called in any block.

        What is alone comes behind them, and has no name.
        """
        entities = pc.binary_join_element_wise(_ENTITY, self.names, "")
        if self.reading.nil_unmatched:  # the entity that NIL became, which may be called as another
            nil = np.zeros(len(self.names) + 2, np.bool_)
            nil[self.gold_entity[self.corpus.labels.entity == NIL]] = True
            entities = pc.if_else(pa.array(nil[:-2]), _GOLD_NIL, entities)
        return pa.concat_arrays([entities, pc.binary_join_element_wise(_NIL_CLUSTER, self._nil_clusters, "")])

    @cached_property
    def trees(self) -> Trees:
        """How the gold labels hang together, where every label is judged."""
        return self.corpus.once("trees", lambda: trees(self.corpus.labels, self.corpus.units))

    @property
    def nameless(self) -> int:
        """The code of a link without id, where that is an entity; else there is no such link."""
        return (
            int(pc.index(self.names, pa.scalar("", pa.string())).as_py())
            if self.reading.unlinked_is_entity
            else NO_LINK
        )

    @property
    def texts(self) -> list[str]:
        """The texts of the corpus."""
        return read_texts(self.corpus)

    @cached_property
    def gold_kind(self) -> Ints:
        """Which labels are quantities and which datetimes, as codes of `KINDS`."""
        return self.corpus.once("kinds", lambda: value_kinds(self.corpus.labels))

    @cached_property
    def answer_kind(self) -> Ints:
        """Which answers lead to quantities and which to datetimes, as far as anybody says."""
        by_code = np.zeros(len(self.names) + 2, np.int32)
        if self.reading.kinds is not None:
            for code, types in enumerate(self.reading.kinds.types(self.names.to_pylist())):
                by_code[code] = next((kind for kind, name in KINDS.items() if name in (types or ())), 0)
        return by_code[self.answer_entity]

    @property
    def _kinds(self) -> tuple[Ints, Ints] | None:
        return None if self.reading.kinds is None else (self.gold_kind, self.answer_kind)

    @cached_property
    def hyperlinks(self) -> dict[int, frozenset[tuple[int, int]]]:
        """The spans of links in the source of each document that has any, where its metadata say so."""
        return self.corpus.once("hyperlinks", lambda: _hyperlinks(self.corpus))

    @cached_property
    def _score(self) -> Floats:
        return self.run.answers.score()

    @cached_property
    def evaluated(self) -> tuple[list[int], list[int]]:
        """Where the evaluation span of each document begins and ends."""
        if self._spans is None:
            return [0] * len(self.corpus), self.corpus.lengths.tolist()
        return self._spans[0].tolist(), self._spans[1].tolist()

    @cached_property
    def _spans(self) -> tuple[Longs, Longs] | None:
        """The evaluation span of every document, or None where no document has one."""
        if "evaluation_span" not in self.corpus.table.column_names:
            return None
        column = pa.concat_arrays(self.corpus.table.column("evaluation_span").chunks)
        sizes = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        given = np.flatnonzero(sizes)
        if not len(given):
            return None
        flat = column.flatten().to_numpy().reshape(-1, 2)
        start, end = np.zeros(len(sizes), np.int64), self.corpus.lengths.copy()
        start[given], end[given] = flat[:, 0], flat[:, 1]
        return start, end

    def _widened(self, items: Items) -> Items:
        """The items with what the reading asks of their spans."""
        if self.reading.span_of_unmatched and self._spans is not None:
            items = msgspec.structs.replace(items, outside=~self._inside(items))
        if not self.reading.words or not len(items):
            return items
        return msgspec.structs.replace(items, words=widened(self.words, items.document, items.start, items.end))

    @property
    def words(self) -> WordGaps:
        """The words of the texts of the corpus; ask before many threads do."""
        return self.corpus.once("words", lambda: words_of(self.texts))

    def _counting(self, items: Items) -> Bools:
        """Which items may count at all."""
        return np.ones(len(items), np.bool_) if self.reading.span_of_unmatched else self._inside(items)

    @property
    def inside(self) -> tuple[Bools, Bools]:
        """Which labels and which answers lie inside the evaluation span of a document of the corpus."""
        labels, answers = self.corpus.labels, self.run.answers
        if self._spans is None and (self.place >= 0).all():
            return np.ones(len(labels), np.bool_), np.ones(len(answers), np.bool_)
        asked = self.place[answers.document]
        if self._spans is None:
            return np.ones(len(labels), np.bool_), asked >= 0
        start, end = self._spans
        gold = (labels.start >= start[labels.document]) & (labels.end <= end[labels.document])
        return gold, (asked >= 0) & (answers.start >= start[asked]) & (answers.end <= end[asked])

    def _inside(self, items: Items) -> Bools:
        if self._spans is None:
            return np.ones(len(items), np.bool_)
        start, end = self._spans
        return (items.start >= start[items.document]) & (items.end <= end[items.document])


def _hyperlinks(corpus: Corpus) -> dict[int, frozenset[tuple[int, int]]]:
    given = said_of(corpus.table, ("hyperlinks",)).to_pylist()
    return {document: _linked_spans(text) for document, text in enumerate(given) if text is not None}


@lru_cache(maxsize=4096)  # files of linked articles bring the documents of their benchmark along
def _linked_spans(hyperlinks: str) -> frozenset[tuple[int, int]]:
    """The spans in a list of links as JSON."""
    return frozenset(span for span, _ in msgspec.json.decode(hyperlinks, type=list[tuple[tuple[int, int], Any]]))


def read_texts(corpus: Corpus) -> list[str]:
    """The texts of a corpus, where scores look at them."""
    if corpus.skipped.get(WITHOUT_TEXT):
        raise UsageError(f"{corpus.name} gives no texts, and these scores look at them. Give a file with texts.")
    return corpus.texts


def value_kinds(labels: Mentions) -> Ints:
    """Which labels are quantities and which datetimes, as codes of `KINDS`."""
    kinds = np.zeros(len(labels), np.int32)
    types, named = labels.field("types"), labels.field("kind")
    for code, kind in reversed(KINDS.items()):
        if types is not None:
            lengths = types.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
            owner = np.repeat(np.arange(len(kinds)), lengths)
            kinds[owner[pc.equal(types.flatten(), kind).to_numpy(zero_copy_only=False)]] = code
        if named is not None:
            kinds[pc.equal(named, kind.lower()).fill_null(False).to_numpy(zero_copy_only=False)] = code
    return kinds


def kept(gold: Gold, mask: Bools) -> Gold:
    """Some of the labels, with units and parents renumbered.

    A mention of which an alternative is gone becomes optional, since an answer may have been right by the one that is
    gone; so does a root that lost a part, and a part that lost its root.
    """
    places = np.flatnonzero(mask)
    new = np.full(len(mask) + 1, -1)
    units, first = np.unique(gold.unit[places], return_index=True)
    if gold.tied and not mask[units].all():
        items = gold.items.take(places)
        order = np.lexsort((*by_place(items.names, items.entity, items.end, items.start), gold.unit[places]))
        first = order[np.searchsorted(gold.unit[places][order], units)]
    new[units] = np.where(mask[units], np.cumsum(mask)[units] - 1, first)  # the label that stands for it, if it stays
    broken = np.zeros(len(mask) + 1, np.bool_)
    lost = np.unique(gold.unit[~mask])
    while len(lost):
        broken[lost] = True
        lost = np.unique(gold.parent[lost])
        lost = lost[lost >= 0]
    parent = new[gold.parent[places]]
    orphaned = (gold.parent[places] >= 0) & (parent < 0)
    optional = gold.optional[places] | broken[gold.unit[places]] | orphaned
    if gold.merged:  # what is gone belongs to another part of the data
        optional = gold.optional[places]
    return Gold(gold.items.take(places), new[gold.unit[places]], parent, optional, gold.merged)


def pair(corpus: Corpus, run: Run, *, allow_unknown: bool = False, how: Reading | None = None) -> Pairing:
    """Lay a run beside a corpus.

    Documents may come in any order. Answers to documents that the corpus does not have are an error, unless
    allowed, and then counted; so are documents without a reply.
    """
    place = np.arange(len(corpus))
    if not run.ids.equals(corpus.ids):
        place = np.asarray(pc.index_in(run.ids, corpus.ids).fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
    unknown = np.flatnonzero(place < 0)
    if len(unknown) and not allow_unknown:
        first = int(unknown[0])
        raise unknown_document(
            run.where(first), run.ids[first].as_py(), corpus.name, len(unknown) - 1, corpus.ids, run.ids
        )
    labels, answers = corpus.labels, run.answers
    limits = np.append(corpus.lengths, np.iinfo(np.int64).max)[place]  # the last is for unknown documents
    check.refuse(_outside(corpus, run, limits, known=not allow_unknown), run.where)
    counts = np.diff(answers.offsets)
    per_document = np.zeros(len(corpus), np.int64)
    per_document[place[place >= 0]] = counts[place >= 0]
    in_order = len(place) == 0 or (place[0] >= 0 and bool(np.all(place[1:] > place[:-1])))
    order = None if in_order else np.argsort(np.repeat(place, counts), kind="stable")[counts[place < 0].sum() :]
    names, answer_codes = _common(labels, answers)
    # Common codes begin with the gold standard's own, so that its labels keep theirs.
    sides = (
        Codes(labels.entity, _same_as(labels, names)),
        Codes(answer_codes[answers.entity], _same_as(answers, names)),
    )
    how = how or Reading()
    if how.renames:
        names, sides = renamed(names, sides, how)
    gold, answered = sides
    offsets = np.concatenate([[0], np.cumsum(per_document)])
    return Pairing(
        corpus,
        run,
        how,
        order,
        offsets,
        place,
        names,
        gold.entity,
        answered.entity,
        gold.same_as,
        answered.same_as,
    )


def _outside(corpus: Corpus, run: Run, limits: Longs, *, known: bool) -> Iterator[check.Problem]:
    """Answers outside of their text; where all documents are known and numbered differently, that comes first."""
    for problem in check.inside(run.answers, limits, "answer"):
        said = numbered_apart(corpus.ids, run.ids, corpus.name) if known else ""
        yield problem._replace(found=f"{said}, and {problem.found}") if said else problem


def unknown_document(where: str, document: str, corpus: str, more: int, gold: Arrow, answered: Arrow) -> InputError:
    """What to say of a reply to a document that the corpus does not have, by the ids of both sides."""
    others = f" ({more} more like it)" if more else ""
    first = numbering(gold, answered) or "Check that both files are of the same corpus and split"
    return InputError(
        where,
        found=f"document {document!r}, which {corpus} does not have{others}: {ids_said(gold, answered, corpus)}",
        expected="documents of the gold standard",
        remedy=f"{first}, or write the text of each document beside its answers, so that they are paired by it; "
        "--allow-unknown leaves it out",
    )


@lru_cache(maxsize=8)  # the blocks of one evaluation share it, and then it may go
def _known(corpus: Corpus, how: Reading) -> Pairing:
    """What is known of the whole, read as the block is."""
    return pair(corpus, Run.of([Reply(corpus.ids[0].as_py())]), how=replace(how, whole=None))


def as_written(labels: Mentions) -> tuple[Arrow, Codes]:
    """The ids in some labels and the codes of each, whatever a run says and however it is read."""
    names = _and_further(labels.names, labels)
    return names, Codes(labels.entity, _same_as(labels, names))


def _common(labels: Mentions, answers: Mentions) -> tuple[Arrow, Ints]:
    """All ids, those of the gold standard first and in their order; and the codes of the answers' ids among them.

    The codes keep NO_LINK and NIL at their end.
    """
    own = _and_further(labels.names, labels)
    known = pc.index_in(answers.names, own)
    new = answers.names.filter(known.is_null())
    codes = known.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    codes[codes < 0] = len(own) + np.arange(len(new))
    names = _and_further(pa.concat_arrays([own, new]), answers)
    return names, np.append(codes, np.array([NO_LINK, NIL], np.int32))


def _and_further(names: Arrow, mentions: Mentions) -> Arrow:
    """Some ids, and behind them those that stand only in `same_as`."""
    further = mentions.field("same_as")
    return names if further is None else pa.concat_arrays([names, further.flatten()]).unique()


def _by_score(side: Mentions, rows: Longs) -> tuple[NDArray[Any], ...]:
    """Of rows that say the same, the one without score counts, or else that of the highest; then content decides."""
    score = side.score()[rows]
    return fingerprints(side, rows), np.where(np.isnan(score), -np.inf, -score)


def _numbered(column: Arrow) -> Longs:
    """A number for each value, from 1; 0 where there is none."""
    codes = column.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(codes, np.int64) + 1


def _same_as(mentions: Mentions, common: Arrow) -> Lists | None:
    column = mentions.field("same_as")
    return None if column is None else _lists(column, common, len(mentions))


def _ranked(column: Arrow, common: Arrow, how: Reading) -> Lists:
    """A column of lists of candidates as codes into `common`, their ids resolved as those of answers are."""
    lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    ids = pc.struct_field(column.flatten(), "entity").dictionary_encode()
    known = pc.index_in(pa.array(resolved(ids.dictionary.to_pylist(), how), pa.string()), common)
    codes = known.fill_null(OTHER).to_numpy(zero_copy_only=False).astype(np.int32)
    return Lists(np.concatenate([[0], np.cumsum(lengths)]), codes[ids.indices.to_numpy(zero_copy_only=False)])


def _lists(column: Arrow | None, common: Arrow, count: int) -> Lists:
    """A column of lists of strings as codes into `common`."""
    if column is None:
        return Lists(np.zeros(count + 1, np.int64), np.zeros(0, np.int32))
    lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    codes = pc.index_in(column.flatten(), common).to_numpy(zero_copy_only=False)
    return Lists(np.concatenate([[0], np.cumsum(lengths)]), np.asarray(codes, np.int32))
