"""Who leads under which conventions."""

from __future__ import annotations

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.analysis.comparison.compare import ComparisonExtras, compare
from karat.analysis.comparison.entries import entry_from_result
from karat.analysis.comparison.options import ComparisonOptions
from karat.evaluation.request import Request
from karat.kb.in_memory_kb import InMemoryKB
from karat.model.errors import UsageError
from karat.render.comparison import render_page
from tests.analysis.comparison import contest

QUICK = ComparisonOptions(resamples=30, permutations=20)


def documents(*, categories=False):
    """Four documents with two mentions, of which the second is not strict."""
    strict = ("form:Full", "pos:NounSingular", "overlap:None", "reference:Direct") if categories else ()
    loose = ("form:CommonForm", "pos:NounSingular", "overlap:None", "reference:Direct") if categories else ()
    labels = (Label(0, 4, "Q1", categories=strict), Label(10, 14, "Q2", categories=loose))
    return Corpus.from_documents([Document(f"d{number}", f"{number}" * 20, labels) for number in range(4)], name="bay")


def predictions(name, *found):
    return Run.from_responses([Response(f"d{number}", found) for number in range(4)], name=name)


def exact():
    """Finds one of two mentions, at its very place."""
    return predictions("exact", Prediction(0, 4, "Q1"))


def rough():
    """Finds both, one of them nearly where it is."""
    return predictions("rough", Prediction(0, 5, "Q1"), Prediction(10, 15, "Q2"))


def winners(data, *runs, **asked):
    given = [contest.entry(data, run) for run in runs]
    return compare(given, Request.from_options(**asked), QUICK, ComparisonExtras(sensitivity=True)).sensitivity


def leads(found, **settings):
    return {
        lead.relation: lead.leaders
        for lead in found.leaders
        if all(getattr(lead, name) == value for name, value in settings.items())
    }


def test_the_relation_decides():
    found = winners(documents(), exact(), rough())
    own = leads(found, profile="karat")
    assert own["strong"] == own["mention"] == ("exact",)  # rough has no exact span
    assert own["weak"] == own["mention-weak"] == own["entity"] == ("rough",)
    lead = next(lead for lead in found.leaders if (lead.profile, lead.relation) == ("karat", "strong"))
    assert lead.score.value == pytest.approx(2 / 3)
    assert (lead.runner_up, lead.margin.value, lead.is_separable) == ("rough", pytest.approx(2 / 3), True)
    assert lead.by_dataset == {"bay": ("exact",)}
    assert {lead.threshold for lead in found.leaders} == {"none"}
    assert {lead.membership for lead in found.leaders} == {"whole"}


def test_how_often_runs_are_scored_is_said():
    """One trial for each relation of each profile, and both systems under each set-up that has any."""
    found = winners(documents(), exact(), rough())
    without = {tuple(name.split(", ")): why for name, why in found.failures.items() if ", " in name}
    scored = {(lead.profile, lead.relation) for lead in found.leaders}
    scored |= {name for name, why in without.items() if "all scores are equal" in why}
    assert found.evaluations == len(scored | without.keys()) + 2 * len({profile for profile, _ in scored})
    assert found.wins == {name: sum(name in lead.leaders for lead in found.leaders) for name in found.wins}
    assert sum(found.wins.values()) >= len(found.leaders)


def test_what_mentions_weigh_decides_where_gold_says_what_they_are():
    """Formal finds the strict mention; common finds both, but the strict one's link is wrong."""
    data = documents(categories=True)
    formal = predictions("formal", Prediction(0, 4, "Q1"), Prediction(10, 14, "Q7"))
    common = predictions("common", Prediction(0, 4, "Q7"), Prediction(10, 14, "Q2"))
    found = winners(data, formal, common)
    strong = {
        lead.membership: lead.leaders
        for lead in found.leaders
        if (lead.profile, lead.relation, lead.threshold) == ("karat", "strong", "none")
    }
    assert strong == {f"strict:{alpha}": ("formal",) for alpha in ("0", "0.25", "0.5", "0.75")}
    assert "all scores are equal" in found.failures["karat, strong"]  # one of two each, if all weigh 1


def test_the_policy_of_thresholds_decides_where_predictions_have_scores():
    """Without its doubtful predictions loud is better than calm, which has no scores."""
    loud = predictions(
        "loud", Prediction(0, 4, "Q1", score=0.9), Prediction(10, 14, "Q2", score=0.8),
        Prediction(6, 8, "Q5", score=0.1), Prediction(16, 18, "Q5", score=0.1),
    )  # fmt: skip
    calm = predictions("calm", Prediction(0, 4, "Q1"), Prediction(10, 14, "Q2"), Prediction(6, 8, "Q5"))
    found = winners(documents(), loud, calm)
    assert leads(found, profile="karat", threshold="none")["strong"] == ("calm",)  # 4/5 against 2/3
    assert leads(found, profile="karat", threshold="oracle")["strong"] == ("loud",)
    sure = predictions("sure", Prediction(0, 4, "Q1", score=0.6))
    fixed = winners(documents(), loud, sure, settings={"threshold": "0.5"})
    assert {lead.threshold for lead in fixed.leaders} == {"0.5"}


def test_profiles_that_cannot_tell_ids_apart_are_left_out_and_said():
    found = winners(documents(), exact(), rough())
    assert "any two ids would match" in found.failures["gerbil"]
    assert not leads(found, profile="gerbil")
    known = winners(documents(), exact(), rough(), profile="gerbil", settings={"prefixes": "Q"})
    assert leads(known, profile="gerbil")["strong"] == ("exact",)
    assert leads(known, profile="karat")["strong"] == ("exact",)  # which has no use for prefixes


def test_conventions_that_do_not_apply_are_marked_in_the_table_and_rank_nobody():
    """A knowledge base of bare ids changes nothing: to GERBIL all of them are emerging, and any two match."""
    kb = InMemoryKB.from_tables(names={"Q1": "Ulm", "Q2": "Bonn"})
    data = [contest.entry(documents(), run) for run in (exact(), rough())]
    compared = compare(data, Request.from_options(kb=kb), QUICK, extras=ComparisonExtras(sensitivity=True))
    found = compared.sensitivity
    assert not leads(found, profile="gerbil")
    assert "any two ids would match" in found.failures["gerbil"]
    assert [(row.profile, row.datasets) for row in found.inapplicable] == [("gerbil", ("bay",))]
    marked = [line for line in render_page(compared, None, details=True).splitlines() if "does not apply" in line]
    assert len(marked) == 1
    assert marked[0].split()[0] == "gerbil,"
    to_dbpedia = InMemoryKB.from_tables(same_as=[("Q1", "http://dbpedia.org/resource/Ulm")], redirects={"Q2": "Q1"})
    assert not leads(winners(documents(), exact(), rough(), kb=to_dbpedia), profile="gerbil")  # Q1 stands for both
    moved = InMemoryKB.from_tables(redirects={id: f"http://dbpedia.org/resource/{id}" for id in ("Q1", "Q2")})
    known = winners(documents(), exact(), rough(), kb=moved)
    assert leads(known, profile="gerbil")["strong"] == ("exact",)
    assert known.inapplicable == ()


def test_conventions_that_apply_to_some_datasets_rank_on_these_only():
    address = "http://dbpedia.org/resource/"
    labels = (Label(0, 4, f"{address}Ulm"), Label(10, 14, f"{address}Bonn"))
    other = Corpus.from_documents([Document(f"d{number}", "x" * 20, labels) for number in range(4)], name="hill")
    on_hill = [
        predictions("exact", Prediction(0, 4, f"{address}Ulm")),
        predictions("rough", Prediction(0, 5, f"{address}Ulm")),
    ]
    given = [contest.entry(documents(), run) for run in (exact(), rough())]
    given += [contest.entry(other, run) for run in on_hill]
    compared = compare(given, Request.from_options(), QUICK, extras=ComparisonExtras(sensitivity=True))
    lead = next(lead for lead in compared.sensitivity.leaders if (lead.profile, lead.relation) == ("gerbil", "strong"))
    assert lead.by_dataset == {"hill": ("exact",)}
    assert compared.sensitivity.inapplicable[0].datasets == ("bay",)
    assert "does not apply to bay" in render_page(compared, None, details=True)
    assert "any two ids would match" in compared.sensitivity.failures["gerbil on bay"]


def test_profiles_that_differ_in_what_they_show_are_one():
    assert {lead.profile for lead in winners(documents(), exact(), rough()).leaders if "neleval" in lead.profile} == {
        "neleval"
    }


def test_where_all_are_equal_nobody_leads():
    twin = predictions("twin", Prediction(0, 4, "Q1"))
    found = winners(documents(), exact(), twin)
    assert found.leaders == ()
    assert "all scores are equal" in found.failures["karat, strong"]


def test_results_cannot_be_scored_anew():
    data = documents()
    results = [entry_from_result(karat.evaluate(data, run)) for run in (exact(), rough())]
    with pytest.raises(UsageError, match="rescores predictions"):
        compare(results, options=QUICK, extras=ComparisonExtras(sensitivity=True))
