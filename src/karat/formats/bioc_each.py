"""BioC with composite ids divided: every one is to be found. No file is recognised as this format: name it."""

from __future__ import annotations

from karat.parsing.bioc.reading import corpus_of, run_of
from karat.parsing.composite import EACH
from karat.spec.format import Format, Sample

FORMAT = Format(
    title="BioC, each id of a composite one",
    suffix=".bioc.json",
    recognises=lambda opening: False,
    holds_gold=lambda source: True,
    read_corpus=lambda source, text: corpus_of(source, EACH),
    read_run=lambda source: run_of(source, EACH),
    says="As bioc. Every id that `|`, `,` or `;` joins is an annotation of its own. Never recognised: name it.",
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
