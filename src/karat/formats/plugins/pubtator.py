"""PubTator, with each composite id split; `karat.formats.parsing.pubtator` documents the mapping."""

from __future__ import annotations

from msgspec.structs import replace

from karat.formats.parsing.composite_ids import ANY_ID
from karat.formats.parsing.pubtator import STORED_FIELDS, read_corpus, read_run, recognises, write_corpus
from karat.model.spec.format import Format, Sample

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

TABLE = {
    "pubtator-any": replace(
        FORMAT,
        title="PubTator, any of several ids",
        markers=None,
        recognises=lambda opening: False,
        read_corpus=lambda source, text: read_corpus(source, ANY_ID),
        read_run=lambda source: read_run(source, ANY_ID),
        write_corpus=None,
        stored_fields=None,
        description="Like pubtator, but ids joined by `|`, `,` or `;` are alternatives: one shared id suffices. "
        "Not detected: name the format.",
        sample=Sample({"sample.pubtator": "1|t|Ada met\n1\t0\t3\tAda\tPerson\tQ7259|Q1\n"}, 1, 2, "sample.pubtator"),
    )
}
