"""BioC with composite ids divided: any of them is right. No file is recognised as this format: name it."""

from __future__ import annotations

from karat.parsing.bioc.reading import corpus_of, run_of
from karat.parsing.composite import ANY
from karat.spec.format import Format, Sample

FORMAT = Format(
    title="BioC, any id of a composite one",
    suffix=".bioc.json",
    recognises=lambda opening: False,
    holds_gold=lambda source: True,
    read_corpus=lambda source, text: corpus_of(source, ANY),
    read_run=lambda source: run_of(source, ANY),
    says="As bioc. The ids that `|`, `,` or `;` join are alternatives: one that both sides name is enough. "
    "Never recognised: name it.",
    either=True,
    sample=Sample(
        {
            "sample.json": '{"documents": [{"id": "a", "infons": {}, "passages": [{"offset": 0, "infons": {}, '
            '"text": "Ada met", "annotations": [{"id": "1", "infons": {"identifier": "Q7259,Q1"}, '
            '"locations": [{"offset": 0, "length": 3}], "text": "Ada"}]}]}]}',
        },
        documents=1,
        mentions=2,
        given="sample.json",
    ),
)
