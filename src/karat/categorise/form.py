"""The base form of a mention: how it relates to the name of its entity."""

from __future__ import annotations

import re

from karat.categorise.mentions import Casing, Mention
from karat.categorise.names import likeness, same_word, unbracketed, words
from karat.categorise.words import (
    DETERMINERS,
    GOVERNING,
    NAME_PARTS,
    PREPOSITIONS,
    TITLES,
    numeric,
    pro_form,
)

_HEAD_ENDS = PREPOSITIONS | {"that", "who", "which"}


def base_form(mention: Mention, casing: Casing) -> str | None:
    """The leaf of the dimension `form`; None where nobody can tell."""
    if pro_form(mention.text):
        return "form:ProForm"
    if _is_number(mention):
        return "form:NumericTemporal"
    if not any(letter.lower() != letter.upper() for letter in mention.text):  # signs, or a script without capitals
        return _named(mention) if mention.text.isdigit() else None
    if not _proper(mention, casing):
        return "form:CommonForm"
    return _named(mention)


def _is_number(mention: Mention) -> bool:
    """The gold standard is believed where it says so; else a number must have the name of one."""
    if mention.label.kind in ("quantity", "datetime"):
        return True
    return numeric(mention.text) and (mention.name is None or numeric(unbracketed(mention.name)))


def _named(mention: Mention) -> str | None:
    """How a proper noun relates to the main name of its entity."""
    if mention.name is None:
        return None
    return f"form:{likeness(mention.text, mention.name) or 'Alias'}"


def _proper(mention: Mention, casing: Casing) -> bool:
    """Whether a mention is a proper noun: its head has a capital that it does not owe to its place."""
    said = mention.text.split()
    if said[0].lower() in DETERMINERS and len(said) > 1:
        rest = " ".join(said[1:])
        return mention.name is not None and likeness(rest, mention.name) == "Full" and _capital(said[-1])
    head = head_word(said)
    if not _capital(head):
        return mention.text.islower() and _named_small(mention)
    if len(said) > 1 or head.lower() in TITLES or not (mention.starts or mention.inside):
        return True
    return not (casing.common(head) or (mention.inside and head.lower() in NAME_PARTS))


def _named_small(mention: Mention) -> bool:
    """Whether words in small letters are a name all the same: after its first word, the name writes them with capitals.

    Words that only names are made of do not count: "forces" is no name of the Swedish Armed Forces.
    """
    behind = unbracketed(mention.name or "").split()[1:]
    capital = {part for word in behind if _capital(word) for part in words(word)} - NAME_PARTS - GOVERNING - TITLES
    said = words(mention.text)
    return bool(said) and all(any(same_word(word, other) for other in capital) for word in said)


def head_word(said: list[str]) -> str:
    """The last word before what only adds to it, as "State" in "State of Florida", or "Apollo" in "Apollo 11"."""
    end = next((n for n, word in enumerate(said) if n and word.lower() in _HEAD_ENDS), len(said))
    return next((word for word in reversed(said[:end]) if any(map(str.isalpha, word))), said[end - 1])


def _capital(word: str) -> bool:
    letters = re.sub(r"^(?:[^\W\d_]{1,3}[-'’])+(?=[A-Z])|[\W\d_]+", "", word)  # al-Hilweh, d'Orsay
    return letters[:1].isupper() or any(c.isupper() for c in letters[1:2])
