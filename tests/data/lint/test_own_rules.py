"""Rules of the user's own: conditions, tags, and errors that say where."""

from __future__ import annotations

import pytest

from karat import InputError, Label
from karat.data.lint.lint import fix_documents, lint
from karat.data.lint.lint_file import read_rules
from karat.model.spec.rule import LintContext
from tests.data.lint.cases import document, tagged

YEARS = r"""
dimensions = ["form"]

[[rule]]
name = "years"
description = "A year is numeric."
severity = "error"
when.surface = '\d{4}'
when.without = ["reference:Metonymic"]
then.add = ["form:NumericTemporal"]
then.remove = ["form:*"]

[[rule]]
name = "nobody"
match = "any"
when.entity = 'NIL|Q\d'
when.types = ["GHOST"]
when.categories = ["x:y"]
"""


@pytest.fixture
def rules(tmp_path):
    def read(text: str):
        path = tmp_path / "rules.toml"
        path.write_text(text, encoding="utf-8")
        return read_rules(str(path))

    return read


def found(own, given):
    return [
        (one.rule, one.severity, one.finding.surface, one.finding.proposal, one.finding.fixable)
        for one in lint([given], own.rules, LintContext()).findings
    ]


def test_conditions_and_tags(rules):
    own = rules(YEARS)
    given = document(
        "2001 and 2002 and 2003 or 12345",
        tagged(0, 4, "form:Full", "pos:x"),
        tagged(9, 13, "form:NumericTemporal", entity="long"),
        tagged(18, 22, "reference:Metonymic", entity="long"),
        tagged(26, 31, "form:Full", entity="long"),
    )
    assert own.dimensions == ("form",)
    assert found(own, given) == [
        ("years", "error", "2001", "Add form:NumericTemporal. Remove form:Full", True),
        ("nobody", "warning", "2001", "", False),
    ]
    better = fix_documents([given], own.rules, LintContext())
    assert better[0].labels[0].categories == ("pos:x", "form:NumericTemporal")
    assert better[0].labels[1:] == given.labels[1:]
    assert fix_documents(better, own.rules, LintContext()) == better


def test_any_of_the_conditions_is_enough(rules):
    given = document("a b c d e", Label(0, 1, None), Label(2, 3, types=("GHOST",)), tagged(4, 5, "x:y", entity="long"))
    assert [surface for _, _, surface, _, _ in found(rules(YEARS), given)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("[[rule]\n", r"rules.toml:1: found no valid TOML"),
        ("\n\nx = \n", r"rules.toml:3: found no valid TOML"),
        ('colour = "red"\n', "rules.toml: found object contains unknown field `colour`"),
        ('\n[[rule]]\nwhen.surface = "a"\n', "rules.toml:2: found object missing required field `name`"),
        (
            '[[rule]]\nname = "a"\nwhen.surface = "a"\n[[rule]]\nname = "b"\nwhen.colour = "red"\n',
            "toml:4: .* at `when`",
        ),
        ('[[rule]]\nname = "a"\nwhen.types = "red"\n', "toml:1: .* `array`, got `str` at `when.types`"),
        ('[[rule]]\nname = "a"\nseverity = "bad"\nwhen.surface = "a"\n', "toml:1: .* at `severity`"),
        ('[[rule]]\nname = "a"\nwhen.surface = "("\n', r"toml:1: found '\(' in `when.surface`"),
        ('[[rule]]\nname = "a"\nwhen = {}\n', "toml:1: found no condition"),
        ('[[rule]]\nname = "A b"\nwhen.surface = "a"\n', "toml:1: found the name 'A b'"),
        ('[[rule]]\nname = "crossing"\nwhen.surface = "a"\n', "toml:1: .* already used"),
        (
            'rule = [{name = "a", when = {surface = "a"}}, {name = "a", when = {surface = "b"}}]',
            "rule 2: .* already used",
        ),
        ("", r"rules.toml: found no \[\[rule\]\]"),
    ],
)
def test_errors_say_where(rules, text, description):
    with pytest.raises(InputError, match=description):
        rules(text)
