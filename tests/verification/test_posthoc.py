"""Posthoc measures: the published figures, a naive reference, and cases in which paper and program differ."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.verification.decisions import Decision
from karat.verification.posthoc import (
    READINGS,
    JudgedLink,
    LinkAt,
    OverlapKind,
    apart,
    before,
    missing_from_gold,
    outcome_counts,
    overlap_kinds,
    posthoc,
    posthoc_intervals,
    read_as,
    union_size,
    verification_union,
)
from tests.verification.figures import BEFORE_F1, DATASETS, POSTHOC, RATES, SHOWN, SOURCES, TOTALS, TRIPLES

PAPER, CODE = READINGS["paper"], READINGS["code"]
VERIFY, MODIFY, REMOVE = Decision.VERIFY, Decision.MODIFY, Decision.REMOVE


def link(source, start, end, entity, outcome=None, becomes=None, document="d", passage=0):
    becomes = entity if outcome is VERIFY else becomes
    return JudgedLink(source, passage, LinkAt(document, start, end, entity), outcome, becomes)


def spread(source, place, entity, outcome=None, longer=0):
    """The link at a place of its own, of which each document has a few."""
    document, start = divmod(place, 20)
    return link(source, 3 * start, 3 * start + 1 + longer, entity, outcome, document=f"d{document}")


def shown(figure, digits):
    return f"{figure:.{digits}f}".removeprefix("0")


def with_outcomes(source, triple):
    every = [decision for decision, count in zip((VERIFY, MODIFY, REMOVE), triple, strict=True) for _ in range(count)]
    return [
        link(source, 2 * place, 2 * place + 1, f"Q{place}", outcome, "Q0" if outcome is MODIFY else None)
        for place, outcome in enumerate(every)
    ]


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_outcomes_of_every_source_give_the_published_rates(dataset):
    for source, triple, rate in zip(SOURCES, TRIPLES[dataset], RATES[dataset], strict=True):
        links = with_outcomes(source, triple)
        counts = outcome_counts(links)
        assert counts == (*triple, 0)
        assert shown(counts.rate, 4) == rate
        assert posthoc(links, source, PAPER).precision == counts.rate  # the paper's posthoc precision is the rate


def test_the_totals_over_all_datasets_are_the_published_ones():
    for place, (verified, judged, rate) in enumerate(TOTALS):
        every = [outcome_counts(with_outcomes("X", TRIPLES[dataset][place])) for dataset in DATASETS]
        assert (sum(one.verify for one in every), sum(one.judged for one in every)) == (verified, judged)
        assert shown(verified / judged, 4) == rate


def pooled(dataset):
    """Judgements with the sizes that the published posthoc figures imply, and those figures."""
    size, *scores = POSTHOC[dataset]
    links, expected = [], {}
    for source, (precision, recall) in zip(SOURCES, scores, strict=True):
        right = round(float(recall) * size)
        wrong = round(right / float(precision)) - right
        first = 0 if source == "GT" else size - right  # GT and REL together cover the union
        links += [spread(source, place, "Q1", VERIFY) for place in range(first, first + right)]
        links += [spread(source, size + place, f"Q{source}", REMOVE) for place in range(wrong)]
        expected[source] = precision, recall
    return links, size, expected


@pytest.mark.parametrize("dataset", DATASETS)
def test_judgements_of_the_published_sizes_give_the_published_posthoc_scores(dataset):
    links, size, expected = pooled(dataset)
    for source, (precision, recall) in expected.items():
        found = posthoc(links, source, CODE)
        assert found.union == size
        assert (shown(found.precision, 3), shown(found.recall, 3)) == (precision, recall)


@pytest.mark.parametrize("dataset", DATASETS)
def test_links_of_the_published_sizes_give_the_published_scores_before(dataset):
    for place, f1 in enumerate(BEFORE_F1[dataset], 1):
        gold, own = SHOWN[dataset][0], SHOWN[dataset][place]
        both = round(float(f1) * (gold + own) / 2)
        links = [spread("GT", place, "Q1") for place in range(gold)]
        links += [spread("X", place, "Q1", longer=1) for place in range(both)]  # overlap, same entity
        links += [spread("X", place, "Q2") for place in range(own - both)]
        assert shown(before(links, "X", "GT").f1, 3) == f1
        assert before(links, "X", "GT", weak=False).right == 0


def test_a_link_that_its_own_judge_removed_counts_as_coded_if_another_accepted_it():
    links = [link("GT", 0, 5, "Q1", REMOVE), link("REL", 0, 5, "Q1", VERIFY)]
    assert posthoc(links, "GT", PAPER) == (0, 1, 1)
    assert posthoc(links, "GT", CODE) == (1, 1, 1)


def test_a_modified_link_is_in_the_union_as_coded_only():
    links = [link("GT", 0, 5, "Q1", MODIFY, "Q2"), link("REL", 0, 5, "Q2", REMOVE)]
    assert verification_union(links, PAPER) == frozenset()
    assert verification_union(links, CODE) == {LinkAt("d", 0, 5, "Q2")}
    assert posthoc(links, "REL", CODE) == (1, 1, 1)
    assert posthoc(links, "GT", CODE) == (0, 1, 1)


def test_overlapping_links_count_once_in_the_size_as_coded_and_recall_can_be_above_1():
    links = [link("GT", 0, 9, "Q1", VERIFY), link("GT", 0, 5, "Q2", VERIFY), link("GT", 6, 9, "Q3", VERIFY)]
    assert union_size(verification_union(links, PAPER), PAPER) == 3
    assert union_size(verification_union(links, CODE), CODE) == 1
    assert posthoc(links, "GT", CODE).recall == 3.0
    assert posthoc_intervals(links, "GT", CODE, unit="annotation").recall is None


def test_passages_that_are_not_finished_are_left_out_as_coded():
    links = [link("GT", 0, 5, "Q1", VERIFY), link("REL", 0, 5, "Q1"), link("GT", 400, 405, "Q1", VERIFY, passage=300)]
    assert posthoc(links, "GT", PAPER) == (2, 2, 1 + 1)
    assert posthoc(links, "GT", CODE) == (1, 1, 1)


def test_nothing_judged_gives_no_score():
    links = [link("GT", 0, 5, "Q1")]
    found = posthoc(links, "GT", PAPER)
    assert (found.precision, found.recall, found.f1) == (None, None, None)
    assert outcome_counts(links).rate is None
    assert missing_from_gold(links, "GT", PAPER).share is None
    assert posthoc_intervals(links, "GT", PAPER) == (None, None)


def test_the_five_kinds_of_overlap():
    gold = [LinkAt("d", 0, 5, "Q1"), LinkAt("d", 10, 20, "Q2")]
    kinds = {
        (0, 5, "Q1"): OverlapKind.SAME,
        (0, 5, "Q9"): OverlapKind.SPAN,
        (10, 15, "Q2"): OverlapKind.ENTITY,
        (10, 15, "Q9"): OverlapKind.OVERLAP,
        (30, 35, "Q1"): OverlapKind.ALONE,
    }
    for (start, end, entity), kind in kinds.items():
        counts = overlap_kinds([LinkAt("d", start, end, entity)], gold)
        assert [each for each, count in counts.items() if count] == [kind]
    assert overlap_kinds([LinkAt("other", 0, 5, "Q1")], gold)[OverlapKind.ALONE] == 1


def test_what_the_gold_standard_lacks_is_counted_out_of_the_union():
    links = [link("GT", 0, 5, "Q1", VERIFY), link("REL", 10, 15, "Q2", VERIFY), link("REL", 0, 3, "Q3", VERIFY)]
    assert missing_from_gold(links, "GT", PAPER) == (1, 3)


def test_intervals_of_annotations_and_documents_say_what_they_are_of():
    links = [link("GT", 0, 5, "Q1", VERIFY if k % 10 else REMOVE, document=f"d{k // 10}") for k in range(400)]
    by_document = posthoc_intervals(links, "GT", PAPER, unit="document")
    by_annotation = posthoc_intervals(links, "GT", PAPER, unit="annotation")
    narrow = posthoc_intervals(links, "GT", PAPER, unit="annotation", level=0.9)
    assert by_document.precision == (0.9, 0.9)  # each document has one in ten
    assert (
        by_annotation.precision.low < narrow.precision.low < 0.9 < narrow.precision.high < by_annotation.precision.high
    )
    assert posthoc_intervals(links, "GT", PAPER, unit="annotation") == by_annotation


# A naive reference: every pair of links is looked at.

places = st.tuples(st.integers(0, 12), st.integers(1, 5)).map(lambda one: (one[0], one[0] + one[1]))


@st.composite
def judged(draw):
    found = {}
    for _ in range(draw(st.integers(0, 14))):
        source, (start, end), entity = draw(st.sampled_from(SOURCES)), draw(places), draw(st.sampled_from("ABC"))
        outcome = draw(st.sampled_from([VERIFY, VERIFY, MODIFY, REMOVE, None]))
        becomes = draw(st.sampled_from("ABC")) if outcome is MODIFY else None
        document = draw(st.sampled_from(["d", "e"]))
        one = link(source, start, end, entity, outcome, becomes, document, passage=draw(st.sampled_from([0, 100])))
        found.setdefault((source, one.shown), one)
    return list(found.values())


def naive(links, source, reading):
    def is_open(one):
        return any(
            (other.shown.document, other.passage) == (one.shown.document, one.passage) and other.outcome is None
            for other in links
        )

    used = [one for one in links if one.outcome is not None and not (reading.finished and is_open(one))]
    union = []
    for one in used:
        new = one.shown if one.outcome is VERIFY else None
        if one.outcome is MODIFY and reading.edited:
            new = LinkAt(one.shown.document, one.shown.start, one.shown.end, one.becomes)
        if new is not None and new not in union:
            union.append(new)
    size = len(union)
    if reading.greedy:
        kept = []
        for one in sorted(union, key=lambda each: (each.start, -each.end, each.entity)):
            own = [other for other in kept if other.document == one.document]
            if all(one.start >= other.end for other in own):
                kept.append(one)
        size = len(kept)
    right = 0
    for one in used:
        if one.source != source:
            continue
        if not reading.pooled:
            right += one.outcome is VERIFY
        else:
            right += any(
                one.shown.document == other.document
                and one.shown.entity == other.entity
                and max(one.shown.start, other.start) < min(one.shown.end, other.end)
                for other in union
            )
    return right, sum(one.source == source for one in used), size


@given(judged(), st.sampled_from(sorted(READINGS)))
def test_every_reading_is_what_a_naive_reference_says(links, name):
    for source in SOURCES:
        assert posthoc(links, source, READINGS[name]) == naive(links, source, READINGS[name])


@given(judged())
def test_what_is_kept_apart_never_overlaps_and_takes_in_all_else(links):
    union = verification_union(links, CODE)
    kept = apart(union)
    assert not any(one.overlaps(two) for one, two in combinations(kept, 2))
    assert all(any(one == other or one.overlaps(other) for other in kept) for one in union)


@given(judged())
def test_the_order_of_links_does_not_matter(links):
    for reading in READINGS.values():
        assert posthoc(links, "GT", reading) == posthoc(links[::-1], "GT", reading)
        assert sorted(read_as(links, reading)) == sorted(read_as(links[::-1], reading))
