"""Priorities of campaigns: which links are shown, and which tasks come first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from karat.model.errors import UnknownNameError
from karat.protocols.verification.posthoc import TextLink


class LinkOverlap(NamedTuple):
    """A link of one source in relation to the links of the other sources."""

    is_gold: bool
    """Whether the source is the gold standard."""
    n_same: int
    """Number of other sources with the same link."""
    in_gold: bool
    """Whether the gold standard has the link."""
    rivals: Mapping[str, int]
    """Number of systems by other entity on overlapping spans."""
    n_systems: int
    """Number of systems besides the gold standard."""


class Priority(NamedTuple):
    """Selection and order of tasks. Tasks come in descending order of the highest value of their links."""

    description: str
    """Description."""
    shows: Callable[[LinkOverlap], bool]
    """Whether a link is shown."""
    value: Callable[[LinkOverlap], int] = lambda _: 0
    """Value of a link."""


def _rate_suspicion(link: LinkOverlap) -> int:
    """Return how suspicious a gold link is: systems that agree on another entity minus systems with the same link.

    Links of systems get a lower value than any gold link, so that they come last.
    """
    if not link.is_gold:
        return -link.n_systems - 1
    return max(link.rivals.values(), default=0) - link.n_same


PRIORITIES: Final[Mapping[str, Priority]] = {
    "all": Priority("all links, at random", lambda _: True),
    "disagreements": Priority("links that not all sources have", lambda link: link.n_same < link.n_systems),
    "false-positives": Priority("links of systems that the gold standard does not have", lambda link: not link.in_gold),
    "suspicious": Priority(
        "all links; first gold that most systems agree to link otherwise", lambda _: True, _rate_suspicion
    ),
}
"""Priorities by name."""


def get_priority(name: str) -> Priority:
    """Return the priority with this name; raise `UnknownNameError` if there is none."""
    if name not in PRIORITIES:
        raise UnknownNameError("priority", name, PRIORITIES)
    return PRIORITIES[name]


def find_overlaps(sources: Sequence[Iterable[TextLink]]) -> list[dict[TextLink, LinkOverlap]]:
    """Relate each link of each source to the links of the other sources; the first source is the gold standard.

    Return one dictionary per source, in order.
    """
    link_sets = [frozenset(links) for links in sources]
    links_by_document = [_group_by_document(links) for links in link_sets]
    return [
        {link: _link_overlap(link, index, link_sets, links_by_document) for link in links}
        for index, links in enumerate(link_sets)
    ]


def _group_by_document(links: Iterable[TextLink]) -> Mapping[str, list[TextLink]]:
    """Group links by document id."""
    groups = defaultdict(list)
    for link in links:
        groups[link.document].append(link)
    return groups


def _link_overlap(
    link: TextLink,
    index: int,
    link_sets: Sequence[frozenset[TextLink]],
    links_by_document: Sequence[Mapping[str, list[TextLink]]],
) -> LinkOverlap:
    """Relate one link of the source at `index` (0 is gold) to the links of the other sources.

    `link_sets` has the links of each source, `links_by_document` the same links by document.
    """
    others = [other for other in range(len(link_sets)) if other != index]
    rivals: Counter[str] = Counter()
    for system in (other for other in others if other):
        nearby = links_by_document[system].get(link.document, ())
        rivals.update(
            {
                other_link.entity
                for other_link in nearby
                if other_link.overlaps(link) and other_link.entity != link.entity
            }
        )
    same = sum(link in link_sets[other] for other in others)
    return LinkOverlap(index == 0, same, link in link_sets[0], rivals, len(link_sets) - 1)
