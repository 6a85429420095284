"""A mention is not a misspelt name of its entity.

The surface is compared with every name and alias in the knowledge base or the label; a single word is also compared
with the words of these names. The distance is the number of letters to insert, delete, replace or swap, word by word.
Differences in case, accents, punctuation and spaces are ignored. Other endings (inflections, short forms, demonyms) and
other numbers are not misspellings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import combining, normalize

from karat.matching.facts.document_ids import spellings
from karat.matching.facts.labels import is_plain
from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule

_MIN_LENGTH, _MAX_LENGTH = 5, 100  # characters of a surface that is compared
_LETTERS_PER_ERROR = 4  # one error is allowed per this many letters
_MAX_ENDING = 3  # letters at the end that may differ, unless they are most of the word
_PUNCTUATION = re.compile(r"[\W_]+")
_DIGIT = re.compile(r"\d+")


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report linked labels whose surface is similar, but not equal, to a name of their entity.

    Coreference, optional labels and very long surfaces are ignored.
    """
    for label in document.labels:
        surface = document.text[label.start : label.end]
        if not is_plain(label) or not isinstance(label.entity, str) or len(surface) > _MAX_LENGTH:
            continue
        names = _list_names(label, context)
        if (name := _find_similar_name(surface, frozenset(names))) is not None:
            description = f"similar to {name!r}, but not equal"
            yield Finding.from_label(document, label, description, "Check the spelling and the link")


def _list_names(label: Label, context: LintContext) -> Iterator[str]:
    """Yield the names of a linked label's entity, in the label and in the knowledge base."""
    if label.name is not None:
        yield label.name
    assert isinstance(label.entity, str)
    for id in spellings(label.entity):
        yield from context.names.get(id, ())


@lru_cache(maxsize=1 << 14)
def _find_similar_name(surface: str, names: frozenset[str]) -> str | None:
    """Return the name, or word of a name, that the surface most probably misspells.

    None means that the surface equals a name, is too short, or resembles none.
    """
    folded = _fold_text(surface)
    folded_names = {_fold_text(name): name for name in sorted(names, reverse=True) if len(name) <= _MAX_LENGTH}
    words = {word: word for name in folded_names for word in name.split()} if " " not in folded else {}
    joined_names = {name.replace(" ", "") for name in folded_names}
    if len(folded) < _MIN_LENGTH or folded in words or folded.replace(" ", "") in joined_names:
        return None
    limit = len(folded) // _LETTERS_PER_ERROR
    distances = ((_count_differences(folded, other, limit), name) for other, name in {**words, **folded_names}.items())
    candidates = [(distance, name) for distance, name in distances if distance is not None]
    return min(candidates)[1] if candidates else None


def _count_differences(surface: str, name: str, limit: int) -> int | None:
    """Return the edit distance of two folded texts, summed over their words.

    None means more than `limit`, or no misspelling: another number of words, other digits, or only other endings.
    """
    if abs(len(surface) - len(name)) > limit or _DIGIT.findall(surface) != _DIGIT.findall(name):
        return None
    surface_words, name_words = surface.split(), name.split()
    pairs = [(a, b) for a, b in zip(surface_words, name_words, strict=False) if a != b]
    if len(surface_words) != len(name_words) or all(_differ_only_in_ending(a, b) for a, b in pairs):
        return None
    distance = sum(_edit_distance(a, b) for a, b in pairs)
    return distance if distance <= limit else None


def _fold_text(text: str) -> str:
    """Return a text in lower case, without accents and with a space for punctuation."""
    letters = "".join(character for character in normalize("NFKD", text.casefold()) if not combining(character))
    return _PUNCTUATION.sub(" ", letters).strip()


def _differ_only_in_ending(first: str, second: str) -> bool:
    """Return whether two words differ only in their last letters: three at most, and at most half of the longer word.

    False for words with the same letters in another order.
    """
    n_equal = next(
        (index for index, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )
    longer = max(len(first), len(second))
    return longer - n_equal <= min(_MAX_ENDING, longer // 2) and sorted(first) != sorted(second)


def _edit_distance(first: str, second: str) -> int:
    """Return the minimum number of letters to insert, delete, replace, or swap with the next one."""
    row_before_last: list[int] = []
    previous_row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        row = [i]
        for j, b in enumerate(second, 1):
            best = min(previous_row[j] + 1, row[-1] + 1, previous_row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                best = min(best, row_before_last[j - 2] + 1)
            row.append(best)
        row_before_last, previous_row = previous_row, row
    return previous_row[-1]


RULE = Rule(
    title="Misspelt name",
    description="A mention is not a misspelt name of its entity, according to the names in --kb or in the label.",
    severity="hint",
    find=_find,
)
