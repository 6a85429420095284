"""Reports on small projects, with figures worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from karat import Label
from karat.protocols.annotation.changes import AnnotatedLabel, RegionDecision
from karat.protocols.annotation.gold import collect_versions
from karat.protocols.annotation.regions import find_regions
from karat.protocols.annotation.report import measure_agreement, measure_project
from tests.protocols.annotation.projects import Recorder, make_project, make_task, suggest
from tests.strategies import labels as draw_labels

TEXT = "Ann  Bob  Cy  Dee  Eve"
ANN, BOB = Label(0, 3, "Q1"), Label(5, 8, "Q2")


def approx(value: float) -> object:
    return pytest.approx(value, abs=1e-12)


def report_on(recorder: Recorder, n_documents: int = 1, **options):
    project = make_project([make_task(number, TEXT) for number in range(n_documents)], **options)
    return measure_project(project, recorder.records, resamples=0)


def test_agreement_by_hand():
    """Two of three spans are shared, one of them with the same entity."""
    recorder = Recorder()
    recorder.finish("a", 0, ANN, BOB)
    recorder.finish("b", 0, ANN, Label(5, 8, "Q3"), Label(10, 12, "Q4"))
    report = report_on(recorder)
    pair = report.agreement
    assert pair is not None
    assert (pair.documents, pair.pairs) == (1, 1)
    assert pair.spans.value == approx(0.8)  # P 2/3, R 1
    assert pair.links.value == approx(0.4)  # P 1/3, R 1/2
    assert pair.kappa.value == approx(1 / 3)  # observed 1/2, by chance 1/4
    assert pair.alpha.value == approx(0.4)  # observed disagreement 1/2, expected 10/12
    assert (pair.spans.items, pair.links.items, pair.kappa.items) == (3, 4, 2)
    assert report.details is not None
    (details,) = report.details.pairs
    assert details.f1["strong"].value == pair.links.value
    assert details.kappa_of_links.value == pair.kappa.value
    assert report.gold == {
        "documents": 1,
        "agreed regions": 1,
        "undecided regions": 2,
        "documents with undecided regions": 1,
    }
    first, _ = report.annotators
    assert (first.annotator, first.documents, first.labels, first.minutes) == ("a", 1, 2, approx(0.1))
    assert first.with_others is not None
    assert first.with_others.links.value == approx(0.4)
    assert first.with_gold is None
    assert report.periods == ()
    assert report.undefined == {
        "periods": "fewer than 4 documents were finished by two annotators",
        "suggestions": "annotators saw suggestions in no finished documents",
    }


def test_categories_types_and_optional_labels_are_dimensions():
    recorder = Recorder()
    full, short = (
        {"categories": ("form:Full",), "types": ("Person",)},
        {"categories": ("form:Short",), "types": ("Person",)},
    )
    recorder.finish("a", 0, Label(0, 3, "Q1", **full), Label(5, 8, "Q2", **full), Label(10, 12, "Q3", **short))
    recorder.finish("b", 0, Label(0, 3, "Q1", **full), Label(5, 8, "Q2", **short), Label(10, 12, "Q3", optional=True))
    pair = report_on(recorder).agreement
    assert pair is not None
    # Full Full, Full Short: observed 2/4, expected (16 - 9 - 1) / 12
    assert pair.categories["form"].value == approx(1 - 0.5 / (6 / 12))
    assert pair.categories["form"].items == 2
    assert pair.categories["type"].reason == "all items have the same category"
    assert pair.categories["kind"].value is None
    # no no, no no, no yes: observed 2/6, expected (36 - 25 - 1) / 30
    assert pair.categories["optional"].value == approx(1 - (2 / 6) / (10 / 30))


def test_annotators_are_compared_before_adjudication():
    recorder = Recorder()
    recorder.finish("a", 0, ANN)
    recorder.finish("b", 0, Label(0, 3, "Q9"))
    versions = {name: version.labels for name, version in collect_versions(recorder.records).items()}
    recorder.decide(0, versions, choice="a")
    recorder.change("b", 0, "reopen")
    recorder.edit("b", 0, {"b0": versions["a"][0]})
    recorder.change("b", 0, "finish")
    report = report_on(recorder)
    assert report.agreement is not None
    assert report.agreement.links.value == 0
    assert report.agreement.spans.value == 1
    first, second = report.annotators
    assert first.with_gold is not None
    assert second.with_gold is not None
    assert (first.with_gold.links.value, second.with_gold.links.value) == (1, 0)
    assert report.gold_documents == 1  # both agree now


def test_imported_labels_are_in_no_period():
    """Of 8 documents, 4 are from an import, so that their times are those of the import; 4 give two periods."""
    recorder = Recorder()
    for number in range(8):
        for annotator in "ab":
            label = {f"{annotator}0": AnnotatedLabel(ANN)}
            recorder.edit(annotator, number, label, seconds=None if number < 4 else 6.0)
            recorder.change(annotator, number, "finish")
    report = report_on(recorder, 8)
    assert [item.agreement.documents for item in report.periods] == [2, 2]
    assert report.excluded == {
        "changes without time": 8,
        "documents with labels without time, such as imported ones (in no period)": 4,
    }
    recorder.records = recorder.records[:16]
    report = report_on(recorder, 8)
    assert report.periods == ()
    assert report.undefined["periods"].endswith("finished by two annotators in Karat; imported labels have no times")


def test_rounds_and_periods():
    recorder = Recorder()
    for number in range(4):
        recorder.finish("a", number, ANN)
        recorder.finish("b", number, ANN if number > 1 else BOB)
    versions = {name: version.labels for name, version in collect_versions(recorder.records[:4]).items()}
    for choice in ("a", "none"):
        regions = find_regions(versions)
        region = regions[0] if choice == "a" else regions[1]
        recorder.records.append(
            RegionDecision(
                id=choice,
                annotator="judge",
                task=0,
                start=region.start,
                end=region.end,
                digest=region.digest,
                choice=choice,
                labels=region.versions["a"],
                server_time="2026-01-02T00:00:00Z",
            )
        )
    recorder.round = 2
    for annotator in "ab":
        recorder.change(annotator, 0, "round")
        recorder.edit(annotator, 0, {f"{annotator}0": versions["a"][0]})
        recorder.change(annotator, 0, "finish")
    report = report_on(recorder, 4)
    assert [(item.agreement.documents, item.agreement.links.value) for item in report.periods] == [(2, 0), (2, 1)]
    assert report.periods[0].start < report.periods[0].end < report.periods[1].start
    assert [(item.round, item.agreement.documents, item.agreement.links.value) for item in report.rounds] == [
        (1, 4, 0.5),
        (2, 1, 1),
    ]
    assert report.round == 2


def test_three_annotators_are_three_pairs_of_one_document():
    recorder = Recorder()
    recorder.finish("a", 0, ANN)
    recorder.finish("b", 0, ANN)
    recorder.finish("c", 0, BOB)
    report = report_on(recorder, annotators=3)
    assert report.agreement is not None
    assert (report.agreement.documents, report.agreement.pairs) == (1, 3)
    assert report.agreement.spans.value == approx(1 / 3)
    assert [item.with_others and item.with_others.spans.value for item in report.annotators] == [0.5, 0.5, 0]


def test_effect_of_suggestions_by_hand():
    """With suggestions, the annotator takes a wrong one and misses a label that was not suggested."""
    suggestions = suggest(ANN, Label(5, 8, "Q666"))
    project = make_project(
        [make_task(number, TEXT, suggestions=suggestions) for number in range(2)], prefill="half", annotators=1
    )
    with_suggestions = next(number for number in range(2) if project.is_prefilled("a", number))
    recorder = Recorder()
    recorder.finish("a", with_suggestions, ANN, Label(5, 8, "Q666"))
    recorder.finish("a", 1 - with_suggestions, ANN, BOB)
    report = measure_project(project, recorder.records, resamples=0)
    effects = {
        name: (effect.with_suggestions.value, effect.without_suggestions.value)
        for name, effect in report.suggestions.items()
    }
    # the annotator alone makes the gold standard
    assert effects == {
        "labels equal to a suggestion": (1, 0.5),
        "suggested gold labels found": (1, 1),
        "other gold labels found": (None, 1),
        "wrong suggestions adopted": (None, 0),
        "agreement of annotators on links (F1)": (None, None),
    }
    effect = report.suggestions["labels equal to a suggestion"]
    assert (effect.difference.value, effect.difference.items) == (0.5, 4)
    assert report.suggestions["other gold labels found"].difference.reason == "one of the two values is undefined"


def test_empty_project():
    report = report_on(Recorder(), 2)
    assert report.agreement is None
    assert report.annotators == ()
    assert report.undefined["agreement"] == "no document was finished by two annotators"
    assert report.undefined["suggestions"] == "no document is finished"


def test_documents_without_labels_are_agreed():
    recorder = Recorder()
    for number in range(2):
        recorder.finish("a", number)
        recorder.finish("b", number)
    report = report_on(recorder, 2)
    assert report.agreement is not None
    assert report.agreement.spans.reason == "neither annotator marked anything"
    assert (report.gold_documents, report.gold_labels) == (2, 0)


def test_intervals_are_over_documents():
    recorder = Recorder()
    for number in range(6):
        recorder.finish("a", number, ANN)
        recorder.finish("b", number, ANN if number % 2 else BOB)
    project = make_project([make_task(number, TEXT) for number in range(6)])
    report = measure_project(project, recorder.records, resamples=200)
    assert report.agreement is not None
    links = report.agreement.links
    assert links.value == 0.5
    assert links.interval is not None
    assert links.interval.low < 0.5 < links.interval.high


@settings(max_examples=15, deadline=None)
@given(draw_labels(12, plain=False), draw_labels(12, plain=False))
def test_names_of_annotators_do_not_matter(first, second):
    agreements = []
    for names in ("ab", "ba"):
        recorder = Recorder()
        for name, labels in zip(names, (first, second), strict=True):
            recorder.finish(name, 0, *labels)
        agreements.append(measure_agreement(make_project([make_task(0, "x" * 12)]), recorder.records, resamples=0))
    one, other = agreements
    assert one is not None
    assert other is not None
    for name in ("spans", "links", "kappa", "alpha"):
        value = getattr(one, name).value
        assert getattr(other, name).value == (None if value is None else pytest.approx(value))
