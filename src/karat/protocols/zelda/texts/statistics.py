"""Sizes of texts, as in Table 2 of the ZELDA paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from msgspec.structs import force_setattr

from karat.data.catalogue import add_registry_metadata
from karat.data.load import load
from karat.model.corpus import Corpus
from karat.model.errors import UsageError
from karat.model.output.json_files import JsonFile, JsonRecord
from karat.protocols.zelda.split_predictions import collect_gold_mentions
from karat.protocols.zelda.splits import find_split_files

TokenCounter: TypeAlias = Callable[[str], int]
"""A function that returns the number of tokens of a text."""

Tokeniser: TypeAlias = Literal["spacy", "words", "spaces"]
"""`spacy`: spaCy's tokens of English without white space, as in the paper. `words`: words and punctuation marks.
`spaces`: what spaces separate, for texts that are tokens joined by spaces."""

TOKENISERS: Final[tuple[Tokeniser, ...]] = get_args(Tokeniser)

_WORD: Final = re.compile(r"\w+|[^\w\s]")


class TextStatistics(JsonRecord, frozen=True):
    """Size of a text, a row of Table 2."""

    documents: int
    """Number of documents."""
    tokens: int
    """Number of tokens."""
    entities: int
    """Number of distinct entities."""
    mentions: int
    """Number of mentions."""
    mean_length: float | None = None
    """Mean number of tokens per document, which the constructor computes; None without documents."""

    def __post_init__(self) -> None:
        force_setattr(self, "mean_length", self.tokens / self.documents if self.documents else None)


class SplitStatistics(TextStatistics, frozen=True, kw_only=True):
    """Size of a test set, with what the registry of datasets states about its texts."""

    domain: str | None = None
    """Domain of the texts; None if the file is not registered."""
    document_type: str | None = None
    """Kind of document; None if the file is not registered."""


class BenchmarkStatistics(JsonFile, frozen=True, tag="karat-zelda-stats/1"):
    """Sizes of test sets: the output of `karat zelda stats --json`."""

    tokens: Tokeniser
    """Tokeniser that counts lengths."""
    tests: Mapping[str, SplitStatistics]
    """Statistics of the test sets by name."""


def count_words(text: str) -> int:
    """Return the number of words and punctuation marks in `text`."""
    return len(_WORD.findall(text))


def _load_spacy() -> TokenCounter:
    """Return the function that counts spaCy's tokens without white space; raise `UsageError` without spaCy.

    The tokeniser of English is made of rules, which all English models share, so that no model is needed.
    """
    try:
        import spacy
    except ImportError:
        raise UsageError("spaCy counts the tokens: pip install 'karat[spacy]', or pass --tokens words.") from None
    tokenise = spacy.blank("en").tokenizer
    return lambda text: sum(not token.is_space for token in tokenise(text))


_COUNTERS: Final[Mapping[Tokeniser, Callable[[], TokenCounter]]] = {
    "spacy": _load_spacy,
    "words": lambda: count_words,
    "spaces": lambda: lambda text: len(text.split()),
}


def load_tokeniser(name: Tokeniser) -> TokenCounter:
    """Return the function that counts the tokens of a text by the tokeniser `name`."""
    return _COUNTERS[name]()


def find_tokeniser() -> Tokeniser:
    """Return the best tokeniser that is installed: `spacy`, else `words`."""
    return "words" if find_spec("spacy") is None else "spacy"


def text_statistics(corpus: Corpus, count_tokens: TokenCounter = count_words) -> TextStatistics:
    """Count documents, tokens, entities and linked mentions of a test set; `count_tokens` counts those of a text."""
    mentions = [mention for mention in collect_gold_mentions(corpus) if mention is not None]
    tokens = sum(count_tokens(document.text) for document in corpus)
    return TextStatistics(len(corpus), tokens, len({mention.entity for mention in mentions}), len(mentions))


def split_statistics(path: str, count_tokens: TokenCounter) -> SplitStatistics:
    """Load the test set at `path` and count it, with domain and document type if its content is registered."""
    corpus = add_registry_metadata(load(path), Path(path))
    counts = text_statistics(corpus, count_tokens)
    return SplitStatistics(
        counts.documents,
        counts.tokens,
        counts.entities,
        counts.mentions,
        domain=corpus.metadata.get("domain"),
        document_type=corpus.metadata.get("document type"),
    )


def benchmark_statistics(paths: Iterable[str], tokeniser: Tokeniser | None = None) -> BenchmarkStatistics:
    """Count the test sets in files and folders; `tokeniser` is by default the best that is installed."""
    name = tokeniser or find_tokeniser()
    count_tokens = load_tokeniser(name)
    files = find_split_files(paths)
    return BenchmarkStatistics(name, {split: split_statistics(path, count_tokens) for split, path in files.items()})
