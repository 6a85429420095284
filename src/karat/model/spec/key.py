"""Measures in neleval's notation: `aggregator:filter:key`."""

from __future__ import annotations

import re
from typing import NamedTuple

from karat.model.errors import UnknownNameError

FIELDS = ("docid", "start", "end", "span", "type", "kbid", "eid")
CONDITIONS = ("is_linked", "is_nil", "is_first")
CLUSTERINGS = {
    "muc": "muc",
    "b_cubed": "b-cubed",
    "entity_ceaf": "ceaf-entity",
    "mention_ceaf": "ceaf-mention",
    "pairwise": "pairwise",
    "pairwise_negative": "pairwise-negative",
}
"""Karat's clustering names by neleval's names."""

OVERLAPS = tuple(f"overlap-{recall}{precision}" for recall in ("max", "sum") for precision in ("max", "sum"))
AGGREGATORS = ("sets", *OVERLAPS, *CLUSTERINGS)

PRESETS: dict[str, str] = {
    "strong_mention_match": "sets::span",
    "strong_typed_mention_match": "sets::span+type",
    "strong_linked_mention_match": "sets:is_linked:span",
    "strong_link_match": "sets:is_linked:span+kbid",
    "strong_nil_match": "sets:is_nil:span",
    "strong_all_match": "sets::span+kbid",
    "strong_typed_link_match": "sets:is_linked:span+type+kbid",
    "strong_typed_nil_match": "sets:is_nil:span+type",
    "strong_typed_all_match": "sets::span+type+kbid",
    "entity_match": "sets:is_linked:docid+kbid",
    "muc": "muc::span",
    "b_cubed": "b_cubed::span",
    "b_cubed_plus": "b_cubed::span+kbid",
    "entity_ceaf": "entity_ceaf::span",
    "mention_ceaf": "mention_ceaf::span",
    "typed_mention_ceaf": "mention_ceaf::span+type",
    "mention_ceaf_plus": "mention_ceaf::span+kbid",
    "typed_mention_ceaf_plus": "mention_ceaf::span+type+kbid",
    "pairwise": "pairwise::span",
}
"""neleval's measures by name."""

_TAGGING = tuple(name for name, key in PRESETS.items() if key.startswith("sets"))
_COREF = tuple(name for name in PRESETS if name not in _TAGGING)
_TAC09 = ("strong_link_match", "strong_nil_match", "strong_all_match")
_TAC11 = (*_TAC09, "b_cubed", "b_cubed_plus")

SETS: dict[str, tuple[str, ...]] = {
    "all": (*_TAGGING, *_COREF),
    "all-tagging": _TAGGING,
    "all-coref": _COREF,
    "tac09": _TAC09,
    "tac11": _TAC11,
    "tac14": (
        *_TAC11,
        "strong_mention_match",
        "strong_typed_mention_match",
        "strong_typed_all_match",
        "mention_ceaf",
        "typed_mention_ceaf",
    ),
    "cornolti": ("strong_linked_mention_match", "strong_link_match", "entity_match"),
    "luo": ("muc", "b_cubed", "mention_ceaf", "entity_ceaf"),
}
"""Sets of measures by neleval's names."""

_SPAN_FIELDS = ("docid", "start", "end", "span")
_KEY_PATTERN = re.compile(r"(?P<aggregator>[a-z_-]+):(?P<conditions>[a-z_+]*):(?P<fields>[a-z_+]+)")


class Key(NamedTuple):
    """A measure in neleval's notation."""

    aggregator: str
    """How to aggregate: one of `AGGREGATORS`."""
    conditions: tuple[str, ...]
    """The conditions that annotations must meet, from `CONDITIONS`."""
    fields: tuple[str, ...]
    """The fields to compare, from `FIELDS`."""

    def __str__(self) -> str:
        return f"{self.aggregator}:{'+'.join(self.conditions)}:{'+'.join(self.fields)}"

    @property
    def is_across_documents(self) -> bool:
        """Whether annotations of different documents are compared, so that there are no counts per document."""
        return self.clustering is not None or (self.aggregator == "sets" and not self.is_within_documents)

    @property
    def is_within_documents(self) -> bool:
        """Whether the fields include the document, so that annotations of different documents are never equal."""
        return "docid" in self.fields or "span" in self.fields

    @property
    def span_key(self) -> Key | None:
        """The key that compares spans only; None unless this key compares sets by span and `kbid` and nothing else."""
        fields = tuple(field for field in self.fields if field in _SPAN_FIELDS)
        has_span = "span" in fields or {"docid", "start", "end"} <= set(fields)
        has_link = self.aggregator == "sets" and set(self.fields) - set(fields) == {"kbid"}
        return self._replace(fields=fields) if has_span and has_link else None

    @property
    def is_overlap(self) -> bool:
        """Whether shares of characters are compared."""
        return self.aggregator in OVERLAPS

    @property
    def clustering(self) -> str | None:
        """Karat's name of the clustering; None if the aggregator is not a clustering."""
        return None if self.aggregator in ("sets", *OVERLAPS) else CLUSTERINGS.get(self.aggregator, self.aggregator)


def parse_key(text: str) -> Key | None:
    """Parse the name of a neleval measure or an `aggregator:filter:key` triple; return None if `text` is neither.

    Raise `UnknownNameError` if a triple has an unknown aggregator, filter or field.
    """
    match = _KEY_PATTERN.fullmatch(PRESETS.get(text, text))
    if match is None:
        return None
    conditions = tuple(filter(None, match["conditions"].split("+")))
    fields = tuple(match["fields"].split("+"))
    for kind, names, allowed in (
        ("aggregator", [match["aggregator"]], AGGREGATORS),
        ("filter of a key", conditions, CONDITIONS),
        ("field of a key", fields, FIELDS),
    ):
        for name in names:
            if name not in allowed:
                raise UnknownNameError(kind, name, allowed)
    return Key(match["aggregator"], conditions, fields)
