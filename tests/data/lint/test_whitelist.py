"""Lists of allowed types, by name or file."""

from __future__ import annotations

import pytest

from karat import Document, InputError, Label
from karat.data.lint.context import build_context, read_whitelist
from karat.data.lint.lint import lint, select_rules
from karat.kb.type_names import WHITELIST_NAMES


def test_by_name_or_file(tmp_path):
    assert read_whitelist("fair") == frozenset(WHITELIST_NAMES)
    path = tmp_path / "types.tsv"
    path.write_text("# types\nQ5\tperson\n", encoding="utf-8")
    assert read_whitelist(str(path)) == {"Q5"}
    path.write_text("# none\n", encoding="utf-8")
    with pytest.raises(InputError, match="the name of a list: fair"):
        read_whitelist(str(path))


def test_coarse_types_are_not_compared():
    documents = [Document("d", "Ada Ulm Red", (Label(0, 3, "Q1", types=("Person",)), Label(4, 7, "Q2", types=("Q9",))))]
    context = build_context(documents, types="fair")
    findings = lint(documents, select_rules(["type-whitelist"], []), context).findings
    assert [item.finding.surface for item in findings] == ["Ulm"]


@pytest.mark.parametrize("name", ["Q215627", "person", "Person", "PER", "Q5", "Organization", "creative work", "Event"])
def test_types_are_allowed_by_their_names(name):
    documents = [Document("d", "Ada", (Label(0, 3, "Q1", types=(name,)),))]
    assert not lint(documents, select_rules(["type-whitelist"], []), build_context(documents, types="fair")).findings
