"""ZELDA's CoNLL: a token per line with the tags B-, I- and O of page ids and of titles (with underscores).

A document is `-DOCSTART-`, a blank line, `# id` (for WNED `# id<TAB>bracket`) and its tokens; a blank line ends a
sentence. The published files do not say what stands between two tokens: it is read as a blank, and as a line end
between sentences, so that spans are those of the JSONL where its text is tokens joined by blanks (AIDA-B, TWEEKI).
Titles are read and written as they are. Some mentions of the JSONL are not in the published files, and some tags are
broken; what cannot be a mention is counted.

Where Karat writes another text than that, a fourth column says so as CoNLL-U does: `SpaceAfter=No`,
`SpacesAfter=\\s\\n`, and `Blank=\\s` for a token that is the white space at the edge of a mention; `SameAs=` stands
there for ids that are no page id, and `meta` in comments `# meta<TAB>name<TAB>value` below the id. `NIL` for the page
id is NIL, neither id nor title a span without link.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, NamedTuple

from karat.errors import InputError, UsageError
from karat.formats.zelda_conll.spacing import Noted, escaped, noted, notes, pieces, plain
from karat.model.corpus import Corpus
from karat.model.defects import pass_over
from karat.model.document import UNLINKED, Document, EntityId, Label
from karat.parsing.distinct import distinct_id
from karat.parsing.lines import Line, columns, lines
from karat.parsing.tokens.text import Laid, laid
from karat.spec.format import Bytes, Format

_START = "-DOCSTART-"
_META = "# meta\t"
_BREAK = re.compile(r"[\t\r\n]")
_LOST_INSIDE = "tags I- that continue no mention (left out)"
_LOST_OUTSIDE = "links on tokens tagged O (left out)"
_NO_ID = "documents without an id (they were numbered)"
_OPENING = re.compile(
    rb"(?:\xef\xbb\xbf)?-DOCSTART-\r?\n\r?\n?# [^\n]*\n(?:# meta\t[^\n]*\n)*(?:\r?\n)*"
    rb"(?:-DOCSTART-|$|[^\t\n]*\t(?:O|[BIO]-[^\t\n]*)\t(?:O|[BIO]-[^\t\n]*)(?:\t[^\t\n]*)?\n)"
)


class _Token(NamedTuple):
    """The tags of a token, and the token with what its further column says."""

    page: str
    title: str
    noted: Noted


@dataclass(slots=True)
class _Block:
    """A document as it stands in the file; `breaks` are the tokens with which a sentence ends."""

    line: int
    id: str | None = None
    meta: dict[str, str] = field(default_factory=dict)
    tokens: list[_Token] = field(default_factory=list)
    breaks: set[int] = field(default_factory=set)
    defects: list[InputError] = field(default_factory=list)


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    skipped: Counter[str] = Counter()
    taken: set[str] = set()
    documents: list[Document] = []
    places = []
    for place, block in enumerate(_blocks(source), 1):
        if block.defects:
            pass_over(block.defects[0])
            continue
        text_of = _laid(block)
        skipped[_NO_ID] += block.id is None
        name = str(place) if block.id is None else block.id
        labels = tuple(_labels(block, text_of, skipped))
        documents.append(Document(distinct_id(name, taken, skipped), text_of.text, labels, meta=block.meta))
        places.append(f"{source.label}:{block.line}")
    return Corpus.built(documents, name=source.stem, skipped=skipped, where=places.__getitem__)


def _blocks(source: Bytes) -> Iterator[_Block]:
    block: _Block | None = None
    for line in lines(source):
        if line.text == _START:
            if block is not None:
                yield block
            block = _Block(line.number)
        elif block is None and line.text:
            raise InputError(
                f"{source.label}:{line.number}",
                found=f"{line.text[:40]!r} before the first document",
                expected=_START,
                remedy="Begin each document with that line",
            )
        elif block is not None and block.id is None and not block.tokens and line.text.startswith("# "):
            block.id, tab, bracket = line.text[2:].partition("\t")
            block.meta |= {"bracket": bracket} if tab else {}
        elif block is not None and not block.tokens and line.text.startswith(_META):
            with _held(block):
                name, value = columns(line, source, 3, 3)[1:]
                block.meta[plain(name)] = plain(value)
        elif block is not None and line.text:
            with _held(block):
                block.tokens.append(_token(line, source))
        elif block is not None and block.tokens:
            block.breaks.add(len(block.tokens) - 1)
    if block is not None:
        yield block


@contextmanager
def _held(block: _Block) -> Iterator[None]:
    """A document with a defect is refused when all of it was read."""
    try:
        yield
    except InputError as problem:
        block.defects.append(problem)


def _token(line: Line, source: Bytes) -> _Token:
    token, page, title, *more = columns(line, source, 3, 4)
    if page[:2] != title[:2] or (page != "O" and page[:2] not in ("B-", "I-", "O-")):
        raise InputError(
            f"{source.label}:{line.number}",
            found=f"the tags {page!r} and {title!r}",
            expected="O twice, or B- or I- before a page id and before its title",
            remedy="Correct the line",
        )
    return _Token(page, title, noted(more[0] if more else "", token))


def _laid(block: _Block) -> Laid:
    last = len(block.tokens) - 1
    default = ["" if i == last else "\n" if i in block.breaks else " " for i in range(last + 1)]
    found = [token.noted for token in block.tokens]
    gaps = [usual if token.gap is None else token.gap for token, usual in zip(found, default, strict=True)]
    return laid([token.token for token in found], gaps)


def _labels(block: _Block, place: Laid, skipped: Counter[str]) -> Iterator[Label]:
    first: int | None = None
    for i, token in enumerate([*block.tokens, _Token("O", "O", Noted(""))]):
        if first is not None and token[:2] != _continued(block.tokens[first]):
            yield _label(block.tokens[first], place.starts[first], place.ends[i - 1])
            first = None
        if token.page.startswith("B-"):
            first = i
        elif first is None:
            skipped[_LOST_INSIDE] += token.page.startswith("I-")
            skipped[_LOST_OUTSIDE] += token.page.startswith("O-")
        if first is not None and i in block.breaks:
            yield _label(block.tokens[first], place.starts[first], place.ends[i])
            first = None


def _continued(token: _Token) -> tuple[str, str]:
    """The tags of a token that goes on with the mention which this one begins."""
    return f"I-{token.page[2:]}", f"I-{token.title[2:]}"


def _label(token: _Token, start: int, end: int) -> Label:
    page, title, also = token.page[2:], token.title[2:], token.noted.same_as
    if title:
        return Label(start, end, title, same_as=also or ((page,) if page else ()))
    entity: EntityId = None if page == "NIL" else page or UNLINKED
    return Label(start, end, entity, same_as=also)


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Tokens are what stands between white space, cut where a mention begins or ends.

    Mentions that overlap are refused, and so are ids with a tab or a line end.
    """
    for document in corpus:
        file.write("".join(_written(document)).encode())


def _written(document: Document) -> Iterator[str]:
    meta = dict(document.meta)
    bracket = [meta.pop("bracket")] if not _BREAK.search(meta.get("bracket", "\n")) else []
    _refuse_breaks(document.id, document)
    yield f"{_START}\n\n# " + "\t".join([document.id, *bracket]) + "\n"
    yield from (f"{_META}{escaped(name)}\t{escaped(value)}\n" for name, value in meta.items())
    rows = list(pieces(document, "ZELDA CoNLL"))
    for place, row in enumerate(rows):
        before = rows[place - 1].label if place else None
        after = rows[place + 1] if place + 1 < len(rows) else None
        within = row.label is not None and after is not None and after.label is row.label
        sentence = row.gap == "\n" and after is not None and not within
        extra = notes(row, "\n" if sentence else " " if after else "")
        if row.label is not None and row.label is not before and not _page(row.label):
            extra += [f"SameAs={escaped(one)}" for one in row.label.same_as]
        page, title = _tags(row.label, row.label is before, document)
        token = "_" if row.token.isspace() else row.token
        cells = [token, page, title, *(["|".join(extra)] if extra else [])]
        yield "\t".join(cells) + ("\n\n" if sentence else "\n")
    yield "\n"


def _tags(label: Label | None, again: bool, document: Document) -> tuple[str, str]:
    if label is None:
        return "O", "O"
    title = label.entity if isinstance(label.entity, str) else ""
    _refuse_breaks(title, document)
    prefix = "I-" if again else "B-"
    return prefix + ("NIL" if label.entity is None else _page(label)), prefix + title


def _page(label: Label) -> str:
    """The page id among the further ids of a linked mention, if that is all there is."""
    one = label.same_as[0] if isinstance(label.entity, str) and len(label.same_as) == 1 else ""
    return one if one.isascii() and one.isdigit() else ""


def _refuse_breaks(cell: str, document: Document) -> None:
    if _BREAK.search(cell):
        raise UsageError(
            f"ZELDA CoNLL cannot hold {cell!r} (document {document.id!r}), which has a tab or a line end in it. "
            "Choose another format."
        )


FORMAT = Format(
    title="ZELDA CoNLL",
    suffix=".conll",
    signs=("-DOCSTART-",),
    recognises=lambda opening: _OPENING.match(opening) is not None,
    holds_gold=lambda source: True,
    read_corpus=read_corpus,
    write_corpus=write_corpus,
    holds=frozenset({"same_as", "meta"}),
    says="Tokens with tags, and columns and comments for what else is kept; mentions must not overlap.",
)
