"""Check of whether predictions fit the gold texts, or fit better as another kind of offsets or in other documents.

A prediction fits badly if it begins or ends inside a word, or with white space. Documents with such predictions are
tried under every kind of offsets. Scripts without spaces have no such edges; there, the gold spans decide.

Large corpora are checked in a random sample of about 1,000 documents, so that the check costs little. The probability
that it misses a mistake in one of a hundred documents is 0.00004. The hash of its id decides whether a document is in
the sample, so that neither the order of documents nor their division into blocks matters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.offsets.offset_kinds import OffsetKind
from karat.model.offsets.unit_maps import UnitMap, encode_text, map_units
from karat.model.output.text_layout import format_count
from karat.model.run import Run
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Longs
from karat.model.tables.digest import hash_strings

_WORD, _SPACE, _UNSPACED = 1, 2, 3
_LAST_SPACED = 0x2E7F  # CJK and other scripts without spaces follow
_UNSPACED_RANGES = ((0x0E00, 0x0FFF), (0x1000, 0x109F), (0x1780, 0x17FF))  # Thai to Tibetan, Burmese, Khmer
_PART_LENGTH = 1 << 18
_MIN_GAIN = 3
_MIN_RATIO = 3  # of documents that fit better and worse
_MIN_SHARE = 0.1  # of all documents with predictions
_MAX_DOCUMENTS = 1000  # above this number, a sample of about this size is checked
_WORST_SIZE = 100  # documents that fit worst
_MIN_RELATIVE_GAIN = 0.9  # of the best kind in these documents, to be counted in all documents
_NO_LENGTH = np.iinfo(np.int32).max  # of documents that were added without their texts
_MIN_SHIFTED = 3
_MIN_SHIFTED_MATCHES = 0.3  # of the predictions of a document
_MIN_MISFITS = 3
_MAX_MISFITS = 0.3  # of all predictions; careful systems have less than 0.06
CONVERTED: Final = "documents whose offsets were converted from {} to code points"
"""The description under which a run counts documents that the user let convert; the gap is for the kind of offsets."""

_NORMAL_FORMS = ((OffsetKind.NFC, "NFC"), (OffsetKind.NFD, "NFD"))


class KindFit(NamedTuple):
    """How predictions fit as a kind of offsets, if they fit better in some document; counts add up over blocks."""

    n_better: int = 0
    """Number of documents whose predictions fit badly as code points, and clearly better as this kind."""
    n_worse: int = 0
    """Number of documents whose predictions fit badly as code points, and worse as this kind."""
    n_broken: int = 0
    """Number of documents whose predictions fit as code points, and badly as this kind."""
    gain: int = 0
    """Additional good spans and matched gold spans in the documents that fit better."""


class OffsetFit(NamedTuple):
    """How well the offsets of predictions fit the texts; counts add up over blocks."""

    n_documents: int = 0
    """Number of documents with predictions."""
    kinds: tuple[tuple[OffsetKind, KindFit], ...] = ()
    """Counts for each kind of offsets that fits better in some document, in the order of kinds."""
    n_spans: int = 0
    """Number of predictions."""
    n_misfits: int = 0
    """Number of predictions that fit badly."""
    n_bad_documents: int = 0
    """Number of documents in which at least half of the predictions fit badly."""
    n_shifted: tuple[int, int] = (0, 0)
    """Number of these documents whose predictions are on gold spans of the document before and after theirs."""
    is_sample: bool = False
    """Whether only a sample of the documents was checked."""
    converted_kind: OffsetKind = OffsetKind.CODE_POINTS
    """The kind from which the user converted the offsets."""

    def merge(self, other: OffsetFit) -> OffsetFit:
        """Return the counts of both blocks together."""
        sums = dict(self.kinds)
        for kind, fit in other.kinds:
            sums[kind] = KindFit(*map(sum, zip(sums.get(kind, KindFit()), fit, strict=True)))
        before, after = self.n_shifted
        return OffsetFit(
            self.n_documents + other.n_documents,
            tuple((kind, sums[kind]) for kind in OffsetKind if kind in sums),
            self.n_spans + other.n_spans,
            self.n_misfits + other.n_misfits,
            self.n_bad_documents + other.n_bad_documents,
            (before + other.n_shifted[0], after + other.n_shifted[1]),
            self.is_sample or other.is_sample,
            other.converted_kind if self.converted_kind is OffsetKind.CODE_POINTS else self.converted_kind,
        )

    def find_best_kinds(self) -> list[OffsetKind]:
        """Return the kinds of the file that fit clearly better than its offsets as read; empty if none does.

        Several kinds are returned only if they fit equally well, the most usual one first.
        """
        return [kind for kind, _ in self._rank_kinds()]

    def _rank_kinds(self) -> list[tuple[OffsetKind, KindFit]]:
        """Return the best kinds of the file, each with its counts.

        If the user converted the offsets, the kind of the file combines both conversions, and others are left out.
        """
        ranks = {kind: (fit.n_better - fit.n_broken, fit.gain) for kind, fit in self.kinds if self._is_clear(kind, fit)}
        fits = dict(self.kinds)
        best = [kind for kind, rank in ranks.items() if rank == max(ranks.values())]
        combined = [(self.converted_kind.combine(kind), fits[kind]) for kind in best]
        return [(kind, fit) for kind, fit in combined if kind is not None]

    def _is_clear(self, kind: OffsetKind, fit: KindFit) -> bool:
        """Return whether the evidence for a kind suffices.

        Kinds that shift every span need more of it, since a system with careless spans may gain by a shift too.
        """
        is_shift = kind.shift != (0, 0)
        return (
            fit.gain >= _MIN_GAIN
            and fit.n_better >= _MIN_RATIO * fit.n_worse
            and 2 * fit.n_better >= self.n_bad_documents
            and (not is_shift or fit.n_better >= _MIN_SHARE * self.n_documents)
        )

    def describe(self) -> str | None:
        """Return a warning that names the likely mistake, such as another kind of offsets, with advice; else None."""
        kinds = self._rank_kinds()
        if not kinds:
            return self._describe_other_texts()
        (best, fit), *others = kinds
        alternatives = f" (or as {', '.join(kind for kind, _ in others)})" if others else ""
        is_converted = self.converted_kind is not OffsetKind.CODE_POINTS
        advice = (
            f"{format_count(fit.n_broken, 'other document')} fit only as {self.converted_kind.description}, so the "
            "file mixes kinds of offsets: correct it where it is written"
            if fit.n_broken
            else f"pass --offsets {best} instead (in Python, load_run with offsets='{best}')"
            if is_converted
            else f"to convert them, pass --offsets {best} (in Python, load_run with offsets='{best}')"
        )
        return (
            f"in {fit.n_better:,} of {self._describe_documents()} with predictions, the offsets fit the text as "
            f"{best.description}{alternatives}, but not as {self.converted_kind.description}. "
            f"{'They were converted from these' if is_converted else 'Nothing was converted'}: {advice}"
        )

    def _describe_documents(self) -> str:
        """Return the number of checked documents with the noun."""
        return f"{'a sample of ' if self.is_sample else ''}{format_count(self.n_documents, 'document')}"

    def _describe_other_texts(self) -> str | None:
        """Return a warning if many predictions seem to belong to other texts than those of their documents."""
        count = max(self.n_shifted)
        if count >= max(_MIN_SHIFTED, _MIN_SHARE * self.n_documents, self.n_bad_documents / 2):
            neighbour = "before" if count == self.n_shifted[0] else "after"
            return (
                f"the predictions of {count:,} of {self._describe_documents()} fit the document {neighbour} theirs "
                "in the gold standard, not their own: the document ids seem to be shifted. Number the documents "
                "of both files the same way"
            )
        if self.n_misfits >= _MIN_MISFITS and self.n_misfits >= _MAX_MISFITS * self.n_spans:
            sample = " of a sample" if self.is_sample else ""
            return (
                f"{self.n_misfits:,} of {self.n_spans:,} predictions{sample} begin or end inside a word or with white "
                "space, so they seem to belong to other texts. Check document ids and offsets"
            )
        return None


def check_offsets(corpus: Corpus, run: Run, document_index: Longs, n_documents: int | None = None) -> OffsetFit:
    """Check how well the offsets of a run fit the texts of a corpus; count nothing if there are no texts.

    `document_index` is the document of each response in the corpus, or -1. `n_documents` is the number of documents of
    the whole corpus if `corpus` has only a part of them. All kinds of offsets are tried on the documents that fit
    worst, and those that fit better there are counted in all documents that are checked.
    """
    if not corpus.has_text or corpus.skipped.get(NO_TEXT_NOTE) or not len(run.predictions):
        return OffsetFit()
    # Documents that only the predictions have were added without their texts.
    size = int((corpus.lengths != _NO_LENGTH).sum()) if n_documents is None else n_documents
    texts = corpus.table.column("text")
    is_blank = pc.or_(pc.equal(texts, ""), pc.utf8_is_space(texts)).to_numpy()  # blanks stand for unknown texts
    is_checked = ~is_blank & mask_sample(corpus.ids, size)
    data = _Data.from_run(corpus, run, document_index, np.flatnonzero(is_checked))
    n_spans = np.bincount(data.spans.document, minlength=len(data.rows))
    n_misfits = np.zeros(len(data.rows), np.int64)
    is_suspect = np.zeros(len(data.rows), np.bool_)
    for part in data.iterate_parts():
        is_suspect[part.documents], misfits = _find_suspects(part)
        n_misfits[part.documents] = np.bincount(part.spans.document[misfits], minlength=len(part.texts.first))
    is_bad = (n_misfits > 0) & (2 * n_misfits >= n_spans)
    fit = OffsetFit(
        n_documents=int((n_spans > 0).sum()),
        n_spans=int(n_spans.sum()),
        n_misfits=int(n_misfits.sum()),
        n_bad_documents=int(is_bad.sum()),
        is_sample=size > _MAX_DOCUMENTS,
        converted_kind=_find_converted_kind(run),
    )
    suspects = np.flatnonzero(is_suspect)
    if not len(suspects):
        return fit
    digests = corpus.table.column("text_digest").to_numpy()[
        data.rows[suspects]
    ]  # independent of the order of documents
    order = np.lexsort((digests, -n_misfits[suspects] / n_spans[suspects]))
    sample = np.sort(suspects[order[:_WORST_SIZE]])
    return fit._replace(kinds=_count_kinds(data, sample, is_suspect), n_shifted=_count_shifted(data, sample, is_bad))


def _find_converted_kind(run: Run) -> OffsetKind:
    """Return the kind from which the user converted the offsets of a run; code points if nothing was converted."""
    kinds = (kind for kind in OffsetKind if CONVERTED.format(kind.description) in run.skipped)
    return next(kinds, OffsetKind.CODE_POINTS)


def count_worsened(run: Run, texts: list[str | None], sample: Bools, start: Longs, end: Longs) -> int:
    """Count the documents in which the spans of a run fit worse after a conversion, to `start` and `end`; 0 if few.

    `texts` are the texts of the responses, and `sample` marks the responses that are checked. As for the search of a
    better kind, few documents and few spans prove nothing.
    """
    is_checked = np.array([bool(text) for text in texts], np.bool_) & sample
    rows, number = np.flatnonzero(is_checked), np.cumsum(is_checked) - 1
    checked_texts = [texts[row] or "" for row in rows.tolist()]
    joined = _JoinedTexts.from_texts(checked_texts, np.array([len(text) for text in checked_texts], np.int64))
    predictions = run.predictions
    is_compared = is_checked[predictions.document] & ((start != predictions.start) | (end != predictions.end))
    document = number[predictions.document][is_compared]
    before, after = (
        np.bincount(
            document[joined.mask_misfits(_Spans(document, starts[is_compared], ends[is_compared]))[0]],
            minlength=len(rows),
        )
        for starts, ends in ((predictions.start, predictions.end), (start, end))
    )
    n_worse, n_better = int((after > before).sum()), int((after < before).sum())
    is_clear = int((after - before).sum()) >= _MIN_GAIN and n_worse >= _MIN_RATIO * n_better
    return n_worse if is_clear else 0


def mask_sample(ids: Arrow, n_documents: int) -> Bools:
    """Return a mask of the documents in `ids` that are checked; `n_documents` is the number of all documents."""
    if n_documents <= _MAX_DOCUMENTS:
        return np.ones(len(ids), np.bool_)
    return np.asarray(hash_strings(ids) < np.uint64((_MAX_DOCUMENTS << 64) // n_documents), np.bool_)


def _count_kinds(data: _Data, sample: Longs, is_suspect: Bools) -> tuple[tuple[OffsetKind, KindFit], ...]:
    """Return the counts of the kinds that fit better in some documents of `sample`, counted in all documents."""
    part = data.take_documents(sample)
    _, misfits = _find_suspects(part)
    gains: dict[OffsetKind, int] = {}
    for kind in OffsetKind:
        fit = _try_kind(part, misfits, kind)
        if fit.n_better and fit.n_better >= _MIN_RATIO * fit.n_worse:
            gains[kind] = fit.gain
    counts = {kind: KindFit() for kind, gain in gains.items() if gain >= _MIN_RELATIVE_GAIN * max(gains.values())}
    for part in data.iterate_parts() if counts else ():
        _, misfits = _find_suspects(part)
        in_suspects = is_suspect[part.documents][part.spans.document]
        suspects, others = (part._replace(spans=part.spans.take(rows)) for rows in (in_suspects, ~in_suspects))
        for kind, total in counts.items():
            fit = _try_kind(suspects, misfits[in_suspects], kind)._replace(n_broken=_count_broken(others, kind))
            counts[kind] = KindFit(*map(sum, zip(total, fit, strict=True)))
    return tuple(counts.items())


def _count_broken(part: _Part, kind: OffsetKind) -> int:
    """Count the documents that have predictions that fit badly as `kind`."""
    converted = part.texts.convert(part.spans, kind, _map_units(part.texts, kind))
    return len(np.unique(converted.document[part.texts.mask_misfits(converted)[0]]))


class _Spans(NamedTuple):
    """Spans of gold labels or predictions."""

    document: NDArray[np.integer]
    """The document of each span, as an index into the texts that are checked."""
    start: NDArray[np.integer]
    """The start of each span in its document."""
    end: NDArray[np.integer]
    """The end of each span in its document."""

    def take(self, rows: NDArray[np.integer] | Bools | slice) -> _Spans:
        """Return some of the spans."""
        return _Spans(self.document[rows], self.start[rows], self.end[rows])


class _JoinedTexts(NamedTuple):
    """Texts as one array of code points, with a line end before and after each."""

    text: str
    """The joined texts."""
    codes: NDArray[np.unsignedinteger]
    """The code points of the joined texts."""
    first: Longs
    """The offset of each text."""
    end: Longs
    """The offset after each text."""

    @classmethod
    def from_texts(cls, texts: list[str], lengths: Longs) -> _JoinedTexts:
        """Join texts by line breaks into one; `lengths` are their lengths in code points."""
        text = "\n".join(["", *texts, ""])
        first = 1 + np.concatenate([np.zeros(1, np.int64), np.cumsum(np.where(lengths == _NO_LENGTH, 0, lengths) + 1)])
        units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.uint16)
        codes: NDArray[np.unsignedinteger] = units if len(units) == len(text) else encode_text(text)
        return cls(text, codes, first[:-1], first[1:] - 1)

    def classify(self, offsets: Longs) -> NDArray[np.uint8]:
        """Return the class of the character at each offset."""
        codes = self.codes[offsets]
        classes: NDArray[np.uint8] = _character_classes()[
            codes if codes.dtype == np.uint16 else np.minimum(codes, 0xFFFF)
        ]
        return classes

    def mask_misfits(self, spans: _Spans) -> tuple[Bools, Bools]:
        """Return two masks: spans that fit badly, and spans whose edges are in a script without spaces."""
        first = self.first[spans.document]
        start, end = first + spans.start, first + spans.end
        is_outside = (spans.start < 0) | (end <= start) | (end > self.end[spans.document])
        if is_outside.any():
            start, end = np.where(is_outside, first, start), np.where(is_outside, first + 1, end)
        before, opening = self.classify(start - 1), self.classify(start)
        closing, after = self.classify(end - 1), self.classify(end)
        misfits = (opening == _SPACE) | (closing == _SPACE) | is_outside
        misfits |= (opening == _WORD) & (before == _WORD)
        misfits |= (closing == _WORD) & (after == _WORD)
        return misfits, (opening == _UNSPACED) | (closing == _UNSPACED)

    def convert(self, spans: _Spans, kind: OffsetKind, units: UnitMap) -> _Spans:
        """Return the spans, read as offsets of `kind`; `units` is the unit map of that kind."""
        start, end = spans.start.astype(np.int64), spans.end.astype(np.int64)
        if len(units.positions):
            first = self.first[spans.document]
            first_unit = units.to_units(self.first)[spans.document]
            limit = self.end[spans.document] + 1  # offsets after the text stay outside it
            start = np.minimum(units.to_code_points(first_unit + start), limit) - first
            end = np.minimum(units.to_code_points(first_unit + end), limit) - first
        start_shift, end_shift = kind.shift
        return _Spans(spans.document, start + start_shift, end + end_shift)


@cache
def _character_classes() -> NDArray[np.uint8]:
    """Return the class of each code point of 16 bits; the last one is the class of all further ones."""
    classes = np.full(1 << 16, _UNSPACED, np.uint8)
    classes[: _LAST_SPACED + 1] = 0
    for code in range(_LAST_SPACED + 1):
        character = chr(code)
        if character.isspace():
            classes[code] = _SPACE
        elif character.isalnum() or unicodedata.combining(character):
            classes[code] = _WORD
    for first, last in _UNSPACED_RANGES:
        classes[first : last + 1] = _UNSPACED
    return classes


class _Part(NamedTuple):
    """Some documents with their gold labels and predictions; spans name documents by their number in the part."""

    documents: Longs | slice
    """The documents of the part in the corpus."""
    texts: _JoinedTexts
    """The texts."""
    gold: _Spans
    """The spans of the gold labels."""
    spans: _Spans
    """The spans of the predictions."""


class _Data(NamedTuple):
    """The documents that are checked, with the predictions for them; spans name documents by their number here."""

    rows: Longs
    """The row of each document in the corpus."""
    corpus: Corpus
    """The gold standard, which may have further documents."""
    texts: Arrow
    """The texts, as a chunked array."""
    gold: _Spans
    """The spans of the gold labels, in the order of documents."""
    spans: _Spans
    """The spans of the predictions, in the order of documents."""

    @classmethod
    def from_run(cls, corpus: Corpus, run: Run, document_index: Longs, rows: Longs) -> _Data:
        """Take the documents in `rows` (sorted), and sort the predictions for them by document."""
        number = np.full(len(corpus) + 1, -1)  # the last one is for unknown documents
        number[rows] = np.arange(len(rows))
        is_whole, labels = len(rows) == len(corpus), corpus.labels
        gold = _Spans(labels.document, labels.start, labels.end)
        texts = corpus.table.column("text")
        if not is_whole:
            gold = gold.take(number[labels.document] >= 0)
            gold, texts = gold._replace(document=number[gold.document]), texts.take(pa.array(rows))
        document = number[document_index][run.predictions.document]
        spans = _Spans(document, run.predictions.start, run.predictions.end)
        if len(document) and document.min() < 0:
            spans = spans.take(document >= 0)
        if np.any(spans.document[1:] < spans.document[:-1]):
            spans = spans.take(np.argsort(spans.document, kind="stable"))
        return cls(rows, corpus, texts, gold, spans)

    @property
    def lengths(self) -> Longs:
        """The length of each text."""
        return self.corpus.lengths[self.rows]

    def iterate_parts(self) -> Iterator[_Part]:
        """Yield the documents in parts of limited length, which need little memory at a time."""
        lengths = self.lengths
        number = np.cumsum(lengths) // _PART_LENGTH
        bounds = np.array([0, *(np.flatnonzero(number[1:] != number[:-1]) + 1).tolist(), len(lengths)])
        ranges = (pairwise(np.searchsorted(side.document, bounds).tolist()) for side in (self.spans, self.gold))
        for (first, last), span_range, gold_range in zip(pairwise(bounds.tolist()), *ranges, strict=True):
            spans, gold = self.spans.take(slice(*span_range)), self.gold.take(slice(*gold_range))
            if len(spans.start):
                yield _Part(
                    slice(first, last),
                    _JoinedTexts.from_texts(self.texts.slice(first, last - first).to_pylist(), lengths[first:last]),
                    gold._replace(document=gold.document - first),
                    spans._replace(document=spans.document - first),
                )

    def take_documents(self, documents: Longs) -> _Part:
        """Return some documents, which must be sorted, as one part."""
        number = np.full(len(self.rows), -1)
        number[documents] = np.arange(len(documents))
        texts = self.texts.take(pa.array(documents)).to_pylist()
        sides = (side.take(number[side.document] >= 0) for side in (self.gold, self.spans))
        gold, spans = (side._replace(document=number[side.document]) for side in sides)
        return _Part(documents, _JoinedTexts.from_texts(texts, self.lengths[documents]), gold, spans)


def _find_suspects(part: _Part) -> tuple[Bools, Bools]:
    """Return a mask of the documents with predictions that fit badly, and a mask of these predictions.

    A prediction on a gold span fits, whatever its edges are: some gold standards link parts of words.
    """
    misfits, is_unspaced = part.texts.mask_misfits(part.spans)
    rows = np.flatnonzero(misfits)
    misfits[rows] = ~_mask_matches(part.spans.take(rows), part.gold)
    is_suspect = np.zeros(len(part.texts.first), np.bool_)
    is_suspect[part.spans.document[misfits]] = True
    if is_unspaced.any():
        is_suspect |= _find_unmatched_documents(part, is_unspaced)
    return is_suspect, misfits


def _find_unmatched_documents(part: _Part, is_unspaced: Bools) -> Bools:
    """Return a mask of the documents in a script without spaces in which most predictions are on no gold span.

    `is_unspaced` marks the predictions in such scripts.
    """
    spans, size = part.spans, len(part.texts.first)
    is_checked = np.zeros(size, np.bool_)
    is_checked[spans.document[is_unspaced]] = True
    rows = is_checked[spans.document]
    matches = np.bincount(spans.document[rows][_mask_matches(spans.take(rows), part.gold)], minlength=size)
    return is_checked & (2 * matches < np.bincount(spans.document, minlength=size))


def _count_shifted(data: _Data, sample: Longs, is_bad: Bools) -> tuple[int, int]:
    """Count the documents of `is_bad` whose predictions fit the gold spans of the document before, and of that after.

    Return (0, 0) if few bad documents in `sample`, which are looked at first, are shifted like this.
    """
    is_sampled = np.zeros(len(is_bad), np.bool_)
    is_sampled[sample] = True
    counts, labels = (0, 0), data.corpus.labels
    gold = _Spans(labels.document, labels.start, labels.end)  # of unchecked documents too, which may be neighbours
    for mask in (is_bad & is_sampled, is_bad):
        spans = data.spans.take(mask[data.spans.document])
        n_spans = np.bincount(spans.document, minlength=len(mask))
        before, unshifted, after = (
            np.bincount(
                spans.document[_mask_matches(spans._replace(document=data.rows[spans.document] + shift), gold)],
                minlength=len(mask),
            )
            for shift in (-1, 0, 1)
        )
        is_shifted = [(n > unshifted) & (n >= _MIN_SHIFTED_MATCHES * n_spans) for n in (before, after)]
        counts = int(is_shifted[0].sum()), int(is_shifted[1].sum())
        if 2 * max(counts) < mask.sum() or not max(counts):
            return 0, 0
    return counts


def _try_kind(part: _Part, misfits: Bools, kind: OffsetKind) -> KindFit:
    """Count the documents that fit better and worse under a kind; `misfits` marks the spans that fit badly now."""
    texts, spans, size = part.texts, part.spans, len(part.texts.first)
    units = _map_units(texts, kind)
    if not len(units.positions) and kind.shift == (0, 0):
        return KindFit()
    converted = texts.convert(spans, kind, units)
    is_changed = (converted.start != spans.start) | (converted.end != spans.end)
    old, new, was_misfit = spans.take(is_changed), converted.take(is_changed), misfits[is_changed]
    n_changed = np.bincount(old.document, minlength=size)
    is_misfit, is_unspaced = texts.mask_misfits(new)
    gain = np.bincount(old.document[was_misfit], minlength=size) - np.bincount(new.document[is_misfit], minlength=size)
    # Only documents that can pass the test below are compared with the gold spans.
    is_promising = (gain > 0) | ((gain == 0) & (np.bincount(old.document[is_unspaced], minlength=size) > 0))
    rows = is_promising[old.document]
    if rows.any():
        for side, sign in ((new.take(rows), 1), (old.take(rows), -1)):
            gain += sign * np.bincount(side.document[_mask_matches(side, part.gold)], minlength=size)
    is_better = (2 * gain >= n_changed) & (gain > 0)
    return KindFit(int(is_better.sum()), int((gain < 0).sum()), gain=int(gain[is_better].sum()))


def _map_units(joined: _JoinedTexts, kind: OffsetKind) -> UnitMap:
    """Return the map from offsets of `kind` (such as bytes) to code points, for all texts joined.

    If a Unicode normal form changes nothing, characters are not looked at.
    """
    for normal_kind, form in _NORMAL_FORMS:
        if kind is normal_kind and unicodedata.is_normalized(form, joined.text):  # type: ignore[arg-type]
            return map_units(joined.codes, OffsetKind.CODE_POINTS)
    return map_units(joined.codes, kind)


def _mask_matches(spans: _Spans, gold: _Spans) -> Bools:
    """Return a mask of the spans that equal a gold span."""
    if not len(spans.start) or not len(gold.start):
        return np.zeros(len(spans.start), np.bool_)
    has_spans = np.zeros(max(int(spans.document.max()), int(gold.document.max())) + 2, np.bool_)
    has_spans[spans.document] = True  # the last one is for documents before the first
    gold_hashes = np.sort(_hash_spans(gold.take(has_spans[gold.document])))  # in order but for spans of one document
    hashes = _hash_spans(spans)
    index = np.searchsorted(gold_hashes, hashes)
    gold_hashes = np.append(gold_hashes, -1)
    return np.asarray(gold_hashes[index] == hashes, np.bool_)


def _hash_spans(spans: _Spans) -> Longs:
    """Return one number for each span, different for different spans unless texts are longer than two million."""
    document, start, end = (column.astype(np.int64) for column in spans)
    return np.asarray((document << 42) + (start << 21) + end, np.int64)
