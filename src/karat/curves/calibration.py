"""The scores of answers and how right each is, for charts of calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from karat.errors import UsageError
from karat.evaluation.evaluate import count_views
from karat.evaluation.request import setting
from karat.kb.protocol import KB
from karat.matching.read.pairing import BLOCK
from karat.model.corpus import Corpus
from karat.model.name import parse_measure
from karat.model.run import Run
from karat.model.signature import Signature
from karat.model.tables.columns import Floats


@dataclass(frozen=True, eq=False)
class ScoredAnswers:
    """All answers of a run that count in one view and have a score: the scores, and how right each is, from 0 to 1."""

    signature: Signature
    corpus: str
    run: str
    view: str
    scores: Floats = field(repr=False)
    right: Floats = field(repr=False)


def scored_answers(
    corpus: Corpus,
    run: Run,
    *,
    match: str = "strong",
    like: str = "karat",
    choices: Mapping[str, str] | None = None,
    kb: KB | None = None,
    allow_unknown: bool = False,
) -> ScoredAnswers:
    """The scored answers of a run, without any threshold."""
    given = {**(choices or {}), "match": match, "threshold": "none"}
    todo = setting(corpus, run, like=like, choices=given, kb=kb, allow_unknown=allow_unknown)
    views = list(dict.fromkeys(str(name.view) for name in todo.wanted if not name.view.filters))
    if len(views) != 1:
        raise UsageError("calibration is that of one relation. Choose one.")
    plans = todo.planner().plans([parse_measure(f"{views[0]}:ece")])
    found, _ = count_views(todo, plans, BLOCK, keep=set(views), found={})
    scored = found[views[0]].scored
    if scored is None or found[views[0]].whole:
        raise UsageError(f"{views[0]} cannot be divided into documents, and has no scored answers. Choose a relation.")
    scores, right = scored()
    return ScoredAnswers(todo.signature, corpus.name, run.name, views[0], scores, right)
