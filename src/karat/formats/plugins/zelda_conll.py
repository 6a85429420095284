"""ZELDA's CoNLL: a token per line with the tags B-, I- and O of page ids and of titles (with underscores).

A document is `-DOCSTART-`, an empty line, `# id` (for WNED `# id<TAB>bracket`) and its tokens; an empty line ends a
sentence. The published files do not give the white space between tokens. It is read as a space, and as a line end
between sentences, so spans equal those of the JSONL if its text is tokens joined by spaces (AIDA-B, TWEEKI). Titles are
unchanged. Some mentions of the JSONL are missing from the published files, and some tags are invalid; the latter are
counted.

If a text has other white space, Karat writes a fourth column as in CoNLL-U: `SpaceAfter=No`,
`SpacesAfter=\\s\\n`, and `Blank=\\s` for a token that is the white space at the edge of a mention. The column also has
`SameAs=` for ids that are not page ids. Comments `# meta<TAB>name<TAB>value` below the id hold `meta`. `NIL` as page id
is NIL; neither id nor title is unlinked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, NamedTuple

from karat.formats.parsing.duplicates import rename_duplicate_id
from karat.formats.parsing.lines import Line, read_lines, split_columns
from karat.formats.parsing.tokens.spacing import (
    TokenNotes,
    escape_text,
    format_notes,
    parse_notes,
    split_tokens,
    unescape_text,
)
from karat.formats.parsing.tokens.text import JoinedText, join_tokens
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter, locate_counts
from karat.model.defects import UniqueIds, skip_or_raise
from karat.model.document import UNLINKED, Document, EntityId, Label
from karat.model.errors import InputError, UsageError
from karat.model.spec.format import ByteSource, Format
from karat.model.spec.settings.nil_spellings import NIL_ID

_START = "-DOCSTART-"
_META = "# meta\t"
_SEPARATOR = re.compile(r"[\t\r\n]")
_ORPHAN_TAGS = "tags I- that continue no mention (skipped)"
_OUTSIDE_LINKS = "links on tokens tagged O (skipped)"
_NO_ID = "documents without an id (numbered)"
_OPENING = re.compile(
    rb"(?:\xef\xbb\xbf)?-DOCSTART-\r?\n\r?\n?# [^\n]*\n(?:# meta\t[^\n]*\n)*(?:\r?\n)*"
    rb"(?:-DOCSTART-|$|[^\t\n]*\t(?:O|[BIO]-[^\t\n]*)\t(?:O|[BIO]-[^\t\n]*)(?:\t[^\t\n]*)?\n)"
)


class _Token(NamedTuple):
    """The tags of a token for page id and title, and the token with its notes."""

    page: str
    title: str
    notes: TokenNotes


@dataclass(slots=True)
class _Block:
    """A document of the file; `breaks` are the indices of the last tokens of sentences."""

    line: int
    id: str | None = None
    meta: dict[str, str] = field(default_factory=dict)
    tokens: list[_Token] = field(default_factory=list)
    breaks: set[int] = field(default_factory=set)
    defects: list[InputError] = field(default_factory=list)


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, always with their texts (`text` is ignored)."""
    skipped = SkipCounter()
    ids = UniqueIds()
    documents: list[Document] = []
    locations = []
    for number, block in enumerate(_read_blocks(source), 1):
        if block.defects:
            skip_or_raise(block.defects[0])
            continue
        joined = _join_block(block)
        skipped[_NO_ID] += block.id is None
        doc_id = str(number) if block.id is None else block.id
        locations.append(f"{source.label}:{block.line}")
        with locate_counts(locations[-1]):
            labels = tuple(_to_labels(block, joined, skipped))
            documents.append(Document(rename_duplicate_id(doc_id, ids, skipped), joined.text, labels, meta=block.meta))
    return Corpus.from_reader(documents, name=source.stem, skipped=skipped, locate_row=locations.__getitem__)


def _read_blocks(source: ByteSource) -> Iterator[_Block]:
    """Yield the documents of a file; errors of invalid lines are stored in them."""
    block: _Block | None = None
    for line in read_lines(source):
        if line.text == _START:
            if block is not None:
                yield block
            block = _Block(line.number)
        elif block is None and line.text:
            raise InputError(
                f"{source.label}:{line.number}",
                actual=f"{line.text[:40]!r} before the first document",
                expected=_START,
                remedy="Begin each document with that line",
            )
        elif block is not None and block.id is None and not block.tokens and line.text.startswith("# "):
            block.id, tab, bracket = line.text[2:].partition("\t")
            block.meta |= {"bracket": bracket} if tab else {}
        elif block is not None and not block.tokens and line.text.startswith(_META):
            with _record_problems(block):
                name, value = split_columns(line, source, 3, 3)[1:]
                block.meta[unescape_text(name)] = unescape_text(value)
        elif block is not None and line.text:
            with _record_problems(block):
                block.tokens.append(_parse_token(line, source))
        elif block is not None and block.tokens:
            block.breaks.add(len(block.tokens) - 1)
    if block is not None:
        yield block


@contextmanager
def _record_problems(block: _Block) -> Iterator[None]:
    """Catch an `InputError` and store it in `block`, to be reported when the whole document has been read."""
    try:
        yield
    except InputError as problem:
        block.defects.append(problem)


def _parse_token(line: Line, source: ByteSource) -> _Token:
    """Parse the line of a token; raise `InputError` if the two tags do not fit together."""
    token, page, title, *extra_cells = split_columns(line, source, 3, 4)
    if page[:2] != title[:2] or (page != "O" and page[:2] not in ("B-", "I-", "O-")):
        raise InputError(
            f"{source.label}:{line.number}",
            actual=f"the tags {page!r} and {title!r}",
            expected="O twice, or B- or I- before a page id and before its title",
            remedy="Correct the line",
        )
    return _Token(page, title, parse_notes(extra_cells[0] if extra_cells else "", token))


def _join_block(block: _Block) -> JoinedText:
    """Join the tokens of a document to a text, by their notes or else with spaces and line ends."""
    last = len(block.tokens) - 1
    default = ["" if i == last else "\n" if i in block.breaks else " " for i in range(last + 1)]
    notes = [token.notes for token in block.tokens]
    gaps = [default_gap if note.gap is None else note.gap for note, default_gap in zip(notes, default, strict=True)]
    return join_tokens([note.token for note in notes], gaps)


def _to_labels(block: _Block, joined: JoinedText, skipped: Counter[str]) -> Iterator[Label]:
    """Yield the labels of a document, whose mentions end with their sentence.

    Tags I- that continue no mention and links on tokens tagged O are dropped and counted in `skipped`.
    """
    start: int | None = None
    for i, token in enumerate([*block.tokens, _Token("O", "O", TokenNotes(""))]):
        if start is not None and token[:2] != _get_continuation(block.tokens[start]):
            yield _to_label(block.tokens[start], joined.starts[start], joined.ends[i - 1])
            start = None
        if token.page.startswith("B-"):
            start = i
        elif start is None:
            skipped[_ORPHAN_TAGS] += token.page.startswith("I-")
            skipped[_OUTSIDE_LINKS] += token.page.startswith("O-")
        if start is not None and i in block.breaks:
            yield _to_label(block.tokens[start], joined.starts[start], joined.ends[i])
            start = None


def _get_continuation(token: _Token) -> tuple[str, str]:
    """Return the two tags, for page id and title, of a token that continues the mention of this token."""
    return f"I-{token.page[2:]}", f"I-{token.title[2:]}"


def _to_label(token: _Token, start: int, end: int) -> Label:
    """Build the label of a mention from the tags of its first token."""
    page, title, same_as = token.page[2:], token.title[2:], token.notes.same_as
    if title:
        return Label(start, end, title, same_as=same_as or ((page,) if page else ()))
    entity: EntityId = None if page == NIL_ID else page or UNLINKED
    return Label(start, end, entity, same_as=same_as)


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write tokens between white space, split where a mention begins or ends.

    Overlapping mentions and ids with a tab or a line end raise `UsageError`.
    """
    for document in corpus:
        file.write("".join(_format_document(document)).encode())


def _format_document(document: Document) -> Iterator[str]:
    """Yield the lines of a document; raise `UsageError` for values that the format cannot store."""
    meta = dict(document.meta)
    bracket = [meta.pop("bracket")] if not _SEPARATOR.search(meta.get("bracket", "\n")) else []
    _check_cell(document.id, document)
    yield f"{_START}\n\n# " + "\t".join([document.id, *bracket]) + "\n"
    yield from (f"{_META}{escape_text(name)}\t{escape_text(value)}\n" for name, value in meta.items())
    rows = list(split_tokens(document, "ZELDA CoNLL"))
    for index, row in enumerate(rows):
        previous_label = rows[index - 1].label if index else None
        next_row = rows[index + 1] if index + 1 < len(rows) else None
        is_inside_mention = row.label is not None and next_row is not None and next_row.label is row.label
        is_sentence_end = row.gap == "\n" and next_row is not None and not is_inside_mention
        extra = format_notes(row, "\n" if is_sentence_end else " " if next_row else "")
        if row.label is not None and row.label is not previous_label and not _get_page_id(row.label):
            extra += [f"SameAs={escape_text(entity)}" for entity in row.label.same_as]
        page, title = _format_tags(row.label, row.label is previous_label, document)
        token = "_" if row.token.isspace() else row.token
        cells = [token, page, title, *(["|".join(extra)] if extra else [])]
        yield "\t".join(cells) + ("\n\n" if is_sentence_end else "\n")
    yield "\n"


def _format_tags(label: Label | None, is_continuation: bool, document: Document) -> tuple[str, str]:
    """Return the tags for page id and title of a token; `label` is its mention, None outside mentions."""
    if label is None:
        return "O", "O"
    title = label.entity if isinstance(label.entity, str) else ""
    _check_cell(title, document)
    prefix = "I-" if is_continuation else "B-"
    return prefix + (NIL_ID if label.entity is None else _get_page_id(label)), prefix + title


def _get_page_id(label: Label) -> str:
    """Return the only further id of a linked mention if it is a page id, or else an empty string."""
    page_id = label.same_as[0] if isinstance(label.entity, str) and len(label.same_as) == 1 else ""
    return page_id if page_id.isascii() and page_id.isdigit() else ""


def _check_cell(cell: str, document: Document) -> None:
    """Raise `UsageError` if a cell has a tab or a line end."""
    if _SEPARATOR.search(cell):
        raise UsageError(
            f"ZELDA CoNLL cannot store {cell!r} (document {document.id!r}), which has a tab or a line end. "
            "Choose another format."
        )


FORMAT = Format(
    title="ZELDA CoNLL",
    suffix=".zelda.conll",
    markers=("-DOCSTART-",),
    recognises=lambda opening: _OPENING.match(opening) is not None,
    has_gold=lambda source: True,
    read_corpus=read_corpus,
    write_corpus=write_corpus,
    stored_fields=frozenset({"same_as", "meta"}),
    description="Tokens with tags, and columns and comments for other data; mentions must not overlap.",
)
