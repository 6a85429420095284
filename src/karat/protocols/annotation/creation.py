"""Creation of annotation projects: documents, evaluation spans, suggestions and guidelines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from karat.data.lint.context import read_whitelist
from karat.formats.parsing.lines import decode_utf8
from karat.kb.protocol import KB
from karat.kb.type_names import WHITELISTS
from karat.model.corpus import Corpus
from karat.model.errors import UsageError
from karat.model.finegrained_scheme import DIMENSIONS
from karat.model.run import Run
from karat.protocols.annotation.guidelines import read_guidelines
from karat.protocols.annotation.project import AnnotationTask, Prefill, Project, ProjectOptions
from karat.protocols.annotation.sampling import SpanRule, choose_span, draw_documents
from karat.protocols.annotation.suggestions import pool_suggestions
from karat.storage.files import Source
from karat.systems.running.run import run_system
from karat.systems.running.system import RunnableSystem
from karat.systems.running.system_runner import RunOptions

CONSENT: Final = """\
You will mark mentions of entities in texts and link them to a knowledge base. Your labels, your notes and their times
are stored under a random name. The labels may be published with the dataset. You can stop at any time.
"""

SCHEMES: Final[Mapping[str, tuple[str, ...]]] = {"none": (), "fine-grained": tuple(DIMENSIONS)}
"""Dimensions of categories that annotators set, by the name of the scheme."""

TYPE_LISTS: Final = (*WHITELISTS, "none")
"""Names of lists of types; `none` allows all types."""


class NewProject(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a new annotation project."""

    documents: int | None = None
    """Number of documents to draw; None for all."""
    seed: int = 0
    """Random seed."""
    span: SpanRule = "document"
    """How the part of a document to annotate is chosen."""
    paragraphs: int = 3
    """Number of paragraphs that `span="paragraphs"` draws."""
    annotators: int = 2
    """Number of annotators per document."""
    prefill: Prefill | None = None
    """Whether annotators see suggestions; None for all documents if there are suggestions."""
    guidelines: str = "fair"
    """Name of built-in guidelines, or a text file."""
    scheme: str | None = None
    """Scheme of categories that annotators set: a key of `SCHEMES`; None for the one of the guidelines."""
    types: str | None = None
    """List of the types to annotate: a name in `TYPE_LISTS`, or a file; None for the one of the guidelines."""
    consent: str | None = None
    """File of the consent form; None for the built-in one."""

    def check(self) -> None:
        """Raise `UsageError` for a number that is too small, and for an unknown scheme."""
        n_documents = 1 if self.documents is None else self.documents
        if min(n_documents, self.paragraphs, self.annotators) < 1 or self.seed < 0:
            raise UsageError(
                "a number is too small. --documents, --paragraphs and --annotators must be at least 1, and --seed at "
                "least 0."
            )
        if self.scheme is not None and self.scheme not in SCHEMES:
            raise UsageError(f"--scheme is {self.scheme}. Pass one of {', '.join(SCHEMES)}.")

    def get_scheme(self) -> tuple[str, ...]:
        """Return the dimensions of categories that annotators set; those of the guidelines unless stated."""
        name = self.scheme or (self.guidelines if self.guidelines in SCHEMES else "none")
        return SCHEMES[name]

    def get_whitelist(self) -> tuple[str, ...]:
        """Return the types to annotate, sorted; empty if all types are. Those of the guidelines unless stated."""
        name = self.types or (self.guidelines if self.guidelines in TYPE_LISTS else "none")
        return () if name == "none" else tuple(sorted(read_whitelist(name)))


def create_project(
    name: str,
    corpus: Corpus,
    runs: Sequence[Run] = (),
    options: NewProject | None = None,
    *,
    kb: KB | None = None,
    kb_location: str | None = None,
) -> Project:
    """Create an annotation project about the texts of a corpus, with suggestions from the predictions of systems.

    Gold labels of the corpus are not used. `kb` resolves ids and names entities, and `kb_location` says where it can
    be opened again. Raise `UsageError` or `InputError` for invalid options and files.
    """
    options = options or NewProject()
    options.check()
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        raise UsageError(
            f"systems need different names, not {', '.join(names)}. Pass each file once, and rename files of the same "
            "name."
        )
    if not runs and options.prefill not in (None, "none"):
        raise UsageError(
            f"--prefill {options.prefill} needs suggestions. Pass predictions or systems, or --prefill none."
        )
    documents = draw_documents(corpus, options.documents, options.seed)
    counts: Counter[str] = Counter(corpus.skipped)
    spans = {
        document.id: choose_span(document, options.span, options.paragraphs, options.seed) for document in documents
    }
    suggestions = pool_suggestions(corpus, runs, spans, counts, kb=kb) if runs else {}
    tasks = tuple(
        AnnotationTask(
            number,
            document.id,
            document.text,
            spans[document.id].start,
            spans[document.id].end,
            suggestions.get(document.id, ()),
            document.meta,
        )
        for number, document in enumerate(documents)
    )
    project_options = ProjectOptions(
        name=name,
        sources=tuple(names),
        documents=len(corpus),
        annotators=options.annotators,
        seed=options.seed,
        span=options.span,
        prefill=options.prefill or ("all" if runs else "none"),
        scheme=options.get_scheme(),
        whitelist=options.get_whitelist(),
        kb=None if kb is None else kb.name,
        kb_location=kb_location,
        consent=_read_consent(options.consent),
        counts={description: count for description, count in counts.items() if count},
    )
    return Project(project_options, tasks, (read_guidelines(options.guidelines),))


def run_systems(systems: Sequence[RunnableSystem], corpus: Corpus) -> list[Run]:
    """Run systems on the texts of a corpus, and return their predictions; responses are cached as in `karat run`.

    Raise `UsageError` for a system that needs gold labels, and for one that fails on every document.
    """
    runs = []
    for system in systems:
        if system.needs_gold or system.uses_gold_mentions(False):
            raise UsageError(f"{system.text} needs gold labels, and texts have none. Choose another system.")
        system_run = run_system(system, corpus, RunOptions())
        if system_run.n_failures == len(corpus):
            error = next(iter(system_run.documents_by_error))
            raise UsageError(f"{system.text} fails on every document: {error}. Correct this, or remove the system.")
        runs.append(system_run.run)
    return runs


def draw_corpus(corpus: Corpus, options: NewProject) -> Corpus:
    """Return the documents that a project draws from a corpus, for systems to run on."""
    options.check()
    return Corpus.from_reader(draw_documents(corpus, options.documents, options.seed), name=corpus.name)


def _read_consent(path: str | None) -> str:
    """Return the consent form in a file, or the built-in one if `path` is None."""
    if path is None:
        return CONSENT
    source = Source(path)
    return decode_utf8(source.read_bytes(), source)
