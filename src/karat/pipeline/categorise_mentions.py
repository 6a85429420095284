"""What is known about each mention before it is categorised: its words, its surroundings and its entity."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from karat.kb.protocol import KB
from karat.model.document import Document, Label
from karat.pipeline.categorise_names import title_in

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_STARTS = re.compile(r"(?:^|[.!?:;\n\"“”‘(\[_–—-]|``|'')\s*$")


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
        return any(self.small[form] for form in (small, f"{small}s", small.removesuffix("s")))


def starts_sentence(text: str, place: int) -> bool:
    """Whether a word that begins here has its capital from its place."""
    return _STARTS.search(text, max(0, place - 6), place) is not None


@dataclass(frozen=True)
class Mention:
    """A label with its words and what is known about its entity.

    `names` has the main name first, and is empty where none is known. `aliases` and `types` are None where nobody
    knows. `inside` says whether the mention lies in a longer one.
    """

    label: Label
    text: str
    whole: str
    names: tuple[str, ...] = ()
    aliases: frozenset[str] | None = None
    types: frozenset[str] | None = None
    inside: bool = False

    @property
    def name(self) -> str | None:
        """The main name of its entity."""
        return self.names[0] if self.names else None

    @property
    def starts(self) -> bool:
        """Whether it begins a sentence."""
        return starts_sentence(self.whole, self.label.start)


class Facts:
    """What labels, links and a knowledge base say about entities, asked for at once."""

    def __init__(self, documents: Sequence[Document], kb: KB | None) -> None:
        every = sorted({id for document in documents for label in document.labels for id in _ids(label)})
        empty: list[None] = [None] * len(every)
        self._names = dict(zip(every, empty if kb is None else kb.names(every), strict=True))
        self._aliases = dict(zip(every, empty if kb is None else kb.aliases(every), strict=True))
        self._types = dict(zip(every, empty if kb is None else kb.types(every), strict=True))

    def mention(self, document: Document, label: Label, inside: bool) -> Mention:
        """A label with what is known."""
        ids = list(_ids(label))
        aliases = [found for id in ids if (found := self._aliases[id]) is not None]
        types = [found for id in ids if (found := self._types[id]) is not None]
        return Mention(
            label,
            document.text[label.start : label.end],
            document.text,
            tuple(dict.fromkeys(filter(None, self._all_names(label, ids)))),
            frozenset[str]().union(*aliases) if aliases else None,
            frozenset(label.types) if label.types else frozenset[str]().union(*types) if types else None,
            inside,
        )

    def _all_names(self, label: Label, ids: Sequence[str]) -> Iterator[str | None]:
        yield from (self._names[id] for id in ids)
        yield label.name
        yield from map(title_in, ids)


def _ids(label: Label) -> tuple[str, ...]:
    return (label.entity, *label.same_as) if isinstance(label.entity, str) else ()
