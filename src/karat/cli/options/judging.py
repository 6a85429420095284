"""Options of the commands that use judgements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from karat.cli.options.declaration import option

_C = TypeVar("_C", bound=Callable[..., Any])


def auto_judge_option(command: _C) -> _C:
    """Add `--auto-judge` to a command (decorator)."""
    return option("--auto-judge", metavar="NAME", help="Automatic judge to use instead of people.")(command)
