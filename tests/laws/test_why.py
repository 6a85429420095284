"""Laws of attribution: the shares are the gap, and what is said to have no effect has none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat import KaratError, UsageError
from karat.explanation.why import why
from karat.registry import names
from karat.signing import profile_named
from karat.spec.choices.choices import CHOICES
from tests import strategies

PROFILES = [name for name in names("profiles") if not name.startswith("neleval-")]
MEASURES = ["strong:micro.f1", "weak:micro.f1", "mention-weak:macro.f1", "entity:micro.f1"]


@settings(max_examples=15)
@given(strategies.pairs(families=True), st.sampled_from(PROFILES), st.sampled_from(PROFILES), st.sampled_from(MEASURES))
@pytest.mark.extras  # it takes long
def test_shares_add_up_and_the_ends_are_the_profiles(pair, theirs, ours, measure):
    corpus, run = pair
    try:
        found = why(corpus, run, theirs=theirs, ours=ours, measure=measure)
    except UsageError:  # the measure is undefined in some mixture, and the message says so
        return
    assert found.their_score == karat.evaluate(corpus, run, like=theirs, measures=[measure])[measure]
    end = karat.evaluate(corpus, run, like=ours, measures=[measure])
    assert found.our_score == end[measure]
    assert found.our_signature == end.signature
    assert sum(cause.share for cause in found.causes) == pytest.approx(found.our_score - found.their_score)
    for cause in found.causes:
        if not cause.flips and cause.first and cause.moved is None:
            assert set(cause.choices) & {"empty", "macro", "assignment", "measure"}


@settings(max_examples=15)
@given(strategies.pairs(families=True), st.sampled_from(PROFILES), st.sampled_from(MEASURES))
@pytest.mark.extras  # it takes long
def test_what_is_said_to_have_no_effect_has_none(pair, theirs, measure):
    corpus, run = pair
    try:
        found = why(corpus, run, theirs=theirs, measure=measure)
    except UsageError:
        return
    ours = profile_named("karat").choices
    for choice in found.idle:
        changed = karat.evaluate(corpus, run, like=theirs, measures=[measure], choices={choice: ours[choice]})
        assert changed[measure] == found.their_score, choice


def test_choices_that_go_together_are_one():
    found = why(karat.load("demo"), karat.load_run("demo/noisy"), theirs="gerbil")
    together = next(cause for cause in found.causes if "nil" in cause.choices)
    assert together.choices == ("nil", "prefixes")
    assert found.exact
    assert found.mixtures == 2 ** len(found.causes)


def test_a_measure_can_be_a_cause():
    found = why(
        karat.load("demo"),
        karat.load_run("demo/noisy"),
        theirs="karat",
        measure="strong:micro.f1",
        their_measure="weak:micro.f1",
    )
    assert [cause.choices for cause in found.causes] == [("measure",)]
    assert found.causes[0].share == pytest.approx(found.our_score - found.their_score)


def test_profiles_and_measures_that_make_no_sense():
    corpus, run = karat.load("demo"), karat.load_run("demo/noisy")
    with pytest.raises(KaratError, match="Did you mean 'gerbil'"):
        why(corpus, run, theirs="gerbill")
    with pytest.raises(UsageError, match="one number"):
        why(corpus, run, theirs="gerbil", measure="strong_link_match")
    assert set(profile_named("gerbil").choices) == set(CHOICES)
