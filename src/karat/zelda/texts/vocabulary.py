"""The entities that everybody may link to: a file of titles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from karat.errors import InputError
from karat.parsing.json.records import json_file
from karat.parsing.lines import lines
from karat.storage.files import Source

_NAMED = 3


def read_vocabulary(path: str) -> dict[str, str | None]:
    """Titles with their page ids, None where the file has none.

    A line each: a title, `id<TAB>title`, or an object with `wikipedia_title` and `wikipedia_id`; or one JSON object
    from ids to titles, or a list of titles. Underscores are blanks.
    """
    source = Source(path)
    found = {title.replace("_", " "): page for title, page in _rows(source) if title}
    if not found:
        raise InputError(
            source.label, found="no title", expected="a title a line", remedy="Give the file with the entities"
        )
    return found


def _rows(source: Source) -> Iterator[tuple[str, str | None]]:
    opening = source.opening.lstrip()[:1]
    if opening == b"[" or (opening == b"{" and b'"wikipedia_title"' not in source.opening):
        value = json_file(source)
        pairs: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ((None, one) for one in value)
        yield from ((str(title), None if page is None else str(page)) for page, title in pairs)
        return
    for line in lines(source):
        if opening == b"{" and line.text.strip():
            try:
                record = msgspec.json.decode(line.text, type=_Described)
            except msgspec.DecodeError as problem:
                raise InputError(
                    f"{source.label}:{line.number}",
                    found=f"no entity ({problem})",
                    expected="an object with wikipedia_title and wikipedia_id",
                    remedy="Correct the line",
                ) from None
            yield record.wikipedia_title, None if record.wikipedia_id is None else str(record.wikipedia_id)
        else:
            page, tab, title = line.text.partition("\t")
            yield (title, page) if tab else (page, None)


class _Described(msgspec.Struct):
    wikipedia_title: str
    wikipedia_id: str | int | None = None


def demand_entities(vocabulary: Iterable[str], wanted: Iterable[str], where: str) -> None:
    """Refuse a vocabulary in which entities of the test sets are missing: nobody could link to them."""
    known = vocabulary if isinstance(vocabulary, dict | set | frozenset) else set(vocabulary)
    asked = list(dict.fromkeys(wanted))
    missing = [entity for entity in asked if entity not in known]
    if missing:
        named = ", ".join(map(repr, missing[:_NAMED])) + (", …" if len(missing) > _NAMED else "")
        raise InputError(
            where,
            found=f"a vocabulary without {len(missing):,} of {len(asked):,} test entities ({named})",
            expected="a vocabulary with every entity of the test sets",
            remedy="Add them, or bring both to the titles of one Wikipedia",
        )
