"""Survey results, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from karat.model.output.json_files import JsonFile, build_record, encode_line
from karat.model.output.text_layout import format_count, wrap_text
from karat.protocols.verification.surveys import MentionRatio
from karat.render.tables import draw_text

if TYPE_CHECKING:
    from karat.protocols.verification.store.store import JudgeStatus
    from karat.protocols.verification.surveys import Survey, SurveyPassage


class SurveyFile(JsonFile, frozen=True, tag="karat-survey/2"):
    """The output of `karat verify survey --json`."""

    campaign: str
    dataset: str
    people: int
    mentions: tuple[MentionRatio, ...]
    excluded: Mapping[str, int]


def to_json(surveys: Iterable[Survey]) -> bytes:
    """Encode each survey as one JSON line."""
    return b"".join(encode_line(_build_file(survey)) for survey in surveys)


def _build_file(survey: Survey) -> SurveyFile:
    """Return the JSON record of a survey."""
    mentions = tuple(mention for passage in survey.passages for mention in passage.mentions)
    return build_record(SurveyFile, survey, campaign=survey.name, mentions=mentions)


def render_page(surveys: Sequence[Survey], width: int | None = None) -> str:
    """Render texts with the share of people who would annotate each mention, and its links with their shares.

    `width`: columns to wrap at; None does not wrap.
    """
    return "\n\n".join(_render_survey(survey, width) for survey in surveys) + "\n"


def _render_survey(survey: Survey, width: int | None) -> str:
    """Render one survey: heading, passages, table of links, legend and exclusions.

    `width`: columns to wrap at; None does not wrap.
    """
    head = f"{survey.name}: {survey.dataset}, {format_count(survey.people, 'person', 'people')}"
    texts = [format_passage(passage) for passage in survey.passages]
    notes = [f"not counted: {count} {reason}" for reason, count in survey.excluded.items()]
    legend = "ratio: share of respondents who would annotate the mention or choose the link; –: no respondents"
    table = draw_text(_build_rows(survey.passages), (0, 1), width=width)
    return wrap_text("\n\n".join([head, *texts, table, "\n".join([legend, *notes])]), width)


def format_passage(passage: SurveyPassage) -> str:
    """Return a passage with its mentions in brackets, each followed by its ratio: [[King].08 of [Pop].33].94."""
    ends_by_start: dict[int, list[int]] = {}
    closings_by_end: dict[int, list[tuple[int, str]]] = {}
    for mention in passage.mentions:
        start, end = mention.start - passage.start, mention.end - passage.start
        ends_by_start.setdefault(start, []).append(end)
        closings_by_end.setdefault(end, []).append((start, f"]{_format_ratio(mention.ratio)}"))
    parts = []
    for offset in range(len(passage.text) + 1):
        parts += [mark for _, mark in sorted(closings_by_end.get(offset, ()), reverse=True)]
        parts += "[" * len(ends_by_start.get(offset, ()))
        parts += passage.text[offset : offset + 1]
    return " ".join("".join(parts).split())


def _build_rows(passages: Iterable[SurveyPassage]) -> list[list[str]]:
    """Return a table with a row per proposed link; the first link of a mention also has its surface and ratio."""
    rows = [["mention", "link", "of", "annotate", "ratio"]]
    for passage in passages:
        for mention in passage.mentions:
            for index, link in enumerate(mention.links):
                head = [mention.surface, link.entity, str(mention.respondents), _format_ratio(mention.ratio)]
                rows.append([*(head if index == 0 else ["", link.entity, "", ""]), _format_ratio(link.ratio)])
    return rows


def _format_ratio(value: float | None) -> str:
    """Format a ratio as in papers: .19, and 1 for all; `–` for None."""
    return "–" if value is None else "1" if value == 1 else "0" if value == 0 else f"{value:.2f}".removeprefix("0")


def render_judges(judges: Sequence[JudgeStatus], width: int | None = None) -> str:
    """Render the judges as a table: worker, completed tasks, control result, completion code and access.

    `width`: columns to wrap at; None does not wrap.
    """
    if not judges:
        return "no judge has entered"
    head = ["worker", "tasks", "controls", "code", "access"]
    rows = [
        [
            f"(anonymised {judge.judge})" if judge.worker is None else judge.worker,
            str(judge.done),
            judge.control_result,
            judge.code,
            "revoked" if judge.is_revoked else "yes",
        ]
        for judge in judges
    ]
    return str(draw_text([head, *rows], (0, 2, 3, 4), width=width))
