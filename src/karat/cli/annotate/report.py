"""`karat annotate report STORE`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command
from karat.cli.options.output import details_option, json_option
from karat.cli.options.scoring import kb_option
from karat.cli.options.statistics import confidence_option, resamples_option, seed_option
from karat.cli.output import page_width, print_page, write_output


@karat_command()
@click.argument("store")
@kb_option("Knowledge base that resolves ids: a snapshot or a folder of tables.")
@confidence_option()
@resamples_option(" (0: none)")
@seed_option()
@details_option("Show every pair of annotators, in the definitions of karat agreement.")
@json_option()
def command(
    store: str, kb: str | None, confidence: float, resamples: int, seed: int, details: bool, json_file: str | None
) -> None:
    """Report agreement, progress and bias of annotators.

    Agreement is measured before adjudication: on spans, links, entities and categories, for each annotator, over time
    and by round. With --prefill half, the report compares documents with and without suggestions.

    \b
    karat annotate report demo.sqlite
    karat annotate report demo.sqlite --json report.json
    """
    from karat.kb.catalogue import open_kb
    from karat.model.errors import UsageError
    from karat.model.output.json_files import encode_line
    from karat.protocols.annotation.report import measure_project
    from karat.protocols.annotation.store.store import AnnotationStore
    from karat.render.annotation.report import render_page
    from karat.stats.samples.bootstrap import check_confidence

    check_confidence(confidence)
    if resamples < 0 or seed < 0:
        raise UsageError(f"--resamples is {resamples} and --seed {seed}. Pass numbers of at least 0.")
    knowledge_base = None if kb is None else open_kb(kb)
    annotation_store = AnnotationStore.open(store)
    report = measure_project(
        annotation_store.project,
        annotation_store.get_records(),
        kb=knowledge_base,
        resamples=resamples,
        confidence=confidence,
        seed=seed,
    )
    annotation_store.database.close()
    write_output(json_file, lambda: encode_line(report))
    print_page(lambda: render_page(report, details=details, width=page_width()), json_file)
