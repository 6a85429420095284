"""What is known about each mention before it is categorised: its words, its surroundings and its entity."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from karat.categorise.names import title_in, words
from karat.facts.facts import labels_of
from karat.facts.nesting import Nesting
from karat.facts.traits import TRAITS
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.truth import UNKNOWN, YES

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_STARTS = re.compile(r"(?:^|[.!?:;\n\"“”‘(\[_–—-]|``|'')\s*$")
_NO_NAMES = frozenset(["", "unknown", "nil", "none", "null"])  # ELEVANT writes `Unknown`


@dataclass(frozen=True)
class Casing:
    """How often each word stands in small letters, and with a capital where no sentence begins."""

    small: Counter[str]
    capital: Counter[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Casing:
        """The words of some texts."""
        small: Counter[str] = Counter()
        capital: Counter[str] = Counter()
        for text in texts:
            for found in _WORD.finditer(text):
                word = found[0]
                if word[0].islower():
                    small[word.lower()] += 1
                elif not starts_sentence(text, found.start()):
                    capital[word.lower()] += 1
        return cls(small, capital)

    def common(self, word: str) -> bool:
        """Whether a word is known to be written small."""
        small = word.lower()
        singular = small.removesuffix("s")
        return any(self.small[form] for form in (small, singular, f"{small}s", f"{singular.removesuffix('ie')}y"))


def starts_sentence(text: str, place: int) -> bool:
    """Whether a word that begins here has its capital from its place."""
    return _STARTS.search(text, max(0, place - 6), place) is not None


@dataclass(frozen=True)
class Mention:
    """A label with its words and what is known about its entity.

    `names` has the main name first, and is empty where none is known; `aliases` is None where none is. `inside` says
    whether the mention lies in a longer one, `metonym` whether a knowledge base takes its text for a place and its
    entity for something else; None where it cannot tell.
    """

    label: Label
    text: str
    whole: str
    inside: bool
    names: tuple[str, ...]
    aliases: frozenset[str] | None
    metonym: bool | None

    @property
    def name(self) -> str | None:
        """The main name of its entity."""
        return self.names[0] if self.names else None

    @property
    def starts(self) -> bool:
        """Whether it begins a sentence."""
        return starts_sentence(self.whole, self.label.start)


def metonyms(corpus: Corpus, kb: KB | None) -> list[list[bool | None]]:
    """For each document which of its labels are metonyms; None where nobody can tell."""
    if kb is None:
        found: list[bool | None] = [None] * len(corpus.labels)
    else:
        truth = TRAITS["metonym"].of(labels_of(corpus, kb))
        found = [None if each == UNKNOWN else each == YES for each in truth.tolist()]
    return [found[low:high] for low, high in pairwise(corpus.labels.offsets.tolist())]


def mentions(document: Document, nested: Nesting, kb: KB | None, metonym: Sequence[bool | None]) -> list[Mention]:
    """The labels of a document with what is known about them."""
    ids = sorted({id for label in document.labels for id in _ids(label)})
    names: dict[str, str | None] = {} if kb is None else dict(zip(ids, kb.names(ids), strict=True))
    aliases = {} if kb is None else dict(zip(ids, kb.aliases(ids), strict=True))
    found = []
    for label, is_metonym in zip(document.labels, metonym, strict=True):
        text = document.text[label.start : label.end]
        own = _names(document, label, text, names)
        others = _united(aliases.get(id) for id in _ids(label))
        found.append(Mention(label, text, document.text, nested.inside(label.span), own, others, is_metonym))
    return found


def _names(document: Document, label: Label, text: str, names: Mapping[str, str | None]) -> tuple[str, ...]:
    """What an entity is called: by the knowledge base, by the label, in its links. One without id has a name, too."""
    own = None if (label.name or "").lower() in _NO_NAMES else label.name
    if label.entity is None:
        return (own or _longest(document, text),)
    found = [*(names.get(id) for id in _ids(label)), own, *map(title_in, _ids(label))]
    return tuple(dict.fromkeys(filter(None, found)))


def _united(sets: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    found = [each for each in sets if each is not None]
    return frozenset[str]().union(*found) if found else None


def _longest(document: Document, text: str) -> str:
    """What a document calls an entity without id: the longest NIL mention that has all the words of this one."""
    said = set(words(text))
    nil = [document.text[label.start : label.end] for label in document.labels if label.entity is None]
    return max((other for other in nil if said <= set(words(other))), key=len, default=text)


def _ids(label: Label) -> tuple[str, ...]:
    return (label.entity, *label.same_as) if isinstance(label.entity, str) else ()
