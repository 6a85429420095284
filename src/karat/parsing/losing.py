"""What files of some formats do not keep besides whole fields, counted in words."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from karat.model.corpus import WITHOUT_TEXT, Corpus
from karat.model.run import Run

_OPTIONAL = ("quantity", "datetime", "descriptive")


def texts_and_empty(data: Corpus | Run) -> dict[str, int]:
    """Of a file that has nothing but mentions: texts, and documents without any mention."""
    items, what = (data.labels, "labels") if isinstance(data, Corpus) else (data.answers, "answers")
    empty = {f"documents without {what}": int(np.sum(np.diff(items.offsets) == 0))}
    if isinstance(data, Corpus) and not data.skipped.get(WITHOUT_TEXT):
        return {"text of documents": len(data), **empty}
    return empty


def categories_of_answers(data: Corpus | Run) -> dict[str, int]:
    """Of a file that has a place for the categories of labels only."""
    found = None if isinstance(data, Corpus) else data.answers.field("categories")
    sizes = np.zeros(0) if found is None else found.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return {"categories of answers": int(np.sum(sizes > 0))}


def candidate_scores(data: Corpus | Run) -> dict[str, int]:
    """Of a file that names candidates only."""
    found = None if isinstance(data, Corpus) else data.answers.field("candidates")
    scored = 0 if found is None else len(found.flatten().field("score").drop_null())
    return {"score of candidates": scored}


def kinds_but_coreference(data: Corpus | Run) -> dict[str, int]:
    """Of a file that marks coreference, and no other kind of label."""
    found = data.labels.field("kind") if isinstance(data, Corpus) else None
    others = 0 if found is None else int(pc.sum(pc.not_equal(found, "coreference").fill_null(False)).as_py() or 0)
    return {"kind of labels (but coreference)": others}


def made_optional(data: Corpus | Run) -> dict[str, int]:
    """Of a file in which labels of some kinds are always optional."""
    if not isinstance(data, Corpus) or (kinds := data.labels.field("kind")) is None:
        return {}
    some = np.isin(np.array(kinds.to_pylist(), object), _OPTIONAL)
    count = int(np.sum(some & ~data.labels.flag("optional")))
    return {"optional of labels (quantities, datetimes and descriptive ones become optional)": count}
