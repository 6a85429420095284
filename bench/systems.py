"""The built-in linkers on five benchmarks, with counts from documents of other benchmarks.

    python bench/systems.py SHARED [SYSTEM…]

SHARED is a folder of published benchmarks. For every system and benchmark the table has four figures: recall on gold
mentions (d2kb), recall on those with an entity in the snapshot, recall of the candidates, and F1 without gold mentions
(a2kb).
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import gettempdir

from msgspec.structs import replace

import karat
from karat.data.id_resolution import resolve_ids
from karat.kb.catalogue import open_snapshot, open_starter
from karat.kb.corpus_snapshot import build_corpus_snapshot
from karat.model.corpus import Corpus
from karat.model.document import Label
from karat.model.run import Run
from karat.systems.api import link
from karat.systems.linking.gold import make_gold_ranking_stage
from karat.systems.linking.system import get_system

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


def build_counts(shared: Path) -> Path:
    """Return the folder of a snapshot with link counts from `APART`; it is built once for each starter snapshot."""
    folder = Path(gettempdir()) / f"karat-held-apart-{open_starter().digest}"
    if not folder.exists():
        corpora = [resolve_ids(karat.load(shared / "data" / path), open_starter())[0] for path in APART]
        build_corpus_snapshot(corpora, folder, date="2026-11-15")
    return folder


def restrict_labels(corpus: Corpus, ids: frozenset[str]) -> Corpus:
    """Return the corpus with only the labels whose entity is in `ids`; parts of mentions are dropped."""
    return Corpus.from_reader(
        (replace(document, labels=_select_labels(document.labels, ids)) for document in corpus), name=corpus.name
    )


def _select_labels(labels: tuple[Label, ...], ids: frozenset[str]) -> tuple[Label, ...]:
    """Return the labels whose entity is in `ids` and that are no parts."""
    return tuple(label for label in labels if label.entity in ids and label.parent is None)


def recall(corpus: Corpus, run: Run) -> float | None:
    """Return the share of mentions with an entity that are linked correctly; None if there are none."""
    return karat.evaluate(corpus, run, measures=["strong[in-kb]:micro.r"])["strong[in-kb]:micro.r"]


def rank_perfectly(corpus: Corpus, run: Run) -> Run:
    """Return the run with each mention linked to its gold entity, if that is a candidate."""
    rank = make_gold_ranking_stage(open_starter().canonical_ids)
    responses = {response.id: response for response in run}
    return Run.from_responses(rank((document, responses[document.id]) for document in corpus), name="best")


def main() -> None:
    """Run and score the systems that the command line names on all benchmarks, and print a row for each."""
    shared, *systems = sys.argv[1:]
    held = build_counts(Path(shared))
    kb = f"starter+{held}"
    entity_ids = frozenset(open_starter().get_table("entities").read_all("id")["id"].to_pylist()) | frozenset(
        open_snapshot(held).get_table("entities").read_all("id")["id"].to_pylist()
    )
    print("recall on gold mentions: all, entity in snapshot, entity among candidates; F1 without gold mentions")
    print(f"{'system':30}" + "".join(f"{name:>26}" for name in TESTS))
    corpora = {
        name: resolve_ids(karat.load(path if path == "demo" else Path(shared) / "data" / path), open_starter())[0]
        for name, path in TESTS.items()
    }
    inner = {name: restrict_labels(corpus, entity_ids) for name, corpus in corpora.items()}
    for name in systems or SYSTEMS:
        cells, seconds = [], 0.0
        options = {} if name == "oracle" else {"kb": kb}
        for test, corpus in corpora.items():
            inside = link(name, inner[test], gold_mentions=True, options=options)
            scores = [
                recall(corpus, link(name, corpus, gold_mentions=True, options=options)),
                recall(inner[test], inside),
                recall(inner[test], rank_perfectly(inner[test], inside)) if name != "oracle" else None,
                None,
            ]
            if get_system(name, options).system.gold_mentions != "required":
                begun = time.perf_counter()
                run = link(name, corpus, options=options)
                seconds += time.perf_counter() - begun
                scores[3] = karat.evaluate(corpus, run, measures=["strong[in-kb]:micro.f1"])["strong[in-kb]:micro.f1"]
            cells.append(" ".join("    –" if score is None else f"{100 * score:5.1f}" for score in scores))
        print(f"{name:30}" + "".join(f"{cell:>26}" for cell in cells) + f" {seconds:6.1f}s", flush=True)


if __name__ == "__main__":
    main()
