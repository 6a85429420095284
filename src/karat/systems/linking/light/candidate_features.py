"""Features of candidates: numbers about an entity, a mention and the text around it, from which `light` ranks.

Features of a surface form and its candidates are computed once and cached. Features of the context are computed for all
candidates of a text together. The other mentions of a text support a candidate with their likeliest candidates; a
surface form never supports itself, however often it occurs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from karat.model.document import Candidate, Prediction
from karat.model.tables.columns import Floats, Longs
from karat.systems.linking.lexicon import Lexicon
from karat.systems.linking.light.entity_tables import TYPES, WORD, EntityTables
from karat.systems.linking.name_linker import TITLE_WORDS

LEXICAL: Final = (
    "log_share",
    "share",
    "lead",
    "is_first",
    "log_popularity",
    "exact",
    "folded",
    "partial",
    "equals_title",
    "folds_to_title",
    "title_coverage",
    *(f"is_{name}" for name in TYPES),
    *(f"one_word_{name}" for name in TYPES),
)
"""The features of a candidate that depend only on the surface form."""

CONTEXT: Final = (
    "text_similarity",
    "neighbour_similarity",
    "same_entity",
    "link_out",
    "link_in",
    "shared_neighbours",
    "same_type",
    *(f"{topic}_{name}" for topic in ("sports", "arts") for name in TYPES),
)
"""The features of a candidate that depend on the rest of the text."""

_WORDS_BEFORE: Final = {
    "title": TITLE_WORDS,
    "preposition": frozenset(["in", "at", "from", "near", "into", "to", "across", "outside", "around"]),
    "article": frozenset(["the"]),
}
_WORDS_AFTER: Final = {
    "verb": frozenset(["said", "says", "told", "was", "has", "had", "who", "wrote", "added", "born", "is"]),
}
_CUES: Final = (
    *(f"{name}_before" for name in _WORDS_BEFORE),
    *(f"{name}_after" for name in _WORDS_AFTER),
    "comma_after",
)
CUES: Final = tuple(f"{cue}_{name}" for cue in _CUES for name in TYPES)
"""The features that combine the type of a candidate with the words next to the mention."""

FEATURES: Final = (*LEXICAL, *CONTEXT, *CUES)
"""The names of all features of a candidate, in order."""

MENTION_FEATURES: Final = ("log_candidates", "log_length", "n_words", "is_capitals", "is_capitalised", "has_digit")
"""The features of a mention, the same for all its candidates."""

_TOPICS: Final = {
    "sports": """
championship coach cup defender final finals game games goal goals league match matches midfielder nba nfl nhl players
playoffs score scored season soccer striker team teams tournament victory wickets win wins
""",
    "arts": """
actor actress album albums band book chart comedy concert director drama episode film films guitar movie movies music
musical novel released series show singer singles song songs soundtrack starring television theatre tour
""",
}
_TOPIC_WORDS: Final = {word: index for index, words in enumerate(_TOPICS.values()) for word in words.split()}
_TOPIC_SHARE: Final = 0.05
"""The share of topic words in the distinct words of a text at which the text is fully about the topic."""

_BEFORE: Final = re.compile(r"(\w+)\W{1,2}$")
_AFTER: Final = re.compile(r"\W{1,2}(\w+)")
_COMMA: Final = re.compile(r", [^\W\d_a-z]")
_MAX_CACHED: Final = 10_000


class MentionFeatures(NamedTuple):
    """The features of the candidates of the mentions of one text.

    `owner`: index of the mention of each candidate.
    `candidates`: one row of `FEATURES` per candidate.
    `mentions`: one row of `MENTION_FEATURES` per mention.
    """

    owner: Longs
    candidates: Floats
    mentions: Floats


class _Entries(NamedTuple):
    """Lists of integers, such as words or neighbours, of the candidates of a surface form, one after the other.

    `values`: the integers.
    `counts`: number of integers of each candidate.
    """

    values: Longs
    counts: Longs


class _Surface(NamedTuple):
    """A surface form with its candidates, and all that depends only on these.

    `codes`: entity codes of the candidates; 0 for an entity that the lexicon lacks.
    `is_known`: whether the lexicon has the entity, as 0 or 1.
    `shares`: score of each candidate.
    `lexical`: one row of `LEXICAL` per candidate.
    `mention`: values of `MENTION_FEATURES`.
    `text_words`, `neighbour_words`, `neighbours`: words and neighbours of the candidates.
    `top_neighbours`, `top_weight`: neighbours of the first candidate, and its share.
    `self_sums`: what the surface form itself adds to each sum over the text, one column per sum of `_compare_context`.
    """

    candidates: tuple[Candidate, ...]
    codes: Longs
    is_known: Floats
    shares: Floats
    lexical: Floats
    mention: Floats
    text_words: _Entries
    neighbour_words: _Entries
    neighbours: _Entries
    top_neighbours: Longs
    top_weight: float
    self_sums: Floats

    def has_candidates(self, candidates: tuple[Candidate, ...]) -> bool:
        """Return whether these are the candidates; the usual case, the same object, is fast."""
        return self.candidates is candidates or self.candidates == candidates


@dataclass(frozen=True, eq=False)
class FeatureExtractor:
    """The computation of features for the entities of a lexicon."""

    lexicon: Lexicon = field(repr=False)
    tables: EntityTables = field(repr=False)
    _cache: dict[str, _Surface] = field(default_factory=dict, repr=False)

    @cached_property
    def _buffers(self) -> tuple[Floats, Floats, Floats]:
        """Arrays of zeros, by word and twice by entity, which are used for one surface form and then cleared."""
        return np.zeros(len(self.tables.idf)), np.zeros(len(self.tables.rarity)), np.zeros(len(self.tables.rarity))

    def extract(self, text: str, predictions: Sequence[Prediction]) -> MentionFeatures:
        """Return the features of all candidates of some mentions of a text; each mention must have candidates."""
        variants: dict[str, list[int]] = {}
        entries: list[_Surface] = []
        numbers = []
        for prediction in predictions:
            surface, candidates = text[prediction.start : prediction.end], prediction.candidates
            indices = variants.setdefault(surface, [])
            # Mentions of one surface form differ in their candidates if a stage added the gold entity of one of them.
            number = next((index for index in indices if entries[index].has_candidates(candidates)), len(entries))
            if number == len(entries):
                indices.append(number)
                entries.append(self._get_surface(surface, candidates))
            numbers.append(number)
        context = self._compare_context(text, entries, [entries[indices[0]] for indices in variants.values()])
        sizes = np.array([len(entry.codes) for entry in entries])
        starts = np.cumsum(sizes) - sizes
        mention_sizes = sizes[numbers]
        rows = np.arange(int(mention_sizes.sum())) + np.repeat(
            starts[numbers] - (np.cumsum(mention_sizes) - mention_sizes), mention_sizes
        )
        owner = np.repeat(np.arange(len(predictions)), mention_sizes)
        by_surface = np.hstack([np.concatenate([entry.lexical for entry in entries]), context])[rows]
        cues = np.array([_find_cues(text, prediction.start, prediction.end) for prediction in predictions])
        first_type = LEXICAL.index(f"is_{TYPES[0]}")
        types = by_surface[:, first_type : first_type + len(TYPES)]
        crossed = (cues[owner][:, :, None] * types[:, None, :]).reshape(len(rows), len(CUES))
        return MentionFeatures(
            owner, np.hstack([by_surface, crossed]), np.array([entries[number].mention for number in numbers])
        )

    def _get_surface(self, surface: str, candidates: tuple[Candidate, ...]) -> _Surface:
        """Return a surface form with its features, from the cache if its candidates are the same."""
        entry = self._cache.get(surface)
        if entry is None or not entry.has_candidates(candidates):
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            entry = self._cache[surface] = self._describe_surface(surface, candidates)
        return entry

    def _describe_surface(self, surface: str, candidates: tuple[Candidate, ...]) -> _Surface:
        """Compute the features of a surface form and its candidates."""
        lexicon, tables = self.lexicon, self.tables
        codes = np.array([lexicon.codes.get(candidate.entity, -1) for candidate in candidates], np.int64)
        shares = np.array([candidate.score or 0.0 for candidate in candidates])
        order = np.sort(shares)[::-1]
        best_other = np.where(shares == order[0], order[1] if len(order) > 1 else 0.0, order[0])
        popularity = np.where(codes >= 0, tables.log_popularity[codes], 0.0)
        exact, folded = lexicon.find_matches(surface)
        is_exact, is_folded = np.isin(codes, exact), np.isin(codes, folded)
        names = [tables.names[code] if code >= 0 else "" for code in codes.tolist()]
        types = np.where(codes[:, None] >= 0, tables.types[codes], 0.0)
        is_one_word, is_capitals = " " not in surface, surface.isupper() and len(surface) > 1
        lexical = np.column_stack(
            [
                np.log(shares + 1e-4),
                shares,
                shares - best_other,
                np.arange(len(codes)) == 0,
                popularity,
                is_exact,
                is_folded & ~is_exact,
                ~is_exact & ~is_folded,
                [name == surface for name in names],
                [name.casefold() == surface.casefold() for name in names],
                [min(1.0, len(surface) / max(len(name), 1)) for name in names],
                types,
                types * is_one_word,
            ]
        ).astype(float)
        mention = np.array(
            [
                np.log(len(codes)),
                np.log(len(surface)),
                surface.count(" ") + 1,
                is_capitals,
                surface[:1].isupper(),
                any(map(str.isdigit, surface)),
            ],
            float,
        )
        is_known = codes >= 0
        codes = np.maximum(codes, 0)
        top = int(codes[0])
        top_neighbours = tables.neighbours.values[tables.neighbours.starts[top] : tables.neighbours.starts[top + 1]]
        text_words, neighbour_words, neighbours = (
            _Entries(lists.gather(codes)[0], lists.starts[codes + 1] - lists.starts[codes])
            for lists in (tables.text_words, tables.neighbour_words, tables.neighbours)
        )
        surface_words = [
            code for word in WORD.findall(surface.lower()) if (code := tables.vocabulary.get(word)) is not None
        ]
        top_weight = float(shares[0] * is_known[0])
        words, own_shares, own_links = self._buffers
        words[surface_words] = tables.idf[surface_words]
        np.add.at(own_shares, codes, shares * is_known)
        own_links[top_neighbours] = top_weight
        self_sums = np.column_stack(
            [
                _sum_entries(words[text_words.values], text_words.counts),
                _sum_entries(words[neighbour_words.values], neighbour_words.counts),
                own_shares[codes],
                _sum_entries(own_shares[neighbours.values], neighbours.counts),
                own_links[codes],
                _sum_entries(own_links[neighbours.values] * tables.rarity[neighbours.values], neighbours.counts),
            ]
        )
        words[surface_words], own_shares[codes], own_links[top_neighbours] = 0.0, 0.0, 0.0
        return _Surface(
            candidates,
            codes,
            is_known.astype(float),
            shares,
            lexical,
            mention,
            text_words,
            neighbour_words,
            neighbours,
            top_neighbours,
            top_weight,
            self_sums,
        )

    def _compare_context(self, text: str, surfaces: Sequence[_Surface], supporters: Sequence[_Surface]) -> Floats:
        """Return one row of `CONTEXT` per candidate of each surface form; 0 where the lexicon lacks the entity.

        Sums go over the whole text: over `supporters`, each surface form once, even if `surfaces` has it several times
        with other candidates. What the surface form itself adds to a sum is then subtracted.
        """
        tables = self.tables
        get = tables.vocabulary.get
        text_words = set(WORD.findall(text.lower()))
        topics = np.zeros(len(_TOPICS))
        for word in text_words & _TOPIC_WORDS.keys():
            topics[_TOPIC_WORDS[word]] += 1.0
        topics = np.minimum(topics / (_TOPIC_SHARE * max(len(text_words), 1)), 1.0)
        word_weights = np.zeros(len(tables.idf))
        present = np.array([code for code in map(get, text_words) if code is not None], np.int64)
        word_weights[present] = tables.idf[present]
        codes = np.concatenate([surface.codes for surface in surfaces])
        is_known = np.concatenate([surface.is_known for surface in surfaces])
        owner = np.repeat(np.arange(len(surfaces)), [len(surface.codes) for surface in surfaces])
        n_codes = len(tables.rarity)
        shares = np.bincount(
            np.concatenate([surface.codes for surface in supporters]),
            np.concatenate([surface.shares * surface.is_known for surface in supporters]),
            n_codes,
        ).astype(float)
        links = np.bincount(
            np.concatenate([surface.top_neighbours for surface in supporters]),
            np.repeat(
                [surface.top_weight for surface in supporters],
                [len(surface.top_neighbours) for surface in supporters],
            ),
            n_codes,
        ).astype(float)
        word_lists, name_lists, neighbour_lists = (
            _Entries(np.concatenate([part.values for part in parts]), np.concatenate([part.counts for part in parts]))
            for parts in (
                [surface.text_words for surface in surfaces],
                [surface.neighbour_words for surface in surfaces],
                [surface.neighbours for surface in surfaces],
            )
        )
        sums = np.column_stack(
            [
                _sum_entries(word_weights[word_lists.values], word_lists.counts),
                _sum_entries(word_weights[name_lists.values], name_lists.counts),
                shares[codes],
                _sum_entries(shares[neighbour_lists.values], neighbour_lists.counts),
                links[codes],
                _sum_entries(
                    links[neighbour_lists.values] * tables.rarity[neighbour_lists.values], neighbour_lists.counts
                ),
            ]
        )
        sums = np.maximum(sums - np.concatenate([surface.self_sums for surface in surfaces]), 0.0)
        types = tables.types[codes]
        top_types, support = (
            tables.types[[surface.codes[0] for surface in part]] * np.array([[surface.top_weight] for surface in part])
            for part in (surfaces, supporters)
        )
        other_types = (support.sum(axis=0) - top_types)[owner] / max(len(supporters) - 1, 1)
        columns = [
            sums[:, 0] / tables.text_norms[codes],
            sums[:, 1] / tables.neighbour_norms[codes],
            np.minimum(sums[:, 2], 1.0),
            np.log1p(sums[:, 3]),
            np.log1p(sums[:, 4]),
            np.log1p(sums[:, 5] / np.sqrt(1.0 + neighbour_lists.counts)),
            (types * other_types).sum(axis=1),
            *(topic * column for topic in topics for column in types.T),
        ]
        return np.asarray(np.column_stack(columns) * is_known[:, None])


def _sum_entries(weights: Floats, counts: Longs) -> Floats:
    """Return the sums of consecutive parts of `weights`; `counts` are the lengths of the parts."""
    totals = np.concatenate([np.zeros(1), np.cumsum(weights)])
    ends = np.cumsum(counts)
    return np.asarray(totals[ends] - totals[ends - counts])


def _find_cues(text: str, start: int, end: int) -> list[bool]:
    """Return which cues the words next to a span give, in the order of `_CUES`."""
    part = text[max(0, start - 20) : start]
    if part[-1:] == " " and (word := part[:-1].rpartition(" ")[2]).isalnum():
        word_before = word.lower()  # the usual case, without the slower expression
    else:
        before = _BEFORE.search(part)
        word_before = before[1].lower() if before else ""
    after = _AFTER.match(text, end)
    word_after = after[1].lower() if after else ""
    return [
        word_before in _WORDS_BEFORE["title"],
        word_before in _WORDS_BEFORE["preposition"],
        word_before in _WORDS_BEFORE["article"],
        word_after in _WORDS_AFTER["verb"],
        _COMMA.match(text, end) is not None,
    ]
