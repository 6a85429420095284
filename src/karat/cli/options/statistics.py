"""Options for intervals and tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import click

from karat.cli.options.declaration import Conditions, Decorator, group_options, option

if TYPE_CHECKING:
    from karat.analysis.comparison.options import ComparisonOptions, PermutationScheme, Test
    from karat.evaluation.score_intervals import CIUnit, IntervalOptions
    from karat.stats.samples.confidence_intervals import IntervalMethod

_C = TypeVar("_C", bound=Callable[..., Any])


def confidence_option(**conditions: Unpack[Conditions]) -> Decorator:
    """Return a decorator that adds `--confidence`."""
    return option(
        "--confidence",
        default=0.95,
        show_default=True,
        metavar="L",
        help="Confidence level of the intervals.",
        **conditions,
    )


def resamples_option(note: str = "", **conditions: Unpack[Conditions]) -> Decorator:
    """Return a decorator that adds `--resamples`; `note` is added to the help."""
    return option(
        "--resamples",
        default=1000,
        show_default=True,
        metavar="N",
        help=f"Bootstrap samples for intervals{note}.",
        **conditions,
    )


def permutations_option(help: str = "Permutations for p-values.") -> Decorator:
    """Return a decorator that adds `--permutations`."""
    return option("--permutations", default=10_000, show_default=True, metavar="N", help=help)


def alpha_option(command: _C) -> _C:
    """Add `--alpha`, the significance level, to a command (decorator)."""
    return option("--alpha", default=0.05, show_default=True, metavar="P", help="Significance level.")(command)


def seed_option(default: int | None = 0, **conditions: Unpack[Conditions]) -> Decorator:
    """Return a decorator that adds `--seed`; None leaves the seed to the setting `seed`."""
    return option(
        "--seed",
        default=default,
        show_default=default is not None,
        type=int,
        metavar="N",
        help="Random seed.",
        **conditions,
    )


def interval_options(command: _C) -> _C:
    """Add `--ci` and the options of intervals to a command, as the parameter `intervals` (decorator)."""
    needs: Conditions = {"needs": ["--ci"], "is_strict": True}
    return group_options(
        "intervals",
        _build_intervals,
        option("--ci", is_flag=True, help="Add confidence intervals."),
        confidence_option(**needs),
        option(
            "--ci-method",
            default="percentile",
            show_default=True,
            metavar="METHOD",
            help="Interval method: percentile or bca (bootstrap), or wilson (binomial).",
            **needs,
        ),
        option(
            "--ci-unit",
            default="documents",
            show_default=True,
            metavar="UNIT",
            help="Resampling unit: documents or cases.",
            **needs,
        ),
        resamples_option(**needs),
        option(
            "--jackknife-groups",
            default=0,
            metavar="N",
            help="Document groups for jackknife intervals of clustering and calibration measures (0: no such "
            "intervals).",
            **needs,
        ),
    )(command)


def _build_intervals(
    ci: bool,
    confidence: float,
    ci_method: IntervalMethod,
    ci_unit: CIUnit,
    resamples: int,
    jackknife_groups: int,
) -> IntervalOptions:
    """Return the value of `interval_options`; raise `UsageError` for `--ci` without samples."""
    from karat.evaluation.score_intervals import IntervalOptions
    from karat.model.errors import UsageError

    if ci and not resamples:
        raise UsageError("--resamples is 0, so --ci has no intervals. Pass a number of samples, or omit --ci.")
    return IntervalOptions(resamples if ci else 0, 0, ci_method, confidence, ci_unit, jackknife_groups)


def comparison_options(command: _C) -> _C:
    """Add the options of tests between systems to a command, as the parameter `tests` (decorator)."""
    return group_options(
        "tests",
        _build_comparison,
        alpha_option,
        option(
            "--correction",
            default="holm",
            show_default=True,
            metavar="NAME",
            help="Correction for multiple tests: holm or bh.",
        ),
        option(
            "--test",
            type=click.Choice(["permutation", "bootstrap"]),
            default="permutation",
            show_default=True,
            help="Paired test: a permutation test or the paired bootstrap.",
        ),
        option(
            "--permute",
            type=click.Choice(["systems", "signs"]),
            default="systems",
            show_default=True,
            help="Permutation scheme: swap the systems' outputs in a document, or the sign of their difference.",
            needs=["--test permutation"],
            is_strict=True,
        ),
        resamples_option(),
        permutations_option("Permutations or bootstrap samples for p-values."),
    )(command)


def _build_comparison(
    alpha: float, correction: str, test: Test, permute: PermutationScheme, resamples: int, permutations: int
) -> ComparisonOptions:
    """Return the value of `comparison_options`."""
    from karat.analysis.comparison.options import ComparisonOptions

    return ComparisonOptions(alpha, correction, resamples, permutations, permute=permute, test=test)
