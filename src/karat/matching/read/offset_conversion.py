"""Conversion of the offsets of a run to code points of the texts they count in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow.compute as pc

from karat.matching.read.offset_fit import CONVERTED, count_worsened, mask_sample
from karat.matching.read.text_alignment import replace_spans
from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.counts.skip_counter import merge_counts
from karat.model.defects import get_defects, is_skipping
from karat.model.errors import UsageError
from karat.model.offsets.offset_kinds import OffsetKind
from karat.model.offsets.unit_maps import to_code_points
from karat.model.output.command_options import format_option
from karat.model.results.result import WARNING
from karat.model.run import Run
from karat.model.tables import checks
from karat.model.tables.columns import Longs

WORSENED: Final = (
    WARNING + "documents{} whose predictions cut words or begin with white space as {}, but not unconverted. Omit {}"
)
"""The warning about a conversion that makes spans worse; the gaps are for a sample, and the kind with description."""


def convert_offsets(corpus: Corpus | None, run: Run, kind: OffsetKind) -> Run:
    """Return the run with its offsets, which are of `kind`, in code points; the number of documents is counted.

    Offsets count in the text of the run's file, else in the text of the corpus. Responses to unknown documents stay
    unchanged. If the spans fit the texts clearly worse than before, `Run.skipped` has a warning. Raise `UsageError` if
    the kind needs texts and there are none.
    """
    predictions, texts = run.predictions, _find_texts(corpus, run)
    start, end = predictions.start.astype(np.int64), predictions.end.astype(np.int64)
    if kind.shift != (0, 0):
        start, end = start + kind.shift[0], end + kind.shift[1]
    else:
        _require_texts(corpus, run, kind, texts)
        for row, text in enumerate(texts):
            if text is not None:
                rows = slice(int(predictions.offsets[row]), int(predictions.offsets[row + 1]))
                start[rows], end[rows] = to_code_points(text, kind, start[rows], end[rows])
    is_changed = (start != predictions.start) | (end != predictions.end)
    if not is_changed.any():
        return run
    get_defects().other_counts[CONVERTED.format(kind.description)] += len(np.unique(predictions.document[is_changed]))
    if not is_skipping():  # else the run drops these responses
        checks.raise_first(_find_impossible_spans(run, kind, start, end), run.locate_row)
    sample = mask_sample(run.ids, len(run))
    n_worse = count_worsened(run, texts, sample, start, end)
    converted = replace_spans(run, start, end)
    if not n_worse:
        return converted
    warning = WORSENED.format("" if sample.all() else " of a sample", kind.description, format_option("offsets", kind))
    return replace(converted, skipped=merge_counts(run.skipped, {warning: n_worse}))


def _find_impossible_spans(run: Run, kind: OffsetKind, start: Longs, end: Longs) -> Iterator[checks.Problem]:
    """Yield a problem for each prediction that the conversion to `start` and `end` makes empty or begin before 0."""
    predictions = run.predictions
    for row in np.flatnonzero((start < 0) | (end <= start)).tolist():
        yield checks.Problem(
            int(predictions.document[row]),
            f"prediction [{predictions.start[row]}, {predictions.end[row]}), which would be [{start[row]}, {end[row]}) "
            "in code points",
            f"offsets that are {kind.description}",
            f"Omit {format_option('offsets', kind)} if the file counts otherwise, or correct the span",
        )


def _require_texts(corpus: Corpus | None, run: Run, kind: OffsetKind, texts: list[str | None]) -> None:
    """Raise `UsageError` if a response has no text, and there is no gold standard with texts."""
    if None in texts and not _has_texts(corpus):
        raise UsageError(
            f"{run.name}: {format_option('offsets', kind)} needs the texts that the offsets count in. Pass a gold "
            "standard with texts (--gold FILE; in Python corpus=…), or add the text of each document to the "
            "predictions."
        )


def _has_texts(corpus: Corpus | None) -> bool:
    """Return whether there is a gold standard with texts."""
    return corpus is not None and corpus.has_text and not corpus.skipped.get(NO_TEXT_NOTE)


def _find_texts(corpus: Corpus | None, run: Run) -> list[str | None]:
    """Return the text that the offsets of each response count in, None where it is unknown."""
    texts: list[str | None] = [None] * len(run) if run.texts is None else run.texts.to_pylist()
    if None not in texts or corpus is None or not _has_texts(corpus):
        return texts
    index = pc.index_in(run.ids, corpus.ids).to_pylist()
    gold = corpus.table.column("text")
    return [
        text if text is not None or document is None else gold[document].as_py()
        for text, document in zip(texts, index, strict=True)
    ]
