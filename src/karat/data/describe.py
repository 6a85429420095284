"""Dataset statistics: the columns of the papers' tables of datasets."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from karat.kb.protocol import KB
from karat.kb.type_names import find_type_names
from karat.matching.facts.facts import MENTION_TYPES, AnnotationFacts, label_facet_values, label_facts
from karat.matching.facts.label_traits import TRAITS
from karat.matching.read.facets import get_facet
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import name_locations
from karat.model.document import Document
from karat.model.output.json_files import JsonRecord
from karat.model.output.text_layout import format_count
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


class FactSource(NamedTuple):
    """A kind of facts about labels.

    `description`: how to obtain the facts.
    `is_known`: whether any such fact is known about the labels of a corpus.
    """

    description: str
    is_known: Callable[[AnnotationFacts], bool]


_FACT_SOURCES = {
    "names": FactSource(
        "needs --kb with names (entities.tsv)",
        lambda facts: any(facts.names[row] is not None for row in np.flatnonzero(facts.entity >= 0).tolist()),
    ),
    "types": FactSource("needs --kb with types (entities.tsv)", lambda facts: _has_types(facts)),
    "popular": FactSource(
        "needs --kb with popular.tsv", lambda facts: any(entity is not None for entity in facts.surfaces.popular)
    ),
    "demonyms": FactSource(
        "needs --kb with demonyms.txt", lambda facts: bool((facts.surfaces.is_demonym != UNKNOWN).any())
    ),
}


def _has_types(facts: AnnotationFacts) -> bool:
    """Return whether the types of any linked entity are known."""
    codes, sets = facts.type_sets
    return any(sets[i] is not None for i in np.unique(codes[facts.entity >= 0]).tolist())


@dataclass(frozen=True, slots=True)
class GoldMentions:
    """The gold mentions of a corpus.

    A mention may have several labels. Parts of alternative segmentations are mentions too.

    `facts`: facts about the labels.
    `corpus`: the corpus.
    `rows`: for each mention, the row of the label that represents it.
    `mention_of_label`: for each label, the index of its mention.
    """

    facts: AnnotationFacts
    corpus: Corpus
    rows: Longs
    mention_of_label: Longs

    def any_label_mask(self, labels: Bools) -> Bools:
        """Return a mask of the mentions with at least one label selected by the mask `labels`."""
        return np.bincount(self.mention_of_label[labels], minlength=len(self.rows)) > 0

    def all_labels_mask(self, labels: Bools) -> Bools:
        """Return a mask of the mentions whose labels are all selected by the mask `labels`."""
        return ~self.any_label_mask(~labels)

    def trait_truth(self, trait: str) -> Truth:
        """Return for each mention whether one of its labels has `trait` (YES, NO or UNKNOWN).

        For `nil`, whether all have it.
        """
        truth = TRAITS[trait].evaluate(self.facts)
        if trait == "nil":
            return np.where(self.all_labels_mask(truth == YES), YES, NO)
        return np.where(
            self.any_label_mask(truth == YES), YES, np.where(self.any_label_mask(truth == UNKNOWN), UNKNOWN, NO)
        )

    @property
    def part_mask(self) -> Bools:
        """Mask of the mentions that belong to an alternative segmentation."""
        return self.corpus.mention_index.parent[self.rows] >= 0

    @property
    def optional_mask(self) -> Bools:
        """Mask of the optional mentions."""
        return self.corpus.mention_index.optional[self.rows]

    @property
    def alternatives_mask(self) -> Bools:
        """Mask of the mentions with several labels or an alternative segmentation."""
        roots = np.zeros(len(self.mention_of_label), np.bool_)
        roots[self.corpus.mention_index.parent[self.corpus.mention_index.parent >= 0]] = True
        return (np.bincount(self.mention_of_label, minlength=len(self.rows)) > 1) | self.any_label_mask(roots)

    def kind_mask(self, kind: str) -> Bools:
        """Return a mask of the mentions with a label of `kind`, such as `quantity`."""
        kinds = self.corpus.labels.field("kind")
        if kinds is None:
            return np.zeros(len(self.rows), np.bool_)
        return self.any_label_mask(pc.equal(kinds, kind).fill_null(False).to_numpy(zero_copy_only=False))


class MentionStatistic(NamedTuple):
    """A count of mentions.

    `description`: text that follows "mentions" in tables.
    `mask`: function that returns a mask of the counted mentions.
    """

    description: str
    mask: Callable[[GoldMentions], Bools]


def _make_kind_mask(kind: str) -> Callable[[GoldMentions], Bools]:
    """Return a function that returns a mask of the mentions with a label of `kind`."""
    return lambda mentions: mentions.kind_mask(kind)


MENTION_STATISTICS: dict[str, MentionStatistic] = {
    "nil": MentionStatistic("linked to NIL", lambda m: m.all_labels_mask(m.facts.entity == NIL)),
    "unlinked": MentionStatistic("unlinked", lambda m: m.all_labels_mask(m.facts.entity == NO_LINK)),
    "optional": MentionStatistic("optional", lambda m: m.optional_mask),
    "alternative": MentionStatistic("with several accepted links or segmentations", lambda m: m.alternatives_mask),
    "coreference": MentionStatistic("that are coreference", lambda m: m.any_label_mask(m.facts.is_coreference)),
    "quantity": MentionStatistic("that are quantities", _make_kind_mask("quantity")),
    "datetime": MentionStatistic("that are dates or times", _make_kind_mask("datetime")),
    "descriptive": MentionStatistic("that are descriptions", _make_kind_mask("descriptive")),
    "required": MentionStatistic("not optional", lambda m: ~m.optional_mask),
}
"""The counts that need no facts from a knowledge base, by name."""


class TraitCount(JsonRecord, frozen=True):
    """The number of labels or mentions with a trait.

    `number`: how many surely have the trait; None if the facts are missing throughout.
    `percent`: their percentage of `total`, a lower bound if some are undecided.
    `undecided`: how many lack the facts.
    `total`: how many labels or mentions there are, including undecided ones.
    `max_percent`: the upper bound, with all undecided ones; equal to `percent` if none is undecided.
    """

    number: int | None
    percent: float | None
    undecided: int
    total: int
    max_percent: float | None


@dataclass(frozen=True, slots=True)
class Description:
    """Statistics of a corpus; a value of None has its reason in `undefined`.

    `corpus`, `digest`: name and digest of the corpus.
    `numbers`: counts and properties, by name.
    `columns`: traits of the required mentions; each mention counts once.
    `traits`, `mention_types`, `words`: counts of all labels, including parts and optional labels, as in ELEVANT; the
    keys of `words` are numbers of words.
    `types`, `categories`: number of labels by type and by category.
    `type_names`: names of types by id, where known.
    `facets`: number of labels by requested facet and value.
    `undefined`: reasons why values are None, by name.
    `skipped`: what loading excluded, with counts.
    """

    corpus: str
    digest: str
    numbers: Mapping[str, int | float | str | None]
    columns: Mapping[str, TraitCount]
    traits: Mapping[str, TraitCount]
    mention_types: Mapping[str, int]
    words: Mapping[str, int]
    types: Mapping[str, int]
    type_names: Mapping[str, str]
    categories: Mapping[str, int]
    facets: Mapping[str, Mapping[str, int]]
    undefined: Mapping[str, str]
    skipped: Mapping[str, int]


def describe(corpus: Corpus, kb: KB | None = None, by: Sequence[str] = ()) -> Description:
    """Compute the statistics of a corpus; traits and facets that need a knowledge base use `kb`.

    `by`: facets whose values are counted.
    """
    facts = label_facts(corpus, kb)
    rows, mention_of_label = np.unique(corpus.mention_index.mention, return_inverse=True)
    mentions = GoldMentions(facts, corpus, rows, mention_of_label.reshape(-1))
    numbers = _count_numbers(corpus, mentions)
    undefined = {
        name: "not stated by the source" for name in ("domain", "document type", "language") if not numbers[name]
    }
    required = ~mentions.part_mask & ~mentions.optional_mask
    missing = {need for need, column in _FACT_SOURCES.items() if not column.is_known(facts)}
    columns = {name: _count_trait(mentions.trait_truth(name)[required], name, missing) for name in COLUMNS}
    traits = {name: _count_trait(trait.evaluate(facts), name, missing) for name, trait in TRAITS.items()}
    for name in (name for name, share in {**traits, **columns}.items() if share.number is None):
        undefined[name] = next(_FACT_SOURCES[need].description for need in TRAITS[name].needs if need in missing)
    for name in by:
        sources = get_facet(name, corpus.labels).count_sources
        undefined |= {} if sources is None else _explain_unknown(name, sources(facts))
    types = _count_sorted(_list_values(corpus, "types"))
    return Description(
        corpus=corpus.name,
        digest=corpus.digest,
        numbers=numbers,
        columns=columns,
        traits=traits,
        mention_types=_count_sorted(np.array(MENTION_TYPES)[facts.mention_type].tolist()),
        words={str(count): number for count, number in sorted(Counter(facts.n_words.tolist()).items())},
        types=types,
        type_names=find_type_names(types, kb),
        categories=_count_sorted(_list_values(corpus, "categories")),
        facets={name: _count_facet(corpus, name, facts) for name in by},
        undefined=undefined,
        skipped=name_locations(corpus.skipped),
    )


def _explain_unknown(name: str, sources: Mapping[str, int]) -> dict[str, str]:
    """Return why the values of the facet `name` are unknown, by a text with the number of labels; often empty."""
    return {
        f"{name} of {format_count(count, 'label')}": source
        for source, count in sources.items()
        if count and source.startswith("are unknown")
    }


def _count_facet(corpus: Corpus, name: str, facts: AnnotationFacts) -> dict[str, int]:
    """Return the number of labels with each value of a facet, in the order of its values."""
    values = label_facet_values(corpus, name, facts)
    counts = Counter(values.names[code] for code in values.lists.values.tolist())
    return {value: counts[value] for value in get_facet(name, corpus.labels).sort_values(counts)}


def _list_values(corpus: Corpus, field: str) -> list[str]:
    """Return the values of a list-valued field over all labels, with repetitions."""
    column = corpus.labels.field(field)
    values: list[str] = [] if column is None else column.flatten().to_pylist()
    return values


def _count_trait(truth: Truth, trait: str, missing: set[str]) -> TraitCount:
    """Count the items with a trait, given its truth for each item.

    The count is None if some items are undecided and the trait needs facts that are missing throughout, by `missing`.
    """
    undecided = int((truth == UNKNOWN).sum())
    if undecided and missing.intersection(TRAITS[trait].needs):
        return TraitCount(None, None, undecided, len(truth), None)
    count = int((truth == YES).sum())
    percent, max_percent = (100 * n / len(truth) if len(truth) else None for n in (count, count + undecided))
    return TraitCount(count, percent, undecided, len(truth), max_percent)


def _count_numbers(corpus: Corpus, mentions: GoldMentions) -> dict[str, int | float | str | None]:
    """Compute the counts and properties of a corpus in `Description.numbers`, by name."""
    documents, roots = list(corpus), ~mentions.part_mask
    entity_counts = _count_entities_by_surface(mentions)
    entities, is_linked = mentions.facts.entity, mentions.facts.is_linked
    count = len(documents)
    words = sum(len(_WORD.findall(_get_evaluated_text(document))) for document in documents)
    tags = sum(len(document.tags) for document in documents)
    return {
        "documents": count,
        "sentences": sum(map(_count_sentences, documents)),
        "words": words,
        "labels": len(corpus.labels),
        "mentions": int(roots.sum()),
        "entities": len(np.unique(entities[is_linked])),
        "tags": tags,
        "relations": sum(len(document.relations) for document in documents),
        "segmentations": int(mentions.part_mask.sum()),
        "overlap": sum(_count_overlapping(document) for document in documents),
        "surfaces": len(np.unique(mentions.facts.surface_code[mentions.rows])),
        "ambiguous surfaces": int((entity_counts > 1).sum()),
        "entities per surface": float(entity_counts.mean()) if len(entity_counts) else None,
        "documents without labels": sum(not document.labels and not document.tags for document in documents),
        "characters per document": sum(map(len, corpus.texts)) / count,
        "words per document": words / count,
        "annotations per document": (len(corpus.labels) + tags) / count,
        "hardest problem": _find_hardest_problem(documents, has_links=bool((entities != NO_LINK).any())),
        "domain": corpus.metadata.get("domain"),
        "document type": corpus.metadata.get("document type"),
        "language": corpus.metadata.get("language"),
        **{name: int(statistic.mask(mentions)[roots].sum()) for name, statistic in MENTION_STATISTICS.items()},
    }


def _count_entities_by_surface(mentions: GoldMentions) -> Longs:
    """Return for each linked surface form the number of distinct entities that it is linked to."""
    entity, surface = mentions.facts.entity, mentions.facts.surface_code[mentions.rows][mentions.mention_of_label]
    pairs = np.unique(np.column_stack([surface, entity])[mentions.facts.is_linked], axis=0)
    return np.unique(pairs[:, 0], return_counts=True)[1]


def _count_sorted(values: Iterable[str]) -> dict[str, int]:
    """Return the counts of `values`, the most frequent first."""
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def _get_evaluated_text(document: Document) -> str:
    """Return the part of a document's text inside its evaluation span, by default all."""
    start, end = document.evaluation_span or (0, len(document.text))
    return document.text[start:end]


def _count_sentences(document: Document) -> int:
    """Count the sentences that a document lists in its metadata, or else approximately.

    The approximation splits lines at sentence ends before a capital or a number. A document that is evaluated in part
    is always split.
    """
    if document.evaluation_span is None and "sentences" in document.meta:
        return len(document.meta["sentences"].split())
    return sum(len(_SENTENCE.split(part)) for part in _get_evaluated_text(document).splitlines() if part.strip())


def _count_overlapping(document: Document) -> int:
    """Count the distinct label spans of a document that share a character with another span."""
    spans = sorted({(label.start, label.end) for label in document.labels})
    reach = accumulate((end for _, end in spans[:-1]), max, initial=0)  # how far the spans before each go
    following = [*(start for start, _ in spans[1:]), math.inf]
    triples = zip(spans, reach, following, strict=False)
    return sum(start < previous_end or end > next_start for (start, end), previous_end, next_start in triples)


def _find_hardest_problem(documents: list[Document], *, has_links: bool) -> str:
    """Return the hardest of BAT's problems that the gold standard supports; `mentions` if it supports none.

    `has_links`: whether any label is linked, including to NIL.
    """
    if has_links:
        return "A2W"
    if any(tag.rank is not None for document in documents for tag in document.tags):
        return "Rc2W"
    return "C2W" if any(document.tags for document in documents) else "mentions"
