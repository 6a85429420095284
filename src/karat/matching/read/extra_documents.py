"""Documents that occur only in the predictions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import merge_counts
from karat.model.run import Run
from karat.model.tables.arrow import Arrow

EXTRA_DOCUMENTS = "documents that occur only in the predictions (scored as documents without labels)"


def add_extra_documents(corpus: Corpus, run: Run) -> Corpus:
    """Return the corpus with an unlabelled document for each document that only the run has.

    Some formats list annotations only and do not name documents without annotations, so these are not unknown. The
    digest of the corpus stays the same.
    """
    extra_ids = run.ids.filter(pc.invert(pc.is_in(run.ids, corpus.ids)))
    if not len(extra_ids):
        return corpus
    columns = [_default_column(field, extra_ids) for field in corpus.table.schema]
    table = pa.concat_tables([corpus.table, pa.table(columns, schema=corpus.table.schema)]).combine_chunks()
    extended = Corpus.from_table(
        table, name=corpus.name, metadata=corpus.metadata, locate_row=lambda row: f"document {row}"
    )
    skipped = merge_counts(corpus.skipped, {EXTRA_DOCUMENTS: len(extra_ids)})
    return replace(extended, digest=corpus.digest, skipped=skipped)


def _default_column(field: Arrow, ids: Arrow) -> Arrow:
    """Return the column of a schema field for documents that are known only by their id.

    Labels and texts are empty, the length is as large as possible so that any span fits, and other columns are null.
    """
    if field.name == "id":
        return ids.cast(field.type)
    if field.name == "length":  # the text length is unknown: accept any span
        return pa.array(np.full(len(ids), np.iinfo(np.int32).max), field.type)
    if pa.types.is_list(field.type) and field.name == "labels":
        return pa.array([[]] * len(ids), field.type)
    if field.name == "text":
        return pa.array([""] * len(ids), field.type)
    if field.name == "text_digest":
        return pa.array([0] * len(ids), field.type)
    return pa.nulls(len(ids), field.type)
