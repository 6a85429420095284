"""Tables of a campaign of judges or annotators. Records are never changed; identities are in a separate table."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, MetaData, String, Table, Text

LAYOUT: Final = "karat-judging/3"
MAX_PSEUDONYM: Final = 32
"""Characters that the pseudonym of a judge has at most."""

METADATA: Final = MetaData()

PROPERTIES: Final = Table(
    "metadata",
    METADATA,
    Column("key", String(40), primary_key=True),  # layout, options, secret
    Column("value", Text, nullable=False),
)

TASKS: Final = Table(
    "tasks",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),  # order in which tasks are offered
    Column("name", String(32), nullable=False, unique=True),  # opaque name for judges
    Column("document", Text, nullable=False),
    Column("start", Integer, nullable=False),
    Column("control", Boolean, nullable=False),
    Column("done", Integer, nullable=False, default=0),  # number of judges who completed it
    Column("finished", Boolean, nullable=False, default=False),
    Column("content", Text, nullable=False),
    Index("tasks_open", "finished", "control", "number"),
    Index("tasks_passage", "document", "start"),
)

JUDGES: Final = Table(
    "judges",
    METADATA,
    Column("pseudonym", String(MAX_PSEUDONYM), primary_key=True),
    Column("machine", Text),  # name of an automatic judge
    Column("failed", Boolean, nullable=False, default=False),
    Column("consented", String(40)),
    Column("revoked", String(40)),  # time since which the judge has no access
)

PERSONS: Final = Table(
    "persons",
    METADATA,
    Column("pseudonym", String(MAX_PSEUDONYM), primary_key=True),
    Column("worker", Text, nullable=False, unique=True),
)

TOKENS: Final = Table(
    "tokens",
    METADATA,
    Column("hash", String(64), primary_key=True),  # of a used invitation, a session, or a token of the lead
    Column("pseudonym", String(MAX_PSEUDONYM), nullable=False),
    Column("kind", String(16), nullable=False),  # invitation, session, lead, or new: a session never used
    Column("until", Float, nullable=False),
    Column("invitation", String(64)),  # hash of the invitation for which a new session was given
)

LEASES: Final = Table(
    "leases",
    METADATA,
    Column("task", Integer, primary_key=True, autoincrement=False),
    Column("judge", String(32), primary_key=True),
    Column("until", Float, nullable=False),
    Column("state", String(8), nullable=False),  # open, done, skipped, lost
    Index("leases_of", "judge", "state"),
)

RECORDS: Final = Table(
    "records",
    METADATA,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("judge", String(32), nullable=False),
    Column("task", Integer, nullable=False),
    Column("content", Text, nullable=False),
    Index("records_of", "judge", "task"),
)

REFERENCES: Final = ((LEASES.c.task, TASKS.c.number), (RECORDS.c.task, TASKS.c.number))
"""Columns whose values have to be in another column."""
