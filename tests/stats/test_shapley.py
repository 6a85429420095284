"""Shapley values: by hand, by the axioms that define them, and sampled against exact."""

from __future__ import annotations

from itertools import chain, combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.model.errors import UsageError
from karat.stats.shapley import shapley

NAMES = "abcdef"


def coalitions(players):
    return map(frozenset, chain.from_iterable(combinations(players, size) for size in range(len(players) + 1)))


@st.composite
def games(draw, max_players=5):
    """Players, and a value for every coalition."""
    players = NAMES[: draw(st.integers(1, max_players))]
    values = st.floats(-10, 10).map(lambda x: round(x, 3))
    return list(players), {members: draw(values) for members in coalitions(players)}


def random_game(players, seed):
    rng = np.random.default_rng(seed)
    return {members: rng.normal() for members in coalitions(players)}


def values(attribution):
    return {share.player: share.value for share in attribution.shares}


def test_the_glove_game():
    # One left glove, two right ones; a pair is worth 1.
    found = shapley(["left", "r1", "r2"], lambda s: float("left" in s and len(s) > 1))
    assert values(found) == pytest.approx({"left": 2 / 3, "r1": 1 / 6, "r2": 1 / 6})
    assert (found.is_exact, found.n_evaluations, found.start, found.end) == (True, 8, 0, 1)
    assert [share.error for share in found.shares] == [None] * 3


def test_two_players_by_hand():
    game = {"": 0.5, "a": 0.6, "b": 0.5, "ab": 0.9}
    found = shapley(["b", "a"], lambda s: game["".join(sorted(s))])
    assert [share.player for share in found.shares] == ["b", "a"]
    assert values(found) == pytest.approx({"a": (0.1 + 0.4) / 2, "b": (0.0 + 0.3) / 2})


@given(games())
def test_exact_shares_are_means_over_all_orders(game):
    players, worth = game
    sums = dict.fromkeys(players, 0.0)
    orders = list(permutations(players))
    for order in orders:
        for place, player in enumerate(order):
            sums[player] += worth[frozenset(order[: place + 1])] - worth[frozenset(order[:place])]
    expected = {player: total / len(orders) for player, total in sums.items()}
    assert values(shapley(players, worth.__getitem__)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("exact_up_to", [12, 0])
@given(games(), st.integers(0, 3))
def test_shares_sum_to_the_gap(exact_up_to, game, seed):
    players, worth = game
    found = shapley(players, worth.__getitem__, exact_up_to=exact_up_to, samples=9, seed=seed)
    assert found.is_exact is bool(exact_up_to)
    assert (found.start, found.end) == (worth[frozenset()], worth[frozenset(players)])
    assert sum(values(found).values()) == pytest.approx(found.end - found.start, abs=1e-9)


@pytest.mark.parametrize("exact_up_to", [12, 0])
@given(games(max_players=4))
def test_a_dummy_gets_nothing(exact_up_to, game):
    players, worth = game
    found = shapley([*players, "x"], lambda s: worth[s - {"x"}], exact_up_to=exact_up_to, samples=9)
    assert values(found)["x"] == 0


@given(games(max_players=4))
def test_players_who_add_the_same_get_the_same(game):
    players, worth = game

    def alike(s):
        """The first player and x stand for each other: only how many of the two are there counts."""
        both = len(s & {"a", "x"})
        rest = s - {"a", "x"}
        return worth[rest | {"a"}] * both + worth[rest] if both else worth[rest]

    found = values(shapley([*players, "x"], alike))
    assert found["a"] == found["x"]


@given(games(), st.floats(-3, 3))
def test_shares_are_linear_in_the_value(game, factor):
    players, worth = game
    other = random_game(players, 1)
    one, two = values(shapley(players, worth.__getitem__)), values(shapley(players, other.__getitem__))
    both = values(shapley(players, lambda s: factor * worth[s] + other[s]))
    assert both == pytest.approx({player: factor * one[player] + two[player] for player in players}, abs=1e-9)


@pytest.mark.parametrize("exact_up_to", [12, 0])
@given(games(), st.data())
def test_the_order_of_players_never_matters(exact_up_to, game, data):
    players, worth = game
    shuffled = data.draw(st.permutations(players))
    one = shapley(players, worth.__getitem__, exact_up_to=exact_up_to, samples=9)
    two = shapley(shuffled, worth.__getitem__, exact_up_to=exact_up_to, samples=9)
    assert set(one.shares) == set(two.shares)
    assert [share.player for share in two.shares] == shuffled


@pytest.mark.parametrize("exact_up_to", [12, 0])
@given(games())
def test_no_coalition_is_valued_twice(exact_up_to, game):
    players, worth = game
    asked = []

    def value(s):
        asked.append(s)
        return worth[s]

    found = shapley(players, value, exact_up_to=exact_up_to, samples=20)
    assert len(asked) == len(set(asked)) == found.n_evaluations


@pytest.mark.parametrize("seed", range(5))
def test_sampled_shares_are_near_the_exact_ones(seed):
    worth = random_game(NAMES, seed)
    exact = values(shapley(NAMES, worth.__getitem__))
    sampled = shapley(NAMES, worth.__getitem__, exact_up_to=5, seed=seed)
    assert not sampled.is_exact
    for share in sampled.shares:
        assert 0 < share.error < 0.1
        assert abs(share.value - exact[share.player]) < 5 * share.error


def test_the_error_says_how_far_samples_scatter():
    worth = random_game(NAMES, 0)
    runs = [shapley(NAMES, worth.__getitem__, exact_up_to=0, samples=40, seed=seed).shares[0] for seed in range(200)]
    scatter = np.std([share.value for share in runs], ddof=1)
    assert np.mean([share.error for share in runs]) == pytest.approx(scatter, rel=0.2)


def test_the_same_seed_gives_the_same():
    worth = random_game(NAMES, 0)
    one, two, other = (
        shapley(NAMES, worth.__getitem__, exact_up_to=0, samples=10, seed=seed).shares for seed in (0, 0, 1)
    )
    assert one == two != other


def test_more_players_than_could_be_valued_exactly():
    players = [f"p{number:02}" for number in range(40)]
    found = shapley(players, lambda s: sum(int(name[1:]) for name in s) / 10, samples=10)
    assert not found.is_exact
    assert values(found) == pytest.approx({name: int(name[1:]) / 10 for name in players}, abs=1e-9)
    assert all(share.error == pytest.approx(0, abs=1e-9) for share in found.shares)


def test_without_players_there_is_nothing_to_share():
    found = shapley([], lambda s: 0.25)
    assert (found.shares, found.is_exact, found.n_evaluations, found.start, found.end) == ((), True, 1, 0.25, 0.25)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="same name"):
        shapley(["a", "a"], len)
    with pytest.raises(UsageError, match="samples is 2"):
        shapley(["a"], len, samples=2)
    with pytest.raises(UsageError, match=r"value of \['a'\] is nan"):
        shapley(["a", "b"], lambda s: float("nan") if s == {"a"} else 0.0)
