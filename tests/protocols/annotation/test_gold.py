"""The adjudicated gold standard, worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat import Corpus, Label, Prediction, Response, Run, UsageError, evaluate
from karat.protocols.annotation.gold import (
    adjudicate_document,
    build_annotator_corpus,
    build_document,
    build_gold,
    collect_versions,
    count_annotators,
)
from karat.protocols.annotation.regions import has_same_structure
from karat.protocols.annotation.rounds import find_overruled, plan_round
from tests.protocols.annotation.projects import Recorder, annotate, make_project, make_task
from tests.strategies import labels as draw_labels

WHOLE = Label(0, 19, "Q1", mention_id="x1")
PARTS = Label(0, 7, "Q1", mention_id="x2", parent="x1"), Label(9, 19, "Q2", mention_id="x3", parent="x1")
SOVIET = Label(30, 36, "Q15180", mention_id="d"), Label(30, 36, "Q4413", mention_id="d")
ANN = Label(44, 47, None, nil_cluster="Ann")
DATE = Label(51, 56, None, kind="datetime", optional=True)


def test_agreed_document_is_gold():
    recorder = Recorder()
    recorder.finish("a", 0, WHOLE, *PARTS, *SOVIET, ANN, DATE)
    recorder.finish("b", 0, *PARTS, DATE, ANN, *SOVIET, WHOLE)
    gold = build_gold(make_project([make_task()]), recorder.records)
    (document,) = gold.documents
    assert document.labels == (
        Label(0, 19, "Q1", mention_id="m1"),
        Label(0, 7, "Q1", mention_id="m2", parent="m1"),
        Label(9, 19, "Q2", mention_id="m3", parent="m1"),
        Label(30, 36, "Q15180", mention_id="m4"),
        Label(30, 36, "Q4413", mention_id="m4"),
        Label(44, 47, None, nil_cluster="Ann"),
        Label(51, 56, "DATETIME", kind="datetime", optional=True),
    )
    assert gold.counts == {"documents": 1, "agreed regions": 4}
    assert gold.is_complete
    assert Corpus.from_documents(gold.documents).labels is not None  # a valid corpus


def test_alternatives_keep_the_order_of_the_annotators():
    """Formats of one id per mention hold the first one, here Q4413, although Q15180 sorts first."""
    recorder = Recorder()
    for annotator in "ab":
        recorder.finish(annotator, 0, *reversed(SOVIET))
    project = make_project([make_task()])
    (gold,) = build_gold(project, recorder.records).documents
    (version,) = build_annotator_corpus(project, recorder.records, "a")
    assert [label.entity for label in gold.labels] == ["Q4413", "Q15180"]
    assert [label.entity for label in version.labels] == ["Q4413", "Q15180"]


@pytest.mark.parametrize(
    ("names", "gold_name"), [(("Ann", None), "Ann"), ((None, "Ann"), "Ann"), (("x2", "x1"), "x1"), (("x1", "x2"), "x1")]
)
def test_the_name_of_a_nil_cluster_does_not_depend_on_pseudonyms(names, gold_name):
    """A name that one annotator gave is kept; of two names for one span, the first one."""
    recorder = Recorder()
    for annotator, name in zip("ab", names, strict=True):
        recorder.finish(annotator, 0, Label(44, 47, None, nil_cluster=name))
    (document,) = build_gold(make_project([make_task()]), recorder.records).documents
    assert [label.nil_cluster for label in document.labels] == [gold_name]


def test_ids_are_written_alike():
    labels = Label(0, 7, "https://www.wikidata.org/wiki/Q90"), Label(30, 36, "http://dbpedia.org/resource/Paris")
    document = build_document(make_task(), annotate(*labels))
    assert [label.entity for label in document.labels] == ["Q90", "http://dbpedia.org/resource/Paris"]


def test_undecided_regions_leave_the_document_out():
    recorder = Recorder()
    recorder.finish("a", 0, WHOLE)
    recorder.finish("b", 0, Label(0, 7, "Q1"))
    recorder.finish("a", 1, ANN)
    gold = build_gold(make_project([make_task(0), make_task(1), make_task(2)]), recorder.records)
    assert gold.documents == ()
    assert gold.counts == {
        "documents": 3,
        "undecided regions": 1,
        "documents with undecided regions": 1,
        "documents that too few annotators finished": 2,
    }
    with pytest.raises(UsageError, match="no adjudicated document"):
        gold.to_corpus("gold")


def test_decisions_count_until_versions_change():
    recorder = Recorder()
    project, task = make_project([make_task()]), make_task()
    recorder.finish("a", 0, Label(0, 19, "Q1"), ANN)
    recorder.finish("b", 0, Label(0, 7, "Q1"), ANN)
    versions = {"a": annotate(Label(0, 19, "Q1"), ANN), "b": annotate(Label(0, 7, "Q1"), ANN)}
    recorder.decide(0, versions, choice="b", reason="the town")
    (document,) = build_gold(project, recorder.records).documents
    assert document.labels == (Label(0, 7, "Q1"), ANN)
    recorder.decide(0, versions, choice="none")
    assert build_gold(project, recorder.records).documents[0].labels == (ANN,)
    recorder.decide(0, versions, choice="open")
    assert adjudicate_document(task, recorder.records).n_open == 1
    recorder.decide(0, versions, choice="edited", labels=annotate(WHOLE, *PARTS))
    gold = build_gold(project, recorder.records)
    assert [label.parent for label in gold.documents[0].labels] == [None, "m1", "m1", None]
    assert gold.counts == {"documents": 1, "agreed regions": 1, "decided regions": 1}
    recorder.change("a", 0, "reopen")
    assert list(collect_versions(recorder.records)) == ["b"]
    recorder.edit("a", 0, {"a0": annotate(Label(0, 7, "Q9"))[0]})
    recorder.change("a", 0, "finish")
    assert adjudicate_document(task, recorder.records).n_open == 1  # the versions are others now


def test_versions_are_the_state_at_the_last_finish():
    recorder = Recorder()
    recorder.finish("a", 0, ANN)
    recorder.change("a", 0, "reopen")
    recorder.edit("a", 0, {"a0": None})
    assert collect_versions(recorder.records) == {}
    recorder.change("a", 0, "skip", reason="unreadable")
    assert collect_versions(recorder.records) == {}
    recorder.change("a", 0, "finish")
    assert collect_versions(recorder.records)["a"].labels == ()


def test_annotator_corpus():
    recorder = Recorder()
    recorder.finish("a", 1, ANN)
    project = make_project([make_task(0), make_task(1, start=21, end=67)])
    corpus = build_annotator_corpus(project, recorder.records, "a")
    assert corpus.name == "a"
    assert [document.id for document in corpus] == ["d1"]
    assert corpus["d1"].evaluation_span == (21, 67)
    with pytest.raises(UsageError, match="Pass one of a"):
        build_annotator_corpus(project, recorder.records, "b")


def test_repeated_labels_are_dropped_and_others_get_ids():
    document = build_document(
        make_task(),
        annotate(
            ANN,
            ANN,
            Label(0, 7, "Q1", categories=("form:Full",)),
            Label(0, 7, "Q1", categories=("form:Short",)),
            Label(30, 36, "Q15180", mention_id="d"),
            Label(30, 36, "Q15180", mention_id="d", optional=True),
        ),
    )
    assert [(label.start, label.mention_id) for label in document.labels] == [
        (0, None),
        (0, "m1"),
        (30, None),
        (44, None),
    ]
    Corpus.from_documents([document])


def test_second_round_goes_over_what_changed():
    recorder = Recorder()
    project = make_project([make_task(0), make_task(1)])
    for annotator in "ab":
        recorder.finish(annotator, 1, ANN)
    recorder.finish("a", 0, Label(0, 19, "Q1"), ANN)
    recorder.finish("b", 0, Label(0, 7, "Q1", mention_id="k"), Label(0, 5, "Q1", mention_id="k"), ANN)
    versions = {name: version.labels for name, version in collect_versions(recorder.records[4:]).items()}
    assert plan_round(project, recorder.records, 2).counts == {
        "documents with undecided regions": 1,
        "documents without changes": 1,
    }
    recorder.decide(0, versions, choice="b", reason="the town")
    plan = plan_round(project, recorder.records, 2)
    assert plan.counts == {"documents to go over": 1, "documents without changes": 1}
    assert plan.edits[0, "b"] == ()
    deleted, *added = plan.edits[0, "a"]
    assert (deleted.id, deleted.after) == ("a0", None)
    assert [edit.id for edit in added] == ["r2-1", "r2-2"]
    (overruled,) = find_overruled(project.tasks[0], [r for r in recorder.records if r.task == 0], "a")
    assert (overruled.start, overruled.end, overruled.reason, overruled.round) == (0, 19, "the town", 1)
    recorder.round = 2
    for (task, annotator), edits in plan.edits.items():
        recorder.change(annotator, task, "round", edits=edits)
    records = [record for record in recorder.records if record.task == 0]
    after = collect_versions(records)
    assert has_same_structure(after["a"].labels, after["b"].labels)
    assert not after["a"].is_finished
    assert after["a"].round == 2
    gold = build_gold(project, recorder.records)  # without the document that is open again
    assert gold.counts == {"documents": 2, "documents that too few annotators finished": 1, "agreed regions": 1}
    assert [document.id for document in gold.documents] == [project.tasks[1].document]
    # what was overruled in the first round stays readable
    assert find_overruled(project.tasks[0], records, "a") == (overruled,)
    assert find_overruled(project.tasks[0], records, "b") == ()
    recorder.finish("a", 0)
    recorder.finish("b", 0)
    gold = build_gold(project, recorder.records)
    assert gold.counts["agreed regions"] == 3
    assert "decided regions" not in gold.counts
    assert len(gold.documents[0].labels) == 3
    assert plan_round(project, recorder.records, 3).counts == {"documents without changes": 2}


LABELS = draw_labels(12, plain=False, families=True)


@given(st.lists(LABELS, min_size=1, max_size=3), st.integers(1, 3))
def test_agreed_everywhere_is_gold_of_each_annotator(documents, n_annotators):
    recorder, tasks = Recorder(), []
    for number, labels in enumerate(documents):
        tasks.append(make_task(number, "x" * 12))
        for annotator in "abc"[:n_annotators]:
            recorder.finish(annotator, number, *labels)
    project = make_project(tasks, annotators=n_annotators)
    gold = build_gold(project, recorder.records)
    assert gold.is_complete
    for annotator in "abc"[:n_annotators]:
        assert tuple(build_annotator_corpus(project, recorder.records, annotator)) == gold.documents


@given(LABELS, LABELS)
def test_order_of_annotators_does_not_matter(first, second):
    project = make_project([make_task(0, "x" * 12)])
    golds = []
    for order in ("ab", "ba"):
        recorder = Recorder()
        for annotator in order:
            recorder.finish(annotator, 0, *(first if annotator == "a" else second))
        golds.append(build_gold(project, recorder.records))
    assert golds[0] == golds[1]


@pytest.mark.parametrize(
    ("predictions", "matched", "missed"),
    [
        ([Prediction(0, 19, "Q1")], 1, 0),
        ([Prediction(0, 7, "Q1"), Prediction(9, 19, "Q2")], 1, 0),
        ([Prediction(0, 7, "Q1")], 0, 1),
        ([Prediction(0, 7, "Q1"), Prediction(9, 19, "Q3")], 0, 1),
    ],
)
def test_footnote_8_is_scored_as_the_paper_says(predictions, matched, missed):
    """All parts are one true positive, and anything less is one false negative."""
    recorder = Recorder()
    for annotator in "ab":
        recorder.finish(annotator, 0, WHOLE, *PARTS)
    gold = build_gold(make_project([make_task()]), recorder.records).to_corpus("gold")
    run = Run.from_responses([Response("d0", tuple(predictions))], name="system")
    counts = evaluate(gold, run, measures=["strong:micro.f1"]).counts("strong")
    assert (counts.matched_gold, counts.unmatched_gold) == (matched, missed)


def test_either_link_of_a_demonym_is_correct():
    recorder = Recorder()
    for annotator in "ab":
        recorder.finish(annotator, 0, *SOVIET)
    gold = build_gold(make_project([make_task()]), recorder.records).to_corpus("gold")
    for entity in ("Q15180", "Q4413"):
        run = Run.from_responses([Response("d0", (Prediction(30, 36, entity),))], name="system")
        assert evaluate(gold, run, measures=["strong:micro.f1"])["strong:micro.f1"] == 1


def test_names_of_entities_are_in_the_gold_standard():
    """An annotator who linked by hand has no name; the name of NIL is no name of an entity."""
    recorder = Recorder()
    recorder.finish("a", 0, Label(30, 36, "Q15180"), Label(44, 47, None))
    recorder.finish("b", 0, Label(30, 36, "Q15180", name="Soviet Union"), Label(44, 47, None, name="Ann"))
    (document,) = build_gold(make_project([make_task()]), recorder.records).documents
    assert document.labels == (Label(30, 36, "Q15180", name="Soviet Union"), Label(44, 47, None))


def test_the_id_of_a_date_stays():
    date = Label(51, 56, "Q2955", kind="datetime", optional=True)
    assert build_document(make_task(), annotate(date)).labels == (date,)


def test_annotators_are_counted_where_enough_of_them_finished():
    project, recorder = make_project([make_task(0), make_task(1), make_task(2)]), Recorder()
    assert count_annotators(project, recorder.records) == (2, 2)
    for person, task in (("a", 0), ("b", 0), ("c", 0), ("a", 1), ("b", 1), ("a", 2)):
        recorder.finish(person, task)
    assert count_annotators(project, recorder.records) == (2, 3)
