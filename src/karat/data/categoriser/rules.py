"""A rule-based tagger for English: closed word classes, endings, capitals and neighbouring words.

The rules look at a word and its neighbours. They are most accurate for nouns and the words before them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from karat.data.categoriser.mentions import Casing, starts_sentence
from karat.data.categoriser.pos import Token
from karat.data.categoriser.words import (
    ADJECTIVES,
    ADVERBS,
    AUXILIARIES,
    COMPASS,
    CONJUNCTIONS,
    DETERMINERS,
    IRREGULAR_NOUNS,
    IRREGULAR_PLURALS,
    IRREGULAR_VERBS,
    LARGE_NUMBERS,
    MODALS,
    NAME_PARTS,
    ORDINALS,
    POSSESSIVES,
    PREPOSITIONS,
    PRO_FORMS,
    SMALL_NUMBERS,
    VERBS,
    is_demonym,
)

_TOKEN = re.compile(r"(?:[^\W\d_]\.){2,}|\d[\d.,:]*\d|[^\W_]+(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|[^\W_]+|\S")
_ADJECTIVE = re.compile(
    r".{2,}(?:ous|ful|less|able|ible|ular|ilar|ative|itive|ctive|[sn]sive|usive|[ctrngduvl]ial|[^i]cal|onal|ental|[rgu]al"
    r"|[tgls]ic|[mn]ic|ific|ish|esque|arian|ant|[lr]ent|[dt]ual|eral|iral|oral|ural)"
)
_VERB = re.compile(r".{2,}(?:ize|ise|ify|[^e]ate)")
_SINGULAR_S = re.compile(r".*(?:ss|us|is|ics|ness|news|series|species)")
_OBJECT_STARTS = frozenset(["DT", "PRP", "PRP$", "NNP", "NNPS"])
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
    (IRREGULAR_NOUNS, "NN"),
)
_TAG_BY_WORD = {word: tag for members, tag in reversed(_CLASSES) for word in members}
"""The tag of each word in a closed class; the first class has precedence."""


class RulesTagger:
    """The rule-based tagger, which needs no model."""

    name = "rules"

    def tag_texts(self, texts: Sequence[str]) -> Iterator[list[Token]]:
        """Yield for each text the list of its words with their tags; `texts` also show which words are common."""
        casing = Casing.from_texts(texts)
        for text in texts:
            yield _tag_text(text, casing)


def _tag_text(text: str, casing: Casing) -> list[Token]:
    """Split a text into words and tag them, first one by one, then by their neighbours."""
    spans = [match.span() for match in _TOKEN.finditer(text)]
    words = [text[start:end] for start, end in spans]
    tags = [
        _tag_word(word, starts_sentence(text, start), casing) for word, (start, _) in zip(words, spans, strict=True)
    ]
    for i, word in enumerate(words):
        tags[i] = _correct_tag(word, tags, words, i)
    return [Token(start, end, tag) for (start, end), tag in zip(spans, tags, strict=True)]


def _tag_word(word: str, starts: bool, casing: Casing) -> str:
    """Return the most likely tag of a word, regardless of its neighbours; `starts` if it begins a sentence."""
    lower = word.lower()
    if not any(map(str.isalnum, word)):
        return "."
    if word[0].isdigit():
        return "JJ" if lower.endswith(("st", "nd", "rd", "th")) else "CD"
    if word[0].isupper() and not (starts and (casing.is_common(word) or lower in _TAG_BY_WORD)):
        return _tag_capitalised(word)
    return _TAG_BY_WORD.get(lower) or _tag_by_ending(lower)


def _tag_capitalised(word: str) -> str:
    """Return the tag of a capitalised word: a proper noun, or a function word that is not in capitals."""
    lower = word.lower()
    if (
        lower in _TAG_BY_WORD
        and _TAG_BY_WORD[lower] in ("DT", "PRP", "PRP$", "IN", "CC")
        and not (word.isupper() and len(word) > 1)
    ):
        return _TAG_BY_WORD[lower]
    singular = word.removesuffix("s")
    plural = singular != word and (is_demonym(singular) or lower in NAME_PARTS - {"states", "heights", "airlines"})
    return "NNPS" if plural else "NNP"


def _tag_by_ending(word: str) -> str:
    """Return the tag of a word in lower case that is in no list, by its ending."""
    if word.endswith("ly") and len(word) > 4:
        return "RB"
    if word.endswith("ing") and len(word) > 4:
        return "VBG"
    if word.endswith("ed") and len(word) > 3:
        return "VBD"
    if word.endswith("est") and _TAG_BY_WORD.get(word[:-3], _TAG_BY_WORD.get(word[:-2])) == "JJ":
        return "JJ"
    if word.endswith("er") and "JJ" in (_TAG_BY_WORD.get(word[:-2]), _TAG_BY_WORD.get(word[:-1])):
        return "JJ"
    if _ADJECTIVE.fullmatch(word):
        return "JJ"
    if word.endswith("men"):
        return "NNS"
    return "NNS" if word.endswith("s") and len(word) > 3 and not _SINGULAR_S.fullmatch(word) else "NN"


def _correct_tag(word: str, tags: list[str], words: list[str], index: int) -> str:
    """Return the tag of the word at `index` given its neighbours; the tags before it are already corrected."""
    tag = tags[index]
    before = tags[index - 1] if index else "."
    after = tags[index + 1] if index + 1 < len(tags) else "."
    if tag == "NNP":
        return _tag_name(word, tags, words, index)
    if tag in ("VB", "NN", "NNS"):
        return _tag_noun_or_verb(word.lower(), tag, before, after, words[index - 1].lower() if index else "")
    if tag == "VBD":  # a participle before a noun is an adjective
        return "JJ" if before in _BEFORE_NOUN - {"VBP"} and after in (*_NOUNS, "JJ") else "VBD"
    if tag == "VBG":
        return _tag_gerund(before, after)
    return tag


def _tag_name(word: str, tags: list[str], words: list[str], index: int) -> str:
    """Return `JJ` for demonyms, compass points and colours before a noun, also if joined by `and`, else `NNP`."""
    while index + 2 < len(words) and words[index + 1] in ("and", "or", "-") and is_demonym(words[index + 2]):
        index += 2
    precedes_nominal = index + 1 < len(tags) and tags[index + 1] in (*_NOUNS, "JJ", "VBG", "VB", "CD")
    precedes_name = precedes_nominal and tags[index + 1] in ("NNP", "NNPS")
    lower = word.lower()
    return (
        "JJ"
        if (precedes_nominal and is_demonym(word)) or (precedes_name and (lower in ADJECTIVES or lower in COMPASS))
        else "NNP"
    )


def _tag_noun_or_verb(word: str, tag: str, before: str, after: str, previous_word: str) -> str:
    """Return the tag of a word that may be a noun or a verb, from the tags around it and the word before it.

    `tag` is the tag of the word regardless of neighbours; this tag stays if the word is no known verb form.
    """
    is_verb = bool({word, word.removesuffix("s"), word.removesuffix("es")} & VERBS) or _VERB.fullmatch(word) is not None
    if before == "MD" or (before == "TO" and (is_verb or after in _OBJECT_STARTS)):
        return "VB"
    if previous_word in _SUBJECTS:
        return "VB"
    if not is_verb:
        return tag
    noun_tag = "NNS" if word.endswith("s") and tag != "VB" else "NN"
    if before in _BEFORE_NOUN:
        return noun_tag
    if before in _NOUNS:
        return "VB" if after in _OBJECT_STARTS or after in ("TO", "IN", "CD") else noun_tag
    return "VB" if after in _OBJECT_STARTS or after == "TO" or before == "RB" else noun_tag


def _tag_gerund(before: str, after: str) -> str:
    """Return the tag of an -ing form from the tags before and after it.

    After a determiner or the like it is an adjective if a noun follows, else a noun. Otherwise it is a verb, except
    after a noun at the end of a phrase.
    """
    if before in ("DT", "PRP$", "JJ", "POS", "CD"):
        return "JJ" if after in _NOUNS or after == "JJ" else "NN"
    return "NN" if before in ("NN", "NNP") and after in (".", "CC", "VBP", "MD", "NN", "NNS") else "VBG"
