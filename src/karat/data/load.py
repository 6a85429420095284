"""Loading and saving of corpora and runs, by name or path, in any known format."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from karat.data.catalogue import (
    choose_split,
    find_dataset,
    find_stored_predictions,
    finish_corpus,
    list_datasets,
    list_splits,
    needs_text,
)
from karat.data.convert import convert_to_labels, count_losses, select_storable
from karat.data.corpus_pool import has_shared_ids, pool_corpora, pool_runs, pool_runs_like
from karat.data.custom_tables import CustomTables, get_custom_tables
from karat.data.dataset_files import prepare_split
from karat.data.format_detection import detect_format, list_formats
from karat.data.save import save_results
from karat.formats.parsing.annotation_tools.selection import select_gold, split_annotators
from karat.formats.parsing.surfaces.columns import ColumnRoles
from karat.formats.parsing.surfaces.run_builder import MissingGoldError
from karat.matching.read.offset_conversion import convert_offsets
from karat.matching.read.offset_fit import CONVERTED
from karat.matching.read.pairing import pair_run
from karat.matching.read.text_alignment import align_with_corpus, find_misplaced_responses, has_other_texts
from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.counts.skip_counter import merge_counts
from karat.model.defects import ErrorPolicy, collect_defects, get_error_policy
from karat.model.errors import InputError, UnknownNameError, UsageError
from karat.model.keywords import check_keywords
from karat.model.offsets.offset_kinds import OffsetKind, parse_offset_kind
from karat.model.output.command_options import get_command
from karat.model.output.progress import pause_garbage_collection, track_progress
from karat.model.registry import get_plugin
from karat.model.results.result import WARNING, Result
from karat.model.run import Run, to_text_column
from karat.model.spec.annotations import AnnotatedCorpus, AnnotatedDocument, NotedLabels
from karat.model.spec.dataset import is_bare_name
from karat.model.spec.engine import PartitionedData
from karat.model.spec.format import Format, Manifest
from karat.model.tables import checks
from karat.storage.atomic_writing import open_for_writing, write_folder
from karat.storage.files import Source, printable_path

ForeignObject: TypeAlias = Any
"""An object without static type, such as dictionaries or an object of another library."""

_NAMED_FORMAT = (
    "For another format, or a folder, write .jsonl, then convert it: karat data convert FILE OUT --to FORMAT."
)
"""A remedy for every command, since few can name the format they write."""

OnError: TypeAlias = Literal["fail", "skip"]
DuplicateIds: TypeAlias = Literal["fail", "rename"]
SpanMismatch: TypeAlias = Literal["fail", "realign"]

_OBJECT_NAMES: Final = frozenset({"corpus", "dataset", "docs", "run", "table"})
"""The names of corpora and runs from objects without a name."""


@check_keywords
def load(
    source: str | os.PathLike[str] | Corpus | ForeignObject,
    *,
    format: str | None = None,
    text: bool = True,
    on_error: OnError | None = None,
    duplicate_ids: DuplicateIds | None = None,
    columns: Mapping[str, str | int] | None = None,
    spans_key: str | None = None,
) -> Corpus:
    """Load a gold standard by registered name (`demo`, `msnbc@guo2018`), by path, or from standard input (`-`).

    `source` may also be a `Corpus`, which is returned unchanged, or a list of documents: `Document` objects,
    dictionaries as in Karat JSONL, or spaCy `Doc` objects. Without texts, it may be a list of mentions: tuples
    (document, start, end, entity), dictionaries with these fields, or a data frame. A Hugging Face `Dataset` works too.
    `format`: name of the format; by default it is detected from the content.
    `text`: False skips the texts, in formats where this saves time.
    `on_error`: `fail` raises an error at the first invalid document, `skip` excludes invalid documents and counts them
    in `Corpus.skipped`.
    `duplicate_ids`: `fail` raises an error, `rename` numbers documents that share an id.
    `columns`: roles of the columns of a CSV, TSV, JSON, JSONL, Arrow or Parquet file, a data frame, a Hugging Face
    `Dataset` or its folder, or a list of dictionaries, as in `{"doc": "doc_id", "text": "body"}`. Mentions may be one
    per row, in a list of objects (`{"start": "entities.start"}`), or in parallel lists.
    `spans_key`: the span group of spaCy `Doc` objects with the mentions; None for `doc.ents`.
    """
    _check_one_reader(source, columns, spans_key)
    if isinstance(source, Corpus):
        return source
    if isinstance(source, Run):
        raise UsageError(f"{source.name} is a run, not a gold standard. Pass the gold standard first, then the run.")
    if not isinstance(source, str | os.PathLike):
        from karat.data.python_objects import read_object_corpus, to_corpus

        with collect_defects(_merge_error_policy(on_error, duplicate_ids), "objects") as defects:
            corpus = to_corpus(source, spans_key) if columns is None else read_object_corpus(source, columns)
        return replace(corpus, skipped=merge_counts(corpus.skipped, defects.counts))
    return _load_gold(
        _Input(os.fspath(source), format, _merge_error_policy(on_error, duplicate_ids), _custom_tables_from(columns)),
        text=text,
    )


@check_keywords
def load_run(
    source: str | os.PathLike[str] | Run | ForeignObject,
    *,
    corpus: Corpus | None = None,
    system: str | None = None,
    format: str | None = None,
    on_error: OnError | None = None,
    duplicate_ids: DuplicateIds | None = None,
    span_mismatch: SpanMismatch | None = None,
    offsets: str | None = None,
    columns: Mapping[str, str | int] | None = None,
    spans_key: str | None = None,
) -> Run:
    """Load a system's predictions from a path, from `-`, or by name (`demo/prior` are stored predictions).

    `source` may also be a `Run`, a list of `Response` objects, spaCy `Doc` objects from `nlp.pipe` (`kb_id_` is the
    link), or a Hugging Face `Dataset`. Dictionaries are one per document as in Karat JSONL, one per prediction with its
    document id, or lists of predictions keyed by document id or in the order of `corpus`, as Hugging Face pipelines
    return them. Predictions may also be tuples (document, start, end, entity, score) or rows of a data frame.
    A file of gold labels is read as the predictions of a second annotator.

    `corpus`: check documents and spans against this corpus now; otherwise `evaluate` does so. Predictions for rows of a
    token table, such as HIPE's, are mapped to the tokens of `corpus`. Predictions that give text instead of a span are
    located in its texts.
    `system`: name of the run.
    `span_mismatch`: `fail` raises an error if a prediction's text differs from the text at its span, `realign` moves
    the span to the text and counts it.
    `offsets`: what the offsets count, if not code points: `utf16`, `bytes`, `inclusive`, `exclusive`, `one-based`,
    `one-based-inclusive`, `crlf`, `lf`, `nfd` or `nfc`. They are converted and counted in `Run.skipped`; this needs a
    text, from `corpus` or the file.
    `format`, `on_error`, `duplicate_ids`, `columns` and `spans_key`: see `load`.
    """
    _check_one_reader(source, columns, spans_key)
    policy = _merge_error_policy(on_error, duplicate_ids, span_mismatch, offsets)
    item = _RunSource(source, format, policy, _custom_tables_from(columns), system, spans_key)
    if corpus is None:
        return convert_run_offsets(None, item.load(None), policy)
    run = item.load(corpus)
    run = align_run(corpus, run if system is not None else name_by_rest_of_file(run, corpus.name), policy)
    pair_run(corpus, run)
    return run


def load_aligned_run(corpus: Corpus, source: str | os.PathLike[str] | Run | ForeignObject, system: str | None) -> Run:
    """Load predictions as `load_run` does, aligned with `corpus`; `system` renames the run.

    Predictions for documents that `corpus` does not have are not checked: scoring reports or skips them.
    """
    policy = get_error_policy()
    run = _RunSource(source, None, policy, get_custom_tables(), system).load(corpus)
    return align_run(corpus, run if system is not None else name_by_rest_of_file(run, corpus.name), policy)


class _RunSource(NamedTuple):
    """Predictions that a user named or passed, with format, rules for errors, and the name of the run if not None."""

    source: str | os.PathLike[str] | Run | ForeignObject
    format: str | None
    policy: ErrorPolicy
    tables: CustomTables
    system: str | None
    spans_key: str | None = None

    def load(self, corpus: Corpus | None) -> Run:
        """Load the predictions; `corpus` has the documents, for formats that need it."""
        if isinstance(self.source, Corpus):
            raise UsageError(
                f"{self.source.name} is a corpus, not a run. Pass the gold standard first, then the run; "
                "Run.from_gold turns gold labels into predictions."
            )
        if isinstance(self.source, str | os.PathLike):
            item = _Input(os.fspath(self.source), self.format, self.policy, self.tables)
            run = _load_predictions(item, None if corpus is None else partial(_return_corpus, corpus))
        elif isinstance(self.source, Run):
            run = self.source
        else:
            from karat.data.python_objects import read_object_run, to_run

            with collect_defects(self.policy, "objects") as defects:
                run = (
                    read_object_run(self.source, self.tables.columns[0], corpus)
                    if self.tables.strict
                    else to_run(self.source, corpus, self.system, self.spans_key)
                )
            run = replace(run, skipped=merge_counts(run.skipped, defects.counts))
        return run if self.system in (None, run.name) else replace(run, name=self.system)


def _check_one_reader(source: object, columns: Mapping[str, str | int] | None, spans_key: str | None) -> None:
    """Raise `UsageError` if a span group is named for something else than `Doc` objects."""
    if spans_key is not None and (columns is not None or isinstance(source, str | os.PathLike | Corpus | Run)):
        raise UsageError(
            "spans_key= names a span group of spaCy's Doc objects. Read a .spacy file with spaCy's DocBin, and pass "
            "its Doc objects without columns=."
        )


def _merge_error_policy(
    on_error: OnError | None,
    duplicate_ids: DuplicateIds | None,
    span_mismatch: SpanMismatch | None = None,
    offsets: str | None = None,
) -> ErrorPolicy:
    """Return the current error policy, overridden by the arguments that are not None."""
    policy = get_error_policy()
    skip = policy.skip if on_error is None else on_error == "skip"
    realign = policy.realign_spans if span_mismatch is None else span_mismatch == "realign"
    return replace(
        policy,
        skip=skip,
        rename_duplicates=policy.rename_duplicates if duplicate_ids is None else duplicate_ids == "rename",
        realign_spans=realign,
        offsets=policy.offsets if offsets is None else parse_offset_kind(offsets),
    )


def _custom_tables_from(columns: Mapping[str, str | int] | None) -> CustomTables:
    """Return custom tables with `columns`, or the current custom tables if `columns` is None."""
    return get_custom_tables() if columns is None else CustomTables((ColumnRoles.from_columns(columns),), strict=True)


def reload_and_align_run(corpus: Corpus, run: Run, name: str, *, format: str | None = None) -> Run:
    """Return `run` aligned with the texts of `corpus`.

    The run is loaded again from the file `name` if the format of the file refers to rows of the gold file.
    """
    item = _Input(name, format)
    if item.is_file and item.detected_format.needs_gold_rows:
        run = replace(_load_predictions(item, lambda: corpus), name=run.name)
    return align_run(corpus, run, item.policy)


def name_by_rest_of_file(run: Run, dataset: str) -> Run:
    """Return the run; if its file begins with the dataset, renamed: `kore50.rel.jsonl` holds predictions of `rel`."""
    if run.name != dataset or run.file is None:
        return run
    rest = Path(_strip_compression(run.file)).name.split(".")[1:-1]
    return replace(run, name=printable_path(".".join(rest))) if rest else run


def name_by_start_of_file(run: Run, dataset: str) -> Run:
    """Return the run; if its file name ends with the dataset, renamed: `rel_kore50.jsonl` holds predictions of `rel`.

    A separator must stand between them. A run with a name of its own, such as in the header of the file, stays.
    """
    if run.file is None or run.name != Path(run.file).name.split(".")[0]:
        return run
    start, end = run.name[: -len(dataset)], run.name[-len(dataset) :]
    name = start.rstrip("_- ")
    return replace(run, name=name) if end.lower() == dataset.lower() and name != start and name else run


def align_run(corpus: Corpus, run: Run, policy: ErrorPolicy | None = None) -> Run:
    """Return `run` aligned with the texts of `corpus`, by default under the current error policy.

    If `policy.skip` is set, responses without a document in the corpus and responses with predictions outside their
    text are excluded and counted in `Run.skipped`.
    """
    policy = policy or get_error_policy()
    run = convert_run_offsets(corpus, run, policy)
    policy = replace(policy, offsets=OffsetKind.CODE_POINTS)
    with collect_defects(policy, run.file or run.name) as defects:
        run = align_with_corpus(corpus, run)
        if policy.skip:
            run = run.drop_rows(checks.find_invalid_rows(find_misplaced_responses(corpus, run), run.locate_row))
    return replace(run, skipped=merge_counts(run.skipped, defects.counts)) if defects.counts else run


def convert_run_offsets(corpus: Corpus | None, run: Run, policy: ErrorPolicy) -> Run:
    """Return the run with offsets in code points, if `policy` names another kind; a run is converted only once.

    Offsets count in the text of the run's own file if it has one, else in the text of the corpus.
    """
    if policy.offsets is OffsetKind.CODE_POINTS or CONVERTED.format(policy.offsets.description) in run.skipped:
        return run
    with collect_defects(replace(policy, offsets=OffsetKind.CODE_POINTS), run.file or run.name) as defects:
        run = convert_offsets(corpus, run, policy.offsets)
    return replace(run, skipped=merge_counts(run.skipped, defects.counts))


class _Input(msgspec.Struct, frozen=True, dict=True):
    """A gold standard or predictions, as named by the user, with format and rules for errors; nothing is loaded yet.

    The bytes of a stream are read only once.
    """

    name: str
    format: str | None = None
    policy: ErrorPolicy = msgspec.field(default_factory=get_error_policy)
    tables: CustomTables = msgspec.field(default_factory=get_custom_tables)
    system: str | None = None
    """Name that the user gave the system, or None."""

    @classmethod
    def from_argument(cls, argument: str, format: str | None) -> _Input:
        """Return the input for `FILE` or `SYSTEM=FILE`."""
        system, name = parse_system_argument(argument)
        return cls(name, format, system=system)

    @cached_property
    def source(self) -> Source:
        """The file, folder or stream."""
        return _open_source(self.name)

    @cached_property
    def detected_format(self) -> Format:
        """The format of the file, named or detected from its content."""
        return detect_format(self.source, self.format, self.tables)

    @cached_property
    def pool_members(self) -> tuple[_Input, ...]:
        """The inputs that `+` joins in the name; empty for a single input."""
        names = self.name.split("+")
        if len(names) == 1 or Path(self.name).exists() or not all(names):
            return ()
        return tuple(_Input(name, self.format, self.policy, self.tables) for name in names)

    @property
    def kind(self) -> Literal["gold", "predictions"]:
        """Whether this input, or the first member of a pool, has gold labels or predictions."""
        if self.pool_members:
            return self.pool_members[0].kind
        if find_stored_predictions(self.name) is not None:
            return "predictions"
        return (
            "gold"
            if find_dataset(self.name) is not None or self.detected_format.has_gold(self.source)
            else "predictions"
        )

    @cached_property
    def holds_both(self) -> bool:
        """Whether this is a file with gold labels and predictions."""
        holds = self.detected_format.has_gold_and_predictions if self.is_file else None
        return holds is not None and holds(self.source)

    def read_manifest(self) -> Manifest:
        """Return the manifest stored with a file of predictions; an empty one for other inputs and without one."""
        if not self.is_file or self.source.is_single_pass:
            return Manifest()
        read = self.detected_format.read_manifest
        return (None if read is None else read(self.source)) or Manifest()

    @property
    def is_file(self) -> bool:
        """Whether this is one file, folder or stream, and neither a pool nor a registered name."""
        return not self.pool_members and find_stored_predictions(self.name) is None and find_dataset(self.name) is None


def parse_system_argument(argument: str) -> tuple[str | None, str]:
    """Split `SYSTEM=FILE` into system name and path; the name is None for a plain path.

    A string that is the path of an existing file is a plain path, even if it contains `=`.
    """
    system, equals, path = argument.partition("=")
    return (
        (printable_path(system), path)
        if equals and system and path and not Path(argument).exists()
        else (None, argument)
    )


def _load_gold(item: _Input, *, text: bool) -> Corpus:
    """Load a gold standard: a pool, a registered dataset or a file. Without `text`, formats may skip the texts."""
    if item.pool_members:
        return pool_corpora([_load_gold(part, text=text) for part in item.pool_members])
    dataset_name = find_dataset(item.name)
    if dataset_name is None:
        corpus = _read_corpus(item.source, item.detected_format, text=text, policy=item.policy)
        return _mark_predictions(corpus, item.source, item.detected_format)
    if find_stored_predictions(item.name) is not None:
        raise UsageError(f"{item.name} holds stored predictions. Pass their gold standard.")
    split = choose_split(dataset_name)
    source, file_format = (
        Source(str(prepare_split(split)), trust_links=True),
        get_plugin("formats", item.format or split.format, Format),
    )
    return finish_corpus(_read_corpus(source, file_format, text=text or needs_text(split), policy=item.policy), split)


def _mark_predictions(corpus: Corpus, source: Source, file_format: Format) -> Corpus:
    """Return a corpus with a warning in `Corpus.skipped` if its file looks like predictions."""
    if not file_format.prediction_mark or source.is_single_pass or file_format.has_gold(source):
        return corpus
    warning = (
        f"{WARNING}labels of {source.label}, which has {file_format.prediction_mark} and so seems to be a file of "
        "predictions. Check that the gold standard comes first"
    )
    return replace(corpus, skipped=merge_counts(corpus.skipped, {warning: len(corpus.labels)}))


def _read_corpus(source: Source, file_format: Format, *, text: bool, policy: ErrorPolicy) -> Corpus:
    """Read a gold standard in a known format; raise `UsageError` if the format has no gold labels.

    `text`: False skips the texts where this saves time. Under `policy`, invalid documents may be skipped; they are
    counted in `Corpus.skipped`.
    """
    if file_format.read_corpus is None:
        raise UsageError(f"{source.label}: {file_format.title} holds no gold labels. Pass a gold file.")
    with (
        collect_defects(replace(policy, offsets=OffsetKind.CODE_POINTS), source.label) as defects,
        track_progress(f"reading {source.label}"),
        pause_garbage_collection(),
    ):
        corpus = file_format.read_corpus(source, text)
    return replace(corpus, skipped=merge_counts(corpus.skipped, defects.counts))


def load_annotations(source: str, *, format: str | None = None) -> AnnotatedCorpus | None:
    """Load the labels of all annotators from a file of an annotation tool; None for other formats and names."""
    return _load_annotations(_Input(source, format))


def _load_annotations(item: _Input) -> AnnotatedCorpus | None:
    """Load the labels of all annotators; None if the format has none or the input is no file."""
    if not item.is_file or item.detected_format.read_annotations is None:
        return None
    with collect_defects(item.policy, item.source.label) as defects, track_progress(f"reading {item.source.label}"):
        annotated = item.detected_format.read_annotations(item.source)
    return msgspec.structs.replace(annotated, skipped=merge_counts(annotated.skipped, defects.counts))


def load_unnamed_labels(source: str, *, format: str | None = None) -> AnnotatedCorpus:
    """Load any gold standard as the labels of one annotator without a name."""
    corpus = _load_gold(_Input(source, format), text=True)
    documents = tuple(
        AnnotatedDocument(msgspec.structs.replace(document, labels=()), gold=NotedLabels(document.labels))
        for document in corpus
    )
    return AnnotatedCorpus(corpus.name, documents, corpus.metadata, corpus.skipped)


def load_annotators(
    source: str,
    *,
    format: str | None = None,
    gold: Corpus | None = None,
    report: Callable[[Corpus, Run], None] | None = None,
) -> list[Corpus]:
    """Load one corpus for each annotator of a file of an annotation tool, under the annotator's name.

    Any other gold standard, and a file with the labels of one annotator, is one corpus under the name of the file.
    With `gold`, predictions are one annotator too, on the texts of that gold standard; `report` is called with both.
    """
    item = _Input(source, format)
    if gold is not None and item.kind == "predictions":
        return [convert_to_labels(_load_paired_predictions(item, gold, report), gold)]
    annotated = _load_annotations(item)
    if annotated is None:
        return [_load_gold(item, text=True)]
    corpora = split_annotators(annotated)
    return list(corpora.values()) if len(corpora) > 1 else [select_gold(annotated)]


def _load_predictions(item: _Input, gold: Callable[[], Corpus] | None = None) -> Run:
    """Load predictions: a pool, stored predictions or a file.

    A registered dataset gives its gold labels as predictions. `gold` returns the corpus, for formats that need it; it
    is called only then, and for pools, whose ids are numbered like those of the corpus.
    """
    if item.pool_members:
        runs = [_load_predictions(part) for part in item.pool_members]
        return pool_runs_like(runs, [] if gold is None else [gold()])
    stored = find_stored_predictions(item.name)
    if stored is not None:
        return _read_run(
            Source(str(stored[0])), get_plugin("formats", item.format or stored[1], Format), gold, item.policy
        )
    if find_dataset(item.name) is not None:
        corpus = _load_gold(item, text=True)
        return Run.from_gold(corpus, name=corpus.name)
    return _add_manifest(item, _read_run(item.source, item.detected_format, gold, item.policy))


def _add_manifest(item: _Input, run: Run) -> Run:
    """Return the run with the runtime that the manifest next to its file states."""
    seconds = item.read_manifest().seconds
    return run if seconds is None else replace(run, metadata={**run.metadata, "seconds": str(seconds)})


def _read_run(source: Source, file_format: Format, gold: Callable[[], Corpus] | None, policy: ErrorPolicy) -> Run:
    """Read predictions in a known format; invalid responses that are skipped are counted in `Run.skipped`.

    `gold` returns the corpus, for formats that need it. The run's `file` is set, unless it is standard input.
    """
    with (
        collect_defects(policy, source.label) as defects,
        track_progress(f"reading {source.label}"),
        pause_garbage_collection(),
    ):
        run = _read_predictions(source, file_format, gold)
    file = None if source.path == "-" else source.path
    return replace(run, skipped=merge_counts(run.skipped, defects.counts), file=file)


def _read_predictions(source: Source, file_format: Format, gold: Callable[[], Corpus] | None) -> Run:
    """Read predictions with the suitable reader of the format; gold labels are read as predictions.

    Raises `UsageError` if the format has no suitable reader.
    """
    if file_format.read_run_with_gold is not None and gold is not None:
        return file_format.read_run_with_gold(source, gold)
    if file_format.has_gold(source) and not (file_format.is_kind_ambiguous and file_format.read_run is not None):
        if file_format.read_corpus is None:
            raise UsageError(f"{source.label}: Karat cannot read gold labels in {file_format.title}. Pass predictions.")
        corpus = file_format.read_corpus(source, True)
        _require_labels(corpus, source.label)
        return Run.from_gold(corpus, name=source.stem)
    if file_format.read_run is None:
        raise UsageError(f"{source.label}: {file_format.title} holds no predictions. Pass a file of predictions.")
    return file_format.read_run(source)


def _load_gold_and_predictions(item: _Input, *, text: bool) -> tuple[Corpus, Run]:
    """Load the gold standard and the predictions of one file that contains both; for `text` see `Inputs.load`.

    If the file name is the name of the dataset, the run has the name of the linker, if the file states one.
    """
    if item.detected_format.read_both is not None:
        with collect_defects(item.policy, item.source.label) as defects, pause_garbage_collection():
            corpus, run = item.detected_format.read_both(item.source)
        run = _add_manifest(item, run)
        corpus = replace(corpus, skipped=merge_counts(corpus.skipped, defects.counts))
    else:
        corpus, run = _load_gold(item, text=text), _load_predictions(item)
    linker = run.metadata.get("linker") or run.metadata.get("linked_by")
    return corpus, replace(run, name=linker) if linker and run.name == corpus.name else run


def load_manifest(name: str, *, format: str | None = None) -> Manifest:
    """Return the manifest stored with a file of predictions.

    Empty for pools, registered names, streams, and without one.
    """
    return _Input(name, format).read_manifest()


class Inputs(msgspec.Struct, frozen=True):
    """A gold standard and its predictions, with detected formats, before loading.

    `gold`: the gold standard.
    `predictions`: the files of predictions.
    `has_shared_gold`: every file holds gold labels and predictions, and the gold labels must be equal.
    `further_texts`: documents outside the gold standard in whose texts predictions are located too.
    """

    gold: _Input
    predictions: tuple[_Input, ...]
    has_shared_gold: bool = False
    further_texts: Corpus | None = None

    @property
    def run_names(self) -> list[str]:
        """The names of the files of predictions."""
        return [item.name for item in self.predictions]

    def read_manifests(self) -> list[Manifest]:
        """Return the manifest of each file of predictions; see `load_manifest`."""
        return [item.read_manifest() for item in self.predictions]

    def load(self, *, text: bool = True, needs_labels: bool = True) -> tuple[Corpus, list[Run]]:
        """Load the gold standard and all runs in parallel, and align the runs; a file that contains both is read once.

        `text`: False skips the texts of the gold standard where this saves time.
        `needs_labels`: whether a gold standard without any list of labels is an error.
        Texts in files of predictions are compared with those of the gold standard and then dropped.
        """
        corpus, runs = self._load_unaligned(text=text)
        if needs_labels:
            _require_labels(corpus, self.gold.name)
        needs_text = self.gold.policy.offsets is not OffsetKind.CODE_POINTS
        if not corpus.has_text and (needs_text or any(has_other_texts(corpus, run) for run in runs)):
            return self.load(text=True, needs_labels=needs_labels)  # reporting the difference needs the texts
        return corpus, [
            align_run(
                corpus,
                name_by_rest_of_file(run, corpus.name) if item.system is None else replace(run, name=item.system),
                self.gold.policy,
            )
            for item, run in zip(self.predictions, runs, strict=True)
        ]

    def _load_unaligned(self, *, text: bool) -> tuple[Corpus, list[Run]]:
        """Load the gold standard and all runs, without aligning the runs; for `text` see `load`."""
        if self.gold.pool_members:
            corpora = [_load_gold(part, text=text) for part in self.gold.pool_members]
            return pool_corpora(corpora), [_load_pooled_predictions(item, corpora) for item in self.predictions]
        if not self.has_shared_gold and not (self.gold in self.predictions and self.gold.holds_both):
            with ThreadPoolExecutor(max_workers=2) as pool:
                corpus = pool.submit(_load_gold, self.gold, text=text)
                runs = [
                    pool.submit(_load_predictions, item, partial(self._load_with_text, item, corpus.result))
                    for item in self.predictions
                ]
                return corpus.result(), [run.result() for run in runs]
        gold, gold_run = _load_gold_and_predictions(self.gold, text=text)
        return gold, [
            gold_run if item == self.gold else self._load_run(item, gold, text=text) for item in self.predictions
        ]

    def _load_with_text(self, item: _Input, gold: Callable[[], Corpus]) -> Corpus:
        """Return the corpus that `gold` returns, to locate the predictions of `item`, with all further documents.

        A corpus without texts is loaded again with texts. Formats that refer to rows of the gold file get no more.
        """
        corpus = gold()
        corpus = corpus if corpus.has_text else _load_gold(self.gold, text=True)
        if self.further_texts is None or item.detected_format.needs_gold_rows:
            return corpus
        gold_ids = set(corpus.ids.to_pylist())
        further = [document for document in self.further_texts if document.id not in gold_ids]
        return replace(Corpus.from_documents([*corpus, *further], name=corpus.name), skipped=corpus.skipped)

    @property
    def is_partitioned(self) -> bool:
        """Whether the gold standard is a folder of files that can be read in partitions."""
        return _open_partitions(self.gold, gold=True) is not None and self.gold.source.is_folder

    def load_partitioned(self, *, text: bool) -> tuple[Corpus | PartitionedData, list[Run | PartitionedData]]:
        """Load the inputs for an engine, as partitions where the format allows it, otherwise in memory.

        Runs are aligned with the texts only if gold standard and all runs are loaded in memory: for a pool, for files
        with gold labels and predictions, and if an error policy is set. `text`: False skips the texts of a gold
        standard in memory where this saves time.
        """
        needs_memory = self.gold.pool_members or self.has_shared_gold or self.gold.policy != ErrorPolicy()
        if needs_memory or (self.gold in self.predictions and self.gold.holds_both):
            gold, runs = self.load(text=text)
            return gold, [*runs]
        if any(item.system is not None for item in self.predictions):
            raise UsageError("SYSTEM=FILE needs predictions in memory. Pass FILE alone, or remove --engine.")
        gold_parts = _open_partitions(self.gold, gold=True) or _load_gold(self.gold, text=text)
        corpus = gold_parts if isinstance(gold_parts, Corpus) else None
        if corpus is not None:
            _require_labels(corpus, self.gold.name)
        whole = None if corpus is None else lambda: corpus
        return gold_parts, [
            _open_partitions(item, gold=False) or _load_predictions(item, whole) for item in self.predictions
        ]

    def _load_run(self, item: _Input, gold: Corpus, *, text: bool) -> Run:
        """Load a run on `gold`; if all files contain gold, raise `UsageError` unless the gold of this file is equal.

        For `text` see `load`; it concerns only the gold of this file.
        """
        if not self.has_shared_gold:
            return _load_predictions(item, lambda: gold)
        corpus, run = _load_gold_and_predictions(item, text=text)
        if corpus.digest != gold.digest:
            raise UsageError(
                f"{item.source.label} has other gold labels or texts than {self.gold.source.label} "
                f"({corpus.name}@{corpus.digest} and {gold.name}@{gold.digest}). Score it separately, or pass the gold "
                "standard of both as a separate file before them."
            )
        return run


def _require_labels(corpus: Corpus, name: str) -> None:
    """Raise `InputError` if all documents of the gold standard `name` are from files that have no field for labels."""
    if corpus.is_unlabelled:
        raise InputError(
            name,
            actual="no document with the field `labels`",
            expected="gold labels in at least one document",
            remedy='Pass the file with the gold labels; write "labels": [] if there are none',
        )


def _load_pooled_predictions(item: _Input, corpora: list[Corpus]) -> Run:
    """Load a run on pooled corpora: a pool with one file for each corpus in the same order, or one file for all.

    Raises `UsageError` if the numbers differ.
    """
    if item.pool_members and len(item.pool_members) != len(corpora):
        raise UsageError(
            f"{item.name}: {len(item.pool_members)} files of predictions for {len(corpora)} pooled corpora. "
            "Pass one file of predictions for each corpus, in the same order."
        )
    if not item.pool_members:
        return _load_predictions(item)
    runs = [
        _load_predictions(part, partial(_return_corpus, corpus))
        for part, corpus in zip(item.pool_members, corpora, strict=True)
    ]
    return pool_runs(runs, has_numbered_ids=has_shared_ids(corpora))


def _return_corpus(corpus: Corpus) -> Corpus:
    """Return `corpus`; for `partial`, to make a function that returns a loaded corpus."""
    return corpus


@check_keywords
def load_partitioned(
    source: str | os.PathLike[str], *, gold: bool, format: str | None = None
) -> Corpus | Run | PartitionedData:
    """Load one side for an engine: as partitions from Parquet files, otherwise in memory.

    `gold`: whether `source` is a gold standard or predictions. Pass both sides to `evaluate`.
    """
    item = _Input(os.fspath(source), format)
    if gold:
        return _open_partitions(item, gold=True) or _load_gold(item, text=True)
    return _open_partitions(item, gold=False) or _load_predictions(item)


def _open_partitions(item: _Input, *, gold: bool) -> PartitionedData | None:
    """Return the partitions of an input, or None if it must be loaded at once or is not of the requested kind.

    `gold`: whether a gold standard or predictions are requested.
    """
    if not item.is_file or item.policy != ErrorPolicy():
        return None
    source, file_format = item.source, item.detected_format
    if file_format.open_partitions is None or source.is_single_pass or (not source.is_folder and source.is_compressed):
        return None
    return file_format.open_partitions(source, gold) if file_format.has_gold(source) == gold else None


def detect_inputs(
    gold: str, predictions: Sequence[str], *, gold_format: str | None = None, predictions_format: str | None = None
) -> Inputs:
    """Detect which files are gold standard and predictions, without loading them.

    A dataset name as predictions means its stored predictions. Predictions may be written `SYSTEM=FILE`. A file with
    gold labels and predictions serves as both if it is the only file, or if all other files contain both too. Raises
    `UsageError` for a single file that lacks one of them.
    """
    if not predictions:
        single = _Input.from_argument(gold, gold_format or predictions_format)
        if not single.holds_both:
            raise _missing_side_error(single)
        return Inputs(single, (single,))
    first = _Input.from_argument(gold, gold_format)
    others = tuple(
        _Input.from_argument(name, predictions_format)
        for argument in predictions
        for name in expand_stored_predictions(argument)
    )
    if not (first.holds_both and all(item.holds_both for item in others)):
        _check_sides(first, others)
        if first.system is not None:
            raise UsageError(f"{gold}: {first.name} is the gold standard. Write NAME= before predictions only.")
        return Inputs(first, others)
    if first.system is None:
        first = next((item for item in others if item.name == first.name), first)
    others = tuple(first if item.name == first.name else item for item in others)
    return Inputs(first, others if first in others else (first, *others), has_shared_gold=True)


def _check_sides(gold: _Input, predictions: Sequence[_Input]) -> None:
    """Raise `UsageError` if `gold` carries a linker's mentions, and one of `predictions` is a gold standard."""
    if not gold.holds_both or gold.source.is_single_pass:
        return
    for item in predictions:
        if item.is_file and not item.source.is_single_pass and not item.holds_both and item.kind == "gold":
            raise UsageError(
                f"{gold.name} has {gold.detected_format.prediction_mark or 'predictions'}, and {item.name} is a gold "
                f"standard: the files are swapped. Pass {item.name} as the gold standard, then the predictions."
            )


def _missing_side_error(item: _Input) -> UsageError:
    """Make the error for a single file that lacks gold labels or predictions."""
    name, command = item.name, get_command()
    if item.kind == "predictions":
        return UsageError(f"{name} has no gold labels. Pass the gold standard before it: {command} GOLD {name}")
    stored = expand_stored_predictions(name) != [name]
    hint = f"; to score its stored predictions: {command} {name} {name}" if stored else ""
    return UsageError(f"{name} has no predictions. Pass them after it: {command} {name} PREDICTIONS{hint}")


def load_gold_and_runs(
    gold: str,
    predictions: Sequence[str],
    *,
    gold_format: str | None = None,
    predictions_format: str | None = None,
    text: bool = True,
) -> tuple[Corpus, list[Run]]:
    """Load a gold standard and the runs on it in parallel; the runs are aligned with the gold texts.

    `text`: False skips the texts of the gold standard where this saves time.
    """
    gold_item = _Input(gold, gold_format)
    items = tuple(_Input.from_argument(name, predictions_format) for name in predictions)
    _check_sides(gold_item, items)
    return Inputs(gold_item, items).load(text=text)


def expand_stored_predictions(argument: str) -> list[str]:
    """Return the names of all stored predictions of a dataset, as `DATASET/SYSTEM`; `[argument]` if there are none.

    A system's name before the dataset (`SYSTEM=DATASET`) stays before each.
    """
    system, name = parse_system_argument(argument)
    dataset_name = find_dataset(name)
    systems = (
        ()
        if dataset_name is None or find_stored_predictions(name) is not None
        else choose_split(dataset_name).split.predictions
    )
    prefix = "" if system is None else f"{system}="
    return [f"{prefix}{name}/{stored}" for stored in systems] or [argument]


def split_pool_name(name: str) -> list[str]:
    """Return the names that `+` joins in `name`; `[name]` for a single name or an existing file."""
    return [part.name for part in _Input(name).pool_members] or [name]


def load_gold_or_run(
    source: str | os.PathLike[str] | Corpus | Run | ForeignObject,
    *,
    kind: str | None = None,
    format: str | None = None,
    gold: str | None = None,
    report: Callable[[Corpus, Run], None] | None = None,
) -> Corpus | Run:
    """Load gold labels or predictions, depending on `kind` (`gold` or `predictions`) or on the content of `source`.

    With `gold`, predictions are loaded and aligned with the texts of that gold standard; if `kind` is `gold`, they
    become its labels. `report` is called with both, for warnings. A corpus or run is returned unchanged.
    """
    if isinstance(source, Corpus | Run):
        return source
    if not isinstance(source, str | os.PathLike):
        from karat.data.python_objects import detect_object_kind

        return load(source) if detect_object_kind(source) == "gold" else load_run(source)
    item = _Input(os.fspath(source), format)
    if (kind or item.kind) == "gold" and gold is None:
        return _load_gold(item, text=True)
    if gold is None:
        return convert_run_offsets(None, _load_predictions(item), item.policy)
    corpus = _load_gold(_Input(gold), text=True)
    run = _load_paired_predictions(item, corpus, report)
    return convert_to_labels(run, corpus) if kind == "gold" else _add_texts(run, corpus)


def _load_paired_predictions(item: _Input, corpus: Corpus, report: Callable[[Corpus, Run], None] | None) -> Run:
    """Load predictions aligned with `corpus`, call `report` with both, and raise `InputError` if they do not fit."""
    run = align_run(corpus, _load_predictions(item, lambda: corpus), item.policy)
    pair_run(corpus, run)
    if report is not None:
        report(corpus, run)
    return run


def _add_texts(run: Run, corpus: Corpus) -> Run:
    """Return a run that is aligned with a corpus, with the texts of the corpus, for formats that need texts."""
    if corpus.skipped.get(NO_TEXT_NOTE):
        return run
    texts = dict(zip(corpus.ids.to_pylist(), corpus.texts, strict=True))
    return replace(run, texts=to_text_column(texts.get(id) for id in run.ids.to_pylist()))


def load_run_for_any(name: str, corpora: Sequence[Corpus], *, format: str | None = None) -> Run:
    """Load predictions for one of several corpora, without checking the predictions against a corpus.

    If the format needs a corpus to locate predictions, the corpus that shares most documents with the predictions is
    used.
    """
    item = _Input(name, format)
    if item.pool_members:
        return pool_runs_like([_load_predictions(part) for part in item.pool_members], corpora)
    try:
        return _load_predictions(item)
    except MissingGoldError:
        runs = [(_load_predictions(item, partial(_return_corpus, corpus)), corpus) for corpus in corpora]
        return max(runs, key=lambda pair: int(pc.sum(pc.is_in(pair[0].ids, pair[1].ids)).as_py() or 0))[0]


def detect_kind(name: str, *, format: str | None = None) -> Literal["gold", "predictions"]:
    """Detect whether a file has gold labels or predictions; `gold` for streams and unknown formats."""
    try:
        item = _Input(name, format)
        return "gold" if find_dataset(name) is None and item.source.is_single_pass else item.kind
    except InputError:
        return "gold"


def convert_in_blocks(
    source: str, target: str, writer: Format, *, kind: str | None, format: str | None
) -> tuple[int, int] | None:
    """Convert a gold standard block by block to the file `target`, and return the numbers of documents and labels.

    Returns None, without writing, if a format does not support blocks, for predictions, pools, streams and registered
    datasets, and if an error policy is set. Raises `InputError` for duplicate document ids.
    """
    if (
        kind == "predictions"
        or find_dataset(source) is not None
        or writer.write_corpus_blocks is None
        or get_error_policy() != ErrorPolicy()
    ):
        return None
    item = _Input(source, format)
    if item.pool_members or item.source.is_single_pass:
        return None
    byte_source, file_format = item.source, item.detected_format
    if file_format.read_corpus_blocks is None or not file_format.has_gold(byte_source):
        return None
    counts = [0, 0]
    id_hashes: set[int] = set()

    def count_blocks(blocks: Iterator[Corpus]) -> Iterator[Corpus]:
        for block in blocks:
            for id in block.ids.to_pylist():
                key = hash(id)
                if key in id_hashes:
                    raise InputError(
                        byte_source.label,
                        actual=f"document {id!r} a second time",
                        expected="each document once",
                        remedy="Delete one of the two",
                    )
                id_hashes.add(key)
            counts[0] += len(block)
            counts[1] += len(block.labels)
            yield block

    with open_for_writing(target) as file:
        writer.write_corpus_blocks(count_blocks(file_format.read_corpus_blocks(byte_source)), file)
        if not counts[0]:
            checks.require_documents(pa.table({"id": []}), byte_source.label)
    return counts[0], counts[1]


def get_target_format(path: str, format: str | None) -> tuple[str, Format]:
    """Return the name and specification of the format to write to `path`; if `format` is None, by the suffix."""
    name = format or _format_for_suffix(path)
    return name, get_plugin("formats", name, Format)


@check_keywords
def save(
    data: str | os.PathLike[str] | Corpus | Run | Result | ForeignObject,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    base: str | None = None,
    entity_base: str | None = None,
) -> None:
    """Write a corpus, a run or a result to `path`; `-` is standard output.

    `data` may also be a path, a name from the catalogue, or plain dictionaries of documents or responses.
    The suffix selects format and compression (`.gz`, `.zst`).
    `base`: IRI prefix of document ids and types, for NIF; QIDs become Wikidata IRIs.
    `entity_base`: IRI prefix of all other entities. Without a prefix, ids are written unchanged.
    The format `hf-datasets` writes a folder for `datasets.load_from_disk` if the path has no suffix. A result is
    written as JSON; `Result.from_json` reads it. A corpus or run that nothing names gets the name of the file. A
    warning counts what the format cannot store.
    """
    target = os.fspath(path)
    if isinstance(data, Result):
        if target != "-" and not _strip_compression(target).endswith((".json", ".jsonl")):
            raise UsageError(
                f"{target}: a result is written as JSON. Use the suffix .json (also with .gz or .zst); for a table, "
                "write the text of Result.to_latex() or Result.to_markdown(), or the data frame of Result.to_frame()."
            )
        save_results([data], target)
        return
    content = load_gold_or_run(data)
    if content.name in _OBJECT_NAMES and target != "-":
        content = replace(content, name=Source(target).stem)
    losses = write_data(content, target, format=format, base=base, entity_base=entity_base)
    if losses:
        listed = ", ".join(f"{name} {count:,}" for name, count in losses.items())
        warnings.warn(f"{target}: not stored: {listed}", stacklevel=3)  # of the caller of the checked function


def write_data(
    data: Corpus | Run,
    target: str,
    *,
    format: str | None = None,
    base: str | None = None,
    entity_base: str | None = None,
) -> dict[str, int]:
    """Write a corpus or a run as `save` does, and return counts of what the format cannot store, by description."""
    _, writer = get_target_format(target, format)
    storable = select_storable(data, writer) if isinstance(data, Corpus) else data.add_counts_to_metadata()
    storable = prepare_to_save(storable, target, writer, base=base, entity_base=entity_base)
    losses = count_losses(data, writer)
    write = writer.write_corpus if isinstance(data, Corpus) else writer.write_run
    if writer.write_folder is not None and _is_folder(data, target, writer):
        write_folder(target, writer.write_folder(storable))
        return losses
    assert write is not None
    with open_for_writing(target) as file:
        write(storable, file)  # type: ignore[arg-type]  # which of the two was decided by the same test
    return losses


def load_all_splits(source: str, target: str, writer: Format) -> dict[str, Corpus] | None:
    """Load all splits of a dataset by name; None if `source` is another input, or `target` cannot hold several."""
    name = find_dataset(source)
    is_folder = writer.write_splits is not None and not _is_single_file(target, writer)
    if not is_folder or name is None or name.split is not None or find_stored_predictions(source) is not None:
        return None
    splits = {split.name.split: split.name for split in list_splits(name)}
    return {split: load(str(full_name)) for split, full_name in splits.items() if split} if len(splits) > 1 else None


def write_splits(corpora: Mapping[str, Corpus], target: str, writer: Format) -> None:
    """Write all splits of a dataset to a new folder."""
    assert writer.write_splits is not None, "the format was chosen for it"
    write_folder(target, writer.write_splits(corpora))


def prepare_to_save(
    data: Corpus | Run, target: str, writer: Format, *, base: str | None = None, entity_base: str | None = None
) -> Corpus | Run:
    """Return the data with the IRIs that `save` writes; raise `UsageError` for what the format cannot hold."""
    is_folder = _is_folder(data, target, writer)
    if (writer.write_corpus if isinstance(data, Corpus) else writer.write_run) is None and not is_folder:
        kind = "gold labels" if isinstance(data, Corpus) else "predictions"
        raise UsageError(f"{writer.title} cannot hold {kind}. Choose another format.")
    if isinstance(data, Corpus) and not data.has_text:
        raise UsageError(f"{data.name} was loaded without its texts. Load it again with text=True.")
    if isinstance(data, Corpus) and data.skipped.get(NO_TEXT_NOTE) and not writer.is_textless:
        raise UsageError(
            f"{data.name}: no texts, but {writer.title} needs them. Pass a gold standard with texts "
            "(karat data convert --texts-from FILE; in a table, --columns text=… or texts=…), or choose a format "
            "without texts."
        )
    if base is not None or entity_base is not None:
        if not writer.has_iris:
            raise UsageError(f"{writer.title} does not use IRIs. Omit base and entity_base.")
        from karat.data.absolute_iris import IriBases, to_absolute_iris

        data = to_absolute_iris(data, IriBases(base, entity_base))
    if is_folder and target == "-":
        raise UsageError(f"{writer.title} is a folder of files. Name a new folder.")
    return data


def _is_folder(data: Corpus | Run, target: str, writer: Format) -> bool:
    """Return whether the data are written as a folder of files."""
    write = writer.write_corpus if isinstance(data, Corpus) else writer.write_run
    return writer.write_folder is not None and not (write is not None and _is_single_file(target, writer))


def save_annotations(annotated: AnnotatedCorpus, path: str, writer: Format) -> None:
    """Write the labels of all annotators to a file, or to a folder if the path has no suffix of the format."""
    assert writer.write_annotations is not None, "the format is one of an annotation tool"
    if writer.write_annotation_folder is not None and path != "-" and not path.endswith(writer.suffix):
        write_folder(path, writer.write_annotation_folder(annotated))
        return
    with open_for_writing(path) as file:
        writer.write_annotations(annotated, file)


def _is_single_file(target: str, writer: Format) -> bool:
    """Return whether a format that can write a folder or a file writes a file: to standard output, or by the suffix."""
    return target == "-" or _strip_compression(target).endswith(writer.suffix)


def _open_source(name: str) -> Source:
    """Return the source for a path or `-`.

    Raise `UnknownNameError` for a bare word that is no file, as a dataset name.
    """
    if is_bare_name(name) and not Path(name).exists():
        raise UnknownNameError("dataset or file", name, list_datasets())
    return Source(name)


def _strip_compression(path: str) -> str:
    """Return a path without its compression suffix (`.gz` or `.zst`)."""
    return path.removesuffix(".gz").removesuffix(".zst")


def _format_for_suffix(path: str) -> str:
    """Return the name of the format that is written to a path, by the longest matching suffix; Karat's formats first.

    Standard output gets Karat JSONL. Raises `UsageError` for an unknown or ambiguous suffix.
    """
    if path == "-":
        return "karat-jsonl"
    stem = _strip_compression(path)
    writers = [(name, spec) for name, spec in list_formats() if spec.write_corpus or spec.write_run]
    longest = max((len(spec.suffix) for _, spec in writers if stem.endswith(spec.suffix)), default=0)
    matches = [name for name, spec in writers if stem.endswith(spec.suffix) and len(spec.suffix) == longest]
    karat_matches = [name for name in matches if name.startswith("karat-")]
    if len(karat_matches or matches) == 1:
        return (karat_matches or matches)[0]
    if matches:
        raise UsageError(f"{path}: the suffix is ambiguous ({', '.join(matches)}). {_NAMED_FORMAT}")
    suffixes = ", ".join(sorted({spec.suffix for _, spec in writers}))
    raise UsageError(f"{path}: unknown suffix. Use one of {suffixes} (also with .gz or .zst). {_NAMED_FORMAT}")
