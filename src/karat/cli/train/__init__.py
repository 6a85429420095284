"""`karat train KIND --train T --dev D --out M`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from karat.cli.output import say, width
from karat.cli.reading import reading

if TYPE_CHECKING:
    from karat.training.plan import TrainingPlan


@click.command()
@click.argument("kind", metavar="KIND")
@click.option("--train", required=True, metavar="DATASET", help="A gold standard with texts and links to learn from.")
@click.option("--dev", metavar="DATASET", help="Another one, to see after each epoch how far it has come.")
@click.option("--out", required=True, metavar="DIR", help="Where the linker goes: KIND:DIR is a system then.")
@click.option(
    "--candidates", "lists", multiple=True, metavar="FILE", help="Answers whose candidates mentions have (repeatable)."
)
@click.option("--encoder", default="minilm", show_default=True, metavar="DIR", help="A BERT on disk, in safetensors.")
@click.option("--vocabulary", metavar="FILE", help="The entities that can be linked to, one id a line.")
@click.option("--preset", "named", default="zelda", show_default=True, metavar="NAME", help="zelda or small.")
@click.option("--softmax", type=click.Choice(["full", "sampled", "listed"]), help="Over all, some, or candidates.")
@click.option("--epochs", type=click.IntRange(1), metavar="N", help="Passes over the texts.")
@click.option("--batch", type=click.IntRange(1), metavar="N", help="Windows at once.")
@click.option("--rate", type=click.FloatRange(0, min_open=True), metavar="R", help="The learning rate.")
@click.option("--head-rate", type=click.FloatRange(0, min_open=True), metavar="R", help="That beside the encoder.")
@click.option("--tokens", type=click.IntRange(8), metavar="N", help="Tokens of a window.")
@click.option("--dimension", type=click.IntRange(1), metavar="N", help="Numbers of an entity's vector.")
@click.option("--negatives", type=click.IntRange(0), metavar="N", help="Entities by chance in a sampled softmax.")
@click.option("--hard", type=click.IntRange(0), metavar="N", help="Candidates of each mention in it.")
@click.option("--masked", type=click.FloatRange(0, 1), metavar="P", help="Share of entities LUKE's head must tell.")
@click.option("--patience", type=click.IntRange(0), metavar="N", help="Stop after N epochs that are no better.")
@click.option("--seed", type=int, metavar="N", help="Where random numbers start.")
@click.option("--half/--whole", default=None, help="Products in bf16, or all in float32.")
@click.option("--compile/--no-compile", "compiled", default=None, help="Let torch compile the encoder.")
@click.option("--device", default="", metavar="NAME", help="cpu, cuda, …: the fastest there is, unless given.")
@click.option("--resume", is_flag=True, help="Go on with a training that was stopped.")
@reading
def command(
    kind: str,
    train: str,
    dev: str | None,
    out: str,
    lists: tuple[str, ...],
    encoder: str,
    vocabulary: str | None,
    named: str,
    device: str,
    resume: bool,
    **wishes: Any,  # noqa: ANN401  # the parameters of a plan, by their names
) -> None:
    """Train a linker on a gold standard.

    KIND is fevry (a softmax over all entities), luke-head (entities as inputs, the surest decided first) or bi-encoder
    (names of entities as vectors, so that those never seen can be linked to). What is trained is a system then:
    `karat run fevry:DIR --on DATASET --task d2kb`. Each epoch leaves a checkpoint.

    \b
    karat train fevry --train train.jsonl --dev dev.jsonl --out models/fevry
    karat train bi-encoder --train train.jsonl --preset small --out models/bi
    """
    from pathlib import Path
    from typing import get_args

    from karat.errors import UnknownNameError
    from karat.linking.neural.about import Kind, check_train_extra
    from karat.training.plan import preset

    kinds = {name: name for name in get_args(Kind)}
    if kind not in kinds:
        raise UnknownNameError("linker to train", kind, kinds)
    plan = _plan(preset(named), kind, dev is not None, lists=bool(lists), wishes=wishes)
    check_train_extra()
    from karat.data.load import load, load_run
    from karat.pages.systems.training import epoch_line, trained_page
    from karat.training.train import train_linker

    trained = train_linker(
        kinds[kind],
        load(train),
        Path(out),
        plan,
        dev=None if dev is None else load(dev),
        lists=[load_run(path) for path in lists],
        encoder=encoder,
        vocabulary=_lines(vocabulary),
        resume=resume,
        device=device,
        tell=lambda epoch: say(epoch_line(epoch), err=True),
    )
    say(trained_page(trained, width()), nl=False)


def _plan(plan: TrainingPlan, kind: str, dev: bool, *, lists: bool, wishes: dict[str, Any]) -> TrainingPlan:
    """The preset, as far as it fits the kind and what is given, and what is wished for."""
    if kind == "bi-encoder":
        plan = plan.but(softmax="sampled", negatives=256, hard=8 if lists else 0)
    return plan.but(**({} if dev else {"patience": 0})).but(**wishes)


def _lines(path: str | None) -> list[str]:
    from pathlib import Path

    from karat.errors import UsageError

    if path is None:
        return []
    found = [line for line in Path(path).read_text(encoding="utf-8").splitlines() if line]
    if not found:
        raise UsageError(f"{path} names no entity. Give one id a line.")
    return found
