"""A quantity is marked without its unit, as in the fair-evaluation paper (Bast, Hertel and Prange 2023, A.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule, RuleExample

_NUMBER_WORDS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion hundreds
thousands millions billions trillions dozen dozens first second third fourth fifth sixth seventh eighth ninth tenth half
quarter thirds quarters fifths tenths and a of m bn k point minus plus about over
"""

_WORDS = frozenset(_NUMBER_WORDS.split())
_CURRENCY = "$€£¥₹"
_START = re.compile(rf"(?P<currency>[{_CURRENCY}]?)\s*[+\-−–]?[.,]?\d(?:[\d.,\u00a0\u202f ]*\d)?(?:st|nd|rd|th)?")
_TOKEN = re.compile(r"[^\W\d_]+|[%‰°]")
_MILLIONS = re.compile(r"^m\b")  # "129m" are millions more often than metres


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report quantities that begin or end with a unit or a currency."""
    for label in document.labels:
        if label.kind == "quantity":
            surface = document.text[label.start : label.end]
            unit = _find_unit(surface)
            if unit is not None:
                description = f"the quantity includes {unit!r}"
                yield Finding.from_label(document, label, description, "Mark the number without its unit")


def _find_unit(surface: str) -> str | None:
    """Return the unit or currency in the text of a quantity that is written in digits or begins with a number word."""
    match = _START.match(surface)
    if match is not None and match["currency"]:
        return match["currency"]
    rest = surface[match.end() :] if match is not None else surface
    tokens = _TOKEN.findall(_MILLIONS.sub("", rest))
    is_number = match is not None or (bool(tokens) and tokens[0].lower() in _WORDS)
    return next((token for token in tokens if is_number and not _is_number_word(token)), None)


def _is_number_word(token: str) -> bool:
    """Return whether a word belongs to a number: "hundred", "M" for million, but "m" is a metre."""
    return token != "m" and token.lower() in _WORDS


RULE = Rule(
    title="Unit in a quantity",
    description="A quantity is marked without its unit or currency.",
    severity="hint",
    find=_find,
    is_gold_only=True,
    example=RuleExample(
        documents=(
            Document(
                "d",
                "It has 5 km, 13.5%, $40, 391 million, two miles, twenty-seven, 2nd and 1,000.",
                (
                    Label(7, 11, "QUANTITY", kind="quantity"),
                    Label(13, 18, "QUANTITY", kind="quantity"),
                    Label(20, 23, "QUANTITY", kind="quantity"),
                    Label(25, 36, "QUANTITY", kind="quantity"),
                    Label(38, 47, "QUANTITY", kind="quantity"),
                    Label(49, 61, "QUANTITY", kind="quantity"),
                    Label(63, 66, "QUANTITY", kind="quantity"),
                    Label(71, 76, "QUANTITY", kind="quantity"),
                ),
            ),
        ),
        findings=(
            ("5 km", "includes 'km'", False),
            ("13.5%", "includes '%'", False),
            ("$40", "includes '$'", False),
            ("two miles", "includes 'miles'", False),
        ),
    ),
)
