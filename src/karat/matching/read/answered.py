"""Documents that only the answers have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.tables.arrow import Arrow

ONLY_ANSWERED = "documents that only the answers have (there is nothing to find in them)"


def with_answered(corpus: Corpus, run: Run) -> Corpus:
    """The corpus with every document that the run answers, as one without labels; it stays the same data by name.

    A file of annotations without texts names no document in which there are none, so that these are not unknown.
    """
    new = run.ids.filter(pc.invert(pc.is_in(run.ids, corpus.ids)))
    if not len(new):
        return corpus
    columns = [_column(field, new) for field in corpus.table.schema]
    table = pa.concat_tables([corpus.table, pa.table(columns, schema=corpus.table.schema)]).combine_chunks()
    made = Corpus.checked(table, name=corpus.name, about=corpus.about, where=lambda row: f"document {row}")
    skipped = {**corpus.skipped, ONLY_ANSWERED: len(new)}
    return replace(made, digest=corpus.digest, skipped=skipped)


def _column(field: Arrow, ids: Arrow) -> Arrow:
    """What a document of which nothing but its id is known has in a column."""
    if field.name == "id":
        return ids.cast(field.type)
    if field.name == "length":  # how long the text was is not known: all answers lie in it
        return pa.array(np.full(len(ids), np.iinfo(np.int32).max), field.type)
    if pa.types.is_list(field.type) and field.name == "labels":
        return pa.array([[]] * len(ids), field.type)
    if field.name == "text":
        return pa.array([""] * len(ids), field.type)
    if field.name == "text_digest":
        return pa.array([0] * len(ids), field.type)
    return pa.nulls(len(ids), field.type)
