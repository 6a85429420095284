"""Storage of a campaign in a database: sessions of judges, leases of tasks, and judgements."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from random import Random
from typing import Annotated, Any, Final, NamedTuple, TypeVar

import msgspec
from sqlalchemy import Connection, and_, delete, exists, func, insert, select, text, update

from karat.model.errors import InputError, KaratError, check_layout_version
from karat.model.json.decoder import read_json_value
from karat.protocols.verification.campaign import Campaign, CampaignOptions, JudgingTask, create_secret
from karat.protocols.verification.judgements import (
    OUTCOMES,
    REQUIRED_DECISIONS,
    Decision,
    Judgement,
    effective_judgements,
)
from karat.protocols.verification.outcomes import (
    ControlResult,
    has_skipped_controls,
    judge_qualities,
    passes_control,
)
from karat.protocols.verification.store import statements
from karat.protocols.verification.store.tables import (
    JUDGES,
    LAYOUT,
    LEASES,
    MAX_PSEUDONYM,
    METADATA,
    PERSONS,
    PROPERTIES,
    RECORDS,
    REFERENCES,
    TASKS,
    TOKENS,
)
from karat.storage.database import Database, create_database, open_database

_T = TypeVar("_T")

SESSION_SECONDS: Final = 12 * 3600.0
"""Duration of a judge's session in seconds."""


class AccessDeniedError(KaratError):
    """A judge's request that the campaign does not allow."""


class InvitationError(AccessDeniedError):
    """An invitation that lets nobody in."""


class JudgeStatus(NamedTuple):
    """A person who judges, as only the lead sees it."""

    judge: str
    """Pseudonym."""
    worker: str | None
    """Worker id; None if the judge was anonymised."""
    done: int
    """Number of completed tasks."""
    control_result: ControlResult
    """Result of the control tasks."""
    code: str
    """Completion code, which the judge sees at the end."""
    is_revoked: bool
    """Whether the judge's access was revoked."""


class TaskProgress(NamedTuple):
    """Progress of a judge."""

    done: int
    """Number of completed tasks."""
    batch: int | None
    """Number of tasks in total; None if unlimited."""
    code: str | None
    """Completion code; None until the judge gets no further task."""


class SubmittedDecision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decision on one link of a task, as sent by a judge's browser."""

    id: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9-]{1,40}$")]
    """Id chosen by the browser: a repeated request is stored once."""
    link: int
    """Index of the link in the task."""
    decision: Decision
    """Decision."""
    becomes: Annotated[str, msgspec.Meta(min_length=1, max_length=2000)] | None = None
    """Entity that the link is modified to, or that is added."""
    chosen: Annotated[tuple[str, ...], msgspec.Meta(max_length=100)] = ()
    """Chosen links, in a survey."""
    start: int = 0
    """Start of an added link, in the text of the task."""
    end: int = 0
    """End of an added link, in the text of the task."""
    seconds: Annotated[float, msgspec.Meta(ge=0, le=1e7)] | None = None
    """Time that the judge took."""
    client_time: Annotated[str, msgspec.Meta(max_length=40)] | None = None
    """Time on the judge's device."""


@dataclass(frozen=True)
class CampaignStore:
    """A campaign in a database. Every method that writes returns after the data are on disk.

    Judges are identified by random pseudonyms (`judge`); a worker id (`worker`) is the identity of a person.
    """

    database: Database
    """Database."""
    clock: Callable[[], float] = field(default=time.time)
    """Function that returns the time in seconds."""

    @classmethod
    def create(cls, target: str, campaign: Campaign, clock: Callable[[], float] = time.time) -> CampaignStore:
        """Create the tables of a campaign in an empty database; raise `InputError` if it contains a campaign.

        `target` is a file or the address of a PostgreSQL database.
        """
        secret = campaign.secret or create_secret()
        metadata = {"layout": LAYOUT, "options": msgspec.json.encode(campaign.options).decode(), "secret": secret}
        rows = [
            {
                "number": task.number,
                "name": _sign(secret, f"task {task.number}")[:24],
                "document": task.document,
                "start": task.start,
                "control": task.is_control,
                "done": 0,
                "finished": False,
                "content": msgspec.json.encode(task).decode(),
            }
            for task in campaign.tasks
        ]
        with create_database(target) as database:
            require_empty(database)
            with database.open_write_transaction() as connection:
                METADATA.create_all(connection)
                connection.execute(insert(PROPERTIES), [{"key": key, "value": text} for key, text in metadata.items()])
                connection.execute(insert(TASKS), rows)
        return cls(database, clock)

    @classmethod
    def open(cls, target: str, clock: Callable[[], float] = time.time) -> CampaignStore:
        """Open the campaign in a database; raise `InputError` if there is none or its layout is another."""
        database = open_database(target)
        layout = read_layout(database)
        check_layout_version(database.label, layout or "", LAYOUT)
        if layout != LAYOUT:
            raise InputError(
                database.label,
                actual="no campaign" if layout is None else f"the layout {layout}",
                expected=f"the tables of a campaign ({LAYOUT})",
                remedy="Create one: karat verify create NAME …"
                if layout is None
                else f"Migrate it: karat verify migrate {database.label}",
            )
        database.check_rows(METADATA, REFERENCES)
        return cls(database, clock)

    @cached_property
    def _properties(self) -> dict[str, str]:
        """Properties of the campaign by key, read from the database once.

        The keys are `layout` (version of the tables), `options` (as JSON) and `secret`.
        """
        with self.database.open_read_transaction() as connection:
            properties = {row.key: row.value for row in connection.execute(select(PROPERTIES))}
        if missing := {"options", "secret"} - properties.keys():
            raise InputError(
                self.database.label,
                actual=f"a campaign without {' and '.join(sorted(missing))}",
                expected=f"the tables of a campaign ({LAYOUT})",
                remedy="Restore a backup: karat verify restore",
            )
        return properties

    @cached_property
    def options(self) -> CampaignOptions:
        """Options of the campaign."""
        return decode_stored(self._properties["options"], CampaignOptions, self.database.label)

    @cached_property
    def campaign(self) -> Campaign:
        """Campaign as it was created, with all tasks."""
        return Campaign(self.options, tuple(self._tasks.values()), self._properties["secret"])

    @cached_property
    def _tasks(self) -> dict[int, JudgingTask]:
        """All tasks by number."""
        with self.database.open_read_transaction() as connection:
            rows = connection.execute(select(TASKS.c.content).order_by(TASKS.c.number)).scalars()
            tasks = [decode_stored(row, JudgingTask, self.database.label) for row in rows]
        return {task.number: task for task in tasks}

    @cached_property
    def _numbers_by_name(self) -> dict[str, int]:
        """Task numbers by the opaque task names that judges see."""
        with self.database.open_read_transaction() as connection:
            return {row.name: row.number for row in connection.execute(select(TASKS.c.name, TASKS.c.number))}

    def get_task_name(self, task: JudgingTask) -> str:
        """Return the name of a task for judges, which reveals neither its number nor its source."""
        return _sign(self._properties["secret"], f"task {task.number}")[:24]

    def get_task(self, name: str) -> JudgingTask:
        """Return the task with an opaque name; raise `AccessDeniedError` if there is none."""
        if name not in self._numbers_by_name:
            raise AccessDeniedError("unknown task. Request a new task.")
        return self._tasks[self._numbers_by_name[name]]

    # Judges and sessions.

    def get_auto_judge(self, name: str) -> str:
        """Return the pseudonym of the automatic judge `name`; add the judge on first use."""
        with self.database.open_write_transaction() as connection:
            pseudonym = connection.execute(select(JUDGES.c.pseudonym).where(JUDGES.c.machine == name)).scalar()
            return pseudonym or _add_judge(connection, name)

    def create_invitation(self, worker: str, seconds: float = 14 * 86400.0) -> str:
        """Return an invitation for a worker: a signed token that can be used once within `seconds`; store nothing."""
        payload = f"{worker.encode().hex()}.{int(self.clock() + seconds)}"
        return f"{payload}.{_sign(self._properties['secret'], f'invitation {payload}')[:32]}"

    def start_session(self, invitation: str, has_consented: bool = False) -> str:
        """Exchange an invitation for a session token; on a worker's first session, add a judge with a pseudonym.

        The time of the first session with `has_consented` is recorded. The invitation counts as used once the session
        is, so that it works again if the answer never reached the judge; the earlier session has ended then. Raise
        `AccessDeniedError` if the invitation is invalid, expired or used, or the judge's access was revoked.
        """
        payload, _, signature = invitation.rpartition(".")
        worker, _, end = payload.partition(".")
        expected = _sign(self._properties["secret"], f"invitation {payload}")[:32]
        if not hmac.compare_digest(signature.encode(), expected.encode()) or not end.isdecimal():
            raise InvitationError("this invitation is not valid for this campaign. Request a new one.")
        if self.clock() > int(end):
            raise InvitationError("this invitation has expired. Request a new one.")
        session = secrets.token_urlsafe(32)
        values = {"kind": "new", "until": self.clock() + SESSION_SECONDS, "invitation": _hash(invitation)}

        def store(connection: Connection) -> None:
            """Store judge and session, and end an unused session of the same invitation."""
            if _is_used(connection, _hash(invitation)):
                raise InvitationError("this invitation was already used. Request a new one.")
            judge = _find_or_add_person(connection, bytes.fromhex(worker).decode())
            is_judge = JUDGES.c.pseudonym == judge
            if connection.execute(select(JUDGES.c.revoked).where(is_judge)).scalar() is not None:
                raise InvitationError("your access was revoked. Ask the organisers.")
            if has_consented:
                is_first = and_(is_judge, JUDGES.c.consented.is_(None))
                connection.execute(update(JUDGES).where(is_first).values(consented=_to_iso(self.clock())))
            connection.execute(delete(TOKENS).where(TOKENS.c.kind == "new", TOKENS.c.invitation == _hash(invitation)))
            connection.execute(insert(TOKENS).values(hash=_hash(session), pseudonym=judge, **values))

        self.database.run_write(store)
        return session

    def find_judge(self, session: str, *, uses: bool = True) -> str | None:
        """Return the pseudonym of the judge of a session; None if the session is unknown or has expired.

        Unless `uses` is False, the judge has the session now, and the invitation for it cannot be used again.
        """
        row = self.database.fetch_row(statements.SESSION, {"hash": _hash(session), "now": self.clock()})
        if row is not None and uses and row.kind == "new":
            is_valid = self.database.run_write(lambda connection: _use_session(connection, _hash(session)))
            row = row if is_valid else None
        return None if row is None else str(row.pseudonym)

    def end_session(self, session: str) -> None:
        """End a session; an unknown session is ignored."""
        with self.database.open_write_transaction() as connection:
            connection.execute(delete(TOKENS).where(TOKENS.c.hash == _hash(session)))

    def anonymise(self, worker: str) -> bool:
        """Delete the worker id and sessions of a judge, and return whether there was one; the judgements stay."""
        with self.database.open_write_transaction() as connection:
            judge = _find_person(connection, worker)
            if judge is None:
                return False
            connection.execute(delete(TOKENS).where(TOKENS.c.pseudonym == judge))
            connection.execute(delete(PERSONS).where(PERSONS.c.pseudonym == judge))
            return True

    def revoke(self, worker: str) -> bool:
        """End all access of a judge and return whether the judge had entered; the judgements stay and count.

        Sessions and reservations of tasks end, and no invitation of this worker works any more, also if the judge never
        entered. `restore_access` lifts it.
        """
        with self.database.open_write_transaction() as connection:
            was_known = _find_person(connection, worker) is not None
            judge = _find_or_add_person(connection, worker)
            is_first = and_(JUDGES.c.pseudonym == judge, JUDGES.c.revoked.is_(None))
            connection.execute(update(JUDGES).where(is_first).values(revoked=_to_iso(self.clock())))
            connection.execute(delete(TOKENS).where(TOKENS.c.pseudonym == judge, TOKENS.c.kind != "invitation"))
            is_open = and_(LEASES.c.judge == judge, LEASES.c.state == "open")
            connection.execute(update(LEASES).where(is_open).values(state="lost"))
            return was_known

    def restore_access(self, worker: str) -> bool:
        """Let a judge whose access was revoked enter again by an invitation; return whether there was such a judge."""
        with self.database.open_write_transaction() as connection:
            judge = _find_person(connection, worker)
            is_revoked = and_(JUDGES.c.pseudonym == judge, JUDGES.c.revoked.is_not(None))
            return bool(connection.execute(update(JUDGES).where(is_revoked).values(revoked=None)).rowcount)

    def list_judges(self) -> list[JudgeStatus]:
        """Return the people who entered, by worker id, those who were anonymised last; for the lead only."""
        workers, results = self.get_workers(), {q.judge: q for q in judge_qualities(self.campaign, self.get_records())}
        with self.database.open_read_transaction() as connection:
            rows = connection.execute(select(JUDGES).where(JUDGES.c.machine.is_(None))).all()
            judges = [
                JudgeStatus(
                    row.pseudonym,
                    workers.get(row.pseudonym),
                    _count_done(connection, row.pseudonym),
                    results[row.pseudonym].control_result if row.pseudonym in results else "not tested",
                    self._get_code(row.pseudonym),
                    row.revoked is not None,
                )
                for row in rows
            ]
        return sorted(judges, key=lambda judge: (judge.worker is None, judge.worker or "", judge.judge))

    def get_workers(self) -> dict[str, str]:
        """Return worker ids by pseudonym, of judges who were not anonymised."""
        with self.database.open_read_transaction() as connection:
            return {row.pseudonym: row.worker for row in connection.execute(select(PERSONS))}

    # Leases.

    def lease_task(self, judge: str) -> JudgingTask | None:
        """Return the judge's open task, or reserve a new one for the judge; None if no task is available.

        A control is chosen first if one is due, then a passage that the judge has not seen, then any other task.
        """

        def lease(connection: Connection) -> int | None:
            """Find or reserve a task and return its number."""
            number = self._find_open_task(connection, judge)
            if number is None and not self._is_batch_complete(_count_done(connection, judge)):
                number = self._pick_control(connection, judge)
                for is_new in (True, False):  # prefer a passage that the judge has not seen
                    number = self._pick_task(connection, judge, is_new=is_new) if number is None else number
                if number is not None:
                    until = self.clock() + self.options.lease
                    connection.execute(insert(LEASES).values(task=number, judge=judge, until=until, state="open"))
            return number

        number = self.database.run_write(lease)
        return None if number is None else self._tasks[number]

    def _find_open_task(self, connection: Connection, judge: str) -> int | None:
        """Return the number of the judge's open task with the latest lease; None if there is none.

        By this order undone tasks come before new ones. An expired lease is renewed, or marked as lost if enough other
        judges have done or hold the task.
        """
        for row in connection.execute(statements.OPEN_LEASES, {"judge": judge}).all():
            own_lease = and_(LEASES.c.task == row.task, LEASES.c.judge == judge)
            if row.until <= self.clock():
                if self._is_taken(connection, row.task):
                    connection.execute(update(LEASES).where(own_lease).values(state="lost"))
                    continue
                connection.execute(update(LEASES).where(own_lease).values(until=self.clock() + self.options.lease))
            return int(row.task)
        return None

    def _is_taken(self, connection: Connection, number: int) -> bool:
        """Return whether enough judges have done or hold a task.

        A control counts as taken like the other tasks of its passage: were it never taken, a judge could recognise it
        by waiting until the lease expires.
        """
        task = self._tasks[number]
        is_same = TASKS.c.number == number
        if task.is_control:
            is_same = and_(TASKS.c.document == task.document, TASKS.c.start == task.start)
        query = select(TASKS.c.number).where(is_same, ~TASKS.c.control, ~self._needs_judges_sql)
        return connection.execute(query).first() is not None

    @property
    def _needs_judges_sql(self) -> Any:  # noqa: ANN401  # an expression of SQL
        """SQL condition on a task: fewer judges than required have done it or hold an unexpired lease."""
        n_leases = (
            select(func.count())
            .select_from(LEASES)
            .where(LEASES.c.task == TASKS.c.number, LEASES.c.state == "open", LEASES.c.until > self.clock())
            .scalar_subquery()
        )
        return TASKS.c.done + n_leases < self.options.judges

    def _is_batch_complete(self, n_done: int) -> bool:
        """Return whether a judge who completed `n_done` tasks gets no further ones; failed controls make no difference.

        A judge who noticed a failed control could try again until it is passed.
        """
        return bool(self.options.batch) and n_done >= self.options.batch

    def _pick_control(self, connection: Connection, judge: str) -> int | None:
        """Return the number of an unseen control task if one is due after the judge's completed tasks; else None.

        The secret of the campaign decides at which positions of a judge's batch a control is due, and which one.
        Passages that the judge has not seen are preferred, as for other tasks.
        """
        options, secret = self.options, self._properties["secret"]
        if not options.controls:
            return None
        positions = Random(_sign(secret, f"positions {judge}")).sample(range(options.batch), options.controls)
        n_done = _count_done(connection, judge)
        states = {row.task: row.state for row in connection.execute(select(LEASES).where(LEASES.c.judge == judge))}
        controls = {number for number, task in self._tasks.items() if task.is_control}
        n_given = sum(states.get(number) in ("open", "done") for number in controls)
        if n_given >= sum(position <= n_done for position in positions):
            return None
        unseen = sorted(controls - states.keys())
        if not unseen:
            return None
        passages = {(self._tasks[number].document, self._tasks[number].start) for number in states}
        is_new = [n for n in unseen if (self._tasks[n].document, self._tasks[n].start) not in passages]
        return Random(_sign(secret, f"control {judge} {len(unseen)}")).choice(is_new or unseen)

    def _pick_task(self, connection: Connection, judge: str, *, is_new: bool) -> int | None:
        """Return the number of the next task that needs judges and that the judge never had; None if there is none.

        With `is_new`, only passages count whose tasks the judge has not had.
        """
        is_leased = exists().where(LEASES.c.task == TASKS.c.number, LEASES.c.judge == judge)
        query = select(TASKS.c.number).where(~TASKS.c.finished, ~TASKS.c.control, ~is_leased, self._needs_judges_sql)
        if is_new:
            other_tasks = TASKS.alias()
            seen = exists().where(
                LEASES.c.judge == judge,
                LEASES.c.task == other_tasks.c.number,
                other_tasks.c.document == TASKS.c.document,
                other_tasks.c.start == TASKS.c.start,
            )
            query = query.where(~seen)
        number: int | None = connection.execute(query.order_by(TASKS.c.number).limit(1)).scalar()
        return number

    def get_progress(self, judge: str, *, nothing_left: bool = False) -> TaskProgress:
        """Return the progress of a judge; the completion code is set once the batch is complete.

        With `nothing_left` (no task is available) the code is also set after any completed task. Progress and code are
        the same whether or not the judge failed a control; `list_judges` tells the lead.
        """
        row = self.database.fetch_row(statements.TASKS_DONE, {"judge": judge})
        n_done = 0 if row is None else int(row[0])
        is_finished = self._is_batch_complete(n_done) or (nothing_left and n_done > 0)
        return TaskProgress(n_done, self.options.batch or None, self._get_code(judge) if is_finished else None)

    def _get_code(self, judge: str) -> str:
        """Return the completion code of a judge."""
        return _sign(self._properties["secret"], f"done {judge}")[:10].upper()

    # Judgements.

    def record_decision(self, judge: str, task: JudgingTask, submitted: SubmittedDecision) -> Judgement:
        """Store a decision on one link of a task that the judge holds or held, and return the record.

        Modifying a link to the entity that it has is stored as `verify`. A repeated id returns the stored record. Raise
        `AccessDeniedError` if the decision is invalid or the judge never had the task.
        """
        if submitted.decision is Decision.ADD:
            return self._store_record(self._build_addition(judge, task, submitted))
        allowed = (Decision.CHOOSE,) if self.options.kind == "survey" else OUTCOMES
        if submitted.decision not in allowed or not 0 <= submitted.link < len(task.links):
            raise AccessDeniedError(f"invalid decision. Choose {', '.join(allowed)} for a link of the task.")
        if (submitted.decision is Decision.MODIFY) != bool(submitted.becomes):
            raise AccessDeniedError("modify needs another entity, and only modify does. Name the entity.")
        link = task.links[submitted.link]
        if not {*submitted.chosen} <= {option.entity for option in link.options}:
            raise AccessDeniedError("unknown link. Choose among the proposed links.")
        is_unchanged = submitted.becomes == link.entity  # choosing the entity that is shown verifies the link
        record = Judgement(
            id=self._create_record_id(judge, submitted.id),
            judge=judge,
            task=task.number,
            decision=Decision.VERIFY if is_unchanged else submitted.decision,
            server_time=_to_iso(self.clock()),
            link=submitted.link,
            surface=task.surface(link),
            start=link.start,
            end=link.end,
            entity=link.entity or None,
            becomes=None if is_unchanged else submitted.becomes,
            chosen=tuple(dict.fromkeys(submitted.chosen)),
            seconds=submitted.seconds,
            client_time=submitted.client_time,
        )
        return self._store_record(record)

    def _create_record_id(self, judge: str, request: str) -> str:
        """Return the id of a judge's record: the same for a repeated `request`, and without meaning to the judge."""
        return _sign(self._properties["secret"], f"record {judge} {request}")[:32]

    def _build_addition(self, judge: str, task: JudgingTask, submitted: SubmittedDecision) -> Judgement:
        """Build the record of a link that a judge added; raise `AccessDeniedError` if it is invalid or not allowed."""
        if (
            not self.options.additions
            or submitted.becomes is None
            or not 0 <= submitted.start < submitted.end <= len(task.text)
        ):
            raise AccessDeniedError(
                "invalid addition. Select text of the task and an entity, in a campaign that allows additions."
            )
        return Judgement(
            id=self._create_record_id(judge, submitted.id),
            judge=judge,
            task=task.number,
            decision=Decision.ADD,
            server_time=_to_iso(self.clock()),
            surface=task.text[submitted.start : submitted.end],
            start=task.start + submitted.start,
            end=task.start + submitted.end,
            becomes=submitted.becomes,
            seconds=submitted.seconds,
            client_time=submitted.client_time,
        )

    def skip_task(self, judge: str, task: JudgingTask, reason: str) -> Judgement:
        """Record that a judge skips a task, so that another judge gets it, and return the record.

        Raise `AccessDeniedError` if the judge never had the task.
        """
        record = Judgement(
            id=secrets.token_hex(16),
            judge=judge,
            task=task.number,
            decision=Decision.SKIP,
            server_time=_to_iso(self.clock()),
            reason=reason,
        )
        return self._store_record(record)

    def undo_record(self, judge: str, record_id: str) -> Judgement:
        """Withdraw a record of the judge by a new record, which is returned; an incomplete task is open again.

        Raise `AccessDeniedError` if the record is not the judge's, or is itself an undo.
        """
        with self.database.open_read_transaction() as connection:
            row = connection.execute(
                select(RECORDS.c.content).where(RECORDS.c.id == record_id, RECORDS.c.judge == judge)
            )
            content = row.scalar()
        if content is None:
            raise AccessDeniedError("unknown judgement. Undo one of your own judgements.")
        undone = decode_stored(content, Judgement, self.database.label)
        if undone.decision is Decision.UNDO:
            raise AccessDeniedError("an undo cannot be undone. Judge the link again.")
        withdrawal = Judgement(
            id=self._create_record_id(judge, f"undo {record_id}"),
            judge=judge,
            task=undone.task,
            decision=Decision.UNDO,
            server_time=_to_iso(self.clock()),
            link=undone.link,
            undone_id=record_id,
        )
        return self._store_record(withdrawal)

    def _store_record(self, record: Judgement) -> Judgement:
        """Store a record, update the lease and return the record; if its id is stored, return the stored record.

        The record is marked as late if the lease had expired. Raise `AccessDeniedError` if the judge never had the
        task.
        """

        def store(connection: Connection) -> Judgement:
            """Store the record in a transaction."""
            stored = connection.execute(statements.RECORD, {"id": record.id}).scalar()
            if stored is not None:
                return decode_stored(stored, Judgement, self.database.label)
            lease = connection.execute(statements.LEASE, {"task": record.task, "judge": record.judge}).first()
            if lease is None:
                raise AccessDeniedError("unknown task. Request a new task.")
            is_late = lease.state == "lost" or (lease.state == "open" and lease.until < self.clock())
            added = msgspec.structs.replace(record, is_late=is_late)
            _insert_records(connection, [added])
            self._update_lease(connection, added, lease.state)
            return added

        return self.database.run_write(store)

    def _update_lease(self, connection: Connection, record: Judgement, state: str) -> None:
        """Set a judge's lease to open, done, skipped or lost after a record was added; `state` is the old state.

        This also updates the number of judges who completed the task and, for a control, whether the judge has failed.
        """
        own_lease = and_(LEASES.c.task == record.task, LEASES.c.judge == record.judge)
        task = self._tasks[record.task]
        judgements = effective_judgements(_task_records(connection, record.judge, record.task))
        is_skipped = any(j.decision is Decision.SKIP for j in judgements)
        is_complete = len({j.link for j in judgements if j.decision in REQUIRED_DECISIONS}) == len(task.links)
        new_state = "skipped" if is_skipped else "done" if is_complete else "lost" if state == "lost" else "open"
        has_failed = bool(connection.execute(statements.HAS_FAILED, {"judge": record.judge}).scalar())
        if new_state != state:
            values: dict[str, object] = {"state": new_state}
            if new_state == "open":
                values["until"] = self.clock() + self.options.lease
            connection.execute(update(LEASES).where(own_lease).values(**values))
            if not task.is_control and not has_failed:
                self._change_done_counts(connection, [record.task], (new_state == "done") - (state == "done"))
        if task.is_control:
            self._update_control_result(connection, record.judge)

    def update_control_results(self) -> None:
        """Update whether each person has failed a control."""
        with self.database.open_write_transaction() as connection:
            judges = connection.execute(select(JUDGES.c.pseudonym).where(JUDGES.c.machine.is_(None))).scalars().all()
            for judge in judges:
                self._update_control_result(connection, judge)

    def _update_control_result(self, connection: Connection, judge: str) -> None:
        """Update whether a judge has failed a control, or has skipped all of them.

        The completed tasks of a judge who failed no longer count as done, so that other judges get them. Once a control
        is answered, its result never changes.
        """
        controls = {number for number, task in self._tasks.items() if task.is_control}
        by_control: dict[int, list[Judgement]] = {}
        for record in _select_records(connection, RECORDS.c.judge == judge):
            if record.task in controls:
                by_control.setdefault(record.task, []).append(record)
        results = [passes_control(self._tasks[number], group) for number, group in by_control.items()]
        judgements = effective_judgements(record for group in by_control.values() for record in group)
        has_failed = False in results or has_skipped_controls(self.campaign, judgements)
        is_changed = and_(JUDGES.c.pseudonym == judge, JUDGES.c.failed != has_failed)
        if connection.execute(update(JUDGES).where(is_changed).values(failed=has_failed)).rowcount:
            done = select(LEASES.c.task).where(LEASES.c.judge == judge, LEASES.c.state == "done")
            tasks = [number for number in connection.execute(done).scalars() if number not in controls]
            self._change_done_counts(connection, tasks, -1 if has_failed else 1)

    def _change_done_counts(self, connection: Connection, tasks: Sequence[int], change: int) -> None:
        """Add `change` (1, 0 or -1) to the number of judges who completed each of the tasks with these numbers."""
        if tasks and change:
            done = TASKS.c.done + change
            values = {"done": done, "finished": done >= self.options.judges}
            connection.execute(update(TASKS).where(TASKS.c.number.in_(tasks)).values(**values))

    def record_auto_decisions(
        self, judge: str, machine: str, task: JudgingTask, decisions: Sequence[SubmittedDecision]
    ) -> None:
        """Store the decisions of an automatic judge on a task.

        An automatic judge needs no lease and blocks no other judge. `judge` is the pseudonym of the automatic judge,
        `machine` its name. Links that the judge has already judged keep their decision.
        """
        records = [
            Judgement(
                id=self._create_record_id(judge, f"{task.number} {decision.link}"),
                judge=judge,
                task=task.number,
                decision=decision.decision,
                server_time=_to_iso(self.clock()),
                link=decision.link,
                surface=task.surface(task.links[decision.link]),
                start=task.links[decision.link].start,
                end=task.links[decision.link].end,
                entity=task.links[decision.link].entity,
                becomes=decision.becomes,
                seconds=decision.seconds,
                machine=machine,
            )
            for decision in decisions
        ]
        with self.database.open_write_transaction() as connection:
            decided_links = {stored.link for stored in _task_records(connection, judge, task.number)}
            _insert_records(connection, [record for record in records if record.link not in decided_links])

    def get_task_records(self, judge: str, task: JudgingTask) -> list[Judgement]:
        """Return all records of a judge on a task, oldest first, including withdrawn ones."""
        with self.database.open_read_transaction() as connection:
            return _task_records(connection, judge, task.number)

    def get_records(self) -> list[Judgement]:
        """Return all records of the campaign, oldest first, including withdrawn ones."""
        with self.database.open_read_transaction() as connection:
            return _select_records(connection)

    def check_record(self, where: str, record: Judgement) -> None:
        """Raise `InputError`, located at `where`, if a judgement is not about a task and link of this campaign."""
        check_judgement(where, record, self._tasks)

    def import_records(self, records: Iterable[Judgement]) -> tuple[int, int]:
        """Add records from another database of the same campaign; return the numbers of new and already stored ones.

        Unknown judges are added without identity, and leases are updated. `check_record` accepts all of them.
        """
        record_list = list(records)
        with self.database.open_write_transaction() as connection:
            stored_ids = set(connection.execute(select(RECORDS.c.id)).scalars())
            new = list({record.id: record for record in record_list if record.id not in stored_ids}.values())
            judges = set(connection.execute(select(JUDGES.c.pseudonym)).scalars())
            for judge, machine in {
                record.judge: record.machine for record in new if record.judge not in judges
            }.items():
                connection.execute(insert(JUDGES).values(pseudonym=judge, machine=machine, failed=False))
            _insert_records(connection, new)
            for judge, number in dict.fromkeys((record.judge, record.task) for record in new if record.machine is None):
                own_lease = and_(LEASES.c.task == number, LEASES.c.judge == judge)
                lease = connection.execute(select(LEASES).where(own_lease)).first()
                if lease is None:
                    connection.execute(
                        insert(LEASES).values(task=number, judge=judge, until=self.clock(), state="lost")
                    )
                last = next(record for record in reversed(new) if (record.judge, record.task) == (judge, number))
                self._update_lease(connection, last, "lost" if lease is None else lease.state)
        return len(new), len(record_list) - len(new)


def decode_stored(content: object, kind: type[_T], where: str) -> _T:
    """Decode the JSON `content` of a stored row as `kind`; raise `InputError` about `where` if it is damaged.

    A damaged database may return a number or bytes for a text.
    """
    return read_json_value(
        content if isinstance(content, str) else "",
        kind,
        where,
        actual="a damaged row ({problem})",
        expected=f"the tables of a campaign ({LAYOUT})",
        remedy="Restore a backup: karat verify restore",
    )


def check_judgement(where: str, record: Judgement, tasks: Mapping[int, JudgingTask]) -> None:
    """Raise `InputError`, located at `where`, if a judgement is not about one of the `tasks` (by number) and its links.

    Ids that the tables cannot hold are refused too.
    """
    task = tasks.get(record.task)
    actual = None
    if task is None:
        actual = f"task {record.task}, which this campaign does not have"
    elif record.link is not None and not 0 <= record.link < len(task.links):
        actual = f"link {record.link}, which task {record.task} does not have"
    elif not 0 < len(record.judge) <= MAX_PSEUDONYM or "\0" in record.id + record.judge:
        actual = "an id that is no id of a judge or judgement"
    if actual is not None:
        raise InputError(
            where,
            actual=actual,
            expected="judgements of the same campaign",
            remedy="Import them into the campaign that they come from",
        )


def read_layout(database: Database) -> str | None:
    """Return the layout of the campaign in a database; None if there is none. Layouts before 2 have another table."""
    from sqlalchemy import inspect

    with database.open_read_transaction() as connection:
        tables = set(inspect(connection).get_table_names())
        for name in (PROPERTIES.name, "about"):
            if name in tables:
                query = text(f"SELECT value FROM {name} WHERE key = 'layout'")  # names of tables, above
                layout: str | None = connection.execute(query).scalar()
                return layout
    return None


def require_empty(database: Database) -> None:
    """Raise `InputError` if a database already contains a campaign."""
    from sqlalchemy import inspect

    with database.open_read_transaction() as connection:
        tables = sorted(set(inspect(connection).get_table_names()) & set(METADATA.tables))
    if tables:
        raise InputError(
            database.label,
            actual=f"tables of a campaign ({', '.join(tables)})",
            expected="an empty database for each campaign",
            remedy="Name another one",
        )


def _find_person(connection: Connection, worker: str) -> str | None:
    """Return the pseudonym of a worker; None if the worker never entered."""
    judge: str | None = connection.execute(select(PERSONS.c.pseudonym).where(PERSONS.c.worker == worker)).scalar()
    return judge


def _find_or_add_person(connection: Connection, worker: str) -> str:
    """Return the pseudonym of a worker; add a judge with a new one if there is none."""
    judge = _find_person(connection, worker)
    if judge is None:
        judge = _add_judge(connection, None)
        connection.execute(insert(PERSONS).values(pseudonym=judge, worker=worker))
    return judge


def _is_used(connection: Connection, invitation_hash: str) -> bool:
    """Return whether an invitation was used: a session that it gave was used."""
    query = select(TOKENS.c.hash).where(TOKENS.c.hash == invitation_hash, TOKENS.c.kind == "invitation")
    return connection.execute(query).scalar() is not None


def _use_session(connection: Connection, session_hash: str) -> bool:
    """Mark a new session and its invitation as used, and return whether the session is still valid."""
    row = connection.execute(select(TOKENS).where(TOKENS.c.hash == session_hash)).first()
    if row is None or row.kind != "new":
        return row is not None
    values = {"hash": row.invitation, "pseudonym": row.pseudonym, "kind": "invitation", "until": row.until}
    connection.execute(insert(TOKENS).values(**values))
    connection.execute(update(TOKENS).where(TOKENS.c.hash == session_hash).values(kind="session"))
    return True


def _add_judge(connection: Connection, machine: str | None) -> str:
    """Add a judge with a random pseudonym and return it; `machine` is None for a person."""
    pseudonym = secrets.token_hex(8)
    connection.execute(insert(JUDGES).values(pseudonym=pseudonym, machine=machine, failed=False))
    return pseudonym


def _count_done(connection: Connection, judge: str) -> int:
    """Count the tasks that a judge has completed, including controls."""
    return int(connection.execute(statements.TASKS_DONE, {"judge": judge}).scalar_one())


def _insert_records(connection: Connection, records: Sequence[Judgement]) -> None:
    """Insert records, whose ids must be new."""
    rows = [
        {"id": record.id, "judge": record.judge, "task": record.task, "content": msgspec.json.encode(record).decode()}
        for record in records
    ]
    if rows:
        connection.execute(insert(RECORDS), rows)


def _task_records(connection: Connection, judge: str, task: int) -> list[Judgement]:
    """Return the records of a judge on the task with this number, oldest first."""
    rows = connection.execute(statements.RECORDS_ON_TASK, {"judge": judge, "task": task}).scalars()
    return [decode_stored(row, Judgement, RECORDS.name) for row in rows]


def _select_records(connection: Connection, *conditions: Any) -> list[Judgement]:  # noqa: ANN401  # expressions of SQL
    """Return the records that meet all SQL conditions, oldest first."""
    rows = connection.execute(select(RECORDS.c.content).where(*conditions).order_by(RECORDS.c.seq)).scalars()
    return [decode_stored(row, Judgement, RECORDS.name) for row in rows]


def _sign(secret: str, message: str) -> str:
    """Return the HMAC-SHA256 of a message as hexadecimal digits."""
    return hmac.new(secret.encode(), message.encode(), hashlib.sha256).hexdigest()


def _hash(token: str) -> str:
    """Return the SHA-256 of a token, which is stored in place of the token."""
    return hashlib.sha256(token.encode()).hexdigest()


def _to_iso(seconds: float) -> str:
    """Format a Unix time as ISO 8601 in UTC, with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
