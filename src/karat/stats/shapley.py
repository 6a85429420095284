"""Shapley values: a gap divided among players by their average contribution over all joining orders.

Shapley, A Value for n-Person Games, 1953. Sampling follows Castro, Gómez and Tejada, Computers & Operations Research
36(5), 2009, but in pairs of an order and its reverse, which reduces the error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, fsum, isfinite

import numpy as np

from karat.model.errors import UsageError
from karat.model.tables.columns import Floats


@dataclass(frozen=True, slots=True)
class PlayerShare:
    """The Shapley value of one player."""

    player: str
    """The player."""
    value: float
    """The value."""
    error: float | None = None
    """The standard error, if sampled."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """The division of a gap among players."""

    shares: tuple[PlayerShare, ...]
    """The shares in the order of the players; they sum to the gap."""
    is_exact: bool
    """Whether all coalitions were valued."""
    n_evaluations: int
    """The number of coalitions valued."""
    start: float
    """The value without players."""
    end: float
    """The value with all players."""


def shapley(
    players: Sequence[str],
    value: Callable[[frozenset[str]], float],
    *,
    exact_up_to: int = 12,
    samples: int = 2000,
    seed: int = 0,
) -> Attribution:
    """Divide value(all players) - value(no players) among the players by their Shapley values.

    `value` returns the value of a coalition; it is called once for each and must be finite, or `UsageError` is raised.
    Up to `exact_up_to` players all coalitions are valued. Beyond, shares are means over `samples` random joining orders
    (one more if odd, since they come in pairs) with standard errors. The order of players does not matter.
    """
    if len(set(players)) < len(players):
        raise UsageError("two players have the same name. Use distinct names.")
    if samples < 3:
        raise UsageError(f"samples is {samples}. Give at least 3, since a standard error needs two pairs of orders.")
    names = sorted(players)

    @cache
    def worth(members: int) -> float:
        """Return the value of a coalition, in which player i is bit i."""
        coalition = frozenset(name for index, name in enumerate(names) if members >> index & 1)
        result = float(value(coalition))
        if not isfinite(result):
            raise UsageError(f"the value of {sorted(coalition)} is {result}. Shares need one for every coalition.")
        return result

    start, end = worth(0), worth((1 << len(names)) - 1)
    exact = len(names) <= exact_up_to
    shares = _exact_shares(names, worth) if exact else _sampled_shares(names, worth, (samples + 1) // 2, seed)
    return Attribution(
        shares=tuple(shares[player] for player in players),
        is_exact=exact,
        n_evaluations=worth.cache_info().currsize,
        start=start,
        end=end,
    )


def _exact_shares(names: Sequence[str], worth: Callable[[int], float]) -> dict[str, PlayerShare]:
    """Return the Shapley value of each player from the values of all coalitions.

    `worth` takes a coalition as bits: bit i is set if player i of `names` is a member.
    """
    count = len(names)
    coalitions = np.arange(1 << count)
    values: Floats = np.array([worth(members) for members in coalitions.tolist()])
    # By coalition size: the share of all orders in which exactly its members come first.
    weights = np.array([1 / (count * comb(count - 1, size)) for size in range(count)])
    shares = {}
    for index, name in enumerate(names):
        joined = coalitions[coalitions >> index & 1 == 0]
        added = values[joined | 1 << index] - values[joined]
        # An exact sum, so that equal players get equal shares in any order.
        shares[name] = PlayerShare(name, fsum(added * weights[np.bitwise_count(joined)]))
    return shares


def _sampled_shares(
    names: Sequence[str], worth: Callable[[int], float], pairs: int, seed: int
) -> dict[str, PlayerShare]:
    """Estimate the Shapley value of each player, with standard error, from `pairs` random orders and their reverses.

    `worth` takes a coalition as bits: bit i is set if player i of `names` is a member.
    """
    rng = np.random.default_rng(seed)
    added = np.zeros((pairs, len(names)))
    for row in added:
        order = rng.permutation(len(names)).tolist()
        for joining in (order, order[::-1]):
            members = 0
            for index in joining:
                row[index] += (worth(members | 1 << index) - worth(members)) / 2
                members |= 1 << index
    # Orders within a pair are dependent, pairs are independent: the error is that of the mean of pairs.
    errors = added.std(axis=0, ddof=1) / np.sqrt(pairs)
    means = zip(names, added.mean(axis=0).tolist(), errors.tolist(), strict=True)
    return {name: PlayerShare(name, mean, error) for name, mean, error in means}
