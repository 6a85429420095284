"""Karat JSONL in which the field that decides about scores is null, missing or misspelt."""

from __future__ import annotations

import json

import pytest

import karat
from karat import InputError
from karat.model.corpus import NO_LABELS_NOTE

TEXTS = {"d1": "Berlin is old.", "d2": "Paris is old."}
MENTIONS = {"d1": [{"start": 0, "end": 6, "entity": "Q64"}], "d2": [{"start": 0, "end": 5, "entity": "Q90"}]}
GOLD = [{"id": id, "text": text, "labels": MENTIONS[id]} for id, text in TEXTS.items()]
PREDICTIONS = [{"id": id, "predictions": MENTIONS[id]} for id in TEXTS]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def renamed(rows, old, new):
    return [{new if key == old else key: value for key, value in row.items()} for row in rows]


def without(rows, field):
    return [{key: value for key, value in row.items() if key != field} for row in rows]


@pytest.mark.parametrize("n_plain", [0, 1, 200])
@pytest.mark.parametrize("spelling", ['"predictions": null', '"predictions" :\tnull', '"pred\\u0069ctions": null'])
def test_null_predictions_are_refused_or_skipped(tmp_path, spelling, n_plain):
    """The null is found after lines that Arrow reads, too."""
    lines = [json.dumps({"id": f"e{number}", "predictions": []}) for number in range(n_plain)]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join([*lines, f'{{"id": "d1", {spelling}}}', json.dumps(PREDICTIONS[1])]), encoding="utf-8")
    with pytest.raises(InputError, match=rf"mine.jsonl:{n_plain + 1}: found null at `predictions`.*Write \[\]"):
        karat.load_run(path)
    run = karat.load_run(path, on_error="skip")
    assert "d1" not in run.ids.to_pylist()
    assert list(run.skipped.values()) == [1]


def test_null_labels_are_refused_or_skipped(tmp_path):
    path = write(tmp_path / "gold.jsonl", [GOLD[0], GOLD[1] | {"labels": None}])
    with pytest.raises(InputError, match=r"gold.jsonl:2: found null at `labels`; expected a list. Write \[\]"):
        karat.load(path)
    corpus = karat.load(path, on_error="skip")
    assert (corpus.ids.to_pylist(), list(corpus.skipped.values())) == (["d1"], [1])


def test_single_lines_may_omit_their_default(tmp_path):
    """As Karat itself writes documents without labels."""
    gold = write(tmp_path / "gold.jsonl", [GOLD[0], *without(GOLD[1:], "labels")])
    mine = write(tmp_path / "mine.jsonl", [PREDICTIONS[0], {"id": "d2"}])
    assert karat.evaluate(gold, mine)["strong:micro.f1"] == 1


@pytest.mark.parametrize(
    "command",
    [
        ["score", "GOLD", "MINE"],
        ["show", "GOLD", "MINE"],
        ["compare", "--gold", "GOLD", "MINE", "MINE"],
        ["scorecard", "--gold", "GOLD", "MINE", "MINE"],
        ["gate", "MINE", "--baseline", "MINE", "--gold", "GOLD"],
        ["curve", "GOLD", "MINE"],
        ["why", "GOLD", "MINE", "--ours", "karat", "--theirs", "gerbil"],
    ],
)
def test_scores_need_labels(karat_cli, tmp_path, command):
    paths = {
        "GOLD": write(tmp_path / "gold.jsonl", without(GOLD, "labels")),
        "MINE": write(tmp_path / "mine.jsonl", PREDICTIONS),
    }
    ran = karat_cli(*(paths.get(word, word) for word in command))
    assert ran.code == 2
    if command[0] != "why":
        assert "gold.jsonl: found no document with the field `labels`" in ran.err
        assert '"labels": []' in ran.err


def test_an_empty_list_in_one_document_is_enough(karat_cli, tmp_path):
    gold = write(tmp_path / "gold.jsonl", [*without(GOLD[:1], "labels"), GOLD[1] | {"labels": []}])
    assert karat_cli("score", gold, write(tmp_path / "mine.jsonl", PREDICTIONS)).code == 0


def test_a_header_is_enough(karat_cli, tmp_path):
    """Karat writes corpora without labels and runs without predictions like this."""
    gold = write(tmp_path / "gold.jsonl", [{"karat": "gold/2"}, *without(GOLD, "labels")])
    mine = write(tmp_path / "mine.jsonl", [{"karat": "predictions/2"}, {"id": "d1"}])
    assert karat_cli("score", gold, mine).code == 0


@pytest.mark.parametrize("evidence", [{"tags": [{"entity": "Q1"}]}, {"error": "timeout"}])
def test_other_predictions_are_enough(tmp_path, evidence):
    path = write(tmp_path / "mine.jsonl", [{"id": "d1", **evidence}])
    assert len(karat.load_run(path)) == 1


def test_texts_can_be_linked_converted_and_counted(karat_cli, tmp_path):
    texts = write(tmp_path / "texts.jsonl", without(GOLD, "labels"))
    corpus = karat.load(texts)
    assert corpus.skipped == {NO_LABELS_NOTE: 2}
    assert karat_cli("data", "stats", texts).code == 0
    assert karat_cli("data", "convert", texts, tmp_path / "out.parquet").code == 0
    mine = write(tmp_path / "mine.jsonl", PREDICTIONS)
    ran = karat_cli("run", f"predictions:{mine}", "--on", texts)
    assert ran.code == 0
    assert "warning: 2 documents of a file that nowhere has the field `labels`" in " ".join(ran.out.split())


@pytest.mark.extras  # projects need SQLAlchemy
def test_texts_have_no_scores_and_commands_that_work(karat_cli, tmp_path, monkeypatch):
    """Without gold labels every score is undefined, and the commands to try next take texts."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "texts.jsonl", without(GOLD, "labels"))
    for options in ((), ("--limit", "1")):
        ran = karat_cli("run", "popular", "--on", "texts.jsonl", "--json", "runs.json", *options)
        assert ran.code == 0
        assert {*json.loads((tmp_path / "runs.json").read_bytes())["runs"][0]["measures"].values()} == {None}
        assert "undefined: the texts have no gold labels" in " ".join(ran.out.split())
        _, _, commands = ran.out.partition("annotate the texts:\n")
        lines = commands.replace("\\\n", " ").splitlines()
        assert [line.split()[1:3] for line in lines] == [["data", "convert"], ["annotate", "create"]]
        for line in lines:
            tried = karat_cli(*line.split()[1:])
            assert tried.code == 0, tried.err


def test_plain_text_is_named(karat_cli, tmp_path):
    (tmp_path / "texts.txt").write_text("Ada, the first programmer, was here.\nShe left.\n", encoding="utf-8")
    ran = karat_cli("run", "popular", "--on", tmp_path / "texts.txt")
    assert ran.code == 2
    assert "found plain text" in ran.err
    assert '{"id": "d1", "text": "…"}' in ran.err
    (tmp_path / "table.txt").write_text("doc,begin,end,entity\nd1,0,3,Q1\n", encoding="utf-8")
    assert "--columns doc=doc" in karat_cli("score", tmp_path / "table.txt", tmp_path / "table.txt").err


def test_texts_are_no_predictions(karat_cli, tmp_path):
    gold = write(tmp_path / "gold.jsonl", GOLD)
    for rows in (without(GOLD, "labels"), [{"id": "d1"}]):
        ran = karat_cli("score", gold, write(tmp_path / "mine.jsonl", rows))
        assert (ran.code, "mine.jsonl: found no line with the field `predictions`" in ran.err) == (2, True)


@pytest.mark.parametrize("name", ["label", "Labels", "mentions", "entities", "annotations", "spans", "gold", "lables"])
def test_a_misspelt_list_of_labels_is_named(tmp_path, name):
    with pytest.raises(InputError, match=rf"gold.jsonl:1: found the unknown field `{name}`.*Did you mean 'labels'\?"):
        karat.load(write(tmp_path / "gold.jsonl", renamed(GOLD, "labels", name)), format="karat-jsonl")


@pytest.mark.parametrize("name", ["prediction", "Predictions", "labels", "entities", "predicitons"])
def test_a_misspelt_list_of_predictions_is_named(tmp_path, name):
    path = write(tmp_path / "mine.jsonl", renamed(PREDICTIONS, "predictions", name))
    with pytest.raises(InputError, match=rf"mine.jsonl:1: found the unknown field `{name}`.*mean 'predictions'\?"):
        karat.load_run(path, corpus=karat.load(write(tmp_path / "gold.jsonl", GOLD)), format="karat-jsonl")


@pytest.mark.parametrize(
    ("old", "new"),
    [("entity", "qid"), ("entity", "entitty"), ("entity", "kb_id"), ("start", "begin"), ("end", "end_char")],
)
def test_a_misspelt_field_of_a_label_is_named(tmp_path, old, new):
    rows = [row | {"labels": renamed(row["labels"], old, new)} for row in GOLD]
    with pytest.raises(InputError, match=rf"the unknown field `{new}` at `labels\[0\]`.*Did you mean '{old}'\?"):
        karat.load(write(tmp_path / "gold.jsonl", rows), format="karat-jsonl")


def test_further_fields_of_a_document_belong_into_meta(tmp_path):
    rows = [{**row, "title": "Ada"} for row in GOLD]
    with pytest.raises(InputError, match=r"unknown field `title`.*Put `title` into the object `meta`, or delete it"):
        karat.load(write(tmp_path / "gold.jsonl", rows), format="karat-jsonl")
    rows = [{**row, "meta": {"title": "Ada"}} for row in GOLD]
    assert next(iter(karat.load(write(tmp_path / "gold.jsonl", rows)))).meta == {"title": "Ada"}


def test_a_file_of_skipped_lines_says_so(tmp_path):
    path = write(tmp_path / "mine.jsonl", [{"id": "d1", "predictions": None}])
    with pytest.raises(InputError, match="null at `predictions`, and no other valid document; expected a list"):
        karat.load_run(path, on_error="skip")


@pytest.mark.parametrize("indent", [None, 1])
def test_document_ids_as_keys_are_named(tmp_path, indent):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(MENTIONS, indent=indent), encoding="utf-8")
    with pytest.raises(InputError, match=r"ids of documents as keys, such as 'd1'.*\{\"id\": \"…\", \"predictions\""):
        karat.load_run(path)
    path.write_text(json.dumps({row["id"]: without([row], "id")[0] for row in GOLD}, indent=indent), encoding="utf-8")
    with pytest.raises(InputError, match="ids of documents as keys, such as 'd1'"):
        karat.load(path)
