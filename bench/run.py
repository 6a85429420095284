"""Measure Karat: `python bench/run.py [--documents N] [--growth] [--parquet-million]` prints Markdown.

Every measurement is a process of its own and takes the best of three; what it needs is made first by `corpus.py`
and kept in `bench/data` (a gigabyte and a half with a million documents). Counts that have to agree
are compared, times are only shown.
"""

from __future__ import annotations

import argparse
import math
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from os import cpu_count
from pathlib import Path
from typing import NamedTuple

from shared import Counts, Files, Outcome, files


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
    outputs = [subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout for _ in range(repeat)]
    return Measured(tuple(map(Outcome.from_json, outputs)))


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
    """Karat beside a mere parser and beside the plain implementation."""
    jobs = ("parse", "karat", "karat-matching", "plain")
    parse, karat, matching, plain = (measure(job, given) for job in jobs)
    agree(plain.counts, karat.counts)
    rows = [
        ("msgspec parses the bytes", parse.total, parse.peak_bytes),
        ("Karat, files to scores", karat.total, karat.peak_bytes),
        ("– load", karat.part("load"), None),
        ("– evaluate", karat.part("match"), None),
        ("– – of it, matching alone", matching.part("match"), None),
        ("plain, files to scores", plain.total, plain.peak_bytes),
        ("– read", plain.part("read"), None),
        ("– match", plain.part("match"), None),
    ]
    ratios = [
        ("Karat / msgspec", karat.total / parse.total, "<= 2"),
        ("plain / Karat", plain.total / karat.total, ">= 4"),
        ("plain match / Karat matching alone", plain.part("match") / matching.part("match"), ">= 10"),
        ("plain match / Karat evaluate", plain.part("match") / karat.part("match"), ""),
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
                ("", "seconds", "µs/document", "peak MB"),
                [(name, f"{s:.3f}", f"{s / documents * 1e6:.1f}", _megabytes(peak)) for name, s, peak in rows],
            ),
            table(("ratio", "measured", "target"), [(name, f"{value:.2f}", goal) for name, value, goal in ratios]),
            table(("", "relation", "tp", "fp", "fn", "micro F1", "macro F1"), counts),
        ]
    )


def _megabytes(peak: int | None) -> str:
    return "" if peak is None else f"{peak / 1e6:,.0f}"


def growth(folder: Path, sizes: Iterable[tuple[str, int]]) -> str:
    """Karat from files to scores as corpora grow."""
    rows = []
    for kind, documents in sizes:
        given = ensure(folder, documents, kind)
        job = "karat" if kind == "jsonl" else "karat-without-text"
        found = measure(job, given, repeat=3 if documents <= 100_000 else 1)
        parts = [f"{found.part(name):.3f}" for name in ("load", "match")]
        per_document = f"{found.total / documents * 1e6:.1f}"
        cells = (kind, f"{documents:,}", f"{given.size / 1e6:,.1f}", f"{found.total:.3f}", *parts, per_document)
        rows.append((*cells, _megabytes(found.peak_bytes)))
    head = ("from", "documents", "MB", "seconds", "load", "evaluate", "µs/document", "peak MB")
    return "\n\n".join(["## Growth", table(head, rows)])


def conventions(folder: Path) -> str:
    """neleval's measures and a threshold curve."""
    small, large = ensure(folder, 1_000, "jsonl"), ensure(folder, 100_000, "jsonl")
    measures, curve = measure("neleval", small, repeat=1), measure("curve", large)
    rows = [
        ("neleval's 19 measures, 5 systems, 1,000 documents, 1,000 resamples", measures.part("score"), "<= 10 s"),
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
            table(("", "seconds", "target"), [(name, f"{seconds:.3f}", goal) for name, seconds, goal in rows]),
            table(("ratio", "measured", "target"), [(name, f"{value:.2f}", goal) for name, value, goal in ratios]),
        ]
    )


def formats(folder: Path) -> str:
    """Other formats beside the bare parse of their bytes."""
    found = measure("formats", ensure(folder, 10_000, "jsonl"))
    rows = [
        (name, f"{found.part(f'bare {name}'):.3f}", f"{found.part(name):.3f}", f"{ratio:.2f}", goal)
        for name, goal in (("NIF", "<= 1.5"), ("ELEVANT", "<= 5"))
        for ratio in [found.part(name) / found.part(f"bare {name}")]
    ]
    head = ("10,000 documents", "bare parse, seconds", "into columns", "ratio", "target")
    return "\n\n".join(["## Formats", table(head, rows)])


def start() -> str:
    """How long it takes until anything happens."""
    commands = {
        "`python -c pass`": ("-c", "pass"),
        "`import karat`": ("-c", "import karat"),
        "`python -m karat --help`": ("-m", "karat", "--help"),
    }
    rows = [(name, f"{started(arguments) * 1e3:.0f}") for name, arguments in commands.items()]
    return "\n\n".join(["## Start", table(("median of 5", "ms"), rows)])


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


def main() -> None:
    """Measure what the arguments ask for."""
    parser = argparse.ArgumentParser(description="Measure Karat and print Markdown.")
    parser.add_argument("--documents", type=int, default=100_000, help="size of the comparison")
    parser.add_argument("--growth", action="store_true", help="also 1k to 100k documents, JSONL and Parquet")
    parser.add_argument("--parquet-million", action="store_true", help="also a million documents from Parquet")
    parser.add_argument("--data", type=Path, default=Path(__file__).parent / "data", help="folder for the corpora")
    given = parser.parse_args()
    print(
        f"# Benchmark\n\n{machine()}; best of three (a million documents: once), each in a fresh process.\n", flush=True
    )
    print(compare(ensure(given.data, given.documents, "jsonl"), given.documents), end="\n\n", flush=True)
    print(conventions(given.data), end="\n\n", flush=True)
    print(formats(given.data), end="\n\n", flush=True)
    chosen = sizes(growing=given.growth, million=given.parquet_million)
    if chosen:
        print(growth(given.data, chosen), end="\n\n", flush=True)
    print(start())


if __name__ == "__main__":
    main()
