"""Numbers of words in texts, by spaCy's English tokenizer. Needs the extra `spacy`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from karat.model.output.hidden_modules import hide_module
from karat.model.surface import is_lowercase
from karat.model.tables.columns import Longs

_MAX_CACHED = 50_000  # texts whose counts are cached
_NO_WORD, _LOWERCASED, _OTHER = range(3)
_Forms: TypeAlias = NDArray[np.uint64]  # spaCy's numbers for strings


class WordCounts(NamedTuple):
    """Numbers of tokens other than punctuation and space."""

    all: int
    """All words."""
    lowercased: int
    """Words whose first letter is no capital."""
    other: int
    """The other words."""


def count_words(texts: Sequence[str]) -> list[WordCounts] | None:
    """Count the words of each text with spaCy's English tokenizer; return None if spaCy is not installed.

    Counts are cached, so that a text is usually tokenised once per process.
    """
    tokenizer = _get_tokenizer()
    if tokenizer is None:
        return None
    cache = _count_cache()
    counts = {text: cache[text] for text in texts if text in cache}
    new_texts = [text for text in dict.fromkeys(texts) if text not in counts]
    counts.update(zip(new_texts, _count_distinct(tokenizer, new_texts), strict=True))
    if len(cache) + len(new_texts) > _MAX_CACHED:
        cache.clear()
    cache.update((text, counts[text]) for text in new_texts[:_MAX_CACHED])
    return [counts[text] for text in texts]


def _count_distinct(tokenizer: Any, texts: Sequence[str]) -> list[WordCounts]:  # noqa: ANN401  # spaCy ships no types
    """Count the words of each text, without the cache."""
    if not texts:
        return []
    tokens: list[_Forms] = [tokenizer(text).to_array("ORTH") for text in texts]
    forms, form = np.unique(
        np.concatenate(tokens), return_inverse=True
    )  # a corpus has fewer distinct forms than tokens
    kind = _classify_forms(tokenizer.vocab, forms)[form]
    text = np.repeat(np.arange(len(texts)), [len(text_tokens) for text_tokens in tokens])
    table = np.bincount(3 * text + kind, minlength=3 * len(texts)).reshape(-1, 3)
    return [WordCounts(lower + other, lower, other) for _, lower, other in table.tolist()]


def _classify_forms(vocab: Any, forms: _Forms) -> Longs:  # noqa: ANN401  # as above
    """Return the kind of each token form: `_NO_WORD`, `_LOWERCASED` or `_OTHER`; cached."""
    cache = _form_cache()
    for form in forms.tolist():
        if form not in cache:
            lexeme = vocab[form]
            is_word = not (lexeme.is_punct or lexeme.is_space)
            cache[form] = (_LOWERCASED if is_lowercase(lexeme.orth_) else _OTHER) if is_word else _NO_WORD
    return np.array([cache[form] for form in forms.tolist()], np.int64)


@cache
def _get_tokenizer() -> Any:  # noqa: ANN401  # as above
    """Return spaCy's English tokenizer, or None without spaCy.

    spaCy would import torch for its pipelines, where it is installed; hiding torch saves a command half a second.
    """
    try:
        with hide_module("torch"):
            return import_module("spacy").blank("en").tokenizer
    except ImportError:
        return None


@cache
def _count_cache() -> dict[str, WordCounts]:
    """Return the word counts of texts that were counted before, one dictionary per process."""
    return {}


@cache
def _form_cache() -> dict[int, int]:
    """Return the kinds of token forms that were classified before, one dictionary per process."""
    return {}
