"""The default rules written a second time, as plainly as possible: every assignment is tried.

Only counts are compared with Karat's; the code shares nothing with it.
"""

from __future__ import annotations

from collections import defaultdict

from karat import UNLINKED


def counts(corpus, run, relation: str) -> tuple[int, int, int]:
    """True positives, false positives and false negatives over the corpus."""
    responses = {response.id: response.predictions for response in run}
    total = [0, 0, 0]
    for document in corpus:
        inner = document.evaluation_span or (0, len(document.text))
        units = defaultdict(list)
        for i, label in enumerate(document.labels):
            units[label.mention_id if label.mention_id is not None else i].append(label)
        inside = [[x for x in unit if inner[0] <= x.start and x.end <= inner[1]] for unit in units.values()]
        # A mention that loses an alternative to the evaluation span becomes optional.
        kept = [(unit, len(unit) < len(whole)) for unit, whole in zip(inside, units.values(), strict=True) if unit]
        predictions = [x for x in responses.get(document.id, ()) if inner[0] <= x.start and x.end <= inner[1]]
        for i, n in enumerate(_document(kept, predictions, relation)):
            total[i] += n
    return total[0], total[1], total[2]


def _located(label, prediction, relation: str) -> bool:
    if relation in ("strong", "mention"):
        return (label.start, label.end) == (prediction.start, prediction.end)
    return label.start < prediction.end and prediction.start < label.end


def _document(kept, predictions, relation: str) -> tuple[int, int, int]:
    links = relation in ("strong", "weak")
    units = [unit for unit, _ in kept]
    spared = [broken or all(label.optional for label in unit) for unit, broken in kept]
    if links:
        predictions = [prediction for prediction in predictions if prediction.entity is not UNLINKED]

    def right(unit, prediction):
        return any(
            _located(label, prediction, relation) and (not links or label.entity == prediction.entity) for label in unit
        )

    def bare(unit):
        return links and any(label.entity is UNLINKED for label in unit)

    edges = {
        (i, j) for i, unit in enumerate(units) for j, prediction in enumerate(predictions) if right(unit, prediction)
    }
    best = max(_matchings(edges), key=lambda m: (len(m), sum(not spared[i] for i, _ in m)))
    matched_units, matched_predictions = {i for i, _ in best}, {j for _, j in best}
    tp = sum(not spared[i] for i in matched_units)
    fn = sum(i not in matched_units and not spared[i] and not bare(unit) for i, unit in enumerate(units))
    fp = len(predictions) - len(matched_predictions)
    return tp, fp, fn


def _matchings(edges):
    """Every set of edges without a common end."""
    found = [frozenset()]
    for edge in sorted(edges):
        found += [m | {edge} for m in found if all(edge[0] != e[0] and edge[1] != e[1] for e in m)]
    return found
