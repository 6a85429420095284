"""XML as a stream of records: a record at a time in memory, no entities, errors that say where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError

from karat.errors import InputError
from karat.limits import most, refused
from karat.model.defects import pass_over
from karat.spec.format import Bytes

_BEFORE_ROOT = {b"<?": b"?>", b"<!--": b"-->"}
_BLANK = re.compile(rb"\s*")
_ROOT = re.compile(rb"<([A-Za-z_][^\s/>]*)")


def root(head: bytes) -> str:
    """The name of the outermost element, told from the first bytes; empty where they are no XML."""
    place = _behind_blanks(head, 3 if head.startswith(b"\xef\xbb\xbf") else 0)
    while closing := next((end for start, end in _BEFORE_ROOT.items() if head.startswith(start, place)), None):
        end = head.find(closing, place)
        if end < 0:
            return ""
        place = _behind_blanks(head, end + len(closing))
    found = _ROOT.match(head, place)
    return found[1].decode(errors="replace") if found else ""


def _behind_blanks(head: bytes, place: int) -> int:
    blanks = _BLANK.match(head, place)
    return blanks.end() if blanks else place


def records(source: Bytes, *tags: str, documents: bool = False) -> Iterator[Element]:
    """The outermost elements of these names, complete, in the order of the file.

    Where they are `documents`, those before a place at which the XML breaks off may be kept without the rest.

    Each is dropped once the next is asked for, and so is all else, so that memory follows the largest record. Entity
    declarations and references to other files are refused.
    """
    from defusedxml.ElementTree import iterparse

    around: list[Element] = []
    inside = 0
    with source.stream() as file:
        try:
            for event, element in iterparse(file, events=("start", "end")):
                if event == "start":
                    around.append(element)
                    if len(around) > most("nesting"):
                        found = f"elements more than {most('nesting'):,} deep"
                        raise refused("nesting", source.label, found, "Check that every element is closed")
                    inside += element.tag in tags
                    continue
                around.pop()
                inside -= element.tag in tags
                if not inside:
                    if element.tag in tags:
                        yield element
                    if around:
                        del around[-1][:]
        except ParseError as problem:
            where = f"{source.label}:{problem.position[0]}"
            error = _refused(where, f"XML that cannot be read ({problem.msg})")
            if not documents:
                raise error from None
            pass_over(error)
        except (ValueError, LookupError) as problem:  # what defusedxml forbids, and unknown encodings
            raise _refused(source.label, f"XML that is not allowed ({problem})") from None


def _refused(where: str, found: str) -> InputError:
    return InputError(
        where,
        found=found,
        expected="complete XML without entity declarations",
        remedy="Check that the file was not cut off, and write plain characters instead of entities",
    )


def child(element: Element, name: str) -> str:
    """The text of a child without the white space around it; empty where there is none."""
    return (element.findtext(name) or "").strip()
