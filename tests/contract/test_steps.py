"""What every step must hold to: it changes nothing in place, and a second time changes nothing."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat import Corpus
from karat.kb.in_memory_kb import InMemoryKB
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.step import Step
from tests import strategies

DOCUMENTS = st.one_of(
    strategies.rich_documents(),
    strategies.families().map(lambda pair: list(pair[0])),
    strategies.pairs(families=True, max_documents=2).map(lambda pair: list(pair[0])),
)

KNOWN = InMemoryKB.from_tables(entities=["Q1", "Q2"])


@pytest.mark.parametrize("name", list_plugins("steps"))
def test_steps_say_what_they_do(name):
    step = get_plugin("steps", name, Step)
    assert step.title
    assert step.description.endswith(".")
    assert (step.apply is None) != (step.build_from_kb is None)


@given(DOCUMENTS)
def test_steps_are_pure_and_idempotent(documents):
    before = deepcopy(documents)
    for name in list_plugins("steps"):
        step = get_plugin("steps", name, Step)
        apply = step.apply if step.build_from_kb is None else step.build_from_kb(KNOWN, documents)
        done = [apply(document) for document in documents]
        assert documents == before, name
        assert [apply(document) for document in documents] == done, name
        kept = [document for document in done if document is not None]
        assert [apply(document) for document in kept] == kept, name
        if kept and kept != documents:
            Corpus.from_documents(kept)  # no part has lost its root
