"""Corners of the conventions, worked by hand."""

from __future__ import annotations

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run, Tag, UsageError
from karat.analysis.curves.threshold import threshold_curve

TEXT = "x" * 40


def pair(labels, predictions):
    return Corpus.from_documents([Document("d", TEXT, tuple(labels))]), Run.from_responses(
        [Response("d", tuple(predictions))]
    )


def test_a_curve_with_gold_spans_without_link():
    """The lower prediction stands on the span without link as well; without it the upper one is wrong elsewhere."""
    corpus, run = pair(
        [Label(3, 6), Label(5, 7, "C")], [Prediction(5, 6, "E", score=0.1), Prediction(2, 6, "B", score=0.9)]
    )
    points = {
        point.threshold.min_score: point.counts
        for point in threshold_curve(corpus, run, settings={"match": "weak"}).points()
    }
    fixed = karat.evaluate(corpus, run, settings={"match": "weak", "threshold": 0.9})
    assert points[0.9] == fixed.counts("weak")


def test_gold_is_a_set_in_bat_too():
    twice = [Label(0, 2, "X", mention_id="1"), Label(0, 2, "X", mention_id="2")]
    corpus, run = pair(twice, [])
    assert karat.evaluate(corpus, run, profile="bat").counts("strong").unmatched_gold == 1
    assert (
        karat.evaluate(corpus, run, profile="gerbil", settings={"prefixes": "X"}).counts("strong").unmatched_gold == 2
    )


def test_documents_with_gold_count_in_neleval_even_if_a_filter_empties_them():
    """a: X for X, 1. b: X where gold says NIL: P 0, R 0 by zero, F1 0. The mean is 1/2."""
    corpus = Corpus.from_documents(
        [Document("a", TEXT, (Label(0, 2, "X"),)), Document("b", TEXT, (Label(0, 2, None),))]
    )
    run = Run.from_responses([Response("a", (Prediction(0, 2, "X"),)), Response("b", (Prediction(0, 2, "X"),))])
    score = karat.evaluate(corpus, run, profile="neleval").score("strong_link_match:macro.f1")
    assert (score.value, score.n) == (1 / 2, 2)


def test_annotations_always_have_a_page_in_bat():
    corpus, run = pair([Label(0, 2)], [])
    result = karat.evaluate(corpus, run, profile="bat")
    assert result["mention-weak:micro.f1"] == 1
    assert result.skipped["unlinked gold labels"] == 1


def test_groups_see_ids_as_they_are_read():
    corpus, run = pair([Label(0, 2, "http://x/E")], [Prediction(0, 2, "http://y/F")])
    result = karat.evaluate(corpus, run, profile="gerbil", by=["nil"])
    assert result["strong[nil]:micro.f1"] == 1
    assert result.groups["nil"]["strong"]["true"].counts.matched_gold == 1


@pytest.mark.parametrize("measure", ["strong:ece", "strong:accuracy"])
def test_means_of_tasks_have_only_what_can_be_averaged(measure):
    labels = [Label(0, 2, "X", types=("T",))]
    with pytest.raises(UsageError, match="cannot be averaged"):
        karat.evaluate(
            *pair(labels, [Prediction(0, 2, "X", types=("T",))]), settings={"task": "oke-task1"}, measures=[measure]
        )


def test_scores_that_are_no_probabilities_have_no_calibration():
    corpus, run = pair([Label(0, 2, "X")], [Prediction(0, 2, "X", score=7.0)])
    result = karat.evaluate(corpus, run, measures=["strong:ece", "strong:aurc", "strong:micro.f1"])
    assert result["strong:ece"] is None
    assert "7" in result.score("strong:ece").reason
    assert (result["strong:aurc"], result["strong:micro.f1"]) == (0, 1)


def test_what_rules_leave_out_is_counted():
    labels = [Label(0, 2, "X"), Label(4, 6, None), Label(8, 10)]
    predictions = [
        Prediction(0, 2, "X", score=0.9),
        Prediction(4, 6, None, score=0.9),
        Prediction(0, 9, "Y", score=0.1),
        Prediction(9, 12),
    ]
    corpus, run = pair(labels, predictions)
    bat = karat.evaluate(corpus, run, profile="bat", settings={"threshold": "none"}).skipped
    assert bat["gold labels linked to NIL"] == bat["predictions linked to NIL"] == 1
    assert bat["unlinked predictions"] == 1
    assert bat["predictions inside or across longer ones"] >= 1
    skipped = karat.evaluate(corpus, run, settings={"threshold": 0.5}).skipped
    assert skipped["predictions below the threshold"] == 1
    assert skipped["predictions without a score, which count at every threshold"] == 1


def test_mentions_beside_tags_are_said():
    corpus = Corpus.from_documents([Document("a", TEXT, tags=(Tag("X"),)), Document("b", TEXT, (Label(0, 2, "Y"),))])
    run = Run.from_responses([Response("a", tags=(Tag("X"),)), Response("b", (Prediction(0, 2, "Y"),))])
    skipped = karat.evaluate(corpus, run, settings={"task": "c2kb"}).skipped
    assert skipped["gold labels in documents without tags, where others have tags"] == 1
    assert skipped["predictions in documents without tags, where others have tags"] == 1


def test_relations_between_mentions_are_refused_where_there_are_none(tmp_path):
    path = tmp_path / "near.py"
    path.write_text(
        "from karat.matching.align.overlap import find_overlaps\nfrom karat.model.spec.relation import MatchRelation\n"
        'RELATION = MatchRelation("Near", "Near.", find_overlaps)\n',
        encoding="utf-8",
    )
    with pytest.raises(UsageError, match="compares mentions"):
        karat.evaluate(
            *pair([Label(0, 2, "X")], [Prediction(0, 2, "X")]), settings={"task": "c2kb"}, measures=[f"{path}:micro.f1"]
        )


def test_prefixes_in_any_form_are_the_same():
    corpus, run = pair([Label(0, 2, "a:1"), Label(4, 6, "c:2")], [Prediction(0, 2, "b:1"), Prediction(4, 6, "d:9")])
    found = [
        karat.evaluate(corpus, run, profile="gerbil", settings={"prefixes": prefixes})["strong:micro.f1"]
        for prefixes in ("a: b:", "a:,b:", ["a:", "b:"], ("a:", "b:"))
    ]
    assert found == [1 / 2] * 4  # c:2 and d:9 are emerging, a:1 and b:1 are not the same


def test_a_folder_of_tables_can_be_named(tmp_path):
    (tmp_path / "redirects.tsv").write_text("Y\tX\n", encoding="utf-8")
    corpus, run = pair([Label(0, 2, "X")], [Prediction(0, 2, "Y")])
    result = karat.evaluate(corpus, run, kb=str(tmp_path))
    assert result["strong:micro.f1"] == 1
    assert any("replaced the ids of 0 gold labels and 1 prediction" in note for note in result.notes)


def test_hierarchies_that_are_missing_are_said():
    labels = [Label(0, 2, types=("A",))]
    result = karat.evaluate(
        *pair(labels, [Prediction(0, 2, types=("A",))]), profile="gerbil", settings={"task": "rt2kb"}
    )
    assert any("subclass_of.tsv" in note for note in result.notes)


def test_names_are_found_as_they_were_asked_for():
    corpus, run = pair([Label(0, 2, "X")], [Prediction(0, 2, "X")])
    result = karat.evaluate(corpus, run, measures=["D2W/strong:micro.f1".lower(), "erec/strong:micro.f1"])
    assert result["d2w/strong:micro.f1"] == result["d2kb/strong:micro.f1"] == 1
    assert result["erec/strong:micro.f1"] == result["erec/mention:micro.f1"] == 1


@pytest.mark.parametrize(
    ("task", "part"),
    [("oke-task1", "oke1-etyping/typed"), ("oke-task2", "oke2-etyping/typed"), ("oke2018-task4", "re/entity")],
)
def test_means_of_tasks_need_data_for_every_part(task, part):
    corpus, run = pair([Label(0, 2, "X")], [Prediction(0, 2, "Y")])
    result = karat.evaluate(corpus, run, settings={"task": task}, confidence=0.95, resamples=50)
    for measure in ("micro.f1", "macro.f1"):
        score = result.score(f"strong:{measure}")
        assert (score.value, score.reason) == (None, f"{part}: there are neither gold mentions nor predictions")
    assert not result.intervals


def test_gerbil_scores_missing_relations_as_perfect_with_a_warning():
    corpus, run = pair([Label(0, 2, "X")], [Prediction(0, 2, "Y")])
    result = karat.evaluate(corpus, run, profile="gerbil", settings={"task": "oke2018-task4", "prefixes": "X,Y"})
    assert result["strong:micro.f1"] == result["strong:macro.f1"] == 0.5
    assert any(note.startswith("warning: re/entity has neither gold nor predictions") for note in result.notes)
