"""Mentions by rules: runs of words with capitals, divided by what the lexicon knows; or by a model of spaCy.

A run is words with capitals, numbers behind them, and small words between them (`Bank of England`). The longest part
that is a known name is a mention, from left to right. A single word is one only where what stands before it is a title
or a demonym (`German Chancellor Merkel`), or where the run is divided by small words; else it may be half of a name
that nobody knows. A run without any known part is marked whole, and stays without a link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final, Literal, TypeAlias

from msgspec.structs import replace

from karat.errors import UsageError
from karat.linking.lexicon import Lexicon
from karat.linking.stages import batches, each
from karat.model.document import Answer, Document, Reply
from karat.spec.system import Refine

Detector: TypeAlias = Literal["rules", "spacy"]
DETECTOR_SAYS: Final = "What marks the mentions: rules, or a model of spaCy (extra spacy)."
MODEL_SAYS: Final = "The model of spaCy."

_CAPITALS: Final = "".join(chr(code) for code in range(0x41, 0x2000) if chr(code).isupper())
_WORD = rf"(?:[{_CAPITALS}]\w*(?:[.&'’-]\w+)*\.?)"
_SMALL = r"(?:of|the|and|de|la|du|van|von|der|den|for|in|on|at|&|al|bin|to)"
_RUN: Final = re.compile(rf"(?<!\w){_WORD}(?:[ -](?:(?:{_SMALL}[ ]){{0,2}}{_WORD}|\d[\d.]*\b))*")
_PART: Final = re.compile(r"[^\s]+")
_AFTER_SENTENCE: Final = re.compile(r"(?:^|[.!?:;\n•*\"“”])[\s\"“”'‘(\[#@]*$")
_POSSESSIVE: Final = re.compile(r"['’]s?$")

_COMMON_WORDS: Final = """
a about above according additionally after afterwards again against all almost along already also although always am
amid among an and another any anyone anything apr april are around as ask asked at aug august away back be because
been before behind being below best better between beyond born both but by can come could day days dec december
despite did do does doing done dont down during each earlier early either else enough even ever every everyone
everything feb february few finally first five following for former four fri friday from furthermore get give given go
good great had happy has have having he hello her here hers him his homes how however i if im in including indeed
initially inside instead into is it its itself ive jan january jul july jun june just keep last late later least less
let like little lol long look lots love made make man many mar march may maybe me meanwhile men might mine mon monday
more moreover most much must my named near nearly never nevertheless new news next nice no nobody none nor not nothing
nov november now oct october of off often oh ok old on once one only onto or originally other others our out over own
part past people per perhaps photo please previously put quite rather really recently right rt said same sat saturday
say says second see seen sep sept september several shall she should show similarly since six so some someone
something sometimes soon states still subsequently such sun sunday take ten than thank thanks that the their them then
there therefore these they thing things think this those though three through thu thursday thus time to today together
tomorrow tonight too top toward towards try tue tuesday two under unlike until up upon us use used using very via was
watch way we wed wednesday well went were what whatever when where whether which while who whom whose why will with
within without women would year years yes yesterday yet you young your
"""
_COMMON: Final = frozenset(_COMMON_WORDS.split())
_TITLES_WORDS: Final = """
actor actress ambassador archbishop bishop capt captain cardinal chairman chancellor coach col colonel congressman
congresswoman dame defender director dr emperor gen general goalkeeper gov governor judge justice king lady lieutenant
lord mayor midfielder minister mr mrs ms pope premier president prince princess prof professor queen rep secretary sen
senator sergeant sheikh singer sir striker
"""
_TITLES: Final = frozenset(_TITLES_WORDS.split())

_NO_NAMES: Final = _TITLES | _COMMON


def detecting(how: Detector, known: Lexicon, model: str) -> Refine:
    """The stage that marks mentions in one of the ways there are."""
    return each(lambda document, reply: _marked(document, reply, known)) if how == "rules" else _by_spacy(model)


def _marked(document: Document, reply: Reply, known: Lexicon) -> Reply:
    return replace(reply, answers=tuple(Answer(start, end) for start, end in spans(document.text, known)))


def spans(text: str, known: Lexicon) -> Iterator[tuple[int, int]]:
    """The mentions of a text, in order; none overlaps another."""
    for run in _RUN.finditer(text):
        start, end = run.span()
        if text[end - 1] == "." and known.rows.get(run[0]) is None:
            end -= 1
        words = [(start + part.start(), min(start + part.end(), end)) for part in _PART.finditer(run[0])]
        if _AFTER_SENTENCE.search(text, max(0, start - 8), start) is not None:
            while words and text[words[0][0] : words[0][1]].lower().rstrip(".") in _COMMON:
                if text[words[0][0] : words[0][1]] == "The" and _knows(text, words, known):
                    break  # The Beatles
                words = words[1:]
            while words and text[words[0][0]].islower():
                words = words[1:]
        if words:
            yield from _divided(text, words, known)


def _knows(text: str, words: list[tuple[int, int]], known: Lexicon) -> bool:
    return text[words[0][0] : words[-1][1]] in known.rows


def _divided(text: str, words: list[tuple[int, int]], known: Lexicon) -> Iterator[tuple[int, int]]:
    """The mentions of a run of words."""
    many, place, found = len(words), 0, 0
    while place < many:
        for stop in range(many, place, -1):
            start, end = words[place][0], _end(text, words[stop - 1])
            if (text[start:end] in known.rows or known.row(text[start:end]) >= 0) and _whole(text, words, place, stop):
                found += 1
                yield start, end
                place = stop
                break
        else:
            place += 1
    if not found:
        while words and (text[words[-1][0]].islower() or text[words[-1][0]] == "&"):
            words = words[:-1]
        start, end = words[0][0], _end(text, words[-1])
        if many > 1 or text[start:end].lower() not in _COMMON:
            yield start, end


def _end(text: str, word: tuple[int, int]) -> int:
    """Where a word ends without possessive and comma."""
    found = _POSSESSIVE.search(text, word[0], word[1])
    return word[1] if found is None else found.start()


def _whole(text: str, words: list[tuple[int, int]], place: int, stop: int) -> bool:
    """Whether a part of a run may be a name by itself: of several words, or next to nothing that may belong to it."""
    first = text[words[place][0]]
    if first.islower() or first == "&" or (text[words[stop - 1][0]].islower()):
        return False
    surface = text[words[place][0] : words[stop - 1][1]]
    if stop - place == len(words):
        return surface.lower() not in _COMMON
    if stop - place > 1:
        return True
    if surface.lower().rstrip(".") in _NO_NAMES or len(surface) < 3:
        return False
    before = text[words[place - 1][0] : words[place - 1][1]] if place else ""
    after = text[words[stop][0] : words[stop][1]] if stop < len(words) else ""
    if after == "of":  # Bank of England
        return False
    alone_before = not before or before[0].islower() or before.lower().rstrip(".") in _TITLES or _is_demonym(before)
    alone_after = not after or after[0].islower() or after.lower() in _TITLES or _is_demonym(surface)
    return alone_before and alone_after


def _is_demonym(word: str) -> bool:
    return word.endswith(("an", "ese", "ish", "ch", "Greek", "Iraqi", "Israeli")) and len(word) > 4


def _by_spacy(model: str) -> Refine:
    def mark(pairs: Iterable[tuple[Document, Reply]]) -> Iterator[Reply]:
        tagger = _model(model)
        for batch in batches(pairs, 64):
            read = tagger.pipe(document.text for document, _ in batch)
            for (_, reply), doc in zip(batch, read, strict=True):
                named = [span for span in doc.ents if span.label_ not in _VALUES]
                yield replace(reply, answers=tuple(Answer(*_trimmed(span)) for span in named))

    return mark


_VALUES: Final = frozenset({"CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME"})


def _trimmed(span: Any) -> tuple[int, int]:  # noqa: ANN401  # spaCy ships no types that are known here
    """Where an entity of spaCy stands, without article and possessive."""
    text = span.text
    start = span.start_char + (4 if text.lower().startswith("the ") else 0)
    found = _POSSESSIVE.search(text)
    return start, span.end_char if found is None else span.start_char + found.start()


@cache
def _model(name: str) -> Any:  # noqa: ANN401  # spaCy ships no types that are known here
    try:
        import spacy

        return spacy.load(name, disable=["lemmatizer", "parser", "attribute_ruler"])
    except ImportError:
        raise UsageError("detection by spaCy needs an extra: pip install 'karat[spacy]'") from None
    except OSError:
        raise UsageError(
            f"spaCy has no model {name}. Say --detector rules, or install it: python -m spacy download {name}"
        ) from None
