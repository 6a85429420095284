"""The categories of the fine-grained scheme, assigned to the labels of any corpus by rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import msgspec

from karat.categorise.form import base_form
from karat.categorise.mentions import Casing, Mention, mentions, metonyms
from karat.categorise.pos import Tagger, Token, parts_of_speech
from karat.categorise.reference import beside_metonym, reference
from karat.categorise.rules import RulesTagger
from karat.errors import UsageError
from karat.facts.nesting import Nesting, nesting
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.scheme import DIMENSIONS
from karat.version import __version__

Leaves = Mapping[str, str | None]
"""By dimension the leaf of a label; None where it is undecided."""


class FoundCategory(NamedTuple):
    """A document, and what is known and decided about each of its labels."""

    document: Document
    mentions: list[Mention]
    leaves: list[Leaves]
    crossing: int


@dataclass(frozen=True, slots=True)
class CategorisedCorpus:
    """A corpus with categories: by dimension how many labels got each leaf, got none, or kept what they had.

    `crossing` counts pairs of spans that cross, which the scheme cannot express. `notes` say what could not be used.
    """

    corpus: Corpus
    tagger: str
    counts: Mapping[str, Mapping[str, int]]
    undecided: Mapping[str, int]
    kept: Mapping[str, int]
    crossing: int
    notes: tuple[str, ...]


def tagger_named(name: str) -> Tagger:
    """`rules`, or `spacy:MODEL`, where `spacy` alone takes spaCy's own medium English model."""
    kind, _, model = name.partition(":")
    if name == "rules":
        return RulesTagger()
    if kind == "spacy":
        from karat.categorise.spacy import SpacyTagger

        return SpacyTagger(model or "en_core_web_md")
    raise UsageError(f"--tagger {name}: write `rules`, or `spacy:MODEL` such as spacy:en_core_web_md.")


def categorise(
    corpus: Corpus, *, kb: KB | None = None, tagger: Tagger | None = None, keep: bool = False
) -> CategorisedCorpus:
    """The corpus with a leaf of each dimension on every label for which rules can tell it.

    Categories outside the scheme stay. Those of its dimensions are replaced, or with `keep` only filled in where a
    label has none of that dimension.
    """
    tagging = tagger or RulesTagger()
    found = assigned(corpus, kb=kb, tagger=tagging)
    counts: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    for label, leaves in (pair for one in found for pair in zip(one.document.labels, one.leaves, strict=True)):
        held = {name for name in DIMENSIONS if keep and _has(label, name)}
        kept.update(held)
        counts.update(leaf or name for name, leaf in leaves.items() if name not in held)
    how = f"karat {__version__}, {tagging.name}" + ("" if kb is None else f", {kb.name}@{kb.digest}")
    made = Corpus.built(
        [_with_categories(one, keep) for one in found], name=corpus.name, about={**corpus.about, "categories": how}
    )
    return CategorisedCorpus(
        replace(made, skipped=corpus.skipped),
        tagging.name,
        {name: {leaf: counts[leaf] for leaf in dimension.leaves} for name, dimension in DIMENSIONS.items()},
        {name: counts[name] for name in DIMENSIONS},
        {name: kept[name] for name in DIMENSIONS},
        sum(one.crossing for one in found),
        tuple(_notes(corpus, [mention for one in found for mention in one.mentions], kb)),
    )


def assigned(corpus: Corpus, *, kb: KB | None = None, tagger: Tagger | None = None) -> list[FoundCategory]:
    """For each document of a corpus what the rules say, whatever categories it has."""
    texts, documents = corpus.texts, list(corpus)
    casing = Casing.of(texts)
    tagged = (tagger or RulesTagger()).tokens(texts)
    known = zip(documents, tagged, metonyms(corpus, kb), strict=True)
    return [_found(document, words, casing, kb, metonym) for document, words, metonym in known]


def _found(
    document: Document, words: list[Token], casing: Casing, kb: KB | None, metonym: Sequence[bool | None]
) -> FoundCategory:
    nested = nesting(document)
    known = mentions(document, nested, kb, metonym)
    forms = [base_form(mention, casing) for mention in known]
    leaves = _leaves(document, known, forms, words, nested, casing)
    return FoundCategory(document, known, leaves, nested.crossing)


def _leaves(
    document: Document,
    known: Sequence[Mention],
    forms: Sequence[str | None],
    words: list[Token],
    nested: Nesting,
    casing: Casing,
) -> list[Leaves]:
    parts = parts_of_speech(document, words)
    references = [reference(mention, form, casing) for mention, form in zip(known, forms, strict=True)]
    metonyms = {
        mention.label.span for mention, leaf in zip(known, references, strict=True) if leaf == "reference:Metonymic"
    }
    return [
        {
            "form": form,
            "pos": parts[label.span],
            "overlap": nested.leaves[label.span],
            "reference": beside_metonym(refers) if label.span in metonyms else refers,
        }
        for label, form, refers in zip(document.labels, forms, references, strict=True)
    ]


def _has(label: Label, dimension: str) -> bool:
    return any(category.startswith(f"{dimension}:") for category in label.categories)


def _with_categories(found: FoundCategory, keep: bool) -> Document:
    labels = [
        _with_leaves(label, leaves, keep) for label, leaves in zip(found.document.labels, found.leaves, strict=True)
    ]
    return msgspec.structs.replace(found.document, labels=tuple(labels))


def _with_leaves(label: Label, leaves: Leaves, keep: bool) -> Label:
    held = [category for category in label.categories if keep or category.partition(":")[0] not in DIMENSIONS]
    new = [leaf for dimension, leaf in leaves.items() if leaf and not (keep and _has(label, dimension))]
    return msgspec.structs.replace(label, categories=(*held, *new))


def _notes(corpus: Corpus, known: Sequence[Mention], kb: KB | None) -> Iterator[str]:
    """What the rules had to do without."""
    language = corpus.about.get("language", "en")
    if not language.lower().startswith("en"):
        yield f"the rules know English, and the corpus is in {language}"
    if kb is None:
        yield "without --kb, names are those of the labels and the titles in their links, and no alias is known"
    elif all(mention.aliases is None for mention in known):
        yield "no alias of these entities is known (aliases.tsv)"
    linked = [mention for mention in known if isinstance(mention.label.entity, str)]
    nameless = sum(mention.name is None for mention in linked)
    if nameless:
        yield f"{nameless:,} of {len(linked):,} linked labels have an entity without a known name"
