"""Names of measures and relations in other tools mean Karat's."""

from __future__ import annotations

import re

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.evaluation.measures import expand_measure, get_measure, list_short_names, split_views
from karat.model.errors import KaratError, UnknownNameError, UsageError
from karat.model.measure_name import parse_measure
from karat.model.registry import has_plugin
from karat.model.spec.settings.settings import SIGNED_SETTINGS
from karat.model.spec.settings.task import TASKS
from karat.model.spec.settings.user_terms import TERMS, parse_terms
from karat.web.archive.submissions import get_headline

PRF = ("micro.p", "micro.r", "micro.f1")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("InKB", [f"strong[in-kb]:{short}" for short in PRF]),
        ("InKB Micro F1", ["strong[in-kb]:micro.f1"]),
        ("EE macro precision", ["strong[nil]:macro.p"]),
        ("GSInKB", [f"d2kb/strong[gold-in-kb]:{short}" for short in PRF]),
        ("D2KB InKB F1", ["d2kb/strong[in-kb]:micro.f1"]),
        ("ERec", [f"erec/mention:{short}" for short in PRF]),
        ("Entity Recognition micro F1", ["erec/mention:micro.f1"]),
        ("C2W", [f"c2kb/entity:{short}" for short in PRF]),
        ("Mw - weak annotation match", [f"weak:{short}" for short in PRF]),
        ("WeakAnnotationMatch macro recall", ["weak:macro.r"]),
        ("Ma accuracy", ["strong:accuracy"]),
        ("weak", [f"weak:{short}" for short in PRF]),
        ("b-cubed", [f"b-cubed:{short}" for short in PRF]),
        ("blanc", [f"blanc:{short}" for short in PRF]),
    ],
)
def test_names_of_other_tools_are_measures(text, names):
    assert expand_measure(text) == names


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("F1", "strong:micro.f1"),
        ("precision", "strong:micro.p"),
        ("Recall", "strong:micro.r"),
        ("macro precision", "strong:macro.p"),
        ("accuracy", "strong:accuracy"),
        ("ndcg", "strong:macro.ndcg"),
    ],
)
def test_the_heads_of_tables_are_explained(text, measure):
    explanation = karat.explain(text)
    assert explanation == f"{text} needs a match relation, such as {measure}.\n{karat.explain(measure)}"


def test_every_short_name_is_explained():
    for short_name in list_short_names():
        assert f"such as strong:{short_name}.\n" in karat.explain(short_name)


def test_a_misspelt_measure_is_suggested():
    with pytest.raises(UnknownNameError, match="Did you mean 'recall'"):
        karat.explain("recal")


@pytest.mark.parametrize("measure", ["strong:micro.f1@types=Person", "strong[types=person]:micro.f1"])
def test_values_of_facets_are_suggested_by_the_names_in_tables(measure):
    """Tables show Q215627 as person (Q215627). Each value is listed once, though gold and predictions have it."""
    typed = {"start": 0, "end": 3, "entity": "Q1", "types": ["Q215627"]}
    other = {"start": 4, "end": 7, "entity": "Q2", "types": ["Q43229"]}
    gold = [{"id": "d", "text": "Ada Bob", "labels": [typed, other]}]
    with pytest.raises(UnknownNameError) as error:
        karat.evaluate(gold, [{"id": "d", "predictions": [typed]}], measures=[measure])
    known = r"Did you mean 'Q215627'\? Known: person \(Q215627\), organization \(Q43229\)(, none)?\."
    assert re.search(known, str(error.value))


def test_values_of_facets_with_titles_of_their_own_keep_the_name_to_write():
    with pytest.raises(UnknownNameError, match=r"Demonyms \(disambiguation-demonym\)"):
        karat.evaluate("demo", "demo/noisy", measures=["strong:micro.error-rate@error=demonym"])


@pytest.mark.parametrize("text", ["F1", "micro F1", "InKB EE", "InKB nonsense", "Ma Mw", "D2KB A2KB"])
def test_ambiguous_names_are_refused(text):
    with pytest.raises(KaratError, match="not a measure name"):
        expand_measure(text)


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("InKB Recal", "Did you mean 'InKB recall'?"),
        ("Emergin Entities macro F1", "Did you mean 'emerging Entities macro F1'?"),
        ("Micro F1", "Did you mean 'strong:micro.f1' or 'mention:micro.f1'?"),
        ("micro f1 score", "Did you mean 'strong:micro.f1' or 'mention:micro.f1'?"),
        ("macro_precision", "Did you mean 'strong:macro.p' or 'mention:macro.p'?"),
        ("F-measure", "Did you mean 'strong:micro.f1' or 'mention:micro.f1'?"),
        ("strong.micro.f1", "Did you mean 'strong:micro.f1'?"),
        ("mention.recall", "Did you mean 'mention:micro.r'?"),
        ("nonsense", "An example is strong:micro.f1."),
    ],
)
def test_a_name_that_is_nearly_one_of_another_tool_is_answered_with_it(text, suggestion):
    with pytest.raises(KaratError) as error:
        expand_measure(text)
    assert str(error.value).endswith(suggestion)


@pytest.mark.parametrize("phrase", [phrase for phrase, term in TERMS.items() if term.part in ("relation", "filter")])
def test_every_term_names_something_that_exists(phrase):
    for name in parse_terms(phrase):
        assert has_plugin("relations", name.view.relation)
        assert get_measure(name)
        assert karat.explain(phrase)


def test_the_setting_match_takes_names_of_other_tools():
    views = split_views("Ma - strong annotation match, weak, related>=0.7, Mw InKB, GSInKB, strong[in-kb,types=PER]")
    assert list(map(str, views)) == [
        "strong",
        "weak",
        "related>=0.7",
        "weak[in-kb]",
        "d2kb/strong[gold-in-kb]",
        "strong[in-kb,types=PER]",
    ]


@pytest.mark.parametrize("profile", ["karat", "gerbil", "bat"])
@pytest.mark.parametrize(("match", "view"), [("InKB", "strong[in-kb]"), ("Mw EE", "weak[nil]")])
def test_match_with_a_filter_scores_only_the_view_with_the_filter(profile, match, view):
    result = karat.evaluate("demo", "demo/prior", profile=profile, settings={"match": match})
    assert {str(parse_measure(name).view) for name in result.table_measures} == {view}
    whole = karat.evaluate("demo", "demo/prior", profile=profile, measures=[f"{view}:micro.f1"])
    assert result[f"{view}:micro.f1"] == whole[f"{view}:micro.f1"]


def test_match_points_to_measures_for_a_measure():
    with pytest.raises(UsageError, match=r"'InKB micro F1', a measure. Pass strong\[in-kb\] as match"):
        karat.evaluate("demo", "demo/prior", settings={"match": "InKB micro F1"})


def test_similarity_compares_whole_relations():
    with pytest.raises(UsageError, match="without filters"):
        karat.similarity("demo", ["demo/prior", "demo/noisy"], settings={"match": "InKB"})


def test_a_measure_of_several_scores_is_answered_with_one_that_exists():
    with pytest.raises(UsageError, match="Pass one, such as ") as error:
        karat.explain_gap("demo", "demo/prior", reference_profile="elevant", measure="InKB")
    example = str(error.value).removesuffix(".").rpartition("such as ")[2]
    assert karat.explain_gap("demo", "demo/prior", reference_profile="elevant", measure=example).measure == example


def test_a_term_gives_the_score_of_its_measure():
    by_term = karat.evaluate("demo", "demo/prior", measures=["InKB F1"])
    assert by_term["strong[in-kb]:micro.f1"] == karat.evaluate("demo", "demo/prior")["strong[in-kb]:micro.f1"]


def test_gerbil_lists_precision_recall_and_f1_of_each_view():
    names = [parse_measure(name) for name in karat.evaluate("demo", "demo/prior", profile="gerbil").table_measures]
    views = {(str(name.view), name.aggregate) for name in names}
    assert {(str(name.view), name.aggregate, name.measure) for name in names} == {
        (*view, short) for view in views for short in ("p", "r", "f1")
    }


@pytest.mark.parametrize("term", ["Ma", "Mw", "Me"])
def test_gerbil_shows_inkb_and_ee_for_each_matching(term):
    names = map(
        parse_measure, karat.evaluate("demo", "demo/prior", profile="gerbil", settings={"match": term}).table_measures
    )
    relation = {"Ma": "strong", "Mw": "weak", "Me": "entity"}[term]
    measures = {(str(name.view), name.aggregate, name.measure) for name in names}
    views = [relation, f"{relation}[in-kb]", f"{relation}[nil]"]
    assert measures >= {(view, *short.split(".")) for view in views for short in PRF}


def test_gerbil_scores_the_sub_tasks_of_a2kb():
    """ERec, with the matching of the experiment, and D2KB, always with Ma. Only ERec with Ma was computed."""
    text = "Ada met Bob Smith."
    data = Corpus.from_documents([Document("d", text, (Label(0, 3, "Q1"), Label(8, 17, "Q2")))])
    run = Run.from_responses([Response("d", (Prediction(0, 3, "Q9"), Prediction(8, 11, "Q2")))], name="x")
    result = karat.evaluate(data, run, profile="gerbil", settings={"prefixes": "Q"})
    assert {parse_measure(name).view.task for name in result.table_measures} == {None, "erec", "d2kb"}
    # Of two mentions, "Ada" has the exact span, and "Bob" overlaps "Bob Smith".
    assert (result["erec/mention:micro.f1"], result["erec/mention-weak:micro.f1"]) == (1 / 2, 1)
    # Only "Ada" is on a gold span, with a wrong entity.
    assert result["d2kb/strong:micro.f1"] == 0


@pytest.mark.parametrize("profile", ["bat", "gerbil", "elevant", "finegrained", "neleval", "hipe", "zelda"])
def test_compare_leads_with_the_measure_of_reports(profile):
    runs = {name: karat.load_run(f"demo/{name}") for name in ("prior", "noisy")}
    result = karat.evaluate("demo", runs["prior"], profile=profile)
    comparison = karat.compare("demo", list(runs.values()), profile=profile, permutations=9, resamples=9)
    assert comparison.measure == get_headline(result)


def test_a_computed_facet_is_no_filter():
    with pytest.raises(UsageError, match="mention-type=VALUE"):
        karat.evaluate("demo", "demo/prior", measures=["strong[mention-type=entity]:micro.f1"])


def test_a_measure_of_a_task_is_refused_like_the_task():
    """The predictions of the demo have no types."""
    for request in ({"measures": ["RT2KB"]}, {"settings": {"task": "rt2kb"}}, {"settings": {"match": "rt2kb/typed"}}):
        with pytest.raises(UsageError, match=r"task rt2kb cannot be scored: the run .* has mentions without types"):
            karat.evaluate("demo", "demo/prior", profile="gerbil", **request)


def test_an_oracle_without_any_defined_score_says_so():
    """Links to NIL are dropped, so there is nothing to score at any threshold."""
    data = Corpus.from_documents([Document("d", "Ada met Bob.", (Label(0, 3, None),))])
    run = Run.from_responses([Response("d", (Prediction(0, 3, None, score=0.5),))], name="nil")
    settings = {"threshold": "oracle", "nil": "dropped"}
    notes = karat.evaluate(data, run, settings=settings, measures=["strong:micro.f1"]).notes
    assert "strong: oracle threshold: micro.f1 is undefined at every threshold" in notes


@pytest.mark.parametrize("term", ["EE", "InKB", "GSInKB"])
def test_filters_of_gerbil_are_explained_as_gerbil_applies_them(term):
    text = karat.explain(term)
    assert "Under --profile gerbil, nil=emerging: " in text
    assert "Any two emerging entities match" in text
    assert "Under --profile gerbil, empty=gerbil: Without gold mentions and predictions, P, R and F1 are 1" in text


def test_a_measure_without_a_view_is_explained_by_examples():
    for name in ("Micro F1", "F1"):
        assert karat.explain(name).startswith(f"{name} needs a match relation, such as strong:micro.f1.")


def test_means_of_tasks_name_their_parts_and_typing_its_classes():
    for name in ("oke-task1", "oke-task2", "oke2018-task4"):
        assert all(part.task in karat.explain(name) for part in TASKS[name].parts)
    classes = {prefix.rpartition("#")[2] for prefix in TASKS["oke1-etyping"].type_prefixes}
    assert classes == {"Person", "Organization", "Role", "Location"}
    assert all(name in karat.explain("oke1-etyping") for name in classes)


def test_entities_of_documents_are_explained_as_gerbil_counts_them():
    assert "Under --profile gerbil, duplicates=keep-all: " in karat.explain("C2KB micro F1")


def test_every_value_of_a_setting_is_explained():
    for name, setting in SIGNED_SETTINGS.items():
        for value in setting.values:
            assert karat.explain(f"{name}={value}") == setting.describe(value)
            assert karat.explain(value)
    assert karat.explain("oracle-gerbil").startswith("threshold=oracle-gerbil: Oracle: ")


def test_known_names_are_listed_once():
    with pytest.raises(UnknownNameError, match="Did you mean 'oracle-gerbil'") as error:
        karat.explain("oracle-gerbul")
    assert len(set(error.value.known_names)) == len(error.value.known_names)


def test_results_have_the_terms_that_were_requested_and_say_who_translates_others():
    requested = karat.evaluate("demo", "demo/prior", measures=["InKB micro F1"])
    assert requested["InKB micro F1"] == requested["strong[in-kb]:micro.f1"]
    with pytest.raises(KaratError, match=r"such as strong:accuracy. karat.explain\('InKB micro F1'\) translates"):
        karat.evaluate("demo", "demo/prior")["InKB micro F1"]
