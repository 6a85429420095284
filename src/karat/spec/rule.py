"""What a file in `karat.rules` holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from karat.model.document import Document, Label
from karat.model.span import Span

Severity: TypeAlias = Literal["error", "warning", "hint"]
"""An error is wrong whatever was meant, a warning most likely; a hint is worth a look."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong at one place, and what to do about it.

    Without `document` it is said about the whole corpus. `fixable` promises that the rule's fix removes the finding.
    """

    document: str | None
    says: str
    span: Span | None = None
    surface: str = ""
    proposal: str = ""
    fixable: bool = False

    @classmethod
    def at(cls, document: Document, label: Label, says: str, proposal: str = "", *, fixable: bool = False) -> Finding:
        """A finding about a label."""
        surface = document.text[label.start : label.end]
        return cls(document.id, says, label.span, surface, proposal, fixable)


@dataclass(frozen=True, slots=True)
class Context:
    """What rules may know besides the document. All of it may be missing; rules that need it then find nothing.

    `known` says whether an id is in the knowledge base. `types` and `names` (aliases too) are those of its entities,
    and `whitelist` the types that are allowed. `typed`, `blanks` and `dimensions` are facts about the corpus: whether
    labels have types, whether titles are written with blanks, and of which dimensions each label should have one tag.
    `skipped` is what the reader said about the source.
    """

    known: Callable[[str], bool] | None = None
    redirects: Mapping[str, str] = field(default_factory=dict)
    disambiguation: frozenset[str] = frozenset()
    types: Mapping[str, frozenset[str]] = field(default_factory=dict)
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)
    whitelist: frozenset[str] | None = None
    typed: bool = False
    blanks: bool = False
    dimensions: frozenset[str] = frozenset()
    skipped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """A defect that a gold standard may have.

    `find` looks at one document and `corpus_find` at all of them; a rule has at least one of the two. `fix` removes
    what is marked as fixable, changes nothing else, and changes nothing the second time. Answers have most defects too;
    some only `gold` can have.
    """

    title: str
    says: str
    severity: Severity
    find: Callable[[Document, Context], Iterable[Finding]] | None = None
    fix: Callable[[Document, Context], Document] | None = None
    corpus_find: Callable[[Sequence[Document], Context], Iterable[Finding]] | None = None
    gold: bool = False
