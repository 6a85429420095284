"""XML as a stream of elements: one record in memory at a time, no entities, errors that name the location."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError

from karat.model.defects import skip_or_raise
from karat.model.errors import InputError
from karat.model.limits import get_limit, limit_error
from karat.model.spec.format import ByteSource

_BEFORE_ROOT = {b"<?": b"?>", b"<!--": b"-->"}
_WHITE_SPACE = re.compile(rb"\s*")
_ROOT = re.compile(rb"<([A-Za-z_][^\s/>]*)")


def get_root_name(head: bytes) -> str:
    """Return the name of the outermost element in the first bytes, or an empty string if they are not XML."""
    offset = _skip_white_space(head, 3 if head.startswith(b"\xef\xbb\xbf") else 0)
    while closing := next((end for start, end in _BEFORE_ROOT.items() if head.startswith(start, offset)), None):
        end = head.find(closing, offset)
        if end < 0:
            return ""
        offset = _skip_white_space(head, end + len(closing))
    match = _ROOT.match(head, offset)
    return match[1].decode(errors="replace") if match else ""


def _skip_white_space(head: bytes, offset: int) -> int:
    """Return the offset behind the white space at `offset`."""
    match = _WHITE_SPACE.match(head, offset)
    return match.end() if match else offset


def read_elements(source: ByteSource, *tags: str, has_documents: bool = False) -> Iterator[Element]:
    """Yield the outermost elements named in `tags`, complete, in the order of the file.

    If the elements are documents (`has_documents`) and the XML breaks off, the error policy may keep the elements
    before the break. Each element is cleared when the next one is requested, so memory depends on the largest element.
    Other invalid XML, entity declarations and references to other files raise `InputError`.
    """
    from defusedxml.ElementTree import iterparse

    ancestors: list[Element] = []
    depth = 0
    with source.open_stream() as file:
        try:
            for event, element in iterparse(file, events=("start", "end")):
                if event == "start":
                    ancestors.append(element)
                    if len(ancestors) > get_limit("nesting"):
                        message = f"elements more than {get_limit('nesting'):,} deep"
                        raise limit_error("nesting", source.label, message, "Check that every element is closed")
                    depth += element.tag in tags
                    continue
                ancestors.pop()
                depth -= element.tag in tags
                if not depth:
                    if element.tag in tags:
                        yield element
                    if ancestors:
                        del ancestors[-1][:]
        except ParseError as problem:
            location = f"{source.label}:{problem.position[0]}"
            error = _xml_error(location, f"XML that cannot be read ({problem.msg})")
            if not has_documents:
                raise error from None
            skip_or_raise(error)
        except (ValueError, LookupError) as problem:  # forbidden by defusedxml, or an unknown encoding
            raise _xml_error(source.label, f"XML that is not allowed ({problem})") from None


def _xml_error(location: str, message: str) -> InputError:
    """Build the error for XML that is invalid or not allowed."""
    return InputError(
        location,
        actual=message,
        expected="complete XML without entity declarations",
        remedy="Check that the file was not cut off, and write plain characters instead of entities",
    )


def get_child_text(element: Element, name: str) -> str:
    """Return the text of the child `name` without surrounding white space, or an empty string if there is none."""
    return (element.findtext(name) or "").strip()
