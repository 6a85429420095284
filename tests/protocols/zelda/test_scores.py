"""Scores on the bed: by hand, and on the published files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import Candidate, Corpus, Document, Label, Prediction, Response, Run, UsageError
from karat.protocols.zelda.candidates.candidate_lists import CandidateLists, CandidateRow
from karat.protocols.zelda.file_comparison import compare_files
from karat.protocols.zelda.scores import FIRST, LISTED, UNLISTED, compute_scores, score_benchmark
from karat.protocols.zelda.split_predictions import group_shares, match_predictions, unweighted_mean
from karat.protocols.zelda.splits import pair_files, parse_split
from karat.protocols.zelda.texts.sections import LinkedSection, SectionLink
from karat.protocols.zelda.training_links import NEW_WORDS, SEEN, UNSEEN, TrainingLinks
from karat.stats.share import Share

TEXT = "Ulm and Bonn and Ulm and Paris"
GOLD = Corpus.from_documents(
    [
        Document(
            "a",
            TEXT,
            (Label(0, 3, "Ulm"), Label(8, 12, "Bonn"), Label(17, 20, "Ulm (Montana)"), Label(25, 30, "Paris")),
            meta={"bracket": "1.0"},
        ),
        Document("b", "Rome", (Label(0, 4, "Rome"),), meta={"bracket": "0.9-1.0"}),
    ]
)
RUN = Run.from_responses(
    [
        Response(
            "a",
            (
                Prediction(0, 3, "Ulm", candidates=(Candidate("Ulm"), Candidate("Bonn"))),
                Prediction(8, 12, "Bern", candidates=(Candidate("Bern"), Candidate("Bonn"))),
                Prediction(17, 20, karat.UNLINKED),
            ),
        ),
        Response("b", (Prediction(0, 4, "Rome"),)),
    ]
)


def test_accuracy_over_all_and_over_covered_mentions():
    tried = match_predictions(GOLD, RUN, "own")
    assert tried.accuracy() == Share(2, 5)
    assert tried.accuracy(tried.covered) == Share(2, 4)  # one mention has no prediction, another no link
    assert [tried.recall_at(k) for k in (1, 2)] == [Share(2, 5), Share(3, 5)]
    assert tried.accuracy_by(lambda mention: mention.bracket) == {"1": Share(1, 4), "0.9-1": Share(1, 1)}
    result = karat.evaluate(GOLD, RUN, profile="zelda")
    assert result["strong:micro.r"] == tried.accuracy().value


def test_a_mention_without_entity_is_left_out_and_counted():
    corpus = Corpus.from_documents([Document("a", TEXT, (Label(0, 3, "Ulm"), Label(8, 12, None)))])
    tried = match_predictions(corpus, Run.from_responses([Response("a", (Prediction(0, 3, "Ulm"),))]))
    assert (tried.accuracy(), tried.unlinked) == (Share(1, 1), 1)


def test_mentions_are_divided_by_training_text_and_lists():
    links = (SectionLink(0, 3, "Ulm"), SectionLink(4, 8, "Bonn"), SectionLink(4, 8, "Bonn"))
    training = TrainingLinks.from_sections([LinkedSection("1", None, "", "Ulm Rhen", links)])
    rows = [CandidateRow("Ulm", "Ulm", 9), CandidateRow("Ulm", "Ulm (Montana)", 1), CandidateRow("Rome", "Roma", 1)]
    lists = CandidateLists("own", lambda keys: iter(rows))
    scores = compute_scores(
        "it",
        {"own": match_predictions(GOLD, RUN, "own")},
        training_links=training,
        candidate_lists=lists,
        lookup="clean",
    )
    assert scores.groups["training"] == {SEEN: Share(1, 1), NEW_WORDS: Share(0, 1), UNSEEN: Share(1, 3)}
    assert scores.groups["frequency"] == {"0": Share(1, 3), "1": Share(1, 1), "2-9": Share(0, 1)}
    assert scores.groups["ambiguity"] == {"no list": Share(0, 2), "1": Share(1, 1), "2-5": Share(1, 2)}
    assert scores.groups["prior"] == {FIRST: Share(1, 1), LISTED: Share(0, 1), UNLISTED: Share(1, 3)}
    assert scores.mean == 2 / 5
    assert scores.accuracy_by_bracket()["own"] == {"0.9-1": Share(1, 1), "1": Share(1, 4)}


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abc"))))
def test_groups_add_up(cases):
    hits = np.array([hit for hit, _ in cases], bool)
    shares = group_shares(hits, [value for _, value in cases])
    assert sum(share.total for share in shares.values()) == len(cases)
    assert sum(share.hits for share in shares.values()) == int(hits.sum())


def test_means_are_plain():
    assert unweighted_mean([Share(1, 1), Share(0, 99)]) == 0.5
    assert unweighted_mean([Share(0, 0), Share(1, 2)]) == 0.5
    assert unweighted_mean([]) is None


def test_readings_are_paired_by_titles_and_words():
    one = Corpus.from_documents(
        [
            Document(
                "1",
                "Ulm Bonn Ulm, X",
                (Label(0, 3, "Ulm"), Label(4, 8, "Bonn"), Label(9, 12, "Ulm"), Label(14, 15, "X")),
            )
        ]
    )
    two = Corpus.from_documents(
        [Document("7", "Ulm Bonn Ulm , X", (Label(0, 3, "Ulm"), Label(9, 12, "Ulm"), Label(15, 16, "X_(letter)")))]
    )
    found = compare_files(one, two, "own")
    assert [mention.entity for mention in found.jsonl_only] == ["Bonn"]
    assert [mention.entity for mention in found.title_changes] == ["X"]
    assert (found.n_jsonl, found.n_conll, found.conll_only, found.n_spelling_changes) == (4, 3, (), 0)


def test_a_mention_that_a_file_has_twice_counts_twice():
    labels = (Label(0, 3, "Ulm", mention_id="a"), Label(0, 3, "Ulm", mention_id="b"))
    twice = Corpus.from_documents([Document("1", "Ulm", labels)])
    once = Corpus.from_documents([Document("1", "Ulm", (Label(0, 3, "Ulm"),))])
    both = compare_files(twice, twice, "own")
    assert (both.n_jsonl, both.n_conll, both.jsonl_only, both.conll_only) == (2, 2, (), ())
    lost = compare_files(twice, once, "own")
    assert (lost.n_jsonl, lost.n_conll, len(lost.jsonl_only), lost.conll_only) == (2, 1, 1, ())
    added = compare_files(once, twice, "own")
    assert (added.n_jsonl, added.n_conll, added.jsonl_only, len(added.conll_only)) == (1, 2, (), 1)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("split", "lost", "retitled"),
    [
        ("aida-b", [], 2),
        ("tweeki", 12, 0),
        ("reddit-posts", ["Tax"], 0),
        ("shadowlinks-tail", ["PPP1R8", "Fabasoft"], 0),
    ],
)
def test_published_files_lose_these_mentions(split, lost, retitled, shared):
    jsonl = karat.load(shared / "zelda" / "jsonl" / f"test_{split}.jsonl.gz")
    conll = karat.load(shared / "zelda" / "conll" / f"test_{split}.conll")
    found = compare_files(jsonl, conll, split)
    assert found.conll_only == ()
    assert len(found.title_changes) == retitled
    assert lost in (len(found.jsonl_only), [mention.surface for mention in found.jsonl_only])


def test_files_belong_to_splits_by_their_names(tmp_path):
    names = ("a/test_cweb.jsonl.gz", "slinks-top.jsonl", "own_set.conll", "wiki.jsonl", "newslinks.jsonl")
    assert [parse_split(name) for name in names] == ["wned-cweb", "shadowlinks-top", "own-set", "wiki", "newslinks"]
    for folder in ("gold", "predictions"):
        (tmp_path / folder).mkdir()
    (tmp_path / "gold" / "test_tweeki.jsonl").touch()
    (tmp_path / "predictions" / "tweeki.jsonl").touch()
    assert list(pair_files(str(tmp_path / "gold"), str(tmp_path / "predictions"))) == ["tweeki"]
    (tmp_path / "gold" / "test_aida-b.jsonl").touch()
    with pytest.raises(UsageError, match="no predictions for aida-b"):
        pair_files(str(tmp_path / "gold"), str(tmp_path / "predictions"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gold", "absent"], "absent: found no such file or folder"),
        (["absent", "gold"], "unknown dataset or file 'absent'"),
        (["gold", "mine", "--conll", "absent"], "absent: found no such file or folder"),
        (
            ["gold", "mine", "--conll", "other.zelda.conll"],
            r"no file of other.zelda.conll is named as a test set \(aida-b, tweeki\)",
        ),
    ],
)
def test_paths_without_files_of_the_test_sets_are_errors(arguments, message, tmp_path, monkeypatch, karat_cli):
    monkeypatch.chdir(tmp_path)
    for folder in ("gold", "mine"):
        Path(folder).mkdir()
    for split in ("aida-b", "tweeki"):
        karat.save(GOLD, f"gold/test_{split}.jsonl")
        karat.save(RUN, f"mine/{split}.jsonl")
    karat.save(GOLD, "other.zelda.conll")
    ran = karat_cli("zelda", "score", *arguments)
    assert ran.code == 2
    assert re.search(message, " ".join(ran.err.split()))


def test_a_single_conll_file_belongs_to_a_single_test_set(tmp_path):
    gold, run, conll = (str(tmp_path / name) for name in ("gold.jsonl", "run.jsonl", "other.zelda.conll"))
    karat.save(GOLD, gold)
    karat.save(RUN, run)
    karat.save(GOLD, conll)
    scores = score_benchmark(gold, run, conll=conll)
    assert list(scores.file_comparisons) == ["gold"]


def test_files_of_a_run_belong_to_the_split_of_their_folder(tmp_path):
    """Replies of language models next to the predictions are none; two systems are one clear error."""
    (tmp_path / "gold").mkdir()
    for split in ("test_tweeki", "test_aida-b"):
        (tmp_path / "gold" / f"{split}.jsonl").touch()
        (tmp_path / "runs" / split / "replies").mkdir(parents=True)
        for name in ("fevry-m-3f9607.d2kb.jsonl", "replies/fevry-m-3f9607.d2kb.jsonl"):
            (tmp_path / "runs" / split / name).touch()
    pairs = pair_files(str(tmp_path / "gold"), str(tmp_path / "runs"))
    assert {split: run.removeprefix(f"{tmp_path}/runs/") for split, (_, run) in pairs.items()} == {
        "aida-b": "test_aida-b/fevry-m-3f9607.d2kb.jsonl",
        "tweeki": "test_tweeki/fevry-m-3f9607.d2kb.jsonl",
    }
    (tmp_path / "runs" / "test_tweeki" / "other.d2kb.jsonl").touch()
    with pytest.raises(UsageError, match="are both tweeki"):
        pair_files(str(tmp_path / "gold"), str(tmp_path / "runs"))


def test_files_of_predictions_are_preferred_to_gold_files_in_their_folder(tmp_path):
    for name in ("test_tweeki.jsonl", "predictions_tweeki.jsonl"):
        (tmp_path / name).touch()
    pairs = pair_files(str(tmp_path), str(tmp_path))
    assert pairs == {"tweeki": (f"{tmp_path}/test_tweeki.jsonl", f"{tmp_path}/predictions_tweeki.jsonl")}
    (tmp_path / "predictions_tweeki.jsonl").unlink()
    with pytest.raises(UsageError, match="has the test sets, and no predictions"):
        pair_files(str(tmp_path), str(tmp_path))


def test_only_the_best_prediction_counts_and_mistakes_are_noted(tmp_path, karat_cli, monkeypatch):
    """Of the two gold mentions, `Ulm` has a better wrong prediction, and the title of the other has underscores."""
    monkeypatch.chdir(tmp_path)
    gold = Corpus.from_documents([Document("a", TEXT, (Label(0, 3, "Ulm"), Label(17, 20, "Ulm (Montana)")))])
    predictions = (Prediction(0, 3, "Ulm", score=0.2), Prediction(0, 3, "Bonn", score=0.9))
    run = Run.from_responses([Response("a", (*predictions, Prediction(17, 20, "Ulm_(Montana)", score=0.5)))])
    scored = match_predictions(gold, run)
    assert (scored.accuracy(), scored.recall_at(20)) == (Share(0, 2), Share(1, 2))
    karat.save(gold, "gold.jsonl")
    karat.save(run, "predictions.jsonl")
    printed = karat_cli("zelda", "score", "gold.jsonl", "predictions.jsonl").out
    assert "1 predictions on gold mentions with a better one (only the best counts)" in printed
    assert "1 prediction cannot match any gold id" in printed
    assert "gold labels, which are scored as predictions" in karat_cli("zelda", "score", "gold.jsonl", "gold.jsonl").out


def test_mentions_without_prediction_are_listed(tmp_path, karat_cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    karat.save(GOLD, "gold.jsonl")
    karat.save(RUN, "predictions.jsonl")
    printed = karat_cli("zelda", "score", "gold.jsonl", "predictions.jsonl", "--details").out
    assert "gold a [25, 30) Paris → Paris: no prediction" in printed


def test_the_command_prints_and_writes(tmp_path, karat_cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    karat.save(GOLD, "gold.jsonl")
    karat.save(RUN, "predictions.jsonl")
    Path("lists.json").write_text(json.dumps({"Ulm": {"Ulm": 3}}), encoding="utf-8")
    ran = karat_cli("zelda", "score", "gold.jsonl", "predictions.jsonl", "--candidate-lists", "lists.json")
    assert (ran.code, ran.err) == (0, "")
    assert "gold                    5        4      40.0        50.0" in ran.out
    written = json.loads(karat_cli("zelda", "score", "gold.jsonl", "predictions.jsonl", "--json", "-").out)
    assert written["mean"] == 0.4
    ran = karat_cli("zelda", "recall", "gold.jsonl", "--candidate-lists", "lists.json", "--out", "candidates")
    assert ran.code == 0, ran.err
    listed = karat.load_run("candidates/gold.jsonl", corpus=GOLD)
    assert [p.candidates for p in next(iter(listed)).predictions if p.start in (0, 8)] == [(Candidate("Ulm"),), ()]
    ran = karat_cli("zelda", "recall", "gold.jsonl", "--candidate-lists", "nowhere.json")
    assert (ran.code, "found nothing; expected candidate lists" in ran.err) == (2, True)


def test_titles_of_a_number_are_titles_and_qids_among_titles_are_noted():
    """Gold and predictions are titles, so `E3` and `3` are too; the QID can match no title."""
    spans = [(start, start + 1) for start in range(0, 8, 2)]

    def noted(ids):
        gold = [Label(*span, title) for span, title in zip(spans, ("Ulm", "New York", "Bonn", "Berlin"), strict=True)]
        predictions = [Prediction(*span, id) for span, id in zip(spans, ids, strict=True)]
        corpus = Corpus.from_documents([Document("d", "a b c d", tuple(gold))])
        return match_predictions(corpus, Run.from_responses([Response("d", tuple(predictions))])).notes

    assert noted(["Ulm", "New York", "E3", "3"]) == ()
    (note,) = noted(["Ulm", "New York", "E3", "Q64"])
    assert "1 prediction cannot match any gold id" in note
