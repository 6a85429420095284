"""Import of OBO ontologies: terms with names, synonyms, definitions and superclasses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.kb.importers.table_rows import TableRows
from karat.model.errors import InputError
from karat.storage.files import Source

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_REST = re.compile(r"(?<!\\)(?: !| \{).*$")  # comment or modifier after the value


def read_obo(path: str, language: str, xrefs_are_same_as: bool) -> TableRows:
    """Read the rows of all terms in an OBO file; raise `InputError` on a malformed file. `language` has no effect.

    `xrefs_are_same_as`: whether cross-references become same-as pairs; otherwise they are counted as skipped.
    """
    tables = TableRows()
    for where, tags in _iterate_terms(Source(path)):
        ids = [value for tag, value in tags if tag == "id"]
        if len(ids) != 1 or not ids[0]:
            raise InputError(
                where, actual=f"a term with {len(ids)} ids", expected="one id", remedy="Correct or remove the term"
            )
        _add_term(tables, ids[0], tags, xrefs_are_same_as)
        tables.check_entity(where)
    return tables


def _iterate_terms(source: Source) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield, for each [Term] stanza, the location of its first line and its pairs (tag, value)."""
    tags: list[tuple[str, str]] | None = None
    where, has_stanza = source.label, False
    with source.open_stream() as file:
        for number, raw in enumerate(file, 1):
            try:
                line = raw.decode().strip()
            except UnicodeDecodeError:
                raise InputError(
                    f"{source.label}:{number}",
                    actual="bytes that are not UTF-8",
                    expected="UTF-8",
                    remedy="Convert the file",
                ) from None
            if line.startswith("["):
                if tags is not None:
                    yield where, tags
                where, has_stanza = f"{source.label}:{number}", True
                tags = [] if line == "[Term]" else None
            elif tags is not None and line and not line.startswith("!"):
                tag, colon, value = line.partition(":")
                if not colon:
                    raise InputError(
                        f"{source.label}:{number}", actual=repr(line), expected="tag: value", remedy="Correct the line"
                    )
                tags.append((tag, value.strip()))
    if tags is not None:
        yield where, tags
    if not has_stanza:
        raise InputError(source.label, actual="no stanza", expected="[Term] stanzas of OBO", remedy="Check the file")


def _add_term(tables: TableRows, id: str, tags: list[tuple[str, str]], xrefs_are_same_as: bool) -> None:
    """Add the rows of a term to the tables, from its pairs (tag, value); an obsolete term gets the kind `deleted`."""
    name = description = None
    is_obsolete = False
    for tag, value in tags:
        quoted = _QUOTED.match(value)
        text = re.sub(r"\\(.)", r"\1", quoted[1]) if quoted else ""
        plain = _REST.sub("", value)
        if tag == "name":
            name = re.sub(r"\\(.)", r"\1", plain)
            tables.add("aliases", id, name)
        elif tag == "def":
            description = text
        elif tag == "synonym" and text:
            tables.add("aliases", id, text)
        elif tag == "is_a":
            tables.add("subclass_of", id, plain)
        elif tag == "alt_id":
            tables.add("redirects", plain, id)
        elif tag == "replaced_by":
            tables.add("redirects", id, plain)
        elif tag == "is_obsolete":
            is_obsolete = plain == "true"
        elif tag == "xref" and xrefs_are_same_as:
            tables.add("same_as", id, plain.split(' "')[0])
        elif tag == "xref":
            tables.skipped["cross-references, skipped: they may name other entities (--merge-xrefs reads them)"] += 1
    tables.add("entities", id, name, "deleted" if is_obsolete else "normal", description)
