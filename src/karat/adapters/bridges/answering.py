"""Answers in JSON lines for a package in another environment, by a file that opens it: `answering.py FILE ARGUMENT…`.

It runs with the Python of that package, and needs nothing of Karat.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

Answer = Callable[[str, list[list[int]]], list[dict[str, Any]]]
"""What a text is answered with, where mentions may be given."""


def opened(file: str, *arguments: str) -> Answer:
    """What the file opens."""
    spec = spec_from_file_location("bridge", file)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{file} is no Python")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    answer: Answer = module.opened(*arguments)
    return answer


def main(answer: Answer) -> None:
    """Answer documents line by line; what fails on one is said of it."""
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            said: dict[str, Any] = {"answers": answer(asked["text"], asked.get("spans", []))}
        except Exception as problem:  # noqa: BLE001  # whatever it is, the next document may be answered
            said = {"error": f"{type(problem).__name__}: {problem}"}
        sys.stdout.write(json.dumps({"id": asked["id"], **said}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(opened(*sys.argv[1:]))
