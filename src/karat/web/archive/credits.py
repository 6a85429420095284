"""The credit of each case under a strict rule and under more lenient ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.kb.catalogue import open_starter
from karat.kb.ids.normalising_kb import NormalisingKB
from karat.kb.protocol import KB
from karat.kb.relatedness import InLinks
from karat.kb.snapshot.snapshot import Snapshot
from karat.model.errors import KaratError
from karat.model.output.json_files import JsonRecord
from karat.model.results.verdict import Weights
from karat.model.spec.settings.conventions import Ids
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL
from karat.web.archive.shape import CreditRuleInfo

_Prediction: TypeAlias = tuple[Any, ...]
"""The key of a prediction: document, span and link."""

_KEY: Final = ("document", "prediction_start", "prediction_end", "prediction_entity", "prediction_nil")


class CreditRule(NamedTuple):
    """A scoring rule for credits: the profile `karat` with some overrides, and the view to score."""

    title: str
    description: str
    settings: Mapping[str, str]
    view: str = "strong"
    credit_column: str = "matched_prediction"
    """Column with the credit of a correct prediction."""


CREDIT_RULES: Final[Mapping[str, CreditRule]] = {
    "strict": CreditRule(
        "strict",
        "Span and link must equal those of a label. Optional mentions and every alternative count fully.",
        {"optional": "required", "alternatives": "separate"},
    ),
    "fair": CreditRule(
        "fair",
        "As in ELEVANT's paper: one of several alternatives is enough, and optional mentions do not count.",
        {"optional": "ignored", "alternatives": "grouped"},
    ),
    "fuzzy": CreditRule(
        "fuzzy",
        "As in the fine-grained paper at alpha 0.5: a correct prediction earns the weight of its mention, half a point "
        "for non-strict mentions.",
        {"membership": "strict:0.5"},
        credit_column="matched_gold",
    ),
    "related": CreditRule(
        "related",
        "An entity with a Milne-Witten relatedness of at least 0.5 to the gold entity is correct too.",
        {},
        view="related",
    ),
}
"""Scoring rules, strictest first; human judgements come from verification."""


class CreditsFile(JsonRecord, frozen=True):
    """The credits of a system on a dataset: per rule the credit of every case, in the order of its verdicts."""

    layout: Literal["karat-credits/2"]
    rules: list[CreditRuleInfo]
    credits: list[list[float | None]]


def compute_credits(cases: Arrow, evaluation: Evaluation, requests: CreditRequests) -> CreditsFile:
    """Compute the credit of every case of an evaluation under every rule.

    A rule that does not apply gives null and its reason.
    """
    keys = _get_keys(cases)
    rules, credits = [], []
    for name, rule in CREDIT_RULES.items():
        refusal, credit_by_key = None, dict[_Prediction, float]()
        try:
            credit_by_key = _apply_rule(rule, evaluation.with_request(requests.get_request(name, evaluation.request)))
        except KaratError as problem:
            refusal = str(problem)
        rules.append(CreditRuleInfo(name, rule.title, rule.description, "karat", rule.view, refusal))
        credits.append([credit_by_key.get(key) for key in keys])
    return CreditsFile("karat-credits/2", rules, credits)


class CreditRequests:
    """The requests of the credit rules, each made once for all systems that are scored with one knowledge base."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], Request] = {}

    def get_request(self, name: str, request: Request) -> Request:
        """Return the request of the rule `name` with the knowledge base of another request."""
        rule, key = CREDIT_RULES[name], (name, id(request.base_kb))  # which the stored request keeps alive
        if key not in self._requests:
            self._requests[key] = Request.from_options(
                settings=rule.settings,
                measures=[f"{rule.view}:micro.f1"],
                kb=find_kb_with_links(request.kb) if rule.view == "related" else request.kb,
                allow_unknown=request.allow_unknown,
            )
        return self._requests[key]


def _apply_rule(rule: CreditRule, evaluation: Evaluation) -> dict[_Prediction, float]:
    """Return the credit of each prediction that counts in an evaluation under a rule, 0 if it is wrong.

    Of several cases of one prediction the highest credit counts.
    """
    cases, pairing = evaluation.verdicts(rule.view), evaluation.inputs.pairing(evaluation.plans.views[rule.view].source)
    weights = cases.weights()
    right, wrong, credit = (
        weights[:, Weights._fields.index(name)]
        for name in ("matched_prediction", "unmatched_prediction", rule.credit_column)
    )
    counted = np.flatnonzero((cases.prediction >= 0) & ((right != 0) | (wrong != 0)))
    rows, predictions, ids = cases.prediction[counted], pairing.run.predictions, pairing.corpus.ids.to_pylist()
    keys = zip(
        [ids[document] for document in cases.document[counted].tolist()],
        predictions.start[rows].tolist(),
        predictions.end[rows].tolist(),
        predictions.entity_ids(rows).to_pylist(),
        (predictions.entity[rows] == NIL).tolist(),
        strict=True,
    )
    credit_by_key: dict[_Prediction, float] = {}
    for key, worth in zip(keys, np.where(right[counted] != 0, credit[counted], 0.0).tolist(), strict=True):
        credit_by_key[key] = max(credit_by_key.get(key, 0.0), round(worth, 4))
    return credit_by_key


def _get_keys(table: Arrow) -> list[_Prediction]:
    """Return document, span and link of each case's prediction; the span is None in a case without prediction."""
    return list(zip(*(table.column(name).to_pylist() for name in _KEY), strict=True))


def find_kb_with_links(kb: KB | None) -> KB:
    """Return the snapshot of `kb` if it has a table of links between entities, or else the starter snapshot."""
    base = kb.base if isinstance(kb, NormalisingKB) else kb
    return base if isinstance(base, Snapshot) and base.get_table("links") is not None else open_starter()


def compute_relatedness(cases: Arrow, kb: KB | None) -> Arrow:
    """Return a column with the Milne-Witten relatedness of predicted and gold entity for each case.

    The value is null if the case is not a wrong link or the relatedness is unknown.
    """
    snapshot = find_kb_with_links(kb)
    assert isinstance(snapshot, Snapshot), "only snapshots have links"
    gold, predicted = (cases.column(f"{side}_entity").to_pylist() for side in ("gold", "prediction"))
    wrong = [
        index
        for index, outcome in enumerate(cases.column("outcome").to_pylist())
        if outcome == "wrong link" and gold[index] is not None and predicted[index] is not None
    ]
    values: list[float | None] = [None] * len(gold)
    if wrong:
        normalising_kb = NormalisingKB(snapshot, Ids.NORMALISED)
        ids = [
            snapshot.canonical_ids(normalising_kb.find_base_ids([side[index] for index in wrong]))
            for side in (gold, predicted)
        ]
        relatedness = InLinks.from_snapshot(snapshot, [*ids[0], *ids[1]]).relatedness(*ids)
        for index, value in zip(wrong, relatedness.tolist(), strict=True):
            values[index] = None if np.isnan(value) else value
    return pa.array(values, pa.float64())
