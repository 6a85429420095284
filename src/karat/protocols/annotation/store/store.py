"""Storage of an annotation project in a database: documents of annotators, changes of labels, and decisions."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET
from sqlalchemy import Connection, and_, delete, exists, func, insert, select, update

from karat.model.errors import InputError, KaratError
from karat.model.json.decoder import JsonDecoder, JsonError
from karat.protocols.annotation.changes import (
    AnnotatedLabel,
    Change,
    DocumentState,
    LabelEdit,
    Record,
    RegionDecision,
    reverse_edits,
)
from karat.protocols.annotation.gold import AdjudicatedDocument, adjudicate_document
from karat.protocols.annotation.project import AnnotationTask, Guidelines, Project, ProjectOptions
from karat.protocols.annotation.rounds import RoundPlan, plan_round
from karat.protocols.annotation.store.checks import MAX_LABELS, ChangeError, check_edits, check_label
from karat.protocols.campaigns import statements
from karat.protocols.campaigns.participants import (
    AccessDeniedError,
    ParticipantStore,
    create_tables,
    decode_stored,
    find_or_add_person,
    select_participants,
)
from karat.protocols.campaigns.signatures import name_task
from karat.protocols.campaigns.tables import JUDGES, LEASES, PROPERTIES, RECORDS, TASKS

DocumentStatus: TypeAlias = Literal["open", "done", "skipped"]
"""Whether an annotator works on a document, has finished it, or has skipped it."""
Role: TypeAlias = Literal["annotator", "adjudicator"]
"""The role of a person in a project."""

_PROGRESS_KEYS: Final = ("adjudicators", "guidelines", "round")
_RECORD_DECODER: Final[JsonDecoder[Record]] = JsonDecoder(Record)  # type: ignore[arg-type]  # a union of types
_MAX_STATES: Final = 1000  # documents of annotators whose labels are kept in memory
_STATUS_KINDS: Final[Mapping[str, DocumentStatus]] = {"finish": "done", "reopen": "open", "skip": "skipped"}


class RevisionError(KaratError):
    """A change that is based on labels which are no longer current."""


class DocumentView(NamedTuple):
    """A document as one annotator has it."""

    task: AnnotationTask
    """The document."""
    status: DocumentStatus
    """Whether the annotator works on it."""
    state: DocumentState
    """Labels of the annotator."""


class StoredChange(NamedTuple):
    """A stored change, and the document after it."""

    change: Change
    """The change; the earlier one if its id was repeated."""
    view: DocumentView
    """The document as it is now."""


class AnnotatorStatus(NamedTuple):
    """A person who takes part in a project, as only the lead sees it."""

    annotator: str
    """Pseudonym."""
    worker: str | None
    """Worker id; None if the person was anonymised."""
    role: Role
    """Role in the project."""
    done: int
    """Number of finished documents."""
    open: int
    """Number of documents in progress."""
    skipped: int
    """Number of skipped documents."""
    changes: int
    """Number of changes and decisions."""
    is_revoked: bool
    """Whether the person's access was revoked."""


class _CachedState(NamedTuple):
    """Labels of an annotator in a document, up to the record with number `seq`."""

    seq: int
    state: DocumentState


class ProjectProgress(NamedTuple):
    """The properties of a project that change."""

    round: int
    """Number of the round."""
    guidelines: tuple[Guidelines, ...]
    """Versions of the guidelines, the current one last."""
    adjudicators: tuple[str, ...]
    """Pseudonyms of the adjudicators."""


class AnnotationStore(ParticipantStore):
    """An annotation project in a database."""

    command = "annotate"

    @classmethod
    def create(cls, target: str, project: Project, clock: Callable[[], float] = time.time) -> AnnotationStore:
        """Create the tables of a project in an empty database; raise `InputError` if it contains a campaign.

        `target` is a file or the address of a PostgreSQL database.
        """
        rows = [
            {
                "number": task.number,
                "document": task.document,
                "start": task.start,
                "control": False,
                "content": msgspec.json.encode(task).decode(),
            }
            for task in project.tasks
        ]
        properties = _encode_progress(ProjectProgress(1, project.guidelines, ()))
        return cls(create_tables(target, project.options, project.secret, rows, properties), clock)

    @cached_property
    def options(self) -> ProjectOptions:
        """Options of the project."""
        return self._decode(self._properties["options"], ProjectOptions)

    @property
    def project(self) -> Project:
        """Project with all documents and the current guidelines."""
        return self._build_project(self._read_progress())

    def _build_project(self, progress: ProjectProgress) -> Project:
        """Return the project with all documents."""
        return Project(self.options, tuple(self._tasks.values()), progress.guidelines, self._properties["secret"])

    @property
    def round(self) -> int:
        """Number of the current round."""
        return self._read_progress().round

    @cached_property
    def _tasks(self) -> dict[int, AnnotationTask]:
        """All documents by number."""
        with self.database.open_read_transaction() as connection:
            rows = connection.execute(select(TASKS.c.content).order_by(TASKS.c.number)).scalars()
            tasks = [self._decode(row, AnnotationTask) for row in rows]
        return {task.number: task for task in tasks}

    @cached_property
    def _states(self) -> OrderedDict[tuple[str, int], _CachedState]:
        """Labels by annotator and document, as far as they were read; the oldest ones are forgotten first."""
        return OrderedDict()

    def get_task_name(self, task: AnnotationTask) -> str:
        """Return the name of a document for annotators."""
        return name_task(self._properties["secret"], task.number)

    def get_task(self, name: str) -> AnnotationTask:
        """Return the document with an opaque name; raise `AccessDeniedError` if there is none."""
        if name not in self._numbers_by_name:
            raise AccessDeniedError("unknown document. Choose one of your documents.")
        return self._tasks[self._numbers_by_name[name]]

    def _get_numbered_task(self, number: int) -> AnnotationTask:
        """Return the document with a number; raise `InputError` if the database has none."""
        if number not in self._tasks:
            raise damage_error(self.database.label, f"no document {number}")
        return self._tasks[number]

    def is_prefilled(self, annotator: str, task: AnnotationTask) -> bool:
        """Return whether an annotator sees the suggestions of a document."""
        return Project(self.options, (), (), self._properties["secret"]).is_prefilled(annotator, task.number)

    # Rounds, guidelines and adjudicators.

    def _read_progress(self, connection: Connection | None = None) -> ProjectProgress:
        """Read round, guidelines and adjudicators, in the transaction of `connection` if it is given."""
        if connection is None:
            with self.database.open_read_transaction() as new_connection:
                return self._read_progress(new_connection)
        rows = connection.execute(statements.PROPERTIES_BY_KEY, {"keys": _PROGRESS_KEYS})
        return decode_progress({row.key: row.value for row in rows}, self.database.label)

    def _write_progress(self, connection: Connection, progress: ProjectProgress) -> None:
        """Replace round, guidelines and adjudicators."""
        values = _encode_progress(progress)
        connection.execute(delete(PROPERTIES).where(PROPERTIES.c.key.in_(values)))
        connection.execute(insert(PROPERTIES), [{"key": key, "value": value} for key, value in values.items()])

    def set_guidelines(self, name: str, text: str) -> Guidelines:
        """Make a text the current version of the guidelines and return it; the current text stays as it is."""

        def write(connection: Connection) -> Guidelines:
            """Add the version unless its text is the current one."""
            progress = self._read_progress(connection)
            current = progress.guidelines[-1] if progress.guidelines else None
            if current is not None and (current.name, current.text) == (name, text):
                return current
            version = Guidelines(name, text, self._get_iso_time())
            self._write_progress(connection, progress._replace(guidelines=(*progress.guidelines, version)))
            return version

        return self.database.run_write(write)

    def add_adjudicator(self, worker: str) -> str:
        """Make a person an adjudicator, and return the pseudonym; the person need not have entered."""

        def write(connection: Connection) -> str:
            """Add the person to the list."""
            progress, person = self._read_progress(connection), find_or_add_person(connection, worker)
            if person not in progress.adjudicators:
                self._write_progress(connection, progress._replace(adjudicators=(*progress.adjudicators, person)))
            return person

        return self.database.run_write(write)

    def add_annotator(self, name: str) -> str:
        """Return the pseudonym of a person named by pseudonym or worker id; a new worker id adds a person."""

        def write(connection: Connection) -> str:
            """Find or add the person."""
            is_known = exists().where(JUDGES.c.pseudonym == name)
            return name if connection.execute(select(is_known)).scalar() else find_or_add_person(connection, name)

        return self.database.run_write(write)

    def assign_document(self, annotator: str, task: AnnotationTask) -> None:
        """Give a document to an annotator who does not have it, even if enough others have it."""
        self.database.run_write(lambda connection: self._set_lease(connection, annotator, task.number, "open"))

    def get_role(self, person: str) -> Role:
        """Return what a person does."""
        return "adjudicator" if person in self._read_progress().adjudicators else "annotator"

    def get_adjudicators(self) -> tuple[str, ...]:
        """Return the pseudonyms of all adjudicators."""
        return self._read_progress().adjudicators

    def start_round(self) -> RoundPlan:
        """Start the next round and return what it goes over; raise `ChangeError` if there is nothing to go over.

        Documents in which adjudicators overruled an annotator are open again, with the adjudicated labels.
        """

        def write(connection: Connection) -> RoundPlan:
            """Add a change to each document of the round, and open it."""
            progress = self._read_progress(connection)
            number = progress.round + 1
            plan = plan_round(self._build_project(progress), self._select_records(connection), number)
            if not plan.edits:
                reasons = ", ".join(f"{count} {description}" for description, count in plan.counts.items())
                raise ChangeError(f"no document to go over in another round ({reasons}). Adjudicate documents first.")
            self._write_progress(connection, progress._replace(round=number))
            for (task, annotator), edits in plan.edits.items():
                state = self._load_state(connection, annotator, task).state
                change = Change(
                    id=self._create_record_id(annotator, task, f"round {number}"),
                    annotator=annotator,
                    task=task,
                    kind="round",
                    edits=_add_before(edits, state),
                    round=number,
                    guidelines=max(0, len(progress.guidelines) - 1),
                    server_time=self._get_iso_time(),
                )
                self._insert_record(connection, change)
                self._set_lease(connection, annotator, task, "open")
            return plan

        return self.database.run_write(write)

    # Documents of annotators.

    def lease_document(self, annotator: str) -> AnnotationTask | None:
        """Return the annotator's open document, or reserve the next one; None if none is left.

        Documents are offered in their order until enough annotators have each. A document that the annotator lost with
        a revoked access is offered again.
        """

        def lease(connection: Connection) -> int | None:
            """Find or reserve a document and return its number."""
            is_open = and_(LEASES.c.judge == annotator, LEASES.c.state == "open")
            open_tasks = select(LEASES.c.task).where(is_open).order_by(LEASES.c.task).limit(1)
            number: int | None = connection.execute(open_tasks).scalar()
            if number is not None:
                return number
            if annotator in self._read_progress(connection).adjudicators:
                return None  # an adjudicator has seen labels of others
            query = select(TASKS.c.number).where(self._is_available_sql(annotator)).order_by(TASKS.c.number).limit(1)
            number = connection.execute(query).scalar()
            if number is not None:
                self._set_lease(connection, annotator, number, "open")
            return number

        number = self.database.run_write(lease)
        return None if number is None else self._get_numbered_task(number)

    @property
    def _needs_annotators_sql(self) -> Any:  # noqa: ANN401  # an expression of SQL
        """SQL condition on a document: fewer annotators than required work on it or have finished it."""
        n_leases = (
            select(func.count())
            .select_from(LEASES)
            .where(LEASES.c.task == TASKS.c.number, LEASES.c.state.in_(("open", "done")))
            .scalar_subquery()
        )
        return n_leases < self.options.annotators

    def _set_lease(self, connection: Connection, annotator: str, task: int, state: str) -> None:
        """Set the state of an annotator's document; `until` is the time of the change, as leases do not expire."""
        own_lease = and_(LEASES.c.task == task, LEASES.c.judge == annotator)
        values = {"state": state, "until": self.clock()}
        if not connection.execute(update(LEASES).where(own_lease).values(**values)).rowcount:
            connection.execute(insert(LEASES).values(task=task, judge=annotator, **values))

    def list_documents(self, annotator: str) -> list[DocumentView]:
        """Return the annotator's documents in the order in which they are offered."""
        with self.database.open_read_transaction() as connection:
            is_own = and_(LEASES.c.judge == annotator, LEASES.c.state != "lost")
            leases = connection.execute(select(LEASES).where(is_own).order_by(LEASES.c.task)).all()
            return [
                DocumentView(
                    self._get_numbered_task(row.task),
                    _get_status(row.state),
                    self._keep_state(annotator, row.task, self._load_state(connection, annotator, row.task)),
                )
                for row in leases
            ]

    def list_states(self) -> dict[tuple[int, str], DocumentStatus]:
        """Return the status of every assigned document, by number of the document and pseudonym."""
        with self.database.open_read_transaction() as connection:
            rows = connection.execute(select(LEASES).where(LEASES.c.state != "lost").order_by(LEASES.c.task)).all()
        return {(row.task, row.judge): _get_status(row.state) for row in rows}

    def has_more_documents(self, annotator: str) -> bool:
        """Return whether a document is left that `lease_document` would reserve."""
        return self._count_available(annotator) > 0

    def get_progress(self, annotator: str) -> tuple[int, int]:
        """Return how many documents a person has finished, and how many the person has or can get."""
        with self.database.open_read_transaction() as connection:
            is_own = and_(LEASES.c.judge == annotator, LEASES.c.state.in_(("open", "done")))
            states = list(connection.execute(select(LEASES.c.state).where(is_own)).scalars())
        return states.count("done"), len(states) + self._count_available(annotator)

    def _count_available(self, annotator: str) -> int:
        """Count the documents that `lease_document` would reserve for an annotator, one after the other."""
        with self.database.open_read_transaction() as connection:
            if annotator in self._read_progress(connection).adjudicators:
                return 0
            query = select(func.count()).select_from(TASKS).where(self._is_available_sql(annotator))
            return int(connection.execute(query).scalar_one())

    def _is_available_sql(self, annotator: str) -> Any:  # noqa: ANN401  # an expression of SQL
        """SQL condition on a document: an annotator can get it."""
        is_own = exists().where(LEASES.c.task == TASKS.c.number, LEASES.c.judge == annotator, LEASES.c.state != "lost")
        return and_(~is_own, self._needs_annotators_sql)

    def get_document(self, annotator: str, task: AnnotationTask) -> DocumentView:
        """Return a document of the annotator; raise `AccessDeniedError` if the annotator does not have it."""
        with self.database.open_read_transaction() as connection:
            status = self._get_lease(connection, annotator, task)
            cached = self._load_state(connection, annotator, task.number)
        return DocumentView(task, status, self._keep_state(annotator, task.number, cached))

    def _get_lease(self, connection: Connection, annotator: str, task: AnnotationTask) -> DocumentStatus:
        """Return the status of an annotator's document; raise `AccessDeniedError` if it is not the annotator's."""
        lease = connection.execute(statements.LEASE, {"task": task.number, "judge": annotator}).first()
        if lease is None or lease.state == "lost":
            raise AccessDeniedError("this document is not yours. Choose one of your documents.")
        return _get_status(lease.state)

    # Labels.

    def _load_state(self, connection: Connection, annotator: str, task: int) -> _CachedState:
        """Return the labels of an annotator in a document: those in memory, extended by records added since."""
        cached = self._states.get((annotator, task), _CachedState(0, DocumentState()))
        parameters = {"judge": annotator, "task": task, "seq": cached.seq}
        rows = connection.execute(statements.NEW_RECORDS, parameters).all()
        if not rows:
            return cached
        records = [self._decode_record(row.content) for row in rows]
        try:
            state = cached.state.extend(record for record in records if isinstance(record, Change))
        except ValueError as problem:
            raise damage_error(self.database.label, str(problem)) from problem
        return _CachedState(int(rows[-1].seq), state)

    def _keep_state(self, annotator: str, task: int, cached: _CachedState) -> DocumentState:
        """Remember labels that are on disk, and return them."""
        key = (annotator, task)
        earlier = self._states.get(key)
        if earlier is None or earlier.seq < cached.seq:
            if earlier is None and len(self._states) >= _MAX_STATES:
                self._states.popitem(last=False)
            self._states[key] = cached
        return cached.state

    def submit_change(
        self,
        annotator: str,
        task: AnnotationTask,
        id: str,
        revision: int,
        edits: Sequence[LabelEdit],
        seconds: float | None = None,
        client_time: str | None = None,
    ) -> StoredChange:
        """Store a change of labels; a repeated `id` returns the earlier change.

        Raise `RevisionError` if `revision` is not the current one, `ChangeError` if a label is invalid, and
        `AccessDeniedError` if the annotator does not have the document or has finished it.
        """
        check_edits(task, edits)

        def build(state: DocumentState) -> Mapping[str, object]:
            """Return the fields of the change."""
            if len({*state.labels, *(edit.id for edit in edits)}) > MAX_LABELS:
                raise ChangeError(f"the document has more than {MAX_LABELS:,} labels. Delete none, but add no more.")
            values = {"seconds": seconds, "client_time": client_time}
            return {"kind": "edit", "edits": _add_before(edits, state), **values}

        return self._store_change(annotator, task, id, build, revision)

    def undo(self, annotator: str, task: AnnotationTask, id: str, revision: int) -> StoredChange:
        """Take back the latest change that is not undone; raise `ChangeError` if there is none.

        See `submit_change` for other errors.
        """

        def build(state: DocumentState) -> Mapping[str, object]:
            """Return the fields of the change."""
            if not state.done:
                raise ChangeError("there is nothing to undo. Change a label first.")
            undone = state.done[-1]
            return {"kind": "undo", "edits": reverse_edits(undone), "undone_id": undone.id}

        return self._store_change(annotator, task, id, build, revision)

    def redo(self, annotator: str, task: AnnotationTask, id: str, revision: int) -> StoredChange:
        """Repeat the change that was undone last; raise `ChangeError` if there is none.

        See `submit_change` for other errors.
        """

        def build(state: DocumentState) -> Mapping[str, object]:
            """Return the fields of the change."""
            if not state.undone:
                raise ChangeError("there is nothing to redo. Undo a change first.")
            repeated = state.undone[-1]
            return {"kind": "redo", "edits": repeated.edits, "undone_id": repeated.id}

        return self._store_change(annotator, task, id, build, revision)

    def finish(self, annotator: str, task: AnnotationTask, id: str) -> StoredChange:
        """Mark a document of the annotator as finished."""
        return self._store_change(annotator, task, id, lambda _: {"kind": "finish"})

    def reopen(self, annotator: str, task: AnnotationTask, id: str) -> StoredChange:
        """Open a finished or skipped document of the annotator again.

        Raise `AccessDeniedError` if it is adjudicated in this round, or enough other annotators have it.
        """
        return self._store_change(annotator, task, id, lambda _: {"kind": "reopen"})

    def skip(self, annotator: str, task: AnnotationTask, id: str, reason: str) -> StoredChange:
        """Record that the annotator skips a document, so that another annotator gets it."""
        return self._store_change(annotator, task, id, lambda _: {"kind": "skip", "reason": reason})

    def _store_change(
        self,
        annotator: str,
        task: AnnotationTask,
        id: str,
        build: Callable[[DocumentState], Mapping[str, object]],
        revision: int | None = None,
    ) -> StoredChange:
        """Store the change that `build` makes of the current state.

        A change without `revision` is one of the status of the document.
        """
        record_id = self._create_record_id(annotator, task.number, id)

        def store(connection: Connection) -> tuple[Change, DocumentStatus, _CachedState]:
            """Store the change in a transaction; return it with the document after it."""
            stored = connection.execute(statements.RECORD, {"id": record_id}).scalar()
            status = self._get_lease(connection, annotator, task)
            cached = self._load_state(connection, annotator, task.number)
            if stored is not None:
                return self._decode(stored, Change), status, cached
            if revision is not None:
                _check_revision(cached.state, revision, status)
            progress = self._read_progress(connection)
            change = Change(
                id=record_id,
                annotator=annotator,
                task=task.number,
                round=progress.round,
                guidelines=max(0, len(progress.guidelines) - 1),
                server_time=self._get_iso_time(),
                **build(cached.state),  # type: ignore[arg-type]  # fields of a change
            )
            new_status = _STATUS_KINDS.get(change.kind, status)
            if change.kind in _STATUS_KINDS:
                if new_status == status:
                    return change, status, cached
                if new_status == "open":
                    self._check_reopening(connection, annotator, task, status, progress)
                self._set_lease(connection, annotator, task.number, new_status)
            seq = self._insert_record(connection, change)
            return change, new_status, _CachedState(seq, cached.state.extend([change]))

        change, status, cached = self.database.run_write(store)
        return StoredChange(change, DocumentView(task, status, self._keep_state(annotator, task.number, cached)))

    def _check_reopening(
        self,
        connection: Connection,
        annotator: str,
        task: AnnotationTask,
        status: DocumentStatus,
        progress: ProjectProgress,
    ) -> None:
        """Raise `AccessDeniedError` if a document may not be opened again."""
        if annotator in progress.adjudicators:
            raise AccessDeniedError("adjudicators know the labels of others. Decide on the document instead.")
        if any(decision.round == progress.round for decision in self._select_decisions(connection, task, progress)):
            raise AccessDeniedError("the document is adjudicated. Wait for the next round.")
        is_same = and_(TASKS.c.number == task.number, self._needs_annotators_sql)
        if status == "skipped" and connection.execute(select(TASKS.c.number).where(is_same)).first() is None:
            raise AccessDeniedError("other annotators have the document by now. Choose another one.")

    def _create_record_id(self, person: str, task: int, request: str) -> str:
        """Return the id of a record: the same for a repeated `request` of the person in the document."""
        return self._sign(f"record {person} {task} {request}")[:32]

    def _insert_record(self, connection: Connection, record: Record) -> int:
        """Insert a record, whose id must be new, and return its number."""
        values = {"id": record.id, "judge": record.annotator, "task": record.task}
        content = msgspec.json.encode(record).decode()
        key = connection.execute(insert(RECORDS).values(**values, content=content)).inserted_primary_key
        assert key is not None
        return int(key[0])

    # Adjudication.

    def get_adjudicated(self, task: AnnotationTask) -> AdjudicatedDocument:
        """Return versions, regions and decisions of a document."""
        return adjudicate_document(task, self.get_task_records(task))

    def name_annotators(self, task: AnnotationTask, annotators: Iterable[str]) -> dict[str, str]:
        """Return a letter for each annotator of a document, by pseudonym, in an order that is random per document."""
        order = sorted(annotators, key=lambda annotator: self._sign(f"letter {task.number} {annotator}"))
        return {annotator: f"{chr(65 + index % 26)}{index // 26 or ''}" for index, annotator in enumerate(order)}

    def decide(
        self,
        adjudicator: str,
        task: AnnotationTask,
        id: str,
        digest: str,
        choice: str,
        labels: Sequence[AnnotatedLabel] = (),
        reason: str = "",
    ) -> RegionDecision:
        """Store a decision on the region with a digest; a repeated `id` returns the earlier decision.

        `choice` is the pseudonym of an annotator, `none`, `edited` with `labels`, or `open`. Raise `RevisionError` if
        an annotator has changed the region, `ChangeError` if the choice is invalid, and `AccessDeniedError` if the
        person is no adjudicator.
        """
        for label in labels:
            check_label(task, label.label)
        if bool(labels) != (choice == "edited"):
            raise ChangeError("an edited decision needs labels, and no other has any. Choose none to delete all.")

        def store(connection: Connection) -> RegionDecision:
            """Store the decision in a transaction."""
            progress = self._read_progress(connection)
            if adjudicator not in progress.adjudicators:
                raise AccessDeniedError("only adjudicators decide. Ask the organisers.")
            record_id = self._create_record_id(adjudicator, task.number, id)
            stored = connection.execute(statements.RECORD, {"id": record_id}).scalar()
            if stored is not None:
                return self._decode(stored, RegionDecision)
            document = adjudicate_document(task, self._select_task_records(connection, task, progress))
            regions = [item.region for item in document.regions if item.region.digest == digest]
            if not regions or len(document.versions) < self.options.annotators:
                raise RevisionError("annotators have changed their labels here. Load the document again.")
            (region,) = regions
            if choice not in ("none", "edited", "open", *region.versions):
                raise ChangeError("unknown choice. Choose a version, none, edited or open.")
            decision = RegionDecision(
                id=record_id,
                annotator=adjudicator,
                task=task.number,
                start=region.start,
                end=region.end,
                digest=digest,
                choice=choice,
                labels=tuple(labels) or region.versions.get(choice, ()),
                reason=reason,
                round=progress.round,
                server_time=self._get_iso_time(),
            )
            self._insert_record(connection, decision)
            return decision

        return self.database.run_write(store)

    # Records.

    def get_records(self) -> list[Record]:
        """Return all records of the project, oldest first."""
        with self.database.open_read_transaction() as connection:
            return self._select_records(connection)

    def get_task_records(self, task: AnnotationTask) -> list[Record]:
        """Return all records of a document, oldest first."""
        with self.database.open_read_transaction() as connection:
            return self._select_task_records(connection, task, self._read_progress(connection))

    def get_last_records(self) -> dict[int, int]:
        """Return the number of the latest record of each document, by number of the document."""
        with self.database.open_read_transaction() as connection:
            query = select(RECORDS.c.task, func.max(RECORDS.c.seq)).group_by(RECORDS.c.task)
            return {row[0]: row[1] for row in connection.execute(query)}

    def get_decided_tasks(self) -> set[int]:
        """Return the numbers of the documents that an adjudicator has worked on."""
        with self.database.open_read_transaction() as connection:
            adjudicators = self._read_progress(connection).adjudicators
            numbers = connection.execute(statements.TASKS_OF_MANY, {"judges": sorted(adjudicators)}).scalars()
            return set(numbers)

    def get_changes(self, task: AnnotationTask, annotator: str) -> list[Change]:
        """Return the changes of an annotator in a document, oldest first."""
        with self.database.open_read_transaction() as connection:
            parameters = {"judge": annotator, "task": task.number}
            rows = connection.execute(statements.RECORDS_ON_TASK, parameters).scalars()
            records = [self._decode_record(row) for row in rows]
        return [record for record in records if isinstance(record, Change)]

    def get_decisions(self, task: AnnotationTask) -> list[RegionDecision]:
        """Return the decisions of adjudicators on a document, oldest first."""
        with self.database.open_read_transaction() as connection:
            return self._select_decisions(connection, task, self._read_progress(connection))

    def _select_records(self, connection: Connection) -> list[Record]:
        """Return all records, oldest first."""
        rows = connection.execute(select(RECORDS.c.content).order_by(RECORDS.c.seq)).scalars()
        return [self._decode_record(row) for row in rows]

    def _select_task_records(
        self, connection: Connection, task: AnnotationTask, progress: ProjectProgress
    ) -> list[Record]:
        """Return all records of a document, oldest first."""
        leases = connection.execute(statements.LEASES_ON_TASK, {"task": task.number})
        people = {*progress.adjudicators, *(row.judge for row in leases)}
        return self._select_records_of(connection, task, people)

    def _select_decisions(
        self, connection: Connection, task: AnnotationTask, progress: ProjectProgress
    ) -> list[RegionDecision]:
        """Return the decisions of adjudicators on a document, oldest first."""
        records = self._select_records_of(connection, task, progress.adjudicators)
        return [record for record in records if isinstance(record, RegionDecision)]

    def _select_records_of(self, connection: Connection, task: AnnotationTask, people: Iterable[str]) -> list[Record]:
        """Return the records of some people in a document, oldest first."""
        parameters = {"judges": sorted(people), "task": task.number}
        return [
            self._decode_record(row) for row in connection.execute(statements.RECORDS_OF_MANY, parameters).scalars()
        ]

    def _decode_record(self, content: object) -> Record:
        """Decode the content of a record; raise `InputError` if it is damaged."""
        return decode_record(content, self.database.label)

    def list_annotators(self) -> list[AnnotatorStatus]:
        """Return the people who take part, by worker id, those who were anonymised last; for the lead only.

        Leads who do nothing else are not listed.
        """
        workers, adjudicators = self.get_workers(), self.get_adjudicators()
        leads = self.list_leads().keys() - set(adjudicators)
        with self.database.open_read_transaction() as connection:
            rows = select_participants(connection, leads)
            groups = select(LEASES.c.judge, LEASES.c.state, func.count()).group_by(LEASES.c.judge, LEASES.c.state)
            n_documents = {(row[0], row[1]): int(row[2]) for row in connection.execute(groups)}
            counts = select(RECORDS.c.judge, func.count()).group_by(RECORDS.c.judge)
            n_changes = {row[0]: int(row[1]) for row in connection.execute(counts)}
        people = [
            AnnotatorStatus(
                row.pseudonym,
                workers.get(row.pseudonym),
                "adjudicator" if row.pseudonym in adjudicators else "annotator",
                n_documents.get((row.pseudonym, "done"), 0),
                n_documents.get((row.pseudonym, "open"), 0),
                n_documents.get((row.pseudonym, "skipped"), 0),
                n_changes.get(row.pseudonym, 0),
                row.revoked is not None,
            )
            for row in rows
        ]
        return sorted(people, key=lambda person: (person.worker is None, person.worker or "", person.annotator))


def decode_record(content: object, where: str) -> Record:
    """Decode the content of a stored record; raise `InputError` about `where` if it is damaged."""
    try:
        return _RECORD_DECODER.decode(content if isinstance(content, str) else "")
    except JsonError as problem:
        raise damage_error(where, str(problem)) from None


def damage_error(where: str, problem: str) -> InputError:
    """Return, without raising it, the error about rows that contradict each other."""
    return InputError(
        where,
        actual=f"damaged rows ({problem})",
        expected="the tables of an annotation project",
        remedy="Restore a backup: karat annotate restore",
    )


def _encode_progress(progress: ProjectProgress) -> dict[str, str]:
    """Return the properties of a project that change, by key."""
    values = dict(zip(_PROGRESS_KEYS, (progress.adjudicators, progress.guidelines, progress.round), strict=True))
    return {key: msgspec.json.encode(value).decode() for key, value in values.items()}


def decode_progress(properties: Mapping[str, str], label: str) -> ProjectProgress:
    """Return round, guidelines and adjudicators from the properties of a project; raise `InputError` about `label`."""
    return _decode_values(*(properties.get(key) for key in _PROGRESS_KEYS), label)


@lru_cache(16)  # each change reads them
def _decode_values(adjudicators: object, guidelines: object, round_number: object, label: str) -> ProjectProgress:
    """Decode the properties of a project that change."""
    return ProjectProgress(
        decode_stored(round_number, int, f"{label}: round", "annotate"),
        decode_stored(guidelines, tuple[Guidelines, ...], f"{label}: guidelines", "annotate"),
        decode_stored(adjudicators, tuple[str, ...], f"{label}: adjudicators", "annotate"),
    )


def _add_before(edits: Iterable[LabelEdit], state: DocumentState) -> tuple[LabelEdit, ...]:
    """Return edits with the state of each label before them."""
    return tuple(LabelEdit(edit.id, edit.after, state.labels.get(edit.id, UNSET)) for edit in edits)


def _check_revision(state: DocumentState, revision: int, status: DocumentStatus) -> None:
    """Raise an error unless labels may change and `revision` is the current one."""
    if status != "open":
        raise AccessDeniedError("the document is finished or skipped. Reopen it before you change labels.")
    if revision != state.revision:
        raise RevisionError("labels have changed in another window. The document is loaded again.")


def _get_status(state: str) -> DocumentStatus:
    """Return the status of a document by the state of its lease."""
    return "done" if state == "done" else "skipped" if state == "skipped" else "open"
