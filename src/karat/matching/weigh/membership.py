"""How much a mention weighs in recall: functions of its categories, as in the fine-grained paper's fuzzy recall."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from karat.errors import InputError, UsageError
from karat.matching.weigh.questionnaire import RATED
from karat.model.scheme import ABOVE, DIMENSIONS, NODES, leaves_of
from karat.storage.files import readable

WHOLE: Final = "whole"
QUESTIONNAIRE: Final = "questionnaire"
_STRICT = frozenset({*leaves_of("form:ProperForm"), *leaves_of("pos:NounPhrase"), "overlap:None", "reference:Direct"})
_STRICT_IN_CODE = _STRICT | {"overlap:Maximal"}
_COMBINED: dict[str, Callable[[Sequence[float]], float]] = {"min": min, "max": max, "product": prod}
_KEYS = ("default", "combine", "weights", "consensus")


class Membership(msgspec.Struct, frozen=True):
    """`weight` says how much an annotation with certain categories belongs to the gold standard, from 0 to 1.

    A mention weighs as much as its heaviest alternative and earns the weight of the one that was answered; or, if
    `pick` is "min", as its lightest, and earns that whichever was. Functions `of_scheme` know the fine-grained paper's
    categories only.
    """

    name: str
    weight: Callable[[Collection[str]], float]
    pick: Literal["max", "min"] = "max"
    of_scheme: bool = True


def membership_of(text: str) -> Membership | None:
    """The function that a choice names: one of `PRESETS` with an ALPHA behind a colon, `questionnaire`, a TOML file.

    None where all weigh 1. A file is told apart by its content, so that its name in a signature says which it was.
    """
    if text == WHOLE:
        return None
    if text == QUESTIONNAIRE:
        ratings = [_Rating(rated.categories, rated.ratio) for rated in RATED]
        mean = sum(rating.ratio for rating in ratings) / len(ratings)
        return Membership(QUESTIONNAIRE, _Table({}, ratings, mean, min).weight)
    name, _, number = text.partition(":")
    if name in PRESETS:
        return PRESETS[name](_alpha(text, number))
    if text.endswith(".toml"):
        return _from_file(text)
    presets = ", ".join(f"{preset}:ALPHA" for preset in PRESETS)
    raise UsageError(
        f"membership is {text!r}. Give {WHOLE}, {presets} (ALPHA from 0 to 1), {QUESTIONNAIRE}, or a .toml file."
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
    """As the paper defines it: 1 for proper forms, noun phrases, no overlap and direct reference, else alpha.

    Where a dimension has no category, an annotation is not known to be strict.
    """

    def weight(categories: Collection[str]) -> float:
        own = [category for category in categories if category in NODES]
        dimensions = {category.partition(":")[0] for category in own}
        return 1.0 if len(dimensions) == len(DIMENSIONS) and _STRICT.issuperset(own) else alpha

    return Membership(f"strict:{alpha:g}", weight)


def _strict_code(alpha: float) -> Membership:
    """As the authors' program computes it: maximal overlap is strict too, and the lightest alternative decides."""

    def weight(categories: Collection[str]) -> float:
        return 1.0 if _STRICT_IN_CODE.issuperset(tag for tag in categories if tag in NODES) else alpha

    return Membership(f"strict-code:{alpha:g}", weight, "min")


PRESETS: Final[Mapping[str, Callable[[float], Membership]]] = {"strict": _strict, "strict-code": _strict_code}
"""The functions with an alpha, which is what annotations weigh that are not strict."""


class _Rating(NamedTuple):
    """What share of people would annotate something with these categories."""

    categories: frozenset[str]
    ratio: float


class _Table(msgspec.Struct, frozen=True):
    """Weights of single categories, and ratings of several together, which go first."""

    weights: Mapping[str, float]
    ratings: Sequence[_Rating]
    default: float
    combine: Callable[[Sequence[float]], float]

    def weight(self, categories: Collection[str]) -> float:
        """The mean of the ratings that share most categories with an annotation; else its weights; else the default."""
        own = {*categories, *(ABOVE[each] for each in categories if each in ABOVE)}
        shared = [len(own & rating.categories) for rating in self.ratings]
        most = max(shared, default=0)
        if most:
            ratios = [rating.ratio for rating, count in zip(self.ratings, shared, strict=True) if count == most]
            return sum(ratios) / len(ratios)
        known = [self.weights[each] for each in sorted(categories) if each in self.weights]
        return self.combine(known) if known else self.default


def _from_file(path: str) -> Membership:
    import tomllib

    try:
        data = Path(path).read_bytes()
        content = tomllib.loads(data.decode())
    except (OSError, ValueError, RecursionError) as problem:  # also numbers and nesting beyond what Python reads
        found = (problem.strerror or str(problem)) if isinstance(problem, OSError) else f"no TOML ({problem})"
        raise _refused(path, found, "a TOML file with a table [weights] or [consensus]") from None
    unknown = sorted(content.keys() - set(_KEYS))
    if unknown:
        raise _refused(path, f"the key {unknown[0]!r}", f"only {', '.join(_KEYS)}")
    weights, consensus = (_table(path, name, content) for name in ("weights", "consensus"))
    if not weights and not consensus:
        raise _refused(path, "neither weights nor ratings", "a table [weights] or [consensus] with at least one line")
    combine = content.get("combine", "min")
    if not isinstance(combine, str) or combine not in _COMBINED:
        raise _refused(path, f"combine = {combine!r}", " or ".join(_COMBINED))
    rated = [(_categories(path, key), _ratios(path, key, value)) for key, value in consensus.items()]
    table = _Table(
        _by_leaf(path, weights),
        [_Rating(categories, ratio) for categories, ratios in rated for ratio in ratios],
        _number(path, "default", content.get("default", 1.0)),
        _COMBINED[combine],
    )
    return Membership(f"{readable(Path(path).name)}@{zlib.crc32(data):08x}", table.weight, of_scheme=False)


def _table(path: str, name: str, content: Mapping[str, object]) -> dict[str, object]:
    found = content.get(name, {})
    if not isinstance(found, dict):
        raise _refused(path, f"{name} = {found!r}", f"a table [{name}]")
    return found


def _by_leaf(path: str, weights: Mapping[str, object]) -> dict[str, float]:
    """The weight of every leaf; what is said of a leaf goes before what is said of the node above it."""
    given = {_known(path, category): _number(path, category, value) for category, value in weights.items()}
    inner = {leaf: weight for node, weight in given.items() if node in NODES for leaf in leaves_of(node)}
    return {**inner, **given}


def _categories(path: str, key: str) -> frozenset[str]:
    return frozenset(_known(path, category.strip()) for category in key.split("+"))


def _known(path: str, category: str) -> str:
    """A category of the scheme, or of a dimension that the scheme does not have."""
    dimension, colon, _ = category.partition(":")
    if not colon or (dimension in DIMENSIONS and category not in NODES):
        of = [node for node in NODES if node.startswith(f"{dimension}:")] or list(NODES)
        raise _refused(path, f"the category {category!r}", f"DIMENSION:NAME, such as {', '.join(of)}")
    return category


def _ratios(path: str, key: str, value: object) -> list[float]:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise _refused(path, f"no ratio for {key!r}", "one or several numbers from 0 to 1")
    return [_number(path, key, each) for each in values]


def _number(path: str, name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _refused(path, f"{name} = {value!r}", "a number from 0 to 1")
    return float(value)


def _refused(path: str, found: str, expected: str) -> InputError:
    return InputError(path, found=found, expected=expected, remedy="Correct the file; docs/fine-grained.md shows one")
