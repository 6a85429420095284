"""The cases of a view with what is known about each: what error categories look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from karat.facts.facts import NAMED, Facts
from karat.matching.align.joins import overlapping, same_span
from karat.model.cases import Cases
from karat.model.items import Items, Pairs
from karat.model.marks import UNMAPPED
from karat.model.tables.columns import NIL, Bools, Ints, Longs
from karat.model.truth import NO, Truth, both
from karat.model.verdict import Outcome, Verdicts

_T = TypeVar("_T", bound=np.generic)
_NEUTER = frozenset({"It", "it", "This", "this", "That", "that", "Its", "its"})
_WAY = 1000  # answers that take the place of one another
_UNANSWERED = -9  # the code of no entity
_FOUND = np.array([outcome in (Outcome.TP, Outcome.MATCHED_GOLD) for outcome in Outcome])
_SILENT = np.array([outcome in (Outcome.IGNORED, Outcome.MATCHED_ANSWER) for outcome in Outcome])
_MISSED = np.array([outcome in (Outcome.FN, Outcome.WRONG_LINK) for outcome in Outcome])
_SPURIOUS = np.array([outcome in (Outcome.FP, Outcome.WRONG_LINK) for outcome in Outcome])


class Stages(NamedTuple):
    """The cases of a view: which label, which answer (-1 is none), how linking and how detection ended.

    `place` is where each stands among the verdicts.
    """

    place: Longs
    document: Ints
    gold: Longs
    answer: Longs
    linking: Ints
    detection: Ints
    part: Bools
    factor: Bools


def stages(link: Verdicts, detection: Verdicts, facts: Facts) -> Stages:
    """Both stages side by side.

    Where they match alike, case by case; else by the mention, and where there is none by the answer.
    """
    gold, answer = link.gold, link.answer
    place, flags = np.arange(len(link)), np.zeros(len(link), np.bool_)
    part, factor = (flags, ~flags) if link.tree is None else (link.tree.part, link.tree.factor)
    if (
        len(link) == len(detection)
        and np.array_equal(gold, detection.gold)
        and np.array_equal(answer, detection.answer)
    ):
        found = Stages(place, link.document, gold, answer, link.outcome, detection.outcome, part, factor)
        return _with_hidden(found, facts, len(link))
    unit = np.append(facts.pairing.units.unit, -1)
    ended = _ended(unit[detection.gold], detection.outcome, len(facts.gold.entity))
    said = _ended(detection.answer, detection.outcome, len(facts.answers.entity))
    of_gold, of_answer = ended[unit[gold]], said[answer]
    detected = np.where(gold >= 0, of_gold, _left_over(link, detection, unit, said))
    detected[_spare(unit[gold], link.outcome)] = Outcome.IGNORED
    found = Stages(place, link.document, gold, answer, link.outcome, detected, part, factor)
    apart = (link.outcome == Outcome.WRONG_LINK) & (of_gold == Outcome.FN) & (of_answer == Outcome.FP)
    return _with_hidden(_split(found, np.flatnonzero(apart)) if apart.any() else found, facts, len(link))


def _split(found: Stages, rows: Longs) -> Stages:
    """The cases, with some wrong links as two: a mention that was missed, and an answer that stands elsewhere.

    HIPE lays an answer beside a mention that it only overlaps, though it asks for the exact span.
    """
    kept = found._replace(answer=found.answer.copy(), linking=found.linking.copy())
    kept.answer[rows], kept.linking[rows] = -1, Outcome.FN
    none, spurious = np.full(len(rows), -1), np.full(len(rows), Outcome.FP, np.int32)
    others = Stages._make(column[rows] for column in found)._replace(gold=none, linking=spurious, detection=spurious)
    return _joined(kept, others)


def _joined(one: Stages, two: Stages) -> Stages:
    columns: list[tuple[NDArray[Any], NDArray[Any]]] = list(zip(one, two, strict=True))
    return Stages._make(np.append(left, right).astype(left.dtype) for left, right in columns)


def _ended(place: Longs, outcome: Ints, size: int) -> Ints:
    """How each mention, or each answer, ended: where several cases are about it, as the one in which it counts."""
    ended = np.full(size + 1, Outcome.IGNORED, np.int32)
    for some in (_SILENT[outcome], ~_SILENT[outcome]):
        ended[place[some]] = outcome[some]
    ended[-1] = Outcome.IGNORED  # of no mention, or no answer
    return ended


def _left_over(link: Verdicts, detection: Verdicts, unit: Longs, said: Ints) -> Ints:
    """How detection ends for the answers of cases that have no mention.

    A mention that detection finds by such an answer, and linking by another one, is found once: the answer then goes in
    place of the other, which may itself have been taken from a mention that a third one found, and so on.
    """
    mate, linked = np.full(len(said), -1), np.full(len(unit), -1)
    both = (detection.gold >= 0) & (detection.answer >= 0)
    mate[detection.answer[both]] = unit[detection.gold[both]]
    both = (link.gold >= 0) & (link.answer >= 0) & ~_SILENT[link.outcome]
    linked[unit[link.gold[both]]] = link.answer[both]
    linked[-1] = -1
    answer = link.answer.copy()
    moving = np.flatnonzero((link.gold < 0) & _FOUND[said[answer]])
    for _ in range(_WAY):  # one-to-one assignments make short ways; where answers are shared, they may go in circles
        if not len(moving):
            break
        answer[moving] = linked[mate[answer[moving]]]
        moving = moving[_FOUND[said[answer[moving]]]]
    answer[moving] = -1
    return said[answer]


def _spare(unit: Longs, outcome: Ints) -> Bools:
    """Cases of mentions that count in another case: further answers, where one mention may have several."""
    silent = _SILENT[outcome] & (unit >= 0)
    return silent & np.isin(unit, unit[~_SILENT[outcome]]) if silent.any() else silent


def _with_hidden(found: Stages, facts: Facts, verdicts: int) -> Stages:
    """The cases with a further one for each mention that is NIL, that the view does not show and nobody linked.

    It is neither right nor wrong, but a link there would have been. Its place is behind all verdicts.
    """
    labels, units = facts.gold.mentions, facts.pairing.units.unit
    hidden = (facts.gold.entity == NIL) & (units == np.arange(len(units))) & ~facts.pairing.trees.child
    hidden[units[found.gold[found.gold >= 0]]] = False
    if not hidden.any():
        return found
    lone = np.unique(found.answer[(found.gold < 0) & (found.answer >= 0)])
    answers = facts.answers
    spans = zip(answers.document[lone], answers.mentions.start[lone], answers.mentions.end[lone], strict=True)
    linked = {(int(document), int(start), int(end)) for document, start, end in spans}
    rows = np.array(
        [
            row
            for row in np.flatnonzero(hidden).tolist()
            if (int(labels.document[row]), int(labels.start[row]), int(labels.end[row])) not in linked
        ],
        np.int64,
    )
    none, ignored = np.full(len(rows), -1), np.full(len(rows), Outcome.IGNORED)
    part = np.zeros(len(rows), np.bool_)
    behind = verdicts + np.arange(len(rows))
    return _joined(found, Stages(behind, labels.document[rows], rows, none, ignored, ignored, part, ~part))


class CaseTable(msgspec.Struct, frozen=True):
    """Cases, with the rows of labels and answers they are about and the place of each in the verdicts.

    Places behind the last verdict are those of mentions that the view does not show.
    """

    cases: Cases
    gold: Longs
    answer: Longs
    place: Longs
    mention_type: Ints
    nameless: Bools


class CaseRule(NamedTuple):
    """What depends on conventions.

    `relevant` says which labels an answer may be near to, `nil_alike` that NIL is the same entity as NIL, if both are
    so for want of a mapping or neither is; `neuter_only` that only some pronouns may be false coreference.
    """

    relevant: Bools
    nil_alike: bool = False
    neuter_only: bool = False


class Background(NamedTuple):
    """What is known about cases however they ended: the labels and answers they are about, and facts."""

    gold: Longs
    answer: Longs
    spots: Items
    mention_type: Ints
    nameless: Bools
    facts: Mapping[str, Any]


def background(facts: Facts, document: Ints, gold: Longs, answer: Longs) -> Background:
    """The facts about some cases; the views of one evaluation often share them."""
    for known in facts.backgrounds:
        if np.array_equal(known.gold, gold) and np.array_equal(known.answer, answer):
            same: Background = known
            return same
    found = _background(facts, document, gold, answer)
    facts.backgrounds.append(found)
    return found


def _background(facts: Facts, document: Ints, gold: Longs, answer: Longs) -> Background:
    start, end = _spans(facts, gold, answer)
    row = np.arange(len(gold))
    spots = Items(row, document, start, end, np.append(facts.answers.entity, NIL)[answer], facts.pairing.names)
    mention_type = _by_case(facts.gold.mention_type, facts.answers.mention_type, gold, answer)
    surface = _by_case(facts.gold.surface, facts.answers.surface, gold, answer)
    entity = np.append(facts.gold.entity, NIL)[gold]
    has_gold, of_gold = gold >= 0, facts.gold
    hard = {
        "demonym": of_gold.demonym,
        "metonym": of_gold.metonym,
        "partial_name": of_gold.partial_name,
        "rare": of_gold.rare,
    }
    several, among = _candidates(facts, gold, answer)
    columns = {
        "coreference": _by_case(of_gold.refers, facts.answers.refers, gold, answer),
        "lowercased": _by_case(facts.gold.lowercased, facts.answers.lowercased, gold, answer),
        "multiword": facts.by_surface(_several_words)[surface],
        "nil": has_gold & (entity == NIL) | _on_nil(facts, spots, ~has_gold),
        "linked": np.append(of_gold.linked, False)[gold],
        **{name: np.append(truth, NO)[gold] for name, truth in hard.items()},
        "to_place": np.append(facts.answers.of_role("place"), NO)[answer],
        "to_popular": _to_popular(facts, answer, surface),
        "several_candidates": several,
        "among_candidates": among,
        "hyperlink": _hyperlinks(facts, spots),
    }
    nameless = _by_case(facts.gold.nameless, facts.answers.nameless, gold, answer)
    return Background(gold, answer, spots, mention_type, nameless, columns)


def _several_words(text: str) -> bool:
    return " " in text


def table(found: Stages, facts: Facts, rule: CaseRule) -> CaseTable:
    """The cases with everything that categories ask."""
    found = Stages._make(column[~found.part] for column in found)
    linking, detection = found.linking, found.detection
    known = background(facts, found.document, found.gold, found.answer)
    spots, coreference = known.spots, known.facts["coreference"]
    over, wrong = _SPURIOUS[detection], linking == Outcome.WRONG_LINK
    around, across = _near(spots, spots.take(over))
    labels = _labels(facts, np.flatnonzero(rule.relevant))
    at_mention, off = _near_labels(facts, spots, labels, known.answer, over, nil_alike=rule.nil_alike)
    same, other = _references(facts, known, coreference & wrong)
    cases = Cases(
        document=spots.document,
        counts=found.factor,
        right=_FOUND[linking],
        wrong_link=wrong,
        missed=_MISSED[linking],
        spurious=_SPURIOUS[linking],
        detected=_FOUND[detection],
        undetected=_MISSED[detection],
        overdetected=over,
        around_spurious=around,
        across_spurious=across,
        at_mention=at_mention,
        off_its_mention=off,
        false_coreference=over & (_neuter(facts, known) if rule.neuter_only else coreference),
        wrong_reference=same,
        other_reference=other,
        **known.facts,
    )
    return CaseTable(cases, known.gold, known.answer, found.place, known.mention_type, known.nameless)


def _neuter(facts: Facts, known: Background) -> Bools:
    surface = _by_case(facts.gold.surface, facts.answers.surface, known.gold, known.answer)
    return facts.by_surface(_NEUTER.__contains__)[surface]


def _by_case(of_gold: NDArray[_T], of_answers: NDArray[_T], gold: Longs, answer: Longs) -> NDArray[_T]:
    """What holds of the mention of a case, or else of its answer."""
    nothing = of_gold.dtype.type(0)
    return np.where(gold >= 0, np.append(of_gold, nothing)[gold], np.append(of_answers, nothing)[answer])


def _spans(facts: Facts, gold: Longs, answer: Longs) -> tuple[Ints, Ints]:
    labels, answers = facts.gold.mentions, facts.answers.mentions
    return _by_case(labels.start, answers.start, gold, answer), _by_case(labels.end, answers.end, gold, answer)


def _labels(facts: Facts, rows: Longs) -> Items:
    labels = facts.gold.mentions
    return Items(
        rows, labels.document[rows], labels.start[rows], labels.end[rows], facts.gold.entity[rows], facts.pairing.names
    )


def _near(spots: Items, spurious: Items) -> tuple[Bools, Bools]:
    """Which spans have a spurious one inside, and which overlap one."""
    pairs = overlapping(spots, spurious)
    start, end = spots.start[pairs.gold], spots.end[pairs.gold]
    low, high = spurious.start[pairs.answer], spurious.end[pairs.answer]
    inside = (start <= low) & (high <= end) & ((start != low) | (end != high))
    return _flags(pairs.gold[inside], len(spots)), _flags(pairs.gold, len(spots))


def _near_labels(
    facts: Facts, spots: Items, labels: Items, answer: Longs, over: Bools, *, nil_alike: bool
) -> tuple[Bools, Bools]:
    """Which spurious spans overlap a mention, and which one of their own entity, but with another span."""
    pairs = overlapping(labels, spots.take(over))
    pairs = Pairs(pairs.gold, np.flatnonzero(over)[pairs.answer])
    unmapped = facts.gold.said(UNMAPPED), np.append(facts.answers.said(UNMAPPED), False)
    entity = labels.entity[pairs.gold]
    alike = nil_alike & (unmapped[0][labels.row[pairs.gold]] == unmapped[1][answer[pairs.answer]])
    same = (entity == spots.entity[pairs.answer]) & ((entity >= 0) | alike)
    kinds = facts.pairing.gold_kind[labels.row[pairs.gold]]
    same |= (kinds > 0) & (kinds == np.append(facts.pairing.answer_kind, 0)[answer[pairs.answer]])
    moved = (labels.start[pairs.gold] != spots.start[pairs.answer]) | (
        labels.end[pairs.gold] != spots.end[pairs.answer]
    )
    return _flags(pairs.answer, len(spots)), _flags(pairs.answer[same & moved], len(spots))


def _flags(places: Longs, count: int) -> Bools:
    flags = np.zeros(count, np.bool_)
    flags[places] = True
    return flags


def _on_nil(facts: Facts, spots: Items, where: Bools) -> Bools:
    """Which answers without mention stand on a label that the view does not show, because it is NIL."""
    nil = _labels(facts, np.flatnonzero(facts.gold.entity == NIL))
    lone = np.flatnonzero(where)
    pairs = overlapping(nil, spots.take(lone))
    pairs = Pairs(pairs.gold, lone[pairs.answer])
    return _flags(pairs.answer[same_span(nil, spots, pairs)], len(spots))


def _to_popular(facts: Facts, answer: Longs, surface: Longs) -> Truth:
    """Whose answer leads to an entity that the text of the case is popular for."""
    popular = map(facts.popular.__getitem__, surface.tolist())
    return both(answer >= 0, facts.answers.among(popular, answer))


def _candidates(facts: Facts, gold: Longs, answer: Longs) -> tuple[Bools, Bools]:
    """Whose answer had several candidates, and whose entity was among them."""
    offsets, candidates = facts.answers.candidates
    sizes = np.append(np.diff(offsets), 0)[answer]
    among = np.zeros(len(gold), np.bool_)
    entities, ids = facts.gold.entity, facts.ids
    for place in np.flatnonzero((sizes > 0) & (gold >= 0)).tolist():
        code = entities[gold[place]]
        row = answer[place]
        among[place] = bool(code >= 0) and ids[code] in candidates[offsets[row] : offsets[row + 1]]
    return sizes > 1, among


def _hyperlinks(facts: Facts, spots: Items) -> Bools:
    links = facts.pairing.hyperlinks
    found = np.zeros(len(spots), np.bool_)
    if links:
        places = zip(spots.document.tolist(), spots.start.tolist(), spots.end.tolist(), strict=True)
        found[:] = [(start, end) in links.get(document, ()) for document, start, end in places]
    return found


def _references(facts: Facts, known: Background, where: Bools) -> tuple[Bools, Bools]:
    """For wrong coreference whether its antecedent, the nearest named mention of the same entity before it, is linked
    as it is, and whether it is linked otherwise."""
    gold, answer, spots, mention_type = known.gold, known.answer, known.spots, known.mention_type
    same, other = np.zeros(len(gold), np.bool_), np.zeros(len(gold), np.bool_)
    if not where.any():
        return same, other
    entity = np.append(facts.gold.entity, NIL)[gold]
    linked = np.where(answer >= 0, spots.entity, _UNANSWERED)
    named: dict[tuple[int, int], list[int]] = defaultdict(list)
    order = np.lexsort((spots.end, spots.start, spots.document))
    for place in order.tolist():
        key = (int(spots.document[place]), int(entity[place]))
        if where[place] and named[key]:
            target = same if linked[named[key][-1]] == linked[place] else other
            target[place] = True
        if mention_type[place] == NAMED and gold[place] >= 0:
            named[key].append(place)
    return same, other
