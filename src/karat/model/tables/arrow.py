"""A type alias for objects of pyarrow."""

from __future__ import annotations

from typing import Any, TypeAlias

Arrow: TypeAlias = Any
"""A table, array, type or buffer of pyarrow, which ships no types; the variable name tells which."""
