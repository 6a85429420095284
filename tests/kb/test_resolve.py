"""Resolving: ids replaced on both sides alike, the written one kept, and a report of what became of each."""

from __future__ import annotations

import json

import karat
from karat import Candidate, Corpus, Document, Label, Prediction, Response, Run, Tag
from karat.data.id_resolution import resolve_ids
from karat.kb.in_memory_kb import InMemoryKB
from karat.kb.protocol import IdStatus

KB = InMemoryKB.from_tables(
    name="toy",
    redirects={"Old": "New"},
    same_as=[("Q1", "enwiki:Anna")],
    entities=["New", "Q1", "Q2"],
)


def corpus():
    labels = (
        Label(0, 1, entity="Old"),
        Label(1, 2, entity="enwiki:Anna"),
        Label(2, 3, entity="Q2"),
        Label(3, 4, entity="Nobody"),
        Label(4, 5, entity=None),
        Label(5, 6),
        Label(6, 7, entity="Old", kind="quantity"),
    )
    return Corpus.from_documents([Document("d", "abcdefg", labels=labels, tags=(Tag("Old"),))], name="gold")


def test_ids_are_replaced_and_kept_as_written():
    done, report = resolve_ids(corpus(), KB)
    (document,) = done
    assert [label.entity for label in document.labels[:5]] == ["New", "Q1", "Q2", "Nobody", None]
    assert [label.same_as for label in document.labels[:4]] == [("Old",), ("enwiki:Anna",), (), ()]
    assert document.labels[5].entity == karat.UNLINKED
    assert document.labels[6].entity == "New"
    assert document.tags[0].entity == "New"
    assert report.mention_counts == {
        IdStatus.UNCHANGED: 1,
        IdStatus.MAPPED: 1,
        IdStatus.REDIRECTED: 3,
        IdStatus.DISAMBIGUATION: 0,
        IdStatus.AMBIGUOUS: 0,
        IdStatus.UNKNOWN: 1,
    }
    assert dict(report.new_ids) == {"Old": "New", "enwiki:Anna": "Q1"}


def test_values_without_id_stay_and_do_not_count():
    label = Label(0, 1, entity="QUANTITY", kind="quantity")
    done, report = resolve_ids(Corpus.from_documents([Document("d", "7", (label,))], name="gold"), KB)
    assert next(iter(done)).labels == (label,)
    assert sum(report.mention_counts.values()) == 0


def test_twice_is_as_once():
    once, _ = resolve_ids(corpus(), KB)
    twice, _ = resolve_ids(once, KB)
    assert list(twice) == list(once)


def test_runs_and_their_candidates():
    run = Run.from_responses(
        [Response("d", predictions=(Prediction(0, 1, entity="Old", candidates=(Candidate("Old", 0.5),)),))]
    )
    done, report = resolve_ids(run, KB)
    (response,) = done
    assert (response.predictions[0].entity, response.predictions[0].candidates[0].entity) == ("New", "New")
    assert report.mention_counts[IdStatus.REDIRECTED] == 1  # the candidate is no mention


def test_scores_of_what_is_resolved_are_those_with_the_knowledge_base():
    gold, run = (
        corpus(),
        Run.from_responses(
            [Response("d", predictions=(Prediction(0, 1, entity="New"), Prediction(1, 2, entity="Q1")))]
        ),
    )
    before = karat.evaluate(gold, run, kb=KB)
    after = karat.evaluate(resolve_ids(gold, KB)[0], resolve_ids(run, KB)[0])
    assert {name: score.value for name, score in before.scores.items()} == {
        name: score.value for name, score in after.scores.items()
    }


def test_the_command(karat_cli, tmp_path):
    folder = tmp_path / "kb"
    folder.mkdir()
    (folder / "redirects.tsv").write_text("Old\tNew\n", encoding="utf-8")
    karat.save(corpus(), tmp_path / "gold.jsonl")
    ran = karat_cli("kb", "resolve", tmp_path / "gold.jsonl", tmp_path / "done.jsonl", "--kb", folder, "--list")
    assert ran.code == 0
    assert "Old → New (redirected)" in ran.out
    assert karat.load(tmp_path / "done.jsonl")["d"].labels[0].entity == "New"
    ran = karat_cli("kb", "resolve", tmp_path / "gold.jsonl", "--kb", folder, "--json", "-")
    assert json.loads(ran.out)["mentions"]["redirected"] == 3


def test_scores_say_what_became_of_the_ids():
    run = Run.from_responses(
        [Response("d", predictions=(Prediction(0, 1, entity="Old"), Prediction(3, 4, entity="Nobody")))]
    )
    (note,) = [note for note in karat.evaluate(corpus(), run, kb=KB).notes if "replaced" in note]
    assert note.startswith("toy replaced the ids of 3 gold labels and 1 prediction")
    assert note.endswith(
        "of gold: mapped 1, redirected 2, unchanged 1, unknown 1; of predictions: redirected 1, unknown 1"
    )


def test_scores_say_nothing_of_ids_if_all_are_the_ids_of_the_knowledge_base():
    gold = [{"id": "d", "text": "Ada", "labels": [{"start": 0, "end": 3, "entity": "Q1"}]}]
    run = [{"id": "d", "predictions": [{"start": 0, "end": 3, "entity": "Q1"}]}]
    assert not [note for note in karat.evaluate(gold, run, kb=KB).notes if "replaced" in note]


def test_a_further_id_of_another_entity_stays_as_written():
    """The title leads to Q1, but the prediction is of Q2; unknown ids are counted once, by their mention."""
    prediction = Prediction(0, 1, entity="Q2", same_as=("enwiki:Anna",))
    done, report = resolve_ids(Run.from_responses([Response("d", (prediction,))]), KB)
    assert next(iter(done)).predictions == (prediction,)
    assert (report.n_conflicts, sum(report.mention_counts.values())) == (1, 1)


def test_ids_count_as_what_their_mentions_are():
    """A title that a first table replaced is no unknown id afterwards; it stays in `same_as`."""
    predictions = (
        Prediction(0, 1, entity="Q2", same_as=("Anna",), candidates=(Candidate("Nobody"),)),
        Prediction(1, 2, entity="No one"),
    )
    _, report = resolve_ids(Run.from_responses([Response("d", predictions)]), KB)
    assert report.ids_by_status == {IdStatus.UNCHANGED: ("Q2",), IdStatus.UNKNOWN: ("No one",)}


def test_counts_of_the_reader_are_printed_and_stay_in_the_file(karat_cli, tmp_path):
    karat.save(corpus(), tmp_path / "gold.jsonl")
    answer = '[{"mention": "ab", "entity": "Old"}, {"mention": "C", "entity": "Q2"}, {"mention": "d"'
    lines = json.dumps({"id": "d", "response": answer}) + "\n"
    (tmp_path / "answers.jsonl").write_text(lines, encoding="utf-8")
    counts = karat.load_run(tmp_path / "answers.jsonl", corpus=corpus()).skipped
    assert set(counts) > {"truncated or invalid lists (complete entries read)"}
    for command in (("kb", "resolve"), ("data", "convert")):
        out = tmp_path / f"{command[1]}.jsonl"
        ran = karat_cli(*command, tmp_path / "answers.jsonl", out, "--gold", tmp_path / "gold.jsonl")
        assert ran.code == 0
        assert "read: truncated or invalid lists (complete entries read) (in line 1) 1" in ran.out + ran.err
        for name, count in counts.items():
            assert f"read: {name} (in " in ran.out + ran.err
            assert karat.load_run(out).metadata[f"count: {name}"] == str(count)
