"""GERDAQ: queries with marked mentions, `<instance>text <annotation rank_0_id="7" …>mention</annotation></instance>`.

The ranked entities of a mention (`rank_0`, `rank_1`, …) are its alternatives in that order; BAT uses only the first
(step `first`). Ids are those of Wikipedia's pages, or titles if there is no id. Scores, and the candidates that
annotators rejected (`bad_0`, …), are in `meta`. Documents are numbered from 1, since queries have no ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from karat.formats.parsing.xml import get_root_name, read_elements
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.document import UNLINKED, Document, Label
from karat.model.spec.format import ByteSource, Format, Sample


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold queries, always with their texts (`text` is ignored)."""
    skipped = SkipCounter()
    instances = enumerate(read_elements(source, "instance", has_documents=True), 1)
    documents = (_to_document(str(number), instance, skipped) for number, instance in instances)
    return Corpus.from_reader(
        documents, name=source.stem, skipped=skipped, locate_row=lambda row: f"{source.label}, instance {row + 1}"
    )


def _to_document(doc_id: str, instance: Element, skipped: Counter[str]) -> Document:
    """Build the document of a query from its XML.

    Duplicate entities of a mention and unknown elements are dropped and counted in `skipped`.
    """
    text = instance.text or ""
    labels: list[Label] = []
    meta: dict[str, str] = {}
    for number, element in enumerate(instance, 1):
        start = len(text)
        text += "".join(element.itertext())
        if element.tag == "annotation":
            all_labels = list(_to_labels(element, start, len(text), str(number)))
            by_entity = {label.entity: label for label in reversed(all_labels)}
            skipped["duplicate entities of a mention (dropped)"] += len(all_labels) - len(by_entity)
            labels.extend(reversed(by_entity.values()))
            meta |= _get_judgements(element, f"{start}-{len(text)}")
        else:
            skipped["elements unknown to the format"] += 1
        text += element.tail or ""
    return Document(doc_id, text, tuple(labels), meta=meta)


def _read_entities(element: Element, kind: str) -> Iterator[tuple[str, str, str]]:
    """Yield id (or title), score and title of the entities of a `kind`, either `rank` or `bad` (rejected), by rank."""
    rank = 0
    while (title := element.get(f"{kind}_{rank}_title")) is not None or f"{kind}_{rank}_id" in element.attrib:
        name = element.get(f"{kind}_{rank}_id") or title or ""
        yield name, element.get(f"{kind}_{rank}_score", ""), title or ""
        rank += 1


def _to_labels(element: Element, start: int, end: int, mention_id: str) -> Iterator[Label]:
    """Yield a label for each ranked entity of a mention, as alternatives, or an unlinked label if there is none."""
    entities = list(_read_entities(element, "rank"))
    for name, _, title in entities:
        yield Label(start, end, name, name=title or None, mention_id=mention_id if len(entities) > 1 else None)
    if not entities:
        yield Label(start, end, UNLINKED)


def _get_judgements(element: Element, span: str) -> dict[str, str]:
    """Return the scores of ranked entities and the rejected entities of a mention, as fields of `meta`."""
    scores = {f"score of {span} {name}": score for name, score, _ in _read_entities(element, "rank") if score}
    rejected = {
        f"refused for {span} {name}": f"{score} {title}".strip()
        for name, score, title in _read_entities(element, "bad")
    }
    return scores | rejected


FORMAT = Format(
    title="GERDAQ XML",
    suffix=".xml",
    markers=("<annotation ", "rank_0_id"),
    recognises=lambda head: get_root_name(head) == "dataset" and b"<instance" in head and b"rank_0_" in head,
    has_gold=lambda source: True,
    read_corpus=read_corpus,
    description="Queries with marked mentions; the ranked entities of a mention are its alternatives.",
    sample=Sample.from_text(
        "sample.xml",
        '<dataset><instance><annotation rank_0_id="974" rank_0_title="Ada Lovelace">'
        "ada</annotation> met</instance></dataset>",
    ),
)
