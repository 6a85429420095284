"""Small cases with the figures that BAT and GERBIL compute for them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from karat.comparison.similarity import similarity
from karat.curves.threshold import curve
from karat.errors import InputError, KaratError, UnknownNameError
from karat.evaluation.evaluation import evaluate
from karat.evaluation.measures import in_task
from karat.kb.tables import Tables
from karat.matching.align.typing import compared, extended
from karat.matching.read.merging import merged
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Answer, Document, Label, Reply, Statement, Tag
from karat.model.result import Result
from karat.model.run import Run
from karat.spec.choices.choices import prefixes_of
from karat.spec.choices.task import task_named
from karat.spec.suite import Conformance, Discrepancy, Suite, summed
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
    "Sa2KB": "a2kb",  # scores are welcome in these, and not demanded
    "Sa2W": "a2kb",
    "Sc2KB": "c2kb",
    "Sc2W": "c2kb",
    "GSInKB(entity-only)": "a2kb",
}
_PARTS = {"inkb": "in-kb", "ee": "nil", "gsinkb": "gold-in-kb"}
_NOT_SCORED = ("error_count",)
_KINDS = ("counts", "threshold_counts", "fmeasure", "typing_counts", "typing_fmeasure", "span_merge")
_ANY_TYPE = "no type of any knowledge base"
"""Stands for an empty set of types, which is typed all the same."""


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An annotation of a case, or one end of a relation in it."""

    doc: str = ""
    start: int | None = None
    length: int = 0
    uris: list[str] | None = None
    types: list[str] | None = None
    conf: float | None = None
    relation: tuple[Item, Item, Item] | None = None


class Case(msgspec.Struct, frozen=True):
    """One case: both sides, the rules that apply, and what the peer computes."""

    id: str
    framework: str
    kind: str
    task: str
    docs: list[str]
    gold: list[Item]
    system: list[Item]
    expected: dict[str, Any]
    matching: str | None = None
    kb_prefixes: list[str] | str | None = None
    redirects: dict[str, str] = {}
    subclass_of: list[tuple[str, str]] | None = None
    tolerance: float = _TOLERANCE


def conform_cases(path: str) -> Conformance:
    """Run every case of a file and compare every figure."""
    source = Source(path)
    try:
        cases = msgspec.json.decode(source.data(), type=list[Case])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise InputError(
            source.label,
            found=f"no cases ({problem})",
            expected="a JSON list of cases with id, framework, kind, task, docs, gold, system and expected",
            remedy="Give a file such as gerbil_bat_cases.json",
        ) from None
    if not cases:
        raise InputError(source.label, found="no case", expected="at least one", remedy="Give a file with cases")
    compared = [_compared(case) for case in cases]
    return Conformance(
        experiments=len(cases),
        equal_experiments=sum(not differences for _, differences in compared),
        groups=summed({"figures": figures} for figures, _ in compared),
        differences=tuple(difference for _, differences in compared for difference in differences),
        unit="experiments",
    )


def _compared(case: Case) -> tuple[tuple[int, int], list[Discrepancy]]:
    """How many figures of a case were compared and are equal, and what differs: the case itself if it cannot be run."""
    try:
        found = _computed(case)
    except KaratError as problem:
        return (0, 0), [Discrepancy(case.id, "", "the case itself", str(problem), "figures")]
    asked = {figure: expected for figure, expected in case.expected.items() if figure not in _NOT_SCORED}
    differences = [
        Discrepancy(case.id, "", figure, found.get(figure, "not computed"), expected)
        for figure, expected in asked.items()
        if figure not in found or not _same(expected, found[figure], case.tolerance)
    ]
    return (len(asked), len(asked) - len(differences)), differences


def _same(expected: object, found: object, tolerance: float) -> bool:
    if isinstance(expected, int | float) and isinstance(found, int | float):
        return math.isclose(expected, found, rel_tol=0.0, abs_tol=tolerance)
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(
            _same(one, two, tolerance) for one, two in zip(expected, found, strict=True)
        )
    if isinstance(expected, dict) and isinstance(found, dict):
        return all(_same(value, found.get(name), tolerance) for name, value in expected.items())
    return expected == found


def _computed(case: Case) -> dict[str, Any]:
    """The figures of a case as Karat computes them."""
    if case.kind not in _KINDS:
        raise UnknownNameError("kind of case", case.kind, _KINDS)
    lost = sorted({item.doc for item in [*case.gold, *case.system]} - set(case.docs))
    if lost:
        raise KaratError(f"items are in document {lost[0]!r}, which is not among the case's docs")
    if case.kind == "span_merge":
        return {"merged": _merged(case)}
    corpus, run = _sides(case)
    options = _options(case)
    if case.kind == "threshold_counts":
        return {"by_threshold": _by_threshold(corpus, run, _view(case, options), options)}
    view = _view(case, options)
    measures = [f"{name}:micro.f1" for name in (view, *(f"{view}[{part}]" for part in _parts(case)))]
    result = evaluate(corpus, run, measures=measures, by=["doc"], **options)
    figures: dict[str, Any] = dict(_scores(result, view, ""))
    if view in result.views:
        counts = result.counts(view)
        figures |= {"tp": counts.matched_answers, "fp": counts.unmatched_answers, "fn": counts.unmatched_gold}
        figures["per_doc"] = [
            {"doc": name, **{short: group.measures[f"micro.{short}"] for short in ("p", "r", "f1")}}
            for name, group in result.by["doc"][view].items()
        ]
    absent = []
    for part, name in _PARTS.items():
        if name in _parts(case):
            scores = dict(_scores(result, f"{view}[{name}]", f"{part}_"))
            figures |= scores
            absent += [part] if scores[f"{part}_micro_f1"] is None else []
    expected = case.expected.get("absent", ())
    figures["absent"] = sorted(absent, key=lambda part: expected.index(part) if part in expected else len(expected))
    if case.kind == "typing_counts":
        figures |= _type_counts(corpus, run, result, case, options)
    if "macro_similarity" in case.expected:
        figures |= _similarities(corpus, run, view, options)
    return figures


def _scores(result: Result, view: str, prefix: str) -> Iterator[tuple[str, float | None]]:
    for aggregate in ("micro", "macro"):
        for short in ("p", "r", "f1"):
            yield f"{prefix}{aggregate}_{short}", result[f"{view}:{aggregate}.{short}"]


def _options(case: Case) -> dict[str, Any]:
    """The profile and the choices of a case."""
    options: dict[str, Any] = {"like": case.framework, "task": _TASKS.get(case.task, case.task)}
    if case.framework == "gerbil":
        if case.kb_prefixes is None:
            options |= {"nil": "explicit", "prefixes": "none"}
        elif isinstance(case.kb_prefixes, list):
            options["prefixes"] = " ".join(case.kb_prefixes)
    options["ids"] = "resolved"  # a case gives all ids that its peer has, as its matching sees them
    options["kb"] = Tables.of(subclass_of=case.subclass_of or (), redirects=case.redirects)
    return options


def _view(case: Case, options: Mapping[str, Any]) -> str:
    """The view of a case: what its matching is called here, in its task."""
    words = (case.matching or "").replace("_", "-").split(" ")[0]
    name = _MATCH.get(words) or _MATCH.get(words.lower().split("-")[0])
    if name is None:
        raise UnknownNameError("matching", words, _MATCH)
    return str(in_task(f"{name}:micro.f1", task_named(options["task"])).view)


def _parts(case: Case) -> list[str]:
    wanted = {key.split("_")[0] for key in case.expected} | set(case.expected.get("absent", ()))
    return [name for part, name in _PARTS.items() if part in wanted]


def _sides(case: Case) -> tuple[Corpus, Run]:
    concepts = task_named(_TASKS.get(case.task, case.task)) == "c2kb"
    size = max((_place(item)[1] for item in [*case.gold, *case.system]), default=0)
    documents, replies = [], []
    for name in case.docs:
        gold = [item for item in case.gold if item.doc == name]
        system = [item for item in case.system if item.doc == name]
        documents.append(
            Document(
                name,
                " " * (size + 1),
                labels=tuple(
                    Label(*_place(item), **_link(item), unit=str(number))
                    for number, item in enumerate(gold)
                    if item.relation is None and not concepts
                ),
                tags=tuple(_tag(item) for item in gold if concepts),
                relations=tuple(_statement(item) for item in gold if item.relation is not None),
            )
        )
        replies.append(
            Reply(
                name,
                answers=tuple(_answer(item) for item in system if item.relation is None and not concepts),
                tags=tuple(_tag(item) for item in system if concepts),
                relations=tuple(_statement(item) for item in system if item.relation is not None),
            )
        )
    return Corpus.of(documents, name=case.id), Run.of(replies, name="system")


def _place(item: Item) -> tuple[int, int]:
    start = item.start or 0
    return start, start + item.length


def _link(item: Item) -> dict[str, Any]:
    """No ids at all are no link, an empty set of them is NIL."""
    types = tuple(item.types or ([_ANY_TYPE] if item.types is not None else ()))
    if item.uris is None:
        return {"entity": UNLINKED, "types": types}
    return {"entity": next(iter(item.uris), None), "same_as": tuple(item.uris[1:]), "types": types}


def _answer(item: Item) -> Answer:
    return Answer(*_place(item), **_link(item), score=item.conf)


def _tag(item: Item) -> Tag:
    uris = item.uris or [""]
    return Tag(uris[0], tuple(uris[1:]), score=item.conf)


def _statement(item: Item) -> Statement:
    assert item.relation is not None
    (subject, *more_subjects), (predicate, *more_predicates), (object_, *more_objects) = (
        part.uris or [""] for part in item.relation
    )
    return Statement(
        subject,
        predicate,
        object_,
        subject_same_as=tuple(more_subjects),
        predicate_same_as=tuple(more_predicates),
        object_same_as=tuple(more_objects),
        score=item.conf,
    )


def _merged(case: Case) -> list[dict[str, object]]:
    """The merged annotations in the order and with the fields in which the case lists them."""
    found = merged(_answer(item) for item in case.system)
    listed = [
        {
            "start": answer.start,
            "length": answer.end - answer.start,
            "uris": sorted(entity for entity in (answer.entity, *answer.same_as) if isinstance(entity, str)),
            "types": sorted(answer.types),
        }
        for answer in found
    ]
    spans = [(item["start"], item["length"]) for item in case.expected.get("merged", ())]
    place = {span: number for number, span in enumerate(spans)}
    return sorted(listed, key=lambda item: place.get((item["start"], item["length"]), len(place)))


def _by_threshold(corpus: Corpus, run: Run, view: str, options: Mapping[str, Any]) -> list[dict[str, float | str]]:
    """The counts at the thresholds that GERBIL tries; neighbours with equal counts are one."""
    rows: list[dict[str, float | str]] = []
    points = curve(corpus, run, match=view, **{**options, "threshold": "oracle-gerbil"}).points()
    for point in points:
        counts = {"tp": point.counts.matched_answers, "fp": point.counts.unmatched_answers}
        row = {"threshold": point.threshold.at or 0.0, **counts, "fn": point.counts.unmatched_gold}
        if not rows or any(rows[-1][name] != row[name] for name in ("tp", "fp", "fn")):
            rows.append({**row, "keep": "conf > threshold (threshold 0 = unfiltered)"})
    return rows


def _type_counts(corpus: Corpus, run: Run, result: Result, case: Case, options: Mapping[str, Any]) -> dict[str, int]:
    """Types that are right, wrong and missing; a mention or answer left alone is one of them."""
    hierarchy, prefixes = options["kb"].hierarchy, prefixes_of(options.get("prefixes", "gerbil"))
    labels = [label for document in corpus for label in document.labels]
    answers = [answer for reply in run for answer in reply.answers]
    counts = {"tp": 0, "fp": 0, "fn": 0}
    for row in result.verdicts.to_pylist():
        if row["gold"] is None or row["answer"] is None:
            counts["fp" if row["gold"] is None else "fn"] += 1
            continue
        gold, answer = (
            extended(item.types, hierarchy, prefixes) for item in (labels[row["gold"]], answers[row["answer"]])
        )
        for name, count in compared(gold, answer)._asdict().items():
            counts[name] += count
    return counts


def _similarities(corpus: Corpus, run: Run, view: str, options: Mapping[str, Any]) -> dict[str, float | None]:
    found = similarity(corpus, [Run.of_gold(corpus), run], match=view, **options).likeness[0]
    return {"macro_similarity": found.macro.value, "micro_similarity": found.micro.value}


SUITE = Suite(
    title="BAT and GERBIL",
    says="Small cases with the figures that BAT and GERBIL compute for them. PATH is a JSON file of cases.",
    run=lambda path, _: conform_cases(path),
    experiments="cases",
)
