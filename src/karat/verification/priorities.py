"""What is judged, and what first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from karat.errors import UnknownNameError
from karat.verification.posthoc import LinkAt


class Sighted(NamedTuple):
    """A link of one source, and what the others have there: `same` have this link, `rivals` another on its words.

    `rivals` says how many systems give each other entity; `systems` is how many there are beside the gold standard.
    """

    gold: bool
    same: int
    in_gold: bool
    rivals: Mapping[str, int]
    systems: int


class Priority(NamedTuple):
    """Which links are shown, and which tasks come first: those with the highest value of any of their links."""

    says: str
    shows: Callable[[Sighted], bool]
    value: Callable[[Sighted], int] = lambda _: 0


def _suspicion(link: Sighted) -> int:
    """How many systems agree on another entity, less those that confirm the gold; systems' own links come last."""
    if not link.gold:
        return -link.systems - 1
    return max(link.rivals.values(), default=0) - link.same


PRIORITIES: Final[Mapping[str, Priority]] = {
    "all": Priority("all links, at random", lambda _: True),
    "disagreements": Priority("links that not all sources have", lambda link: link.same < link.systems),
    "false-positives": Priority("links of systems that the gold standard does not have", lambda link: not link.in_gold),
    "suspicious": Priority(
        "all links; first gold that most systems agree to link otherwise", lambda _: True, _suspicion
    ),
}


def priority(name: str) -> Priority:
    """What is judged first, by its name."""
    if name not in PRIORITIES:
        raise UnknownNameError("priority", name, PRIORITIES)
    return PRIORITIES[name]


def sightings(sources: Sequence[Iterable[LinkAt]]) -> list[dict[LinkAt, Sighted]]:
    """What the sources have beside each other; the first is the gold standard."""
    every = [frozenset(links) for links in sources]
    there = [_by_document(links) for links in every]
    return [{link: _sighted(link, place, every, there) for link in links} for place, links in enumerate(every)]


def _by_document(links: Iterable[LinkAt]) -> Mapping[str, list[LinkAt]]:
    found = defaultdict(list)
    for link in links:
        found[link.document].append(link)
    return found


def _sighted(
    link: LinkAt, place: int, every: Sequence[frozenset[LinkAt]], there: Sequence[Mapping[str, list[LinkAt]]]
) -> Sighted:
    others = [other for other in range(len(every)) if other != place]
    rivals: Counter[str] = Counter()
    for system in (other for other in others if other):
        near = there[system].get(link.document, ())
        rivals.update({one.entity for one in near if one.overlaps(link) and one.entity != link.entity})
    same = sum(link in every[other] for other in others)
    return Sighted(place == 0, same, link in every[0], rivals, len(every) - 1)
