"""Explanations of score gaps: output of `karat why`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from karat.analysis.explanation.gap import Cause, GapExplanation, Interaction
from karat.analysis.explanation.setting_flips import Flip
from karat.matching.read.invented_mentions import is_invented
from karat.model.measure_name import parse_measure
from karat.model.output.json_files import JsonFile, JsonRecord, build_record, encode_line
from karat.model.output.text_layout import wrap_text
from karat.model.results.result import Result
from karat.render.tables import draw_text, get_layout


class GapEnd(JsonRecord, frozen=True):
    """The score under one profile, with its signature."""

    profile: str
    measure: str
    score: float
    signature: str


class CauseRecord(JsonRecord, frozen=True):
    """Settings that change together, with their values under both profiles, their share and the cases they flip."""

    settings: Mapping[str, tuple[str, str]]
    share: float
    """Shapley value."""
    standard_error: float | None
    change_if_first: float
    """Change of the score if the settings change before all others."""
    change_if_last: float | None
    """Change of the score if the settings change after all others."""
    threshold_change: tuple[float | None, float | None] | None
    """Oracle threshold before and after."""
    flips: tuple[Flip, ...]


class GapFile(JsonFile, frozen=True, tag="karat-why/2"):
    """The output of `karat why --json`."""

    corpus: str
    run: str
    reference: GapEnd
    """Score under the reference profile."""
    evaluated: GapEnd
    """Score under the evaluated profile."""
    gap: float
    is_exact: bool
    n_mixtures: int
    run_digest: str
    notes: Mapping[str, tuple[str, ...]]
    irrelevant_settings: tuple[str, ...]
    fixed_threshold: str | None
    causes: tuple[CauseRecord, ...]
    interactions: tuple[Interaction, ...]


def to_json(explanation: GapExplanation) -> bytes:
    """Encode a gap explanation as one line of JSON, with all flipped cases."""
    return encode_line(
        build_record(
            GapFile,
            explanation,
            reference=GapEnd(
                explanation.reference_profile,
                explanation.reference_measure,
                explanation.reference_score,
                str(explanation.reference_signature),
            ),
            evaluated=GapEnd(explanation.profile, explanation.measure, explanation.score, str(explanation.signature)),
            run_digest=explanation.result.run_digest,
            notes={
                explanation.reference_profile: explanation.reference_result.notes,
                explanation.profile: explanation.result.notes,
            },
            causes=tuple(map(_build_cause, explanation.causes)),
        )
    )


def _build_cause(cause: Cause) -> CauseRecord:
    """Return the JSON record of a cause."""
    values = zip(cause.reference_values, cause.values, strict=True)
    return build_record(CauseRecord, cause, settings=dict(zip(cause.settings, values, strict=True)))


def render_page(explanation: GapExplanation, max_flips: int, *, details: bool = False, width: int | None = None) -> str:
    """Render the gap in one sentence, both scores, the causes with their shares, and the cases behind each.

    `max_flips`: number of cases listed per cause; 0 lists none. `details`: whether to show notes in full. `width`:
    columns to wrap at; None does not wrap.
    """
    effective = [cause for cause in explanation.causes if cause.share or cause.flips]
    irrelevant = [
        *(cause.name for cause in explanation.causes if cause not in effective),
        *explanation.irrelevant_settings,
    ]
    layout = get_layout(None, width)
    blocks = [_format_summary(explanation), _draw_scores(explanation, width)]
    if effective:
        blocks += [_draw_shares(explanation, effective, width), _explain_shares(explanation)]
    if explanation.interactions:
        blocks.append("\n".join(map(_format_interaction, explanation.interactions)))
    if irrelevant:
        blocks.append(f"No effect on this score here: {', '.join(irrelevant)}.")
    blocks += [
        _list_flips(cause, max_flips, explanation.profile)
        for cause in effective
        if max_flips and (cause.flips or cause.threshold_change)
    ]
    notes = [
        f"{side}: {note}"
        for side, result in (
            (explanation.reference_profile, explanation.reference_result),
            (explanation.profile, explanation.result),
        )
        for note in result.notes
    ]
    blocks += layout.format_notes_block(list(dict.fromkeys(notes)), details=details)
    blocks += [
        f"reference\n{layout.format_signatures(explanation.reference_signature)}",
        f"evaluated\n{layout.format_signatures(explanation.signature)}",
    ]
    return wrap_text("\n\n".join(blocks) + "\n", width)


def _format_summary(explanation: GapExplanation) -> str:
    """Return a sentence with both scores, their difference and its up to three main causes."""
    measures = explanation.measure
    if explanation.reference_measure != explanation.measure:
        measures = f"{explanation.reference_measure} (reference) and {explanation.measure}"
    reference_score, score = 100 * explanation.reference_score, 100 * explanation.score
    text = (
        f"{measures} of {explanation.run} on {explanation.corpus} is {reference_score:.1f} under profile "
        f"{explanation.reference_profile}"
    )
    if not explanation.gap:
        return f"{text}, and the same under {explanation.profile}."
    main = [
        f"{100 * share:+.1f} {_join_names(names, ' + ')}"
        for names, share in _combine_causes(explanation)
        if abs(share) >= abs(explanation.gap) / 10
    ][:3]
    return (
        f"{text} and {score:.1f} under {explanation.profile}: {score - reference_score:+.1f} points "
        f"({', '.join(main)})."
    )


def _combine_causes(explanation: GapExplanation) -> list[tuple[tuple[str, ...], float]]:
    """Return the names of causes that interact, directly or through others, with their summed share, largest first."""
    groups = [{cause.name: cause.share} for cause in explanation.causes]
    for interaction in explanation.interactions:
        joined = [group for group in groups if not group.keys().isdisjoint(interaction.causes)]
        groups = [group for group in groups if group not in joined]
        groups.append({name: share for group in joined for name, share in group.items()})
    order = [cause.name for cause in explanation.causes]
    names = [tuple(sorted(group, key=order.index)) for group in groups]
    totals = [sum(group.values()) for group in groups]
    return sorted(zip(names, totals, strict=True), key=lambda item: -abs(item[1]))


def _join_names(names: Sequence[str], separator: str) -> str:
    """Join names of causes; with several, a name of several settings is in brackets."""
    return separator.join(f"({name})" if ", " in name and len(names) > 1 else name for name in names)


def _format_interaction(interaction: Interaction) -> str:
    """Return a sentence on two settings that depend on each other or cancel."""
    first, second = (f"{100 * change:+.1f}" for change in interaction.changes_alone)
    relation = "cancel each other" if interaction.is_additive else "depend on each other"
    return (
        f"{_join_names(interaction.causes, ' and ')} {relation}: {first} and "
        f"{second} alone, {100 * interaction.change_together:+.1f} together. "
        f"Their shares add up to {100 * interaction.share:+.1f}."
    )


def _draw_scores(explanation: GapExplanation, width: int | None) -> str:
    """Draw a table of both scores with their counts and thresholds.

    `width`: columns to wrap at; None does not wrap.
    """
    rows = [["", "score", "matched predictions", "matched gold", "threshold"]]
    for name, measure, score, result in (
        (
            explanation.reference_profile,
            explanation.reference_measure,
            explanation.reference_score,
            explanation.reference_result,
        ),
        (explanation.profile, explanation.measure, explanation.score, explanation.result),
    ):
        rows.append(
            [
                f"profile {name}",
                f"{100 * score:.1f}",
                *_format_counts(result, measure),
                _format_threshold(result, measure),
            ]
        )
    return draw_text(rows, (0, len(rows[0]) - 1), width)


def _format_counts(result: Result, measure: str) -> list[str]:
    """Return two cells: matched predictions and matched gold labels; both empty if the view has no counts."""
    view = str(parse_measure(measure).view)
    if view not in {**result.views, **result.totals}:
        return ["", ""]
    c = result.counts(view)
    return [
        f"{c.matched_predictions:g} of {c.matched_predictions + c.unmatched_predictions:g}",
        f"{c.matched_gold:g} of {c.matched_gold + c.unmatched_gold:g}",
    ]


def _format_threshold(result: Result, measure: str) -> str:
    """Return the threshold that a measure was computed at; `(oracle)` if it was selected on the corpus."""
    base = str(replace(parse_measure(measure).view, filters=()))
    if base not in result.thresholds:
        return result.signature["threshold"] if not result.signature["threshold"].startswith("oracle") else "none"
    min_score = result.thresholds[base]
    return "none (oracle)" if min_score is None else f"{min_score:g} (oracle)"


def _draw_shares(explanation: GapExplanation, causes: list[Cause], width: int | None) -> str:
    """Draw a table of the share of each cause, its change if first or last, and the values of its settings.

    `width`: columns to wrap at; None does not wrap.
    """
    rows = [["setting", "share", "first", "last", f"{explanation.reference_profile} → {explanation.profile}"]]
    for cause in causes:
        error = "" if cause.standard_error is None else f" ± {100 * cause.standard_error:.2f}"
        last = "" if cause.change_if_last is None else f"{100 * cause.change_if_last:+.2f}"
        change = "; ".join(f"{a} → {b}" for a, b in zip(cause.reference_values, cause.values, strict=True))
        rows.append(
            [cause.name, f"{100 * cause.share:+.2f}{error}", f"{100 * cause.change_if_first:+.2f}", last, change]
        )
    rows.append(["total", f"{100 * explanation.gap:+.2f}", "", "", ""])
    return draw_text(rows, (0, len(rows[0]) - 1), width)


def _explain_shares(explanation: GapExplanation) -> str:
    """Return the legend of the table of shares."""
    method = "all mixtures" if explanation.is_exact else "a sample of orders, ± the standard error"
    lines = [
        f"share: Shapley value in points, the mean over all orders ({explanation.n_mixtures} mixtures scored, "
        f"{method})."
    ]
    lines.append("first, last: the change if the setting changes before, or after, all others.")
    if explanation.fixed_threshold is not None:
        value = explanation.fixed_threshold
        threshold = "all predictions" if value == "none" else f"the threshold {value}"
        lines.append(f"The oracle selects {threshold} once, for all mixtures: assignment=lookup supports no oracle.")
    elif explanation.reference_result.thresholds or explanation.result.thresholds:
        lines.append("Oracle thresholds are selected again in every mixture.")
    return "\n".join(lines)


def _list_flips(cause: Cause, max_flips: int, profile: str) -> str:
    """Return the cases that a cause flips as text, at most `max_flips`, and the change of the oracle threshold.

    Cases that do not count so under `profile`, because of other settings, are marked.
    """
    count, n_lasting = len(cause.flips), sum(flip.is_lasting for flip in cause.flips)
    lines = [f"{cause.name}: {count} case{'s' * (count != 1)} change{'s' * (count == 1)} outcome"]
    lines[0] += " at the same threshold" * (cause.threshold_change is not None)
    if n_lasting < count:
        lines[0] += f" if nothing else changes, {n_lasting or 'none'} of them also under {profile}"
    if cause.threshold_change is not None:
        old, new = ("none" if at is None else f"{at:g}" for at in cause.threshold_change)
        lines[0] += f"; the oracle moves from {old} to {new}"
    lines += [
        f"  {_format_flip(flip)}{'' if flip.is_lasting else f'  (not under {profile})'}"
        for flip in cause.flips[:max_flips]
    ]
    if count > max_flips:
        lines.append(f"  … and {count - max_flips} more (--max-flips, --json)")
    return "\n".join(lines)


def _format_flip(flip: Flip) -> str:
    """Return a case on one line: position, text, and the outcome of gold label and prediction before and after."""
    span = "not in the text" if is_invented(flip.start) else f"[{flip.start}, {flip.end})"
    position = f"{flip.document} {span}" if flip.end else flip.document
    text = f" {flip.text!r}" if flip.text else ""
    gold = f"  gold {flip.gold or 'none'}" + (f" {flip.gold_before} → {flip.gold_after}" if flip.gold_after else "")
    prediction = f"  prediction {flip.prediction or 'none'}"
    prediction += f" ({flip.score:g})" if flip.score is not None else ""
    prediction += f" {flip.prediction_before} → {flip.prediction_after}" if flip.prediction_after else ""
    return f"{position}{text}{gold}{prediction}"
