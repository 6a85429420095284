"""Writer of brat standoff: a folder with a text, its annotations and brat's settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, groupby
from typing import Any, Final
from urllib.parse import quote

from karat.formats.parsing.extra_fields import EXTRA_KEY, encode_fields, get_extra_fields
from karat.model.corpus import Corpus
from karat.model.document import Document, Label, Prediction, Response, Triple
from karat.model.errors import UsageError
from karat.model.run import Run

DOCUMENT_TARGET: Final = "document"
"""The target of the note about a whole document."""
PREFIXES_FIELD: Final = "id_prefixes"
"""The field of that note with the prefixes that the writer added to ids."""
NIL_ATTRIBUTE: Final = "NIL"
"""The attribute of mentions of NIL."""
FRAGMENTS: Final = "fragments"
"""The dimension of the category with the fragments of a mention, as offsets."""

_NO_TYPE = "Entity"
_WIKIDATA, _OTHER = "Wikidata:", "Entity:"
_QID = re.compile(r"Q[1-9][0-9]*")
_PREFIXED = re.compile(r"[^\s:]+:\S+")
_TYPE = re.compile(r"\S+")
_ATTRIBUTE = re.compile(r"(?P<name>[^\s:]+)(?::(?P<value>\S+))?")
_FRAGMENT_OFFSETS = re.compile(rf"{FRAGMENTS}:(?P<spans>\d+ \d+(?:;\d+ \d+)+)")
_LINE_BREAKS = re.compile(r"[\r\n]+")
_CONTROL = re.compile(r"[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_FILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
_URL = "https://www.wikidata.org/wiki/"

_Item = Label | Prediction


def write_folder(data: Corpus | Run) -> dict[str, bytes]:
    """Return the files of a folder by name: text and annotations of each document, and the settings of brat."""
    files: dict[str, bytes] = {}
    items: list[_Item] = []
    predicates: set[str] = set()
    names: set[str] = set()
    for document, text, mentions in _iterate_documents(data):
        name = _choose_file_name(document.id, names)
        files[f"{name}.txt"] = text.encode()
        lines = list(_format_document(document, text, mentions, name))
        files[f"{name}.ann"] = "".join(f"{line}\n" for line in lines).encode()
        items += mentions
        predicates |= {triple.predicate for triple in document.relations}
    return files | _write_settings(items, predicates)


def _iterate_documents(data: Corpus | Run) -> Iterator[tuple[Document | Response, str, Sequence[_Item]]]:
    """Yield each document or response with its text and mentions; raise `UsageError` if a text is missing."""
    if isinstance(data, Corpus):
        yield from ((document, document.text, document.labels) for document in data)
        return
    texts = [None] * len(data) if data.texts is None else data.texts.to_pylist()
    for response, text in zip(data, texts, strict=True):
        if text is None:
            raise UsageError(
                f"{data.name}: brat needs the text of document {response.id!r}, which the predictions lack. "
                "Choose another format."
            )
        yield response, text, response.predictions


def _choose_file_name(doc_id: str, taken: set[str]) -> str:
    """Return the file name of a document without suffix and add it to `taken`: its id, quoted or with a number.

    Names differ in more than case, since some file systems ignore case.
    """
    name = doc_id if _FILE_NAME.fullmatch(doc_id) else quote(doc_id, safe="")
    if _FILE_NAME.fullmatch(name.replace("%", "_")) is None:
        name = "document"
    candidates = chain([name], (f"{name}-{number}" for number in count(2)))
    choice = next(candidate for candidate in candidates if candidate.lower() not in taken)
    taken.add(choice.lower())
    return choice


def _format_document(document: Document | Response, text: str, items: Sequence[_Item], name: str) -> Iterator[str]:
    """Yield the annotations of a document and, first of all, the note about it."""
    mentions = [(f"T{number}", group) for number, group in enumerate(_group_alternatives(items), 1)]
    relations = _format_relations(document.relations, mentions)
    native = {"id", "text", "labels", "predictions"} | ({"relations"} if relations is not None else set())
    fields = get_extra_fields(document, native)
    if document.id != name:
        fields["id"] = document.id
    prefixes = sorted({prefix for item in items if (prefix := _choose_prefix(item))})
    if prefixes:
        fields[PREFIXES_FIELD] = prefixes
    notes = [_format_note(1, DOCUMENT_TARGET, fields)] if fields else []
    yield from notes
    n_links = n_attributes = 0
    n_notes = len(notes)
    for target, group in mentions:
        first = group[0]
        kind = first.types[0] if _has_plain_type(first) else _NO_TYPE
        yield f"{target}\t{kind} {_format_span(first, text)}\t{_CONTROL.sub(' ', _get_surface(first, text))}"
        for item in group:
            if isinstance(item.entity, str):
                n_links += 1
                link_name = _get_plain_name(item) or ""
                yield f"N{n_links}\tReference {target} {_format_entity(item.entity, item)}\t{link_name}"
        for attribute, value in _list_attributes(first):
            n_attributes += 1
            yield f"A{n_attributes}\t{attribute} {target}" + (f" {value}" if value else "")
        if extra := _get_mention_fields(group, target):
            n_notes += 1
            yield _format_note(n_notes, target, extra)
    yield from relations or ()


def _format_note(number: int, target: str, fields: dict[str, Any]) -> str:
    """Return the note that holds the fields of a mention or document that brat has no place for."""
    return f"#{number}\t{EXTRA_KEY} {target}\t{encode_fields(fields)}"


def _group_alternatives(items: Sequence[_Item]) -> Iterator[list[_Item]]:
    """Yield the mentions: consecutive labels of one span that differ only in their link are one mention."""

    def make_key(numbered: tuple[int, _Item]) -> object:
        number, item = numbered
        if not isinstance(item, Label) or item.mention_id is None or not isinstance(item.entity, str):
            return number
        fields = get_extra_fields(item, ("entity", "name"))
        is_plain = fields.keys() <= {"start", "end", "types", "categories", "mention_id"} and _is_plain_link(item)
        return encode_fields(fields) if is_plain else number

    for _, numbered_items in groupby(enumerate(items), make_key):
        yield [item for _, item in numbered_items]


def _is_plain_link(item: Label) -> bool:
    """Return whether the N line of a label has its whole link: the id, which the reader restores, and the name."""
    return _restores_entity(item) and (item.name is None or _get_plain_name(item) is not None)


def _get_mention_fields(group: Sequence[_Item], target: str) -> dict[str, Any]:
    """Return the fields of a mention that its lines do not have; those of several labels hold for all of them."""
    item = group[0]
    stored = ["start", "end", "entity", "mention_id"]
    stored += ["types"] * _has_plain_type(item) + ["categories"] * (_to_attributes(item) is not None)
    stored += ["name"] * (_get_plain_name(item) is not None)
    fields = get_extra_fields(item, stored)
    if not item.types:
        fields["types"] = []
    if isinstance(item.entity, str) and not _restores_entity(item):
        fields["entity"] = item.entity
    mention_id = getattr(item, "mention_id", None)
    if mention_id != (target if len(group) > 1 else None):
        fields["mention_id"] = mention_id
    return fields


def _has_plain_type(item: _Item) -> bool:
    """Return whether a mention has exactly one type, which is one word."""
    return len(item.types) == 1 and _TYPE.fullmatch(item.types[0]) is not None


def _get_plain_name(item: _Item) -> str | None:
    """Return the name of the entity if an N line can hold it; None without such a name, or without a link."""
    name = item.name if isinstance(item, Label) and isinstance(item.entity, str) else None
    return name if name and name == _CONTROL.sub("", name) else None


def _list_attributes(item: _Item) -> list[tuple[str, str]]:
    """Return the attributes of a mention, as name and value: NIL, and its categories if all can be attributes."""
    nil = [(NIL_ATTRIBUTE, "")] if item.entity is None else []
    return [*nil, *(_to_attributes(item) or ())]


def _to_attributes(item: _Item) -> list[tuple[str, str]] | None:
    """Return the categories of a label as attributes, without its fragments; None if one cannot be an attribute.

    Categories of predictions never are, since attributes belong to gold labels.
    """
    if isinstance(item, Prediction):
        return None
    categories = item.categories[:-1] if _get_fragments(item) else item.categories
    matches = [_ATTRIBUTE.fullmatch(category) for category in categories]
    if NIL_ATTRIBUTE in categories or None in matches:
        return None
    return [(match["name"], match["value"] or "") for match in matches if match is not None]


def _choose_prefix(item: _Item) -> str:
    """Return the prefix that the writer adds to an id; empty if the id has one."""
    if not isinstance(item.entity, str) or _PREFIXED.fullmatch(item.entity):
        return ""
    return _WIKIDATA if _QID.fullmatch(item.entity) else _OTHER


def _format_entity(entity: str, item: _Item) -> str:
    """Return an id as brat needs it: with the name of a database, and without white space."""
    return _choose_prefix(item) + re.sub(r"\s", lambda match: quote(match[0]), entity)


def _restores_entity(item: _Item) -> bool:
    """Return whether the reader gets the id back from its N line."""
    entity = item.entity
    if not isinstance(entity, str) or not entity or re.search(r"\s", entity):
        return False
    return not entity.startswith((_WIKIDATA, _OTHER))


def _get_surface(item: _Item, text: str) -> str:
    """Return the text of a mention, or of its fragments, joined by spaces."""
    fragments = _get_fragments(item)
    if not fragments:
        return text[item.start : item.end]
    return " ".join(text[start:end] for start, end in fragments)


def _get_fragments(item: _Item) -> list[tuple[int, int]]:
    """Return the fragments in the category of a mention if they span the mention; otherwise none."""
    match = _FRAGMENT_OFFSETS.fullmatch(item.categories[-1]) if item.categories else None
    if match is None:
        return []
    edges = list(map(int, re.split("[ ;]", match["spans"])))
    if edges != sorted(edges) or (edges[0], edges[-1]) != (item.start, item.end):
        return []
    return list(zip(edges[::2], edges[1::2], strict=True))


def _format_span(item: _Item, text: str) -> str:
    """Return the offsets of a mention, in fragments where it has some or contains line breaks, as brat demands."""
    fragments = _get_fragments(item)
    if not fragments:
        surface = text[item.start : item.end]
        breaks = [match.span() for match in _LINE_BREAKS.finditer(surface)]
        edges = [0, *(edge for span in breaks for edge in span), len(surface)]
        if surface == surface.strip("\r\n"):
            fragments = [(item.start + a, item.start + b) for a, b in zip(edges[::2], edges[1::2], strict=True)]
        else:
            fragments = [(item.start, item.end)]
    return ";".join(f"{start} {end}" for start, end in fragments)


def _format_relations(relations: Sequence[Triple], mentions: Sequence[tuple[str, Sequence[_Item]]]) -> list[str] | None:
    """Return the lines of relations between mentions of their entities; None if a relation is not between such."""
    target_of: dict[object, str] = {}
    for target, group in mentions:
        target_of.setdefault(group[0].entity, target)
    lines = []
    for number, triple in enumerate(relations, 1):
        is_plain = triple == Triple(triple.subject, triple.predicate, triple.object)
        if not (is_plain and _TYPE.fullmatch(triple.predicate) and {triple.subject, triple.object} <= target_of.keys()):
            return None
        ends = f"Arg1:{target_of[triple.subject]} Arg2:{target_of[triple.object]}"
        lines.append(f"R{number}\t{triple.predicate} {ends}")
    return lines


def _write_settings(items: Sequence[_Item], predicates: Iterable[str]) -> dict[str, bytes]:
    """Return `annotation.conf` and `tools.conf`: the types, attributes and relations of the data, and Wikidata."""
    types = sorted({item.types[0] if _has_plain_type(item) else _NO_TYPE for item in items} | {_NO_TYPE})
    values: dict[str, set[str]] = {NIL_ATTRIBUTE: set()}
    for item in items:
        for name, value in _list_attributes(item):
            values.setdefault(name, set()).update([value] if value else [])
    attributes = [
        f"{name}\tArg:<ENTITY>" + (f", Value:{'|'.join(sorted(options))}" if options else "")
        for name, options in sorted(values.items())
    ]
    relations = [f"{name}\tArg1:<ENTITY>, Arg2:<ENTITY>" for name in sorted(predicates) if _TYPE.fullmatch(name)]
    sections = {
        "entities": types,
        "relations": ["<OVERLAP>\tArg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>", *relations],
        "events": [],
        "attributes": attributes,
    }
    annotation = "\n".join(f"[{name}]\n" + "".join(f"{line}\n" for line in lines) for name, lines in sections.items())
    tools = f"[normalization]\nWikidata\t<URL>:{_URL}, <URLBASE>:{_URL}%s\n"
    return {"annotation.conf": annotation.encode(), "tools.conf": tools.encode()}
