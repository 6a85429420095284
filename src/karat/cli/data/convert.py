"""`karat data convert IN OUT`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import to_option
from karat.cli.options.reading import input_options, source_options
from karat.cli.options.scoring import kb_option, steps_option
from karat.cli.output import echo, echo_offset_warnings


@karat_command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@to_option()
@source_options("IN")
@option("--gold", metavar="FILE", help="Gold standard whose texts the predictions refer to.")
@option(
    "--texts-from",
    "texts",
    metavar="FILE",
    help="Corpus or .txt files whose texts replace those of IN, such as masked ones, or are added if IN has none.",
)
@steps_option()
@kb_option(
    "Knowledge base for steps that need one, such as drop-deleted.",
    needs=["--step"],
    is_strict=True,
    hint="karat kb resolve resolves ids.",
)
@option("--base", metavar="IRI", help="IRI prefix of document ids in NIF.")
@option("--entity-base", metavar="IRI", help="IRI prefix of entities that are neither IRIs nor QIDs.")
@input_options
def command(
    source: str,
    target: str,
    target_format: str | None,
    source_format: str | None,
    kind: str | None,
    gold: str | None,
    texts: str | None,
    steps: tuple[str, ...],
    kb: str | None,
    base: str | None,
    entity_base: str | None,
) -> None:
    """Convert a corpus or predictions to another format.

    The command reports what the new format cannot store, before it writes.

    \b
    karat data convert gold.ttl gold.jsonl
    karat data convert MSNBC msnbc.jsonl --step drop-nil --step longest
    karat data convert gold.jsonl still.jsonl --step drop-deleted --kb enwiki
    karat data convert predictions.jsonl predictions.csv --to bat-csv
    karat data convert masked.jsonl gold.jsonl --texts-from original.jsonl
    karat data convert llm.jsonl predictions.jsonl --gold gold.jsonl
    karat data convert gold.jsonl gold.ttl --base https://example.org/mine/
    karat data convert mybench mine --to hf-hub        all splits
    karat data convert gold.jsonl folder --to brat
    karat data convert one.jsonl+two.jsonl all.jsonl   put together
    karat data convert eng.testb gold.jsonl --as gold --columns token=1,tag=4
    """
    from karat.data.absolute_iris import (
        count_relative_documents,
        count_relative_types,
        find_relative_id,
        list_relative_entities,
    )
    from karat.data.catalogue import list_other_splits
    from karat.data.convert import count_losses, replace_texts, select_storable
    from karat.data.load import (
        convert_in_blocks,
        get_target_format,
        load,
        load_all_splits,
        load_gold_or_run,
        prepare_to_save,
        split_pool_name,
        write_data,
        write_splits,
    )
    from karat.data.steps import apply_steps
    from karat.kb.catalogue import open_kb
    from karat.model.corpus import Corpus
    from karat.model.errors import UsageError
    from karat.model.output.text_layout import format_count
    from karat.render.data.conversion import render_page

    format, target_spec = get_target_format(target, target_format)
    has_plain_data = not (steps or texts or gold or base or entity_base or source_format or kind == "predictions")
    splits = load_all_splits(source, target, target_spec) if has_plain_data else None
    if splits is not None:
        for split, corpus in splits.items():
            page = render_page(f"{source}/{split}", corpus, target_spec, count_losses(corpus, target_spec))
            echo(page, nl=False, err=True)
        write_splits(splits, target, target_spec)
        return
    for part in split_pool_name(source):
        if other_splits := list_other_splits(part):
            echo(f"{part}: the default split only. Not converted: {', '.join(other_splits)}", err=True)
    check_paths([*split_pool_name(source), *filter(None, [texts])], [target])
    if not steps and texts is None and gold is None and base is None and entity_base is None:
        counts = convert_in_blocks(source, target, target_spec, kind=kind, format=source_format)
        if counts is not None:
            amount = f"{format_count(counts[0], 'document')}, {format_count(counts[1], 'label')}"
            echo(f"{source}: {amount} to {target_spec.title}", err=True)
            return
    data = load_gold_or_run(source, kind=kind, format=source_format, gold=gold, report=echo_offset_warnings)
    parts = split_pool_name(source)
    if len(parts) > 1 and isinstance(data, Corpus):
        from karat.data.corpus_pool import list_differing_metadata

        if names := list_differing_metadata([load(part, text=False, format=source_format) for part in parts]):
            echo(f"{data.name}: metadata that differ are left out: {', '.join(names)}", err=True)
    if texts is not None:
        if not isinstance(data, Corpus):
            raise UsageError(f"{source}: --texts-from replaces the texts of gold standards. Remove --texts-from.")
        from karat.data.texts import load_texts_or_gold

        data = replace_texts(data, load_texts_or_gold(texts))
    if steps:
        if not isinstance(data, Corpus):
            raise UsageError(f"{source}: steps apply to gold standards, not to predictions. Remove --step.")
        data, changes = apply_steps(data, steps, None if kb is None else open_kb(kb))
        for name, change in changes.items():
            echo(f"{name}: {change}", err=True)
    if target_spec.has_iris and base is None and (id := find_relative_id(data)) is not None:
        raise UsageError(
            f"{id!r} is not an absolute IRI, which {target_spec.title} needs as document id. Add a prefix, "
            "such as --base https://example.org/benchmark/"
        )
    if target_spec.import_packages is not None:  # a missing package is reported before losses are listed
        target_spec.import_packages()
    losses = count_losses(data, target_spec)
    page = render_page(source, data, target_spec, losses)
    data = select_storable(data, target_spec) if isinstance(data, Corpus) else data
    has_types = target_spec.has_iris and (target_spec.stored_fields is None or "types" in target_spec.stored_fields)
    n_renamed = count_relative_documents(data) if target_spec.has_iris else 0
    n_typed = count_relative_types(data) if has_types else 0
    data = prepare_to_save(data, target, target_spec, base=base, entity_base=entity_base)
    if losses:  # before anything is written
        echo(page, nl=False, err=True)
    write_data(data, target, format=format)
    if not losses:
        echo(page, nl=False, err=True)
    if n_renamed:
        echo(
            f"  ids of {format_count(n_renamed, 'document')} become IRIs, and stay IRIs when the file is read", err=True
        )
    if n_typed:
        mentions = format_count(n_typed, "mention")
        echo(f"  types of {mentions} become IRIs, and stay IRIs when the file is read", err=True)
    if target_spec.has_iris and base is None and (ids := list_relative_entities(data)):
        echo(f"  {len(ids)} entities have relative IRIs, such as {ids[0]!r}; --base makes them absolute", err=True)
