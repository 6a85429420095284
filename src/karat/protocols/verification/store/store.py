"""Storage of a campaign of judges in a database: leases of tasks, and judgements."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product
from random import Random
from typing import Annotated, Any, NamedTuple

import msgspec
from sqlalchemy import Connection, and_, exists, func, insert, or_, select, update

from karat.model.errors import InputError
from karat.protocols.campaigns import statements
from karat.protocols.campaigns.participants import (
    AccessDeniedError,
    ParticipantStore,
    add_judge,
    count_done,
    create_tables,
    decode_stored,
    select_participants,
)
from karat.protocols.campaigns.signatures import name_task
from karat.protocols.campaigns.tables import JUDGES, LEASES, MAX_PSEUDONYM, RECORDS, TASKS
from karat.protocols.verification.campaign import (
    Campaign,
    CampaignOptions,
    JudgingTask,
    find_id_patterns,
    is_plausible_id,
)
from karat.protocols.verification.judgements import (
    LEAD,
    OUTCOMES,
    REQUIRED_DECISIONS,
    Decision,
    Judgement,
    effective_judgements,
)
from karat.protocols.verification.outcomes import (
    ControlResult,
    JudgeQuality,
    evaluate_controls,
    has_skipped_controls,
    judge_qualities,
)
from karat.protocols.verification.ties import LeadDecision
from karat.storage.database_errors import DAMAGED, DatabaseUnavailableError


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


class CampaignStore(ParticipantStore):
    """A campaign of judges in a database: leases of tasks, and judgements."""

    command = "verify"

    @classmethod
    def create(cls, target: str, campaign: Campaign, clock: Callable[[], float] = time.time) -> CampaignStore:
        """Create the tables of a campaign in an empty database; raise `InputError` if it contains a campaign.

        `target` is a file or the address of a PostgreSQL database.
        """
        rows = [
            {
                "number": task.number,
                "document": task.document,
                "start": task.start,
                "control": task.is_control,
                "content": msgspec.json.encode(task).decode(),
            }
            for task in campaign.tasks
        ]
        return cls(create_tables(target, campaign.options, campaign.secret, rows), clock)

    @cached_property
    def options(self) -> CampaignOptions:
        """Options of the campaign."""
        return self._decode(self._properties["options"], CampaignOptions)

    @cached_property
    def campaign(self) -> Campaign:
        """Campaign as it was created, with all tasks."""
        return Campaign(self.options, tuple(self._tasks.values()), self._properties["secret"])

    @cached_property
    def _tasks(self) -> dict[int, JudgingTask]:
        """All tasks by number."""
        with self.database.open_read_transaction() as connection:
            rows = connection.execute(select(TASKS.c.number, TASKS.c.content).order_by(TASKS.c.number)).all()
        tasks = {row.number: self._decode(row.content, JudgingTask) for row in rows}
        for number, task in tasks.items():
            if task.number != number:
                raise DatabaseUnavailableError(self.database.label, DAMAGED, f"task {number} has another number")
        return tasks

    @cached_property
    def _id_patterns(self) -> frozenset[str]:
        """Patterns of the ids of the campaign."""
        return find_id_patterns(self._tasks.values())

    def get_task_name(self, task: JudgingTask) -> str:
        """Return the name of a task for judges, which reveals neither its number nor its source."""
        return name_task(self._properties["secret"], task.number)

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
            return pseudonym or add_judge(connection, name)

    def list_judges(self, qualities: Mapping[str, JudgeQuality] | None = None) -> list[JudgeStatus]:
        """Return the people who entered, by worker id, those who were anonymised last; for the lead only.

        `qualities` is the performance of each judge, by pseudonym; by default it is measured. Leads who never judged
        are not listed.
        """
        if qualities is None:
            qualities = {q.judge: q for q in judge_qualities(self.campaign, self.get_records())}
        workers, leads = self.get_workers(), self.list_leads()
        with self.database.open_read_transaction() as connection:
            rows = select_participants(connection, leads)
            judges = [
                JudgeStatus(
                    row.pseudonym,
                    workers.get(row.pseudonym),
                    count_done(connection, row.pseudonym),
                    qualities[row.pseudonym].control_result if row.pseudonym in qualities else "not tested",
                    self._get_code(row.pseudonym),
                    row.revoked is not None,
                )
                for row in rows
            ]
        return sorted(judges, key=lambda judge: (judge.worker is None, judge.worker or "", judge.judge))

    # Leases.

    def lease_task(self, judge: str) -> JudgingTask | None:
        """Return the judge's open task, or reserve a new one for the judge; None if no task is available.

        A control is chosen first if one is due, then a task planned for the judge, then any other task, each time
        preferably a passage that the judge has not seen. A judge who had no control gets one last, so that everyone
        who does all available tasks is tested.
        """

        def lease(connection: Connection) -> int | None:
            """Find or reserve a task and return its number."""
            number = self._find_open_task(connection, judge)
            if number is None:
                number = self._pick_any(connection, judge)
                if number is not None:
                    until = self.clock() + self.options.lease
                    connection.execute(insert(LEASES).values(task=number, judge=judge, until=until, state="open"))
            return number

        number = self.database.run_write(lease)
        return None if number is None else self._tasks[number]

    def has_no_task(self, judge: str) -> bool:
        """Return whether a judge holds no task and would get none; reserve nothing."""
        with self.database.open_read_transaction() as connection:
            is_free = connection.execute(statements.OPEN_LEASES, {"judge": judge}).first() is None
            return is_free and self._pick_any(connection, judge) is None

    def _pick_any(self, connection: Connection, judge: str) -> int | None:
        """Return the number of the next control or task for a judge; None if there is none."""
        if self._is_batch_complete(connection, judge):
            return None
        planned, number = self._list_planned_tasks(connection, judge), None
        for tasks, is_new in product([planned, None] if planned else [None], (True, False)):
            number = self._pick_task(connection, judge, tasks, is_new=is_new) if number is None else number
        control = self._pick_control(connection, judge, is_last=number is None)
        return number if control is None else control

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

    def _is_batch_complete(self, connection: Connection, judge: str) -> bool:
        """Return whether a judge gets no further tasks: the batch is complete, or the judge failed the controls.

        A judge who failed ends after a block of tasks, so that nothing tells which of them was the control, and not
        before the second one, because one slip in one control is easily made.
        """
        n_done = count_done(connection, judge)
        if self.options.batch and n_done >= self.options.batch:
            return True
        is_end = n_done in {block.stop for block in self.options.list_blocks(n_done)[1:]}
        return is_end and bool(connection.execute(statements.HAS_FAILED, {"judge": judge}).scalar())

    def _pick_control(self, connection: Connection, judge: str, *, is_last: bool) -> int | None:
        """Return the number of an unseen control task if one is due after the judge's completed tasks; else None.

        The secret of the campaign decides at which positions of a judge's tasks a control is due, and which one. With
        `is_last`, no other task is left: a control is due for a judge who had none, but not for one without any task.
        Passages that the judge has not seen are preferred, as for other tasks.
        """
        options = self.options
        if not options.controls:
            return None
        n_done = count_done(connection, judge)
        if is_last and n_done == 0:
            return None
        n_due = max(self._count_due_controls(judge, n_done), is_last)
        states = {row.task: row.state for row in connection.execute(select(LEASES).where(LEASES.c.judge == judge))}
        controls = {number for number, task in self._tasks.items() if task.is_control}
        n_given = sum(states.get(number) in ("open", "done") for number in controls)
        if n_given >= n_due:
            return None
        unseen = sorted(controls - states.keys())
        if not unseen:
            return None
        passages = {(self._tasks[number].document, self._tasks[number].start) for number in states}
        is_new = [n for n in unseen if (self._tasks[n].document, self._tasks[n].start) not in passages]
        return Random(self._sign(f"control {judge} {len(unseen)}")).choice(is_new or unseen)

    def _count_due_controls(self, judge: str, n_done: int) -> int:
        """Return how many controls a judge who completed `n_done` tasks should have had, with the next task."""
        random = Random(self._sign(f"positions {judge}"))
        return sum(
            position <= n_done
            for block in self.options.list_blocks(n_done)
            for position in random.sample(block, self.options.controls)
        )

    def _list_planned_tasks(self, connection: Connection, judge: str) -> frozenset[int]:
        """Return the numbers of the tasks that are planned for a judge; none for a judge without consent."""
        consented = connection.execute(select(JUDGES.c.consented).where(JUDGES.c.pseudonym == judge)).scalar()
        if consented is None:
            return frozenset()
        is_same_time = and_(JUDGES.c.consented == consented, JUDGES.c.pseudonym < judge)
        earlier = select(func.count()).select_from(JUDGES).where(or_(JUDGES.c.consented < consented, is_same_time))
        return self.campaign.list_planned_tasks(connection.execute(earlier).scalar_one())

    def _pick_task(
        self, connection: Connection, judge: str, tasks: Collection[int] | None, *, is_new: bool
    ) -> int | None:
        """Return the number of the next task that needs judges and that the judge never had; None if there is none.

        Only the `tasks` with these numbers count, unless None; with `is_new`, only passages whose tasks the judge has
        not had.
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
        if tasks is not None:
            query = query.where(TASKS.c.number.in_(sorted(tasks)))
        number: int | None = connection.execute(query.order_by(TASKS.c.number).limit(1)).scalar()
        return number

    def get_progress(self, judge: str, *, nothing_left: bool = False) -> TaskProgress:
        """Return the progress of a judge; the completion code is set once the batch is complete.

        With `nothing_left` (no task is available) the code is also set after any completed task. It is the same whether
        or not the judge failed the controls; `list_judges` tells the lead.
        """
        row = self.database.fetch_row(statements.TASKS_DONE, {"judge": judge})
        n_done = 0 if row is None else int(row[0])
        is_finished = 0 < self.options.batch <= n_done or (nothing_left and n_done > 0)
        return TaskProgress(n_done, self.options.batch or None, self._get_code(judge) if is_finished else None)

    def _get_code(self, judge: str) -> str:
        """Return the completion code of a judge."""
        return self._sign(f"done {judge}")[:10].upper()

    # Judgements.

    def record_decision(
        self, judge: str, task: JudgingTask, submitted: SubmittedDecision, entity_ids: Mapping[str, str] | None = None
    ) -> Judgement:
        """Store a decision on one link of a task that the judge holds or held, and return the record.

        Modifying a link to the entity that it has is stored as `verify`. A repeated id returns the stored record. Raise
        `AccessDeniedError` if the decision is invalid or the judge never had the task. `entity_ids` has the id of the
        entity for ids and addresses, so that judges who write it differently agree. A new entity must have such an id,
        or one that is written like those of the campaign.
        """
        entity_ids, entity = entity_ids or {}, submitted.becomes
        is_entity = entity is not None and entity_ids.get(entity) == entity
        if entity is not None and not is_entity and not is_plausible_id(entity, self._id_patterns):
            raise AccessDeniedError(
                f"{entity} is no entity, because it is not written like the ids of this campaign. Search for the "
                "entity, or give its id."
            )
        if entity is not None:
            submitted = msgspec.structs.replace(submitted, becomes=entity_ids.get(entity, entity))
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
        # choosing the entity that is shown verifies the link
        is_unchanged = submitted.becomes in (link.entity, entity_ids.get(link.entity, link.entity))
        record = Judgement(
            id=self._create_record_id(judge, submitted.id),
            judge=judge,
            task=task.number,
            decision=Decision.VERIFY if is_unchanged else submitted.decision,
            server_time=self._get_iso_time(),
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
        return self._sign(f"record {judge} {request}")[:32]

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
            server_time=self._get_iso_time(),
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
            server_time=self._get_iso_time(),
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
            raise AccessDeniedError("unknown judgement. Undo one of your own, by the id in the response to it.")
        undone = self._decode(content, Judgement)
        if undone.decision is Decision.UNDO:
            raise AccessDeniedError("an undo cannot be undone. Judge the link again.")
        withdrawal = Judgement(
            id=self._create_record_id(judge, f"undo {record_id}"),
            judge=judge,
            task=undone.task,
            decision=Decision.UNDO,
            server_time=self._get_iso_time(),
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
                return self._decode(stored, Judgement)
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
        """Update whether each person has failed the controls."""
        with self.database.open_write_transaction() as connection:
            judges = connection.execute(select(JUDGES.c.pseudonym).where(JUDGES.c.machine.is_(None))).scalars().all()
            for judge in judges:
                self._update_control_result(connection, judge)

    def _update_control_result(self, connection: Connection, judge: str) -> None:
        """Update whether a judge has failed the controls, or has skipped all of them.

        The completed tasks of a judge who failed no longer count as done, so that other judges get them. Once a control
        is answered, its result never changes, but a later control can make up for a slip.
        """
        controls = {number for number, task in self._tasks.items() if task.is_control}
        by_control: dict[int, list[Judgement]] = {}
        for record in _select_records(connection, RECORDS.c.judge == judge):
            if record.task in controls:
                by_control.setdefault(record.task, []).append(record)
        judgements = effective_judgements(record for group in by_control.values() for record in group)
        has_failed = evaluate_controls(self._tasks, by_control) == "failed" or has_skipped_controls(
            self.campaign, judgements
        )
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
    ) -> int:
        """Store the decisions of an automatic judge on a task, and return how many are new.

        An automatic judge needs no lease and blocks no other judge. `judge` is the pseudonym of the automatic judge,
        `machine` its name. Links that the judge has already judged keep their decision.
        """
        records = [
            Judgement(
                id=self._create_record_id(judge, f"{task.number} {decision.link}"),
                judge=judge,
                task=task.number,
                decision=decision.decision,
                server_time=self._get_iso_time(),
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
            new_records = [record for record in records if record.link not in decided_links]
            _insert_records(connection, new_records)
        return len(new_records)

    def record_lead_decisions(self, decisions: Iterable[LeadDecision]) -> None:
        """Store decisions of the lead on ties; a later decision on a link replaces an earlier one."""
        records = []
        for decision in decisions:
            task = self._tasks[decision.task]
            link = task.links[decision.link_index]
            records.append(
                Judgement(
                    id=secrets.token_hex(16),
                    judge=LEAD,
                    task=task.number,
                    decision=decision.decision,
                    server_time=self._get_iso_time(),
                    link=decision.link_index,
                    surface=task.surface(link),
                    start=link.start,
                    end=link.end,
                    entity=link.entity,
                    becomes=decision.becomes,
                    is_lead_decision=True,
                )
            )
        with self.database.open_write_transaction() as connection:
            _insert_records(connection, records)

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
                record.judge: record.machine
                for record in new
                if record.judge not in judges and not record.is_lead_decision
            }.items():
                connection.execute(insert(JUDGES).values(pseudonym=judge, machine=machine, failed=False))
            _insert_records(connection, new)
            people = [record for record in new if record.machine is None and not record.is_lead_decision]
            for judge, number in dict.fromkeys((record.judge, record.task) for record in people):
                own_lease = and_(LEASES.c.task == number, LEASES.c.judge == judge)
                lease = connection.execute(select(LEASES).where(own_lease)).first()
                if lease is None:
                    connection.execute(
                        insert(LEASES).values(task=number, judge=judge, until=self.clock(), state="lost")
                    )
                last = next(record for record in reversed(new) if (record.judge, record.task) == (judge, number))
                self._update_lease(connection, last, "lost" if lease is None else lease.state)
        return len(new), len(record_list) - len(new)


def check_judgement(where: str, record: Judgement, tasks: Mapping[int, JudgingTask]) -> None:
    """Raise `InputError`, located at `where`, if a judgement is not about one of the `tasks` (by number) and its links.

    The mention and entity of the judgement must be those of its task. Ids that the tables cannot hold are refused too.
    """
    task = tasks.get(record.task)
    actual = None
    if task is None:
        actual = f"task {record.task}, which this campaign does not have"
    elif record.link is not None and not 0 <= record.link < len(task.links):
        actual = f"link {record.link}, which task {record.task} does not have"
    elif not _fits_task(record, task):
        actual = f"a mention or entity that task {record.task} does not show"
    elif not 0 < len(record.judge) <= MAX_PSEUDONYM or "\0" in record.id + record.judge:
        actual = "an id that is no id of a judge or judgement"
    elif record.is_lead_decision and (record.link is None or record.decision not in OUTCOMES):
        actual = "a decision of the lead that is not about a link"
    elif record.is_lead_decision != (record.judge == LEAD):
        actual = "a decision of the lead by somebody else, or a judgement by the lead"
    if actual is not None:
        raise record_error(where, actual)


def record_error(where: str, actual: str) -> InputError:
    """Return (not raise) the error for a judgement that does not belong to the campaign."""
    return InputError(
        where,
        actual=actual,
        expected="judgements of the same campaign",
        remedy="Import them into the campaign that they come from",
    )


def _fits_task(record: Judgement, task: JudgingTask) -> bool:
    """Return whether mention and entity of a judgement, if it has them, are those that its task shows."""
    if record.decision is Decision.ADD:
        start, end = record.start or 0, record.end or 0
        text = task.text[start - task.start : end - task.start]
        return task.start <= start < end <= task.end and record.surface == text
    if record.decision not in REQUIRED_DECISIONS or record.link is None:
        return True
    link = task.links[record.link]
    return (
        record.start in (None, link.start)
        and record.end in (None, link.end)
        and record.entity in (None, link.entity)
        and record.surface in ("", task.surface(link))
    )


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
