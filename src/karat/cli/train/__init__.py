"""`karat train KIND --train T --dev D --out M`."""

from __future__ import annotations

from typing import Any

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import kb_option
from karat.cli.options.statistics import seed_option
from karat.cli.output import echo, page_width


@karat_command()
@click.argument("kind", metavar="KIND")
@option("--train", required=True, metavar="DATASET", help="Training data: a gold standard with texts and links.")
@option("--dev", metavar="DATASET", help="Development data, scored after each epoch.")
@option("--out", required=True, metavar="DIR", help="Output folder of the model; KIND:DIR then names the system.")
@option(
    "--candidates",
    "candidate_files",
    multiple=True,
    metavar="FILE|DIR",
    help="Predictions with candidates for the mentions (repeatable).",
)
@option("--encoder", default="minilm", show_default=True, metavar="DIR", help="Folder of a BERT model in safetensors.")
@option("--model", "bart", default="", metavar="DIR", help="Folder of a BART, instead of an encoder (genre).")
@kb_option("Snapshot with names, aliases and descriptions of entities (bi-encoder, cross-encoder, genre).")
@option(
    "--vocabulary",
    metavar="FILE",
    help="Entities that can be linked: ids, one per line, or a vocabulary.tsv.",
)
@option(
    "--preset",
    "preset_name",
    default="zelda",
    show_default=True,
    metavar="NAME",
    help="Preset of hyperparameters: zelda or small.",
)
@option(
    "--softmax",
    type=click.Choice(["full", "sampled", "listed"]),
    help="Softmax over all entities, a sample, or the candidates.",
)
@option("--epochs", type=click.IntRange(1), metavar="N", help="Number of training epochs.")
@option("--batch-size", type=click.IntRange(1), metavar="N", help="Text windows per batch.")
@option("--learning-rate", type=click.FloatRange(0, min_open=True), metavar="R", help="Learning rate.")
@option(
    "--head-learning-rate",
    type=click.FloatRange(0, min_open=True),
    metavar="R",
    help="Learning rate of the layers outside the encoder.",
)
@option("--max-length", type=click.IntRange(8), metavar="N", help="Maximum tokens per text window.")
@option("--dimension", type=click.IntRange(1), metavar="N", help="Dimension of the entity vectors.")
@option("--negatives", type=click.IntRange(0), metavar="N", help="Random negatives in a sampled softmax.")
@option("--hard-negatives", type=click.IntRange(0), metavar="N", help="Candidates per mention in a sampled softmax.")
@option("--mask-prob", type=click.FloatRange(0, 1), metavar="P", help="Share of masked entities (luke-head, luke-ft).")
@option("--frozen-epochs", type=click.IntRange(0), metavar="N", help="Last epochs with frozen entities (luke-ft).")
@option("--context", type=click.IntRange(1), metavar="N", help="Characters around a mention (cross-encoder, genre).")
@option("--decoder-layers", type=click.IntRange(1), metavar="N", help="Layers of the decoder (genre).")
@option("--pretrain-epochs", type=click.IntRange(0), metavar="N", help="Epochs on names of entities first (genre).")
@option("--pretrain-examples", type=click.IntRange(0), metavar="N", help="Names in such an epoch; 0 for all (genre).")
@option("--weak-labels", is_flag=True, default=None, help="Also learn from other occurrences of titles in a document.")
@option("--single-mention", is_flag=True, default=None, help="Learn from one mention per text window.")
@option(
    "--title-context",
    is_flag=True,
    default=None,
    help="Read the document's title (`title` in `meta`, or else its id) before each text window.",
)
@option(
    "--patience",
    type=click.IntRange(0),
    metavar="N",
    help="Epochs without improvement after which to stop.",
    needs=["--dev"],
)
@seed_option(None)
@option("--bf16/--no-bf16", default=None, help="Use bfloat16 mixed precision, or float32 only.")
@option("--compile/--no-compile", "compile_encoder", default=None, help="Compile the encoder with torch.compile.")
@option("--device", default="", metavar="NAME", help="Device: cpu, cuda, …  [default: the fastest available]")
@option("--resume", is_flag=True, help="Resume an interrupted training.")
@input_options
def command(
    kind: str,
    train: str,
    dev: str | None,
    out: str,
    candidate_files: tuple[str, ...],
    encoder: str,
    bart: str,
    vocabulary: str | None,
    preset_name: str,
    kb: str | None,
    device: str,
    resume: bool,
    **hyperparameters: Any,  # noqa: ANN401  # named like the fields of the training options
) -> None:
    """Train a system on a gold standard.

    KIND is fevry (a softmax over all entities), luke-head or luke-ft (entities as inputs, the most confident first),
    bi-encoder (vectors of entity names), cross-encoder (mention and candidate read together) or genre (titles written
    token by token). The last three can link unseen entities. Run the trained system with
    `karat run fevry:DIR --on DATASET --task d2kb`. Karat writes a checkpoint after each epoch.

    \b
    karat train fevry --train train.jsonl --dev dev.jsonl --out models/fevry
    karat train bi-encoder --train train.jsonl --kb starter --out models/bi
    karat train genre --train train.jsonl --preset small --out models/genre
    """
    from pathlib import Path
    from typing import get_args

    from karat.model.errors import UnknownNameError
    from karat.systems.linking.neural.metadata import Kind, check_train_extra
    from karat.systems.training.options import adapt_preset, get_preset, read_entity_list

    kinds = {name: name for name in get_args(Kind)}
    if kind not in kinds:
        raise UnknownNameError("linker to train", kind, kinds)
    options = adapt_preset(
        get_preset(preset_name),
        kind,
        has_dev=dev is not None,
        has_candidates=bool(candidate_files),
        has_bart=bool(bart),
        **hyperparameters,
    )
    check_train_extra(encoder, needs_bart=bool(bart))
    from karat.data.load import load, load_run
    from karat.render.systems.training import format_epoch, format_estimate, render_page
    from karat.systems.linking.model_system import list_candidate_files
    from karat.systems.training.train import train_linker

    trained = train_linker(
        kinds[kind],
        load(train),
        Path(out),
        options,
        dev=None if dev is None else load(dev),
        candidate_runs=[load_run(file) for path in candidate_files for file in list_candidate_files(path)],
        encoder=encoder,
        bart=bart,
        kb=kb or "",
        vocabulary=() if vocabulary is None else read_entity_list(vocabulary),
        resume=resume,
        device=device,
        report=lambda epoch: echo(format_epoch(epoch), err=True),
        announce=lambda estimate: echo(format_estimate(estimate), err=True),
    )
    echo(render_page(trained, page_width()), nl=False)
