"""Items of Wikidata as JSON: one in each line of a dump, several in a reply of the API.

Of the statements about a property those of the best rank count (`wdt:` in its query service): preferred ones, or else
normal ones; deprecated ones never do. A map without entries is written `[]` by Wikidata.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import pyarrow as pa

from karat.errors import InputError
from karat.knowledge.type_rules import INSTANCE, SUBCLASS, TypeRules
from karat.storage.dumps import DumpBlock, DumpError
from karat.storage.staging import Parsed

ENDING: Final = b"\n"

TABLES: Final[Mapping[str, Mapping[str, str]]] = {
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
"""What is taken from items, with the types that SQL has."""

SPACES: Final = {"P646": "freebase", "P2892": "umls", "P486": "mesh"}
"""Properties that name an item in another id space."""


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


_PROPERTIES: Final = {"instance_of": "P31", "subclass_of": "P279", "demonym": "P1549", "people": "P1082"}


class _Claims(msgspec.Struct, rename=_PROPERTIES):
    instance_of: _Statements = []
    subclass_of: _Statements = []
    demonym: _Statements = []
    people: _Statements = []
    P646: _Statements = []
    P2892: _Statements = []
    P486: _Statements = []


class WikidataItem(msgspec.Struct):
    """What is read of an item; everything else is skipped while it is decoded."""

    id: str = ""
    type: str = "item"
    labels: dict[str, _Term] | list[_Term] = []
    descriptions: dict[str, _Term] | list[_Term] = []
    aliases: dict[str, list[_Term]] | list[_Term] = []
    claims: _Claims | list[Any] = []
    sitelinks: dict[str, _Link] | list[_Link] = []


@dataclass(frozen=True)
class ItemReader:
    """Which languages and wikis are wanted, the first ones first, and what is to be mended in classes."""

    languages: tuple[str, ...] = ("en",)
    wikis: tuple[str, ...] = ("enwiki",)
    rules: TypeRules = field(default_factory=TypeRules)

    @property
    def wishes(self) -> str:
        """The same in words."""
        return f"items in {','.join(self.languages)} of {','.join(self.wikis)}{self.rules.wishes}"

    def parse(self, block: DumpBlock, label: str) -> Parsed:
        """What a block of a dump says."""
        lines = block.data.split(b"\n")
        if block.last and not block.data.rstrip().endswith(b"]"):
            raise DumpError(
                label,
                found="an end before the closing bracket",
                expected="a whole dump",
                remedy="Fetch the file again and repeat the command: it goes on from what was read",
            )
        return self.tables(_items(lines, label, block))

    def tables(self, items: Iterable[WikidataItem]) -> Parsed:
        """The rows that items give, and what they lack."""
        rows: dict[str, list[tuple[Any, ...]]] = {table: [] for table in TABLES}
        counts: Counter[str] = Counter()
        for item in items:
            if item.type != "item" or not item.id.startswith("Q"):
                counts["entities that are no items, left out"] += 1
                continue
            self._take(item, rows, counts)
        return Parsed({table: _table(table, each) for table, each in rows.items()}, counts)

    def _take(self, item: WikidataItem, rows: dict[str, list[tuple[Any, ...]]], counts: Counter[str]) -> None:
        counts["items"] += 1
        claims = item.claims if isinstance(item.claims, _Claims) else _NOTHING
        name = self._term(item.labels)
        if name is None:
            counts[f"items without a name in {' or '.join(self.languages)}"] += 1
        types = self.rules.corrected(INSTANCE, item.id, _ids(claims.instance_of), counts)
        sites = item.sitelinks if isinstance(item.sitelinks, dict) else {}
        rows["items"].append((item.id, name, self._term(item.descriptions), types, len(sites), _number(claims.people)))
        rows["names"] += [(item.id, alias) for alias in self._names(item, name)]
        rows["same"] += [(item.id, f"{wiki}:{sites[wiki].title}") for wiki in self.wikis if wiki in sites]
        for property, space in SPACES.items():
            for value in _best(getattr(claims, property)):
                if isinstance(value, str) and value.strip():
                    rows["same"].append((item.id, f"{space}:{value.strip().removeprefix('/').replace('/', '.')}"))
        above = self.rules.corrected(SUBCLASS, item.id, _ids(claims.subclass_of), counts)
        rows["subclasses"] += [(item.id, other) for other in above]
        for value in _best(claims.demonym):
            text = value if isinstance(value, dict) else {}
            if text.get("language") in self.languages and isinstance(text.get("text"), str) and text["text"].strip():
                rows["demonyms"].append((text["text"].strip(), item.id))

    def _term(self, terms: dict[str, _Term] | list[_Term]) -> str | None:
        """A label or description in the first language that has one; `mul` is for all languages."""
        if isinstance(terms, dict):
            for language in (*self.languages, "mul"):
                if language in terms and terms[language].value:
                    return terms[language].value
        return None

    def _names(self, item: WikidataItem, name: str | None) -> Iterator[str]:
        seen = {} if name is None else {name: None}
        if isinstance(item.aliases, dict):
            for language in (*self.languages, "mul"):
                seen.update((term.value, None) for term in item.aliases.get(language, ()) if term.value)
        yield from seen


_NOTHING: Final = _Claims()
_DECODER: Final = msgspec.json.Decoder(WikidataItem)


def _items(lines: Sequence[bytes], label: str, block: DumpBlock) -> Iterator[WikidataItem]:
    for line in lines:
        line = line.strip().rstrip(b",")
        if line in (b"", b"[", b"]"):
            continue
        try:
            yield _DECODER.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as problem:
            raise InputError(
                f"{label}, before byte {block.point.done:,}",
                found=f"a line that is no item ({problem}): {line[:60].decode('utf-8', 'replace')!r}",
                expected="the JSON dump of Wikidata, as in wikidata-DATE-all.json.bz2: an item in each line",
                remedy="Check which file it is, or fetch it again",
            ) from None


def _best(statements: _Statements) -> list[Any]:
    """The values of the statements of the best rank; unknown values and none are no values."""
    if not statements:  # of most items nothing is said about most properties
        return []
    for rank in ("preferred", "normal"):
        found = [statement.mainsnak for statement in statements if statement.rank == rank]
        if found:
            return [snak.datavalue.value for snak in found if snak.snaktype == "value" and snak.datavalue is not None]
    return []


def _ids(statements: _Statements) -> Iterator[str]:
    for value in _best(statements):
        if isinstance(value, dict):
            id = value.get("id") or (f"Q{value['numeric-id']}" if "numeric-id" in value else "")
            if isinstance(id, str) and id:
                yield id


def _number(statements: _Statements) -> int | None:
    """The greatest of several amounts, such as a population by year."""
    found = []
    for value in _best(statements):
        amount = value.get("amount") if isinstance(value, dict) else None
        try:
            found.append(int(float(amount or "")))
        except (ValueError, OverflowError, TypeError):
            continue
    return max((number for number in found if 0 <= number < 1 << 62), default=None)


_KINDS: Final = {"VARCHAR": pa.string(), "VARCHAR[]": pa.list_(pa.string()), "BIGINT": pa.int64()}


def _table(name: str, rows: Sequence[tuple[Any, ...]]) -> Any:  # noqa: ANN401  # pyarrow ships no types
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(TABLES[name])
    kinds = (_KINDS[kind] for kind in TABLES[name].values())
    return pa.table({at: pa.array(c, k) for at, c, k in zip(TABLES[name], columns, kinds, strict=True)})
