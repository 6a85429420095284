"""Conversion of the offsets of a run to code points of the texts they count in."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow.compute as pc

from karat.matching.read.text_alignment import replace_spans
from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.defects import get_defects
from karat.model.errors import UsageError
from karat.model.offsets.offset_kinds import OffsetKind
from karat.model.offsets.unit_maps import to_code_points
from karat.model.run import Run

CONVERTED: Final = "documents whose offsets were converted from {} to code points"
"""The description under which converted documents are counted, with a place for the kind of offsets."""


def convert_offsets(corpus: Corpus | None, run: Run, kind: OffsetKind) -> Run:
    """Return the run with its offsets, which are of `kind`, in code points; the number of documents is counted.

    Offsets count in the text of the run's file, else in the text of the corpus. Responses to unknown documents stay
    unchanged. Raise `UsageError` if the kind needs texts and there are none.
    """
    predictions = run.predictions
    start, end = predictions.start.astype(np.int64), predictions.end.astype(np.int64)
    if kind.shift != (0, 0):
        start, end = start + kind.shift[0], end + kind.shift[1]
    else:
        texts = _find_texts(corpus, run, kind)
        for row, text in enumerate(texts):
            if text is not None:
                rows = slice(int(predictions.offsets[row]), int(predictions.offsets[row + 1]))
                start[rows], end[rows] = to_code_points(text, kind, start[rows], end[rows])
    is_changed = (start != predictions.start) | (end != predictions.end)
    if not is_changed.any():
        return run
    get_defects().other_counts[CONVERTED.format(kind.description)] += len(np.unique(predictions.document[is_changed]))
    return replace_spans(run, start, end)


def _find_texts(corpus: Corpus | None, run: Run, kind: OffsetKind) -> list[str | None]:
    """Return the text that the offsets of each response count in, None for unknown documents."""
    texts: list[str | None] = [None] * len(run) if run.texts is None else run.texts.to_pylist()
    if None not in texts:
        return texts
    if corpus is None or not corpus.has_text or corpus.skipped.get(NO_TEXT_NOTE):
        raise UsageError(
            f"{run.name}: --offsets {kind} needs the texts that the offsets count in. Pass a gold standard with texts "
            "(--gold FILE; in Python corpus=…), or add the text of each document to the predictions."
        )
    index = pc.index_in(run.ids, corpus.ids).to_pylist()
    gold = corpus.table.column("text")
    return [
        text if text is not None or document is None else gold[document].as_py()
        for text, document in zip(texts, index, strict=True)
    ]
