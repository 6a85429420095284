"""ELEVANT's articles: one JSON object per line, with gold labels, with the mentions of a linker, or with both.

Offsets are code points, ends are left out. Fields that ELEVANT does not know go to `meta` where they belong to a
document, and are counted where they belong to a label or mention.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import msgspec
import numpy as np
import pyarrow as pa

from karat.errors import UsageError
from karat.model.document import Offset
from karat.model.marks import UNMAPPED as UNMAPPED
from karat.model.tables.arrow import Arrow
from karat.parsing.json.blocks import blocks, first_objects
from karat.parsing.json.records import others
from karat.parsing.lines import is_utf8
from karat.spec.format import Bytes

NIL, NO_MAPPING = "<NIL>", "<NO_MAPPING>"
"""No entity fits; or the reference that was given could not be found in Wikidata. ELEVANT scores both as NIL."""


class ArticlePlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True, gc=False):
    """A span, written as a list of two; what the garbage collector need not look at is read faster."""

    start: Offset
    end: Offset


Marked: TypeAlias = list[tuple[ArticlePlace, str]]
"""Spans with a title each."""

_OTHER = "other fields of the article"
_NAMES = re.compile(r"([^/\\]+)\.([^./\\]+)\.linked_articles\.jsonl")
_TEXT = re.compile(rb'"text"\s*:')
_NULL = msgspec.Raw(b"null")


class PlainLabel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A gold label with no more than most labels have."""

    id: Offset
    span: ArticlePlace
    entity_id: str | None = None
    name: str | None = None
    type: str | None = None


class GoldLabel(PlainLabel, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A gold label. `categories` is Karat's; ELEVANT passes over it."""

    parent: Offset | None = None
    children: tuple[Offset, ...] | None = ()
    optional: bool | None = False
    desc: bool | None = False
    coref: bool | None = None
    categories: tuple[str, ...] | None = ()


class EntityMention(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """What a linker marked."""

    span: ArticlePlace
    id: str | None = None
    recognized_by: str | None = None
    linked_by: str | None = None
    candidates: tuple[str, ...] | None = ()
    referenced_span: ArticlePlace | None = None
    contained: bool | None = None


class AnyArticle(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """What all kinds of documents have. `other` holds further fields as strings."""

    id: int | str
    title: str | None = None
    text: str | msgspec.Raw | None = None
    hyperlinks: Marked | None = None
    title_synonyms: list[ArticlePlace] | None = None
    sections: Marked | None = None
    url: str | None = None
    evaluation_span: ArticlePlace | None = None
    entity_mentions: tuple[EntityMention, ...] | None = None
    labels: tuple[PlainLabel, ...] | None = None
    other: dict[str, str] = msgspec.field(name=_OTHER, default_factory=dict)


class Article(AnyArticle, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A document."""

    text: str | None = None
    labels: tuple[GoldLabel, ...] | None = None


class QuickArticle(AnyArticle, frozen=True, forbid_unknown_fields=True, gc=False):
    """A document whose text is as the file has it, in quotes: columns are made from such bytes, not from strings."""

    text: msgspec.Raw = _NULL
    labels: tuple[GoldLabel, ...] | None = None


class PlainArticle(AnyArticle, frozen=True, forbid_unknown_fields=True, gc=False):
    """The same, and all labels are plain."""

    text: msgspec.Raw = _NULL


_encode = msgspec.json.Encoder().encode
_PLAINLY, _QUICKLY = msgspec.json.Decoder(PlainArticle), msgspec.json.Decoder(QuickArticle)
_TEXTS = msgspec.json.Decoder(str | None)
_PLAIN = ("title", "url")
_LISTS = {"hyperlinks": Marked, "title_synonyms": list[ArticlePlace], "sections": Marked}
_OWN = ("id", "text", "evaluation_span", "labels", "entity_mentions", _OTHER)


class ArticleBlock(NamedTuple):
    """Some articles, the line and the text of each; either all labels are `GoldLabel`, or all are `plain`."""

    objects: Sequence[AnyArticle]
    numbers: Sequence[int]
    texts: Arrow

    @property
    def plain(self) -> bool:
        """Whether no label has more than most labels have."""
        return isinstance(self.objects[0], PlainArticle)

    def some(self, rows: Sequence[int]) -> ArticleBlock:
        """Some of the articles."""
        texts = self.texts.take(pa.array(rows, pa.int64()))
        return ArticleBlock([self.objects[row] for row in rows], [self.numbers[row] for row in rows], texts)


def articles(source: Bytes, skipped: Counter[str]) -> Iterator[ArticleBlock]:
    """The articles of a file; fields of labels and mentions that are not known are counted."""
    exactly: type[AnyArticle] = Article
    for block in blocks(source, exactly, lambda fields: _known(fields, skipped), (_plainly, _quickly)):
        yield ArticleBlock(block.objects, block.numbers, _texts(block.objects))


def _plainly(lines: memoryview) -> list[AnyArticle]:
    return _sound(lines, _PLAINLY.decode_lines(lines))


def _quickly(lines: memoryview) -> list[AnyArticle]:
    return _sound(lines, _QUICKLY.decode_lines(lines))


def _sound(lines: memoryview, found: Sequence[PlainArticle | QuickArticle]) -> list[AnyArticle]:
    """The articles of some lines, whose texts must be strings, or null; what is in the quotes msgspec has looked at.

    But it takes bytes there that are not UTF-8.
    """
    if not {bytes(article.text)[:1] for article in found} <= {b'"', b"n"}:
        raise msgspec.ValidationError("Expected `str | null`")
    if not is_utf8(lines):
        raise msgspec.DecodeError("Expected UTF-8")
    return list(found)


def _strings(lengths: list[int], data: bytes) -> Arrow:
    """Strings that lie one behind the other."""
    offsets = np.cumsum([0, *lengths], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(lengths), [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _texts(found: Sequence[AnyArticle]) -> Arrow:
    """The texts as a column."""
    if isinstance(found[0], Article):
        return pa.array([article.text for article in found], pa.string())
    written = [bytes(cast("msgspec.Raw", article.text)) for article in found]
    joined = b"".join([each[1:-1] for each in written])
    if b"\\" in joined or b"null" in written:
        return pa.array(map(_TEXTS.decode, written), pa.string())
    return _strings([len(each) - 2 for each in written], joined)


def _known(fields: dict[str, Any], skipped: Counter[str]) -> dict[str, Any]:
    """An article without unknown fields."""
    without_unknown(fields, "labels", GoldLabel, skipped)
    without_unknown(fields, "entity_mentions", EntityMention, skipped)
    names = Article.__struct_encode_fields__
    return {**{name: value for name, value in fields.items() if name in names}, _OTHER: others(fields, names)}


def without_unknown(fields: dict[str, Any], name: str, kind: type[msgspec.Struct], skipped: Counter[str]) -> None:
    """Take away and count what the entries of a list have besides the fields of a kind."""
    entries = fields.get(name)
    for entry in entries if isinstance(entries, list) else ():
        for field in [f for f in entry if f not in kind.__struct_fields__] if isinstance(entry, dict) else ():
            skipped[f"fields `{field}` of {name}"] += 1
            del entry[field]


def meta_of(article: AnyArticle) -> dict[str, str]:
    """What is said about the document: strings as they are, lists as JSON."""
    said = dict(article.other)
    if article.title:
        said["title"] = article.title
    if article.url:
        said["url"] = article.url
    if article.hyperlinks is not None:
        said["hyperlinks"] = _encode(article.hyperlinks).decode()
    if article.title_synonyms is not None:
        said["title_synonyms"] = _encode(article.title_synonyms).decode()
    if article.sections is not None:
        said["sections"] = _encode(article.sections).decode()
    return said


def with_meta(meta: Mapping[str, str], where: str) -> dict[str, Any]:
    """The fields of an article that say what `meta` says."""
    fields: dict[str, Any] = {"title": "", **{name: meta[name] for name in _PLAIN if name in meta}}
    for name, kind in _LISTS.items():
        if name in meta:
            fields[name] = _listed(meta[name], name, kind, where)
    for name, value in meta.items():
        if name in _OWN:
            raise UsageError(f"{where}: ELEVANT has another use for the name {name!r} in `meta`. Rename it.")
        fields.setdefault(name, as_json(value))
    return fields


def _listed(value: str, name: str, kind: Any, where: str) -> Any:  # noqa: ANN401  # as _LISTS says
    try:
        return msgspec.json.decode(value, type=kind)
    except (msgspec.DecodeError, RecursionError):
        raise UsageError(f"{where}: `{name}` in `meta` is not the list that ELEVANT has there. Remove it.") from None


def as_json(value: str) -> object:
    """The list or object that a string in `meta` stands for, or else the string itself."""
    if not value.startswith(("[", "{")):
        return value
    try:
        found = msgspec.json.decode(value)
        return found if msgspec.json.encode(found).decode() == value else value
    except (msgspec.DecodeError, RecursionError, OverflowError, ValueError):
        return value


def number_of(name: str) -> int | str:
    """An id as ELEVANT writes it, a whole number, or the string where it is none."""
    return int(name) if name.isascii() and name.isdigit() and name == str(int(name[:18])) else name


class Names(NamedTuple):
    """How a linker and the benchmark that it was run on are called."""

    linker: str
    benchmark: str


def names_of(source: Bytes) -> Names:
    """The names in that of a file, which ELEVANT calls `LINKER.BENCHMARK.linked_articles.jsonl`."""
    found = _NAMES.search(source.label)
    return Names(found[1], found[2]) if found else Names(source.stem, source.stem)


def linked(source: Bytes) -> bool:
    """Whether a linker was run on the articles: one has mentions, or the file is named as if some could have."""
    return _NAMES.search(source.given) is not None or b'"entity_mentions"' in source.data()


def has_text(source: Bytes) -> bool:
    """Whether any article has a text, as those have that carry gold labels."""
    return _TEXT.search(source.opening) is not None or _TEXT.search(source.data()) is not None


@lru_cache(maxsize=4)  # since two formats ask about the same file
def told(opening: bytes) -> Literal["gold", "answers"] | None:
    """Whether the first lines are articles, and if so, whether a linker has marked mentions in them."""
    found = first_objects(opening)
    if not found or any("id" not in one or "karat" in one for one in found):
        return None
    if any("entity_mentions" in one for one in found):
        fits = all(isinstance(entry, dict) and "span" in entry for entry in _entries(found, "entity_mentions"))
        return "answers" if fits else None
    labels = _entries(found, "labels")
    if labels:
        fits = all(isinstance(entry, dict) and {"id", "span"} <= entry.keys() for entry in labels)
    else:
        fits = any({"title", "text"} <= one.keys() and {"labels", "evaluation_span"} & one.keys() for one in found)
    return "gold" if fits else None


def _entries(found: list[dict[str, Any]], name: str) -> list[Any]:
    return [entry for one in found if isinstance(one.get(name), list) for entry in one[name]]
