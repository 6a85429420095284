"""Linting of one document while its labels change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from karat.data.lint.context import GrowingContext
from karat.data.lint.lint import RuleFinding, select_rules
from karat.kb.protocol import KB
from karat.model.document import Document
from karat.model.spec.rule import Severity

_NOT_YET: Final = ("empty-document",)  # rules about finished documents only
_MAX_FINDINGS: Final = 500
_ORDER: Final[Mapping[Severity, int]] = {"error": 0, "warning": 1, "hint": 2}


class DocumentLinter:
    """The rules that check single documents, with the facts that they need about ids."""

    def __init__(
        self, kb: KB | None = None, whitelist: frozenset[str] | None = None, dimensions: Iterable[str] = ()
    ) -> None:
        """Use a snapshot `kb`, allowed types (None for all), and dimensions in which each label has one category."""
        self._context = GrowingContext(kb, whitelist, dimensions)
        self._rules = select_rules((), _NOT_YET)

    def look_up(self, document: Document) -> None:
        """Read the facts about ids of a document that are new, which takes longer than to lint it."""
        self._context.get_context(document)

    def lint(self, document: Document) -> list[RuleFinding]:
        """Return the findings in a document in the order of the text.

        If there are very many, only the most severe ones are returned.
        """
        context = self._context.get_context(document)
        findings = [
            RuleFinding(name, rule.severity, finding)
            for name, rule in self._rules.items()
            if rule.find is not None
            for finding in rule.find(document, context)
        ]
        findings.sort(key=lambda item: _ORDER[item.severity])
        return sorted(findings[:_MAX_FINDINGS], key=lambda item: item.finding.span or (0, 0))
