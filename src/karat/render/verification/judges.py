"""The judges of a campaign as text, for the lead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.render.tables import draw_text

if TYPE_CHECKING:
    from karat.protocols.verification.store.store import JudgeStatus


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
