"""A count out of a total."""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import force_setattr

from karat.model.tables.columns import Bools


class Share(msgspec.Struct, frozen=True):
    """A count out of a total, such as correct mentions out of all."""

    hits: int
    """Number of hits."""
    total: int
    """Number of cases."""
    value: float | None = None
    """`hits` / `total`, which the constructor computes; None for an empty total."""

    def __post_init__(self) -> None:
        force_setattr(self, "value", self.hits / self.total if self.total else None)

    @classmethod
    def from_masks(cls, hits: Bools, cases: Bools) -> Share:
        """Count the cases, and the hits among them; both are masks over the same items."""
        return cls(int(np.count_nonzero(hits & cases)), int(np.count_nonzero(cases)))
