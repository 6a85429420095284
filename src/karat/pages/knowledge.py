"""What is found by holding gold and answers against packs, as people read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from karat.knowledge.changes import IdChange, Moves
from karat.knowledge.near import NearMisses, Nearness
from karat.model.document import Label
from karat.pages.tables import aligned

_SHOWN = 20


def near_page(found: Mapping[str, NearMisses], pack: str, *, width: int | None = None) -> str:
    """Wrong answers of each system: what they are to the gold they overlap, and how related to it."""
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
        f"{aligned(curve, width=width)}\n"
    )


def moves_page(found: Moves, *, width: int | None = None) -> str:
    """What became of ids, with the first of each kind."""
    rows = [["change", "ids"], *([change, f"{count:,}"] for change, count in found.counts.items())]
    told = [
        [id, change, before, after]
        for id, change, before, after in zip(found.ids, found.changes, found.before, found.after, strict=True)
        if change not in (IdChange.SAME, IdChange.NEITHER, IdChange.UNDECIDED)
    ]
    text = f"{len(found.ids):,} ids from {found.old} to {found.new}\n\n{aligned(rows, width=width)}\n"
    if told:
        text += f"\n{aligned([['id', 'change', 'before', 'after'], *told[:_SHOWN]], left=(0, 1, 2, 3), width=width)}\n"
        text += f"and {len(told) - _SHOWN:,} more\n" if len(told) > _SHOWN else ""
    return text


def nil_page(
    found: Sequence[tuple[str, Label, frozenset[str]]], texts: Mapping[str, str], pack: str, *, width: int | None = None
) -> str:
    """NIL gold that a pack knows a name of."""
    text = f"{len(found):,} NIL labels have words that {pack} knows as a name; whether they mean it, people must say\n"
    rows = [
        [document, texts[document][label.start : label.end], ", ".join(sorted(ids))]
        for document, label, ids in found[:_SHOWN]
    ]
    if rows:
        text += f"\n{aligned([['document', 'text', 'entities'], *rows], left=(0, 1, 2), width=width)}\n"
        text += f"and {len(found) - _SHOWN:,} more\n" if len(found) > _SHOWN else ""
    return text


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"
