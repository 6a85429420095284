"""IITB: one XML file of all annotations, with the texts in the folder crawledDocs beside it.

Several people annotated the same texts, and each of their annotations is a mention of its own, with a unit named after
its annotator (`rahul:7`). An empty title says that a mention has no page: NIL. Titles stay as written. Offsets count
UTF-16 units. Documents are the texts with annotations; the others are counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import pass_over, sound
from karat.model.document import Document, Label
from karat.model.span import Span
from karat.parsing.numbers import offset
from karat.parsing.standoff import Texts, spans
from karat.parsing.xml import child, records, root
from karat.spec.format import Bytes, Format, Sample

_ANNOTATIONS = "CSAW_Annotations.xml"
_TEXTS = "crawledDocs"


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents in the order of their first annotation; the texts are always kept."""
    file = source.inside(_ANNOTATIONS) if source.folder else source
    texts = Texts(source.inside(_TEXTS) if source.folder else source.beside(_TEXTS))
    found: dict[str, list[Label]] = {}
    wrong: dict[str, InputError] = {}
    for element in records(file, "annotation"):
        name = child(element, "docName")
        where = f"{file.label}, document {name!r}"
        labels = found.setdefault(name, [])
        try:
            start = offset(child(element, "offset"), where, "offset")
            length = offset(child(element, "length"), where, "length")
        except InputError as problem:
            wrong.setdefault(name, problem)
            continue
        unit = f"{child(element, 'userId')}:{len(labels) + 1}"
        labels.append(Label(start, start + length, child(element, "wikiName") or None, unit=unit))
    for first in wrong.values():
        pass_over(first)
    right = [(name, labels) for name, labels in found.items() if name not in wrong]
    documents = [one for _, one in sound(right, lambda pair: _document(*pair, texts, file))]
    return Corpus.built(
        documents,
        name=source.stem,
        skipped={"texts without annotations": len(texts.names - found.keys())},
        where=lambda row: f"{file.label}, document {documents[row].id!r}",
    )


def _document(name: str, labels: list[Label], texts: Texts, file: Bytes) -> Document:
    text = texts.read(name, f"{file.label}, document {name!r}")
    span = spans(text)
    return Document(name, text, tuple(_moved(label, span(label.start, label.end - label.start)) for label in labels))


def _moved(label: Label, span: Span) -> Label:
    return Label(*span, label.entity, unit=label.unit)


def _recognises_folder(names: Sequence[str]) -> bool:
    return _ANNOTATIONS in names and any(name.startswith(f"{_TEXTS}/") for name in names)


FORMAT = Format(
    title="IITB XML",
    suffix=".xml",
    signs=("iitb.CSAW.entityAnnotations", "<annotation>", "<wikiName>"),
    recognises=lambda head: root(head) == "iitb.CSAW.entityAnnotations",
    holds_gold=lambda source: True,
    read_corpus=read_corpus,
    recognises_folder=_recognises_folder,
    says="CSAW_Annotations.xml with the texts in crawledDocs beside it; each annotation of each annotator is a label.",
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
