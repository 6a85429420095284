"""The tables of the HIPE shared tasks: documents of token rows, the text they make, and the mentions they mark."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import NamedTuple

from karat.errors import InputError
from karat.model.document import UNLINKED, EntityId
from karat.parsing.lines import columns, lines
from karat.parsing.tokens.iob import OUTSIDE, Marked, marks
from karat.parsing.tokens.text import Laid, laid
from karat.spec.format import Bytes

_RUN_NAME = re.compile(r"[^_]+_bundle\d+_(?P<dataset>[a-z0-9]+)_(?P<language>[a-z]{2})_\d+\.tsv(\.gz)?", re.IGNORECASE)
_RELEASES = ("v2.1", "v2.0", "v1.0")


class Row(NamedTuple):
    """A token with its cells by column, and the line it stands on."""

    line: int
    token: str
    cells: Mapping[str, str]

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of the MISC column."""
        cell = self.cells.get("MISC", "_")
        return () if cell in OUTSIDE else tuple(cell.split("|"))


@dataclass(frozen=True, slots=True)
class TokenBlock:
    """A document: what the lines above it say, and its rows. Without an id, the file names no documents."""

    id: str | None
    line: int
    meta: Mapping[str, str]
    rows: list[Row] = field(default_factory=list)


def recognises(head: bytes) -> bool:
    """Whether the first line names the columns of a HIPE table."""
    first = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].rstrip(b"\r").split(b"\t")
    return first[0] == b"TOKEN" and bool({b"NE-COARSE-LIT", b"NEL-LIT"} & set(first))


def blocks(source: Bytes, skipped: Counter[str]) -> list[TokenBlock]:
    """The documents of a file. A line that begins with # and has no tab is a comment, any other is a token.

    Comments above a token that name a document begin one; those inside a document (the segments of HIPE-2020) are
    counted.
    """
    found: list[TokenBlock] = []
    names: list[str] = []
    comments: list[str] = []
    for line in lines(source):
        if not names:
            names = _header(line.text, source)
        elif line.text.startswith("#") and "\t" not in line.text:
            comments.append(line.text)
        elif line.text.startswith("\t"):
            skipped["lines without a token"] += 1
        elif line.text:
            meta, name = _meta(comments)
            if name is not None or not found:
                found.append(TokenBlock(name, line.number, meta))
            else:
                skipped["comment lines inside documents"] += len(comments)
            comments = []
            cells = columns(line, source, len(names), len(names))
            found[-1].rows.append(Row(line.number, cells[0], dict(zip(names, cells, strict=True))))
    skipped["comment lines without a document"] += len(comments)
    if not found:
        raise InputError(
            source.label,
            found="no token",
            expected="a line of columns, then a token on each line",
            remedy="Check that this is the file you meant",
        )
    return found


def _header(text: str, source: Bytes) -> list[str]:
    if not recognises(text.encode()):
        raise InputError(
            f"{source.label}:1",
            found=f"{text[:40]!r}",
            expected="the names of the columns: TOKEN, NE-COARSE-LIT, NEL-LIT and so on, with tabs between",
            remedy="Add the line, or name the format of the file",
        )
    return text.split("\t")


def _meta(comments: Sequence[str]) -> tuple[dict[str, str], str | None]:
    """What comments of the form `# key = value` say, and the id of the document if one of them names it."""
    meta: dict[str, str] = {}
    name = None
    for comment in comments:
        key, _, value = (part.strip() for part in comment.lstrip("#").partition("="))
        if key.rpartition(":")[2] == "document_id":
            name = value
        else:
            meta[key] = value
    return meta, name


def text_of(rows: Sequence[Row]) -> Laid:
    """The text of some rows: a space behind each token, a line break at the end of a line, nothing if it says so."""
    gaps = [_gap(row.flags) for row in rows]
    return laid([row.token for row in rows], [*gaps[:-1], ""])


def _gap(flags: tuple[str, ...]) -> str:
    return "" if "NoSpaceAfter" in flags else "\n" if "EndOfLine" in flags else " "


def mentions(rows: Sequence[Row], column: str, source: Bytes, skipped: Counter[str]) -> list[Marked]:
    """The mentions of a column of IOB or IOBES tags."""
    tags = [row.cells.get(column, "_") for row in rows]
    found, unbegun, wrong = marks(tags)
    if wrong is not None:
        raise InputError(
            f"{source.label}:{rows[wrong].line}",
            found=f"{tags[wrong]!r} in {column}",
            expected="O, _ or B-, I-, E- or S- with a type",
            remedy="Correct the tag",
        )
    skipped["mentions that begin without a B or S tag"] += unbegun
    return found


def runs(rows: Sequence[Row], column: str) -> list[Marked]:
    """Rows in a row that carry the same link, as the first scorer of the task takes them; the type is the cell."""
    found: list[Marked] = []
    for place, row in enumerate(rows):
        cell = row.cells.get(column, "_")
        if cell in OUTSIDE:
            continue
        if found and found[-1].last == place and found[-1].type == cell:
            found[-1] = found[-1]._replace(last=place + 1)
        else:
            found.append(Marked(cell, place, place + 1))
    return found


def links(cell: str) -> tuple[EntityId, ...]:
    """The links of a cell, the first choice first; NIL is None, and a cell without link is `UNLINKED`."""
    if cell in OUTSIDE:
        return (UNLINKED,)
    return tuple(dict.fromkeys(None if link == "NIL" else link for link in cell.split("|") if link)) or (UNLINKED,)


def spaced(source: Bytes, own: list[TokenBlock], skipped: Counter[str]) -> list[TokenBlock]:
    """The documents of a file of answers, cut and spaced as in the gold file beside it.

    Files of answers often say neither where documents begin nor where no space stands, and offsets need both. The
    gold file is looked for under the name that the task gives it: beside `TEAM_bundle1_ajmc_en_1.tsv` that is
    `HIPE-2022-v2.1-ajmc-test-en.tsv`. It is taken if it has the same tokens.
    """
    named = all(block.id is not None for block in own)
    if named and any("NoSpaceAfter" in row.flags for block in own for row in block.rows):
        return own
    rows = [row for block in own for row in block.rows]
    for name in _gold_names(source.given):
        gold = source.beside(name)
        if gold.exists:
            laid_out = _cut(rows, blocks(gold, Counter()))
            if laid_out is not None:
                skipped[f"documents cut and spaced as in {name}"] += len(laid_out)
                return laid_out
    if not named:
        raise InputError(
            source.label,
            found="no line that names a document",
            expected="lines such as # hipe2022:document_id = NAME, or the gold file beside it",
            remedy="Copy these lines and the MISC column from the gold file, or lay it beside this file under its "
            "official name, such as HIPE-2022-v2.1-ajmc-test-en.tsv for TEAM_bundle1_ajmc_en_1.tsv",
        )
    skipped["documents without a NoSpaceAfter flag (a space taken between all tokens)"] += len(own)
    return own


def _gold_names(given: str) -> Iterator[str]:
    match = _RUN_NAME.fullmatch(PurePath(given).name)
    if match is not None:
        for release in _RELEASES:
            for suffix in (".tsv", ".tsv.gz"):
                yield f"HIPE-2022-{release}-{match['dataset']}-test-{match['language']}{suffix}"


def _cut(rows: list[Row], gold: list[TokenBlock]) -> list[TokenBlock] | None:
    """The rows in the documents of the gold standard and with its flags, or None if the tokens differ."""
    wanted = [row for block in gold for row in block.rows]
    if [row.token for row in rows] != [row.token for row in wanted] or any(block.id is None for block in gold):
        return None
    found, place = [], 0
    for block in gold:
        own = rows[place : place + len(block.rows)]
        flagged = [
            Row(row.line, row.token, {**row.cells, "MISC": like.cells.get("MISC", "_")})
            for row, like in zip(own, block.rows, strict=True)
        ]
        found.append(TokenBlock(block.id, own[0].line, block.meta, flagged))
        place += len(own)
    return found
