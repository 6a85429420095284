"""What is known of one dataset besides cases: the gold standard in numbers, and reasons of gaps."""

from __future__ import annotations

from collections.abc import Mapping

from karat.archive.archive import Archive
from karat.archive.board import ordered_systems
from karat.archive.shape import (
    DatasetPiece,
    FlippedPlace,
    LintFinding,
    Reasons,
    ReasonsPiece,
    ReasonStep,
)
from karat.data.describe import describe
from karat.errors import UsageError
from karat.lint.context import context_of
from karat.lint.lint import chosen_rules, lint
from karat.pages.why import FlippedCase, GapCause, WhyFile

_FINDINGS = 200
"""Findings of each rule that are listed; all are counted."""

_FLIPS = 300
"""Flips of each choice that are listed; all are counted."""


def dataset(archive: Archive, key: str) -> DatasetPiece:
    """A gold standard in numbers, and what the linter says of it."""
    corpus = archive.corpus(key)
    if corpus is None:
        raise UsageError("there are results only, without their gold standard. Give gold and answers to karat report.")
    told, documents = describe(corpus), list(corpus)
    report = lint(documents, chosen_rules((), ()), context_of(documents, skipped=corpus.skipped))
    places = {document.id: place for place, document in enumerate(documents)}
    shown = archive.shown(key) is not None
    listed: dict[str, list[LintFinding]] = {name: [] for name in report.rules}
    for found in report.found:
        one, own = found.finding, listed[found.rule]
        if len(own) < _FINDINGS:
            start, end = (-1, -1) if one.span is None else one.span
            place = -1 if one.document is None else places[one.document]
            said = (one.surface, one.says, one.proposal) if shown else ("", "", "")
            own.append(LintFinding(found.rule, found.severity, place, start, end, *said))
    counts = report.counts()
    called = {id: name for entry in archive.on(key) for id, name in entry.types.items()}
    return DatasetPiece(
        dataset=corpus.name,
        about=dict(corpus.about),
        numbers=[(name, value) for name, value in told.numbers.items() if shown or not isinstance(value, str)],
        types=[(called.get(name, name), count) for name, count in _most(told.types)],
        mention_types=_most(told.mention_types),
        skipped=dict(told.skipped),
        rules=[(name, rule.title, rule.severity, counts[name]) for name, rule in report.rules.items() if counts[name]],
        findings=[finding for own in listed.values() for finding in own],
    )


def _most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def reasons(archive: Archive, key: str) -> ReasonsPiece:
    """Why other profiles have other numbers."""
    corpus, systems = archive.corpus(key), ordered_systems(archive)
    places = {} if corpus is None else {id: place for place, id in enumerate(corpus.ids.to_pylist())}
    shown = archive.shown(key) is not None
    found = [
        _reasons(archive.reason(entry, profile), systems.index(entry.system), places, shown=shown)
        for entry in sorted(archive.on(key), key=lambda entry: systems.index(entry.system))
        for profile in sorted(entry.reasons)
    ]
    return ReasonsPiece(archive.datasets[key].dataset, found)


def _reasons(told: WhyFile, system: int, places: Mapping[str, int], *, shown: bool) -> Reasons:
    return Reasons(
        system,
        told.theirs.profile,
        told.theirs.measure,
        told.ours.measure,
        round(told.theirs.score, 5),
        round(told.ours.score, 5),
        [_step(cause, places, shown=shown) for cause in told.causes],
        list(told.without_effect),
    )


def _step(cause: GapCause, places: Mapping[str, int], *, shown: bool) -> ReasonStep:
    return ReasonStep(
        [(name, theirs, ours) for name, (theirs, ours) in cause.choices.items()],
        round(cause.share, 5),
        [_flip(flip, places, shown=shown) for flip in cause.flips[:_FLIPS]],
        len(cause.flips),
    )


def _flip(flip: FlippedCase, places: Mapping[str, int], *, shown: bool) -> FlippedPlace:
    return FlippedPlace(
        places.get(flip.document, -1),
        flip.start,
        flip.end,
        flip.text if shown else "",
        flip.gold,
        flip.answer,
        (flip.gold_before, flip.gold_after),
        (flip.answer_before, flip.answer_after),
    )
