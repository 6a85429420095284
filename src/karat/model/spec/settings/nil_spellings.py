"""How files and tools write NIL, the answer that no entity of the knowledge base fits: one definition per origin.

Readers of formats use these spellings. The setting `nil-ids` uses them to find ids that are NIL.
"""

from __future__ import annotations

import re
from typing import Final

NIL_ID: Final = "NIL"
"""NIL in most formats, such as TAC, HIPE and BLINK."""

NOT_IN_WIKI: Final = "/notInWiki/"
"""Part of the URIs that GERBIL makes for entities outside the knowledge base, such as
`http://aksw.org/notInWiki/Ulm`."""

ELEVANT_NIL_IDS: Final = (NIL_ID, "<NIL>", "<unk>", "<UNK>", "<unk_wid>")
"""Ids that ELEVANT's reader of simple JSON lines takes for NIL, next to empty ids, ids that end in `/` and
`NOT_IN_WIKI`."""

AIDA_NIL: Final = "--NME--"
"""NIL in AIDA: no matching entity."""

BAT_NIL_IDS: Final = (AIDA_NIL, "*null*")
"""Ids that the readers of BAT take for NIL, next to `NIL` and `NIL` with a number."""

BAT_NIL_PAGE: Final = "-1"
"""NIL in the CSV files of BAT, whose entities are page numbers of Wikipedia."""

BIOMEDICAL_NIL: Final = "-1"
"""NIL in PubTator and BioC."""

BIOMEDICAL_UNLINKED: Final = "-"
"""The id of an unlinked mention in PubTator and BioC."""

_NO_ENTITY = (
    r"nil|null|none|nan|n/?a|unk|unknown(?: entity)?|not (?:found|applicable|available|linked|linkable)"
    r"|not in (?:the )?(?:kb|knowledge base|wikipedia|wikidata)|no match(?: found)?"
    r"|no (?:known |matching |corresponding |such |relevant |suitable )?(?:(?:english )?wikipedia |wikidata |kb )?"
    r"(?:entity|article)(?: found| exists| available)?"
    r"|no (?:english )?(?:wikipedia|wikidata|kb)"
    r"(?: (?:page|link|entry|item|id|title|match)(?: found| exists| available)?)?"
)
_PROSE_NIL: Final = re.compile(rf"(?:{_NO_ENTITY})(?:\s*[(:,;–—-]\s*(?:no|not|none|unknown)\b.*)?", re.DOTALL)


def is_prose_nil(link: str) -> bool:
    """Return whether the link of a language model says that there is no entity, as in `none` or `(no entity)`."""
    words = " ".join(link.casefold().replace("_", " ").strip(" \t\n()<>[]{}*'\".-").split())
    return not words or _PROSE_NIL.fullmatch(words) is not None


NIL_LIKE_WORD: Final = (
    r"^(?:(?i:<?(?:nil|none|null|n/a|unk|unknown|no[-_ ](?:mapping|match|entity|link|kb|wikipedia|wikidata))"
    r">?|\*null\*|nan|<unk_wid>|--nme--|not_in_kb)|O|-|NIL[-_:]?[0-9]+)$"
)
"""Regular expression of words that look like NIL."""

NIL_LIKE: Final = rf"{NIL_LIKE_WORD}|{NOT_IN_WIKI}|/(?i:(?:<|%3C)[a-z_]+(?:>|%3E)|nil|--nme--)$"
"""Regular expression of ids that look like NIL, also behind the address of a knowledge base. Karat warns about them if
they count as entities."""
