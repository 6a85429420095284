"""Faster start of the command line: fewer imports and fewer garbage collections."""

from __future__ import annotations

import gc
import sys
from collections import defaultdict
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Final

_BLOCKED_PACKAGES: Final = {"dateutil": ("karat", "pyarrow"), "pandas": ("karat", "pyarrow"), "torch": ("thinc",)}
"""Packages that others import if they are installed, and that Karat does not need, with the packages that get none."""

_SCORING_COMMANDS: Final = ("compare", "report", "reproduce", "score", "why")
"""Commands that run no spaCy pipeline, but only spaCy's tokenizer: it imports thinc, which imports torch."""

_GC_THRESHOLD: Final = 10_000
"""New objects between two garbage collections while modules are imported; Python's default is below a thousand."""


class _ImportBlocker(MetaPathFinder):
    """Import hook that skips slow optional imports of pyarrow and thinc, which take longer than a small command.

    pyarrow imports pandas with its first array and looks for dateutil with every Python value: both imports fail if
    Karat or pyarrow makes them. Other importers, such as a user's plugin, still get pandas and dateutil. pyarrow also
    parses the documentation of its options to document its functions: the hook replaces that parser with one that finds
    nothing. thinc gets no torch in a command that only scores.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._packages = {
            package: importers
            for package, importers in _BLOCKED_PACKAGES.items()
            if package != "torch" or (arguments and arguments[0] in _SCORING_COMMANDS)
        }

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise `ImportError` for a blocked import; return None to leave other imports to the next finder.

        For pyarrow's documentation parser, return the specification of a module whose parser finds nothing.
        """
        if fullname in self._packages and _importing_module().partition(".")[0] in self._packages[fullname]:
            raise ImportError(f"Karat's command line does not use {fullname}", name=fullname)
        return ModuleSpec(fullname, _EmptyParserLoader()) if fullname == "pyarrow.vendored.docscrape" else None


class _EmptyParserLoader(Loader):
    """Loader of a module in place of pyarrow's documentation parser, with a parser that finds nothing."""

    def exec_module(self, module: ModuleType) -> None:
        module.NumpyDocString = lambda *_: defaultdict(tuple)  # type: ignore[attr-defined]


def _importing_module() -> str:
    """Return the name of the module that imports; compiled code has no frame, so that its caller counts.

    Only `find_spec` may call this function, because a fixed number of frames is skipped.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("importlib."):
        frame = frame.f_back
    return "" if frame is None else str(frame.f_globals.get("__name__", ""))


def speed_up_start(arguments: Sequence[str]) -> None:
    """Block slow imports, unless `arguments` name Spark or a Python file, which may need them.

    Garbage collection is also rarer: importing modules creates hardly any reference cycles.
    """
    gc.set_threshold(_GC_THRESHOLD, 10, 10)
    if not any("spark" in argument or argument.endswith(".py") for argument in arguments):
        sys.meta_path.insert(0, _ImportBlocker(arguments))


def prepare_process() -> None:
    """Set up a worker process of a command: block slow imports and collect garbage rarely."""
    speed_up_start(sys.argv[1:])
    freeze_garbage_collector()


def freeze_garbage_collector() -> None:
    """Exempt existing objects from garbage collection and collect rarely; this saves a tenth of the run time."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
