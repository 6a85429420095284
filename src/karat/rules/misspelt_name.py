"""A mention is not a misspelt name of its entity.

The surface is compared with every name and alias that the knowledge base or the label knows, and a single word also
with the words of these, by the number of letters to insert, delete, replace or swap, word by word. Case, accents,
punctuation and blanks are no misspelling, nor is another ending of a word, which may be an inflection, a short form or
a demonym, nor another number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import combining, normalize

from karat.facts.ids import spellings
from karat.facts.labels import plain
from karat.model.document import Document, Label
from karat.spec.rule import Context, Finding, Rule

_SHORTEST, _LONGEST = 5, 100  # letters of a surface that is compared
_LETTERS = 4  # of so many letters one may differ
_ENDING = 3  # letters at the end that may, if they are not most of the word
_OTHER = re.compile(r"[\W_]+")
_DIGIT = re.compile(r"\d+")


def _find(document: Document, context: Context) -> Iterator[Finding]:
    for label in document.labels:
        surface = document.text[label.start : label.end]
        if not plain(label) or not isinstance(label.entity, str) or len(surface) > _LONGEST:
            continue
        names = _names(label, context)
        if (meant := _meant(surface, frozenset(names))) is not None:
            says = f"much like {meant!r}, but not the same"
            yield Finding.at(document, label, says, "Check the spelling and the link")


def _names(label: Label, context: Context) -> Iterator[str]:
    """What the entity of a label is called."""
    if label.name is not None:
        yield label.name
    assert isinstance(label.entity, str)
    for id in spellings(label.entity):
        yield from context.names.get(id, ())


@lru_cache(maxsize=1 << 14)
def _meant(surface: str, names: frozenset[str]) -> str | None:
    """The name that a surface misspells, the nearest and then the first; None if it is one, or like none."""
    folded = _folded(surface)
    known = {_folded(name): name for name in sorted(names, reverse=True) if len(name) <= _LONGEST}
    words = {word: word for name in known for word in name.split()} if " " not in folded else {}
    bare = {name.replace(" ", "") for name in known}
    if len(folded) < _SHORTEST or folded in words or folded.replace(" ", "") in bare:
        return None
    limit = len(folded) // _LETTERS
    measured = ((_differing(folded, other, limit), name) for other, name in {**words, **known}.items())
    near = [(distance, name) for distance, name in measured if distance is not None]
    return min(near)[1] if near else None


def _differing(surface: str, name: str, limit: int) -> int | None:
    """The number of letters in which two texts differ; None where they are no spellings of the same words."""
    if abs(len(surface) - len(name)) > limit or _DIGIT.findall(surface) != _DIGIT.findall(name):
        return None
    one, two = surface.split(), name.split()
    pairs = [(a, b) for a, b in zip(one, two, strict=False) if a != b]
    if len(one) != len(two) or all(_only_ends(a, b) for a, b in pairs):
        return None
    distance = sum(_distance(a, b) for a, b in pairs)
    return distance if distance <= limit else None


def _folded(text: str) -> str:
    """A text without case, accents and punctuation."""
    bare = "".join(sign for sign in normalize("NFKD", text.casefold()) if not combining(sign))
    return _OTHER.sub(" ", bare).strip()


def _only_ends(one: str, two: str) -> bool:
    """Whether two words differ in their endings only, and not because letters of these are swapped."""
    same = next((place for place, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    longer = max(len(one), len(two))
    return longer - same <= min(_ENDING, longer // 2) and sorted(one) != sorted(two)


def _distance(one: str, two: str) -> int:
    """The number of letters to insert, delete, replace, or swap with the next one."""
    before: list[int] = []
    last = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(two, 1):
            best = min(last[j] + 1, row[-1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and one[i - 2] == b:
                best = min(best, before[j - 2] + 1)
            row.append(best)
        before, last = last, row
    return last[-1]


RULE = Rule(
    title="Misspelt name",
    says="A mention is not a misspelt name of its entity (by the names and aliases of --kb, or of the label).",
    severity="hint",
    find=_find,
)
