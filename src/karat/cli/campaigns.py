"""Options and steps that the commands for campaigns of judges and for annotation projects share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from karat.cli.options.declaration import Decorator, combine_options, option
from karat.cli.options.output import allow_host_option, host_option, port_option
from karat.cli.output import echo

if TYPE_CHECKING:
    from karat.protocols.campaigns.participants import ParticipantStore
    from karat.web.server.guard import Guard

_C = TypeVar("_C", bound=Callable[..., Any])


def backup_option(command: _C) -> _C:
    """Add `--out`, the file of a backup, to a command (decorator)."""
    return option("--out", required=True, metavar="FILE", help="Backup file: JSONL, also compressed (.gz, .zst).")(
        command
    )


def invitation_options(port: int, server: str) -> Decorator:
    """Return a decorator that adds `--days` and `--url`; `server` is the command that serves at `port`."""
    address = f"http://127.0.0.1:{port}"
    return combine_options(
        option("--days", default=14.0, show_default=True, metavar="N", help="Days until an invitation expires."),
        option("--url", default=address, show_default=True, metavar="URL", help=f"Address of {server}."),
    )


def serving_options(port: int) -> Decorator:
    """Return a decorator that adds the address of a server, by default at `port`, and `--secure-cookies`."""
    return combine_options(
        host_option,
        port_option(port),
        allow_host_option,
        option(
            "--secure-cookies",
            is_flag=True,
            help="Send cookies over HTTPS only; for a server behind an HTTPS proxy.",
        ),
    )


def check_invitations(store: ParticipantStore, workers: Collection[str], days: float) -> None:
    """Raise `UsageError` for invitations that expire at once, without a name, or for people without access."""
    from karat.model.errors import UsageError

    if days <= 0:
        raise UsageError(f"--days is {days:g}. Pass a number above 0.")
    if not all(worker.strip() for worker in workers):
        raise UsageError(f"{store.database.label}: a name is empty. Name each person to invite.")
    revoked = sorted(store.list_revoked().intersection(workers))
    if revoked:
        raise UsageError(
            f"{store.database.label}: the access of {', '.join(revoked)} was revoked. Restore it first: "
            f"karat {store.command} revoke --lift {store.database.label} {revoked[0]}"
        )


def print_invitations(store: ParticipantStore, workers: Iterable[str], days: float, url: str) -> None:
    """Print an invitation link for each worker, and close the database."""
    for worker in workers:
        echo(f"{worker}: {url.rstrip('/')}/#/join/{store.create_invitation(worker, 86400 * days)}")
    store.database.close()


def lead_option(command: _C) -> _C:
    """Add `--lead` to a command that creates invitations (decorator)."""
    return option("--lead", is_flag=True, help="Create links to the lead page, which open it until they expire.")(
        command
    )


def print_lead_links(store: ParticipantStore, workers: Iterable[str], days: float, url: str, role: str) -> None:
    """Print a link to the lead page for each worker, and close the database; `role` names what other people do."""
    people = store.list_entered()
    participants = {worker for person, worker in store.get_workers().items() if person in people}
    for worker in dict.fromkeys(workers):
        if worker in participants:
            echo(f"{worker} is {role} and sees the work of others on the lead page.", err=True)
        echo(f"{worker}: {url.rstrip('/')}/#/lead/{store.create_lead_token(worker, 86400 * days)}")
    store.database.close()


def print_leads(store: ParticipantStore) -> None:
    """Print who has a link to the lead page, and until when."""
    from karat.protocols.campaigns.participants import to_iso

    workers = store.get_workers()
    for person, until in store.list_leads().items():
        echo(f"lead page: {workers.get(person, person)}, until {to_iso(until)[:16].replace('T', ' ')} UTC")


def anonymise_worker(store: ParticipantStore, worker: str, role: str) -> None:
    """Delete the identity of a worker, and close the database; `role` names what the worker is."""
    from karat.model.errors import UsageError

    if not store.anonymise(worker):
        raise UsageError(f"{store.database.label}: there is no {role} {worker}. Check the name.")
    echo(f"{worker} is anonymised")
    store.database.close()


def revoke_worker(store: ParticipantStore, worker: str, *, lift: bool) -> None:
    """Revoke the access of a worker or restore it, and close the database."""
    from karat.model.errors import UsageError

    if lift:
        if not store.restore_access(worker):
            raise UsageError(f"{store.database.label}: the access of {worker} is not revoked. Check the name.")
        echo(f"{worker} may enter again")
    else:
        if not worker.strip():
            raise UsageError(f"{store.database.label}: the name is empty. Name the person.")
        has_entered = store.revoke(worker)
        echo(
            f"{worker} has no access any more"
            if has_entered
            else f"{worker} never entered, and cannot enter now. If the name is wrong, lift this: "
            f"karat {store.command} revoke --lift {store.database.label} {worker}"
        )
    store.database.close()


def write_backup(store: ParticipantStore, out: str) -> None:
    """Write a backup of a campaign to a file, and close the database."""
    from karat.protocols.campaigns.backups import dump_backup
    from karat.storage.atomic_writing import open_for_writing

    with open_for_writing(out) as file:
        for line in dump_backup(store.database):
            file.write(line)
    store.database.close()


_S = TypeVar("_S", bound="ParticipantStore")


def read_backup(restore: Callable[[str, str, Iterable[bytes]], _S], file: str, target: str) -> _S:
    """Restore a backup file into the database `target` by the function `restore`, and return the store."""
    from karat.storage.files import Source

    source = Source(file)
    with source.open_stream() as lines:
        return restore(target, source.label, lines)


def print_restored(store: ParticipantStore, name: str, n_records: int) -> None:
    """Print what a backup contained, and close the database."""
    from karat.model.output.text_layout import format_count

    echo(f"{store.database.label}: {name}, {format_count(n_records, 'record')}")
    store.database.close()


def serve_campaign(store: ParticipantStore, app: Guard, host: str, port: int, lead_token: str) -> None:
    """Serve the application of a campaign until interrupted, and close the database.

    Print its address and that of the lead page, which `lead_token` opens.
    """
    from karat.web.server.listener import listen

    listen(app, host, port, lambda line: echo(f"{line}\nlead page: {line.split()[0]}#/lead/{lead_token}"))
    store.database.close()
