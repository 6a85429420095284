"""`karat verify report STORE…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.choices import once
from karat.cli.output import show, width, write

if TYPE_CHECKING:
    from karat.verification.posthoc import DrawnUnit


@click.command()
@click.argument("stores", nargs=-1, required=True)
@click.option("--machine", metavar="NAME", help="What this machine said, in place of people.")
@click.option(
    "--unit",
    type=click.Choice(["document", "annotation"]),
    default="document",
    show_default=True,
    help="What is drawn for intervals.",
)
@click.option("--level", default=0.95, show_default=True, metavar="L", help="The level of the intervals.")
@click.option("--resamples", default=1000, show_default=True, metavar="N", help="Samples for intervals; 0 is none.")
@click.option("--seed", default=0, show_default=True, metavar="N", help="What random numbers start from.")
@click.option("--details", is_flag=True, help="Add how sources overlap, and a line for each judge.")
@click.option("--archive", metavar="DIR", help="Add it to the pages of an archive, for karat serve.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write all of it as JSON.")
def command(
    stores: tuple[str, ...],
    machine: str | None,
    unit: DrawnUnit,
    level: float,
    resamples: int,
    seed: int,
    details: bool,
    archive: str | None,
    json_file: str | None,
) -> None:
    """Say what judges found: outcomes, scores before and after the fact, agreement, quality and time.

    Each STORE is the database of one campaign. The paper's own intervals are --unit annotation --level 0.9.

    \b
    karat verify report demo.sqlite
    karat verify report aida.sqlite msnbc.sqlite --json verified.jsonl
    karat verify report demo.sqlite --archive karat-archive
    """
    from karat.errors import UsageError
    from karat.pages.judged.verification import file_of, json_of, page
    from karat.stats.samples.bootstrap import checked_level
    from karat.verification.measures import verification
    from karat.verification.store.store import CampaignStore

    checked_level(level)
    if resamples < 0 or seed < 0:
        raise UsageError(f"resamples is {resamples} and seed {seed}. Give numbers from 0 on.")
    found = []
    for given in stores:
        store = CampaignStore.open(given)
        drawn = {"level": level, "resamples": resamples, "seed": seed}
        records = store.records()
        if machine is not None and machine not in {one.machine for one in records}:
            raise UsageError(f"{given}: no machine {machine} has judged. Leave --machine out, or let it judge.")
        found.append(verification(store.campaign, records, machine=machine, unit=unit, **drawn))  # type: ignore[arg-type]
        store.database.close()
    if archive is not None:
        from karat.archive.verified import keep
        from karat.storage.addressed import InFolder

        files = InFolder.made(archive)
        for one in found:
            keep(files, file_of(one))
    write(json_file, lambda: json_of(found))
    show(lambda: page(found, details=details, width=width()), json_file)
