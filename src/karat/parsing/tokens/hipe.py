"""The tables of the HIPE shared tasks: documents of token rows, the text they make, and the mentions they mark.

Rows are paired with those of the gold standard by place, as the scorer of the task does: what a file of answers says
of documents, spaces and quotes is not asked where the gold standard is known. A token that begins with # stands in
the text, and is not counted as a token on either side.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import PurePath
from typing import NamedTuple, TypeAlias

import pyarrow.compute as pc

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import by_itself, current, free_id, pass_over, sound
from karat.model.document import UNLINKED, Answer, Document, EntityId, Label, Reply
from karat.model.run import Run
from karat.parsing.lines import columns, lines
from karat.parsing.tokens.iob import OUTSIDE, MarkedTokens, marks
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

    @property
    def counts(self) -> bool:
        """Whether the scorer sees a token here, and not a comment."""
        return not self.token.startswith("#")


@dataclass(frozen=True, slots=True)
class TokenBlock:
    """A document: what the lines above it say, and its rows. Without an id, the file names no documents.

    `defects` are rows that cannot be read: they take the document with them.
    """

    id: str | None
    line: int
    meta: Mapping[str, str]
    rows: list[Row] = field(default_factory=list)
    defects: list[InputError] = field(default_factory=list)


class Tokens(NamedTuple):
    """The tokens of a document that count, and where each of them stands in its text."""

    rows: Sequence[Row]
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, mark: MarkedTokens) -> tuple[int, int]:
        """Where a mention stands in the text."""
        return self.starts[mark.first], self.ends[mark.last - 1]


class Ground(NamedTuple):
    """A document of the gold standard: what the rows of answers are laid on."""

    id: str
    text: str
    starts: Sequence[int]
    ends: Sequence[int]


class TableReading(NamedTuple):
    """What marks are read with: the file, what is counted on the way, and the types of the gold standard, if known."""

    source: Bytes
    skipped: Counter[str]
    types: frozenset[str] | None = None


Labels: TypeAlias = Callable[[Tokens, TableReading], list[Label]]
Answers: TypeAlias = Callable[[Tokens, TableReading], list[Answer]]


def recognises(head: bytes) -> bool:
    """Whether the first line names the columns of a HIPE table."""
    first = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].rstrip(b"\r").split(b"\t")
    return first[0] == b"TOKEN" and bool({b"NE-COARSE-LIT", b"NEL-LIT"} & set(first))


def blocks(source: Bytes, skipped: Counter[str]) -> list[TokenBlock]:
    """The documents of a file. A line that begins with # and has nothing in other columns is a comment, not a token.

    Comments above a token that name a document begin one; those inside a document (the segments of HIPE-2020) are
    counted.
    """
    found: list[TokenBlock] = []
    names: list[str] = []
    comments: list[str] = []
    for line in lines(source):
        if not names:
            names = _header(line.text, source)
        elif line.text.startswith("#") and not line.text.partition("\t")[2].strip():
            comments.append(line.text.rstrip())
        elif line.text.startswith("\t"):
            skipped["lines without a token"] += 1
        elif line.text:
            meta, name = _meta(comments)
            if name is not None or not found:
                found.append(TokenBlock(name, line.number, meta))
            else:
                skipped["comment lines inside documents"] += len(comments)
            comments = []
            try:
                cells = columns(line, source, len(names), len(names))
                found[-1].rows.append(Row(line.number, cells[0], dict(zip(names, cells, strict=True))))
            except InputError as problem:
                found[-1].defects.append(problem)
    skipped["comment lines without a document"] += len(comments)
    if not found:
        raise InputError(
            source.label,
            found="no token",
            expected="a line of columns, then a token on each line",
            remedy="Check that this is the file you meant",
        )
    return _apart(found) if current().how.apart else found


def _apart(found: Sequence[TokenBlock]) -> list[TokenBlock]:
    """The documents, of which those that share an id get one each."""
    taken: set[str] = set()
    free = [None if block.id is None else free_id(block.id, taken) for block in found]
    current().renamed += sum(name != block.id for name, block in zip(free, found, strict=True))
    return [replace(block, id=name) for name, block in zip(free, found, strict=True)]


def _sound(found: Sequence[TokenBlock]) -> list[TokenBlock]:
    """The documents that can be read; without ids, all of them are one."""
    for block in found:
        for problem in block.defects[:1]:
            if block.id is None:
                raise problem
            pass_over(problem)
    return [block for block in found if not block.defects]


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
        if key.rpartition(":")[2] == "document_id" and value:
            name = value
        else:
            meta[key] = value
    return meta, name


def text_of(rows: Sequence[Row]) -> Laid:
    """The text of some rows: a space behind each token, a line break at the end of a line, nothing if it says so."""
    gaps = [_gap(row.flags) for row in rows]
    return laid([row.token for row in rows], [*gaps[:-1], ""] if rows else [])


def _gap(flags: tuple[str, ...]) -> str:
    return "" if "NoSpaceAfter" in flags else "\n" if "EndOfLine" in flags else " "


def tokens_of(rows: Sequence[Row], made: Laid) -> Tokens:
    """The rows that count as tokens, where their text puts them."""
    kept = [place for place, row in enumerate(rows) if row.counts]
    return Tokens(
        [rows[place] for place in kept], [made.starts[place] for place in kept], [made.ends[place] for place in kept]
    )


def mentions(rows: Sequence[Row], column: str, reading: TableReading) -> list[MarkedTokens]:
    """The mentions of a column of IOB or IOBES tags, their types in lower case, since types compare without case."""
    tags = [row.cells.get(column, "_") for row in rows]
    found, unbegun, wrong = marks([_lowered(tag) for tag in tags])
    if wrong is not None:
        raise InputError(
            f"{reading.source.label}:{rows[wrong].line}",
            found=f"{tags[wrong]!r} in {column}",
            expected="O, _ or B-, I-, E- or S- with a type",
            remedy="Correct the tag",
        )
    reading.skipped["mentions that begin without a B or S tag"] += unbegun
    return found


def _lowered(tag: str) -> str:
    prefix, dash, kind = tag.partition("-")
    return prefix + dash + kind.lower()


def counted(kind: str, reading: TableReading) -> tuple[str, ...]:
    """The type of an answer; none if the gold standard lacks it, for then it is not counted."""
    if reading.types is None or kind in reading.types:
        return (kind,)
    reading.skipped["answers of a type that the gold standard lacks (the type is not counted)"] += 1
    return ()


def pieces(rows: Sequence[Row], column: str, marked: Sequence[MarkedTokens]) -> list[MarkedTokens]:
    """Rows in a row that carry the same link, cut where a mention begins or ends; the type is the cell."""
    cuts = {cut for mark in marked for cut in (mark.first, mark.last)}
    found: list[MarkedTokens] = []
    for place, row in enumerate(rows):
        cell = row.cells.get(column, "_")
        if cell in OUTSIDE:
            continue
        if found and found[-1].last == place and found[-1].type == cell and place not in cuts:
            found[-1] = found[-1]._replace(last=place + 1)
        else:
            found.append(MarkedTokens(cell, place, place + 1))
    return found


def links(cell: str) -> tuple[EntityId, ...]:
    """The links of a cell, the first choice first; NIL is None, and a cell without link is `UNLINKED`."""
    if cell in OUTSIDE:
        return (UNLINKED,)
    return tuple(dict.fromkeys(None if link == "NIL" else link for link in cell.split("|") if link)) or (UNLINKED,)


def corpus_of(source: Bytes, labels: Labels) -> Corpus:
    """The gold documents of a file, with the tokens that answers are laid on; the texts are always kept."""
    reading = TableReading(source, Counter())
    tokens: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def read(block: TokenBlock) -> Document:
        name = block.id or "document 1"
        made = text_of(block.rows)
        placed = tokens_of(block.rows, made)
        document = Document(name, made.text, tuple(labels(placed, reading)), meta=dict(block.meta))
        tokens[name] = (tuple(placed.starts), tuple(placed.ends))
        reading.skipped["documents without an id (numbered)"] += block.id is None
        reading.skipped["tags of tokens that begin with #"] += sum(_tagged(row) for row in block.rows)
        return document

    found = list(sound(_sound(blocks(source, reading.skipped)), read))
    corpus = Corpus.built(
        [document for _, document in found],
        name=source.stem,
        skipped=reading.skipped,
        where=lambda row: f"{source.label}:{found[row][0].line}",
    )
    return replace(corpus, tokens=tokens)


def run_of(source: Bytes, answers: Answers, gold: Corpus | None = None) -> Run:
    """The answers of a file, laid on the tokens of the gold standard.

    Where that is not at hand, the file's own MISC column says where spaces stand, or the gold file beside it does.
    """
    skipped: Counter[str] = Counter()
    own = _sound(blocks(source, skipped))
    if gold is None or not gold.tokens:
        placed, reading = spaced(source, own, skipped), TableReading(source, skipped)
    else:
        placed, reading = laid_on(own, _grounds(gold), source, skipped), TableReading(source, skipped, _types(gold))
    read = list(sound(placed, lambda one: Reply(one[0], tuple(answers(one[1], reading)))))
    placed, replies = [one for one, _ in read], [reply for _, reply in read]
    skipped["tags of tokens that begin with #"] += sum(_tagged(row) for block in own for row in block.rows)

    def where(row: int) -> str:
        rows = placed[row][1].rows
        return f"{source.label}:{rows[0].line}" if rows else source.label

    texts = [text for _, _, text in placed]
    return Run.built(replies, name=source.stem, skipped=skipped, where=where, texts=texts)


def _tagged(row: Row) -> bool:
    """Whether a row that is not counted carries something."""
    cells = (row.cells.get(column, "_") for column in ("NE-COARSE-LIT", "NEL-LIT"))
    return not row.counts and any(cell not in OUTSIDE for cell in cells)


def _grounds(corpus: Corpus) -> list[Ground]:
    """The documents of a gold standard that was read from a table of tokens."""
    rows = zip(corpus.ids.to_pylist(), corpus.table.column("text").to_pylist(), strict=True)
    return [Ground(name, text, *corpus.tokens[name]) for name, text in rows]


def _types(corpus: Corpus) -> frozenset[str]:
    found = corpus.labels.field("types")
    return frozenset() if found is None else frozenset(pc.list_flatten(found).unique().to_pylist())


Placed: TypeAlias = list[tuple[str, Tokens, str | None]]
"""The rows of answers with their places in a text, document by document; None is the text of the gold standard."""


def laid_on(own: Sequence[TokenBlock], gold: Sequence[Ground], source: Bytes, skipped: Counter[str]) -> Placed:
    """Rows on the tokens of the gold standard, by their place in the document or, without ids, in the whole file."""
    rows = {block.id: [row for row in block.rows if row.counts] for block in own}
    if None in rows:
        every = [row for block in own for row in block.rows if row.counts]
        _check_count(every, gold, source)
        ends = list(accumulate(len(document.starts) for document in gold))
        cuts = zip([0, *ends], ends, gold, strict=False)
        placed: Placed = [(one.id, Tokens(every[low:high], one.starts, one.ends), None) for low, high, one in cuts]
    else:
        there = {document.id: document for document in gold}
        placed = []
        for block in own:
            assert block.id is not None
            document = there.get(block.id)
            if document is None:  # whoever lays corpus and run side by side refuses or counts it
                placed += _by_themselves([block])
                continue
            with by_itself():
                _check_document(block, rows[block.id], document, source)
                placed.append((block.id, Tokens(rows[block.id], document.starts, document.ends), None))
    _check_words(placed, {document.id: document for document in gold}, source, skipped)
    return placed


def _check_document(block: TokenBlock, rows: Sequence[Row], document: Ground, source: Bytes) -> None:
    if len(rows) != len(document.starts):
        raise InputError(
            f"{source.label}:{block.line}",
            found=f"{len(rows)} tokens in document {block.id!r}",
            expected=f"{len(document.starts)} tokens, as many as in the gold standard",
            remedy="Give a row for each token of the gold file, in its order",
        )


def _check_count(rows: Sequence[Row], gold: Sequence[Ground], source: Bytes) -> None:
    """Raise `InputError` where there are not as many tokens, with the document in which the two part."""
    words = [(document, word) for document in gold for word in _words(document)]
    if len(rows) == len(words):
        return
    pairs = zip(rows, words, strict=False)
    parted = next(((row, document) for row, (document, word) in pairs if not _alike(row.token, word)), None)
    if parted is None and rows and words:
        parted = rows[-1], words[min(len(rows), len(words)) - 1][0]
    raise InputError(
        source.label if parted is None else f"{source.label}:{parted[0].line}",
        found=f"{len(rows)} tokens"
        + ("" if parted is None else f", which part with those of the gold standard in document {parted[1].id!r}"),
        expected=f"{len(words)} tokens, as many as in the gold standard",
        remedy="Give a row for each token of the gold file, in its order",
    )


def _check_words(placed: Placed, gold: Mapping[str, Ground], source: Bytes, skipped: Counter[str]) -> None:
    """Count tokens that are written otherwise; where most are, the answers belong to another text."""
    known = [(tokens.rows, _words(gold[name])) for name, tokens, _ in placed if name in gold]
    pairs = [(row, word) for rows, words in known for row, word in zip(rows, words, strict=True)]
    other = [(row, word) for row, word in pairs if not _alike(row.token, word)]
    if 2 * len(other) > len(pairs):
        row, word = other[0]
        raise InputError(
            f"{source.label}:{row.line}",
            found=f"the token {row.token!r}, and {len(other)} of {len(pairs)} tokens unlike those of the gold standard",
            expected=f"{word!r} at this place",
            remedy="Check that both files are of the same corpus and split",
        )
    quoted = sum(row.token != word for row, word in pairs) - len(other)
    skipped["tokens quoted otherwise than in the gold standard (paired by place)"] += quoted
    skipped["tokens that differ from those of the gold standard (paired by place)"] += len(other)


def _words(document: Ground) -> list[str]:
    return [document.text[start:end] for start, end in zip(document.starts, document.ends, strict=True)]


def _alike(token: str, word: str) -> bool:
    """Whether a token is the same as another, or the same in the quotes of CSV."""
    return token == word or (token[:1] == token[-1:] == '"' and token[1:-1].replace('""', '"') == word)


def spaced(source: Bytes, own: list[TokenBlock], skipped: Counter[str]) -> Placed:
    """The documents of a file of answers, cut and spaced as in the gold file beside it.

    Files of answers often say neither where documents begin nor where no space stands, and offsets need both. The
    gold file is looked for under the name that the task gives it: beside `TEAM_bundle1_ajmc_en_1.tsv` that is
    `HIPE-2022-v2.1-ajmc-test-en.tsv`. It is taken if it has as many tokens, and the same.
    """
    named = all(block.id is not None for block in own)
    if named and any("NoSpaceAfter" in row.flags for block in own for row in block.rows):
        skipped["documents spaced by their own MISC column (read without the gold standard)"] += len(own)
        return _by_themselves(own)
    for name in _gold_names(source.given):
        gold = source.beside(name)
        if gold.exists:
            beside = _beside(own, blocks(gold, Counter()), source)
            if beside is not None:
                skipped[f"documents cut and spaced as in {name}"] += len(beside)
                return beside
    if not named:
        raise InputError(
            source.label,
            found="no line that names a document",
            expected="lines such as # hipe2022:document_id = NAME, or the gold file beside it",
            remedy="Copy these lines and the MISC column from the gold file, or lay it beside this file under its "
            "official name, such as HIPE-2022-v2.1-ajmc-test-en.tsv for TEAM_bundle1_ajmc_en_1.tsv",
        )
    skipped["documents without a NoSpaceAfter flag (a space taken between all tokens)"] += len(own)
    return _by_themselves(own)


def _by_themselves(own: Sequence[TokenBlock]) -> Placed:
    made = [text_of(block.rows) for block in own]
    return [(block.id or "", tokens_of(block.rows, one), one.text) for block, one in zip(own, made, strict=True)]


def _gold_names(given: str) -> Iterator[str]:
    match = _RUN_NAME.fullmatch(PurePath(given).name)
    if match is not None:
        for release in _RELEASES:
            for suffix in (".tsv", ".tsv.gz"):
                yield f"HIPE-2022-{release}-{match['dataset']}-test-{match['language']}{suffix}"


def _beside(own: Sequence[TokenBlock], gold: Sequence[TokenBlock], source: Bytes) -> Placed | None:
    """The rows on the tokens of a gold file, or None if these are others."""
    there = []
    for block in gold:
        if block.id is None:
            return None
        made = text_of(block.rows)
        there.append(Ground(block.id, made.text, *tokens_of(block.rows, made)[1:]))
    if len({document.id for document in there}) < len(there):
        return None
    unlike: Counter[str] = Counter()
    try:
        placed = laid_on([replace(block, id=None) for block in own], there, source, unlike)
    except InputError:
        return None
    if unlike["tokens that differ from those of the gold standard (paired by place)"]:
        return None
    texts = {ground.id: ground.text for ground in there}
    return [(name, tokens, texts[name]) for name, tokens, _ in placed]
