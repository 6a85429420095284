"""ConEL JSON: turns of dialogues, mentions found by their words, and both forms of runs."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

import karat
from karat import UNLINKED, Document, InputError, Label, Prediction
from karat.formats.plugins import conel
from karat.formats.plugins.conel import find_word_spans
from tests.formats.broken import nearly, read_or_refused

TURN = {
    "speaker": "USER",
    "utterance": "I fished a fish. My dog likes fish.",
    "turn_number": 1,
    "el_annotations": [
        {"mention": "fish", "entity": "Fish", "entity_type": "concept"},
        {"mention": "fish", "entity": "Fish", "entity_type": "concept"},
    ],
    "personal_entity_annotations": [{"personal_entity_mention": "My dog", "entity": "Rex"}],
}
GOLD = [
    {
        "dialogue_id": "5",
        "dataset_name": "wow",
        "turns": [{"speaker": "SYSTEM", "utterance": "Hello", "turn_number": 0}, TURN],
    }
]
RUN = [
    {
        "dialogue_id": "5",
        "dataset_name": "wow",
        "turns": {"1": {"turn_number": 1, "el_tool_annotations": [{"mention": "fish", "entity": "Fish"}]}},
    }
]
ROWS = [["5", 1, "My dog", "Rex"], ["5", 1, "cat", "Cat"], ["6", 0, "x", "X"]]


def _written(path, value):
    path.write_text(json.dumps(value))
    return path


def test_a_turn_is_a_document(tmp_path):
    corpus = karat.load(_written(tmp_path / "gold.json", GOLD))
    labels = (
        Label(11, 15, "Fish", types=("concept",)),
        Label(30, 34, "Fish", types=("concept",)),
        Label(17, 23, "Rex", categories=("personal entity",)),
    )
    meta = {
        "dialogue_id": "5",
        "turn_number": "1",
        "speaker": "USER",
        "dataset_name": "wow",
        "history": "SYSTEM: Hello",
    }
    assert list(corpus) == [Document("wow/5/1", TURN["utterance"], labels, meta=meta)]
    assert corpus.skipped == {
        "turns without annotation (context only)": 1,
        "mentions with several occurrences in their turn (the first was used)": 1,
    }


def test_spans_are_taken_where_they_are_given(tmp_path):
    turn = {
        "turn_number": 0,
        "utterance": "fish fish",
        "el_annotations": [{"mention": "fish", "entity": "Fish", "span": [5, 9]}],
        "personal_entity_annotations_without_eems": [{"personal_entity_mention": "fish"}],
    }
    corpus = karat.load(_written(tmp_path / "gold.json", [{"dialogue_id": 7, "turns": [turn]}]))
    assert corpus["7/0"].labels == (Label(5, 9, "Fish"), Label(0, 4, UNLINKED, categories=("personal entity",)))


def test_mentions_that_are_not_there_are_counted(tmp_path):
    turn = {"turn_number": 0, "utterance": "a b", "el_annotations": [{"mention": "c", "entity": "C"}]}
    corpus = karat.load(_written(tmp_path / "x.json", [{"dialogue_id": 7, "turns": [turn]}]))
    assert corpus.skipped == {"mentions not found in their turn (skipped)": 1}


@pytest.mark.parametrize(
    ("text", "mention", "found"),
    [
        ("party art", "art", [(6, 9)]),
        ("party", "art", [(1, 4)]),
        ("the ART party", "art", [(9, 12)]),
        ("the ART", "art", [(4, 7)]),
        ("c++ c", "c++", [(0, 3)]),
        ("x", "", []),
        ("x", "y", []),
    ],
)
def test_whole_words_come_first(text, mention, found):
    assert [tuple(span) for span in find_word_spans(text, mention)] == found


@pytest.mark.parametrize("gold", ["ConEL_X.json", "gold.json"])
def test_a_run_finds_its_gold_beside_it(gold, tmp_path):
    corpus = karat.load(_written(tmp_path / gold, GOLD))
    run = karat.load_run(_written(tmp_path / "ConEL_X-tool-2.json", RUN), corpus=corpus)
    (response,) = run
    assert (response.id, response.predictions) == ("wow/5/1", (Prediction(11, 15, "Fish"),))
    rows = karat.load_run(_written(tmp_path / "ConEL_X-rows.json", ROWS), corpus=corpus)
    (response,) = rows
    assert (response.id, response.predictions) == ("wow/5/1", (Prediction(17, 23, "Rex"),))
    assert rows.skipped == {
        "mentions not found in their turn (skipped)": 1,
        "predictions for turns that the gold standard lacks (skipped)": 1,
    }


def test_a_run_without_gold_is_refused(tmp_path):
    with pytest.raises(
        InputError, match=r"X-tool\.json: found predictions without text or spans.* as X\.json or gold\.json"
    ):
        karat.load_run(_written(tmp_path / "X-tool.json", RUN))


def test_errors_say_where(tmp_path):
    with pytest.raises(InputError, match=r"x\.json: found `int` at `\[0\].turns"):
        karat.load(_written(tmp_path / "x.json", [{"dialogue_id": 7, "turns": [{"turn_number": 0, "utterance": 5}]}]))
    turn = {"turn_number": 0, "utterance": "a b", "el_annotations": [{"mention": "b", "entity": "B", "span": [2, 9]}]}
    with pytest.raises(InputError, match=r"document '7/0': found label \[2, 9\)"):
        karat.load(_written(tmp_path / "x.json", [{"dialogue_id": 7, "turns": [turn]}]))


@given(nearly(json.dumps(GOLD).encode()), nearly(json.dumps(RUN).encode()) | nearly(json.dumps(ROWS).encode()))
def test_broken_files_are_refused_in_words(gold, run):
    read_or_refused(lambda source: conel.read_corpus(source, True), gold)
    read_or_refused(conel.read_run, run, beside={"gold.json": json.dumps(GOLD).encode()})


@pytest.mark.shared
def test_the_published_files(shared):
    corpus = karat.load(shared / "formats" / "conel" / "ConEL_PE.json.gz")
    kinds = [label.types or label.categories for document in corpus for label in document.labels]
    assert (len(corpus), len(kinds)) == (113, 199)
    counts = {kind: kinds.count((kind,)) for kind in ("concept", "named_entity", "personal entity")}
    assert counts == {"concept": 128, "named_entity": 44, "personal entity": 27}
    run = karat.load_run(shared / "formats" / "conel" / "ConEL_PE-REL_history.json.gz", corpus=corpus)
    assert (len(run), len(run.predictions)) == (113, 50)
    several = "mentions with several occurrences in their turn (the first was used)"
    assert corpus.skipped == {several: 7, "turns without annotation (context only)": 112}
    assert run.skipped == {several: 1}


# --- the folder of ConEL-2022


def _folder(path):
    """One dialogue with links of two turns and its mentions in a second file; gold rows; a run."""
    turns = [
        {
            "turn_number": 0,
            "speaker": "USER",
            "utterance": "My cat and a cat eat fish.",
            "el_annotations": [{"mention": "fish", "entity": "Fish", "span": [21, 25]}],
            "personal_entity_annotations": [{"personal_entity_mention": "My cat", "entity": "Tom"}],
            "personal_entity_annotations_without_eems": [],
        },
        {"turn_number": 1, "speaker": "SYSTEM", "utterance": "Oh."},
        {"turn_number": 2, "speaker": "USER", "utterance": "Yes, fish.", "el_annotations": []},
    ]
    mentions = [{"turn_number": 0, "utterance": "My dog", "personal_entity_annotations": [_personal("My dog")]}]
    for part in ("dataset", "gold", "runs"):
        (path / part).mkdir()
    _written(path / "dataset" / "ConEL22_EL_Val.json", [{"dialogue_id": "5", "turns": turns}])
    _written(path / "dataset" / "ConEL22_PEMD_Val.json", [{"dialogue_id": "6", "turns": mentions}])
    _written(path / "gold" / "gold.json", [["5", 0, "My cat", "Tom"], ["5", 0, "fish", "Fish"], ["9", 0, "x", "X"]])
    _written(
        path / "runs" / "Tool-A.json", [["5", 0, "cat", "Cat"], ["5", 0, "fish", "Fish"], ["5", 2, "fish", "Fish"]]
    )
    return path


def _personal(words):
    return {"personal_entity_mention": words}


def test_the_published_folder_is_a_gold_standard_for_its_runs(tmp_path):
    """Of two gold rows the run has one; its "cat" is the one inside "My cat", and turn 2 has nothing to find."""
    folder = _folder(tmp_path)
    corpus = karat.load(folder)
    assert [document.id for document in corpus] == ["5/0", "5/2"]
    assert corpus["5/0"].labels == (Label(21, 25, "Fish"), Label(0, 6, "Tom", categories=("personal entity",)))
    assert corpus["5/2"].meta["history"] == "USER: My cat and a cat eat fish.\nSYSTEM: Oh."
    assert corpus.skipped == {
        "turns without annotation (context only)": 1,
        "labels of turns that the dialogues lack (skipped)": 1,
    }
    assert list(karat.load(folder / "gold" / "gold.json")) == list(corpus)
    run = karat.load_run(folder / "runs" / "Tool-A.json", corpus=corpus)
    assert {response.id: response.predictions for response in run} == {
        "5/0": (Prediction(3, 6, "Cat"), Prediction(21, 25, "Fish")),
        "5/2": (Prediction(5, 9, "Fish"),),
    }
    result = karat.evaluate(corpus, run)
    assert (result["strong:micro.p"], result["strong:micro.r"]) == (1 / 3, 1 / 2)
    mentions = karat.load(folder / "dataset" / "ConEL22_PEMD_Val.json")
    assert mentions["6/0"].labels == (Label(0, 6, UNLINKED, categories=("personal entity",)),)


def test_spans_on_other_words_are_counted(tmp_path):
    turn = {"turn_number": 0, "utterance": "a b", "el_annotations": [{"mention": "b", "entity": "B", "span": [0, 1]}]}
    corpus = karat.load(_written(tmp_path / "x.json", [{"dialogue_id": 7, "turns": [turn]}]))
    assert corpus.skipped == {"mentions whose surface differs from the text at their offsets": 1}


@pytest.mark.shared
@pytest.mark.parametrize("given", ["", "gold/gold.json"])
def test_scores_of_the_published_runs_count_common_rows(shared, given):
    folder = shared / "formats" / "conel22"
    corpus = karat.load(folder / given)
    rows = {tuple(row) for row in json.loads((folder / "gold" / "gold.json").read_text())}
    assert (len(corpus), len(corpus.labels), len(rows)) == (267, 567, 567)
    for name, both, predictions in (
        ("CREL-S2E_ast_ON", 336, 472),
        ("Tagme-W2V", 231, 458),
        ("WAT-S2E_ast_ON", 278, 475),
    ):
        path = folder / "runs" / f"{name}.json"
        answered = {tuple(row) for row in json.loads(path.read_text())}
        assert (len(rows & answered), len(answered)) == (both, predictions)
        counts = karat.evaluate(corpus, karat.load_run(path, corpus=corpus)).counts("strong")
        assert (counts.matched_predictions, counts.unmatched_predictions) == (both, predictions - both)
        assert (counts.matched_gold, counts.unmatched_gold) == (both, 567 - both)


@pytest.mark.shared
def test_the_published_annotations(shared):
    folder = shared / "formats" / "conel22" / "dataset"
    linked = karat.load(folder / "ConEL22_EL_Val.json.gz")
    assert (len(linked), len(linked.labels)) == (267, 523 + 65 + 25)
    assert linked.skipped == {"turns without annotation (context only)": 264}
    mentions = karat.load(folder / "ConEL22_PEMD_Val.json.gz")
    assert (len(mentions), len(mentions.labels), dict(mentions.skipped)) == (1_807, 286, {})
