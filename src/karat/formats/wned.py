"""WNED XML, and the older XML of ACE2004, AQUAINT and MSNBC; the texts are files of their own.

WNED has one XML file of all documents, with the texts in the folder RawText beside it. The older layout has a folder
Problems… with one XML file per text, and a folder RawTexts… beside it. A folder in either layout can be given, or one
XML file. Offsets count UTF-16 units.

Ids stay as written: a title in WNED, an address of Wikipedia in the older layout. NIL is `NIL` or an empty title in
WNED, and `*null*` in the older layout.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import sound
from karat.model.document import UNLINKED, Document, EntityId, Label
from karat.parsing.numbers import offset
from karat.parsing.repeats import apart
from karat.parsing.standoff import Texts, spans
from karat.parsing.xml import child, records, root
from karat.spec.format import Bytes, Format, Sample

_XML = re.compile(r"[^/]+\.xml(\.gz|\.zst)?")
_PROBLEM = re.compile(r"((?:[^/]+/)?)Problems([^/]*)/[^/]+")
_TEXT = re.compile(r"((?:[^/]+/)?)(RawText[^/]*)/[^/]+")
_KNOWN = frozenset({"mention", "wikiName", "offset", "length"})
_NO_NAME = frozenset({"", "none", "---", "*null*"})


class _Mark(NamedTuple):
    """What one annotation says."""

    offset: str
    length: str
    surface: str
    entity: EntityId
    name: str | None


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents in the order of the XML; the texts are always kept."""
    skipped: Counter[str] = Counter()
    ids: list[str] = []

    def documents() -> Iterator[Document]:  # a stream: the XML may be larger than memory
        for document in _documents(source, skipped):
            ids.append(document.id)
            yield document

    return Corpus.built(
        documents(),
        name=source.stem,
        skipped=skipped,
        where=lambda row: f"{source.label}, document {ids[row]!r}",
    )


def _documents(source: Bytes, skipped: Counter[str]) -> Iterator[Document]:
    if source.folder:
        problems = _problem_folders(source.names)
        if problems:
            yield from _problems(source, problems, skipped)
        else:
            name = next(filter(_XML.fullmatch, source.names), None)
            yield from _listed(source.inside(name or "documents.xml"), source.inside("RawText"), skipped)
    elif root(source.opening) == "ReferenceProblem":
        texts = [name for name in source.above("").folders if name.startswith("RawText")]
        yield _problem(source, Texts(source.above(_chosen(texts, "", source))), skipped)
    else:
        yield from _listed(source, source.beside("RawText"), skipped)


# --- one XML file of all documents


def _listed(source: Bytes, folder: Bytes, skipped: Counter[str]) -> Iterator[Document]:
    texts = Texts(folder)
    seen = set()

    def read(element: Element) -> Document:
        name = element.get("docName", "")
        seen.add(name)
        where = f"{source.label}, document {name!r}"
        marks = []
        for annotation in element.iter("annotation"):
            skipped["elements that the format does not have"] += sum(e.tag not in _KNOWN for e in annotation)
            title = child(annotation, "wikiName")
            entity = None if title in ("", "NIL") else title
            place = child(annotation, "offset"), child(annotation, "length")
            marks.append(_Mark(*place, annotation.findtext("mention") or "", entity, None))
        return Document(name, text := texts.read(name, where), _labels(marks, text, where, skipped))

    for _, document in sound(records(source, "document", documents=True), read):
        yield document
    skipped["texts that the XML does not name"] += len(texts.names - seen)


# --- one XML file per text


def _problem_folders(names: Sequence[str]) -> dict[str, str]:
    """Folders of problems, from the folder given, with what follows `Problems` in their name."""
    found = filter(None, map(_PROBLEM.fullmatch, names))
    return {f"{match[1]}Problems{match[2]}": match[2] for match in found if any(_text_folders(names, match[1]))}


def _text_folders(names: Sequence[str], beside: str) -> Iterator[str]:
    found = filter(None, map(_TEXT.fullmatch, names))
    return (f"{match[1]}{match[2]}" for match in found if match[1] == beside)


def _chosen(folders: Sequence[str], ending: str, source: Bytes) -> str:
    """Which folder of texts belongs to a folder of problems: the only one, else UTF-8, else that of the same ending."""
    for fits in (
        folders,
        [f for f in folders if f.endswith("_utf8")],
        [f for f in folders if f.endswith(f"s{ending}")],
    ):
        if len(fits) == 1:
            return fits[0]
    raise InputError(
        source.label,
        found=f"the folders {', '.join(folders)}" if folders else "no folder RawTexts beside the problems",
        expected="one folder RawTexts…",
        remedy="Put only the texts that the offsets are of beside the problems",
    )


def _problems(source: Bytes, folders: dict[str, str], skipped: Counter[str]) -> Iterator[Document]:
    if len(folders) > 1:
        raise InputError(
            source.label,
            found=f"the folders {', '.join(sorted(folders))}",
            expected="one folder Problems…",
            remedy="Give the folder around one of them",
        )
    [(folder, ending)] = folders.items()
    beside = folder[: folder.rindex("Problems")]
    texts = Texts(source.inside(_chosen(sorted(set(_text_folders(source.names, beside))), ending, source)))
    seen = set()
    files = [source.inside(name) for name in source.names if name.startswith(f"{folder}/")]
    for _, document in sound(files, lambda file: _problem(file, texts, skipped)):
        seen.add(document.id)
        yield document
    skipped["texts without a problem"] += len(texts.names - seen)


def _problem(source: Bytes, texts: Texts, skipped: Counter[str]) -> Document:
    name = ""
    marks: list[_Mark] = []
    annotators: set[str] = set()
    for element in records(source, "ReferenceFileName", "ReferenceInstance"):
        if element.tag == "ReferenceFileName":
            name = (element.text or "").strip()
            continue
        marks.append(_reference(element))
        annotators.update((found.text or "").strip() for found in element.iter("AnnotatorId"))
    text = texts.read(name, source.label)
    labels = _labels(marks, text, source.label, skipped)
    return Document(name, text, labels, meta={"annotators": "; ".join(sorted(annotators))} if annotators else {})


def _reference(element: Element) -> _Mark:
    chosen = child(element, "ChosenAnnotation")
    name = child(element, "Annotation")
    return _Mark(
        child(element, "Offset"),
        child(element, "Length"),
        child(element, "SurfaceForm"),
        None if chosen == "*null*" else chosen or UNLINKED,
        None if name in _NO_NAME or name == chosen else name,
    )


# --- both


def _labels(marks: Sequence[_Mark], text: str, where: str, skipped: Counter[str]) -> tuple[Label, ...]:
    span = spans(text)
    labels = []
    for mark in marks:
        start, end = span(offset(mark.offset, where, "offset"), offset(mark.length, where, "length"))
        labels.append(Label(start, end, mark.entity, name=mark.name))
        differs = bool(mark.surface) and mark.surface != text[start:end]
        skipped["labels whose surface form is not the text at their place"] += differs
    kept, repeated = apart(labels)
    skipped["labels given twice (both kept)"] += repeated
    return kept


def _recognises(head: bytes) -> bool:
    name = root(head)
    return name == "ReferenceProblem" or name.endswith(".entityAnnotation")


def _recognises_folder(names: Sequence[str]) -> bool:
    if _problem_folders(names):
        return True
    return len([n for n in names if _XML.fullmatch(n)]) == 1 and any(n.startswith("RawText/") for n in names)


FORMAT = Format(
    title="WNED XML",
    suffix=".xml",
    signs=("ReferenceProblem", ".entityAnnotation", "<wikiName>"),
    recognises=_recognises,
    holds_gold=lambda source: True,
    read_corpus=read_corpus,
    recognises_folder=_recognises_folder,
    says="One XML file with the texts in RawText beside it, or a folder of problems beside a folder of texts.",
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
