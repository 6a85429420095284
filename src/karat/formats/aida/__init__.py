"""AIDA-YAGO2: names of CoNLL-2003 linked to YAGO2 and Wikipedia.

The published file `AIDA-YAGO2-annotations.tsv` has no text: a line is the number of a token in its document, the
entity and its other ids. The text is rebuilt from the user's own English CoNLL-2003 files (`eng.train`, `eng.testa`,
`eng.testb`; also `train.txt`, `valid.txt`, `test.txt`) beside it or in a folder `conll2003` beside it, and verified: by
the number of documents and tokens, by the first word of each document, which is part of its id, by a hash of the
lengths of the tokens (testa, testb) and by a hash of the tokens (testb). A mention is the CoNLL name that begins at
the token. The merged file `AIDA-YAGO2-dataset.tsv`, with a token per line, is read as it is.

The text is tokens joined by blanks, and by a line end between sentences, so that spans are those of ELEVANT and ZELDA
(BAT joins otherwise: no blank before punctuation). The entity is YAGO's id as written, `--NME--` is NIL; Wikipedia URL,
page id and Freebase id stand in `same_as`, the type of the name in `types`, and train, testa or testb in `meta`.

Neither file was at hand: this follows the README of the dataset.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from karat.errors import InputError
from karat.formats.aida import conll2003
from karat.model.corpus import Corpus
from karat.model.defects import by_itself, sound
from karat.model.document import Document, Label
from karat.parsing.lines import Line, columns, lines, whole
from karat.parsing.tokens.text import laid_sentences
from karat.spec.format import Bytes, Format, Sample

_ANNOTATIONS, _MERGED = "AIDA-YAGO2-annotations.tsv", "AIDA-YAGO2-dataset.tsv"
_NIL = "--NME--"
_START = re.compile(r"-DOCSTART- \((?P<id>.*)\)\s*")
_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?-DOCSTART- \([^\n]*\)\s*\n")
_NUMBERED = re.compile(rb"(?:\xef\xbb\xbf)?(?:-DOCSTART- [^\n]*\n|[^\S\n]*\n)*\d+\t(?![BI]\t)")
_NAME = re.compile(r"[BI]-(?P<type>[A-Z]+)")


@dataclass(slots=True)
class _Mention:
    """What is marked in tokens: the first, the one behind the last, the ids of the entity and the type."""

    first: int
    last: int
    ids: Sequence[str]
    type: str | None = None


@dataclass(slots=True)
class _Block:
    """A document as it is read: sentences of tokens, and mentions."""

    id: str
    line: int
    sentences: list[list[str]] = field(default_factory=lambda: [[]])
    mentions: list[_Mention] = field(default_factory=list)

    @property
    def number(self) -> int:
        """With which the id begins, or 0."""
        found = re.match(r"[0-9]{1,9}(?![0-9])", self.id)
        return int(found[0]) if found else 0

    @property
    def split(self) -> conll2003.AidaSplit | None:
        """The part of the dataset, told by the number."""
        return next((split for split in conll2003.SPLITS if split.first <= self.number <= split.last), None)


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    given = source
    if source.folder:
        given = source.inside(_MERGED if _MERGED in source.names else _ANNOTATIONS)
    skipped: Counter[str] = Counter()
    about: dict[str, str] = {}
    if _NUMBERED.match(given.opening):
        blocks = _with_text(list(_annotated(given)), given, skipped, about)
    else:
        blocks = list(_merged(given, skipped))
    places = [f"{given.label}:{block.line}" for block in blocks]
    documents = map(_document, blocks)
    return Corpus.built(documents, name=source.stem, about=about, skipped=skipped, where=places.__getitem__)


def _document(block: _Block) -> Document:
    text, starts, ends = laid_sentences(block.sentences)
    labels = []
    for mention in block.mentions:
        entity, *also = mention.ids
        start, end = starts[mention.first], ends[mention.last - 1]
        types = (mention.type,) if mention.type else ()
        if entity == _NIL:
            labels.append(Label(start, end, None, types=types))
        else:
            labels.append(Label(start, end, entity, same_as=tuple(filter(None, also)), types=types))
    return Document(block.id, text, tuple(labels), meta={"split": block.split.name} if block.split else {})


def _blocks(source: Bytes) -> Iterator[tuple[_Block, list[Line]]]:
    """Every document with the lines below its first."""
    below: list[Line] = []
    block: _Block | None = None
    for line in lines(source):
        if start := _START.fullmatch(line.text):
            if block is not None:
                yield block, below
            block, below = _Block(start["id"], line.number), []
        elif block is None and line.text.strip():
            raise InputError(
                f"{source.label}:{line.number}",
                found=f"{line.text[:40]!r} before the first document",
                expected="-DOCSTART- (ID)",
                remedy="Begin each document with that line",
            )
        else:
            below.append(line)
    if block is not None:
        yield block, below


def _merged(source: Bytes, skipped: Counter[str]) -> Iterator[_Block]:
    """Documents of the file with a token per line."""

    def read(found: tuple[_Block, list[Line]]) -> _Block:
        block, below = found
        count = 0
        for line in below:
            if not line.text.strip():
                block.sentences.append([])
                continue
            token, *tag = line.text.split("\t")
            if tag:
                _mark(block, count, columns(line, source, 4, 8), f"{source.label}:{line.number}", skipped)
            block.sentences[-1].append(token)
            count += 1
        return block

    for _, document in sound(_blocks(source), read):
        yield document


def _mark(block: _Block, place: int, cells: Sequence[str], where: str, skipped: Counter[str]) -> None:
    """A token that begins a mention or goes on with one."""
    *ids, last = cells[3:]
    name = _NAME.fullmatch(last) if ids else None  # some versions end each line with the tag of the name
    if cells[1] == "B":
        block.mentions.append(_Mention(place, place + 1, ids if name else [*ids, last], name["type"] if name else None))
    elif cells[1] != "I":
        raise InputError(where, found=f"{cells[1]!r} in column 2", expected="B or I", remedy="Correct the line")
    elif block.mentions and block.mentions[-1].last == place:
        block.mentions[-1].last += 1
    else:
        skipped["tokens marked I that continue no mention (left out)"] += 1


def _annotated(source: Bytes) -> Iterator[_Block]:
    """Documents without tokens; a mention is not longer than its first token yet."""

    def read(found: tuple[_Block, list[Line]]) -> _Block:
        block, below = found
        for line in below:
            if line.text.strip():
                number, *ids = columns(line, source, 2)
                first = whole(number, line, source, "token")
                block.mentions.append(_Mention(first, first + 1, [cell.strip() for cell in ids]))
        return block

    for _, document in sound(_blocks(source), read):
        yield document


def _with_text(blocks: Sequence[_Block], source: Bytes, skipped: Counter[str], about: dict[str, str]) -> list[_Block]:
    """The documents of which the CoNLL-2003 file is there, with its tokens."""
    filled: list[_Block] = []
    for split in conll2003.SPLITS:
        here = [block for block in blocks if block.split == split]
        file = conll2003.beside(source, split) if here else None
        if file is None:
            missing = f"documents of {split.name} (left out, since {split.files[0]} is not beside the annotations)"
            skipped[missing] += len(here)
            continue
        texts = list(conll2003.texts(file))
        about[f"tokens of {split.name}"] = conll2003.verified(texts, split, file)
        for block in here:
            with by_itself():
                filled.append(_filled(block, texts[block.number - split.first], source, file, skipped))
    skipped["documents whose number CoNLL-2003 does not have (left out)"] += sum(not block.split for block in blocks)
    if not about:
        raise InputError(
            source.label,
            found="annotations without their text (none of eng.train, eng.testa and eng.testb is beside the file)",
            expected="the English files of CoNLL-2003 beside the annotations",
            remedy="Obtain CoNLL-2003, whose text is Reuters' and may not be passed on, and put the files there",
        )
    return filled


def _filled(block: _Block, text: conll2003.Text, source: Bytes, file: Bytes, skipped: Counter[str]) -> _Block:
    """The document with its tokens, and its mentions as long as the names that begin with them."""
    tokens = text.tokens
    first = block.id.partition(" ")[2]
    if first and tokens[:1] != [first]:
        raise InputError(
            f"{file.label}:{text.line}",
            found=f"a document that begins with {' '.join(tokens[:1])!r}",
            expected=f"document {block.id!r} of {source.label}, which begins with {first!r}",
            remedy="Take the English files of CoNLL-2003 as they were released, in their order",
        )
    starts = {mention.first for mention in block.mentions}
    for mention in block.mentions:
        if not 0 <= mention.first < len(tokens):
            raise InputError(
                f"{source.label}:{block.line}",
                found=f"a mention at token {mention.first} in document {block.id!r} of {len(tokens)} tokens",
                expected="a token of the document",
                remedy="Check that annotations and text belong together",
            )
        mention.last, mention.type = text.name_from(mention.first, starts)
        skipped["mentions that are no name in CoNLL-2003 (read as one token)"] += mention.type is None
    block.sentences = text.sentences
    return block


def _recognises_folder(names: Sequence[str]) -> bool:
    return _ANNOTATIONS in names or _MERGED in names


FORMAT = Format(
    title="AIDA-YAGO2",
    suffix=".aida.tsv",
    signs=("-DOCSTART-", "--NME--"),
    recognises=lambda opening: _OPENING.match(opening) is not None,
    recognises_folder=_recognises_folder,
    holds_gold=lambda source: True,
    read_corpus=read_corpus,
    says="The annotations with the user's own CoNLL-2003 files, or the file merged of both.",
    sample=Sample(
        {
            "sample.tsv": "-DOCSTART- (1 a)\nAda\tB\tAda\tAda_Lovelace\nmet\n",
        },
        documents=1,
        mentions=1,
        given="sample.tsv",
    ),
)
