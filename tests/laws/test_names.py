"""Laws of names: what prints parses back."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.model.errors import KaratError
from karat.model.measure_name import MeasureName, ViewName
from karat.model.signature import Signature

WORDS = st.from_regex(r"[a-z][a-z0-9-]{0,6}", fullmatch=True)
VALUES = st.text(max_size=8)
FILTERS = WORDS | st.builds("{}={}".format, WORDS, VALUES)


@given(
    st.builds(
        MeasureName,
        st.builds(ViewName, WORDS, st.lists(FILTERS, max_size=3).map(tuple)),
        WORDS,
        st.none() | st.from_regex(r"[a-z]{1,6}", fullmatch=True),
        st.none() | st.tuples(WORDS, VALUES),
    )
)
def test_measure_names_parse_back(name):
    assert karat.parse_measure(str(name)) == name
    assert str(karat.parse_measure(str(name))) == str(name)


@given(st.lists(st.tuples(WORDS, VALUES.filter(lambda v: v == v.strip())), max_size=4))
def test_signatures_parse_back(parts):
    signature = Signature((("karat", "0.1.0"), *parts))
    assert karat.parse_signature(str(signature)) == signature


@given(st.text(max_size=20))
def test_anything_else_is_refused_with_a_message(text):
    """Nothing but a `KaratError` escapes, and what is accepted prints back."""
    for parse in (karat.parse_measure, karat.parse_signature):
        try:
            assert parse(str(parse(text))) == parse(text)
        except KaratError as problem:
            assert text[:5] in str(problem) or repr(text)[1:4] in str(problem)  # noqa: PT017 - the message is the point
    with suppress(KaratError):
        karat.explain(text)


@pytest.mark.parametrize("text", ["strong:micro.f1", "weak[nil]:macro.p", "mention:micro.r", "strong:accuracy"])
def test_the_names_of_the_documentation(text):
    assert str(karat.parse_measure(text)) == text
    assert karat.explain(text).startswith(f"{text}: ")
