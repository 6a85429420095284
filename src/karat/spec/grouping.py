"""What a file in `karat.labels` holds: what scores can be grouped by, and data divided by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Mentions
from karat.model.tables.facet import Facet


class Grouping(msgspec.Struct, frozen=True):
    """Something that mentions and answers have values of.

    `carried` reads the values that mentions carry themselves, and `field` names the column they are in; only by such a
    label can a part of the data be made. `known` makes them from what is known of a side (a `karat.facts.facts.Facts`
    and one of its sides). `documents` reads a value for each document, null where it has none, from the table of a
    corpus and from what is said about the whole: scores are those of the documents with each value, as if there were no
    others. A label has none of these where its scores are made in another way: of single documents, or of
    error categories (`scores`).
    `borrowed`: an answer without value has all those that the gold standard gives its entity. `by_gold`: a wrong link
    counts under the value of the mention, not of the answer. `entities`: coreference is left out. `possible` are values
    that may be asked for even if nothing has them. `column` is where the table of verdicts shows the values. `whole`
    says when a block has to be told what the whole has: where parts of the data are made by the label, or always.
    `by_facts` is false where `known` looks at neither texts nor what a knowledge base says about entities.
    """

    title: str
    says: str
    carried: Callable[[Mentions], Facet] | None = None
    field: str | None = None
    known: Callable[[Any, Any], Facet] | None = None
    documents: Callable[[Arrow, Mapping[str, str]], Arrow] | None = None
    scores: Literal["values", "documents", "errors"] = "values"
    borrowed: bool = False
    by_gold: bool = False
    entities: bool = False
    possible: tuple[str, ...] = ()
    column: str | None = None
    whole: Literal["never", "parts", "always"] = "never"
    by_facts: bool = True

    @property
    def reads_text(self) -> bool:
        """Whether the values are made from what mentions say, and what is known about their entities."""
        return (self.known is not None and self.by_facts) or self.scores == "errors"
