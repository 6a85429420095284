"""One answer, several verdicts: what every case earns under the strictest rule, and under kinder ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from karat.archive.shape import CreditWay
from karat.errors import KaratError
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.kb.any_spelling import AnySpelling
from karat.kb.opened import starter
from karat.kb.pack.pack import Pack
from karat.kb.protocol import KB
from karat.kb.relatedness import InLinks
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.tables.arrow import Arrow
from karat.pages.files import Written
from karat.spec.choices.conventions import Ids

_Answer: TypeAlias = tuple[Any, ...]
"""What an answer is known by, whatever is read of it: document, span and link."""

_KEY: Final = ("document", "answer_start", "answer_end", "answer_entity", "answer_nil")


class Way(NamedTuple):
    """A way to judge: the default profile but for some choices. `earned` is the column of what a right answer gets."""

    title: str
    says: str
    choices: Mapping[str, str]
    view: str = "strong"
    earned: str = "matched_answer"


WAYS: Final[Mapping[str, Way]] = {
    "strict": Way(
        "strict",
        "Span and link are exactly those of a label; optional mentions and every alternative count like all others.",
        {"optional": "required", "alternatives": "separate"},
    ),
    "fair": Way(
        "fair",
        "As the paper behind ELEVANT: one of several alternatives is enough, and what is optional is not counted.",
        {"optional": "ignored", "alternatives": "unit"},
    ),
    "fuzzy": Way(
        "fuzzy",
        "As the fine-grained paper at alpha 0.5: a right answer earns what its mention weighs, half a point for "
        "mentions that not everybody would annotate.",
        {"membership": "strict:0.5"},
        earned="matched_gold",
    ),
    "related": Way(
        "related",
        "An entity that is related to the right one by 0.5 or more is right too, as Milne and Witten measure it.",
        {},
        view="related",
    ),
}
"""The ways, from the strictest on; what people say comes with verification."""


class CreditsFile(Written, frozen=True):
    """What is kept of a system on a dataset: for each way what every case earns, in the order of its verdicts."""

    layout: Literal["karat-credits/1"]
    ways: list[CreditWay]
    credits: list[list[float | None]]


def credits_of(cases: Arrow, request: Request, corpus: Corpus, run: Run) -> CreditsFile:
    """What every case earns in every way."""
    keys = _keys(cases)
    ways, credits = [], []
    for name, way in WAYS.items():
        refused = None
        try:
            earned = _earned(way, request, corpus, run)
        except KaratError as problem:
            earned, refused = {}, str(problem)
        ways.append(CreditWay(name, way.title, way.says, "karat", way.view, refused))
        credits.append([earned.get(key) for key in keys])
    return CreditsFile("karat-credits/1", ways, credits)


def _earned(way: Way, request: Request, corpus: Corpus, run: Run) -> dict[_Answer, float | None]:
    asked = Request.of(
        choices=way.choices,
        measures=[f"{way.view}:micro.f1"],
        kb=with_links(request.kb) if way.view == "related" else request.kb,
        allow_unknown=request.allow_unknown,
    )
    table = Evaluation.of(asked, corpus, run).table(way.view)
    found: dict[_Answer, float | None] = {}
    right, wrong, credit = (
        table.column(name).to_pylist() for name in ("matched_answer", "unmatched_answer", way.earned)
    )
    for key, matched, unmatched, worth in zip(_keys(table), right, wrong, credit, strict=True):
        earned = round(worth, 4) if matched else 0.0 if unmatched else None
        if earned is not None and key[1] is not None:  # a mention without an answer earns nothing
            found[key] = max(found.get(key) or 0.0, earned)
    return found


def _keys(table: Arrow) -> list[_Answer]:
    return list(zip(*(table.column(name).to_pylist() for name in _KEY), strict=True))


def with_links(kb: KB | None) -> KB:
    """A knowledge base that knows what is related: the one that is given, or else the one that is built in."""
    own = kb.base if isinstance(kb, AnySpelling) else kb
    return own if isinstance(own, Pack) and own.table("links") is not None else starter()


def relatedness(cases: Arrow, kb: KB | None) -> Arrow:
    """How related what was answered is to what is right, for every wrong link; null where nobody can say."""
    pack = with_links(kb)
    assert isinstance(pack, Pack), "only packs have links"
    gold, answered = (cases.column(f"{side}_entity").to_pylist() for side in ("gold", "answer"))
    wrong = [
        place
        for place, outcome in enumerate(cases.column("outcome").to_pylist())
        if outcome == "wrong link" and gold[place] is not None and answered[place] is not None
    ]
    values: list[float | None] = [None] * len(gold)
    if wrong:
        spelled = AnySpelling(pack, Ids.NORMALISED)
        ids = [pack.canonical(spelled.own_ids([side[place] for place in wrong])) for side in (gold, answered)]
        found = InLinks.about(pack, [*ids[0], *ids[1]]).relatedness(*ids)
        for place, value in zip(wrong, found.tolist(), strict=True):
            values[place] = None if np.isnan(value) else value
    return pa.array(values, pa.float64())
