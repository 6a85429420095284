"""The scores of answers and how right each is, for charts of calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from karat.curves.threshold import only_view
from karat.errors import UsageError
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
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
    request = Request.of(like=like, choices=given, kb=kb, allow_unknown=allow_unknown)
    name = str(only_view(request))
    found = Evaluation.of(request.but(measures=[f"{name}:ece"]), corpus, run)
    view = found.views[name]
    if view.scored is None or view.whole:
        raise UsageError(f"{name} cannot be divided into documents, and has no scored answers. Choose a relation.")
    return ScoredAnswers(found.signature, corpus.name, run.name, name, *view.scored())
