"""Scores by document are computed for all at once: each has to be what that document by itself would get."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.evaluation.groups import group_by_document
from karat.evaluation.measures import default_short_names
from karat.evaluation.view import ViewOptions
from karat.model.results.result import GroupScores, to_score_fields, to_weight_sums
from karat.model.results.statistics import Statistics
from karat.model.spec.settings.empty import EMPTY

WEIGHTS = st.lists(st.tuples(*[st.sampled_from([0.0, 0.0, 1.0, 2.0, 0.5])] * 4), min_size=1, max_size=6)


@pytest.mark.parametrize("part", [False, True])
@pytest.mark.parametrize("per_item", [False, True])
@pytest.mark.parametrize("rule", EMPTY)
@given(rows=WEIGHTS)
def test_every_document_scores_as_if_it_were_alone(
    rows: list[tuple[float, ...]], rule: str, part: bool, per_item: bool
) -> None:
    shape = ViewOptions(EMPTY[rule], is_partial=part, is_mean_of_items=per_item)
    alone = EMPTY[rule]._replace(totals=EMPTY[rule].documents, filtered_totals=EMPTY[rule].filtered_documents)
    shorts = [short for short in default_short_names(detection=False) if short.startswith("micro.")]
    weights = np.array(rows)
    expected = {}
    for place, row in enumerate(weights):
        single = ViewOptions(alone, is_partial=part, is_mean_of_items=per_item).create_view(Statistics(row[None]))
        expected[str(place)] = GroupScores(counts=to_weight_sums(row), **to_score_fields(single.scores(shorts)))
    assert group_by_document(pa.array(list(expected)), shape.create_view(Statistics(weights))) == expected
