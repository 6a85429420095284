"""Laws of attribution: the shares are the gap, and what is said to have no effect has none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, KaratError, Label, Prediction, Response, Run, UsageError
from karat.analysis.explanation.gap import explain_gap
from karat.model.profile_signatures import get_profile
from karat.model.registry import list_plugins
from karat.model.spec.settings.settings import SETTINGS
from karat.render.gap import render_page
from tests import strategies

PROFILES = [name for name in list_plugins("profiles") if not name.startswith("neleval-")]
MEASURES = ["strong:micro.f1", "weak:micro.f1", "mention-weak:macro.f1", "entity:micro.f1"]


@settings(max_examples=15)
@given(strategies.pairs(families=True), st.sampled_from(PROFILES), st.sampled_from(PROFILES), st.sampled_from(MEASURES))
@pytest.mark.extras  # it takes long
def test_shares_add_up_and_the_ends_are_the_profiles(pair, theirs, ours, measure):
    corpus, run = pair
    try:
        found = explain_gap(corpus, run, reference_profile=theirs, profile=ours, measure=measure)
    except UsageError:  # the measure is undefined in some mixture, and the message says so
        return
    assert found.reference_score == karat.evaluate(corpus, run, profile=theirs, measures=[measure])[measure]
    end = karat.evaluate(corpus, run, profile=ours, measures=[measure])
    assert found.score == end[measure]
    assert found.signature == end.signature
    assert sum(cause.share for cause in found.causes) == pytest.approx(found.score - found.reference_score)
    for cause in found.causes:
        if not cause.flips and cause.change_if_first and cause.threshold_change is None:
            assert set(cause.settings) & {"empty", "macro", "assignment", "measure"}


@settings(max_examples=15)
@given(strategies.pairs(families=True), st.sampled_from(PROFILES), st.sampled_from(MEASURES))
@pytest.mark.extras  # it takes long
def test_what_is_said_to_have_no_effect_has_none(pair, theirs, measure):
    corpus, run = pair
    try:
        found = explain_gap(corpus, run, reference_profile=theirs, measure=measure)
    except UsageError:
        return
    ours = get_profile("karat").settings
    for setting in found.irrelevant_settings:
        changed = karat.evaluate(corpus, run, profile=theirs, measures=[measure], settings={setting: ours[setting]})
        assert changed[measure] == found.reference_score, setting


def test_settings_that_go_together_are_one():
    found = explain_gap(karat.load("demo"), karat.load_run("demo/noisy"), reference_profile="gerbil")
    together = next(cause for cause in found.causes if "nil" in cause.settings)
    assert together.settings == ("nil", "nil-ids", "prefixes")
    assert found.is_exact
    assert found.n_mixtures == 2 ** len(found.causes)


@pytest.mark.parametrize(("theirs", "ours"), [("gerbil", "elevant"), ("elevant", "gerbil"), ("bat", "elevant")])
def test_an_oracle_threshold_is_fixed_where_the_assignment_supports_none(theirs, ours):
    """The lookup of `elevant` selects no thresholds: all mixtures use the one that the other profile selects."""
    corpus, run = karat.load("demo"), karat.load_run("demo/noisy")
    found = explain_gap(corpus, run, reference_profile=theirs, profile=ours)
    ends = [karat.evaluate(corpus, run, profile=name, measures=["strong:micro.f1"]) for name in (theirs, ours)]
    assert [found.reference_score, found.score] == [end["strong:micro.f1"] for end in ends]
    assert [found.reference_signature, found.signature] == [end.signature for end in ends]
    assert sum(cause.share for cause in found.causes) == pytest.approx(found.gap)
    oracle = next(end for end in ends if end.thresholds)
    assert found.fixed_threshold is not None
    assert float(found.fixed_threshold.lstrip(">")) == oracle.thresholds["strong"]
    threshold = next(cause for cause in found.causes if cause.settings == ("threshold",))
    assert any(value.startswith("oracle") for value in (*threshold.reference_values, *threshold.values))
    assert "(oracle)" in render_page(found, 0)
    assert "assignment=lookup supports no oracle" in render_page(found, 0)


def test_causes_that_depend_on_each_other_are_named():
    """Under `gerbil` all ids of the demo are emerging entities: to switch ids or NIL alone ends that, as both do."""
    found = explain_gap(karat.load("demo"), karat.load_run("demo/noisy"), reference_profile="gerbil")
    shares = {cause.name: cause.share for cause in found.causes}
    interaction = next(item for item in found.interactions if set(item.causes) == {"nil, nil-ids, prefixes", "ids"})
    assert interaction.change_together == pytest.approx(interaction.changes_alone[0])
    assert interaction.share == pytest.approx(sum(shares[name] for name in interaction.causes))
    page = render_page(found, 0)
    assert "(nil, nil-ids, prefixes) and ids depend on each other: -7.6 and -7.6 alone, -7.6 together." in page
    assert "(nil, nil-ids, prefixes) + ids" in page.split("\n\n")[0]


def test_causes_that_cancel_are_named():
    """Of four mentions two are NIL, two optional: to count the first loses what to ignore the second gains."""
    text = "Ada met Bob, Eve and Dan."
    labels = (Label(0, 3, "Q1"), Label(8, 11, None), Label(13, 16, "Q3", optional=True), Label(21, 24, "Q4"))
    corpus = Corpus.from_documents([Document("d", text, labels)])
    run = Run.from_responses([Response("d", (Prediction(0, 3, "Q1"), Prediction(21, 24, "Q4")))])
    found = explain_gap(
        corpus,
        run,
        reference_profile="karat",
        reference_settings={"nil": "dropped", "optional": "required"},
        measure="strong:micro.r",
    )
    assert found.gap == pytest.approx(0)
    (interaction,) = found.interactions
    assert set(interaction.causes) == {"nil", "optional"}
    assert interaction.share == pytest.approx(0)
    assert sorted(interaction.changes_alone) == pytest.approx([2 / 4 - 2 / 3, 2 / 2 - 2 / 3])


def test_a_measure_can_be_a_cause():
    found = explain_gap(
        karat.load("demo"),
        karat.load_run("demo/noisy"),
        reference_profile="karat",
        measure="strong:micro.f1",
        reference_measure="weak:micro.f1",
    )
    assert [cause.settings for cause in found.causes] == [("measure",)]
    assert found.causes[0].share == pytest.approx(found.score - found.reference_score)


def test_profiles_and_measures_that_make_no_sense():
    corpus, run = karat.load("demo"), karat.load_run("demo/noisy")
    with pytest.raises(KaratError, match="Did you mean 'gerbil'"):
        explain_gap(corpus, run, reference_profile="gerbill")
    with pytest.raises(UsageError, match="single score"):
        explain_gap(corpus, run, reference_profile="gerbil", measure="strong_link_match")
    assert set(get_profile("gerbil").settings) == set(SETTINGS)


def test_a_bridge_of_ids_is_a_cause_of_the_gap():
    """BAT compares ids as written, so that no page equals a QID; Karat bridges them: 2 of 2 links are right."""
    gold = Corpus.from_documents(
        [Document("d", "Berlin, Paris", tuple(Label(*span, id) for span, id in zip(((0, 6), (8, 13)), (
            "https://en.wikipedia.org/wiki/Berlin", "https://en.wikipedia.org/wiki/Paris"), strict=True)))]
    )  # fmt: skip
    run = Run.from_responses([Response("d", (Prediction(0, 6, "Q64"), Prediction(8, 13, "Q90")))])
    for profiles in (("bat", "karat"), ("karat", "bat")):
        found = explain_gap(gold, run, reference_profile=profiles[0], profile=profiles[1])
        scores = {profiles[0]: found.reference_score, profiles[1]: found.score}
        assert scores == {"bat": 0.0, "karat": 1.0}
        assert {cause.settings: abs(cause.share) for cause in found.causes if cause.share} == {("ids", "kb"): 1.0}


@pytest.mark.parametrize("predicted", ["http://www.wikidata.org/entity/Q64", "Q64"])
def test_a_profile_that_bridges_no_ids_keeps_its_score_and_the_snapshot_of_the_other_is_a_cause(predicted):
    """Under `gerbil` no QID is the DBpedia resource: 0 of 1; Karat maps both to Berlin with its snapshot: 1 of 1."""
    gold = Corpus.from_documents([Document("d", "Berlin", (Label(0, 6, "http://dbpedia.org/resource/Berlin"),))])
    run = Run.from_responses([Response("d", (Prediction(0, 6, predicted),))])
    ends = {name: karat.evaluate(gold, run, profile=name, measures=["strong:micro.f1"]) for name in ("gerbil", "karat")}
    found = explain_gap(gold, run, reference_profile="gerbil")
    assert (found.reference_score, found.score) == (0.0, 1.0)
    assert [found.reference_signature, found.signature] == [end.signature for end in ends.values()]
    assert [found.reference_result["strong:micro.f1"], found.result["strong:micro.f1"]] == [0.0, 1.0]
    (cause,) = (cause for cause in found.causes if cause.share)
    assert cause.settings == ("ids", "kb")
    assert cause.reference_values == ("bridged", "none")
    assert cause.values == ("normalised", ends["karat"].signature["kb"])


def test_cases_that_one_setting_changes_alone_are_told_from_those_that_differ_between_the_profiles():
    """Ada and Bob have other spellings of their ids; Bob is optional. Normalised ids alone make both links correct.

    Under the other profile Bob counts no longer, so only Ada still differs.
    """
    labels = (Label(0, 3, "Q1"), Label(8, 11, "Q2", optional=True))
    corpus = Corpus.from_documents([Document("d", "Ada met Bob.", labels)])
    wikidata = "http://www.wikidata.org/entity/"
    predictions = (Prediction(0, 3, f"{wikidata}Q1"), Prediction(8, 11, f"{wikidata}Q2"))
    run = Run.from_responses([Response("d", predictions)], name="r")
    found = explain_gap(
        corpus,
        run,
        reference_profile="karat",
        reference_settings={"ids": "as-written", "optional": "required"},
        settings={"ids": "normalised", "optional": "ignored"},
    )
    (ids,) = (cause for cause in found.causes if cause.settings == ("ids",))
    assert [(flip.text, flip.is_lasting) for flip in ids.flips] == [("Ada", True), ("Bob", False)]
    page = render_page(found, 5)
    assert "ids: 2 cases change outcome if nothing else changes, 1 of them also under karat\n" in page
    assert [line.endswith("(not under karat)") for line in page.splitlines() if "correct" in line] == [False, True]
