"""How runs went, as people and programs read it: times, costs, failures, and what to look at next."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from statistics import mean, stdev
from typing import Literal

from karat.errors import cut
from karat.fitting import counted, wrapped
from karat.model.result import Result
from karat.pages.files import Written, indented
from karat.pages.tables import aligned
from karat.running.run import Ran

_ERRORS = 5  # of each system that are shown
_SHOWN = 90  # characters of an error


class RanFile(Written, frozen=True, kw_only=True, omit_defaults=True):
    """One system on one dataset."""

    system: str
    dataset: str
    file: str
    documents: int
    cached: int
    failed: dict[str, list[str]]
    manifest: dict[str, str]
    clock: str = ""
    seconds: dict[str, float]
    cpu_seconds: float | None = None
    peak_bytes: int | None = None
    tokens: int | None = None
    cost: float | None = None
    counts: dict[str, int]
    measures: dict[str, float | None]


class RunsFile(Written, frozen=True):
    """What `karat run --json` writes."""

    layout: Literal["karat-runs/1"]
    runs: list[RanFile]


def runs_json(rans: Sequence[Ran], results: Sequence[Result], files: Sequence[str]) -> bytes:
    """Runs with their files, as JSON."""
    rows = zip(rans, results, files, strict=True)
    return indented(RunsFile("karat-runs/1", [_row(*row) for row in rows]))


def _row(ran: Ran, result: Result, file: str) -> RanFile:
    times = ran.times
    seconds = {} if times is None else {name: getattr(times, name) for name in times.__slots__ if name != "documents"}
    return RanFile(
        system=ran.system,
        dataset=ran.corpus,
        file=file,
        documents=ran.documents,
        cached=ran.cached,
        failed={error: list(ids) for error, ids in ran.failed.items()},
        manifest=dict(ran.run.about),
        clock=ran.clock,
        seconds=seconds,
        cpu_seconds=ran.cpu,
        peak_bytes=ran.peak,
        tokens=ran.tokens,
        cost=ran.cost,
        counts=dict(ran.run.skipped),
        measures={name: result[name] for name in result.shown},
    )


def runs_page(rans: Sequence[Ran], width: int | None = None) -> str:
    """The table of times and costs, and below it what failed and why."""
    many = len({ran.corpus for ran in rans}) > 1
    rows = [_HEADS]
    for ran in rans:
        times = ran.times
        cells = ["–"] * 3 if times is None else [duration(times.median), duration(times.p95), duration(times.total)]
        spent = ["–" if ran.cpu is None else duration(ran.cpu), "–" if not ran.peak else f"{ran.peak / 1e6:,.0f} MB"]
        rows.append(
            [
                f"{ran.system} on {ran.corpus}" if many else ran.system,
                *[f"{ran.documents:,}", f"{ran.cached:,}", f"{ran.failures:,}", *cells, *spent],
                "–" if ran.tokens is None else f"{ran.tokens:,}",
                "–" if ran.cost is None else f"{ran.cost:,.4f}",
            ]
        )
    kept = [place for place in range(len(_HEADS)) if place < 7 or any(row[place] != "–" for row in rows[1:])]
    blocks: list[str] = [aligned([[row[place] for place in kept] for row in rows], width=width)]
    blocks += [
        "\n".join(wrapped(line, width) for line in lines) for lines in (_sources(rans), _failures(rans)) if lines
    ]
    return "\n\n".join(blocks) + "\n"


_HEADS = [
    "time and cost",
    "documents",
    "from cache",
    "failed",
    "median",
    "p95",
    "total",
    "CPU",
    "memory",
    "tokens",
    "cost",
]


def _sources(rans: Sequence[Ran]) -> list[str]:
    """Where times come from, each once; and mentions, where some systems were given them."""
    mentions = _by(rans, lambda ran: ran.run.about.get("mentions", ""))
    given = [f"mentions: {how}: {names}" for how, names in mentions.items()] if "given" in mentions else []
    return [*given, *(f"times: {clock}: {names}" for clock, names in _by(rans, _clock).items())]


def _clock(ran: Ran) -> str:
    """Where its times come from, and how many documents took no longer than the empty request that was taken off."""
    if ran.times is None:
        return ""
    none = sum(reply.seconds == 0 for reply in ran.run) if "seconds of an empty request" in ran.run.about else 0
    return ran.clock + (f" ({none:,} of {ran.times.documents:,} took no longer)" if none else "")


def _by(rans: Sequence[Ran], what: Callable[[Ran], str]) -> dict[str, str]:
    """The systems of which something is said, by what is said."""
    found: dict[str, list[str]] = {}
    for ran in rans:
        if what(ran):
            found.setdefault(what(ran), []).append(ran.system)
    return {said: ", ".join(dict.fromkeys(names)) for said, names in found.items()}


def _failures(rans: Sequence[Ran]) -> list[str]:
    lines = []
    for ran in rans:
        for error, ids in list(ran.failed.items())[:_ERRORS]:
            some = ", ".join(ids[:3]) + (", …" if len(ids) > 3 else "")
            lines.append(f"{ran.system} on {ran.corpus}: {len(ids):,} failed: {cut(error, _SHOWN)} ({some})")
        more = len(ran.failed) - _ERRORS
        if more > 0:
            lines.append(f"{ran.system} on {ran.corpus}: {counted(more, 'more error')}: the file of answers has all")
    failed, final = sum(ran.failures for ran in rans), sum(ran.final for ran in rans)
    if failed > final:
        lines.append("The same command asks again for what failed, and for nothing else.")
    if final:
        lines.append(
            f"{counted(final, 'error')} of these cannot change by asking again: --fresh asks about everything."
        )
    return lines


def duration(seconds: float) -> str:
    """Seconds in a unit in which they are easy to read."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 120 else f"{seconds / 60:,.1f} min"


def repeats_page(results: Mapping[str, Sequence[Result]], width: int | None = None) -> str:
    """How much scores vary over repeated runs of the same system."""
    rows = [["repeated runs", "measure", "runs", "mean", "sd", "least", "most"]]
    for name, every in results.items():
        for measure in every[0].headline.values():
            values = [100 * value for result in every if (value := result[measure]) is not None]
            if len(values) > 1:
                figures = [mean(values), stdev(values), min(values), max(values)]
                rows.append([name, measure, str(len(values)), *(f"{figure:.1f}" for figure in figures)])
    return str(aligned(rows, (0, 1), width)) + "\n" if len(rows) > 1 else ""


def next_page(
    files: Sequence[tuple[str, Sequence[str]]], conventions: Sequence[str] = (), width: int | None = None
) -> str:
    """The commands that open the cases of each dataset, and compare its systems, by the same conventions."""
    lines = ["Look at the cases:"]
    for gold, answers in files:
        words = [*map(shlex.quote, answers), *conventions]
        lines += _command(["karat show", shlex.quote(gold), *words, "--outcome wrong"], width)
        if len(answers) > 1:
            lines += _command(["karat compare", f"--gold {shlex.quote(gold)}", *words], width)
    return "\n".join(lines) + "\n"


def _command(words: Sequence[str], width: int | None) -> list[str]:
    """A command that can be copied, over several lines where it is long."""
    lines = [f"  {words[0]}"]
    for word in words[1:]:
        if width is not None and len(lines[-1]) + len(word) + 3 > width:
            lines[-1] += " \\"
            lines.append(f"    {word}")
        else:
            lines[-1] += f" {word}"
    return lines
