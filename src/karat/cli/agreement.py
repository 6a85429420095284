"""`karat agreement FILE FILE…`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import kb_option
from karat.cli.options.statistics import confidence_option, resamples_option, seed_option
from karat.cli.output import echo, echo_offset_warnings, page_width, print_page, write_output
from karat.model.counts.skip_counter import name_locations


@karat_command()
@click.argument("files", nargs=-1, required=True)
@kb_option("Knowledge base that resolves ids.")
@confidence_option()
@resamples_option()
@seed_option()
@json_option()
@option("--format", "format_name", metavar="NAME", help="Format of the files, if not detected.")
@input_options
def command(
    files: tuple[str, ...],
    kb: str | None,
    confidence: float,
    resamples: int,
    seed: int,
    json_file: str | None,
    format_name: str | None,
) -> None:
    """Measure inter-annotator agreement.

    Each FILE contains the gold labels of one annotator for the same documents, or those of several annotators if it is
    an export of Label Studio or INCEpTION. All but the first FILE may contain predictions, such as the answers of a
    language model, which count as an annotator.

    F1 treats one annotator as the gold standard for another. Kappa and alpha correct for chance. Their items are the
    spans that any annotator marked; their categories are the entities, NIL, unlinked, and none if the annotator did not
    mark the span. The columns "of the pair" use only the spans that one of the two annotators marked, so that other
    annotators do not change the kappa of a pair. The columns "on links" use only the spans that all annotators marked.

    \b
    karat agreement anna.jsonl ben.jsonl
    karat agreement anna.jsonl ben.jsonl chris.jsonl --json agreement.json
    karat agreement label-studio.json
    karat agreement anna.jsonl answers.jsonl
    """
    from karat.analysis.explanation.agreement import agreement, disambiguate_corpora
    from karat.data.load import load_annotators
    from karat.kb.catalogue import open_kb
    from karat.matching.read.text_alignment import pair_corpora
    from karat.model.corpus import Corpus
    from karat.model.errors import UsageError
    from karat.model.output.json_files import encode_line
    from karat.render.agreement import render_page

    if files.count("-") > 1:
        raise UsageError("standard input is named twice. Pass a file for each other annotator.")
    if resamples < 0 or seed < 0:
        raise UsageError(f"--resamples is {resamples} and --seed {seed}. Pass numbers of at least 0.")
    check_paths(list(files), [json_file])
    annotators: dict[str, list[Corpus]] = {}
    for name in files:
        first = next(iter(annotators.values()), [None])[0]
        annotators[name] = load_annotators(name, format=format_name, gold=first, report=echo_offset_warnings)
    if len(annotators) < len(files) or sum(map(len, annotators.values())) < 2:
        raise UsageError(
            "agreement needs at least two annotators. Pass a different file for each, or a file of an annotation tool "
            "with several annotators."
        )
    paths = [name if len(group) == 1 else f"{name}/{c.name}" for name, group in annotators.items() for c in group]
    corpora = pair_corpora([corpus for group in annotators.values() for corpus in group])
    notes = {
        f"{name}: {reason}: {count}": None
        for name, corpus in zip((name for name, group in annotators.items() for _ in group), corpora, strict=True)
        for reason, count in name_locations(corpus.skipped).items()
    }
    for note in notes:
        echo(note, err=True)
    corpora = disambiguate_corpora(corpora, paths)
    knowledge_base = None if kb is None else open_kb(kb)
    result = agreement(corpora, kb=knowledge_base, resamples=resamples, confidence=confidence, seed=seed)
    write_output(json_file, lambda: encode_line(result))
    print_page(lambda: render_page(result, width=page_width()), json_file)
