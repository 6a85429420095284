"""Measures of a group of mentions, such as the recall of persons, are compared and tested like all others."""

from __future__ import annotations

import json

import pytest

import karat

PERSONS = "strong:micro.r@types=PER"


def make_gold(prefix, n_documents, n_places):
    """Return documents with the person Ada, and `n_places` places."""
    text = "Ada" + " Ulm" * n_places
    labels = [{"start": 0, "end": 3, "entity": "Q7259", "types": ["PER"]}]
    labels += [{"start": 4 * i, "end": 4 * i + 3, "entity": "Q3012", "types": ["LOC"]} for i in range(1, n_places + 1)]
    return [{"id": f"{prefix}{n}", "text": text, "labels": labels} for n in range(n_documents)]


def make_run(gold, n_correct):
    """Return predictions for Ada, of which the first `n_correct` are correct."""
    return [
        {"id": document["id"], "predictions": [{"start": 0, "end": 3, "entity": "Q7259" if n < n_correct else "Q1"}]}
        for n, document in enumerate(gold)
    ]


def test_a_difference_in_a_group_is_tested_by_hand():
    gold = make_gold("d", 6, n_places=3)
    comparison = karat.compare(gold, {"a": make_run(gold, 6), "b": make_run(gold, 0)}, measure=PERSONS)
    [dataset] = comparison.datasets
    assert (dataset.scores["a"].value, dataset.scores["b"].value) == (1.0, 0.0)
    [pair] = dataset.pairs
    assert pair.p == 2 / 2**6  # only the observed swap of six documents and its mirror image are as extreme
    assert dataset.mentions == 6  # of 24
    assert not [note for note in comparison.notes if "no intervals or tests" in note]
    assert [note for note in comparison.notes if note.startswith("no individual mentions (a measure of a group)")]


@pytest.mark.parametrize(
    "measure",
    [
        PERSONS,
        "strong:micro.error-rate@error=ner-fn",
        "strong[in-kb]:micro.error-rate@error=disambiguation",
        "weak:micro.r@mention-type=entity-named",
    ],
)
def test_scores_of_groups_are_those_of_a_single_evaluation_and_intervals_up_to_resampling(measure):
    comparison = karat.compare("demo", {"prior": "demo/prior", "noisy": "demo/noisy"}, measure=measure)
    for system in ("prior", "noisy"):
        score = comparison.datasets[0].scores[system]
        result = karat.evaluate("demo", f"demo/{system}", measures=[measure], confidence=0.95)
        assert score.value == result[measure]
        assert (score.low, score.high) == pytest.approx(result.intervals[measure], abs=0.02)


def test_a_mean_by_mentions_is_weighted_by_the_mentions_of_the_group(tmp_path):
    first, second = make_gold("x", 8, n_places=1), make_gold("y", 2, n_places=40)
    files = {}
    for name, lines in {
        "first": first,
        "second": second,
        "a.first": make_run(first, 2),
        "a.second": make_run(second, 2),
        "b.first": make_run(first, 8),
        "b.second": make_run(second, 0),
    }.items():
        header = {"karat": "gold/2", "metadata": {"name": name}}
        if "." in name:
            header = {"karat": "predictions/2", "metadata": {"system": name[0], "corpus": name[2:]}}
        files[name] = tmp_path / f"{name}.jsonl"
        files[name].write_text("\n".join(map(json.dumps, [header, *lines])))
    pairs = [(files[name[2:]], files[name]) for name in files if "." in name]
    comparison = karat.compare(None, pairs, measure=PERSONS)
    # a finds 2 of 8 and 2 of 2 persons, b 8 of 8 and 0 of 2; all mentions would give 1/6 and 5/6 as weights
    assert comparison.means["a"].weighted.value == pytest.approx(4 / 10)
    assert comparison.means["b"].weighted.value == pytest.approx(8 / 10)
