"""The tables of a campaign. Judgements are added and never changed; persons stand apart, to be forgotten."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, MetaData, String, Table, Text

METADATA: Final = MetaData()

ABOUT: Final = Table(
    "about",
    METADATA,
    Column("key", String(40), primary_key=True),  # layout, terms, secret
    Column("value", Text, nullable=False),
)

TASKS: Final = Table(
    "tasks",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),  # the order in which they are offered
    Column("name", String(32), nullable=False, unique=True),  # what judges call it: says nothing
    Column("document", Text, nullable=False),
    Column("start", Integer, nullable=False),
    Column("control", Boolean, nullable=False),
    Column("done", Integer, nullable=False, default=0),  # how many people have judged all of it
    Column("finished", Boolean, nullable=False, default=False),
    Column("content", Text, nullable=False),
    Index("tasks_open", "finished", "control", "number"),
    Index("tasks_passage", "document", "start"),
)

JUDGES: Final = Table(
    "judges",
    METADATA,
    Column("pseudonym", String(32), primary_key=True),
    Column("machine", Text),  # what it is called, where it is no person
    Column("failed", Boolean, nullable=False, default=False),
    Column("consented", String(40)),
)

PERSONS: Final = Table(
    "persons",
    METADATA,
    Column("pseudonym", String(32), primary_key=True),
    Column("worker", Text, nullable=False, unique=True),
)

TOKENS: Final = Table(
    "tokens",
    METADATA,
    Column("hash", String(64), primary_key=True),  # of an invitation that was used, or of a session
    Column("pseudonym", String(32), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("until", Float, nullable=False),
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
