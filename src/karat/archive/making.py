"""Systems on datasets into an archive: scored with all cases under one profile, and under others for their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow.parquet as pq

from karat.archive.archive import BLANK, TEXTS_ARE, ArchiveAddition, ArchiveEntry
from karat.archive.credits import credits_of
from karat.archive.verdicts import ERROR, cases_of, splitting, type_names
from karat.comparison.entries import Entry
from karat.comparison.grid import MEASURE
from karat.curves.alpha import alpha_curve, alphas
from karat.curves.calibration import scored_answers
from karat.curves.categories import category_curve
from karat.curves.threshold import curve
from karat.errors import KaratError, UsageError
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.explanation.why import why
from karat.model.corpus import WITHOUT_TEXT, Corpus
from karat.model.document import GOLD_LAYOUT, Header
from karat.model.name import parse_measure
from karat.model.result import Result
from karat.model.run import Run
from karat.model.tables.arrow import Arrow
from karat.pages.curves import alpha_json, category_json, coverage_json, threshold_json
from karat.pages.why import json_of as why_json
from karat.signing import profile_named
from karat.spec.choices.task import TASKS
from karat.storage.addressed import ArchiveFiles


@dataclass(frozen=True, slots=True)
class Filling:
    """What goes into an archive besides scores and cases: numbers under other profiles, and reasons of some."""

    profiles: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    resamples: int = 1000


def fill(
    files: ArchiveFiles, entries: Iterable[Entry], request: Request | None = None, filling: Filling | None = None
) -> str:
    """Score every system on every dataset and add what was found, all or nothing; say what the addition is called."""
    return add(files, filled(files, entries, request, filling))


def add(files: ArchiveFiles, addition: ArchiveAddition) -> str:
    """Let entries be there from now on."""
    return files.put("additions", msgspec.json.encode(addition))


def filled(
    files: ArchiveFiles, entries: Iterable[Entry], request: Request | None = None, filling: Filling | None = None
) -> ArchiveAddition:
    """Score and keep, but add nothing yet: nobody sees files that no addition names. Results are kept as they are."""
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
    digests = [files.put("entries", msgspec.json.encode(found)) for found in kept]
    return ArchiveAddition(added=datetime.now(UTC).isoformat(timespec="microseconds"), entries=digests)


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
    """The evaluation with intervals; where links are compared also with error categories, and split by labels."""
    corpus, run = _sides(entry)
    drawn = request.but(draw=request.draw._replace(resamples=request.draw.resamples or filling.resamples))
    labels = tuple(dict.fromkeys([*request.given["by"], ERROR, *splitting(request, corpus)]))
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
    cases = cases_of(made, view) if corpus.has_text and _is_of_mentions(made, measure) else None
    curves, uncurved = _curves(files, made, corpus, run)
    yield _kept(
        files,
        entry,
        made.result,
        verdicts=None if cases is None else files.put("verdicts", _parquet(cases)),
        credits=None if cases is None else _credits(files, cases, made.request, corpus, run),
        texts=files.put("texts", _jsonl(corpus)) if corpus.has_text else None,
        curves=curves,
        uncurved=uncurved,
        reasons=_reasons(files, made.request, measure, corpus, run, filling.reasons),
        refused=refused,
        types=type_names(corpus, made.request.kb),
    )
    for other in others.values():
        yield _kept(files, entry, other)


def _credits(files: ArchiveFiles, cases: Arrow, request: Request, corpus: Corpus, run: Run) -> str:
    return files.put("credits", msgspec.json.encode(credits_of(cases, request, corpus, run)))


def _is_of_mentions(made: Evaluation, measure: str) -> bool:
    """Whether the cases of a measure stand in the text: not entities of documents, nor clusters."""
    name = parse_measure(measure).view
    plan = made.plans.views.get(str(name))
    task = TASKS[name.task or made.request.conventions.task_name]
    if plan is None or task.source != "mentions":
        return False
    return not plan.weights_are_whole and plan.relation.level != "document"


def _under(profile: str, request: Request) -> Request:
    """Another profile with the same knowledge base, which is no choice of a profile."""
    return Request.of(like=profile, kb=request.kb, allow_unknown=request.allow_unknown)


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


def _curves(files: ArchiveFiles, made: Evaluation, corpus: Corpus, run: Run) -> tuple[str | None, dict[str, str]]:
    """Scores over the threshold, coverage, alpha and categories; and why there is no such curve."""
    request = made.request
    view = parse_measure(headline(made.result)).view
    choices = {name: word for name, word in request.given["choices"].items() if name not in ("threshold", "match")}
    known = {"match": view.relation, "choices": choices, "kb": request.kb, "allow_unknown": request.allow_unknown}
    lines, refused = [], {}
    for over, drawn in _CURVES.items():
        try:
            if view.filters or view.task or view.relation.endswith(".py"):
                raise UsageError(f"a curve is that of one relation, and {view} is more than that.")
            lines.append(drawn(corpus, run, request.profile, known))
        except KaratError as problem:
            refused[over] = str(problem)
    return files.put("curves", b"".join(lines)) if lines else None, refused


def _over_threshold(corpus: Corpus, run: Run, profile: str, known: Mapping[str, Any]) -> bytes:
    _check_scores(run)
    return threshold_json([curve(corpus, run, like=profile, **known)], "micro.f1")


def _over_coverage(corpus: Corpus, run: Run, profile: str, known: Mapping[str, Any]) -> bytes:
    _check_scores(run)
    return coverage_json([scored_answers(corpus, run, like=profile, **known)])


def _check_scores(run: Run) -> None:
    if np.isnan(run.answers.score()).all():
        raise UsageError("the answers have no scores.")


def _over_alpha(corpus: Corpus, run: Run, _: str, known: Mapping[str, Any]) -> bytes:
    """As the fine-grained paper has it, whose figure it is."""
    own = {**known, "choices": {}}
    return alpha_json([alpha_curve(corpus, run, **own)], "micro.f1", alphas(50))


def _over_categories(corpus: Corpus, run: Run, _: str, known: Mapping[str, Any]) -> bytes:
    own = {**known, "choices": {}}
    return category_json([category_curve(corpus, run, **own)])


_CURVES: Final[Mapping[str, Callable[[Corpus, Run, str, Mapping[str, Any]], bytes]]] = {
    "threshold": _over_threshold,
    "coverage": _over_coverage,
    "alpha": _over_alpha,
    "categories": _over_categories,
}
"""What is drawn over what."""


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
