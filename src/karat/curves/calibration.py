"""The scores of answers and how right each is: for calibration, and for risk over coverage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from karat.curves.threshold import only_view
from karat.errors import UsageError
from karat.evaluation.cases.ranked import counted
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.signature import Signature
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats
from karat.stats.calibration import RiskCoverage, aurc, excess_aurc, risk_coverage


@dataclass(frozen=True, eq=False)
class ScoredAnswers:
    """All answers of a run that count in one view and have a score: the scores, and how right each is, from 0 to 1.

    `answers` is how many count, with a score or without.
    """

    signature: Signature
    corpus: str
    run: str
    view: str
    scores: Floats = field(repr=False)
    right: Floats = field(repr=False)
    answers: int

    @property
    def coverage(self) -> RiskCoverage:
        """How many of the scored answers are wrong as ever more of them are kept, from the highest score on."""
        return risk_coverage(self.scores, self.right)

    @property
    def aurc(self) -> float | None:
        """The area under the curve of risk over coverage; None without scored answers."""
        return aurc(self.scores, self.right)

    @property
    def excess_aurc(self) -> float | None:
        """How much of that area is due to the order of the scores."""
        return excess_aurc(self.scores, self.right)

    @property
    def table(self) -> Arrow:
        """One row for each distinct score, from the highest on: what is kept at or above it."""
        found = self.coverage
        columns = {"score": found.score, "kept": found.kept, "coverage": found.coverage, "risk": found.risk}
        runs = pa.array([self.run] * len(found.score), pa.string())
        return pa.table({"run": runs, **{name: pa.array(column) for name, column in columns.items()}})


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
    scores, right = view.scored()
    answers = len(counted(found.verdicts(name)))
    return ScoredAnswers(found.signature, corpus.name, run.name, name, scores, right, answers)
