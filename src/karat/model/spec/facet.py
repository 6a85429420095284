"""The specification of a facet: the constant `FACET` of a file in `karat.plugins.facets`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import msgspec

from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Mentions
from karat.model.tables.facet_values import FacetValues


class Facet(msgspec.Struct, frozen=True):
    """A property of mentions, predictions or documents that scores are grouped by and data filtered by."""

    # Description
    title: str
    """The name in lists and tables."""
    description: str
    """One sentence about the values."""
    example: str = ""
    """One sentence with a mention or document and its group."""

    # Source of the values: one of the functions, or none if `scores` is not "values"
    from_mentions: Callable[[Mentions], FacetValues] | None = None
    """Read the values from a column of the mentions. Filters work only for such facets."""
    field: str | None = None
    """The column that `from_mentions` reads."""
    from_facts: Callable[[Any, Any], FacetValues] | None = None
    """Compute the values from a `Facts` and one of its sides (gold or predictions).

    With `from_mentions` too, groups have the computed values, and filters only those that `from_mentions` reads. In
    dataset statistics, the `Facts` are None.
    """
    count_sources: Callable[[Any], Mapping[str, int]] | None = None
    """Count the gold labels by the source of their values, from the gold side of the `Facts`.

    The keys complete "N labels …" in the notes of a result; counts of blocks are added.
    """
    from_outcomes: Callable[[Bools], FacetValues] | None = None
    """Compute the values from a mask of correct mentions, one row per system. Only comparisons have such facets."""
    from_documents: Callable[[Arrow, Mapping[str, str]], Arrow] | None = None
    """Read one value per document, null if none, from the corpus table and the corpus metadata.

    Scores are those of the documents with each value.
    """
    scores: Literal["values", "documents", "errors"] = "values"
    """What the groups are: values of this facet, single documents, or error categories."""

    # Grouping
    has_gold_fallback: bool = False
    """Whether a prediction without value gets all values that the gold standard gives to its entity."""
    uses_gold_group: bool = False
    """Whether a wrong link counts in the gold mention's group, not the prediction's."""
    excludes_coreference: bool = False
    """Whether coreference mentions are excluded."""
    allowed_values: tuple[str, ...] = ()
    """Values that users may request even if no mention has them."""
    value_order: tuple[str, ...] = ()
    """Values in the order of tables and charts; all others follow in alphabetical order."""
    has_ids: bool = False
    """Whether the values are ids of entities or types, which tables show with their names."""
    column: str | None = None
    """The column of the verdict table that shows the values."""

    # Requirements
    needs_context: Literal["never", "parts", "always"] = "never"
    """When a block needs facts about the whole corpus: never, for filters by this facet (`parts`), or always."""
    needs_facts: bool = True
    """Whether `from_facts` uses texts or knowledge base facts."""

    def sort_values(self, values: Iterable[str]) -> list[str]:
        """Return values in the order of tables and charts."""
        rank = {value: index for index, value in enumerate(self.value_order)}
        return sorted(values, key=lambda value: (rank.get(value, len(rank)), value))

    @property
    def needs_text(self) -> bool:
        """Whether computing the values requires document texts or facts from the knowledge base."""
        return (self.from_facts is not None and self.needs_facts) or self.scores == "errors"
