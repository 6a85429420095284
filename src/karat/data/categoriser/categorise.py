"""Rule-based assignment of the categories of the fine-grained scheme to the labels of a corpus."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import msgspec

from karat.data.categoriser.mentions import Casing, Mention, collect_mentions, find_metonyms
from karat.data.categoriser.names import (
    are_initials,
    content_words,
    is_same_word,
    relate_to_name,
    shares_all_stems,
    split_words,
    strip_brackets,
)
from karat.data.categoriser.pos import Tagger, Token, find_parts_of_speech
from karat.data.categoriser.rules import RulesTagger
from karat.data.categoriser.words import (
    DETERMINERS,
    GOVERNING,
    NAME_PARTS,
    PREPOSITIONS,
    TITLES,
    is_demonym,
    is_numeric,
    is_pro_form,
)
from karat.data.convert import is_value
from karat.kb.protocol import KB
from karat.matching.facts.nested_spans import Nesting, find_nesting
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.errors import UsageError
from karat.model.finegrained_scheme import DIMENSIONS
from karat.version import __version__

_POSSESSIVE = ("'s", "’s", "s'", "s’")
_DIRECT, _RELATED = "reference:Direct", "reference:Related"


_HEAD_ENDS = PREPOSITIONS | {"that", "who", "which"}


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
    linked = [
        mention for mention in mention_list if isinstance(mention.label.entity, str) and not is_value(mention.label)
    ]
    unnamed = sum(mention.name is None for mention in linked)
    if unnamed:
        yield f"{unnamed:,} of {len(linked):,} linked labels have an entity without a known name"


def base_form(mention: Mention, casing: Casing) -> str | None:
    """Return the leaf of the dimension `form`, such as `form:Alias`, or None if undecided."""
    if is_pro_form(mention.text):
        return "form:ProForm"
    if _is_numeric_mention(mention):
        return "form:NumericTemporal"
    if not any(letter.lower() != letter.upper() for letter in mention.text):  # symbols, or a script without capitals
        return _name_form(mention) if mention.text.isdigit() else None
    if not _is_proper_noun(mention, casing):
        return "form:CommonForm"
    return _name_form(mention)


def _is_numeric_mention(mention: Mention) -> bool:
    """Return whether the gold kind is numeric, or both the mention and the entity name are numeric."""
    if mention.label.kind in ("quantity", "datetime"):
        return True
    return is_numeric(mention.text) and (mention.name is None or is_numeric(strip_brackets(mention.name)))


def _name_form(mention: Mention) -> str | None:
    """Return the `form` leaf of a proper noun, by its relation to the main name of the entity; None without a name."""
    if mention.name is None:
        return None
    return f"form:{relate_to_name(mention.text, mention.name) or 'Alias'}"


def _is_proper_noun(mention: Mention, casing: Casing) -> bool:
    """Return whether the head of a mention is capitalised, and not only because it begins a sentence or is nested.

    With a determiner before it, and in lower case, the mention must match the name of the entity.
    """
    words = mention.text.split()
    if words[0].lower() in DETERMINERS and len(words) > 1:
        rest = " ".join(words[1:])
        return mention.name is not None and relate_to_name(rest, mention.name) == "Full" and _is_capitalised(words[-1])
    head = find_head(words)
    if not _is_capitalised(head):
        return mention.text.islower() and _is_lowercase_name(mention)
    if len(words) > 1 or head.lower() in TITLES or not (mention.starts_sentence or mention.is_nested):
        return True
    return not (casing.is_common(head) or (mention.is_nested and head.lower() in NAME_PARTS))


def _is_lowercase_name(mention: Mention) -> bool:
    """Return whether each word of a mention matches a capitalised word of the entity's name, other than its first word.

    Generic name words do not count: "forces" does not name the Swedish Armed Forces.
    """
    later_words = strip_brackets(mention.name or "").split()[1:]
    capitalised = (
        {part for word in later_words if _is_capitalised(word) for part in split_words(word)}
        - NAME_PARTS
        - GOVERNING
        - TITLES
    )
    mention_words = split_words(mention.text)
    return bool(mention_words) and all(
        any(is_same_word(word, other) for other in capitalised) for word in mention_words
    )


def find_head(tokens: list[str]) -> str:
    """Return the last word before a postmodifier: "State" in "State of Florida", "Apollo" in "Apollo 11"."""
    end = next((n for n, word in enumerate(tokens) if n and word.lower() in _HEAD_ENDS), len(tokens))
    return next((word for word in reversed(tokens[:end]) if any(map(str.isalpha, word))), tokens[end - 1])


def _is_capitalised(word: str) -> bool:
    """Return whether the first or second letter of a word is a capital; particles as in "al-Hilweh" are ignored."""
    letters = re.sub(r"^(?:[^\W\d_]{1,3}[-'’])+(?=[A-Z])|[\W\d_]+", "", word)  # al-Hilweh, d'Orsay
    return letters[:1].isupper() or any(c.isupper() for c in letters[1:2])


def reference_leaf(mention: Mention, form: str | None, casing: Casing) -> str | None:
    """Return the category of the dimension `reference` of a mention, or None if undecided.

    `form` is the category `form:…` of the mention, or None if unknown. Metaphors are never detected, because they need
    more than names.
    """
    if form == "form:ProForm":
        return "reference:Anaphoric"
    if mention.label.kind == "descriptive":
        return "reference:Descriptive"
    if form == "form:NumericTemporal":
        return _DIRECT
    if form == "form:CommonForm":
        return _common_noun_leaf(mention)
    if form is None or mention.name is None:
        return None
    return _proper_noun_leaf(mention, mention.name, form, casing)


def adjust_for_metonym(leaf: str | None) -> str | None:
    """Return `reference:Related` for a direct reference whose mention has a metonymic alternative, else `leaf`."""
    return _RELATED if leaf == _DIRECT else leaf


def _common_noun_leaf(mention: Mention) -> str | None:
    """Return the `reference` leaf of a common noun: direct for a name or alias, else descriptive or related.

    None if the name is unknown, or if the noun resembles no name and aliases are unknown.
    """
    if mention.name is None:
        return None
    relation = relate_to_name(mention.text, mention.name)
    if relation == "Full" or _is_alias(mention):
        return _DIRECT
    if _is_description(mention.text):
        return "reference:Descriptive"
    if any(shares_all_stems(mention.text, name) for name in mention.names):
        return _DIRECT
    if relation in ("Short", "Extended") or mention.aliases is not None:
        return _RELATED
    return None


def _is_alias(mention: Mention) -> bool:
    """Return whether the mention has the words of an alias of the entity, as `split_words` normalises them."""
    mention_words = split_words(mention.text)
    return any(split_words(alias) == mention_words for alias in mention.aliases or ())


def _is_description(text: str) -> bool:
    """Return whether a text is a noun with a determiner or a possessive: "his father", "Fiji's capital"."""
    first, _, rest = text.partition(" ")
    if not rest:
        return False
    return first.lower() in DETERMINERS or any(word.endswith(_POSSESSIVE) for word in text.split()[:-1])


def _proper_noun_leaf(mention: Mention, name: str, form: str, casing: Casing) -> str | None:
    """Return the category of the dimension `reference` of a proper noun, or None if undecided.

    `name` is the main name of the entity, and `form` the category `form:…` of the mention. `reference:Metonymic` if a
    place stands for an institution, `reference:Related` if a short form has only generic words ("president" for the
    president of one country), else `reference:Direct`. An alias that shares no word with a known name is undecided,
    since it may name something else: "Brussels".
    """
    if are_initials(mention.text, name):
        return _DIRECT
    if mention.is_metonym or (form != "form:Full" and _names_institution(mention.text, name)):
        return "reference:Metonymic"
    if form == "form:Short" and all(_is_generic(word, casing) for word in split_words(mention.text)):
        return _RELATED
    return None if form == "form:Alias" and not _resembles_name(mention) else _DIRECT


def _resembles_name(mention: Mention) -> bool:
    """Return whether a proper noun is an alias, a demonym, or shares a content word with a known name."""
    if _is_alias(mention) or is_demonym(mention.text) or is_demonym(mention.text.removesuffix("s")):
        return True
    mention_words = content_words(split_words(mention.text))
    name_words = [
        word for name in (*mention.names, *(mention.aliases or ())) for word in content_words(split_words(name))
    ]
    return any(is_same_word(word, other) for word in mention_words for other in name_words)


def _names_institution(text: str, name: str) -> bool:
    """Return whether the entity's name has a word of government that the mention lacks, which is no demonym either.

    Then the mention calls an institution by the name of its place.
    """
    mention_words = set(split_words(text))
    return bool(GOVERNING.intersection(split_words(name))) and not GOVERNING & mention_words and not is_demonym(text)


def _is_generic(word: str, casing: Casing) -> bool:
    """Return whether a word is a title, a generic part of names, "of", or common in the corpus."""
    return word in TITLES or word in NAME_PARTS or word == "of" or casing.is_common(word)
