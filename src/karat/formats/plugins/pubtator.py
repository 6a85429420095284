"""PubTator, with each composite id split; `karat.formats.parsing.pubtator` documents the mapping."""

from __future__ import annotations

from karat.formats.parsing.pubtator import STORED_FIELDS, read_corpus, read_run, recognises, write_corpus
from karat.model.spec.format import Format

FORMAT = Format(
    title="PubTator",
    suffix=".pubtator",
    markers=("|t|", "|a|"),
    recognises=recognises,
    has_gold=lambda source: recognises(source.first_bytes),
    read_corpus=lambda source, text: read_corpus(source),
    read_run=read_run,
    write_corpus=write_corpus,
    stored_fields=STORED_FIELDS,
    description="Title, abstract and tab-separated mentions of each document, as in biomedical corpora. Of joined ids, "
    "each is an annotation.",
    is_kind_ambiguous=True,
)
