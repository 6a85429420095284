"""Laws of matching where many spans compete: faster ways change nothing, and there is a stated end."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, InputError, Label, Prediction, Response, Run
from karat.matching.align import assignment as module
from karat.matching.align import dense_component
from karat.matching.align.assignment import Edges, Preferences, assign
from karat.matching.align.overlap import find_linked_overlaps, find_overlaps, find_same_spans, same_entity, same_span
from karat.matching.judge import match_candidates
from karat.model.items import Items
from karat.model.limits import LIMITS, get_limit
from karat.model.spec.settings.conventions import Assignment
from tests import strategies
from tests.conftest import with_settings

MEASURES = [f"{relation}:micro.f1" for relation in ("strong", "weak", "mention", "mention-weak")]

BAG = [
    "view",
    "gold",
    "prediction",
    *(f"{state}_{side}" for state in ("matched", "unmatched") for side in ("gold", "prediction")),
]


def bag(result):
    """What became of every label and every prediction; who is matched with whom may differ where nothing prefers it."""
    rows = result.verdicts.select(BAG).to_pylist()
    of_gold = [(r["view"], r["gold"], r["matched_gold"], r["unmatched_gold"]) for r in rows if r["gold"] is not None]
    predictions = [
        (r["view"], r["prediction"], r["matched_prediction"], r["unmatched_prediction"])
        for r in rows
        if r["prediction"] is not None
    ]
    return sorted(map(repr, of_gold)), sorted(map(repr, predictions))


@given(strategies.pairs(families=True), st.sampled_from([2, 3, 5, 8, 13]))
def test_what_is_held_at_once_changes_nothing(pair, limit):
    """A document beyond the limit is judged without all its pairs, or refused; its scores are the same."""
    corpus, run = pair
    whole = karat.evaluate(corpus, run, measures=MEASURES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KARAT_MAX_PAIRS", str(limit))
        patch.setattr(match_candidates, "_MIN_PAIRS", 0)
        try:
            parts = karat.evaluate(corpus, run, measures=MEASURES)
        except InputError:
            return
    assert parts.measures == whole.measures
    assert bag(parts) == bag(whole)


@pytest.mark.parametrize("relation", ["strong", "weak", "mention", "mention-weak"])
@pytest.mark.parametrize("assignment", ["optimal", "greedy", "membership", "first", "predictions"])
@given(pair=strategies.pairs(), limit=st.sampled_from([2, 4, 8]))
def test_every_assignment_is_the_same_part_by_part(relation, assignment, pair, limit):
    corpus, run = pair
    options = {"measures": [f"{relation}:micro.f1"], "assignment": assignment}
    whole = karat.evaluate(corpus, run, **with_settings(options))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KARAT_MAX_PAIRS", str(limit))
        patch.setattr(match_candidates, "_MIN_PAIRS", 0)
        try:
            parts = karat.evaluate(corpus, run, **with_settings(options))
        except InputError:
            return
    assert bag(parts) == bag(whole)


@st.composite
def contests(draw, size: int = 5):
    """Spans of one entity in one document, and what is preferred among them."""
    length = draw(st.sampled_from([6, 12]))
    gold, predictions = (draw(st.lists(strategies.spans(length), min_size=1, max_size=size)) for _ in range(2))
    score = draw(st.lists(st.sampled_from([np.nan, 0.2, 0.8]), min_size=len(predictions), max_size=len(predictions)))
    required = draw(st.lists(st.booleans(), min_size=len(gold), max_size=len(gold)))
    return preferences(gold, predictions, score, required)


def items(spans):
    start, end = np.array(spans, np.int32).reshape(-1, 2).T
    zero = np.zeros(len(start), np.int32)
    return Items(np.arange(len(start)), zero, start, end, zero, pa.array(["Q1"]))


def preferences(gold, predictions, score, required):
    return Preferences(items(gold), items(predictions), np.array(score, float), np.array(required, bool), False)


def edges_of(prefer):
    pairs = find_overlaps(prefer.gold, prefer.predictions)
    return Edges(pairs.gold, pairs.gold, pairs.prediction, np.ones(len(pairs.gold), np.bool_))


def worth(edges, prefer, places):
    """What an assignment is worth, the most important first."""
    part = edges.take(np.array(places, np.int64))
    start = np.maximum(prefer.gold.start[part.label], prefer.predictions.start[part.prediction])
    end = np.minimum(prefer.gold.end[part.label], prefer.predictions.end[part.prediction])
    same = same_span(prefer.gold, prefer.predictions, find_overlaps(prefer.gold, prefer.predictions))
    exact_spans = {e for e, equal in zip(range(len(same)), same, strict=True) if equal}
    return (
        len(part),
        sorted(prefer.levels(part.prediction).tolist(), reverse=True),
        int(prefer.required[part.label].sum()),
        len(exact_spans & set(np.array(places).tolist())),
        int((end - start).sum()),
        [
            -place
            for place in sorted(
                module.rank_items(prefer.predictions, np.arange(len(prefer.predictions)))[part.prediction].tolist()
            )
        ],
        [-place for place in sorted(module.rank_items(prefer.gold, np.arange(len(prefer.gold)))[part.label].tolist())],
    )


@pytest.mark.parametrize("few", [0, 64])
@given(prefer=contests())
def test_no_assignment_is_better(few, prefer):
    """Every assignment is tried, and compared as the documentation orders them."""
    edges = edges_of(prefer)
    found: list[list[int]] = [[]]
    for place, (unit, prediction) in enumerate(zip(edges.mention.tolist(), edges.prediction.tolist(), strict=True)):
        found += [
            [*m, place] for m in found if all(edges.mention[e] != unit and edges.prediction[e] != prediction for e in m)
        ]
    if len(found) > 3000:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MAX_SMALL", few)
        taken = assign(edges, prefer, Assignment.OPTIMAL)
    best = max(worth(edges, prefer, places)[:5] for places in found)
    assert worth(edges, prefer, taken)[:5] == best


@given(contests(size=12))
def test_small_and_large_components_are_solved_alike(prefer):
    edges = edges_of(prefer)
    found = []
    for few in (0, 10**6):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_MAX_SMALL", few)
            taken = edges.take(assign(edges, prefer, Assignment.OPTIMAL))
        found.append((sorted(taken.mention.tolist()), sorted(taken.prediction.tolist())))
    assert found[0] == found[1]


@given(contests(size=12))
def test_costs_too_long_for_a_machine_word_are_added_as_they_are(prefer):
    edges = edges_of(prefer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MAX_SMALL", 0)
        short = assign(edges, prefer, Assignment.OPTIMAL)
        patch.setattr(dense_component, "_MAX_COST_BITS", 0)
        assert worth(edges, prefer, assign(edges, prefer, Assignment.OPTIMAL)) == worth(edges, prefer, short)


@given(strategies.pairs())
def test_joins_find_what_filters_leave(pair):
    corpus, run = pair
    for gold, predictions in zip(corpus, run, strict=False):
        sides = [items([(x.start, x.end) for x in side]) for side in (gold.labels, predictions.predictions) if side]
        if len(sides) < 2:
            continue
        every = find_overlaps(*sides)
        assert pairs_of(find_same_spans(*sides)) == pairs_of(every.select(same_span(*sides, every)))
        assert pairs_of(find_linked_overlaps(*sides)) == pairs_of(every.select(same_entity(*sides, every)))


def pairs_of(pairs):
    return sorted(zip(pairs.gold.tolist(), pairs.prediction.tolist(), strict=True))


def nested(count, *, shift=0):
    return [(i + shift, 4 * count - i + 2 * shift) for i in range(count)]


def crossing(count, seed):
    rng = random.Random(seed)
    return [(rng.randrange(count), rng.randrange(count + 1, 2 * count)) for _ in range(count)]


def looks(monkeypatch, gold, predictions):
    """How often the units of an prediction are looked at."""
    count = [0]
    row = dense_component._Market._get_row

    def counted(self, buyer):
        count[0] += 1
        return row(self, buyer)

    monkeypatch.setattr(dense_component._Market, "_get_row", counted)
    prefer = preferences(gold, predictions, [np.nan] * len(predictions), [True] * len(gold))
    taken = assign(edges_of(prefer), prefer, Assignment.OPTIMAL)
    monkeypatch.setattr(dense_component._Market, "_get_row", row)
    assert len(taken) == min(len(gold), len(predictions))
    return count[0]


@pytest.mark.parametrize("shift", [0, 1])
def test_the_work_on_nested_spans_grows_with_their_number(monkeypatch, shift):
    small, large = (looks(monkeypatch, nested(n), nested(n, shift=shift)) for n in (200, 400))
    assert large < 3 * small


def test_the_work_on_crossing_spans_stays_far_from_all_pairs(monkeypatch):
    assert looks(monkeypatch, crossing(400, 1), crossing(400, 2)) < 400 * 400 / 4


def document(spans, entity):
    return Document(
        "d", "x" * (max(end for _, end in spans) + 9), tuple(Label(*s, entity(i)) for i, s in enumerate(spans))
    )


@pytest.mark.parametrize("wrong", [0, 1, 3])
@pytest.mark.extras  # it takes long
def test_ten_thousand_overlapping_spans_of_distinct_entities_need_no_ten_million_pairs(wrong):
    """Right or wrong, each prediction on a span of its own meets the mention there."""
    count = 10_000
    spans = nested(count)
    corpus = Corpus.from_documents([document(spans, lambda i: f"Q{i}")])
    wrong_at = range(0, count, wrong) if wrong else ()
    predictions = [
        Prediction(*s, f"Q{i}" if i not in wrong_at else f"X{i}", score=i / count) for i, s in enumerate(spans)
    ]
    result = karat.evaluate(corpus, Run.from_responses([Response("d", tuple(predictions))]), measures=MEASURES)
    right = count - len(wrong_at)
    assert result["weak:micro.p"] == result["strong:micro.p"] == right / count
    assert result["mention-weak:micro.f1"] == 1
    assert sum(row == "wrong link" for row in result.verdicts["outcome"].to_pylist()) == 2 * len(wrong_at)


def test_beyond_the_limit_there_is_one_error_and_no_other_rule(monkeypatch):
    spans = nested(30)
    corpus = Corpus.from_documents([Document("e", "x"), document(spans, lambda i: "Q1")])
    run = Run.from_responses([Response("d", tuple(Prediction(*s, "Q1") for s in nested(30, shift=1)))])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KARAT_MAX_PAIRS", "899")
        with pytest.raises(InputError, match=r"document number 2: found .* expected at most 899 .*KARAT_MAX_PAIRS"):
            karat.evaluate(corpus, run, measures=["weak:micro.f1"])
        patch.setenv("KARAT_MAX_PAIRS", "900")
        assert karat.evaluate(corpus, run, measures=["weak:micro.f1"])["weak:micro.f1"] == 1


def test_thresholds_multiply_the_work_and_have_a_limit_too(monkeypatch):
    spans = nested(40)  # 40 scores, and the threshold above them all
    corpus = Corpus.from_documents([document(spans, lambda i: "http://dbpedia.org/resource/A")])
    predictions = [
        Prediction(*s, "http://dbpedia.org/resource/A", score=i / 40) for i, s in enumerate(nested(40, shift=1))
    ]
    run = Run.from_responses([Response("d", tuple(predictions))])
    monkeypatch.setenv("KARAT_MAX_TRIALS", "1000")
    with pytest.raises(InputError, match=r"41 thresholds .* or set KARAT_MAX_TRIALS"):
        karat.evaluate(corpus, run, profile="gerbil", measures=["weak:micro.f1"])


@pytest.mark.parametrize("written", ["", "0", "-1", "many", "1e6", "9" * 30])
def test_a_limit_that_is_no_number_is_refused(monkeypatch, written):
    monkeypatch.setenv("KARAT_MAX_PAIRS", written)
    with pytest.raises(karat.UsageError, match="KARAT_MAX_PAIRS"):
        get_limit("pairs")


def test_limits_are_read_with_separators(monkeypatch):
    monkeypatch.setenv("KARAT_MAX_PAIRS", "20_000_000")
    assert get_limit("pairs") == 20_000_000
    assert all(limit.reason and limit.description and limit.maximum for limit in LIMITS.values())


def test_hipe_walks_the_same_in_a_crowd():
    rng = random.Random(3)
    for _ in range(40):
        gold = [tuple(sorted(rng.sample(range(20), 2))) for _ in range(6)]
        predictions = [tuple(sorted(rng.sample(range(20), 2))) for _ in range(6)]
        labels = tuple(Label(*s, rng.choice(["Q1", "Q2"])) for s in dict.fromkeys(gold))
        corpus = Corpus.from_documents([Document("d", "x" * 20, labels)])
        run = Run.from_responses(
            [Response("d", tuple(Prediction(*s, rng.choice(["Q1", "Q2"])) for s in dict.fromkeys(predictions)))]
        )
        found = []
        for limit in ("1000000", "3"):
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("KARAT_MAX_PAIRS", limit)
                names = [f"{name}:micro.f1" for name in ("hipe-nel-strict", "hipe-nel-fuzzy")]
                found.append(bag(karat.evaluate(corpus, run, measures=names, settings={"assignment": "greedy"})))
        assert found[0] == found[1]


def test_all_combinations_of_ties_keep_their_order():
    """Equal spans, equal scores: the predictions and mentions of lower ids are taken, whatever the order of the
    file."""
    for gold, predictions in product([1, 3], [2, 4]):
        prefer = preferences([(0, 9)] * gold, [(1, 8)] * predictions, [np.nan] * predictions, [True] * gold)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_MAX_SMALL", 0)
            taken = edges_of(prefer).take(assign(edges_of(prefer), prefer, Assignment.OPTIMAL))
        assert sorted(taken.prediction.tolist()) == list(range(min(gold, predictions)))
        assert sorted(taken.mention.tolist()) == list(range(min(gold, predictions)))
