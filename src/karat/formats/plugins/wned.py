"""WNED XML, and the older XML of ACE2004, AQUAINT and MSNBC; the texts are separate files.

WNED has one XML file of all documents, with the texts in the folder RawText next to it. The older layout has a folder
Problems… with one XML file per text, and a folder RawTexts… next to it. The input is a folder in either layout, or one
XML file. Offsets count UTF-16 units.

Ids are unchanged: a title in WNED, a Wikipedia URL in the older layout. NIL is `NIL` or an empty title in WNED, and
`*null*` in the older layout.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from karat.formats.parsing.duplicates import separate_duplicate_labels
from karat.formats.parsing.numbers import parse_offset
from karat.formats.parsing.offset_units import RawSpan, place_surfaces
from karat.formats.parsing.text_folder import TextFolder, make_span_converter
from karat.formats.parsing.xml import get_child_text, get_root_name, read_elements
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import map_valid
from karat.model.document import UNLINKED, Document, EntityId, Label
from karat.model.errors import InputError
from karat.model.spec.format import ByteSource, Format, Sample
from karat.model.spec.settings.nil_spellings import NIL_ID

_XML_FILE = re.compile(r"[^/]+\.xml(\.gz|\.zst)?")
_PROBLEM_FILE = re.compile(r"((?:[^/]+/)?)Problems([^/]*)/[^/]+")
_TEXT_FILE = re.compile(r"((?:[^/]+/)?)(RawText[^/]*)/[^/]+")
_ELEMENTS = frozenset({"mention", "wikiName", "offset", "length"})
_NO_NAME = frozenset({"", "none", "---", "*null*"})
_OTHER_SURFACE = "labels whose surface form differs from the text at their span"


class _Annotation(NamedTuple):
    """An annotation: offset and length as written, in UTF-16 units, surface, entity and name."""

    offset: str
    length: str
    surface: str
    entity: EntityId
    name: str | None


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents in the order of the XML, always with their texts (`text` is ignored)."""
    skipped = SkipCounter()
    ids: list[str] = []

    def stream_documents() -> Iterator[Document]:  # a stream: the XML may be larger than memory
        for document in _read_documents(source, skipped):
            ids.append(document.id)
            yield document

    return Corpus.from_reader(
        stream_documents(),
        name=source.stem,
        skipped=skipped,
        locate_row=lambda row: f"{source.label}, document {ids[row]!r}",
    )


def _read_documents(source: ByteSource, skipped: Counter[str]) -> Iterator[Document]:
    """Yield the documents of a folder or file in either layout; texts without annotations are skipped and counted."""
    if source.is_folder:
        problems = _find_problem_folders(source.file_names)
        if problems:
            yield from _read_problems(source, problems, skipped)
        else:
            name = next(filter(_XML_FILE.fullmatch, source.file_names), None)
            yield from _read_single_file(
                source.get_child(name or "documents.xml"), source.get_child("RawText"), skipped
            )
    elif get_root_name(source.first_bytes) == "ReferenceProblem":
        texts = [name for name in source.get_parent_sibling("").folder_names if name.startswith("RawText")]
        yield _read_problem(
            source, TextFolder(source.get_parent_sibling(_choose_text_folder(texts, "", source))), skipped
        )
    else:
        yield from _read_single_file(source, source.get_sibling("RawText"), skipped)


# --- one XML file of all documents


def _read_single_file(source: ByteSource, folder: ByteSource, skipped: Counter[str]) -> Iterator[Document]:
    """Yield the documents of an XML file of all documents, with texts from `folder`.

    The error policy decides whether an invalid document raises `InputError`, or is skipped and counted in `Defects`.
    Unknown elements and unused texts are skipped and counted in `skipped`.
    """
    texts = TextFolder(folder)
    seen = set()

    def to_document(element: Element) -> Document:
        doc_id = element.get("docName", "")
        seen.add(doc_id)
        location = f"{source.label}, document {doc_id!r}"
        annotations = []
        for annotation in element.iter("annotation"):
            skipped["elements unknown to the format"] += sum(e.tag not in _ELEMENTS for e in annotation)
            title = get_child_text(annotation, "wikiName")
            entity = None if title in ("", NIL_ID) else title
            span = get_child_text(annotation, "offset"), get_child_text(annotation, "length")
            annotations.append(_Annotation(*span, annotation.findtext("mention") or "", entity, None))
        text = texts.read_text(doc_id, location)
        return Document(doc_id, text, _to_labels(annotations, text, location, skipped))

    for _, document in map_valid(
        read_elements(source, "document", has_documents=True),
        to_document,
        lambda element: f"document {element.get('docName')!r}",
    ):
        yield document
    skipped["texts that the XML does not mention"] += len(texts.names - seen)


# --- one XML file per text


def _find_problem_folders(names: Sequence[str]) -> dict[str, str]:
    """Return the folders of problems that have texts next to them, each with the part of its name after `Problems`."""
    matches = filter(None, map(_PROBLEM_FILE.fullmatch, names))
    return {f"{match[1]}Problems{match[2]}": match[2] for match in matches if any(_find_text_folders(names, match[1]))}


def _find_text_folders(names: Sequence[str], parent: str) -> Iterator[str]:
    """Yield the folder of each text file below a folder RawText… in `parent`, once per file."""
    matches = filter(None, map(_TEXT_FILE.fullmatch, names))
    return (f"{match[1]}{match[2]}" for match in matches if match[1] == parent)


def _choose_text_folder(folders: Sequence[str], suffix: str, source: ByteSource) -> str:
    """Return the text folder for a folder of problems: the only one, else UTF-8, else the one of the same suffix.

    Raise `InputError` if none of these is unique.
    """
    for candidates in (
        folders,
        [f for f in folders if f.endswith("_utf8")],
        [f for f in folders if f.endswith(f"s{suffix}")],
    ):
        if len(candidates) == 1:
            return candidates[0]
    raise InputError(
        source.label,
        actual=f"the folders {', '.join(folders)}" if folders else "no folder RawTexts next to the problems",
        expected="one folder RawTexts…",
        remedy="Put only the texts that the offsets refer to next to the problems",
    )


def _read_problems(source: ByteSource, folders: dict[str, str], skipped: Counter[str]) -> Iterator[Document]:
    """Yield the documents of a folder of problems; raise `InputError` if there are several such folders.

    `folders` are the folders with their suffixes. Texts without a problem are skipped and counted in `skipped`.
    """
    if len(folders) > 1:
        raise InputError(
            source.label,
            actual=f"the folders {', '.join(sorted(folders))}",
            expected="one folder Problems…",
            remedy="Pass the parent folder of one of them",
        )
    [(folder, suffix)] = folders.items()
    parent = folder[: folder.rindex("Problems")]
    texts = TextFolder(
        source.get_child(
            _choose_text_folder(sorted(set(_find_text_folders(source.file_names, parent))), suffix, source)
        )
    )
    seen = set()
    files = [source.get_child(name) for name in source.file_names if name.startswith(f"{folder}/")]
    for _, document in map_valid(files, lambda file: _read_problem(file, texts, skipped), lambda file: file.label):
        seen.add(document.id)
        yield document
    skipped["texts without a problem"] += len(texts.names - seen)


def _read_problem(source: ByteSource, texts: TextFolder, skipped: Counter[str]) -> Document:
    """Read the document of a problem: one XML file with the annotations of one text."""
    doc_id = ""
    annotations: list[_Annotation] = []
    annotators: set[str] = set()
    for element in read_elements(source, "ReferenceFileName", "ReferenceInstance"):
        if element.tag == "ReferenceFileName":
            doc_id = (element.text or "").strip()
            continue
        annotations.append(_to_annotation(element))
        annotators.update((annotator.text or "").strip() for annotator in element.iter("AnnotatorId"))
    text = texts.read_text(doc_id, source.label)
    labels = _to_labels(annotations, text, source.label, skipped)
    return Document(doc_id, text, labels, meta={"annotators": "; ".join(sorted(annotators))} if annotators else {})


def _to_annotation(element: Element) -> _Annotation:
    """Convert an `annotation` element of the older XML layout."""
    entity = get_child_text(element, "ChosenAnnotation")
    name = get_child_text(element, "Annotation")
    return _Annotation(
        get_child_text(element, "Offset"),
        get_child_text(element, "Length"),
        get_child_text(element, "SurfaceForm"),
        None if entity == "*null*" else entity or UNLINKED,
        None if name in _NO_NAME or name == entity else name,
    )


# --- both


def _to_labels(
    annotations: Sequence[_Annotation], text: str, location: str, skipped: Counter[str]
) -> tuple[Label, ...]:
    """Convert annotations of a text to labels in code points.

    Differing surfaces and duplicate labels are counted in `skipped`; all are kept. If the policy realigns spans, labels
    with differing surfaces are moved.
    """
    to_span = make_span_converter(text)
    spans = []
    for annotation in annotations:
        start, end = to_span(
            parse_offset(annotation.offset, location, "offset"), parse_offset(annotation.length, location, "length")
        )
        spans.append(RawSpan(start, end, annotation.surface or None, location))
    offsets = place_surfaces(text, [(span.start, span.end) for span in spans], spans, skipped, note=_OTHER_SURFACE)
    labels = [
        Label(start, end, annotation.entity, name=annotation.name)
        for (start, end), annotation in zip(offsets, annotations, strict=True)
    ]
    return separate_duplicate_labels(labels, skipped)


def _recognises(head: bytes) -> bool:
    """Return whether the outermost XML element is that of either layout."""
    name = get_root_name(head)
    return name == "ReferenceProblem" or name.endswith(".entityAnnotation")


def _recognises_folder(names: Sequence[str]) -> bool:
    """Return whether the files are problems with texts, or one XML file with the folder RawText."""
    if _find_problem_folders(names):
        return True
    return len([n for n in names if _XML_FILE.fullmatch(n)]) == 1 and any(n.startswith("RawText/") for n in names)


FORMAT = Format(
    title="WNED XML",
    suffix=".xml",
    markers=("ReferenceProblem", ".entityAnnotation", "<wikiName>"),
    recognises=_recognises,
    has_gold=lambda source: True,
    read_corpus=read_corpus,
    recognises_folder=_recognises_folder,
    description="One XML file with the texts in RawText next to it, or folders of problems and of texts.",
    sample=Sample(
        {
            "sample.xml": '<?xml version="1.0"?><sample.entityAnnotation><document docName="a"><annotation>'
            "<mention>Ada</mention><wikiName>Ada Lovelace</wikiName><offset>0</offset><length>"
            "3</length></annotation></document></sample.entityAnnotation>",
            "RawText/a": "Ada met",
        },
        documents=1,
        mentions=1,
    ),
)
