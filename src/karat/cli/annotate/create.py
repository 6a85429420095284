"""`karat annotate create NAME --texts FILE…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.options.declaration import group_options, karat_command, option
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import kb_option
from karat.cli.options.statistics import seed_option
from karat.cli.output import echo, echo_run_warnings
from karat.cli.sending import confirm_sending

if TYPE_CHECKING:
    from karat.model.corpus import Corpus
    from karat.model.run import Run
    from karat.protocols.annotation.creation import NewProject


def _build_options(**options: object) -> NewProject:
    """Return the options of the project."""
    from karat.protocols.annotation.creation import NewProject

    return NewProject(**options)  # type: ignore[arg-type]  # the options are named like its fields


@karat_command(context_settings={"allow_extra_args": True})
@click.argument("name")
@option(
    "--texts",
    multiple=True,
    required=True,
    metavar="FILE",
    help="Texts: a .txt file, a folder of .txt files, or a gold standard, whose labels are not used (repeatable).",
)
@option("--texts-format", metavar="FORMAT", help="Format of the texts, if not detected.")
@option("--predictions", multiple=True, metavar="FILE", help="Predictions that become suggestions (repeatable).")
@option(
    "--system",
    "systems",
    multiple=True,
    metavar="NAME",
    help="System to run for suggestions, such as popular or 'tagme[rho=0.2]' (repeatable).",
)
@option("--store", metavar="FILE|URL", help="Database of the project, also postgresql://….  [default: NAME.sqlite]")
@kb_option("Knowledge base that annotators and systems use and that resolves ids: a snapshot or a folder of tables.")
@group_options(
    "options",
    _build_options,
    option("--documents", type=int, metavar="N", help="Number of documents to draw at random.  [default: all]"),
    seed_option(),
    option(
        "--span",
        type=click.Choice(["document", "paragraphs", "given"]),
        default="document",
        show_default=True,
        help="Part of a document to annotate: all, random consecutive paragraphs, or its evaluation span.",
    ),
    option(
        "--paragraphs",
        default=3,
        show_default=True,
        metavar="N",
        help="Number of consecutive paragraphs.",
        needs=["--span paragraphs"],
        is_strict=True,
    ),
    option("--annotators", default=2, show_default=True, metavar="K", help="Number of annotators per document."),
    option(
        "--prefill",
        type=click.Choice(["all", "half", "none"]),
        help="Documents in which annotators see suggestions; half measures their effect.  [default: all, if there are "
        "suggestions]",
    ),
    option(
        "--guidelines",
        default="fair",
        show_default=True,
        metavar="NAME|FILE",
        help="Guidelines: fair, fine-grained, or a text file.",
    ),
    option(
        "--scheme",
        type=click.Choice(["none", "fine-grained"]),
        help="Categories that annotators set.  [default: those of the guidelines]",
    ),
    option(
        "--types",
        metavar="NAME|FILE",
        help="Types of entities to annotate: fair, none for all, or a file with one type per line.  [default: those of "
        "the guidelines]",
    ),
    option("--consent", metavar="FILE", help="Text file of the consent form."),
)
@option("--yes", is_flag=True, help="Send texts to remote services without asking.")
@input_options
def command(
    name: str,
    texts: tuple[str, ...],
    texts_format: str | None,
    predictions: tuple[str, ...],
    systems: tuple[str, ...],
    store: str | None,
    kb: str | None,
    options: NewProject,
    yes: bool,
) -> None:
    """Create a project of documents for annotators.

    Documents are drawn at random and offered in random order. Mentions that systems predict become suggestions. They
    are pooled, and annotators never see which system made them.

    \b
    karat annotate create mine --texts a.txt --texts b.txt --kb starter
    karat annotate create news --texts news/ --documents 40 --span paragraphs
    karat annotate create demo --texts demo --predictions demo/prior --prefill half
    karat annotate create fine --texts demo --guidelines fine-grained --system popular
    """
    from karat.data.texts import load_texts
    from karat.kb.catalogue import locate_kb, open_kb
    from karat.model.errors import UsageError
    from karat.model.output.text_layout import format_count
    from karat.protocols.annotation.creation import create_project
    from karat.protocols.annotation.store.store import AnnotationStore

    if extra := click.get_current_context().args:
        raise UsageError(
            f"unexpected arguments: {', '.join(extra)}. Repeat --texts or --predictions before each file, or pass a "
            "folder of texts."
        )
    options.check()
    name = name.removesuffix(".sqlite")
    corpus = load_texts(texts, format=texts_format)
    knowledge_base = None if kb is None else open_kb(kb)
    runs = [*_load_runs(corpus, predictions), *_run_systems(corpus, systems, kb, options, yes=yes)]
    location = None if kb is None else locate_kb(kb)
    project = create_project(name, corpus, runs, options, kb=knowledge_base, kb_location=location)
    annotation_store = AnnotationStore.create(store or f"{name}.sqlite", project)
    n_characters = sum(task.end - task.start for task in project.tasks)
    n_suggestions = sum(len(task.suggestions) for task in project.tasks)
    echo(
        f"{annotation_store.database.label}: {format_count(len(project.tasks), 'document')} of {len(corpus):,}, "
        f"{format_count(n_characters, 'character')} to annotate, {format_count(n_suggestions, 'suggestion')}, "
        f"guidelines {project.guidelines[-1].version}"
    )
    for description, count in project.options.counts.items():
        echo(f"  {description}: {count:,}")
    annotation_store.database.close()


def _load_runs(corpus: Corpus, paths: tuple[str, ...]) -> list[Run]:
    """Load the predictions of systems on the texts; the name of a dataset means its stored predictions."""
    from karat.analysis.comparison.entries import disambiguate_names
    from karat.data.load import expand_stored_predictions, load_run

    names = [name for path in paths for name in expand_stored_predictions(path)]
    runs = [load_run(name, corpus=corpus) for name in names]
    for run in runs:
        echo_run_warnings(corpus, run)
    return disambiguate_names(runs, names)


def _run_systems(
    corpus: Corpus, names: tuple[str, ...], kb: str | None, options: NewProject, *, yes: bool
) -> list[Run]:
    """Run systems on the documents that the project draws, after consent to sending them to other machines."""
    if not names:
        return []
    from karat.protocols.annotation.creation import draw_corpus, run_systems
    from karat.systems.running.prediction_files import describe_text_transfers
    from karat.systems.running.system import RunnableSystem, make_titles_unique

    shared_options = {} if kb is None else {"kb": kb}
    systems = make_titles_unique([RunnableSystem.from_text(name, shared_options) for name in names])
    sample = draw_corpus(corpus, options)
    confirm_sending(describe_text_transfers(systems, lambda: [sample]), yes=yes)
    return run_systems(systems, sample)
