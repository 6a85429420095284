"""BioC with composite ids split into alternatives. Files are never detected as this format: name it."""

from __future__ import annotations

from karat.formats.parsing.bioc.reader import read_corpus, read_run
from karat.formats.parsing.composite_ids import ANY_ID
from karat.model.spec.format import Format, Sample

FORMAT = Format(
    title="BioC, any of several ids",
    suffix=".bioc.json",
    recognises=lambda opening: False,
    has_gold=lambda source: True,
    read_corpus=lambda source, text: read_corpus(source, ANY_ID),
    read_run=lambda source: read_run(source, ANY_ID),
    description="Like bioc, but ids joined by `|`, `,` or `;` are alternatives: one shared id suffices. "
    "Not detected: name the format.",
    is_kind_ambiguous=True,
    sample=Sample(
        {
            "sample.json": '{"documents": [{"id": "a", "infons": {}, "passages": [{"offset": 0, "infons": {}, '
            '"text": "Ada met", "annotations": [{"id": "1", "infons": {"identifier": "Q7259,Q1"}, '
            '"locations": [{"offset": 0, "length": 3}], "text": "Ada"}]}]}]}',
        },
        documents=1,
        mentions=2,
        main_file="sample.json",
    ),
)
