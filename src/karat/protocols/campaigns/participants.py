"""Participants of a campaign in a database: invitations, sessions, consent, anonymity and revoked access.

Campaigns of judges and annotation projects share the tables and everything that concerns people.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias, TypeVar

import msgspec
from sqlalchemy import Connection, Row, and_, delete, exists, insert, inspect, not_, or_, select, text, update

from karat.model.errors import InputError, KaratError, check_layout_version
from karat.model.json.decoder import JsonError, decode_json, read_json_value
from karat.protocols.campaigns import statements
from karat.protocols.campaigns.signatures import create_secret, name_task, sign_message
from karat.protocols.campaigns.tables import (
    JUDGES,
    LAYOUT,
    LEASES,
    METADATA,
    PERSONS,
    PROPERTIES,
    REFERENCES,
    TASKS,
    TOKENS,
)
from karat.storage.database import Database, create_database, open_database

_T = TypeVar("_T")

SESSION_SECONDS: Final = 12 * 3600.0
"""Duration of a session in seconds."""

LEAD_TOKEN: Final = "lead"
"""Kind of the tokens that open the page of the lead."""

CampaignCommand: TypeAlias = Literal["verify", "annotate"]
"""Group of commands for a campaign: of judges, or of annotators."""

_TITLES: Final[Mapping[CampaignCommand, str]] = {"verify": "a campaign of judges", "annotate": "an annotation project"}


class AccessDeniedError(KaratError):
    """A participant's request that the campaign does not allow."""


class InvitationError(AccessDeniedError):
    """An invitation that is invalid, expired or used, or whose access was revoked."""


@dataclass(frozen=True)
class ParticipantStore:
    """A campaign in a database, with the people who take part.

    Every method that writes returns after the data are on disk. Participants are identified by random pseudonyms
    (`judge`); a worker id (`worker`) is the identity of a person.
    """

    command: ClassVar[CampaignCommand]
    """Group of commands for the campaign."""

    database: Database
    """Database."""
    clock: Callable[[], float] = field(default=time.time)
    """Function that returns the time in seconds."""

    @classmethod
    def open(cls, target: str, clock: Callable[[], float] = time.time) -> Self:
        """Open the campaign in a database; raise `InputError` if there is none, or one of another layout or kind."""
        database = open_database(target, command=cls.command)
        layout = read_layout(database)
        check_layout_version(database.label, layout or "", LAYOUT)
        if layout != LAYOUT:
            raise InputError(
                database.label,
                actual="no campaign" if layout is None else f"the layout {layout}",
                expected=f"the tables of a campaign ({LAYOUT})",
                remedy=f"Create one: karat {cls.command} create NAME …"
                if layout is None
                else f"Migrate it: karat verify migrate {database.label}",
            )
        database.check_rows(METADATA, REFERENCES)
        store = cls(database, clock)
        check_command(database.label, store._read_properties().get("options"), cls.command)
        return store

    @cached_property
    def _properties(self) -> dict[str, str]:
        """Properties of the campaign that never change, by key, read from the database once.

        The keys are `layout` (version of the tables), `options` (as JSON) and `secret`.
        """
        properties = self._read_properties()
        if missing := {"options", "secret"} - properties.keys():
            raise InputError(
                self.database.label,
                actual=f"a campaign without {' and '.join(sorted(missing))}",
                expected=f"the tables of a campaign ({LAYOUT})",
                remedy=f"Restore a backup: karat {self.command} restore",
            )
        return properties

    def _read_properties(self) -> dict[str, str]:
        """Read all properties of the campaign, by key."""
        with self.database.open_read_transaction() as connection:
            return {row.key: row.value for row in connection.execute(select(PROPERTIES))}

    def _sign(self, message: str) -> str:
        """Return the signature of a message with the secret of the campaign, as hexadecimal digits."""
        return sign_message(self._properties["secret"], message)

    def _decode(self, content: object, kind: type[_T]) -> _T:
        """Decode the JSON `content` of a stored row as `kind`; raise `InputError` if it is damaged."""
        return decode_stored(content, kind, self.database.label, self.command)

    def _get_iso_time(self) -> str:
        """Return the time as ISO 8601."""
        return to_iso(self.clock())

    @cached_property
    def _numbers_by_name(self) -> dict[str, int]:
        """Task numbers by the opaque task names that participants see."""
        with self.database.open_read_transaction() as connection:
            return {row.name: row.number for row in connection.execute(select(TASKS.c.name, TASKS.c.number))}

    # Sessions.

    def create_invitation(self, worker: str, seconds: float = 14 * 86400.0) -> str:
        """Return an invitation for a worker: a signed token that can be used once within `seconds`; store nothing."""
        payload = f"{worker.encode().hex()}.{int(self.clock() + seconds)}"
        return f"{payload}.{self._sign(f'invitation {payload}')[:32]}"

    def start_session(self, invitation: str, has_consented: bool = False) -> str:
        """Exchange an invitation for a session token; on a worker's first session, add a judge with a pseudonym.

        The time of the first session with `has_consented` is recorded. The invitation counts as used once the session
        is, so that it works again if the answer never reached the judge; the earlier session has ended then. Raise
        `AccessDeniedError` if the invitation is invalid, expired or used, or the judge's access was revoked.
        """
        payload, _, signature = invitation.rpartition(".")
        worker, _, end = payload.partition(".")
        expected = self._sign(f"invitation {payload}")[:32]
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
            judge = find_or_add_person(connection, bytes.fromhex(worker).decode())
            is_judge = JUDGES.c.pseudonym == judge
            if _is_revoked(connection, judge):
                raise InvitationError("your access was revoked. Ask the organisers.")
            if has_consented:
                is_first = and_(is_judge, JUDGES.c.consented.is_(None))
                connection.execute(update(JUDGES).where(is_first).values(consented=self._get_iso_time()))
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

    # Leads.

    def create_lead_token(self, worker: str, seconds: float = 14 * 86400.0) -> str:
        """Return a new token that opens the page of the lead until it expires after `seconds`, or is revoked.

        The hash of the token is stored under the pseudonym of the worker, so that `revoke` and `anonymise` end it.
        Raise `InvitationError` if the worker's access was revoked.
        """
        token = secrets.token_urlsafe(32)

        def store(connection: Connection) -> None:
            """Store person and token."""
            person = find_or_add_person(connection, worker)
            if _is_revoked(connection, person):
                raise InvitationError(f"the access of {worker} was revoked. Restore it first: revoke --lift.")
            values = {"pseudonym": person, "kind": LEAD_TOKEN, "until": self.clock() + seconds}
            connection.execute(insert(TOKENS).values(hash=_hash(token), **values))

        self.database.run_write(store)
        return token

    def is_lead_token(self, token: str) -> bool:
        """Return whether a token opens the page of the lead: it was created for it, and is neither old nor revoked."""
        parameters = {"hash": _hash(token), "now": self.clock()}
        return self.database.fetch_row(statements.LEAD, parameters) is not None

    def list_leads(self) -> dict[str, float]:
        """Return the time at which the last token of each lead expires, by pseudonym; without expired tokens."""
        query = select(TOKENS).where(TOKENS.c.kind == LEAD_TOKEN, TOKENS.c.until > self.clock())
        with self.database.open_read_transaction() as connection:
            rows = connection.execute(query.order_by(TOKENS.c.until)).all()
        return {row.pseudonym: float(row.until) for row in rows}

    # People.

    def anonymise(self, worker: str) -> bool:
        """Delete the worker id and sessions of a judge, and return whether there was one; the records stay."""
        with self.database.open_write_transaction() as connection:
            judge = _find_person(connection, worker)
            if judge is None:
                return False
            connection.execute(delete(TOKENS).where(TOKENS.c.pseudonym == judge))
            connection.execute(delete(PERSONS).where(PERSONS.c.pseudonym == judge))
            return True

    def revoke(self, worker: str) -> bool:
        """End all access of a judge and return whether the judge had entered; the records stay and count.

        Sessions, lead tokens and reservations of tasks end, and no invitation of this worker works any more, also if
        the judge never entered. `restore_access` lifts it.
        """
        with self.database.open_write_transaction() as connection:
            was_known = _find_person(connection, worker) is not None
            self._end_access(connection, find_or_add_person(connection, worker))
            return was_known

    def revoke_person(self, pseudonym: str) -> bool:
        """End all access of the person with a pseudonym, as `revoke`; return whether there is such a person."""
        with self.database.open_write_transaction() as connection:
            is_person = and_(JUDGES.c.pseudonym == pseudonym, JUDGES.c.machine.is_(None))
            is_known = connection.execute(select(JUDGES.c.pseudonym).where(is_person)).first() is not None
            if is_known:
                self._end_access(connection, pseudonym)
            return is_known

    def _end_access(self, connection: Connection, judge: str) -> None:
        """End sessions, lead tokens and reservations of a person, and refuse all invitations from now on."""
        is_first = and_(JUDGES.c.pseudonym == judge, JUDGES.c.revoked.is_(None))
        connection.execute(update(JUDGES).where(is_first).values(revoked=self._get_iso_time()))
        connection.execute(delete(TOKENS).where(TOKENS.c.pseudonym == judge, TOKENS.c.kind != "invitation"))
        is_open = and_(LEASES.c.judge == judge, LEASES.c.state == "open")
        connection.execute(update(LEASES).where(is_open).values(state="lost"))

    def restore_access(self, worker: str) -> bool:
        """Let a judge whose access was revoked enter again by an invitation; return whether there was such a judge."""
        with self.database.open_write_transaction() as connection:
            judge = _find_person(connection, worker)
            is_revoked = and_(JUDGES.c.pseudonym == judge, JUDGES.c.revoked.is_not(None))
            return bool(connection.execute(update(JUDGES).where(is_revoked).values(revoked=None)).rowcount)

    def list_revoked(self) -> set[str]:
        """Return the worker ids of all people whose access was revoked."""
        query = select(PERSONS.c.worker).join(JUDGES, JUDGES.c.pseudonym == PERSONS.c.pseudonym)
        with self.database.open_read_transaction() as connection:
            return set(connection.execute(query.where(JUDGES.c.revoked.is_not(None))).scalars())

    def list_entered(self) -> set[str]:
        """Return the pseudonyms of all people who entered by an invitation, and gave consent or got a task."""
        with self.database.open_read_transaction() as connection:
            return set(connection.execute(select(JUDGES.c.pseudonym).where(_has_entered_sql())).scalars())

    def get_record_state(self) -> tuple[int, int]:
        """Return the number of records and the number of the last one, which change with every new record."""
        with self.database.open_read_transaction() as connection:
            count, last = connection.execute(statements.LAST_RECORD).one()
            return int(count), int(last or 0)

    def get_workers(self) -> dict[str, str]:
        """Return worker ids by pseudonym, of participants who were not anonymised."""
        with self.database.open_read_transaction() as connection:
            return {row.pseudonym: row.worker for row in connection.execute(select(PERSONS))}


def create_tables(
    target: str,
    options: msgspec.Struct,
    secret: str,
    tasks: Sequence[Mapping[str, object]],
    properties: Mapping[str, str] | None = None,
) -> Database:
    """Create the tables of a campaign in an empty database; raise `InputError` if it contains a campaign.

    `target` is a file or the address of a PostgreSQL database. An empty `secret` is replaced by a random one. Each task
    has `number`, `document`, `start`, `control` and `content`. `properties` are further ones, by key.
    """
    secret = secret or create_secret()
    values = {"layout": LAYOUT, "options": msgspec.json.encode(options).decode(), "secret": secret}
    rows = [{**task, "name": name_task(secret, task["number"]), "done": 0, "finished": False} for task in tasks]
    with create_database(target) as database:
        require_empty(database)
        with database.open_write_transaction() as connection:
            METADATA.create_all(connection)
            items = {**values, **(properties or {})}.items()
            connection.execute(insert(PROPERTIES), [{"key": key, "value": value} for key, value in items])
            if rows:
                connection.execute(insert(TASKS), rows)
    return database


def check_command(label: str, options: object, command: CampaignCommand) -> None:
    """Raise `InputError` if the stored `options` are those of a campaign for another group of commands.

    Damaged options are not refused here.
    """
    try:
        kind = decode_json(options if isinstance(options, str) else "", _CampaignKind).kind
    except JsonError:
        return
    right_command: CampaignCommand = "annotate" if kind == "annotate" else "verify"
    if right_command != command:
        raise InputError(
            label,
            actual=_TITLES[right_command],
            expected=_TITLES[command],
            remedy=f"Use karat {right_command} in place of karat {command}",
        )


class _CampaignKind(msgspec.Struct):
    """The kind of a campaign, in its options."""

    kind: str


def decode_stored(content: object, kind: type[_T], where: str, command: CampaignCommand = "verify") -> _T:
    """Decode the JSON `content` of a stored row as `kind`; raise `InputError` about `where` if it is damaged.

    A damaged database may return a number or bytes for a text.
    """
    return read_json_value(
        content if isinstance(content, str) else "",
        kind,
        where,
        actual="a damaged row ({problem})",
        expected=f"the tables of a campaign ({LAYOUT})",
        remedy=f"Restore a backup: karat {command} restore",
    )


def read_layout(database: Database) -> str | None:
    """Return the layout of the campaign in a database; None if there is none. Layouts before 2 have another table."""
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
    with database.open_read_transaction() as connection:
        tables = sorted(set(inspect(connection).get_table_names()) & set(METADATA.tables))
    if tables:
        raise InputError(
            database.label,
            actual=f"tables of a campaign ({', '.join(tables)})",
            expected="an empty database for each campaign",
            remedy="Name another one",
        )


def add_judge(connection: Connection, machine: str | None) -> str:
    """Add a participant with a random pseudonym and return it; `machine` is None for a person."""
    pseudonym = secrets.token_hex(8)
    connection.execute(insert(JUDGES).values(pseudonym=pseudonym, machine=machine, failed=False))
    return pseudonym


def find_or_add_person(connection: Connection, worker: str) -> str:
    """Return the pseudonym of a worker; add a participant with a new one if there is none."""
    judge = _find_person(connection, worker)
    if judge is None:
        judge = add_judge(connection, None)
        connection.execute(insert(PERSONS).values(pseudonym=judge, worker=worker))
    return judge


def _find_person(connection: Connection, worker: str) -> str | None:
    """Return the pseudonym of a worker; None if the worker never entered."""
    judge: str | None = connection.execute(select(PERSONS.c.pseudonym).where(PERSONS.c.worker == worker)).scalar()
    return judge


def _is_revoked(connection: Connection, judge: str) -> bool:
    """Return whether the access of a person was revoked."""
    return connection.execute(select(JUDGES.c.revoked).where(JUDGES.c.pseudonym == judge)).scalar() is not None


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


def select_participants(connection: Connection, leads: Iterable[str]) -> Sequence[Row[Any]]:
    """Return the rows of all people who take part.

    Without those who never entered, if they are `leads` (pseudonyms) or were revoked.
    """
    is_outside = or_(JUDGES.c.pseudonym.in_(sorted(leads)), JUDGES.c.revoked.is_not(None))
    is_listed = or_(not_(is_outside), _has_entered_sql())
    return connection.execute(select(JUDGES).where(JUDGES.c.machine.is_(None), is_listed)).all()


def _has_entered_sql() -> Any:  # noqa: ANN401  # an expression of SQL
    """Return the SQL condition on a person: the person gave consent or got a task."""
    return or_(JUDGES.c.consented.is_not(None), exists().where(LEASES.c.judge == JUDGES.c.pseudonym))


def count_done(connection: Connection, judge: str) -> int:
    """Count the tasks that a participant has completed, including controls."""
    return int(connection.execute(statements.TASKS_DONE, {"judge": judge}).scalar_one())


def _hash(token: str) -> str:
    """Return the SHA-256 of a token, which is stored in place of the token."""
    return hashlib.sha256(token.encode()).hexdigest()


def to_iso(seconds: float) -> str:
    """Format a Unix time as ISO 8601 in UTC, with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
