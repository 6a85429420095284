"""IITB: one XML file of all annotations, with the texts in the folder crawledDocs next to it.

Several people annotated the same texts. Each of their annotations is a separate mention, with a `mention_id` named
after its annotator (`rahul:7`). An empty title means that a mention has no page: NIL. Titles are unchanged. Offsets
count UTF-16 units. Documents are the texts with annotations; the others are counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from karat.formats.parsing.numbers import parse_offset
from karat.formats.parsing.text_folder import TextFolder, make_span_converter
from karat.formats.parsing.xml import get_child_text, get_root_name, read_elements
from karat.model.corpus import Corpus
from karat.model.defects import map_valid, skip_or_raise
from karat.model.document import Document, Label
from karat.model.errors import InputError
from karat.model.spec.format import ByteSource, Format, Sample

_ANNOTATIONS_FILE = "CSAW_Annotations.xml"
_TEXTS_FOLDER = "crawledDocs"


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents in the order of their first annotation, always with texts (`text` is ignored).

    The error policy decides whether a document with an invalid annotation or without text raises `InputError`, or is
    skipped and counted in `Defects`.
    """
    file = source.get_child(_ANNOTATIONS_FILE) if source.is_folder else source
    texts = TextFolder(source.get_child(_TEXTS_FOLDER) if source.is_folder else source.get_sibling(_TEXTS_FOLDER))
    labels_by_document: dict[str, list[Label]] = {}
    problems: dict[str, InputError] = {}
    for element in read_elements(file, "annotation"):
        doc_id = get_child_text(element, "docName")
        location = f"{file.label}, document {doc_id!r}"
        labels = labels_by_document.setdefault(doc_id, [])
        try:
            start = parse_offset(get_child_text(element, "offset"), location, "offset")
            length = parse_offset(get_child_text(element, "length"), location, "length")
        except InputError as problem:
            problems.setdefault(doc_id, problem)
            continue
        mention_id = f"{get_child_text(element, 'userId')}:{len(labels) + 1}"
        labels.append(Label(start, start + length, get_child_text(element, "wikiName") or None, mention_id=mention_id))
    for document_problem in problems.values():
        skip_or_raise(document_problem)
    valid = [(doc_id, labels) for doc_id, labels in labels_by_document.items() if doc_id not in problems]
    documents = [document for _, document in map_valid(valid, lambda pair: _to_document(*pair, texts, file))]
    return Corpus.from_reader(
        documents,
        name=source.stem,
        skipped={"texts without annotations": len(texts.names - labels_by_document.keys())},
        locate_row=lambda row: f"{file.label}, document {documents[row].id!r}",
    )


def _to_document(doc_id: str, labels: list[Label], texts: TextFolder, file: ByteSource) -> Document:
    """Build a document: read its text, and convert the labels' offsets from UTF-16 units to code points."""
    text = texts.read_text(doc_id, f"{file.label}, document {doc_id!r}")
    to_span = make_span_converter(text)
    moved = (
        Label(*to_span(label.start, label.end - label.start), label.entity, mention_id=label.mention_id)
        for label in labels
    )
    return Document(doc_id, text, tuple(moved))


def _recognises_folder(names: Sequence[str]) -> bool:
    """Return whether a folder with these files has the annotations and a folder of texts."""
    return _ANNOTATIONS_FILE in names and any(name.startswith(f"{_TEXTS_FOLDER}/") for name in names)


FORMAT = Format(
    title="IITB XML",
    suffix=".xml",
    markers=("iitb.CSAW.entityAnnotations", "<annotation>", "<wikiName>"),
    recognises=lambda head: get_root_name(head) == "iitb.CSAW.entityAnnotations",
    has_gold=lambda source: True,
    read_corpus=read_corpus,
    recognises_folder=_recognises_folder,
    description="CSAW_Annotations.xml with the texts in crawledDocs next to it; all annotators' labels count.",
    sample=Sample(
        {
            "CSAW_Annotations.xml": "<iitb.CSAW.entityAnnotations><annotation><docName>a</docName><userId>u</userId>"
            "<wikiName>Ada Lovelace</wikiName><offset>0</offset><length>3</length></annotation>"
            "</iitb.CSAW.entityAnnotations>",
            "crawledDocs/a": "Ada met",
        },
        documents=1,
        mentions=1,
    ),
)
