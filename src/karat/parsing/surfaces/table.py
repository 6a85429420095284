"""A user's own CSV, TSV, JSON or JSONL, read by the columns that the user names."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import islice

from karat.errors import InputError, UsageError
from karat.model.corpus import Corpus
from karat.model.defects import by_itself, pass_over
from karat.model.document import UNLINKED, Answer, Document, EntityId, Label, WrittenAnswer, WrittenReply
from karat.model.run import Run
from karat.parsing.json.blocks import nothing
from karat.parsing.lines import decoded
from karat.parsing.repeats import apart
from karat.parsing.surfaces.columns import ColumnRoles
from karat.parsing.surfaces.entries import offset_in, storable
from karat.parsing.surfaces.rows import TableRow, has, is_json, names_in, rows, value_at
from karat.parsing.surfaces.written import GoldTexts, WrittenAt, answers_of, run_of
from karat.spec.format import Bytes, Format

Understood = Callable[[str, Sequence[str]], None]
"""Told of each file what its first rows were understood to say."""

_BOM = b"\xef\xbb\xbf"
_SHOWN = 3
_NIL = "NIL"


@dataclass
class _Found:
    """What a table says of one document."""

    where: str
    text: str | None
    answers: list[WrittenAnswer] = field(default_factory=list)


def own_table(columns: ColumnRoles, understood: Understood | None = None) -> Format:
    """The format of a table with these columns."""

    def read_run(source: Bytes) -> Run:
        return _run(source, columns, None, understood)

    def read_run_on(source: Bytes, gold: Callable[[], Corpus]) -> Run:
        return _run(source, columns, gold, understood)

    return Format(
        title="a table of your own",
        suffix=".csv",
        recognises=lambda head: True,
        holds_gold=lambda source: columns.has_texts,
        read_corpus=lambda source, text: _corpus(source, columns, understood),
        read_run=read_run,
        read_run_on=read_run_on,
        either=True,
        says=f"Columns {columns}.",
    )


def missing(source: Bytes, columns: ColumnRoles) -> list[str]:
    """The columns that a file does not have; all of them where it is no table."""
    names = set() if source.folder else set(names_in(source, numbered=columns.numbered))
    nested = not source.folder and is_json(source)
    return [
        name
        for name in columns.wanted.values()
        if name not in names and not (nested and name.partition(".")[0] in names and "." in name)
    ]


def _corpus(source: Bytes, columns: ColumnRoles, understood: Understood | None) -> Corpus:
    if not columns.has_texts:
        raise InputError(
            source.label,
            found=f"no column for the texts of the documents in {columns}",
            expected="text=COLUMN, for Karat invents no texts",
            remedy="Name the column of the texts, or say texts=NAME of a folder or table beside this file",
        )
    skipped: Counter[str] = Counter()
    texts = GoldTexts(None, source.label)
    documents: list[Document] = []
    places: list[str] = []
    for name, found in _documents(source, columns).items():
        if found.text is None:
            pass_over(
                InputError(
                    found.where,
                    found=f"document {name!r} without text",
                    expected="a text for each document",
                    remedy="Fill it in, or leave the document out",
                )
            )
            continue
        with by_itself():
            reply = WrittenReply(name, tuple(found.answers), found.text)
            labels, repeated = apart(map(_label, answers_of(reply, texts, found.where, skipped)))
            skipped["labels given twice (both kept)"] += repeated
            documents.append(Document(name, found.text, labels))
            places.append(found.where)
    if not documents:
        raise nothing(source)
    if understood is not None:
        lines = [_shown(d.id, label, d.text) for d in documents[:_SHOWN] for label in d.labels[:_SHOWN]]
        understood(source.label, lines[:_SHOWN])
    return Corpus.built(documents, name=source.stem, skipped=skipped, where=places.__getitem__)


def _label(answer: Answer) -> Label:
    return Label(answer.start, answer.end, answer.entity, types=answer.types)


def _run(source: Bytes, columns: ColumnRoles, gold: Callable[[], Corpus] | None, understood: Understood | None) -> Run:
    found = _documents(source, columns)
    if not found:
        raise nothing(source)
    replies = [WrittenAt(WrittenReply(name, tuple(one.answers), one.text), one.where) for name, one in found.items()]
    texts = GoldTexts(gold, source.label)
    run = run_of(replies, texts, name=source.stem)
    if understood is not None:
        own = {reply.id: reply.text for reply, _ in replies}
        lines = [
            _shown(reply.id, answer, own[reply.id] or _text_of(reply.id, texts))
            for reply in islice(run, _SHOWN)
            for answer in reply.answers[:_SHOWN]
        ]
        understood(source.label, lines[:_SHOWN])
    return run


def _text_of(id: str, texts: GoldTexts) -> str | None:
    """The text that the gold standard has, if there is one."""
    with suppress(UsageError):
        return texts.text(id)
    return None


def _shown(document: str, item: Label | Answer, text: str | None) -> str:
    words = "" if text is None else f" {text[item.start : item.end]!r}"
    link = "NIL" if item.entity is None else "no link" if item.entity is UNLINKED else item.entity
    return f"{document}: [{item.start}, {item.end}){words} → {link}"


# --- rows


def _documents(source: Bytes, columns: ColumnRoles) -> dict[str, _Found]:
    """What the table says of each document, in the order of their first rows; a defect takes its row with it."""
    found: dict[str, _Found] = {}
    ids: dict[str, str] = {}
    texts = _texts_beside(source, columns)
    for row in rows(source, numbered=columns.numbered):
        with by_itself():
            text = _text(row, columns)
            name = _name(row, columns, ids, text)
            answers = [answer for item in _items(row, columns) if (answer := _answer(item, columns)) is not None]
            if texts is not None:
                text = texts(name)
            here = found.setdefault(name, _Found(row.where, text))
            if text is not None and here.text is not None and text != here.text:
                raise InputError(
                    row.where,
                    found=f"another text of document {name!r} than at {here.where}",
                    expected="one text for each document",
                    remedy="Give documents with different texts different ids",
                )
            here.text = text if here.text is None else here.text
            here.answers += answers
    return found


def _name(row: TableRow, columns: ColumnRoles, ids: dict[str, str], text: str | None) -> str:
    """The id of the document; where there is no column of ids, a number for each text."""
    column = columns.named.get("doc")
    if column is None:
        return ids.setdefault(text or "", str(len(ids)))
    value = value_at(row.fields, column)
    name = storable(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else None
    if not name:
        raise _refused(row, column, value, "the id of a document")
    return name


def _text(row: TableRow, columns: ColumnRoles) -> str | None:
    column = columns.named.get("text")
    if column is None or "texts" in columns.named:
        return None
    value = value_at(row.fields, column)
    if value is not None and not isinstance(value, str):
        raise _refused(row, column, value, "a text")
    return storable(value) if value else None


def _items(row: TableRow, columns: ColumnRoles) -> Iterator[TableRow]:
    """What a row says of each mention: the row itself, or the members of its list of mentions."""
    lists = {name.rpartition(".")[0] for name in columns.of_items.values() if "." in name and name not in row.fields}
    if not lists:
        yield row
        return
    path = lists.pop()
    members = value_at(row.fields, path)
    if members is not None and not isinstance(members, list):
        raise _refused(row, path, members, "a list of mentions")
    for number, member in enumerate(members or (), 1):
        fields = dict(enumerate(member)) if isinstance(member, list) else member
        if not isinstance(fields, dict):
            raise _refused(row, path, member, "objects or lists in it")
        yield TableRow({f"{path}.{name}": value for name, value in fields.items()}, f"{row.where}, {path} {number}")


def _answer(row: TableRow, columns: ColumnRoles) -> WrittenAnswer | None:
    """What a row marks, None where it marks nothing and only names its document."""

    def value(role: str) -> object:
        name = columns.named.get(role)
        found = None if name is None else value_at(row.fields, name)
        return None if isinstance(found, str) and not found.strip() else found

    start, end = (_offset(row, columns.named.get(role, role), value(role)) for role in ("start", "end"))
    words = value("mention")
    if start is None and end is None and words is None:
        said = [columns.named[role] for role in ("entity", "type", "score") if value(role) is not None]
        if said:
            raise _refused(
                row,
                columns.of_items.get("start", columns.of_items.get("mention", "")),
                None,
                f"a place for {said[0]!r}",
            )
        return None
    if words is None and (start is None or end is None):
        raise _refused(row, columns.named["end" if end is None else "start"], None, "both ends of a span")
    return WrittenAnswer(
        start,
        end,
        _words(words),
        _words(value("before")),
        _words(value("after")),
        _entity(row, columns),
        types=_types(value("type")),
        score=_score(row, columns, value("score")),
    )


def _entity(row: TableRow, columns: ColumnRoles) -> EntityId:
    name = columns.named.get("entity")
    if name is None or not has(row.fields, name):
        return UNLINKED
    value = value_at(row.fields, name)
    if value is None or value == _NIL:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise _refused(row, name, value, "the id of an entity")
    return storable(value.strip()) or UNLINKED


def _words(value: object) -> str | None:
    return None if value is None else storable(str(value))


def _types(value: object) -> tuple[str, ...]:
    given = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(text for one in given if isinstance(one, str) and (text := storable(one))))


def _score(row: TableRow, columns: ColumnRoles, value: object) -> float | None:
    if value is None:
        return None
    try:
        found = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise _refused(row, columns.named["score"], value, "a finite number")
    return found


def _offset(row: TableRow, column: str, value: object) -> int | None:
    found = None if value is None else offset_in(value)
    if value is not None and found is None:
        raise _refused(row, column, value, "a place in the text, a whole number from 0")
    return found


def _refused(row: TableRow, column: str, value: object, expected: str) -> InputError:
    return InputError(
        row.where,
        found=f"{str(value)[:40]!r} in the column {column!r}" if value is not None else f"nothing in {column!r}",
        expected=expected,
        remedy="Correct the row, or name another column with --columns",
    )


def _texts_beside(source: Bytes, columns: ColumnRoles) -> Callable[[str], str | None] | None:
    """The texts in a folder or table beside this one, by document; None where none is named."""
    named = columns.named.get("texts")
    if named is None:
        return None
    if source.given == "-":
        raise UsageError("texts= names something beside the table, and standard input lies nowhere. Give a file.")
    place = source.beside(named)
    if not place.exists:
        raise InputError(
            place.label, found="nothing", expected="a folder or table with the texts", remedy="Check texts=NAME"
        )
    if place.folder:
        known = set(place.names)

        @cache
        def read(name: str) -> str | None:
            file = next((file for file in (f"{name}.txt", name) if file in known), None)
            return None if file is None else decoded(place.inside(file).data().removeprefix(_BOM), place.inside(file))

        return read
    pair = ColumnRoles((("doc", columns.named["doc"]), ("text", columns.named.get("text", "text"))))
    texts = {_name(row, pair, {}, None): _text(row, pair) for row in rows(place, numbered=pair.numbered)}
    return texts.get
