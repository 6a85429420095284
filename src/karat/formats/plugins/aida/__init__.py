"""AIDA-YAGO2: names of CoNLL-2003 linked to YAGO2 and Wikipedia.

The published file `AIDA-YAGO2-annotations.tsv` has no text: a line is the number of a token in its document, the
entity and its other ids. The text is rebuilt from the user's English CoNLL-2003 files (`eng.train`, `eng.testa`,
`eng.testb`; also `train.txt`, `valid.txt`, `test.txt`) next to it or in a folder `conll2003` there. It is checked by
the number of documents and tokens, by the first word of each document, which is part of its id, by a hash of the
lengths of the tokens (testa, testb) and by a hash of the tokens (testb). A mention is the CoNLL name that begins at
the token. The merged file `AIDA-YAGO2-dataset.tsv`, with a token per line, is read directly.

Tokens are joined by spaces, and sentences by line ends, so spans equal those of ELEVANT and ZELDA (BAT joins
differently, without a space before punctuation). The entity is YAGO's id, unchanged, and `--NME--` is NIL. Wikipedia
URL, page id and Freebase id are in `same_as`, the type of the name in `types`, and train, testa or testb in `meta`.

Neither file was available: this follows the README of the dataset.

Karat writes the merged file. Words are split at the edges of mentions, and the text that is read back has a space
between any two tokens and a line end between sentences. An empty id is an unlinked mention. Of overlapping mentions,
the longest is written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from karat.formats.parsing.lines import Line, parse_integer, read_lines, split_columns
from karat.formats.parsing.tokens.text import join_sentences
from karat.formats.plugins.aida import conll2003
from karat.formats.plugins.aida.writer import STORED_FIELDS, count_losses, write_corpus
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import isolate_defects, map_valid
from karat.model.document import UNLINKED, Document, Label
from karat.model.errors import InputError
from karat.model.spec.format import ByteSource, Format, Sample
from karat.model.spec.settings.nil_spellings import AIDA_NIL

_ANNOTATIONS_FILE, _MERGED_FILE = "AIDA-YAGO2-annotations.tsv", "AIDA-YAGO2-dataset.tsv"
_START = re.compile(r"-DOCSTART- \((?P<id>.*)\)\s*")
_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?-DOCSTART- \([^\n]*\)\s*\n")
_NUMBERED = re.compile(rb"(?:\xef\xbb\xbf)?(?:-DOCSTART- [^\n]*\n|[^\S\n]*\n)*\d+\t(?![BI]\t)")
_NAME = re.compile(r"[BI]-(?P<type>[A-Z]+)")


@dataclass(slots=True)
class _Mention:
    """A mention: first token, token behind the last, ids of the entity (the first is YAGO's), and type."""

    start: int
    end: int
    ids: Sequence[str]
    type: str | None = None


@dataclass(slots=True)
class _Block:
    """A document: its first line, sentences of tokens, and mentions."""

    id: str
    line: int
    sentences: list[list[str]] = field(default_factory=lambda: [[]])
    mentions: list[_Mention] = field(default_factory=list)

    @property
    def number(self) -> int:
        """The document's number in CoNLL-2003, with which its id begins, or 0."""
        match = re.match(r"[0-9]{1,9}(?![0-9])", self.id)
        return int(match[0]) if match else 0

    @property
    def split(self) -> conll2003.AidaSplit | None:
        """The split to which the document belongs by its number, or None if the number is not in CoNLL-2003."""
        return next(
            (split for split in conll2003.SPLITS if split.first_document <= self.number <= split.last_document), None
        )


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents from the merged file, or from annotations and CoNLL-2003.

    The documents always have their texts; `text` is ignored.
    """
    file = source
    if source.is_folder:
        file = source.get_child(_MERGED_FILE if _MERGED_FILE in source.file_names else _ANNOTATIONS_FILE)
    skipped = SkipCounter()
    metadata: dict[str, str] = {}
    if _NUMBERED.match(file.first_bytes):
        blocks = _add_texts(list(_read_annotations(file)), file, skipped, metadata)
    else:
        blocks = list(_read_merged(file, skipped))
    locations = [f"{file.label}:{block.line}" for block in blocks]
    documents = map(_to_document, blocks)
    return Corpus.from_reader(
        documents, name=source.stem, metadata=metadata, skipped=skipped, locate_row=locations.__getitem__
    )


def _to_document(block: _Block) -> Document:
    """Build a document: join tokens by spaces and sentences by line ends, and convert mentions to labels."""
    text, starts, ends = join_sentences(block.sentences)
    labels = []
    for mention in block.mentions:
        entity, *other_ids = mention.ids
        start, end = starts[mention.start], ends[mention.end - 1]
        types = (mention.type,) if mention.type else ()
        if entity in (AIDA_NIL, ""):
            labels.append(Label(start, end, None if entity else UNLINKED, types=types))
        else:
            labels.append(Label(start, end, entity, same_as=tuple(filter(None, other_ids)), types=types))
    return Document(block.id, text, tuple(labels), meta={"split": block.split.name} if block.split else {})


def _split_documents(source: ByteSource) -> Iterator[tuple[_Block, list[Line]]]:
    """Yield each document, with id and first line only, and separately the lines below the first line."""
    document_lines: list[Line] = []
    block: _Block | None = None
    for line in read_lines(source):
        if start := _START.fullmatch(line.text):
            if block is not None:
                yield block, document_lines
            block, document_lines = _Block(start["id"], line.number), []
        elif block is None and line.text.strip():
            raise InputError(
                f"{source.label}:{line.number}",
                actual=f"{line.text[:40]!r} before the first document",
                expected="-DOCSTART- (ID)",
                remedy="Begin each document with that line",
            )
        else:
            document_lines.append(line)
    if block is not None:
        yield block, document_lines


def _read_merged(source: ByteSource, skipped: Counter[str]) -> Iterator[_Block]:
    """Yield the documents of the merged file, which has a token per line.

    The error policy decides whether an invalid document raises `InputError`, or is skipped and counted in `Defects`.
    """

    def parse_block(item: tuple[_Block, list[Line]]) -> _Block:
        block, document_lines = item
        n_tokens = 0
        for line in document_lines:
            if not line.text.strip():
                block.sentences.append([])
                continue
            token, *tag = line.text.split("\t")
            if tag:
                _add_token(block, n_tokens, split_columns(line, source, 4, 8), f"{source.label}:{line.number}", skipped)
            block.sentences[-1].append(token)
            n_tokens += 1
        return block

    for _, document in map_valid(_split_documents(source), parse_block, lambda item: f"{source.label}:{item[0].line}"):
        yield document


def _add_token(block: _Block, index: int, cells: Sequence[str], location: str, skipped: Counter[str]) -> None:
    """Begin a mention with token `index`, or extend the last mention by it; `cells` are the columns of its line.

    A token tagged I that continues no mention is skipped and counted in `skipped`.
    """
    *ids, last_cell = cells[3:]
    name = _NAME.fullmatch(last_cell) if ids else None  # some versions end each line with the name tag
    if cells[1] == "B":
        block.mentions.append(
            _Mention(index, index + 1, ids if name else [*ids, last_cell], name["type"] if name else None)
        )
    elif cells[1] != "I":
        raise InputError(location, actual=f"{cells[1]!r} in column 2", expected="B or I", remedy="Correct the line")
    elif block.mentions and block.mentions[-1].end == index:
        block.mentions[-1].end += 1
    else:
        skipped["tokens tagged I that continue no mention (skipped)"] += 1


def _read_annotations(source: ByteSource) -> Iterator[_Block]:
    """Yield the documents of the file without text; they have no tokens, and mentions only their first token so far."""

    def parse_block(item: tuple[_Block, list[Line]]) -> _Block:
        block, document_lines = item
        for line in document_lines:
            if line.text.strip():
                number, *ids = split_columns(line, source, 2)
                start = parse_integer(number, line, source, "token")
                block.mentions.append(_Mention(start, start + 1, [cell.strip() for cell in ids]))
        return block

    for _, document in map_valid(_split_documents(source), parse_block, lambda item: f"{source.label}:{item[0].line}"):
        yield document


def _add_texts(
    blocks: Sequence[_Block], source: ByteSource, skipped: Counter[str], metadata: dict[str, str]
) -> list[_Block]:
    """Return the documents whose CoNLL-2003 file is next to `source`, with their tokens.

    All other documents are dropped and counted in `skipped`. Hashes of the tokens are stored in `metadata`. Raise
    `InputError` if there is no such file, or a wrong one.
    """
    documents: list[_Block] = []
    for split in conll2003.SPLITS:
        split_blocks = [block for block in blocks if block.split == split]
        file = conll2003.find_file(source, split) if split_blocks else None
        if file is None:
            missing = f"documents of {split.name} (skipped, since {split.files[0]} is not next to the annotations)"
            skipped[missing] += len(split_blocks)
            continue
        conll_documents = list(conll2003.read_documents(file))
        metadata[f"tokens of {split.name}"] = conll2003.check_documents(conll_documents, split, file)
        for block in split_blocks:
            with isolate_defects(f"{source.label}:{block.line}"):
                documents.append(
                    _fill_block(block, conll_documents[block.number - split.first_document], source, file, skipped)
                )
    skipped["documents whose number is not in CoNLL-2003 (skipped)"] += sum(not block.split for block in blocks)
    if not metadata:
        raise InputError(
            source.label,
            actual="annotations without their text (none of eng.train, eng.testa and eng.testb is next to the file)",
            expected="the English files of CoNLL-2003 next to the annotations",
            remedy="Obtain CoNLL-2003, whose Reuters text may not be redistributed, and put the files there",
        )
    return documents


def _fill_block(
    block: _Block, document: conll2003.ConllDocument, source: ByteSource, file: ByteSource, skipped: Counter[str]
) -> _Block:
    """Add the tokens of CoNLL-2003 to a document, and extend its mentions to the names that begin there.

    Mentions that are no names there stay one token and are counted in `skipped`. Raise `InputError` if first word or
    token numbers do not fit. `source` has the annotations, `file` the tokens.
    """
    tokens = document.tokens
    first_word = block.id.partition(" ")[2]
    if first_word and tokens[:1] != [first_word]:
        raise InputError(
            f"{file.label}:{document.line}",
            actual=f"a document that begins with {' '.join(tokens[:1])!r}",
            expected=f"document {block.id!r} of {source.label}, which begins with {first_word!r}",
            remedy="Use the English files of CoNLL-2003 as released, in their order",
        )
    starts = {mention.start for mention in block.mentions}
    for mention in block.mentions:
        if not 0 <= mention.start < len(tokens):
            raise InputError(
                f"{source.label}:{block.line}",
                actual=f"a mention at token {mention.start} in document {block.id!r} of {len(tokens)} tokens",
                expected="a token of the document",
                remedy="Check that annotations and text belong together",
            )
        mention.end, mention.type = document.find_name(mention.start, starts)
        skipped["mentions that are not names in CoNLL-2003 (read as one token)"] += mention.type is None
    block.sentences = document.sentences
    return block


FORMAT = Format(
    title="AIDA-YAGO2",
    suffix=".aida.tsv",
    markers=("-DOCSTART-", AIDA_NIL),
    recognises=lambda opening: _OPENING.match(opening) is not None,
    recognises_folder=lambda names: _ANNOTATIONS_FILE in names or _MERGED_FILE in names,
    has_gold=lambda source: True,
    read_corpus=read_corpus,
    write_corpus=write_corpus,
    stored_fields=STORED_FIELDS,
    count_losses=count_losses,
    description="The annotations with the user's CoNLL-2003 files, or the file merged from both.",
    sample=Sample.from_text("sample.tsv", "-DOCSTART- (1 a)\nAda\tB\tAda\tAda_Lovelace\nmet\n"),
)
