"""`light` and other linkers on six test datasets: files of gold standards and predictions for `karat compare`.

    python bench/light.py SHARED OUT [SYSTEM…]

SHARED is a folder of published datasets. OUT gets a folder per dataset, with two gold standards whose ids are those of
the starter snapshot: `known.jsonl` has only the mentions whose entity the snapshot has, `all.jsonl` has all. Systems
link the mentions of the first one (`known/SYSTEM.jsonl`), all given mentions (`given/SYSTEM.jsonl`), and mentions that
they detect (`detected/SYSTEM.jsonl`). The folder `pooled` has the first ones of all datasets as one dataset.
"""

from __future__ import annotations

import sys
from pathlib import Path

from msgspec.structs import replace

import karat
from karat.data.id_resolution import resolve_ids
from karat.kb.catalogue import open_starter
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.systems.linking.lexicon import build_lexicon

TESTS = {
    "demo": "demo",
    "kore50": "elevant/benchmarks/kore50.benchmark.jsonl.gz",
    "msnbc": "elevant/benchmarks/msnbc-updated.benchmark.jsonl.gz",
    "aquaint": "bat/AQUAINT",
    "wiki-fair": "elevant/benchmarks/wiki-fair-v2-no-coref.benchmark.jsonl.gz",
    "news-fair": "elevant/benchmarks/news-fair-v2-no-coref.benchmark.jsonl.gz",
}
SYSTEMS = ("light", "popular", "graph", "tagme", "embed")


def select_mentions(corpus: Corpus, ids: frozenset[str]) -> Corpus:
    """Return a corpus with only the mentions whose entity is in `ids`; parts of mentions are dropped."""
    documents = [
        replace(
            document,
            labels=tuple(label for label in document.labels if label.entity in ids and label.parent is None),
        )
        for document in corpus
    ]
    return Corpus.from_documents(documents, name=corpus.name)


def pool_datasets(out: Path) -> None:
    """Write the gold standards and predictions of all datasets in `out` as one dataset, `pooled`."""
    (out / "pooled" / "known").mkdir(parents=True, exist_ok=True)
    corpora = {name: karat.load(out / name / "known.jsonl") for name in TESTS}
    karat.save(
        Corpus.from_documents(
            [
                replace(document, id=f"{name}/{document.id}", evaluation_span=None)
                for name, corpus in corpora.items()
                for document in corpus
            ],
            name="pooled",
        ),
        out / "pooled" / "known.jsonl",
    )
    for path in sorted((out / "demo" / "known").iterdir()):
        files = {name: out / name / "known" / path.name for name in TESTS}
        if all(file.is_file() for file in files.values()):
            responses = [
                replace(response, id=f"{name}/{response.id}")
                for name, file in files.items()
                for response in karat.load_run(file)
            ]
            karat.save(Run.from_responses(responses, name=path.stem), out / "pooled" / "known" / path.name)


def main() -> None:
    """Write gold standards, run the systems that the command line names, and print two scores of each."""
    shared, out, *systems = sys.argv[1:]
    ids = frozenset(build_lexicon("starter", "both").ids)
    for name, path in TESTS.items():
        source = karat.load(path if path == "demo" else Path(shared) / "data" / path)
        corpus = resolve_ids(source, open_starter())[0]
        selected = select_mentions(corpus, ids)
        folder = Path(out) / name
        for part in ("known", "given", "detected"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        karat.save(selected, folder / "known.jsonl")
        karat.save(corpus, folder / "all.jsonl")
        for system in systems or SYSTEMS:
            options = {"substitute": "popularity"} if system in ("tagme", "prior", "mfs") else {}
            runs = {
                "known": karat.link(system, selected, gold_mentions=True, options=options),
                "given": karat.link(system, corpus, gold_mentions=True, options=options),
                "detected": karat.link(system, corpus, options=options),
            }
            for part, run in runs.items():
                karat.save(run, folder / part / f"{system}.jsonl")
            linking = karat.evaluate(selected, runs["known"], measures=["strong:micro.r"], settings={"task": "d2kb"})
            both = karat.evaluate(corpus, runs["detected"], measures=["strong:micro.f1", "strong[in-kb]:micro.f1"])
            scores = [linking["strong:micro.r"], both["strong:micro.f1"], both["strong[in-kb]:micro.f1"]]
            cells = "".join(f"{100 * score:8.1f}" if score is not None else f"{'–':>8}" for score in scores)
            print(f"{name:10} {system:10}{cells}", flush=True)
    pool_datasets(Path(out))


if __name__ == "__main__":
    main()
