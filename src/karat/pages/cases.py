"""Single cases, as `karat show` prints and writes them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from karat.comparison.cases import CaseFilter, MentionCase
from karat.evaluation.cases.errors import categories
from karat.model.verdict import Outcome
from karat.pages.files import Written, line
from karat.pages.tables import aligned
from karat.printable import shown, shown_json

if TYPE_CHECKING:
    from karat.comparison.cases import CaseList, NamedLink, SystemCase
    from karat.facts.sentence import Sentence

WIDTH: Final = 80
"""How wide a page is where nobody knows better."""

_INDENT: Final = "    "
_GOLD: Final = "gold"
_NONE: Final = "–"
_MENTION: Final = 240  # characters of a mention that are shown
_NAME: Final = 16  # columns for the name of a system, and at most for an id beside a name
_BLANKS: Final = re.compile(r"\s+")


class CasesFile(Written, frozen=True):
    """What `karat show --json` writes: how many cases there are, those that the filter leaves, and their outcomes.

    `outcomes` counts the cases of each system by how they ended, before anything is filtered.
    """

    layout: Literal["karat-cases/1"]
    dataset: str
    view: str
    profile: str
    signature: str
    systems: tuple[str, ...]
    outcomes: Mapping[str, Mapping[str, int]]
    filter: CaseFilter
    every: int
    cases: tuple[MentionCase, ...]


def json_of(found: CaseList) -> bytes:
    """All cases that the filter leaves."""
    return line(
        CasesFile(
            layout="karat-cases/1",
            dataset=found.dataset,
            view=found.view,
            profile=found.profile,
            signature=str(found.signature),
            systems=found.systems,
            outcomes=found.outcomes,
            filter=found.kept,
            every=found.every,
            cases=found[:],
        )
    )


def lines_of(found: CaseList) -> Iterator[bytes]:
    """The same cases on a line each, as they stand in `cases` of the other file."""
    encode = msgspec.json.Encoder().encode
    for case in found:
        yield shown_json(encode(case)) + b"\n"


def page(found: CaseList, limit: int, width: int = WIDTH) -> str:
    """How cases ended, and the first of those that the filter leaves, each in its sentence."""
    blocks = [_wrapped(_head(found), width), _outcomes(found)]
    blocks += ["\n".join(_case(number, case, found, width)) for number, case in enumerate(found[:limit], 1)]
    more = len(found) - limit
    if more > 0:
        hint = f"--limit {len(found)} shows all, --json and --jsonl write all"
        blocks.append(_wrapped(f"… and {more:,} more case{'s' * (more != 1)}: {hint}", width))
    return "\n\n".join(blocks) + "\n"


def _head(found: CaseList) -> str:
    asked = found.kept
    titles = tuple(categories()[name].title for name in asked.errors)
    flips = () if asked.flips is None else (" and ".join(asked.flips),)
    filters = {
        "outcome": asked.outcomes,
        "error": titles,
        "of": asked.systems,
        "type": asked.types,
        "linked to": asked.entities,
        "in": asked.documents,
        "flips between": flips,
    }
    said = [f"{words} {' or '.join(given)}" for words, given in filters.items() if given]
    start = f"{', '.join(found.systems)} on {found.dataset}: {found.view}, profile {found.profile}"
    return f"{start}\n{'; '.join([f'{len(found):,} of {found.every:,} cases', *said])}"


def _outcomes(found: CaseList) -> str:
    """A table of how the cases of each system ended."""
    every = [each.label for each in Outcome if any(each.label in own for own in found.outcomes.values())]
    rows = [[_clipped(name, _NAME), *(str(own.get(each, 0)) for each in every)] for name, own in found.outcomes.items()]
    return aligned([["all cases", *every], *rows])


def _case(number: int, case: MentionCase, found: CaseList, width: int) -> Iterator[str]:
    """A case: where it is, its sentence, and what gold and systems say."""
    said = [case.document, f"{case.start}–{case.end}", ", ".join(case.types), "optional" * case.optional]
    yield from _hanging(f"{number}.".ljust(len(_INDENT)), _joined(said), width)
    if case.sentence is not None:
        yield from _hanging(_INDENT, _marked(case.sentence), width)
    who = max(_columns(_clipped(name, _NAME)) for name in (_GOLD, *found.systems))
    by_system = {name: [own for own in case.systems if own.system == name] for name in found.systems}
    outcome = max(len(own.outcome) for own in case.systems)
    ids = [len(link.entity) for link in _links(case) if link.entity is not None and link.name]
    aligned_ids = min(max(ids, default=0), _NAME)
    widths = who, aligned_ids, width
    for place, link in enumerate(_link(each, case, aligned_ids) for each in case.gold):
        yield from _said("or" if place else _GOLD, " " * outcome, link, widths)
    if not case.gold:
        yield from _said(_GOLD, " " * outcome, "no mention", widths)
    for name, own in by_system.items():
        for each in own:
            answer = "" if each.answer is None else _link(each.answer, case, aligned_ids)
            yield from _said(name, each.outcome.ljust(outcome), answer, widths)
            why = _why(each, decided=found.signature["kb"] != "none")
            if why:
                yield from _hanging(" " * (len(_INDENT) + who + 2 + outcome + 2), why, width)
        if not own:
            yield from _said(name, _NONE, "", widths)


def _links(case: MentionCase) -> list[NamedLink]:
    return [*case.gold, *(own.answer for own in case.systems if own.answer is not None)]


def _said(who: str, outcome: str, link: str, widths: tuple[int, int, int]) -> Iterator[str]:
    """What one of them says: the id first, so that a name that is written to the left ends its line."""
    name = _clipped(who, _NAME)
    first = f"{_INDENT}{name}{' ' * (widths[0] - _columns(name))}  {outcome}  "
    yield from _hanging(first, link, widths[2])


def _link(link: NamedLink, case: MentionCase, ids: int) -> str:
    said = "NIL" if link.nil else "no link" if link.entity is None else shown(link.entity)
    parts = [said.ljust(ids) if link.name else said, shown(link.name or ""), _elsewhere(link, case)]
    return "  ".join(filter(None, parts))


def _elsewhere(link: NamedLink, case: MentionCase) -> str:
    """Where a link stands, if not where the case does."""
    if (link.start, link.end) == (case.start, case.end):
        return ""
    sentence = case.sentence
    first = 0 if sentence is None else link.start - sentence.offset
    if sentence is None or first < 0 or link.end - sentence.offset > len(sentence.text):
        return f"(on {link.start}–{link.end})"
    return f"(on {_blanked(sentence.text[first : link.end - sentence.offset])})"


def _why(own: SystemCase, *, decided: bool) -> str:
    """The categories of an error, without those that only hold others."""
    known = categories()
    narrow = [name for name in own.errors if not any(other.startswith(f"{name}-") for other in own.errors)]
    said = [", ".join(known[name].title for name in narrow)] if narrow else []
    open_ = [known[name].title for name in own.undecided] if own.errors else []
    want = "for want of facts" if decided else "without --kb"
    return "; ".join([*said, *([f"undecided {want}: {', '.join(open_)}"] if open_ else [])])


def _marked(sentence: Sentence) -> str:
    """A sentence on one line, in which the mention stands in brackets; what is left out is `…`."""
    text, (before, behind) = sentence.text, sentence.cut
    mention = text[sentence.start : sentence.end]
    if len(mention) > _MENTION:
        mention = f"{mention[: _MENTION // 2]} … {mention[-_MENTION // 2 :]}"
    parts = ["… " * before, text[: sentence.start], "[", mention, "]", text[sentence.end :], " …" * behind]
    return _blanked("".join(parts))


def _blanked(text: str) -> str:
    """A text as data, with one blank for all white space in a row."""
    return shown(_BLANKS.sub(" ", text)).strip()


def _joined(parts: Sequence[str]) -> str:
    return "  ".join(_blanked(part) for part in parts if part)


def _hanging(first: str, text: str, width: int) -> Iterator[str]:
    """A text behind what begins its first line; the other lines are indented as far."""
    indent = _columns(first)
    lines = _lines(text, max(width - indent, 16))
    yield f"{first}{lines[0]}".rstrip()
    yield from (" " * indent + line for line in lines[1:])


def _wrapped(text: str, width: int) -> str:
    return "\n".join(one for part in text.split("\n") for one in _lines(shown(part), width))


def _lines(text: str, width: int) -> list[str]:
    """A text in lines of some columns, broken at blanks, and inside words that are longer."""
    lines, free = [""], width
    for word in re.findall(r" *[^ ]+", text):
        size = _columns(word)
        if size > free and lines[-1]:
            lines.append("")
            free, word = width, word.lstrip()
            size = _columns(word)
        while size > free:
            part = _clipped(word, free, "")
            lines[-1] += part
            lines.append("")
            word, free = word[len(part) :], width
            size = _columns(word)
        lines[-1] += word
        free -= size
    return lines if lines[-1] or len(lines) == 1 else lines[:-1]


def _clipped(text: str, width: int, mark: str = "…") -> str:
    """As much of a text as has room, with a mark if that is not all; at least one character."""
    text = shown(text)
    if len(text) <= width and _columns(text) <= width:
        return text
    room, kept = width - len(mark), 0
    for kept, sign in enumerate(text):  # noqa: B007  # where it ends is what is asked for
        room -= _columns(sign)
        if room < 0:
            break
    return text[: max(kept, 1)] + mark


def _columns(text: str) -> int:
    """How many columns a terminal takes for a text: two for a wide character, none for a mark above another."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.category(sign) in ("Mn", "Me", "Cf") for sign in text)
