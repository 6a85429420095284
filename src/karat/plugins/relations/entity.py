"""Entity match."""

from karat.matching.align.overlap import find_same_entities
from karat.model.spec.relation import MatchRelation

RELATION = MatchRelation(
    title="Entity match",
    description="The document has a prediction with the entity, at any offset. Each entity counts once per document, "
    "and NIL does not count.",
    find_pairs=find_same_entities,
    level="document",
)
