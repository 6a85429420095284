"""Default consent forms and guidelines for judges."""

from __future__ import annotations

from typing import Final

CONSENT: Final = """\
You will see short passages in which mentions are linked to entries of a knowledge base. Decide for each link whether it
is correct. Your decisions and their times are stored under a random name. You can stop at any time.
"""

GUIDELINES: Final = """\
Verify a link if the highlighted text refers to this entity in this passage.

Modify it if the text refers to another entity: search for that entity and select it.

Remove it if the text refers to no entity that should be linked.

- The meaning in this passage counts, not the most frequent one: "Germany" in a match report is the team.
- Entities are people, places, organisations, works, products, events, kinds of living things and the like. They need
  no name: occupations, genres, colours, sports, diseases and similar kinds count too, such as "athlete".
- A quantity or a date is an entity only as such: the link QUANTITY or DATETIME is correct if the text is a number,
  ordinal, date or time without its unit.
- "French" and similar adjectives refer to the country; to the people or the language only if these are clearly meant.
- The highlighted text should be a complete name. If a longer and a shorter name are possible, accept both.
- "He" or "the city" refers to an entity only if the passage names it elsewhere.
- If you cannot decide from passage and description, skip the task and give the reason. Do not guess.
"""
"""After the guidelines of Bast, Hertel and Prange (A Fair and In-Depth Evaluation …, A.3), in our own words."""

SURVEY_CONSENT: Final = """\
You will see short passages with highlighted mentions. Select for each mention the links that a system should ideally
give it. There are no correct or wrong answers. Your answers and their times are stored under a random name. You can
stop at any time.
"""

SURVEY_GUIDELINES: Final = """\
Tick every link that an entity linking system should ideally give the highlighted mention. You can tick several.

Select "do not annotate" if the mention should have no link.

- Mentions can be nested; decide for each one separately.
- Answer by what you would want from a system, not by what systems can do.
- If you have no opinion, skip the task and give the reason.
"""
