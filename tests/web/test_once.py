"""A report judges every run once per profile, whatever its pages need."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import pytest

import karat
from karat.analysis.comparison.entries import entry_from_run
from karat.evaluation.block import Block
from karat.evaluation.evaluation import Evaluation
from karat.model.registry import list_plugins
from karat.storage.content_store import MemoryStore
from karat.web.archive.submissions import add_results

OTHER_PROFILES = set(list_plugins("profiles")) - {"karat"}

SCORED_TABLES = {"detection of strong", "mention", "strong", "strong[in-kb]", "strong[nil]", "weak"}
"""Tables that the measures of the profile karat need."""

STAGE_TABLES = {"mention-weak", "mention[in-kb]", "mention[nil]"}
"""Tables that only the error categories of a report need."""


class Pass(NamedTuple):
    """One pass of judging over all documents of a run."""

    run: str
    profile: str
    settings: dict[str, str]
    tables: dict[str, str]
    """The threshold of each judged table."""

    @property
    def judged(self) -> list[tuple[str, ...]]:
        """A name for each judged table, with everything that tells it from other tables."""
        settings = repr(
            sorted((name, text) for name, text in self.settings.items() if name not in {"match", "threshold"})
        )
        return [(self.run, self.profile, settings, *table) for table in self.tables.items()]


@pytest.fixture
def evaluations(monkeypatch):
    """The requests of all evaluations that are made."""
    made = []
    make = Evaluation.from_data.__func__

    def counting(cls, request, *data, **options):
        made.append(request)
        return make(cls, request, *data, **options)

    monkeypatch.setattr(Evaluation, "from_data", classmethod(counting))
    return made


@pytest.fixture
def passes(monkeypatch):
    """All passes of judging, in order."""
    made = []
    judge = Block._judge_in_blocks

    def counting(self, plans, counted_plans, consume):
        request, all_plans = self.inputs.request, {**plans, **counted_plans}
        thresholds = {name: str(plan.selection.threshold) for name, plan in all_plans.items()}
        made.append(Pass(self.inputs.original_run.name, request.profile, dict(request.conventions.texts), thresholds))
        return judge(self, plans, counted_plans, consume)

    monkeypatch.setattr(Block, "_judge_in_blocks", counting)
    return made


def check_once(passes, run):
    """Check the passes over one run, apart from those that only the command itself needs."""
    own = [each for each in passes if each.run == run]
    assert set(Counter(table for each in own for table in each.judged).values()) == {1}
    others = Counter(each.profile for each in own if each.profile != "karat")
    assert set(others.values()) == {1}
    # All tables of neleval-tac14 are tables of neleval, which has the same settings.
    assert OTHER_PROFILES - others.keys() == {"neleval-tac14"}
    karat_passes = [(each.settings["alternatives"], set(each.tables)) for each in own if each.profile == "karat"]
    assert karat_passes[-2:] == [
        ("separate", {"strong"}),  # the credit rule "strict" counts alternatives separately
        ("grouped", {"related"}),  # the credit rule "related" compares by relatedness
    ]
    return [tables for _, tables in karat_passes[:-2]]


def test_score_and_its_report_judge_a_run_once_per_profile(evaluations, passes, karat_cli, tmp_path):
    """At first there were 22 evaluations in 18 passes: strong was judged five times under the profile karat."""
    done = karat_cli("score", "demo", "demo/prior", "--html", tmp_path / "x.html")
    assert done.code == 0, done.err
    assert check_once(passes, "prior") == [SCORED_TABLES, STAGE_TABLES]
    assert len(passes) == 2 + len(OTHER_PROFILES) - 1 + 2
    # the score, the report, further profiles, four curves and four credit rules
    assert len(evaluations) == 1 + 1 + len(OTHER_PROFILES) + 4 + 4


def test_a_report_judges_every_run_once_per_profile(evaluations, passes, karat_cli, tmp_path):
    done = karat_cli("report", "--gold", "demo", "demo/prior", "demo/noisy", "-o", tmp_path / "x.html")
    assert done.code == 0, done.err
    for run in ("prior", "noisy"):
        assert check_once(passes, run) == [SCORED_TABLES | STAGE_TABLES]
    assert len(passes) == 2 * (1 + len(OTHER_PROFILES) - 1 + 2)
    assert len(evaluations) == 2 * (1 + len(OTHER_PROFILES) + 4 + 4)


def test_a_comparison_and_its_report_judge_every_run_once_per_profile(passes, karat_cli, tmp_path):
    measures = ("-m", "strong:micro.f1", "-m", "strong:micro.p")
    done = karat_cli("compare", "--gold", "demo", "demo/prior", "demo/noisy", *measures, "--html", tmp_path / "x.html")
    assert done.code == 0, done.err
    compared = {"strong", "detection of strong"}
    for run in ("prior", "noisy"):
        assert check_once(passes, run) == [compared, (SCORED_TABLES | STAGE_TABLES) - compared]


def test_a_gap_explanation_judges_no_mixture_twice(passes, karat_cli, tmp_path):
    done = karat_cli("report", "--gold", "demo", "demo/prior", "--why", "gerbil", "-o", tmp_path / "x.html")
    assert done.code == 0, done.err
    tables = Counter(table for each in passes for table in each.judged)
    assert set(tables.values()) == {1}
    # Mixtures that differ only in how verdicts become scores share their verdicts: 256 mixtures, half of them judged.
    assert len([each for each in passes if each.profile == "gerbil"]) < 1 + 256 / 2


def test_curves_over_alpha_judge_other_weights(passes):
    """The weights of alpha 0 and 1, and those of the credit rule "fuzzy", are the only other memberships."""
    categories = ("form:Full", "pos:Singular", "overlap:None", "reference:Direct")
    label = karat.Label(0, 3, "Q1", categories=categories)
    gold = karat.Corpus.from_documents([karat.Document("d", "Ada met Bo.", (label,))], name="tiny")
    response = karat.Response("d", (karat.Prediction(0, 3, "Q1", score=0.5),))
    run = karat.Run.from_responses([response], name="mine")
    add_results(MemoryStore(), [entry_from_run(gold, run)])
    assert set(Counter(table for each in passes for table in each.judged).values()) == {1}
    assert [each.settings["membership"] for each in passes if each.settings["membership"] != "whole"] == [
        "strict:0",
        "strict:1",
        "strict:0.5",
    ]
