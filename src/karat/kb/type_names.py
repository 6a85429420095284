"""Names of entity types."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from karat.kb.catalogue import open_starter
from karat.kb.protocol import KB

_QID: Final = re.compile(r"Q[1-9][0-9]*")
WHITELIST_NAMES: Final[Mapping[str, str]] = {
    "Q215627": "person",
    "Q95074": "fictional character",
    "Q27096213": "geographic entity",
    "Q43229": "organization",
    "Q17537576": "creative work",
    "Q2424752": "product",
    "Q1656682": "event",
    "Q431289": "brand",
    "Q483394": "genre",
    "Q17376908": "languoid",
    "Q43460564": "chemical entity",
    "Q16521": "taxon",
    "Q9174": "religion",
    "Q7257": "ideology",
    "Q4164871": "position",
    "Q12737077": "occupation",
    "Q11862829": "academic discipline",
    "Q618779": "award",
    "Q12136": "disease",
    "Q33829": "human population",
    "Q1075": "color",
    "Q179661": "treatment",
    "Q169872": "symptom",
    "Q349": "sport",
    "Q729": "animal",
    "Q3895768": "fictional location",
    "Q21070598": "narrative entity",
    "Q4392985": "religious identity",
    "Q373899": "record chart",
    "Q22222786": "government program",
    "Q4936952": "anatomical structure",
}
"""Names of the types on the whitelist of the fair-evaluation paper."""

WHITELISTS: Final[Mapping[str, tuple[str, ...]]] = {"fair": tuple(WHITELIST_NAMES)}
"""Built-in lists of types, by name: that of the fair-evaluation paper (A.4)."""


def find_type_names(ids: Collection[str], kb: KB | None) -> dict[str, str]:
    """Return the names of types by id: from `kb`, the whitelist, or the starter snapshot; unnamed ids are omitted."""
    wanted = sorted(ids)
    names = {} if kb is None else {id: name for id, name in zip(wanted, kb.names(wanted), strict=True) if name}
    names |= {id: WHITELIST_NAMES[id] for id in wanted if id not in names and id in WHITELIST_NAMES}
    unnamed = [id for id in wanted if id not in names and _QID.fullmatch(id)]
    if unnamed:
        names |= {id: name for id, name in zip(unnamed, open_starter().names(unnamed), strict=True) if name}
    return names
