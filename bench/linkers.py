"""How fast the built-in linkers are: `python bench/linkers.py [SHARED] [SYSTEM…]`.

Tokens for each second of processor time, with the starter pack and mentions by rules: on many texts, on half of them,
and on one text as long as many, so that what grows faster than the work shows. The texts are those of the demo, over
and over; with SHARED, a folder of published benchmarks, the web pages of its ZELDA.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import karat
from karat.linking.named import system_named
from karat.model.document import Document
from karat.spec.system import Link

SYSTEMS = ("prior[substitute=popularity]", "tagme[substitute=popularity]", "graph", "popular")
PAGES = "data/zelda/jsonl/test_cweb.jsonl.gz"
TOKEN = re.compile(r"\w+|[^\w\s]")
TIMES = 3


def texts(shared: str | None) -> list[str]:
    """What is linked."""
    return [document.text for document in karat.load("demo" if shared is None else Path(shared) / PAGES)]


def rate(link: Link, some: Sequence[str]) -> float:
    """Tokens for each second of processor time, the best of a few."""
    documents = [Document(str(number), text) for number, text in enumerate(some)]
    tokens = sum(len(TOKEN.findall(text)) for text in some)
    taken = []
    for _ in range(TIMES):
        begun = time.process_time()
        for _reply in link(documents):
            pass
        taken.append(time.process_time() - begun)
    return tokens / min(taken)


def main() -> None:
    shared, systems = None, sys.argv[1:]
    if systems and Path(systems[0]).is_dir():
        shared, *systems = systems
    every = texts(shared)
    every = every if shared is not None else every * 40
    half, long = every[: len(every) // 2], ["\n".join(every[: len(every) // 8])]
    tokens = [sum(len(TOKEN.findall(text)) for text in some) for some in (every, half, long)]
    print(f"{len(every)} texts of {tokens[0]:,} tokens; half of them, {tokens[1]:,}; one text of {tokens[2]:,}")
    for name in systems or SYSTEMS:
        link = system_named(name).start(given=False)
        list(link([Document("warm", every[0])]))
        rates = [f"{rate(link, some):>12,.0f}" for some in (every, half, long)]
        print(f"{name:30}" + "".join(rates), flush=True)


if __name__ == "__main__":
    main()
