"""Measurements of Karat: `python bench/run.py [--documents N] [--growth] [--only PART…]` prints Markdown.

Every measurement runs in its own process and takes the best of three. `corpus.py` creates the corpora first and keeps
them in `bench/data` (1.5 GB with a million documents from Parquet, 4 GB more with those from JSONL). Counts that must
agree are compared; times are only shown. nervaluate and spaCy are measured if they are installed. ELEVANT's published
files are searched in ../shared, or in KARAT_SHARED. The output names the parts that cannot be measured.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from os import cpu_count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from reports import ReportCost, run_report, write_files
from shared import ESCAPED, Counts, EvaluationCost, Files, Outcome, corpus_files

SHARED = Path(os.environ.get("KARAT_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ELEVANT = SHARED / "data" / "elevant"
TIMED_PAIR = "refined/refined__aida_.wiki-fair-v2-no-coref"
"""The linker and the benchmark on which ELEVANT's evaluator was measured."""

ELEVANT_MS = 1.63
"""Processor milliseconds per document of ELEVANT's evaluator there, without tokenising; best of seven."""


class Measurement(NamedTuple):
    """The outcomes of repetitions of one job."""

    outcomes: tuple[Outcome, ...]

    @property
    def total(self) -> float:
        """The seconds of the fastest repetition."""
        return min(outcome.total for outcome in self.outcomes)

    def part(self, name: str) -> float:
        """Return the seconds of part `name` in the repetition in which it was fastest."""
        return min(outcome.seconds[name] for outcome in self.outcomes)

    @property
    def processor(self) -> float:
        """The least processor seconds of a repetition, all threads together."""
        return min(sum(outcome.processor.values()) for outcome in self.outcomes)

    def processor_part(self, name: str) -> float:
        """Return the least processor seconds of part `name` in a repetition."""
        return min(outcome.processor[name] for outcome in self.outcomes)

    @property
    def peak_bytes(self) -> int:
        """The highest peak memory of a repetition, in bytes."""
        return max(outcome.peak_bytes for outcome in self.outcomes)

    @property
    def counts(self) -> dict[str, Counts]:
        """The counts by match relation, which must be equal in every repetition."""
        assert all(outcome.counts == self.outcomes[0].counts for outcome in self.outcomes)
        return self.outcomes[0].counts


def script_path(name: str) -> str:
    """Return the path of a script in this folder."""
    return str(Path(__file__).parent / name)


def ensure_files(folder: Path, documents: int, kind: str) -> Files:
    """Return the files of a generated corpus; a separate process creates missing ones, so that this one stays small."""
    target = corpus_files(folder, documents, kind)
    if not target.is_complete:
        command = [sys.executable, script_path("corpus.py"), str(folder), f"--documents={documents}", f"--kind={kind}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return target


def measure_job(job: str, data: Files, repeats: int = 3) -> Measurement:
    """Run a job of `jobs.py` on two files `repeats` times, each in a fresh process, and return the outcomes."""
    command = [sys.executable, script_path("jobs.py"), job, str(data.gold), str(data.predictions)]
    outputs = [
        subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout for _ in range(repeats)
    ]
    return Measurement(tuple(map(Outcome.from_json, outputs)))


class ProcessCost(NamedTuple):
    """The elapsed and processor seconds of a process, with those of its child processes, and its output."""

    seconds: float
    processor: float
    output: str


def run_process(arguments: Sequence[str], codes: tuple[int, ...] = (0,), repeats: int = 3) -> ProcessCost:
    """Run Python with `arguments`; return the least seconds of `repeats` runs, and the output of the last.

    `codes`: exit statuses that are expected.
    """
    seconds, processor_seconds = [], []
    for _ in range(repeats):
        begin, before = time.perf_counter(), _children_seconds()
        process = subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, encoding="utf-8", check=False)
        seconds.append(time.perf_counter() - begin)
        processor_seconds.append(_children_seconds() - before)
        assert process.returncode in codes, f"{arguments[:4]} … ended with {process.returncode}"
    return ProcessCost(min(seconds), min(processor_seconds), process.stdout)


def _children_seconds() -> float:
    """Return the processor seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def median_seconds(arguments: Sequence[str], repeats: int = 5) -> float:
    """Run Python `repeats` times with `arguments` and return the median seconds."""
    taken = []
    for _ in range(repeats):
        begin = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def format_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table whose columns after the first are aligned to the right."""
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def check_agreement(plain: dict[str, Counts], karat: dict[str, Counts]) -> None:
    """Raise `AssertionError` unless both count the same for strong and mention, which have a single definition."""
    for relation in ("strong", "mention"):
        plain_counts, karat_counts = plain[relation], karat[relation]
        assert plain_counts[:3] == karat_counts[:3], f"{relation}: plain {plain_counts}, Karat {karat_counts}"
        assert math.isclose(plain_counts.macro_f1, karat_counts.macro_f1, rel_tol=1e-9), (
            f"{relation}: plain {plain_counts}, Karat {karat_counts}"
        )


def compare_from_jsonl(data: Files, documents: int) -> str:
    """Measure Karat, a bare parser, plain implementations and a bare copy on JSONL; return a Markdown section."""
    jobs = ("parse", "karat", "karat-matching", "copy", "plain", "objects")
    parse, karat, matching, copy, plain, objects = (measure_job(job, data) for job in jobs)
    check_agreement(plain.counts, karat.counts)
    check_agreement(objects.counts, karat.counts)
    moved = copy.outcomes[0].size
    rows = [
        _whole_job_row("msgspec parses the bytes", parse),
        _whole_job_row("Karat, files to scores", karat),
        _part_row("– load", karat, "load"),
        _part_row("– what only a first evaluation takes", karat, "start"),
        _part_row("– evaluate", karat, "match"),
        _part_row("– – of it, matching alone", matching, "match"),
        _part_row(f"NumPy copies the {moved / 1e6:,.0f} MB that matching reads", copy, "copy"),
        _whole_job_row("plain, files to scores", plain),
        _part_row("– read", plain, "read"),
        _part_row("– match", plain, "match"),
        _whole_job_row("objects like neleval's, files to scores", objects),
        _part_row("– read", objects, "read"),
        _part_row("– match", objects, "match"),
    ]
    ratios = [
        ("Karat / msgspec", karat.total / parse.total, "<= 2"),
        ("plain / Karat", plain.total / karat.total, ">= 4"),
        ("plain match / Karat matching alone", plain.part("match") / matching.part("match"), ">= 10"),
        ("plain match / Karat evaluate", plain.part("match") / karat.part("match"), ""),
        ("objects / Karat", objects.total / karat.total, ""),
        ("objects match / Karat matching alone", objects.part("match") / matching.part("match"), ""),
        ("Karat matching alone / copy", matching.part("match") / copy.total, ""),
    ]
    counts = [
        (system, relation, f"{c.tp:,}", f"{c.fp:,}", f"{c.fn:,}", f"{c.micro_f1:.6f}", f"{c.macro_f1:.6f}")
        for relation in karat.counts
        for system, c in (("Karat", karat.counts[relation]), ("plain", plain.counts[relation]))
    ]
    return "\n\n".join(
        [
            f"## {documents:,} documents from JSONL ({data.size / 1e6:,.0f} MB)",
            format_table(
                ("", "seconds", "processor", "µs/document", "peak MB"),
                [
                    (name, f"{s:.3f}", f"{worked:.3f}", f"{s / documents * 1e6:.1f}", _format_megabytes(peak))
                    for name, s, worked, peak in rows
                ],
            ),
            format_table(
                ("ratio", "measured", "target"), [(name, f"{value:.2f}", goal) for name, value, goal in ratios]
            ),
            f"The copy moves {moved / copy.total / 1e9:.1f} GB/s each way.",
            format_table(("", "relation", "tp", "fp", "fn", "micro F1", "macro F1"), counts),
        ]
    )


_Row = tuple[str, float, float, int | None]
"""Name, seconds, processor seconds and peak bytes."""


def _whole_job_row(name: str, job: Measurement) -> _Row:
    """Return name, seconds, processor seconds and peak memory of a job."""
    return name, job.total, job.processor, job.peak_bytes


def _part_row(name: str, job: Measurement, part: str) -> _Row:
    """Return name, seconds and processor seconds of a part of a job; the memory of a part is unknown."""
    return name, job.part(part), job.processor_part(part), None


def _format_megabytes(peak: int | None) -> str:
    """Return bytes in megabytes as text; empty for None."""
    return "" if peak is None else f"{peak / 1e6:,.0f}"


Line = tuple[str, int, float, float, int | None]
"""Name, number of documents, seconds, processor seconds and peak bytes."""

Ratio = tuple[str, float | None, str]
"""Name, value (None if not measured) and target."""


def compare_from_parquet(folder: Path, documents: int) -> str:
    """Measure Karat, nervaluate and a bare reader on Parquet; return a Markdown section."""
    data = ensure_files(folder, documents, "parquet")
    read, karat = measure_job("columns", data), measure_job("karat-without-text", data)
    lines: list[Line] = [
        ("pyarrow reads both files", documents, read.total, read.processor, read.peak_bytes),
        ("Karat, files to scores", documents, karat.total, karat.processor, karat.peak_bytes),
        *(
            (name, documents, karat.part(part), karat.processor_part(part), None)
            for name, part in (
                ("– load", "load"),
                ("– what only a first evaluation takes", "start"),
                ("– evaluate", "match"),
            )
        ),
    ]
    karat_seconds = karat.processor_part("load") + karat.processor_part("match")
    ratios: list[Ratio] = [
        ("Karat, load and evaluate / pyarrow, processor time", karat_seconds / read.processor, "<= 3.5")
    ]
    more_lines, more_ratios = measure_nervaluate(folder, documents, karat)
    cells = [
        (
            name,
            f"{n_documents:,}",
            f"{s:.3f}",
            f"{worked:.3f}",
            f"{s * documents / n_documents:,.2f}",
            _format_megabytes(peak),
        )
        for name, n_documents, s, worked, peak in lines + more_lines
    ]
    ratio_cells = [
        (name, "not measured" if value is None else f"{value:,.1f}", goal) for name, value, goal in ratios + more_ratios
    ]
    return "\n\n".join(
        [
            f"## {documents:,} documents from Parquet ({data.size / 1e6:,.0f} MB)",
            format_table(("", "documents", "seconds", "processor", f"seconds for {documents:,}", "peak MB"), cells),
            format_table(("ratio", "measured", "target"), ratio_cells),
        ]
    )


def measure_nervaluate(folder: Path, documents: int, karat: Measurement) -> tuple[list[Line], list[Ratio]]:
    """Measure nervaluate on a tenth of the documents with one label, and on a few with entities as labels.

    Return table lines and ratios to the measurement of Karat; a single ratio of None if it is not installed.
    """
    if find_spec("nervaluate") is None:
        return [], [("nervaluate / Karat", None, "pip install nervaluate")]
    small = ensure_files(folder, documents // 10, "parquet")
    one_label, entities = measure_job("nervaluate", small), measure_job("nervaluate-links", small, repeats=1)
    mentions = measure_job("karat-without-text", small, repeats=1).counts["mention"]
    assert one_label.counts["strict"][:3] == mentions[:3], f"nervaluate {one_label.counts}, Karat {mentions}"
    lines: list[Line] = []
    ratios: list[Ratio] = []
    for name, measurement in (("one label", one_label), ("entities as labels", entities)):
        n_documents = measurement.outcomes[0].size
        lines.append(
            (f"nervaluate, {name}", n_documents, measurement.total, measurement.processor, measurement.peak_bytes)
        )
        lines.extend(
            (f"– {part}", n_documents, measurement.part(part), measurement.processor_part(part), None)
            for part in ("read", "load", "evaluate")
        )
        evaluate_seconds, whole = (
            seconds * documents / n_documents for seconds in (measurement.part("evaluate"), measurement.total)
        )
        ratios += [
            (f"nervaluate evaluate, {name} / Karat, files to scores", evaluate_seconds / karat.total, ">= 100"),
            (f"nervaluate, {name}, files to scores / Karat, files to scores", whole / karat.total, ""),
            (f"nervaluate evaluate, {name} / Karat evaluate", evaluate_seconds / karat.part("match"), ""),
            (
                f"– the same, processor time, {name}",
                measurement.processor_part("evaluate") * documents / n_documents / karat.processor_part("match"),
                ">= 150",
            ),
        ]
    return lines, ratios


def measure_confidence(folder: Path, documents: int) -> str:
    """Measure confidence intervals and tests; return a Markdown section."""
    data = ensure_files(folder, documents, "parquet")
    output = run_process([script_path("confidence.py"), str(data.gold), str(data.predictions)], repeats=1).output
    return f"## Intervals and tests\n\n{output.strip()}"


def measure_elevant() -> str:
    """Measure the reproduction of ELEVANT's figures and the cost per document; return a Markdown section."""
    head = "## ELEVANT's files"
    paths = sorted(map(str, (ELEVANT / "results").glob("*/*.linked_articles.jsonl.gz")))
    if not paths:
        return f"{head}\n\nNot measured: {ELEVANT} is not there."
    whole = run_process(["-m", "karat", "reproduce", "elevant", "--data", str(ELEVANT)], codes=(0, 1))
    timed_pair = _evaluate_files(7, [str(ELEVANT / "results" / f"{TIMED_PAIR}.linked_articles.jsonl.gz")])
    all_pairs = _evaluate_files(3, paths)
    rows = [
        (f"`karat reproduce elevant`, {len(paths)} pairs", f"{whole.seconds:.1f} s", "<= 6 s"),
        ("– processor time of all its processes", f"{whole.processor:.1f} s", "<= 5 s"),
        (
            "– the same figures without comparing them, processor time",
            f"{sum(map(_total_seconds, all_pairs)):.1f} s",
            "",
        ),
    ]
    fixed, per_item = _fit_costs(all_pairs)
    rows += [
        ("ELEVANT's figures, each further evaluation on a corpus, processor time", f"{fixed * 1e3:.1f} ms", "<= 4 ms"),
        ("– and each label or prediction", f"{per_item * 1e6:.1f} µs", "<= 3 µs"),
    ]
    titles = (
        "processor ms/document",
        "documents",
        "load",
        "tokenise",
        "evaluate, first",
        "best",
        "1.63 / best",
        "target",
    )
    means = statistics.mean(pair.best / pair.documents for pair in all_pairs)
    return "\n\n".join(
        [
            head if find_spec("spacy") else f"{head}\n\nWithout spaCy: words are not counted.",
            format_table(("", "measured", "target"), rows),
            f"`{whole.output.splitlines()[-1]}`",
            format_table(
                titles,
                [
                    _per_document_row("refined, wiki-fair-v2-no-coref", timed_pair),
                    _per_document_row("all pairs", all_pairs),
                ],
            ),
            f"The mean of the {len(all_pairs)} pairs' own means is {means * 1e3:.3f} ms.",
        ]
    )


def _fit_costs(pairs: list[EvaluationCost]) -> tuple[float, float]:
    """Fit a line with the least relative errors; return the seconds per evaluation and per label or prediction."""
    items, taken = np.array([pair.items for pair in pairs]), np.array([pair.best for pair in pairs])
    terms = np.column_stack([np.ones(len(items)), items]) / taken[:, None]
    fixed, per_item = np.linalg.lstsq(terms, np.ones(len(items)), rcond=None)[0]
    return float(fixed), float(per_item)


def _per_document_row(name: str, pairs: list[EvaluationCost]) -> tuple[str, ...]:
    """Return a table row: milliseconds per document of each step over all pairs, and the ratio to ELEVANT's."""
    documents = sum(pair.documents for pair in pairs)
    parts = zip(*((pair.load, pair.tokenise, pair.first, pair.best) for pair in pairs), strict=True)
    milliseconds = [sum(part) / documents * 1e3 for part in parts]
    cells = (f"{value:.3f}" for value in milliseconds)
    return (name, f"{documents:,}", *cells, f"{ELEVANT_MS / milliseconds[-1]:.1f}", f"<= {ELEVANT_MS / 10:.3f} ms")


def _evaluate_files(repeats: int, paths: list[str]) -> list[EvaluationCost]:
    """Run `elevant.py` on ELEVANT's files and return the cost of each."""
    output = run_process([script_path("elevant.py"), str(repeats), *paths], repeats=1).output
    return [EvaluationCost(*json.loads(line)) for line in output.splitlines()]


def _total_seconds(pair: EvaluationCost) -> float:
    """Return the processor seconds from a file to its figures, evaluated once."""
    return pair.load + pair.tokenise + pair.first


def measure_comparison() -> str:
    """Measure `karat compare` on ELEVANT's systems and the benchmarks that all cover; return a Markdown section."""
    head = "## Comparing systems"
    paths = sorted((ELEVANT / "results").glob("*/*.linked_articles.jsonl.gz"))
    answered: dict[str, set[str]] = {}
    for path in paths:
        answered.setdefault(path.name.split(".")[0], set()).add(path.name.split(".")[1])
    if not paths:
        return f"{head}\n\nNot measured: {ELEVANT} is not there."
    common = set.intersection(*answered.values())
    plainly = ["-m", "karat", "compare", *(str(path) for path in paths if path.name.split(".")[1] in common)]
    kb = ["--kb", str(ELEVANT / "kb")]
    with TemporaryDirectory() as folder:
        written = ["--flips", f"{folder}/flips.jsonl", "--json", f"{folder}/comparison.json"]
        fully = [*plainly, *kb, "--by", "mention-type", "--by", "error", "--similarity", "--details", *written]
        commands = {
            "`karat compare FILE…`": (plainly, "<= 20 s"),
            "– with `--profile elevant --kb DIR`": ([*plainly, *kb, "--profile", "elevant"], "<= 20 s"),
            "– with `--kb DIR`, flips and similarity as files": ([*plainly, *kb, "--similarity", *written], "<= 8 s"),
            "– with `--kb DIR`, flips by two labels, similarity, and all details as files": (fully, ""),
        }
        costs = {name: run_process(command) for name, (command, _) in commands.items()}
    rows = [(name, f"{cost.seconds:.1f}", f"{cost.processor:.1f}", commands[name][1]) for name, cost in costs.items()]
    titles = (f"{len(answered)} systems, {len(common)} benchmarks", "seconds", "processor seconds", "target")
    return "\n\n".join([head, format_table(titles, rows)])


def measure_reports() -> str:
    """Measure `karat report` of many systems on many datasets, real and generated; return a Markdown section."""
    head = ("`karat report`", "pairs", "processor seconds", "ms/pair", "seconds", "peak MB", "target")
    grids = ((10, 1), (10, 10), (20, 50), (50, 50))
    reports = [(f"{systems} × {datasets}, generated", _run_generated(systems, datasets)) for systems, datasets in grids]
    targets = {"50 × 50, generated": "<= 60 s"}
    paths = sorted((ELEVANT / "results").glob("*/*.linked_articles.jsonl.gz"))
    if paths:
        names = [path.name.split(".") for path in paths]
        systems = {system for system, *_ in names}
        common = [
            name for name in sorted({name for _, name, *_ in names}) if _count_systems(names, name) == len(systems)
        ]
        for count, options in ((7, ["--why", "gerbil"]), (7, []), (7, ["--one-profile"])):
            chosen = {*common[:count]}
            files = [str(path) for path, (_, name, *_) in zip(paths, names, strict=True) if name in chosen]
            title = " ".join([f"{len(systems)} × {count}, ELEVANT's, `--kb`", *options])
            with TemporaryDirectory() as folder:
                arguments = [*files, "--kb", str(ELEVANT / "kb"), *options]
                reports.append((title, (len(files), run_report(Path(folder), arguments))))
        targets[reports[len(grids)][0]] = "<= 15 s"
    rows = [
        (
            name,
            f"{pairs:,}",
            f"{cost.processor:.1f}",
            f"{cost.processor / pairs * 1e3:.0f}",
            f"{cost.seconds:.1f}",
            _format_megabytes(cost.peak_bytes),
            targets.get(name, ""),
        )
        for name, (pairs, cost) in reports
    ]
    note = "Ten documents with 20 mentions each are generated. Each report is written once."
    return "\n\n".join(["## Reports", format_table(head, rows), note if paths else f"{note} {ELEVANT} is not there."])


def _run_generated(systems: int, datasets: int) -> tuple[int, ReportCost]:
    """Write the report of generated systems on generated datasets; return the number of pairs and its cost."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = write_files(folder, systems, datasets, documents=10, mentions=20)
        return systems * datasets, run_report(folder, [*files, "--one-profile", "--resamples", "100"])


def _count_systems(names: Sequence[Sequence[str]], dataset: str) -> int:
    """Return the number of systems with a file about a dataset; `names` are the parts of the file names."""
    return len({system for system, name, *_ in names if name == dataset})


def measure_growth(folder: Path, sizes: Iterable[tuple[str, int]]) -> str:
    """Measure Karat from files to scores on corpora of growing size; return a Markdown section."""
    rows = []
    for kind, documents in sizes:
        data = ensure_files(folder, documents, kind)
        job = "karat" if kind == "jsonl" else "karat-without-text"
        measurement = measure_job(job, data, repeats=3 if documents <= 100_000 else 1)
        parts = [f"{measurement.processor_part(name):.3f}" for name in ("load", "start", "match")]
        per_document = (
            f"{(measurement.processor_part('load') + measurement.processor_part('match')) / documents * 1e6:.1f}"
        )
        cells = (kind, f"{documents:,}", f"{data.size / 1e6:,.1f}", f"{measurement.total:.3f}", *parts, per_document)
        rows.append((*cells, _format_megabytes(measurement.peak_bytes)))
    head = ("from", "documents", "MB", "seconds", "load", "first time", "evaluate", "µs/document", "peak MB")
    note = "Seconds are all that elapsed; the rest is processor time, that of a document without the first time."
    return "\n\n".join(["## Growth", format_table(head, rows), note])


HARD = {
    "documents with one mention": (1, 1),
    "one document, mentions side by side": (1_000_000, 1),
    "nests of 10": (10, 10),
    "nests of 100": (100, 100),
    "nests of 1,000": (1_000, 1_000),
    "one nest": (1_000_000, 1_000_000),
}
"""Mentions per document and nesting depth of inputs with a million mentions, by description."""


def measure_hard_inputs(folder: Path) -> str:
    """Measure a million mentions in inputs that reveal superlinear work; return a Markdown section."""
    mentions, rows = 1_000_000, []
    for name, (per_document, depth) in HARD.items():
        data = corpus_files(folder, mentions, f"{per_document}x{depth}.jsonl")
        if not data.is_complete:
            folder.mkdir(parents=True, exist_ok=True)
            sizes = map(str, (mentions, per_document, depth))
            subprocess.run([sys.executable, script_path("hard.py"), *map(str, data), *sizes], check=True)
        measurement = measure_job("karat-without-text", data)
        loaded, worked = measurement.processor_part("load"), measurement.processor_part("match")
        cells = (f"{mentions // per_document:,}", f"{mentions:,}", f"{loaded:.2f}", f"{worked:.3f}")
        rows.append((name, *cells, f"{worked / mentions * 1e9:.0f}"))
    head = ("", "documents", "mentions", "load, processor seconds", "evaluate", "evaluate, ns/mention")
    return "\n\n".join(["## Hard inputs", format_table(head, rows)])


def measure_conventions(folder: Path) -> str:
    """Measure neleval's measures and a threshold curve; return a Markdown section."""
    small, large = ensure_files(folder, 1_000, "jsonl"), ensure_files(folder, 100_000, "jsonl")
    curve = measure_job("curve", large)
    # CEAF needs SciPy where clusters are many.
    measures = None if find_spec("scipy") is None else measure_job("neleval", small, repeats=1).part("score")
    rows = [
        ("neleval's 19 measures, 5 systems, 1,000 documents, 1,000 samples", measures, "<= 10 s"),
        ("one sort of the scores of 100,000 documents", curve.part("sort"), ""),
        ("one ordering of them", curve.part("order"), ""),
        ("the strong curve at every distinct score, given the verdicts", curve.part("curve"), ""),
    ]
    ratios = [
        ("curve / sort", curve.part("curve") / curve.part("sort"), "<= 3"),
        ("curve / ordering", curve.part("curve") / curve.part("order"), "<= 3"),
    ]
    return "\n\n".join(
        [
            "## Conventions",
            format_table(
                ("", "seconds", "target"), [(name, _format_seconds(seconds), goal) for name, seconds, goal in rows]
            ),
            format_table(
                ("ratio", "measured", "target"), [(name, f"{value:.2f}", goal) for name, value, goal in ratios]
            ),
        ]
    )


def _format_seconds(seconds: float | None) -> str:
    """Return seconds as text, or `not measured` for None."""
    return "not measured" if seconds is None else f"{seconds:.3f}"


def measure_formats(folder: Path, documents: int) -> str:
    """Compare reading other formats with the bare parse of their bytes; return a Markdown section."""
    measurement = measure_job("formats", ensure_files(folder, 10_000, "jsonl"))
    rows = [
        _ratio_row(name, measurement.processor_part(f"bare {name}"), measurement.processor_part(name), goal)
        for name, goal in (("NIF", "<= 1"), ("ELEVANT", "<= 4"))
    ]
    data = ensure_files(folder, documents, ESCAPED)
    bare, whole = measure_job("arrow", data), measure_job("karat-without-text", data)
    steps = ("load", "match")
    escaped = [
        _ratio_row("processor", bare.processor, sum(map(whole.processor_part, steps)), "<= 1.5"),
        _ratio_row("elapsed", bare.total, sum(map(whole.part, steps)), ""),
        _ratio_row("processor, load alone", bare.processor, whole.processor_part("load"), ""),
    ]
    return "\n\n".join(
        [
            "## Formats",
            format_table(
                ("10,000 documents", "bare parse, processor seconds", "into columns", "ratio", "target"), rows
            ),
            format_table(
                (
                    f"{documents:,} documents from JSONL with escapes ({data.size / 1e6:,.0f} MB)",
                    "Arrow's bare parse, seconds",
                    "files to scores",
                    "ratio",
                    "target",
                ),
                escaped,
            ),
        ]
    )


def _ratio_row(name: str, bare: float, seconds: float, goal: str) -> tuple[str, ...]:
    """Return a table row: the seconds of a bare parse and of Karat, their ratio and the target."""
    return name, f"{bare:.3f}", f"{seconds:.3f}", f"{seconds / bare:.2f}", goal


def measure_start() -> str:
    """Measure the start-up time of Karat; return a Markdown section."""
    commands = {
        "`python -c pass`": ("-c", "pass"),
        "`import karat`": ("-c", "import karat"),
        "`python -m karat --help`": ("-m", "karat", "--help"),
    }
    rows = [(name, f"{median_seconds(arguments) * 1e3:.0f}") for name, arguments in commands.items()]
    bare = run_process(["-c", "import numpy, pyarrow"], repeats=7).processor
    scored = run_process(["-m", "karat", "score", "demo", "demo/noisy"], repeats=7).processor
    worked = [
        ("`import numpy, pyarrow`", f"{bare * 1e3:.0f}", ""),
        ("`python -m karat score demo demo/noisy`", f"{scored * 1e3:.0f}", ""),
        ("ratio", f"{scored / bare:.2f}", "<= 1.7"),
    ]
    return "\n\n".join(
        [
            "## Start",
            format_table(("median of 5", "ms"), rows),
            format_table(("best of 7", "processor ms", "target"), worked),
        ]
    )


def measure_fixed_costs(folder: Path) -> str:
    """Measure fixed costs per document and per evaluation; return a Markdown section."""
    data = ensure_files(folder, 10_000, "parquet")
    documents, runs, gaps = (measure_job(job, data) for job in ("by-document", "runs", "why"))
    n_mixtures = gaps.outcomes[0].size
    by_doc_seconds = documents.processor_part("by doc") - documents.processor_part("views")
    rows = [
        ("10 views of 10,000 documents", f"{documents.processor_part('views'):.2f} s", ""),
        ("– and `by doc`", f"{by_doc_seconds:.2f} s", "<= 1 s"),
        ("5,000 runs on one document, `evaluate_runs`", f"{runs.processor_part('together'):.1f} s", "<= 5 s"),
        ("– one call of `evaluate` for each", f"{runs.processor_part('500 alone') * 10:.1f} s", "<= 8 s"),
        (f"gap explanation on a small corpus, {n_mixtures} mixtures", f"{gaps.processor_part('1 systems'):.3f} s", ""),
        ("– for 80 mixtures", f"{gaps.processor_part('1 systems') / n_mixtures * 80:.3f} s", "<= 0.15 s"),
        ("– of each of 100 systems on this corpus", f"{gaps.processor_part('100 systems') / 100:.3f} s", ""),
    ]
    return "\n\n".join(["## Documents and evaluations by themselves", format_table(("", "processor", "target"), rows)])


def measure_memory(folder: Path, documents: int) -> str:
    """Compare the peak memory of `karat score` on JSONL with the size of the files; return a Markdown section."""
    data = ensure_files(folder, documents, "jsonl")
    peak_bytes, before = (measure_job(job, data, repeats=1).peak_bytes for job in ("karat-without-text", "nothing"))
    rows = [
        (f"both files, {documents:,} documents", _format_megabytes(data.size), "", ""),
        ("peak from files to scores", _format_megabytes(peak_bytes), f"{peak_bytes / data.size:.2f}", "<= 0.5"),
        ("– before any file is opened", _format_megabytes(before), f"{before / data.size:.2f}", ""),
    ]
    return "\n\n".join(["## Memory", format_table(("JSONL", "MB", "of the files", "target"), rows)])


def describe_machine() -> str:
    """Return the cores, operating system, Python and package versions as text."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("karat", "msgspec", "numpy", "pyarrow"))
    return (
        f"{cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}, {packages}"
    )


def list_growth_corpora(*, growing: bool, million: bool) -> list[tuple[str, int]]:
    """Return format and number of documents of the corpora over which growth is measured.

    `growing`: include 1,000 to 100,000 documents.
    `million`: include a million documents.
    """
    steps = (1_000, 10_000, 100_000)
    corpora = [(kind, step) for kind in ("jsonl", "parquet") for step in steps] if growing else []
    return [*corpora, ("parquet", 1_000_000)] if million else corpora


def list_sections(options: argparse.Namespace) -> dict[str, Callable[[], str]]:
    """Return the functions that measure a section and return its Markdown, by name of the section, in order."""
    corpora = list_growth_corpora(growing=options.growth, million=options.parquet_million)
    return {
        "jsonl": lambda: compare_from_jsonl(ensure_files(options.data, options.documents, "jsonl"), options.documents),
        "parquet": lambda: compare_from_parquet(options.data, options.documents),
        "growth": lambda: measure_growth(options.data, corpora) if corpora else "",
        "hard": lambda: measure_hard_inputs(options.data),
        "confidence": lambda: measure_confidence(
            options.data, 1_000_000 if options.parquet_million else options.documents
        ),
        "elevant": measure_elevant,
        "systems": measure_comparison,
        "reports": measure_reports,
        "small": lambda: measure_fixed_costs(options.data),
        "memory": lambda: measure_memory(options.data, 1_000_000 if options.jsonl_million else options.documents),
        "conventions": lambda: measure_conventions(options.data),
        "formats": lambda: measure_formats(options.data, options.documents),
        "start": measure_start,
    }


def main() -> None:
    """Measure the sections that the command line requests, and print them."""
    parser = argparse.ArgumentParser(description="Measure Karat and print Markdown.")
    parser.add_argument("--documents", type=int, default=100_000, help="size of the comparison")
    parser.add_argument("--growth", action="store_true", help="also 1k to 100k documents, JSONL and Parquet")
    parser.add_argument("--jsonl-million", action="store_true", help="memory of a million documents (3.7 GB)")
    parser.add_argument("--parquet-million", action="store_true", help="also a million documents from Parquet")
    parser.add_argument("--data", type=Path, default=Path(__file__).parent / "data", help="folder for the corpora")
    parser.add_argument(
        "--only", nargs="+", metavar="PART", help="some parts, in this order: jsonl, parquet, growth, …"
    )
    options = parser.parse_args()
    available_parts = list_sections(options)
    wanted = options.only or list(available_parts)
    if not set(wanted) <= available_parts.keys():
        parser.error(f"--only takes {', '.join(available_parts)}")
    print(
        f"# Benchmark\n\n{describe_machine()}; best of three (a million documents: once), each in a fresh process.",
        flush=True,
    )
    for name in wanted:
        if section := available_parts[name]():
            print(f"\n{section}", flush=True)


if __name__ == "__main__":
    main()
