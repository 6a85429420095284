"""Entity match."""

from karat.matching.align.joins import same_entity_in_document
from karat.spec.relation import Relation

RELATION = Relation(
    title="Entity match",
    says="The document is linked to the entity somewhere; each entity counts once per document, and NIL is none.",
    located=same_entity_in_document,
    level="document",
)
