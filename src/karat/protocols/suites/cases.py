"""Suite of small cases with the figures that BAT and GERBIL compute for them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from karat.analysis.comparison.similarity import similarity
from karat.analysis.curves.threshold import threshold_curve
from karat.evaluation.evaluation import score_run
from karat.evaluation.measures import resolve_measure
from karat.kb.in_memory_kb import InMemoryKB
from karat.matching.align.type_matching import count_types, extend_types
from karat.matching.read.task_data import merge_nested
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Document, Label, Prediction, Response, Tag, Triple
from karat.model.errors import InputError, KaratError, UnknownNameError
from karat.model.json.decoder import read_json_value
from karat.model.limits import get_limit, limit_error
from karat.model.results.result import Result
from karat.model.run import Run
from karat.model.spec.settings.settings import parse_prefixes
from karat.model.spec.settings.task import parse_task
from karat.model.spec.suite import Discrepancy, Reproduction, Suite, count_groups
from karat.storage.files import Source

_TOLERANCE = 1e-7
_MATCH = {
    "strong": "strong",
    "weak": "weak",
    "equals": "strong",
    "entity": "entity",
    "ConceptAnnotationMatch": "entity",
    "StrongTagMatch": "entity",
    "NaiveScoredTagMatch": "entity",
    "StrongAnnotationMatch": "strong",
    "WeakAnnotationMatch": "weak",
    "MentionAnnotationMatch": "mention-weak",
    "StrongMentionAnnotationMatch": "mention-length",
    "MentionMatch": "strong",
    "WeakMentionMatch": "weak",
}
_TASKS = {
    "spans": "erec",
    "meanings": "c2kb",
    "annotations": "a2kb",
    "mention-spotting": "erec",
    "Sa2KB": "a2kb",  # scores are optional in these tasks
    "Sa2W": "a2kb",
    "Sc2KB": "c2kb",
    "Sc2W": "c2kb",
    "GSInKB(entity-only)": "a2kb",
}
_PARTS = {"inkb": "in-kb", "ee": "nil", "gsinkb": "gold-in-kb"}
_NOT_SCORED = ("error_count",)
_KINDS = ("counts", "threshold_counts", "fmeasure", "typing_counts", "typing_fmeasure", "span_merge")
_ANY_TYPE = "no type of any knowledge base"
"""Stands for an empty set of types, which counts as typed."""


class CaseAnnotation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An annotation of a case, or one part of a relation."""

    doc: str = ""
    """Id of the document."""
    start: int | None = None
    """Start offset."""
    length: int = 0
    """Length."""
    uris: list[str] | None = None
    """Ids of the entity; None if unlinked, empty for NIL."""
    types: list[str] | None = None
    """Types; None if untyped."""
    conf: float | None = None
    """Score."""
    relation: tuple[CaseAnnotation, CaseAnnotation, CaseAnnotation] | None = None
    """Subject, predicate and object, for a relation."""


class ReferenceCase(msgspec.Struct, frozen=True):
    """A case: gold standard, predictions, rules, and the figures of the reference tool."""

    id: str
    """Id."""
    framework: str
    """Reference tool and profile, `bat` or `gerbil`."""
    kind: str
    """Kind of figures."""
    task: str
    """Task, as the reference tool calls it."""
    docs: list[str]
    """Ids of the documents."""
    gold: list[CaseAnnotation]
    """Gold annotations."""
    system: list[CaseAnnotation]
    """Predicted annotations."""
    expected: dict[str, Any]
    """Figures of the reference tool."""
    matching: str | None = None
    """Matching, as the reference tool calls it."""
    kb_prefixes: list[str] | str | None = None
    """Prefixes of ids in the knowledge base."""
    redirects: dict[str, str] = {}
    """Redirects."""
    subclass_of: list[tuple[str, str]] | None = None
    """Pairs of class and superclass."""
    tolerance: float = _TOLERANCE
    """Largest difference between equal figures."""


def reproduce_cases(path: str) -> Reproduction:
    """Run every case of a JSON file and compare every figure with that of BAT or GERBIL.

    Raise `InputError` if the file has no valid case. A case that Karat cannot compute counts as a difference.
    """
    source = Source(path)
    cases = read_json_value(
        source.read_bytes(),
        list[ReferenceCase],
        source.label,
        actual="no cases ({problem})",
        expected="a JSON list of cases with id, framework, kind, task, docs, gold, system and expected",
        remedy="Pass a file such as gerbil_bat_cases.json",
    )
    if not cases:
        raise InputError(source.label, actual="no case", expected="at least one", remedy="Pass a file with cases")
    for case in cases:
        _check_text_size(case, source.label)
    comparisons = [_compare_case(case) for case in cases]
    return Reproduction(
        experiments=len(cases),
        equal_experiments=sum(not differences for _, differences in comparisons),
        groups=count_groups({"figures": figures} for figures, _ in comparisons),
        differences=tuple(difference for _, differences in comparisons for difference in differences),
        unit="experiments",
    )


def _check_text_size(case: ReferenceCase, label: str) -> None:
    """Raise `InputError`, which names the file `label`, if the blank texts of a case would be too long."""
    size = _get_last_offset(case)
    if size * len(case.docs) > get_limit("blank"):
        finding = f"offsets up to {size:,}"
        raise limit_error("blank", f"{label}, case {case.id!r}", finding, "Correct `start` and `length`")


def _get_last_offset(case: ReferenceCase) -> int:
    """Return the largest end of an annotation of a case."""
    return max((_get_span(item)[1] for item in [*case.gold, *case.system]), default=0)


def _compare_case(case: ReferenceCase) -> tuple[tuple[int, int], list[Discrepancy]]:
    """Return (compared figures, equal figures) of a case, and the differences.

    A case that cannot be computed has no compared figure and one difference, with the error message as value.
    """
    try:
        figures = _compute_figures(case)
    except KaratError as problem:
        return (0, 0), [Discrepancy(case.id, "", "the case itself", str(problem), "figures")]
    expected_figures = {figure: expected for figure, expected in case.expected.items() if figure not in _NOT_SCORED}
    differences = [
        Discrepancy(case.id, "", figure, figures.get(figure, "not computed"), expected)
        for figure, expected in expected_figures.items()
        if figure not in figures or not _is_equal(expected, figures[figure], case.tolerance)
    ]
    return (len(expected_figures), len(expected_figures) - len(differences)), differences


def _is_equal(expected: object, value: object, tolerance: float) -> bool:
    """Return whether a computed figure equals the expected one; numbers may differ by `tolerance`.

    Lists are compared item by item, dictionaries by the keys of `expected` only.
    """
    if isinstance(expected, int | float) and isinstance(value, int | float):
        return math.isclose(expected, value, rel_tol=0.0, abs_tol=tolerance)
    if isinstance(expected, list) and isinstance(value, list):
        return len(expected) == len(value) and all(
            _is_equal(a, b, tolerance) for a, b in zip(expected, value, strict=True)
        )
    if isinstance(expected, dict) and isinstance(value, dict):
        return all(_is_equal(item, value.get(name), tolerance) for name, item in expected.items())
    return expected == value


def _compute_figures(case: ReferenceCase) -> dict[str, Any]:
    """Compute the figures of a case, under the names that the case file uses for them.

    Raise `KaratError` for an unknown kind of case or an annotation in a document that the case does not list.
    """
    if case.kind not in _KINDS:
        raise UnknownNameError("kind of case", case.kind, _KINDS)
    unknown_docs = sorted({item.doc for item in [*case.gold, *case.system]} - set(case.docs))
    if unknown_docs:
        raise KaratError(f"annotations are in document {unknown_docs[0]!r}, which is not in docs. Add it to docs")
    if case.kind == "span_merge":
        return {"merged": _merged_annotations(case)}
    corpus, run = _build_corpus_and_run(case)
    options = _case_options(case)
    if case.kind == "threshold_counts":
        return {"by_threshold": _threshold_counts(corpus, run, _case_view(case, options), options)}
    view = _case_view(case, options)
    measures = [f"{name}:micro.f1" for name in (view, *(f"{view}[{part}]" for part in _case_filters(case)))]
    result = score_run(corpus, run, measures=measures, by=["doc"], **options)
    figures: dict[str, Any] = dict(_iterate_scores(result, view, ""))
    if view in result.views:
        counts = result.counts(view)
        figures |= {"tp": counts.matched_predictions, "fp": counts.unmatched_predictions, "fn": counts.unmatched_gold}
        figures["per_doc"] = [
            {"doc": name, **{short: group.measures[f"micro.{short}"] for short in ("p", "r", "f1")}}
            for name, group in result.groups["doc"][view].items()
        ]
    absent = []
    for part, name in _PARTS.items():
        if name in _case_filters(case):
            scores = dict(_iterate_scores(result, f"{view}[{name}]", f"{part}_"))
            figures |= scores
            absent += [part] if scores[f"{part}_micro_f1"] is None else []
    expected = case.expected.get("absent", ())
    figures["absent"] = sorted(absent, key=lambda part: expected.index(part) if part in expected else len(expected))
    if case.kind == "typing_counts":
        figures |= _type_counts(corpus, run, result, case, options)
    if "macro_similarity" in case.expected:
        figures |= _compute_similarities(corpus, run, view, options)
    return figures


def _iterate_scores(result: Result, view: str, prefix: str) -> Iterator[tuple[str, float | None]]:
    """Yield name and value of a view's micro and macro precision, recall and F1; None if undefined.

    Names are such as `micro_p`, after `prefix`.
    """
    for aggregate in ("micro", "macro"):
        for short in ("p", "r", "f1"):
            yield f"{prefix}{aggregate}_{short}", result[f"{view}:{aggregate}.{short}"]


def _case_options(case: ReferenceCase) -> dict[str, Any]:
    """Return the keyword arguments of `evaluate` for a case: profile, task, settings and knowledge base."""
    settings = {"task": _TASKS.get(case.task, case.task)}
    if case.framework == "gerbil":
        if case.kb_prefixes is None:
            settings |= {"nil": "explicit", "prefixes": "none"}
        elif isinstance(case.kb_prefixes, list):
            settings["prefixes"] = " ".join(case.kb_prefixes)
    settings["ids"] = "resolved"  # a case lists all ids as the matching of its reference tool sees them
    kb = InMemoryKB.from_tables(subclass_of=case.subclass_of or (), redirects=case.redirects)
    return {"profile": case.framework, "settings": settings, "kb": kb}


def _case_view(case: ReferenceCase, options: Mapping[str, Any]) -> str:
    """Return the view that corresponds to the matching of a case; raise `UnknownNameError` for an unknown matching."""
    matching = (case.matching or "").replace("_", "-").split(" ")[0]
    name = _MATCH.get(matching) or _MATCH.get(matching.lower().split("-")[0])
    if name is None:
        raise UnknownNameError("matching", matching, _MATCH)
    return str(resolve_measure(f"{name}:micro.f1", parse_task(options["settings"]["task"])).view)


def _case_filters(case: ReferenceCase) -> list[str]:
    """Return the view filters (such as `in-kb`) for which a case expects figures."""
    prefixes = {key.split("_")[0] for key in case.expected} | set(case.expected.get("absent", ()))
    return [name for part, name in _PARTS.items() if part in prefixes]


def _build_corpus_and_run(case: ReferenceCase) -> tuple[Corpus, Run]:
    """Build corpus and run of a case; texts are blank, since only offsets matter.

    In the task c2kb annotations become document-level tags, otherwise labels and predictions.
    """
    has_tags = parse_task(_TASKS.get(case.task, case.task)) == "c2kb"
    text = " " * (_get_last_offset(case) + 1)
    documents, responses = [], []
    for name in case.docs:
        gold = [item for item in case.gold if item.doc == name]
        system = [item for item in case.system if item.doc == name]
        documents.append(
            Document(
                name,
                text,
                labels=tuple(
                    Label(*_get_span(item), **_link_fields(item), mention_id=str(number))
                    for number, item in enumerate(gold)
                    if item.relation is None and not has_tags
                ),
                tags=tuple(_to_tag(item) for item in gold if has_tags),
                relations=tuple(_to_triple(item) for item in gold if item.relation is not None),
            )
        )
        responses.append(
            Response(
                name,
                predictions=tuple(_to_prediction(item) for item in system if item.relation is None and not has_tags),
                tags=tuple(_to_tag(item) for item in system if has_tags),
                relations=tuple(_to_triple(item) for item in system if item.relation is not None),
            )
        )
    return Corpus.from_documents(documents, name=case.id), Run.from_responses(responses, name="system")


def _get_span(item: CaseAnnotation) -> tuple[int, int]:
    """Return start and end of an annotation; a missing start is 0."""
    start = item.start or 0
    return start, start + item.length


def _link_fields(item: CaseAnnotation) -> dict[str, Any]:
    """Return the fields entity, same_as and types of an annotation for `Label` and `Prediction`.

    `uris` None means unlinked, an empty list NIL. Further ids become `same_as`.
    """
    types = tuple(item.types or ([_ANY_TYPE] if item.types is not None else ()))
    if item.uris is None:
        return {"entity": UNLINKED, "types": types}
    return {"entity": next(iter(item.uris), None), "same_as": tuple(item.uris[1:]), "types": types}


def _to_prediction(item: CaseAnnotation) -> Prediction:
    """Convert an annotation to a prediction."""
    return Prediction(*_get_span(item), **_link_fields(item), score=item.conf)


def _to_tag(item: CaseAnnotation) -> Tag:
    """Convert an annotation to a document-level entity; further ids become `same_as`."""
    uris = item.uris or [""]
    return Tag(uris[0], tuple(uris[1:]), score=item.conf)


def _to_triple(item: CaseAnnotation) -> Triple:
    """Convert an annotation with a relation to a triple; further ids of its parts become `same_as`."""
    assert item.relation is not None
    (subject, *more_subjects), (predicate, *more_predicates), (object_, *more_objects) = (
        part.uris or [""] for part in item.relation
    )
    return Triple(
        subject,
        predicate,
        object_,
        subject_same_as=tuple(more_subjects),
        predicate_same_as=tuple(more_predicates),
        object_same_as=tuple(more_objects),
        score=item.conf,
    )


def _merged_annotations(case: ReferenceCase) -> list[dict[str, object]]:
    """Merge nested predictions as GERBIL does.

    Return them in the order and with the fields of the expected annotations.
    """
    predictions = merge_nested(_to_prediction(item) for item in case.system)
    records = [
        {
            "start": prediction.start,
            "length": prediction.end - prediction.start,
            "uris": sorted(entity for entity in (prediction.entity, *prediction.same_as) if isinstance(entity, str)),
            "types": sorted(prediction.types),
        }
        for prediction in predictions
    ]
    spans = [(item["start"], item["length"]) for item in case.expected.get("merged", ())]
    order = {span: number for number, span in enumerate(spans)}
    return sorted(records, key=lambda item: order.get((item["start"], item["length"]), len(order)))


def _threshold_counts(corpus: Corpus, run: Run, view: str, options: Mapping[str, Any]) -> list[dict[str, float | str]]:
    """Return tp, fp and fn at each score threshold that GERBIL tries; consecutive equal counts are one row."""
    rows: list[dict[str, float | str]] = []
    settings = {**options["settings"], "match": view, "threshold": "oracle-gerbil"}
    points = threshold_curve(corpus, run, **{**options, "settings": settings}).points()
    for point in points:
        counts = {"tp": point.counts.matched_predictions, "fp": point.counts.unmatched_predictions}
        row = {"threshold": point.threshold.min_score or 0.0, **counts, "fn": point.counts.unmatched_gold}
        if not rows or any(rows[-1][name] != row[name] for name in ("tp", "fp", "fn")):
            rows.append({**row, "keep": "conf > threshold (threshold 0 = unfiltered)"})
    return rows


def _type_counts(
    corpus: Corpus, run: Run, result: Result, case: ReferenceCase, options: Mapping[str, Any]
) -> dict[str, int]:
    """Count correct (tp), wrong (fp) and missing (fn) types over all pairs of mention and prediction.

    An unmatched prediction counts as one fp, an unmatched mention as one fn. Types include their superclasses.
    """
    hierarchy, prefixes = options["kb"].hierarchy, parse_prefixes(options["settings"].get("prefixes", "gerbil"))
    labels = [label for document in corpus for label in document.labels]
    predictions = [prediction for response in run for prediction in response.predictions]
    counts = {"tp": 0, "fp": 0, "fn": 0}
    for row in result.verdicts.to_pylist():
        if row["gold"] is None or row["prediction"] is None:
            counts["fp" if row["gold"] is None else "fn"] += 1
            continue
        gold, prediction = (
            extend_types(item.types, hierarchy, prefixes)
            for item in (labels[row["gold"]], predictions[row["prediction"]])
        )
        for name, count in count_types(gold, prediction)._asdict().items():
            counts[name] += count
    return counts


def _compute_similarities(corpus: Corpus, run: Run, view: str, options: Mapping[str, Any]) -> dict[str, float | None]:
    """Return macro and micro similarity of the run to the gold standard; None if undefined."""
    settings = {**options["settings"], "match": view}
    pair = similarity(corpus, [Run.from_gold(corpus), run], **{**options, "settings": settings}).pairs[0]
    return {"macro_similarity": pair.macro.value, "micro_similarity": pair.micro.value}


SUITE = Suite(
    title="BAT and GERBIL",
    description="Small cases with the figures that BAT and GERBIL compute for them. Data: a JSON file of cases.",
    run=lambda path, _: reproduce_cases(path),
    experiment_noun="cases",
    data_path="gerbil_bat_cases.json",
)
