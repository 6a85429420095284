"""Submissions to an archive: systems scored on datasets with all cases, and under further profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from typing import Final, NamedTuple

import msgspec
import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from karat.analysis.comparison.entries import Entry, check_result
from karat.analysis.comparison.grid import choose_main_measure
from karat.analysis.curves.alpha import PAPER_SETTINGS, alpha_values, compute_alpha_curve
from karat.analysis.curves.calibration import collect_scored_predictions, request_scores
from karat.analysis.curves.categories import compute_category_curve
from karat.analysis.curves.threshold import compute_threshold_curve
from karat.analysis.explanation.gap import attribute_gap
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.document import GOLD_LAYOUT, Header
from karat.model.errors import KaratError, UsageError
from karat.model.limits import get_limit, limit_error
from karat.model.measure_name import parse_measure
from karat.model.output.progress import map_in_processes, track_progress
from karat.model.profile_signatures import get_profile
from karat.model.registry import list_plugins
from karat.model.results.result import Result
from karat.model.run import Run
from karat.model.spec.settings.task import TASKS
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Longs
from karat.render.curves import alpha_json, category_json, coverage_json, threshold_json
from karat.render.gap import to_json as why_json
from karat.storage.content_store import ContentStore, MemoryStore
from karat.web.archive.archive import BLANK_TEXT, TEXT_STATUS, ArchiveEntry, ArchiveSubmission
from karat.web.archive.credits import CreditRequests, compute_credits
from karat.web.archive.verdicts import ERROR, collect_cases, get_type_names, list_default_facets

_MIN_PARALLEL_ENTRIES: Final = 12
"""Number of systems on datasets from which several processes score them; a process takes half a second to start."""

_JOB_ENTRIES: Final = 4
"""Largest number of systems on a dataset that one process scores at a time."""

GROUP_MEASURES: Final = ("micro.p", "micro.r", "micro.f1", "micro.error-rate")
"""Measures of groups that web pages show."""

_NORMAL_PAIRS = 32  # overlapping predictions per mention; published runs have one to three


class UploadDetails(NamedTuple):
    """Details that a user states about an uploaded system; None if unknown."""

    description: str | None
    date: str | None
    """Such as 2026-01-31."""


@dataclass(frozen=True, slots=True)
class ArchiveOptions:
    """Contents of a submission in addition to scores and cases under the request's profile."""

    profiles: tuple[str, ...] = ()
    """Further profiles to score under."""
    reasons: tuple[str, ...] = ()
    """Reference profiles whose score gap is explained."""
    resamples: int = 1000
    """Number of bootstrap samples, if the request has none."""
    has_all_groups: bool = True
    """Whether results have scores and intervals by group for all views and measures; else only those of web pages."""
    upload: UploadDetails | None = None
    """Details of the system if a user uploaded it."""

    @classmethod
    def from_names(
        cls, reasons: Sequence[str] = (), *, resamples: int = 1000, one_profile: bool = False
    ) -> ArchiveOptions:
        """Return options that score under all profiles; with `one_profile` only under those whose gap is explained.

        `reasons` names the reference profiles whose gap is explained. Raise an error for an unknown profile.
        """
        checked = check_profiles(reasons)
        return cls(checked if one_profile else tuple(list_plugins("profiles")), checked, resamples)


def add_results(
    files: ContentStore, entries: Iterable[Entry], request: Request | None = None, options: ArchiveOptions | None = None
) -> str:
    """Score entries (systems on datasets), add them to an archive as one submission and return its content hash."""
    return write_submission(files, score_entries(files, entries, request, options))


def write_submission(files: ContentStore, submission: ArchiveSubmission) -> str:
    """Write a submission, which makes its entries visible in the archive, and return its content hash."""
    return files.put("submissions", msgspec.json.encode(submission))


def score_entries(
    files: ContentStore, entries: Iterable[Entry], request: Request | None = None, options: ArchiveOptions | None = None
) -> ArchiveSubmission:
    """Score entries and store their files, without making them visible; return the submission to be written.

    Entries that are results already are stored unchanged. Raise `UsageError` for two runs of a system on a dataset, and
    for a result if the request differs from the default.
    """
    entry_list, request, options = list(entries), request or Request.from_options(), options or ArchiveOptions()
    _check_pairs(entry_list)
    for entry in entry_list:
        check_result(entry, request)
        if entry.result is not None and options.reasons:
            raise UsageError(
                f"{entry.system} on {entry.dataset} is a result, so its gap to {options.reasons[0]} cannot be "
                "explained. Omit --why, or pass gold and predictions."
            )
    jobs = [_ScoringJob(indices, [entry_list[i] for i in indices]) for indices in _divide_entries(entry_list)]
    scored_entries: dict[int, list[bytes]] = {}
    set_up = partial(_start_scoring, request, options)  # in other processes
    token = _scoring.set(_Requests(request, options))
    try:
        with track_progress("scoring", len(entry_list)) as advance:
            for scored in map_in_processes(_score_job, jobs, lambda job: advance(len(job.entries)), set_up=set_up):
                scored_entries |= scored.entries
                for (kind, _), data in scored.files.items():
                    files.put(kind, data)
    finally:
        _scoring.reset(token)
    digests = [files.put("entries", entry) for index in range(len(entry_list)) for entry in scored_entries[index]]
    return ArchiveSubmission(submitted_at=datetime.now(UTC).isoformat(timespec="microseconds"), entries=digests)


def _check_pairs(entries: Iterable[Entry]) -> None:
    """Raise `UsageError` if two entries are of the same system on the same dataset."""
    seen: set[tuple[str, str]] = set()
    for entry in entries:
        if (entry.data_signature, entry.system) in seen:
            raise UsageError(
                f"{entry.system} has two runs on {entry.dataset}. Pass each system once per dataset, or rename one."
            )
        seen.add((entry.data_signature, entry.system))


def _divide_entries(entries: Sequence[Entry]) -> list[list[int]]:
    """Return the indices of the entries of each job: few systems on one dataset, which share facts about its gold.

    Few entries are one job, because another process would take longer to start than to score them. The largest jobs
    are first.
    """
    if len(entries) < _MIN_PARALLEL_ENTRIES:
        return [list(range(len(entries)))]
    by_dataset: dict[str, list[int]] = {}
    for index, entry in enumerate(entries):
        by_dataset.setdefault(entry.data_signature, []).append(index)
    jobs = [
        indices[start : start + _JOB_ENTRIES]
        for indices in by_dataset.values()
        for start in range(0, len(indices), _JOB_ENTRIES)
    ]
    return sorted(jobs, key=lambda indices: -sum(_count_items(entries[index]) for index in indices))


def _count_items(entry: Entry) -> int:
    """Return the number of labels and predictions of an entry; 0 for a result."""
    return (0 if entry.corpus is None else len(entry.corpus.labels)) + (
        0 if entry.run is None else len(entry.run.predictions)
    )


class _ScoringJob(NamedTuple):
    """Entries that one process scores."""

    indices: list[int]
    """Position of each entry among all."""
    entries: list[Entry]


class _ScoredJob(NamedTuple):
    """Archive entries of a job, by the index of the scored entry, and the files that they name."""

    entries: dict[int, list[bytes]]
    """JSON of the archive entries."""
    files: dict[tuple[str, str], bytes]
    """Content by kind and digest."""


def _score_job(job: _ScoringJob) -> _ScoredJob:
    """Score the entries of a job; later systems on a dataset share the facts about its gold standard."""
    files, requests = MemoryStore(), _scoring.get()
    upload = requests.options.upload
    datasets: dict[str, _StoredDataset] = {}
    encoded_entries: dict[int, list[bytes]] = {}
    for index, entry in zip(job.indices, job.entries, strict=True):
        if entry.result is not None:
            archive_entries = [_store_result(files, entry, entry.result)]
        else:
            dataset = datasets.get(entry.data_signature)
            evaluation = _evaluate(requests, entry, None if dataset is None else dataset.evaluation)
            if dataset is None or not dataset.is_shared_by(evaluation):
                dataset = _StoredDataset.from_evaluation(files, evaluation)
                datasets.setdefault(entry.data_signature, dataset)
            archive_entries = list(_store_evaluation(files, entry, evaluation, dataset, requests))
            evaluation.inputs.judged.clear()  # later runs share only facts about the gold standard
        if upload is not None:
            archive_entries = [
                msgspec.structs.replace(archive_entry, **upload._asdict(), is_upload=True)
                for archive_entry in archive_entries
            ]
        # Encoded here: msgspec omits defaults, but not their copies in a struct that another process sends.
        encoded_entries[index] = list(map(msgspec.json.encode, archive_entries))
    return _ScoredJob(encoded_entries, files.files)


def score_results(entries: Iterable[Entry], request: Request) -> list[Result]:
    """Return the result of each entry, in order; entries that are not results yet are scored.

    Raise `UsageError` for a result if the request differs from the default.
    """
    results = []
    for entry in entries:
        if entry.result is not None:
            check_result(entry, request)
            results.append(entry.result)
        else:
            results.append(Evaluation.from_data(request, *_get_inputs(entry), judged=entry.judged.copy()).result)
    return results


def get_headline(result: Result | Request) -> str:
    """Return the main measure of a result or request, without measures of single groups."""
    measures = [name for name in result.table_measures if parse_measure(name).group is None]
    return choose_main_measure(result.headline, measures)


def _store_result(files: ContentStore, entry: Entry, result: Result, **parts: object) -> ArchiveEntry:
    """Store a result and return its archive entry; `parts` are further fields of the entry."""
    measure = get_headline(result)
    return ArchiveEntry(
        system=entry.system,
        dataset=entry.dataset,
        data=entry.data_signature,
        profile=result.profile,
        measure=measure,
        view=str(parse_measure(measure).view),
        result=files.put("results", result.to_json()),
        title=entry.title,
        usage=result.complete_usage,
        **parts,  # type: ignore[arg-type]  # the files of an entry
    )


def _get_inputs(entry: Entry) -> tuple[Corpus, Run]:
    """Return gold standard and run of an entry that is not a result."""
    assert entry.corpus is not None, "an entry is a result, or has both sides"
    assert entry.run is not None, "likewise"
    return entry.corpus, entry.run


class _Requests:
    """The requests of a submission, each made once for all entries that share it."""

    def __init__(self, request: Request, options: ArchiveOptions) -> None:
        self.options = options
        self.with_intervals = request.replace(
            interval_options=request.interval_options._replace(
                resamples=request.interval_options.resamples or options.resamples,
                group_measures=() if options.has_all_groups else GROUP_MEASURES,
            ),
            grouped_view=None if options.has_all_groups else str(parse_measure(get_headline(request)).view),
        )
        self.credits = CreditRequests()
        self._by_facets: dict[tuple[str, ...], Request] = {}

    def with_facets(self, corpus: Corpus) -> Request:
        """Return the request with intervals, error categories and the default facets of a corpus."""
        request = self.with_intervals
        facets = tuple(dict.fromkeys([*request.requested_facets, ERROR, *list_default_facets(request, corpus)]))
        if facets not in self._by_facets:
            self._by_facets[facets] = request.replace(by=facets)
        return self._by_facets[facets]


_scoring: ContextVar[_Requests] = ContextVar("scoring")
"""The requests of the jobs that this process scores; sent once, since a knowledge base may be large."""


def _start_scoring(request: Request, options: ArchiveOptions) -> None:
    """Set the requests of the jobs that this process scores."""
    _scoring.set(_Requests(request, options))


class _StoredDataset(NamedTuple):
    """A dataset of the archive, with values that all systems on it share."""

    evaluation: Evaluation
    """The first evaluation on the dataset, whose facts about the gold standard others reuse."""
    texts: str | None
    """Content hash of the gold standard; None if it has no texts."""
    types: dict[str, str]
    """Names of its types."""

    @classmethod
    def from_evaluation(cls, files: ContentStore, evaluation: Evaluation) -> _StoredDataset:
        """Store the gold standard of the first evaluation on a dataset."""
        corpus, _ = evaluation.source.data
        texts = files.put("texts", _to_jsonl(corpus)) if corpus.has_text else None
        return cls(evaluation, texts, get_type_names(corpus, evaluation.request.kb))

    def is_shared_by(self, evaluation: Evaluation) -> bool:
        """Return whether another evaluation has the same corpus and the same knowledge base."""
        same_kb = self.evaluation.request.base_kb is evaluation.request.base_kb
        return same_kb and self.evaluation.source.data[0] is evaluation.source.data[0]


def _evaluate(requests: _Requests, entry: Entry, gold_evaluation: Evaluation | None) -> Evaluation:
    """Evaluate an entry with intervals, and with error categories and default facets if links are compared.

    `gold_evaluation` is another evaluation on the same corpus, whose facts about the gold standard are reused.
    """
    corpus, run = _get_inputs(entry)
    _check_overlaps(corpus, run, entry.system)
    evaluation = Evaluation.from_data(
        requests.with_facets(corpus),
        corpus,
        run,
        share_gold_with=gold_evaluation,
        judged=entry.judged.copy(),  # what is judged here is freed with the evaluation, not with the entry
    )
    if evaluation.inputs.run.n_invented:
        raise UsageError(
            f"{entry.system}: invented=wrong scores {evaluation.inputs.run.n_invented:,} mentions that have no place "
            "in the text, and a report shows predictions at their place. Use invented=skip, or karat score."
        )
    plans = evaluation.plans
    return evaluation if plans.stages or plans.missing_stages else evaluation.with_request(requests.with_intervals)


def _check_overlaps(corpus: Corpus, run: Run, system: str) -> None:
    """Raise `InputError` if mentions and predictions overlap too often to be judged many times.

    The limit holds for each document, and for the sum of what all documents have beyond a normal number per mention,
    because many crowded documents take as long as a large one.
    """
    max_pairs, labels = get_limit("overlaps"), corpus.labels
    n_pairs = _count_overlaps(corpus, run)
    n_surplus = np.cumsum(np.maximum(0, n_pairs - _NORMAL_PAIRS * np.diff(labels.offsets)))
    for document in np.flatnonzero((n_pairs > max_pairs) | (n_surplus > max_pairs))[:1].tolist():
        id, is_large = corpus.ids[document].as_py(), n_pairs[document] > max_pairs
        where = f"document {id!r}" if is_large else f"documents to {id!r}"
        count = n_pairs[document] if is_large else n_surplus[document]
        finding = f"{count:,} pairs of a mention and an overlapping prediction"
        raise limit_error("overlaps", f"{system}, {where}", finding, "Divide the data, or use karat score")


def _count_overlaps(corpus: Corpus, run: Run) -> Longs:
    """Count the pairs of a mention and an overlapping prediction in each document of a corpus."""
    labels, predictions = corpus.labels, run.predictions
    row = pc.fill_null(pc.index_in(run.ids, corpus.ids), -1).to_numpy().astype(np.int64)
    document = row[predictions.document]
    is_known = document >= 0
    # A location is one number with the document in its upper half and the offset in its lower half.
    starts, ends = (
        np.sort((document[is_known] << 32) + offset[is_known]) for offset in (predictions.start, predictions.end)
    )
    location = labels.document.astype(np.int64) << 32
    before_end = np.searchsorted(starts, location + labels.end, side="left")
    until_start = np.searchsorted(ends, location + labels.start, side="right")
    counts = np.bincount(labels.document, before_end - until_start, minlength=len(corpus))
    return counts.astype(np.int64)


def _store_evaluation(
    files: ContentStore, entry: Entry, evaluation: Evaluation, dataset: _StoredDataset, requests: _Requests
) -> Iterator[ArchiveEntry]:
    """Store an evaluation with cases, credits, curves and gap explanations; yield its archive entry.

    Then yield an entry for each further profile; profiles that cannot score the data are recorded as refusals.
    """
    corpus, _ = evaluation.source.data
    request, options = evaluation.request, requests.options
    other_results: dict[str, Result] = {}
    refusals: dict[str, str] = {}
    other_profiles = [name for name in options.profiles if name != request.profile]
    with track_progress(f"scoring {entry.system} under other profiles", len(other_profiles)) as advance:
        for name in other_profiles:
            try:
                other_results[name] = evaluation.with_request(request.with_profile(name)).result
            except KaratError as problem:  # data of another task
                refusals[name] = str(problem)
            advance(1)
    measure = get_headline(evaluation.result)
    view = str(parse_measure(measure).view)
    cases = collect_cases(evaluation, view) if corpus.has_text and _has_mention_cases(evaluation, measure) else None
    curves, missing_curves = _store_curves(files, evaluation)
    yield _store_result(
        files,
        entry,
        evaluation.result,
        verdicts=None if cases is None else files.put("verdicts", _to_parquet(cases)),
        credits=None if cases is None else _store_credits(files, cases, evaluation, requests),
        texts=dataset.texts,
        curves=curves,
        missing_curves=missing_curves,
        reasons=_store_explanations(files, evaluation, measure, options.reasons),
        refusals=refusals,
        types=dataset.types,
    )
    for other in other_results.values():
        yield _store_result(files, entry, other)


def _store_credits(files: ContentStore, cases: Arrow, evaluation: Evaluation, requests: _Requests) -> str:
    """Store the credits of all cases and return their content hash."""
    return files.put("credits", msgspec.json.encode(compute_credits(cases, evaluation, requests.credits)))


def _has_mention_cases(evaluation: Evaluation, measure: str) -> bool:
    """Return whether the cases of a measure are spans in texts, not document-level entities or clusters."""
    name = parse_measure(measure).view
    plan = evaluation.plans.views.get(str(name))
    task = TASKS[name.task or evaluation.request.conventions.task_name]
    if plan is None or task.source != "mentions":
        return False
    return not plan.is_indivisible and plan.relation.level != "document"


def _to_parquet(table: Arrow) -> bytes:
    """Return a table of cases as a Parquet file."""
    file = BytesIO()
    pq.write_table(table.replace_schema_metadata({"layout": "karat-verdicts/2"}), file, compression="zstd")
    return file.getvalue()


def _to_jsonl(corpus: Corpus) -> bytes:
    """Return a gold standard as JSON lines; the metadata record whether all texts are only spaces."""
    metadata = dict(corpus.metadata)
    if corpus.skipped.get(NO_TEXT_NOTE):
        metadata[TEXT_STATUS] = BLANK_TEXT
    encode = msgspec.json.Encoder().encode
    return b"\n".join(map(encode, [Header(GOLD_LAYOUT, {"name": corpus.name, **metadata}), *corpus])) + b"\n"


def _store_curves(files: ContentStore, evaluation: Evaluation) -> tuple[str | None, dict[str, str]]:
    """Store the threshold, coverage, alpha and category curves in one file.

    Returns the content hash of the file, None without curves, and the reason for each missing curve.
    """
    view = parse_measure(get_headline(evaluation.result)).view
    lines, refusals = [], {}
    for over, compute in _CURVES.items():
        try:
            if view.filters or view.task or view.relation.endswith(".py"):
                raise UsageError(f"{view} is not a plain match relation, so it has no curve.")
            lines.append(compute(evaluation, view.relation))
        except KaratError as problem:
            refusals[over] = str(problem)
    return files.put("curves", b"".join(lines)) if lines else None, refusals


def _threshold_json(evaluation: Evaluation, relation: str) -> bytes:
    """Compute the curve of scores over the threshold under a match relation and return its JSON."""
    _check_scores(evaluation)
    request = evaluation.request.reduce_to(settings={"match": relation, "threshold": "oracle"})
    return threshold_json([compute_threshold_curve(evaluation.with_request(request))], "micro.f1")


def _coverage_json(evaluation: Evaluation, relation: str) -> bytes:
    """Compute the curve of risk over coverage under a match relation and return its JSON."""
    _check_scores(evaluation)
    request = evaluation.request.reduce_to(settings={"match": relation, "threshold": "none"})
    predictions = collect_scored_predictions(evaluation.with_request(request_scores(request)))
    if not len(predictions.scores):  # the conventions excluded all predictions with a score
        raise UsageError("no counted prediction has a confidence score.")
    return coverage_json([predictions])


def _check_scores(evaluation: Evaluation) -> None:
    """Raise `UsageError` if no prediction has a confidence score."""
    _, run = evaluation.source.data
    if np.isnan(run.predictions.score()).all():
        raise UsageError("the predictions have no scores.")


def _alpha_json(evaluation: Evaluation, relation: str) -> bytes:
    """Compute the curve of scores over alpha with the fine-grained paper's own settings and return its JSON."""
    request = evaluation.request.with_profile("finegrained", {**PAPER_SETTINGS, "match": relation})
    return alpha_json([compute_alpha_curve(evaluation, request)], "micro.f1", alpha_values(50))


def _category_json(evaluation: Evaluation, relation: str) -> bytes:
    """Compute the curve of scores over categories with the fine-grained paper's own settings and return its JSON."""
    request = evaluation.request.with_profile("finegrained", {"match": relation})
    return category_json([compute_category_curve(evaluation.with_request(request))])


_CURVES: Final[Mapping[str, Callable[[Evaluation, str], bytes]]] = {
    "threshold": _threshold_json,
    "coverage": _coverage_json,
    "alpha": _alpha_json,
    "categories": _category_json,
}
"""Curve functions by the name of their x axis."""


def _store_explanations(
    files: ContentStore, evaluation: Evaluation, measure: str, profiles: Sequence[str]
) -> dict[str, str]:
    """Store the explanation of the score gap to each reference profile; return their content hashes by profile."""
    digests = {}
    for name in profiles:
        reference = evaluation.request.with_profile(name).replace(measures=[measure])
        target = evaluation.request.reduce_to(measures=[measure])
        digests[name] = files.put("reasons", why_json(attribute_gap(evaluation, reference, target)))
    return digests


def check_profiles(names: Sequence[str]) -> tuple[str, ...]:
    """Return the profile names unchanged; raise an error if one is unknown."""
    for name in names:
        get_profile(name)
    return tuple(names)
