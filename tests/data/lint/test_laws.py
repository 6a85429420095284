"""Linting never fails, fixes settle, and the order of documents does not matter."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from karat import Corpus, Document, Label
from karat.data.lint.context import build_context
from karat.data.lint.lint import LintInput, fix_documents, lint, select_rules, to_fixed_corpus
from karat.model.spec.rule import LintContext
from tests.strategies import TEXT, families, pairs, rich_documents

RULES = select_rules([], [])
IDS = ["Q1", "Q2", "", " Q1", "http://x.org/wiki/A b", "http://x/%", 'a"&amp;\\u014d%2541', "Ã©", "\ufffd", None]
TAGS = [
    "form:Full",
    "form:Full",
    "form:ProForm",
    "overlap:None",
    "overlap:Minimal",
    "missing-parent:1",
    "surface:ab",
    "pos:x",
]
KNOWN = LintContext(
    has_entity=frozenset({"Q2", "A_b"}).__contains__,
    redirects={"Q1": "Q2", "A_b": "Q3", "Q3": "A b"},
    disambiguation=frozenset({"Q2"}),
    types={"Q2": frozenset({"PER"})},
    whitelist=frozenset({"LOC"}),
    has_types=True,
    dimensions=frozenset({"form", "overlap"}),
    skipped={"labels given twice": 1},
)


@st.composite
def written(draw):
    """Documents as a file may have them, before anybody checked them."""
    documents = []
    for number in range(draw(st.integers(1, 3))):
        labels = draw(
            st.lists(
                st.builds(
                    Label,
                    st.integers(0, 14),
                    st.integers(0, 14),
                    st.sampled_from(IDS),
                    same_as=st.lists(st.sampled_from(["Q1", " "]), max_size=1).map(tuple),
                    categories=st.lists(st.sampled_from(TAGS), max_size=3).map(tuple),
                    types=st.sampled_from([(), ("PER",)]),
                    kind=st.sampled_from([None, None, "quantity", "coreference"]),
                    optional=st.booleans(),
                    mention_id=st.sampled_from([None, "u", "v", "w"]),
                    parent=st.sampled_from([None, None, "u", "v", "x"]),
                ),
                max_size=6,
            )
        )
        inner = draw(st.none() | st.tuples(st.integers(0, 14), st.integers(0, 14)))
        documents.append(Document(f"d{number}", draw(TEXT), tuple(labels), evaluation_span=inner))
    return documents


def described(documents, context):
    return sorted(map(repr, lint(documents, RULES, context).findings))


@given(
    st.one_of(pairs(), pairs(families=True), families()).map(lambda pair: list(pair[0])) | rich_documents() | written()
)
def test_linting_never_fails_and_order_does_not_matter(documents):
    for context in (build_context(documents), KNOWN):
        assert described(documents, context) == described(documents[::-1], context)


@given(written() | rich_documents(), st.sampled_from([LintContext(), KNOWN]))
def test_fixes_settle(documents, context):
    better = fix_documents(documents, RULES, context)
    assert not any(one.finding.fixable for one in lint(better, RULES, context).findings)
    assert fix_documents(better, RULES, context) == better
    assert [(one.id, one.text) for one in better] == [(one.id, one.text) for one in documents]


@given(written(), st.sampled_from([LintContext(), KNOWN]))
def test_each_fix_keeps_its_promise_alone(documents, context):
    for name in RULES:
        rules = {name: RULES[name]}
        better = fix_documents(documents, rules, context)
        assert not any(one.finding.fixable for one in lint(better, rules, context).findings)
        assert fix_documents(better, rules, context) == better


@given(written())
def test_what_is_fixed_can_be_loaded(documents):
    named = [
        Document(one.id, one.text, tuple(x for x in one.labels if x.entity != ""), evaluation_span=one.evaluation_span)
        for one in documents
    ]
    corpus = to_fixed_corpus(LintInput("g", named, {}, {}), fix_documents(named, RULES, KNOWN))
    assert isinstance(corpus, Corpus)


@given(pairs())
def test_a_corpus_stays_one(pair):
    gold = LintInput("g", list(pair[0]), {}, {})
    assert len(to_fixed_corpus(gold, fix_documents(gold.documents, RULES, KNOWN))) == len(pair[0])
