"""The page about linting names every rule as it is."""

from __future__ import annotations

import re
import tomllib

import pytest

from karat.data.lint.lint_file import read_rules
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.rule import Rule
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "reference" / "lint-rules.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", list_plugins("rules"))
def test_every_rule_is_listed(name):
    rule = get_plugin("rules", name, Rule)
    row = re.search(rf"^\| `{name}` \| (\w+) \| (.*?) \| (.*?) \|$", PAGE, re.MULTILINE)
    assert row is not None
    assert (row[1], row[2] != "–", row[3]) == (rule.severity, rule.fix is not None, rule.description)


def test_the_rules_shown_can_be_read(tmp_path):
    shown = re.search(r"```toml title=\S+\n(.*?)```", PAGE, re.DOTALL)[1]
    path = tmp_path / "rules.toml"
    path.write_text(shown, encoding="utf-8")
    assert list(read_rules(str(path)).rules) == [entry["name"] for entry in tomllib.loads(shown)["rule"]]
