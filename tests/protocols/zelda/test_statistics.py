"""Sizes of test sets: Table 2 of the ZELDA paper."""

from __future__ import annotations

import json
from importlib.util import find_spec

import jsonschema
import pytest

from karat import Corpus, Document, Label, UsageError
from karat.protocols.zelda.texts.statistics import find_tokeniser, load_tokeniser, text_statistics
from tests.conftest import SCHEMAS

TEXT = "Don't  panic, U.S.\n"


def test_tokens_are_words_and_marks_or_what_spaces_separate():
    assert load_tokeniser("words")(TEXT) == 9  # Don ' t panic , U . S .
    assert load_tokeniser("spaces")(TEXT) == 3


@pytest.mark.extras
def test_tokens_of_spacy_have_no_white_space():
    assert load_tokeniser("spacy")(TEXT) == 5  # Do n't panic , U.S.
    assert find_tokeniser() == "spacy"


@pytest.mark.skipif(find_spec("spacy") is not None, reason="spaCy is installed")
def test_without_spacy_words_are_counted_and_asking_for_it_is_refused():
    assert find_tokeniser() == "words"
    with pytest.raises(UsageError, match="pip install"):
        load_tokeniser("spacy")


def test_a_test_set_is_counted_by_hand():
    labels = (Label(0, 4, "Oslo"), Label(5, 9, "Bonn"), Label(5, 9, None))
    corpus = Corpus.from_documents([Document("a", "Oslo Bonn.", labels), Document("b", "Oslo", (Label(0, 4, "Oslo"),))])
    counts = text_statistics(corpus)
    assert (counts.documents, counts.tokens, counts.entities, counts.mentions) == (2, 4, 2, 3)
    assert counts.mean_length == 2


def test_the_command_prints_and_writes_table_2(tmp_path, karat_cli):
    record = {"id": "d", "text": "Danube.", "index": [[0, 6]], "wikipedia_titles": ["Danube"]}
    path = tmp_path / "test_tweeki.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    ran = karat_cli("zelda", "stats", tmp_path, "--tokens", "words", "--json", tmp_path / "found.json")
    assert (ran.code, ran.err) == (0, "")
    assert "tweeki" in ran.out
    assert "words and punctuation marks" in ran.out
    written = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    schema = json.loads((SCHEMAS / "zelda-stats.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(written)
    assert written["tests"]["tweeki"] == {
        "documents": 1,
        "tokens": 2,
        "entities": 1,
        "mentions": 1,
        "mean_length": 2.0,
        "domain": None,
        "document_type": None,
    }


@pytest.mark.shared
def test_the_domain_of_a_published_test_set_is_that_of_its_split(shared, karat_cli):
    ran = karat_cli("zelda", "stats", shared / "zelda/jsonl/test_reddit-posts.jsonl.gz", "--tokens", "words")
    assert "forum posts" in ran.out
    stats = karat_cli("data", "stats", shared / "zelda/jsonl/test_reddit-posts.jsonl.gz").out
    assert any(line.split() == ["domain", "forum", "posts"] for line in stats.splitlines())
