"""`karat verify create NAME --gold GOLD --predictions PREDICTIONS…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.input_options import input_options
from karat.cli.output import echo, echo_warnings

if TYPE_CHECKING:
    from karat.model.corpus import Corpus
    from karat.protocols.verification.campaign import CampaignKind


@click.command()
@click.argument("name")
@click.option("--gold", required=True, metavar="GOLD", help="Gold standard; judges see it like a system.")
@click.option("--predictions", multiple=True, metavar="FILE", help="Predictions of a system (repeatable).")
@click.option(
    "--store", metavar="FILE|URL", help="Database of the campaign, also postgresql://….  [default: NAME.sqlite]"
)
@click.option("--kb", metavar="NAME|DIR", help="Knowledge base that resolves ids and that judges search.")
@click.option(
    "--kind",
    type=click.Choice(["verify", "survey"]),
    default="verify",
    show_default=True,
    help="Campaign kind: judge links, or ask which links mentions should have.",
)
@click.option("--judges", type=int, metavar="K", help="Number of judges per link.  [default: 1; all for a survey]")
@click.option(
    "--tasks-per-judge", type=int, metavar="N", help="Tasks per judge; 0 for no limit.  [default: 20; 0 for a survey]"
)
@click.option("--allow-additions", is_flag=True, help="Let judges add missing links.")
@click.option(
    "--controls", default="agreed", show_default=True, metavar="FILE", help="File of control tasks, or agreed or none."
)
@click.option(
    "--priority",
    default="all",
    show_default=True,
    metavar="NAME",
    help="Links to judge: all, disagreements, false-positives, or suspicious first.",
)
@click.option(
    "--lease",
    default=30.0,
    show_default=True,
    metavar="MINUTES",
    help="Minutes until an unfinished task goes to another judge.",
)
@click.option(
    "--passage-length", default=300, show_default=True, metavar="N", help="Approximate passage length in characters."
)
@click.option("--consent", metavar="FILE", help="Text file of the consent form.")
@click.option("--guidelines", metavar="FILE", help="Text file of the guidelines.")
@click.option("--seed", default=0, show_default=True, metavar="N", help="Random seed.")
@input_options
def command(
    name: str,
    gold: str,
    predictions: tuple[str, ...],
    store: str | None,
    kb: str | None,
    kind: CampaignKind,
    judges: int | None,
    tasks_per_judge: int | None,
    allow_additions: bool,
    controls: str,
    priority: str,
    lease: float,
    passage_length: int,
    consent: str | None,
    guidelines: str | None,
    seed: int,
) -> None:
    """Create a campaign of tasks for judges.

    A task shows a passage with the links of one source; the source is hidden and the order is random. One in 20 tasks
    is a control with three links whose correct judgement is known. By default, controls are built from links that all
    sources share, one of which gets a wrong entity. Each line of a control file looks like
    {"text": "…", "links": [{"start": 0, "end": 6, "entity": "Q64", "correct": ["verify"]}, …]}.

    \b
    karat verify create demo --gold demo --predictions demo/prior
    karat verify create news --gold news.jsonl --predictions a.jsonl --judges 3
    karat verify create wanted --gold demo --kind survey
    """
    import msgspec

    from karat.cli.arguments import rename_duplicates
    from karat.data.load import detect_inputs
    from karat.kb.catalogue import open_kb
    from karat.model.errors import InputError, UsageError
    from karat.model.output.text_layout import format_count
    from karat.protocols.verification.campaign_builder import build_campaign, parse_controls
    from karat.protocols.verification.guidelines import CONSENT, GUIDELINES, SURVEY_CONSENT, SURVEY_GUIDELINES
    from karat.protocols.verification.store.store import CampaignStore
    from karat.protocols.verification.surveys import UNLIMITED_JUDGES, build_survey
    from karat.storage.files import Source

    is_survey = kind == "survey"
    judges = (UNLIMITED_JUDGES if is_survey else 1) if judges is None else judges
    tasks_per_judge = (0 if is_survey else 20) if tasks_per_judge is None else tasks_per_judge
    if is_survey and (allow_additions or priority != "all" or controls not in ("agreed", "none")):
        raise UsageError("a survey has no controls, priorities or additions. Remove these options.")
    if judges < 1 or tasks_per_judge < 0 or lease <= 0 or passage_length < 20:
        raise UsageError(
            "a number is too small. --judges must be at least 1, --tasks-per-judge at least 0, --lease above 0 and "
            "--passage-length at least 20."
        )
    custom_controls = None
    if controls not in ("agreed", "none"):
        source = Source(controls)
        lines = []
        for number, line in enumerate(source.read_bytes().splitlines(), 1):
            try:
                lines.append(msgspec.json.decode(line, type=dict[str, object]))
            except (msgspec.DecodeError, UnicodeDecodeError) as problem:
                location = f"{source.label}:{number}"
                raise InputError(location, actual=str(problem), expected="a JSON object", remedy="Correct it") from None
        custom_controls = parse_controls(source.label, lines)
    corpus, runs = detect_inputs(gold, predictions).load(text=True) if predictions else (_load_gold(gold), [])
    echo_warnings((corpus, run) for run in runs)
    knowledge_base = None if kb is None else open_kb(kb)
    consent_text = _read_text(consent, SURVEY_CONSENT if is_survey else CONSENT)
    guidelines_text = _read_text(guidelines, SURVEY_GUIDELINES if is_survey else GUIDELINES)
    named_runs = rename_duplicates(runs, list(predictions))
    if is_survey:
        new_campaign = build_survey(
            corpus,
            named_runs,
            name=name,
            kb=knowledge_base,
            seed=seed,
            judges=judges,
            batch=tasks_per_judge,
            lease=60 * lease,
            length=passage_length,
            consent=consent_text,
            guidelines=guidelines_text,
        )
    else:
        new_campaign = build_campaign(
            corpus,
            named_runs,
            name=name,
            kb=knowledge_base,
            seed=seed,
            judges=judges,
            batch=tasks_per_judge,
            controls=0 if controls == "none" or tasks_per_judge == 0 else 1,
            lease=60 * lease,
            priority=priority,
            length=passage_length,
            control_tasks=custom_controls,
            additions=allow_additions,
            consent=consent_text,
            guidelines=guidelines_text,
        )
    location = store or f"{name}.sqlite"
    campaign_store = CampaignStore.create(location, new_campaign)
    tasks = [task for task in new_campaign.tasks if not task.is_control]
    n_controls = len(new_campaign.tasks) - len(tasks)
    echo(f"{campaign_store.database.label}: {format_count(len(tasks), 'task')}, {format_count(n_controls, 'control')}")
    for source_name, counts in new_campaign.options.counts.items():
        echo(f"  {source_name}: {', '.join(f'{kind_name} {count}' for kind_name, count in counts.items())}")
    if kb is None and new_campaign.options.kb is not None:
        echo(f"ids: of different schemes; the knowledge base {new_campaign.options.kb} maps them onto each other")
    if tasks_per_judge and not is_survey and controls != "none" and not new_campaign.options.controls:
        echo("karat: no controls were created, because no passage has three links that all sources share.", err=True)
    campaign_store.database.close()


def _load_gold(name: str) -> Corpus:
    """Load a gold standard."""
    from karat.data.load import load

    return load(name)


def _read_text(file: str | None, template: str) -> str:
    """Return the text of `file`, or the template if `file` is None."""
    from karat.storage.files import Source

    return template if file is None else Source(file).read_bytes().decode()
