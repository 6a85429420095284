"""Vocabularies: files with all entities that systems may link to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from karat.formats.parsing.json.records import read_json
from karat.formats.parsing.lines import read_lines
from karat.model.json.decoder import read_json_value
from karat.storage.files import Source


def iterate_entities(source: Source) -> Iterator[tuple[str, str | None]]:
    """Yield each entity as written, a title or another id, with its page id; None if missing. Empty ones are skipped.

    Each line is an entity, `page id<TAB>title`, or an object with `wikipedia_title` and `wikipedia_id`. Alternatively
    the file is one JSON object from page ids to titles, or a list of titles. Raise `InputError` for an invalid line.
    """
    yield from ((entity, page or None) for entity, page in _read_rows(source) if entity)


def _read_rows(source: Source) -> Iterator[tuple[str, str | None]]:
    """Yield each entity as written with its page id, None if missing."""
    opening = source.first_bytes.lstrip()[:1]
    if opening == b"[" or (opening == b"{" and b'"wikipedia_title"' not in source.first_bytes):
        value = read_json(source)
        pairs: Iterable[tuple[Any, Any]] = (
            value.items() if isinstance(value, dict) else ((None, title) for title in value)
        )
        yield from ((str(title), None if page is None else str(page)) for page, title in pairs)
        return
    for line in read_lines(source):
        if opening == b"{" and line.text.strip():
            record = read_json_value(
                line.text,
                _EntityRecord,
                f"{source.label}:{line.number}",
                actual="no entity ({problem})",
                expected="an object with wikipedia_title and wikipedia_id",
                remedy="Correct the line",
            )
            yield record.wikipedia_title, None if record.wikipedia_id is None else str(record.wikipedia_id)
        else:
            page, tab, title = line.text.partition("\t")
            yield (title, page) if tab else (page, None)


class _EntityRecord(msgspec.Struct):
    """JSON line of a vocabulary file."""

    wikipedia_title: str
    wikipedia_id: str | int | None = None
