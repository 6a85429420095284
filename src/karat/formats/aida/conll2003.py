"""The English files of CoNLL-2003, whose text other datasets may not pass on, and proof that a file is one of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from karat.errors import InputError
from karat.parsing.lines import lines
from karat.spec.format import Bytes


class AidaSplit(NamedTuple):
    """Which documents a file holds, and what is known about its tokens: their number and two hashes.

    `lengths` is of the lengths of the tokens, `words` of the tokens themselves.
    """

    name: str
    first: int
    last: int
    files: tuple[str, ...]
    tokens: int
    lengths: str | None = None
    words: str | None = None


SPLITS = (
    AidaSplit("train", 1, 946, ("eng.train", "train.txt"), 203_621),
    AidaSplit(
        "testa",
        947,
        1162,
        ("eng.testa", "valid.txt"),
        51_362,
        lengths="e4225a4de2b1231527ea75b22084c2fd0d98ea20cde885cd1ba1e43f00e2a30b",
    ),
    AidaSplit(
        "testb",
        1163,
        1393,
        ("eng.testb", "test.txt"),
        46_435,
        lengths="76598fd8500619c1cdb00398697d1266e4bafa354517789d5d094e86e1a2bf82",
        words="2423453bbb01ce96a0ece0b5ffb0a641144395ac755775753de9f4d4ba1e5908",
    ),
)
"""Counts as the shared task published them; the hashes are of the tokens that ELEVANT and ZELDA show."""


@dataclass(frozen=True, slots=True)
class Text:
    """A document: where it begins in the file, its sentences of tokens, and the name tag of each token."""

    line: int
    sentences: list[list[str]] = field(default_factory=lambda: [[]])
    names: list[str] = field(default_factory=list)

    @property
    def tokens(self) -> list[str]:
        """The tokens of all sentences."""
        return [token for sentence in self.sentences for token in sentence]

    def name_from(self, first: int, also_ends: set[int]) -> tuple[int, str | None]:
        """The token behind the name that begins with a token, and its type; a token that is no name stands alone.

        `also_ends` are tokens with which something else begins.
        """
        kind = self.names[first].partition("-")[2]
        ends = {*also_ends, *accumulate(map(len, self.sentences)), len(self.names)}
        last = first + 1
        while kind and last not in ends and self.names[last] == f"I-{kind}":
            last += 1
        return last, kind or None


def beside(source: Bytes, split: AidaSplit) -> Bytes | None:
    """The file of a split next to another file, or in a folder `conll2003` there."""
    names = (f"{place}{name}{end}" for place in ("", "conll2003/") for name in split.files for end in ("", ".gz"))
    return next((file for file in map(source.beside, names) if file.exists), None)


def texts(file: Bytes) -> Iterator[Text]:
    """The documents of a file; a line is a token, its part of speech, its chunk and its name tag."""
    text: Text | None = None
    for line in lines(file):
        cells = line.text.split()
        if cells and cells[0] == "-DOCSTART-":
            if text is not None:
                yield text
            text = Text(line.number)
        elif cells and text is not None:
            text.sentences[-1].append(cells[0])
            text.names.append(cells[-1])
        elif text is not None:
            text.sentences.append([])
    if text is not None:
        yield text


def verified(found: Sequence[Text], split: AidaSplit, file: Bytes) -> str:
    """The hash of the tokens, or an `InputError` if they are not those of the split."""
    tokens = [token for text in found for token in text.tokens]
    words = hashlib.sha256("\n".join(tokens).encode()).hexdigest()
    lengths = hashlib.sha256(" ".join(str(len(token)) for token in tokens).encode()).hexdigest()
    checks = (
        ("documents", f"{len(found):,}", f"{split.last - split.first + 1:,}"),
        ("tokens", f"{len(tokens):,}", f"{split.tokens:,}"),
        ("as hash of the lengths of the tokens", lengths, split.lengths),
        ("as hash of the tokens", words, split.words),
    )
    for what, has, should in checks:
        if should is not None and has != should:
            raise InputError(
                file.label,
                found=f"{has[:12]} {what}",
                expected=f"{should[:12]} {what}, as {split.files[0]} of CoNLL-2003 has",
                remedy="Take the English file as it was released, with its -DOCSTART- lines",
            )
    return words
