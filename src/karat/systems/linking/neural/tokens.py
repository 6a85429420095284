"""Tokenization of texts with mentions into windows, and of names into rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from karat.model.errors import InputError, UsageError
from karat.systems.linking.neural.models import UNKNOWN_ENTITY
from karat.systems.linking.neural.snippets import Snippets, split_windows

TOKENIZER: Final = "tokenizer.json"
_VOCABULARY: Final = "vocab.txt"
_COLUMNS: Final = ("window", "first_token", "last_token", "gold", "document", "start", "end")
_MAX_TITLE_LENGTH: Final = 16

ContextBuilder: TypeAlias = Callable[[str, str, str, str], tuple[list[int], int, int]]
"""A function from title, left context, surface and right context to tokens, and first and last token of the mention."""


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text with its mentions.

    `text`: the text.
    `spans`: spans of the mentions in code points, in any order.
    `gold`: entity code of each mention, -1 if it is not in the vocabulary; empty if unknown for all.
    `candidates`: entity codes of the candidates of each mention; empty if there are none for all.
    `title`: title of the document, read before each window; empty for none.
    """

    text: str
    spans: Sequence[tuple[int, int]]
    gold: Sequence[int] = ()
    candidates: Sequence[Sequence[int]] = ()
    title: str = ""


@dataclass(frozen=True, eq=False)
class WordPieces:
    """A WordPiece tokenizer.

    `tokenizer`: the tokenizer of the library.
    `begin`, `end`: ids of the first and last token of a text.
    """

    tokenizer: Any = field(repr=False)
    begin: int
    end: int

    @classmethod
    def load(cls, folder: Path) -> WordPieces:
        """Load the tokenizer of an encoder from the `tokenizer.json` or else the `vocab.txt` of a folder.

        A tokenizer that is missing, invalid or without [CLS] and [SEP] raises `InputError` or `UsageError`.
        """
        try:
            tokenizer = _load_tokenizer(folder)
        except Exception as problem:  # noqa: BLE001  # the library raises plain exceptions
            raise InputError(
                str(folder), actual=str(problem), expected="a BERT tokenizer", remedy="Name another encoder"
            ) from None
        tokenizer.no_truncation()
        tokenizer.no_padding()
        begin, end = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
        if begin is None or end is None:
            raise UsageError(f"{folder}: the tokenizer lacks [CLS] or [SEP]. Name a BERT encoder.")
        return cls(tokenizer, begin, end)

    def save(self, folder: Path) -> None:
        """Write the tokenizer to the `tokenizer.json` of a model folder."""
        self.tokenizer.save(str(folder / TOKENIZER))

    def to_snippets(self, texts: Iterable[MarkedText], max_length: int) -> Snippets:
        """Tokenise texts and split them into windows of at most `max_length` tokens, with [CLS] and [SEP].

        Texts without tokens and windows without mentions are dropped. Mentions are sorted by span in each text.
        """
        rows: list[list[int]] = []
        mentions: list[tuple[int, ...]] = []
        candidates: list[Sequence[int]] = []
        for number, text in enumerate(texts):
            self._add_text(number, text, max_length - 2, rows, mentions, candidates)
        return pack_snippets(rows, mentions, candidates)

    def to_contexts(self, texts: Iterable[MarkedText], context: int, max_length: int) -> Snippets:
        """Tokenise each mention with `context` characters of text on each side: windows of one mention.

        Windows longer than `max_length` tokens lose the tokens farthest from the mention. Mentions without tokens are
        dropped, and mentions are sorted by span in each text.
        """
        return tokenise_contexts(texts, context, self._make_context(max_length))

    def _make_context(self, max_length: int) -> ContextBuilder:
        """Return the function that builds the tokens of a window, [CLS] TITLE [SEP] LEFT MENTION RIGHT [SEP]."""

        def build(title: str, left: str, surface: str, right: str) -> tuple[list[int], int, int]:
            before, mention, after = self.encode_titles([left, surface, right])
            begin = self._begin_window(title)
            mention = mention[: max_length - len(begin) - 1]
            before, after = trim_context(before, after, max_length - len(begin) - 1 - len(mention))
            first = len(begin) + len(before)
            return [*begin, *before, *mention, *after, self.end], first, first + len(mention) - 1

        return build

    def _begin_window(self, title: str) -> list[int]:
        """Return the tokens before a window: [CLS], and the first tokens of the document's title with [SEP], if any."""
        title_ids = self.tokenizer.encode(title, add_special_tokens=False).ids[:_MAX_TITLE_LENGTH] if title else []
        return [self.begin, *title_ids, self.end] if title_ids else [self.begin]

    def _add_text(
        self,
        number: int,
        text: MarkedText,
        max_tokens: int,
        rows: list[list[int]],
        mentions: list[tuple[int, ...]],
        candidates: list[Sequence[int]],
    ) -> None:
        """Append the windows of text `number` to `rows`, and its mentions and their candidates to the other lists.

        A mention is a tuple of `_COLUMNS`. Texts without tokens or mentions add nothing.
        """
        encoding = self.tokenizer.encode(text.text, add_special_tokens=False)
        ids = encoding.ids
        if not ids or not text.spans:
            return
        order = sorted(range(len(text.spans)), key=text.spans.__getitem__)
        token_spans = _find_token_spans(encoding.offsets, [text.spans[index] for index in order])
        begin = self._begin_window(text.title)
        cuts = split_windows(token_spans, len(ids), max_tokens + 1 - len(begin))
        starts = [start for start, _ in cuts]
        used_cuts = dict.fromkeys(int(np.searchsorted(starts, first, side="right")) - 1 for first, _ in token_spans)
        row_by_cut = {cut: len(rows) + index for index, cut in enumerate(used_cuts)}
        rows.extend([*begin, *ids[slice(*cuts[cut])], self.end] for cut in used_cuts)
        for index, (first, last) in zip(order, token_spans, strict=True):
            cut = int(np.searchsorted(starts, first, side="right")) - 1
            low, high = cuts[cut]
            start, end = text.spans[index]
            gold = text.gold[index] if text.gold else UNKNOWN_ENTITY
            position = (first - low + len(begin), min(last, high - 1) - low + len(begin))
            mentions.append((row_by_cut[cut], *position, gold, number, start, end))
            candidates.append(text.candidates[index] if text.candidates else ())

    def encode_titles(self, titles: Sequence[str]) -> list[list[int]]:
        """Return the tokens of titles, without [CLS] and [SEP], as a model writes them."""
        return [encoding.ids for encoding in self.tokenizer.encode_batch(list(titles), add_special_tokens=False)]

    def encode_names(self, names: Sequence[str], max_length: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the token ids of names, one padded row each, and the number of tokens of each.

        Names are cut to `max_length` tokens, with [CLS] and [SEP]; padding is 0.
        """
        id_lists = [
            [self.begin, *encoding.ids[: max_length - 2], self.end]
            for encoding in self.tokenizer.encode_batch(list(names), add_special_tokens=False)
        ]
        lengths = np.array([len(ids) for ids in id_lists], np.int64)
        rows = np.zeros((len(id_lists), int(lengths.max(initial=1))), np.int64)
        for row, ids in zip(rows, id_lists, strict=True):
            row[: len(ids)] = ids
        return rows, lengths


def tokenise_contexts(texts: Iterable[MarkedText], context: int, build: ContextBuilder) -> Snippets:
    """Return one window per mention, with `context` characters on each side, as `build` makes it; see `to_contexts`."""
    rows: list[list[int]] = []
    mentions: list[tuple[int, ...]] = []
    candidates: list[Sequence[int]] = []
    for number, text in enumerate(texts):
        for index in sorted(range(len(text.spans)), key=text.spans.__getitem__):
            start, end = text.spans[index]
            left, right = text.text[max(0, start - context) : start], text.text[end : end + context]
            tokens, first, last = build(text.title, left, text.text[start:end], right)
            if last < first:
                continue
            gold = text.gold[index] if text.gold else UNKNOWN_ENTITY
            mentions.append((len(rows), first, last, gold, number, start, end))
            candidates.append(text.candidates[index] if text.candidates else ())
            rows.append(tokens)
    return pack_snippets(rows, mentions, candidates)


def trim_context(before: list[int], after: list[int], size: int) -> tuple[list[int], list[int]]:
    """Return the last tokens before and the first tokens after a mention, at most `size` in all, evenly if possible."""
    size = max(0, size)
    n_before = min(len(before), max(size // 2, size - len(after)))
    return before[len(before) - n_before :], after[: size - n_before]


def pack_snippets(
    rows: Sequence[Sequence[int]], mentions: Sequence[tuple[int, ...]], candidates: Sequence[Sequence[int]]
) -> Snippets:
    """Return windows as arrays, from the tokens of each window, mentions as tuples of `_COLUMNS`, and candidates."""
    columns = np.array(mentions, np.int32).reshape(-1, len(_COLUMNS)).T
    return Snippets(
        tokens=np.array([token for row in rows for token in row], np.int32),
        ends=np.cumsum([len(row) for row in rows], dtype=np.int32),
        candidates=np.array([code for codes in candidates for code in codes], np.int32),
        candidate_ends=np.cumsum([len(codes) for codes in candidates], dtype=np.int32),
        **dict(zip(_COLUMNS, columns, strict=True)),
    )


def _load_tokenizer(folder: Path) -> Any:  # noqa: ANN401  # the library has no types
    """Load `tokenizer.json`, or build an uncased tokenizer from `vocab.txt`; raise `UsageError` without both."""
    if (folder / TOKENIZER).is_file():
        return Tokenizer.from_file(str(folder / TOKENIZER))
    if not (folder / _VOCABULARY).is_file():
        raise UsageError(f"no {TOKENIZER} and no {_VOCABULARY}")
    tokenizer = Tokenizer(WordPiece.from_file(str(folder / _VOCABULARY), unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


def _find_token_spans(offsets: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the indices of the first and last token of each span; a span without tokens gets the next token.

    `offsets`: start and end of each token in the text.
    """
    starts = np.array([start for start, _ in offsets])
    stops = np.array([stop for _, stop in offsets])
    first = np.minimum(np.searchsorted(stops, [start for start, _ in spans], side="right"), len(offsets) - 1)
    last = np.maximum(np.searchsorted(starts, [end for _, end in spans]) - 1, first)
    return list(zip(first.tolist(), last.tolist(), strict=True))
