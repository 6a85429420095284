"""Each rule by hand: what it finds, what it must not find, and what is left after its fix."""

from __future__ import annotations

import pytest

from karat import Document, Label
from karat.data.lint.lint import fix_documents, lint, select_rules
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.rule import LintContext, Rule
from tests.data.lint.cases import CASES, ULM, WIKI, document, tagged


@pytest.mark.parametrize("name", list_plugins("rules"))
def test_every_rule_says_what_it_is_and_has_a_case(name):
    rule = get_plugin("rules", name, Rule)
    assert rule.title
    assert rule.description.endswith(".")
    assert rule.severity in ("error", "warning", "hint")
    assert rule.find or rule.find_in_corpus
    cases = [case for case in CASES if case.rule == name]
    assert any(case.expected for case in cases), "add example=RuleExample(…) with documents that have the defect"
    assert (rule.fix is not None) == bool(rule.fix_description)
    assert (rule.fix is not None) == any(fixable for case in cases for _, _, fixable in case.expected)


@pytest.mark.parametrize("case", CASES, ids=[f"{case.rule}-{number}" for number, case in enumerate(CASES)])
def test_by_hand(case):
    rules = select_rules([case.rule], [])
    found = lint(case.documents, rules, case.context).findings
    said = [(one.finding.surface, one.finding.description, one.finding.fixable) for one in found]
    assert [(surface, fixable) for surface, _, fixable in said] == [(s, fixable) for s, _, fixable in case.expected]
    for (_, description, _), (_, part, _) in zip(said, case.expected, strict=True):
        assert part in description
    assert all(one.finding.proposal for one in found)
    assert all(one.severity == rules[case.rule].severity for one in found)


@pytest.mark.parametrize("case", CASES, ids=[f"{case.rule}-{number}" for number, case in enumerate(CASES)])
def test_a_fix_removes_what_it_promises_and_nothing_else(case):
    rules = select_rules([case.rule], [])
    documents = fix_documents(case.documents, rules, case.context)
    left = lint(documents, rules, case.context).findings
    assert not any(one.finding.fixable for one in left)
    assert len(left) <= sum(not fixable for _, _, fixable in case.expected)
    assert fix_documents(documents, rules, case.context) == documents
    if not any(fixable for _, _, fixable in case.expected):
        assert documents == case.documents


def fixed_by(name: str, given: Document, context: LintContext | None = None) -> Document:
    return fix_documents([given], select_rules([name], []), context or LintContext())[0]


def test_spans_move_to_their_surface_or_lose_white_space():
    moved = fixed_by("surface", document(ULM, tagged(3, 6, "surface:Ulm")))
    assert moved.labels[0].span == (4, 7)
    assert fixed_by("white-space", document(ULM, Label(3, 8, "Q1"), Label(4, 7, "Q1"))).labels == (Label(4, 7, "Q1"),)
    assert fixed_by("out-of-range", document("Ulm", Label(0, 9, "Q1"), Label(5, 9, "Q2"))).labels == (
        Label(0, 3, "Q1"),
    )


def test_ids_are_repaired_in_their_own_spelling():
    redirects = LintContext(redirects={"Old_Town": "New_Tówn"})
    for given, expected in [
        ("Old Town", "New Tówn"),
        ("Old_Town", "New_Tówn"),
        (WIKI + "Old_Town", WIKI + "New_Tówn"),
        (WIKI + "Old%5FTown", WIKI + "New_T%C3%B3wn"),
    ]:
        assert fixed_by("redirect", document(ULM, Label(0, 3, given)), redirects).labels[0].entity == expected
    for name, given, expected in [
        ("illegal-iri", f" {WIKI}New Town ", f"{WIKI}New_Town"),
        ("illegal-iri", 'http://x.org/a b|"c"', "http://x.org/a%20b%7C%22c%22"),
        ("illegal-iri", f'{WIKI}Ulm"', f"{WIKI}Ulm"),
        ("illegal-iri", "http://x.org/50%", "http://x.org/50%25"),
        ("illegal-iri", "http://x.org/Yoshir\\u014d", "http://x.org/Yoshir\\u014d"),
        ("encoding", "http://x.org/Yoshir\\u014d", "http://x.org/Yoshirō"),
        ("encoding", "\\ud83d\\ude00 &amp;amp; %2525C3", "😀 & %C3"),
        ("encoding", "Fran\u00c3\u00a7ois \u00e2\u20ac\u201c", "François –"),
        ("encoding", "Fran\ufffdois", "Fran\ufffdois"),
        ("encoding", "\\ud83d alone", "\\ud83d alone"),
    ]:
        assert fixed_by(name, document(ULM, Label(0, 3, given))).labels[0].entity == expected


def test_alternatives_that_become_one_are_kept_once():
    given = document(ULM, Label(4, 7, "Q1", mention_id="a"), Label(4, 7, "Q2", mention_id="a"))
    assert fixed_by("redirect", given, LintContext(redirects={"Q2": "Q1"})).labels == (
        Label(4, 7, "Q1", mention_id="a"),
    )


def test_tags_and_types_are_filled_in():
    given = document("new Ulm", tagged(0, 7, "pos:x", "overlap:None"), tagged(4, 7, "overlap:Maximal"))
    assert [label.categories for label in fixed_by("overlap-tag", given).labels] == [
        ("pos:x", "overlap:Maximal"),
        ("overlap:Minimal",),
    ]
    typed = LintContext(has_types=True, types={"Q1": frozenset({"b", "a"})})
    assert fixed_by("missing-types", document(ULM, Label(4, 7, "Q1")), typed).labels[0].types == ("a", "b")


def test_lost_parents_are_dropped():
    given = document(ULM, Label(0, 7, "Q1", mention_id="a", parent="b"), Label(4, 7, "Q2", mention_id="b", parent="a"))
    assert [label.parent for label in fixed_by("parents", given).labels] == [None, None]


def test_a_label_that_others_name_is_not_deleted():
    same = {"start": 0, "end": 7, "entity": "Q1"}
    given = document(ULM, Label(**same), Label(**same, mention_id="r"), Label(4, 7, "Q2", mention_id="p", parent="r"))
    assert fixed_by("duplicate-span", given) == given
