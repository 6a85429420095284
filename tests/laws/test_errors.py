"""Error categories and mention types under every profile and in every task about links."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.evaluation.cases.errors import categories
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.kb.in_memory_kb import InMemoryKB
from karat.model.document import Tag
from karat.model.profile_signatures import get_profile
from karat.model.registry import list_plugins
from karat.model.results.verdict import Outcome
from karat.model.spec.settings.conventions import Assignment
from karat.model.spec.settings.task import TASKS
from tests import strategies
from tests.conftest import with_settings

TASKS_ABOUT_LINKS = [name for name, task in TASKS.items() if task.required_data == "links"]
EVERYWHERE = [(profile, task) for profile in list_plugins("profiles") for task in TASKS_ABOUT_LINKS]
WORDS = ("Ulm", "Bonn", "Graz", "Oslo", "Bergen", "Ghent")
RESOURCE = "http://dbpedia.org/resource/"  # a prefix that GERBIL knows
ELSEWHERE = {name for name, category in categories().items() if category.needs_detection}
GIVEN = "the mentions are given, so predictions elsewhere are excluded"
NO_SPAN = "document-level entities have no span"
TYPED = "types are compared together with links"


def scored(corpus, run, profile, task, **options):
    """A profile's figures in a task, with the measures that it shows there."""
    own = {} if get_profile(profile).settings["task"] == task else {"task": task}
    return karat.evaluate(
        corpus, run, profile=profile, by=["error", "mention-type"], **with_settings({**own, **options})
    )


@st.composite
def plain(draw):
    """Documents on which no two conventions differ: apart words, each linked at most once on either side.

    Every word is a mention that is linked right, linked wrong or left alone, or none that is marked or not.
    """
    fates = draw(
        st.lists(
            st.lists(st.sampled_from(["right", "wrong", "missed", "spurious", "none"]), min_size=1, max_size=6),
            min_size=1,
            max_size=3,
        )
    )
    fates[0][0] = "right"  # so that no threshold that somebody tries leaves out everything
    return fates


def sides(fates):
    """Both sides, and how many mentions there are of every fate."""
    documents, responses = [], []
    for number, own in enumerate(fates):
        text, labels, predictions = "", [], []
        for word, fate in zip(WORDS, own, strict=False):
            start, end = len(text), len(text) + len(word)
            text += f"{word} and "
            if fate in ("right", "wrong", "missed"):
                labels.append(Label(start, end, RESOURCE + word, types=("LOC",)))
            if fate in ("right", "wrong", "spurious"):
                entity = RESOURCE + (word if fate == "right" else f"{word}_(band)")
                predictions.append(Prediction(start, end, entity, score=0.5, types=("LOC",)))
        documents.append(Document(f"d{number}", text, tuple(labels)))
        responses.append(Response(f"d{number}", tuple(predictions)))
    every = [fate for own in fates for fate in own]
    return Corpus.from_documents(documents), Run.from_responses(responses), {fate: every.count(fate) for fate in every}


def check_errors(result, task, count):
    """Every view has what was put into the data, or says why not."""
    wrong, missed, spurious = (count.get(fate, 0) for fate in ("wrong", "missed", "spurious"))
    found = count["right"] + wrong
    assert result.groups["error"]
    for view, groups in result.groups["error"].items():
        assert list(groups) == list(categories())
        own = TASKS[view.partition("/")[0] if "/" in view else task]
        senseless = NO_SPAN if view.startswith("entity") else TYPED if "typed" in view else None
        if senseless is not None:
            assert {group.undefined["micro.error-rate"] for group in groups.values()} == {senseless}
            assert all(group.errors is group.total is None for group in groups.values())
            continue
        if "[nil]" in view:
            assert not any(group.errors for group in groups.values())
            continue
        assert (groups["disambiguation"].errors, groups["disambiguation"].total) == (wrong, found), view
        assert (groups["ner-fn"].errors, groups["ner-fn"].total) == (missed, missed + found), view
        assert groups["ner-fn-other"].errors == missed
        for group in (groups[name] for name in ELSEWHERE if own.has_gold_mentions):
            assert (group.errors, group.total) == (None, None)
            assert group.undefined == dict.fromkeys(("micro.error-rate", "macro.error-rate"), GIVEN)
        for name in () if own.has_gold_mentions else ELSEWHERE:
            assert groups[name].errors == (spurious if name in ("ner-fp", "ner-fp-other") else 0), (view, name)


def check_mention_types(result):
    """Entities and coreference together are the view."""
    assert set(result.groups["mention-type"]) == set(result.views)
    for view, groups in result.groups["mention-type"].items():
        whole = result.counts(view)
        for column in whole.__struct_fields__:
            sums = [getattr(groups[kind].counts, column) for kind in ("entity", "coreference") if kind in groups]
            assert sum(sums) == getattr(whole, column), (view, column)


@pytest.mark.parametrize(("profile", "task"), EVERYWHERE)
def test_every_profile_has_both_in_every_task_about_links(profile, task):
    corpus, run, count = sides([["right", "wrong", "missed", "spurious", "none", "wrong"], ["missed", "right"]])
    result = scored(corpus, run, profile, task)
    check_errors(result, task, count)
    check_mention_types(result)


@given(everywhere=st.sampled_from(EVERYWHERE), fates=plain())
def test_where_no_conventions_differ_all_profiles_find_the_same_errors(everywhere, fates):
    profile, task = everywhere
    corpus, run, count = sides(fates)
    result = scored(corpus, run, profile, task, threshold="none")
    check_errors(result, task, count)
    check_mention_types(result)


SHARING = ("neleval", "bat", "bat-paper", "hipe", "gerbil")


@pytest.mark.parametrize("task", ["a2kb", "d2kb"])
@pytest.mark.parametrize(
    ("profile", "relation"),
    [*((profile, "strong") for profile in ("karat", "finegrained", *SHARING)), ("karat", "weak"), ("gerbil", "weak")],
)
@settings(max_examples=40)
@given(pair=strategies.pairs(plain=True))
@pytest.mark.extras  # it takes long
def test_the_cases_of_a_view_are_detected_as_often_as_its_detection_says(profile, relation, task, pair):
    """Whoever is matched with whom, every mention is found or missed once, and every prediction is spare at most
    once."""
    request = Request.from_options(
        profile=profile, settings={"task": task, "threshold": "none"}, measures=f"{relation}:micro.f1", by="error"
    )
    found = Evaluation.from_data(request, *pair)
    cases, detection = found.categorise_cases(relation).table.cases, found.verdicts(found.plans.stages[relation])
    mentions = np.isin(detection.outcome, (Outcome.TP, Outcome.MATCHED_GOLD)).sum()
    _, spurious, _, missed = detection.weights().sum(axis=0).tolist()
    assert [each.sum() for each in (cases.undetected, cases.overdetected)] == [missed, spurious]
    if (
        request.conventions.assignment is not Assignment.PREDICTIONS
    ):  # there several predictions may be right on one mention
        assert cases.detected.sum() == mentions


def test_links_on_nil_are_told_where_mentions_are_given():
    text = "Ann and Bob and Eve."
    labels = [Label(0, 3, None), Label(8, 11, None), Label(16, 19, "Eve")]
    predictions = [Prediction(0, 3, "Anne"), Prediction(16, 19, "Eve (river)")]
    corpus, run = (
        Corpus.from_documents([Document("d", text, tuple(labels))]),
        Run.from_responses([Response("d", tuple(predictions))]),
    )
    groups = karat.evaluate(
        corpus, run, settings={"task": "d2kb"}, measures="strong[in-kb]:micro.f1", by="error"
    ).groups["error"]
    on_nil = groups["strong[in-kb]"]["ner-fp-groundtruth-unknown"]
    assert (on_nil.errors, on_nil.total) == (1, 2)
    assert (groups["strong[in-kb]"]["disambiguation"].errors, groups["strong[in-kb]"]["ner-fp"].errors) == (1, None)


def test_where_mentions_are_given_no_case_is_in_a_category_that_makes_no_sense():
    """Garda is answered twice, and Lake Garda is not: it is missed, whatever stands inside it."""
    labels = (Label(0, 10, "Q1"), Label(5, 10, "Q2"))
    corpus = Corpus.from_documents([Document("d", "Lake Garda froze.", labels)])
    run = Run.from_responses([Response("d", (Prediction(5, 10, "Q2"), Prediction(5, 10, "Q3")))])
    result = karat.evaluate(corpus, run, settings={"task": "d2kb"}, by="error")
    groups = result.groups["error"]["strong"]
    assert (groups["ner-fn"].errors, groups["ner-fn-other"].errors) == (1, 1)
    assert not ELSEWHERE & {name for row in result.verdicts.to_pylist() for name in row["errors"]}


def test_given_mentions_that_an_prediction_overlaps_are_answered_only_where_the_profile_says_so():
    corpus = Corpus.from_documents([Document("d", "Lake Garda froze.", (Label(0, 10, "Q1"),))])
    run = Run.from_responses([Response("d", (Prediction(5, 10, "Q2"),))])

    def errors(profile):
        groups = scored(corpus, run, profile, "d2kb").groups["error"]["strong"]
        return groups["ner-fn"].errors, groups["disambiguation"].errors

    assert errors("karat") == (1, 0)
    assert errors("bat") == (0, 1)  # gold-mentions=best-overlap lays it on the mention


def test_a_wrong_link_that_hipe_lays_beside_a_mention_is_wrong_only_where_it_detects_it():
    corpus = Corpus.from_documents([Document("d", "Lake Garda froze.", (Label(0, 10, "Q1", types=("loc",)),))])
    run = Run.from_responses([Response("d", (Prediction(5, 10, "Q2", types=("loc",)),))])
    result = karat.evaluate(corpus, run, profile="hipe", by="error")
    strict, fuzzy = (result.groups["error"][f"hipe-nel-{kind}"] for kind in ("strict", "fuzzy"))
    assert (strict["disambiguation"].errors, strict["ner-fn"].errors, strict["ner-fp"].errors) == (0, 1, 1)
    assert (fuzzy["disambiguation"].errors, fuzzy["ner-fn"].errors, fuzzy["ner-fp"].errors) == (1, 0, 0)
    rows = [row for row in result.verdicts.to_pylist() if row["view"] == "hipe-nel-strict"]
    assert [row["outcome"] for row in rows] == ["wrong link"]
    assert {"ner-fn", "ner-fp", "ner-fp-other"} <= set(rows[0]["errors"])


def test_a_mention_with_two_right_predictions_is_detected_once():
    """Under neleval's rule both predictions match; the mention still is one."""
    corpus = Corpus.from_documents([Document("d", "Lake Garda froze.", (Label(0, 10, "Q1"),))])
    run = Run.from_responses(
        [Response("d", (Prediction(0, 4, "Q1"), Prediction(5, 10, "Q1"), Prediction(0, 10, "Q2")))]
    )
    groups = karat.evaluate(corpus, run, profile="neleval", measures="weak:micro.f1", by="error").groups["error"][
        "weak"
    ]
    assert (groups["ner-fn"].errors, groups["ner-fn"].total) == (0, 1)
    assert (groups["disambiguation"].errors, groups["disambiguation"].total) == (0, 1)


def test_both_stages_of_a_view_have_its_own_threshold():
    """BAT finds one for each relation: here weak keeps one prediction, and mention-weak two."""
    text = "Ulm and Bonn and Graz."
    spans = {word: (text.index(word), text.index(word) + len(word)) for word in WORDS[:3]}
    labels = tuple(Label(*spans[word], word) for word in ("Ulm", "Bonn"))
    predictions = (
        Prediction(*spans["Ulm"], "Ulm", score=0.9),
        Prediction(*spans["Bonn"], "Bonn (band)", score=0.4),
        Prediction(*spans["Graz"], "Graz", score=0.2),
    )
    corpus, run = Corpus.from_documents([Document("d", text, labels)]), Run.from_responses([Response("d", predictions)])
    result = scored(corpus, run, "bat", "a2kb")
    assert result.thresholds["weak"] > 0.4 >= result.thresholds["mention-weak"] > 0.2
    groups = result.groups["error"]["weak"]
    assert (groups["ner-fn"].errors, groups["ner-fn"].total) == (1, 2)
    assert (groups["disambiguation"].errors, groups["disambiguation"].total) == (0, 1)


def test_wrong_links_of_neleval_keys_are_one_case_and_count_as_before():
    text = "Ulm and Bonn."
    labels = (Label(0, 3, "Q1"), Label(0, 3, "Q3"), Label(8, 12, "Q2"))
    predictions = (Prediction(0, 3, "Q9"), Prediction(0, 3, "Q8"), Prediction(0, 3, "Q7"), Prediction(8, 12, "Q2"))
    corpus, run = Corpus.from_documents([Document("d", text, labels)]), Run.from_responses([Response("d", predictions)])
    result = karat.evaluate(corpus, run, profile="neleval", measures="strong_link_match", by="error")
    counts = result.counts("strong_link_match")
    assert (counts.matched_gold, counts.unmatched_gold, counts.unmatched_predictions) == (1, 2, 3)
    groups = result.groups["error"]["strong_link_match"]
    assert (groups["disambiguation"].errors, groups["disambiguation"].total) == (2, 3)
    wrong = {
        (row["gold_entity"], row["prediction_entity"])
        for row in result.verdicts.to_pylist()
        if row["outcome"] == "wrong link"
    }
    assert wrong == {("Q1", "Q7"), ("Q3", "Q8")}


def test_tags_have_the_mention_types_of_their_entities():
    kb = InMemoryKB.from_tables(names={"Q1": "Ulm", "Q2": "rain"})
    document = Document("d", "It is the rain.", (Label(0, 2, "Q2"),), tags=(Tag("Q1"), Tag("Q2")))
    corpus, run = Corpus.from_documents([document]), Run.from_responses([Response("d", tags=(Tag("Q1"),))])
    groups = karat.evaluate(corpus, run, settings={"task": "c2kb"}, by="mention-type", kb=kb).groups["mention-type"][
        "entity"
    ]
    assert groups["entity-named"].counts.matched_gold == 1
    assert groups["entity-non-named"].counts.unmatched_gold == 1
    assert "coreference" not in groups


def test_labels_of_another_task_are_those_of_its_own_items():
    """Tags are other rows than mentions: each view is told by its own."""
    document = Document(
        "d", "It was Ulm.", (Label(0, 2, "Q1"), Label(7, 10, "Q1")), tags=(Tag("Q3"), Tag("Q2"), Tag("Q1"))
    )
    corpus, run = (
        Corpus.from_documents([document]),
        Run.from_responses([Response("d", (Prediction(0, 2, "Q9"),), tags=(Tag("Q1"),))]),
    )
    measures = ["entity:micro.f1", "a2kb/strong:micro.f1"]
    result = karat.evaluate(corpus, run, settings={"task": "c2kb"}, measures=measures, by=["error", "mention-type"])
    assert result.groups["mention-type"]["a2kb/strong"]["coreference-pronominal"].counts.unmatched_gold == 1
    assert result.groups["error"]["a2kb/strong"]["coreference-undetected"].total == 1
    assert result.groups["error"]["a2kb/strong"]["ner-fn"].errors == 1
    assert result.groups["error"]["entity"]["ner-fn"].undefined["micro.error-rate"] == NO_SPAN


def test_without_links_there_are_no_error_categories():
    corpus, run, _ = sides([["right"]])
    with pytest.raises(karat.UsageError, match="error categories need a view that compares links"):
        karat.evaluate(corpus, run, settings={"task": "erec"}, by="error")


@pytest.mark.parametrize(
    ("profile", "view", "errors"),
    [
        ("karat", "strong", 1),  # a wrong link
        ("karat", "strong[in-kb]", 1),  # a spurious prediction
        ("karat", "weak", 1),
        ("hipe", "hipe-nel-strict", 1),
        ("elevant", "strong[in-kb]", 1),
        ("elevant", "strong", 0),  # as ELEVANT counts in its mode REQUIRED
    ],
)
def test_a_link_on_nil_is_one_in_views_with_nil_too(profile, view, errors):
    """Ann is linked, Bob is predicted as NIL, Eve is missed and Zoe is no mention."""
    text = "Ann and Bob and Eve and Zoe."
    labels = tuple(Label(start, start + 3, None, types=("PER",)) for start in (0, 8, 16))
    entities = {0: "Q1", 8: None, 24: "Q2"}
    predictions = tuple(Prediction(start, start + 3, entity, types=("PER",)) for start, entity in entities.items())
    corpus, run = Corpus.from_documents([Document("d", text, labels)]), Run.from_responses([Response("d", predictions)])
    result = karat.evaluate(corpus, run, profile=profile, measures=f"{view}:micro.f1", by="error")
    on_nil = result.groups["error"][view]["ner-fp-groundtruth-unknown"]
    assert (on_nil.errors, on_nil.total) == (errors, 3)


def test_two_predictions_of_nil_on_a_nil_mention_are_no_links_on_nil():
    corpus = Corpus.from_documents([Document("d", "Ann left.", (Label(0, 3, None),))])
    run = Run.from_responses([Response("d", (Prediction(0, 3, None, score=0.5), Prediction(0, 3, None, score=0.4)))])
    for profile in ("karat", "gerbil", "bat"):  # under bat nothing matches NIL
        result = karat.evaluate(corpus, run, profile=profile, measures="strong:micro.f1", by="error")
        on_nil = result.groups["error"]["strong"]["ner-fp-groundtruth-unknown"]
        assert (on_nil.errors, on_nil.total) == (0, 1), profile
