"""Corpora in numbers: the columns of the papers' tables of benchmarks."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from karat.facts.facts import MENTION_TYPES, Side, labels_of
from karat.facts.traits import TRAITS
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.document import Document
from karat.model.tables.columns import NIL, NO_LINK, Bools, Longs
from karat.model.truth import NO, UNKNOWN, YES, Truth

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


class _Need(NamedTuple):
    """A kind of facts: where they come from, and whether any is known about the labels of a corpus."""

    says: str
    there: Callable[[Side], bool]


_NEEDS = {
    "names": _Need(
        "needs --kb with names (entities.tsv)",
        lambda side: any(side.names[row] is not None for row in np.flatnonzero(side.entity >= 0).tolist()),
    ),
    "types": _Need("needs --kb with types (entities.tsv)", lambda side: _typed(side)),
    "popular": _Need(
        "needs --kb with popular.tsv", lambda side: any(known is not None for known in side.surfaces.popular)
    ),
    "demonyms": _Need("needs --kb with demonyms.txt", lambda side: bool((side.surfaces.demonyms != UNKNOWN).any())),
}


def _typed(side: Side) -> bool:
    place, sets = side.type_sets
    return any(sets[code] is not None for code in np.unique(place[side.entity >= 0]).tolist())


@dataclass(frozen=True, slots=True)
class GoldMentions:
    """The gold mentions of a corpus: the facts about its labels, and for each label which mention it belongs to.

    A mention may have several labels, of which one, in `rows`, stands for it; parts of other segmentations are mentions
    too.
    """

    side: Side
    corpus: Corpus
    rows: Longs
    of_label: Longs

    def any(self, labels: Bools) -> Bools:
        """Of which mentions it holds that one of their labels is among some."""
        return np.bincount(self.of_label[labels], minlength=len(self.rows)) > 0

    def all(self, labels: Bools) -> Bools:
        """Of which mentions it holds that all of their labels are among some."""
        return ~self.any(~labels)

    def holds(self, trait: str) -> Truth:
        """Which mentions have an alternative with a trait; NIL must be all of them."""
        found = TRAITS[trait].of(self.side)
        if trait == "nil":
            return np.where(self.all(found == YES), YES, NO)
        return np.where(self.any(found == YES), YES, np.where(self.any(found == UNKNOWN), UNKNOWN, NO))

    @property
    def parts(self) -> Bools:
        """Which mentions belong to another segmentation."""
        return self.corpus.units.parent[self.rows] >= 0

    @property
    def optional(self) -> Bools:
        """For which mentions no answer is asked for."""
        return self.corpus.units.optional[self.rows]

    @property
    def alternative(self) -> Bools:
        """Which mentions have several labels, or can be segmented otherwise."""
        roots = np.zeros(len(self.of_label), np.bool_)
        roots[self.corpus.units.parent[self.corpus.units.parent >= 0]] = True
        return (np.bincount(self.of_label, minlength=len(self.rows)) > 1) | self.any(roots)

    def of_kind(self, kind: str) -> Bools:
        """Which mentions have an alternative of a kind."""
        given = self.corpus.labels.field("kind")
        if given is None:
            return np.zeros(len(self.rows), np.bool_)
        return self.any(pc.equal(given, kind).fill_null(False).to_numpy(zero_copy_only=False))


class Statistic(NamedTuple):
    """What is counted of mentions."""

    says: str
    counts: Callable[[GoldMentions], Bools]


def _kind(kind: str) -> Callable[[GoldMentions], Bools]:
    return lambda mentions: mentions.of_kind(kind)


MENTIONS: dict[str, Statistic] = {
    "nil": Statistic("linked to NIL", lambda m: m.all(m.side.entity == NIL)),
    "unlinked": Statistic("without link", lambda m: m.all(m.side.entity == NO_LINK)),
    "optional": Statistic("optional", lambda m: m.optional),
    "alternative": Statistic("with several accepted links or segmentations", lambda m: m.alternative),
    "coreference": Statistic("that are coreference", lambda m: m.any(m.side.refers)),
    "quantity": Statistic("that are quantities", _kind("quantity")),
    "datetime": Statistic("that are dates or times", _kind("datetime")),
    "descriptive": Statistic("that describe", _kind("descriptive")),
    "required": Statistic("not optional", lambda m: ~m.optional),
}
"""What is counted of all mentions, however much is known about them."""


class TraitCount(NamedTuple):
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
    columns: Mapping[str, TraitCount]
    traits: Mapping[str, TraitCount]
    mention_types: Mapping[str, int]
    words: Mapping[str, int]
    types: Mapping[str, int]
    categories: Mapping[str, int]
    undefined: Mapping[str, str]
    skipped: Mapping[str, int]


def describe(corpus: Corpus, kb: KB | None = None) -> Description:
    """Count what there is in a corpus."""
    side = labels_of(corpus, kb)
    rows, of_label = np.unique(corpus.units.unit, return_inverse=True)
    found = GoldMentions(side, corpus, rows, of_label.reshape(-1))
    numbers = _numbers(corpus, found)
    undefined = {
        name: "the source does not say" for name in ("domain", "document type", "language") if not numbers[name]
    }
    required = ~found.parts & ~found.optional
    missing = {need for need, column in _NEEDS.items() if not column.there(side)}
    columns = {name: _share(found.holds(name)[required], name, missing) for name in COLUMNS}
    traits = {name: _share(trait.of(side), name, missing) for name, trait in TRAITS.items()}
    for name in (name for name, share in {**traits, **columns}.items() if share.number is None):
        undefined[name] = next(_NEEDS[need].says for need in TRAITS[name].needs if need in missing)
    return Description(
        corpus=corpus.name,
        digest=corpus.digest,
        numbers=numbers,
        columns=columns,
        traits=traits,
        mention_types=_counted(np.array(MENTION_TYPES)[side.mention_type].tolist()),
        words={str(count): number for count, number in sorted(Counter(side.words.tolist()).items())},
        types=_counted(_listed(corpus, "types")),
        categories=_counted(_listed(corpus, "categories")),
        undefined=undefined,
        skipped=dict(corpus.skipped),
    )


def _listed(corpus: Corpus, field: str) -> list[str]:
    """All that labels have in a field of several values."""
    column = corpus.labels.field(field)
    values: list[str] = [] if column is None else column.flatten().to_pylist()
    return values


def _share(found: Truth, trait: str, missing: set[str]) -> TraitCount:
    undecided = int((found == UNKNOWN).sum())
    if undecided and missing.intersection(TRAITS[trait].needs):
        return TraitCount(None, None, undecided)
    count = int((found == YES).sum())
    return TraitCount(count, 100 * count / len(found) if len(found) else None, undecided)


def _numbers(corpus: Corpus, found: GoldMentions) -> dict[str, int | float | str | None]:
    documents, roots = list(corpus), ~found.parts
    linked = _entities_by_surface(found)
    entities = corpus.labels.entity
    count = len(documents)
    words = sum(len(_WORD.findall(_evaluated(document))) for document in documents)
    tags = sum(len(document.tags) for document in documents)
    return {
        "documents": count,
        "sentences": sum(_sentences(_evaluated(document)) for document in documents),
        "words": words,
        "labels": len(corpus.labels),
        "mentions": int(roots.sum()),
        "entities": len(np.unique(entities[entities >= 0])),
        "tags": tags,
        "relations": sum(len(document.relations) for document in documents),
        "segmentations": int(found.parts.sum()),
        "overlap": sum(_overlapping(document) for document in documents),
        "surfaces": len(np.unique(found.side.surface[found.rows])),
        "ambiguous surfaces": int((linked > 1).sum()),
        "entities per surface": float(linked.mean()) if len(linked) else None,
        "documents without labels": sum(not document.labels and not document.tags for document in documents),
        "characters per document": sum(map(len, corpus.texts)) / count,
        "words per document": words / count,
        "annotations per document": (len(corpus.labels) + tags) / count,
        "hardest problem": _hardest(documents, linked=bool((entities != NO_LINK).any())),
        "domain": corpus.about.get("domain"),
        "document type": corpus.about.get("document type"),
        "language": corpus.about.get("language"),
        **{name: int(statistic.counts(found)[roots].sum()) for name, statistic in MENTIONS.items()},
    }


def _entities_by_surface(found: GoldMentions) -> Longs:
    """For each text that is linked, how many entities it is linked to; the text of a mention is that of one label."""
    entity, surface = found.side.entity, found.side.surface[found.rows][found.of_label]
    pairs = np.unique(np.column_stack([surface, entity])[entity >= 0], axis=0)
    return np.unique(pairs[:, 0], return_counts=True)[1]


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


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


def _hardest(documents: list[Document], *, linked: bool) -> str:
    """The hardest of BAT's problems that the gold standard is for."""
    if linked:
        return "A2W"
    if any(tag.rank is not None for document in documents for tag in document.tags):
        return "Rc2W"
    return "C2W" if any(document.tags for document in documents) else "mentions"
