"""Properties of the surface text of a mention: capitalisation, pronouns and noun phrases."""

from __future__ import annotations

from functools import lru_cache

_CACHE_SIZE = 1 << 16  # texts; the same surfaces occur many times

_PRONOUN_WORDS = """
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
we us our ours ourselves they them their theirs themselves
"""

PRONOUNS = frozenset(_PRONOUN_WORDS.split())
"""Personal and possessive pronouns."""

_DETERMINER_WORDS = "the that this these those my your his her its our their"

DETERMINERS = frozenset(_DETERMINER_WORDS.split())
"""Words that make a common noun refer back."""


@lru_cache(maxsize=_CACHE_SIZE)
def is_lowercase(text: str) -> bool:
    """Return whether the first letter in `text`, at any position, is not a capital; true if there is no letter."""
    for character in text:
        if character.isalpha():
            return not character.isupper()
    return True


def starts_lowercase(text: str) -> bool:
    """Return whether the first character is a lower-case letter; false for "1990s"."""
    return text[:1].islower()


@lru_cache(maxsize=_CACHE_SIZE)
def is_pronoun(text: str) -> bool:
    """Return whether the text is an English personal or possessive pronoun; `US` and `IT` are not, but `I` is."""
    return text.lower() in PRONOUNS and (text == "I" or not text.isupper())


@lru_cache(maxsize=_CACHE_SIZE)
def is_nominal(text: str) -> bool:
    """Return whether the text looks like a nominal phrase such as "the company".

    The text must start with an English determiner and a space, and the next character must not be a capital.
    """
    first, _, rest = text.partition(" ")
    return bool(rest) and first.lower() in DETERMINERS and not rest[0].isupper()


def is_partial_name(text: str, name: str) -> bool:
    """Return whether `name` has several words and contains `text`, at any position, without being equal to it."""
    return " " in name and text in name and text != name
