"""Regions in which the labels of annotators are compared."""

from __future__ import annotations

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat import UNLINKED, Label
from karat.protocols.annotation.regions import describe_structure, find_regions, has_same_structure
from tests.protocols.annotation.projects import annotate
from tests.strategies import labels as draw_labels

WHOLE = Label(0, 19, "Q1", mention_id="w")
PARTS = Label(0, 7, "Q1", mention_id="p", parent="w"), Label(9, 19, "Q2", mention_id="q", parent="w")


def test_labels_that_overlap_form_one_region():
    first = annotate(Label(0, 5, "Q1"), Label(10, 15, "Q2"), Label(20, 25, "Q3"))
    second = annotate(Label(4, 11, "Q1"), Label(20, 25, "Q3"))
    regions = find_regions({"b": second, "a": first})
    assert [(region.start, region.end, region.is_agreed) for region in regions] == [(0, 15, False), (20, 25, True)]
    assert list(regions[0].versions) == ["a", "b"]
    assert regions[0].versions["a"] == first[:2]
    assert regions[0].versions["b"] == second[:1]


def test_adjacent_labels_are_two_regions():
    regions = find_regions({"a": annotate(Label(0, 5, "Q1"), Label(5, 8, "Q2")), "b": ()})
    assert [(region.start, region.end) for region in regions] == [(0, 5), (5, 8)]
    assert regions[0].versions["b"] == ()


def test_parts_and_alternatives_are_in_the_region_of_their_mention():
    alternatives = annotate(Label(0, 3, "Q1", mention_id="m"), Label(8, 12, "Q1", mention_id="m"))
    between = annotate(Label(5, 6, "Q9"))
    regions = find_regions({"a": alternatives, "b": between})
    assert [(region.start, region.end) for region in regions] == [(0, 12)]


def test_a_nil_cluster_of_one_label_says_no_more_than_nil():
    """Guidelines ask for a name only if the document mentions the entity again."""
    named, unnamed = Label(0, 3, None, nil_cluster="Ann"), Label(0, 3, None)
    (region,) = find_regions({"a": annotate(named), "b": annotate(unnamed)})
    assert region.is_agreed
    again = Label(9, 12, None, nil_cluster="ann")
    regions = find_regions({"a": annotate(named, again), "b": annotate(unnamed, Label(9, 12, None))})
    assert [region.is_agreed for region in regions] == [False, False]


def test_a_name_that_two_annotators_give_to_two_spans_is_a_disagreement():
    """Neither says that the two spans are one entity, so the gold standard must not."""
    first, second = Label(0, 3, None, nil_cluster="Ann"), Label(9, 12, None, nil_cluster="ann")
    unnamed = [msgspec.structs.replace(label, nil_cluster=None) for label in (first, second)]
    regions = find_regions({"a": annotate(first, unnamed[1]), "b": annotate(unnamed[0], second)})
    assert [region.is_agreed for region in regions] == [False, False]


def test_footnote_8_is_compared_as_a_whole():
    renamed = (
        Label(9, 19, "Q2", mention_id="1", parent="0"),
        Label(0, 7, "Q1", mention_id="2", parent="0"),
        Label(0, 19, "Q1", mention_id="0"),
    )
    (region,) = find_regions({"a": annotate(WHOLE, *PARTS), "b": annotate(*renamed)})
    assert region.is_agreed
    (other,) = find_regions({"a": annotate(WHOLE, *PARTS), "b": annotate(WHOLE, PARTS[0])})
    assert not other.is_agreed
    separate = (Label(0, 19, "Q1"), Label(0, 7, "Q1"), Label(9, 19, "Q2"))
    assert not has_same_structure(annotate(WHOLE, *PARTS), annotate(*separate))


@pytest.mark.parametrize(
    "other",
    [
        Label(0, 5, "Q2"),
        Label(0, 6, "Q1"),
        Label(0, 5, None),
        Label(0, 5, UNLINKED),
        Label(0, 5, "Q1", optional=True),
        Label(0, 5, "Q1", kind="coreference"),
        Label(0, 5, "Q1", types=("Person",)),
        Label(0, 5, "Q1", categories=("form:Full",)),
    ],
)
def test_any_difference_of_meaning_is_a_disagreement(other):
    regions = find_regions({"a": annotate(Label(0, 5, "Q1")), "b": annotate(other)})
    assert [region.is_agreed for region in regions] == [False]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Label(0, 5, "Q1"), Label(0, 5, "http://www.wikidata.org/entity/Q1")),
        (Label(0, 5, "Q1", name="Ann"), Label(0, 5, "Q1", mention_id="z")),
        (
            Label(0, 5, "Q1", categories=("pos:Verb", "form:Full")),
            Label(0, 5, "Q1", categories=("form:Full", "pos:Verb")),
        ),
        (Label(0, 5, None, kind="quantity"), Label(0, 5, "QUANTITY", types=("QUANTITY",), kind="quantity")),
        (Label(0, 5, None, nil_cluster="The Mayor"), Label(0, 5, None, nil_cluster="the  mayor")),
    ],
)
def test_spelling_is_no_disagreement(first, second):
    (region,) = find_regions({"a": annotate(first, note="sure"), "b": annotate(second)})
    assert region.is_agreed


def test_two_labels_of_one_span_that_differ_in_their_entity_stay_two():
    two = annotate(Label(0, 5, "Q1"), Label(0, 5, "Q2"))
    (region,) = find_regions({"a": two, "b": annotate(Label(0, 5, "Q1"))})
    assert not region.is_agreed
    assert len(region.versions["a"]) == 2
    alternatives = annotate(Label(0, 5, "Q1", mention_id="m"), Label(0, 5, "Q2", mention_id="m"))
    assert not has_same_structure(two, alternatives)


def test_digest_depends_on_all_versions():
    versions = {"a": annotate(Label(0, 5, "Q1")), "b": annotate(Label(0, 5, "Q2"))}
    (region,) = find_regions(versions)
    (same,) = find_regions(dict(reversed(versions.items())))
    (changed,) = find_regions({**versions, "b": annotate(Label(0, 5, "Q3"))})
    (third,) = find_regions({**versions, "c": ()})
    assert region.digest == same.digest
    assert len({region.digest, changed.digest, third.digest}) == 3


def test_circular_and_missing_parents_are_no_parents():
    circle = annotate(Label(0, 5, "Q1", mention_id="a", parent="b"), Label(0, 3, "Q2", mention_id="b", parent="a"))
    assert describe_structure(circle)
    lost = annotate(Label(0, 5, "Q1", parent="nowhere"))
    assert has_same_structure(lost, annotate(Label(0, 5, "Q1")))


def test_a_long_chain_of_parents_is_compared():
    chain = annotate(*(Label(0, 5, "Q1", mention_id=str(n), parent=str(n + 1)) for n in range(1500)))
    assert has_same_structure(chain, chain)


LABELS = draw_labels(12, plain=False, families=True).map(lambda labels: annotate(*labels))


@given(st.dictionaries(st.sampled_from("abc"), LABELS, min_size=1))
def test_regions_partition_the_labels(versions):
    regions = find_regions(versions)
    assert all(first.end <= second.start for first, second in itertools.pairwise(regions))
    for annotator, labels in versions.items():
        parts = [label for region in regions for label in region.versions[annotator]]
        assert sorted(map(repr, parts)) == sorted(map(repr, labels))
    for region in regions:
        assert any(region.versions.values())
        assert all(
            region.start <= label.label.start < label.label.end <= region.end
            for labels in region.versions.values()
            for label in labels
        )


@given(LABELS, st.randoms())
def test_order_and_names_of_ids_do_not_matter(labels, random):
    import msgspec

    renamed = [
        msgspec.structs.replace(
            item,
            label=msgspec.structs.replace(
                item.label,
                mention_id=item.label.mention_id and f"x{item.label.mention_id}",
                parent=item.label.parent and f"x{item.label.parent}",
            ),
        )
        for item in labels
    ]
    random.shuffle(renamed)
    regions = find_regions({"a": labels, "b": renamed})
    assert all(region.is_agreed for region in regions)
    assert find_regions({"b": renamed, "a": labels}) == regions
