"""Invented mentions: predicted texts that the document does not contain, worked by hand."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, InventedMention, Label, Prediction, Response, Run
from karat.data.convert import count_losses
from karat.formats.parsing.surfaces.run_builder import build_run_from_objects
from karat.matching.read.invented_mentions import add_invented, count_invented
from karat.model.registry import get_plugin
from karat.model.spec.format import Format

TEXT = "Ada met Bob. Ada left."
GOLD = Corpus.from_documents(
    [
        Document("a", TEXT, (Label(0, 3, "Q1"), Label(8, 11, "Q2"), Label(13, 16, "Q1"))),
        Document("b", "Nobody was there, no Zoe.", (Label(21, 24, "Q3"),), evaluation_span=(18, 25)),
    ],
    name="gold",
)
RESPONSES = [
    {"id": "a", "predictions": [{"text": name, "entity": id} for name, id in [
        ("Ada", "Q1"), ("Ada", "Q1"), ("Ada", "Q1"), ("Eve", "Q2"), ("Mia", None)]]},
    {"id": "b", "predictions": [{"text": "Zoe", "entity": "Q3"}, {"text": "Max", "entity": "Q3"}]},
]  # fmt: skip
# Found: Ada twice and Zoe, all correct. Invented: the third Ada, Eve (linked to Bob's id), Mia (NIL), and Max.


@pytest.fixture
def run():
    return build_run_from_objects(RESPONSES, lambda: GOLD, name="mine")


@pytest.mark.parametrize(
    ("invented", "precision", "in_kb", "detection", "macro"),
    [
        ("skip", 1.0, 1.0, 1.0, 1.0),
        # 3 of 7; 3 of 6 with an id; spans too; (2 of 5 + 1 of 2) / 2, where Max counts outside any evaluation span
        ("wrong", 3 / 7, 3 / 6, 3 / 7, 0.45),
    ],
)
def test_invented_mentions_are_skipped_or_wrong(run, invented, precision, in_kb, detection, macro):
    result = karat.evaluate(GOLD, run, settings={"invented": invented})
    assert result["strong:micro.p"] == pytest.approx(precision)
    assert result["strong[in-kb]:micro.p"] == pytest.approx(in_kb)
    assert result["mention:micro.p"] == pytest.approx(detection)
    assert result["strong:macro.p"] == pytest.approx(macro)
    assert result["strong:micro.r"] == 3 / 4  # recall is the same
    note = "counted as wrong" if invented == "wrong" else "not scored"
    assert next(iter(result.skipped.items())) == (
        f"invented mentions, not in the text ({note}) (in document 'a', 'b')",
        4,
    )
    assert result.signature["invented"] == invented


@pytest.mark.parametrize("profile", ["elevant", "gerbil", "bat", "neleval", "hipe"])
def test_every_profile_can_count_them(run, profile):
    skip, wrong = (karat.evaluate(GOLD, run, profile=profile, settings={"invented": i}) for i in ("skip", "wrong"))
    for before, after in zip(skip.headlines(), wrong.headlines(), strict=True):
        assert after.recall == before.recall
        assert after.correct == before.correct
        assert after.predictions >= before.predictions
    assert any(a.predictions > b.predictions for a, b in zip(wrong.headlines(), skip.headlines(), strict=True))


@pytest.mark.parametrize("task", ["c2kb", "d2kb"])
def test_where_no_mentions_are_predicted_none_is_wrong(run, task):
    skip, wrong = (karat.evaluate(GOLD, run, settings={"task": task, "invented": i}) for i in ("skip", "wrong"))
    assert wrong.measures == skip.measures
    assert wrong.skipped["invented mentions, not in the text (not scored) (in document 'a', 'b')"] == 4


def test_cases_add_up_to_the_scores(run):
    result = karat.evaluate(GOLD, run, settings={"invented": "wrong"}, by=["error"])
    outcomes = [value for table in result.verdict_tables("strong") for value in table.column("outcome").to_pylist()]
    assert (outcomes.count("tp"), outcomes.count("fp"), outcomes.count("fn")) == (3, 4, 1)
    assert result.groups["error"]["strong"]["ner-fp"].errors == 4
    assert result.groups["error"]["strong"]["ner-fp-lowercased"].errors == 0


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_files_store_them(run, suffix, tmp_path):
    path = tmp_path / f"run.{suffix}"
    karat.save(run, path)
    again = karat.load_run(path)
    assert [response.invented for response in again] == [response.invented for response in run]
    assert [mention.text for response in again for mention in response.invented] == ["Ada", "Eve", "Mia", "Max"]
    assert again.digest == run.digest
    assert karat.evaluate(GOLD, again, settings={"invented": "wrong"})["strong:micro.p"] == pytest.approx(3 / 7)


def test_a_format_that_cannot_store_them_says_so(run):
    assert count_losses(run, get_plugin("formats", "neleval", Format))["invented mentions of documents"] == 2
    assert "invented mentions of documents" not in count_losses(run, get_plugin("formats", "karat-jsonl", Format))


def test_on_the_command_line(karat_cli, tmp_path):
    gold, predictions = tmp_path / "gold.jsonl", tmp_path / "mine.jsonl"
    karat.save(GOLD, gold)
    predictions.write_text("".join(json.dumps(response) + "\n" for response in RESPONSES), encoding="utf-8")
    shown = karat_cli("score", gold, predictions, "--invented", "wrong")
    assert "invented mentions, not in the text (counted as wrong) (in line 1, 2): 4" in " ".join(shown.out.split())
    assert "|invented:wrong" in shown.out.replace("\n", "")
    assert (
        "invented mentions, not in the text (not scored) (in line 1, 2): 4" in karat_cli("score", gold, predictions).out
    )
    assert karat_cli("score", gold, predictions, "--invented", "maybe").code == 2
    refused = karat_cli("score", gold, predictions, "--invented", "wrong", "--html", tmp_path / "a.html")
    assert refused.code == 2
    assert "invented=skip" in refused.err


def test_cases_and_verdicts_have_the_texts_of_invented_mentions(karat_cli, tmp_path, run):
    """Files had empty texts, so that only the offset told that the mention was invented."""
    gold, predictions = tmp_path / "gold.jsonl", tmp_path / "mine.jsonl"
    karat.save(GOLD, gold)
    karat.save(run, predictions)
    shown = karat_cli("show", gold, predictions, "--set", "invented=wrong", "--jsonl", "-")
    cases = [json.loads(line) for line in shown.out.splitlines()]
    texts = [system["invented"] for case in cases for system in case["systems"]]
    assert [text for text in texts if text] == ["Ada", "Eve", "Mia", "Max"]
    assert len(texts) == 8  # three found mentions, Bob, who was missed, and the invented ones
    verdicts = karat.evaluate(GOLD, run, settings={"invented": "wrong"}).verdicts.to_pylist()
    invented = [case["text"] for case in verdicts if case["view"] == "strong" and case["gold"] is None]
    assert invented == ["Ada", "Eve", "Mia", "Max"]


def test_offsets_behind_the_text_stay_an_error():
    far = Run.from_responses(
        [Response("a", (Prediction(1 << 30, (1 << 30) + 1, "Q1"),), invented=(InventedMention("x"),))]
    )
    for invented in ("skip", "wrong"):
        with pytest.raises(karat.InputError, match="inside the text"):
            karat.evaluate(GOLD, far, settings={"invented": invented})


@given(st.lists(st.sampled_from(["Ada", "Bob", "Eve", "Mia"]), max_size=6))
def test_each_mention_is_placed_or_invented(names):
    written = [{"id": "a", "predictions": [{"text": name, "entity": "Q1"} for name in names]}]
    run = build_run_from_objects(written, lambda: GOLD, name="mine")
    invented = sum(max(0, names.count(name) - TEXT.count(name)) for name in set(names))
    assert count_invented(run) == invented
    assert len(run.predictions) + invented == len(names)
    scored = add_invented(run)
    assert len(scored.predictions) == len(names)
    assert len({(prediction.start, prediction.end) for prediction in next(iter(scored)).predictions}) == len(names)
    result = karat.evaluate(GOLD, run, settings={"invented": "wrong"})
    counts = result.counts("strong")
    assert counts.matched_predictions + counts.unmatched_predictions == len(names)


def test_every_command_takes_the_setting_and_names_invented_mentions(karat_cli, tmp_path, run):
    """Stored runs, so that no reader says how many there are; precision is 3 of 7, as with `score --invented`."""
    gold, predictions, other = (tmp_path / f"{name}.jsonl" for name in ("gold", "mine", "other"))
    karat.save(GOLD, gold)
    for path in (predictions, other):
        karat.save(run, path)
    note = "invented mentions, not in the text (counted as wrong): 4"
    setting = ("--set", "invented=wrong")
    compared = karat_cli("compare", "--gold", gold, predictions, other, *setting)
    assert note in compared.out
    gated = karat_cli("gate", "--gold", gold, predictions, "--baseline", other, *setting)
    assert note in gated.out
    ran = karat_cli("run", f"predictions:{predictions}", "--on", gold, *setting)
    assert note in ran.out
    assert "42.9" in ran.out
    experiment = tmp_path / "experiment.toml"
    systems, datasets = json.dumps([f"predictions:{predictions}"]), json.dumps([str(gold)])
    text = f'systems = {systems}\ndatasets = {datasets}\n[settings]\ninvented = "wrong"\n'
    experiment.write_text(text, encoding="utf-8")
    assert note in karat_cli("run", experiment).out
    shown = karat_cli("show", gold, predictions, *setting)
    assert shown.out.count("not in the text (invented)") == 4
    assert "1073741824" not in shown.out
    for response in run:
        for mention in response.invented:
            assert f"(wrote {mention.text!r})" in shown.out
    told = karat_cli("why", gold, predictions, *setting, "--reference-profile", "gerbil")
    assert "invented: 4 cases change outcome" in told.out
    for text in ("Ada", "Eve", "Mia", "Max"):
        assert f"not in the text {text!r}  gold none" in told.out
