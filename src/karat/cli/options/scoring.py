"""Options for scoring: profile, settings, knowledge base, measures, facets and formats of the input files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import msgspec

from karat.cli.arguments import parse_settings, single_value
from karat.cli.options.declaration import Conditions, Decorator, group_options, option

if TYPE_CHECKING:
    from karat.analysis.comparison.entries import Formats
    from karat.evaluation.request import Request
    from karat.evaluation.score_intervals import IntervalOptions

_C = TypeVar("_C", bound=Callable[..., Any])


class ConventionOptions(msgspec.Struct, frozen=True):
    """Conventions of a scoring command: profile, settings, knowledge base and unknown documents."""

    profile: str | None = None
    """Name of the profile; None for the default."""
    overrides: tuple[str, ...] = ()
    """Settings as `SETTING=VALUE`."""
    kb: str | None = None
    """Name or folder of the knowledge base."""
    allow_unknown: bool = False
    """Whether predictions for unknown documents are skipped."""
    match: tuple[str, ...] = ()
    """Match relations."""
    task: str | None = None
    """Task."""
    threshold: str | None = None
    """Minimum score of predictions."""
    drop_predictions: tuple[str, ...] = ()
    """Rules for predictions to drop."""
    invented: str | None = None
    """Treatment of predicted mentions that the text does not contain."""
    seed: int | None = None
    """Random seed."""

    @property
    def settings(self) -> dict[str, str]:
        """The settings that the options set, by name; raises `UsageError` for a setting with two values."""
        from karat.evaluation.drop_rules import parse_drop_rules

        return parse_settings(
            self.overrides,
            match=",".join(self.match) or None,
            threshold=self.threshold,
            task=self.task,
            drop=",".join(rule for rules in self.drop_predictions for rule in parse_drop_rules(rules)) or None,
            invented=self.invented,
            seed=None if self.seed is None else str(self.seed),
        )

    def to_request(
        self,
        *,
        measures: Sequence[str] = (),
        by: Sequence[str] = (),
        interval_options: IntervalOptions | None = None,
    ) -> Request:
        """Return the request for `measures`, the facets `by` and intervals under these conventions."""
        from karat.evaluation.request import Request

        return Request.from_options(
            profile=self.profile or "karat",
            settings=self.settings,
            measures=measures,
            by=by,
            kb=self.kb,
            interval_options=interval_options,
            allow_unknown=self.allow_unknown,
        )


def kb_option(
    help: str = "Knowledge base that resolves ids: a snapshot or a folder of tables.",
    *,
    default: str | None = None,
    required: bool = False,
    multiple: bool = False,
    **conditions: Unpack[Conditions],
) -> Decorator:
    """Return a decorator that adds `--kb`, the name of a snapshot or a folder of tables; with `multiple`, as `kbs`."""
    return option(
        "--kb",
        "kbs" if multiple else "kb",
        metavar="NAME|DIR",
        default=default,
        required=required,
        multiple=multiple,
        show_default=default is not None,
        help=help,
        repeat_hint="To use several, write the rows of their tables into one folder.",
        **conditions,
    )


def task_option(help: str) -> Decorator:
    """Return a decorator that adds `--task`."""
    return option("--task", metavar="TASK", help=help)


def profile_option(default: str | None = "karat", note: str = "") -> Decorator:
    """Return a decorator that adds `--profile`; without a fixed default, `note` explains it."""
    return option(
        "--profile",
        default=default,
        show_default=default is not None,
        metavar="PROFILE",
        help="Scoring profile." + (f"  [default: {note}]" if note else ""),
    )


def settings_option() -> Decorator:
    """Return a decorator that adds `--set` as `overrides`, settings to parse with `parse_settings`."""
    return option(
        "--set", "overrides", multiple=True, metavar="SETTING=VALUE", help="Override a setting of the profile."
    )


_SHORTCUTS: dict[str, Decorator] = {
    "match": option(
        "--match",
        multiple=True,
        metavar="R,…",
        help="Match relation, perhaps filtered: strong, strong[in-kb], weak, mention, mention-weak, entity, or a .py "
        "file to run (repeatable).",
    ),
    "task": task_option("Task: a2kb, d2kb, c2kb, rc2kb, erec, rt2kb, re, … or a name that BAT uses."),
    "threshold": option("--threshold", metavar="T", help="Minimum score of a prediction (>T: exclusive), or oracle."),
    "drop_predictions": option(
        "--drop-predictions",
        multiple=True,
        metavar="RULE",
        help="Predictions to drop before scoring: lowercase, non-named (needs --kb), type:X, score<T (repeatable).",
    ),
    "invented": option(
        "--invented",
        metavar="wrong|skip",
        help="Whether predicted mentions that the text does not contain are wrong or not scored.  [default: skip]",
    ),
}
"""Options that set one setting each, by parameter; every other setting needs `--set`."""


def convention_options(
    *shortcuts: str | Decorator,
    kb: str = "Knowledge base that resolves ids: a snapshot or a folder of tables.",
    profile_note: str = "",
) -> Decorator:
    """Return a decorator that adds `--profile`, `--set`, `--kb`, `--allow-unknown` and options for single settings.

    The command gets `conventions`, a `ConventionOptions`. `shortcuts` are keys of `_SHORTCUTS` or options with the name
    of a field, `kb` is the help of `--kb`, and `profile_note` explains a default profile that depends on other options.
    """
    return group_options(
        "conventions",
        ConventionOptions,
        profile_option("karat" if not profile_note else None, profile_note),
        *(_SHORTCUTS[item] if isinstance(item, str) else item for item in shortcuts),
        settings_option(),
        kb_option(kb),
        option("--allow-unknown", is_flag=True, help="Skip predictions for unknown documents."),
    )


def format_options(gold: str = "GOLD", predictions: str = "PREDICTIONS") -> Decorator:
    """Return a decorator that adds `--gold-format` and `--predictions-format`, as the parameter `formats`.

    `gold` and `predictions` name the files in the help.
    """
    return group_options(
        "formats",
        _build_formats,
        gold_format_option(gold),
        option("--predictions-format", metavar="NAME", help=f"Format of {predictions}, if not detected."),
    )


def gold_format_option(gold: str = "GOLD") -> Decorator:
    """Return a decorator that adds `--gold-format`; `gold` names the file in the help."""
    return option("--gold-format", metavar="NAME", help=f"Format of {gold}, if not detected.")


def _build_formats(gold_format: str | None, predictions_format: str | None) -> Formats:
    """Return the value of `format_options`."""
    from karat.analysis.comparison.entries import Formats

    return Formats(gold_format, predictions_format)


def golds_option(help: str = "Gold standard of the predictions in FILEs (repeatable).") -> Decorator:
    """Return a decorator that adds `--gold` as `golds`, the gold standards of prediction files."""
    return option("--gold", "golds", multiple=True, metavar="GOLD", help=help)


def measures_option(help: str) -> Decorator:
    """Return a decorator that adds `-m` or `--measure`, repeatable, as `measures`."""
    return _measure_option("measures", help, callback=None)


def measure_option(help: str, *, default: str) -> Decorator:
    """Return a decorator that adds `-m` or `--measure`, at most once; `default` is the text of the help."""
    return _measure_option("measure", f"{help}  [default: {default}]", callback=single_value)


def _measure_option(parameter: str, help: str, **attributes: Any) -> Decorator:  # noqa: ANN401  # those of `option`
    """Return a decorator that adds `-m` or `--measure` as `parameter`."""
    return option("-m", "--measure", parameter, multiple=True, metavar="NAME", help=help, **attributes)


def facets_option(
    help: str = "Facet to break scores down by: types, nil, doc, meta.KEY, … (repeatable).", *, multiple: bool = True
) -> Decorator:
    """Return a decorator that adds `--by`, the facets of groups; without `multiple`, at most one facet."""
    return option("--by", multiple=multiple, metavar="FACET", help=help)


def steps_option(help: str = "Step to apply first (repeatable).") -> Decorator:
    """Return a decorator that adds `--step` as `steps`."""
    return option("--step", "steps", multiple=True, metavar="NAME", help=help)
