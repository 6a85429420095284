"""Checks and fixes of a file: `karat data lint` as one function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from karat.data.convert import count_losses
from karat.data.lint.context import build_context
from karat.data.lint.lint import (
    LintInput,
    LintReport,
    fix_documents,
    lint,
    prepare_predictions,
    read_gold,
    select_rules,
    to_fixed_corpus,
)
from karat.data.lint.user_rules import UserRules, read_rules
from karat.data.load import (
    convert_run_offsets,
    detect_kind,
    get_target_format,
    load,
    load_run,
    load_run_for_any,
    save,
)
from karat.model.defects import get_error_policy
from karat.model.errors import UsageError


class LintOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The rules to check, and the data that they use."""

    kb: str | None = None
    """Knowledge base with ids, types and redirects."""
    redirects: str | None = None
    """File of redirects."""
    types: str | None = None
    """File of allowed types."""
    rules_file: str | None = None
    """File of custom rules."""
    only: Sequence[str] = ()
    """Rules to check; empty for all."""
    skip: Sequence[str] = ()
    """Rules to skip."""


class LintedFile(msgspec.Struct, frozen=True, eq=False):
    """A checked file."""

    data: LintInput
    """What was checked."""
    report: LintReport
    """All findings."""
    remaining: LintReport | None = None
    """Findings that the fixes leave; None if nothing was fixed."""
    not_stored: Mapping[str, int] = {}
    """What the format of the fixed file cannot store, with counts."""

    @property
    def is_clean(self) -> bool:
        """Whether neither errors nor warnings remain."""
        counts = (self.remaining or self.report).count_by_severity()
        return not (counts["error"] or counts["warning"])


def lint_file(
    path: str,
    options: LintOptions | None = None,
    *,
    gold: str | None = None,
    kind: str | None = None,
    target: str | None = None,
    gold_format: str | None = None,
    predictions_format: str | None = None,
) -> LintedFile:
    """Check a gold standard or predictions; with `target`, write the gold standard with all automatic fixes.

    `kind` is `gold` or `predictions`, by default detected. `gold` is the gold standard of predictions, with the texts.
    Predictions are checked but never changed. Raise `UsageError` for arguments that exclude each other.
    """
    options = options or LintOptions()
    custom_rules = UserRules({}, ()) if options.rules_file is None else read_rules(options.rules_file)
    kind = kind or ("predictions" if gold or predictions_format else detect_kind(path, format=gold_format))
    has_predictions = kind == "predictions"
    if has_predictions and target is not None:
        raise UsageError(f"{path}: predictions are checked but never changed. Remove --fix.")
    if gold is not None and not has_predictions:
        raise UsageError(f"--gold is only used with predictions, but {path} is a gold standard. Remove --gold.")
    rules = select_rules(options.only, options.skip, custom_rules.rules, for_predictions=has_predictions)
    target_spec = None if target is None else get_target_format(target, None)[1]
    data = (
        _read_predictions(path, gold, gold_format, predictions_format)
        if has_predictions
        else read_gold(path, format=gold_format)
    )
    context = build_context(
        data.documents,
        kb=options.kb,
        redirects=options.redirects,
        types=options.types,
        dimensions=custom_rules.dimensions,
        skipped=data.skipped,
    )
    report = lint(data.documents, rules, context)
    if target is None or target_spec is None:
        return LintedFile(data, report)
    documents = fix_documents(data.documents, rules, context)
    remaining = lint(documents, rules, context)
    fixed_gold = to_fixed_corpus(data, documents)
    save(fixed_gold, target)
    return LintedFile(data, report, remaining, count_losses(fixed_gold, target_spec))


def _read_predictions(
    path: str, gold: str | None, gold_format: str | None, predictions_format: str | None
) -> LintInput:
    """Load predictions to lint, with the texts of `gold` if it is given."""
    corpus = None if gold is None else load(gold, format=gold_format)
    run_format = predictions_format or (gold_format if gold is None else None)
    if corpus is None:
        return prepare_predictions(load_run(path, format=run_format))
    run = load_run_for_any(path, [corpus], format=run_format)
    return prepare_predictions(convert_run_offsets(corpus, run, get_error_policy()), corpus)
