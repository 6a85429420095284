"""What people would annotate, as `karat verify report` prints and writes it for a survey."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from karat.fitting import counted, wrapped
from karat.pages.files import Written, line
from karat.pages.tables import aligned

if TYPE_CHECKING:
    from karat.verification.surveys import Survey, SurveyPassage


class SurveyedLink(Written, frozen=True):
    """A link that was proposed, its categories in the gold standard, how many would give it, and their share."""

    entity: str
    categories: tuple[str, ...]
    chosen: int
    ratio: float | None


class SurveyedMention(Written, frozen=True):
    """A mention: how many were asked, how many would annotate it, their share, and the links, most wanted first."""

    document: str
    start: int
    end: int
    surface: str
    asked: int
    annotated: int
    ratio: float | None
    links: tuple[SurveyedLink, ...]


class SurveyFile(Written, frozen=True):
    """What `karat verify report --json` writes for a survey."""

    layout: Literal["karat-survey/1"]
    campaign: str
    dataset: str
    people: int
    mentions: tuple[SurveyedMention, ...]
    left_out: Mapping[str, int]


def json_of(found: Iterable[Survey]) -> bytes:
    """All of it, a line for each survey."""
    return b"".join(line(_file(one)) for one in found)


def _file(one: Survey) -> SurveyFile:
    mentions = tuple(
        SurveyedMention(
            mention.place.document,
            mention.place.start,
            mention.place.end,
            mention.surface,
            mention.asked,
            mention.annotated,
            mention.ratio,
            tuple(SurveyedLink(*link) for link in mention.links),
        )
        for passage in one.passages
        for mention in passage.mentions
    )
    return SurveyFile("karat-survey/1", one.name, one.dataset, one.people, mentions, one.left_out)


def page(found: Sequence[Survey], width: int | None = None) -> str:
    """The texts with the share of people who would annotate each mention, and the links with theirs."""
    return "\n\n".join(_page(one, width) for one in found) + "\n"


def _page(one: Survey, width: int | None) -> str:
    head = f"{one.name}: {one.dataset}, {counted(one.people, 'person', 'people')} asked"
    texts = [in_text(passage) for passage in one.passages]
    notes = [f"not counted: {count} {why}" for why, count in one.left_out.items()]
    legend = (
        "ratios are shares of those asked who would annotate the words, and who would give them a link; – is nobody"
    )
    table = aligned(_rows(one.passages), (0, 1), width=width)
    return wrapped("\n\n".join([head, *texts, table, "\n".join([legend, *notes])]), width)


def in_text(passage: SurveyPassage) -> str:
    """A passage with its mentions in brackets, and the ratio of each behind it: [[King].08 of [Pop].33].94."""
    opened: dict[int, list[int]] = {}
    closed: dict[int, list[tuple[int, str]]] = {}
    for mention in passage.mentions:
        start, end = mention.place.start - passage.start, mention.place.end - passage.start
        opened.setdefault(start, []).append(end)
        closed.setdefault(end, []).append((start, f"]{_ratio(mention.ratio)}"))
    found = []
    for place in range(len(passage.text) + 1):
        found += [mark for _, mark in sorted(closed.get(place, ()), reverse=True)]
        found += "[" * len(opened.get(place, ()))
        found += passage.text[place : place + 1]
    return " ".join("".join(found).split())


def _rows(passages: Iterable[SurveyPassage]) -> list[list[str]]:
    rows = [["mention", "link", "of", "annotate", "ratio"]]
    for passage in passages:
        for mention in passage.mentions:
            for place, link in enumerate(mention.links):
                head = [mention.surface, link.entity, str(mention.asked), _ratio(mention.ratio)]
                rows.append([*(head if place == 0 else ["", link.entity, "", ""]), _ratio(link.ratio)])
    return rows


def _ratio(value: float | None) -> str:
    """As papers print ratios: .19, and 1 for all."""
    return "–" if value is None else "1" if value == 1 else "0" if value == 0 else f"{value:.2f}".removeprefix("0")
