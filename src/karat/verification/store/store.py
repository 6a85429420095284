"""A campaign in its database: who holds which task, and what was judged."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from random import Random
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from sqlalchemy import Connection, and_, delete, exists, func, insert, select, update

from karat.errors import InputError, KaratError, refuse_newer
from karat.storage.database import Database, open_database
from karat.verification.campaign import Campaign, CampaignTerms, JudgingTask
from karat.verification.decisions import ANSWERS, OUTCOMES, Decision, Judgement, standing
from karat.verification.outcomes import control_passed
from karat.verification.store import statements
from karat.verification.store.tables import ABOUT, JUDGES, LEASES, METADATA, PERSONS, RECORDS, TASKS, TOKENS

LAYOUT: Final = "karat-judging/1"
SESSION: Final = 12 * 3600.0
"""How long a judge stays logged in, in seconds."""


class NotYoursError(KaratError):
    """A judge asks for what is another's, or nobody's."""


class TaskProgress(NamedTuple):
    """How far a judge has come: tasks done, of how many (None is no end), and the code that says that all are."""

    done: int
    batch: int | None
    code: str | None


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a judge sends: the decision on one link of a task. `id` is the judge's own: sending twice is once.

    Who adds a link says where it stands in the text of the task.
    """

    id: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9-]{1,40}$")]
    link: int
    decision: Decision
    becomes: Annotated[str, msgspec.Meta(min_length=1, max_length=2000)] | None = None
    chosen: Annotated[tuple[str, ...], msgspec.Meta(max_length=100)] = ()
    start: int = 0
    end: int = 0
    seconds: Annotated[float, msgspec.Meta(ge=0, le=1e7)] | None = None
    client_time: Annotated[str, msgspec.Meta(max_length=40)] | None = None


@dataclass(frozen=True)
class CampaignStore:
    """All of a campaign. Whatever it says was done is on the disk."""

    database: Database
    clock: Callable[[], float] = field(default=time.time)

    @classmethod
    def create(cls, given: str, campaign: Campaign, clock: Callable[[], float] = time.time) -> CampaignStore:
        """A new campaign in an empty database."""
        database = open_database(given, create=True)
        empty(database)
        secret = secrets.token_hex(32)
        about = {"layout": LAYOUT, "terms": msgspec.json.encode(campaign.terms).decode(), "secret": secret}
        rows = [
            {
                "number": task.number,
                "name": _signed(secret, f"task {task.number}")[:24],
                "document": task.document,
                "start": task.start,
                "control": task.control,
                "done": 0,
                "finished": False,
                "content": msgspec.json.encode(task).decode(),
            }
            for task in campaign.tasks
        ]
        with database.writing() as connection:
            METADATA.create_all(connection)
            connection.execute(insert(ABOUT), [{"key": key, "value": value} for key, value in about.items()])
            connection.execute(insert(TASKS), rows)
        return cls(database, clock)

    @classmethod
    def open(cls, given: str, clock: Callable[[], float] = time.time) -> CampaignStore:
        """The campaign in a database."""
        from sqlalchemy.exc import DatabaseError

        database = open_database(given)
        try:
            with database.reading() as connection:
                layout = connection.execute(select(ABOUT.c.value).where(ABOUT.c.key == "layout")).scalar()
        except DatabaseError:
            layout = None
        refuse_newer(database.label, layout or "", LAYOUT)
        if layout != LAYOUT:
            raise InputError(
                database.label,
                found="no campaign" if layout is None else f"the layout {layout}",
                expected=f"the tables of a campaign ({LAYOUT})",
                remedy="Make one: karat verify new NAME …",
            )
        return cls(database, clock)

    @cached_property
    def _about(self) -> dict[str, str]:
        with self.database.reading() as connection:
            return {row.key: row.value for row in connection.execute(select(ABOUT))}

    @cached_property
    def terms(self) -> CampaignTerms:
        """What holds for the whole campaign."""
        return msgspec.json.decode(self._about["terms"], type=CampaignTerms)

    @cached_property
    def campaign(self) -> Campaign:
        """The campaign as it was made."""
        return Campaign(self.terms, tuple(self._tasks.values()))

    @cached_property
    def _tasks(self) -> dict[int, JudgingTask]:
        with self.database.reading() as connection:
            rows = connection.execute(select(TASKS.c.content).order_by(TASKS.c.number)).scalars()
            return {task.number: task for task in (msgspec.json.decode(row, type=JudgingTask) for row in rows)}

    @cached_property
    def _names(self) -> dict[str, int]:
        with self.database.reading() as connection:
            return {row.name: row.number for row in connection.execute(select(TASKS.c.name, TASKS.c.number))}

    def named(self, task: JudgingTask) -> str:
        """What judges call a task."""
        return _signed(self._about["secret"], f"task {task.number}")[:24]

    def task(self, name: str) -> JudgingTask:
        """The task that judges call so."""
        if name not in self._names:
            raise NotYoursError("there is no such task among yours.")
        return self._tasks[self._names[name]]

    # Who judges.

    def machine(self, name: str) -> str:
        """The pseudonym of a machine, which is always labelled; the same for the same name."""
        with self.database.writing() as connection:
            found = connection.execute(select(JUDGES.c.pseudonym).where(JUDGES.c.machine == name)).scalar()
            return found or _new_judge(connection, name)

    def invitation(self, worker: str, seconds: float = 14 * 86400.0) -> str:
        """What lets a worker in, once: a signed id with its end."""
        said = f"{worker.encode().hex()}.{int(self.clock() + seconds)}"
        return f"{said}.{_signed(self._about['secret'], f'invitation {said}')[:32]}"

    def enter(self, invitation: str, consented: bool = False) -> str:
        """Exchange an invitation for a session; the same one cannot be used again."""
        said, _, signature = invitation.rpartition(".")
        worker, _, end = said.partition(".")
        right = _signed(self._about["secret"], f"invitation {said}")[:32]
        if not hmac.compare_digest(signature.encode(), right.encode()) or not end.isdecimal():
            raise NotYoursError("this is no invitation to this campaign. Ask for one.")
        if self.clock() > int(end):
            raise NotYoursError("this invitation has ended. Ask for a new one.")
        session = secrets.token_urlsafe(32)

        def work(connection: Connection) -> None:
            used = connection.execute(select(TOKENS.c.hash).where(TOKENS.c.hash == _hashed(invitation))).scalar()
            if used is not None:
                raise NotYoursError("this invitation was used already. Ask for a new one.")
            name = bytes.fromhex(worker).decode()
            judge = connection.execute(select(PERSONS.c.pseudonym).where(PERSONS.c.worker == name)).scalar()
            if judge is None:
                judge = _new_judge(connection, None, _iso(self.clock()) if consented else None)
                connection.execute(insert(PERSONS).values(pseudonym=judge, worker=name))
            tokens = [(invitation, "invitation", float(end)), (session, "session", self.clock() + SESSION)]
            rows = [{"hash": _hashed(one), "pseudonym": judge, "kind": kind, "until": end} for one, kind, end in tokens]
            connection.execute(insert(TOKENS), rows)

        self.database.written(work)
        return session

    def who(self, session: str) -> str | None:
        """The judge of a session; None where there is none, or it has ended."""
        found = self.database.row(statements.JUDGE_OF_SESSION, {"hash": _hashed(session), "now": self.clock()})
        return None if found is None else str(found.pseudonym)

    def leave(self, session: str) -> None:
        """End a session."""
        with self.database.writing() as connection:
            connection.execute(delete(TOKENS).where(TOKENS.c.hash == _hashed(session)))

    def forget(self, worker: str) -> bool:
        """Forget who a judge was: the judgements stay, and nobody can say whose they are. Whether there was one."""
        with self.database.writing() as connection:
            judge = connection.execute(select(PERSONS.c.pseudonym).where(PERSONS.c.worker == worker)).scalar()
            if judge is None:
                return False
            connection.execute(delete(TOKENS).where(TOKENS.c.pseudonym == judge))
            connection.execute(delete(PERSONS).where(PERSONS.c.pseudonym == judge))
            return True

    def workers(self) -> dict[str, str]:
        """Who is behind each pseudonym, as far as it is known."""
        with self.database.reading() as connection:
            return {row.pseudonym: row.worker for row in connection.execute(select(PERSONS))}

    # Who holds what.

    def lease(self, judge: str) -> JudgingTask | None:
        """The task that a judge holds, or a new one; None where there is nothing left for them."""

        def work(connection: Connection) -> int | None:
            number = self._held(connection, judge)
            if number is None and not self._ended(connection, judge):
                number = self._control(connection, judge)
                for fresh in (True, False):  # a passage that the judge has not seen goes first
                    number = self._free(connection, judge, fresh=fresh) if number is None else number
                if number is not None:
                    until = self.clock() + self.terms.lease
                    connection.execute(insert(LEASES).values(task=number, judge=judge, until=until, state="open"))
            return number

        number = self.database.written(work)
        return None if number is None else self._tasks[number]

    def _held(self, connection: Connection, judge: str) -> int | None:
        """The task that the judge has not done yet, the latest first: what was undone comes back before what was next.

        One that was too late is kept if nobody else has it.
        """
        for row in connection.execute(statements.OPEN_LEASES, {"judge": judge}).all():
            ours = and_(LEASES.c.task == row.task, LEASES.c.judge == judge)
            if row.until <= self.clock():
                if self._taken(connection, row.task):
                    connection.execute(update(LEASES).where(ours).values(state="lost"))
                    continue
                connection.execute(update(LEASES).where(ours).values(until=self.clock() + self.terms.lease))
            return int(row.task)
        return None

    def _taken(self, connection: Connection, number: int) -> bool:
        asked = select(TASKS.c.number).where(TASKS.c.number == number, ~TASKS.c.control, ~self._wanted)
        return connection.execute(asked).scalar() is not None

    @property
    def _wanted(self) -> Any:  # noqa: ANN401  # an expression of SQL
        """Whether fewer judges than are asked for have done a task or hold it."""
        held = (
            select(func.count())
            .select_from(LEASES)
            .where(LEASES.c.task == TASKS.c.number, LEASES.c.state == "open", LEASES.c.until > self.clock())
            .scalar_subquery()
        )
        return TASKS.c.done + held < self.terms.judges

    def _ended(self, connection: Connection, judge: str) -> bool:
        """Whether a judge has done all tasks of the batch, or failed a control."""
        return self._at_end(connection.execute(statements.HOW_FAR, {"judge": judge}).one())

    def _at_end(self, far: Any) -> bool:  # noqa: ANN401  # a row
        return bool(far.failed) or (bool(self.terms.batch) and far.done >= self.terms.batch)

    def _control(self, connection: Connection, judge: str) -> int | None:
        """A control task, where it is time for one: at places that are random for each judge."""
        batch, wanted = self.terms.batch, self.terms.controls
        if not wanted or _done(connection, judge) not in Random(f"{self.terms.seed} {judge}").sample(
            range(batch), wanted
        ):
            return None
        seen = select(LEASES.c.task).where(LEASES.c.judge == judge)
        found = connection.execute(
            select(TASKS.c.number).where(TASKS.c.control, TASKS.c.number.not_in(seen)).order_by(TASKS.c.number)
        ).scalars()
        left = list(found)
        return Random(f"{judge} {len(left)}").choice(left) if left else None

    def _free(self, connection: Connection, judge: str, *, fresh: bool) -> int | None:
        mine = exists().where(LEASES.c.task == TASKS.c.number, LEASES.c.judge == judge)
        asked = select(TASKS.c.number).where(~TASKS.c.finished, ~TASKS.c.control, ~mine, self._wanted)
        if fresh:
            beside = TASKS.alias()
            seen = exists().where(
                LEASES.c.judge == judge,
                LEASES.c.task == beside.c.number,
                beside.c.document == TASKS.c.document,
                beside.c.start == TASKS.c.start,
            )
            asked = asked.where(~seen)
        found: int | None = connection.execute(asked.order_by(TASKS.c.number).limit(1)).scalar()
        return found

    def progress(self, judge: str, *, nothing_left: bool = False) -> TaskProgress:
        """How far a judge has come; who did something gets the code also where nothing is left to do."""
        far = self.database.row(statements.HOW_FAR, {"judge": judge})
        assert far is not None
        ended = self._at_end(far) or (nothing_left and far.done > 0)
        code = _signed(self._about["secret"], f"done {judge}")[:10].upper() if ended else None
        return TaskProgress(far.done, self.terms.batch or None, code)

    # What is judged.

    def judge(self, judge: str, task: JudgingTask, said: Said) -> Judgement:
        """Keep a decision on one link of a task that the judge holds or held; when this returns, it is on the disk."""
        if said.decision is Decision.ADD:
            return self._kept(self._addition(judge, task, said))
        allowed = (Decision.CHOOSE,) if self.terms.kind == "survey" else OUTCOMES
        if said.decision not in allowed or not 0 <= said.link < len(task.links):
            raise NotYoursError(f"a decision is to {', '.join(allowed)} a link of the task.")
        if (said.decision is Decision.MODIFY) != bool(said.becomes):
            raise NotYoursError("to modify a link is to name another entity, and only that.")
        shown = task.links[said.link]
        if not {*said.chosen} <= {one.entity for one in shown.options}:
            raise NotYoursError("only links that are proposed can be chosen.")
        same = said.becomes == shown.entity  # who searches and chooses what is there verifies it
        record = Judgement(
            id=f"{judge}-{said.id}",
            judge=judge,
            task=task.number,
            decision=Decision.VERIFY if same else said.decision,
            at=_iso(self.clock()),
            link=said.link,
            surface=task.surface(shown),
            start=shown.start,
            end=shown.end,
            entity=shown.entity or None,
            becomes=None if same else said.becomes,
            chosen=tuple(dict.fromkeys(said.chosen)),
            seconds=said.seconds,
            client_time=said.client_time,
        )
        return self._kept(record)

    def _addition(self, judge: str, task: JudgingTask, said: Said) -> Judgement:
        if not self.terms.additions or said.becomes is None or not 0 <= said.start < said.end <= len(task.text):
            raise NotYoursError("a link is added to words of the task, with an entity, where the campaign asks for it.")
        return Judgement(
            id=f"{judge}-{said.id}",
            judge=judge,
            task=task.number,
            decision=Decision.ADD,
            at=_iso(self.clock()),
            surface=task.text[said.start : said.end],
            start=task.start + said.start,
            end=task.start + said.end,
            becomes=said.becomes,
            seconds=said.seconds,
            client_time=said.client_time,
        )

    def skip(self, judge: str, task: JudgingTask, reason: str) -> Judgement:
        """Give a task back for a reason; it goes to somebody else."""
        record = Judgement(
            id=secrets.token_hex(16),
            judge=judge,
            task=task.number,
            decision=Decision.SKIP,
            at=_iso(self.clock()),
            reason=reason,
        )
        return self._kept(record)

    def undo(self, judge: str, record: str) -> Judgement:
        """Take an own record back, by a new one; the task is the judge's again."""
        with self.database.reading() as connection:
            found = connection.execute(
                select(RECORDS.c.content).where(RECORDS.c.id == record, RECORDS.c.judge == judge)
            )
            content = found.scalar()
        if content is None:
            raise NotYoursError("there is no such judgement among yours.")
        undone = msgspec.json.decode(content, type=Judgement)
        if undone.decision is Decision.UNDO:
            raise NotYoursError("what was undone is judged anew, not undone again.")
        new = Judgement(
            id=f"undo-{record}",
            judge=judge,
            task=undone.task,
            decision=Decision.UNDO,
            at=_iso(self.clock()),
            link=undone.link,
            undoes=record,
        )
        return self._kept(new)

    def _kept(self, record: Judgement) -> Judgement:
        """Add a record, if the task was given to the judge; who sends it again gets what is there."""

        def work(connection: Connection) -> Judgement:
            known = connection.execute(statements.RECORD, {"id": record.id}).scalar()
            if known is not None:
                return msgspec.json.decode(known, type=Judgement)
            lease = connection.execute(statements.LEASE, {"task": record.task, "judge": record.judge}).first()
            if lease is None:
                raise NotYoursError("there is no such task among yours.")
            late = lease.state == "lost" or (lease.state == "open" and lease.until < self.clock())
            added = msgspec.structs.replace(record, late=late)
            _add(connection, [added])
            self._settle(connection, added, lease.state)
            return added

        return self.database.written(work)

    def _settle(self, connection: Connection, record: Judgement, state: str) -> None:
        """Say anew who has done what, after a record was added."""
        ours = and_(LEASES.c.task == record.task, LEASES.c.judge == record.judge)
        task = self._tasks[record.task]
        said = standing(_on_task(connection, record.judge, record.task))
        skipped = any(one.decision is Decision.SKIP for one in said)
        complete = len({one.link for one in said if one.decision in ANSWERS}) == len(task.links)
        new = "skipped" if skipped else "done" if complete else "lost" if state == "lost" else "open"
        failed = connection.execute(statements.HAS_FAILED, {"judge": record.judge}).scalar()
        if new != state:
            values: dict[str, object] = {"state": new}
            if new == "open":
                values["until"] = self.clock() + self.terms.lease
            connection.execute(update(LEASES).where(ours).values(**values))
            if not task.control and not failed:
                self._count(connection, [record.task], (new == "done") - (state == "done"))
        if task.control:
            self._tested(connection, record.judge, bool(failed))

    def _tested(self, connection: Connection, judge: str, failed: bool) -> None:
        """Whether a judge fails a control; then what they did is offered to others, for it does not count."""
        said = standing(_records(connection, RECORDS.c.judge == judge))
        tests = {one.task for one in said if self._tasks[one.task].control}
        passed = [control_passed(self._tasks[number], [one for one in said if one.task == number]) for number in tests]
        fails = False in passed
        if fails == failed:
            return
        connection.execute(update(JUDGES).where(JUDGES.c.pseudonym == judge).values(failed=fails))
        done = select(LEASES.c.task).where(LEASES.c.judge == judge, LEASES.c.state == "done")
        own = [number for number in connection.execute(done).scalars() if not self._tasks[number].control]
        self._count(connection, own, -1 if fails else 1)

    def _count(self, connection: Connection, tasks: Sequence[int], more: int) -> None:
        if tasks and more:
            done = TASKS.c.done + more
            values = {"done": done, "finished": done >= self.terms.judges}
            connection.execute(update(TASKS).where(TASKS.c.number.in_(tasks)).values(**values))

    def by_machine(self, judge: str, machine: str, task: JudgingTask, said: Sequence[Said]) -> None:
        """Keep what a machine says of a task: it holds none, and keeps no person from any."""
        records = [
            Judgement(
                id=f"{judge[:16]}-{task.number}-{one.link}",
                judge=judge,
                task=task.number,
                decision=one.decision,
                at=_iso(self.clock()),
                link=one.link,
                surface=task.surface(task.links[one.link]),
                start=task.links[one.link].start,
                end=task.links[one.link].end,
                entity=task.links[one.link].entity,
                becomes=one.becomes,
                seconds=one.seconds,
                machine=machine,
            )
            for one in said
        ]
        with self.database.writing() as connection:
            known = set(connection.execute(select(RECORDS.c.id).where(RECORDS.c.judge == judge)).scalars())
            _add(connection, [one for one in records if one.id not in known])

    def own(self, judge: str, task: JudgingTask) -> list[Judgement]:
        """What a judge said of a task, in order."""
        with self.database.reading() as connection:
            return _on_task(connection, judge, task.number)

    def records(self) -> list[Judgement]:
        """All records, in their order."""
        with self.database.reading() as connection:
            return _records(connection)

    def add(self, records: Iterable[Judgement]) -> tuple[int, int]:
        """Take in records from elsewhere, such as an export: how many were new, and how many were there already."""
        given = list(records)
        for one in given:
            if one.task not in self._tasks or (one.link is not None and one.link >= len(self._tasks[one.task].links)):
                raise InputError(
                    f"judgement {one.id}",
                    found=f"task {one.task}, which this campaign does not have",
                    expected="judgements of the same campaign",
                    remedy="Take them in where they come from",
                )
        with self.database.writing() as connection:
            known = set(connection.execute(select(RECORDS.c.id)).scalars())
            new = [one for one in given if one.id not in known]
            judges = set(connection.execute(select(JUDGES.c.pseudonym)).scalars())
            for judge, machine in {one.judge: one.machine for one in new if one.judge not in judges}.items():
                connection.execute(insert(JUDGES).values(pseudonym=judge, machine=machine, failed=False))
            _add(connection, new)
            for judge, number in dict.fromkeys((one.judge, one.task) for one in new if one.machine is None):
                ours = and_(LEASES.c.task == number, LEASES.c.judge == judge)
                lease = connection.execute(select(LEASES).where(ours)).first()
                if lease is None:
                    connection.execute(
                        insert(LEASES).values(task=number, judge=judge, until=self.clock(), state="lost")
                    )
                last = next(one for one in reversed(new) if (one.judge, one.task) == (judge, number))
                self._settle(connection, last, "lost" if lease is None else lease.state)
        return len(new), len(given) - len(new)


def empty(database: Database) -> None:
    """Refuse a database that holds a campaign already."""
    from sqlalchemy import inspect

    with database.reading() as connection:
        there = sorted(set(inspect(connection).get_table_names()) & set(METADATA.tables))
    if there:
        raise InputError(
            database.label,
            found=f"tables of a campaign ({', '.join(there)})",
            expected="an empty database, one for each campaign",
            remedy="Name another one",
        )


def _new_judge(connection: Connection, machine: str | None, consented: str | None = None) -> str:
    pseudonym = secrets.token_hex(8)
    connection.execute(insert(JUDGES).values(pseudonym=pseudonym, machine=machine, failed=False, consented=consented))
    return pseudonym


def _done(connection: Connection, judge: str) -> int:
    return int(connection.execute(statements.TASKS_DONE, {"judge": judge}).scalar_one())


def _add(connection: Connection, records: Sequence[Judgement]) -> None:
    rows = [
        {"id": one.id, "judge": one.judge, "task": one.task, "content": msgspec.json.encode(one).decode()}
        for one in records
    ]
    if rows:
        connection.execute(insert(RECORDS), rows)


def _on_task(connection: Connection, judge: str, task: int) -> list[Judgement]:
    """What a judge said of a task, in order."""
    rows = connection.execute(statements.RECORDS_ON_TASK, {"judge": judge, "task": task}).scalars()
    return [msgspec.json.decode(row, type=Judgement) for row in rows]


def _records(connection: Connection, *where: Any) -> list[Judgement]:  # noqa: ANN401  # expressions of SQL
    rows = connection.execute(select(RECORDS.c.content).where(*where).order_by(RECORDS.c.seq)).scalars()
    return [msgspec.json.decode(row, type=Judgement) for row in rows]


def _signed(secret: str, said: str) -> str:
    return hmac.new(secret.encode(), said.encode(), hashlib.sha256).hexdigest()


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _iso(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="milliseconds")
