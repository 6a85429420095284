"""Vocabularies: files with the titles of all entities that systems may link to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from karat.formats.parsing.json.records import read_json
from karat.formats.parsing.lines import read_lines
from karat.model.errors import InputError
from karat.model.json.decoder import read_json_value
from karat.storage.files import Source

_MAX_EXAMPLES = 3


def read_vocabulary(path: str) -> dict[str, str | None]:
    """Read the titles of a vocabulary file, with spaces, and their page ids; None for a missing id.

    Each line is a title, `id<TAB>title`, or an object with `wikipedia_title` and `wikipedia_id`. Alternatively the file
    is one JSON object from ids to titles, or a list of titles. Raise `InputError` if there is no title.
    """
    source = Source(path)
    titles = {title.replace("_", " "): page for title, page in _read_rows(source) if title}
    if not titles:
        raise InputError(
            source.label, actual="no title", expected="one title per line", remedy="Pass the file with the entities"
        )
    return titles


def _read_rows(source: Source) -> Iterator[tuple[str, str | None]]:
    """Yield each title as written with its page id, None if missing; raise `InputError` for an invalid line."""
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


def check_entities(vocabulary: Iterable[str], entities: Iterable[str], label: str) -> None:
    """Raise `InputError` if any of the test `entities` is missing in `vocabulary`; `label` names the vocabulary.

    Titles are compared as written.
    """
    titles = vocabulary if isinstance(vocabulary, dict | set | frozenset) else set(vocabulary)
    unique_entities = list(dict.fromkeys(entities))
    missing = [entity for entity in unique_entities if entity not in titles]
    if missing:
        examples = ", ".join(map(repr, missing[:_MAX_EXAMPLES])) + (", …" if len(missing) > _MAX_EXAMPLES else "")
        raise InputError(
            label,
            actual=f"a vocabulary without {len(missing):,} of {len(unique_entities):,} test entities ({examples})",
            expected="a vocabulary with every entity of the test sets",
            remedy="Add them, or use the titles of the same Wikipedia in both",
        )
