"""Rule-based assignment of the categories of the fine-grained scheme to the labels of a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import msgspec

from karat.data.categoriser.form import base_form
from karat.data.categoriser.mentions import Casing, Mention, collect_mentions, find_metonyms
from karat.data.categoriser.pos import Tagger, Token, find_parts_of_speech
from karat.data.categoriser.reference import adjust_for_metonym, reference_leaf
from karat.data.categoriser.rules import RulesTagger
from karat.kb.protocol import KB
from karat.matching.facts.nested_spans import Nesting, find_nesting
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.errors import UsageError
from karat.model.finegrained_scheme import DIMENSIONS
from karat.version import __version__

LeafByDimension = Mapping[str, str | None]
"""The leaf of a label in each dimension; None if undecided."""


class DocumentCategories(NamedTuple):
    """The leaves assigned to the labels of a document.

    `document`: the document.
    `mentions`: what is known about each label.
    `leaves`: the leaves of each label.
    `crossing`: number of pairs of spans that cross.
    """

    document: Document
    mentions: list[Mention]
    leaves: list[LeafByDimension]
    crossing: int


@dataclass(frozen=True, slots=True)
class CategorisedCorpus:
    """A corpus with categories, and counts of labels.

    `corpus`: the corpus with categories.
    `tagger`: name of the tagger.
    `counts`: number of labels by dimension and leaf.
    `undecided`: number of labels without a leaf, by dimension.
    `unchanged`: number of labels whose existing categories stay, by dimension.
    `crossing`: number of pairs of spans that cross, which the scheme cannot express.
    `notes`: what was missing.
    """

    corpus: Corpus
    tagger: str
    counts: Mapping[str, Mapping[str, int]]
    undecided: Mapping[str, int]
    unchanged: Mapping[str, int]
    crossing: int
    notes: tuple[str, ...]


def get_tagger(name: str) -> Tagger:
    """Return the tagger named `rules` or `spacy:MODEL`; `spacy` uses the medium English model.

    Raises `UsageError` for another name, or if spaCy or the model is not installed.
    """
    kind, _, model = name.partition(":")
    if name == "rules":
        return RulesTagger()
    if kind == "spacy":
        from karat.data.categoriser.spacy import SpacyTagger

        return SpacyTagger(model or "en_core_web_md")
    raise UsageError(f"--tagger {name}: write `rules`, or `spacy:MODEL` such as spacy:en_core_web_md.")


def categorise(
    corpus: Corpus, *, kb: KB | None = None, tagger: Tagger | None = None, keep: bool = False
) -> CategorisedCorpus:
    """Assign a leaf of each dimension of the fine-grained scheme to every label, where the rules can decide it.

    `kb` provides names, aliases and metonyms. `tagger` is by default the rule-based one. Categories outside the scheme
    stay. With `keep`, categories of its dimensions stay too; otherwise they are replaced.
    """
    word_tagger = tagger or RulesTagger()
    documents = assign_categories(corpus, kb=kb, tagger=word_tagger)
    counts: Counter[str] = Counter()
    unchanged: Counter[str] = Counter()
    for label, leaves in (
        pair for document in documents for pair in zip(document.document.labels, document.leaves, strict=True)
    ):
        kept_dimensions = {name for name in DIMENSIONS if keep and _has_category(label, name)}
        unchanged.update(kept_dimensions)
        counts.update(leaf or name for name, leaf in leaves.items() if name not in kept_dimensions)
    description = f"karat {__version__}, {word_tagger.name}" + ("" if kb is None else f", {kb.name}@{kb.digest}")
    result = Corpus.from_reader(
        [_add_categories(document, keep) for document in documents],
        name=corpus.name,
        metadata={**corpus.metadata, "categories": description},
    )
    return CategorisedCorpus(
        replace(result, skipped=corpus.skipped),
        word_tagger.name,
        {name: {leaf: counts[leaf] for leaf in dimension.leaves} for name, dimension in DIMENSIONS.items()},
        {name: counts[name] for name in DIMENSIONS},
        {name: unchanged[name] for name in DIMENSIONS},
        sum(document.crossing for document in documents),
        tuple(_format_notes(corpus, [mention for document in documents for mention in document.mentions], kb)),
    )


def assign_categories(
    corpus: Corpus, *, kb: KB | None = None, tagger: Tagger | None = None
) -> list[DocumentCategories]:
    """Return the leaves that the rules assign to the labels of each document, regardless of existing categories."""
    texts, documents = corpus.texts, list(corpus)
    casing = Casing.from_texts(texts)
    token_lists = (tagger or RulesTagger()).tag_texts(texts)
    rows = zip(documents, token_lists, find_metonyms(corpus, kb), strict=True)
    return [_categorise_document(document, words, casing, kb, metonym) for document, words, metonym in rows]


def _categorise_document(
    document: Document, tokens: list[Token], casing: Casing, kb: KB | None, metonym: Sequence[bool | None]
) -> DocumentCategories:
    """Assign leaves to the labels of a document.

    `metonym` has for each label whether it is a metonym, None if unknown.
    """
    nested_spans = find_nesting(document)
    mention_list = collect_mentions(document, nested_spans, kb, metonym)
    forms = [base_form(mention, casing) for mention in mention_list]
    leaves = _assign_leaves(document, mention_list, forms, tokens, nested_spans, casing)
    return DocumentCategories(document, mention_list, leaves, nested_spans.n_crossing)


def _assign_leaves(
    document: Document,
    mention_list: Sequence[Mention],
    forms: Sequence[str | None],
    tokens: list[Token],
    nested_spans: Nesting,
    casing: Casing,
) -> list[LeafByDimension]:
    """Return the leaves of each label, by dimension; `mention_list` and `forms` are in the order of labels.

    A direct reference on a span with a metonymic alternative becomes a related one.
    """
    pos_leaf_by_span = find_parts_of_speech(document, tokens)
    references = [reference_leaf(mention, form, casing) for mention, form in zip(mention_list, forms, strict=True)]
    metonyms = {
        mention.label.span
        for mention, leaf in zip(mention_list, references, strict=True)
        if leaf == "reference:Metonymic"
    }
    return [
        {
            "form": form,
            "pos": pos_leaf_by_span[label.span],
            "overlap": nested_spans.leaves[label.span],
            "reference": adjust_for_metonym(refers) if label.span in metonyms else refers,
        }
        for label, form, refers in zip(document.labels, forms, references, strict=True)
    ]


def _has_category(label: Label, dimension: str) -> bool:
    """Return whether a label has a category of a dimension."""
    return any(category.startswith(f"{dimension}:") for category in label.categories)


def _add_categories(document: DocumentCategories, keep: bool) -> Document:
    """Return the document with the assigned leaves; for `keep` see `categorise`."""
    labels = [
        _add_leaves(label, leaves, keep)
        for label, leaves in zip(document.document.labels, document.leaves, strict=True)
    ]
    return msgspec.structs.replace(document.document, labels=tuple(labels))


def _add_leaves(label: Label, leaves: LeafByDimension, keep: bool) -> Label:
    """Return the label with its leaves as categories; for `keep` see `categorise`."""
    other_categories = [
        category for category in label.categories if keep or category.partition(":")[0] not in DIMENSIONS
    ]
    new_categories = [
        leaf for dimension, leaf in leaves.items() if leaf and not (keep and _has_category(label, dimension))
    ]
    return msgspec.structs.replace(label, categories=(*other_categories, *new_categories))


def _format_notes(corpus: Corpus, mention_list: Sequence[Mention], kb: KB | None) -> Iterator[str]:
    """Yield notes on what the rules lacked: English text, a knowledge base, aliases or names."""
    language = corpus.metadata.get("language", "en")
    if not language.lower().startswith("en"):
        yield f"the rules are for English, but the corpus is in {language}"
    if kb is None:
        yield "without --kb, entity names come from labels and link titles, and no aliases are known"
    elif all(mention.aliases is None for mention in mention_list):
        yield "no alias of these entities is known (aliases.tsv)"
    linked = [mention for mention in mention_list if isinstance(mention.label.entity, str)]
    unnamed = sum(mention.name is None for mention in linked)
    if unnamed:
        yield f"{unnamed:,} of {len(linked):,} linked labels have an entity without a known name"
