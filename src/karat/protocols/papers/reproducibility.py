"""Ratings of how well published results can be reproduced, in the words of the fair evaluation.

Table 1 of Bast, Hertel and Prange (A Fair and In-Depth Evaluation of Existing End-to-End Entity Linking Systems, EMNLP
2023) rates systems from very good to poor without stating thresholds. Those here follow from what its Sections 6 and
A.2 report about each system.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

CLOSE: Final = 1.0
"""Largest difference, in points, of a result that counts as reproduced (REL: "a margin of error of < 1.0 %")."""

NEAR: Final = 10.0
"""Largest difference, in points, of a result that was reproduced roughly (Neural EL: 4.1 and 7.0; TagMe: 18.7)."""


@dataclass(frozen=True, slots=True)
class ResultGap:
    """The difference between a reported result and the same result when computed again."""

    points: float | None
    """The absolute difference in percentage points; None if the result is far off by an unknown amount."""
    is_from_paper: bool = True
    """Whether a paper reports the result, not another source such as a project page."""

    @property
    def is_close(self) -> bool:
        """Whether the result counts as reproduced."""
        return self.points is not None and abs(self.points) <= CLOSE

    @property
    def is_near(self) -> bool:
        """Whether the result was reproduced at least roughly."""
        return self.points is not None and abs(self.points) <= NEAR


@dataclass(frozen=True, slots=True)
class Rating:
    """A word for reproducibility and its condition."""

    word: str
    """The word in Table 1 of the paper."""
    description: str
    """The condition in words, without full stop."""
    applies: Callable[[Sequence[ResultGap]], bool]
    """Whether the results of a system fulfil the condition."""


def _is_mostly_close(gaps: Sequence[ResultGap]) -> bool:
    """Return whether more than half of the results in `gaps` count as reproduced."""
    return 2 * sum(gap.is_close for gap in gaps) > len(gaps)


RATINGS: Final = (
    Rating("problematic", "no reported result can be compared", lambda gaps: not gaps),
    Rating(
        "very good",
        f"more than half of the results are within {CLOSE} points, and all were published in papers",
        lambda gaps: _is_mostly_close(gaps) and all(gap.is_from_paper for gap in gaps),
    ),
    Rating(
        "good",
        f"more than half of the results are within {CLOSE} points, but some were not published in papers",
        _is_mostly_close,
    ),
    Rating("mediocre", f"some result is within {NEAR} points", lambda gaps: any(gap.is_near for gap in gaps)),
    Rating("poor", f"no result is within {NEAR} points", lambda gaps: True),
)
"""All ratings; the first whose condition holds applies."""


def rate_reproducibility(gaps: Sequence[ResultGap]) -> Rating:
    """Return the rating of a system whose reported results differ from the recomputed ones by `gaps`."""
    return next(rating for rating in RATINGS if rating.applies(gaps))
