"""Vocabularies: files with the titles of all entities that systems may link to."""

from __future__ import annotations

from collections.abc import Iterable

from karat.formats.parsing.vocabulary import iterate_entities
from karat.model.errors import InputError
from karat.storage.files import Source

_MAX_EXAMPLES = 3


def read_vocabulary(path: str) -> dict[str, str | None]:
    """Read the titles of a vocabulary file, with spaces, and their page ids; None for a missing id.

    Layouts are those of `iterate_entities`. Raise `InputError` if there is no title.
    """
    source = Source(path)
    titles = {title.replace("_", " "): page for title, page in iterate_entities(source)}
    if not titles:
        raise InputError(
            source.label, actual="no title", expected="one title per line", remedy="Pass the file with the entities"
        )
    return titles


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
