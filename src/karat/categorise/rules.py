"""Words tagged by rules: closed classes, endings, capitals and neighbours. It needs nothing but itself.

The rules know English. They look at one word and its neighbours, and are best at what matters here: nouns, and what
stands before them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from karat.categorise.mentions import Casing, starts_sentence
from karat.categorise.pos import Token
from karat.categorise.words import (
    ADJECTIVES,
    ADVERBS,
    AUXILIARIES,
    COMPASS,
    CONJUNCTIONS,
    DETERMINERS,
    IRREGULAR_PLURALS,
    IRREGULAR_VERBS,
    LARGE_NUMBERS,
    MODALS,
    NAME_PARTS,
    NOUNS_LIKE_OTHERS,
    ORDINALS,
    POSSESSIVES,
    PREPOSITIONS,
    PRO_FORMS,
    SMALL_NUMBERS,
    VERBS,
    demonym,
)

_TOKEN = re.compile(r"(?:[^\W\d_]\.){2,}|\d[\d.,:]*\d|[^\W_]+(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|[^\W_]+|\S")
_ADJECTIVE = re.compile(
    r".{2,}(?:ous|ful|less|able|ible|ular|ilar|ative|itive|ctive|[sn]sive|usive|[ctrngduvl]ial|[^i]cal|onal|ental|[rgu]al"
    r"|[tgls]ic|[mn]ic|ific|ish|esque|arian|ant|[lr]ent|[dt]ual|eral|iral|oral|ural)"
)
_VERB = re.compile(r".{2,}(?:ize|ise|ify|[^e]ate)")
_SINGULAR_S = re.compile(r".*(?:ss|us|is|ics|ness|news|series|species)")
_WITH_OBJECT = frozenset(["DT", "PRP", "PRP$", "NNP", "NNPS"])
_BEFORE_NOUN = frozenset(["DT", "JJ", "PRP$", "POS", "CD", "IN", "VB", "VBG", "VBP"])
_NOUNS = frozenset(["NN", "NNS", "NNP", "NNPS"])
_SUBJECTS = frozenset(["i", "you", "he", "she", "it", "we", "they", "who"])
_CLASSES = (
    ({"to"}, "TO"),
    (ADVERBS, "RB"),
    (CONJUNCTIONS, "CC"),
    (PREPOSITIONS, "IN"),
    (POSSESSIVES, "PRP$"),
    (DETERMINERS, "DT"),
    (PRO_FORMS, "PRP"),
    (AUXILIARIES, "VBP"),
    (MODALS, "MD"),
    (ORDINALS, "JJ"),
    (SMALL_NUMBERS | LARGE_NUMBERS, "CD"),
    ({"n't", "n’t"}, "RB"),
    ({"'s", "’s"}, "POS"),
    (ADJECTIVES, "JJ"),
    (IRREGULAR_VERBS, "VBD"),
    (VERBS, "VB"),
    (IRREGULAR_PLURALS, "NNS"),
    (NOUNS_LIKE_OTHERS, "NN"),
)
_KNOWN = {word: tag for members, tag in reversed(_CLASSES) for word in members}
"""Of the classes that a word is in, the first one tags it."""


class RulesTagger:
    """The tagger that ships."""

    name = "rules"

    def tokens(self, texts: Sequence[str]) -> Iterator[list[Token]]:
        """The words of each text."""
        casing = Casing.of(texts)
        for text in texts:
            yield _tagged(text, casing)


def _tagged(text: str, casing: Casing) -> list[Token]:
    found = [match.span() for match in _TOKEN.finditer(text)]
    words = [text[start:end] for start, end in found]
    tags = [_alone(word, starts_sentence(text, start), casing) for word, (start, _) in zip(words, found, strict=True)]
    for place, word in enumerate(words):
        tags[place] = _in_place(word, tags, words, place)
    return [Token(start, end, tag) for (start, end), tag in zip(found, tags, strict=True)]


def _alone(word: str, starts: bool, casing: Casing) -> str:
    """The tag that a word most likely has, wherever it stands."""
    small = word.lower()
    if not any(map(str.isalnum, word)):
        return "."
    if word[0].isdigit():
        return "JJ" if small.endswith(("st", "nd", "rd", "th")) else "CD"
    if word[0].isupper() and not (starts and (casing.common(word) or small in _KNOWN)):
        return _proper(word)
    return _KNOWN.get(small) or _by_ending(small)


def _proper(word: str) -> str:
    """The tag of a word with a capital: in names, too, common words have a plural."""
    small = word.lower()
    if (
        small in _KNOWN
        and _KNOWN[small] in ("DT", "PRP", "PRP$", "IN", "CC")
        and not (word.isupper() and len(word) > 1)
    ):
        return _KNOWN[small]
    singular = word.removesuffix("s")
    plural = singular != word and (demonym(singular) or small in NAME_PARTS - {"states", "heights", "airlines"})
    return "NNPS" if plural else "NNP"


def _by_ending(word: str) -> str:
    """The tag of a word that is in no list."""
    if word.endswith("ly") and len(word) > 4:
        return "RB"
    if word.endswith("ing") and len(word) > 4:
        return "VBG"
    if word.endswith("ed") and len(word) > 3:
        return "VBD"
    if word.endswith("est") and _KNOWN.get(word[:-3], _KNOWN.get(word[:-2])) == "JJ":
        return "JJ"
    if word.endswith("er") and "JJ" in (_KNOWN.get(word[:-2]), _KNOWN.get(word[:-1])):
        return "JJ"
    if _ADJECTIVE.fullmatch(word):
        return "JJ"
    if word.endswith("men"):
        return "NNS"
    return "NNS" if word.endswith("s") and len(word) > 3 and not _SINGULAR_S.fullmatch(word) else "NN"


def _in_place(word: str, tags: list[str], words: list[str], place: int) -> str:
    """The tag of a word among its neighbours, of which those before it are already corrected."""
    tag = tags[place]
    before = tags[place - 1] if place else "."
    after = tags[place + 1] if place + 1 < len(tags) else "."
    if tag == "NNP":
        return _name(word, tags, words, place)
    if tag in ("VB", "NN", "NNS"):
        return _noun_or_verb(word.lower(), tag, before, after, words[place - 1].lower() if place else "")
    if tag == "VBD":  # a participle before a noun is an adjective
        return "JJ" if before in _BEFORE_NOUN - {"VBP"} and after in (*_NOUNS, "JJ") else "VBD"
    if tag == "VBG":
        return _gerund(before, after)
    return tag


def _name(word: str, tags: list[str], words: list[str], place: int) -> str:
    """Demonyms, points of the compass and colours before a noun are adjectives; so are those joined to one by `and`."""
    while place + 2 < len(words) and words[place + 1] in ("and", "or", "-") and demonym(words[place + 2]):
        place += 2
    follows = place + 1 < len(tags) and tags[place + 1] in (*_NOUNS, "JJ", "VBG", "VB", "CD")
    named = follows and tags[place + 1] in ("NNP", "NNPS")
    small = word.lower()
    return "JJ" if (follows and demonym(word)) or (named and (small in ADJECTIVES or small in COMPASS)) else "NNP"


def _noun_or_verb(word: str, tag: str, before: str, after: str, said: str) -> str:
    verb = bool({word, word.removesuffix("s"), word.removesuffix("es")} & VERBS) or _VERB.fullmatch(word) is not None
    if before == "MD" or (before == "TO" and (verb or after in _WITH_OBJECT)):
        return "VB"
    if said in _SUBJECTS:
        return "VB"
    if not verb:
        return tag
    noun = "NNS" if word.endswith("s") and tag != "VB" else "NN"
    if before in _BEFORE_NOUN:
        return noun
    if before in _NOUNS:
        return "VB" if after in _WITH_OBJECT or after in ("TO", "IN", "CD") else noun
    return "VB" if after in _WITH_OBJECT or after == "TO" or before == "RB" else noun


def _gerund(before: str, after: str) -> str:
    """An adjective between a determiner and a noun, a noun where there is none; else a verb."""
    if before in ("DT", "PRP$", "JJ", "POS", "CD"):
        return "JJ" if after in _NOUNS or after == "JJ" else "NN"
    return "NN" if before in ("NN", "NNP") and after in (".", "CC", "VBP", "MD", "NN", "NNS") else "VBG"
