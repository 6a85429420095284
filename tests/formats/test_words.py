"""How many words a text has."""

from __future__ import annotations

import json
import sys
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.matching.facts import word_counts
from karat.matching.facts.word_counts import WordCounts, count_words
from karat.model.surface import is_lowercase


@pytest.fixture
def afresh():
    """As in a new process, before the test and after it."""
    made = (word_counts._get_tokenizer, word_counts._count_cache, word_counts._form_cache)
    for one in made:
        one.cache_clear()
    yield
    for one in made:
        one.cache_clear()


@pytest.mark.extras
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", WordCounts(0, 0, 0)),
        (" \n\t ", WordCounts(0, 0, 0)),
        ("Ada met her aunt in Ulm.", WordCounts(6, 4, 2)),
        ("(Ada) ... !", WordCounts(1, 0, 1)),
        ("She isn't here", WordCounts(4, 3, 1)),  # is + n't
        ("42 iPhones of NASA", WordCounts(4, 3, 1)),  # what has no capital first, or no letter at all
        ("$ 5", WordCounts(2, 2, 0)),  # a sign of currency is no punctuation
        ("東京 and Ünï", WordCounts(3, 2, 1)),  # letters that have no case are no capitals
    ],
)
def test_words_are_what_is_neither_punctuation_nor_space(text, expected):
    assert count_words([text]) == [expected]


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
        lower = sum(map(is_lowercase, found))
        return WordCounts(len(found), lower, len(found) - lower)

    assert count_words(texts) == [slowly(text) for text in texts]


@pytest.mark.extras
@pytest.mark.usefixtures("afresh")
def test_a_text_is_tokenised_once_and_not_all_are_kept(monkeypatch):
    seen = []
    real = word_counts._get_tokenizer()

    class Watched:
        vocab = real.vocab

        def __call__(self, text):
            seen.append(text)
            return real(text)

    monkeypatch.setattr(word_counts, "_get_tokenizer", Watched)
    monkeypatch.setattr(word_counts, "_MAX_CACHED", 2)
    two, one = WordCounts(2, 1, 1), WordCounts(1, 1, 0)
    assert count_words(["a B", "a B", "c"]) == [two, two, one]
    assert count_words(["c", "a B"]) == [one, two]
    assert seen == ["a B", "c"]
    assert count_words(["a B", "d"]) == [two, one]  # one too many: those before are forgotten
    assert set(word_counts._count_cache()) == {"d"}
    assert count_words(["e", "f", "g", "e"]) == [one] * 4
    assert seen == ["a B", "c", "d", "e", "f", "g"]
    assert len(word_counts._count_cache()) <= 2


@pytest.mark.usefixtures("afresh")
def test_without_spacy_nobody_knows(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)  # as if it were not installed
    assert count_words(["Ada met Bob."]) is None
    assert count_words([]) is None


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
    of_benchmark: dict[str, WordCounts] = {}
    for path in files:
        stem = path.name.removesuffix(".eval_results.json")
        benchmark = stem.rpartition(".")[2]
        if benchmark not in of_benchmark:
            corpus = karat.load(path.with_name(f"{stem}.linked_articles.jsonl.gz"), format="elevant-linked")
            of_benchmark[benchmark] = WordCounts(*map(sum, zip(*count_words(list(_evaluated(corpus))), strict=True)))
        for mode in json.loads(path.read_bytes()).values():
            figures = mode["error_categories"]["ner_fp"]
            assert of_benchmark[benchmark]._asdict() == {n: figures[n]["total"] for n in WordCounts._fields}, path.name
