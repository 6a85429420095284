"""spaCy's DocBin (`.spacy`): texts in tokens with the entities of `doc.ents`. Needs the extra `spacy`.

A mention is an entity: `kb_id_` is its link as written, `NIL` is NIL (spaCy's own word for it), and an empty one is no
link. `label_` is its type; several are joined by commas, and `MENTION` stands for none, since spaCy keeps no entity
without a label. The id of a document is `user_data["id"]` (or `doc_id`), its `meta` is `user_data["meta"]`.

`doc.ents` cannot hold mentions that overlap. A document with such has all its mentions in the span group `karat`,
and as many of them as fit in `doc.ents`; where there is such a group, it is read in place of `doc.ents`. Tokens are
made of words and cut where mentions begin and end: they are no linguistic tokens.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from typing import IO, Any, NamedTuple

from karat.errors import InputError, KaratError, UsageError
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Document, EntityId, Label, Reply
from karat.model.run import Run
from karat.parsing.answering import as_answers
from karat.parsing.merging import merged
from karat.spec.format import Bytes, Format

_GROUP = "karat"
_UNTYPED = "MENTION"
_NIL = "NIL"
_DAMAGED = (
    *(ValueError, LookupError, TypeError, AssertionError, AttributeError, ArithmeticError),
    *(zlib.error, MemoryError, RecursionError, ImportError),  # what spaCy raises for flipped bits
)
_PIECE = re.compile(r"\s+|\w+|[^\w\s]")


class _Words(NamedTuple):
    """Tokens, and whether a space follows each."""

    words: list[str]
    spaces: list[bool]


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    skipped: Counter[str] = Counter()
    documents = [
        Document(name, doc.text, merged(labels, skipped), meta=meta)
        for doc, name, labels, meta in _read(source, skipped)
    ]
    return Corpus.built(documents, name=source.stem, skipped=skipped)


def read_run(source: Bytes) -> Run:
    """A system's answers, which spaCy writes as it writes gold."""
    skipped: Counter[str] = Counter()
    found = [(doc.text, Reply(name, as_answers(labels))) for doc, name, labels, _ in _read(source, skipped)]
    replies, texts = [reply for _, reply in found], [text for text, _ in found]
    return Run.built(replies, name=source.stem, skipped=skipped, texts=texts)


def _read(source: Bytes, skipped: Counter[str]) -> Iterator[tuple[Any, str, list[Label], dict[str, str]]]:
    tokens, vocab = _spacy()
    data = source.data()
    try:
        docs = list(tokens.DocBin().from_bytes(data).get_docs(vocab))
        yield from [_taken(place, doc, skipped) for place, doc in enumerate(docs, 1)]
    except _DAMAGED as problem:
        raise InputError(
            source.label,
            found=f"a DocBin that cannot be read ({type(problem).__name__}: {str(problem)[:80]})",
            expected="a complete file as DocBin.to_disk writes it",
            remedy="Write or fetch the file again",
        ) from None


def _taken(place: int, doc: Any, skipped: Counter[str]) -> tuple[Any, str, list[Label], dict[str, str]]:  # noqa: ANN401
    name, labels, meta = read_doc(doc, skipped)
    skipped["documents without an id (numbered)"] += name is None
    return doc, str(place) if name is None else name, labels, meta


def read_doc(doc: Any, skipped: Counter[str]) -> tuple[str | None, list[Label], dict[str, str]]:  # noqa: ANN401
    """The id of a `Doc` of spaCy, if it has one, its mentions and its `meta`; what else it has is counted."""
    own = dict(doc.user_data)
    name = own.pop("id", own.pop("doc_id", None))
    meta = own.pop("meta", {})
    if not isinstance(meta, dict):
        own["meta"], meta = meta, {}
    skipped["documents with further user data"] += bool(own)
    skipped["documents with categories"] += bool(doc.cats)
    skipped["span groups that are not read"] += len(set(doc.spans) - {_GROUP})
    spans = doc.spans.get(_GROUP, doc.ents)
    labels = [Label(span.start_char, span.end_char, _entity(span), types=_types(span)) for span in spans]
    return None if name is None else str(name), labels, {str(k): str(v) for k, v in meta.items()}


def _entity(span: Any) -> EntityId:  # noqa: ANN401  # spaCy has types of its own
    return UNLINKED if not span.kb_id_ else None if span.kb_id_ == _NIL else str(span.kb_id_)


def _types(span: Any) -> tuple[str, ...]:  # noqa: ANN401
    return () if span.label_ == _UNTYPED else tuple(filter(None, span.label_.split(",")))


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """All documents in one DocBin, in memory at once."""
    tokens, vocab = _spacy()
    made = tokens.DocBin(attrs=["ENT_IOB", "ENT_TYPE", "ENT_KB_ID"], store_user_data=True)
    for document in corpus:
        cut = _cut(document.text, document.labels)
        doc = tokens.Doc(vocab, words=cut.words, spaces=cut.spaces)
        doc.user_data.update({"id": document.id, **({"meta": document.meta} if document.meta else {})})
        spans = [
            doc.char_span(label.start, label.end, label=_label(label, document), kb_id=_kb_id(label, document))
            for label in document.labels
        ]
        doc.ents = import_module("spacy.util").filter_spans(spans)
        if [(span.start, span.end) for span in doc.ents] != [(span.start, span.end) for span in spans]:
            doc.spans[_GROUP] = spans
        made.add(doc)
    file.write(made.to_bytes())


def _cut(text: str, labels: Sequence[Label]) -> _Words:
    """The text in words and what stands between them, cut where labels begin and end."""
    starts, ends = {label.start for label in labels}, {label.end for label in labels}
    cuts = starts | ends
    words: list[str] = []
    spaces: list[bool] = []
    for match in _PIECE.finditer(text):
        inner = [place for place in range(match.start() + 1, match.end()) if place in cuts]
        edges = [match.start(), *inner, match.end()]
        for begin, end in pairwise(edges):
            word = text[begin:end]
            inside = begin in starts or end in ends  # then the space belongs to a mention
            if word == " " and words and not inside and not spaces[-1] and not words[-1].isspace():
                spaces[-1] = True
            else:
                words.append(word)
                spaces.append(False)
    return _Words(words, spaces)


def _label(label: Label, document: Document) -> str:
    if any(not kind or "," in kind for kind in label.types) or label.types == (_UNTYPED,):
        raise _unfit(document, f"the types {label.types}")
    return ",".join(label.types) or _UNTYPED


def _kb_id(label: Label, document: Document) -> str:
    if label.entity == _NIL:
        raise _unfit(document, "an entity whose id is NIL")
    return "" if label.entity is UNLINKED else _NIL if label.entity is None else str(label.entity)


def _unfit(document: Document, what: str) -> UsageError:
    return UsageError(f"document {document.id!r} has {what}, which a DocBin cannot hold. Choose another format.")


def _spacy() -> tuple[Any, Any]:
    """spaCy's tokens and an empty vocabulary, by a late import: spaCy is large, and few need it."""
    try:
        return import_module("spacy.tokens"), import_module("spacy.vocab").Vocab()
    except ImportError:
        raise KaratError("DocBin files need spaCy. Run: pip install 'karat[spacy]'") from None


def _recognises(head: bytes) -> bool:
    """A zlib stream of a MessagePack map that begins as spaCy's does."""
    if not head.startswith(b"\x78"):
        return False
    try:
        start = zlib.decompressobj().decompress(head, 40)
    except zlib.error:
        return False
    return start[1:9] == b"\xa7version" and b"\xa5attrs" in start


FORMAT = Format(
    title="spaCy DocBin",
    suffix=".spacy",
    recognises=_recognises,
    holds_gold=lambda source: True,
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    holds=frozenset({"types", "meta"}),
    says="Documents with entities and their `kb_id_`, as spaCy stores them; needs the extra spacy.",
    either=True,
)
