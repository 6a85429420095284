"""Options of the commands that use candidate lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, Unpack

import click

from karat.cli.options.declaration import Conditions, Decorator, option

_C = TypeVar("_C", bound=Callable[..., Any])


def lookup_option(**conditions: Unpack[Conditions]) -> Decorator:
    """Return a decorator that adds `--lookup`."""
    return option(
        "--lookup",
        type=click.Choice(["zelda", "clean", "exact", "flair"]),
        default="zelda",
        show_default=True,
        help="Lookup method for mentions in candidate lists.",
        **conditions,
    )
