"""`karat data categorise GOLD`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.choices import apart, once
from karat.pages.tables import aligned

if TYPE_CHECKING:
    from karat.categorise.categorise import Categorised
    from karat.categorise.compared import Agreement


@click.command()
@click.argument("gold")
@click.option("--kb", metavar="DIR", help="Names and aliases: entities.tsv, aliases.tsv; also popular.tsv.")
@click.option(
    "--tagger",
    default="rules",
    show_default=True,
    metavar="NAME",
    help="What tells parts of speech: `rules`, or `spacy:MODEL` such as spacy:en_core_web_md.",
)
@click.option("--out", "target", metavar="FILE", help="Write the corpus with its categories.")
@click.option("--to", "wanted", metavar="FORMAT", help="The format to write, where the suffix of FILE does not tell.")
@click.option("--keep", is_flag=True, help="Keep the categories that there are, and only fill in missing ones.")
@click.option("--evaluate", is_flag=True, help="Compare with the categories that there are.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write the numbers as JSON.")
@click.option("--gold-format", metavar="NAME", help="The format of GOLD, where it is not recognised.")
def command(
    gold: str,
    kb: str | None,
    tagger: str,
    target: str | None,
    wanted: str | None,
    keep: bool,
    evaluate: bool,
    json_file: str | None,
    gold_format: str | None,
) -> None:
    """Assign the fine-grained categories: base form, part of speech, overlap and reference.

    What the rules cannot tell stays undecided: the label has no category of that dimension. The rules know English.
    docs/fine-grained.md says how often they agree with people.

    \b
    karat data categorise gold.jsonl --out categorised.jsonl
    karat data categorise gold.jsonl --kb DIR --tagger spacy:en_core_web_md
    karat data categorise categorised.ttl --evaluate      against categories assigned by hand
    """
    import msgspec

    from karat.categorise.categorise import categorise, tagger_named
    from karat.categorise.compared import agreements
    from karat.data.convert import lost
    from karat.data.load import load, save, target_format
    from karat.errors import UsageError
    from karat.kb.folder import read_kb
    from karat.storage.files import writing

    apart([gold], [target, json_file])
    if evaluate and keep:
        raise UsageError("--keep keeps what --evaluate compares with. Leave one of them out.")
    format, chosen = (None, None) if target is None else target_format(target, wanted)
    tagging = tagger_named(tagger)
    tables = None if kb is None else read_kb(kb)
    corpus = load(gold, format=gold_format)
    compared = agreements(corpus, kb=tables, tagger=tagging) if evaluate else {}
    done = categorise(corpus, kb=tables, tagger=tagging, keep=keep)
    if target is not None and chosen is not None:
        save(done.corpus, target, format=format)
        for name, count in lost(done.corpus, chosen).items():
            click.echo(f"{target}: not kept: {name} {count}", err=True)
    if json_file is not None:
        content = done.to_dict() | {"evaluation": {name: one.to_dict() for name, one in compared.items()}}
        with writing(json_file) as file:
            file.write(msgspec.json.encode(content) + b"\n")
    shown = _counted(done) + "".join(map(_confused, compared.values()))
    click.echo(shown, nl=False, err="-" in (target, json_file))


def _counted(done: Categorised) -> str:
    """How many labels have each category."""
    from karat.model.scheme import DIMENSIONS, title_of

    rows = []
    for name, dimension in DIMENSIONS.items():
        numbers = {f"  {title_of(leaf)}": count for leaf, count in done.counts[name].items()}
        numbers |= {"  undecided": done.undecided[name], "  kept": done.kept[name]}
        rows.append([dimension.title, ""])
        rows += [[title, f"{number:,}"] for title, number in numbers.items() if number]
    lines = [f"{done.corpus.name}: {len(done.corpus.labels):,} labels, tagger {done.tagger}", aligned(rows)]
    if done.crossing:
        pairs = "1 pair of spans crosses" if done.crossing == 1 else f"{done.crossing:,} pairs of spans cross"
        lines.append(f"{pairs}, which the scheme cannot express")
    return "\n".join([*lines, *(f"note: {note}" for note in done.notes)]) + "\n"


def _confused(agreement: Agreement) -> str:
    """How often the rules agree with people, and a table of what they said where people said what."""
    from karat.model.scheme import DIMENSIONS, title_of

    dimension = DIMENSIONS[agreement.dimension]
    found = [*dimension.leaves, *([None] if agreement.undecided else [])]
    head = ["by hand \\ by rules", *(leaf.partition(":")[2] if leaf else "undecided" for leaf in found)]
    rows = [
        [title_of(leaf), *(f"{agreement.confusion.get((leaf, other), 0):,}" for other in found)]
        for leaf in dimension.leaves
    ]
    accuracy, decided = agreement.accuracy or 0.0, agreement.accuracy_of_decided
    line = f"{dimension.title}: {accuracy:.1%} of {agreement.total:,} labels right"
    if agreement.undecided and decided is not None:
        line += f", {agreement.undecided:,} undecided; {decided:.1%} of those decided"
    if agreement.unclear:
        line += f"; {agreement.unclear:,} left out that have several categories by hand"
    return f"\n{line}\n{aligned([head, *rows])}\n"
