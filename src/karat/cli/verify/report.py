"""`karat verify report STORE…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.options.judging import auto_judge_option
from karat.cli.options.output import archive_option, details_option, figures_option, json_option
from karat.cli.options.statistics import confidence_option, resamples_option, seed_option
from karat.cli.output import echo, page_width, print_page, write_output

if TYPE_CHECKING:
    from karat.protocols.verification.posthoc import ResamplingUnit


@karat_command()
@click.argument("stores", nargs=-1, required=True)
@auto_judge_option
@option(
    "--ci-unit",
    type=click.Choice(["document", "annotation"]),
    default="document",
    show_default=True,
    help="Resampling unit of the intervals.",
)
@confidence_option()
@resamples_option(" (0: none)")
@seed_option()
@details_option("Show the overlap of sources and a row for each judge.")
@archive_option("report")
@figures_option("the posthoc paper, Figures 3 and 4, for these campaigns")
@json_option()
def command(
    stores: tuple[str, ...],
    auto_judge: str | None,
    ci_unit: ResamplingUnit,
    confidence: float,
    resamples: int,
    seed: int,
    details: bool,
    archive: str | None,
    figures: str | None,
    json_file: str | None,
) -> None:
    """Report outcomes, scores and agreement of judges.

    Scores are shown before and after verification, with union, rate and recall of every two sources, and the quality
    and time of judgements. Each STORE is the database of one campaign. The paper uses --ci-unit annotation --confidence
    0.9.

    \b
    karat verify report demo.sqlite
    karat verify report aida.sqlite msnbc.sqlite --json verified.jsonl
    karat verify report demo.sqlite --archive karat-archive
    karat verify report aida.sqlite msnbc.sqlite --figures figures
    """
    from karat.model.errors import UsageError
    from karat.protocols.verification.judgements import check_auto_judge
    from karat.protocols.verification.measures import measure_campaign
    from karat.protocols.verification.store.store import CampaignStore
    from karat.render.verification.report import render_page, to_json
    from karat.stats.samples.bootstrap import check_confidence

    check_confidence(confidence)
    if resamples < 0 or seed < 0:
        raise UsageError(f"--resamples is {resamples} and --seed {seed}. Pass numbers of at least 0.")
    verifications = []
    paths: dict[str, str] = {}
    for path in stores:
        store = CampaignStore.open(path)
        digest = store.campaign.digest
        if digest in paths:
            echo(
                f"karat: {paths[digest]} and {path} are the same campaign, reported twice. Combine judgements of "
                "copies by karat verify export and import.",
                err=True,
            )
        paths[digest] = path
        records = store.get_records()
        check_auto_judge(records, auto_judge, path)
        verification = measure_campaign(
            store.campaign,
            records,
            machine=auto_judge,
            unit=ci_unit,
            confidence=confidence,
            resamples=resamples,
            seed=seed,
        )
        verifications.append(verification)
        store.database.close()
    if archive is not None:
        from karat.storage.content_store import FolderStore
        from karat.web.archive.verification import store_campaign

        files = FolderStore.open_or_create(archive)
        for verified in verifications:
            store_campaign(files, verified)
    if figures is not None:
        from karat.cli.figures import write_figures
        from karat.protocols.verification.plots import plot_verifications

        write_figures(plot_verifications(verifications), figures)
    write_output(json_file, lambda: to_json(verifications))
    print_page(lambda: render_page(verifications, details=details, width=page_width()), json_file)
