"""`karat why GOLD ANSWERS`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.choices import apart, chosen, once
from karat.pages.tables import aligned

if TYPE_CHECKING:
    from karat.explanation.why import Cause, Explanation, Flip
    from karat.model.result import Result


@click.command()
@click.argument("gold")
@click.argument("answers")
@click.option("--theirs", required=True, metavar="PROFILE", help="The conventions behind the other number.")
@click.option("--ours", default="karat", show_default=True, metavar="PROFILE", help="The conventions behind this one.")
@click.option("--set", "our_overrides", multiple=True, metavar="CHOICE=VALUE", help="Override a choice of ours.")
@click.option("--set-theirs", "their_overrides", multiple=True, metavar="CHOICE=VALUE", help="… of theirs.")
@click.option("-m", "--measure", default="strong:micro.f1", show_default=True, metavar="NAME", help="The number.")
@click.option("--their-measure", metavar="NAME", help="What they call it, where it is another measure.")
@click.option("--kb", metavar="DIR", help="Resolve ids by the tables in this folder.")
@click.option(
    "--flips",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="Show at most N cases for each choice.",
)
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write all of it as JSON.")
@click.option("--gold-format", metavar="NAME", help="The format of GOLD, where it is not recognised.")
@click.option("--answers-format", metavar="NAME", help="The format of ANSWERS, where it is not recognised.")
@click.option("--allow-unknown", is_flag=True, help="Leave out answers to documents that GOLD does not have.")
def command(
    gold: str,
    answers: str,
    theirs: str,
    ours: str,
    our_overrides: tuple[str, ...],
    their_overrides: tuple[str, ...],
    measure: str,
    their_measure: str | None,
    kb: str | None,
    flips: int,
    json_file: str | None,
    gold_format: str | None,
    answers_format: str | None,
    allow_unknown: bool,
) -> None:
    """Say why two labs get different numbers from the same answers.

    Scores under every mixture of the choices in which two profiles differ, and divides the gap among them by their
    Shapley values, with the mentions that each choice flips.

    \b
    karat why gold.jsonl mine.jsonl --theirs gerbil
    karat why demo demo/noisy --theirs bat -m weak:micro.f1
    karat why demo demo/noisy --theirs gerbil --set-theirs prefixes=Q
    """
    from karat.data.load import load_both
    from karat.explanation.why import why
    from karat.kb.folder import read_kb
    from karat.storage.files import writing

    apart([gold, answers], [json_file])
    corpus, (run,) = load_both(gold, [answers], gold_format=gold_format, answers_format=answers_format)
    found = why(
        corpus,
        run,
        theirs=theirs,
        ours=ours,
        measure=measure,
        their_measure=their_measure,
        their_choices=chosen(their_overrides),
        our_choices=chosen(our_overrides),
        kb=None if kb is None else read_kb(kb),
        allow_unknown=allow_unknown,
    )
    if json_file is not None:
        with writing(json_file) as file:
            file.write(_json(found))
    if json_file != "-":
        click.echo(_page(found, flips), nl=False)


def _json(found: Explanation) -> bytes:
    import msgspec

    return msgspec.json.encode(
        {
            "corpus": found.corpus,
            "run": found.run,
            "theirs": _side(found.theirs, found.their_measure, found.their_score, found.their_signature),
            "ours": _side(found.ours, found.our_measure, found.our_score, found.our_signature),
            "gap": found.gap,
            "exact": found.exact,
            "mixtures": found.mixtures,
            "run_digest": found.our_result.run_digest,
            "notes": {found.theirs: found.their_result.notes, found.ours: found.our_result.notes},
            "without_effect": found.idle,
            "causes": [
                {
                    "choices": dict(zip(cause.choices, zip(cause.theirs, cause.ours, strict=True), strict=True)),
                    "share": cause.share,
                    "standard_error": cause.error,
                    "first": cause.first,
                    "last": cause.last,
                    "oracle_moves": cause.moved,
                    "flips": [flip._asdict() for flip in cause.flips],
                }
                for cause in found.causes
            ],
        }
    )


def _side(profile: str, measure: str, score: float, signature: object) -> dict[str, object]:
    return {"profile": profile, "measure": measure, "score": score, "signature": str(signature)}


def _page(found: Explanation, most: int) -> str:
    """The gap in one sentence, both ends, the causes with their shares, and the cases behind each."""
    effective = [cause for cause in found.causes if cause.share or cause.flips]
    idle = [*(cause.name for cause in found.causes if cause not in effective), *found.idle]
    blocks = [_sentence(found), _ends(found)]
    if effective:
        blocks += [_shares(found, effective), _reading(found)]
    if idle:
        blocks.append(f"No effect on this score here: {', '.join(idle)}.")
    blocks += [_behind(cause, most) for cause in effective if most and (cause.flips or cause.moved)]
    notes = [
        f"{side}: {note}"
        for side, result in ((found.theirs, found.their_result), (found.ours, found.our_result))
        for note in result.notes
    ]
    blocks += ["\n".join(dict.fromkeys(notes))] if notes else []
    blocks.append(f"theirs  {found.their_signature}\nours    {found.our_signature}")
    return "\n\n".join(blocks) + "\n"


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


def _ends(found: Explanation) -> str:
    """Both ends with what was counted."""
    rows = [["", "score", "matched answers", "matched gold", "threshold"]]
    for name, measure, score, result in (
        (found.theirs, found.their_measure, found.their_score, found.their_result),
        (found.ours, found.our_measure, found.our_score, found.our_result),
    ):
        rows.append([f"as {name} counts", f"{100 * score:.1f}", *_counts(result, measure), _threshold(result, measure)])
    return aligned(rows, left=(0, len(rows[0]) - 1))


def _counts(result: Result, measure: str) -> list[str]:
    from karat.model.name import parse_measure

    view = str(parse_measure(measure).view)
    if view not in {**result.views, **result.totals}:
        return ["", ""]
    c = result.counts(view)
    return [
        f"{c.matched_answers:g} of {c.matched_answers + c.unmatched_answers:g}",
        f"{c.matched_gold:g} of {c.matched_gold + c.unmatched_gold:g}",
    ]


def _threshold(result: Result, measure: str) -> str:
    from dataclasses import replace

    from karat.model.name import parse_measure

    base = str(replace(parse_measure(measure).view, filters=()))
    if base not in result.thresholds:
        return result.signature["threshold"] if not result.signature["threshold"].startswith("oracle") else "none"
    at = result.thresholds[base]
    return "none (oracle)" if at is None else f"{at:g} (oracle)"


def _shares(found: Explanation, causes: list[Cause]) -> str:
    rows = [["choice", "share", "first", "last", f"{found.theirs} → {found.ours}"]]
    for cause in causes:
        error = "" if cause.error is None else f" ± {100 * cause.error:.2f}"
        last = "" if cause.last is None else f"{100 * cause.last:+.2f}"
        change = "; ".join(f"{a} → {b}" for a, b in zip(cause.theirs, cause.ours, strict=True))
        rows.append([cause.name, f"{100 * cause.share:+.2f}{error}", f"{100 * cause.first:+.2f}", last, change])
    rows.append(["total", f"{100 * found.gap:+.2f}", "", "", ""])
    return aligned(rows, left=(0, len(rows[0]) - 1))


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
