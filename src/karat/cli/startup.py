"""Faster start of the command line: fewer imports, fewer threads and fewer garbage collections."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import Final

from karat.model.output.hidden_modules import declare_program, hide_module

_SCORING_COMMANDS: Final = ("compare", "curve", "explain", "gate", "report", "reproduce", "score", "show", "why")
"""Commands whose matrices are small, and which start no other programs."""

_GC_THRESHOLD: Final = 10_000
"""New objects between two garbage collections while modules are imported; Python's default is below a thousand."""


def speed_up_start(arguments: Sequence[str]) -> None:
    """Set up the process for the command that `arguments` name.

    Garbage collection is rarer, because importing modules creates hardly any reference cycles. In scoring commands
    NumPy gets one thread for matrices. Further threads would only wait for work, which took a third of the processor
    time of `karat score` on small files. Modules are hidden from packages unless a Python file of a user's may need
    them.
    """
    gc.set_threshold(_GC_THRESHOLD, 10, 10)
    if arguments and arguments[0] in _SCORING_COMMANDS:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if not any(argument.endswith(".py") for argument in arguments):
        declare_program()


def import_arrow() -> None:
    """Import pyarrow while pandas is hidden, which pyarrow would import with its first array; this saves 0.12 s.

    pyarrow looks for pandas only once. If it converts to pandas later, it looks again.
    """
    with hide_module("pandas"):
        import pyarrow as pa

        pa.array([None])


def prepare_process() -> None:
    """Set up a worker process of a command."""
    speed_up_start(sys.argv[1:])
    import_arrow()
    freeze_garbage_collector()


def freeze_garbage_collector() -> None:
    """Exempt existing objects from garbage collection and collect rarely; this saves a tenth of the run time."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
