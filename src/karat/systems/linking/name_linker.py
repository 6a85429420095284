"""Systems that detect names, propose the candidates of a lexicon and rank them.

Mentions are detected by rules or by a spaCy model. The rules look at runs of capitalised words, with numbers after them
and function words between them ("Bank of England"). From left to right, the longest part that is a known name is a
mention. A single word is a mention only after a title or demonym ("German Chancellor Merkel") or next to a function
word; otherwise it may be part of an unknown name. A run without any known part is one unlinked mention.

A stage is a step of a system: detection, candidates or ranking.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, TypeAlias

from msgspec.structs import replace

from karat.model.document import Document, Prediction, Response
from karat.model.errors import UsageError
from karat.model.spec.system import Link, Refine, option
from karat.systems.linking.lexicon import KB_DESCRIPTION, Lexicon, build_lexicon
from karat.systems.linking.stages import (
    LINK_FIRST_CANDIDATE,
    USE_GIVEN_MENTIONS,
    chain_stages,
    make_candidate_stage,
    make_document_stage,
    split_batches,
)

Detector: TypeAlias = Literal["rules", "spacy"]
DETECTOR_DESCRIPTION: Final = "Mention detector: rules, or a spaCy model (extra spacy)."
MODEL_DESCRIPTION: Final = "spaCy model."

_CAPITALS: Final = "".join(chr(code) for code in range(0x41, 0x2000) if chr(code).isupper())
_WORD = rf"(?:[{_CAPITALS}]\w*(?:[.&'’-]\w+)*\.?)"
_SMALL = r"(?:of|the|and|de|la|du|van|von|der|den|for|in|on|at|&|al|bin|to)"
_RUN: Final = re.compile(rf"(?<!\w){_WORD}(?:[ -](?:(?:{_SMALL}[ ]){{0,2}}{_WORD}|\d[\d.]*\b))*")
_PART: Final = re.compile(r"[^\s]+")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:;\n•*\"“”])[\s\"“”'‘(\[#@]*$")
_POSSESSIVE: Final = re.compile(r"['’]s?$")

_COMMON: Final = """
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
COMMON_WORDS: Final = frozenset(_COMMON.split())
"""Words that are no names, in lower case."""
_TITLES: Final = """
actor actress ambassador archbishop bishop capt captain cardinal chairman chancellor coach col colonel congressman
congresswoman dame defender director dr emperor gen general goalkeeper gov governor judge justice king lady lieutenant
lord mayor midfielder minister mr mrs ms pope premier president prince princess prof professor queen rep secretary sen
senator sergeant sheikh singer sir striker
"""
TITLE_WORDS: Final = frozenset(_TITLES.split())
"""Words before the name of a person, in lower case."""

_NON_NAMES: Final = TITLE_WORDS | COMMON_WORDS


def make_detection_stage(detector: Detector, lexicon: Lexicon, model: str) -> Refine:
    """Return the stage that detects mentions by rules or with the spaCy model `model`; it replaces all predictions.

    `lexicon`: known names, which only the rules use.
    """
    return (
        make_document_stage(lambda document, response: _mark_mentions(document, response, lexicon))
        if detector == "rules"
        else _make_spacy_stage(model)
    )


def _mark_mentions(document: Document, response: Response, lexicon: Lexicon) -> Response:
    """Return the response with an unlinked prediction for each mention that the rules find."""
    return replace(
        response, predictions=tuple(Prediction(start, end) for start, end in find_spans(document.text, lexicon))
    )


def find_spans(text: str, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Yield the spans of the mentions that the rules of this module find in a text, in order and without overlap."""
    for words in find_runs(text, lexicon):
        yield from split_run(text, words, lexicon)


def find_runs(text: str, lexicon: Lexicon) -> Iterator[list[tuple[int, int]]]:
    """Yield the runs of capitalised words in a text as spans of words, without common words that start a sentence."""
    for run in _RUN.finditer(text):
        start, end = run.span()
        if text[end - 1] == "." and lexicon.rows.get(run[0]) is None:
            end -= 1
        words = [(start + part.start(), min(start + part.end(), end)) for part in _PART.finditer(run[0])]
        if _SENTENCE_START.search(text, max(0, start - 8), start) is not None:
            while words and text[words[0][0] : words[0][1]].lower().rstrip(".") in COMMON_WORDS:
                if text[words[0][0] : words[0][1]] == "The" and _is_known_name(text, words, lexicon):
                    break  # The Beatles
                words = words[1:]
            while words and text[words[0][0]].islower():
                words = words[1:]
        if words:
            yield words


def _is_known_name(text: str, words: list[tuple[int, int]], lexicon: Lexicon) -> bool:
    """Return whether the text from the first to the last of some words, given as spans, is a name in the lexicon."""
    return text[words[0][0] : words[-1][1]] in lexicon.rows


def split_run(text: str, words: list[tuple[int, int]], lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Yield the spans of the mentions in a run of capitalised words; `words` are the spans of the words.

    From left to right, these are the longest known names. Without a known name, the whole run is one mention.
    """
    n_words, index, n_mentions = len(words), 0, 0
    while index < n_words:
        for stop in range(n_words, index, -1):
            start, end = words[index][0], word_end(text, words[stop - 1])
            if (text[start:end] in lexicon.rows or lexicon.find_row(text[start:end]) >= 0) and _is_separate_name(
                text, words, index, stop
            ):
                n_mentions += 1
                yield start, end
                index = stop
                break
        else:
            index += 1
    if not n_mentions:
        while words and (text[words[-1][0]].islower() or text[words[-1][0]] == "&"):
            words = words[:-1]
        start, end = words[0][0], word_end(text, words[-1])
        if n_words > 1 or text[start:end].lower() not in COMMON_WORDS:
            yield start, end


def word_end(text: str, word: tuple[int, int]) -> int:
    """Return the end offset of a word, given by its span, without its possessive ending."""
    match = _POSSESSIVE.search(text, word[0], word[1])
    return word[1] if match is None else match.start()


def _is_separate_name(text: str, words: list[tuple[int, int]], first_index: int, stop: int) -> bool:
    """Return whether the words from `first_index` to `stop` of a run may be a name of their own.

    A single word may not if it is common, or if a word next to it may belong to the same name.
    """
    first_letter = text[words[first_index][0]]
    if first_letter.islower() or first_letter == "&" or (text[words[stop - 1][0]].islower()):
        return False
    surface = text[words[first_index][0] : words[stop - 1][1]]
    if stop - first_index == len(words):
        return surface.lower() not in COMMON_WORDS
    if stop - first_index > 1:
        return True
    if surface.lower().rstrip(".") in _NON_NAMES or len(surface) < 3:
        return False
    before = text[words[first_index - 1][0] : words[first_index - 1][1]] if first_index else ""
    after = text[words[stop][0] : words[stop][1]] if stop < len(words) else ""
    if after == "of":  # Bank of England
        return False
    alone_before = not before or before[0].islower() or before.lower().rstrip(".") in TITLE_WORDS or _is_demonym(before)
    alone_after = not after or after[0].islower() or after.lower() in TITLE_WORDS or _is_demonym(surface)
    return alone_before and alone_after


def _is_demonym(word: str) -> bool:
    """Return whether a word ends like a demonym, such as German or Japanese."""
    return word.endswith(("an", "ese", "ish", "ch", "Greek", "Iraqi", "Israeli")) and len(word) > 4


def _make_spacy_stage(model: str) -> Refine:
    """Return the stage that marks the named entities of a spaCy model, without numbers, dates and other values."""

    def mark(pairs: Iterable[tuple[Document, Response]]) -> Iterator[Response]:
        tagger = _load_model(model)
        for batch in split_batches(pairs, 64):
            docs = tagger.pipe(document.text for document, _ in batch)
            for (_, response), doc in zip(batch, docs, strict=True):
                entities = [span for span in doc.ents if span.label_ not in _VALUE_TYPES]
                yield replace(response, predictions=tuple(Prediction(*_trim_span(span)) for span in entities))

    return mark


_VALUE_TYPES: Final = frozenset({"CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME"})


def _trim_span(span: Any) -> tuple[int, int]:  # noqa: ANN401  # spaCy ships no types that are known here
    """Return the span of a spaCy entity without article and possessive ending."""
    text = span.text
    start = span.start_char + (4 if text.lower().startswith("the ") else 0)
    match = _POSSESSIVE.search(text)
    return start, span.end_char if match is None else span.start_char + match.start()


@cache
def _load_model(name: str) -> Any:  # noqa: ANN401  # spaCy ships no types that are known here
    """Load a spaCy model; raise `UsageError` if spaCy or the model is not installed. The result is cached."""
    try:
        import spacy

        return spacy.load(name, disable=["lemmatizer", "parser", "attribute_ruler"])
    except ImportError:
        raise UsageError("detection with spaCy needs an extra. Run pip install 'karat[spacy]'.") from None
    except OSError:
        raise UsageError(
            f"the spaCy model {name} is not installed. Run python -m spacy download {name}, or use --detector rules."
        ) from None


@dataclass(frozen=True, slots=True)
class NameLinkerOptions:
    """The options that all these systems have."""

    kb: str = option("starter", KB_DESCRIPTION)
    detector: Detector = option("rules", DETECTOR_DESCRIPTION)
    model: str = option("en_core_web_sm", MODEL_DESCRIPTION)
    candidates: int = option(20, "Maximum number of candidates per mention.")

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon, with candidates weighted by counts and popularity."""
        return build_lexicon(self.kb, "both")


def detect_names(options: NameLinkerOptions) -> Refine:
    """Return the stage that detects mentions with the detector in the options."""
    return make_detection_stage(options.detector, options.lexicon, options.model)


def propose_candidates(options: NameLinkerOptions) -> Refine:
    """Return the stage that proposes the most likely entities of each surface."""
    return make_candidate_stage(options.lexicon, options.candidates)


def link_likeliest(options: NameLinkerOptions) -> Refine:
    """Return the ranking stage that links each mention to its first candidate."""
    return LINK_FIRST_CANDIDATE


def make_start(rank: Callable[[Any], Refine]) -> Callable[[NameLinkerOptions, bool], Link]:
    """Return the `start` of a system that links documents with the three stages, or given mentions with the last two.

    `rank`: returns the ranking stage for the options.
    """
    return lambda options, gold_mentions: chain_stages(
        USE_GIVEN_MENTIONS if gold_mentions else detect_names(options), propose_candidates(options), rank(options)
    )
