"""What the characters of a mention say: its case, whether it refers back, where its words begin and end."""

from __future__ import annotations

from functools import lru_cache

_KEPT = 1 << 16  # texts: the same surfaces are asked about again and again

_PERSONAL = """
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
we us our ours ourselves they them their theirs themselves
"""

PRONOUNS = frozenset(_PERSONAL.split())
"""Words that refer back to something named elsewhere."""

_BEFORE_NOUNS = "the that this these those my your his her its our their"

DETERMINERS = frozenset(_BEFORE_NOUNS.split())
"""Words that, before a common noun, refer back to something named elsewhere."""


@lru_cache(maxsize=_KEPT)
def lowercased(text: str) -> bool:
    """Whether the first letter is no capital; true where there is no letter."""
    for character in text:
        if character.isalpha():
            return not character.isupper()
    return True


def begins_small(text: str) -> bool:
    """Whether the first character is a small letter; "1990s" begins with none, though its first letter is small."""
    return text[:1].islower()


@lru_cache(maxsize=_KEPT)
def pronominal(text: str) -> bool:
    """Whether the text is a pronoun; in capitals throughout it is an abbreviation, but for `I`."""
    return text.lower() in PRONOUNS and (text == "I" or not text.isupper())


@lru_cache(maxsize=_KEPT)
def nominal(text: str) -> bool:
    """Whether the text is a determiner and a common noun, such as "the company"."""
    first, _, rest = text.partition(" ")
    return bool(rest) and first.lower() in DETERMINERS and not rest[0].isupper()


def part_of_name(text: str, name: str) -> bool:
    """Whether the text is a part of a name of several words, but not all of it."""
    return " " in name and text in name and text != name
