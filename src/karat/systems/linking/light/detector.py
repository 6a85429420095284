"""Detection of mentions: the rules of `name_linker` propose spans, and a linear model decides which are mentions."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from karat.model.tables.columns import Floats
from karat.systems.linking.lexicon import Lexicon
from karat.systems.linking.name_linker import COMMON_WORDS, TITLE_WORDS, find_runs, split_run, word_end

_SURFACE_FEATURES: Final = (
    "n_words",
    "log_length",
    "is_known",
    "is_known_exactly",
    "log_popularity",
    "log_entities",
    "is_capitals",
    "is_common",
    "has_digit",
    "has_lower_word",
)
_CONTEXT_FEATURES: Final = (
    "occurs_in_lower_case",
    "log_occurrences",
    "starts_sentence",
    "title_before",
    "article_before",
    "preposition_before",
    "name_before",
    "name_after",
    "digit_before",
    "digit_after",
    "verb_after",
    "in_headline",
)
_RUN_FEATURES: Final = ("is_rule", "is_run", "n_run_words", "is_capitals_run")
DETECTION_FEATURES: Final = (*_SURFACE_FEATURES, *_CONTEXT_FEATURES, *_RUN_FEATURES)
"""The names of the features of a proposed span: of its surface form, of the words next to it, and of its run."""

_MAX_RUN: Final = 8
"""The maximal number of words of a run inside which known names are proposed."""

_MAX_WORDS: Final = 4
"""The maximal number of words of these names."""
_MAX_CACHED: Final = 50_000

_BEFORE: Final = re.compile(r"(\w+)([^\w\n]{0,2})$")
_AFTER: Final = re.compile(r"([^\w\n]{0,2})(\w+)")
_LOWER_WORD: Final = re.compile(r"(?<![\w'’])[^\W\d_A-Z]\w*")
_SENTENCE_END: Final = frozenset('.!?:;"“”')
_PREPOSITIONS: Final = frozenset(
    ["in", "at", "from", "near", "into", "to", "across", "outside", "around", "by", "of", "with", "for"]
)
_VERBS: Final = frozenset(
    ["said", "says", "told", "was", "has", "had", "who", "wrote", "added", "born", "is", "were", "will"]
)


class Proposal(NamedTuple):
    """A span that may be a mention.

    `start`, `end`: span in code points.
    `is_rule`: whether the rules find it.
    `is_run`: whether it is a whole run of capitalised words.
    `n_run_words`: number of words of the run.
    `is_capitals_run`: whether the run has three words or more, all in capitals.
    """

    start: int
    end: int
    is_rule: bool
    is_run: bool
    n_run_words: int
    is_capitals_run: bool


def find_word_before(text: str, start: int) -> tuple[str, str]:
    """Return the word before an offset and up to two other characters between them; `("", ".")` if there is none."""
    part = text[max(0, start - 20) : start]
    if part[-1:] == " " and (word := part[:-1].rpartition(" ")[2]).isalnum():
        return word, " "  # the usual case, without the slower expression
    match = _BEFORE.search(part)
    return (match[1], match[2]) if match is not None else ("", ".")


@dataclass(frozen=True, eq=False)
class SpanExtractor:
    """The proposal of spans and the computation of their features, for the names of a lexicon."""

    lexicon: Lexicon = field(repr=False)
    _cache: dict[str, tuple[float, ...]] = field(default_factory=dict, repr=False)

    def propose_spans(self, text: str) -> list[Proposal]:
        """Return the spans that may be mentions, run after run: those of the rules, and known names inside a run."""
        lexicon, proposals = self.lexicon, list[Proposal]()
        for words in find_runs(text, lexicon):
            spans = dict.fromkeys(split_run(text, words, lexicon), True)
            low, high, is_capitals = words[0][0], word_end(text, words[-1]), False
            if len(words) > 1:
                is_capitals = len(words) > 2 and text[low:high].isupper()
                if not lexicon.has_name(text[low:high]):
                    self._propose_names(text, words[:_MAX_RUN], spans)
            for (start, end), is_rule in spans.items():
                proposals.append(Proposal(start, end, is_rule, start == low and end == high, len(words), is_capitals))
        return proposals

    def _propose_names(self, text: str, words: Sequence[tuple[int, int]], spans: dict[tuple[int, int], bool]) -> None:
        """Add the known names of up to four words inside a run to `spans`, as spans that the rules do not find."""
        has_name = self.lexicon.has_name
        ends = [word_end(text, word) for word in words]
        for first, (start, _) in enumerate(words):
            if text[start].isupper():
                for end in ends[first : first + _MAX_WORDS]:
                    if (start, end) not in spans and end - start > 1 and has_name(text[start:end]):
                        spans[start, end] = False

    def describe_spans(self, text: str, proposals: Sequence[Proposal]) -> Floats:
        """Return one row of `DETECTION_FEATURES` per proposed span of a text."""
        lower_words = set(_LOWER_WORD.findall(text))
        surfaces = [text[proposal.start : proposal.end] for proposal in proposals]
        log_occurrences = {surface: math.log(count) for surface, count in Counter(surfaces).items()}
        occurs_in_lower_case = {surface: surface.lower() in lower_words for surface in log_occurrences}
        rows = []
        for (start, end, *run_features), surface in zip(proposals, surfaces, strict=True):
            word_before, gap_before = find_word_before(text, start)
            after = _AFTER.match(text, end)
            gap_after, word_after = after.groups() if after else (".", "")
            lower_before = word_before.lower()
            is_name_before, is_name_after = word_before[:1].isupper(), word_after[:1].isupper()
            rows.append(
                (
                    *self._describe_surface(surface),
                    occurs_in_lower_case[surface],
                    log_occurrences[surface],
                    not word_before or not _SENTENCE_END.isdisjoint(gap_before),
                    lower_before in TITLE_WORDS,
                    lower_before == "the",
                    word_before in _PREPOSITIONS,
                    is_name_before and gap_before == " ",
                    is_name_after and gap_after == " ",
                    word_before[:1].isdigit(),
                    word_after[:1].isdigit(),
                    word_after in _VERBS,
                    is_name_before and is_name_after,
                    *run_features,
                )
            )
        return np.array(rows, float).reshape(len(rows), len(DETECTION_FEATURES))

    def _describe_surface(self, surface: str) -> tuple[float, ...]:
        """Return the values of `_SURFACE_FEATURES`; cached."""
        values = self._cache.get(surface)
        if values is None:
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            lexicon = self.lexicon
            row = lexicon.find_row(surface)
            low, high = (int(lexicon.starts[row]), int(lexicon.starts[row + 1])) if row >= 0 else (0, 0)
            values = self._cache[surface] = (
                surface.count(" ") + 1,
                math.log(len(surface)),
                row >= 0,
                surface in lexicon.rows,
                math.log(lexicon.popularity[lexicon.entities[low]]) if row >= 0 else 0.0,
                math.log1p(high - low),
                surface.isupper() and len(surface) > 1,
                surface.lower() in COMMON_WORDS,
                any(map(str.isdigit, surface)),
                _LOWER_WORD.search(surface) is not None,
            )
        return values


def select_spans(proposals: Sequence[Proposal], probability: Floats, threshold: float) -> list[tuple[int, int]]:
    """Return the likeliest spans without overlaps whose probability reaches `threshold`, in order."""
    chosen: list[tuple[int, int]] = []
    for index in np.argsort(-probability, kind="stable").tolist():
        if probability[index] < threshold:
            break
        start, end = proposals[index].start, proposals[index].end
        position = bisect_left(chosen, (start, end))
        if (position == 0 or chosen[position - 1][1] <= start) and (
            position == len(chosen) or chosen[position][0] >= end
        ):
            chosen.insert(position, (start, end))
    return chosen
