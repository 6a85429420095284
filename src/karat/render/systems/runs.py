"""Runs of systems, as text and JSON: times, costs, failures and next commands."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from statistics import mean, stdev

from karat.model.counts.skip_counter import name_locations
from karat.model.errors import shorten
from karat.model.output.json_files import JsonFile, JsonRecord, build_record, encode_indented
from karat.model.output.text_layout import format_count, wrap_text
from karat.model.results.result import Result
from karat.render.tables import UNDEFINED, draw_text
from karat.systems.running.nil_tuning import TunedNil
from karat.systems.running.run import SystemRun

_MAX_ERRORS = 5  # errors listed per system
_MAX_ERROR_LENGTH = 300  # characters of an error


class RunRecord(JsonRecord, frozen=True, kw_only=True, omit_defaults=True):
    """A run of one system on one dataset."""

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


class RunsFile(JsonFile, frozen=True, tag="karat-runs/2"):
    """The output of `karat run --json`."""

    runs: list[RunRecord]


def to_json(system_runs: Sequence[SystemRun], results: Sequence[Result], files: Sequence[str]) -> bytes:
    """Encode runs with their results and prediction files, in the same order, as indented JSON."""
    rows = zip(system_runs, results, files, strict=True)
    return encode_indented(RunsFile([_build_record(*row) for row in rows]))


def _build_record(system_run: SystemRun, result: Result, file: str) -> RunRecord:
    """Return the JSON record of a run; `file`: path of its predictions."""
    times = system_run.times
    seconds = {} if times is None else {name: getattr(times, name) for name in times.__slots__ if name != "n_documents"}
    summary = {"total": system_run.total_seconds, "mean": system_run.mean_seconds}
    seconds |= {name: value for name, value in summary.items() if value is not None}
    return build_record(
        RunRecord,
        system_run,
        dataset=system_run.corpus,
        file=file,
        documents=system_run.n_documents,
        cached=system_run.n_cached,
        failed={error: list(ids) for error, ids in system_run.documents_by_error.items()},
        manifest=dict(system_run.run.metadata),
        seconds=seconds,
        peak_bytes=system_run.peak_memory,
        counts=name_locations(system_run.run.skipped),
        measures={name: result[name] for name in result.table_measures},
    )


def render_page(system_runs: Sequence[SystemRun], width: int | None = None, *, details: bool = False) -> str:
    """Render a table of the times and costs of runs, then notes on how times were measured, and failures.

    `width`: columns to wrap at; None does not wrap. `details`: whether to print all errors in full.
    """
    has_datasets = len({system_run.corpus for system_run in system_runs}) > 1
    rows = [_COLUMNS]
    for system_run in system_runs:
        times = system_run.times
        durations = (*((None, None) if times is None else (times.median, times.p95)), system_run.total_seconds)
        cells = [UNDEFINED if seconds is None else format_duration(seconds) for seconds in durations]
        resources = [
            UNDEFINED if system_run.cpu_seconds is None else format_duration(system_run.cpu_seconds),
            UNDEFINED if not system_run.peak_memory else f"{system_run.peak_memory / 1e6:,.0f} MB",
        ]
        rows.append(
            [
                f"{system_run.system} on {system_run.corpus}" if has_datasets else system_run.system,
                *[
                    f"{system_run.n_documents:,}",
                    f"{system_run.n_cached:,}",
                    f"{system_run.n_failures:,}",
                    *cells,
                    *resources,
                ],
                UNDEFINED if system_run.tokens is None else f"{system_run.tokens:,}",
                UNDEFINED if system_run.cost is None else f"{system_run.cost:,.4f}",
            ]
        )
    columns = [column for column in range(len(_COLUMNS)) if column < 7 or any(row[column] != "–" for row in rows[1:])]
    blocks: list[str] = [draw_text([[row[column] for column in columns] for row in rows], width=width)]
    blocks += [
        "\n".join(wrap_text(line, width) for line in lines)
        for lines in (_format_sources(system_runs), _format_failures(system_runs, details=details))
        if lines
    ]
    return "\n\n".join(blocks) + "\n"


_COLUMNS = [
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


def _format_sources(system_runs: Sequence[SystemRun]) -> list[str]:
    """Return lines on how times were measured and, if some systems got gold mentions, on the source of mentions."""
    mentions = _group_systems(system_runs, lambda system_run: system_run.run.metadata.get("mentions", ""))
    mention_lines = [f"mentions: {source}: {names}" for source, names in mentions.items()] if "gold" in mentions else []
    return [
        *mention_lines,
        *(f"times: {clock}: {names}" for clock, names in _group_systems(system_runs, _format_clock).items()),
        *(f"memory: {scope}: {names}" for scope, names in _group_systems(system_runs, _format_memory_scope).items()),
        *(_format_cached(system_run) for system_run in system_runs if system_run.cached_period is not None),
    ]


def _format_clock(system_run: SystemRun) -> str:
    """Return how times were measured; empty without times."""
    return "" if system_run.total_seconds is None else system_run.clock


def _format_memory_scope(system_run: SystemRun) -> str:
    """Return whose peak memory was measured; empty if none was."""
    if not system_run.peak_memory:
        return ""
    is_karat = system_run.includes_karat
    return "peak, including Karat and systems run before" if is_karat else "peak of a started process"


def _format_cached(system_run: SystemRun) -> str:
    """Return when the cached responses of a service arrived, and how to replace them."""
    assert system_run.cached_period is not None
    first, last = (timestamp[:16].replace("T", " ") for timestamp in system_run.cached_period)
    period = first if first == last else f"{first} to {last}"
    return (
        f"from cache: {system_run.n_cached:,} of {system_run.n_documents:,} responses of {system_run.system} on "
        f"{system_run.corpus}, received {period} UTC. If the service has changed since, add --no-cache."
    )


def _group_systems(system_runs: Sequence[SystemRun], get_value: Callable[[SystemRun], str]) -> dict[str, str]:
    """Return the names of the systems, joined by commas, for each non-empty value of `get_value`."""
    systems: dict[str, list[str]] = {}
    for system_run in system_runs:
        if get_value(system_run):
            systems.setdefault(get_value(system_run), []).append(system_run.system)
    return {value: ", ".join(dict.fromkeys(names)) for value, names in systems.items()}


def _format_failures(system_runs: Sequence[SystemRun], *, details: bool) -> list[str]:
    """Return lines on the errors of each run, with example documents, and on what a retry can change.

    `details`: whether to return all errors in full.
    """
    lines = []
    for system_run in system_runs:
        n_listed = len(system_run.documents_by_error) if details else _MAX_ERRORS
        for error, ids in list(system_run.documents_by_error.items())[:n_listed]:
            examples = ", ".join(ids[:3]) + (", …" if len(ids) > 3 else "")
            message = error if details else shorten(error, _MAX_ERROR_LENGTH)
            lines.append(f"{system_run.system} on {system_run.corpus}: {len(ids):,} failed: {message} ({examples})")
        n_more = len(system_run.documents_by_error) - n_listed
        if n_more > 0:
            errors = format_count(n_more, "more error")
            lines.append(f"{system_run.system} on {system_run.corpus}: {errors}: add --details")
    failed, final = (
        sum(system_run.n_failures for system_run in system_runs),
        sum(system_run.n_final_errors for system_run in system_runs),
    )
    if failed > final:
        lines.append("Correct the cause and repeat the command to retry only the failed documents.")
    if final:
        lines.append(
            f"{format_count(final, 'error')} of these will not change on retry. --no-cache repeats all requests."
        )
    return lines


def format_duration(seconds: float) -> str:
    """Format seconds in a readable unit: µs, ms, s or min."""
    for unit, factor in (("µs", 1e6), ("ms", 1e3)):
        if seconds * factor < 999.5:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s" if seconds < 120 else f"{seconds / 60:,.1f} min"


def render_repetitions(results: Mapping[str, Sequence[Result]], width: int | None = None) -> str:
    """Render a table of the mean, standard deviation and range of scores over repeated runs of each system.

    `results`: results of all runs, by system. Empty text if no system has two defined scores. `width`: columns to wrap
    at; None does not wrap.
    """
    rows = [["repeated runs", "measure", "runs", "mean", "sd", "min", "max"]]
    for name, repetitions in results.items():
        for measure in repetitions[0].headline.values():
            values = [100 * value for result in repetitions if (value := result[measure]) is not None]
            if len(values) > 1:
                figures = [mean(values), stdev(values), min(values), max(values)]
                rows.append([name, measure, str(len(values)), *(f"{figure:.1f}" for figure in figures)])
    return str(draw_text(rows, (0, 1), width)) + "\n" if len(rows) > 1 else ""


def render_tuned_nil(tuned: Sequence[TunedNil], width: int | None = None) -> str:
    """Render tuned NIL thresholds as a table, with the scores on the development corpus without and with each."""
    header = ["system", "nil", f"{tuned[0].measure} on {tuned[0].dev}", "without nil"]
    rows = [
        [result.system, f"{result.threshold:g}", _format_score(result.score), _format_score(result.score_before)]
        for result in tuned
    ]
    return draw_text([header, *rows], width=width) + "\n"


def _format_score(score: float | None) -> str:
    """Return a score in percent; `–` if it is undefined."""
    return UNDEFINED if score is None else f"{100 * score:.1f}"


def render_next_commands(
    files: Sequence[tuple[str, Sequence[str]]], conventions: Sequence[str] = (), width: int | None = None
) -> str:
    """Render commands that show the cases of each dataset and, with several predictions, compare its systems.

    `files`: pairs of a gold file and its prediction files. `conventions`: options that are appended to each command.
    `width`: columns to wrap at; None does not wrap.
    """
    lines = ["Look at the cases:"]
    for gold, predictions in files:
        arguments = [*map(shlex.quote, predictions), *conventions]
        lines += _format_command(["karat show", shlex.quote(gold), *arguments, "--outcome wrong"], width)
        if len(predictions) > 1:
            lines += _format_command(["karat compare", f"--gold {shlex.quote(gold)}", *arguments], width)
    return "\n".join(lines) + "\n"


def render_text_commands(files: Sequence[tuple[str, Sequence[str]]], width: int | None = None) -> str:
    """Render commands that write the predictions for texts without gold labels into the texts, and annotate the texts.

    `files`: pairs of a file of texts and its prediction files. `width`: columns to wrap at; None does not wrap.
    """
    lines = ["The texts have no gold labels. Look at the predictions, or annotate the texts:"]
    for texts, predictions in files:
        for file in predictions:
            folder = str(PurePath(file).with_suffix(""))
            options = ["--to brat", "--as gold", f"--gold {shlex.quote(texts)}"]
            lines += _format_command(["karat data convert", shlex.quote(file), shlex.quote(folder), *options], width)
        arguments = [f"--predictions {shlex.quote(file)}" for file in predictions]
        project = shlex.quote(PurePath(texts).stem)
        lines += _format_command(["karat annotate create", project, f"--texts {shlex.quote(texts)}", *arguments], width)
    return "\n".join(lines) + "\n"


def _format_command(parts: Sequence[str], width: int | None) -> list[str]:
    """Return the lines of a command, wrapped with backslashes so that it can be copied.

    `width`: columns to wrap at; None does not wrap.
    """
    lines = [f"  {parts[0]}"]
    for part in parts[1:]:
        if width is not None and len(lines[-1]) + len(part) + 3 > width:
            lines[-1] += " \\"
            lines.append(f"    {part}")
        else:
            lines[-1] += f" {part}"
    return lines
