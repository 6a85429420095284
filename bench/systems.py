"""The built-in linkers on five benchmarks, with counts from documents held apart from all of them.

    python bench/systems.py SHARED [SYSTEM…]

SHARED is a folder of published benchmarks. For every system and benchmark: how many of the given mentions it links
right (d2kb), of all and of those whose entity the pack has; how many have their entity among the candidates; and the F1
with its own mentions (a2kb).
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import gettempdir

from msgspec.structs import replace

import karat
from karat.kb.opened import open_pack, starter
from karat.kb.resolve import resolve
from karat.knowledge.text import build_text
from karat.linking.gold import right_of_candidates
from karat.linking.named import link, system_named
from karat.model.corpus import Corpus
from karat.model.document import Label
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
    "embed",
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
    """The pack of counts, built once for each starter pack, whose ids it has."""
    folder = Path(gettempdir()) / f"karat-held-apart-{starter().digest}"
    if not folder.exists():
        corpora = [resolve(karat.load(shared / "data" / path), starter())[0] for path in APART]
        build_text(corpora, folder, date="2026-11-15")
    return folder


def within(corpus: Corpus, ids: frozenset[str]) -> Corpus:
    """The corpus with those labels only whose entity is among some ids."""
    return Corpus.built(
        (replace(document, labels=_whole(document.labels, ids)) for document in corpus), name=corpus.name
    )


def _whole(labels: tuple[Label, ...], ids: frozenset[str]) -> tuple[Label, ...]:
    return tuple(label for label in labels if label.entity in ids and label.parent is None)


def right(corpus: Corpus, run: Run) -> float | None:
    """How many of the mentions with an entity are linked right."""
    return karat.evaluate(corpus, run, measures=["strong[in-kb]:micro.r"])["strong[in-kb]:micro.r"]


def best(corpus: Corpus, run: Run) -> Run:
    """What a perfect ranking makes of the candidates of a run."""
    chosen = right_of_candidates(starter().canonical)
    replies = {reply.id: reply for reply in run}
    return Run.of(chosen((document, replies[document.id]) for document in corpus), name="best")


def main() -> None:
    shared, *systems = sys.argv[1:]
    held = held_apart(Path(shared))
    kb = f"starter+{held}"
    known = frozenset(starter().table("entities").whole("id")["id"].to_pylist()) | frozenset(
        open_pack(held).table("entities").whole("id")["id"].to_pylist()
    )
    print("given: all, whose entity the pack has, with it among the candidates; F1 with own mentions")
    print(f"{'system':30}" + "".join(f"{name:>26}" for name in TESTS))
    corpora = {
        name: resolve(karat.load(path if path == "demo" else Path(shared) / "data" / path), starter())[0]
        for name, path in TESTS.items()
    }
    inner = {name: within(corpus, known) for name, corpus in corpora.items()}
    for name in systems or SYSTEMS:
        cells, seconds = [], 0.0
        own = {} if name == "oracle" else {"kb": kb}
        for test, corpus in corpora.items():
            inside = link(name, inner[test], given=True, **own)
            found = [
                right(corpus, link(name, corpus, given=True, **own)),
                right(inner[test], inside),
                right(inner[test], best(inner[test], inside)) if name != "oracle" else None,
                None,
            ]
            if system_named(name, own).system.spans != "needed":
                begun = time.perf_counter()
                run = link(name, corpus, **own)
                seconds += time.perf_counter() - begun
                found[3] = karat.evaluate(corpus, run, measures=["strong[in-kb]:micro.f1"])["strong[in-kb]:micro.f1"]
            cells.append(" ".join("    –" if each is None else f"{100 * each:5.1f}" for each in found))
        print(f"{name:30}" + "".join(f"{cell:>26}" for cell in cells) + f" {seconds:6.1f}s", flush=True)


if __name__ == "__main__":
    main()
