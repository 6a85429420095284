"""Published candidate lists, read row by row, so that only the queried rows are in memory.

| name | file | row |
|---|---|---|
| hoffart | `aida_means.tsv` of AIDA | `"mention"<TAB>Entity_name`, no counts |
| ganea-hofmann | `prob_yago_crosswikis_wikipedia_p_e_m.txt` | `mention<TAB>total<TAB>id,probability,Title…` |
| pershina | the folder `AIDA_candidates` of PPRforNED | blocks of `ENTITY…` and `CANDIDATE…` for each document |
| zelda | `zelda_mention_entities_counter.pickle`, or the same as JSON | from mentions to titles with counts |
"""

from __future__ import annotations

import io
import pickle
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from karat.formats.parsing.json.records import read_json
from karat.formats.parsing.lines import read_lines
from karat.model.errors import InputError, UnknownNameError
from karat.protocols.zelda.candidates.candidate_lists import CandidateLists, CandidateRow, open_built_lists
from karat.protocols.zelda.candidates.keys import coarse_key
from karat.protocols.zelda.candidates.sources import line_error, parse_wikipedia_url
from karat.storage.files import Source

_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")


def _read_hoffart(source: Source) -> Iterator[CandidateRow]:
    """Yield the rows of AIDA's list, each with weight 1; raise `InputError` for an invalid line."""
    for line in read_lines(source):
        if line.text:
            mention, tab, entity = line.text.partition("\t")
            if not tab or len(mention) < 2 or mention[0] != '"' or mention[-1] != '"':
                raise line_error(source, line, '"mention", a tab and the name of an entity')
            yield CandidateRow(_unescape(mention[1:-1]), _unescape(entity).replace("_", " "), 1)


def _unescape(text: str) -> str:
    """Replace escapes such as `\\u00e9` by their characters."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def _read_ganea_hofmann(source: Source) -> Iterator[CandidateRow]:
    """Yield the rows of Ganea and Hofmann's list, weighted by probability; raise `InputError` for an invalid line."""
    for line in read_lines(source):
        mention, *cells = line.text.split("\t")
        for cell in cells[1:]:
            if not cell.strip():
                continue
            try:
                _, weight, title = cell.split(",", 2)
                yield CandidateRow(mention, title.replace("_", " "), float(weight))
            except ValueError:
                raise line_error(source, line, "a mention, a total, and id,probability,title for each entity") from None


def _read_pershina(source: Source) -> Iterator[CandidateRow]:
    """Yield the rows of Pershina's folder of lists, each with weight 1; raise `InputError` for an invalid line.

    Lists of the same mention in several documents are merged, so a candidate may occur several times.
    """
    for name in source.file_names:
        file = source.get_child(name)
        mention: str | None = None
        for line in read_lines(file):
            kind, *cells = line.text.split("\t")
            fields = dict(cell.partition(":")[::2] for cell in cells)
            if kind == "ENTITY":
                mention = fields.get("origText") or fields.get("text")
            elif kind == "CANDIDATE" and mention is not None:
                title = parse_wikipedia_url(fields.get("url", "")) or fields.get("name")
                if not title:
                    raise line_error(file, line, "a candidate with url or name")
                yield CandidateRow(mention, title.replace("_", " "), 1)


class _PlainUnpickler(pickle.Unpickler):
    """Unpickler for dictionaries, strings and numbers only, since other pickles can run code."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401  # as its base
        """Return the class that a pickle names; raise an error for any other than `Counter`, which could run code."""
        if (module, name) == ("collections", "Counter"):
            return Counter
        raise pickle.UnpicklingError(f"it contains {module}.{name}")


def _read_counters(source: Source) -> Iterator[CandidateRow]:
    """Yield the rows of ZELDA's list, from JSON or a pickle of plain values; raise `InputError` for other content."""
    opening = source.first_bytes
    try:
        value = (
            read_json(source)
            if opening.lstrip().startswith(b"{")
            else _PlainUnpickler(io.BytesIO(source.read_bytes())).load()
        )
        for mention, counts in value.items():
            for entity, count in counts.items():
                yield CandidateRow(str(mention), str(entity), float(count))
    except (pickle.UnpicklingError, EOFError, AttributeError, ValueError, TypeError, IndexError, KeyError) as problem:
        raise InputError(
            source.label,
            actual=f"no lists ({problem})",
            expected="a dictionary from mentions to titles with counts, of plain values only",
            remedy="Pass zelda_mention_entities_counter.pickle, or the same as JSON",
        ) from None


class _ListFormat(NamedTuple):
    """A format of published lists: reader, detector, and whether it has counts."""

    read: Callable[[Source], Iterable[CandidateRow]]
    recognises: Callable[[Source], bool]
    has_counts: bool = True


def _first_line(source: Source) -> bytes:
    """Return the first line of a file, or its first 64 KiB if longer; empty for a folder."""
    return b"" if source.is_folder else source.first_bytes.split(b"\n", 1)[0]


_FORMATS: Final[Mapping[str, _ListFormat]] = {
    "pershina": _ListFormat(_read_pershina, lambda source: source.is_folder, has_counts=False),
    "hoffart": _ListFormat(
        _read_hoffart,
        lambda source: re.fullmatch(rb'".*"\t[^\t]+', _first_line(source).rstrip()) is not None,
        has_counts=False,
    ),
    "ganea-hofmann": _ListFormat(
        _read_ganea_hofmann,
        lambda source: re.match(rb"[^\t]*\t[^\t]*\t\d+,[\d.eE+-]+,", _first_line(source)) is not None,
    ),
    "zelda": _ListFormat(_read_counters, lambda source: source.first_bytes.lstrip().startswith((b"{", b"\x80"))),
}
KINDS: Final = ("built", *_FORMATS)
"""Kinds of candidate lists."""


def open_candidate_lists(argument: str) -> CandidateLists:
    """Open candidate lists by path, or by `KIND=PATH` if the format cannot be detected.

    Raise `InputError` if the path does not exist and `UnknownNameError` if no format fits.
    """
    kind, equals, stated_path = argument.partition("=")
    path = stated_path if equals and kind in KINDS else argument
    source = Source(path, trust_links=True)
    if not source.exists:
        raise InputError(source.label, actual="nothing", expected="candidate lists", remedy="Check the path")
    if (equals and kind == "built") or (not source.is_folder and source.first_bytes.startswith(b"PAR1")):
        return open_built_lists(path)
    stated_format = _FORMATS.get(kind) if equals and path != argument else None
    list_format = stated_format or next((f for f in _FORMATS.values() if f.recognises(source)), None)
    if list_format is None:
        raise UnknownNameError("kind of candidate lists; write KIND=PATH. It is", source.label, KINDS)

    def read(keys: frozenset[str]) -> Iterator[CandidateRow]:
        """Yield the rows of all mentions with these coarse keys; raise `InputError` if the file has no row at all."""
        rows = 0
        for row in list_format.read(source):
            rows += 1
            if coarse_key(row.mention) in keys:
                yield row
        if not rows:
            raise InputError(
                source.label,
                actual="empty candidate lists",
                expected="mentions with candidates",
                remedy="Check the file",
            )

    return CandidateLists(source.stem, read, list_format.has_counts)
