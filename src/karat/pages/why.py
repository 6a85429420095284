"""Why two labs get different numbers, as `karat why` prints and writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from karat.fitting import wrapped
from karat.model.name import parse_measure
from karat.pages.files import Written, line
from karat.pages.tables import aligned, layout_of

if TYPE_CHECKING:
    from karat.explanation.why import Cause, Explanation, Flip
    from karat.model.result import Result


class GapEnd(Written, frozen=True):
    """A score at one end of the gap, and everything that decided it."""

    profile: str
    measure: str
    score: float
    signature: str


class FlippedCase(Written, frozen=True):
    """A case that counts otherwise once a choice has changed sides, and how each side of it counted."""

    document: str
    start: int
    end: int
    text: str
    gold: str | None
    answer: str | None
    score: float | None
    gold_before: str
    gold_after: str
    answer_before: str
    answer_after: str


class GapCause(Written, frozen=True):
    """Choices that go together (by name what they are in theirs and in ours), their share and what they flip."""

    choices: Mapping[str, tuple[str, str]]
    share: float
    standard_error: float | None
    first: float
    last: float | None
    oracle_moves: tuple[float | None, float | None] | None
    flips: tuple[FlippedCase, ...]


class WhyFile(Written, frozen=True):
    """What `karat why --json` writes."""

    layout: Literal["karat-why/1"]
    corpus: str
    run: str
    theirs: GapEnd
    ours: GapEnd
    gap: float
    exact: bool
    mixtures: int
    run_digest: str
    notes: Mapping[str, tuple[str, ...]]
    without_effect: tuple[str, ...]
    causes: tuple[GapCause, ...]


def json_of(found: Explanation) -> bytes:
    """All of it."""
    return line(
        WhyFile(
            layout="karat-why/1",
            corpus=found.corpus,
            run=found.run,
            theirs=GapEnd(found.theirs, found.their_measure, found.their_score, str(found.their_signature)),
            ours=GapEnd(found.ours, found.our_measure, found.our_score, str(found.our_signature)),
            gap=found.gap,
            exact=found.exact,
            mixtures=found.mixtures,
            run_digest=found.our_result.run_digest,
            notes={found.theirs: found.their_result.notes, found.ours: found.our_result.notes},
            without_effect=found.idle,
            causes=tuple(map(_cause, found.causes)),
        )
    )


def _cause(cause: Cause) -> GapCause:
    return GapCause(
        choices=dict(zip(cause.choices, zip(cause.theirs, cause.ours, strict=True), strict=True)),
        share=cause.share,
        standard_error=cause.error,
        first=cause.first,
        last=cause.last,
        oracle_moves=cause.moved,
        flips=tuple(FlippedCase(*flip) for flip in cause.flips),
    )


def page(found: Explanation, most: int, *, details: bool = False, width: int | None = None) -> str:
    """The gap in one sentence, both ends, the causes with their shares, and the cases behind each."""
    effective = [cause for cause in found.causes if cause.share or cause.flips]
    idle = [*(cause.name for cause in found.causes if cause not in effective), *found.idle]
    layout = layout_of(None, width)
    blocks = [_sentence(found), _ends(found, width)]
    if effective:
        blocks += [_shares(found, effective, width), _reading(found)]
    if idle:
        blocks.append(f"No effect on this score here: {', '.join(idle)}.")
    blocks += [_behind(cause, most) for cause in effective if most and (cause.flips or cause.moved)]
    notes = [
        f"{side}: {note}"
        for side, result in ((found.theirs, found.their_result), (found.ours, found.our_result))
        for note in result.notes
    ]
    blocks += layout.notes(list(dict.fromkeys(notes)), details=details)
    blocks += [f"theirs\n{layout.signed(found.their_signature)}", f"ours\n{layout.signed(found.our_signature)}"]
    return wrapped("\n\n".join(blocks) + "\n", width)


def _sentence(found: Explanation) -> str:
    measures = found.our_measure
    if found.their_measure != found.our_measure:
        measures = f"{found.their_measure} there and {found.our_measure} here"
    theirs, ours = 100 * found.their_score, 100 * found.our_score
    told = f"{measures} of {found.run} on {found.corpus} is {theirs:.1f} by the conventions of {found.theirs}"
    if not found.gap:
        return f"{told}, and the same by those of {found.ours}."
    main = [f"{100 * c.share:+.1f} {c.name}" for c in found.causes if abs(c.share) >= abs(found.gap) / 10][:3]
    return f"{told} and {ours:.1f} by those of {found.ours}: {ours - theirs:+.1f} points ({', '.join(main)})."


def _ends(found: Explanation, width: int | None) -> str:
    """Both ends with what was counted."""
    rows = [["", "score", "matched answers", "matched gold", "threshold"]]
    for name, measure, score, result in (
        (found.theirs, found.their_measure, found.their_score, found.their_result),
        (found.ours, found.our_measure, found.our_score, found.our_result),
    ):
        rows.append([f"as {name} counts", f"{100 * score:.1f}", *_counts(result, measure), _threshold(result, measure)])
    return aligned(rows, (0, len(rows[0]) - 1), width)


def _counts(result: Result, measure: str) -> list[str]:
    view = str(parse_measure(measure).view)
    if view not in {**result.views, **result.totals}:
        return ["", ""]
    c = result.counts(view)
    return [
        f"{c.matched_answers:g} of {c.matched_answers + c.unmatched_answers:g}",
        f"{c.matched_gold:g} of {c.matched_gold + c.unmatched_gold:g}",
    ]


def _threshold(result: Result, measure: str) -> str:
    base = str(replace(parse_measure(measure).view, filters=()))
    if base not in result.thresholds:
        return result.signature["threshold"] if not result.signature["threshold"].startswith("oracle") else "none"
    at = result.thresholds[base]
    return "none (oracle)" if at is None else f"{at:g} (oracle)"


def _shares(found: Explanation, causes: list[Cause], width: int | None) -> str:
    rows = [["choice", "share", "first", "last", f"{found.theirs} → {found.ours}"]]
    for cause in causes:
        error = "" if cause.error is None else f" ± {100 * cause.error:.2f}"
        last = "" if cause.last is None else f"{100 * cause.last:+.2f}"
        change = "; ".join(f"{a} → {b}" for a, b in zip(cause.theirs, cause.ours, strict=True))
        rows.append([cause.name, f"{100 * cause.share:+.2f}{error}", f"{100 * cause.first:+.2f}", last, change])
    rows.append(["total", f"{100 * found.gap:+.2f}", "", "", ""])
    return aligned(rows, (0, len(rows[0]) - 1), width)


def _reading(found: Explanation) -> str:
    how = "all mixtures" if found.exact else "a sample of orders, ± the standard error"
    lines = [f"share: Shapley value in points, the mean over all orders ({found.mixtures} mixtures scored, {how})."]
    lines.append("first, last: what the choice changes if it changes before, or after, all others.")
    if found.their_result.thresholds or found.our_result.thresholds:
        lines.append("Oracle thresholds are chosen anew in every mixture.")
    return "\n".join(lines)


def _behind(cause: Cause, most: int) -> str:
    """The cases that a choice flips."""
    count = len(cause.flips)
    lines = [f"{cause.name}: {count} case{'s' * (count != 1)} count{'s' * (count == 1)} otherwise"]
    if cause.moved is not None:
        old, new = ("none" if at is None else f"{at:g}" for at in cause.moved)
        lines[0] += f" at the same threshold; the oracle moves from {old} to {new}"
    lines += [f"  {_flip(flip)}" for flip in cause.flips[:most]]
    if count > most:
        lines.append(f"  … and {count - most} more (--flips, --json)")
    return "\n".join(lines)


def _flip(flip: Flip) -> str:
    place = f"{flip.document} [{flip.start}, {flip.end})" if flip.end else flip.document
    text = f" {flip.text!r}" if flip.text else ""
    gold = f"  gold {flip.gold or 'none'}" + (f" {flip.gold_before} → {flip.gold_after}" if flip.gold_after else "")
    answer = f"  answer {flip.answer or 'none'}"
    answer += f" ({flip.score:g})" if flip.score is not None else ""
    answer += f" {flip.answer_before} → {flip.answer_after}" if flip.answer_after else ""
    return f"{place}{text}{gold}{answer}"
