"""Linting of one document while its labels change."""

from hypothesis import given
from hypothesis import strategies as st

from karat import Document, Label
from karat.data.lint.context import GrowingContext, build_context
from karat.data.lint.document_linter import DocumentLinter
from karat.kb.catalogue import open_starter

TEXT = "Berlin is in Germany. Berlin is large."
IDS = ("Q64", "Q183", "http://en.wikipedia.org/wiki/Berlin", "Q99999999999", "Berlin (disambiguation)")


def make_document(ids):
    return Document("d", TEXT, tuple(Label(number, number + 6, id) for number, id in enumerate(ids)))


@given(st.lists(st.sampled_from(IDS), min_size=1, max_size=6))
def test_facts_that_are_read_one_id_after_the_other_are_those_of_the_whole_document(ids):
    growing = GrowingContext(open_starter())
    for length in range(1, len(ids) + 1):
        context = growing.get_context(make_document(ids[:length]))
    whole = build_context([make_document(ids)], kb="starter")
    for name in ("redirects", "disambiguation", "types", "names", "has_types", "has_spaces"):
        assert getattr(context, name) == getattr(whole, name), name
    assert (context.has_entity is None) == (whole.has_entity is None)


def test_findings_are_in_the_order_of_the_text_and_need_no_knowledge_base():
    linter = DocumentLinter(dimensions=["form"])
    labels = (Label(13, 20, "Q183"), Label(0, 6, "Q64"), Label(0, 5, "Q1"))
    findings = linter.lint(Document("d", TEXT, labels))
    starts = [item.finding.span.start for item in findings if item.finding.span]
    assert starts == sorted(starts)
    rules = {item.rule for item in findings}
    assert {"word-boundary", "category-dimension", "inconsistent-surface"} <= rules
    assert "empty-document" not in {item.rule for item in linter.lint(Document("d", TEXT))}


def test_of_very_many_findings_the_severe_ones_are_kept():
    text = "word " * 2000
    findings = DocumentLinter(dimensions=["form"]).lint(Document("d", text, (Label(9995, 9999, "Q1"),)))
    assert len(findings) == 500
    assert "category-dimension" in {item.rule for item in findings}
