"""What makes the command line answer sooner."""

from __future__ import annotations

import gc
import sys
from collections import defaultdict
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Final

_OURS: Final = ("karat", "pyarrow")
_OFTEN: Final = 10_000  # new objects between two searches for circles; usually it is less than a thousand
_SPARED: Final = ("dateutil", "pandas")


class _Sooner(MetaPathFinder):
    """Spares pyarrow what it does for users of its own, and what takes longer than all that a small command does.

    With its first array it imports pandas, where that is installed, and it looks for dateutil with every value of
    Python's that it is given: it is told that there is none. Whoever else asks for them, such as a plugin of a user's
    own, gets them. And it parses the documentation of all its options, to write that of its functions: it finds no
    options there.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in _SPARED and _asking().partition(".")[0] in _OURS:
            raise ImportError(f"{fullname} is not needed here", name=fullname)
        return ModuleSpec(fullname, _NoOptions()) if fullname == "pyarrow.vendored.docscrape" else None


class _NoOptions(Loader):
    def exec_module(self, module: ModuleType) -> None:
        module.NumpyDocString = lambda *_: defaultdict(tuple)  # type: ignore[attr-defined]  # all that is asked for


def _asking() -> str:
    """The module whose code runs the import; compiled code has no frame, and counts as what called it."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("importlib."):
        frame = frame.f_back
    return "" if frame is None else str(frame.f_globals.get("__name__", ""))


def start_sooner(arguments: Sequence[str]) -> None:
    """Do without what pyarrow does for others, unless a command hands work to Spark or to a file of code.

    What is imported makes hardly any circles, and is not searched for them each time that it grows a little.
    """
    gc.set_threshold(_OFTEN, 10, 10)
    if not any("spark" in argument or argument.endswith(".py") for argument in arguments):
        sys.meta_path.insert(0, _Sooner())


def prepare_process() -> None:
    """What a process does that takes a part of the work of a command."""
    start_sooner(sys.argv[1:])
    keep_what_is_made()


def keep_what_is_made() -> None:
    """What is imported stays, and what comes makes no circles: looking for them takes a tenth of the time."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
