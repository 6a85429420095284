"""Membership functions: weights of mentions in recall by category, as in the fine-grained paper's fuzzy recall.

A questionnaire of the paper says which mentions 36 authors of entity linking papers would annotate. Its ratios are from
Figure 2 of the paper, or from Table 1 for mentions with several links. The paper does not print the categories of the
mentions; they follow its text and the annotation practice of its datasets.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from karat.model.errors import InputError, UsageError
from karat.model.finegrained_scheme import DIMENSIONS, NODES, PARENTS, get_leaves
from karat.storage.files import Source, printable_path

WHOLE: Final = "whole"
QUESTIONNAIRE: Final = "questionnaire"
_STRICT_LEAVES = frozenset(
    {*get_leaves("form:ProperForm"), *get_leaves("pos:NounPhrase"), "overlap:None", "reference:Direct"}
)
_STRICT_CODE_LEAVES = _STRICT_LEAVES | {"overlap:Maximal"}
_COMBINE_FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {"min": min, "max": max, "product": prod}
_KEYS = ("default", "combine", "weights", "consensus")


class Membership(msgspec.Struct, frozen=True):
    """A function from the categories of an annotation to its weight in recall."""

    name: str
    """Name in signatures."""
    weight: Callable[[Collection[str]], float]
    """Function that returns the weight of an annotation with some categories, from 0 to 1."""
    alternative_rule: Literal["max", "min"] = "max"
    """"max": a mention weighs as much as its heaviest alternative and earns the weight of the matched one.
    "min": a mention weighs as much as its lightest alternative and earns that weight for any of them.
    """
    needs_scheme: bool = True
    """Whether the function knows only the categories of the fine-grained paper."""


def parse_membership(text: str) -> Membership | None:
    """Parse the setting `membership`: `whole`, `PRESET:ALPHA`, `questionnaire` or the path of a TOML file.

    Return None for `whole`, where all mentions weigh 1. The name of a file membership contains a checksum of the file.
    Raise `UsageError` for other texts, and `InputError` for invalid files.
    """
    if text == WHOLE:
        return None
    if text == QUESTIONNAIRE:
        ratings = [_CategoryRating(answer.categories, answer.ratio) for answer in RATINGS]
        mean = sum(rating.ratio for rating in ratings) / len(ratings)
        return Membership(QUESTIONNAIRE, _WeightTable({}, ratings, mean, min).weight)
    name, _, number = text.partition(":")
    if name in PRESETS:
        return PRESETS[name](_parse_alpha(text, number))
    if text.endswith(".toml"):
        return _load_membership(text)
    presets = ", ".join(f"{preset}:ALPHA" for preset in PRESETS)
    raise UsageError(
        f"membership is {text!r}. Use {WHOLE}, {presets} (ALPHA from 0 to 1), {QUESTIONNAIRE} or a .toml file."
    )


def _parse_alpha(text: str, number: str) -> float:
    """Parse a weight from 0 to 1, the part `number` of the setting `text`; raise `UsageError` for anything else."""
    try:
        alpha = float(number)
    except ValueError:
        alpha = -1.0
    if not 0 <= alpha <= 1:
        raise UsageError(f"membership is {text!r}. Use a number from 0 to 1 after the colon, such as strict:0.5.")
    return alpha


def _build_strict(alpha: float) -> Membership:
    """Return the paper's function: 1 for proper forms, noun phrases, no overlap and direct reference, else alpha.

    An annotation without a category in one of the dimensions is not strict.
    """

    def weight(categories: Collection[str]) -> float:
        scheme_categories = [category for category in categories if category in NODES]
        dimensions = {category.partition(":")[0] for category in scheme_categories}
        return 1.0 if len(dimensions) == len(DIMENSIONS) and _STRICT_LEAVES.issuperset(scheme_categories) else alpha

    return Membership(f"strict:{alpha:g}", weight)


def _build_strict_code(alpha: float) -> Membership:
    """Return the function of the authors' code: maximal overlap is strict, and the lightest alternative counts."""

    def weight(categories: Collection[str]) -> float:
        return (
            1.0 if _STRICT_CODE_LEAVES.issuperset(category for category in categories if category in NODES) else alpha
        )

    return Membership(f"strict-code:{alpha:g}", weight, "min")


PRESETS: Final[Mapping[str, Callable[[float], Membership]]] = {
    "strict": _build_strict,
    "strict-code": _build_strict_code,
}
"""Functions with a parameter alpha, the weight of annotations that are not strict."""


class _CategoryRating(NamedTuple):
    """The share of people who would annotate a mention with these categories."""

    categories: frozenset[str]
    ratio: float


class _WeightTable(msgspec.Struct, frozen=True):
    """Weights of single categories, and ratings of sets of categories, which take precedence."""

    weights: Mapping[str, float]
    ratings: Sequence[_CategoryRating]
    default: float
    combine: Callable[[Sequence[float]], float]

    def weight(self, categories: Collection[str]) -> float:
        """Return the mean of the ratings that share most categories, else the combined weights, else the default."""
        all_categories = {*categories, *(PARENTS[category] for category in categories if category in PARENTS)}
        shared = [len(all_categories & rating.categories) for rating in self.ratings]
        max_shared = max(shared, default=0)
        if max_shared:
            ratios = [rating.ratio for rating, count in zip(self.ratings, shared, strict=True) if count == max_shared]
            return sum(ratios) / len(ratios)
        weights = [self.weights[category] for category in sorted(categories) if category in self.weights]
        return self.combine(weights) if weights else self.default


def _load_membership(path: str) -> Membership:
    """Load a membership function from a TOML file; raise `InputError` if it is invalid."""
    import tomllib

    data = Source(path).read_bytes()
    try:
        content = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as problem:  # also for numbers and nesting beyond Python's limits
        problem_text = f"invalid TOML ({problem})"
        raise _file_error(path, problem_text, "a TOML file with a table [weights] or [consensus]") from None
    unknown = sorted(content.keys() - set(_KEYS))
    if unknown:
        raise _file_error(path, f"the key {unknown[0]!r}", f"only {', '.join(_KEYS)}")
    weights, consensus = (_get_table(path, name, content) for name in ("weights", "consensus"))
    if not weights and not consensus:
        raise _file_error(
            path, "neither weights nor ratings", "a table [weights] or [consensus] with at least one line"
        )
    combine = content.get("combine", "min")
    if not isinstance(combine, str) or combine not in _COMBINE_FUNCTIONS:
        raise _file_error(path, f"combine = {combine!r}", " or ".join(_COMBINE_FUNCTIONS))
    ratings = [(_parse_categories(path, key), _parse_ratios(path, key, value)) for key, value in consensus.items()]
    table = _WeightTable(
        _weights_by_leaf(path, weights),
        [_CategoryRating(categories, ratio) for categories, ratios in ratings for ratio in ratios],
        _parse_weight(path, "default", content.get("default", 1.0)),
        _COMBINE_FUNCTIONS[combine],
    )
    return Membership(f"{printable_path(Path(path).name)}@{zlib.crc32(data):08x}", table.weight, needs_scheme=False)


def _get_table(path: str, name: str, content: Mapping[str, object]) -> dict[str, object]:
    """Return the table `name` of a TOML file, empty if it is missing; raise `InputError` if it is no table."""
    table = content.get(name, {})
    if not isinstance(table, dict):
        raise _file_error(path, f"{name} = {table!r}", f"a table [{name}]")
    return table


def _weights_by_leaf(path: str, weights: Mapping[str, object]) -> dict[str, float]:
    """Return the weight of every category; one of an inner node also applies to leaves below without their own.

    `weights` is the table of the file; raise `InputError` for unknown categories and invalid numbers.
    """
    explicit = {
        _check_category(path, category): _parse_weight(path, category, value) for category, value in weights.items()
    }
    inherited = {leaf: weight for node, weight in explicit.items() if node in NODES for leaf in get_leaves(node)}
    return {**inherited, **explicit}


def _parse_categories(path: str, key: str) -> frozenset[str]:
    """Parse categories that are joined by `+`; raise `InputError` if one is unknown."""
    return frozenset(_check_category(path, category.strip()) for category in key.split("+"))


def _check_category(path: str, category: str) -> str:
    """Return `category`; raise `InputError` if it has no dimension, or is unknown in a dimension of the scheme."""
    dimension, colon, _ = category.partition(":")
    if not colon or (dimension in DIMENSIONS and category not in NODES):
        examples = [node for node in NODES if node.startswith(f"{dimension}:")] or list(NODES)
        raise _file_error(path, f"the category {category!r}", f"DIMENSION:NAME, such as {', '.join(examples)}")
    return category


def _parse_ratios(path: str, key: str, value: object) -> list[float]:
    """Return a number from 0 to 1, or a list of such numbers, as a list; raise `InputError` for anything else."""
    values = value if isinstance(value, list) else [value]
    if not values:
        raise _file_error(path, f"no ratio for {key!r}", "one or several numbers from 0 to 1")
    return [_parse_weight(path, key, ratio) for ratio in values]


def _parse_weight(path: str, name: str, value: object) -> float:
    """Return a number from 0 to 1; raise `InputError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _file_error(path, f"{name} = {value!r}", "a number from 0 to 1")
    return float(value)


def _file_error(path: str, problem: str, expected: str) -> InputError:
    """Return, without raising, the error for an invalid membership file."""
    return InputError(
        path,
        actual=problem,
        expected=expected,
        remedy="Correct the file; the documentation page 'Error categories' shows an example",
    )


class QuestionnaireRating(NamedTuple):
    """A mention of the questionnaire with its categories and the share of authors who would annotate it."""

    mention: str
    """Text of the mention, followed by the link if several links were offered."""
    categories: frozenset[str]
    """Categories of the mention."""
    ratio: float
    """Share of the authors in favour."""


def _build_rating(mention: str, leaves: str, ratio: float) -> QuestionnaireRating:
    """Create a rating; `leaves` has the categories for form, part of speech, overlap and reference, in this order."""
    dimensions = ("form", "pos", "overlap", "reference")
    return QuestionnaireRating(mention, frozenset(map(":".join, zip(dimensions, leaves.split(), strict=True))), ratio)


RATINGS = (
    _build_rating("interview", "CommonForm NounSingular None Direct", 0.19),
    _build_rating("Martin Bashir", "Full NounSingular None Direct", 1.0),
    _build_rating("2003", "NumericTemporal NounSingular None Direct", 0.28),
    _build_rating("documentary", "CommonForm NounSingular None Direct", 0.28),
    _build_rating("Living with Michael Jackson", "Full NounSingular Maximal Direct", 0.97),
    _build_rating("Michael Jackson", "Full NounSingular Minimal Direct", 0.75),
    _build_rating("King", "CommonForm NounSingular Minimal Metaphoric", 0.08),
    _build_rating("Pop", "CommonForm NounSingular Minimal Direct", 0.33),
    _build_rating("King of Pop", "Alias NounSingular Maximal Direct", 0.94),
    _build_rating("recalled", "CommonForm Verb None Direct", 0.06),
    _build_rating("Joe", "Short NounSingular None Direct", 1.0),
    _build_rating("sat", "CommonForm Verb None Direct", 0.08),
    _build_rating("white", "CommonForm Adjective None Direct", 0.11),
    _build_rating("belt", "CommonForm NounSingular None Direct", 0.14),
    _build_rating("hand", "CommonForm NounSingular None Direct", 0.14),
    _build_rating("he", "ProForm NounSingular Minimal Anaphoric", 0.56),
    _build_rating("his", "ProForm Adjective Minimal Anaphoric", 0.39),
    _build_rating("four", "NumericTemporal NounPlural Minimal Direct", 0.08),
    _build_rating("siblings", "CommonForm NounPlural Minimal Direct", 0.14),
    _build_rating("he and his four siblings", "CommonForm NounPlural Maximal Descriptive", 0.50),
    _build_rating("rehearsed", "CommonForm Verb None Direct", 0.08),
    _build_rating("Russian: Russia", "Full Adjective None Direct", 0.61),
    _build_rating("Russian: Russians", "Full Adjective None Direct", 0.11),
    _build_rating("Russian: Russian language", "Short Adjective None Direct", 0.08),
    _build_rating("daily", "CommonForm NounSingular None Related", 0.14),
    _build_rating("Kommersant", "Full NounSingular None Direct", 0.97),
    _build_rating("reports", "CommonForm Verb None Direct", 0.06),
    _build_rating("Moscow: Government of Russia", "Alias NounSingular None Metonymic", 0.77),
    _build_rating("Moscow: Moscow", "Full NounSingular None Related", 0.36),
    _build_rating("supply", "CommonForm Verb None Direct", 0.06),
    _build_rating("Greeks: Greece", "Full NounPlural None Direct", 0.77),
    _build_rating("Greeks: Greeks", "Full NounPlural None Direct", 0.36),
    _build_rating("gas", "CommonForm NounSingular None Direct", 0.36),
    _build_rating("rock", "CommonForm NounSingular Minimal Metaphoric", 0.0),
    _build_rating("prices", "CommonForm NounPlural Minimal Direct", 0.19),
    _build_rating("rock bottom prices", "CommonForm NounPlural Maximal Related", 0.28),
    _build_rating("Tsipras", "Short NounSingular None Direct", 0.92),
    _build_rating("prepares", "CommonForm Verb None Direct", 0.03),
    _build_rating("meet", "CommonForm Verb None Direct", 0.06),
    _build_rating("Russian (President): Russia", "Full Adjective Minimal Direct", 0.42),
    _build_rating("Russian (President): Russians", "Full Adjective Minimal Direct", 0.19),
    _build_rating("President", "Full NounSingular Minimal Direct", 0.12),
    _build_rating("Russian President: Vladimir Putin", "CommonForm NounSingular Maximal Descriptive", 0.77),
    _build_rating("Russian President: President of Russia", "Alias NounSingular Maximal Direct", 0.61),
)
