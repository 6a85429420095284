"""Comparisons of gold and predictions with snapshots, as text and JSON: near misses, changed ids and known NIL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from karat.data.kb_changes import CHANGE, IdChange, KbDiff, KnownNil, format_category
from karat.data.near_misses import NearMiss, NearMisses
from karat.model.measure_name import parse_measure
from karat.model.output.json_files import JsonFile, JsonRecord, encode_indented
from karat.model.output.text_layout import wrap_text
from karat.model.profile_signatures import shorten_signature
from karat.model.results.result import Result
from karat.model.spec.relation import Nearness
from karat.render.tables import draw_text, format_percent

_MAX_LISTED = 20
_MEASURES = {"micro.p": "precision", "micro.r": "recall", "micro.f1": "F1"}
_CREDIT_NOTE = "with partial credit (not comparable with the scores of other tools)"


def list_credit_measures(credit: str) -> list[str]:
    """Return precision, recall and F1 of weak annotation match, first strict, then with partial credit.

    `credit` has a weight per nearness, such as `parent=0.5,child=0.25`.
    """
    near = "+".join(["weak", *(part.strip() for part in credit.split(","))])
    return [f"{relation}:{measure}" for relation in ("weak", near) for measure in _MEASURES]


class PartialCreditRecord(JsonRecord, frozen=True):
    """Strict and partial-credit scores by measure, the relation that gives the credit, and the signature."""

    relation: str
    strict: dict[str, float | None]
    credited: dict[str, float | None]
    signature: str


class SystemNearMisses(JsonRecord, frozen=True):
    """The wrong predictions of one system.

    `predictions`: predictions with a link. `wrong`: wrong predictions. `without_gold`: wrong predictions without
    overlapping gold label. `unknown_relatedness`: pairs of prediction and gold whose relatedness is unknown.
    `nearness`: pairs by nearness. `cumulative`: share of pairs above a relatedness. `misses`: all pairs.
    """

    system: str
    predictions: int
    wrong: int
    without_gold: int
    unknown_relatedness: int
    nearness: dict[str, int]
    cumulative: dict[str, float]
    misses: tuple[NearMiss, ...]
    credit: PartialCreditRecord | None = None


class NearMissesFile(JsonFile, frozen=True, tag="karat-near-misses/3", kw_only=True):
    """The output of `karat kb near-misses --json`."""

    kb: str
    systems: list[SystemNearMisses]


def encode_near_misses(near_misses: Mapping[str, NearMisses], snapshot: str, scores: Mapping[str, Result]) -> bytes:
    """Encode the near misses of each system as indented JSON.

    `snapshot`: name of the snapshot. `scores`: results for `list_credit_measures` by system; may be empty.
    """
    systems = [
        SystemNearMisses(
            name,
            report.n_predictions,
            report.n_wrong,
            report.n_without_gold,
            report.n_unknown,
            {str(nearness): count for nearness, count in report.counts.items()},
            {f"{step:.1f}": share for step, share in report.cumulative_shares.items()},
            report.misses,
            _build_credit_record(scores[name]) if name in scores else None,
        )
        for name, report in near_misses.items()
    ]
    return encode_indented(NearMissesFile(kb=snapshot, systems=systems))


def _build_credit_record(result: Result) -> PartialCreditRecord:
    """Return the strict and partial-credit scores of a result for `list_credit_measures`."""
    strict, near = dict.fromkeys(str(parse_measure(name).view) for name in result.table_measures)
    values = [{name: result.scores[f"{view}:{name}"].value for name in _MEASURES} for view in (strict, near)]
    return PartialCreditRecord(near, values[0], values[1], str(result.signature))


def render_near_misses(
    near_misses: Mapping[str, NearMisses], snapshot: str, scores: Mapping[str, Result], *, width: int | None = None
) -> str:
    """Render the wrong predictions of each system by nearness and relatedness to gold, and partial-credit scores.

    `snapshot`: name of the snapshot. `scores`: results for `list_credit_measures` by system; may be empty. `width`:
    columns to wrap at; None does not wrap.
    """
    names = list(near_misses)
    rows = [["", *names]]
    rows += [["predictions with a link", *(f"{report.n_predictions:,}" for report in near_misses.values())]]
    rows += [["wrong", *(f"{report.n_wrong:,}" for report in near_misses.values())]]
    rows += [["wrong, no gold at the span", *(f"{report.n_without_gold:,}" for report in near_misses.values())]]
    rows += [[f"{kind}", *(f"{report.counts[kind]:,}" for report in near_misses.values())] for kind in Nearness]
    steps = sorted({step for report in near_misses.values() for step in report.cumulative_shares})
    curve = [["relatedness above", *names]]
    curve += [
        [f"{step:.1f}", *(format_percent(report.cumulative_shares.get(step)) for report in near_misses.values())]
        for step in steps
    ]
    curve += [["pairs of unknown relatedness", *(f"{report.n_unknown:,}" for report in near_misses.values())]]
    return (
        f"wrong predictions and the gold they overlap, by {snapshot}\n\n{draw_text(rows, width=width)}\n\n"
        f"pairs of a wrong prediction and gold, cumulative, in percent of the pairs with known relatedness\n\n"
        f"{draw_text(curve, width=width)}\n{_render_credit(scores, width)}"
    )


def _render_credit(scores: Mapping[str, Result], width: int | None) -> str:
    """Render strict and partial-credit scores of all systems; return an empty text without scores.

    `width`: columns to wrap at; None does not wrap.
    """
    if not scores:
        return ""
    credits = {name: _build_credit_record(result) for name, result in scores.items()}
    rows = [["micro, in percent", *credits]]
    for measure, title in _MEASURES.items():
        rows.append([f"{title}, strict", *(format_percent(credit.strict[measure]) for credit in credits.values())])
        rows.append([f"{title}, credited", *(format_percent(credit.credited[measure]) for credit in credits.values())])
    relation = next(iter(credits.values())).relation
    signature = shorten_signature(next(iter(scores.values())).signature)
    head = f"weak annotation match, strict and {_CREDIT_NOTE}: {relation}"
    return f"\n{wrap_text(head, width)}\n\n{draw_text(rows, width=width)}\n\n{signature}\n"


class IdChangeRecord(JsonRecord, frozen=True):
    """The change of one id, the entities it resolved to in both snapshots, and the number of labels that have it."""

    id: str
    change: str
    old_entity: str
    new_entity: str
    labels: int


class ChangeRecall(JsonRecord, frozen=True):
    """The labels with ids of one change, and how many a system finds, as written and resolved by the new snapshot."""

    system: str
    change: str
    labels: float
    matches_as_written: float
    matches_resolved: float


class KbDiffFile(JsonFile, frozen=True, tag="karat-kb-diff/2", kw_only=True):
    """The output of `karat kb diff --json`.

    `counts`: ids by change. `labels`: labels by change. `ids`: all ids. `recall`: labels that systems find by change.
    `signatures`: signatures of `recall`, with ids as written and resolved by the new snapshot.
    """

    old: str
    new: str
    counts: dict[str, int]
    labels: dict[str, int]
    ids: list[IdChangeRecord]
    recall: list[ChangeRecall]
    signatures: list[str]


_ResultPair: TypeAlias = tuple[Result, Result]
"""Results of one system by change: with ids as written, and resolved by the new snapshot."""


def encode_diff(diff: KbDiff, scores: Mapping[str, _ResultPair]) -> bytes:
    """Encode the changes of ids, and the labels that systems find by change, as indented JSON.

    `scores`: results by system, with ids as written and resolved by the new snapshot; may be empty.
    """
    rows = zip(diff.ids, map(str, diff.changes), diff.old_entities, diff.new_entities, diff.label_counts, strict=True)
    file = KbDiffFile(
        old=diff.old_label,
        new=diff.new_label,
        counts={str(change): count for change, count in diff.ids_by_change.items()},
        labels={str(change): count for change, count in diff.labels_by_change.items()},
        ids=[IdChangeRecord(*row) for row in rows],
        recall=_build_change_recall(scores),
        signatures=_list_signatures(scores),
    )
    return encode_indented(file)


def _build_change_recall(scores: Mapping[str, _ResultPair]) -> list[ChangeRecall]:
    """Return, by system and change, the number of labels, and of labels found with ids as written and resolved."""
    rows = []
    for system, results in scores.items():
        groups = [result.groups[CHANGE]["strong"] for result in results]
        for change in IdChange:
            counts = [group[name].counts for group in groups if (name := format_category(change)) in group]
            n_matched = [count.matched_gold for count in counts if count is not None]
            if counts and counts[0] is not None:
                n_labels = counts[0].matched_gold + counts[0].unmatched_gold
                rows.append(ChangeRecall(system, str(change), n_labels, n_matched[0], n_matched[1]))
    return rows


def _list_signatures(scores: Mapping[str, _ResultPair]) -> list[str]:
    """Return the distinct short signatures of all results."""
    return list(
        dict.fromkeys(str(shorten_signature(result.signature)) for results in scores.values() for result in results)
    )


def _render_change_recall(scores: Mapping[str, _ResultPair], width: int | None) -> str:
    """Render the labels that systems find, by change; return an empty text without scores.

    `width`: columns to wrap at; None does not wrap.
    """
    if not scores:
        return ""
    rows = [["system", "change", "labels", "as written", "resolved"]]
    rows += [
        [row.system, row.change, f"{row.labels:,g}", f"{row.matches_as_written:,g}", f"{row.matches_resolved:,g}"]
        for row in _build_change_recall(scores)
    ]
    head = "labels that systems find (strong annotation match), with ids as written and resolved by the new snapshot"
    table = draw_text(rows, left=(0, 1), width=width)
    return "\n".join(["", wrap_text(head, width), "", table, "", *_list_signatures(scores), ""])


def render_diff(diff: KbDiff, scores: Mapping[str, _ResultPair], *, width: int | None = None) -> str:
    """Render the number of ids and labels by change, the first changed ids, and the labels that systems find by change.

    `scores`: results by system, with ids as written and resolved by the new snapshot; may be empty. `width`: columns to
    wrap at; None does not wrap.
    """
    labels = diff.labels_by_change
    rows = [["change", "ids", "labels"]]
    rows += [[change, f"{count:,}", f"{labels[change]:,}"] for change, count in diff.ids_by_change.items()]
    changed_ids = [
        [id, change, old_entity, new_entity]
        for id, change, old_entity, new_entity in zip(
            diff.ids, diff.changes, diff.old_entities, diff.new_entities, strict=True
        )
        if change not in (IdChange.SAME, IdChange.ABSENT, IdChange.UNDECIDED)
    ]
    text = f"{len(diff.ids):,} ids from {diff.old_label} to {diff.new_label}\n\n{draw_text(rows, width=width)}\n"
    if changed_ids:
        text += (
            "\n"
            + draw_text([["id", "change", "before", "after"], *changed_ids[:_MAX_LISTED]], (0, 1, 2, 3), width)
            + "\n"
        )
        text += f"and {len(changed_ids) - _MAX_LISTED:,} more\n" if len(changed_ids) > _MAX_LISTED else ""
    return text + _render_change_recall(scores, width)


class KnownNilRecord(JsonRecord, frozen=True):
    """A NIL label and the entities that have its text as a name."""

    document: str
    start: int
    end: int
    text: str
    entities: tuple[str, ...]


class KnownNilFile(JsonFile, frozen=True, tag="karat-check-nil/2", kw_only=True):
    """The output of `karat kb check-nil --json`."""

    kb: str
    labels: list[KnownNilRecord]


def encode_known_nil(known_labels: Sequence[KnownNil], snapshot: str) -> bytes:
    """Encode NIL labels whose text is a name in the snapshot as indented JSON; `snapshot`: its name."""
    labels = [
        KnownNilRecord(match.document, match.label.start, match.label.end, match.text, match.entities)
        for match in known_labels
    ]
    return encode_indented(KnownNilFile(kb=snapshot, labels=labels))


def render_known_nil(known_labels: Sequence[KnownNil], snapshot: str, *, width: int | None = None) -> str:
    """Render the number of NIL labels whose text is a name in the snapshot, and the first of them.

    `width`: columns to wrap at; None does not wrap.
    """
    text = f"{len(known_labels):,} NIL labels have a text that is a name in {snapshot}. Check whether they mean it.\n"
    rows = [[match.document, match.text, ", ".join(match.entities)] for match in known_labels[:_MAX_LISTED]]
    if rows:
        text += f"\n{draw_text([['document', 'text', 'entities'], *rows], left=(0, 1, 2), width=width)}\n"
        text += f"and {len(known_labels) - _MAX_LISTED:,} more\n" if len(known_labels) > _MAX_LISTED else ""
    return text
