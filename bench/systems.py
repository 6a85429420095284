"""The built-in linkers on five benchmarks, with counts from documents held apart from all of them.

    python bench/systems.py SHARED [SYSTEM…]

SHARED is a folder of published benchmarks. For every system and benchmark: how many of the given mentions it links right
(d2kb), of all and of those whose entity the pack has; how many have their entity among the candidates; and the F1 with
its own mentions (a2kb).
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import gettempdir

import karat
from karat.kb.opened import open_pack, starter
from karat.kb.resolve import resolve
from karat.knowledge.text import build_text
from karat.linking.named import link, system_named
from karat.model.corpus import Corpus
from karat.model.run import Run

TESTS = {
    "demo": "demo",
    "KORE50": "elevant/benchmarks/kore50.benchmark.jsonl.gz",
    "MSNBC": "elevant/benchmarks/msnbc-updated.benchmark.jsonl.gz",
    "AQUAINT": "bat/AQUAINT",
    "wiki-fair": "elevant/benchmarks/wiki-fair-v2.benchmark.jsonl.gz",
}
APART = (
    *(f"zelda/jsonl/test_{name}.jsonl.gz" for name in ("aida-b", "cweb", "reddit-comments", "reddit-posts", "tweeki")),
    *(f"zelda/jsonl/test_{name}.jsonl.gz" for name in ("shadowlinks-shadow", "shadowlinks-tail", "shadowlinks-top")),
    "zelda/jsonl/test_wned-wiki.jsonl.gz",
    *(
        f"elevant/benchmarks/{name}.benchmark.jsonl.gz"
        for name in ("news-fair-v2-no-coref", "rss-500", "derczynski", "spotlight")
    ),
    *(f"elevant/benchmarks/oke-{name}.benchmark.jsonl.gz" for name in ("2015-train", "2015-eval", "2016-train")),
)
SYSTEMS = (
    "oracle",
    "candidate-oracle",
    "graph",
    "graph[variant=local]",
    "tagme",
    "tagme[substitute=popularity]",
    "prior",
    "prior[substitute=popularity]",
    "mfs",
    "popular",
)


def held_apart(shared: Path) -> Path:
    """The pack of counts, built once."""
    folder = Path(gettempdir()) / "karat-held-apart"
    if not folder.exists():
        corpora = [resolve(karat.load(shared / "data" / path), starter())[0] for path in APART]
        build_text(corpora, folder, date="2026-11-15")
    return folder


def linked(corpus: Corpus, ids: frozenset[str] | None) -> dict[tuple[str, int, int], set[str]]:
    """The right entities of the mentions that have one, or of those that are among some ids."""
    found: dict[tuple[str, int, int], set[str]] = {}
    for document in corpus:
        for label in document.labels:
            if isinstance(label.entity, str) and not label.optional and label.kind not in ("quantity", "datetime"):
                if ids is None or label.entity in ids:
                    found.setdefault((document.id, label.start, label.end), set()).add(label.entity)
    return found


def shares(run: Run, gold: dict[tuple[str, int, int], set[str]]) -> tuple[float, float]:
    """How many mentions are linked right, and how many have a right candidate."""
    right = there = 0
    for reply in run:
        for answer in reply.answers:
            wanted = gold.get((reply.id, answer.start, answer.end), set())
            right += answer.entity in wanted
            there += any(candidate.entity in wanted for candidate in answer.candidates) or answer.entity in wanted
    return right / len(gold), there / len(gold)


def main() -> None:
    shared, *systems = sys.argv[1:]
    held = held_apart(Path(shared))
    kb = f"starter+{held}"
    known = frozenset(starter().table("entities").whole("id")["id"].to_pylist()) | frozenset(
        open_pack(held).table("entities").whole("id")["id"].to_pylist()
    )
    print(f"{'system':30}" + "".join(f"{name:>32}" for name in TESTS))
    corpora = {
        name: resolve(karat.load(path if path == "demo" else Path(shared) / "data" / path), starter())[0]
        for name, path in TESTS.items()
    }
    for name in systems or SYSTEMS:
        cells, seconds = [], 0.0
        for corpus in corpora.values():
            gold, mine = linked(corpus, None), linked(corpus, known)
            own = {} if name.startswith(("oracle",)) else {"kb": kb}
            given = link(name, corpus, given=True, **own)
            every, candidates = shares(given, gold)
            inside, recall = shares(given, mine)
            f1 = None
            if system_named(name, own).system.spans != "needed":
                begun = time.perf_counter()
                run = link(name, corpus, **own)
                seconds += time.perf_counter() - begun
                f1 = karat.evaluate(corpus, run, measures=["strong[in-kb]:micro.f1"])["strong[in-kb]:micro.f1"]
            cells.append(f"{every:7.1%}{inside:7.1%}{recall:7.1%} {'–' if f1 is None else format(f1, '.1%'):>6}")
        print(f"{name:30}" + "".join(f"{cell:>32}" for cell in cells) + f" {seconds:6.1f}s", flush=True)
    print({name: (len(linked(corpus, None)), len(linked(corpus, known))) for name, corpus in corpora.items()})


if __name__ == "__main__":
    main()
