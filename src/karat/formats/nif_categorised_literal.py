"""NIF of the fine-grained paper, read as its authors read it: an escape in a link stays as it is written.

Turtle says that `\\u014d` in an address stands for a letter, and `nif-categorised` reads it so. The authors' program
does not decode it, so that two links of AIDA are wrong in their tables. No file is recognised as this format: name it.
"""

from __future__ import annotations

from karat.parsing.nif.sentences import corpus_of, holds_gold, run_of
from karat.spec.format import Format, Sample

FORMAT = Format(
    title="NIF with categories, links as written",
    suffix=".ttl",
    recognises=lambda opening: False,
    holds_gold=holds_gold,
    read_corpus=lambda source, text: corpus_of(source, literal=True),
    read_run=lambda source: run_of(source, literal=True),
    says="As nif-categorised, but escapes in links are not decoded. Never recognised: name it.",
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
        given="sample.ttl",
    ),
)
