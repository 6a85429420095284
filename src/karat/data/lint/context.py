"""Facts for lint rules besides the documents: tables of a knowledge base, and properties of the corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import pyarrow as pa

from karat.formats.parsing.lines import read_lines, split_columns
from karat.kb.catalogue import open_kb
from karat.kb.ids.id_context import build_context as build_id_context
from karat.kb.ids.id_context import collect_evidence
from karat.kb.ids.normal_forms import recognise_id
from karat.kb.ids.normalising_kb import NormalisingKB
from karat.kb.in_memory_kb import InMemoryKB
from karat.kb.protocol import KB, IdStatus
from karat.kb.snapshot.manifest import is_snapshot
from karat.kb.type_names import WHITELISTS
from karat.matching.facts.document_ids import find_ids, look_up_spelling, spell_like, spellings
from karat.model.document import Document, Label
from karat.model.errors import InputError
from karat.model.json.decoder import JsonError, decode_json
from karat.model.spec.rule import LintContext
from karat.model.spec.settings.conventions import Ids
from karat.storage.files import Source

SCHEME = frozenset({"form", "pos", "overlap", "reference"})
"""Dimensions of the fine-grained paper: each label has one tag of every dimension that the corpus uses."""

_SUFFIXES = ("", ".gz", ".zst")
_TABLES = ("entities.tsv", "redirects.tsv", "disambiguation.tsv")


def build_context(
    documents: Sequence[Document],
    *,
    kb: str | None = None,
    redirects: str | None = None,
    types: str | None = None,
    dimensions: Iterable[str] = (),
    skipped: Mapping[str, int] | None = None,
) -> LintContext:
    """Collect the facts that lint rules may use about `documents`.

    `kb`: name or path of a snapshot, or folder of tables. `redirects`: file of redirects. `types`: file of allowed
    types, or their name in `WHITELISTS`. `dimensions`: further dimensions in which each label should have one category.
    `skipped`: counts of what the reader skipped or repaired, by description.
    """
    labels = [label for document in documents for label in document.labels]
    dimensions_used = {tag.partition(":")[0] for label in labels for tag in label.categories if ":" in tag}
    ids = {label.entity for label in labels if isinstance(label.entity, str)}
    kb_facts = _KBFacts() if kb is None else _read_snapshot(open_kb(kb), ids) if _is_snapshot(kb) else _read_folder(kb)
    all_redirects = {**kb_facts.redirects, **({} if redirects is None else _read_redirects(Source(redirects)))}
    if kb is None or not _is_snapshot(kb):  # a snapshot reads every spelling itself
        all_redirects |= _redirect_as_in_scoring(documents, all_redirects)
    return LintContext(
        has_entity=kb_facts.has_entity,
        redirects=all_redirects,
        disambiguation=kb_facts.disambiguation,
        types=_collect_types(kb_facts.tables, ids, all_redirects),
        names=_collect_names(kb_facts.tables, ids),
        demonyms=_collect_demonyms(kb_facts.tables, documents),
        whitelist=None if types is None else read_whitelist(types),
        has_types=any(label.types for label in labels),
        has_spaces=_uses_spaces(labels),
        dimensions=(SCHEME & dimensions_used).union(dimensions),
        skipped=skipped or {},
    )


class GrowingContext:
    """Facts for lint rules about documents whose labels change; each id is looked up once."""

    def __init__(
        self, kb: KB | None = None, whitelist: frozenset[str] | None = None, dimensions: Iterable[str] = ()
    ) -> None:
        """Use a snapshot `kb`, allowed types (None for all), and dimensions in which each label has one category."""
        self._kb, self._whitelist, self._dimensions = kb, whitelist, frozenset(dimensions)
        self._ids: set[str] = set()
        self._entities: set[str] | None = None
        self._redirects: dict[str, str] = {}
        self._disambiguation: frozenset[str] = frozenset()
        self._types: dict[str, frozenset[str]] = {}
        self._names: dict[str, frozenset[str]] = {}
        self._lock = Lock()

    def get_context(self, document: Document) -> LintContext:
        """Return the facts that lint rules may use about a document."""
        self._look_up({label.entity for label in document.labels if isinstance(label.entity, str)})
        return LintContext(
            has_entity=None if self._entities is None else self._entities.__contains__,
            redirects=self._redirects,
            disambiguation=self._disambiguation,
            types=self._types,
            names=self._names,
            whitelist=self._whitelist,
            has_types=any(label.types for label in document.labels),
            has_spaces=_uses_spaces(document.labels),
            dimensions=self._dimensions,
        )

    def _look_up(self, ids: Set[str]) -> None:
        """Read the facts about ids that are new."""
        with self._lock:
            new = ids - self._ids
            if not new or self._kb is None:
                return
            facts = _read_snapshot(self._kb, new)
            if facts.has_entity is not None:
                self._entities = (self._entities or set()).union(filter(facts.has_entity, new))
            self._redirects.update(facts.redirects)
            self._disambiguation |= facts.disambiguation
            self._types.update(_collect_types(self._kb, new, facts.redirects))
            self._names.update(_collect_names(self._kb, new))
            self._ids |= new


def _redirect_as_in_scoring(documents: Iterable[Document], redirects: Mapping[str, str]) -> dict[str, str]:
    """Return the redirects of ids in `documents` that scoring reads otherwise than the rule by their titles.

    Scoring reads every usual spelling of an id, but no title of a page in another language. An id that does not
    redirect in scoring redirects to itself.
    """
    if not redirects:
        return {}
    ids = sorted({occurrence.id for document in documents for occurrence in find_ids(document)})
    context = build_id_context([collect_evidence(pa.array(ids, pa.string()))])
    tables = InMemoryKB.from_tables(redirects={id: target for id, target in redirects.items() if id != target})
    base_ids = NormalisingKB(tables, Ids.NORMALISED, context).find_base_ids(ids)
    changes: dict[str, str] = {}
    for id, target in zip(ids, tables.redirect_targets(base_ids), strict=True):
        has_title = look_up_spelling(id, redirects) is not None
        if has_title and target is None:
            changes[id] = id
        elif target is not None and not has_title:
            changes[id] = _spell_target(id, target)
    return changes


def _spell_target(id: str, target: str) -> str:
    """Return the target of a redirect as `id` is written, if both are pages of one Wikipedia; else as it is."""
    page, target_page = recognise_id(id), recognise_id(target)
    if page is None or target_page is None or page.scheme != target_page.scheme or "/wiki/" not in page.normal_form:
        return target
    title = target_page.normal_form.partition("/wiki/")[2]
    prefix, mark, _ = id.partition("wiki:")
    return f"{prefix}{mark}{title}" if mark and "/" not in prefix else spell_like(id, title, use_spaces=False)


class _KBFacts(NamedTuple):
    """Facts from a knowledge base; `has_entity` is None if it has no list of entities."""

    has_entity: Callable[[str], bool] | None = None
    redirects: Mapping[str, str] = {}
    disambiguation: frozenset[str] = frozenset()
    tables: KB | None = None


def _is_snapshot(kb: str) -> bool:
    """Return whether `kb` is a snapshot, by path or name, and not a folder of tables."""
    return is_snapshot(Path(kb)) or not Path(kb).exists()


def _read_snapshot(kb: KB, ids: Set[str]) -> _KBFacts:
    """Return the facts of a snapshot about `ids`."""
    id_list = sorted(ids)
    is_listed = kb.contains(id_list)
    statuses = dict(zip(id_list, kb.id_statuses(id_list), strict=True))
    redirected = [id for id in id_list if statuses[id] is IdStatus.REDIRECTED]
    return _KBFacts(
        has_entity=None
        if is_listed is None
        else frozenset(id for id, is_known in zip(id_list, is_listed, strict=True) if is_known).__contains__,
        redirects=dict(zip(redirected, kb.canonical_ids(redirected), strict=True)),
        disambiguation=frozenset(id for id in id_list if statuses[id] is IdStatus.DISAMBIGUATION),
        tables=kb,
    )


def _read_folder(folder: str) -> _KBFacts:
    """Return the facts of a folder of tables; raise `InputError` if it has none of `_TABLES`."""
    files = {name: file for name in _TABLES if (file := _find_table(folder, name)) is not None}
    if not files:
        raise InputError(
            folder,
            actual=f"none of {', '.join(_TABLES)}",
            expected="a folder with at least one of these tables",
            remedy="Check the path",
        )
    tables = open_kb(folder) if files.keys() & {"entities.tsv", "redirects.tsv"} else InMemoryKB.from_tables()
    redirects, pages = files.get("redirects.tsv"), files.get("disambiguation.tsv")
    return _KBFacts(
        has_entity=(lambda id: bool((tables.contains([id]) or [False])[0])) if "entities.tsv" in files else None,
        redirects={} if redirects is None else _read_redirects(redirects),
        disambiguation=frozenset() if pages is None else frozenset(_read_first_column(pages)),
        tables=tables,
    )


def _collect_types(kb: KB | None, ids: Iterable[str], redirects: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Return the types of all spellings of `ids` and of their redirect targets, without ids that have no types."""
    if kb is None:
        return {}
    names = {name for id in ids for name in spellings(id)}
    names |= {name for id in names & redirects.keys() for name in spellings(redirects[id])}
    spelling_list = sorted(names)
    return {id: types for id, types in zip(spelling_list, kb.types(spelling_list), strict=True) if types}


def _collect_names(kb: KB | None, ids: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the names and aliases of entities by all spellings of their ids, without ids that have no names."""
    if kb is None:
        return {}
    spelling_list = sorted({name for id in ids for name in spellings(id)})
    rows = zip(spelling_list, kb.names(spelling_list), kb.aliases(spelling_list), strict=True)
    names_by_id = {id: (aliases or frozenset()) | ({name} if name else set()) for id, name, aliases in rows}
    return {id: names for id, names in names_by_id.items() if names}


def _collect_demonyms(kb: KB | None, documents: Iterable[Document]) -> frozenset[str]:
    """Return the surfaces of all labels that are demonyms; empty if the knowledge base has no table of them."""
    if kb is None:
        return frozenset()
    surfaces = sorted({document.text[label.start : label.end] for document in documents for label in document.labels})
    return frozenset(
        surface for surface, is_demonym in zip(surfaces, kb.are_demonyms(surfaces), strict=True) if is_demonym
    )


def _uses_spaces(labels: Iterable[Label]) -> bool:
    """Return whether more entity titles have a space than an underscore; absolute IRIs are ignored."""
    titles = [label.entity for label in labels if isinstance(label.entity, str) and "://" not in label.entity]
    return sum(" " in id for id in titles) > sum("_" in id for id in titles)


def _find_table(folder: str, name: str) -> Source | None:
    """Return a table in a folder, possibly compressed, or None if it is missing."""
    return next((Source(str(path)) for end in _SUFFIXES if (path := Path(folder) / f"{name}{end}").exists()), None)


def _read_redirects(source: Source) -> dict[str, str]:
    """Read redirects, with their final target, from a table of two columns or a JSON object of strings."""
    pairs, locations = _read_pairs(source)
    tables = InMemoryKB.from_tables(redirects=pairs, where=lambda _: locations.__getitem__)
    origins = [origin for origin, _ in pairs]
    return dict(zip(origins, tables.canonical_ids(origins), strict=True))


def _read_pairs(source: Source) -> tuple[list[tuple[str, str]], list[str]]:
    """Read the rows of a redirect table (origin, target), and the location of each for error messages."""
    if source.first_bytes.lstrip()[:1] == b"{":
        try:
            pairs = decode_json(source.read_bytes(), dict[str, str])
        except JsonError as error:
            raise _redirect_error(source.label, f"invalid JSON ({error})") from None
        return list(pairs.items()), [f"{source.label}, {origin!r}" for origin in pairs]
    rows = [line for line in read_lines(source) if _is_row(line.text)]
    cells = [split_columns(line, source, 2, 2) for line in rows]
    return [(origin, target) for origin, target in cells], [f"{source.label}:{line.number}" for line in rows]


def _redirect_error(where: str, actual: str) -> InputError:
    """Make the error for a file that contains no redirects."""
    return InputError(
        where,
        actual=actual,
        expected="redirects: two columns (from, to), or one JSON object",
        remedy="Convert the table",
    )


def _read_first_column(source: Source) -> list[str]:
    """Read the first column of a table, without empty lines and comments."""
    return [line.text.split("\t")[0].strip() for line in read_lines(source) if _is_row(line.text)]


def _is_row(text: str) -> bool:
    """Return whether a line is neither empty nor a comment."""
    return bool(text.strip()) and not text.startswith("#")


def read_whitelist(name_or_path: str) -> frozenset[str]:
    """Return the types of a whitelist by name, such as `fair`, or those in a file, one per line.

    Raise `InputError` if the file has none.
    """
    if name_or_path in WHITELISTS:
        return frozenset(WHITELISTS[name_or_path])
    source = Source(name_or_path)
    types = frozenset(_read_first_column(source))
    if not types:
        raise InputError(
            source.label,
            actual="no type",
            expected=f"a type per line, or the name of a list: {', '.join(WHITELISTS)}",
            remedy="Check the file",
        )
    return types
