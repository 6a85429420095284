"""The optional packages that charts need."""

from __future__ import annotations

from importlib.util import find_spec

from karat.model.errors import KaratError

_PACKAGES = {"altair": "Altair", "vl_convert": "vl-convert"}


def check_extra() -> None:
    """Raise `KaratError` if a package of the extra `plots` is missing."""
    missing = [title for module, title in _PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise KaratError(f"charts need {' and '.join(missing)}. Run: pip install 'karat[plots]'")
