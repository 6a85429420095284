"""What the process does that scores an upload: `python -m karat.serve.scoring ARCHIVE GOLD SYSTEM=ANSWERS PROFILE`."""

from __future__ import annotations

import sys

import msgspec

from karat.archive.making import Filling, filled
from karat.comparison.entries import entries
from karat.errors import KaratError
from karat.evaluation.request import Request
from karat.registry import names
from karat.storage.addressed import InFolder


def main(archive: str, gold: str, answers: str, profile: str) -> int:
    """Score, keep the files, and print the addition for the server to make; or what is wrong with the files."""
    try:
        filling = Filling(tuple(names("profiles")))
        addition = filled(InFolder.made(archive), entries([answers], [gold]), Request.of(like=profile), filling)
    except KaratError as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    sys.stdout.buffer.write(msgspec.json.encode(addition))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
