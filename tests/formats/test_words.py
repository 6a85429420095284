"""How many words a text has."""

from __future__ import annotations

import json
import sys
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.facts import words
from karat.facts.words import Words, counts
from karat.model.surface import lowercased


@pytest.fixture
def afresh():
    """As in a new process, before the test and after it."""
    made = (words._tokenizer, words._counted, words._known)
    for one in made:
        one.cache_clear()
    yield
    for one in made:
        one.cache_clear()


@pytest.mark.extras
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Words(0, 0, 0)),
        (" \n\t ", Words(0, 0, 0)),
        ("Ada met her aunt in Ulm.", Words(6, 4, 2)),
        ("(Ada) ... !", Words(1, 0, 1)),
        ("She isn't here", Words(4, 3, 1)),  # is + n't
        ("42 iPhones of NASA", Words(4, 3, 1)),  # what has no capital first, or no letter at all
        ("$ 5", Words(2, 2, 0)),  # a sign of currency is no punctuation
        ("東京 and Ünï", Words(3, 2, 1)),  # letters that have no case are no capitals
    ],
)
def test_words_are_what_is_neither_punctuation_nor_space(text, expected):
    assert counts([text]) == [expected]


@cache
def _blank():
    import spacy

    return spacy.blank("en")


@pytest.mark.extras
@given(st.lists(st.text("aB1 .,'\n-é東", max_size=12), max_size=6))
def test_texts_are_counted_as_one_by_one(texts):
    tokenizer = _blank().tokenizer

    def slowly(text):
        found = [token.text for token in tokenizer(text) if not (token.is_punct or token.is_space)]
        lower = sum(map(lowercased, found))
        return Words(len(found), lower, len(found) - lower)

    assert counts(texts) == [slowly(text) for text in texts]


@pytest.mark.extras
@pytest.mark.usefixtures("afresh")
def test_a_text_is_tokenised_once_and_not_all_are_kept(monkeypatch):
    seen = []
    real = words._tokenizer()

    class Watched:
        vocab = real.vocab

        def __call__(self, text):
            seen.append(text)
            return real(text)

    monkeypatch.setattr(words, "_tokenizer", Watched)
    monkeypatch.setattr(words, "_KEPT", 2)
    two, one = Words(2, 1, 1), Words(1, 1, 0)
    assert counts(["a B", "a B", "c"]) == [two, two, one]
    assert counts(["c", "a B"]) == [one, two]
    assert seen == ["a B", "c"]
    assert counts(["a B", "d"]) == [two, one]  # one too many: those before are forgotten
    assert set(words._counted()) == {"d"}
    assert counts(["e", "f", "g", "e"]) == [one] * 4
    assert seen == ["a B", "c", "d", "e", "f", "g"]
    assert len(words._counted()) <= 2


@pytest.mark.usefixtures("afresh")
def test_without_spacy_nobody_knows(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)  # as if it were not installed
    assert counts(["Ada met Bob."]) is None
    assert counts([]) is None


def _evaluated(corpus):
    for document in corpus:
        start, end = document.evaluation_span or (0, len(document.text))
        yield document.text[start:end]


@pytest.mark.extras
@pytest.mark.shared
def test_sums_equal_what_elevant_divides_by(shared):
    files = sorted(shared.glob("elevant/results/*/*.eval_results.json"))
    files = [path for path in files if ".aida-" not in path.name]  # whose texts are masked
    assert len(files) == 107
    of_benchmark: dict[str, Words] = {}
    for path in files:
        stem = path.name.removesuffix(".eval_results.json")
        benchmark = stem.rpartition(".")[2]
        if benchmark not in of_benchmark:
            corpus = karat.load(path.with_name(f"{stem}.linked_articles.jsonl.gz"), format="elevant-linked")
            of_benchmark[benchmark] = Words(*map(sum, zip(*counts(list(_evaluated(corpus))), strict=True)))
        for mode in json.loads(path.read_bytes()).values():
            figures = mode["error_categories"]["ner_fp"]
            assert of_benchmark[benchmark]._asdict() == {n: figures[n]["total"] for n in Words._fields}, path.name
