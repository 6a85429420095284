"""The base form of a mention: how it relates to the name of its entity."""

from __future__ import annotations

import re

from karat.data.categoriser.mentions import Casing, Mention
from karat.data.categoriser.names import is_same_word, relate_to_name, split_words, strip_brackets
from karat.data.categoriser.words import (
    DETERMINERS,
    GOVERNING,
    NAME_PARTS,
    PREPOSITIONS,
    TITLES,
    is_numeric,
    is_pro_form,
)

_HEAD_ENDS = PREPOSITIONS | {"that", "who", "which"}


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
