"""Mentions with their context and entity names, as input to categorisation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from karat.data.categoriser.names import page_title, split_words
from karat.kb.protocol import KB
from karat.matching.facts.facts import label_facts
from karat.matching.facts.label_traits import TRAITS
from karat.matching.facts.nested_spans import Nesting
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.truth import UNKNOWN, YES

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_STARTS = re.compile(r"(?:^|[.!?:;\n\"“”‘(\[_–—-]|``|'')\s*$")
_MISSING_NAMES = frozenset(["", "unknown", "nil", "none", "null"])  # ELEVANT writes `Unknown`


@dataclass(frozen=True)
class Casing:
    """Counts of words in a corpus: written in lower case (`small`), and capitalised inside sentences (`capital`)."""

    small: Counter[str]
    capital: Counter[str]

    @classmethod
    def from_texts(cls, texts: Iterable[str]) -> Casing:
        """Count the words of some texts; keys are in lower case."""
        small: Counter[str] = Counter()
        capital: Counter[str] = Counter()
        for text in texts:
            for match in _WORD.finditer(text):
                word = match[0]
                if word[0].islower():
                    small[word.lower()] += 1
                elif not starts_sentence(text, match.start()):
                    capital[word.lower()] += 1
        return cls(small, capital)

    def is_common(self, word: str) -> bool:
        """Return whether a word, or its singular or plural, occurs in lower case in the corpus."""
        lower = word.lower()
        singular = lower.removesuffix("s")
        return any(self.small[form] for form in (lower, singular, f"{lower}s", f"{singular.removesuffix('ie')}y"))


def starts_sentence(text: str, offset: int) -> bool:
    """Return whether a word at `offset` begins a sentence or line, or follows a quote, bracket, colon or dash."""
    return _STARTS.search(text, max(0, offset - 6), offset) is not None


@dataclass(frozen=True)
class Mention:
    """A label with its text and the names of its entity.

    `label`: the label.
    `text`: text of the mention.
    `document_text`: text of the document.
    `is_nested`: whether the mention is inside a longer one.
    `names`: names of the entity, the main name first; empty if unknown.
    `aliases`: aliases of the entity; None if unknown.
    `is_metonym`: whether the text names a place and the entity is something else; None if unknown.
    """

    label: Label
    text: str
    document_text: str
    is_nested: bool
    names: tuple[str, ...]
    aliases: frozenset[str] | None
    is_metonym: bool | None

    @property
    def name(self) -> str | None:
        """The main name of the entity; None if unknown."""
        return self.names[0] if self.names else None

    @property
    def starts_sentence(self) -> bool:
        """Whether the mention begins a sentence, or follows such punctuation as a quote or bracket."""
        return starts_sentence(self.document_text, self.label.start)


def find_metonyms(corpus: Corpus, kb: KB | None) -> list[list[bool | None]]:
    """Return for each document whether each label is a metonym; None if unknown, as without `kb`."""
    if kb is None:
        truths: list[bool | None] = [None] * len(corpus.labels)
    else:
        truth = TRAITS["metonym"].evaluate(label_facts(corpus, kb))
        truths = [None if value == UNKNOWN else value == YES for value in truth.tolist()]
    return [truths[low:high] for low, high in pairwise(corpus.labels.offsets.tolist())]


def collect_mentions(
    document: Document, nested_spans: Nesting, kb: KB | None, metonyms: Sequence[bool | None]
) -> list[Mention]:
    """Return the labels of a document as mentions, with names and aliases from `kb`.

    `metonyms` has for each label whether it is a metonym, None if unknown.
    """
    ids = sorted({id for label in document.labels for id in _entity_ids(label)})
    names: dict[str, str | None] = {} if kb is None else dict(zip(ids, kb.names(ids), strict=True))
    aliases = {} if kb is None else dict(zip(ids, kb.aliases(ids), strict=True))
    result = []
    for label, is_metonym in zip(document.labels, metonyms, strict=True):
        text = document.text[label.start : label.end]
        entity_names = _entity_names(document, label, text, names)
        entity_aliases = _merge_aliases(aliases.get(id) for id in _entity_ids(label))
        result.append(
            Mention(
                label, text, document.text, nested_spans.is_inside(label.span), entity_names, entity_aliases, is_metonym
            )
        )
    return result


def _entity_names(document: Document, label: Label, text: str, names: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return the names of a label's entity from the knowledge base (`names` by id), the label and its page titles.

    The main name is first. A NIL entity is named by the label or by its longest mention.
    """
    label_name = None if (label.name or "").lower() in _MISSING_NAMES else label.name
    if label.entity is None:
        return (label_name or _longest_nil_mention(document, text),)
    candidates = [*(names.get(id) for id in _entity_ids(label)), label_name, *map(page_title, _entity_ids(label))]
    return tuple(dict.fromkeys(filter(None, candidates)))


def _merge_aliases(sets: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    """Return the union of the sets that are not None; None if all are."""
    known_sets = [aliases for aliases in sets if aliases is not None]
    return frozenset[str]().union(*known_sets) if known_sets else None


def _longest_nil_mention(document: Document, text: str) -> str:
    """Return the longest NIL mention of the document that contains all words of `text`; by default `text`."""
    mention_words = set(split_words(text))
    nil = [document.text[label.start : label.end] for label in document.labels if label.entity is None]
    return max((other for other in nil if mention_words <= set(split_words(other))), key=len, default=text)


def _entity_ids(label: Label) -> tuple[str, ...]:
    """Return all ids of a label's entity; empty if it is NIL or unlinked."""
    return (label.entity, *label.same_as) if isinstance(label.entity, str) else ()
