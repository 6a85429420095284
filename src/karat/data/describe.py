"""Corpora in numbers: the columns of the papers' tables of benchmarks."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from karat.errors import UsageError
from karat.facts.traits import TRAITS, Known, both, either, known
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Document, Label

_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_SENTENCE = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9])")

COLUMNS = (
    "lowercase",
    "multiword",
    "nil",
    "demonym",
    "metonym",
    "partial",
    "rare",
    "person",
    "location",
    "organisation",
)
"""The traits of mentions in Table 3 of the fair evaluation."""

_NEEDS = {
    "names": "needs --kb with names (entities.tsv)",
    "types": "needs --kb with types (entities.tsv)",
    "popular": "needs --kb with popular.tsv",
    "demonyms": "needs --kb with demonyms.txt",
}


class Mention(NamedTuple):
    """A gold mention: the labels of its unit with what is known, and whether it is a part of another segmentation.

    A `root` can also be segmented otherwise.
    """

    known: tuple[Known, ...]
    part: bool
    root: bool

    @property
    def labels(self) -> list[Label]:
        """Its alternatives."""
        return [one.label for one in self.known]

    @property
    def text(self) -> str:
        """What it says."""
        return self.known[0].text

    @property
    def entities(self) -> list[str]:
        """The entities it may be linked to."""
        return [label.entity for label in self.labels if isinstance(label.entity, str)]

    @property
    def optional(self) -> bool:
        """Whether no answer is asked for."""
        return all(label.optional for label in self.labels)

    def holds(self, trait: str) -> bool | None:
        """Whether one of its alternatives has a trait; NIL must be all of them."""
        found = [TRAITS[trait].holds(one) for one in self.known]
        return both(*found) if trait == "nil" else either(found)


class Statistic(NamedTuple):
    """What is counted of mentions."""

    says: str
    counts: Callable[[Mention], bool]


def _kind(kind: str) -> Callable[[Mention], bool]:
    return lambda mention: any(label.kind == kind for label in mention.labels)


MENTIONS: dict[str, Statistic] = {
    "nil": Statistic("linked to NIL", lambda m: all(label.entity is None for label in m.labels)),
    "unlinked": Statistic("without link", lambda m: all(label.entity is UNLINKED for label in m.labels)),
    "optional": Statistic("optional", lambda m: m.optional),
    "alternative": Statistic("with several accepted links or segmentations", lambda m: len(m.labels) > 1 or m.root),
    "coreference": Statistic("that are coreference", _kind("coreference")),
    "quantity": Statistic("that are quantities", _kind("quantity")),
    "datetime": Statistic("that are dates or times", _kind("datetime")),
    "descriptive": Statistic("that describe", _kind("descriptive")),
    "required": Statistic("not optional", lambda m: not m.optional),
}
"""What is counted of all mentions, however much is known about them."""


class Share(NamedTuple):
    """Of how many a trait holds, how much of the whole that is, and of how many nobody can tell.

    The first two are None where a fact is missing throughout. Undecided ones are in the whole.
    """

    number: int | None
    percent: float | None
    undecided: int


@dataclass(frozen=True, slots=True)
class Description:
    """A corpus in numbers; None where a number cannot be computed, with the reason in `undefined`.

    `columns` has the traits of required mentions, each mention counted once. `traits`, `mention_types` and `words` (by
    how many there are) count every label, parts and optional ones too, as ELEVANT's statistics do.
    """

    corpus: str
    digest: str
    numbers: Mapping[str, int | float | str | None]
    columns: Mapping[str, Share]
    traits: Mapping[str, Share]
    mention_types: Mapping[str, int]
    words: Mapping[str, int]
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
            "columns": {name: share._asdict() for name, share in self.columns.items()},
            "traits": {name: share._asdict() for name, share in self.traits.items()},
            "mention types": dict(self.mention_types),
            "words per label": dict(self.words),
            "types": dict(self.types),
            "categories": dict(self.categories),
            "undefined": dict(self.undefined),
            "skipped": dict(self.skipped),
        }


def describe(corpus: Corpus, kb: KB | None = None) -> Description:
    """Count what there is in a corpus."""
    if not corpus.has_text:
        raise UsageError(f"{corpus.name} was loaded without its texts. Load it again with text=True.")
    documents = list(corpus)
    texts = [(label, document.text[label.start : label.end]) for document in documents for label in document.labels]
    facts = known(texts, kb)
    rest = iter(facts)
    found = [mention for document in documents for mention in _mentions(document, rest)]
    roots = [mention for mention in found if not mention.part]
    numbers = _numbers(corpus, documents, found, roots)
    undefined = {
        name: "the source does not say" for name in ("domain", "document type", "language") if not numbers[name]
    }
    required = [mention for mention in roots if not mention.optional]
    missing = {need for need in _NEEDS if not any(_at_hand(one, need) for one in facts)}
    columns = {name: _share([mention.holds(name) for mention in required], name, missing) for name in COLUMNS}
    traits = {name: _share([trait.holds(one) for one in facts], name, missing) for name, trait in TRAITS.items()}
    for name in (name for name, share in {**traits, **columns}.items() if share.number is None):
        undefined[name] = next(_NEEDS[need] for need in TRAITS[name].needs if need in missing)
    words = Counter(one.words for one in facts)
    return Description(
        corpus=corpus.name,
        digest=corpus.digest,
        numbers=numbers,
        columns=columns,
        traits=traits,
        mention_types=_counted(one.mention_type for one in facts),
        words={str(count): words[count] for count in sorted(words)},
        types=_counted(kind for label, _ in texts for kind in label.types),
        categories=_counted(category for label, _ in texts for category in label.categories),
        undefined=undefined,
        skipped=dict(corpus.skipped),
    )


def _at_hand(label: Known, need: str) -> bool:
    """Whether a fact of this kind is known about a label's entity or text."""
    if need in ("names", "types"):
        return bool(label.ids) and (label.name if need == "names" else label.types) is not None
    return (label.popular if need == "popular" else label.demonym) is not None


def _share(found: list[bool | None], trait: str, missing: set[str]) -> Share:
    undecided = found.count(None)
    if undecided and missing.intersection(TRAITS[trait].needs):
        return Share(None, None, undecided)
    count = found.count(True)
    return Share(count, 100 * count / len(found) if found else None, undecided)


def _numbers(
    corpus: Corpus, documents: list[Document], found: list[Mention], roots: list[Mention]
) -> dict[str, int | float | str | None]:
    surfaces: dict[str, set[str]] = defaultdict(set)
    for mention in found:
        surfaces[mention.text].update(mention.entities)
    linked = {surface: ids for surface, ids in surfaces.items() if ids}
    count = len(documents)
    words = sum(len(_WORD.findall(_evaluated(document))) for document in documents)
    tags = sum(len(document.tags) for document in documents)
    return {
        "documents": count,
        "sentences": sum(_sentences(_evaluated(document)) for document in documents),
        "words": words,
        "labels": len(corpus.labels),
        "mentions": len(roots),
        "entities": len({entity for mention in found for entity in mention.entities}),
        "tags": tags,
        "relations": sum(len(document.relations) for document in documents),
        "segmentations": sum(mention.part for mention in found),
        "overlap": sum(_overlapping(document) for document in documents),
        "surfaces": len(surfaces),
        "ambiguous surfaces": sum(len(ids) > 1 for ids in linked.values()),
        "entities per surface": sum(map(len, linked.values())) / len(linked) if linked else None,
        "documents without labels": sum(not document.labels and not document.tags for document in documents),
        "characters per document": sum(len(document.text) for document in documents) / count,
        "words per document": words / count,
        "annotations per document": (len(corpus.labels) + tags) / count,
        "hardest problem": _hardest(documents),
        "domain": corpus.about.get("domain"),
        "document type": corpus.about.get("document type"),
        "language": corpus.about.get("language"),
        **{name: sum(statistic.counts(mention) for mention in roots) for name, statistic in MENTIONS.items()},
    }


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def _mentions(document: Document, facts: Iterator[Known]) -> list[Mention]:
    """The mentions of a document; the facts about its labels come next."""
    units: dict[object, list[Known]] = defaultdict(list)
    for number, label in enumerate(document.labels):
        units[label.unit if label.unit is not None else number].append(next(facts))
    parents = {label.parent for label in document.labels if label.parent is not None}
    return [
        Mention(tuple(ones), any(one.label.parent is not None for one in ones), unit in parents)
        for unit, ones in units.items()
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
    reach = accumulate((end for _, end in spans[:-1]), max, initial=0)  # how far the spans before each go
    following = [*(start for start, _ in spans[1:]), math.inf]
    each = zip(spans, reach, following, strict=False)
    return sum(start < before or end > then for (start, end), before, then in each)


def _hardest(documents: list[Document]) -> str:
    """The hardest of BAT's problems that the gold standard is for."""
    if any(label.entity is not UNLINKED for document in documents for label in document.labels):
        return "A2W"
    if any(tag.rank is not None for document in documents for tag in document.tags):
        return "Rc2W"
    return "C2W" if any(document.tags for document in documents) else "mentions"
