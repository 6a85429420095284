"""`karat why GOLD ANSWERS`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.choices import apart, chosen, once

if TYPE_CHECKING:
    from karat.pipeline.why import Cause, Explanation, Flip


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
@click.option("--flips", default=5, show_default=True, metavar="N", help="Show at most N mentions for each choice.")
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
    from karat.kb.folder import read_kb
    from karat.pipeline.load import load_both
    from karat.pipeline.why import why
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
            "gap": found.our_score - found.their_score,
            "exact": found.exact,
            "mixtures": found.mixtures,
            "without_effect": found.idle,
            "causes": [
                {
                    "choices": dict(zip(cause.choices, zip(cause.theirs, cause.ours, strict=True), strict=True)),
                    "share": cause.share,
                    "standard_error": cause.error,
                    "alone": cause.alone,
                    "flips": [flip._asdict() for flip in cause.flips],
                }
                for cause in found.causes
            ],
        }
    )


def _side(profile: str, measure: str, score: float, signature: object) -> dict[str, object]:
    return {"profile": profile, "measure": measure, "score": score, "signature": str(signature)}


def _page(found: Explanation, most: int) -> str:
    """The gap, its causes with their shares, and the mentions behind each."""
    gap = found.our_score - found.their_score
    what = found.our_measure if found.our_measure == found.their_measure else "the score"
    lines = [
        f"{found.run} on {found.corpus}: why {what} is {100 * found.their_score:.1f} as {found.theirs} counts and "
        f"{100 * found.our_score:.1f} as {found.ours} does",
        "",
    ]
    head = ("", "share", "alone", "from", "to")
    rows = [_row(cause) for cause in found.causes if cause.share or cause.flips]
    rows.append(("gap", f"{100 * gap:+.2f}", "", "", ""))
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(4)]
    for row in [head, *rows]:
        cells = [row[0].ljust(widths[0]), row[1].rjust(widths[1]), row[2].rjust(widths[2]), row[3].ljust(widths[3])]
        lines.append("  ".join([*cells, row[4]]).rstrip())
    how = "all of them" if found.exact else "a sample of orders: shares carry a standard error"
    without = [cause.name for cause in found.causes if not cause.share and not cause.flips]
    lines += ["", f"Shares in points: Shapley values of {len(found.causes)} choices; {found.mixtures} mixtures, {how}."]
    lines.append("Alone: what their score becomes if only this choice changes.")
    if without or found.idle:
        lines.append(f"Without effect here: {', '.join([*without, *found.idle])}.")
    for cause in found.causes:
        if cause.flips and most:
            lines += ["", f"{cause.name}: {len(cause.flips)} mentions and answers count otherwise"]
            lines += [f"  {_flip(flip)}" for flip in cause.flips[:most]]
            if len(cause.flips) > most:
                lines.append(f"  … and {len(cause.flips) - most} more (--flips, --json)")
    lines += ["", f"theirs  {found.their_signature}", f"ours    {found.our_signature}"]
    return "\n".join(lines) + "\n"


def _row(cause: Cause) -> tuple[str, str, str, str, str]:
    error = "" if cause.error is None else f" ± {100 * cause.error:.2f}"
    return (
        cause.name,
        f"{100 * cause.share:+.2f}{error}",
        f"{100 * cause.alone:.1f}",
        ", ".join(cause.theirs),
        ", ".join(cause.ours),
    )


def _flip(flip: Flip) -> str:
    text = f" {flip.text!r}" if flip.text else ""
    return f"{flip.document} [{flip.start}, {flip.end}){text} {flip.side} {flip.entity}: {flip.before} → {flip.after}"
