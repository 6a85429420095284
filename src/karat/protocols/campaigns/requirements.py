"""Packages that campaigns need."""

from __future__ import annotations

import importlib.util

from karat.model.errors import UsageError


def require_sqlalchemy(command: str) -> None:
    """Raise `UsageError` about `command`, such as `karat verify`, if SQLAlchemy is not installed."""
    if importlib.util.find_spec("sqlalchemy") is None:
        raise UsageError(f"{command} needs SQLAlchemy: pip install 'karat[verify]'")
