"""Alignment of predictions with the gold texts.

Offsets need the text they count in. If a file of predictions contains its texts, each text has to equal the gold
text except for white space and composition of accents (the Unicode normal forms NFC and NFD). Karat then moves the
predictions to the same characters of the gold text. If the text of an id differs, or the id is unknown, and another
gold document has that text, Karat pairs the two by text.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from karat.matching.read.document_id_check import describe_shifted_ids
from karat.model.corpus import NO_TEXT_NOTE, Corpus, compute_text_facts
from karat.model.counts.skip_counter import merge_counts
from karat.model.defects import get_defects
from karat.model.errors import UsageError
from karat.model.offsets.offset_kinds import OffsetKind
from karat.model.offsets.unit_maps import encode_text, map_units
from karat.model.run import Run
from karat.model.tables import checks
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Longs

REALIGNED = "documents whose text differs from the gold text in white space (offsets were realigned)"

RECOMPOSED = "documents whose text has another Unicode normal form than the gold text ({}; offsets were realigned)"

PAIRED_BY_TEXT = "documents paired with the gold standard by their text, since their ids differ"

PAIRED_IDS = "documents paired by their text, since their ids differ"

_NORMAL_FORMS: Final[tuple[Literal["NFC", "NFD"], ...]] = ("NFC", "NFD")
_EXCERPT_LENGTH = 20
_LAST_SPACE = 0x3000


def align_with_corpus(corpus: Corpus, run: Run) -> Run:
    """Move the spans of a run from its own texts to the corpus texts, and return it without texts.

    Responses whose id is unknown or has another text are paired with the document that has their text. Raise
    `InputError` for the first text that differs in more than white space and normal form; where invalid documents are
    skipped, such responses are skipped too. A corpus without texts cannot be compared, so the offsets stay unchanged.
    """
    if run.texts is None:
        return run
    if corpus.skipped.get(NO_TEXT_NOTE):
        return replace(run, texts=None)
    document_index = _find_documents(corpus.ids, run)
    rows = _find_different_texts(corpus, run.texts, document_index)
    if corpus.has_text and (len(rows) or _has_unknown_texts(run.texts, document_index)):
        paired = _pair_by_text(corpus.ids, corpus.table.column("text"), run)
        if paired is not run:
            return align_with_corpus(corpus, paired)
    if not len(rows):
        return replace(run, texts=None)
    if not corpus.has_text:
        raise UsageError(
            f"{run.name}: the texts differ from those of {corpus.name}, which was loaded without texts. "
            "Load the corpus with text=True, so that Karat can align them."
        )
    numbering_hint = describe_shifted_ids(corpus.ids, run.ids, corpus.name)
    return _realign(
        run, rows, corpus.table.column("text").take(pa.array(document_index[rows])).to_pylist(), numbering_hint
    )


def align_with_texts(ids: Arrow, texts: Arrow, run: Run) -> Run:
    """Align a run like `align_with_corpus`, for gold data that is not loaded as a corpus.

    `ids` and `texts` are those of the gold documents.
    """
    if run.texts is None:
        return run
    run = _pair_by_text(ids, texts, run)
    assert run.texts is not None
    document_index = _find_documents(ids, run)
    rows = np.flatnonzero((document_index >= 0) & _to_mask(run.texts.is_valid()))
    gold = texts.take(pa.array(document_index[rows]))
    differs = _to_mask(pc.not_equal(run.texts.take(pa.array(rows)), gold).fill_null(False))
    if not differs.any():
        return replace(run, texts=None)
    return _realign(run, rows[differs], gold.filter(pa.array(differs)).to_pylist())


def has_other_texts(corpus: Corpus, run: Run) -> bool:
    """Return whether the run contains a text that is not exactly the text of its document in the corpus.

    False if the run or the corpus's file has no texts.
    """
    if run.texts is None or corpus.skipped.get(NO_TEXT_NOTE):
        return False
    document_index = _find_documents(corpus.ids, run)
    return (
        _has_unknown_texts(run.texts, document_index)
        or len(_find_different_texts(corpus, run.texts, document_index)) > 0
    )


def _has_unknown_texts(texts: Arrow, document_index: Longs) -> bool:
    """Return whether the run has texts of documents that the corpus does not have, with -1 in `document_index`."""
    return bool(np.any((document_index < 0) & _to_mask(texts.is_valid())))


def find_misplaced_responses(corpus: Corpus, run: Run) -> Iterator[checks.Problem]:
    """Yield a problem for each response to an unknown document and each response with a span after its text's end."""
    document_index = _find_documents(corpus.ids, run)
    for row in np.flatnonzero(document_index < 0).tolist():
        problem = f"document {run.ids[row].as_py()!r}, which {corpus.name} does not have"
        yield checks.Problem(
            row, problem, "documents of the gold standard", "Check that both files are of the same split"
        )
    limits = np.append(corpus.lengths, np.iinfo(np.int64).max)[document_index]  # the last is for unknown documents
    yield from checks.check_span_ends(run.predictions, limits, "prediction")


def _find_documents(ids: Arrow, run: Run) -> Longs:
    """Return the index in `ids` of the document of each response; -1 if there is none."""
    return np.asarray(pc.index_in(run.ids, ids).fill_null(-1).to_numpy(zero_copy_only=False), np.int64)


def _pair_by_text(ids: Arrow, texts: Arrow, run: Run) -> Run:
    """Return the run with its document ids replaced by those of the gold documents with the same texts.

    White space and Unicode normal form are ignored. Only ids that are unknown or belong to another text change. If the
    text of a known id is in no gold document, the run is returned unchanged, since the ids are not the problem. Of
    gold documents with the same text, the first without a response is used. The number of replaced ids is added to the
    defects of the file.
    """
    assert run.texts is not None
    document_index, texts_of_run = _find_documents(ids, run).tolist(), run.texts.to_pylist()
    gold_texts = [None if text is None else _normalise(text) for text in texts.to_pylist()]
    squeezed = [None if text is None else _normalise(text) for text in texts_of_run]
    correct = {
        index
        for index, text in zip(document_index, squeezed, strict=True)
        if index >= 0 and (text is None or gold_texts[index] == text)
    }
    free: dict[str | None, list[int]] = {}
    for index in range(len(gold_texts) - 1, -1, -1):
        if index not in correct:
            free.setdefault(gold_texts[index], []).append(index)
    new_ids, n_paired = run.ids.to_pylist(), 0
    for row, (index, text) in enumerate(zip(document_index, squeezed, strict=True)):
        if text is None or index in correct:
            continue
        if candidates := free.get(text):
            new_ids[row] = ids[candidates.pop()].as_py()
            n_paired += 1
        elif index >= 0:
            return run
    if not n_paired or len(set(new_ids)) < len(new_ids):
        return run
    table = run.table.set_column(run.table.column_names.index("id"), "id", pa.array(new_ids, pa.string()))
    paired = Run.from_table(table, name=run.name, metadata=run.metadata, locate_row=run.locate_row, texts=run.texts)
    get_defects().other_counts[PAIRED_BY_TEXT] += n_paired
    return replace(paired, skipped=merge_counts(run.skipped, {PAIRED_BY_TEXT: n_paired}), file=run.file)


def match_ids_by_text(reference: Mapping[str, str], texts: Mapping[str, str]) -> dict[str, str]:
    """Return the id in `reference` of each document of `texts` whose id is unknown there, but whose text is not.

    Both map ids to texts. Of documents of `reference` with the same text, the first one that is not among `texts` is
    used.
    """
    free: dict[str, list[str]] = {}
    for id in reversed([id for id in reference if id not in texts]):
        free.setdefault(reference[id], []).append(id)
    return {id: free[text].pop() for id, text in texts.items() if id not in reference and free.get(text)}


def pair_corpora(corpora: Sequence[Corpus]) -> list[Corpus]:
    """Return corpora in which documents have the id of the same text in a corpus before, if they lack a known id.

    New ids are counted in `Corpus.skipped`. Corpora without texts stay as they are.
    """
    reference: dict[str, str] = {}
    paired = []
    for corpus in corpora:
        if corpus.has_text and not corpus.skipped.get(NO_TEXT_NOTE):
            texts: dict[str, str] = dict(zip(corpus.ids.to_pylist(), corpus.texts, strict=True))
            new_ids = match_ids_by_text(reference, texts)
            corpus = _rename_documents(corpus, new_ids) if new_ids else corpus
            reference = {**{new_ids.get(id, id): text for id, text in texts.items()}, **reference}
        paired.append(corpus)
    return paired


def _rename_documents(corpus: Corpus, new_ids: Mapping[str, str]) -> Corpus:
    """Return a corpus with other ids for the documents of `new_ids`, which are counted."""
    ids = pa.array([new_ids.get(id, id) for id in corpus.ids.to_pylist()], pa.string())
    table = corpus.table.set_column(corpus.table.column_names.index("id"), "id", ids)
    renamed = Corpus.from_table(
        table, name=corpus.name, metadata=corpus.metadata, locate_row=checks.locate_by_id(table)
    )
    tokens = {new_ids.get(id, id): offsets for id, offsets in corpus.tokens.items()}
    return replace(renamed, skipped=merge_counts(corpus.skipped, {PAIRED_IDS: len(new_ids)}), tokens=tokens)


def _normalise(text: str) -> str:
    """Return a text in NFC without white space."""
    return "".join(unicodedata.normalize("NFC", text).split())


def _to_mask(array: Arrow) -> NDArray[np.bool_]:
    """Convert an Arrow array of booleans without nulls."""
    return np.asarray(array.to_numpy(), np.bool_)


def _find_different_texts(corpus: Corpus, texts: Arrow, document_index: Longs) -> Longs:
    """Return the rows of responses whose text has another length or digest than the gold text.

    Responses to unknown documents and without text are not among them.
    """
    rows = np.flatnonzero((document_index >= 0) & _to_mask(texts.is_valid()))
    facts = compute_text_facts(pa.chunked_array([texts.take(pa.array(rows)).combine_chunks()], pa.string()))
    differs = np.zeros(len(rows), np.bool_)
    for name, values in zip(("length", "text_digest"), facts, strict=True):
        differs |= corpus.table.column(name).to_numpy()[document_index[rows]] != values.to_numpy()
    return rows[differs]


class _SqueezedText(NamedTuple):
    """A text, with the codes and offsets of its characters other than white space."""

    text: str
    codes: NDArray[np.uint32]
    offsets: Longs

    @classmethod
    def from_text(cls, text: str) -> _SqueezedText:
        """Find the characters of `text` other than white space."""
        codes = encode_text(text)
        offsets = np.flatnonzero(~_mask_spaces()[np.minimum(codes, _LAST_SPACE + 1)])
        return cls(text, codes[offsets], offsets)

    def end_offset(self, n: Longs) -> Longs:
        """Return the offset directly after the first `n` characters that are not white space, for each `n`."""
        return np.append(0, self.offsets + 1)[n]

    def next_offset(self, n: Longs) -> Longs:
        """Return the offset of the next character after the first `n` that are not white space, for each `n`."""
        return np.append(self.offsets, len(self.text))[n]


def _realign(run: Run, rows: Longs, gold_texts: Sequence[str], numbering_hint: str = "") -> Run:
    """Move the predictions of the responses `rows` to the same characters of `gold_texts`; return a run without texts.

    Raise `InputError` for texts that differ in more than white space and normal form, and spans that do not fit, or
    skip their responses where invalid documents are skipped. `numbering_hint` is put before messages about texts.
    """
    assert run.texts is not None
    run_texts = [_SqueezedText.from_text(text) for text in run.texts.take(pa.array(rows)).to_pylist()]
    squeezed_gold = [_SqueezedText.from_text(text) for text in gold_texts]
    predictions = run.predictions
    lengths = np.full(len(run), np.iinfo(np.int64).max)
    lengths[rows] = [len(squeezed.text) for squeezed in run_texts]
    problems = chain(
        _find_text_differences(run, rows, run_texts, squeezed_gold, numbering_hint),
        checks.check_span_ends(predictions, lengths, "prediction"),
    )
    invalid = checks.find_invalid_rows(problems, run.locate_row)
    start, end = predictions.start.astype(np.int64), predictions.end.astype(np.int64)
    notes: Counter[str] = Counter()
    for row, run_text, gold_text in zip(rows.tolist(), run_texts, squeezed_gold, strict=True):
        if row in invalid:
            continue
        rows_of_response = slice(int(predictions.offsets[row]), int(predictions.offsets[row + 1]))
        spans = start[rows_of_response], end[rows_of_response]
        is_equal = np.array_equal(run_text.codes, gold_text.codes)
        description = REALIGNED if is_equal else RECOMPOSED.format(_describe_forms(run_text.text, gold_text.text))
        notes[description] += 1
        move = _move_spans if is_equal else _move_composed_spans
        start[rows_of_response], end[rows_of_response] = move(*spans, run_text, gold_text)
    invalid |= checks.find_invalid_rows(_find_empty_spans(run, start, end, invalid), run.locate_row)
    table = _set_spans(run, start, end)
    table, where, _ = checks.drop_rows(table, run.locate_row, invalid)
    realigned = Run.from_table(table, name=run.name, metadata=run.metadata, locate_row=where)
    return replace(realigned, skipped=merge_counts(run.skipped, notes), file=run.file)


def replace_spans(run: Run, start: Longs, end: Longs) -> Run:
    """Return the run with other spans, one for each prediction; raise `InputError` for an impossible one."""
    moved = Run.from_table(
        _set_spans(run, start, end), name=run.name, metadata=run.metadata, locate_row=run.locate_row, texts=run.texts
    )
    return replace(moved, skipped=run.skipped, file=run.file)


def _set_spans(run: Run, start: Longs, end: Longs) -> Arrow:
    """Return the table of a run with other spans, one for each prediction."""
    predictions = run.predictions
    fields = {field.name: predictions.values.field(i) for i, field in enumerate(predictions.values.type)}
    fields |= {"start": pa.array(start, pa.int32()), "end": pa.array(end, pa.int32())}
    values = pa.StructArray.from_arrays(list(fields.values()), list(fields))
    lists = pa.ListArray.from_arrays(pa.array(predictions.offsets.astype(np.int32)), values)
    return run.table.set_column(run.table.column_names.index("predictions"), "predictions", lists)


def _move_spans(start: Longs, end: Longs, run_text: _SqueezedText, gold_text: _SqueezedText) -> tuple[Longs, Longs]:
    """Return starts and ends of spans of `run_text` at the same characters of `gold_text`.

    An offset inside white space keeps its distance from the character before it.
    """
    first, last = np.searchsorted(run_text.offsets, start), np.searchsorted(run_text.offsets, end)
    new_start = np.minimum(
        gold_text.end_offset(first) + start - run_text.end_offset(first), gold_text.next_offset(first)
    )
    new_end = np.minimum(gold_text.end_offset(last) + end - run_text.end_offset(last), gold_text.next_offset(last))
    return np.where(start == run_text.next_offset(first), gold_text.next_offset(first), new_start), new_end


def _move_composed_spans(
    start: Longs, end: Longs, run_text: _SqueezedText, gold_text: _SqueezedText
) -> tuple[Longs, Longs]:
    """Return starts and ends of spans of `run_text` at the same characters of `gold_text`, by their composed forms.

    An offset inside a character and its accents moves to their end.
    """
    composed = [_SqueezedText.from_text(unicodedata.normalize("NFC", side.text)) for side in (run_text, gold_text)]
    run_units, gold_units = (map_units(encode_text(side.text), OffsetKind.NFC) for side in (run_text, gold_text))
    spans = _move_spans(run_units.to_units(start), run_units.to_units(end), *composed)
    return gold_units.to_code_points(spans[0]), gold_units.to_code_points(spans[1])


def _describe_forms(run_text: str, gold_text: str) -> str:
    """Return the Unicode normal forms of a text and its gold text, such as `NFD, gold NFC`."""
    forms: list[str] = []
    for text in (run_text, gold_text):
        names = [form for form in _NORMAL_FORMS if unicodedata.is_normalized(form, text)]
        forms.append(names[0] if names else "mixed")
    return f"{forms[0]}, gold {forms[1]}"


def _is_same_text(run_text: _SqueezedText, gold_text: _SqueezedText) -> bool:
    """Return whether two texts are equal except for white space and Unicode normal form."""
    return np.array_equal(run_text.codes, gold_text.codes) or _normalise(run_text.text) == _normalise(gold_text.text)


def _find_text_differences(
    run: Run, rows: Longs, run_texts: Sequence[_SqueezedText], gold_texts: Sequence[_SqueezedText], numbering_hint: str
) -> Iterator[checks.Problem]:
    """Yield a problem for each text that differs in more than white space and normal form.

    Its message starts with `numbering_hint`.
    """
    cause = f"{numbering_hint}, and " if numbering_hint else ""
    for row, run_text, gold_text in zip(rows.tolist(), run_texts, gold_texts, strict=True):
        if _is_same_text(run_text, gold_text):
            continue
        if not unicodedata.is_normalized("NFC", run_text.text + gold_text.text):  # else accents seem to differ
            run_text, gold_text = (
                _SqueezedText.from_text(unicodedata.normalize("NFC", side.text)) for side in (run_text, gold_text)
            )
        shared = min(len(run_text.codes), len(gold_text.codes))
        differences = np.flatnonzero(run_text.codes[:shared] != gold_text.codes[:shared])
        count = np.array([int(differences[0]) if len(differences) else shared])
        yield checks.Problem(
            row,
            f"{cause}another text of document {run.ids[row].as_py()!r} than in the gold standard: "
            f"{_describe_excerpt(run_text, count)}",
            f"{_describe_excerpt(gold_text, count)}, as in the gold standard (only white space and normal form may "
            "differ)",
            "Run the system on the gold texts, or, if its offsets refer to them, remove the texts from the file",
        )


def _describe_excerpt(text: _SqueezedText, n: Longs) -> str:
    """Describe the text after the first `n` characters that are not white space, with its offset."""
    offset = int(text.next_offset(n)[0])
    if offset == len(text.text):
        return f"its end at {offset}"
    return f"{text.text[offset : offset + _EXCERPT_LENGTH]!r} at {offset}"


def _find_empty_spans(run: Run, start: Longs, end: Longs, invalid: frozenset[int]) -> Iterator[checks.Problem]:
    """Yield a problem for each prediction whose moved span is empty, as it covers only white space.

    `start` and `end` are the moved spans; responses in `invalid` are skipped.
    """
    for item in np.flatnonzero(end <= start).tolist():
        if int(run.predictions.document[item]) in invalid:
            continue
        span = f"[{int(run.predictions.start[item])}, {int(run.predictions.end[item])})"
        yield checks.Problem(
            int(run.predictions.document[item]),
            f"prediction {span} on white space that the gold text does not have",
            "predictions that cover text",
            "Remove the prediction",
        )


@cache
def _mask_spaces() -> Bools:
    """Return the mask of code points that are white space, up to one after the last white space character."""
    return np.array([chr(code).isspace() for code in range(_LAST_SPACE + 1)] + [False])
