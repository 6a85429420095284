"""ELEVANT's articles: one JSON object per line, with gold labels, with the mentions of a linker, or with both.

Offsets are code points, ends are exclusive. Fields unknown to ELEVANT go to `meta` if they belong to a document, and
are counted if they belong to a label or mention.

A block is a sequence of whole lines of the file that is decoded at once.
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

from karat.formats.parsing.json.blocks import parse_first_objects, read_blocks
from karat.formats.parsing.json.records import collect_other_fields
from karat.formats.parsing.lines import is_utf8
from karat.model.document import Offset
from karat.model.errors import UsageError
from karat.model.json.decoder import JsonDecoder, JsonError, decode_json
from karat.model.reader_categories import UNMAPPED as UNMAPPED
from karat.model.spec.format import ByteSource
from karat.model.tables.arrow import Arrow

NIL, NO_MAPPING = "<NIL>", "<NO_MAPPING>"
"""Ids for "no entity fits" and "the reference was not found in Wikidata". ELEVANT scores both as NIL."""


class ArticleSpan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True, gc=False):
    """A span, written as a list of two offsets; it is decoded faster without garbage collection."""

    start: Offset
    end: Offset


TitledSpans: TypeAlias = list[tuple[ArticleSpan, str]]
"""Spans with a title each."""

_OTHER_FIELDS = "other fields of the article"
_FILE_NAME = re.compile(r"([^/\\]+)\.([^./\\]+)\.linked_articles\.jsonl")
_TEXT = re.compile(rb'"text"\s*:')
_NULL = msgspec.Raw(b"null")


class PlainLabel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A gold label with the common fields only, which is decoded faster."""

    id: Offset
    span: ArticleSpan
    entity_id: str | None = None
    name: str | None = None
    type: str | None = None


class GoldLabel(PlainLabel, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A gold label. The field `categories` is Karat's, and ELEVANT ignores it."""

    parent: Offset | None = None
    children: tuple[Offset, ...] | None = ()
    optional: bool | None = False
    desc: bool | None = False
    coref: bool | None = None
    categories: tuple[str, ...] | None = ()


class EntityMention(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A mention found by a linker; `id` is its entity."""

    span: ArticleSpan
    id: str | None = None
    recognized_by: str | None = None
    linked_by: str | None = None
    candidates: tuple[str, ...] | None = ()
    referenced_span: ArticleSpan | None = None
    contained: bool | None = None


class BaseArticle(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """The fields of all kinds of articles; `other` holds fields unknown to ELEVANT as strings."""

    id: int | str
    title: str | None = None
    text: str | msgspec.Raw | None = None
    hyperlinks: TitledSpans | None = None
    title_synonyms: list[ArticleSpan] | None = None
    sections: TitledSpans | None = None
    url: str | None = None
    evaluation_span: ArticleSpan | None = None
    entity_mentions: tuple[EntityMention, ...] | None = None
    labels: tuple[PlainLabel, ...] | None = None
    other: dict[str, str] = msgspec.field(name=_OTHER_FIELDS, default_factory=dict)


class Article(BaseArticle, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """An article whose text is decoded, with all fields of labels."""

    text: str | None = None
    labels: tuple[GoldLabel, ...] | None = None


class RawTextArticle(BaseArticle, frozen=True, forbid_unknown_fields=True, gc=False):
    """An article whose text is the raw JSON string, from which columns are built without Python strings."""

    text: msgspec.Raw = _NULL
    labels: tuple[GoldLabel, ...] | None = None


class PlainRawTextArticle(BaseArticle, frozen=True, forbid_unknown_fields=True, gc=False):
    """An article with a raw text like `RawTextArticle`, whose labels have the common fields only."""

    text: msgspec.Raw = _NULL


_encode = msgspec.json.Encoder().encode
_PLAIN_DECODER, _FULL_DECODER = JsonDecoder(PlainRawTextArticle), JsonDecoder(RawTextArticle)
_TEXT_DECODER: JsonDecoder[str | None] = JsonDecoder(str | None)  # type: ignore[arg-type]  # a union
_STRING_FIELDS = ("title", "url")
_LIST_FIELDS = {"hyperlinks": TitledSpans, "title_synonyms": list[ArticleSpan], "sections": TitledSpans}
_RESERVED_FIELDS = ("id", "text", "evaluation_span", "labels", "entity_mentions", _OTHER_FIELDS)


class ArticleBlock(NamedTuple):
    """A block of consecutive articles; either all labels are `GoldLabel` or all are plain."""

    objects: Sequence[BaseArticle]
    """The articles."""
    numbers: Sequence[int]
    """Line number of each article."""
    texts: Arrow
    """Text of each article."""

    @property
    def is_plain(self) -> bool:
        """Whether all labels were decoded as `PlainLabel`, which has the common fields only."""
        return isinstance(self.objects[0], PlainRawTextArticle)

    def select_rows(self, rows: Sequence[int]) -> ArticleBlock:
        """Return a block with the articles at the indices `rows` only."""
        texts = self.texts.take(pa.array(rows, pa.int64()))
        return ArticleBlock([self.objects[row] for row in rows], [self.numbers[row] for row in rows], texts)


def read_articles(source: ByteSource, skipped: Counter[str]) -> Iterator[ArticleBlock]:
    """Yield the articles of a file in blocks; unknown fields of labels and mentions are dropped and counted."""
    article_type: type[BaseArticle] = Article
    for block in read_blocks(
        source, article_type, lambda fields: _move_unknown_fields(fields, skipped), (_decode_plain, _decode_full)
    ):
        yield ArticleBlock(block.objects, block.numbers, _build_text_column(block.objects))


def _decode_plain(lines: memoryview) -> list[BaseArticle]:
    """Decode JSON lines as articles with plain labels; raise a msgspec error if a label has further fields."""
    return _check_articles(lines, _PLAIN_DECODER.decode_lines(lines))


def _decode_full(lines: memoryview) -> list[BaseArticle]:
    """Decode JSON lines as articles whose labels may have all fields of `GoldLabel`."""
    return _check_articles(lines, _FULL_DECODER.decode_lines(lines))


def _check_articles(lines: memoryview, articles: Sequence[PlainRawTextArticle | RawTextArticle]) -> list[BaseArticle]:
    """Return `articles` unchanged, after two checks that msgspec omits for texts decoded as raw JSON.

    Raise `JsonError` if a text is neither a string nor null, or if `lines` are not UTF-8.
    """
    if not {bytes(article.text)[:1] for article in articles} <= {b'"', b"n"}:
        raise JsonError("Expected `str | null`", is_syntax=False)
    if not is_utf8(lines):
        raise JsonError("bytes that are not UTF-8")
    return list(articles)


def _build_strings(lengths: list[int], data: bytes) -> Arrow:
    """Build a string column from the length of each string in bytes and the joined bytes of all strings."""
    offsets = np.cumsum([0, *lengths], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(lengths), [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _build_text_column(articles: Sequence[BaseArticle]) -> Arrow:
    """Return the texts of the articles as a string column; a missing text is null."""
    if isinstance(articles[0], Article):
        return pa.array([article.text for article in articles], pa.string())
    raw_texts = [bytes(cast("msgspec.Raw", article.text)) for article in articles]
    joined = b"".join([raw[1:-1] for raw in raw_texts])
    if b"\\" in joined or b"null" in raw_texts:
        return pa.array(map(_TEXT_DECODER.decode, raw_texts), pa.string())
    return _build_strings([len(raw) - 2 for raw in raw_texts], joined)


def _move_unknown_fields(fields: dict[str, Any], skipped: Counter[str]) -> dict[str, Any]:
    """Return the fields of a decoded article with those unknown to ELEVANT moved to `other`.

    Unknown fields of labels and mentions are removed and counted in `skipped`.
    """
    drop_unknown_fields(fields, "labels", GoldLabel, skipped)
    drop_unknown_fields(fields, "entity_mentions", EntityMention, skipped)
    names = Article.__struct_encode_fields__
    return {
        **{name: value for name, value in fields.items() if name in names},
        _OTHER_FIELDS: collect_other_fields(fields, names),
    }


def drop_unknown_fields(
    fields: dict[str, Any], list_name: str, entry_type: type[msgspec.Struct], skipped: Counter[str]
) -> None:
    """Remove the fields that `entry_type` lacks from the entries of the list `fields[list_name]`, changing `fields`.

    Removed fields are counted in `skipped`. A missing or malformed list is not changed.
    """
    entries = fields.get(list_name)
    for entry in entries if isinstance(entries, list) else ():
        for field in [f for f in entry if f not in entry_type.__struct_fields__] if isinstance(entry, dict) else ():
            skipped[f"fields `{field}` of {list_name}"] += 1
            del entry[field]


def get_meta(article: BaseArticle) -> dict[str, str]:
    """Return title, URL, hyperlinks, synonyms, sections and unknown fields of an article as `meta`; lists are JSON."""
    meta = dict(article.other)
    if article.title:
        meta["title"] = article.title
    if article.url:
        meta["url"] = article.url
    if article.hyperlinks is not None:
        meta["hyperlinks"] = _encode(article.hyperlinks).decode()
    if article.title_synonyms is not None:
        meta["title_synonyms"] = _encode(article.title_synonyms).decode()
    if article.sections is not None:
        meta["sections"] = _encode(article.sections).decode()
    return meta


def to_article_fields(meta: Mapping[str, str], location: str) -> dict[str, Any]:
    """Return the fields of an article that the `meta` of a document stores, as the inverse of `get_meta`.

    Raise `UsageError`, which names `location`, if a list is invalid or a field has a name that ELEVANT reserves.
    """
    fields: dict[str, Any] = {"title": "", **{name: meta[name] for name in _STRING_FIELDS if name in meta}}
    for name, kind in _LIST_FIELDS.items():
        if name in meta:
            fields[name] = _decode_list(meta[name], name, kind, location)
    for name, value in meta.items():
        if name in _RESERVED_FIELDS:
            raise UsageError(f"{location}: ELEVANT reserves the name {name!r} in `meta`. Rename the field.")
        fields.setdefault(name, parse_json_value(value))
    return fields


def _decode_list(value: str, name: str, kind: Any, location: str) -> Any:  # noqa: ANN401  # a type of _LIST_FIELDS
    """Decode the JSON list of type `kind` in the field `name` of `meta`, or raise `UsageError`."""
    try:
        return decode_json(value, kind)
    except JsonError:
        raise UsageError(f"{location}: `{name}` in `meta` is not the list that ELEVANT expects. Remove it.") from None


def parse_json_value(value: str) -> object:
    """Return the JSON list or object that a string in `meta` encodes, if encoding it again gives the same string.

    Return the string itself otherwise.
    """
    if not value.startswith(("[", "{")):
        return value
    try:
        parsed = decode_json(value)
        return parsed if msgspec.json.encode(parsed).decode() == value else value
    except (RecursionError, OverflowError, ValueError):
        return value


def parse_id(name: str) -> int | str:
    """Return an id as ELEVANT writes it: an integer if it is one without leading zeros, or else the string.

    Integers of more than 18 digits remain strings.
    """
    return int(name) if name.isascii() and name.isdigit() and name == str(int(name[:18])) else name


def check_writable_id(entity: str) -> str:
    """Return an entity id; raise `UsageError` if ELEVANT reads it as NIL."""
    if entity in (NIL, NO_MAPPING):
        raise UsageError(f"ELEVANT reads the entity {entity!r} as NIL. Choose another format.")
    return entity


class FileNameParts(NamedTuple):
    """The parts of the name of a file with linked articles: the linker, and the benchmark it was run on."""

    linker: str
    """Name of the linker."""
    benchmark: str
    """Name of the benchmark."""


def parse_file_name(source: ByteSource) -> FileNameParts:
    """Return linker and benchmark of the file name `LINKER.BENCHMARK.linked_articles.jsonl`, or the stem for both."""
    match = _FILE_NAME.search(source.label)
    return FileNameParts(match[1], match[2]) if match else FileNameParts(source.stem, source.stem)


def is_linked(source: ByteSource) -> bool:
    """Return whether a linker was run on the articles, by the file name or by a field `entity_mentions` in the file."""
    return _FILE_NAME.search(source.path) is not None or b'"entity_mentions"' in source.read_bytes()


def has_text(source: ByteSource) -> bool:
    """Return whether any article has a field `text`, which files with gold labels have."""
    return _TEXT.search(source.first_bytes) is not None or _TEXT.search(source.read_bytes()) is not None


@lru_cache(maxsize=4)  # since two formats check the same file
def detect_content(opening: bytes) -> Literal["gold", "predictions"] | None:
    """Return whether the first bytes are articles with gold labels or with predictions; None if they are neither."""
    objects = parse_first_objects(opening)
    if not objects or any("id" not in article or "karat" in article for article in objects):
        return None
    if any("entity_mentions" in article for article in objects):
        is_valid = all(
            isinstance(entry, dict) and "span" in entry for entry in _collect_entries(objects, "entity_mentions")
        )
        return "predictions" if is_valid else None
    labels = _collect_entries(objects, "labels")
    if labels:
        is_valid = all(isinstance(entry, dict) and {"id", "span"} <= entry.keys() for entry in labels)
    else:
        is_valid = any(
            {"title", "text"} <= article.keys() and {"labels", "evaluation_span"} & article.keys()
            for article in objects
        )
    return "gold" if is_valid else None


def _collect_entries(objects: list[dict[str, Any]], name: str) -> list[Any]:
    """Return the entries of the list `name` of all articles; skip articles without such a list."""
    return [entry for article in objects if isinstance(article.get(name), list) for entry in article[name]]
