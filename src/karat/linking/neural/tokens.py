"""Words into tokens: texts with mentions become windows, names become rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from karat.errors import InputError, UsageError
from karat.linking.neural.models import MASKED
from karat.linking.neural.snippets import Snippets, windows

TOKENIZER: Final = "tokenizer.json"
_WORDS: Final = "vocab.txt"
_COLUMNS: Final = ("window", "first", "last", "gold", "document", "start", "end")


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text, the spans of its mentions, and for each the code of its entity and those of its candidates."""

    text: str
    spans: Sequence[tuple[int, int]]
    gold: Sequence[int] = ()
    candidates: Sequence[Sequence[int]] = ()


@dataclass(frozen=True, eq=False)
class WordPieces:
    """A tokenizer, and the codes of the tokens at both ends of a text."""

    tokenizer: Any = field(repr=False)
    begin: int
    end: int

    @classmethod
    def read(cls, folder: Path) -> WordPieces:
        """The tokenizer of an encoder: `tokenizer.json`, or the words in `vocab.txt`."""
        try:
            found = _tokenizer(folder)
        except Exception as problem:  # noqa: BLE001  # the library raises plain exceptions
            raise InputError(
                str(folder), found=str(problem), expected="a tokenizer of BERT's kind", remedy="Name another encoder"
            ) from None
        found.no_truncation()
        found.no_padding()
        begin, end = found.token_to_id("[CLS]"), found.token_to_id("[SEP]")
        if begin is None or end is None:
            raise UsageError(f"{folder}: its tokenizer has no [CLS] and [SEP]. Name an encoder of BERT's kind.")
        return cls(found, begin, end)

    def save(self, folder: Path) -> None:
        """Write the tokenizer beside the weights of a model."""
        self.tokenizer.save(str(folder / TOKENIZER))

    def snippets(self, texts: Iterable[MarkedText], length: int) -> Snippets:
        """Windows of so many tokens at most, with all mentions; those of a text without any token are left out."""
        rows: list[list[int]] = []
        mentions: list[tuple[int, ...]] = []
        listed: list[Sequence[int]] = []
        for number, marked in enumerate(texts):
            self._add(number, marked, length - 2, rows, mentions, listed)
        columns = np.array(mentions, np.int32).reshape(-1, len(_COLUMNS)).T
        flat = [code for codes in listed for code in codes]
        return Snippets(
            tokens=np.array([token for row in rows for token in row], np.int32),
            ends=np.cumsum([len(row) for row in rows], dtype=np.int32),
            candidates=np.array(flat, np.int32),
            candidate_ends=np.cumsum([len(codes) for codes in listed], dtype=np.int32),
            **dict(zip(_COLUMNS, columns, strict=True)),
        )

    def _add(
        self,
        number: int,
        marked: MarkedText,
        most: int,
        rows: list[list[int]],
        mentions: list[tuple[int, ...]],
        listed: list[Sequence[int]],
    ) -> None:
        found = self.tokenizer.encode(marked.text, add_special_tokens=False)
        ids = found.ids
        if not ids or not marked.spans:
            return
        order = sorted(range(len(marked.spans)), key=marked.spans.__getitem__)
        ends = _ends(found.offsets, [marked.spans[place] for place in order])
        cuts = windows(ends, len(ids), most)
        starts = [start for start, _ in cuts]
        used = dict.fromkeys(int(np.searchsorted(starts, first, side="right")) - 1 for first, _ in ends)
        row_of = {cut: len(rows) + place for place, cut in enumerate(used)}
        rows.extend([self.begin, *ids[slice(*cuts[cut])], self.end] for cut in used)
        for place, (first, last) in zip(order, ends, strict=True):
            cut = int(np.searchsorted(starts, first, side="right")) - 1
            low, high = cuts[cut]
            start, end = marked.spans[place]
            gold = marked.gold[place] if marked.gold else MASKED
            where = (first - low + 1, min(last, high - 1) - low + 1)
            mentions.append((row_of[cut], *where, gold, number, start, end))
            listed.append(marked.candidates[place] if marked.candidates else ())

    def names(self, names: Sequence[str], length: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Names as rows of tokens, padded with 0, and how many tokens each has."""
        found = [
            [self.begin, *each.ids[: length - 2], self.end]
            for each in self.tokenizer.encode_batch(list(names), add_special_tokens=False)
        ]
        lengths = np.array([len(ids) for ids in found], np.int64)
        rows = np.zeros((len(found), int(lengths.max(initial=1))), np.int64)
        for row, ids in zip(rows, found, strict=True):
            row[: len(ids)] = ids
        return rows, lengths


def _tokenizer(folder: Path) -> Any:  # noqa: ANN401  # the library has no types
    if (folder / TOKENIZER).is_file():
        return Tokenizer.from_file(str(folder / TOKENIZER))
    if not (folder / _WORDS).is_file():
        raise UsageError(f"no {TOKENIZER} and no {_WORDS}")
    found = Tokenizer(WordPiece.from_file(str(folder / _WORDS), unk_token="[UNK]"))
    found.normalizer = BertNormalizer(lowercase=True)
    found.pre_tokenizer = BertPreTokenizer()
    return found


def _ends(offsets: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The first and last token of each span; a span without any has the next one, or the last of the text."""
    starts = np.array([start for start, _ in offsets])
    stops = np.array([stop for _, stop in offsets])
    first = np.minimum(np.searchsorted(stops, [start for start, _ in spans], side="right"), len(offsets) - 1)
    last = np.maximum(np.searchsorted(starts, [end for _, end in spans]) - 1, first)
    return list(zip(first.tolist(), last.tolist(), strict=True))
