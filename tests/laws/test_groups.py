"""Scores by document are computed for all at once: each has to be what that document by itself would get."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.evaluation.groups import by_document
from karat.evaluation.measures import short_names
from karat.evaluation.view import Shape
from karat.model.result import Group, counted, fields
from karat.model.statistics import Statistics
from karat.spec.choices.empty import EMPTY

WEIGHTS = st.lists(st.tuples(*[st.sampled_from([0.0, 0.0, 1.0, 2.0, 0.5])] * 4), min_size=1, max_size=6)


@pytest.mark.parametrize("part", [False, True])
@pytest.mark.parametrize("per_item", [False, True])
@pytest.mark.parametrize("rule", EMPTY)
@given(rows=WEIGHTS)
def test_every_document_scores_as_if_it_were_alone(
    rows: list[tuple[float, ...]], rule: str, part: bool, per_item: bool
) -> None:
    shape = Shape(EMPTY[rule], part=part, per_item=per_item)
    alone = EMPTY[rule]._replace(totals=EMPTY[rule].documents, part_totals=EMPTY[rule].part_documents)
    shorts = [short for short in short_names(detection=False) if short.startswith("micro.")]
    weights = np.array(rows)
    expected = {}
    for place, row in enumerate(weights):
        single = Shape(alone, part=part, per_item=per_item).view(Statistics(row[None]))
        expected[str(place)] = Group(counts=counted(row), **fields(single.scores(shorts)))
    assert by_document(pa.array(list(expected)), shape.view(Statistics(weights))) == expected
