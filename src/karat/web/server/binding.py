"""Addresses and ports of servers, and messages if they cannot be used."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from karat.model.errors import UsageError


@contextmanager
def explain_bind_errors(host: str, port: int) -> Iterator[None]:
    """Raise `UsageError` if the block cannot listen on `host` and `port`."""
    try:
        yield
    except OSError as problem:
        if problem.errno in (errno.EADDRINUSE, errno.EACCES):
            reason, remedy = os.strerror(problem.errno), "Pass another --port; 0 picks a free one."
        else:
            reason, remedy = str(problem.strerror), "Check --host."
        raise UsageError(f"cannot listen on {host}, port {port}: {reason}. {remedy}") from None
