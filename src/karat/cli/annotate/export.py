"""`karat annotate export STORE --out FILE`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import to_option
from karat.cli.options.statistics import confidence_option, resamples_option, seed_option
from karat.cli.output import echo, page_width


@karat_command()
@click.argument("store")
@option("--out", metavar="FILE", help="Output file.  [default: list what each format can hold]")
@to_option("FILE")
@option("--annotator", metavar="NAME", help="Name or pseudonym of an annotator whose labels to export, unadjudicated.")
@option("--partial", is_flag=True, help="Skip documents that are not adjudicated.")
@option("--allow-losses", is_flag=True, help="Write the file even if the format cannot hold everything.")
@option(
    "--worker-ids",
    is_flag=True,
    help="Name annotators by their worker ids instead of pseudonyms in files of annotation tools.",
)
@option("--base", metavar="IRI", help="IRI prefix of document ids in NIF.")
@option("--entity-base", metavar="IRI", help="IRI prefix of entities that are neither IRIs nor QIDs.")
@confidence_option()
@resamples_option(" (0: none)")
@seed_option()
def command(
    store: str,
    out: str | None,
    target_format: str | None,
    annotator: str | None,
    partial: bool,
    allow_losses: bool,
    worker_ids: bool,
    base: str | None,
    entity_base: str | None,
    confidence: float,
    resamples: int,
    seed: int,
) -> None:
    """Export the gold standard with guidelines, agreement and provenance.

    The command lists what the format cannot hold before it writes, and writes nothing then unless --allow-losses is
    set. Without --out, it lists the losses of all formats.

    Label Studio and INCEpTION get the labels of all annotators, their notes, suggestions, and the gold standard of
    documents that are adjudicated. karat annotate import reads such files.

    \b
    karat annotate export demo.sqlite
    karat annotate export demo.sqlite --out gold.jsonl
    karat annotate export demo.sqlite --out gold.benchmark.jsonl --to elevant --allow-losses
    karat annotate export demo.sqlite --out demo.json --to label-studio
    karat annotate export demo.sqlite --out demo.zip --to inception
    karat annotate export demo.sqlite --annotator 9e95024fc68633a3 --out anna.jsonl
    """
    from dataclasses import replace

    from karat.data.absolute_iris import IriBases
    from karat.data.convert import count_losses, select_storable
    from karat.data.load import get_target_format, save_annotations, write_data
    from karat.model.errors import UsageError
    from karat.model.output.text_layout import format_count
    from karat.protocols.annotation.export import (
        build_gold_corpus,
        build_metadata,
        find_write_error,
        list_format_losses,
    )
    from karat.protocols.annotation.gold import build_annotator_corpus
    from karat.protocols.annotation.report import measure_agreement
    from karat.protocols.annotation.store.store import AnnotationStore
    from karat.protocols.annotation.tool_files import build_annotated_corpus, count_unstored
    from karat.render.annotation.export import render_page
    from karat.render.annotation.report import format_counts
    from karat.stats.samples.bootstrap import check_confidence

    check_confidence(confidence)
    if resamples < 0 or seed < 0:
        raise UsageError(f"--resamples is {resamples} and --seed {seed}. Pass numbers of at least 0.")
    check_paths([store], [out])
    format_name, target = (None, None) if out is None else get_target_format(out, target_format)
    if target is not None and not target.writes_gold:
        raise UsageError(f"{target.title} cannot hold gold labels. Choose another format.")
    annotation_store = AnnotationStore.open(store)
    project, records = annotation_store.project, annotation_store.get_records()
    pseudonyms = {worker: person for person, worker in annotation_store.get_workers().items()}
    annotation_store.database.close()
    agreement = measure_agreement(project, records, resamples=resamples, confidence=confidence, seed=seed)
    if out is not None and target is not None and target.write_annotations is not None and annotator is None:
        names = {person: worker for worker, person in pseudonyms.items()} if worker_ids else {}
        annotated = build_annotated_corpus(project, records, agreement, names)
        if unstored := count_unstored(project, records):
            echo(f"{out}: not stored: {format_counts(unstored)}, which stay in the project", err=True)
        save_annotations(annotated, out, target)
        n_gold = sum(item.gold is not None for item in annotated.documents)
        size = format_count(len(annotated.documents), "document")
        echo(f"{out}: {size} ({n_gold:,} adjudicated) in {target.title}", err=True)
        return
    if worker_ids:
        raise UsageError("--worker-ids is for files of annotation tools. Remove it, or pass --to label-studio.")
    n_notes = 0
    if annotator is None:
        corpus, gold = build_gold_corpus(project, records, agreement, is_partial=partial or out is None)
        n_notes = gold.counts.get("notes", 0)
    else:
        corpus = build_annotator_corpus(project, records, pseudonyms.get(annotator, annotator))
        corpus = replace(corpus, metadata=build_metadata(project, records, agreement))
    bases = None if base is None and entity_base is None else IriBases(base, entity_base)
    if out is None or target is None:
        echo(render_page(corpus, list_format_losses(corpus, bases), width=page_width()), nl=False)
        return
    error = find_write_error(corpus, target, bases)
    if error is not None:
        raise UsageError(f"{out}: {error}")
    losses = count_losses(corpus, target)
    listed = ", ".join(f"{name} {count:,}" for name, count in losses.items())
    if losses and not allow_losses:
        raise UsageError(
            f"{out}: {target.title} cannot hold: {listed}. Add --allow-losses to write the rest, or choose another "
            "format, such as karat-jsonl."
        )
    if losses:
        echo(f"{out}: not stored: {listed}", err=True)
    if n_notes:
        echo(f"{out}: not stored: notes {n_notes:,}, which stay in the project", err=True)
    corpus = select_storable(corpus, target)
    write_data(corpus, out, format=format_name, base=base, entity_base=entity_base)
    size = f"{format_count(len(corpus), 'document')}, {format_count(len(corpus.labels), 'label')}"
    echo(f"{out}: {size} in {target.title}", err=True)
