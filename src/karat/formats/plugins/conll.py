"""Plain CoNLL: a token per line with its tag and, in some files, the id of its entity.

Columns are separated by tabs, or else by white space, and an empty line ends a sentence. A line `-DOCSTART-` begins a
document, and so does a comment `# newdoc id = ID`; a comment `# id = ID` below names the document. Documents without an
id are numbered. A file without these lines is one document, named like the file. A folder of `.conll` files is read
file by file.

The columns are named by `--columns token=1,tag=4,id=5`, by a header (`token`, `tag`, `id`, …), or by a comment
`# global.columns = FORM NER ID MISC`. Otherwise the first column has the tokens, the last one with tags only has the
tags, and the one after it has the ids. Tags are IOB1, IOB2 (BIO), BIOES, BILOU, or types without a prefix, where
consecutive tokens of one type are one mention. `NIL` and `--NME--` are NIL; `_`, `-`, `O` or nothing is unlinked. The
first token of a mention has its id.

The text is rebuilt: a space between two tokens, unless a column has `SpaceAfter=No` or `SpacesAfter=…` as in CoNLL-U,
and a line end between sentences. Karat writes these notes where the text has other white space, so that spans stay;
words are split at the edges of mentions. `SameAs=` has further ids. Of overlapping mentions, the longest is written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import IO, Final

from karat.formats.parsing.conversion import to_predictions
from karat.formats.parsing.duplicates import rename_duplicate_id
from karat.formats.parsing.lines import Line, read_lines
from karat.formats.parsing.tokens.iob import OUTSIDE, parse_tags
from karat.formats.parsing.tokens.spacing import (
    TokenNotes,
    escape_text,
    format_notes,
    parse_notes,
    unescape_text,
)
from karat.formats.parsing.tokens.text import join_tokens
from karat.formats.parsing.tokens.writing import count_token_losses, select_disjoint_labels, split_sentences
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter, locate_counts
from karat.model.defects import UniqueIds, skip_or_raise
from karat.model.document import UNLINKED, Document, EntityId, Label, Response
from karat.model.errors import InputError, UsageError
from karat.model.output.command_options import format_roles
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format
from karat.model.spec.settings.nil_spellings import AIDA_NIL, NIL_ID

ROLE_NAMES: Final[Mapping[str, Sequence[str]]] = {
    "token": ("token", "tokens", "word", "form", "text"),
    "tag": ("tag", "tags", "ner", "ner_tag", "ner_tags", "iob", "bio", "label"),
    "id": ("id", "entity", "entity_id", "link", "qid", "wikidata", "wikidata_id", "kb_id", "kbid", "uri"),
    "misc": ("misc", "notes", "space"),
}
"""Names of columns in headers, by role."""

Columns = Mapping[str, int]
"""Index of the column of each role, from 0."""

_TITLE = "CoNLL"
_START = "-DOCSTART-"
_NEW_DOCUMENT = re.compile(r"# ?newdoc id ?= ?(?P<id>.*)")
_ID = re.compile(r"# ?id ?= ?(?P<id>.*)")
_META = re.compile(r"# ?meta (?P<name>\S*) ?= ?(?P<value>.*)")
_GLOBAL_COLUMNS = re.compile(r"# ?global\.columns ?= ?(?P<names>.*)")
_COMMENT = re.compile(r"# (?:id|meta|newdoc|newpar|sent_id|text|global\.columns)\b[^\t]*|#[^\t=]*=[^\t]*")
_TAG = re.compile(r"O|[BIESLU](?:-\S+)?")
_TYPED_TAG = re.compile(r"(?P<prefix>[BIESLU])(?:-(?P<type>.+))?")
_PREFIXES = {"L": "E", "U": "S"}
_UNTYPED = "\0"  # type of mentions without type while tags are parsed
_CELL = re.compile(r"[\t\r\n]")
_WORD = re.compile(r"\S+")
_NILS = (NIL_ID, AIDA_NIL)
_HEAD_LINES = 200
_EXAMPLE_ROLES = {"token": "1", "tag": "4", "id": "5"}


@dataclass(slots=True)
class _Token:
    """The cells of a token's line that have a role."""

    notes: TokenNotes
    tag: str
    id: str


@dataclass(slots=True)
class _Block:
    """A document of the file: its first line, id, metadata and sentences."""

    line: int
    id: str | None = None
    meta: dict[str, str] = field(default_factory=dict)
    sentences: list[list[_Token]] = field(default_factory=lambda: [[]])
    defect: InputError | None = None


def read_corpus(source: ByteSource, columns: Columns | None = None, *, has_header: bool = False) -> Corpus:
    """Read the gold documents of a file or folder; `columns` are those that the user named, perhaps by a header."""
    skipped = SkipCounter()
    documents, locations = _read_documents(source, columns, skipped, has_header=has_header)
    return Corpus.from_reader(documents, name=source.stem, skipped=skipped, locate_row=locations.__getitem__)


def read_run(source: ByteSource, columns: Columns | None = None, *, has_header: bool = False) -> Run:
    """Read a system's predictions, which the format writes like gold labels."""
    skipped = SkipCounter()
    documents, locations = _read_documents(source, columns, skipped, has_header=has_header)
    responses = [Response(document.id, to_predictions(document.labels)) for document in documents]
    texts = [document.text for document in documents]
    return Run.from_reader(responses, name=source.stem, skipped=skipped, texts=texts, locate_row=locations.__getitem__)


def _read_documents(
    source: ByteSource, columns: Columns | None, skipped: Counter[str], *, has_header: bool
) -> tuple[list[Document], list[str]]:
    """Return the documents of a file or folder, and the place of each for messages."""
    ids = UniqueIds()
    documents: list[Document] = []
    locations: list[str] = []
    for name, file in _list_files(source):
        blocks = list(_read_blocks(file, columns, skipped, has_header=has_header))
        for number, block in enumerate(blocks, 1):
            if block.defect is not None:
                skip_or_raise(block.defect)
                continue
            is_only = len(blocks) == 1 and block.line == 0
            doc_id = block.id if block.id is not None else name if is_only else _number_document(name, number, source)
            skipped["documents without an id (numbered)"] += block.id is None and not is_only
            locations.append(f"{file.label}:{max(block.line, 1)}")
            with locate_counts(locations[-1]):
                documents.append(_to_document(block, rename_duplicate_id(doc_id, ids, skipped), skipped))
    return documents, locations


def _number_document(name: str, number: int, source: ByteSource) -> str:
    """Return the id of a document without id: its number, after the name of its file in a folder."""
    return f"{name}-{number}" if source.is_folder else str(number)


def _list_files(source: ByteSource) -> Iterator[tuple[str, ByteSource]]:
    """Yield name and source of a file, or of each `.conll` file of a folder."""
    if not source.is_folder:
        yield re.sub(r"(\.conll)?(\.gz|\.zst)?$", "", PurePath(source.path).name) or source.stem, source
        return
    for name in source.file_names:
        if name.endswith(".conll"):
            yield name.removesuffix(".conll"), source.get_child(name)


def _read_blocks(
    source: ByteSource, columns: Columns | None, skipped: Counter[str], *, has_header: bool
) -> Iterator[_Block]:
    """Yield the documents of a file; the error of an invalid line is stored in its document."""
    lines = list(read_lines(source))
    if columns is None:
        roles, n_header_lines = _find_columns(lines, source, skipped)
    else:
        rows = (index for index, line in enumerate(lines, 1) if line.text.strip())
        roles, n_header_lines = columns, next(rows, 0) if has_header else 0
    block: _Block | None = None
    for line in lines[n_header_lines:]:
        cells = _split_cells(line.text)
        is_start = bool(cells) and cells[0] == _START
        comment = None if is_start else _NEW_DOCUMENT.fullmatch(line.text)
        if is_start or comment is not None:
            if block is not None and not _is_pending(block, is_start=is_start):
                yield block
                block = None
            block = block or _Block(line.number)
            if comment is not None:
                block.id = comment["id"].strip()
            elif len(cells) > 1 and (named := re.fullmatch(r"-DOCSTART- \((.*)\)\s*", line.text)):
                block.id = named[1]
            continue
        if not line.text.strip():
            if block is not None and block.sentences[-1]:
                block.sentences.append([])
            continue
        is_sentence_start = block is None or not block.sentences[-1]
        if is_sentence_start and _COMMENT.fullmatch(line.text):
            if block is not None and not any(block.sentences):
                _parse_comment(line.text, block)
            continue
        block = block or _Block(0)
        try:
            block.sentences[-1].append(_parse_token(line, cells, roles, source))
        except InputError as problem:
            block.defect = block.defect or problem
    if block is not None:
        yield block


def _is_pending(block: _Block, *, is_start: bool) -> bool:
    """Return whether a document has only its first line so far, which a comment `# newdoc` may follow."""
    return not is_start and block.id is None and not any(block.sentences) and block.line > 0


def _parse_comment(text: str, block: _Block) -> None:
    """Read the id or metadata of a document from a comment; other comments say nothing."""
    if match := _ID.fullmatch(text):
        block.id = block.id if block.id is not None else unescape_text(match["id"])
    elif match := _META.fullmatch(text):
        block.meta[unescape_text(match["name"])] = unescape_text(match["value"])


def _split_cells(text: str) -> list[str]:
    """Split a line at its tabs, or else at white space."""
    return text.split("\t") if "\t" in text else text.split()


def _parse_token(line: Line, cells: Sequence[str], columns: Columns, source: ByteSource) -> _Token:
    """Parse the line of a token; raise `InputError` if it lacks the column of the token or tag."""
    n_cells = max(columns["token"], columns["tag"]) + 1
    if len(cells) < n_cells or not cells[columns["token"]]:
        raise InputError(
            f"{source.label}:{line.number}",
            actual=f"{len(cells)} columns",
            expected=f"at least {n_cells} columns, with token and tag in columns {columns['token'] + 1} and "
            f"{columns['tag'] + 1}",
            remedy=f"Correct the line, or name the columns with {format_roles(_EXAMPLE_ROLES)}",
        )
    notes = _get_cell(cells, columns, "misc")
    return _Token(parse_notes(notes, cells[columns["token"]]), cells[columns["tag"]], _get_cell(cells, columns, "id"))


def _get_cell(cells: Sequence[str], columns: Columns, role: str) -> str:
    """Return the cell of a role; empty if the file or line has none."""
    index = columns.get(role)
    return cells[index] if index is not None and index < len(cells) else ""


def _find_columns(lines: Sequence[Line], source: ByteSource, skipped: Counter[str]) -> tuple[Columns, int]:
    """Return the columns of a file by its header or content, and the number of header lines.

    Columns of a header that are not read are counted in `skipped`.
    """
    for index, line in enumerate(lines):
        match = _GLOBAL_COLUMNS.fullmatch(line.text)
        is_first_line = line.text.strip() and not _COMMENT.fullmatch(line.text)
        names = match["names"].split() if match else _split_cells(line.text) if is_first_line else []
        columns = match_names(names)
        if columns is not None:
            _count_unread_columns(names, columns, skipped)
            return columns, index + 1
        if is_first_line:
            break
    columns = _guess_columns([line.text for line in lines])
    if columns is not None:
        return columns, 0
    raise InputError(
        source.label,
        actual="no column of tags such as B-PER and O",
        expected="a token per line with its tag",
        remedy=f"Name the columns with {format_roles(_EXAMPLE_ROLES)}",
    )


def _count_unread_columns(names: Sequence[str], columns: Columns, skipped: Counter[str]) -> None:
    """Count the columns after the token that have no role; without ids, say how to name their column."""
    unread = [name for index, name in enumerate(names) if index > columns["token"] and index not in columns.values()]
    if not unread:
        return
    roles = {role: names[columns[role]] for role in ("token", "tag")} | {"id": unread[-1]}
    advice = "" if "id" in columns else f"; if one has the ids, name it: {format_roles(roles)}"
    skipped[f"columns that are not read ({', '.join(unread)}{advice})"] += len(unread)


def match_names(names: Sequence[str]) -> Columns | None:
    """Return the columns with the names of a header; None unless token and tag are among them."""
    normalised = [re.sub(r"\W+", "_", name).lower() for name in names]
    columns = {
        role: next(normalised.index(name) for name in role_names if name in normalised)
        for role, role_names in ROLE_NAMES.items()
        if not {*role_names}.isdisjoint(normalised)
    }
    if not {"token", "tag"} <= columns.keys():
        return None
    if columns.get("id", len(names)) < columns["token"]:  # the number of the token, as in CoNLL-U
        del columns["id"]
    return columns


def _guess_columns(texts: Sequence[str]) -> Columns | None:
    """Return the columns of a file without header by their content; None if no column has only tags."""
    rows = [
        cells
        for text in texts
        if text.strip() and not _COMMENT.fullmatch(text) and (cells := _split_cells(text))[0] != _START
    ]
    if not rows:
        return {"token": 0, "tag": 1}
    width = min(map(len, rows))
    tags = [index for index in range(1, width) if all(_TAG.fullmatch(row[index]) for row in rows)]
    if not tags:
        return None
    used_tags = [index for index in tags if any(row[index] != "O" for row in rows)]
    tag = used_tags[-1] if used_tags else tags[0]
    columns = {"token": 0, "tag": tag}
    has_notes = any(_is_note(row[-1]) for row in rows if len(row) > tag + 1)
    if any(len(row) > tag + 1 and not _is_note(row[tag + 1]) for row in rows):
        columns["id"] = tag + 1
    if has_notes:
        columns["misc"] = tag + 1 + ("id" in columns)
    return columns


def _is_note(cell: str) -> bool:
    """Return whether a cell has notes on white space or further ids, as in CoNLL-U."""
    return cell.startswith(("SpaceAfter=", "SpacesAfter=", "Blank=", "SameAs="))


def _to_document(block: _Block, doc_id: str, skipped: Counter[str]) -> Document:
    """Build a document: join its tokens to a text, and convert the tags of each sentence to labels."""
    sentences = [sentence for sentence in block.sentences if sentence]
    tokens = [token for sentence in sentences for token in sentence]
    gaps = [gap for sentence in sentences for gap in [*[" "] * (len(sentence) - 1), "\n"]]
    notes = [token.notes for token in tokens]
    joined = join_tokens(
        [note.token for note in notes],
        [
            note.gap if note.gap is not None else "" if index + 1 == len(tokens) else gap
            for index, (note, gap) in enumerate(zip(notes, gaps, strict=True))
        ],
    )
    labels = []
    first = 0
    for sentence in sentences:
        tags = [_normalise_tag(token.tag) for token in sentence]
        mentions = parse_tags(tags).mentions
        is_inside = {index for mention in mentions for index in range(mention.start, mention.end)}
        for index, token in enumerate(sentence):
            has_id = _parse_id(token) is not UNLINKED
            skipped["ids on tokens outside mentions (skipped)"] += has_id and index not in is_inside
        for mention in mentions:
            members = sentence[mention.start : mention.end]
            ids = {_parse_id(token) for token in members} - {UNLINKED}
            skipped["mentions whose tokens have several ids (the first counts)"] += len(ids) > 1
            start, end = joined.starts[first + mention.start], joined.ends[first + mention.end - 1]
            types = () if mention.type == _UNTYPED else (mention.type,)
            same_as = members[0].notes.same_as
            entity = next((id for token in members if (id := _parse_id(token)) is not UNLINKED), UNLINKED)
            labels.append(Label(start, end, entity, same_as=same_as, types=types))
        first += len(sentence)
    return Document(doc_id, joined.text, tuple(labels), meta=block.meta)


def _normalise_tag(tag: str) -> str:
    """Return a tag as IOBES: BILOU prefixes are replaced, and a type without prefix is inside a mention."""
    if tag in OUTSIDE:
        return "O"
    match = _TYPED_TAG.fullmatch(tag)
    if match is None:
        return f"I-{tag}"
    return f"{_PREFIXES.get(match['prefix'], match['prefix'])}-{match['type'] or _UNTYPED}"


def _parse_id(token: _Token) -> EntityId:
    """Return the entity of a token; an id may have the prefix of the tag, as in `B-Q64`."""
    prefix = token.tag[:2]
    has_prefix = len(prefix) == 2 and prefix[1] == "-" and token.id.startswith(prefix)
    entity = token.id[2:] if has_prefix else token.id
    return UNLINKED if entity in OUTSIDE else None if entity in _NILS else entity


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write tokens with BIO tags and ids; raise `UsageError` for ids that the file cannot store."""
    file.write(b"# global.columns = TOKEN TAG ID MISC\n")
    for document in corpus:
        file.write("".join(_format_document(document)).encode())


def _format_document(document: Document) -> Iterator[str]:
    """Yield the lines of a document: its first line, id and metadata, and its sentences."""
    yield f"{_START}\tO\t_\n\n# id = {escape_text(document.id, escapes_spaces=document.id != document.id.strip())}\n"
    for name, value in document.meta.items():
        yield f"# meta {escape_text(name, escapes_spaces=True)} = {escape_text(value, escapes_spaces=True)}\n"
    sentences = split_sentences(select_disjoint_labels(document), _TITLE)
    for number, sentence in enumerate(sentences, 1):
        label: Label | None = None
        for index, token in enumerate(sentence, 1):
            is_last = index == len(sentence)
            default_gap = " " if not is_last else "\n" if number < len(sentences) else ""
            notes = format_notes(token, default_gap)
            if token.label is not None and token.label is not label:
                notes += [f"SameAs={escape_text(id, escapes_spaces=True)}" for id in token.label.same_as]
            tag, entity = _format_label(token.label, document, is_continuation=token.label is label)
            text = "_" if token.token.isspace() else token.token
            if text == _START:
                raise UsageError(f"{_TITLE} cannot store the word {text} (document {document.id!r}). Change the text.")
            yield "\t".join([text, tag, entity, *(["|".join(notes)] if notes else [])]) + "\n"
            label = token.label
        yield "\n"
    yield "" if sentences else "\n"


def _format_label(label: Label | None, document: Document, *, is_continuation: bool) -> tuple[str, str]:
    """Return the tag and id of a token with the label `label`, or of a token outside all mentions if None."""
    if label is None:
        return "O", "_"
    prefix = "I" if is_continuation else "B"
    tag = f"{prefix}-{label.types[0]}" if _keeps_type(label) else prefix
    if not isinstance(label.entity, str):
        return tag, NIL_ID if label.entity is None else "_"
    entity = label.entity
    if _CELL.search(entity) or entity in (*OUTSIDE, *_NILS) or entity.startswith(("B-", "I-")) or _is_note(entity):
        raise UsageError(
            f"{_TITLE} cannot store the id {entity!r} (document {document.id!r}), which is read as something else. "
            "Change it, or choose another format."
        )
    return tag, entity


def _keeps_type(label: Label) -> bool:
    """Return whether a tag can have the types of a label: one word."""
    return len(label.types) == 1 and _WORD.fullmatch(label.types[0]) is not None


def resolve_columns(roles: Mapping[str, str], source: ByteSource) -> Columns | None:
    """Return the columns that a user named, by number or by the header of a file; None if the file lacks one.

    Numbers count from 1, or from 0 if one of them is 0.
    """
    text = source.first_bytes.removeprefix(b"\xef\xbb\xbf").decode(errors="ignore") if not source.is_folder else ""
    rows = [
        row for row in text.split("\n") if row.strip() and not row.startswith(_START) and not _COMMENT.fullmatch(row)
    ]
    if text.lstrip().startswith(("{", "[", "<")) or (not rows and not source.is_folder):
        return None
    names = {"id" if role == "entity" else role: column for role, column in roles.items()}
    if all(column.isascii() and column.isdigit() for column in names.values()):
        numbers = {role: int(column) for role, column in names.items()}
        columns = {role: number - (0 not in numbers.values()) for role, number in numbers.items()}
        is_wide_enough = not rows or len(_split_cells(rows[0])) > max(columns["token"], columns["tag"])
        return columns if is_wide_enough else None
    header = _split_cells(rows[0].rstrip("\r")) if rows else []
    if not {*names.values()} <= {*header}:
        return None
    return {role: header.index(column) for role, column in names.items()}


def make_format(columns: Columns, *, has_header: bool = False) -> Format:
    """Make the format of CoNLL files whose columns the user names."""
    return Format(
        title=_TITLE,
        suffix=".conll",
        recognises=lambda head: True,
        has_gold=lambda source: True,
        read_corpus=lambda source, text: read_corpus(source, columns, has_header=has_header),
        read_run=lambda source: read_run(source, columns, has_header=has_header),
        is_kind_ambiguous=True,
        description="One token per line, with columns that the user names.",
    )


def _recognises(head: bytes) -> bool:
    """Return whether the first lines have a token and a tag each, and no other format writes them so."""
    text = head.removeprefix(b"\xef\xbb\xbf").decode(errors="ignore")
    lines = [line.rstrip("\r") for line in text.split("\n")]
    lines = lines[:-1] if len(lines) > 1 else lines
    rows = [line for line in lines[:_HEAD_LINES] if line.strip()]
    if not rows or rows[0].startswith(f"{_START} ("):  # of AIDA
        return False
    if rows[0] == _START and rows[1:] and rows[1].startswith("# "):  # of ZELDA
        return False
    if _GLOBAL_COLUMNS.fullmatch(rows[0]) or match_names(_split_cells(rows[0])) is not None:
        return True
    tokens = [row for row in rows if not _COMMENT.fullmatch(row) and not row.startswith(_START)]
    if not tokens:
        return rows[0].startswith(_START)
    columns = _guess_columns(tokens)
    return columns is not None and (
        rows[0].startswith(_START) or any("-" in _split_cells(row)[columns["tag"]] for row in tokens)
    )


FORMAT = Format(
    title=_TITLE,
    suffix=".conll",
    markers=(_START, "B-PER", "B-LOC"),
    recognises=_recognises,
    recognises_folder=lambda names: bool(names) and all(name.endswith(".conll") for name in names),
    has_gold=lambda source: True,
    read_corpus=lambda source, text: read_corpus(source),
    read_run=read_run,
    write_corpus=write_corpus,
    stored_fields=frozenset({"same_as", "types", "meta"}),
    count_losses=lambda data: count_token_losses(data, _keeps_type),
    description="One token per line with its tag and id, as in CoNLL-2003; `--columns token=1,tag=4,id=5` names them.",
    is_kind_ambiguous=True,
)
