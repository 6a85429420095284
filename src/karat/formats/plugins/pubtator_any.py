"""PubTator with composite ids split into alternatives. Files are never detected as this format: name it."""

from __future__ import annotations

from karat.formats.parsing.composite_ids import ANY_ID
from karat.formats.parsing.pubtator import read_corpus, read_run, recognises
from karat.model.spec.format import Format, Sample

FORMAT = Format(
    title="PubTator, any of several ids",
    suffix=".pubtator",
    recognises=lambda opening: False,
    has_gold=lambda source: recognises(source.first_bytes),
    read_corpus=lambda source, text: read_corpus(source, ANY_ID),
    read_run=lambda source: read_run(source, ANY_ID),
    description="Like pubtator, but ids joined by `|`, `,` or `;` are alternatives: one shared id suffices. "
    "Not detected: name the format.",
    is_kind_ambiguous=True,
    sample=Sample(
        {
            "sample.pubtator": "1|t|Ada met\n1\t0\t3\tAda\tPerson\tQ7259|Q1\n",
        },
        documents=1,
        mentions=2,
        main_file="sample.pubtator",
    ),
)
