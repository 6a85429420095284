"""Speed of the built-in linkers: `python bench/linkers.py [SHARED] [SYSTEM…]`.

The speed is tokens per second of processor time, with the starter snapshot and rule-based mentions. It is measured on
many texts, on half of them, and on one long text, to reveal superlinear growth. The texts are the demo corpus,
repeated; with SHARED, a folder of published benchmarks, they are the web pages of ZELDA.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import karat
from karat.model.document import Document
from karat.model.spec.system import Link
from karat.systems.linking.system import get_system

SYSTEMS = ("prior[substitute=popularity]", "tagme[substitute=popularity]", "graph", "popular", "light")
PAGES = "data/zelda/jsonl/test_cweb.jsonl.gz"
TOKEN = re.compile(r"\w+|[^\w\s]")
TIMES = 3


def load_texts(shared: str | None) -> list[str]:
    """Return the texts of the demo corpus, or of ZELDA's web pages in the folder `shared`."""
    return [document.text for document in karat.load("demo" if shared is None else Path(shared) / PAGES)]


def token_rate(link: Link, texts: Sequence[str]) -> float:
    """Link texts `TIMES` times and return the tokens per second of processor time in the fastest repetition."""
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    tokens = sum(len(TOKEN.findall(text)) for text in texts)
    taken = []
    for _ in range(TIMES):
        begun = time.process_time()
        for _response in link(documents):
            pass
        taken.append(time.process_time() - begun)
    return tokens / min(taken)


def main() -> None:
    """Measure the systems that the command line names, and print a line of three rates for each."""
    shared, systems = None, sys.argv[1:]
    if systems and Path(systems[0]).is_dir():
        shared, *systems = systems
    texts = load_texts(shared)
    texts = texts if shared is not None else texts * 40
    half, long = texts[: len(texts) // 2], ["\n".join(texts[: len(texts) // 8])]
    tokens = [sum(len(TOKEN.findall(text)) for text in some) for some in (texts, half, long)]
    print(f"{len(texts)} texts of {tokens[0]:,} tokens; half of them, {tokens[1]:,}; one text of {tokens[2]:,}")
    for name in systems or SYSTEMS:
        link = get_system(name).start(gold_mentions=False)
        list(link([Document("warm", texts[0])]))
        rates = [f"{token_rate(link, some):>12,.0f}" for some in (texts, half, long)]
        print(f"{name:30}" + "".join(rates), flush=True)


if __name__ == "__main__":
    main()
