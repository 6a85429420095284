"""How much a mention weighs in recall: functions of its categories, as in the fine-grained paper's fuzzy recall."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from karat.errors import InputError, UsageError
from karat.model.scheme import leaves_of

WHOLE: Final = "whole"
_STRICT = frozenset({*leaves_of("form:ProperForm"), *leaves_of("pos:NounPhrase"), "overlap:None", "reference:Direct"})
_STRICT_IN_CODE = _STRICT | {"overlap:Maximal"}
_COMBINED: dict[str, Callable[[list[float]], float]] = {"min": min, "max": max, "product": lambda w: _product(w)}


@dataclass(frozen=True, slots=True)
class Membership:
    """`weight` says how much an annotation with certain categories belongs to the gold standard, from 0 to 1.

    A mention weighs as much as its heaviest alternative and earns the weight of the one that was answered; or, if
    `pick` is "min", as its lightest, and earns that whichever was.
    """

    name: str
    weight: Callable[[Collection[str]], float]
    pick: Literal["max", "min"] = "max"


def membership_of(text: str) -> Membership | None:
    """The function that a choice names: `strict:ALPHA`, `strict-code:ALPHA`, a TOML file; None where all weigh 1."""
    if text == WHOLE:
        return None
    name, _, number = text.partition(":")
    if name in _PRESETS:
        return _PRESETS[name](_alpha(text, number))
    if text.endswith(".toml"):
        return _from_file(text)
    raise UsageError(
        f"membership is {text!r}. Give {WHOLE}, strict:ALPHA, strict-code:ALPHA (ALPHA from 0 to 1), or a .toml file."
    )


def _alpha(text: str, number: str) -> float:
    try:
        alpha = float(number)
    except ValueError:
        alpha = -1.0
    if not 0 <= alpha <= 1:
        raise UsageError(f"membership is {text!r}. Give a number from 0 to 1 behind the colon, such as strict:0.5.")
    return alpha


def _strict(alpha: float) -> Membership:
    """As the paper defines it: 1 for proper forms, noun phrases, no overlap and direct reference, else alpha."""
    return Membership(f"strict:{alpha:g}", lambda tags: 1.0 if _all_in(tags, _STRICT) else alpha)


def _strict_code(alpha: float) -> Membership:
    """As the authors' program computes it: maximal overlap is strict too, and the lightest alternative decides."""
    return Membership(f"strict-code:{alpha:g}", lambda tags: 1.0 if _all_in(tags, _STRICT_IN_CODE) else alpha, "min")


def _all_in(tags: Collection[str], strict: frozenset[str]) -> bool:
    return strict.issuperset(tag for tag in tags if tag.partition(":")[0] in ("form", "pos", "overlap", "reference"))


_PRESETS: dict[str, Callable[[float], Membership]] = {"strict": _strict, "strict-code": _strict_code}


@lru_cache(maxsize=16)
def _from_file(path: str) -> Membership:
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise InputError(
            path,
            found=f"no TOML ({problem})",
            expected="a TOML file with a table [weights] or [consensus]",
            remedy="See docs/fine-grained.md",
        ) from None
    unknown = sorted(table.keys() - {"default", "combine", "weights", "consensus"})
    if unknown or not ({"weights", "consensus"} & table.keys()):
        raise _refused(
            path, f"the key {unknown[0]!r}" if unknown else "no weights", "default, combine, [weights], [consensus]"
        )
    default = _number(path, "default", table.get("default", 1.0))
    combine = table.get("combine", "min")
    if combine not in _COMBINED:
        raise _refused(path, f"combine = {combine!r}", " or ".join(_COMBINED))
    weights = {
        leaf: _number(path, tag, value)
        for tag, value in table.get("weights", {}).items()
        for leaf in _leaves(path, tag)
    }
    consensus = {
        frozenset(key.split("+")): _mean(path, key, ratios) for key, ratios in table.get("consensus", {}).items()
    }
    return Membership(Path(path).name, _weigher(weights, consensus, default, _COMBINED[combine]))


def _weigher(
    weights: Mapping[str, float],
    consensus: Mapping[frozenset[str], float],
    default: float,
    combine: Callable[[list[float]], float],
) -> Callable[[Collection[str]], float]:
    def weight(tags: Collection[str]) -> float:
        rated = [(len(key), ratio) for key, ratio in consensus.items() if key <= set(tags)]
        if rated:  # the rating that says most about the annotation; of equal ones the mean
            most = max(size for size, _ in rated)
            ratios = [ratio for size, ratio in rated if size == most]
            return sum(ratios) / len(ratios)
        known = [weights[tag] for tag in tags if tag in weights]
        return combine(known) if known else default

    return weight


def _leaves(path: str, tag: str) -> tuple[str, ...]:
    return leaves_of(tag) if ":" in tag and tag in ("form:ProperForm", "pos:NounPhrase") else (tag,)


def _mean(path: str, key: str, ratios: object) -> float:
    values = ratios if isinstance(ratios, list) else [ratios]
    if not values:
        raise _refused(path, f"no ratio for {key!r}", "one or several numbers from 0 to 1")
    return sum(_number(path, key, value) for value in values) / len(values)


def _number(path: str, name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _refused(path, f"{name} = {value!r}", "a number from 0 to 1")
    return float(value)


def _refused(path: str, found: str, expected: str) -> InputError:
    return InputError(path, found=found, expected=expected, remedy="Correct the file; docs/fine-grained.md shows one")


def _product(weights: list[float]) -> float:
    product = 1.0
    for weight in weights:
        product *= weight
    return product
