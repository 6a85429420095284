"""Optional imports of other packages that take longer than a small command of Karat's."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.abc import MetaPathFinder
from types import ModuleType

_is_program: ContextVar[bool] = ContextVar("is_program", default=False)


def declare_program() -> None:
    """Declare that this process runs a command of Karat's and no code of users, so that modules may be hidden."""
    _is_program.set(True)


@contextmanager
def hide_module(name: str) -> Iterator[None]:
    """Let imports of a module fail in the block, unless it is imported already or the process may run users' code."""
    if not _is_program.get() or name in sys.modules:
        yield
        return
    finder = _HidingFinder(name)
    sys.meta_path.insert(0, finder)  # None in sys.modules would do for Python, but not for Cython
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _HidingFinder(MetaPathFinder):
    """A finder that raises `ImportError` for one module."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Return None, so that other finders are asked, or raise `ImportError` for the hidden module."""
        if fullname == self._name:
            raise ImportError(f"this command does not need {fullname}", name=fullname)
