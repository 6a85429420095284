"""Files that a repository shows to strangers: how to cite, report and ask, and what changed."""

from __future__ import annotations

import re

import pytest
import yaml

import karat
from tests.conftest import ROOT

CITATION_KEYS = {
    "abstract",
    "authors",
    "cff-version",
    "commit",
    "contact",
    "date-released",
    "doi",
    "identifiers",
    "keywords",
    "license",
    "license-url",
    "message",
    "preferred-citation",
    "references",
    "repository",
    "repository-artifact",
    "repository-code",
    "title",
    "type",
    "url",
    "version",
}
"""The keys that the Citation File Format 1.2.0 allows."""

FORM_TYPES = {"checkboxes", "dropdown", "input", "markdown", "textarea", "upload"}


def test_the_citation_file_is_valid_and_has_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"authors", "cff-version", "message", "title"} <= citation.keys() <= CITATION_KEYS
    assert (citation["cff-version"], citation["type"]) == ("1.2.0", "software")
    assert citation["authors"]
    assert all(author.keys() <= {"name", "website", "email"} and author["name"] for author in citation["authors"])
    assert citation["version"] == karat.__version__
    assert all(isinstance(word, str) for word in citation["keywords"])


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem
)
def test_issue_templates_are_valid_forms(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.stem == "config":
        assert form == {"blank_issues_enabled": True}
        return
    assert {"name", "description", "body"} <= form.keys() <= {"name", "description", "body", "labels", "title"}
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids))
    for field in form["body"]:
        assert field["type"] in FORM_TYPES
        assert field["attributes"]["label"]
        assert field.keys() <= {"type", "id", "attributes", "validations"}


def test_the_changelog_marks_what_it_explains_and_nothing_else():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\*\*\[(\w+)\]\*\*", text)) == {"scores", "files", "names"}
    assert len(re.findall(r"^- \*\*\[scores\]\*\*", text, re.MULTILINE)) >= 10
    assert "SCORES" not in text


def test_the_security_page_says_how_to_report_and_what_is_promised():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert {"## Reporting a vulnerability", "## What is promised", "## What counts"} <= set(text.splitlines())
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / target).exists()
