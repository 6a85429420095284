"""Suite that recomputes ELEVANT's published evaluations from their input files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np

from karat.data.load import load_gold_and_runs
from karat.evaluation.cases.errors import categories
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.formats.parsing.elevant.manifest import CASES, METADATA, RESULTS, get_stem
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.errors import InputError
from karat.model.json.decoder import JsonDecoder, JsonError, decode_json
from karat.model.output.progress import map_in_processes
from karat.model.registry import get_plugin
from karat.model.results.result import Result
from karat.model.run import Run
from karat.model.spec.report import Report
from karat.model.spec.suite import Discrepancy, Reproduction, Suite, count_groups
from karat.plugins.reports.elevant.cases import EVAL_TYPES, MENTION_TYPE_NAMES, ElevantCases, list_cases
from karat.plugins.reports.elevant.layout import MODES, build_layout
from karat.plugins.reports.elevant.names import NAMES
from karat.storage.files import Source

_SUFFIXES = ("", ".gz", ".zst")
_NEW_RULE = "2025/01/16"  # from this date on, false detections of coreference count as coreference errors only
_RULE, _OLDER = "false-coreference", "pronouns"
_MASKED_WORD = re.compile(r"[xX0]+|\*+")
_NO_TOKENISER, _MASKED_TEXT = "no tokenizer (spaCy)", "masked text"
_MISSING_FACTS = "facts that the knowledge base lacks"
_CASES, _LABELS = "cases", "error labels"
_FORMAT = "elevant-linked"
_SAMPLE = 20  # texts that are checked for masking

_MISSING = "nothing"  # stands for a figure that one side does not have

_FigurePath: TypeAlias = tuple[str, ...]

CaseFields: TypeAlias = tuple[object, ...]
"""Compared fields of a case: span, factor, outcomes of linking and detection in both modes, whether it is optional,
mention type and prediction.
"""

ErrorLabels: TypeAlias = tuple[tuple[str, ...], ...]
"""Error labels of a case, by mode."""

_NO_CASE: tuple[CaseFields, ErrorLabels] = ((), ((),) * len(MODES))


_Counts: TypeAlias = dict[str, tuple[int, int]]
"""By group, the numbers of compared and of equal figures."""


class _SystemFiles(NamedTuple):
    """Paths of ELEVANT's files about one system on one dataset; None for an optional file that is missing."""

    name: str
    linked: str
    results: str
    cases: str | None
    metadata: str | None


def reproduce_elevant(folder: str, kb: str | None = None) -> Reproduction:
    """Recompute and compare every figure in a folder of ELEVANT's results, and every case if there are case files.

    Without `kb`, the subfolder `kb` is used if it exists. Systems without `eval_results.json` are counted in the notes.
    """
    source = Source(folder, trust_links=True)  # the folder may contain symbolic links
    if kb is None and source.get_child("kb").is_folder:
        kb = source.get_child("kb").path
    notes: Counter[str] = Counter()
    if kb is None:
        notes["no knowledge base: names, types and popular entities are unknown"] += 1
    pairs = _find_files(source, notes)
    try:
        by_pair = dict(item for share in map_in_processes(_compare_share, _split_work(pairs, kb)) for item in share)
    finally:
        _build_request.cache_clear()  # the files of the knowledge base may change before the next call
    comparisons = [by_pair[pair.linked] for pair in pairs]
    for comparison in comparisons:
        notes.update(comparison.notes)
    return Reproduction(
        experiments=len(comparisons),
        equal_experiments=sum(not comparison.differences for comparison in comparisons),
        groups=count_groups(comparison.figures for comparison in comparisons),
        extra_groups=count_groups(comparison.cases for comparison in comparisons),
        differences=tuple(difference for comparison in comparisons for difference in comparison.differences),
        notes=notes,
    )


def _find_files(source: Source, notes: Counter[str]) -> list[_SystemFiles]:
    """Return the files of each system on each dataset; count linked articles without results in `notes`.

    Raise `InputError` if no linked articles have results.
    """
    names = set(source.file_names) if source.is_folder else set()
    pairs = []
    for name in sorted(names):
        stem = get_stem(name)
        if stem is None:
            continue
        results = _find_file(names, f"{stem}.{RESULTS}")
        if results is None:
            notes["linked articles without eval_results.json (excluded)"] += 1
            continue
        optional = [_find_file(names, f"{stem}.{kind}") for kind in (CASES, METADATA)]
        paths = [None if path is None else source.get_child(path).path for path in (name, results, *optional)]
        pairs.append(_SystemFiles(stem.rpartition("/")[2], *paths))  # type: ignore[arg-type]  # the first two are not None
    if not pairs:
        raise InputError(
            source.label,
            actual="no linked articles with eval_results.json",
            expected="results/LINKER/NAME.linked_articles.jsonl[.gz] and NAME.eval_results.json",
            remedy="Pass ELEVANT's folder of results, or its parent",
        )
    return pairs


def _find_file(names: set[str], name: str) -> str | None:
    """Return `name` as it occurs in `names`, plain or with `.gz` or `.zst`; None if it does not."""
    return next((name + suffix for suffix in _SUFFIXES if name + suffix in names), None)


class _PairComparison(NamedTuple):
    """Comparison of one system on one dataset: counts of figures and cases by group, differences, and notes."""

    figures: _Counts
    cases: _Counts
    differences: list[Discrepancy]
    notes: list[str]


class _WorkShare(NamedTuple):
    """Files that one process compares (all systems on one dataset), and the path of the knowledge base."""

    pairs: tuple[_SystemFiles, ...]
    kb: str | None


def _split_work(pairs: Sequence[_SystemFiles], kb: str | None) -> list[_WorkShare]:
    """Group the files by dataset (the part of the name after the first dot), the largest datasets first."""
    by_dataset: dict[str, list[_SystemFiles]] = {}
    for pair in pairs:
        by_dataset.setdefault(pair.name.partition(".")[2], []).append(pair)
    sizes = {name: sum(Path(pair.linked).stat().st_size for pair in files) for name, files in by_dataset.items()}
    return [_WorkShare(tuple(by_dataset[name]), kb) for name in sorted(by_dataset, key=sizes.__getitem__, reverse=True)]


def _compare_share(share: _WorkShare) -> list[tuple[str, _PairComparison]]:
    """Compare the files of one process with Karat's results; return (path of linked articles, comparison) pairs.

    Facts about the gold standard are computed once for consecutive files with the same gold standard.
    """
    gold: Corpus | None = None
    first_evaluation: Evaluation | None = None
    comparisons = []
    for pair in share.pairs:
        corpus, [run] = load_gold_and_runs(pair.linked, [pair.linked], gold_format=_FORMAT, predictions_format=_FORMAT)
        if gold is None or gold.digest != corpus.digest:
            gold, first_evaluation = corpus, None
        rule, notes = _get_coreference_rule(pair)
        evaluation = Evaluation.from_data(_build_request(share.kb, rule), gold, run, share_gold_with=first_evaluation)
        first_evaluation = first_evaluation or evaluation
        comparisons.append((pair.linked, _compare_pair(pair, evaluation, notes)))
    return comparisons


@cache
def _build_request(kb: str | None, rule: str) -> Request:
    """Build the evaluation request for a value of the setting `false-coreference`; requests are cached.

    Both values share the knowledge base, which a process opens once.
    """
    if rule != _OLDER:
        return _build_request(kb, _OLDER).replace(settings={_RULE: rule})
    needs = get_plugin("reports", "elevant", Report)
    return Request.from_options(
        profile="elevant", measures=needs.measures, by=needs.facets, kb=kb, settings={_RULE: rule}
    )


def _compare_pair(pair: _SystemFiles, evaluation: Evaluation, notes: list[str]) -> _PairComparison:
    """Compare an evaluation with ELEVANT's figures and, if there is a case file, its cases."""
    result, sides = evaluation.result, evaluation.inputs
    differences: list[Discrepancy] = []
    reasons = _DifferenceReasons(sides.corpus, sides.original_run, result, evaluation.request.kb)
    figures = _compare_figures(pair, build_layout(result), reasons, differences)
    cases = {} if pair.cases is None else _compare_cases(pair, list_cases(result), differences)
    return _PairComparison(figures, cases, differences, notes)


def _get_coreference_rule(pair: _SystemFiles) -> tuple[str, list[str]]:
    """Return the value of `false-coreference` by which ELEVANT wrote the files, and notes for the report.

    The date in the metadata file decides; without that file the older rule is assumed.
    """
    if pair.metadata is None:
        return _OLDER, ["pairs without metadata.json, scored by the older rule: false-coreference=pronouns"]
    stamp = str(_decode_file(pair.metadata, dict[str, Any]).get("timestamp", ""))
    if stamp < _NEW_RULE:
        return _OLDER, []
    return "coreference", [f"pairs from {_NEW_RULE} on, by their metadata.json: false-coreference=coreference"]


def _decode_file(path: str, kind: Any) -> Any:  # noqa: ANN401  # as `kind` says
    """Decode one of ELEVANT's JSON files as type `kind`; raise `InputError` if it is invalid."""
    source = Source(path)
    try:
        return decode_json(source.read_bytes(), kind)
    except JsonError as problem:
        raise _file_error(source, problem) from None


def _file_error(source: Source, problem: Exception) -> InputError:
    """Return (not raise) the error for an invalid file."""
    return InputError(
        source.label,
        actual=f"an invalid file ({problem})",
        expected="the file as written by ELEVANT",
        remedy="Download it again, or delete it",
    )


def _pair_figures(
    value: object, expected: object, path: _FigurePath, figures: list[tuple[_FigurePath, object, object]]
) -> None:
    """Append (keys, computed value, expected value) of every figure to `figures`, by descending into both dictionaries.

    `path` has the keys so far. A figure that one side lacks gets the value `nothing`.
    """
    if not (isinstance(value, dict) or isinstance(expected, dict)):
        figures.append((path, value, expected))
        return
    own_side, expected_side = (side if isinstance(side, dict) else {} for side in (value, expected))
    for name in expected_side if own_side.keys() == expected_side.keys() else {**expected_side, **own_side}:
        _pair_figures(own_side.get(name, _MISSING), expected_side.get(name, _MISSING), (*path, name), figures)


@cache
def _figure_group(path: _FigurePath) -> str:
    """Return the group under which a figure is reported: the mention type, error category or section in its keys.

    The first key, ELEVANT's evaluation mode, is ignored.
    """
    section, names = path[1:2], path[2:]
    if section == ("error_categories",):
        return ".".join(names[:1] if names[:1] == ("ner",) else names[:2])
    return ".".join(names[:1] if section == ("mention_types",) else section)


def _compare_figures(
    pair: _SystemFiles, own_results: Mapping[str, Any], reasons: _DifferenceReasons, differences: list[Discrepancy]
) -> _Counts:
    """Return (compared, equal) counts of figures by group; append each difference to `differences`."""
    figures: list[tuple[_FigurePath, object, object]] = []
    _pair_figures(own_results, _decode_file(pair.results, dict[str, Any]), (), figures)
    compared: Counter[str] = Counter()
    unequal: Counter[str] = Counter()
    for path, value, expected in figures:
        group = _figure_group(path)
        compared[group] += 1
        if value != expected:
            unequal[group] += 1
            differences.append(
                Discrepancy(
                    pair.name, group, ".".join(path), value, expected, reasons.find_reason(path, value, expected)
                )
            )
    return {group: (count, count - unequal[group]) for group, count in compared.items()}


@dataclass(frozen=True)
class _DifferenceReasons:
    """Possible reasons for differences that no setting can remove."""

    corpus: Corpus
    run: Run
    result: Result
    kb: KB | None

    def find_reason(self, path: Sequence[str], value: object, expected: object) -> str | None:
        """Return why the figure at the keys `path` may differ; None if no reason is known.

        Missing facts are a reason only if they affect at least as many cases as the difference of the counts.
        """
        mode, section, key = (*path, "", "", "")[:3]
        both_whole = isinstance(value, int) and isinstance(expected, int)
        gap = abs(value - expected) if both_whole else 1  # type: ignore[operator]  # both are int here
        if section == "error_categories" and path[-1] == "total" and self._counts_words(path[2:4]):
            return _NO_TOKENISER if value is None else _MASKED_TEXT if self._is_masked else None
        if section == "mention_types":
            return _MISSING_FACTS if key in ("entity_named", "entity_non_named") and self._n_nameless >= gap else None
        if section == "entity_types":
            return _MISSING_FACTS if self._n_typeless >= gap else None
        if key == "wrong_disambiguation":
            return _MISSING_FACTS if self._count_undecided(mode) >= gap else None
        return None

    def _counts_words(self, path: Sequence[str]) -> bool:
        """Return whether the total of an error category counts words of the text, not cases.

        `path` are the two keys of the category in ELEVANT's results: group and category.
        """
        return any(keys[:2] == tuple(path) and categories()[name].candidate_words for name, keys in NAMES.items())

    def _count_undecided(self, mode: str) -> int:
        """Count the cases of an evaluation mode whose error category could not be determined."""
        groups = self.result.groups["error"][f"strong{MODES[mode]}"]
        return sum(group.undecided for group in groups.values())

    @cached_property
    def _n_nameless(self) -> int:
        """Number of linked predictions whose entity has no known name; all of them without knowledge base."""
        return self._count_without(
            [None] * len(self._entity_ids) if self.kb is None else self.kb.names(self._entity_ids)
        )

    @cached_property
    def _n_typeless(self) -> int:
        """Number of linked predictions whose entity has no known type; all of them without knowledge base."""
        return self._count_without(
            [None] * len(self._entity_ids) if self.kb is None else self.kb.types(self._entity_ids)
        )

    @property
    def _entity_ids(self) -> list[str]:
        """Distinct ids of predicted entities, in the order of their codes."""
        ids: list[str] = self.run.predictions.names.to_pylist()
        return ids

    def _count_without(self, facts: Sequence[object]) -> int:
        """Count the predictions whose entity has no or an empty value in `facts`, which has one value per entity id."""
        unknown = np.array([*(not fact for fact in facts), False, False])
        return int(unknown[self.run.predictions.entity].sum())

    @cached_property
    def _is_masked(self) -> bool:
        """Whether more than a quarter of the words in the first texts are masked (only `x`, `0` or `*`)."""
        texts = self.corpus.table.column("text").slice(0, _SAMPLE).to_pylist()
        words = [word for text in texts for word in text.split()]
        return 4 * sum(_MASKED_WORD.fullmatch(word) is not None for word in words) > len(words)


class _ElevantEntity(msgspec.Struct, gc=False):
    """The predicted entity of a case."""

    entity_id: str | None = None


class _ElevantCase(msgspec.Struct, gc=False):
    """The compared fields of a case in ELEVANT's file; fields with few values are decoded once per value."""

    span: tuple[int, int]
    factor: int
    linking_eval_types: msgspec.Raw
    ner_eval_types: msgspec.Raw
    optional: bool
    mention_type: str
    error_labels: msgspec.Raw
    predicted_entity: _ElevantEntity | None = None


def _compare_cases(pair: _SystemFiles, cases: ElevantCases, differences: list[Discrepancy]) -> _Counts:
    """Return (compared, equal) counts of cases and of their error labels; append each difference to `differences`.

    Cases are compared in text order, document by document. Error labels count as equal if they are in both modes.
    """
    count = len(cases.facts.pairing.corpus)
    offsets = np.searchsorted(cases.document, np.arange(count + 1)).tolist()
    labels = zip(*(cases.labels[mode] for mode in MODES), strict=True)
    own_cases = list(zip(_compared_fields(cases), labels, strict=True))
    cases_by_document: list[list[tuple[CaseFields, ErrorLabels]]] = [
        own_cases[offsets[index] : offsets[index + 1]] for index in range(count)
    ]
    documents = zip_longest(
        cases_by_document, _read_expected_cases(str(pair.cases)), fillvalue=list[tuple[CaseFields, ErrorLabels]]()
    )
    compared = equal = equal_labels = 0
    for document, (document_cases, expected_cases) in enumerate(documents):
        compared += max(len(document_cases), len(expected_cases))
        if document_cases == expected_cases:
            equal, equal_labels = equal + len(document_cases), equal_labels + len(document_cases)
            continue
        for index, (a, b) in enumerate(zip_longest(document_cases, expected_cases, fillvalue=_NO_CASE)):
            location = f"document {document + 1}, case {index + 1}"
            equal += a[0] == b[0]
            equal_labels += a[1] == b[1]
            if a[0] != b[0]:
                differences.append(Discrepancy(pair.name, _CASES, location, a[0], b[0], None))
            elif a[1] != b[1]:
                reason = _MISSING_FACTS if cases.lacks_facts(offsets[document] + index) else None
                differences.append(Discrepancy(pair.name, _LABELS, location, *_label_difference(a[1], b[1]), reason))
    return {_CASES: (compared, equal), _LABELS: (compared, equal_labels)}


def _label_difference(a: ErrorLabels, b: ErrorLabels) -> tuple[str, str]:
    """Return the error labels that only `a` has and those that only `b` has, as text by evaluation mode."""
    sides = ((a, b), (b, a))
    only_own, only_expected = (
        "; ".join(
            f"{mode} {' '.join(sorted(set(labels) - set(other_labels))) or 'none'}"
            for mode, labels, other_labels in zip(MODES, left, right, strict=True)
            if labels != other_labels
        )
        for left, right in sides
    )
    return only_own, only_expected


def _compared_fields(cases: ElevantCases) -> Iterator[CaseFields]:
    """Yield the compared fields of each of Karat's cases, in the order of `CaseFields`."""
    stages = [
        [EVAL_TYPES[outcome] for outcome in stage[mode].tolist()]
        for stage in (cases.linking, cases.detection)
        for mode in MODES
    ]
    return zip(
        zip(cases.start.tolist(), cases.end.tolist(), strict=True),
        cases.factor.tolist(),
        *stages,
        cases.optional.tolist(),
        [MENTION_TYPE_NAMES[kind] for kind in cases.mention_type.tolist()],
        cases.list_predicted_ids(),
        strict=True,
    )


def _read_expected_cases(path: str) -> list[list[tuple[CaseFields, ErrorLabels]]]:
    """Read ELEVANT's case file: compared fields and error labels of each case, by document.

    Raise `InputError` if the file is invalid.
    """
    source = Source(path)
    try:
        lines = JsonDecoder(list[_ElevantCase]).decode_lines(source.read_bytes())
        return [[(_expected_fields(case), _decode_modes(bytes(case.error_labels))) for case in line] for line in lines]
    except JsonError as problem:
        raise _file_error(source, problem) from None


def _expected_fields(case: _ElevantCase) -> CaseFields:
    """Return the compared fields of a case in ELEVANT's file, in the order of `CaseFields`."""
    entity = case.predicted_entity
    id = None if entity is None else entity.entity_id or ""
    return (
        case.span,
        case.factor,
        *_decode_modes(bytes(case.linking_eval_types)),
        *_decode_modes(bytes(case.ner_eval_types)),
        case.optional,
        case.mention_type,
        id,
    )


@lru_cache(maxsize=100_000)
def _decode_modes(data: bytes) -> ErrorLabels:
    """Decode a JSON object from evaluation modes to lists of strings; return the lists in the order of `MODES`."""
    by_mode = decode_json(data, dict[str, tuple[str, ...]])
    return tuple(by_mode.get(mode, ()) for mode in MODES)


SUITE = Suite(
    title="ELEVANT",
    description="ELEVANT's published evaluations. Data: a folder with linked articles at any depth, next to each file "
    "NAME.eval_results.json and, optionally, NAME.eval_cases.jsonl. Without --kb, the subfolder kb is used.",
    run=reproduce_elevant,
    accepts_kb=True,
    experiment_noun="pairs",
    data_path="elevant/results",
)
