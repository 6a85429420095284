"""Training of all kinds of linkers within minutes on a CPU, on the split of bench/train.py.

    python bench/train_cpu.py train SHARED OUT NAME     train one model of PLANS
    python bench/train_cpu.py predict SHARED OUT NAME   predict the sample of held mentions, over all and over lists
    python bench/train_cpu.py zelda SHARED OUT NAME     predict a sample of ZELDA's other test sets, over lists
    python bench/train_cpu.py report SHARED OUT         the tables of docs/measurements/training.md

SHARED is a folder of published benchmarks. Models learn from part 0 of the split, and a sample of part 1 gives the
learning curve. Candidates are those of a published dual encoder, in sorted order.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import karat
from karat.model.corpus import Corpus
from karat.model.document import Document
from karat.model.run import Run
from karat.systems.linking.neural.entity_texts import find_descriptions, find_names
from karat.systems.linking.neural.inference import predict_entities
from karat.systems.linking.neural.ranking import load_linker
from karat.systems.linking.neural.tokens import MarkedText
from karat.systems.linking.neural.trained_linker import TrainedLinker
from karat.systems.training.options import PRESETS, TrainingOptions, adapt_preset
from karat.systems.training.train import train_linker

SPLITS = {"wned-wiki": "WIKI", "cweb": "CWEB"}
OTHERS = (
    "aida-b",
    "tweeki",
    "reddit-posts",
    "reddit-comments",
    "shadowlinks-tail",
    "shadowlinks-shadow",
    "shadowlinks-top",
)
SPLIT_NAMES = tuple(SPLITS.values())
SEED = 20261116
N_TEST, N_DEV, N_OTHER = 600, 100, 100
N_RESAMPLES = 2000
SMALL = PRESETS["small"].replace(patience=0)
WINDOWS = {"max_length": 128, "batch_size": 32, "learning_rate": 2e-4, "head_learning_rate": 1e-2}
BI_ENCODER = {**WINDOWS, "epochs": 1, "head_learning_rate": 1e-3, "negatives": 64, "hard_negatives": 2}
CROSS_ENCODER = {"epochs": 1, "context": 100, "hard_negatives": 4, "learning_rate": 1e-4}
GENRE = {"epochs": 2, "context": 100, "pretrain_examples": 20_000, "batch_size": 64, "learning_rate": 2e-4}
PLANS: dict[str, tuple[str, str, int, dict[str, Any]]] = {  # kind, kb, divisor of training documents, options
    "fevry": ("fevry", "", 2, {**WINDOWS, "epochs": 2}),
    "luke-head": ("luke-head", "", 2, {**WINDOWS, "epochs": 2, "mask_prob": 0.6}),
    "luke-ft": ("luke-ft", "", 2, {**WINDOWS, "epochs": 2, "mask_prob": 0.6}),
    "bi-encoder": ("bi-encoder", "", 4, BI_ENCODER),
    "bi-encoder-kb": ("bi-encoder", "starter", 4, BI_ENCODER),
    "cross-encoder": ("cross-encoder", "", 4, CROSS_ENCODER),
    "cross-encoder-kb": ("cross-encoder", "starter", 4, CROSS_ENCODER),
    "genre": ("genre", "starter", 1, GENRE),
    "genre-no-pretraining": ("genre", "starter", 1, {**GENRE, "pretrain_epochs": 0, "pretrain_examples": None}),
    "fevry-weak": ("fevry", "", 2, {**WINDOWS, "epochs": 2, "weak_labels": True}),
    "fevry-single": ("fevry", "", 2, {**WINDOWS, "epochs": 2, "single_mention": True}),
    "fevry-title": ("fevry", "", 2, {**WINDOWS, "epochs": 2, "title_context": True}),
}


class Benchmark:
    """The split of bench/train.py as corpora, with candidates and vocabulary."""

    def __init__(self, shared: Path) -> None:
        self.shared = shared
        documents: list[Document] = []
        split: list[int] = []
        runs = []
        for number, name in enumerate(SPLITS):
            corpus = karat.load(shared / f"data/zelda/jsonl/test_{name}.jsonl.gz")
            documents.extend(corpus)
            split.extend([number] * len(corpus))
            runs.append(karat.load_run(shared / f"data/zelda/predictions/{name}.jsonl.gz"))
        self.documents, self.split = documents, np.array(split)
        self.candidates = collect_candidates(runs)
        self.runs = runs
        titles = {label.entity for document in documents for label in document.labels}
        self.vocabulary = sorted(titles | {entity for entities in self.candidates.values() for entity in entities})
        rng = np.random.default_rng(SEED)
        self.part = np.full(len(documents), 2)
        for number in range(len(SPLITS)):
            order = rng.permutation(np.flatnonzero(self.split == number))
            held = len(order) // 5
            dev = (len(order) - held) // 10
            self.part[order[held : held + dev]] = 1
            self.part[order[held + dev :]] = 0

    def select(self, part: int, divisor: int = 1) -> Corpus:
        """Return the documents of a part; with a divisor, every so many."""
        chosen = np.flatnonzero(self.part == part)[::divisor]
        return Corpus.from_documents([self.documents[i] for i in chosen], name="WNED")

    def sample(self, part: int, size: int) -> list[tuple[int, int]]:
        """Return a random sample of the mentions of a part: indices of document and label, in order."""
        mentions = [
            (i, j) for i in np.flatnonzero(self.part == part).tolist() for j in range(len(self.documents[i].labels))
        ]
        chosen = np.random.default_rng(SEED).permutation(len(mentions))[:size]
        return [mentions[i] for i in sorted(chosen.tolist())]

    def dev(self) -> Corpus:
        """Return the documents of part 1 with a sample of their labels."""
        labels: dict[int, list[Any]] = {}
        for document, label in self.sample(1, N_DEV):
            labels.setdefault(document, []).append(self.documents[document].labels[label])
        return Corpus.from_documents(
            [Document(self.documents[i].id, self.documents[i].text, tuple(chosen)) for i, chosen in labels.items()],
            name="dev",
        )


def collect_candidates(runs: list[Run]) -> dict[tuple[str, int, int], list[str]]:
    """Return the sorted candidates of each mention, by document id and span."""
    return {
        (response.id, prediction.start, prediction.end): sorted(
            {candidate.entity for candidate in prediction.candidates}
        )
        for run in runs
        for response in run
        for prediction in response.predictions
    }


def get_plan(name: str) -> tuple[str, str, int, TrainingOptions]:
    """Return kind, snapshot, divisor of training documents and options of a model."""
    kind, kb, divisor, options = PLANS[name]
    return kind, kb, divisor, adapt_preset(SMALL, kind, has_dev=False, has_candidates=True, **options)


def train(shared: Path, out: Path, name: str) -> None:
    """Train a model; write it to a folder, and its curve, seconds and memory to a file."""
    data = Benchmark(shared)
    kind, kb, divisor, options = get_plan(name)
    start, cpu = time.perf_counter(), time.process_time()
    result = train_linker(
        kind,
        data.select(0, divisor),
        out / "models" / name,
        options,
        dev=None if kind == "bi-encoder" else data.dev(),  # which encodes all titles to score
        candidate_runs=data.runs,
        vocabulary=data.vocabulary,
        kb=kb,
        report=lambda epoch: print(name, epoch, flush=True),
        announce=lambda estimate: print(name, estimate, flush=True),
    )
    write_record(
        out / f"{name}.train.json",
        {
            "options": options.to_dict(),
            "counts": dict(result.counts),
            "parameters": dict(result.parameters),
            "curve": result.curve.to_dict(),
            **measure(start, cpu),
        },
    )


def predict(shared: Path, out: Path, name: str) -> None:
    """Write the predictions for the sample of held mentions, over lists and, where a model can, over all entities."""
    data = Benchmark(shared)
    sample = data.sample(2, N_TEST)
    linker = load_linker(str(out / "models" / name))
    # a cross-encoder ranks candidates only, and to encode all titles takes many minutes
    ways = {"lists": True} if linker.kind.endswith("-encoder") else {"lists": True, "all": False}
    for way, use_candidates in ways.items():
        start, cpu = time.perf_counter(), time.process_time()
        predicted = predict_sample(linker, data.documents, data.candidates, sample, use_candidates=use_candidates)
        write_record(out / f"{name}.{way}.json", {"predicted": predicted, **measure(start, cpu)})
        gold = [data.documents[i].labels[j].entity for i, j in sample]
        print(name, way, np.mean([a == b for a, b in zip(predicted, gold, strict=True)]), flush=True)


def predict_sample(
    linker: TrainedLinker,
    documents: list[Document],
    candidates: dict[tuple[str, int, int], list[str]],
    sample: list[tuple[int, int]],
    *,
    use_candidates: bool,
) -> list[str | None]:
    """Return the predicted entity of each sampled mention; LUKE links all mentions of their documents."""
    uses_links = linker.kind.startswith("luke")
    wanted: dict[int, list[int]] = {}
    for document, label in sample:
        wanted.setdefault(document, []).append(label)
    predicted: dict[tuple[str, int, int], str] = {}
    numbers = list(wanted)
    for low in range(0, len(numbers), 8):
        chosen = numbers[low : low + 8]
        texts = []
        for number in chosen:
            document = documents[number]
            labels = document.labels if uses_links else [document.labels[j] for j in wanted[number]]
            if linker.kind == "bi-encoder":  # without candidates it would encode all titles
                labels = [label for label in labels if candidates.get((document.id, label.start, label.end))]
            spans = [(label.start, label.end) for label in labels]
            lists = [candidates.get((document.id, *span), []) for span in spans]
            new = [entity for entities in lists for entity in entities if entity not in linker.codes]
            new = list(dict.fromkeys(new))
            kb = "starter" if linker.descriptions else ""
            linker.add_entities(new, find_names(new, kb), find_descriptions(new, kb))
            codes = [[linker.codes[entity] for entity in entities if entity in linker.codes] for entities in lists]
            title = document.id.replace("_", " ") if linker.options.get("title_context") else ""
            texts.append(MarkedText(document.text, spans, (), codes, title))
        snippets = linker.tokenise(texts)
        with torch.autocast("cpu", dtype=torch.bfloat16):  # three times as fast as float32
            best = predict_entities(
                linker.model, snippets, use_candidates=use_candidates, most_confident_first=uses_links
            ).best_codes
        for row, code in enumerate(best.tolist()):
            document = documents[chosen[int(snippets.document[row])]]
            if code >= 0:
                predicted[document.id, int(snippets.start[row]), int(snippets.end[row])] = linker.entities[code]
    return [
        predicted.get((documents[i].id, documents[i].labels[j].start, documents[i].labels[j].end)) for i, j in sample
    ]


def zelda(shared: Path, out: Path, name: str) -> None:
    """Write predictions over lists for a sample of the mentions of ZELDA's other test sets."""
    linker = load_linker(str(out / "models" / name))
    record: dict[str, Any] = {}
    start, cpu = time.perf_counter(), time.process_time()
    for split in OTHERS:
        documents = list(karat.load(shared / f"data/zelda/jsonl/test_{split}.jsonl.gz"))
        candidates = collect_candidates([karat.load_run(shared / f"data/zelda/predictions/{split}.jsonl.gz")])
        sample = sample_mentions(documents)
        record[split] = predict_sample(linker, documents, candidates, sample, use_candidates=True)
        gold = [documents[i].labels[j].entity for i, j in sample]
        print(name, split, np.mean([a == b for a, b in zip(record[split], gold, strict=True)]), flush=True)
    write_record(out / f"{name}.zelda.json", {"predicted": record, **measure(start, cpu)})


def sample_mentions(documents: list[Document]) -> list[tuple[int, int]]:
    """Return a random sample of the mentions of a test set."""
    mentions = [(i, j) for i, document in enumerate(documents) for j in range(len(document.labels))]
    chosen = np.random.default_rng(SEED).permutation(len(mentions))[:N_OTHER]
    return [mentions[i] for i in sorted(chosen.tolist())]


def measure(start: float, cpu: float) -> dict[str, float]:
    """Return seconds of wall and processor time since both starts, and the peak memory of the process in gigabytes."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu, "gigabytes": memory}


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Write a record as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1), encoding="utf-8")


def report(shared: Path, out: Path) -> None:
    """Print accuracies of the held sample with intervals, by bracket and on other test sets, and costs, as Markdown."""
    data = Benchmark(shared)
    sample = data.sample(2, N_TEST)
    labels = [data.documents[i].labels[j] for i, j in sample]
    gold = np.array([label.entity for label in labels])
    train_labels = [label.entity for document in data.select(0) for label in document.labels]
    seen = np.isin(gold, train_labels)
    split = data.split[[i for i, _ in sample]]
    lists = [
        data.candidates.get((data.documents[i].id, label.start, label.end), [])
        for (i, _), label in zip(sample, labels, strict=True)
    ]
    rows: dict[str, list[str | None]] = {
        "most frequent sense of the training part": predict_most_frequent(data, sample),
        "most frequent sense of half the training part": predict_most_frequent(data, sample, 2),
        "candidate most frequent in the training part": predict_most_popular(train_labels, lists),
    }
    for path in sorted(out.glob("*.lists.json")) + sorted(out.glob("*.all.json")):
        rows[path.stem.replace(".", ", ")] = json.loads(path.read_text(encoding="utf-8"))["predicted"]
    masks = {
        f"{SPLIT_NAMES[n]} {group}": (split == n) & mask
        for n in range(len(SPLITS))
        for group, mask in (("seen", seen), ("unseen", ~seen), ("", seen | ~seen))
    }
    masks = {name.strip(): mask for name, mask in masks.items()} | {"all": seen | ~seen}
    print_row(["", *(f"{name} ({mask.sum()})" for name, mask in masks.items())])
    print_row(["---"] * (1 + len(masks)))
    documents = np.array([i for i, _ in sample])
    correct = {
        name: np.array([a == b for a, b in zip(predicted, gold, strict=True)]) for name, predicted in rows.items()
    }
    correct["ceiling of seen entities"] = seen
    half = [label.entity for document in data.select(0, 2) for label in document.labels]
    correct["ceiling of entities seen in half the training part"] = np.isin(gold, half)
    correct["ceiling of the lists"] = np.array(
        [entity in entities for entity, entities in zip(gold, lists, strict=True)]
    )
    for name, values in sorted(correct.items()):
        print_row([name, *(format_interval(values[mask], documents[mask]) for mask in masks.values())])
    print("\nWNED-WIKI by bracket")
    brackets = np.array([data.documents[i].meta.get("bracket", "") for i, _ in sample])
    names = sorted(set(brackets[split == 0]), reverse=True)
    print_row(["", *(f"{name} ({((brackets == name) & (split == 0)).sum()})" for name in names)])
    for name, values in sorted(correct.items()):
        print_row([name, *(f"{100 * values[(brackets == bracket) & (split == 0)].mean():.1f}" for bracket in names)])
    print("\nOther test sets")
    report_others(data, out)
    print("\nCosts")
    for path in sorted(out.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        curve = "; ".join(
            f"{epoch['loss']:.2f} {epoch['accuracy']}" for epoch in record.get("curve", {}).get("epochs", ())
        )
        print(
            path.stem,
            f"{record['seconds']:.0f} s",
            f"{record['cpu_seconds']:.0f} s of CPU",
            f"{record['gigabytes']:.1f} GB",
            curve,
            record.get("counts", ""),
        )


def report_others(data: Benchmark, out: Path) -> None:
    """Print the accuracy on the samples of the other test sets, by model."""
    train = data.select(0)
    table: dict[str, list[str]] = {"lists have the entity": [], "seen in training": [], "MFS": []}
    train_entities = {label.entity for document in train for label in document.labels}
    frequent = count_senses(train)
    records = {
        path.name.removesuffix(".zelda.json"): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(out.glob("*.zelda.json"))
    }
    for split in OTHERS:
        documents = list(karat.load(data.shared / f"data/zelda/jsonl/test_{split}.jsonl.gz"))
        candidates = collect_candidates([karat.load_run(data.shared / f"data/zelda/predictions/{split}.jsonl.gz")])
        sample = sample_mentions(documents)
        labels = [(documents[i], documents[i].labels[j]) for i, j in sample]
        gold = [label.entity for _, label in labels]
        numbers = np.array([i for i, _ in sample])
        rows = {
            "lists have the entity": [
                label.entity in candidates.get((document.id, label.start, label.end), ()) for document, label in labels
            ],
            "seen in training": [entity in train_entities for entity in gold],
            "MFS": [frequent.get(document.text[label.start : label.end]) == label.entity for document, label in labels],
            **{
                name: [a == b for a, b in zip(record["predicted"][split], gold, strict=True)]
                for name, record in records.items()
            },
        }
        for name, values in rows.items():
            table.setdefault(name, []).append(format_interval(np.array(values), numbers))
    print_row(["", *OTHERS])
    for name, cells in table.items():
        print_row([name, *cells])


def count_senses(corpus: Corpus) -> dict[str, str]:
    """Return the most frequent entity of each surface in a corpus."""
    counts: dict[str, Counter[str]] = {}
    for document in corpus:
        for label in document.labels:
            counts.setdefault(document.text[label.start : label.end], Counter())[str(label.entity)] += 1
    return {surface: entities.most_common(1)[0][0] for surface, entities in counts.items()}


def predict_most_frequent(data: Benchmark, sample: list[tuple[int, int]], divisor: int = 1) -> list[str | None]:
    """Return the entity that each mention's surface has most often in the training part, or every so many documents."""
    senses = count_senses(data.select(0, divisor))
    mentions = [(data.documents[i].text, data.documents[i].labels[j]) for i, j in sample]
    return [senses.get(text[label.start : label.end]) for text, label in mentions]


def predict_most_popular(train_labels: list[Any], lists: list[list[str]]) -> list[str | None]:
    """Return the candidate that is most frequent in the training part; the first of equal ones."""
    counts = Counter(train_labels)
    return [max(entities, key=lambda entity: counts[entity]) if entities else None for entities in lists]


def format_interval(correct: np.ndarray[Any, Any], documents: np.ndarray[Any, Any]) -> str:
    """Return the accuracy in per cent with its 95 % interval, by bootstrap over documents."""
    names, index = np.unique(documents, return_inverse=True)
    hits, sizes = np.bincount(index, correct), np.bincount(index)
    draws = np.random.default_rng(SEED).integers(len(names), size=(N_RESAMPLES, len(names)))
    shares = 100 * hits[draws].sum(1) / sizes[draws].sum(1)
    low, high = np.percentile(shares, [2.5, 97.5])
    return f"{100 * correct.mean():.1f} ({low:.0f}–{high:.0f})"


def print_row(cells: list[str]) -> None:
    """Print a row of a Markdown table."""
    print(f"| {' | '.join(cells)} |")


COMMANDS: dict[str, Callable[..., None]] = {"train": train, "predict": predict, "zelda": zelda, "report": report}

if __name__ == "__main__":
    torch.set_num_threads(1)
    command, shared_folder, out_folder, *names = sys.argv[1:]
    for model_name in names or [""]:
        COMMANDS[command](Path(shared_folder), Path(out_folder), *([model_name] if model_name else []))
