"""Karat's own documents and responses in a JSON array, and files in UTF-16."""

from __future__ import annotations

import json

import pytest

import karat
from karat.model.errors import InputError

DOCUMENTS = [
    {"id": "d1", "text": "Paris is big.", "labels": [{"start": 0, "end": 5, "entity": "Q90"}]},
    {"id": "d2", "text": "In Berlin.", "labels": [{"start": 3, "end": 9, "entity": None}]},
]
RESPONSES = [
    {"id": "d1", "predictions": [{"start": 0, "end": 5, "entity": "Q90", "score": 0.5}]},
    {"id": "d2", "predictions": []},
]


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_is_read_like_lines(tmp_path, indent):
    for name, objects in (("gold", DOCUMENTS), ("predictions", RESPONSES)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(item) + "\n" for item in objects))
        (tmp_path / f"{name}.json").write_text(json.dumps(objects, indent=indent))
    assert list(karat.load(tmp_path / "gold.json")) == list(karat.load(tmp_path / "gold.jsonl"))
    array, lines = (
        karat.evaluate(tmp_path / f"gold.{suffix}", tmp_path / f"predictions.{suffix}") for suffix in ("json", "jsonl")
    )
    assert array["strong:micro.f1"] == lines["strong:micro.f1"] == pytest.approx(2 / 3)


def test_an_error_in_an_array_names_the_object(tmp_path):
    path = tmp_path / "gold.json"
    path.write_text(json.dumps([DOCUMENTS[0], {**DOCUMENTS[1], "labels": [{"start": 0, "end": 99}]}], indent=1))
    with pytest.raises(InputError, match=r"gold\.json:2: "):
        karat.load(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_names_the_command_that_converts_it(tmp_path, encoding):
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in DOCUMENTS), encoding=encoding)
    with pytest.raises(InputError, match=r"found UTF-16 text.*iconv -f UTF-16 -t UTF-8 gold\.jsonl"):
        karat.load(path)


@pytest.mark.parametrize("suffix", ["jsonl", "json"])
def test_integers_are_ids_as_in_answers(tmp_path, suffix):
    """Both files number their documents, one of them in strings."""
    for name, objects, ids in (("gold", DOCUMENTS, (0, 1)), ("predictions", RESPONSES, ("0", 1))):
        numbered = [{**item, "id": id} for item, id in zip(objects, ids, strict=True)]
        text = json.dumps(numbered) if suffix == "json" else "".join(json.dumps(item) + "\n" for item in numbered)
        (tmp_path / f"{name}.{suffix}").write_text(text)
    gold = karat.load(tmp_path / f"gold.{suffix}")
    assert gold.ids.to_pylist() == ["0", "1"]
    assert karat.evaluate(gold, tmp_path / f"predictions.{suffix}")["strong:micro.f1"] == pytest.approx(2 / 3)
    (tmp_path / "gold.jsonl").write_text(json.dumps({**DOCUMENTS[0], "id": True}) + "\n")
    with pytest.raises(InputError, match="found `bool` at `id`"):
        karat.load(tmp_path / "gold.jsonl")
