"""The default rules written a second time, as plainly as possible: every assignment is tried.

Only counts are compared with Karat's; the code shares nothing with it.
"""

from __future__ import annotations

from collections import defaultdict

from karat import UNLINKED


def counts(corpus, run, relation: str) -> tuple[int, int, int]:
    """True positives, false positives and false negatives over the corpus."""
    replies = {reply.id: reply.answers for reply in run}
    total = [0, 0, 0]
    for document in corpus:
        inner = document.evaluation_span or (0, len(document.text))
        units = defaultdict(list)
        for i, label in enumerate(document.labels):
            units[label.unit if label.unit is not None else i].append(label)
        inside = [[x for x in unit if inner[0] <= x.start and x.end <= inner[1]] for unit in units.values()]
        # A mention that loses an alternative to the evaluation span becomes optional.
        kept = [(unit, len(unit) < len(whole)) for unit, whole in zip(inside, units.values(), strict=True) if unit]
        answers = [x for x in replies.get(document.id, ()) if inner[0] <= x.start and x.end <= inner[1]]
        for i, n in enumerate(_document(kept, answers, relation)):
            total[i] += n
    return total[0], total[1], total[2]


def _located(label, answer, relation: str) -> bool:
    if relation in ("strong", "mention"):
        return (label.start, label.end) == (answer.start, answer.end)
    return label.start < answer.end and answer.start < label.end


def _document(kept, answers, relation: str) -> tuple[int, int, int]:
    links = relation in ("strong", "weak")
    units = [unit for unit, _ in kept]
    spared = [broken or all(label.optional for label in unit) for unit, broken in kept]
    if links:
        answers = [answer for answer in answers if answer.entity is not UNLINKED]

    def right(unit, answer):
        return any(_located(label, answer, relation) and (not links or label.entity == answer.entity) for label in unit)

    def bare(unit):
        return links and any(label.entity is UNLINKED for label in unit)

    edges = {(i, j) for i, unit in enumerate(units) for j, answer in enumerate(answers) if right(unit, answer)}
    best = max(_matchings(edges), key=lambda m: (len(m), sum(not spared[i] for i, _ in m)))
    matched_units, matched_answers = {i for i, _ in best}, {j for _, j in best}
    tp = sum(not spared[i] for i in matched_units)
    fn = sum(i not in matched_units and not spared[i] and not bare(unit) for i, unit in enumerate(units))
    fp = len(answers) - len(matched_answers)
    return tp, fp, fn


def _matchings(edges):
    """Every set of edges without a common end."""
    found = [frozenset()]
    for edge in sorted(edges):
        found += [m | {edge} for m in found if all(edge[0] != e[0] and edge[1] != e[1] for e in m)]
    return found
