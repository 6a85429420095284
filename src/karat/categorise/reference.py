"""How a mention refers to its entity, as far as rules and knowledge go."""

from __future__ import annotations

from karat.categorise.mentions import Casing, Mention
from karat.categorise.names import initials, likeness, same_word, shares_stem, telling, words
from karat.categorise.words import DETERMINERS, GOVERNING, NAME_PARTS, TITLES, demonym

_POSSESSIVE = ("'s", "’s", "s'", "s’")
_DIRECT, _RELATED = "reference:Direct", "reference:Related"


def reference(mention: Mention, form: str | None, casing: Casing) -> str | None:
    """The leaf of the dimension `reference`, given the base form; None where nobody can tell.

    Metaphors are never told: that a shark is no fish takes more than names.
    """
    if form == "form:ProForm":
        return "reference:Anaphoric"
    if mention.label.kind == "descriptive":
        return "reference:Descriptive"
    if form == "form:NumericTemporal":
        return _DIRECT
    if form == "form:CommonForm":
        return _of_common(mention)
    if form is None or mention.name is None:
        return None
    return _of_proper(mention, mention.name, form, casing)


def beside_metonym(leaf: str | None) -> str | None:
    """What a reference is if another alternative of its mention is metonymic: then a literal one is only related."""
    return _RELATED if leaf == _DIRECT else leaf


def _of_common(mention: Mention) -> str | None:
    """A known label, a description of something with a name, or a part of a longer label, which is narrower."""
    if mention.name is None:
        return None
    alike = likeness(mention.text, mention.name)
    if alike == "Full" or _known(mention):
        return _DIRECT
    if _describes(mention.text):
        return "reference:Descriptive"
    if any(shares_stem(mention.text, name) for name in mention.names):
        return _DIRECT
    if alike in ("Short", "Extended") or mention.aliases is not None:
        return _RELATED
    return None


def _known(mention: Mention) -> bool:
    """Whether the mention is an alias, but for the case of its letters."""
    said = words(mention.text)
    return any(words(alias) == said for alias in mention.aliases or ())


def _describes(text: str) -> bool:
    """Whether a text is a noun with a determiner or a possessive: "his father", "Fiji's capital"."""
    first, _, rest = text.partition(" ")
    if not rest:
        return False
    return first.lower() in DETERMINERS or any(word.endswith(_POSSESSIVE) for word in text.split()[:-1])


def _of_proper(mention: Mention, name: str, form: str, casing: Casing) -> str | None:
    """A name refers directly, but a place not to who acts for it, and a bare office not to that of one country.

    A name that has nothing in common with those known may be another one, or one of something else: "Brussels".
    """
    if initials(mention.text, name):
        return _DIRECT
    if mention.metonym or (form != "form:Full" and _acts_for(mention.text, name)):
        return "reference:Metonymic"
    if form == "form:Short" and all(_general(word, casing) for word in words(mention.text)):
        return _RELATED
    return None if form == "form:Alias" and not _resembles(mention) else _DIRECT


def _resembles(mention: Mention) -> bool:
    """Whether a proper noun is known to stand for the entity, is the adjective of a place, or shares a word."""
    if _known(mention) or demonym(mention.text) or demonym(mention.text.removesuffix("s")):
        return True
    said = telling(words(mention.text))
    named = [word for name in (*mention.names, *(mention.aliases or ())) for word in telling(words(name))]
    return any(same_word(word, other) for word in said for other in named)


def _acts_for(text: str, name: str) -> bool:
    said = set(words(text))
    return bool(GOVERNING.intersection(words(name))) and not GOVERNING & said and not demonym(text)


def _general(word: str, casing: Casing) -> bool:
    return word in TITLES or word in NAME_PARTS or word == "of" or casing.common(word)
