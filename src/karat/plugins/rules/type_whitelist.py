"""Entities have a type that the dataset allows."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from karat.kb.hierarchy import ROLES, find_roles
from karat.kb.type_names import WHITELIST_NAMES
from karat.matching.facts.document_ids import look_up_spelling
from karat.model.document import Document
from karat.model.finegrained_scheme import COARSE_TYPES
from karat.model.spec.rule import Finding, LintContext, Rule

_IDS = {name.casefold(): id for id, name in WHITELIST_NAMES.items()}
_PROPOSAL = "Write the id or name of an allowed type, or delete the label"


def _is_allowed(type: str, whitelist: Collection[str]) -> bool:
    """Return whether a type is in the whitelist, by its id or name, or as tag sets name persons, places and so on."""
    if type in whitelist or _IDS.get(type.casefold()) in whitelist:
        return True
    return any(not ROLES[role].isdisjoint(whitelist) for role in find_roles(type))


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report linked labels none of whose types, in the label or else the knowledge base, is in the whitelist.

    Quantities, datetimes and labels without known types are ignored. So are the coarse types of the fine-grained paper,
    which no whitelist names.
    """
    if context.whitelist is None:
        return
    for label in document.labels:
        if not isinstance(label.entity, str) or label.kind in ("quantity", "datetime"):
            continue
        types = (
            frozenset(label.types).difference(COARSE_TYPES)
            or look_up_spelling(label.entity, context.types)
            or frozenset()
        )
        if types and not any(_is_allowed(type, context.whitelist) for type in types):
            description = f"{label.entity} has no allowed type ({', '.join(sorted(types))})"
            yield Finding.from_label(document, label, description, _PROPOSAL)


RULE = Rule(
    title="Type whitelist",
    description="Entities have an allowed type (--types). Labels without types are checked by missing-types.",
    severity="warning",
    find=_find,
)
