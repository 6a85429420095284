"""Tables of the HIPE shared tasks: documents of token rows, their texts, and their mentions.

Rows are paired with those of the gold standard by position, as in the scorer of the task. If the gold standard is
known, the documents, spaces and quotes of a file of predictions are ignored. A token that begins with # is part of the
text, but is not counted as a token on either side.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import PurePath
from typing import NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from karat.formats.parsing.lines import read_lines, split_columns
from karat.formats.parsing.tokens.iob import OUTSIDE, TokenMention, parse_tags
from karat.formats.parsing.tokens.text import JoinedText, join_tokens
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import UniqueIds, get_defects, isolate_defects, map_valid, skip_or_raise
from karat.model.document import UNLINKED, Candidate, Document, EntityId, Label, Prediction, Response
from karat.model.errors import InputError
from karat.model.reader_categories import METONYMIC, OTHER_WORDS
from karat.model.run import Run
from karat.model.spec.format import ByteSource
from karat.model.spec.settings.nil_spellings import NIL_ID
from karat.model.tables.columns import mask_category

_RUN_NAME = re.compile(r"[^_]+_bundle\d+_(?P<dataset>[a-z0-9]+)_(?P<language>[a-z]{2})_\d+\.tsv(\.gz)?", re.IGNORECASE)
_RELEASES = ("v2.1", "v2.0", "v1.0")
_QID = re.compile(r"\Aq[0-9]+\Z")
_MAX_CONFUSIONS = 20


class Row(NamedTuple):
    """A row of a table: a token with its cells by column."""

    line: int
    """Line number."""
    token: str
    """The token."""
    cells: Mapping[str, str]
    """Cells by column."""

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of the MISC column, such as `NoSpaceAfter`."""
        cell = self.cells.get("MISC", "_")
        return () if cell in OUTSIDE else tuple(cell.split("|"))

    @property
    def is_token(self) -> bool:
        """Whether the task's scorer counts the row as a token; it takes tokens that begin with # for comments."""
        return not self.token.startswith("#")


@dataclass(frozen=True, slots=True)
class TokenDocument:
    """A document of a file, as its rows."""

    id: str | None
    """Document id; None if the file names no documents."""
    line: int
    """Line of the first row."""
    meta: Mapping[str, str]
    """Fields from the comments above the document."""
    rows: list[Row] = field(default_factory=list)
    """Valid rows."""
    defects: list[InputError] = field(default_factory=list)
    """Errors of invalid rows, which make the whole document invalid."""


class Tokens(NamedTuple):
    """The rows of a document that the scorer counts as tokens, with their offsets in the text."""

    rows: Sequence[Row]
    """Rows of the tokens."""
    starts: Sequence[int]
    """Start offset of each token."""
    ends: Sequence[int]
    """End offset of each token."""
    words: Sequence[str] | None = None
    """The gold token of each row; None if the rows are aligned to no gold standard."""

    def get_categories(self, mark: TokenMention) -> tuple[str, ...]:
        """Return the category of a prediction whose words differ from the gold tokens; the scorer compares words."""
        if self.words is None:
            return ()
        tokens = "".join(row.token for row in self.rows[mark.start : mark.end])
        return () if tokens == "".join(self.words[mark.start : mark.end]) else (OTHER_WORDS,)

    def get_span(self, mark: TokenMention) -> tuple[int, int]:
        """Return start and end offset in the text of a mention of tokens."""
        return self.starts[mark.start], self.ends[mark.end - 1]


class GoldTokens(NamedTuple):
    """A gold document, to whose tokens the rows of predictions are aligned."""

    id: str
    """Document id."""
    text: str
    """Text of the document."""
    starts: Sequence[int]
    """Start offset of each token."""
    ends: Sequence[int]
    """End offset of each token."""


class ReadContext(NamedTuple):
    """The file that is read, the counts of skipped data, and the types that are scored."""

    source: ByteSource
    """The file."""
    skipped: Counter[str]
    """Counts of skipped data."""
    types: frozenset[str] | None = None
    """Types of the gold standard, or None if unknown."""


LabelReader: TypeAlias = Callable[[Tokens, ReadContext], list[Label]]
PredictionReader: TypeAlias = Callable[[Tokens, ReadContext], list[Prediction]]


def recognises(head: bytes) -> bool:
    """Return whether the first line has TOKEN as first column, and a column of coarse mentions or of links."""
    header = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].rstrip(b"\r").split(b"\t")
    return header[0] == b"TOKEN" and bool({b"NE-COARSE-LIT", b"NEL-LIT"} & set(header))


def read_documents(source: ByteSource, skipped: Counter[str]) -> list[TokenDocument]:
    """Read the documents of a file as rows; skip comments and lines without token, and count them in `skipped`.

    A line that begins with # and is empty in other columns is a comment, not a token. Comments that name a document
    begin a new one. Comments inside a document (the segments of HIPE-2020) are counted. Errors of rows are stored in
    their document. Raise `InputError` if the header is invalid or there is no token.
    """
    documents: list[TokenDocument] = []
    columns: list[str] = []
    comments: list[str] = []
    for line in read_lines(source):
        if not columns:
            columns = _parse_header(line.text, source)
        elif line.text.startswith("#") and not line.text.partition("\t")[2].strip():
            comments.append(line.text.rstrip())
        elif line.text.startswith("\t"):
            skipped["lines without a token"] += 1
        elif line.text:
            meta, doc_id = _parse_comments(comments)
            if doc_id is not None or not documents:
                documents.append(TokenDocument(doc_id, line.number, meta))
            else:
                skipped["comment lines inside documents"] += len(comments)
            comments = []
            try:
                cells = split_columns(line, source, len(columns), len(columns))
                documents[-1].rows.append(Row(line.number, cells[0], dict(zip(columns, cells, strict=True))))
            except InputError as problem:
                documents[-1].defects.append(problem)
    skipped["comment lines without a document"] += len(comments)
    if not documents:
        raise InputError(
            source.label,
            actual="no token",
            expected="a line of columns, then a token on each line",
            remedy="Check that this is the correct file",
        )
    return _rename_duplicates(documents) if get_defects().policy.rename_duplicates else documents


def _rename_duplicates(documents: Sequence[TokenDocument]) -> list[TokenDocument]:
    """Return the documents with a number added to duplicate ids; count the changed ids in the defects of the file."""
    taken = UniqueIds()
    new_ids = [None if block.id is None else taken.reserve(block.id) for block in documents]
    get_defects().renamed += sum(name != block.id for name, block in zip(new_ids, documents, strict=True))
    return [replace(block, id=name) for name, block in zip(new_ids, documents, strict=True)]


def _select_valid(documents: Sequence[TokenDocument]) -> list[TokenDocument]:
    """Return the documents without invalid rows; skip or raise the error of the others.

    Without document ids, the whole file is one document, and its error is raised.
    """
    for block in documents:
        for problem in block.defects[:1]:
            if block.id is None:
                raise problem
            skip_or_raise(problem)
    return [block for block in documents if not block.defects]


def _parse_header(text: str, source: ByteSource) -> list[str]:
    """Split the first line into column names; raise `InputError` if it is not the header of a HIPE table."""
    if not recognises(text.encode()):
        raise InputError(
            f"{source.label}:1",
            actual=f"{text[:40]!r}",
            expected="the names of the columns: TOKEN, NE-COARSE-LIT, NEL-LIT and so on, with tabs between",
            remedy="Add the line, or name the format of the file",
        )
    return text.split("\t")


def _parse_comments(comments: Sequence[str]) -> tuple[dict[str, str], str | None]:
    """Return the fields in comments of the form `# key = value` except the document id, and that id or None."""
    meta: dict[str, str] = {}
    doc_id = None
    for comment in comments:
        key, _, value = (part.strip() for part in comment.lstrip("#").partition("="))
        if key.rpartition(":")[2] == "document_id" and value:
            doc_id = value
        else:
            meta[key] = value
    return meta, doc_id


def join_rows(rows: Sequence[Row]) -> JoinedText:
    """Join the tokens of rows to a text; by its flags, a token is followed by a space, a line break or nothing."""
    gaps = [_get_gap(row.flags) for row in rows]
    return join_tokens([row.token for row in rows], [*gaps[:-1], ""] if rows else [])


def _get_gap(flags: tuple[str, ...]) -> str:
    """Return the text after a token, by its flags: nothing, a line break or a space."""
    return "" if "NoSpaceAfter" in flags else "\n" if "EndOfLine" in flags else " "


def select_tokens(rows: Sequence[Row], joined: JoinedText) -> Tokens:
    """Select the rows that the scorer counts as tokens, with their offsets in the joined text of all rows."""
    indices = [index for index, row in enumerate(rows) if row.is_token]
    return Tokens(
        [rows[index] for index in indices],
        [joined.starts[index] for index in indices],
        [joined.ends[index] for index in indices],
    )


def read_mentions(rows: Sequence[Row], column: str, context: ReadContext) -> list[TokenMention]:
    """Return the mentions in a column of IOB or IOBES tags, with types in lower case, since types ignore case.

    Mentions without a B or S tag are counted. Raise `InputError` for an invalid tag.
    """
    for row in rows:
        check_filled(row, column, context.source)
    tags = [row.cells.get(column, "_") for row in rows]
    mentions, n_without_begin, invalid = parse_tags([_lower_type(tag) for tag in tags])
    if invalid is not None:
        raise InputError(
            f"{context.source.label}:{rows[invalid].line}",
            actual=f"{tags[invalid]!r} in {column}",
            expected="O, _ or B-, I-, E- or S- with a type",
            remedy="Correct the tag",
        )
    context.skipped["mentions that begin without a B or S tag"] += n_without_begin
    return mentions


def check_filled(row: Row, column: str, source: ByteSource) -> None:
    """Raise `InputError` if a cell is empty, which the scorer would count as a type or an entity of its own."""
    if not row.cells.get(column, "_"):
        raise InputError(
            f"{source.label}:{row.line}",
            actual=f"an empty cell in {column}, which the HIPE scorer counts as an entity without a name",
            expected="_ or O, or a tag or link",
            remedy="Fill the cell in",
        )


def _lower_type(tag: str) -> str:
    """Return a tag such as `B-PERS` with its type in lower case."""
    prefix, dash, kind = tag.partition("-")
    return prefix + dash + kind.lower()


def get_scored_types(kind: str, context: ReadContext) -> tuple[str, ...]:
    """Return the type of a prediction in a tuple, which is empty if the gold standard lacks the type (not scored).

    Such predictions are counted.
    """
    if context.types is None or kind in context.types:
        return (kind,)
    context.skipped["predictions of a type that the gold standard lacks (type not scored)"] += 1
    return ()


def read_link_runs(rows: Sequence[Row], column: str, mentions: Sequence[TokenMention]) -> list[TokenMention]:
    """Return each run of consecutive rows with the same link, with the cell of the link as `type`.

    Runs are split where one of `mentions` begins or ends.
    """
    cuts = {cut for mark in mentions for cut in (mark.start, mark.end)}
    runs: list[TokenMention] = []
    for index, row in enumerate(rows):
        cell = row.cells.get(column, "_")
        if cell in OUTSIDE:
            continue
        if runs and runs[-1].end == index and runs[-1].type == cell and index not in cuts:
            runs[-1] = runs[-1]._replace(end=index + 1)
        else:
            runs.append(TokenMention(cell, index, index + 1))
    return runs


def read_predicted_links(rows: Sequence[Row], mentions: Sequence[TokenMention]) -> list[TokenMention]:
    """Return the links of NEL-LIT as the scorer collects them from predictions, with the cell as `type`.

    A mention is split where its link changes. Outside mentions, each token with a link is a prediction of its own.
    Consecutive tokens whose NE-COARSE-LIT cell is `_` or `-` instead of O share the link of the first.
    """
    inside = {index for mark in mentions for index in range(mark.start, mark.end)}
    links = [mark for mark in read_link_runs(rows, "NEL-LIT", mentions) if mark.start in inside]
    start: int | None = None
    for index, row in enumerate([*rows, None]):
        tag = None if row is None or index in inside else row.cells.get("NE-COARSE-LIT", "_")
        if start is not None and tag in (None, "O"):
            links.append(TokenMention(rows[start].cells.get("NEL-LIT", "_"), start, index))
            start = None
        if tag == "O" and row is not None:
            links.append(TokenMention(row.cells.get("NEL-LIT", "_"), index, index + 1))
        elif tag is not None and start is None:
            start = index
    return sorted((mark for mark in links if mark.type not in OUTSIDE), key=lambda mark: mark.start)


def parse_links(cell: str) -> tuple[EntityId, ...]:
    """Split the links of a cell, the preferred one first; NIL is None, and an empty cell is `UNLINKED`.

    The scorer ignores case, so `nil` is NIL, and `q1` is Q1.
    """
    if cell in OUTSIDE:
        return (UNLINKED,)
    links = [_QID.sub(lambda match: match[0].upper(), link) for link in cell.split("|") if link]
    return tuple(dict.fromkeys(None if link.upper() == NIL_ID else link for link in links)) or (UNLINKED,)


def list_candidates(links: Sequence[EntityId]) -> tuple[Candidate, ...]:
    """Return the candidates of a ranking of several links; NIL has a rank of its own there, as the id `NIL`."""
    return tuple(Candidate(link if isinstance(link, str) else "NIL") for link in links) if len(links) > 1 else ()


def read_token_corpus(source: ByteSource, read_labels: LabelReader) -> Corpus:
    """Read the gold documents of a file, always with texts, and with the tokens to which predictions are aligned.

    `read_labels` returns the labels of a document's tokens.
    """
    context = ReadContext(source, SkipCounter())
    tokens: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def to_document(block: TokenDocument) -> Document:
        doc_id = block.id or "document 1"
        joined = join_rows(block.rows)
        document_tokens = select_tokens(block.rows, joined)
        labels = tuple(read_labels(document_tokens, context))
        document = Document(doc_id, joined.text, labels, meta=dict(block.meta))
        tokens[doc_id] = (tuple(document_tokens.starts), tuple(document_tokens.ends))
        context.skipped["documents without an id (numbered)"] += block.id is None
        context.skipped["tags of tokens that begin with #"] += sum(_has_ignored_tag(row) for row in block.rows)
        return document

    converted = list(
        map_valid(
            _select_valid(read_documents(source, context.skipped)),
            to_document,
            lambda block: f"{source.label}:{block.line}",
        )
    )
    corpus = Corpus.from_reader(
        [document for _, document in converted],
        name=source.stem,
        skipped=context.skipped,
        locate_row=lambda row: f"{source.label}:{converted[row][0].line}",
    )
    return replace(corpus, tokens=tokens)


def read_token_run(source: ByteSource, read_predictions: PredictionReader, gold: Corpus | None = None) -> Run:
    """Read the predictions of a file, aligned to the tokens of the gold standard.

    `read_predictions` returns the predictions of a document's tokens. Without the gold standard, spaces come from the
    file's MISC column or from the gold file next to it.
    """
    skipped = SkipCounter()
    documents = _select_valid(read_documents(source, skipped))
    if gold is None or not gold.tokens:
        token_documents, context = align_without_gold(source, documents, skipped), ReadContext(source, skipped)
    else:
        token_documents, context = (
            align_rows(documents, _get_gold_tokens(gold), source, skipped),
            ReadContext(source, skipped, _get_gold_types(gold)),
        )
    converted = list(
        map_valid(
            token_documents,
            lambda item: Response(item[0], tuple(read_predictions(item[1], context))),
            lambda item: f"document {item[0]!r}",
        )
    )
    token_documents, responses = [item for item, _ in converted], [response for _, response in converted]
    skipped["tags of tokens that begin with #"] += sum(
        _has_ignored_tag(row) for block in documents for row in block.rows
    )

    def get_location(row: int) -> str:
        rows = token_documents[row][1].rows
        return f"{source.label}:{rows[0].line}" if rows else source.label

    texts = [text for _, _, text in token_documents]
    return Run.from_reader(responses, name=source.stem, skipped=skipped, locate_row=get_location, texts=texts)


def _has_ignored_tag(row: Row) -> bool:
    """Return whether a row that the scorer takes for a comment has a mention tag or a link."""
    cells = (row.cells.get(column, "_") for column in ("NE-COARSE-LIT", "NEL-LIT"))
    return not row.is_token and any(cell not in OUTSIDE for cell in cells)


def _get_gold_tokens(corpus: Corpus) -> list[GoldTokens]:
    """Return the documents of a gold standard, which must have been read from a table of tokens."""
    rows = zip(corpus.ids.to_pylist(), corpus.table.column("text").to_pylist(), strict=True)
    return [GoldTokens(name, text, *corpus.tokens[name]) for name, text in rows]


def _get_gold_types(corpus: Corpus) -> frozenset[str]:
    """Return the types of labels in the gold standard, apart from those that only metonymic senses have."""
    types = corpus.labels.field("types")
    if types is None:
        return frozenset()
    literal = pa.array(~mask_category(corpus.labels, METONYMIC))
    return frozenset(pc.list_flatten(types.filter(literal)).unique().to_pylist())


DocumentTokens: TypeAlias = list[tuple[str, Tokens, str | None]]
"""Id, tokens and text of each document of predictions; None stands for the text of the gold standard."""


def align_rows(
    documents: Sequence[TokenDocument], gold: Sequence[GoldTokens], source: ByteSource, skipped: Counter[str]
) -> DocumentTokens:
    """Assign rows of predictions to the gold tokens, by position in the document or, without ids, in the whole file.

    The error policy decides whether a document with another number of tokens raises `InputError`, or is skipped and
    counted in `Defects`. Tokens that differ from the gold token are kept and counted in `skipped`, and raise
    `InputError` if most do. Documents unknown to the gold standard get a text of their own.
    """
    rows = {block.id: [row for row in block.rows if row.is_token] for block in documents}
    if None in rows:
        all_rows = [row for block in documents for row in block.rows if row.is_token]
        n_tokens = sum(len(document.starts) for document in gold)
        if len(gold) > 1 and len(all_rows) > n_tokens:  # the scorer cuts such rows into the documents of the gold file
            skipped["tokens after the last token of the gold standard (not scored)"] += len(all_rows) - n_tokens
            all_rows = all_rows[:n_tokens]
        _check_count(all_rows, gold, source)
        ends = list(accumulate(len(document.starts) for document in gold))
        cuts = zip([0, *ends], ends, gold, strict=False)
        aligned: DocumentTokens = [
            (document.id, Tokens(all_rows[low:high], document.starts, document.ends, _get_words(document)), None)
            for low, high, document in cuts
        ]
    else:
        gold_by_id = {document.id: document for document in gold}
        aligned = []
        for block in documents:
            assert block.id is not None
            document = gold_by_id.get(block.id)
            if document is None:  # pairing corpus and run reports or counts it
                aligned += _join_documents([block])
                continue
            with isolate_defects():
                _check_document(block, rows[block.id], document, source)
                tokens = Tokens(rows[block.id], document.starts, document.ends, _get_words(document))
                aligned.append((block.id, tokens, None))
    _check_words(aligned, {document.id: document for document in gold}, source, skipped, has_ids=None not in rows)
    return aligned


def _check_document(block: TokenDocument, rows: Sequence[Row], document: GoldTokens, source: ByteSource) -> None:
    """Raise `InputError` if a document has another number of tokens than in the gold standard."""
    if len(rows) != len(document.starts):
        raise InputError(
            f"{source.label}:{block.line}",
            actual=f"{len(rows)} tokens in document {block.id!r}",
            expected=f"{len(document.starts)} tokens, as many as in the gold standard",
            remedy="Add a row for each token of the gold file, in its order",
        )


def _check_count(rows: Sequence[Row], gold: Sequence[GoldTokens], source: ByteSource) -> None:
    """Raise `InputError` if rows and gold tokens differ in number; name the document where they begin to differ."""
    words = [(document, word) for document in gold for word in _get_words(document)]
    if len(rows) == len(words):
        return
    pairs = zip(rows, words, strict=False)
    mismatch = next(((row, document) for row, (document, word) in pairs if not _is_same_token(row.token, word)), None)
    if mismatch is None and rows and words:
        mismatch = rows[-1], words[min(len(rows), len(words)) - 1][0]
    raise InputError(
        source.label if mismatch is None else f"{source.label}:{mismatch[0].line}",
        actual=f"{len(rows)} tokens"
        + ("" if mismatch is None else f", which first differ from the gold standard in document {mismatch[1].id!r}"),
        expected=f"{len(words)} tokens, as many as in the gold standard",
        remedy="Add a row for each token of the gold file, in its order",
    )


def _check_words(
    aligned: DocumentTokens, gold: Mapping[str, GoldTokens], source: ByteSource, skipped: Counter[str], *, has_ids: bool
) -> None:
    """Count aligned tokens that differ from the gold token in `skipped`, or raise `InputError` if most differ.

    Without document ids, raise it also if more than 20 different pairs of tokens differ, as the scorer does.
    """
    word_pairs = [(tokens.rows, _get_words(gold[name])) for name, tokens, _ in aligned if name in gold]
    pairs = [(row, word) for rows, words in word_pairs for row, word in zip(rows, words, strict=True)]
    mismatches = [(row, word) for row, word in pairs if not _is_same_token(row.token, word)]
    if 2 * len(mismatches) > len(pairs):
        row, word = mismatches[0]
        raise InputError(
            f"{source.label}:{row.line}",
            actual=f"the token {row.token!r}; {len(mismatches)} of {len(pairs)} tokens differ from the gold standard",
            expected=f"{word!r} at this position",
            remedy="Check that both files belong to the same corpus and split",
        )
    confusions = {(row.token, word) for row, word in pairs if row.token != word}
    if not has_ids and len(confusions) > _MAX_CONFUSIONS:
        row, word = mismatches[0] if mismatches else next(pair for pair in pairs if pair[0].token != pair[1])
        raise InputError(
            f"{source.label}:{row.line}",
            actual=f"the token {row.token!r}; {len(confusions)} different tokens differ from the gold standard",
            expected=f"{word!r} at this position; the HIPE scorer gives up after {_MAX_CONFUSIONS}",
            remedy="Write the tokens of the gold file, in its order, or name the documents of the run",
        )
    n_quoted = sum(row.token != word for row, word in pairs) - len(mismatches)
    skipped["tokens quoted differently than in the gold standard (paired by position)"] += n_quoted
    skipped["tokens that differ from the gold standard (paired by position)"] += len(mismatches)


def _get_words(document: GoldTokens) -> list[str]:
    """Return the tokens of a gold document as strings."""
    return [document.text[start:end] for start, end in zip(document.starts, document.ends, strict=True)]


def _is_same_token(token: str, word: str) -> bool:
    """Return whether a token equals the gold token, possibly after removing CSV quotes from it."""
    return token == word or (token[:1] == token[-1:] == '"' and token[1:-1].replace('""', '"') == word)


def align_without_gold(source: ByteSource, documents: list[TokenDocument], skipped: Counter[str]) -> DocumentTokens:
    """Return the documents of a file of predictions, split and spaced as in the gold file next to it.

    Files of predictions often mark neither documents nor missing spaces, and offsets depend on both. The gold file has
    the name that the task gives it: for `TEAM_bundle1_ajmc_en_1.tsv` that is `HIPE-2022-v2.1-ajmc-test-en.tsv`. The
    gold file is used if it has the same tokens. Otherwise the file's own ids and flags are used; without ids, raise
    `InputError`. The documents are counted in `skipped` under a description of the way chosen; none is dropped.
    """
    has_ids = all(block.id is not None for block in documents)
    if has_ids and any("NoSpaceAfter" in row.flags for block in documents for row in block.rows):
        skipped["documents spaced by their MISC column (read without the gold standard)"] += len(documents)
        return _join_documents(documents)
    for name in _guess_gold_names(source.path):
        gold = source.get_sibling(name)
        if gold.exists:
            aligned = _align_with_gold_file(documents, read_documents(gold, Counter()), source)
            if aligned is not None:
                skipped[f"documents split and spaced as in {name}"] += len(aligned)
                return aligned
            skipped[f"gold files next to it that were not used, since tokens or ids differ ({name})"] += 1
    if not has_ids:
        raise InputError(
            source.label,
            actual="no line that names a document",
            expected="lines such as # hipe2022:document_id = NAME, or the gold file next to it",
            remedy="Copy these lines and the MISC column from the gold file, or put it next to this file under its "
            "official name, such as HIPE-2022-v2.1-ajmc-test-en.tsv for TEAM_bundle1_ajmc_en_1.tsv",
        )
    skipped["documents without a NoSpaceAfter flag (spaces between all tokens)"] += len(documents)
    return _join_documents(documents)


def _join_documents(documents: Sequence[TokenDocument]) -> DocumentTokens:
    """Return the documents with texts joined from their own tokens."""
    texts = [join_rows(block.rows) for block in documents]
    return [
        (block.id or "", select_tokens(block.rows, joined), joined.text)
        for block, joined in zip(documents, texts, strict=True)
    ]


def _guess_gold_names(path: str) -> Iterator[str]:
    """Yield the possible names of the gold file for a file named as submissions are; nothing for other names."""
    match = _RUN_NAME.fullmatch(PurePath(path).name)
    if match is not None:
        for release in _RELEASES:
            for suffix in (".tsv", ".tsv.gz"):
                yield f"HIPE-2022-{release}-{match['dataset']}-test-{match['language']}{suffix}"


def _align_with_gold_file(
    documents: Sequence[TokenDocument], gold: Sequence[TokenDocument], source: ByteSource
) -> DocumentTokens | None:
    """Align rows to the tokens of a gold file; return None if the tokens differ or the gold file lacks distinct ids."""
    gold_tokens = []
    for block in gold:
        if block.id is None:
            return None
        joined = join_rows(block.rows)
        gold_tokens.append(GoldTokens(block.id, joined.text, *select_tokens(block.rows, joined)[1:3]))
    if len({document.id for document in gold_tokens}) < len(gold_tokens):
        return None
    counts: Counter[str] = Counter()
    try:
        aligned = align_rows([replace(block, id=None) for block in documents], gold_tokens, source, counts)
    except InputError:
        return None
    if counts["tokens that differ from the gold standard (paired by position)"]:
        return None
    texts = {document.id: document.text for document in gold_tokens}
    return [(name, tokens, texts[name]) for name, tokens, _ in aligned]
