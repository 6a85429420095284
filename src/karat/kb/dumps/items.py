"""Wikidata items as JSON: one per line in a dump, several in a response of the API.

Of the statements of a property, only those of the best rank count (as `wdt:` in the query service): preferred
statements, or else normal ones; deprecated ones never count. Wikidata writes an empty map as `[]`.

A block is a part of a dump that is parsed on its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import pyarrow as pa

from karat.kb.type_rules import INSTANCE_OF, SUBCLASS_OF, TypeRules
from karat.model.errors import InputError
from karat.model.json.decoder import JsonDecoder, JsonError
from karat.storage.dump_stage import ParsedBlock
from karat.storage.dumps import DumpBlock, DumpError

LINE_END: Final = b"\n"
"""Mark at which a dump can be split into blocks."""

ITEM_TABLES: Final[Mapping[str, Mapping[str, str]]] = {
    "items": {
        "id": "VARCHAR",
        "name": "VARCHAR",
        "description": "VARCHAR",
        "types": "VARCHAR[]",
        "sites": "BIGINT",
        "population": "BIGINT",
    },
    "names": {"id": "VARCHAR", "alias": "VARCHAR"},
    "same": {"id": "VARCHAR", "other": "VARCHAR"},
    "subclasses": {"class": "VARCHAR", "superclass": "VARCHAR"},
    "demonyms": {"surface": "VARCHAR", "id": "VARCHAR"},
}
"""Columns of the tables that are read from items, with their SQL types."""

SPACE_BY_PROPERTY: Final = {"P646": "freebase", "P2892": "umls", "P486": "mesh"}
"""Properties that hold the id of an item in another id space."""


class _Term(msgspec.Struct):
    value: str = ""
    language: str = ""


class _Link(msgspec.Struct):
    title: str = ""


class _Value(msgspec.Struct):
    value: Any = None


class _Snak(msgspec.Struct):
    snaktype: str = "value"
    datavalue: _Value | None = None


class _Statement(msgspec.Struct):
    mainsnak: _Snak
    rank: str = "normal"


_Statements = list[_Statement]


_PROPERTIES: Final = {"instance_of": "P31", "subclass_of": "P279", "demonym": "P1549", "population": "P1082"}


class _Claims(msgspec.Struct, rename=_PROPERTIES):
    instance_of: _Statements = []
    subclass_of: _Statements = []
    demonym: _Statements = []
    population: _Statements = []
    P646: _Statements = []
    P2892: _Statements = []
    P486: _Statements = []


class WikidataItem(msgspec.Struct):
    """The fields of an item that Karat reads; the decoder skips all others."""

    id: str = ""
    type: str = "item"
    labels: dict[str, _Term] | list[_Term] = []
    descriptions: dict[str, _Term] | list[_Term] = []
    aliases: dict[str, list[_Term]] | list[_Term] = []
    claims: _Claims | list[Any] = []
    sitelinks: dict[str, _Link] | list[_Link] = []


@dataclass(frozen=True)
class ItemReader:
    """A reader of Wikidata items: languages, wikis and type rules, and the methods that build tables with them."""

    languages: tuple[str, ...] = ("en",)
    """Languages of names, preferred ones first."""
    wikis: tuple[str, ...] = ("enwiki",)
    """Wikis whose titles are read, the wiki of bare titles first."""
    rules: TypeRules = field(default_factory=TypeRules)
    """Rules that assign types."""

    @property
    def description(self) -> str:
        """Text that identifies what is read, so that a change of it restarts reading."""
        return f"items in {','.join(self.languages)} of {','.join(self.wikis)}{self.rules.fingerprint}"

    def parse_block(self, block: DumpBlock, label: str) -> ParsedBlock:
        """Return the tables of the items in a block of a dump, and counts.

        `label`: file name in messages. Raise `DumpError` if the dump ends too early, and `InputError` if a line is no
        item.
        """
        lines = block.data.split(b"\n")
        if block.is_last and not block.data.rstrip().endswith(b"]"):
            raise DumpError(
                label,
                actual="an end before the closing bracket",
                expected="a complete dump",
                remedy="Download the file again and repeat the command: it resumes from there",
            )
        return self.build_tables(_decode_items(lines, label, block))

    def build_tables(self, items: Iterable[WikidataItem]) -> ParsedBlock:
        """Return the tables of `ITEM_TABLES` for `items`, and counts of items and defects."""
        rows: dict[str, list[tuple[Any, ...]]] = {table: [] for table in ITEM_TABLES}
        counts: Counter[str] = Counter()
        for item in items:
            if item.type != "item" or not item.id.startswith("Q"):
                counts["entities that are not items, skipped"] += 1
                continue
            self._add_item(item, rows, counts)
        return ParsedBlock({table: _to_table(table, table_rows) for table, table_rows in rows.items()}, counts)

    def _add_item(self, item: WikidataItem, rows: dict[str, list[tuple[Any, ...]]], counts: Counter[str]) -> None:
        """Append the rows of an item to `rows`, grouped by table; count the item, and a missing name, in `counts`."""
        counts["items"] += 1
        claims = item.claims if isinstance(item.claims, _Claims) else _NO_CLAIMS
        name = self._select_term(item.labels)
        if name is None:
            counts[f"items without a name in {' or '.join(self.languages)}"] += 1
        types = self.rules.correct_classes(INSTANCE_OF, item.id, _iterate_item_ids(claims.instance_of), counts)
        sites = item.sitelinks if isinstance(item.sitelinks, dict) else {}
        rows["items"].append(
            (
                item.id,
                name,
                self._select_term(item.descriptions),
                types,
                len(sites),
                _find_max_amount(claims.population),
            )
        )
        rows["names"] += [(item.id, alias) for alias in self._iterate_names(item, name)]
        rows["same"] += [(item.id, f"{wiki}:{sites[wiki].title}") for wiki in self.wikis if wiki in sites]
        for property, space in SPACE_BY_PROPERTY.items():
            for value in _select_best_values(getattr(claims, property)):
                if isinstance(value, str) and value.strip():
                    rows["same"].append((item.id, f"{space}:{value.strip().removeprefix('/').replace('/', '.')}"))
        superclasses = self.rules.correct_classes(SUBCLASS_OF, item.id, _iterate_item_ids(claims.subclass_of), counts)
        rows["subclasses"] += [(item.id, superclass) for superclass in superclasses]
        for value in _select_best_values(claims.demonym):
            text = value if isinstance(value, dict) else {}
            if text.get("language") in self.languages and isinstance(text.get("text"), str) and text["text"].strip():
                rows["demonyms"].append((text["text"].strip(), item.id))

    def _select_term(self, terms: dict[str, _Term] | list[_Term]) -> str | None:
        """Return the label or description in the first available language; None if there is none.

        The term for all languages, `mul`, is the last resort.
        """
        if isinstance(terms, dict):
            for language in (*self.languages, "mul"):
                if language in terms and terms[language].value:
                    return terms[language].value
        return None

    def _iterate_names(self, item: WikidataItem, name: str | None) -> Iterator[str]:
        """Yield the label `name`, if any, and the aliases of an item in the selected languages, each once."""
        seen = {} if name is None else {name: None}
        if isinstance(item.aliases, dict):
            for language in (*self.languages, "mul"):
                seen.update((term.value, None) for term in item.aliases.get(language, ()) if term.value)
        yield from seen


_NO_CLAIMS: Final = _Claims()
_DECODER: Final = JsonDecoder(WikidataItem)


def _decode_items(lines: Sequence[bytes], label: str, block: DumpBlock) -> Iterator[WikidataItem]:
    """Yield the items in the lines of a dump; raise `InputError`, located by `label` and `block`, on a bad line."""
    for line in lines:
        line = line.strip().rstrip(b",")
        if line in (b"", b"[", b"]"):
            continue
        try:
            yield _DECODER.decode(line)
        except JsonError as problem:
            raise InputError(
                f"{label}, before byte {block.point.n_done:,}",
                actual=f"a line that is not an item ({problem}): {line[:60].decode('utf-8', 'replace')!r}",
                expected="the JSON dump of Wikidata, as in wikidata-DATE-all.json.bz2: one item per line",
                remedy="Check which file it is, or download it again",
            ) from None


def _select_best_values(statements: _Statements) -> list[Any]:
    """Return the values of the preferred statements, or else of the normal ones; unknown values are omitted."""
    if not statements:  # most items lack most properties
        return []
    for rank in ("preferred", "normal"):
        snaks = [statement.mainsnak for statement in statements if statement.rank == rank]
        if snaks:
            return [snak.datavalue.value for snak in snaks if snak.snaktype == "value" and snak.datavalue is not None]
    return []


def _iterate_item_ids(statements: _Statements) -> Iterator[str]:
    """Yield the item ids, such as `Q64`, among the best-ranked values."""
    for value in _select_best_values(statements):
        if isinstance(value, dict):
            id = value.get("id") or (f"Q{value['numeric-id']}" if "numeric-id" in value else "")
            if isinstance(id, str) and id:
                yield id


def _find_max_amount(statements: _Statements) -> int | None:
    """Return the greatest amount among the best-ranked values, such as a population; None if there is none.

    Amounts that are invalid, negative or too large are ignored.
    """
    amounts = []
    for value in _select_best_values(statements):
        amount = value.get("amount") if isinstance(value, dict) else None
        try:
            amounts.append(int(float(amount or "")))
        except (ValueError, OverflowError, TypeError):
            continue
    return max((number for number in amounts if 0 <= number < 1 << 62), default=None)


_ARROW_TYPES: Final = {"VARCHAR": pa.string(), "VARCHAR[]": pa.list_(pa.string()), "BIGINT": pa.int64()}


def _to_table(name: str, rows: Sequence[tuple[Any, ...]]) -> Any:  # noqa: ANN401  # pyarrow ships no types
    """Return rows as an Arrow table with the columns of `ITEM_TABLES`."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(ITEM_TABLES[name])
    types = (_ARROW_TYPES[kind] for kind in ITEM_TABLES[name].values())
    return pa.table(
        {column: pa.array(cells, type) for column, cells, type in zip(ITEM_TABLES[name], columns, types, strict=True)}
    )
