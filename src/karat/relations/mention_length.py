"""BAT's strong mention match, as its program computes."""

from karat.matching.align.joins import same_length_in_document
from karat.spec.relation import Relation

RELATION = Relation(
    title="Length match",
    says="The answer is as long as the mention, wherever it stands in the document. BAT's program computes its strong "
    "mention match so, by mistake; for what it means ask for mention.",
    located=same_length_in_document,
    loose=True,
)
