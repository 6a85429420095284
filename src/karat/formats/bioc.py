"""BioC, as JSON and as XML (`karat.parsing.bioc.reading` says how it is read)."""

from __future__ import annotations

from karat.parsing.bioc.collections import recognises
from karat.parsing.bioc.reading import corpus_of, run_of
from karat.spec.format import Format, Sample

FORMAT = Format(
    title="BioC JSON and XML",
    suffix=".bioc.json",
    signs=('"passages"', '"offset"', '"infons"'),
    recognises=recognises,
    holds_gold=lambda source: True,
    read_corpus=lambda source, text: corpus_of(source),
    read_run=run_of,
    says="Documents of passages with annotations and infons, as in PubTator Central and BioCreative.",
    either=True,
    sample=Sample(
        {
            "sample.json": '{"documents": [{"id": "a", "infons": {}, "passages": [{"offset": 0, "infons": {}, '
            '"text": "Ada met", "annotations": [{"id": "1", "infons": {"identifier": "Q7259"}, '
            '"locations": [{"offset": 0, "length": 3}], "text": "Ada"}]}]}]}',
        },
        documents=1,
        mentions=1,
        given="sample.json",
    ),
)
