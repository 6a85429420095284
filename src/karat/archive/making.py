"""Systems on datasets into an archive: scored with all cases under one profile, and under others for their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from karat.archive.archive import BLANK, TEXTS_ARE, ArchiveEntry
from karat.comparison.entries import Entry
from karat.comparison.grid import MEASURE
from karat.curves.calibration import scored_answers
from karat.curves.threshold import curve
from karat.errors import KaratError, UsageError
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.explanation.why import why
from karat.kb.protocol import KB
from karat.model.corpus import WITHOUT_TEXT, Corpus
from karat.model.document import GOLD_LAYOUT, Header
from karat.model.name import parse_measure
from karat.model.result import Result
from karat.model.run import Run
from karat.model.tables.arrow import Arrow
from karat.pages.curves import coverage_json, threshold_json
from karat.pages.why import json_of as why_json
from karat.signing import profile_named
from karat.spec.choices.task import TASKS
from karat.storage.addressed import ArchiveFiles

ERROR = "error"
"""The label of error categories."""

MOST_CANDIDATES = 20
"""How many candidates of an answer are kept."""


@dataclass(frozen=True, slots=True)
class Filling:
    """What goes into an archive besides scores and cases: numbers under other profiles, and reasons of some."""

    profiles: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    resamples: int = 1000


def fill(
    files: ArchiveFiles, entries: Iterable[Entry], request: Request | None = None, filling: Filling | None = None
) -> list[ArchiveEntry]:
    """Score every system on every dataset and keep what was found; results are kept as they are."""
    asked, filling = request or Request.of(), filling or Filling()
    first: dict[str, Evaluation] = {}
    met: set[tuple[str, str]] = set()
    kept = []
    for entry in entries:
        if (entry.data, entry.system) in met:
            raise UsageError(
                f"{entry.system} answers {entry.dataset} twice. Give each system once for each dataset, or rename one."
            )
        met.add((entry.data, entry.system))
        if entry.result is not None:
            kept.append(_kept(files, entry, entry.result))
            continue
        made = _evaluated(asked, entry, first.get(entry.data), filling)
        first.setdefault(entry.data, made)
        kept += _filled(files, entry, made, filling)
    for found in kept:  # at last, when everything is there that they name
        files.put("entries", msgspec.json.encode(found))
    return kept


def results(entries: Iterable[Entry], request: Request) -> list[Result]:
    """The scores of every system on every dataset."""
    found = []
    for entry in entries:
        if entry.result is not None:
            found.append(entry.result)
        else:
            found.append(Evaluation.of(request, *_sides(entry)).result)
    return found


def headline(result: Result) -> str:
    """The measure that pages show first: F1 of links, or what comes nearest to it in the profile."""
    if MEASURE in result.shown:
        return MEASURE
    if result.headline:
        return next(iter(result.headline.values()))
    single = [name for name in result.shown if parse_measure(name).group is None]
    return next((name for name in single if name.endswith(":micro.f1")), single[0] if single else MEASURE)


def _kept(files: ArchiveFiles, entry: Entry, result: Result, **parts: object) -> ArchiveEntry:
    measure = headline(result)
    return ArchiveEntry(
        system=entry.system,
        dataset=entry.dataset,
        data=entry.data,
        profile=result.profile,
        measure=measure,
        view=str(parse_measure(measure).view),
        result=files.put("results", result.to_json()),
        title=entry.title,
        seconds=entry.seconds,
        **parts,  # type: ignore[arg-type]  # the files of an entry
    )


def _sides(entry: Entry) -> tuple[Corpus, Run]:
    assert entry.corpus is not None, "an entry is a result, or has both sides"
    assert entry.run is not None, "likewise"
    return entry.corpus, entry.run


def _evaluated(request: Request, entry: Entry, beside: Evaluation | None, filling: Filling) -> Evaluation:
    """The evaluation with intervals, and with error categories where links are compared."""
    corpus, run = _sides(entry)
    drawn = request.but(draw=request.draw._replace(resamples=request.draw.resamples or filling.resamples))
    labels = tuple(dict.fromkeys([*request.given["by"], ERROR]))
    made = Evaluation.of(drawn.but(by=labels), corpus, run, beside=beside)
    plans = made.plans
    return made if plans.stages or plans.unstaged else Evaluation.of(drawn, corpus, run, beside=beside)


def _filled(files: ArchiveFiles, entry: Entry, made: Evaluation, filling: Filling) -> Iterator[ArchiveEntry]:
    corpus, run = _sides(entry)
    others: dict[str, Result] = {}
    refused: dict[str, str] = {}
    for name in filling.profiles:
        if name != made.request.profile:
            try:
                others[name] = Evaluation.of(_under(name, made.request), corpus, run).result
            except KaratError as problem:  # data of another task
                refused[name] = str(problem)
    measure = headline(made.result)
    view = str(parse_measure(measure).view)
    cased = corpus.has_text and _is_of_mentions(made, measure)
    yield _kept(
        files,
        entry,
        made.result,
        verdicts=files.put("verdicts", _parquet(_cases(made, view))) if cased else None,
        texts=files.put("texts", _jsonl(corpus)) if corpus.has_text else None,
        curves=_curves(files, made, corpus, run),
        reasons=_reasons(files, made.request, measure, corpus, run, filling.reasons),
        refused=refused,
        types=_types(corpus, made.request.kb),
    )
    for other in others.values():
        yield _kept(files, entry, other)


def _is_of_mentions(made: Evaluation, measure: str) -> bool:
    """Whether the cases of a measure stand in the text: not entities of documents, nor clusters."""
    name = parse_measure(measure).view
    plan = made.plans.views.get(str(name))
    task = TASKS[name.task or made.request.conventions.task_name]
    if plan is None or task.source != "mentions":
        return False
    return not plan.weights_are_whole and plan.relation.level != "document"


def _types(corpus: Corpus, kb: KB | None) -> dict[str, str]:
    """The names of types that a knowledge base knows."""
    column = corpus.labels.field("types")
    if column is None or kb is None:
        return {}
    types = sorted({each for each in column.flatten().to_pylist() if each is not None})
    return {id: name for id, name in zip(types, kb.names(types), strict=True) if name}


def _under(profile: str, request: Request) -> Request:
    """Another profile with the same knowledge base, which is no choice of a profile."""
    return Request.of(like=profile, kb=request.kb, allow_unknown=request.allow_unknown)


def _cases(made: Evaluation, view: str) -> Arrow:
    """The cases of a view, with names of entities and the candidates that answers had.

    `gold` is the alternative that was looked at, `mention` the label that stands for all of them.
    """
    table = made.table(view).drop_columns(["view"])
    source = made.plans.views[view].source
    pairing = made.sides.pairing(source)
    facts, run = made.sides.facts_of(source), pairing.run
    table = _added(table, "mention", "gold", pairing.units.unit.tolist(), pa.int64())
    table = _added(table, "gold_name", "gold", list(facts.gold.names))
    table = _added(table, "answer_name", "answer", facts.called(by_labels=True))
    candidates = run.answers.field("candidates")
    if candidates is None:
        return table
    listed = [[one["entity"] for one in (each or ())[:MOST_CANDIDATES]] for each in candidates.to_pylist()]
    return _added(table, "candidates", "answer", listed, pa.list_(pa.string()))


def _added(table: Arrow, name: str, row: str, values: Sequence[object], kind: Arrow | None = None) -> Arrow:
    """A column of what labels or answers have, by their rows."""
    if name in table.column_names:
        return table
    column = pa.array(values, kind or pa.string())
    return table.append_column(name, column.take(table.column(row).combine_chunks()))


def _parquet(table: Arrow) -> bytes:
    file = BytesIO()
    pq.write_table(table.replace_schema_metadata({"layout": "karat-verdicts/1"}), file, compression="zstd")
    return file.getvalue()


def _jsonl(corpus: Corpus) -> bytes:
    about = dict(corpus.about)
    if corpus.skipped.get(WITHOUT_TEXT):
        about[TEXTS_ARE] = BLANK
    encode = msgspec.json.Encoder().encode
    return b"\n".join(map(encode, [Header(GOLD_LAYOUT, {"name": corpus.name, **about}), *corpus])) + b"\n"


def _curves(files: ArchiveFiles, made: Evaluation, corpus: Corpus, run: Run) -> str | None:
    """Scores over the threshold and over coverage, where answers have scores and one relation is asked for."""
    request = made.request
    view = parse_measure(headline(made.result)).view
    if np.isnan(run.answers.score()).all() or view.filters or view.task or view.relation.endswith(".py"):
        return None
    choices = {name: word for name, word in request.given["choices"].items() if name != "threshold"}
    choices.pop("match", None)
    known = {"like": request.profile, "match": view.relation, "choices": choices, "kb": request.kb}
    try:
        lines = [
            threshold_json([curve(corpus, run, **known)], "micro.f1"),  # type: ignore[arg-type]
            coverage_json([scored_answers(corpus, run, **known)]),  # type: ignore[arg-type]
        ]
    except UsageError:  # no view of this kind has a curve
        return None
    return files.put("curves", b"".join(lines))


def _reasons(
    files: ArchiveFiles, request: Request, measure: str, corpus: Corpus, run: Run, profiles: Sequence[str]
) -> dict[str, str]:
    """Why other profiles have other numbers, by their names."""
    found = {}
    for theirs in profiles:
        told = why(
            corpus,
            run,
            theirs=theirs,
            ours=request.profile,
            measure=measure,
            our_choices=request.given["choices"],
            kb=request.kb,
            allow_unknown=request.allow_unknown,
        )
        found[theirs] = files.put("reasons", why_json(told))
    return found


def check_profiles(names: Sequence[str]) -> tuple[str, ...]:
    """The profiles, if there are any of these names."""
    for name in names:
        profile_named(name)
    return tuple(names)
