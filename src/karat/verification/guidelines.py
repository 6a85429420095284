"""What judges are told, unless a campaign says it otherwise."""

from __future__ import annotations

from typing import Final

CONSENT: Final = """\
You will see short passages in which words are linked to entries of a knowledge base. Say of each link whether it is
right. Your decisions, and how long each took, are kept under a random name. You can stop at any time.
"""

GUIDELINES: Final = """\
Verify a link if the marked words name this entity in this passage.

Modify it if the words name an entity, but another one: search for the one that is meant and choose it.

Remove it if the words name no entity that should be linked.

- What the author means here counts, not what the words mean most often: "Germany" in a match report is the team.
- Entities are people, places, organisations, works, products, events, kinds of living things and the like: what has a
  name. Plain words, numbers and dates are none.
- Words such as "French" stand for the country; for the people or the language only if these are clearly meant.
- The marked words should be a whole name. Where a longer or a shorter name would do as well, accept both.
- "He" or "the city" stand for an entity only if the passage names it elsewhere.
- If passage and description do not decide it, skip the task and say why. Do not guess.
"""
"""After the guidelines of Bast, Hertel and Prange (A Fair and In-Depth Evaluation …, A.3), in our own words."""

SURVEY_CONSENT: Final = """\
You will see short passages in which some words are marked. Say of each which links a system should ideally give it.
There is no right or wrong. Your answers, and how long each took, are kept under a random name. You can stop at any
time.
"""

SURVEY_GUIDELINES: Final = """\
Tick every link that a system for entity linking should ideally give the marked words. You can tick several.

Say that they should not be annotated if you would link them to nothing.

- Marked words can stand inside others; each is asked about on its own.
- Answer by what you would want from a system, not by what systems can do.
- If you have no opinion, skip the task and say why.
"""
