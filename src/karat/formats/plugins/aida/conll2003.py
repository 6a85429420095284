"""English files of CoNLL-2003, whose text other datasets may not redistribute, and checks that a file is genuine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from karat.formats.parsing.lines import read_lines
from karat.model.errors import InputError
from karat.model.spec.format import ByteSource


class AidaSplit(NamedTuple):
    """A split of the dataset: the numbers of its documents, and facts by which its CoNLL-2003 file is checked."""

    name: str
    """Name of the split."""
    first_document: int
    """Number of the first document."""
    last_document: int
    """Number of the last document."""
    files: tuple[str, ...]
    """Names of its CoNLL-2003 file."""
    n_tokens: int
    """Number of tokens."""
    lengths_digest: str | None = None
    """SHA-256 of the lengths of the tokens, if known."""
    tokens_digest: str | None = None
    """SHA-256 of the tokens, if known."""


SPLITS = (
    AidaSplit("train", 1, 946, ("eng.train", "train.txt"), 203_621),
    AidaSplit(
        "testa",
        947,
        1162,
        ("eng.testa", "valid.txt"),
        51_362,
        lengths_digest="e4225a4de2b1231527ea75b22084c2fd0d98ea20cde885cd1ba1e43f00e2a30b",
    ),
    AidaSplit(
        "testb",
        1163,
        1393,
        ("eng.testb", "test.txt"),
        46_435,
        lengths_digest="76598fd8500619c1cdb00398697d1266e4bafa354517789d5d094e86e1a2bf82",
        tokens_digest="2423453bbb01ce96a0ece0b5ffb0a641144395ac755775753de9f4d4ba1e5908",
    ),
)
"""Splits with the counts of the shared task; the hashes are of the tokens in ELEVANT and ZELDA."""


@dataclass(frozen=True, slots=True)
class ConllDocument:
    """A document: its first line in the file, its sentences of tokens, and the name tag of each token."""

    line: int
    """First line in the file."""
    sentences: list[list[str]] = field(default_factory=lambda: [[]])
    """Sentences of tokens."""
    name_tags: list[str] = field(default_factory=list)
    """Name tag of each token."""

    @property
    def tokens(self) -> list[str]:
        """The tokens of all sentences."""
        return [token for sentence in self.sentences for token in sentence]

    def find_name(self, start: int, other_starts: set[int]) -> tuple[int, str | None]:
        """Return end and type of the name that begins at token `start`; without a name tag, the next token and None.

        A name also ends at the tokens in `other_starts`, where other mentions begin, and at the end of its sentence.
        """
        name_type = self.name_tags[start].partition("-")[2]
        ends = {*other_starts, *accumulate(map(len, self.sentences)), len(self.name_tags)}
        end = start + 1
        while name_type and end not in ends and self.name_tags[end] == f"I-{name_type}":
            end += 1
        return end, name_type or None


def find_file(source: ByteSource, split: AidaSplit) -> ByteSource | None:
    """Return the CoNLL-2003 file of a split next to `source` or in a folder `conll2003` there, or None."""
    names = (
        f"{folder}{name}{suffix}" for folder in ("", "conll2003/") for name in split.files for suffix in ("", ".gz")
    )
    return next((file for file in map(source.get_sibling, names) if file.exists), None)


def read_documents(file: ByteSource) -> Iterator[ConllDocument]:
    """Yield the documents of a file, whose lines are token, part of speech, chunk and name tag.

    Lines before the first `-DOCSTART-` are ignored.
    """
    document: ConllDocument | None = None
    for line in read_lines(file):
        cells = line.text.split()
        if cells and cells[0] == "-DOCSTART-":
            if document is not None:
                yield document
            document = ConllDocument(line.number)
        elif cells and document is not None:
            document.sentences[-1].append(cells[0])
            document.name_tags.append(cells[-1])
        elif document is not None:
            document.sentences.append([])
    if document is not None:
        yield document


def check_documents(documents: Sequence[ConllDocument], split: AidaSplit, file: ByteSource) -> str:
    """Return the SHA-256 of the tokens; raise `InputError` if the documents or tokens are not those of the split."""
    tokens = [token for text in documents for token in text.tokens]
    tokens_digest = hashlib.sha256("\n".join(tokens).encode()).hexdigest()
    lengths_digest = hashlib.sha256(" ".join(str(len(token)) for token in tokens).encode()).hexdigest()
    checks = (
        ("documents", f"{len(documents):,}", f"{split.last_document - split.first_document + 1:,}"),
        ("tokens", f"{len(tokens):,}", f"{split.n_tokens:,}"),
        ("as hash of the lengths of the tokens", lengths_digest, split.lengths_digest),
        ("as hash of the tokens", tokens_digest, split.tokens_digest),
    )
    for quantity, value, expected in checks:
        if expected is not None and value != expected:
            raise InputError(
                file.label,
                actual=f"{value[:12]} {quantity}",
                expected=f"{expected[:12]} {quantity}, as {split.files[0]} of CoNLL-2003 has",
                remedy="Use the English file as released, with its -DOCSTART- lines",
            )
    return tokens_digest
