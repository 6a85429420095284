"""The check of names and docstrings: what `make words` refuses, and what it lets pass."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.conftest import ROOT

_SPEC = importlib.util.spec_from_file_location("check_words", ROOT / "tools" / "check_words.py")
check_words = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(check_words)


def findings(source: str) -> list[str]:
    return list(check_words.check_file(Path("module.py"), source))


@pytest.mark.parametrize(
    "source",
    [
        "def told(): ...",
        "class Kept: ...",
        "def load(given): ...",
        "found = 1",
        "for each in (): ...",
        "self.own = 1",
        "_found = [one for one in ()]",
        '"""What this module holds."""',
        'def load():\n    """Who reads the file."""',
    ],
)
def test_a_name_or_docstring_that_names_no_thing_is_refused(source):
    assert findings(source)
    assert all(line.startswith("module.py:") for line in findings(source))


@pytest.mark.parametrize(
    "source",
    [
        "found_ids = 1",  # only whole identifiers are banned
        "print(found)",  # a use is reported where the name is defined
        '"""Whether names are plain."""',
        'def load():\n    """Read what the file holds."""',
    ],
)
def test_other_names_and_docstrings_pass(source):
    assert findings(source) == []


def test_an_allowed_identifier_needs_a_reason(monkeypatch):
    monkeypatch.setattr(check_words, "ALLOWED", {"module.py:found": "a field of a file of another tool"})
    assert findings("found = 1") == []
    assert findings("given = 1")
