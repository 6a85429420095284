"""Quantiles of Student's t."""

from __future__ import annotations

import pytest

from karat.model.errors import UsageError
from karat.stats.samples.jackknife import t_quantile

TABLE = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 9: 2.262, 19: 2.093, 30: 2.042, 120: 1.980}


@pytest.mark.parametrize("freedom", TABLE)
def test_the_table_at_95_percent(freedom):
    assert t_quantile(0.975, freedom) == pytest.approx(TABLE[freedom], rel=0.002)
    assert t_quantile(0.025, freedom) == pytest.approx(-TABLE[freedom], rel=0.002)
    assert t_quantile(0.5, freedom) == pytest.approx(0, abs=1e-12)


@pytest.mark.extras
def test_all_are_near_those_of_scipy():
    from scipy.stats import t

    for freedom in (1, 2, 3, 5, 12, 60, 1000):
        for share in (0.005, 0.05, 0.3, 0.8, 0.975, 0.995):
            assert t_quantile(share, freedom) == pytest.approx(t.ppf(share, freedom), rel=0.01)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="probability is 1"):
        t_quantile(1, 3)
    with pytest.raises(UsageError, match="freedom is 0"):
        t_quantile(0.5, 0)
