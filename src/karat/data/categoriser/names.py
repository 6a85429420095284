"""Word-by-word comparison of a mention with the name of an entity."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal
from unicodedata import combining, normalize
from urllib.parse import unquote

NameRelation = Literal["Full", "Short", "Extended"]

_PAGE = re.compile(r"https?://[^/]+/(?:wiki|resource|page)/(.+)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_DOUBLED = re.compile(r"([^\W\d_])\1")
_STOPS = re.compile(r"[.\s]|['’]?s$")
_FUNCTION_WORDS = frozenset(["a", "an", "the", "of", "and", "in", "on", "at", "for", "to", "by", "with"])
_MIN_STEM = 4  # letters that two word forms share at least, or all of the shorter word
_MIN_MISSPELT = (
    5  # from this length on, two words that differ by one letter are spellings of one: not "Iran" and "Iraq"
)

_INFLECTED = "s es ies y d ed ing er ers or ors ism isms"
_DEMONYMS = "n ns an ans ian ians ean eans i is ese ish ic man men a e ia o on um land er ers ite ites"
_DERIVED = """
ion ions tion tions ation ations sion ment ments ship ships al ial ical ally ance ence ant ents ent ants ive ives ity
ities ness ist ists istic istics ics ous ly able ible ary ery ory cy th ure ization isation ise ize ised ized ising
izing ful less hood dom age ature
"""
_ENDINGS = frozenset(["", *_INFLECTED.split(), *_DEMONYMS.split()])
_FAR_ENDINGS = frozenset([*_ENDINGS, *_DERIVED.split()])


def page_title(link: str) -> str | None:
    """Return the title of the Wikipedia or DBpedia page that a URL leads to; None for other ids."""
    match = _PAGE.fullmatch(link.strip())
    return unquote(match[1]).replace("_", " ").strip() if match else None


def strip_brackets(name: str) -> str:
    """Return a name without its final disambiguation in brackets: "Congo" for "Congo (river)"."""
    plain = name.rstrip()
    bracket = plain.rfind("(") if plain.endswith(")") else -1
    if bracket < 0 or ")" in plain[bracket:-1]:
        return name
    return plain[:bracket].rstrip() or name


@lru_cache(maxsize=65536)
def split_words(text: str) -> tuple[str, ...]:
    """Split a text into words in lower case, without accents, full stops and possessive endings."""
    plain = "".join(c for c in normalize("NFKD", text) if not combining(c)).casefold()
    return tuple(_POSSESSIVE.sub("", match).replace(".", "").replace("’", "'") for match in _WORD.findall(plain))


@lru_cache(maxsize=65536)
def is_same_word(first: str, second: str, *, allow_derivation: bool = False) -> bool:
    """Return whether two words are forms of one word: inflections, a place and its demonym, or spelling variants.

    With `allow_derivation`, derived words match too, such as a verb and its noun.
    """
    if first == second:
        return True
    first, second = _DOUBLED.sub(r"\1", first), _DOUBLED.sub(r"\1", second)
    common = next(
        (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )
    endings = _FAR_ENDINGS if allow_derivation else _ENDINGS
    min_stem = min(_MIN_STEM, len(first), len(second))
    if any(first[n:] in endings and second[n:] in endings for n in range(common, max(min_stem, 3) - 1, -1)):
        return True
    return max(len(first), len(second)) >= _MIN_MISSPELT and _differ_by_one_letter(first, second)


def _differ_by_one_letter(first: str, second: str) -> bool:
    """Return whether two words differ by one letter that is replaced, added or missing."""
    short, long = sorted((first, second), key=len)
    start = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) == len(long):
        return short[start + 1 :] == long[start + 1 :]
    return short[start:] == long[start + 1 :]


def relate_to_name(mention: str, name: str) -> NameRelation | None:
    """Return whether a mention is the full name, a short form of the name or an extension of the name, or None.

    Words are compared by `is_same_word`. A disambiguation in brackets at the end of the name may be missing. Initials
    and abbreviations are short forms.
    """
    mention_words, name_words = split_words(mention), split_words(strip_brackets(name))
    if not mention_words or not name_words:
        return None
    if _are_equal(mention_words, name_words) or _are_equal(mention_words, split_words(name)):
        return "Full"
    mention_content, name_content = content_words(mention_words), content_words(name_words)
    if _is_subsequence(mention_content, name_content):
        return "Full" if len(mention_content) == len(name_content) else "Short"
    if are_initials(mention, name) or _are_abbreviations(mention_words, name_words):
        return "Short"
    return "Extended" if _is_subsequence(name_content, mention_content) else None


def _are_equal(mention_words: tuple[str, ...], name_words: tuple[str, ...]) -> bool:
    """Return whether two lists of words are the same text without spaces, or word by word forms of the same words."""
    if "".join(mention_words) == "".join(name_words):
        return True
    return len(mention_words) == len(name_words) and all(map(is_same_word, mention_words, name_words))


def content_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words without function words, or all words if there are no others."""
    return tuple(word for word in words if word not in _FUNCTION_WORDS) or words


def _is_subsequence(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Return whether forms of all words of `part` occur in `whole`, in order."""
    rest = iter(whole)
    return all(any(is_same_word(word, other) for other in rest) for word in part)


def are_initials(mention: str, name: str) -> bool:
    """Return whether a mention consists of the initials of a name, such as "UN" or "Unesco"."""
    letters = _STOPS.sub("", mention)
    if not 2 <= len(letters) <= 6 or not letters.isalpha() or not (letters[1:].isupper() or letters.istitle()):
        return False
    all_words = split_words(strip_brackets(name))
    return letters.casefold() in {
        "".join(word[0] for word in name_words) for name_words in (all_words, content_words(all_words))
    }


def _are_abbreviations(mention_words: tuple[str, ...], name_words: tuple[str, ...]) -> bool:
    """Return whether the words are prefixes of the first words of the name, such as "Calif." for "California"."""
    if len(mention_words) > len(name_words):
        return False
    return all(len(word) > 2 and other.startswith(word) for word, other in zip(mention_words, name_words, strict=False))


def shares_all_stems(mention: str, name: str) -> bool:
    """Return whether each content word of mention and name has a word with the same stem on the other side.

    False if one of them has no words.
    """
    mention_words, name_words = content_words(split_words(mention)), content_words(split_words(strip_brackets(name)))
    if not mention_words or not name_words:
        return False
    return _all_match(mention_words, name_words) and _all_match(name_words, mention_words)


def _all_match(some: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Return whether each of `some` words has a form or derivation among `others`."""
    return all(any(is_same_word(word, other, allow_derivation=True) for other in others) for word in some)
