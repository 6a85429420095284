"""Measures as neleval writes them: `aggregator:filter:key`."""

from __future__ import annotations

import re
from typing import NamedTuple

from karat.errors import UnknownNameError

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
"""Clusterings by neleval's names and by Karat's."""

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

_PLACE = ("docid", "start", "end", "span")
_TRIPLE = re.compile(r"(?P<aggregator>[a-z_-]+):(?P<conditions>[a-z_+]*):(?P<fields>[a-z_+]+)")


class Key(NamedTuple):
    """How to aggregate, which annotations to look at, and what of them to compare."""

    aggregator: str
    conditions: tuple[str, ...]
    fields: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.aggregator}:{'+'.join(self.conditions)}:{'+'.join(self.fields)}"

    @property
    def reaches_across(self) -> bool:
        """Whether annotations of different documents are compared, so that counts cannot be told by document."""
        return self.clustering is not None or (self.aggregator == "sets" and not self.within_documents)

    @property
    def within_documents(self) -> bool:
        """Whether annotations of different documents are never the same."""
        return "docid" in self.fields or "span" in self.fields

    @property
    def places(self) -> Key | None:
        """The key that looks at places only, where this one compares links at places, and nothing else."""
        at = tuple(field for field in self.fields if field in _PLACE)
        placed = "span" in at or {"docid", "start", "end"} <= set(at)
        links = self.aggregator == "sets" and set(self.fields) - set(at) == {"kbid"}
        return self._replace(fields=at) if placed and links else None

    @property
    def clustering(self) -> str | None:
        """The clustering by Karat's name, if the key is for one."""
        return None if self.aggregator in ("sets", *OVERLAPS) else CLUSTERINGS.get(self.aggregator, self.aggregator)


def key_of(text: str) -> Key | None:
    """The key that a preset or a triple stands for, None if it is neither."""
    match = _TRIPLE.fullmatch(PRESETS.get(text, text))
    if match is None:
        return None
    conditions = tuple(filter(None, match["conditions"].split("+")))
    fields = tuple(match["fields"].split("+"))
    for kind, names, known in (
        ("aggregator", [match["aggregator"]], AGGREGATORS),
        ("filter of a key", conditions, CONDITIONS),
        ("field of a key", fields, FIELDS),
    ):
        for name in names:
            if name not in known:
                raise UnknownNameError(kind, name, known)
    return Key(match["aggregator"], conditions, fields)
