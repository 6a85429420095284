"""Label Studio JSON: a list of tasks with a text, the annotations of each annotator, and predictions with scores.

Written from Label Studio's public description of its task format. A file has this layout, or is one such task; a folder
has it as `tasks.json`. The text is `data.text`, or the only string in `data`. A region of `labels` is a mention, and
its labels are the types. The entity id is in a control per region (`textarea`, `taxonomy`, or `choices` if its name
tells): the control `entity`, the only one whose name has `entity`, `wikidata`, `qid`, `kb`, `link`, `uri` or `iri`, or
the only control of text. `NIL` is NIL, and several ids are alternatives. Values of other controls become categories
(`control:value`). Notes are those of Label Studio (`meta.text`).

Each annotator (`completed_by`) is a version of the document. A cancelled annotation is a skipped document, and a draft
an open one. An annotation with `ground_truth` is the gold standard; otherwise the annotators must have the same labels.
Predictions are a run, with the scores of regions.

Offsets count code points, as Label Studio does since the end of 2021 (its issue 1008). Before, it counted UTF-16 units
(its issue 1347); the texts of regions show this, and it is counted. A line break of two characters counts as two.

All else travels in custom fields named `karat`, in `data` and in `meta` of regions. A folder is written with the
labelling configuration, to be pasted into Label Studio, so that ids can be edited.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import IO, Any, NamedTuple, TypeVar
from xml.sax.saxutils import quoteattr

import msgspec

from karat.formats.parsing.annotation_tools.custom_fields import (
    CUSTOM_FIELD,
    UNTYPED,
    ShownMention,
    ToolView,
    pack_document,
    pack_response,
    restore_document,
    restore_response,
)
from karat.formats.parsing.annotation_tools.selection import (
    count_missing_texts,
    select_gold,
    select_run,
    to_annotated_corpus,
    to_predicted_corpus,
)
from karat.formats.parsing.json.records import collect_other_fields, convert_value, parse_first_element, read_json
from karat.formats.parsing.offset_units import RawSpan, to_code_points
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter, locate_positive
from karat.model.defects import map_valid
from karat.model.document import Document, Label, Prediction, Response, Triple
from karat.model.errors import InputError
from karat.model.json.decoder import JsonError, decode_json
from karat.model.limits import get_limit, limit_error
from karat.model.run import Run
from karat.model.spec.annotations import (
    AnnotatedCorpus,
    AnnotatedDocument,
    AnnotatorVersion,
    NotedLabels,
    VersionStatus,
)
from karat.model.spec.format import ByteSource, Format

_T = TypeVar("_T", bound=Document | Response)

_ADJUDICATED = "adjudicated"
_TASKS, _CONFIG = "tasks.json", "config.xml"
_LABELS, _TEXT, _ENTITY = "label", "text", "entity"
_ENTITY_NAME = re.compile(r"entity|wikidata|qid|kb|link|uri|iri", re.IGNORECASE)
_VIEW = ToolView()
_OTHER_FIELDS = ("corpus", "has_text", "response")
"""Custom fields of a task besides those of its document."""
_HTML = "regions of HTML, audio or images (not read)"


class _Value(msgspec.Struct):
    """The value of a result: a span of text with the values of one control."""

    start: int | float | str | None = None
    end: int | float | str | None = None
    text: str | list[str] | None = None
    labels: list[str] = []
    choices: list[str | list[str]] = []
    taxonomy: list[list[str]] = []

    @property
    def surface(self) -> str | None:
        """The text of the region."""
        return self.text if isinstance(self.text, str) else None

    @property
    def control_values(self) -> list[str]:
        """The values of a control: texts, choices, or the last members of taxonomy paths."""
        texts = self.text if isinstance(self.text, list) else []
        paths = [*self.choices, *self.taxonomy]
        return [*texts, *(path if isinstance(path, str) else path[-1] for path in paths if path)]


class _Result(msgspec.Struct):
    """One result of an annotation: the values of a control for a region, or a relation."""

    id: str | int | None = None
    from_name: str = ""
    type: str = ""
    value: _Value = msgspec.field(default_factory=_Value)
    meta: dict[str, Any] | None = None
    score: float | None = None
    from_id: str | None = None
    to_id: str | None = None
    labels: list[str] | None = None


class _Annotation(msgspec.Struct):
    """The annotation of a task by one annotator, or a draft of it."""

    result: list[_Result] = []
    completed_by: int | str | dict[str, Any] | None = None
    user: int | str | dict[str, Any] | None = None
    was_cancelled: bool | None = False
    ground_truth: bool | None = False
    karat: dict[str, Any] = {}


class _Predictions(msgspec.Struct):
    """The predictions of one model for a task."""

    result: list[_Result] = []
    model_version: str | int | float | None = ""


class _Task(msgspec.Struct):
    """A document with its annotations and predictions; old versions call annotations completions."""

    data: dict[str, Any]
    id: str | int | None = None
    annotations: list[_Annotation] | None = None
    completions: list[_Annotation] | None = None
    drafts: list[_Annotation | int] | None = None
    predictions: list[_Predictions | int] | None = None

    @property
    def full_drafts(self) -> list[_Annotation]:
        """The drafts with content; some exports have only their numbers."""
        return [draft for draft in self.drafts or () if not isinstance(draft, int)]

    @property
    def full_predictions(self) -> list[_Predictions]:
        """The predictions with content; some exports have only their numbers."""
        return [prediction for prediction in self.predictions or () if not isinstance(prediction, int)]


class _Region(NamedTuple):
    """The results of one region."""

    id: str
    span: RawSpan
    results: list[_Result]


class _Mentions(NamedTuple):
    """The labels or predictions of an annotation, with notes and relations."""

    items: list[Any]
    notes: dict[int, str]
    relations: tuple[Triple, ...]


class _TaskReader(NamedTuple):
    """A reader of the tasks of one file, which counts what it drops or changes."""

    label: str
    entity_control: str | None
    skipped: Counter[str]

    def read(self, number: int, task: _Task) -> AnnotatedDocument:
        """Return the document of a task, which is the one with this number in the file."""
        location = f"{self.label}: {_name_task(number, task.id)}"
        custom = convert_value(task.data.get(CUSTOM_FIELD, {}), dict[str, Any], location)
        text_key = _find_text_key(task, custom, location)
        is_blank = text_key is None
        text = " " * _get_length(task, location) if text_key is None else task.data[text_key]
        other = collect_other_fields(task.data, (CUSTOM_FIELD, "document", text_key or ""))
        fields = {name: value for name, value in custom.items() if name not in _OTHER_FIELDS}
        if other:
            fields["meta"] = {**other, **convert_value(custom.get("meta", {}), dict[str, Any], location)}
        doc_id = str(task.data.get("document", number if task.id is None else task.id))
        document = restore_document(doc_id, text, fields, location)
        versions: dict[str, AnnotatorVersion] = {}
        gold = None
        for status, annotation in _list_annotations(task):
            mentions = self._read_mentions(annotation.result, text, Label, location)
            content = NotedLabels(tuple(mentions.items), mentions.notes)
            document = _add_relations(document, mentions.relations)
            name = _get_annotator(annotation)
            if annotation.ground_truth and status == "done":
                gold = content
            if name == _ADJUDICATED and annotation.ground_truth:
                continue
            self.skipped["earlier annotations of a document by the same annotator"] += name in versions
            reason = str(annotation.karat.get("reason", ""))
            versions[name] = AnnotatorVersion(name, content, status, reason)
        return AnnotatedDocument(
            document,
            tuple(versions.values()),
            gold,
            self._read_predictions(task, doc_id, text, custom, location),
            location,
            not is_blank,
        )

    def _read_predictions(
        self, task: _Task, doc_id: str, text: str, custom: Mapping[str, Any], location: str
    ) -> dict[str, Response]:
        """Return the predictions of each model."""
        responses: dict[str, Response] = {}
        n_numbers = len(task.predictions or ()) - len(task.full_predictions)
        self.skipped["predictions that the export names by number only"] += n_numbers
        for prediction in task.full_predictions:
            mentions = self._read_mentions(prediction.result, text, Prediction, location)
            name = str(prediction.model_version or "")
            self.skipped["earlier predictions for a document by the same model"] += name in responses
            fields = convert_value(custom.get("response", {}), dict[str, Any], location)
            response = restore_response(doc_id, tuple(mentions.items), fields, location)
            responses[name] = _add_relations(response, mentions.relations)
        return responses

    def _read_mentions(
        self, results: Sequence[_Result], text: str, kind: type[Label] | type[Prediction], location: str
    ) -> _Mentions:
        """Return the labels or predictions of an annotation, with notes by index, and its relations."""
        regions = list(_group_regions(results, location, self.skipped))
        spans = to_code_points(text, [region.span for region in regions], self.skipped)
        items: list[Label | Prediction] = []
        notes: dict[int, str] = {}
        entities: dict[str, str] = {}
        for region, (start, end) in zip(regions, spans, strict=True):
            ids = [id for result in region.results for id in self._get_entities(result)]
            types = tuple(dict.fromkeys(name for result in region.results for name in result.value.labels))
            meta = next((result.meta for result in region.results if result.meta), {})
            custom = self._add_categories(region, convert_value(meta.get(CUSTOM_FIELD, {}), dict[str, Any], location))
            scores = [result.score for result in region.results if result.score is not None]
            if kind is Prediction and scores:
                custom["score"] = scores[0]
            if kind is Label and len(ids) > 1:
                custom.setdefault("mention_id", region.id)
            note = "\n".join(_list_texts(meta.get("text")))
            for id in ids or [""]:
                if note:
                    notes[len(items)] = note
                mention = ShownMention(start, end, id, types)
                item = _VIEW.restore(kind, mention, custom, location, self.skipped)
                items.append(item)
                if isinstance(item.entity, str):
                    entities.setdefault(region.id, item.entity)
        return _Mentions(items, notes, self._read_relations(results, entities))

    def _get_entities(self, result: _Result) -> list[str]:
        """Return the entity ids of a result: the values of the control with ids."""
        if result.type == "labels" or result.from_name != self.entity_control:
            return []
        return [value.strip() for value in result.value.control_values if value.strip()]

    def _add_categories(self, region: _Region, custom: dict[str, Any]) -> dict[str, Any]:
        """Return custom fields with the values of controls other than labels and ids as categories."""
        categories = [
            f"{result.from_name}:{value}"
            for result in region.results
            if result.type != "labels" and result.from_name != self.entity_control
            for value in result.value.control_values
        ]
        if not categories:
            return custom
        return {**custom, "categories": list(dict.fromkeys((*custom.get("categories", ()), *categories)))}

    def _read_relations(self, results: Sequence[_Result], entities: Mapping[str, str]) -> tuple[Triple, ...]:
        """Return the relations between linked regions; other relations are dropped and counted."""
        triples = []
        relations = [result for result in results if result.type == "relation"]
        for result in relations:
            first, second = (entities.get(str(id)) for id in (result.from_id, result.to_id))
            for predicate in result.labels or ["relation"]:
                if first is not None and second is not None:
                    triples.append(Triple(first, predicate, second))
        n_read = sum(str(r.from_id) in entities and str(r.to_id) in entities for r in relations)
        self.skipped["relations that are not between two linked mentions"] += len(relations) - n_read
        return tuple(triples)


def _add_relations(document: _T, relations: Iterable[Triple]) -> _T:
    """Return a document or response with the relations that it does not have yet."""
    new = [triple for triple in dict.fromkeys(relations) if triple not in document.relations]
    return msgspec.structs.replace(document, relations=(*document.relations, *new))


def _find_text_key(task: _Task, custom: Mapping[str, Any], location: str) -> str | None:
    """Return the field with the text; None if Karat wrote the file without texts.

    Raise `InputError` if it is unclear.
    """
    if isinstance(task.data.get(_TEXT), str):
        return _TEXT
    if custom.get("has_text") is False:
        return None
    names = [name for name, value in task.data.items() if isinstance(value, str) and name != "document"]
    if len(names) != 1:
        raise InputError(
            location,
            actual=f"the fields {', '.join(task.data) or 'none'} in `data`",
            expected="the text as `data.text`",
            remedy="Rename the field with the text to `text`",
        )
    return names[0]


def _get_length(task: _Task, location: str) -> int:
    """Return the length of a blank text that holds all regions of a task; raise `InputError` if it is too long."""
    ends = [result.value.end for result in _list_results(task)]
    length = max((end for end in ends if isinstance(end, int)), default=0)
    if length > get_limit("blank"):
        raise limit_error("blank", location, f"an offset of {length:,} without a text", "Correct the offset")
    return length


def _list_results(task: _Task) -> list[_Result]:
    """Return the results of all annotations and predictions of a task."""
    groups = [annotation.result for _, annotation in _list_annotations(task)]
    groups += [prediction.result for prediction in task.full_predictions]
    return [result for results in groups for result in results]


def _list_annotations(task: _Task) -> Iterator[tuple[VersionStatus, _Annotation]]:
    """Yield the annotations of a task with their status; drafts of annotators who have no annotation come first."""
    annotations = [*(task.annotations or ()), *(task.completions or ())]
    names = {_get_annotator(annotation) for annotation in annotations}
    for draft in task.full_drafts:
        if _get_annotator(draft) not in names:
            yield "open", draft
    for annotation in annotations:
        yield "skipped" if annotation.was_cancelled else "done", annotation


def _get_annotator(annotation: _Annotation) -> str:
    """Return the name of the annotator: the address or id of the user."""
    user = annotation.user if annotation.completed_by is None else annotation.completed_by
    if isinstance(user, dict):
        user = next((user[key] for key in ("email", "username", "id") if user.get(key) is not None), None)
    return "annotator" if user is None else str(user)


def _group_regions(results: Sequence[_Result], location: str, skipped: Counter[str]) -> Iterator[_Region]:
    """Yield the regions of an annotation in their order; results without a span of text are counted in `skipped`."""
    groups: dict[str, list[_Result]] = {}
    for number, result in enumerate(results):
        if result.type != "relation":
            groups.setdefault(str(number) if result.id is None else str(result.id), []).append(result)
    for id, members in groups.items():
        where = f"{location}, region {id!r}"
        value = next((m.value for m in members if m.value.start is not None and m.value.end is not None), None)
        if value is None:
            skipped["results that are not about a mention"] += len(members)
            continue
        if not (_is_offset(value.start) and _is_offset(value.end)):
            skipped[_HTML] += 1
            continue
        surface = next((m.value.surface for m in members if m.value.surface is not None), None)
        yield _Region(id, RawSpan(int(value.start or 0), int(value.end or 0), surface, where), members)


def _is_offset(value: float | str | None) -> bool:
    """Return whether a value is an offset, and no path into HTML."""
    return isinstance(value, int) or (isinstance(value, str) and re.fullmatch(r"[0-9]{1,10}", value) is not None)


def _list_texts(value: object) -> list[str]:
    """Return the notes of a region."""
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _find_entity_control(tasks: Iterable[_Task], label: str) -> str | None:
    """Return the name of the control that has entity ids; None if there is none.

    Raise `InputError` about `label` if several controls could have them.
    """
    kinds: dict[str, set[str]] = {}
    for task in tasks:
        for result in _list_results(task):
            if result.type in ("textarea", "taxonomy", "choices") and result.value.start is not None:
                kinds.setdefault(result.from_name, set()).add(result.type)
    if _ENTITY in kinds:
        return _ENTITY
    named = [name for name in kinds if _ENTITY_NAME.search(name)]
    candidates = named or [name for name, types in kinds.items() if types != {"choices"}]
    if len(candidates) > 1:
        raise InputError(
            label,
            actual=f"several controls that could have entity ids ({', '.join(candidates)})",
            expected=f"ids in the control `{_ENTITY}`",
            remedy=f"Rename the control with the ids to `{_ENTITY}` in the labelling configuration and in the file",
        )
    return candidates[0] if candidates else None


def read_annotations(source: ByteSource) -> AnnotatedCorpus:
    """Read the documents of a file with the labels of all annotators and the predictions."""
    source = source.get_child(_TASKS) if source.is_folder else source
    content = read_json(source)
    values = convert_value([content] if isinstance(content, dict) else content, list[Any], source.label)
    pairs = map_valid(
        enumerate(values, 1),
        lambda pair: convert_value(pair[1], _Task, f"{source.label}: {_name_task(pair[0], _get_id(pair[1]))}"),
    )
    tasks = [(number, task) for (number, _), task in pairs]
    reader = _TaskReader(source.label, _find_entity_control((task for _, task in tasks), source.label), SkipCounter())
    documents = tuple(
        document
        for _, document in map_valid(
            tasks, lambda pair: reader.read(*pair), lambda pair: _name_task(pair[0], pair[1].id)
        )
    )
    name, metadata = _read_corpus_fields(tasks, source)
    return AnnotatedCorpus(name, documents, metadata, locate_positive(reader.skipped, source.label))


def _name_task(number: int, task_id: object) -> str:
    """Return how messages name a task: by its id, which Label Studio shows, or else by its number in the file."""
    return f"entry {number}, a task without id" if task_id is None else f"task {task_id}"


def _get_id(value: object) -> object:
    """Return the id of a task that may be invalid, or None."""
    return value.get("id") if isinstance(value, dict) else None


def _read_corpus_fields(tasks: Sequence[tuple[int, _Task]], source: ByteSource) -> tuple[str, dict[str, str]]:
    """Return name and metadata of the corpus or run, which the first task has; the name of the file otherwise."""
    for number, task in tasks:
        location = f"{source.label}: {_name_task(number, task.id)}"
        custom = convert_value(task.data.get(CUSTOM_FIELD, {}), dict[str, Any], location)
        if "corpus" in custom:
            fields = convert_value(custom["corpus"], dict[str, Any], location)
            metadata = convert_value(fields.get("metadata", {}), dict[str, str], location)
            return str(fields.get("name", source.stem)), metadata
    return source.stem, {}


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, always with their texts (`text` is ignored)."""
    return select_gold(read_annotations(source))


def read_run(source: ByteSource) -> Run:
    """Read the predictions of the only model, or the labels of an annotator as predictions."""
    return select_run(read_annotations(source), source.label)


def read_both(source: ByteSource) -> tuple[Corpus, Run]:
    """Read gold labels and predictions of one file."""
    annotated = read_annotations(source)
    return select_gold(annotated), select_run(annotated, source.label)


class _Content(NamedTuple):
    """Whether a file has finished annotations, and whether it has predictions."""

    has_labels: bool
    has_predictions: bool


def _inspect(source: ByteSource) -> _Content:
    """Return what a file contains, without reading its documents."""
    content = read_json(source.get_child(_TASKS) if source.is_folder else source)
    tasks = [task for task in (content if isinstance(content, list) else [content]) if isinstance(task, dict)]
    annotations = [entry for task in tasks for key in ("annotations", "completions") for entry in _get_list(task, key)]
    is_finished = any(isinstance(entry, dict) and not entry.get("was_cancelled") for entry in annotations)
    predictions = [entry for task in tasks for entry in _get_list(task, "predictions")]
    return _Content(is_finished, any(isinstance(entry, dict) for entry in predictions))


def _get_list(task: Mapping[str, Any], key: str) -> list[Any]:
    """Return the list in a field of a task; empty if it is no list."""
    value = task.get(key)
    return value if isinstance(value, list) else []


def _holds_gold(source: ByteSource) -> bool:
    """Return whether a file has annotations, or neither annotations nor predictions."""
    content = _inspect(source)
    return content.has_labels or not content.has_predictions


def write_annotations(annotated: AnnotatedCorpus, file: IO[bytes]) -> None:
    """Write one task per document and line."""
    file.write(b"[")
    for number, item in enumerate(annotated.documents):
        task = _format_task(item)
        if number == 0:
            fields = {"name": annotated.name, "metadata": dict(annotated.metadata)}
            task["data"][CUSTOM_FIELD] = {**task["data"].get(CUSTOM_FIELD, {}), "corpus": fields}
        file.write((b"," if number else b"") + b"\n" + msgspec.json.encode({"id": number + 1, **task}))
    file.write(b"\n]\n")


def _format_task(item: AnnotatedDocument) -> dict[str, Any]:
    """Return the task of a document."""
    document = item.document
    custom = pack_document(document)
    responses = list(item.predictions.values())
    if responses and (fields := pack_response(responses[0])):
        custom["response"] = fields
    if not item.has_text:
        custom["has_text"] = False
    data: dict[str, Any] = {"text": document.text} if item.has_text else {}
    data["document"] = document.id
    if custom:
        data[CUSTOM_FIELD] = custom
    annotations = [_format_version(version, document.text) for version in item.versions if version.status != "open"]
    if item.gold is not None:
        result = _format_results(item.gold.labels, item.gold.notes, document.text)
        annotations.append({"completed_by": {"email": _ADJUDICATED}, "ground_truth": True, "result": result})
    task: dict[str, Any] = {"data": data, "annotations": annotations}
    drafts = [_format_version(version, document.text) for version in item.versions if version.status == "open"]
    if drafts:
        task["drafts"] = drafts
    task["predictions"] = [
        {"model_version": name, "result": _format_results(response.predictions, {}, document.text)}
        for name, response in item.predictions.items()
    ]
    return task


def _format_version(version: AnnotatorVersion, text: str) -> dict[str, Any]:
    """Return the annotation, or the draft, of an annotator."""
    result = _format_results(version.content.labels, version.content.notes, text)
    user = {"email": version.annotator}
    if version.status == "open":
        return {"user": user, "result": result}
    annotation: dict[str, Any] = {"completed_by": user, "was_cancelled": version.status == "skipped", "result": result}
    return {**annotation, CUSTOM_FIELD: {"reason": version.reason}} if version.reason else annotation


def _format_results(items: Iterable[Label | Prediction], notes: Mapping[int, str], text: str) -> list[dict[str, Any]]:
    """Return the results of labels or predictions: one with the types, and one with the id if there is one."""
    results: list[dict[str, Any]] = []
    for index, item in enumerate(items):
        span = {"start": item.start, "end": item.end}
        region = {"id": f"r{index + 1}", "to_name": _TEXT}
        labels = list(_VIEW.show_types(item.types))
        value = {**span, "text": text[item.start : item.end], "labels": labels}
        result: dict[str, Any] = {**region, "from_name": _LABELS, "type": "labels", "value": value}
        custom = _VIEW.pack(item)
        if (score := custom.pop("score", None)) is not None:
            result["score"] = score
        meta: dict[str, Any] = {"text": [notes[index]]} if index in notes else {}
        meta |= {CUSTOM_FIELD: custom} if custom else {}
        results.append({**result, "meta": meta} if meta else result)
        entity = _VIEW.show_entity(item.entity)
        if entity:
            value = {**span, "text": [entity]}
            results.append({**region, "from_name": _ENTITY, "type": "textarea", "value": value})
    return results


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write the gold standard, with its labels as ground truth."""
    write_annotations(to_annotated_corpus(corpus), file)


def write_run(run: Run, file: IO[bytes]) -> None:
    """Write predictions, without texts if the run has none."""
    write_annotations(to_predicted_corpus(run), file)


def write_annotation_folder(annotated: AnnotatedCorpus) -> dict[str, bytes]:
    """Return the tasks and the labelling configuration, by file name."""
    stream = BytesIO()
    write_annotations(annotated, stream)
    types: dict[str, None] = {}
    for item in annotated.documents:
        groups = [version.content.labels for version in item.versions]
        groups += [] if item.gold is None else [item.gold.labels]
        names = [name for labels in groups for label in labels for name in label.types]
        names += [name for r in item.predictions.values() for p in r.predictions for name in p.types]
        types |= dict.fromkeys(names)
    return {_TASKS: stream.getvalue(), _CONFIG: build_config(types)}


def write_folder(data: Corpus | Run) -> dict[str, bytes]:
    """Return the files of a folder, by name."""
    annotated = to_annotated_corpus(data) if isinstance(data, Corpus) else to_predicted_corpus(data)
    return write_annotation_folder(annotated)


def build_config(types: Iterable[str]) -> bytes:
    """Return the labelling configuration for mentions of these types, with a text field for the id of each region."""
    labels = "".join(f"    <Label value={quoteattr(name)}/>\n" for name in sorted({UNTYPED, *types}))
    return (
        "<View>\n"
        "  <Style>.htx-text {white-space: pre-wrap}</Style>\n"
        f'  <Labels name="{_LABELS}" toName="{_TEXT}" choice="multiple">\n{labels}  </Labels>\n'
        f'  <Text name="{_TEXT}" value="$text" granularity="symbol"/>\n'
        f'  <TextArea name="{_ENTITY}" toName="{_TEXT}" perRegion="true" editable="true" maxSubmissions="1"'
        ' rows="1" placeholder="Entity id, or NIL"/>\n'
        "</View>\n"
    ).encode()


def _recognises(head: bytes) -> bool:
    """Return whether the first bytes are a list of tasks, or one task."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"{"):
        try:
            first = decode_json(start)
        except JsonError:
            return False
    else:
        first = parse_first_element(head)
    if isinstance(first, dict):
        lists = [first.get(name) for name in ("annotations", "completions", "predictions")]
        has_lists = any(isinstance(value, list) for value in lists)
        return isinstance(first.get("data"), dict) and (has_lists or first.keys() <= {"id", "data", "meta"})
    is_list = re.match(rb"\[\s*\{", start) is not None
    return is_list and b'"data"' in start and (b'"annotations"' in start or b'"from_name"' in start)


FORMAT = Format(
    title="Label Studio JSON",
    suffix=".json",
    markers=('"data"', '"annotations"', '"from_name"', '"completed_by"'),
    recognises=_recognises,
    has_gold=_holds_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    has_gold_and_predictions=lambda source: all(_inspect(source)),
    read_both=read_both,
    read_annotations=read_annotations,
    write_corpus=write_corpus,
    write_run=write_run,
    write_folder=write_folder,
    write_annotations=write_annotations,
    write_annotation_folder=write_annotation_folder,
    recognises_folder=lambda names: {_TASKS, _CONFIG} <= set(names),
    count_losses=count_missing_texts,
    is_kind_ambiguous=True,
    description="Tasks with the annotations of all annotators and predictions. Ids are in a text field per region; "
    "what Label Studio cannot show travels in custom fields.",
)
