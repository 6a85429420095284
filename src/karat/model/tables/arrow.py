"""A name for what comes from Arrow."""

from __future__ import annotations

from typing import Any, TypeAlias

Arrow: TypeAlias = Any
"""A table, array, type or buffer of pyarrow, which ships no types; which one, the name of the variable says."""
