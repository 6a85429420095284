"""Closed classes of English words, written for this purpose: pronouns, determiners, numbers, times and the like."""

from __future__ import annotations

import re

from karat.model.surface import PRONOUNS


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


POSSESSIVES = _set("my your his her its our their whose")
"""Words that stand before a noun and for its owner."""

PRO_FORMS = PRONOUNS | POSSESSIVES | _set("who whom which what that this these those both each either neither another")
"""Words that stand for something named elsewhere."""

PLURAL_PRO_FORMS = _set("we us ours ourselves they them theirs themselves yourselves these those both")
"""Pro-forms for several."""

DETERMINERS = _set("a an the this that these those some any no every each all both such another") | POSSESSIVES
"""Words before a noun that say which one is meant."""

DEFINITE = _set("the this that these those each both") | POSSESSIVES
"""Determiners that say that a known one is meant."""

PREPOSITIONS = _set(
    """
    of in on at by for with from to into onto over under about against between among through during before after since
    until within without across along around behind beyond near off out up down upon toward towards despite per via
    """
)

CONJUNCTIONS = _set("and or but nor yet so if because while although though unless whether than as when where why how")

AUXILIARIES = _set("be am is are was were been being have has had having do does did get gets got")

MODALS = _set("can could may might must shall should will would")

ADVERBS = _set(
    """
    not never always often sometimes soon already still again also just only very too quite rather almost even ever
    here there then once twice perhaps maybe instead together away back far well later ago abroad
    """
)

ORDINALS = _set(
    """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
    sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth hundredth thousandth millionth
    """
)

SMALL_NUMBERS = _set(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
    """
)

LARGE_NUMBERS = _set("dozen hundred thousand million billion trillion")
"""Numbers that have a plural."""

WEEKDAYS = _set("monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun")

MONTHS = _set(
    """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    """
)

RELATIVE_TIMES = _set("yesterday tomorrow")
"""Days by their distance from today. Not "today": the annotated sets take it as the common noun for the present."""

_CLOCK = _set("am pm gmt utc bc ad bce ce century centuries")
_DIGITS = re.compile(r"\d[\d.,:/-]*(?:st|nd|rd|th|s|h\d*)?")
_ROMAN = re.compile(r"(?=[IVX]{2})X{0,3}(?:IX|IV|V?I{0,3})")
_LINKS = _set("of the and to")

_TITLES = """
president vice-president chancellor minister premier governor senator secretary ambassador mayor judge justice speaker
king queen prince princess duke duchess earl count countess lord lady sir emperor sultan sheikh pope bishop archbishop
cardinal rabbi imam father reverend saint general colonel major captain admiral sergeant doctor professor
mr mrs ms miss dr prof gen gov sen rep capt col sgt
"""

TITLES = _set(_TITLES)
"""Offices and forms of address, which are names where they have a capital."""


def numeric(text: str) -> bool:
    """Whether a text is a number, a date or a time, in digits or in words."""
    found = re.findall(r"[^\s,()–—-]+", text)
    told = [part for part in found if part.lower() not in _LINKS]
    return bool(told) and all(map(_is_number, told)) and any(part.lower().strip(".") not in _CLOCK for part in told)


def _is_number(word: str) -> bool:
    plain = word.strip(".'’").removesuffix("'s").removesuffix("’s")
    small = plain.lower()
    if _DIGITS.fullmatch(small) or _ROMAN.fullmatch(plain):
        return True
    if small in WEEKDAYS or small in MONTHS:
        return plain[0].isupper()
    known = SMALL_NUMBERS | LARGE_NUMBERS | ORDINALS | RELATIVE_TIMES | _CLOCK
    return small in known or small.removesuffix("s") in LARGE_NUMBERS | WEEKDAYS
