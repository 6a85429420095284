"""Which cells are in bold: the best values, as they are printed."""

from __future__ import annotations

import pytest

from karat.render.scores import find_leader_indices


@pytest.mark.parametrize(
    ("values", "factor", "expected"),
    [
        ([0.6012, 0.6008, 0.59], 100, {0, 1}),  # 60.1, 60.1 and 59.0 in percent
        ([41.84, 41.81, 42.0], 1, {0, 1}),  # numbers of errors, both printed as 41.8
        ([41.84, 41.78, 42.0], 1, {0, 1}),
        ([41.84, None, None], 1, set()),
        ([0.0, 0.0, 0.0], 100, set()),  # no system leads
        ([0.6012, 0.6008, None], 100, set()),
    ],
)
def test_values_that_look_equal_share_the_lead(values, factor, expected):
    assert find_leader_indices(values, is_lower_better=factor == 1, factor=factor) == expected
