"""`karat verify new NAME --gold GOLD --answers ANSWERS…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.output import say
from karat.cli.reading import reading

if TYPE_CHECKING:
    from karat.model.corpus import Corpus
    from karat.verification.campaign import CampaignKind


@click.command()
@click.argument("name")
@click.option("--gold", required=True, metavar="GOLD", help="The gold standard, which is judged like any system.")
@click.option("--answers", multiple=True, metavar="FILE", help="The answers of a system (repeatable).")
@click.option("--store", metavar="FILE|URL", help="Where it is kept, also postgresql://….  [default: NAME.sqlite]")
@click.option("--kb", metavar="NAME|DIR", help="Show ids as this knowledge base writes them; judges search in it.")
@click.option(
    "--kind",
    type=click.Choice(["verify", "survey"]),
    default="verify",
    show_default=True,
    help="Judge links, or ask which links mentions should have.",
)
@click.option("--judges", type=int, metavar="K", help="How many judge each link.  [default: 1; a survey asks all]")
@click.option("--batch", type=int, metavar="N", help="Tasks for each judge; 0 is no end.  [default: 20; a survey: 0]")
@click.option("--additions", is_flag=True, help="Let judges add links that are missing.")
@click.option("--controls", default="agreed", show_default=True, metavar="FILE", help="Control tasks, or agreed, none.")
@click.option(
    "--priority",
    "order",
    default="all",
    show_default=True,
    metavar="NAME",
    help="all, disagreements, false-positives, or suspicious.",
)
@click.option("--lease", default=30.0, show_default=True, metavar="MINUTES", help="How long a judge keeps a task.")
@click.option("--length", default=300, show_default=True, metavar="N", help="Characters of a passage, about.")
@click.option("--consent", metavar="FILE", help="What judges agree to, as text.")
@click.option("--guidelines", metavar="FILE", help="What judges are told, as text.")
@click.option("--seed", default=0, show_default=True, metavar="N", help="What random numbers start from.")
@reading
def command(
    name: str,
    gold: str,
    answers: tuple[str, ...],
    store: str | None,
    kb: str | None,
    kind: CampaignKind,
    judges: int | None,
    batch: int | None,
    additions: bool,
    controls: str,
    order: str,
    lease: float,
    length: int,
    consent: str | None,
    guidelines: str | None,
    seed: int,
) -> None:
    """Make a campaign: passages with the links of one source each, in random order, with nothing that tells whose.

    Of 20 tasks one is a control: three links whose right judgement is known. By default controls are made of links that
    all sources share, one of which is led astray; a file of controls has lines such as
    {"text": "…", "links": [{"start": 0, "end": 6, "entity": "Q64", "right": ["verify"]}, …]}.

    \b
    karat verify new demo --gold demo --answers demo/prior --answers demo/noisy
    karat verify new news --gold news.jsonl --answers a.jsonl --judges 3 --priority disagreements
    karat verify new wanted --gold demo --kind survey
    """
    import msgspec

    from karat.cli.choices import named_apart
    from karat.data.load import inputs
    from karat.errors import InputError, UsageError
    from karat.fitting import counted
    from karat.kb.opened import open_kb
    from karat.storage.files import Source
    from karat.verification.guidelines import CONSENT, GUIDELINES, SURVEY_CONSENT, SURVEY_GUIDELINES
    from karat.verification.making import campaign, controls_of
    from karat.verification.store.store import CampaignStore
    from karat.verification.surveys import EVERYBODY, survey_campaign

    asking = kind == "survey"
    judges = (EVERYBODY if asking else 1) if judges is None else judges
    batch = (0 if asking else 20) if batch is None else batch
    if asking and (additions or order != "all" or controls not in ("agreed", "none")):
        raise UsageError("a survey has no controls, priorities or additions. Leave them out.")
    if judges < 1 or batch < 0 or lease <= 0 or length < 20:
        raise UsageError("give at least 1 judge, a batch from 0 on, a lease above 0 and a length of at least 20.")
    own = None
    if controls not in ("agreed", "none"):
        source = Source(controls)
        lines = []
        for number, line in enumerate(source.data().splitlines(), 1):
            try:
                lines.append(msgspec.json.decode(line, type=dict[str, object]))
            except (msgspec.DecodeError, UnicodeDecodeError) as problem:
                where = f"{source.label}:{number}"
                raise InputError(where, found=str(problem), expected="a JSON object", remedy="Correct it") from None
        own = controls_of(source.label, lines)
    corpus, runs = inputs(gold, answers).load(text=True) if answers else (_gold(gold), [])
    shared = {
        "name": name,
        "kb": None if kb is None else open_kb(kb),
        "seed": seed,
        "judges": judges,
        "batch": batch,
        "lease": 60 * lease,
        "length": length,
        "consent": _told(consent, SURVEY_CONSENT if asking else CONSENT),
        "guidelines": _told(guidelines, SURVEY_GUIDELINES if asking else GUIDELINES),
    }
    answered = named_apart(runs, list(answers))
    if asking:
        made = survey_campaign(corpus, answered, **shared)  # type: ignore[arg-type]
    else:
        tests = {"controls": 0 if controls == "none" or batch == 0 else 1, "own_controls": own}
        made = campaign(corpus, answered, order=order, additions=additions, **tests, **shared)  # type: ignore[arg-type]
    where = store or f"{name}.sqlite"
    kept = CampaignStore.create(where, made)
    tasks = [task for task in made.tasks if not task.control]
    say(f"{kept.database.label}: {counted(len(tasks), 'task')}, {counted(len(made.tasks) - len(tasks), 'control')}")
    for source_name, counts in made.terms.counts.items():
        say(f"  {source_name}: {', '.join(f'{what} {count}' for what, count in counts.items())}")
    if batch and not asking and controls != "none" and not made.terms.controls:
        say("karat: there are no controls, for no passage has three links that all sources share.", err=True)
    kept.database.close()


def _gold(name: str) -> Corpus:
    from karat.data.load import load

    return load(name)


def _told(file: str | None, template: str) -> str:
    """What judges are told: the user's own text, or the template."""
    from karat.storage.files import Source

    return template if file is None else Source(file).data().decode()
