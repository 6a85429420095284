"""Ontologies in OBO: terms with names, synonyms, definitions and what they are a kind of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.errors import InputError
from karat.knowledge.importing.gathered import Gathered
from karat.storage.files import Source

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_REST = re.compile(r"(?<!\\)(?: !| \{).*$")  # what a tag says besides its value


def gathered_obo(path: str, language: str, xrefs: bool) -> Gathered:
    """Every term; cross-references are taken for the same only where `xrefs` says so."""
    found = Gathered()
    for where, tags in _terms(Source(path)):
        ids = [value for tag, value in tags if tag == "id"]
        if len(ids) != 1 or not ids[0]:
            raise InputError(
                where, found=f"a term with {len(ids)} ids", expected="one id", remedy="Mend it, or leave it out"
            )
        _add(found, ids[0], tags, xrefs)
    return found


def _terms(source: Source) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The tags of each term, with where it begins."""
    tags: list[tuple[str, str]] | None = None
    where, seen = source.label, False
    with source.stream() as file:
        for number, raw in enumerate(file, 1):
            try:
                line = raw.decode().strip()
            except UnicodeDecodeError:
                raise InputError(
                    f"{source.label}:{number}", found="bytes that are not UTF-8", expected="UTF-8", remedy="Convert it"
                ) from None
            if line.startswith("["):
                if tags is not None:
                    yield where, tags
                where, seen = f"{source.label}:{number}", True
                tags = [] if line == "[Term]" else None
            elif tags is not None and line and not line.startswith("!"):
                tag, colon, value = line.partition(":")
                if not colon:
                    raise InputError(
                        f"{source.label}:{number}", found=repr(line), expected="tag: value", remedy="Mend the line"
                    )
                tags.append((tag, value.strip()))
    if tags is not None:
        yield where, tags
    if not seen:
        raise InputError(source.label, found="no stanza", expected="[Term] stanzas of OBO", remedy="Check the file")


def _add(found: Gathered, id: str, tags: list[tuple[str, str]], xrefs: bool) -> None:
    name = description = None
    gone = False
    for tag, value in tags:
        quoted = _QUOTED.match(value)
        text = re.sub(r"\\(.)", r"\1", quoted[1]) if quoted else ""
        plain = _REST.sub("", value)
        if tag == "name":
            name = re.sub(r"\\(.)", r"\1", plain)
            found.add("aliases", id, name)
        elif tag == "def":
            description = text
        elif tag == "synonym" and text:
            found.add("aliases", id, text)
        elif tag == "is_a":
            found.add("subclass_of", id, plain)
        elif tag == "alt_id":
            found.add("redirects", plain, id)
        elif tag == "replaced_by":
            found.add("redirects", id, plain)
        elif tag == "is_obsolete":
            gone = plain == "true"
        elif tag == "xref" and xrefs:
            found.add("same_as", id, plain.split(' "')[0])
        elif tag == "xref":
            found.left_out["cross-references, which need not be the same"] += 1
    found.add("entities", id, name, "deleted" if gone else "normal", description)
