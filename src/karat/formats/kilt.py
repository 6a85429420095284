"""KILT's JSONL for entity linking: each line is a text with one mention between `[START_ENT]` and `[END_ENT]`.

From KILT's public documentation; no file was at hand. The text is `input` without the two marks and the blanks inside
them. Several outputs are alternatives of the mention; one without answer and page is a span without link. The entity
is the answer, a Wikipedia title, and page ids stand in `same_as`. Whatever else a line says is kept in `meta`.

Answers have the same form: the first answer counts, and the pages of the provenance are its candidates. Where they
leave out `input`, as submissions may, nothing says where the mention stands: they are read as ranked tags, which task
c2kb compares.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import sound
from karat.model.document import UNLINKED, Answer, Candidate, Document, Label, Reply, Tag
from karat.model.run import Run
from karat.model.span import Span
from karat.parsing.distinct import distinct_id, labels_once
from karat.parsing.json.records import Record, first_object, others, records, shaped
from karat.spec.format import Bytes, Format, Sample

_START, _END = "[START_ENT]", "[END_ENT]"


class _Page(msgspec.Struct):
    wikipedia_id: str | int | None = None
    title: str | None = None
    score: float | None = None

    @property
    def name(self) -> str:
        return self.title or ("" if self.wikipedia_id is None else str(self.wikipedia_id))


class _Output(msgspec.Struct):
    answer: str | None = None
    provenance: list[_Page] | None = None

    @property
    def pages(self) -> list[_Page]:
        return [page for page in self.provenance or () if page.name]


class _Entry(msgspec.Struct):
    id: str | int
    input: str | None = None
    output: list[_Output] | None = None
    meta: dict[str, Any] | None = None


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents, one for each mention; the texts are always kept."""
    skipped: Counter[str] = Counter()
    taken: set[str] = set()
    documents, places = [], []
    for record, document in sound(records(source), lambda record: _document(record, taken, skipped)):
        documents.append(document)
        places.append(record.where)
    return Corpus.built(documents, name=source.stem, skipped=skipped, where=places.__getitem__)


def _document(record: Record, taken: set[str], skipped: Counter[str]) -> Document:
    entry = shaped(record.fields, _Entry, record.where)
    if entry.input is None:
        raise InputError(
            record.where, found="no `input`", expected="the text of the mention", remedy="Give gold, not answers"
        )
    text, span = _unmarked(entry.input, record.where)
    links = [(name, also) for name, also in map(_link, entry.output or ()) if name]
    unit = "mention" if len({name for name, _ in links}) > 1 else None
    labels = [Label(span.start, span.end, name, same_as=also, unit=unit) for name, also in links]
    skipped["mentions without an answer (read as spans without link)"] += not labels
    meta = others(record.fields, _Entry.__struct_fields__) | others(entry.meta or {}, ())
    found = labels_once(labels, skipped) or (Label(span.start, span.end),)
    return Document(distinct_id(str(entry.id), taken, skipped), text, found, meta=meta)


def _link(output: _Output) -> tuple[str, tuple[str, ...]]:
    """The entity that an output names, and the page ids of that entity."""
    pages = output.pages
    name = output.answer or (pages[0].name if pages else "")
    same = [page for page in pages if page.title == name] or (pages if len(pages) == 1 else [])
    ids = (str(page.wikipedia_id) for page in same if page.wikipedia_id not in (None, ""))
    return name, tuple(dict.fromkeys(one for one in ids if one != name))


def _unmarked(marked: str, where: str) -> tuple[str, Span]:
    """The text without its marks, and the span between them."""
    before, start, rest = marked.partition(_START)
    mention, end, after = rest.partition(_END)
    if not (start and end and mention.strip()) or _START in rest or _END in before + after:
        raise InputError(
            where,
            found=f"an `input` without one mention between {_START} and {_END}",
            expected="a line of AIDA CoNLL-YAGO, WNED or another entity linking set of KILT",
            remedy="Check that the file is of entity linking, not of another task of KILT",
        )
    bare = mention.removeprefix(" ").removesuffix(" ")
    return before + bare + after, Span(len(before), len(before) + len(bare))


def read_run(source: Bytes) -> Run:
    """A system's outputs, as answers where `input` says where the mention stands, else as tags."""
    skipped: Counter[str] = Counter()
    replies, places = [], []
    texts: list[str | None] = []
    for record, (reply, text) in sound(records(source), lambda record: _reply(record, skipped)):
        replies.append(reply)
        texts.append(text)
        places.append(record.where)
    return Run.built(replies, name=source.stem, skipped=skipped, where=places.__getitem__, texts=texts)


def _reply(record: Record, skipped: Counter[str]) -> tuple[Reply, str | None]:
    """What a system said about a mention, and the text around it if that is given."""
    entry = shaped(record.fields, _Entry, record.where)
    outputs = entry.output or []
    pages = [page for output in outputs for page in output.pages]
    answers = [output.answer for output in outputs if output.answer]
    name, also = _link(_Output(answers[0] if answers else None, pages))
    skipped["outputs without answer and page"] += not name
    skipped["answers after the first"] += max(len(answers) - 1, 0)
    if entry.input is None:
        ranked = dict.fromkeys([name, *(page.name for page in pages)]) if name else {}
        skipped["answers without `input` (read as tags)"] += bool(ranked)
        tags = [Tag(entity, also if rank == 1 else (), rank) for rank, entity in enumerate(ranked, 1)]
        return Reply(str(entry.id), tags=tuple(tags)), None
    text, span = _unmarked(entry.input, record.where)
    candidates = tuple(Candidate(page.name, page.score) for page in pages)
    score = next((page.score for page in pages if page.name == name), None)
    answer = Answer(span.start, span.end, name or UNLINKED, same_as=also, score=score, candidates=candidates)
    return Reply(str(entry.id), (answer,)), text


def _recognises(opening: bytes) -> bool:
    fields = first_object(opening)
    outputs, text = fields.get("output"), fields.get("input")
    if "id" not in fields or not (text is None or (isinstance(text, str) and _START in text)):
        return False
    if outputs is None:
        return text is not None  # the test sets are published without outputs
    known = {"answer", "provenance"}
    return isinstance(outputs, list) and all(isinstance(one, dict) and known & one.keys() for one in outputs)


def _holds_gold(source: Bytes) -> bool:
    """Gold has the text and names one page for each output; answers have none, or name several, or score them."""
    fields = first_object(source.opening)
    pages = [_listed(output.get("provenance")) for output in _listed(fields.get("output")) if isinstance(output, dict)]
    scored = any(isinstance(page, dict) and "score" in page for found in pages for page in found)
    return "input" in fields and not scored and all(len(found) <= 1 for found in pages)


def _listed(value: object) -> list[Any]:
    """A list; none where a defect, which the reader will name, stands in its place."""
    return value if isinstance(value, list) else []


FORMAT = Format(
    title="KILT JSONL",
    suffix=".kilt.jsonl",
    signs=('"input"', '"output"', "[START_ENT]", '"provenance"'),
    recognises=_recognises,
    holds_gold=_holds_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    says="Entity linking of KILT: one mention for each line, gold and answers.",
    sample=Sample(
        {
            "sample.jsonl": '{"id": "a", "input": "[START_ENT] Ada [END_ENT] met", "output": [{"answer": "Ada '
            'Lovelace", "provenance": [{"wikipedia_id": "974", "title": "Ada Lovelace"}]}]}\n',
        },
        documents=1,
        mentions=1,
        given="sample.jsonl",
    ),
)
