"""Roles of the columns in a custom table: `doc=doc_id,start=begin,end=end,entity=qid`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from karat.formats.parsing.surfaces.entries import (
    END_NAMES,
    ID_NAMES,
    LINK_FORM,
    LINK_NAMES,
    SCORE_NAMES,
    START_NAMES,
    TEXT_NAMES,
    TYPE_NAMES,
)
from karat.model.errors import UnknownNameError, UsageError
from karat.model.output.command_options import format_argument, format_roles

ROLES: Final[Mapping[str, str]] = {
    "doc": "the id of the document",
    "text": "the text of the document",
    "start": "where a mention begins, in code points from 0",
    "end": "where it ends (exclusive)",
    "length": "its length, in place of its end",
    "mention": "the text of the mention, in place of a span or to check it",
    "before": "the text before the mention, if the mention occurs more than once",
    "after": "the text after the mention",
    "entity": "the id of the entity; NIL, or null in JSON, is NIL; an empty cell is unlinked",
    "type": "the type of the mention",
    "score": "the confidence of the system",
    "texts": "a folder next to the table with DOC.txt, or another table there with columns for doc and text",
    "response": "the answer of a language model, which contains the mentions",
    "token": "a token, in a CoNLL file with a token per line, or the list of the tokens of a row",
    "tag": "the tag of the token, such as B-PER",
    "id": "the id of the entity of the token, like entity",
    "misc": "notes on the token, such as SpaceAfter=No",
}
"""Roles of columns, with descriptions."""

_TOKEN_ROLES = ("token", "tag", "id", "entity", "misc", "doc", "text")
_DOCUMENT_ROLES = ("doc", "text", "texts", "response")
_LENGTH_NAMES = ("length", "len")  # that no column of ends has


class ColumnRoles(msgspec.Struct, frozen=True):
    """The column of each role in a custom table; `start=entities.start` is a field of objects in the list `entities`.

    If all columns are numbers, the table has no header, and columns are counted from 1.
    """

    roles: tuple[tuple[str, str], ...]
    """Pairs of role and column."""

    @classmethod
    def from_columns(cls, columns: str | Mapping[str, str | int]) -> ColumnRoles:
        """Parse roles from `ROLE=COLUMN,…` or a mapping, in which columns without names are numbers from 1.

        Raise `UsageError` for unknown, repeated or missing roles.
        """
        pairs = (
            [(role, str(name) if isinstance(name, int) else name) for role, name in columns.items()]
            if isinstance(columns, Mapping)
            else [_parse_pair(part) for part in columns.split(",")]
        )
        roles = dict(pairs)
        for role, name in pairs:
            if role not in ROLES:
                meant = next((name for name, common_names in _COMMON_NAMES.items() if role in common_names), None)
                raise UnknownNameError("role of a column", role, ROLES, meant=meant)
            if not isinstance(name, str) or not name:
                raise UsageError(f"no column for {role}. Write {role}=COLUMN.")
        if len(roles) < len(pairs):
            raise UsageError(f"a role occurs twice in {columns!r}. Write each role once.")
        if roles.keys() & {"token", "tag", "id", "misc"}:
            return cls._from_token_roles(roles)
        if "response" in roles:
            return cls._from_answer_roles(roles)
        if not roles.keys() & {"doc", "text"}:
            raise UsageError(
                "no column for the documents. Add doc=COLUMN with their ids, or text=COLUMN with their texts. Only "
                "columns with a role are read, so a column doc needs doc=doc."
            )
        if not ("start" in roles and roles.keys() & {"end", "length"}) and "mention" not in roles:
            raise UsageError(
                "no column for the mentions. Add start=COLUMN,end=COLUMN, mention=COLUMN with their text, or "
                "response=COLUMN with the answers of a language model."
            )
        if {"end", "length"} <= roles.keys():
            raise UsageError("end= and length= both say where a mention ends. Write one of them.")
        if roles.get("end", "").rpartition(".")[2].lower() in _LENGTH_NAMES:
            raise UsageError(f"end={roles['end']} names a column of lengths. Write length={roles['end']}.")
        if "texts" in roles and "doc" not in roles:
            raise UsageError("texts= requires document ids. Add doc=COLUMN.")
        column_roles = cls(tuple(roles.items()))
        if len({name.rpartition(".")[0] for role, name in column_roles.mention_columns.items() if "." in name}) > 1:
            raise UsageError("the columns of mentions are fields of different lists. Choose fields of one list.")
        return column_roles

    @classmethod
    def from_header(cls, names: Sequence[str]) -> ColumnRoles | None:
        """Return the roles of a table whose columns are all named like their roles; None for another header."""
        if not ROLES.keys() >= set(names):
            return None
        try:
            return cls.from_columns({name: name for name in names})
        except UsageError:  # of roles that make no table
            return None

    @classmethod
    def _from_answer_roles(cls, roles: Mapping[str, str]) -> ColumnRoles:
        """Return the roles of a table with answers; raise `UsageError` without ids, or for roles of mentions."""
        if "doc" not in roles:
            raise UsageError("response= requires document ids. Add doc=COLUMN.")
        if others := [role for role in roles if role not in _DOCUMENT_ROLES]:
            raise UsageError(f"the mentions are in the answers. Remove {others[0]}=, or response=.")
        return cls(tuple(roles.items()))

    @classmethod
    def _from_token_roles(cls, roles: Mapping[str, str]) -> ColumnRoles:
        """Return the roles of a CoNLL file or of a table with lists of tokens.

        Raise `UsageError` if token or tag is missing or a role does not fit.
        """
        for role in ("token", "tag"):
            if role not in roles:
                raise UsageError(f"no column for the {role} of a token. Add {role}=COLUMN.")
        for role in roles:
            if role not in _TOKEN_ROLES:
                raise UsageError(f"a table of tokens has no role {role}. Choose among {', '.join(_TOKEN_ROLES)}.")
        return cls(tuple(roles.items()))

    @property
    def is_token_table(self) -> bool:
        """Whether the table is a CoNLL file, with a token per line, or has lists of tokens."""
        return "token" in self.by_role

    @property
    def has_answers(self) -> bool:
        """Whether a column has answers of a language model, in place of columns for mentions."""
        return "response" in self.by_role

    @property
    def by_role(self) -> dict[str, str]:
        """The column names by role."""
        return dict(self.roles)

    @property
    def mention_columns(self) -> dict[str, str]:
        """The columns about single mentions, by role, without the columns about documents."""
        return {role: name for role, name in self.roles if role not in _DOCUMENT_ROLES}

    @property
    def required_columns(self) -> dict[str, str]:
        """The columns that the table itself must have, by role; texts may be in another file."""
        other_roles = {"texts", "text"} if "texts" in self.by_role else {"texts"}
        return {role: name for role, name in self.roles if role not in other_roles}

    @property
    def is_headerless(self) -> bool:
        """Whether all columns are given by number, since the table has no header."""
        return all(name.isascii() and name.isdigit() for name in self.required_columns.values())

    @property
    def has_texts(self) -> bool:
        """Whether the roles give the texts of the documents, in the table or next to it."""
        return bool(self.by_role.keys() & {"text", "texts"})

    def __str__(self) -> str:
        return ",".join(f"{role}={name}" for role, name in self.roles)


_COMMON_NAMES: Final[Mapping[str, Sequence[str]]] = {
    "doc": ("doc_id", "doc", "document_id", "document", "docid", "article", "article_id", "id"),
    "start": (*START_NAMES, "from"),
    "end": (*END_NAMES, "to"),
    "entity": (*ID_NAMES, "entity", *LINK_NAMES),
}
_MENTION_NAMES: Final = tuple(name for name in TEXT_NAMES if name not in ("text", "span"))  # these have other roles too
_DOCUMENT_TEXT_NAMES: Final = ("document_text", "doc_text", "full_text", "passage")
_OPTIONAL_NAMES: Final[Mapping[str, Sequence[str]]] = {"type": TYPE_NAMES, "score": SCORE_NAMES}


def is_data_row(cells: Iterable[str]) -> bool:
    """Return whether the first row of a table has a number as a cell, and is thus probably no header."""
    return any(map(_is_integer, cells))


def _is_integer(cell: str) -> bool:
    """Return whether a cell is a number without a point."""
    return cell.isascii() and cell.isdigit()


def suggest_roles(columns: Iterable[str]) -> str:
    """Suggest `--columns` or, in Python, `columns=`; `…` stands for a column that cannot be guessed.

    Document, span and link are guessed from common names, and type and score if there are any. The cells of a table
    without header are guessed from their form. The role text is added for a column `passage` or the like, and for
    `text` if mentions are nested or have another column with their text. Without a column of offsets, suggest a column
    of mentions, or else also the roles of answers.
    """
    names = list(columns)
    roles = _number_roles(names) if is_data_row(names) else _guess_roles(names)
    answers = f", or {format_roles({'doc': roles.get('doc', '…'), 'response': '…'})} for answers of a language model"
    return format_roles(roles) + answers * (roles.get("start") == "…" == roles.get("end"))


def _number_roles(cells: Sequence[str]) -> dict[str, str]:
    """Return the guessed columns by role, counted from 1, of a table whose first row has these cells."""
    integers = [index for index, cell in enumerate(cells) if _is_integer(cell)]
    words = [index for index, cell in enumerate(cells) if not _is_integer(cell)]
    doc = words[0] if words and words[0] < integers[0] else integers.pop(0)
    start, end = (*integers, None, None)[:2]
    others = [index for index in words if index > max(integers[:2], default=doc)]
    entity = next((index for index in others if LINK_FORM.fullmatch(cells[index])), next(iter(others), None))
    score = next((index for index in others if re.fullmatch(r"[-+]?\d*\.\d+", cells[index])), None)
    indexes = {"doc": doc, "start": start, "end": end, "entity": None if entity == score else entity}
    return {role: "…" if index is None else str(index + 1) for role, index in indexes.items()} | (
        {} if score is None else {"score": str(score + 1)}
    )


def _guess_roles(columns: Sequence[str]) -> dict[str, str]:
    """Return the guessed columns by role, from common names."""
    nested_first = sorted(columns, key=lambda name: "." not in name)  # so that other columns win
    normalised = {re.sub(r"\W+", "_", name.rpartition(".")[2]).lower(): name for name in nested_first}
    roles = {
        role: next((normalised[n] for n in names if n in normalised), "…") for role, names in _COMMON_NAMES.items()
    }
    length = next((normalised[n] for n in _LENGTH_NAMES if n in normalised), None)
    if length is not None and roles["end"] == "…":
        roles = {"length" if role == "end" else role: length if role == "end" else name for role, name in roles.items()}
    mention = next((normalised[n] for n in _MENTION_NAMES if n in normalised), None)
    if mention is not None and roles["start"] == "…" == roles.get("end"):
        roles = {"doc": roles["doc"], "mention": mention, "entity": roles["entity"]}
    located = roles.get("start", mention or "")
    for role, common_names in _OPTIONAL_NAMES.items():
        name = next((normalised[n] for n in common_names if n in normalised), None)
        if name is not None and name.rpartition(".")[0] == located.rpartition(".")[0]:  # fields of one list
            roles[role] = name
    if "text" in nested_first and ("." in nested_first[0] or mention is not None):
        roles["text"] = "text"
    elif (name := next((normalised[n] for n in _DOCUMENT_TEXT_NAMES if n in normalised), None)) is not None:
        roles["text"] = name
    if "text" in roles and roles["doc"] == "…":
        del roles["doc"]  # the texts tell documents apart
    return roles


def _parse_pair(part: str) -> tuple[str, str]:
    """Split `ROLE=COLUMN` into role and column; raise `UsageError` if there is no `=`."""
    role, equals, name = part.partition("=")
    if not equals:
        raise UsageError(
            f"{format_argument('columns')} has {part!r}, which is not ROLE=COLUMN. Roles: {', '.join(ROLES)}."
        )
    return role.strip(), name.strip()
