"""BioC with composite ids split into separate annotations. Files are never detected as this format: name it."""

from __future__ import annotations

from karat.formats.parsing.bioc.reader import read_corpus, read_run
from karat.formats.parsing.composite_ids import ALL_IDS
from karat.model.spec.format import Format, Sample

FORMAT = Format(
    title="BioC, all of several ids",
    suffix=".bioc.json",
    recognises=lambda opening: False,
    has_gold=lambda source: True,
    read_corpus=lambda source, text: read_corpus(source, ALL_IDS),
    read_run=lambda source: read_run(source, ALL_IDS),
    description="Like bioc, by its full name: each id joined by `|`, `,` or `;` is a separate annotation. "
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
