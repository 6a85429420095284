"""Names compared word by word: what a mention and the name of an entity have in common."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal
from unicodedata import combining, normalize
from urllib.parse import unquote

Likeness = Literal["Full", "Short", "Extended"]

_PAGE = re.compile(r"https?://[^/]+/(?:wiki|resource|page)/(.+)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_DOUBLED = re.compile(r"([^\W\d_])\1")
_STOPS = re.compile(r"[.\s]|['’]?s$")
_LINKING = frozenset(["a", "an", "the", "of", "and", "in", "on", "at", "for", "to", "by", "with"])
_STEM = 4  # words have at least so many letters in common, or all of the shorter one
_MISSPELT = 5  # from this length on, two words that differ by one letter are spellings of one: not "Iran" and "Iraq"

_INFLECTED = "s es ies y d ed ing er ers or ors ism isms"
_DEMONYMS = "n ns an ans ian ians ean eans i is ese ish ic man men a e ia o on um land er ers ite ites"
_DERIVED = """
ion ions tion tions ation ations sion ment ments ship ships al ial ical ally ance ence ant ents ent ants ive ives ity
ities ness ist ists istic istics ics ous ly able ible ary ery ory cy th ure ization isation ise ize ised ized ising
izing ful less hood dom age ature
"""
_ENDINGS = frozenset(["", *_INFLECTED.split(), *_DEMONYMS.split()])
_FAR_ENDINGS = frozenset([*_ENDINGS, *_DERIVED.split()])


def title_in(link: str) -> str | None:
    """The title of the page that a link to Wikipedia, or to DBpedia, leads to."""
    found = _PAGE.fullmatch(link.strip())
    return unquote(found[1]).replace("_", " ").strip() if found else None


def unbracketed(name: str) -> str:
    """A name without what only tells it from others of that name: "Congo" for "Congo (river)"."""
    plain = name.rstrip()
    opened = plain.rfind("(") if plain.endswith(")") else -1
    if opened < 0 or ")" in plain[opened:-1]:
        return name
    return plain[:opened].rstrip() or name


@lru_cache(maxsize=65536)
def words(text: str) -> tuple[str, ...]:
    """The words of a text in small letters, without accents, full stops and possessive endings."""
    plain = "".join(c for c in normalize("NFKD", text) if not combining(c)).casefold()
    return tuple(_POSSESSIVE.sub("", found).replace(".", "").replace("’", "'") for found in _WORD.findall(plain))


@lru_cache(maxsize=65536)
def same_word(one: str, other: str, *, far: bool = False) -> bool:
    """Whether two words are forms of one: equal, inflected, a place and who lives there, or spelt a bit differently.

    With `far` also words that are derived from one another, such as a deed and its noun.
    """
    if one == other:
        return True
    one, other = _DOUBLED.sub(r"\1", one), _DOUBLED.sub(r"\1", other)
    common = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    endings = _FAR_ENDINGS if far else _ENDINGS
    least = min(_STEM, len(one), len(other))
    if any(one[n:] in endings and other[n:] in endings for n in range(common, max(least, 3) - 1, -1)):
        return True
    return max(len(one), len(other)) >= _MISSPELT and _one_letter_apart(one, other)


def _one_letter_apart(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    start = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) == len(long):
        return short[start + 1 :] == long[start + 1 :]
    return short[start:] == long[start + 1 :]


def likeness(mention: str, name: str) -> Likeness | None:
    """Whether a mention is a name, a part of it or its initials, or has it as a part; None where nothing of these."""
    said, named = words(mention), words(unbracketed(name))
    if not said or not named:
        return None
    if _equal(said, named):
        return "Full"
    told, known = telling(said), telling(named)
    if _within(told, known):
        return "Full" if len(told) == len(known) else "Short"
    if initials(mention, name) or _abbreviates(said, named):
        return "Short"
    return "Extended" if _within(known, told) else None


def _equal(said: tuple[str, ...], named: tuple[str, ...]) -> bool:
    if "".join(said) == "".join(named):
        return True
    return len(said) == len(named) and all(map(same_word, said, named))


def telling(found: tuple[str, ...]) -> tuple[str, ...]:
    """The words without those that only link others."""
    return tuple(word for word in found if word not in _LINKING) or found


def _within(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Whether all words of one are among those of the other, in order."""
    rest = iter(whole)
    return all(any(same_word(word, other) for other in rest) for word in part)


def initials(mention: str, name: str) -> bool:
    """Whether a mention is made of the first letters of a name, as "UN" or "Unesco"."""
    letters = _STOPS.sub("", mention)
    if not 2 <= len(letters) <= 6 or not letters.isalpha() or not (letters[1:].isupper() or letters.istitle()):
        return False
    named = words(unbracketed(name))
    return letters.casefold() in {"".join(word[0] for word in found) for found in (named, telling(named))}


def _abbreviates(said: tuple[str, ...], named: tuple[str, ...]) -> bool:
    """Whether words are the beginnings of the others, as in "Calif." for "California"."""
    if len(said) > len(named):
        return False
    return all(len(word) > 2 and other.startswith(word) for word, other in zip(said, named, strict=False))


def shares_stem(mention: str, name: str) -> bool:
    """Whether every telling word of the name has a word of the same stem in the mention, and the other way round."""
    said, named = telling(words(mention)), telling(words(unbracketed(name)))
    if not said or not named:
        return False
    return _all_like(said, named) and _all_like(named, said)


def _all_like(some: tuple[str, ...], others: tuple[str, ...]) -> bool:
    return all(any(same_word(word, other, far=True) for other in others) for word in some)
