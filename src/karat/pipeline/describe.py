"""Corpora in numbers: the columns of the papers' tables of benchmarks."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from karat.errors import UsageError
from karat.kb.lexicon import Lexicon
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Document, Label

_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_SENTENCE = re.compile(r"[.!?…]+[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9])")
_PERSON, _LOCATION, _ORGANISATION = "Q215627", "Q27096213", "Q43229"
_NO_KB = "needs --kb with entities.tsv and popular.tsv"


class Mention(NamedTuple):
    """A gold mention: the labels of its unit, what it says, and whether it is a part of another segmentation.

    A `root` can also be segmented otherwise.
    """

    document: str
    labels: tuple[Label, ...]
    text: str
    part: bool
    root: bool

    @property
    def entities(self) -> list[str]:
        """The entities it may be linked to."""
        return [label.entity for label in self.labels if isinstance(label.entity, str)]


class Statistic(NamedTuple):
    """A column: what it counts, and over mentions which ones."""

    says: str
    counts: Callable[[Mention, Lexicon], bool]
    needs_kb: bool = False


def _any(test: Callable[[str, Mention, Lexicon], bool]) -> Callable[[Mention, Lexicon], bool]:
    return lambda mention, lexicon: any(test(entity, mention, lexicon) for entity in mention.entities)


def _kind(kind: str) -> Callable[[Mention, Lexicon], bool]:
    return lambda mention, _: any(label.kind == kind for label in mention.labels)


def _of_type(kind: str) -> Callable[[Mention, Lexicon], bool]:
    return _any(lambda entity, mention, lexicon: kind in lexicon.types.get(entity, ()))


def _lowercase(mention: Mention, _: Lexicon) -> bool:
    first = next((character for character in mention.text if character.isalpha()), "")
    return first.islower()


def _metonym(entity: str, mention: Mention, lexicon: Lexicon) -> bool:
    first = next(iter(lexicon.popular.get(mention.text, ())), None)
    there = _LOCATION in lexicon.types.get(first or "", ())
    return there and _LOCATION not in lexicon.types.get(entity, frozenset({_LOCATION}))


def _partial(entity: str, mention: Mention, lexicon: Lexicon) -> bool:
    name = lexicon.names.get(entity, "")
    return mention.text != name and mention.text in name


def _rare(entity: str, mention: Mention, lexicon: Lexicon) -> bool:
    popular = lexicon.popular.get(mention.text)
    return popular is not None and entity not in popular[:1]


MENTIONS: dict[str, Statistic] = {
    "nil": Statistic("linked to NIL", lambda m, _: all(label.entity is None for label in m.labels)),
    "unlinked": Statistic("without link", lambda m, _: all(label.entity is UNLINKED for label in m.labels)),
    "optional": Statistic("optional", lambda m, _: all(label.optional for label in m.labels)),
    "alternative": Statistic("with several accepted links or segmentations", lambda m, _: len(m.labels) > 1 or m.root),
    "coreference": Statistic("that are coreference", _kind("coreference")),
    "quantity": Statistic("that are quantities", _kind("quantity")),
    "datetime": Statistic("that are dates or times", _kind("datetime")),
    "descriptive": Statistic("that describe", _kind("descriptive")),
    "lowercase": Statistic("whose first letter is a small one", _lowercase),
    "multiword": Statistic("of several words", lambda m, _: len(m.text.split()) > 1),
    "demonym": Statistic("that are demonyms", lambda m, lexicon: m.text in lexicon.demonyms, needs_kb=True),
    "metonym": Statistic("for which a place is the popular reading, and wrong", _any(_metonym), needs_kb=True),
    "partial": Statistic("that are a part of the entity's name", _any(_partial), needs_kb=True),
    "rare": Statistic("for which another entity is more popular", _any(_rare), needs_kb=True),
    "person": Statistic("of persons", _of_type(_PERSON), needs_kb=True),
    "location": Statistic("of locations", _of_type(_LOCATION), needs_kb=True),
    "organisation": Statistic("of organisations", _of_type(_ORGANISATION), needs_kb=True),
}
"""What is counted of mentions."""


@dataclass(frozen=True, slots=True)
class Description:
    """A corpus in numbers; None where a number cannot be computed, with the reason in `undefined`."""

    corpus: str
    digest: str
    numbers: Mapping[str, int | float | str | None]
    types: Mapping[str, int]
    categories: Mapping[str, int]
    undefined: Mapping[str, str]
    skipped: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """All of it by name, for JSON."""
        return {
            "corpus": self.corpus,
            "digest": self.digest,
            **self.numbers,
            "types": dict(self.types),
            "categories": dict(self.categories),
            "undefined": dict(self.undefined),
            "skipped": dict(self.skipped),
        }


def describe(corpus: Corpus, lexicon: Lexicon | None = None) -> Description:
    """Count what there is in a corpus."""
    if not corpus.has_text:
        raise UsageError(f"{corpus.name} was loaded without its texts. Load it again with text=True.")
    known = lexicon or Lexicon()
    documents = list(corpus)
    found = [mention for document in documents for mention in _mentions(document)]
    roots = [mention for mention in found if not mention.part]
    surfaces: dict[str, set[str]] = defaultdict(set)
    for mention in found:
        surfaces[mention.text].update(mention.entities)
    linked = {surface: ids for surface, ids in surfaces.items() if ids}
    count = len(documents)
    numbers: dict[str, int | float | str | None] = {
        "documents": count,
        "sentences": sum(_sentences(_evaluated(document)) for document in documents),
        "words": sum(len(_WORD.findall(_evaluated(document))) for document in documents),
        "labels": len(corpus.labels),
        "mentions": len(roots),
        "entities": len({entity for mention in found for entity in mention.entities}),
        "tags": sum(len(document.tags) for document in documents),
        "relations": sum(len(document.relations) for document in documents),
        "segmentations": sum(mention.part for mention in found),
        "overlap": sum(_overlapping(document) for document in documents),
        "surfaces": len(surfaces),
        "ambiguous surfaces": sum(len(ids) > 1 for ids in linked.values()),
        "entities per surface": sum(map(len, linked.values())) / len(linked) if linked else None,
        "documents without labels": sum(not document.labels and not document.tags for document in documents),
        "characters per document": sum(len(document.text) for document in documents) / count,
        "words per document": sum(len(_WORD.findall(_evaluated(document))) for document in documents) / count,
        "annotations per document": (len(corpus.labels) + sum(len(d.tags) for d in documents)) / count,
        "hardest problem": _hardest(documents),
        "domain": corpus.about.get("domain"),
        "document type": corpus.about.get("document type"),
        "language": corpus.about.get("language"),
    }
    undefined = {
        name: "the source does not say" for name in ("domain", "document type", "language") if not numbers[name]
    }
    for name, statistic in MENTIONS.items():
        if statistic.needs_kb and lexicon is None:
            numbers[name], undefined[name] = None, _NO_KB
        else:
            numbers[name] = sum(statistic.counts(mention, known) for mention in roots)
    labels = [label for document in documents for label in document.labels]
    return Description(
        corpus.name,
        corpus.digest,
        numbers,
        _counted(kind for label in labels for kind in label.types),
        _counted(category for label in labels for category in label.categories),
        undefined,
        dict(corpus.skipped),
    )


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def _mentions(document: Document) -> list[Mention]:
    units: dict[object, list[Label]] = defaultdict(list)
    for number, label in enumerate(document.labels):
        units[label.unit if label.unit is not None else number].append(label)
    parents = {label.parent for label in document.labels if label.parent is not None}
    return [
        Mention(
            document.id,
            tuple(labels),
            document.text[labels[0].start : labels[0].end],
            any(label.parent is not None for label in labels),
            unit in parents,
        )
        for unit, labels in units.items()
    ]


def _evaluated(document: Document) -> str:
    """The text that is scored."""
    start, end = document.evaluation_span or (0, len(document.text))
    return document.text[start:end]


def _sentences(text: str) -> int:
    """Roughly: ends of sentences before a capital or a number, in each paragraph."""
    return sum(len(_SENTENCE.split(part)) for part in text.splitlines() if part.strip())


def _overlapping(document: Document) -> int:
    """Spans that share a character with another span."""
    spans = sorted({(label.start, label.end) for label in document.labels})
    touched: set[tuple[int, int]] = set()
    for i, one in enumerate(spans):
        for two in spans[i + 1 :]:
            if two[0] >= one[1]:
                break
            touched |= {one, two}
    return len(touched)


def _hardest(documents: list[Document]) -> str:
    """The hardest of BAT's problems that the gold standard is for."""
    if any(label.entity is not UNLINKED for document in documents for label in document.labels):
        return "A2W"
    if any(tag.rank is not None for document in documents for tag in document.tags):
        return "Rc2W"
    return "C2W" if any(document.tags for document in documents) else "mentions"
