"""Facts about a whole corpus that a block of it needs."""

from __future__ import annotations

from collections.abc import Mapping, Set

import msgspec

from karat.kb.ids.normal_forms import IdContext
from karat.model.corpus import Corpus


class CorpusContext(msgspec.Struct, frozen=True, eq=False):
    """Facts about a whole corpus and run that decide how a block of them counts."""

    has_gold_tags: bool = False
    """Whether any gold document has tags."""
    has_prediction_tags: bool = False
    """Whether any response has tags."""
    facet_corpus: Corpus | None = None
    """Corpus with one label for each typed entity and each other facet value; None if no view needs facets."""
    predicted_fields: frozenset[str] = frozenset()
    """Fields in which any prediction has a value."""
    predicted_values: frozenset[str] = frozenset()
    """Types and categories that any prediction names."""
    entity_types: Mapping[str, Set[str]] = msgspec.field(default_factory=dict)
    """Types that gold labels give to each entity, if predictions are dropped by type."""
    id_context: IdContext | None = None
    """How the ids of the whole data are meant; None if ids are not normalised."""
