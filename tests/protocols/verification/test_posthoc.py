"""Posthoc measures: the published figures, a naive reference, and cases in which paper and program differ."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.protocols.verification.judgements import Decision
from karat.protocols.verification.posthoc import (
    VARIANTS,
    IntervalSettings,
    JudgedLink,
    MissingShare,
    OverlapKind,
    TextLink,
    count_outcomes,
    count_overlap_kinds,
    measure_pair,
    missing_share,
    original_counts,
    original_intervals,
    posthoc_counts,
    posthoc_intervals,
    remove_overlaps,
    select_links,
    union_size,
    verification_union,
)
from karat.stats.samples.bootstrap import percentile_interval, resample_totals
from karat.stats.samples.confidence_intervals import expand_confidence
from tests.protocols.verification.figures import BEFORE_F1, DATASETS, POSTHOC, RATES, SHOWN, SOURCES, TOTALS, TRIPLES

PAPER, CODE = VARIANTS["paper"], VARIANTS["code"]
VERIFY, MODIFY, REMOVE = Decision.VERIFY, Decision.MODIFY, Decision.REMOVE


def link(source, start, end, entity, outcome=None, becomes=None, document="d", passage=0):
    becomes = entity if outcome is VERIFY else becomes
    return JudgedLink(source, passage, TextLink(document, start, end, entity), outcome, becomes)


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
        counts = count_outcomes(links)
        assert counts == (*triple, 0)
        assert shown(counts.rate, 4) == rate
        assert posthoc_counts(links, source, PAPER).precision == counts.rate  # precision is the rate in the paper


def test_the_totals_over_all_datasets_are_the_published_ones():
    for place, (verified, judged, rate) in enumerate(TOTALS):
        every = [count_outcomes(with_outcomes("X", TRIPLES[dataset][place])) for dataset in DATASETS]
        assert (sum(one.verify for one in every), sum(one.total for one in every)) == (verified, judged)
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
        found = posthoc_counts(links, source, CODE)
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
        assert shown(original_counts(links, "X", "GT").f1, 3) == f1
        assert original_counts(links, "X", "GT", weak=False).correct == 0


def test_a_link_that_its_own_judge_removed_counts_as_coded_if_another_accepted_it():
    links = [link("GT", 0, 5, "Q1", REMOVE), link("REL", 0, 5, "Q1", VERIFY)]
    assert posthoc_counts(links, "GT", PAPER) == (0, 1, 1)
    assert posthoc_counts(links, "GT", CODE) == (1, 1, 1)


def test_a_modified_link_is_in_the_union_as_coded_only():
    links = [link("GT", 0, 5, "Q1", MODIFY, "Q2"), link("REL", 0, 5, "Q2", REMOVE)]
    assert verification_union(links, PAPER) == frozenset()
    assert verification_union(links, CODE) == {TextLink("d", 0, 5, "Q2")}
    assert posthoc_counts(links, "REL", CODE) == (1, 1, 1)
    assert posthoc_counts(links, "GT", CODE) == (0, 1, 1)


def test_overlapping_links_count_once_in_the_size_as_coded_and_recall_can_be_above_1():
    links = [link("GT", 0, 9, "Q1", VERIFY), link("GT", 0, 5, "Q2", VERIFY), link("GT", 6, 9, "Q3", VERIFY)]
    assert union_size(verification_union(links, PAPER), PAPER) == 3
    assert union_size(verification_union(links, CODE), CODE) == 1
    assert posthoc_counts(links, "GT", CODE).recall == 3.0
    assert posthoc_intervals(links, "GT", CODE, unit="annotation").recall is None


def test_passages_that_are_not_finished_are_left_out_as_coded():
    links = [link("GT", 0, 5, "Q1", VERIFY), link("REL", 0, 5, "Q1"), link("GT", 400, 405, "Q1", VERIFY, passage=300)]
    assert posthoc_counts(links, "GT", PAPER) == (2, 2, 1 + 1)
    assert posthoc_counts(links, "GT", CODE) == (1, 1, 1)


def test_nothing_judged_gives_no_score():
    links = [link("GT", 0, 5, "Q1")]
    found = posthoc_counts(links, "GT", PAPER)
    assert (found.precision, found.recall, found.f1) == (None, None, None)
    assert count_outcomes(links).rate is None
    assert missing_share(links, "GT", PAPER).share is None
    assert posthoc_intervals(links, "GT", PAPER) == (None, None)


def test_the_five_kinds_of_overlap():
    gold = [TextLink("d", 0, 5, "Q1"), TextLink("d", 10, 20, "Q2")]
    kinds = {
        (0, 5, "Q1"): OverlapKind.SAME,
        (0, 5, "Q9"): OverlapKind.SPAN,
        (10, 15, "Q2"): OverlapKind.ENTITY,
        (10, 15, "Q9"): OverlapKind.OVERLAP,
        (30, 35, "Q1"): OverlapKind.ALONE,
    }
    for (start, end, entity), kind in kinds.items():
        counts = count_overlap_kinds([TextLink("d", start, end, entity)], gold)
        assert [each for each, count in counts.items() if count] == [kind]
    assert count_overlap_kinds([TextLink("other", 0, 5, "Q1")], gold)[OverlapKind.ALONE] == 1


def test_what_the_gold_standard_lacks_is_counted_out_of_the_union():
    links = [link("GT", 0, 5, "Q1", VERIFY), link("REL", 10, 15, "Q2", VERIFY), link("REL", 0, 3, "Q3", VERIFY)]
    assert missing_share(links, "GT", PAPER) == MissingShare(missing=1, union=3, share=1 / 3)


def test_two_sources_by_hand():
    """GT and REL share two links, of which one was verified for both and one for REL only; the third source is left
    out. GT alone has a removed link, REL alone a verified one: four links of six are verified, three distinct ones."""
    links = [
        link("GT", 0, 5, "Q1", VERIFY),
        link("REL", 0, 5, "Q1", VERIFY),
        link("GT", 10, 15, "Q2", MODIFY, "Q9"),
        link("REL", 10, 15, "Q2", VERIFY),
        link("GT", 20, 25, "Q3", REMOVE),
        link("REL", 30, 35, "Q4", VERIFY),
        link("E2E", 40, 45, "Q5", VERIFY),
    ]
    found = measure_pair(links, "GT", "REL")
    assert (found.source_a, found.source_b, found.shared) == ("GT", "REL", 2)
    assert (found.rate, found.shared_rate, found.agreement) == (4 / 6, 3 / 4, 1 / 2)
    assert (found.rate_only_a, found.rate_only_b) == (0, 1)
    paper, code = found.posthoc["paper"], found.posthoc["code"]
    assert (paper.union, paper.recall_a, paper.recall_b) == (3, 1 / 3, 1)
    # As coded, the union has Q9 too, but no link that overlaps an earlier one; GT has Q1 and Q2 of it.
    assert (code.union, code.recall_a, code.recall_b) == (3, 2 / 3, 1)


def test_two_sources_with_open_links_have_no_recall():
    links = [link("GT", 0, 5, "Q1", VERIFY), link("REL", 0, 5, "Q1"), link("E2E", 0, 5, "Q1")]
    found = measure_pair(links, "GT", "REL")
    assert (found.posthoc["paper"].union, found.posthoc["paper"].recall_a) == (1, None)
    assert (found.rate, found.shared, found.shared_rate, found.agreement) == (1, 1, 1, None)
    assert (found.rate_only_a, found.rate_only_b) == (None, None)
    assert measure_pair(links, "E2E", "REL").posthoc["code"].recall_b is None


def test_intervals_of_annotations_and_documents_say_what_they_are_of():
    links = [link("GT", 0, 5, "Q1", VERIFY if k % 10 else REMOVE, document=f"d{k // 10}") for k in range(400)]
    by_document = posthoc_intervals(links, "GT", PAPER, unit="document")
    by_annotation = posthoc_intervals(links, "GT", PAPER, unit="annotation")
    narrow = posthoc_intervals(links, "GT", PAPER, unit="annotation", confidence=0.9)
    assert by_document.precision is None  # each document has one in ten: as in score --ci, no interval without width
    assert (
        by_annotation.precision.low < narrow.precision.low < 0.9 < narrow.precision.high < by_annotation.precision.high
    )
    assert posthoc_intervals(links, "GT", PAPER, unit="annotation") == by_annotation


def by_document(accepted):
    """Per document, the numbers of accepted and removed links of one source."""
    return [
        link("GT", 2 * place, 2 * place + 1, "Q1", VERIFY if place < n_right else REMOVE, document=f"d{number}")
        for number, (n_right, n_wrong) in enumerate(accepted)
        for place in range(n_right + n_wrong)
    ]


def test_intervals_widen_for_few_documents_as_those_of_scores_do():
    """The plain percentile interval of 12 documents covers 90 %, the expanded one 94 %."""
    accepted = [(1 + number % 4, number % 3) for number in range(12)]
    found = posthoc_intervals(by_document(accepted), "GT", PAPER).precision
    totals = resample_totals(np.array([(right, right + wrong, right) for right, wrong in accepted], float), 1000, 0)
    samples = totals[:, 0] / totals[:, 1]
    assert found == percentile_interval(samples, expand_confidence(0.95, 12))
    plain = percentile_interval(samples, 0.95)
    assert found.low < plain.low < plain.high < found.high


def test_one_document_has_no_interval():
    links = by_document([(2, 1)])
    assert posthoc_counts(links, "GT", PAPER).precision == 2 / 3
    assert posthoc_intervals(links, "GT", PAPER) == (None, None)


def test_scores_before_verification_have_intervals_too():
    gold = [spread("GT", place, "Q1") for place in range(100)]
    own = [spread("X", place, "Q1" if place > 8 else "Q2") for place in range(80)]
    counts = original_counts(gold + own, "X", "GT")
    for unit in ("document", "annotation"):
        found = original_intervals(gold + own, "X", "GT", IntervalSettings(unit))
        assert found.precision.low < counts.precision < found.precision.high
        assert found.recall.low < counts.recall < found.recall.high
    assert original_intervals(gold + own, "GT", "GT", IntervalSettings()) == (None, None)  # 100 % in every sample
    assert original_intervals(gold + own, "X", "GT", IntervalSettings(resamples=0)) == (None, None)


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
        found.setdefault((source, one.link), one)
    return list(found.values())


def naive(links, source, variant):
    def is_open(one):
        return any(
            (other.link.document, other.passage_start) == (one.link.document, one.passage_start)
            and other.outcome is None
            for other in links
        )

    used = [one for one in links if one.outcome is not None and not (variant.needs_complete_passages and is_open(one))]
    union = []
    for one in used:
        new = one.link if one.outcome is VERIFY else None
        if one.outcome is MODIFY and variant.includes_modified:
            new = TextLink(one.link.document, one.link.start, one.link.end, one.becomes)
        if new is not None and new not in union:
            union.append(new)
    size = len(union)
    if variant.is_disjoint:
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
        if not variant.matches_union:
            right += one.outcome is VERIFY
        else:
            right += any(
                one.link.document == other.document
                and one.link.entity == other.entity
                and max(one.link.start, other.start) < min(one.link.end, other.end)
                for other in union
            )
    return right, sum(one.source == source for one in used), size


@given(judged(), st.sampled_from(sorted(VARIANTS)))
def test_every_reading_is_what_a_naive_reference_says(links, name):
    for source in SOURCES:
        assert posthoc_counts(links, source, VARIANTS[name]) == naive(links, source, VARIANTS[name])


@given(judged())
def test_what_is_kept_apart_never_overlaps_and_takes_in_all_else(links):
    union = verification_union(links, CODE)
    kept = remove_overlaps(union)
    assert not any(one.overlaps(two) for one, two in combinations(kept, 2))
    assert all(any(one == other or one.overlaps(other) for other in kept) for one in union)


@given(judged())
def test_the_order_of_links_does_not_matter(links):
    for reading in VARIANTS.values():
        assert posthoc_counts(links, "GT", reading) == posthoc_counts(links[::-1], "GT", reading)
        assert sorted(select_links(links, reading)) == sorted(select_links(links[::-1], reading))


@given(judged())
def test_two_sources_are_compared_as_if_they_were_alone(links):
    for first, second in combinations(SOURCES, 2):
        found = measure_pair(links, first, second)
        pair = [one for one in links if one.source in (first, second)]
        assert found == measure_pair(pair, first, second)
        mirrored = measure_pair(links, second, first)
        assert (found.rate, found.shared, found.agreement) == (mirrored.rate, mirrored.shared, mirrored.agreement)
        assert (found.rate_only_a, found.rate_only_b) == (mirrored.rate_only_b, mirrored.rate_only_a)
        for name, variant in VARIANTS.items():
            assert found.posthoc[name].union == naive(pair, first, variant)[2]
