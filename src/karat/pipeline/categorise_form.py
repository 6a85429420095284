"""The base form of a mention: how it relates to the name of its entity."""

from __future__ import annotations

import re

from karat.pipeline.categorise_mentions import Casing, Mention
from karat.pipeline.categorise_names import likeness, unbracketed, words
from karat.pipeline.categorise_words import DETERMINERS, PREPOSITIONS, PRO_FORMS, TITLES, numeric

_HEAD_ENDS = PREPOSITIONS | {"and", "or", "that", "who", "which"}


def base_form(mention: Mention, casing: Casing) -> str | None:
    """The leaf of the dimension `form`; None where nobody can tell."""
    if pro_form(mention.text):
        return "form:ProForm"
    if _is_number(mention):
        return "form:NumericTemporal"
    if not _proper(mention, casing):
        return "form:CommonForm"
    return _named(mention)


def pro_form(text: str) -> bool:
    """Whether a text is a pro-form; in capitals throughout it is an abbreviation, but for `I`."""
    return text.lower() in PRO_FORMS and (text == "I" or not text.isupper())


def _is_number(mention: Mention) -> bool:
    return numeric(mention.text) and (mention.name is None or numeric(unbracketed(mention.name)))


def _named(mention: Mention) -> str | None:
    """How a proper noun relates to the names: the main name decides, unless the mention only fits another."""
    if mention.label.entity is None:
        return "form:Full" if len(words(mention.text)) > 1 else None
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
        return _capital(said[-1]) and said[-1] != head
    if len(said) == 1 and casing.common(head) and head.lower() not in TITLES:
        return not mention.starts and not mention.inside
    return True


def head_word(said: list[str]) -> str:
    """The last word before what only adds to it, as "State" in "State of Florida"."""
    end = next((n for n, word in enumerate(said) if n and word.lower() in _HEAD_ENDS), len(said))
    return said[end - 1]


def _capital(word: str) -> bool:
    letters = re.sub(r"^(?:[^\W\d_]{1,3}[-'’])+(?=[A-Z])|[\W\d_]+", "", word)  # al-Hilweh, d'Orsay
    return letters[:1].isupper() or any(c.isupper() for c in letters[1:2])
