"""NIF of the fine-grained paper (Rosales-Méndez et al. 2019), as NIFify writes it: gold and answers, to be read.

Annotations belong to sentences, whose offsets they count, and sentences to documents: a document is one of Karat's,
under the address as written, and offsets become those of the document. The sentences are listed in `meta`. Several
annotations of one place are alternatives. Tags in any of the three vocabularies become categories, named after the
paper's dimensions and the tags of its files; other classes are types, as are the words for an entity's type, which
lose their prefix. A link to no address, or to `NotInLexico`, is NIL.
"""

from __future__ import annotations

from karat.parsing.nif import terms as nif
from karat.parsing.nif.sentences import corpus_of, holds_gold, run_of
from karat.spec.format import Format

FORMAT = Format(
    title="NIF with categories",
    suffix=".ttl",
    recognises=lambda opening: nif.is_nif(opening) and nif.by_sentence(opening),
    holds_gold=holds_gold,
    read_corpus=lambda source, text: corpus_of(source),
    read_run=run_of,
    says="NIF 2.0 Turtle by sentence, with the categories of the fine-grained paper.",
)
