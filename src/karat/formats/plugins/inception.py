"""INCEpTION: UIMA CAS XMI or JSON with the layer Named Entity, one file per document and annotator. Needs `inception`.

Read are a single `.xmi` file with its `TypeSystem.xml` next to it, a JSON CAS file, a zip file of such files, as
INCEpTION exports a document or a project, and a folder of them. The feature `value` is the type and `identifier` the
link, unchanged (`http://www.wikidata.org/entity/Q42`). `NIL` is NIL and no identifier is unlinked: INCEpTION has no NIL
of its own. Annotations of other layers are counted and skipped.

In the export of a project, `annotation/DOCUMENT/ANNOTATOR` is the version of an annotator and `curation/DOCUMENT` the
adjudicated one; `exportedproject.json` says who finished a document. The title in the metadata is the id of the
document. Files that Karat writes have the same layout, but no `exportedproject.json`, so INCEpTION does not import them
as a project: import the `.xmi` files as documents. `source/DOCUMENT.xmi` then has the suggestions.

Files count offsets in UTF-16 units, and dkpro-cassis converts them. QIDs are written as IRIs of Wikidata. All other
fields travel in the feature `karat` of a named entity and in the type `karat.DocumentData`. INCEpTION keeps the feature
if the layer of the project has it (a string), and drops the type.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import IO, Any, Final, NamedTuple

import msgspec

from karat.formats.parsing.annotation_tools.archives import ZIP_MAGIC, read_members, write_members
from karat.formats.parsing.annotation_tools.cas_files import (
    CasDocument,
    CasEntity,
    check_spans,
    read_json_cas,
    read_xmi,
    write_json_cas,
    write_type_system,
    write_xmi,
)
from karat.formats.parsing.annotation_tools.custom_fields import (
    ShownMention,
    ToolView,
    pack_document,
    pack_response,
    restore_document,
    restore_response,
    show_entity,
)
from karat.formats.parsing.annotation_tools.selection import (
    count_missing_texts,
    select_gold,
    select_run,
    to_annotated_corpus,
    to_predicted_corpus,
)
from karat.formats.parsing.json.records import convert_value
from karat.formats.parsing.xml import get_root_name
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter, locate_positive
from karat.model.defects import map_valid
from karat.model.document import EntityId, Label, Prediction, Response
from karat.model.errors import InputError
from karat.model.json.decoder import JsonError, decode_json
from karat.model.run import Run
from karat.model.spec.annotations import (
    AnnotatedCorpus,
    AnnotatedDocument,
    AnnotatorVersion,
    NotedLabels,
    VersionStatus,
)
from karat.model.spec.format import ByteSource, Format

_TYPE_SYSTEM: Final = "TypeSystem.xml"
_WIKIDATA: Final = "http://www.wikidata.org/entity/"
_QID: Final = re.compile(r"Q[1-9][0-9]*")
_CURATOR: Final = "CURATION_USER"
_INITIAL: Final = "INITIAL_CAS"
_STATUSES: Final[Mapping[str, VersionStatus]] = {
    "FINISHED": "done",
    "IN_PROGRESS": "open",
    "NEW": "open",
    "IGNORE": "skipped",
    "LOCKED": "skipped",
}
"""Statuses of annotators' documents in INCEpTION."""
_SAFE_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+ -]{0,79}")


def _show_iri(entity: EntityId) -> str:
    """Return an entity as an identifier: the IRI of a QID, `NIL`, or an empty string if unlinked."""
    text = show_entity(entity)
    return _WIKIDATA + text if _QID.fullmatch(text) else text


_VIEW: Final = ToolView(show_entity=_show_iri, show_types=lambda types: tuple(filter(None, types))[:1])


class _Custom(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The custom fields of a document in one file."""

    id: str | None = None
    """Id of the document."""
    fields: dict[str, Any] = {}
    """Fields of the document."""
    system: str | None = None
    """Name of the system; None if the named entities are no predictions."""
    response: dict[str, Any] = {}
    """Fields of the response."""
    annotator: str | None = None
    """Name of the annotator, which need not be a valid file name."""
    status: VersionStatus = "done"
    """Whether the annotator finished the document."""
    reason: str = ""
    """Reason for skipping the document."""
    has_text: bool = True
    """Whether the text is known."""
    corpus: dict[str, Any] = {}
    """Name and metadata of the corpus, in the first document."""


class _EntityCustom(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The custom fields of a named entity."""

    fields: dict[str, Any] = {}
    """Fields of the label or prediction."""
    note: str = ""
    """Note of the annotator."""


class _Part(NamedTuple):
    """One file: a document with the labels of an annotator, the adjudicated labels, or predictions."""

    location: str
    folder: str
    name: str
    annotator: str
    cas: CasDocument
    custom: _Custom

    @property
    def id(self) -> str:
        """Id of the document."""
        return self.custom.id or self.cas.title or self.name


class _Files(NamedTuple):
    """The files of a source by path, and the label of the source; a single file may have its type system with it."""

    label: str
    contents: Mapping[str, bytes]
    is_single: bool = False

    def find_type_system(self, path: str) -> bytes | None:
        """Return the type system for a file: in its folder, or in the next one above it."""
        for folder in PurePosixPath(path).parents:
            if (content := self.contents.get(str(folder / _TYPE_SYSTEM))) is not None:
                return content
        return None


def read_annotations(source: ByteSource) -> AnnotatedCorpus:
    """Read the documents of a file or folder with the labels of all annotators."""
    skipped = SkipCounter()
    files = _load_files(source)
    statuses = _read_statuses(files)
    pairs = map_valid(_list_documents(files, skipped), lambda path: _read_part(files, path, skipped), str)
    by_document: dict[str, list[_Part]] = {}
    for _, part in pairs:
        by_document.setdefault(part.id, []).append(part)
    documents = [
        item
        for _, item in map_valid(
            by_document.values(),
            lambda parts: _build_document(parts, statuses, skipped),
            lambda parts: f"document {parts[0].id!r}",
        )
        if item is not None
    ]
    fields = next((p.custom.corpus for parts in by_document.values() for p in parts if p.custom.corpus), {})
    metadata = convert_value(fields.get("metadata", {}), dict[str, str], source.label)
    return AnnotatedCorpus(
        str(fields.get("name", source.stem)), tuple(documents), metadata, locate_positive(skipped, source.label)
    )


def _load_files(source: ByteSource) -> _Files:
    """Return the files of a folder, a zip file or a single file with the type system next to it."""
    if source.is_folder:
        names = [name for name in source.file_names if name.endswith((".xmi", ".xml", ".json", ".zip"))]
        contents: dict[str, bytes] = {}
        for name in names:
            data = source.get_child(name).read_bytes()
            if name.endswith(".zip"):
                members = read_members(data, source.get_child(name).label)
                contents |= {f"{name}/{member}": content for member, content in members.items()}
            else:
                contents[name] = data
        return _Files(source.label, contents)
    data = source.read_bytes()
    if data.startswith(ZIP_MAGIC):
        return _Files(source.label, read_members(data, source.label))
    name = PurePosixPath(source.path.replace("\\", "/")).name
    single = {name if name.endswith((".xmi", ".json")) else f"{name}.{'xmi' if _is_xml(data) else 'json'}": data}
    sibling = None if source.is_single_pass else source.get_sibling(_TYPE_SYSTEM)
    if sibling is not None and sibling.exists:
        single[_TYPE_SYSTEM] = sibling.read_bytes()
    return _Files(source.label, single, is_single=True)


def _is_xml(data: bytes) -> bool:
    """Return whether bytes begin like XML."""
    return data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")


def _list_documents(files: _Files, skipped: Counter[str]) -> Iterator[str]:
    """Yield the paths of the CAS files; initial versions and unread source files are counted in `skipped`."""
    for path, content in files.contents.items():
        pure = PurePosixPath(path)
        is_json = pure.suffix == ".json" and not pure.name.startswith(("exportedproject", "."))
        if pure.suffix != ".xmi" and not (is_json and b'"%FEATURE_STRUCTURES"' in content):
            continue
        if pure.stem == _INITIAL:
            skipped["initial versions of documents"] += 1
        else:
            yield path


def _read_part(files: _Files, path: str, skipped: Counter[str]) -> _Part:
    """Read one CAS file."""
    location = files.label if files.is_single else f"{files.label}: {path}"
    content = files.contents[path]
    cas = (
        read_xmi(content, files.find_type_system(path), location, skipped)
        if path.endswith(".xmi")
        else read_json_cas(content, location, skipped)
    )
    custom = _decode_custom(cas.custom, _Custom, location)
    if cas.text is None:
        raise InputError(
            location,
            actual="no text",
            expected="a document with a text",
            remedy="Export the document again",
        )
    check_spans(cas.entities, len(cas.text), location)
    parts = PurePosixPath(path).parts
    for folder in ("annotation", "curation", "source"):
        if folder in parts[:-1] and (len(parts) > parts.index(folder) + 2 or folder == "source"):
            index = parts.index(folder)
            name = parts[index + 1]
            annotator = "" if folder == "source" else PurePosixPath(parts[index + 2]).stem
            return _Part(location, folder, name, custom.annotator or annotator, cas, custom)
    return _Part(location, "", PurePosixPath(path).stem, "", cas, custom)


def _decode_custom(content: str, kind: type[Any], location: str) -> Any:  # noqa: ANN401
    """Return custom fields; raise `InputError` if they are damaged."""
    try:
        value = decode_json(content) if content else {}
    except JsonError as problem:
        raise InputError(
            location,
            actual=f"custom fields that are not valid JSON ({problem})",
            expected="the feature `karat` as Karat wrote it",
            remedy="Correct or empty the feature",
        ) from None
    return convert_value(value, kind, location)


def _read_statuses(files: _Files) -> dict[tuple[str, str], VersionStatus]:
    """Return the status of each annotator's document, by name of the document and annotator, from the project file."""
    statuses: dict[tuple[str, str], VersionStatus] = {}
    for path, content in files.contents.items():
        if not PurePosixPath(path).name.startswith("exportedproject"):
            continue
        try:
            project = decode_json(content)
            for entry in project.get("annotation_documents") or ():
                statuses[str(entry["name"]), str(entry["user"])] = _STATUSES.get(str(entry["state"]), "open")
        except (JsonError, AttributeError, KeyError, TypeError) as problem:
            raise InputError(
                f"{files.label}: {path}",
                actual=f"a project description that cannot be read ({type(problem).__name__}: {problem})",
                expected="exportedproject.json as INCEpTION writes it",
                remedy="Export the project again, or remove the file: all documents then count as finished",
            ) from None
    return statuses


def _build_document(
    parts: Sequence[_Part], statuses: Mapping[tuple[str, str], VersionStatus], skipped: Counter[str]
) -> AnnotatedDocument | None:
    """Return the document of its files; None if there is only a source file of INCEpTION.

    Raise `InputError` if the texts differ, or the adjudicated labels occur twice.
    """
    first = parts[0]
    text = first.cas.text or ""
    versions: dict[str, AnnotatorVersion] = {}
    gold: NotedLabels | None = None
    predictions: dict[str, Response] = {}
    is_ours = False
    for part in parts:
        if part.cas.text != text:
            raise InputError(
                part.location,
                actual=f"another text of {first.id!r} than in {first.location}",
                expected="the same text in all files of a document",
                remedy="Export the documents again, or rename one of them",
            )
        is_ours |= part.custom != _Custom()
        if part.custom.system is not None:
            items, _ = _read_mentions(part, Prediction, skipped)
            response = restore_response(first.id, tuple(items), part.custom.response, part.location)
            predictions[part.custom.system] = response
        elif part.folder == "source":
            skipped["named entities of source files"] += len(part.cas.entities)
        else:
            labels, notes = _read_mentions(part, Label, skipped)
            content = NotedLabels(tuple(labels), notes)
            if part.folder == "annotation":
                status = statuses.get((part.name, part.annotator), part.custom.status)
                versions[part.annotator] = AnnotatorVersion(part.annotator, content, status, part.custom.reason)
            elif gold is None:
                gold = content
            else:
                raise InputError(
                    part.location,
                    actual=f"the document {first.id!r} a second time",
                    expected="each document once",
                    remedy="Delete one of the two, or rename it",
                )
    if not (versions or predictions or is_ours) and gold is None:
        return None
    fields = next((part.custom.fields for part in parts if part.custom.fields), {})
    document = restore_document(first.id, text, fields, first.location)
    has_text = all(part.custom.has_text for part in parts)
    return AnnotatedDocument(document, tuple(versions.values()), gold, predictions, first.location, has_text)


def _read_mentions(
    part: _Part, kind: type[Label] | type[Prediction], skipped: Counter[str]
) -> tuple[list[Any], dict[int, str]]:
    """Return the labels or predictions of a file, and notes by index."""
    items: list[Any] = []
    notes: dict[int, str] = {}
    for entity in part.cas.entities:
        custom = _decode_custom(entity.custom, _EntityCustom, part.location)
        types = (entity.value,) if entity.value else ()
        mention = ShownMention(entity.begin, entity.end, entity.identifier, types)
        if custom.note:
            notes[len(items)] = custom.note
        items.append(_VIEW.restore(kind, mention, custom.fields, part.location, skipped))
    return items, notes


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, always with their texts (`text` is ignored)."""
    return select_gold(read_annotations(source))


def read_run(source: ByteSource) -> Run:
    """Read the predictions of the only system, or the labels of an annotator as predictions."""
    return select_run(read_annotations(source), source.label)


class _Writer(NamedTuple):
    """A writer of CAS files: the suffix, and the function that encodes a document of a given name."""

    suffix: str
    encode: Callable[[CasDocument, str], bytes]
    has_type_system: bool

    def list_files(self, annotated: AnnotatedCorpus) -> dict[str, bytes]:
        """Return the files of documents by path: flat for a gold standard or a run, else in the layout of a project."""
        is_flat = not any(item.versions for item in annotated.documents) and not any(
            item.gold is not None and item.predictions for item in annotated.documents
        )
        files = {_TYPE_SYSTEM: write_type_system()} if self.has_type_system else {}
        taken: set[str] = set()
        corpus = {"name": annotated.name, "metadata": dict(annotated.metadata)}
        for number, item in enumerate(annotated.documents, 1):
            name = _make_name(item.document.id, f"document-{number}", taken)
            parts = self._list_parts(item, name, is_flat=is_flat)
            for index, (path, custom, items, notes) in enumerate(parts):
                if not (number > 1 or index):
                    custom = msgspec.structs.replace(custom, corpus=corpus)
                files[path] = self._encode(item, custom, items, notes)
        return files

    def _list_parts(
        self, item: AnnotatedDocument, name: str, *, is_flat: bool
    ) -> Iterator[tuple[str, _Custom, Sequence[Label | Prediction], Mapping[int, str]]]:
        """Yield path, custom fields, labels or predictions, and notes of each file of a document."""
        base = _Custom(id=item.document.id, fields=pack_document(item.document), has_text=item.has_text)
        replace = msgspec.structs.replace
        for index, (system, response) in enumerate(item.predictions.items()):
            folder = "" if is_flat else "source/"
            custom = replace(base, system=system, response=pack_response(response))
            yield f"{folder}{name}{f'-{index}' * bool(index)}{self.suffix}", custom, response.predictions, {}
        if not (item.predictions or (is_flat and item.gold is not None)):
            yield f"source/{name}{self.suffix}", base, (), {}
        taken: set[str] = set()
        for number, version in enumerate(item.versions, 1):
            user = _make_name(version.annotator, f"annotator-{number}", taken)
            custom = replace(base, annotator=version.annotator, status=version.status, reason=version.reason)
            labels, notes = version.content.labels, version.content.notes
            yield f"annotation/{name}/{user}{self.suffix}", custom, labels, notes
        if item.gold is not None:
            path = f"{name}{self.suffix}" if is_flat else f"curation/{name}/{_CURATOR}{self.suffix}"
            yield path, base, item.gold.labels, item.gold.notes

    def _encode(
        self,
        item: AnnotatedDocument,
        custom: _Custom,
        items: Iterable[Label | Prediction],
        notes: Mapping[int, str],
    ) -> bytes:
        """Return the CAS of a document."""
        entities = []
        for index, mention in enumerate(items):
            fields = _EntityCustom(_VIEW.pack(mention), notes.get(index, ""))
            content = "" if fields == _EntityCustom() else msgspec.json.encode(fields).decode()
            value = next(iter(_VIEW.show_types(mention.types)), "")
            identifier = _VIEW.show_entity(mention.entity)
            entities.append(CasEntity(mention.start, mention.end, value, identifier, content))
        title = item.document.id
        cas = CasDocument(item.document.text, tuple(entities), title, msgspec.json.encode(custom).decode())
        return self.encode(cas, item.document.id)

    def write(self, annotated: AnnotatedCorpus, file: IO[bytes]) -> None:
        """Write a zip file."""
        write_members(self.list_files(annotated), file)

    def write_corpus(self, corpus: Corpus, file: IO[bytes]) -> None:
        """Write a gold standard as a zip file."""
        self.write(to_annotated_corpus(corpus), file)

    def write_run(self, run: Run, file: IO[bytes]) -> None:
        """Write predictions as a zip file."""
        self.write(to_predicted_corpus(run), file)

    def list_data_files(self, data: Corpus | Run) -> dict[str, bytes]:
        """Return the files of a folder, by name."""
        return self.list_files(to_annotated_corpus(data) if isinstance(data, Corpus) else to_predicted_corpus(data))


def _make_name(name: str, default: str, taken: set[str]) -> str:
    """Return a name as a file name, or `default` if it is no safe one or is taken; the result is taken then."""
    safe = name if _SAFE_NAME.fullmatch(name) and not name.endswith((".", " ")) else default
    while safe.casefold() in taken:
        safe = default if safe != default else f"{safe}-"
    taken.add(safe.casefold())
    return safe


def _recognises_xmi(head: bytes) -> bool:
    """Return whether the first bytes are an XMI file of UIMA, or a zip file with such files or of a project."""
    if head.startswith(ZIP_MAGIC):
        return any(mark in head for mark in (b".xmi", b"annotation/", b"exportedproject"))
    return get_root_name(head) == "xmi:XMI" and b"http:///uima" in head


def _recognises_json(head: bytes) -> bool:
    """Return whether the first bytes are a JSON CAS, or a zip file of JSON files only."""
    if head.startswith(ZIP_MAGIC):
        return re.search(rb"\.json(?!l)", head) is not None and not _recognises_xmi(head)
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{" and (
        b'"%TYPES"' in head or b'"%FEATURE_STRUCTURES"' in head
    )


def _holds_gold(source: ByteSource) -> bool:
    """Return whether there are labels of annotators, or no predictions that Karat wrote."""
    files = _load_files(source)
    if any({"annotation", "curation"} & set(PurePosixPath(path).parts) for path in files.contents):
        return True
    marks = (b"&quot;system&quot;:", b'\\"system\\":')
    return not any(mark in content for content in files.contents.values() for mark in marks)


_XMI: Final = _Writer(".xmi", write_xmi, True)
_JSON: Final = _Writer(".json", lambda document, name: write_json_cas(document), False)

FORMAT = Format(
    title="INCEpTION (UIMA CAS XMI)",
    suffix=".zip",
    markers=("xmi:XMI", "NamedEntity", "sofaString"),
    recognises=_recognises_xmi,
    recognises_folder=lambda names: any(name.endswith(".xmi") for name in names),
    has_gold=_holds_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    read_annotations=read_annotations,
    write_corpus=_XMI.write_corpus,
    write_run=_XMI.write_run,
    write_folder=_XMI.list_data_files,
    write_annotations=_XMI.write,
    write_annotation_folder=_XMI.list_files,
    count_losses=count_missing_texts,
    is_kind_ambiguous=True,
    description="Named entities with `value` and `identifier`, one file per document and annotator; needs the extra "
    "inception. What INCEpTION cannot show travels in custom features.",
)

TABLE = {
    "inception-json": msgspec.structs.replace(
        FORMAT,
        title="INCEpTION (UIMA CAS JSON 0.4.0)",
        markers=('"%TYPES"', '"%FEATURE_STRUCTURES"', '"%VIEWS"'),
        recognises=_recognises_json,
        recognises_folder=None,
        write_corpus=_JSON.write_corpus,
        write_run=_JSON.write_run,
        write_folder=_JSON.list_data_files,
        write_annotations=_JSON.write,
        write_annotation_folder=_JSON.list_files,
        description="Like inception, as JSON.",
    )
}
