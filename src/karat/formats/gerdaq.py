"""GERDAQ: queries with marked mentions, `<instance>text <annotation rank_0_id="7" …>mention</annotation></instance>`.

The ranked entities of a mention (`rank_0`, `rank_1`, …) are its alternatives in that order; BAT takes only the first
(step `first`). Ids are those of Wikipedia's pages, or titles where there is no id. Scores, and the candidates that
annotators refused (`bad_0`, …), are kept in `meta`. Documents are numbered from 1, since queries have no ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Document, Label
from karat.parsing.xml import records, root
from karat.spec.format import Bytes, Format, Sample


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold queries; the texts are always kept."""
    skipped: Counter[str] = Counter()
    instances = enumerate(records(source, "instance", documents=True), 1)
    documents = (_document(str(number), instance, skipped) for number, instance in instances)
    return Corpus.built(
        documents, name=source.stem, skipped=skipped, where=lambda row: f"{source.label}, instance {row + 1}"
    )


def _document(name: str, instance: Element, skipped: Counter[str]) -> Document:
    text = instance.text or ""
    labels: list[Label] = []
    meta: dict[str, str] = {}
    for place, element in enumerate(instance, 1):
        start = len(text)
        text += "".join(element.itertext())
        if element.tag == "annotation":
            found = list(_labels(element, start, len(text), str(place)))
            once = {label.entity: label for label in reversed(found)}
            skipped["entities given twice for a mention (one kept)"] += len(found) - len(once)
            labels.extend(reversed(once.values()))
            meta |= _judged(element, f"{start}-{len(text)}")
        else:
            skipped["elements that the format does not have"] += 1
        text += element.tail or ""
    return Document(name, text, tuple(labels), meta=meta)


def _ranked(element: Element, kind: str) -> Iterator[tuple[str, str, str]]:
    """Id (or title), score and title of the entities of a kind, `rank` or `bad`."""
    rank = 0
    while (title := element.get(f"{kind}_{rank}_title")) is not None or f"{kind}_{rank}_id" in element.attrib:
        name = element.get(f"{kind}_{rank}_id") or title or ""
        yield name, element.get(f"{kind}_{rank}_score", ""), title or ""
        rank += 1


def _labels(element: Element, start: int, end: int, unit: str) -> Iterator[Label]:
    ranked = list(_ranked(element, "rank"))
    for name, _, title in ranked:
        yield Label(start, end, name, name=title or None, unit=unit if len(ranked) > 1 else None)
    if not ranked:
        yield Label(start, end, UNLINKED)


def _judged(element: Element, place: str) -> dict[str, str]:
    scores = {f"score of {place} {name}": score for name, score, _ in _ranked(element, "rank") if score}
    refused = {
        f"refused for {place} {name}": f"{score} {title}".strip() for name, score, title in _ranked(element, "bad")
    }
    return scores | refused


FORMAT = Format(
    title="GERDAQ XML",
    suffix=".xml",
    signs=("<annotation ", "rank_0_id"),
    recognises=lambda head: root(head) == "dataset" and b"<instance" in head and b"rank_0_" in head,
    holds_gold=lambda source: True,
    read_corpus=read_corpus,
    says="Queries with marked mentions; the ranked entities of a mention are its alternatives.",
    sample=Sample(
        {
            "sample.xml": '<dataset><instance><annotation rank_0_id="974" rank_0_title="Ada Lovelace">'
            "ada</annotation> met</instance></dataset>",
        },
        documents=1,
        mentions=1,
        given="sample.xml",
    ),
)
