"""Prepared SQL statements for the frequent requests of participants. Building them takes longer than running them."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, func, select

from karat.protocols.campaigns.tables import JUDGES, LEASES, PROPERTIES, RECORDS, TOKENS

SESSION: Final = select(TOKENS).where(
    TOKENS.c.hash == bindparam("hash"), TOKENS.c.kind.in_(("session", "new")), TOKENS.c.until > bindparam("now")
)
LEAD: Final = select(TOKENS.c.hash).where(
    TOKENS.c.hash == bindparam("hash"), TOKENS.c.kind == "lead", TOKENS.c.until > bindparam("now")
)
LAST_RECORD: Final = select(func.count(), func.max(RECORDS.c.seq)).select_from(RECORDS)
LEASE: Final = select(LEASES).where(LEASES.c.task == bindparam("task"), LEASES.c.judge == bindparam("judge"))
OPEN_LEASES: Final = (
    select(LEASES).where(LEASES.c.judge == bindparam("judge"), LEASES.c.state == "open").order_by(LEASES.c.until.desc())
)
TASKS_DONE: Final = (
    select(func.count()).select_from(LEASES).where(LEASES.c.judge == bindparam("judge"), LEASES.c.state == "done")
)
HAS_FAILED: Final = select(JUDGES.c.failed).where(JUDGES.c.pseudonym == bindparam("judge"))
RECORD: Final = select(RECORDS.c.content).where(RECORDS.c.id == bindparam("id"))
RECORDS_ON_TASK: Final = (
    select(RECORDS.c.content)
    .where(RECORDS.c.judge == bindparam("judge"), RECORDS.c.task == bindparam("task"))
    .order_by(RECORDS.c.seq)
)
NEW_RECORDS: Final = (
    select(RECORDS.c.seq, RECORDS.c.content)
    .where(RECORDS.c.judge == bindparam("judge"), RECORDS.c.task == bindparam("task"), RECORDS.c.seq > bindparam("seq"))
    .order_by(RECORDS.c.seq)
)
RECORDS_OF_MANY: Final = (
    select(RECORDS.c.content)
    .where(RECORDS.c.judge.in_(bindparam("judges", expanding=True)), RECORDS.c.task == bindparam("task"))
    .order_by(RECORDS.c.seq)
)
TASKS_OF_MANY: Final = select(RECORDS.c.task).where(RECORDS.c.judge.in_(bindparam("judges", expanding=True))).distinct()
LEASES_ON_TASK: Final = select(LEASES).where(LEASES.c.task == bindparam("task"))
PROPERTIES_BY_KEY: Final = select(PROPERTIES).where(PROPERTIES.c.key.in_(bindparam("keys", expanding=True)))
