"""What is found by holding gold and answers against packs, as people and programs read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from karat.fitting import wrapped
from karat.knowledge.changes import CHANGE, IdChange, KnownNil, Moves, category_of
from karat.knowledge.near import NearMisses
from karat.model.name import parse_measure
from karat.model.result import Result
from karat.pages.files import Written
from karat.pages.tables import aligned
from karat.signing import short
from karat.spec.relation import Nearness

_SHOWN = 20
_MEASURES = {"micro.p": "precision", "micro.r": "recall", "micro.f1": "F1"}
_LABELLED = "with partial credit, which is no strict score and comparable with no other program's"


def credited_measures(credit: str) -> list[str]:
    """Strict scores and those with partial credit, such as `parent=0.5,child=0.25`, of weak annotation match."""
    near = "+".join(["weak", *(part.strip() for part in credit.split(","))])
    return [f"{relation}:{measure}" for relation in ("weak", near) for measure in _MEASURES]


class MissFound(Written, frozen=True):
    """A wrong answer and the gold that it overlaps; nobody knows how related they are where that is null."""

    gold: str
    answer: str
    nearness: str
    relatedness: float | None


class CreditFound(Written, frozen=True):
    """Scores with partial credit, by the relation that names it, beside the strict ones, and what decided them."""

    relation: str
    strict: dict[str, float | None]
    credited: dict[str, float | None]
    signature: str


class NearOfSystem(Written, frozen=True):
    """The wrong answers of a system; `alone` overlap no gold, of `unknown` pairs nobody knows how related they are."""

    system: str
    answers: int
    wrong: int
    alone: int
    unknown: int
    nearness: dict[str, int]
    cumulative: dict[str, float]
    misses: list[MissFound]
    credit: CreditFound | None = None


class NearFile(Written, frozen=True, kw_only=True):
    """What `karat kb near --json` writes."""

    layout: Literal["karat-near/1"]
    kb: str
    systems: list[NearOfSystem]


def near_json(found: Mapping[str, NearMisses], pack: str, scores: Mapping[str, Result]) -> bytes:
    """Wrong answers of each system, pair by pair, as JSON; `scores` are those of `credited_measures`."""
    systems = [
        NearOfSystem(
            name,
            each.answers,
            each.wrong,
            each.alone,
            each.unknown,
            {str(nearness): count for nearness, count in each.counts.items()},
            {f"{step:.1f}": share for step, share in each.cumulative.items()},
            [MissFound(miss.gold, miss.answer, str(miss.nearness), miss.relatedness) for miss in each.misses],
            _credit(scores[name]) if name in scores else None,
        )
        for name, each in found.items()
    ]
    return _json(NearFile(layout="karat-near/1", kb=pack, systems=systems))


def _credit(result: Result) -> CreditFound:
    strict, near = dict.fromkeys(str(parse_measure(name).view) for name in result.shown)
    values = [{name: result.scores[f"{view}:{name}"].value for name in _MEASURES} for view in (strict, near)]
    return CreditFound(near, values[0], values[1], str(result.signature))


def near_page(
    found: Mapping[str, NearMisses], pack: str, scores: Mapping[str, Result], *, width: int | None = None
) -> str:
    """The same for people: what wrong answers are to the gold they overlap, and how related to it."""
    names = list(found)
    rows = [["", *names]]
    rows += [["answers with a link", *(f"{each.answers:,}" for each in found.values())]]
    rows += [["wrong", *(f"{each.wrong:,}" for each in found.values())]]
    rows += [["wrong, and no gold there", *(f"{each.alone:,}" for each in found.values())]]
    rows += [[f"{kind}", *(f"{each.counts[kind]:,}" for each in found.values())] for kind in Nearness]
    steps = sorted({step for each in found.values() for step in each.cumulative})
    curve = [["relatedness at most", *names]]
    curve += [[f"{step:.1f}", *(_percent(each.cumulative.get(step)) for each in found.values())] for step in steps]
    curve += [["not known, pairs", *(f"{each.unknown:,}" for each in found.values())]]
    return (
        f"wrong answers beside the gold that they overlap, by {pack}\n\n{aligned(rows, width=width)}\n\n"
        f"pairs of a wrong answer and gold, cumulative, in percent of those whose relatedness is known\n\n"
        f"{aligned(curve, width=width)}\n{_credit_page(scores, width)}"
    )


def _credit_page(scores: Mapping[str, Result], width: int | None) -> str:
    if not scores:
        return ""
    credits = {name: _credit(result) for name, result in scores.items()}
    rows = [["micro, in percent", *credits]]
    for measure, words in _MEASURES.items():
        rows.append([f"{words}, strict", *(_percent(each.strict[measure]) for each in credits.values())])
        rows.append([f"{words}, credited", *(_percent(each.credited[measure]) for each in credits.values())])
    relation = next(iter(credits.values())).relation
    signature = short(next(iter(scores.values())).signature)
    head = f"weak annotation match, strict and {_LABELLED}: {relation}"
    return f"\n{wrapped(head, width)}\n\n{aligned(rows, width=width)}\n\n{signature}\n"


class MovedId(Written, frozen=True):
    """What became of an id, the entities that it led to, and how many labels have it."""

    id: str
    change: str
    before: str
    after: str
    labels: int


class FoundOfChange(Written, frozen=True):
    """How many labels with ids of a change a system finds, of how many: as written, and resolved by the new pack."""

    system: str
    change: str
    labels: float
    as_written: float
    resolved: float


class MovesFile(Written, frozen=True, kw_only=True):
    """What `karat kb moves --json` writes: between which packs, how many ids of each change, and every id.

    `signatures` are those of what systems find: with ids as written, and resolved by the new pack.
    """

    layout: Literal["karat-moves/1"]
    old: str
    new: str
    counts: dict[str, int]
    labels: dict[str, int]
    ids: list[MovedId]
    found: list[FoundOfChange]
    signatures: list[str]


_Twice: TypeAlias = tuple[Result, Result]
"""A system by change, with ids as written, and resolved by the new pack."""


def moves_json(found: Moves, scores: Mapping[str, _Twice]) -> bytes:
    """What became of ids, and what systems find of them, as JSON."""
    rows = zip(found.ids, map(str, found.changes), found.before, found.after, found.labels, strict=True)
    file = MovesFile(
        layout="karat-moves/1",
        old=found.old,
        new=found.new,
        counts={str(change): count for change, count in found.counts.items()},
        labels={str(change): count for change, count in found.labelled.items()},
        ids=[MovedId(*row) for row in rows],
        found=_by_change(scores),
        signatures=_signatures(scores),
    )
    return _json(file)


def _by_change(scores: Mapping[str, _Twice]) -> list[FoundOfChange]:
    found = []
    for system, both in scores.items():
        groups = [result.by[CHANGE]["strong"] for result in both]
        for change in IdChange:
            counts = [each[name].counts for each in groups if (name := category_of(change)) in each]
            right = [each.matched_gold for each in counts if each is not None]
            if counts and counts[0] is not None:
                of = counts[0].matched_gold + counts[0].unmatched_gold
                found.append(FoundOfChange(system, str(change), of, right[0], right[1]))
    return found


def _signatures(scores: Mapping[str, _Twice]) -> list[str]:
    return list(dict.fromkeys(str(short(result.signature)) for both in scores.values() for result in both))


def _found_page(scores: Mapping[str, _Twice], width: int | None) -> str:
    if not scores:
        return ""
    rows = [["system", "change", "labels", "as written", "resolved"]]
    rows += [
        [each.system, each.change, f"{each.labels:,g}", f"{each.as_written:,g}", f"{each.resolved:,g}"]
        for each in _by_change(scores)
    ]
    head = "labels that systems find (strong annotation match), with ids as written and resolved by the new pack"
    table = aligned(rows, left=(0, 1), width=width)
    return "\n".join(["", wrapped(head, width), "", table, "", *_signatures(scores), ""])


def moves_page(found: Moves, scores: Mapping[str, _Twice], *, width: int | None = None) -> str:
    """The same for people, with the first of each kind."""
    labels = found.labelled
    rows = [["change", "ids", "labels"]]
    rows += [[change, f"{count:,}", f"{labels[change]:,}"] for change, count in found.counts.items()]
    told = [
        [id, change, before, after]
        for id, change, before, after in zip(found.ids, found.changes, found.before, found.after, strict=True)
        if change not in (IdChange.SAME, IdChange.NEITHER, IdChange.UNDECIDED)
    ]
    text = f"{len(found.ids):,} ids from {found.old} to {found.new}\n\n{aligned(rows, width=width)}\n"
    if told:
        text += f"\n{aligned([['id', 'change', 'before', 'after'], *told[:_SHOWN]], left=(0, 1, 2, 3), width=width)}\n"
        text += f"and {len(told) - _SHOWN:,} more\n" if len(told) > _SHOWN else ""
    return text + _found_page(scores, width)


class NilFound(Written, frozen=True):
    """A NIL label, and the entities that are called what it says."""

    document: str
    start: int
    end: int
    text: str
    entities: tuple[str, ...]


class NilFile(Written, frozen=True, kw_only=True):
    """What `karat kb nil --json` writes."""

    layout: Literal["karat-nil/1"]
    kb: str
    labels: list[NilFound]


def nil_json(found: Sequence[KnownNil], pack: str) -> bytes:
    """NIL gold that a pack knows a name of, as JSON."""
    labels = [NilFound(each.document, each.label.start, each.label.end, each.text, each.entities) for each in found]
    return _json(NilFile(layout="karat-nil/1", kb=pack, labels=labels))


def nil_page(found: Sequence[KnownNil], pack: str, *, width: int | None = None) -> str:
    """The same for people."""
    text = f"{len(found):,} NIL labels have words that {pack} knows as a name; whether they mean it, people must say\n"
    rows = [[each.document, each.text, ", ".join(each.entities)] for each in found[:_SHOWN]]
    if rows:
        text += f"\n{aligned([['document', 'text', 'entities'], *rows], left=(0, 1, 2), width=width)}\n"
        text += f"and {len(found) - _SHOWN:,} more\n" if len(found) > _SHOWN else ""
    return text


def _json(file: Written) -> bytes:
    return msgspec.json.format(msgspec.json.encode(file), indent=2) + b"\n"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"
