"""ELEVANT's simple JSONL: a line per document, with `text` and `labels` (gold) or with `predictions` (answers).

References are kept as written: QIDs, titles, or addresses in Wikidata, Wikipedia or DBpedia. As ELEVANT has it, an
empty one, `NIL`, `<NIL>`, `<unk>`, `<UNK>`, `<unk_wid>` and one that ends in `/` are NIL, and so is one with
`/notInWiki/`, which is kept as the NIL cluster. Documents have no ids: they are numbered from 0, so that predictions
belong to the labels on the same line. Karat writes a field `id` where an id is another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from karat.errors import InputError, UsageError
from karat.model.corpus import Corpus
from karat.model.defects import pass_over
from karat.model.document import UNLINKED, Answer, Candidate, Document, EntityId, Label, Offset, Reply
from karat.model.marks import NOT_COREFERENCE
from karat.model.run import Run
from karat.parsing.elevant.articles import as_json, without_unknown
from karat.parsing.json.blocks import blocks, first_objects, nothing
from karat.parsing.json.records import others
from karat.parsing.losing import candidate_scores, kinds_but_coreference
from karat.parsing.repeats import apart
from karat.spec.format import Bytes, Format

_NIL = frozenset({"", "NIL", "<NIL>", "<unk_wid>", "<unk>", "<UNK>"})
_OUTSIDE = "/notInWiki/"
_OTHER = "other fields of the document"
_REPEATED = "labels given twice (each is a mention of its own)"


class _Label(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    start_char: Offset
    end_char: Offset
    entity_reference: str | UnsetType | None = UNSET
    coref: bool | None = None


class _Prediction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    start_char: Offset
    end_char: Offset
    entity_reference: str | UnsetType | None = UNSET
    candidates: tuple[str, ...] | None = ()


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    id: int | str | None = None
    title: str | None = None
    text: str | None = None
    labels: tuple[_Label, ...] | None = None
    predictions: tuple[_Prediction, ...] | None = None
    other: dict[str, str] = msgspec.field(name=_OTHER, default_factory=dict)


class _Placed(NamedTuple):
    """A line, the id of its document, and where it stands."""

    line: _Line
    id: str
    where: str


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    skipped: Counter[str] = Counter()
    documents: list[Document] = []
    places: list[str] = []
    for line, name, where in _lines(source, skipped):
        if line.text is None:
            pass_over(_missing(where, "text", "Give the file with the labels as gold, and this one as answers"))
            continue
        labels, repeated = apart(map(_gold, line.labels or ()))
        skipped[_REPEATED] += repeated
        title = {"title": line.title} if line.title else {}
        documents.append(Document(name, line.text, labels, meta=title | line.other))
        places.append(where)
    if not documents:
        raise nothing(source)
    return Corpus.built(documents, name=source.stem, skipped=skipped, where=places.__getitem__)


def read_run(source: Bytes) -> Run:
    """A linker's predictions."""
    skipped: Counter[str] = Counter()
    replies: list[Reply] = []
    texts: list[str | None] = []
    places: list[str] = []
    for line, name, where in _lines(source, skipped):
        if line.predictions is None:
            remedy = "Give every document a line, with an empty list where nothing was found"
            pass_over(_missing(where, "predictions", remedy))
            continue
        skipped.update(f"fields `{field}` of documents" for field in (*line.other, *(["title"] if line.title else [])))
        replies.append(Reply(name, tuple(map(_answer, line.predictions))))
        texts.append(line.text)
        places.append(where)
    if not replies:
        raise nothing(source)
    return Run.built(replies, name=source.stem, skipped=skipped, where=places.__getitem__, texts=texts)


def _lines(source: Bytes, skipped: Counter[str]) -> Iterator[_Placed]:
    def known(fields: dict[str, Any]) -> dict[str, Any]:
        without_unknown(fields, "labels", _Label, skipped)
        without_unknown(fields, "predictions", _Prediction, skipped)
        names = _Line.__struct_encode_fields__
        return {**{name: value for name, value in fields.items() if name in names}, _OTHER: others(fields, names)}

    for block in blocks(source, _Line, known):
        for line, place, number in zip(*block, strict=True):
            yield _Placed(line, str(number if line.id is None else line.id), f"{source.label}:{place}")


def _missing(where: str, field: str, remedy: str) -> InputError:
    return InputError(where, found=f"no field `{field}`", expected=f"the field `{field}`", remedy=remedy)


class _Link(NamedTuple):
    entity: EntityId
    cluster: str | None


def _link(reference: str | UnsetType | None) -> _Link:
    if isinstance(reference, UnsetType):
        return _Link(UNLINKED, None)
    if reference is None or reference in _NIL or reference.endswith("/"):
        return _Link(None, None)
    return _Link(None, reference) if _OUTSIDE in reference else _Link(reference, None)


def _gold(label: _Label) -> Label:
    entity, cluster = _link(label.entity_reference)
    return Label(
        label.start_char,
        label.end_char,
        entity,
        kind="coreference" if label.coref else None,
        categories=(NOT_COREFERENCE,) if label.coref is False else (),
        nil_cluster=cluster,
    )


def _answer(prediction: _Prediction) -> Answer:
    entity, cluster = _link(prediction.entity_reference)
    candidates = tuple(map(Candidate, prediction.candidates or ()))
    return Answer(prediction.start_char, prediction.end_char, entity, candidates=candidates, nil_cluster=cluster)


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """One line per document."""
    for number, document in enumerate(corpus):
        fields: dict[str, Any] = {} if document.id == str(number) else {"id": document.id}
        for name, value in document.meta.items():
            if name in _Line.__struct_encode_fields__ and name != "title":
                raise UsageError(f"document {document.id!r}: the name {name!r} in `meta` is taken. Rename it.")
            fields[name] = value if name == "title" else as_json(value)
        fields |= {"text": document.text, "labels": list(map(_written, document.labels))}
        file.write(msgspec.json.encode(fields) + b"\n")


def _written(label: Label) -> _Label:
    denied = False if NOT_COREFERENCE in label.categories else None
    return _Label(label.start, label.end, _reference(label), coref=True if label.kind == "coreference" else denied)


def write_run(run: Run, file: IO[bytes]) -> None:
    """One line per reply; ELEVANT expects them in the order of the benchmark."""
    for number, reply in enumerate(run):
        fields: dict[str, Any] = {} if reply.id == str(number) else {"id": reply.id}
        fields["predictions"] = [
            _Prediction(answer.start, answer.end, _reference(answer), tuple(c.entity for c in answer.candidates))
            for answer in reply.answers
        ]
        file.write(msgspec.json.encode(fields) + b"\n")


def _reference(item: Label | Answer) -> str | UnsetType:
    if item.entity is None:
        return item.nil_cluster if item.nil_cluster and _OUTSIDE in item.nil_cluster else "<NIL>"
    return item.entity


def _recognises(head: bytes) -> bool:
    found = first_objects(head)
    if not found or any("entity_mentions" in one or "karat" in one for one in found):
        return False
    name = "predictions" if "predictions" in found[0] else "labels"
    lists = [one.get(name) for one in found]
    entries = [entry for each in lists if isinstance(each, list) for entry in each]
    if entries:
        return all(isinstance(entry, dict) and {"start_char", "end_char"} <= entry.keys() for entry in entries)
    return isinstance(lists[0], list) and (name == "predictions" or ("text" in found[0] and "id" not in found[0]))


def _holds_gold(source: Bytes) -> bool:
    return all("predictions" not in one for one in first_objects(source.opening))


FORMAT = Format(
    title="ELEVANT simple JSONL",
    suffix=".simple.jsonl",
    signs=('"start_char"', '"end_char"', '"entity_reference"'),
    recognises=_recognises,
    holds_gold=_holds_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    write_run=write_run,
    holds=frozenset({"meta", "candidates", "kind"}),
    loses=lambda data: {**kinds_but_coreference(data), **candidate_scores(data)},
    says="Coreference labels are marked. Candidates are kept without their scores.",
)
