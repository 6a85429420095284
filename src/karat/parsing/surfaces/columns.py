"""Which column of a user's own table is what: `doc=doc_id,start=begin,end=end,entity=qid`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from karat.errors import UnknownNameError, UsageError
from karat.parsing.surfaces.entries import ENDS, IDS, LINKS, STARTS

ROLES: Final[Mapping[str, str]] = {
    "doc": "the id of the document",
    "text": "the text of the document",
    "start": "where a mention begins, in code points from 0",
    "end": "where it ends, not included",
    "mention": "the words that are marked, where there is no span, or to check it",
    "before": "what stands before them, where the text has them more than once",
    "after": "what stands behind them",
    "entity": "the id of the entity; NIL or null is NIL, an empty cell no link",
    "type": "the type of the mention",
    "score": "how sure the system is",
    "texts": "a folder beside the table with DOC.txt, or another table there that has the columns of doc and text",
}
"""What a column can be."""

_OF_DOCUMENTS = ("doc", "text", "texts")


class ColumnRoles(msgspec.Struct, frozen=True):
    """The column of each role; `start=entities.start` is a field of the objects in the list `entities`.

    Where all are numbers, the table has no header, and columns are counted from 1.
    """

    roles: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, given: str | Mapping[str, str]) -> ColumnRoles:
        """The roles as the user gives them, or an error that says what is missing."""
        pairs = list(given.items()) if isinstance(given, Mapping) else [_pair(part) for part in given.split(",")]
        roles = dict(pairs)
        for role, name in pairs:
            if role not in ROLES:
                raise UnknownNameError("role of a column", role, ROLES)
            if not isinstance(name, str) or not name:
                raise UsageError(f"no column is given for {role}. Write {role}=COLUMN.")
        if len(roles) < len(pairs):
            raise UsageError(f"a role is given twice in {given!r}. Give each once.")
        if not roles.keys() & {"doc", "text"}:
            raise UsageError("which column has the documents? Add doc=COLUMN, or text=COLUMN with their texts.")
        if not ({"start", "end"} <= roles.keys() or "mention" in roles):
            raise UsageError("where do mentions stand? Add start=COLUMN,end=COLUMN, or mention=COLUMN with the words.")
        if "texts" in roles and "doc" not in roles:
            raise UsageError("texts in another place are found by the id of their document. Add doc=COLUMN.")
        found = cls(tuple(roles.items()))
        if len({name.rpartition(".")[0] for role, name in found.of_items.items() if "." in name}) > 1:
            raise UsageError("the columns of mentions are fields of different lists. Name fields of one list.")
        return found

    @property
    def named(self) -> dict[str, str]:
        """The column of each role."""
        return dict(self.roles)

    @property
    def of_items(self) -> dict[str, str]:
        """The columns that say something of single mentions."""
        return {role: name for role, name in self.roles if role not in _OF_DOCUMENTS}

    @property
    def wanted(self) -> dict[str, str]:
        """The columns that the table itself has to have."""
        elsewhere = {"texts", "text"} if "texts" in self.named else {"texts"}
        return {role: name for role, name in self.roles if role not in elsewhere}

    @property
    def numbered(self) -> bool:
        """Whether columns are counted, for want of a header."""
        return all(name.isascii() and name.isdigit() for name in self.wanted.values())

    @property
    def has_texts(self) -> bool:
        """Whether the texts of the documents are given."""
        return bool(self.named.keys() & {"text", "texts"})

    def __str__(self) -> str:
        return ",".join(f"{role}={name}" for role, name in self.roles)


_USUAL: Final[Mapping[str, Sequence[str]]] = {
    "doc": ("doc_id", "doc", "document_id", "document", "docid", "article", "article_id", "id"),
    "start": STARTS,
    "end": ENDS,
    "entity": (*IDS, "entity", *LINKS),
}


def suggested(columns: Iterable[str]) -> str:
    """What the user could say of a table with these columns, as far as their names tell."""
    plain = {re.sub(r"\W+", "_", name).lower(): name for name in columns}
    found = {role: next((plain[n] for n in names if n in plain), "…") for role, names in _USUAL.items()}
    return ",".join(f"{role}={name}" for role, name in found.items())


def _pair(part: str) -> tuple[str, str]:
    role, equals, name = part.partition("=")
    if not equals:
        raise UsageError(f"--columns has {part!r}, which is no ROLE=COLUMN. Roles are {', '.join(ROLES)}.")
    return role.strip(), name.strip()
