"""Candidate lists that others published, each read row by row, so that only what is asked for is held.

| name | file | what a row is |
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

from karat.errors import InputError, UnknownNameError
from karat.parsing.json.records import json_file
from karat.parsing.lines import Line, lines
from karat.storage.files import Source
from karat.zelda.candidates.keys import coarse_key
from karat.zelda.candidates.lists import CandidateLists, ListRow, built_lists
from karat.zelda.candidates.sources import title_of_url

_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")


def _hoffart(source: Source) -> Iterator[ListRow]:
    for line in lines(source):
        if line.text:
            mention, tab, entity = line.text.partition("\t")
            if not tab or len(mention) < 2 or mention[0] != '"' or mention[-1] != '"':
                raise _broken(source, line, '"mention", a tab and the name of an entity')
            yield ListRow(_unescaped(mention[1:-1]), _unescaped(entity).replace("_", " "), 1)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def _ganea_hofmann(source: Source) -> Iterator[ListRow]:
    for line in lines(source):
        mention, *cells = line.text.split("\t")
        for cell in cells[1:]:
            if not cell.strip():
                continue
            try:
                _, weight, title = cell.split(",", 2)
                yield ListRow(mention, title.replace("_", " "), float(weight))
            except ValueError:
                raise _broken(source, line, "a mention, a total, and id,probability,title for each entity") from None


def _pershina(source: Source) -> Iterator[ListRow]:
    """The lists are of single mentions in documents: those of the same words are one list here."""
    for name in source.names:
        file = source.inside(name)
        mention: str | None = None
        for line in lines(file):
            kind, *cells = line.text.split("\t")
            fields = dict(cell.partition(":")[::2] for cell in cells)
            if kind == "ENTITY":
                mention = fields.get("origText") or fields.get("text")
            elif kind == "CANDIDATE" and mention is not None:
                title = title_of_url(fields.get("url", "")) or fields.get("name")
                if not title:
                    raise _broken(file, line, "a candidate with url or name")
                yield ListRow(mention, title.replace("_", " "), 1)


class _Plain(pickle.Unpickler):
    """Reads nothing but dictionaries, strings and numbers: a pickle could else run whatever it likes."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401  # as its base
        if (module, name) == ("collections", "Counter"):
            return Counter
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def _counters(source: Source) -> Iterator[ListRow]:
    opening = source.opening
    try:
        value = json_file(source) if opening.lstrip().startswith(b"{") else _Plain(io.BytesIO(source.data())).load()
        for mention, counts in value.items():
            for entity, count in counts.items():
                yield ListRow(str(mention), str(entity), float(count))
    except (pickle.UnpicklingError, EOFError, AttributeError, ValueError, TypeError, IndexError, KeyError) as problem:
        raise InputError(
            source.label,
            found=f"no lists ({problem})",
            expected="a dictionary from mentions to titles with counts, of plain values only",
            remedy="Give zelda_mention_entities_counter.pickle, or the same as JSON",
        ) from None


def _broken(source: Source, line: Line, expected: str) -> InputError:
    return InputError(
        f"{source.label}:{line.number}", found=repr(line.text[:60]), expected=expected, remedy="Correct the line"
    )


class _Published(NamedTuple):
    """How a published list is read and recognised, and whether it has counts."""

    read: Callable[[Source], Iterable[ListRow]]
    recognises: Callable[[Source], bool]
    counted: bool = True


def _first_line(source: Source) -> bytes:
    return b"" if source.folder else source.opening.split(b"\n", 1)[0]


_KINDS: Final[Mapping[str, _Published]] = {
    "pershina": _Published(_pershina, lambda source: source.folder, counted=False),
    "hoffart": _Published(
        _hoffart, lambda source: re.fullmatch(rb'".*"\t[^\t]+', _first_line(source).rstrip()) is not None, counted=False
    ),
    "ganea-hofmann": _Published(
        _ganea_hofmann,
        lambda source: re.match(rb"[^\t]*\t[^\t]*\t\d+,[\d.eE+-]+,", _first_line(source)) is not None,
    ),
    "zelda": _Published(_counters, lambda source: source.opening.lstrip().startswith((b"{", b"\x80"))),
}
KINDS: Final = ("built", *_KINDS)
"""What lists can be."""


def open_lists(given: str) -> CandidateLists:
    """Lists by their path, KIND=PATH where they are not recognised."""
    kind, equals, rest = given.partition("=")
    path = rest if equals and kind in KINDS else given
    source = Source(path, links=True)
    if not source.exists:
        raise InputError(source.label, found="nothing", expected="candidate lists", remedy="Check the path")
    if (equals and kind == "built") or (not source.folder and source.opening.startswith(b"PAR1")):
        return built_lists(path)
    named = _KINDS.get(kind) if equals and path != given else None
    known = named or next((one for one in _KINDS.values() if one.recognises(source)), None)
    if known is None:
        raise UnknownNameError("kind of candidate lists; write KIND=PATH. It is", source.label, KINDS)

    def read(keys: frozenset[str]) -> Iterator[ListRow]:
        rows = 0
        for row in known.read(source):
            rows += 1
            if coarse_key(row.mention) in keys:
                yield row
        if not rows:
            raise InputError(
                source.label,
                found="empty candidate lists",
                expected="mentions with candidates",
                remedy="Check the file",
            )

    return CandidateLists(source.stem, read, known.counted)
