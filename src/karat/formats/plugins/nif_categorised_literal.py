"""NIF of the fine-grained paper, read as its authors read it: escapes in links are not decoded.

In Turtle, `\\u014d` in an IRI is one character, and `nif-categorised` decodes it. The authors' program does not, so
two links of AIDA are wrong in their tables. Files are never detected as this format: name it.
"""

from __future__ import annotations

from karat.formats.parsing.nif.sentences import has_gold, read_corpus, read_run
from karat.model.spec.format import Format, Sample

FORMAT = Format(
    title="NIF with categories, links not decoded",
    suffix=".ttl",
    recognises=lambda opening: False,
    has_gold=has_gold,
    prediction_mark="no classes (taClassRef)",
    read_corpus=lambda source, text: read_corpus(source, is_literal=True),
    read_run=lambda source: read_run(source, is_literal=True),
    description="Like nif-categorised, but escapes in links are not decoded. Not detected: name the format.",
    sample=Sample(
        {
            "sample.ttl": "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
            '<a> nif:sourceUrl <x> ; nif:isString "Ada met" .\n'
            '<a_s> nif:broaderContext <a> ; nif:beginIndex "0" ; nif:isString "Ada met" .\n'
            '<a_s#1> nif:referenceContext <a_s> ; nif:beginIndex "0" ; nif:endIndex "3" ; '
            "<http://www.w3.org/2005/11/its/rdf#taIdentRef> <http://www.wikidata.org/entity/Q7259> .\n",
        },
        documents=1,
        mentions=1,
        main_file="sample.ttl",
    ),
)
