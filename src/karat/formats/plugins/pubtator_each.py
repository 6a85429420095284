"""PubTator with composite ids split into separate annotations. Files are never detected as this format: name it."""

from __future__ import annotations

from karat.formats.parsing.composite_ids import ALL_IDS
from karat.formats.parsing.pubtator import read_corpus, read_run, recognises
from karat.model.spec.format import Format, Sample

FORMAT = Format(
    title="PubTator, all of several ids",
    suffix=".pubtator",
    recognises=lambda opening: False,
    has_gold=lambda source: recognises(source.first_bytes),
    read_corpus=lambda source, text: read_corpus(source, ALL_IDS),
    read_run=lambda source: read_run(source, ALL_IDS),
    description="Like pubtator, by its full name: each id joined by `|`, `,` or `;` is a separate annotation. "
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
