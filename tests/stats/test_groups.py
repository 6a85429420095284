"""Intervals of many groups at once are those of each group alone."""

from __future__ import annotations

import numpy as np
import pytest

from karat.model.results.statistics import ratio
from karat.stats.samples import bootstrap, groups
from karat.stats.samples.additive import AdditiveScore
from karat.stats.samples.bootstrap import percentile_interval, percentile_intervals
from karat.stats.samples.confidence_intervals import bootstrap_intervals
from karat.stats.samples.groups import group_bootstrap_intervals

MEASURES = (lambda sums: ratio(sums[:, 0], sums[:, 0] + sums[:, 1]), lambda sums: ratio(sums[:, 0], sums[:, 2]))


def make_groups(n_documents: int) -> list[np.ndarray]:
    """Groups with few and many distinct rows, one without any case, and one in a single document."""
    rng = np.random.default_rng(3)
    return [
        rng.integers(0, 2, (n_documents, 3)).astype(float),
        rng.integers(0, 40, (n_documents // 2, 3)).astype(float),
        rng.random((n_documents // 3, 3)),
        np.zeros((2, 3)),
        np.array([[1.0, 2.0, 3.0]]),
    ]


@pytest.mark.parametrize("n_documents", [12, 60, 400])
@pytest.mark.parametrize("max_cells", [groups._MAX_CELLS, 1])
def test_intervals_are_those_of_each_group_alone(monkeypatch, n_documents, max_cells):
    monkeypatch.setattr(groups, "_MAX_CELLS", max_cells)
    rows = make_groups(n_documents)
    options = {"resamples": 60, "seed": 5, "confidence": 0.9}
    together = group_bootstrap_intervals(rows, n_documents, MEASURES, **options)
    for part, intervals in zip(rows, together, strict=True):
        scores = [AdditiveScore(part, measure, n_empty_documents=n_documents - len(part)) for measure in MEASURES]
        alone = bootstrap_intervals(scores, **options)
        assert [item is None for item in intervals] == [item is None for item in alone]
        for one, other in zip(intervals, alone, strict=True):
            assert one is None or other is None or np.allclose(one, other, rtol=1e-12)
    assert any(interval is not None for intervals in together for interval in intervals)


def test_many_documents_share_no_draws(monkeypatch):
    monkeypatch.setattr(bootstrap, "_MAX_SHARED_DOCUMENTS", 10)
    rows = make_groups(60)
    separate = group_bootstrap_intervals(rows, 60, MEASURES, resamples=40, seed=1, confidence=0.95)
    monkeypatch.undo()
    shared = group_bootstrap_intervals(rows, 60, MEASURES, resamples=40, seed=1, confidence=0.95)
    ends = [[end for row in found for item in row if item for end in item] for found in (separate, shared)]
    assert np.allclose(*ends)


def test_percentiles_of_many_rows_are_those_of_each_row():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(6, 51))
    values[1, :20] = np.nan
    values[2, 1:] = np.nan
    values[3] = np.nan
    confidences = np.array([0.95, 0.9, 0.8, 0.95, 0.5, 1 - 1e-12])
    low, high = percentile_intervals(values, confidences)
    for row, confidence, *ends in zip(values, confidences, low, high, strict=True):
        alone = percentile_interval(row, confidence)
        assert np.isnan(ends).all() if alone is None else tuple(ends) == tuple(alone)
