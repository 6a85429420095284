"""How many words a text has, by spaCy's English tokenizer. Needs the extra `spacy`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from karat.model.surface import lowercased
from karat.model.tables.columns import Longs

_KEPT = 50_000  # texts of which the counts are kept
_NO_WORD, _LOWERCASED, _OTHER = range(3)
_Forms: TypeAlias = NDArray[np.uint64]  # spaCy's numbers for strings


class Words(NamedTuple):
    """Tokens that are neither punctuation nor space; those whose first letter is no capital, and the rest."""

    all: int
    lowercased: int
    other: int


def counts(texts: Sequence[str]) -> list[Words] | None:
    """The words of each text, or None where spaCy is not installed. A text is tokenised once per process."""
    tokenizer = _tokenizer()
    if tokenizer is None:
        return None
    kept = _counted()
    own = {text: kept[text] for text in texts if text in kept}
    new = [text for text in dict.fromkeys(texts) if text not in own]
    own.update(zip(new, _count(tokenizer, new), strict=True))
    if len(kept) + len(new) > _KEPT:
        kept.clear()
    kept.update((text, own[text]) for text in new[:_KEPT])
    return [own[text] for text in texts]


def _count(tokenizer: Any, texts: Sequence[str]) -> list[Words]:  # noqa: ANN401  # spaCy ships no types
    """The words of distinct texts."""
    if not texts:
        return []
    tokens: list[_Forms] = [tokenizer(text).to_array("ORTH") for text in texts]
    forms, form = np.unique(np.concatenate(tokens), return_inverse=True)  # a corpus has far fewer forms than tokens
    kind = _kinds(tokenizer.vocab, forms)[form]
    text = np.repeat(np.arange(len(texts)), [len(each) for each in tokens])
    table = np.bincount(3 * text + kind, minlength=3 * len(texts)).reshape(-1, 3)
    return [Words(lower + other, lower, other) for _, lower, other in table.tolist()]


def _kinds(vocab: Any, forms: _Forms) -> Longs:  # noqa: ANN401  # as above
    """What each form of a token is."""
    known = _known()
    for form in forms.tolist():
        if form not in known:
            lexeme = vocab[form]
            word = not (lexeme.is_punct or lexeme.is_space)
            known[form] = (_LOWERCASED if lowercased(lexeme.orth_) else _OTHER) if word else _NO_WORD
    return np.array([known[form] for form in forms.tolist()], np.int64)


@cache
def _tokenizer() -> Any:  # noqa: ANN401  # as above
    try:
        return import_module("spacy").blank("en").tokenizer
    except ImportError:
        return None


@cache
def _counted() -> dict[str, Words]:
    return {}


@cache
def _known() -> dict[int, int]:
    return {}
