"""The sentence around a mention: it holds the mention, its offsets are right, and no text makes it slow."""

from __future__ import annotations

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.matching.facts.sentence import MAX_CONTEXT, Sentence, sentence_around

TEXTS = st.text(st.sampled_from("ab Z.!?…\"')。！\n\t\u05d0\u0301😀"), max_size=120) | st.text(max_size=60)


@st.composite
def mentions(draw):
    text = draw(TEXTS)
    start = draw(st.integers(0, len(text)))
    return text, start, draw(st.integers(start, len(text)))


@given(mentions(), st.integers(0, 30))
def test_it_holds_the_mention_at_its_offsets(mention, reach):
    text, start, end = mention
    found = sentence_around(text, start, end, reach)
    assert text[found.offset : found.offset + len(found.text)] == found.text
    assert (found.offset + found.start, found.offset + found.end) == (start, end)
    assert found.text[found.start : found.end] == text[start:end]
    assert 0 <= found.start <= found.end <= len(found.text)


@given(mentions(), st.integers(0, 30))
def test_it_reaches_no_further_than_asked(mention, reach):
    text, start, end = mention
    found = sentence_around(text, start, end, reach)
    assert found.start <= reach
    assert len(found.text) - found.end <= reach
    before, behind = found.cut
    assert not before or found.offset > 0
    assert not behind or found.offset + len(found.text) < len(text)


@given(mentions())
def test_it_is_the_same_wherever_it_is_asked_for_inside(mention):
    """Whoever asks for the sentence of a sentence gets it back, unless it was cut."""
    text, start, end = mention
    found = sentence_around(text, start, end)
    if found.cut == (False, False):
        again = sentence_around(found.text, found.start, found.end)
        assert again == Sentence(0, found.text, found.start, found.end)


TEXT = (
    'Mr. Smith left the U.S. Senate in Oct. 1999. "Why?" she asked J. K. Rowling in St. Louis! He met Ann (of Ulm.) '
    "Then it rained…\n\nHEADLINE\n\nApple Inc. said so.\nIt was late"
)
WHOLE = {
    "Smith": "Mr. Smith left the U.S. Senate in Oct. 1999.",
    "U.S.": "Mr. Smith left the U.S. Senate in Oct. 1999.",
    "Rowling": '"Why?" she asked J. K. Rowling in St. Louis!',
    "Ulm": "He met Ann (of Ulm.)",
    "HEADLINE": "HEADLINE",
    "Apple Inc.": "Apple Inc. said so.",
    "late": "It was late",
}


@pytest.mark.parametrize("mention", WHOLE)
def test_sentences_end_where_a_reader_ends_them(mention):
    start = TEXT.index(mention)
    assert sentence_around(TEXT, start, start + len(mention)).text == WHOLE[mention]


def test_no_blank_is_needed_where_a_script_has_none():
    assert sentence_around("我在柏林。他在北京！你好", 6, 8).text == "他在北京！"


def test_a_mention_is_never_cut_and_an_end_inside_it_ends_nothing():
    assert sentence_around("So. Who? Me! Yes. No.", 4, 12).text == "Who? Me! Yes."[:8]
    long = "word " * 200 + "Ulm" + " word" * 200
    found = sentence_around(long, 1000, 1003)
    assert found.cut == (True, True)
    assert found.text.startswith("word ")
    assert found.text.endswith(" word")


@pytest.mark.parametrize("sign", [".", ". ", "\n", '"', " ", "。", "a", '." '])
def test_a_long_text_costs_no_more_than_a_short_one(sign):
    """200,000 characters, with a mention on every hundredth: each looks around itself and nowhere else."""
    text = (sign * 200_000)[:200_000]
    begun = perf_counter()
    for start in range(0, len(text), 100):
        assert len(sentence_around(text, start, start + 1).text) <= 2 * MAX_CONTEXT + 1
    assert sentence_around(text, 0, len(text)).text == text
    assert perf_counter() - begun < 5
