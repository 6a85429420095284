"""BioC, as JSON and as XML; `karat.formats.parsing.bioc.reader` documents the mapping."""

from __future__ import annotations

from msgspec.structs import replace

from karat.formats.parsing.bioc.collections import recognises
from karat.formats.parsing.bioc.reader import read_corpus, read_run
from karat.formats.parsing.composite_ids import ANY_ID
from karat.model.spec.format import Format, Sample

_SAMPLE = Sample(
    {
        "sample.json": '{"documents": [{"id": "a", "infons": {}, "passages": [{"offset": 0, "infons": {}, '
        '"text": "Ada met", "annotations": [{"id": "1", "infons": {"identifier": "Q7259"}, '
        '"locations": [{"offset": 0, "length": 3}], "text": "Ada"}]}]}]}',
    },
    documents=1,
    mentions=1,
    main_file="sample.json",
)

FORMAT = Format(
    title="BioC JSON and XML",
    suffix=".bioc.json",
    markers=('"passages"', '"offset"', '"infons"'),
    recognises=recognises,
    has_gold=lambda source: True,
    read_corpus=lambda source, text: read_corpus(source),
    read_run=read_run,
    description="Documents of passages with annotations and infons, as in PubTator Central and BioCreative. Of joined "
    "ids, each is an annotation.",
    is_kind_ambiguous=True,
    sample=_SAMPLE,
)

TABLE = {
    "bioc-any": replace(
        FORMAT,
        title="BioC, any of several ids",
        markers=None,
        recognises=lambda opening: False,
        read_corpus=lambda source, text: read_corpus(source, ANY_ID),
        read_run=lambda source: read_run(source, ANY_ID),
        description="Like bioc, but ids joined by `|`, `,` or `;` are alternatives: one shared id suffices. "
        "Not detected: name the format.",
        sample=replace(
            _SAMPLE, files={name: text.replace("Q7259", "Q7259,Q1") for name, text in _SAMPLE.files.items()}, mentions=2
        ),
    )
}
