"""spaCy's DocBin (`.spacy`): tokenised texts with the entities of `doc.ents`. Needs the extra `spacy`.

A mention is an entity. `kb_id_` is its link, unchanged; `NIL` (spaCy's own name) is NIL, and an empty one is unlinked.
`label_` is its type. Commas join several types, and `MENTION` stands for none, since spaCy requires a label. The id of
a document is `user_data["id"]` (or `doc_id`), its `meta` is `user_data["meta"]`.

`doc.ents` cannot store overlapping mentions. A document with such mentions stores all its mentions in the span group
`karat`, and as many as possible in `doc.ents`. If there is such a group, it is read instead of `doc.ents`. Tokens are
words, split where mentions begin and end; they are not linguistic tokens.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from typing import IO, Any, NamedTuple

from karat.formats.parsing.conversion import to_predictions
from karat.formats.parsing.duplicates import merge_duplicate_labels
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Document, EntityId, Label, Response
from karat.model.errors import InputError, KaratError, UsageError
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format
from karat.model.spec.settings.nil_spellings import NIL_ID

_SPAN_GROUP = "karat"
_UNTYPED = "MENTION"
_READ_ERRORS = (
    *(ValueError, LookupError, TypeError, AssertionError, AttributeError, ArithmeticError),
    *(zlib.error, MemoryError, RecursionError, ImportError),  # raised by spaCy for damaged files
)
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


class _TokenisedText(NamedTuple):
    """The tokens of a text, and whether a space follows each."""

    words: list[str]
    spaces: list[bool]


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, always with their texts (`text` is ignored)."""
    skipped: Counter[str] = Counter()
    documents = [
        Document(name, doc.text, merge_duplicate_labels(labels, skipped), meta=meta)
        for doc, name, labels, meta in _read_docs(source, skipped)
    ]
    return Corpus.from_reader(documents, name=source.stem, skipped=skipped)


def read_run(source: ByteSource) -> Run:
    """Read a system's predictions, which spaCy writes like gold labels."""
    skipped: Counter[str] = Counter()
    pairs = [(doc.text, Response(name, to_predictions(labels))) for doc, name, labels, _ in _read_docs(source, skipped)]
    responses, texts = [response for _, response in pairs], [text for text, _ in pairs]
    return Run.from_reader(responses, name=source.stem, skipped=skipped, texts=texts)


def _read_docs(source: ByteSource, skipped: Counter[str]) -> Iterator[tuple[Any, str, list[Label], dict[str, str]]]:
    """Yield spaCy's `Doc`, id, labels and `meta` of each document; raise `InputError` if the file is damaged."""
    tokens, vocab = _import_spacy()
    data = source.read_bytes()
    try:
        docs = list(tokens.DocBin().from_bytes(data).get_docs(vocab))
        yield from [_convert_doc(number, doc, skipped) for number, doc in enumerate(docs, 1)]
    except _READ_ERRORS as problem:
        raise InputError(
            source.label,
            actual=f"a DocBin that cannot be read ({type(problem).__name__}: {str(problem)[:80]})",
            expected="a complete file as DocBin.to_disk writes it",
            remedy="Write or fetch the file again",
        ) from None


def _convert_doc(number: int, doc: Any, skipped: Counter[str]) -> tuple[Any, str, list[Label], dict[str, str]]:  # noqa: ANN401
    """Return the `Doc`, its id or else `number`, its labels and its `meta`.

    Numbered documents, which are kept, and data that are not read are counted in `skipped`.
    """
    doc_id, labels, meta = read_doc(doc, skipped)
    skipped["documents without an id (numbered)"] += doc_id is None
    return doc, str(number) if doc_id is None else doc_id, labels, meta


def read_doc(doc: Any, skipped: Counter[str]) -> tuple[str | None, list[Label], dict[str, str]]:  # noqa: ANN401
    """Return the id of a spaCy `Doc` or None, its mentions as labels, and its `meta`.

    All other data are dropped and counted in `skipped`.
    """
    user_data = dict(doc.user_data)
    doc_id = user_data.pop("id", user_data.pop("doc_id", None))
    meta = user_data.pop("meta", {})
    if not isinstance(meta, dict):
        user_data["meta"], meta = meta, {}
    skipped["documents with further user data"] += bool(user_data)
    skipped["documents with categories"] += bool(doc.cats)
    skipped["span groups that are not read"] += len(set(doc.spans) - {_SPAN_GROUP})
    spans = doc.spans.get(_SPAN_GROUP, doc.ents)
    labels = [Label(span.start_char, span.end_char, _get_entity(span), types=_get_types(span)) for span in spans]
    return None if doc_id is None else str(doc_id), labels, {str(k): str(v) for k, v in meta.items()}


def _get_entity(span: Any) -> EntityId:  # noqa: ANN401  # spaCy's types are not imported
    """Return the link of a span: None for `NIL`, and `UNLINKED` if `kb_id_` is empty."""
    return UNLINKED if not span.kb_id_ else None if span.kb_id_ == NIL_ID else str(span.kb_id_)


def _get_types(span: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Return the types in the label of a span, separated by commas; empty for spaCy's placeholder."""
    return () if span.label_ == _UNTYPED else tuple(filter(None, span.label_.split(",")))


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write all documents as one DocBin, built in memory; raise `UsageError` for types or ids that it cannot store."""
    tokens, vocab = _import_spacy()
    doc_bin = tokens.DocBin(attrs=["ENT_IOB", "ENT_TYPE", "ENT_KB_ID"], store_user_data=True)
    for document in corpus:
        tokenised = _tokenise(document.text, document.labels)
        doc = tokens.Doc(vocab, words=tokenised.words, spaces=tokenised.spaces)
        doc.user_data.update({"id": document.id, **({"meta": document.meta} if document.meta else {})})
        spans = [
            doc.char_span(
                label.start, label.end, label=_format_label(label, document), kb_id=_format_kb_id(label, document)
            )
            for label in document.labels
        ]
        doc.ents = import_module("spacy.util").filter_spans(spans)
        if [(span.start, span.end) for span in doc.ents] != [(span.start, span.end) for span in spans]:
            doc.spans[_SPAN_GROUP] = spans
        doc_bin.add(doc)
    file.write(doc_bin.to_bytes())


def _tokenise(text: str, labels: Sequence[Label]) -> _TokenisedText:
    """Split a text into words, white space and other characters, also where labels begin and end."""
    starts, ends = {label.start for label in labels}, {label.end for label in labels}
    cuts = starts | ends
    words: list[str] = []
    spaces: list[bool] = []
    for match in _WORD.finditer(text):
        inner = [offset for offset in range(match.start() + 1, match.end()) if offset in cuts]
        edges = [match.start(), *inner, match.end()]
        for start, end in pairwise(edges):
            word = text[start:end]
            belongs_to_mention = start in starts or end in ends  # such a space must be a token
            if word == " " and words and not belongs_to_mention and not spaces[-1] and not words[-1].isspace():
                spaces[-1] = True
            else:
                words.append(word)
                spaces.append(False)
    return _TokenisedText(words, spaces)


def _format_label(label: Label, document: Document) -> str:
    """Return the types of a label, joined by commas, as spaCy's label; raise `UsageError` if they would be misread."""
    if any(not kind or "," in kind for kind in label.types) or label.types == (_UNTYPED,):
        raise _unsupported_value_error(document, f"the types {label.types}")
    return ",".join(label.types) or _UNTYPED


def _format_kb_id(label: Label, document: Document) -> str:
    """Return the link of a label as spaCy's `kb_id`; raise `UsageError` for an entity named NIL."""
    if label.entity == NIL_ID:
        raise _unsupported_value_error(document, "an entity whose id is NIL")
    return "" if label.entity is UNLINKED else NIL_ID if label.entity is None else str(label.entity)


def _unsupported_value_error(document: Document, value: str) -> UsageError:
    """Return, without raising, the error for a value that a DocBin cannot store."""
    return UsageError(f"document {document.id!r} has {value}, which a DocBin cannot store. Choose another format.")


def _import_spacy() -> tuple[Any, Any]:
    """Return spaCy's tokens module and an empty vocabulary, imported late since spaCy is large.

    Raise `KaratError` if spaCy is not installed.
    """
    try:
        return import_module("spacy.tokens"), import_module("spacy.vocab").Vocab()
    except ImportError:
        raise KaratError("DocBin files need spaCy. Run: pip install 'karat[spacy]'") from None


def _recognises(head: bytes) -> bool:
    """Return whether the first bytes are a zlib stream that begins like spaCy's DocBin."""
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
    has_gold=lambda source: True,
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    stored_fields=frozenset({"types", "meta"}),
    description="Documents with entities and their `kb_id_`, as spaCy stores them; needs the extra spacy.",
    is_kind_ambiguous=True,
)
