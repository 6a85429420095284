"""How a mention refers to its entity, as far as rules and a knowledge base can decide."""

from __future__ import annotations

from karat.data.categoriser.mentions import Casing, Mention
from karat.data.categoriser.names import (
    are_initials,
    content_words,
    is_same_word,
    relate_to_name,
    shares_all_stems,
    split_words,
)
from karat.data.categoriser.words import DETERMINERS, GOVERNING, NAME_PARTS, TITLES, is_demonym

_POSSESSIVE = ("'s", "’s", "s'", "s’")
_DIRECT, _RELATED = "reference:Direct", "reference:Related"


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
