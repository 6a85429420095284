"""Who is to thank for a gap: it is divided among players by what each adds, averaged over all orders of joining.

Shapley, A Value for n-Person Games, 1953. Sampled as by Castro, Gómez and Tejada, Computers & Operations Research
36(5), 2009, but in pairs of an order and its reverse, which cancels much of the error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, fsum, isfinite

import numpy as np

from karat.errors import UsageError
from karat.model.tables.columns import Floats


@dataclass(frozen=True, slots=True)
class PlayerShare:
    """What one player adds, with the standard error if it was sampled."""

    player: str
    value: float
    error: float | None = None


@dataclass(frozen=True, slots=True)
class Attribution:
    """How the gap from `start`, the value without players, to `end`, the value with all, is divided.

    The shares, in the order the players were given, sum to the gap, sampled or not. `evaluations` counts the
    coalitions that were valued.
    """

    shares: tuple[PlayerShare, ...]
    exact: bool
    evaluations: int
    start: float
    end: float


def shapley(
    players: Sequence[str],
    value: Callable[[frozenset[str]], float],
    *,
    exact_up_to: int = 12,
    samples: int = 2000,
    seed: int = 0,
) -> Attribution:
    """Divide value(all players) - value(none) among the players; each coalition is valued at most once.

    Up to `exact_up_to` players all coalitions are valued. Beyond, shares are means over `samples` random orders of
    joining (one more if odd: they come in pairs) with standard errors. The order of players does not matter.
    """
    if len(set(players)) < len(players):
        raise UsageError("two players have the same name. Name each once.")
    if samples < 3:
        raise UsageError(f"samples is {samples}. Give at least 3: an error needs two pairs of orders.")
    names = sorted(players)

    @cache
    def worth(members: int) -> float:
        """The value of a coalition, in which player i is bit i."""
        coalition = frozenset(name for place, name in enumerate(names) if members >> place & 1)
        found = float(value(coalition))
        if not isfinite(found):
            raise UsageError(f"the value of {sorted(coalition)} is {found}. Shares need one for every coalition.")
        return found

    start, end = worth(0), worth((1 << len(names)) - 1)
    exact = len(names) <= exact_up_to
    shares = _exact(names, worth) if exact else _sampled(names, worth, (samples + 1) // 2, seed)
    return Attribution(
        shares=tuple(shares[player] for player in players),
        exact=exact,
        evaluations=worth.cache_info().currsize,
        start=start,
        end=end,
    )


def _exact(names: Sequence[str], worth: Callable[[int], float]) -> dict[str, PlayerShare]:
    count = len(names)
    coalitions = np.arange(1 << count)
    values: Floats = np.array([worth(members) for members in coalitions.tolist()])
    # By the size of the coalition that is joined: the share of all orders in which exactly its members come before.
    weights = np.array([1 / (count * comb(count - 1, size)) for size in range(count)])
    shares = {}
    for place, name in enumerate(names):
        joined = coalitions[coalitions >> place & 1 == 0]
        added = values[joined | 1 << place] - values[joined]
        # An exact sum, so that players who add the same get the same, whatever their place.
        shares[name] = PlayerShare(name, fsum(added * weights[np.bitwise_count(joined)]))
    return shares


def _sampled(names: Sequence[str], worth: Callable[[int], float], pairs: int, seed: int) -> dict[str, PlayerShare]:
    rng = np.random.default_rng(seed)
    added = np.zeros((pairs, len(names)))
    for row in added:
        order = rng.permutation(len(names)).tolist()
        for joining in (order, order[::-1]):
            members = 0
            for place in joining:
                row[place] += (worth(members | 1 << place) - worth(members)) / 2
                members |= 1 << place
    # Orders within a pair depend on each other, pairs do not: the error is that of the mean of pairs.
    errors = added.std(axis=0, ddof=1) / np.sqrt(pairs)
    found = zip(names, added.mean(axis=0).tolist(), errors.tolist(), strict=True)
    return {name: PlayerShare(name, mean, error) for name, mean, error in found}
