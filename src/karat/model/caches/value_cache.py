"""Values that are computed from an object and cached with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cached_property
from typing import Any, TypeVar

_T = TypeVar("_T")


class ValueCache:
    """A base class of frozen data classes that cache what is computed from them; copies start without cached values."""

    @cached_property
    def cache(self) -> dict[str, Any]:
        """Values that `get_or_compute` stored, by name."""
        return {}

    def get_or_compute(self, name: str, compute: Callable[[], _T]) -> _T:
        """Return the value that is cached under `name`; on first use, store the result of `compute()`."""
        if name not in self.cache:
            self.cache[name] = compute()
        value: _T = self.cache[name]
        return value

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
