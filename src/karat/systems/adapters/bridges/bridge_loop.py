"""Loop that links documents in JSON lines with a package in another Python environment.

`bridge_loop.py FILE ARGUMENT…` loads the linker from the bridge FILE. It runs with the Python of that package and does
not import Karat.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

Linker = Callable[[str, list[list[int]]], list[dict[str, Any]]]
"""A function that returns the predictions for a text and the spans of given mentions."""


def load_linker(file: str, *arguments: str) -> Linker:
    """Import the bridge `file` and return the linker that its `open_linker` opens with `arguments`."""
    spec = spec_from_file_location("bridge", file)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{file} is not a Python file")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    linker: Linker = module.open_linker(*arguments)
    return linker


def describe_failure(file: str, problem: Exception) -> str:
    """Return why the bridge `file` could not open its linker, and what to do."""
    system = Path(file).stem.removesuffix("_bridge").replace("_", "-")
    reason = str(problem).rstrip(".")
    if isinstance(problem, ModuleNotFoundError):
        remedy = f"Install it, or name the Python that has it: {system}[python=PATH]"
    elif isinstance(problem, OSError):  # of a model that is not there
        remedy = f"Install it, or see the options: karat systems show {system}"
    else:
        reason = f"{type(problem).__name__}: {reason}"
        remedy = f"See the options: karat systems show {system}"
    return f"the linker cannot be loaded: {reason}. {remedy}"


def main(linker: Linker) -> None:
    """Read documents as JSON lines from standard input, and write a line with predictions or an error for each.

    `seconds` is the time of the linker, because Karat's own measurement of the first document includes loading it.
    """
    for line in sys.stdin:
        request = json.loads(line)
        start = time.perf_counter()
        try:
            predictions = linker(request["text"], request.get("spans", []))
            response: dict[str, Any] = {"predictions": predictions, "seconds": time.perf_counter() - start}
        except Exception as problem:  # noqa: BLE001  # the next document may succeed
            response = {"error": f"{type(problem).__name__}: {problem}"}
        sys.stdout.write(json.dumps({"id": request["id"], **response}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    try:
        opened = load_linker(*sys.argv[1:])
    except Exception as problem:  # noqa: BLE001  # Karat reports it and ends the run
        sys.stdout.write(json.dumps({"start_error": describe_failure(sys.argv[1], problem)}) + "\n")
        raise SystemExit(1) from None
    main(opened)
