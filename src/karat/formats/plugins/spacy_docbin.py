"""spaCy's DocBin (`.spacy`): tokenised texts with the entities of `doc.ents`. Needs the extra `spacy`.

A mention is an entity. `kb_id_` is its link, unchanged; `NIL` (spaCy's own name) is NIL, and an empty one is unlinked.
`label_` is its type. Commas join several types, and `MENTION` stands for none, since spaCy requires a label. The id of
a document is `user_data["id"]` (or `doc_id`), its `meta` is `user_data["meta"]`. Score and candidates of a prediction
are the extension attributes `span._.karat_score` and `span._.karat_candidates`, which spaCy stores in the user data.

`doc.ents` cannot store overlapping mentions. A document with such mentions stores all its mentions in the span group
`karat`, and as many as possible in `doc.ents`. If there is such a group, it is read instead of `doc.ents`, and entities
that it does not have are counted. Tokens are words, split where mentions begin and end; they are not linguistic tokens.
Predictions without texts get texts of spaces, and `user_data["karat_has_text"]` is false.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from typing import IO, Any, Final, NamedTuple

from karat.formats.parsing.duplicates import merge_duplicate_labels
from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.counts.skip_counter import SkipCounter, locate_counts
from karat.model.document import UNLINKED, Candidate, Document, EntityId, Label, Prediction, Response
from karat.model.errors import InputError, KaratError, UsageError
from karat.model.limits import get_limit, limit_error
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format
from karat.model.spec.settings.nil_spellings import NIL_ID

SCORE_ATTRIBUTE: Final = "karat_score"
"""The extension attribute of a span with the score of its prediction."""

CANDIDATES_ATTRIBUTE: Final = "karat_candidates"
"""The extension attribute of a span with its candidates: pairs of an entity id and a score or None."""

SKIPPED_ATTRIBUTE: Final = "karat_skipped"
"""The extension attribute of a `Doc` with counts of what was changed or dropped, by description."""

UNTYPED: Final = "MENTION"
"""The label of a mention without a type."""

_SPAN_GROUP = "karat"
_HAS_TEXT = "karat_has_text"
_READ_ERRORS = (
    *(ValueError, LookupError, TypeError, AssertionError, AttributeError, ArithmeticError),
    *(zlib.error, MemoryError, RecursionError, ImportError),  # raised by spaCy for damaged files
)
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


class _TokenisedText(NamedTuple):
    """The tokens of a text, and whether a space follows each."""

    words: list[str]
    spaces: list[bool]


class DocContent(NamedTuple):
    """The content of a spaCy `Doc` that Karat reads."""

    id: str | None
    """The id in the user data, if any."""
    predictions: tuple[Prediction, ...]
    """The mentions, with score and candidates where the user data have them."""
    meta: dict[str, str]
    """The metadata in the user data."""
    has_text: bool
    """Whether the `Doc` has the text of its document, rather than spaces."""

    def to_labels(self, skipped: Counter[str]) -> list[Label]:
        """Return the mentions as gold labels; scores and candidates are dropped and counted in `skipped`."""
        skipped["scores and candidates of gold labels"] += sum(
            item.score is not None or bool(item.candidates) for item in self.predictions
        )
        return [Label(item.start, item.end, item.entity, types=item.types) for item in self.predictions]


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, always with their texts (`text` is ignored)."""
    skipped = SkipCounter()
    documents = []
    for doc_id, doc, content in _read_docs(source, skipped):
        with locate_counts(f"document {doc_id!r}"):
            labels = merge_duplicate_labels(content.to_labels(skipped), skipped)
        documents.append(Document(doc_id, doc.text, labels, meta=content.meta))
        skipped[NO_TEXT_NOTE] += not content.has_text
    return Corpus.from_reader(documents, name=source.stem, skipped=skipped)


def read_run(source: ByteSource) -> Run:
    """Read a system's predictions, which spaCy writes like gold labels."""
    skipped = SkipCounter()
    responses, texts = [], []
    for doc_id, doc, content in _read_docs(source, skipped):
        responses.append(Response(doc_id, content.predictions))
        texts.append(doc.text if content.has_text else None)
    return Run.from_reader(responses, name=source.stem, skipped=skipped, texts=texts)


def _read_docs(source: ByteSource, skipped: Counter[str]) -> Iterator[tuple[str, Any, DocContent]]:
    """Yield id, spaCy's `Doc` and content of each document; raise `InputError` if the file is damaged.

    Documents without id, which are numbered, and data that are not read are counted in `skipped`.
    """
    tokens, vocab = _import_spacy()
    data = source.read_bytes()
    try:
        docs = list(tokens.DocBin().from_bytes(data).get_docs(vocab))
        contents = [read_doc(doc, skipped) for doc in docs]
    except _READ_ERRORS as problem:
        raise InputError(
            source.label,
            actual=f"a DocBin that cannot be read ({type(problem).__name__}: {str(problem)[:80]})",
            expected="a complete file as DocBin.to_disk writes it",
            remedy="Write or fetch the file again",
        ) from None
    for number, (doc, content) in enumerate(zip(docs, contents, strict=True), 1):
        skipped["documents without an id (numbered)"] += content.id is None
        yield str(number) if content.id is None else content.id, doc, content


def read_doc(doc: Any, skipped: Counter[str], spans_key: str | None = None) -> DocContent:  # noqa: ANN401
    """Read id, mentions and `meta` of a spaCy `Doc`; all other data are dropped and counted in `skipped`.

    `spans_key` names the span group with the mentions; None reads the group `karat` if there is one, and else
    `doc.ents`.
    """
    user_data = dict(doc.user_data)
    doc_id = user_data.pop("id", user_data.pop("doc_id", None))
    has_text = user_data.pop(_HAS_TEXT, True) is not False
    user_data.pop(attribute_key(SKIPPED_ATTRIBUTE), None)
    meta = user_data.pop("meta", {})
    if not isinstance(meta, dict):
        user_data["meta"], meta = meta, {}
    group = spans_key or _SPAN_GROUP
    spans = doc.spans.get(group, () if spans_key else doc.ents)
    if spans_key is None:
        skipped[f"entities of doc.ents that the span group {_SPAN_GROUP} does not have (not read)"] += len(
            _get_contents(doc.ents) - _get_contents(spans)
        )
    predictions = tuple(_read_span(span, doc.user_data) for span in spans)
    for span in spans:
        user_data.pop(attribute_key(SCORE_ATTRIBUTE, span), None)
        user_data.pop(attribute_key(CANDIDATES_ATTRIBUTE, span), None)
    skipped["documents with further user data"] += bool(user_data)
    skipped["documents with categories"] += bool(doc.cats)
    for name in sorted(set(doc.spans) - {group}):
        skipped[f"span groups that are not read ({name[:40]}: load_run(docs, spans_key=…) reads it)"] += 1
    skipped["entities with an id in ent_id_, but not in kb_id_ (unlinked)"] += sum(
        bool(span.ent_id_) and not span.kb_id_ for span in spans
    )
    return DocContent(
        None if doc_id is None else str(doc_id), predictions, {str(k): str(v) for k, v in meta.items()}, has_text
    )


def _read_span(span: Any, user_data: dict[Any, Any]) -> Prediction:  # noqa: ANN401  # spaCy's types are not imported
    """Return a span as a prediction, with the score and candidates that the user data have for it."""
    score = user_data.get(attribute_key(SCORE_ATTRIBUTE, span))
    pairs = user_data.get(attribute_key(CANDIDATES_ATTRIBUTE, span)) or ()
    return Prediction(
        span.start_char,
        span.end_char,
        _get_entity(span),
        types=_get_types(span),
        score=None if score is None else float(score),
        candidates=tuple(Candidate(str(entity), None if s is None else float(s)) for entity, s in pairs),
    )


def _get_contents(spans: Iterable[Any]) -> set[tuple[int, int, str, str]]:
    """Return what Karat reads of each span: start, end, label and link."""
    return {(span.start_char, span.end_char, span.label_, span.kb_id_) for span in spans}


def attribute_key(attribute: str, span: Any = None) -> tuple[str, str, int | None, int | None]:  # noqa: ANN401
    """Return the key under which spaCy stores an extension attribute of a span, or of the `Doc`, in the user data."""
    return ("._.", attribute, None, None) if span is None else ("._.", attribute, span.start_char, span.end_char)


def to_candidate_pairs(candidates: Iterable[Candidate]) -> tuple[tuple[str, float | None], ...]:
    """Return candidates as the value of their extension attribute."""
    return tuple((candidate.entity, candidate.score) for candidate in candidates)


def _get_entity(span: Any) -> EntityId:  # noqa: ANN401  # spaCy's types are not imported
    """Return the link of a span: None for `NIL`, and `UNLINKED` if `kb_id_` is empty."""
    return UNLINKED if not span.kb_id_ else None if span.kb_id_ == NIL_ID else str(span.kb_id_)


def _get_types(span: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Return the types in the label of a span, separated by commas; empty for spaCy's placeholder."""
    return () if span.label_ == UNTYPED else tuple(filter(None, span.label_.split(",")))


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write all documents as one DocBin, built in memory; raise `UsageError` for types or ids that it cannot store."""
    writer = _DocWriter()
    for document in corpus:
        writer.add(document.id, document.text, document.labels, {"meta": document.meta} if document.meta else {})
    file.write(writer.to_bytes())


def write_run(run: Run, file: IO[bytes]) -> None:
    """Write all predictions as one DocBin, with the texts if the run has them, and spaces otherwise.

    The DocBin is built in memory. Raise `UsageError` for types, ids or spans that it cannot store, and `InputError` if
    the spaces are too many.
    """
    writer = _DocWriter()
    n_spaces = 0
    texts = [None] * len(run) if run.texts is None else run.texts.to_pylist()
    for response, text in zip(run, texts, strict=True):
        if text is None:
            length = max((prediction.end for prediction in response.predictions), default=0)
            n_spaces += length
            if n_spaces > get_limit("blank"):
                finding = f"offsets up to {length:,} in documents without texts"
                raise limit_error("blank", run.name, finding, "Correct the offsets, or pass the texts")
            writer.add(response.id, " " * length, response.predictions, {_HAS_TEXT: False})
        else:
            writer.add(response.id, text, response.predictions, {})
    file.write(writer.to_bytes())


class _DocWriter:
    """A DocBin to which documents are added one by one."""

    def __init__(self) -> None:
        self._tokens, self._vocab = _import_spacy()
        self._filter_spans = import_module("spacy.util").filter_spans
        self._doc_bin = self._tokens.DocBin(attrs=["ENT_IOB", "ENT_TYPE", "ENT_KB_ID"], store_user_data=True)

    def add(
        self, id: str, text: str, mentions: Sequence[Label] | Sequence[Prediction], user_data: dict[str, Any]
    ) -> None:
        """Add a document with its mentions; raise `UsageError` for values that a DocBin cannot store."""
        tokenised = _tokenise(text, mentions)
        doc = self._tokens.Doc(self._vocab, words=tokenised.words, spaces=tokenised.spaces)
        doc.user_data.update({"id": id, **user_data})
        spans = [_add_span(doc, mention, id) for mention in mentions]
        doc.ents = self._filter_spans(spans)
        if [(span.start, span.end) for span in doc.ents] != [(span.start, span.end) for span in spans]:
            doc.spans[_SPAN_GROUP] = spans
        _store_attributes(doc, mentions, spans)
        self._doc_bin.add(doc)

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        return bytes(self._doc_bin.to_bytes())


def _add_span(doc: Any, mention: Label | Prediction, doc_id: str) -> Any:  # noqa: ANN401
    """Return a mention as a span of `doc`; raise `UsageError` if a DocBin cannot store it."""
    if any(not kind or "," in kind for kind in mention.types) or mention.types == (UNTYPED,):
        raise _unsupported_value_error(doc_id, f"the types {mention.types}")
    if mention.entity == NIL_ID:
        raise _unsupported_value_error(doc_id, "an entity whose id is NIL")
    label = ",".join(mention.types) or UNTYPED
    span = doc.char_span(mention.start, mention.end, label=label, kb_id=format_entity(mention.entity))
    if span is None:
        raise _unsupported_value_error(doc_id, f"a mention at {mention.start}:{mention.end}, not within its text")
    return span


def _store_attributes(doc: Any, mentions: Sequence[Label | Prediction], spans: Sequence[Any]) -> None:  # noqa: ANN401
    """Store scores and candidates in the user data, except of predictions that share a span."""
    counts = Counter((mention.start, mention.end) for mention in mentions)
    for mention, span in zip(mentions, spans, strict=True):
        if isinstance(mention, Prediction) and counts[mention.start, mention.end] == 1:
            if mention.score is not None:
                doc.user_data[attribute_key(SCORE_ATTRIBUTE, span)] = mention.score
            if mention.candidates:
                doc.user_data[attribute_key(CANDIDATES_ATTRIBUTE, span)] = to_candidate_pairs(mention.candidates)


def _count_losses(data: Corpus | Run) -> dict[str, int]:
    """Count the predictions whose score and candidates are lost because another prediction has the same span."""
    if isinstance(data, Corpus):
        return {}
    n_lost = 0
    for response in data:
        counts = Counter((item.start, item.end) for item in response.predictions)
        n_lost += sum(
            counts[item.start, item.end] > 1 and (item.score is not None or bool(item.candidates))
            for item in response.predictions
        )
    return {"score and candidates of predictions that share a span": n_lost}


def _tokenise(text: str, labels: Sequence[Label] | Sequence[Prediction]) -> _TokenisedText:
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


def format_entity(entity: EntityId) -> str:
    """Return a link as spaCy's `kb_id`: `NIL` for NIL, and an empty string if unlinked."""
    return "" if entity is UNLINKED else NIL_ID if entity is None else str(entity)


def _unsupported_value_error(doc_id: str, value: str) -> UsageError:
    """Return, without raising, the error for a value that a DocBin cannot store."""
    return UsageError(f"document {doc_id!r} has {value}, which a DocBin cannot store. Choose another format.")


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
    import_packages=_import_spacy,
    recognises=_recognises,
    has_gold=lambda source: True,
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    write_run=write_run,
    stored_fields=frozenset({"types", "meta", "score", "candidates"}),
    count_losses=_count_losses,
    description="Documents with entities and their `kb_id_`, as spaCy stores them; needs the extra spacy.",
    is_kind_ambiguous=True,
)
