"""The specification of a lint rule: the constant `RULE` of a file in `karat.plugins.rules`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from karat.model.document import Document, Label
from karat.model.span import Span

Severity: TypeAlias = Literal["error", "warning", "hint"]
"""An error is certainly wrong, a warning probably; a hint is worth checking."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A defect found by a rule."""

    document: str | None
    """The document id; None for a finding about the whole corpus."""
    description: str
    """What is wrong."""
    span: Span | None = None
    """The span of the label."""
    surface: str = ""
    """The text of the span."""
    proposal: str = ""
    """How to fix it."""
    fixable: bool = False
    """Whether the rule's `fix` removes the finding."""

    @classmethod
    def from_label(
        cls, document: Document, label: Label, description: str, proposal: str = "", *, fixable: bool = False
    ) -> Finding:
        """Return a finding about `label`, with the span and surface of the label in `document`."""
        surface = document.text[label.start : label.end]
        return cls(document.id, description, label.span, surface, proposal, fixable)


@dataclass(frozen=True, slots=True)
class LintContext:
    """Facts for rules beyond the document. Rules that need a missing fact find nothing."""

    # Knowledge base
    has_entity: Callable[[str], bool] | None = None
    """Return whether the knowledge base contains an id."""
    redirects: Mapping[str, str] = field(default_factory=dict)
    """The target of each redirect."""
    disambiguation: frozenset[str] = frozenset()
    """The ids of disambiguation pages."""
    types: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The types of each entity."""
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The names and aliases of each entity."""
    demonyms: frozenset[str] = frozenset()
    """The surfaces in the documents that are demonyms, such as `German`."""
    whitelist: frozenset[str] | None = None
    """The allowed types."""

    # Corpus
    has_types: bool = False
    """Whether the labels have types."""
    has_spaces: bool = False
    """Whether titles are written with spaces instead of underscores."""
    dimensions: frozenset[str] = frozenset()
    """The dimensions in which each label should have one tag."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Counts of what the reader skipped or repaired."""


@dataclass(frozen=True, slots=True)
class RuleExample:
    """Documents with a defect, and the findings that a rule must report there."""

    documents: tuple[Document, ...]
    """The documents."""
    findings: tuple[tuple[str, str, bool], ...]
    """The expected findings in order: surface, part of the description, and whether the rule can fix it."""
    context: LintContext = field(default_factory=LintContext)
    """Facts beyond the documents."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A check for a defect of gold standards. A rule has `find`, `find_in_corpus` or both."""

    # Description
    title: str
    """The name in lists."""
    description: str
    """One sentence about the defect."""
    severity: Severity
    """How serious the defect is."""

    # Checks
    find: Callable[[Document, LintContext], Iterable[Finding]] | None = None
    """Yield the findings in one document."""
    fix: Callable[[Document, LintContext], Document] | None = None
    """Return the document without the fixable findings and otherwise unchanged; a second call changes nothing."""
    fix_description: str = ""
    """What `fix` does, in a phrase; empty without `fix`."""
    find_in_corpus: Callable[[Sequence[Document], LintContext], Iterable[Finding]] | None = None
    """Yield the findings in all documents."""
    is_gold_only: bool = False
    """Whether the rule applies to gold standards but not to predictions."""

    # Tests
    example: RuleExample | None = None
    """Documents with the defect, for the tests."""
