"""`karat verify create NAME --gold GOLD --predictions PREDICTIONS…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.options.declaration import group_options, karat_command, option
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import kb_option
from karat.cli.options.statistics import seed_option
from karat.cli.output import echo, echo_run_warnings

if TYPE_CHECKING:
    from karat.protocols.verification.creation import NewCampaign


def _build_options(**options: object) -> NewCampaign:
    """Return the options of the campaign."""
    from karat.protocols.verification.creation import NewCampaign

    return NewCampaign(**options)  # type: ignore[arg-type]  # the options are named like its fields


@karat_command()
@click.argument("name")
@option("--gold", required=True, metavar="GOLD", help="Gold standard; judges see it like a system.")
@option("--predictions", multiple=True, metavar="FILE", help="Predictions of a system (repeatable).")
@option("--store", metavar="FILE|URL", help="Database of the campaign, also postgresql://….  [default: NAME.sqlite]")
@kb_option("Knowledge base that resolves ids and that judges search: a snapshot or a folder of tables.")
@group_options(
    "options",
    _build_options,
    option(
        "--kind",
        type=click.Choice(["verify", "survey"]),
        default="verify",
        show_default=True,
        help="Campaign kind: judge links, or ask which links mentions should have.",
    ),
    option("--judges", type=int, metavar="K", help="Number of judges per link.  [default: 1; all for a survey]"),
    option(
        "--tasks-per-judge",
        type=int,
        metavar="N",
        help="Tasks per judge; 0 for no limit.  [default: 20; 0 for a survey]",
    ),
    option("--people", type=int, metavar="N", help="Number of people who will judge; fail if they are too few."),
    option("--allow-additions", is_flag=True, help="Let judges add missing links."),
    option(
        "--controls",
        default="agreed",
        show_default=True,
        metavar="FILE",
        help="File of control tasks, or agreed or none.",
    ),
    option(
        "--priority",
        default="all",
        show_default=True,
        metavar="NAME",
        help="Links to judge: all, disagreements, false-positives, or suspicious first.",
    ),
    option(
        "--lease",
        default=30.0,
        show_default=True,
        metavar="MINUTES",
        help="Minutes until an unfinished task goes to another judge.",
    ),
    option(
        "--passage-length",
        default=300,
        show_default=True,
        metavar="N",
        help="Approximate passage length in characters.",
    ),
    option("--consent", metavar="FILE", help="Text file of the consent form."),
    option("--guidelines", metavar="FILE", help="Text file of the guidelines."),
    seed_option(),
)
@input_options
def command(
    name: str,
    gold: str,
    predictions: tuple[str, ...],
    store: str | None,
    kb: str | None,
    options: NewCampaign,
) -> None:
    """Create a campaign of tasks for judges.

    A task shows a passage with the links of one source; the source is hidden and the order is random. One in 20 tasks
    or more is a control with links whose correct judgement is known; a warning says if controls are too few. Judges
    with less than 75 % of these correct fail. By default, controls test two or three links that all sources share, one
    of which gets a wrong entity. Each line of a control file looks like
    {"text": "…", "links": [{"start": 0, "end": 6, "entity": "Q64", "correct": ["verify"]}, …]}.

    \b
    karat verify create demo --gold demo --predictions demo/prior
    karat verify create news --gold news.jsonl --predictions a.jsonl --judges 3
    karat verify create wanted --gold demo --kind survey
    """
    from karat.analysis.comparison.entries import disambiguate_names
    from karat.data.load import detect_inputs, load
    from karat.kb.catalogue import locate_kb, open_kb
    from karat.matching.read.pairing import pair_run
    from karat.model.output.text_layout import format_count
    from karat.protocols.verification.creation import create_campaign, lacks_categories, lacks_controls
    from karat.protocols.verification.store.store import CampaignStore

    options.check()
    name = name.removesuffix(".sqlite")
    corpus, runs = detect_inputs(gold, predictions).load(needs_labels=False) if predictions else (load(gold), [])
    for run in runs:
        pair_run(corpus, run)
        echo_run_warnings(corpus, run)
    knowledge_base = None if kb is None else open_kb(kb)
    location = None if kb is None else locate_kb(kb)
    named_runs = disambiguate_names(runs, predictions)
    campaign = create_campaign(name, corpus, named_runs, options, kb=knowledge_base, kb_location=location)
    store_path = store or f"{name}.sqlite"
    campaign_store = CampaignStore.create(store_path, campaign)
    n_tasks = sum(not task.is_control for task in campaign.tasks)
    n_controls = len(campaign.tasks) - n_tasks
    echo(f"{campaign_store.database.label}: {format_count(n_tasks, 'task')}, {format_count(n_controls, 'control')}")
    n_people = campaign.count_needed_people()
    if n_people is not None:
        echo(
            f"  {format_count(campaign.n_judgements, 'judgement')} need {format_count(n_people, 'person', 'people')} "
            f"with {format_count(campaign.options.batch, 'task')} each"
        )
    for source_name, counts in campaign.options.counts.items():
        echo(f"  {source_name}: {', '.join(f'{kind_name} {count}' for kind_name, count in counts.items())}")
    if kb is None and campaign.options.kb is not None:
        echo(f"ids: of different schemes; the knowledge base {campaign.options.kb} maps them onto each other")
    if lacks_categories(campaign):
        echo(
            "karat: no link has categories, and weights of a survey are by category. If you want weights, assign "
            "categories to the gold standard with karat data categorise, and create the survey again.",
            err=True,
        )
    if lacks_controls(campaign, options):
        advice = "Pass" if kb else "Pass --kb, which adds entities to choose from, or"
        echo(
            "karat: no controls were created, because no passage has two links that all sources share and a plausible "
            f"wrong entity. Judges are not tested. {advice} controls of your own with --controls FILE.",
            err=True,
        )
    elif n_controls < campaign.n_needed_controls:
        advice = "Pass" if kb or options.has_control_file else "Pass --kb, which adds entities to choose from, pass"
        echo(
            f"karat: {format_count(n_controls, 'control')} instead of {campaign.n_needed_controls:,} in the "
            f"{campaign.max_tasks_per_judge:,} tasks that a judge may do: judges are tested in fewer than one in 20 "
            f"tasks. {advice} more controls of your own with --controls FILE, or lower --tasks-per-judge.",
            err=True,
        )
    campaign_store.database.close()
