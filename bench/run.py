"""Measure Karat: `python bench/run.py [--documents N] [--growth] [--only PART…]` prints Markdown.

Every measurement is a process of its own and takes the best of three; what it needs is made first by `corpus.py`
and kept in `bench/data` (a gigabyte and a half with a million documents from Parquet, four more with those from
JSONL). Counts that have to agree are compared, times are only shown. nervaluate and spaCy are measured where they are
installed; ELEVANT's published files are looked for in ../shared, or in KARAT_SHARED. What is not there is left out, and
said.
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

from shared import ESCAPED, Counts, Evaluated, Files, Outcome, files

SHARED = Path(os.environ.get("KARAT_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ELEVANT = SHARED / "data" / "elevant"
TIMED_PAIR = "refined/refined__aida_.wiki-fair-v2-no-coref"
"""The linker and the benchmark on which ELEVANT's own evaluator was measured."""

ELEVANT_MS = 1.63
"""What ELEVANT's evaluator took there for a document, tokenising apart: processor time, best of seven."""


class Measured(NamedTuple):
    """Repeated outcomes of one job."""

    outcomes: tuple[Outcome, ...]

    @property
    def total(self) -> float:
        """Seconds of the best repetition."""
        return min(outcome.total for outcome in self.outcomes)

    def part(self, name: str) -> float:
        """Seconds of one part in its best repetition."""
        return min(outcome.seconds[name] for outcome in self.outcomes)

    @property
    def processor(self) -> float:
        """Processor seconds of the best repetition, all threads together."""
        return min(sum(outcome.processor.values()) for outcome in self.outcomes)

    def worked(self, name: str) -> float:
        """Processor seconds of one part in its best repetition."""
        return min(outcome.processor[name] for outcome in self.outcomes)

    @property
    def peak_bytes(self) -> int:
        """The most memory that a repetition held."""
        return max(outcome.peak_bytes for outcome in self.outcomes)

    @property
    def counts(self) -> dict[str, Counts]:
        """What was counted, the same in every repetition."""
        assert all(outcome.counts == self.outcomes[0].counts for outcome in self.outcomes)
        return self.outcomes[0].counts


def here(name: str) -> str:
    """A script beside this one."""
    return str(Path(__file__).parent / name)


def ensure(folder: Path, documents: int, kind: str) -> Files:
    """The files of a corpus, made in a process of its own so that this one stays small."""
    target = files(folder, documents, kind)
    if not target.present:
        command = [sys.executable, here("corpus.py"), str(folder), f"--documents={documents}", f"--kind={kind}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return target


def measure(job: str, given: Files, repeat: int = 3) -> Measured:
    """A job in fresh processes."""
    command = [sys.executable, here("jobs.py"), job, str(given.gold), str(given.answers)]
    outputs = [
        subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout for _ in range(repeat)
    ]
    return Measured(tuple(map(Outcome.from_json, outputs)))


class Ended(NamedTuple):
    """A process: its seconds and processor seconds, with those of its own processes, and what it printed."""

    seconds: float
    processor: float
    said: str


def ended(arguments: Sequence[str], codes: tuple[int, ...] = (0,), repeat: int = 3) -> Ended:
    """A whole process with these arguments, the best of some."""
    taken, worked = [], []
    for _ in range(repeat):
        begin, before = time.perf_counter(), _children()
        process = subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, encoding="utf-8", check=False)
        taken.append(time.perf_counter() - begin)
        worked.append(_children() - before)
        assert process.returncode in codes, f"{arguments[:4]} … ended with {process.returncode}"
    return Ended(min(taken), min(worked), process.stdout)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def started(arguments: Sequence[str], repeat: int = 5) -> float:
    """The median of the seconds that the interpreter takes with these arguments."""
    taken = []
    for _ in range(repeat):
        begin = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table: the first column is text, the others are numbers."""
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def agree(plain: dict[str, Counts], karat: dict[str, Counts]) -> None:
    """Stop unless both count the same where there is only one way to count."""
    for relation in ("strong", "mention"):
        one, two = plain[relation], karat[relation]
        assert one[:3] == two[:3], f"{relation}: plain {one}, Karat {two}"
        assert math.isclose(one.macro_f1, two.macro_f1, rel_tol=1e-9), f"{relation}: plain {one}, Karat {two}"


def compare(given: Files, documents: int) -> str:
    """Karat beside a mere parser, beside plain implementations and beside a mere copy."""
    jobs = ("parse", "karat", "karat-matching", "copy", "plain", "objects")
    parse, karat, matching, copy, plain, objects = (measure(job, given) for job in jobs)
    agree(plain.counts, karat.counts)
    agree(objects.counts, karat.counts)
    moved = copy.outcomes[0].size
    rows = [
        _whole_job("msgspec parses the bytes", parse),
        _whole_job("Karat, files to scores", karat),
        _part("– load", karat, "load"),
        _part("– what only a first evaluation takes: Numba, where it is installed", karat, "start"),
        _part("– evaluate", karat, "match"),
        _part("– – of it, matching alone", matching, "match"),
        _part(f"NumPy copies the {moved / 1e6:,.0f} MB that matching reads", copy, "copy"),
        _whole_job("plain, files to scores", plain),
        _part("– read", plain, "read"),
        _part("– match", plain, "match"),
        _whole_job("objects like neleval's, files to scores", objects),
        _part("– read", objects, "read"),
        _part("– match", objects, "match"),
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
        (who, relation, f"{c.tp:,}", f"{c.fp:,}", f"{c.fn:,}", f"{c.micro_f1:.6f}", f"{c.macro_f1:.6f}")
        for relation in karat.counts
        for who, c in (("Karat", karat.counts[relation]), ("plain", plain.counts[relation]))
    ]
    return "\n\n".join(
        [
            f"## {documents:,} documents from JSONL ({given.size / 1e6:,.0f} MB)",
            table(
                ("", "seconds", "processor", "µs/document", "peak MB"),
                [
                    (name, f"{s:.3f}", f"{worked:.3f}", f"{s / documents * 1e6:.1f}", _megabytes(peak))
                    for name, s, worked, peak in rows
                ],
            ),
            table(("ratio", "measured", "target"), [(name, f"{value:.2f}", goal) for name, value, goal in ratios]),
            f"The copy moves {moved / copy.total / 1e9:.1f} GB/s each way.",
            table(("", "relation", "tp", "fp", "fn", "micro F1", "macro F1"), counts),
        ]
    )


_Row = tuple[str, float, float, int | None]


def _whole_job(name: str, job: Measured) -> _Row:
    return name, job.total, job.processor, job.peak_bytes


def _part(name: str, job: Measured, part: str) -> _Row:
    return name, job.part(part), job.worked(part), None


def _megabytes(peak: int | None) -> str:
    return "" if peak is None else f"{peak / 1e6:,.0f}"


Line = tuple[str, int, float, float, int | None]
Ratio = tuple[str, float | None, str]


def spans(folder: Path, documents: int) -> str:
    """Karat beside nervaluate and a mere reader, all from Parquet."""
    given = ensure(folder, documents, "parquet")
    read, karat = measure("columns", given), measure("karat-without-text", given)
    lines: list[Line] = [
        ("pyarrow reads both files", documents, read.total, read.processor, read.peak_bytes),
        ("Karat, files to scores", documents, karat.total, karat.processor, karat.peak_bytes),
        *(
            (name, documents, karat.part(part), karat.worked(part), None)
            for name, part in (
                ("– load", "load"),
                ("– what only a first evaluation takes", "start"),
                ("– evaluate", "match"),
            )
        ),
    ]
    own = karat.worked("load") + karat.worked("match")
    ratios: list[Ratio] = [("Karat, load and evaluate / pyarrow, processor time", own / read.processor, "<= 3.5")]
    more_lines, more_ratios = nervaluate(folder, documents, karat)
    cells = [
        (name, f"{some:,}", f"{s:.3f}", f"{worked:.3f}", f"{s * documents / some:,.2f}", _megabytes(peak))
        for name, some, s, worked, peak in lines + more_lines
    ]
    said = [
        (name, "not measured" if value is None else f"{value:,.1f}", goal) for name, value, goal in ratios + more_ratios
    ]
    return "\n\n".join(
        [
            f"## {documents:,} documents from Parquet ({given.size / 1e6:,.0f} MB)",
            table(("", "documents", "seconds", "processor", f"seconds for {documents:,}", "peak MB"), cells),
            table(("ratio", "measured", "target"), said),
        ]
    )


def nervaluate(folder: Path, documents: int, karat: Measured) -> tuple[list[Line], list[Ratio]]:
    """nervaluate on a tenth of the documents, with one label for all; on a few of them with entities as labels."""
    if find_spec("nervaluate") is None:
        return [], [("nervaluate / Karat", None, "pip install nervaluate")]
    small = ensure(folder, documents // 10, "parquet")
    one, entities = measure("nervaluate", small), measure("nervaluate-links", small, repeat=1)
    mentions = measure("karat-without-text", small, repeat=1).counts["mention"]
    assert one.counts["strict"][:3] == mentions[:3], f"nervaluate {one.counts}, Karat {mentions}"
    lines: list[Line] = []
    ratios: list[Ratio] = []
    for name, found in (("one label", one), ("entities as labels", entities)):
        some = found.outcomes[0].size
        lines.append((f"nervaluate, {name}", some, found.total, found.processor, found.peak_bytes))
        lines.extend(
            (f"– {part}", some, found.part(part), found.worked(part), None) for part in ("read", "load", "evaluate")
        )
        own, whole = (seconds * documents / some for seconds in (found.part("evaluate"), found.total))
        ratios += [
            (f"nervaluate evaluate, {name} / Karat, files to scores", own / karat.total, ">= 100"),
            (f"nervaluate, {name}, files to scores / Karat, files to scores", whole / karat.total, ""),
            (f"nervaluate evaluate, {name} / Karat evaluate", own / karat.part("match"), ""),
            (
                f"– the same, processor time, {name}",
                found.worked("evaluate") * documents / some / karat.worked("match"),
                ">= 150",
            ),
        ]
    return lines, ratios


def confidence(folder: Path, documents: int) -> str:
    """Intervals beside matching, and tests."""
    given = ensure(folder, documents, "parquet")
    said = ended([here("confidence.py"), str(given.gold), str(given.answers)], repeat=1).said
    return f"## Intervals and tests\n\n{said.strip()}"


def elevant() -> str:
    """All of ELEVANT's published figures, and what a document takes."""
    head = "## ELEVANT's files"
    paths = sorted(map(str, (ELEVANT / "results").glob("*/*.linked_articles.jsonl.gz")))
    if not paths:
        return f"{head}\n\nNot measured: {ELEVANT} is not there."
    whole = ended(["-m", "karat", "conform", "elevant", str(ELEVANT)], codes=(0, 1))
    one = _evaluated(7, [str(ELEVANT / "results" / f"{TIMED_PAIR}.linked_articles.jsonl.gz")])
    every = _evaluated(3, paths)
    rows = [
        (f"`karat conform elevant`, {len(paths)} pairs", f"{whole.seconds:.1f} s", "<= 6 s"),
        ("– processor time of all its processes", f"{whole.processor:.1f} s", ""),
        ("– the same figures without comparing them, processor time", f"{sum(map(_whole, every)):.1f} s", ""),
    ]
    fixed, each = _costs(every)
    rows += [
        ("ELEVANT's figures, each further evaluation on a corpus, processor time", f"{fixed * 1e3:.1f} ms", "<= 8 ms"),
        ("– and each label or answer", f"{each * 1e6:.1f} µs", "<= 4 µs"),
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
    means = statistics.mean(pair.best / pair.documents for pair in every)
    return "\n\n".join(
        [
            head if find_spec("spacy") else f"{head}\n\nWithout spaCy: words are not counted.",
            table(("", "measured", "target"), rows),
            f"`{whole.said.splitlines()[-1]}`",
            table(titles, [_per_document("refined, wiki-fair-v2-no-coref", one), _per_document("all pairs", every)]),
            f"The mean of the {len(every)} pairs' own means is {means * 1e3:.3f} ms.",
        ]
    )


def _costs(pairs: list[Evaluated]) -> tuple[float, float]:
    """What an evaluation takes by itself and for each item: the line with the least relative errors."""
    items, taken = np.array([pair.items for pair in pairs]), np.array([pair.best for pair in pairs])
    terms = np.column_stack([np.ones(len(items)), items]) / taken[:, None]
    fixed, each = np.linalg.lstsq(terms, np.ones(len(items)), rcond=None)[0]
    return float(fixed), float(each)


def _per_document(name: str, pairs: list[Evaluated]) -> tuple[str, ...]:
    documents = sum(pair.documents for pair in pairs)
    parts = zip(*((pair.load, pair.tokenise, pair.first, pair.best) for pair in pairs), strict=True)
    milliseconds = [sum(part) / documents * 1e3 for part in parts]
    cells = (f"{value:.3f}" for value in milliseconds)
    return (name, f"{documents:,}", *cells, f"{ELEVANT_MS / milliseconds[-1]:.1f}", f"<= {ELEVANT_MS / 10:.3f} ms")


def _evaluated(repeat: int, paths: list[str]) -> list[Evaluated]:
    said = ended([here("elevant.py"), str(repeat), *paths], repeat=1).said
    return [Evaluated(*json.loads(line)) for line in said.splitlines()]


def _whole(pair: Evaluated) -> float:
    return pair.load + pair.tokenise + pair.first


def systems() -> str:
    """`karat compare` of the systems that ELEVANT publishes, on the benchmarks that all of them answered."""
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
        rows = [
            ("`karat compare FILE…`", f"{ended(plainly).seconds:.1f}", "<= 20 s"),
            (
                "– with `--like elevant --kb DIR`",
                f"{ended([*plainly, *kb, '--like', 'elevant']).seconds:.1f}",
                "<= 20 s",
            ),
            (
                "– with `--kb DIR`, flips by two labels, similarity, and all details as files",
                f"{ended(fully).seconds:.1f}",
                "",
            ),
        ]
    return "\n\n".join([head, table((f"{len(answered)} systems, {len(common)} benchmarks", "seconds", "target"), rows)])


def growth(folder: Path, sizes: Iterable[tuple[str, int]]) -> str:
    """Karat from files to scores as corpora grow."""
    rows = []
    for kind, documents in sizes:
        given = ensure(folder, documents, kind)
        job = "karat" if kind == "jsonl" else "karat-without-text"
        found = measure(job, given, repeat=3 if documents <= 100_000 else 1)
        parts = [f"{found.worked(name):.3f}" for name in ("load", "start", "match")]
        per_document = f"{(found.worked('load') + found.worked('match')) / documents * 1e6:.1f}"
        cells = (kind, f"{documents:,}", f"{given.size / 1e6:,.1f}", f"{found.total:.3f}", *parts, per_document)
        rows.append((*cells, _megabytes(found.peak_bytes)))
    head = ("from", "documents", "MB", "seconds", "load", "first time", "evaluate", "µs/document", "peak MB")
    said = "Seconds are all that elapsed; the rest is processor time, that of a document without the first time."
    return "\n\n".join(["## Growth", table(head, rows), said])


HARD = {
    "documents with one mention": (1, 1),
    "one document, mentions side by side": (1_000_000, 1),
    "nests of 10": (10, 10),
    "nests of 1,000": (1_000, 1_000),
    "one nest": (1_000_000, 1_000_000),
}
"""A million mentions each: how many of them a document has, and how many lie in each other."""


def hard(folder: Path) -> str:
    """Inputs on which whatever is not linear shows."""
    mentions, rows = 1_000_000, []
    for name, (per_document, depth) in HARD.items():
        if depth > 10 and find_spec("numba") is None:  # each is compared with all that it overlaps
            rows.append((name, f"{mentions // per_document:,}", f"{mentions:,}", *["not measured: no Numba"] * 3))
            continue
        given = files(folder, mentions, f"{per_document}x{depth}.jsonl")
        if not given.present:
            folder.mkdir(parents=True, exist_ok=True)
            sizes = map(str, (mentions, per_document, depth))
            subprocess.run([sys.executable, here("hard.py"), *map(str, given), *sizes], check=True)
        found = measure("karat-without-text", given)
        loaded, worked = found.worked("load"), found.worked("match")
        cells = (f"{mentions // per_document:,}", f"{mentions:,}", f"{loaded:.2f}", f"{worked:.3f}")
        rows.append((name, *cells, f"{worked / mentions * 1e9:.0f}"))
    head = ("", "documents", "mentions", "load, processor seconds", "evaluate", "evaluate, ns/mention")
    return "\n\n".join(["## Hard inputs", table(head, rows)])


def conventions(folder: Path) -> str:
    """neleval's measures and a threshold curve."""
    small, large = ensure(folder, 1_000, "jsonl"), ensure(folder, 100_000, "jsonl")
    curve = measure("curve", large)
    # CEAF needs SciPy where clusters are many.
    measures = None if find_spec("scipy") is None else measure("neleval", small, repeat=1).part("score")
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
            table(("", "seconds", "target"), [(name, _seconds(seconds), goal) for name, seconds, goal in rows]),
            table(("ratio", "measured", "target"), [(name, f"{value:.2f}", goal) for name, value, goal in ratios]),
        ]
    )


def _seconds(seconds: float | None) -> str:
    return "not measured" if seconds is None else f"{seconds:.3f}"


def formats(folder: Path, documents: int) -> str:
    """Other formats beside the bare parse of their bytes."""
    found = measure("formats", ensure(folder, 10_000, "jsonl"))
    rows = [
        _ratio_row(name, found.worked(f"bare {name}"), found.worked(name), goal)
        for name, goal in (("NIF", "<= 1"), ("ELEVANT", "<= 4"))
    ]
    given = ensure(folder, documents, ESCAPED)
    bare, whole = measure("arrow", given), measure("karat-without-text", given)
    steps = ("load", "match")
    escaped = [
        _ratio_row("processor", bare.processor, sum(map(whole.worked, steps)), "<= 1.5"),
        _ratio_row("elapsed", bare.total, sum(map(whole.part, steps)), ""),
        _ratio_row("processor, load alone", bare.processor, whole.worked("load"), ""),
    ]
    return "\n\n".join(
        [
            "## Formats",
            table(("10,000 documents", "bare parse, processor seconds", "into columns", "ratio", "target"), rows),
            table(
                (
                    f"{documents:,} documents from JSONL with escapes ({given.size / 1e6:,.0f} MB)",
                    "Arrow's bare parse, seconds",
                    "files to scores",
                    "ratio",
                    "target",
                ),
                escaped,
            ),
        ]
    )


def _ratio_row(name: str, bare: float, own: float, goal: str) -> tuple[str, ...]:
    return name, f"{bare:.3f}", f"{own:.3f}", f"{own / bare:.2f}", goal


def start() -> str:
    """How long it takes until anything happens."""
    commands = {
        "`python -c pass`": ("-c", "pass"),
        "`import karat`": ("-c", "import karat"),
        "`python -m karat --help`": ("-m", "karat", "--help"),
    }
    rows = [(name, f"{started(arguments) * 1e3:.0f}") for name, arguments in commands.items()]
    bare = ended(["-c", "import numpy, pyarrow"], repeat=7).processor
    scored = ended(["-m", "karat", "score", "demo", "demo/noisy"], repeat=7).processor
    worked = [
        ("`import numpy, pyarrow`", f"{bare * 1e3:.0f}", ""),
        ("`python -m karat score demo demo/noisy`", f"{scored * 1e3:.0f}", ""),
        ("ratio", f"{scored / bare:.1f}", "<= 2"),
    ]
    return "\n\n".join(
        ["## Start", table(("median of 5", "ms"), rows), table(("best of 7", "processor ms", "target"), worked)]
    )


def small(folder: Path) -> str:
    """What costs by the document, or by the evaluation."""
    given = ensure(folder, 10_000, "parquet")
    documents, runs = measure("by-document", given), measure("runs", given)
    own = documents.worked("by doc") - documents.worked("views")
    rows = [
        ("10 views of 10,000 documents", f"{documents.worked('views'):.2f} s", ""),
        ("– and `by doc`", f"{own:.2f} s", "<= 1 s"),
        ("5,000 runs on one document, `evaluate_all`", f"{runs.worked('together'):.1f} s", "<= 5 s"),
        ("– one call of `evaluate` for each", f"{runs.worked('500 alone') * 10:.1f} s", ""),
    ]
    return "\n\n".join(["## Documents and evaluations by themselves", table(("", "processor", "target"), rows)])


def memory(folder: Path, documents: int) -> str:
    """The most that is held from JSONL to scores, as `karat score` does it, beside the size of the files."""
    given = ensure(folder, documents, "jsonl")
    found, before = (measure(job, given, repeat=1).peak_bytes for job in ("karat-without-text", "nothing"))
    rows = [
        (f"both files, {documents:,} documents", _megabytes(given.size), "", ""),
        ("peak from files to scores", _megabytes(found), f"{found / given.size:.2f}", "<= 0.5"),
        ("– before any file is opened", _megabytes(before), f"{before / given.size:.2f}", ""),
    ]
    return "\n\n".join(["## Memory", table(("JSONL", "MB", "of the files", "target"), rows)])


def machine() -> str:
    """What the numbers were taken on."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("karat", "msgspec", "numpy", "pyarrow"))
    return (
        f"{cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}, {packages}"
    )


def sizes(*, growing: bool, million: bool) -> list[tuple[str, int]]:
    """The corpora over which growth is measured."""
    steps = (1_000, 10_000, 100_000)
    chosen = [(kind, step) for kind in ("jsonl", "parquet") for step in steps] if growing else []
    return [*chosen, ("parquet", 1_000_000)] if million else chosen


def parts(given: argparse.Namespace) -> dict[str, Callable[[], str]]:
    """What can be measured, by name, in the order of the page."""
    chosen = sizes(growing=given.growth, million=given.parquet_million)
    return {
        "jsonl": lambda: compare(ensure(given.data, given.documents, "jsonl"), given.documents),
        "parquet": lambda: spans(given.data, given.documents),
        "growth": lambda: growth(given.data, chosen) if chosen else "",
        "hard": lambda: hard(given.data),
        "confidence": lambda: confidence(given.data, 1_000_000 if given.parquet_million else given.documents),
        "elevant": elevant,
        "systems": systems,
        "small": lambda: small(given.data),
        "memory": lambda: memory(given.data, 1_000_000 if given.jsonl_million else given.documents),
        "conventions": lambda: conventions(given.data),
        "formats": lambda: formats(given.data, given.documents),
        "start": start,
    }


def main() -> None:
    """Measure what the arguments ask for."""
    parser = argparse.ArgumentParser(description="Measure Karat and print Markdown.")
    parser.add_argument("--documents", type=int, default=100_000, help="size of the comparison")
    parser.add_argument("--growth", action="store_true", help="also 1k to 100k documents, JSONL and Parquet")
    parser.add_argument("--jsonl-million", action="store_true", help="memory of a million documents (3.7 GB)")
    parser.add_argument("--parquet-million", action="store_true", help="also a million documents from Parquet")
    parser.add_argument("--data", type=Path, default=Path(__file__).parent / "data", help="folder for the corpora")
    parser.add_argument(
        "--only", nargs="+", metavar="PART", help="some parts, in this order: jsonl, parquet, growth, …"
    )
    given = parser.parse_args()
    known = parts(given)
    wanted = given.only or list(known)
    if not set(wanted) <= known.keys():
        parser.error(f"--only takes {', '.join(known)}")
    print(
        f"# Benchmark\n\n{machine()}; best of three (a million documents: once), each in a fresh process.", flush=True
    )
    for name in wanted:
        if said := known[name]():
            print(f"\n{said}", flush=True)


if __name__ == "__main__":
    main()
