"""Loading of systems and datasets for comparisons: gold with predictions, files that contain both, or results.

Systems and datasets are identified by the names of runs and corpora. A name is stated in the file, derived from the
file name (`SYSTEM.DATASET.linked_articles.jsonl`), or written before the path (`SYSTEM=FILE`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import combinations, groupby, takewhile

import msgspec
import pyarrow.compute as pc

from karat.data.catalogue import add_version_note
from karat.data.format_detection import is_result_file
from karat.data.inputs import GoldInput, SystemInput, SystemsInput, list_golds, list_systems, load_inputs
from karat.data.load import (
    align_run,
    detect_inputs,
    expand_stored_predictions,
    load,
    load_aligned_run,
    load_gold_and_runs,
    load_manifest,
    load_run,
    load_run_for_any,
    name_by_rest_of_file,
    name_by_start_of_file,
    parse_system_argument,
    reload_and_align_run,
)
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.evaluation.task_inputs import JudgedTables
from karat.model.corpus import STEPS_KEY, Corpus, DataName
from karat.model.errors import InputError, UnknownNameError, UsageError
from karat.model.results.result import Result
from karat.model.run import SELECTED_ON, Run
from karat.model.spec.dataset import parse_dataset, sort_versions
from karat.model.spec.format import Manifest
from karat.model.tables.arrow import Arrow
from karat.storage.files import Source, printable_path


class Entry(msgspec.Struct, frozen=True, eq=False):
    """A system on a dataset: gold standard and predictions, or a result."""

    system: str
    """Name of the system."""
    dataset: str
    """Name of the dataset."""
    data_signature: str
    """Dataset with its digest, as in signatures."""
    corpus: Corpus | None = None
    """Gold standard; None for a result."""
    run: Run | None = None
    """Predictions; None for a result."""
    result: Result | None = None
    """Result, if the entry was loaded from one."""
    title: str | None = None
    """Title of the system from its manifest; None if unknown."""
    judged: JudgedTables = msgspec.field(default_factory=JudgedTables)
    """Tables that evaluations of the run have judged so far, for later evaluations to share."""


class Formats(msgspec.Struct, frozen=True):
    """Formats of gold and predictions; None means that the format is detected."""

    gold: str | None = None
    predictions: str | None = None


def resolve_entries(gold: GoldInput | Sequence[GoldInput] | None, systems: SystemsInput) -> Iterator[Entry]:
    """Yield an entry for every system on every dataset, from whatever users pass to `compare`, in the order of systems.

    `gold` None means that each system brings its gold standard. Raise `UsageError` for a system that does not.
    """
    items = list_systems(systems)
    golds = list_golds(gold)
    has_files_only = all(item.path is not None for item in items)
    sources = [os.fspath(g) if has_files_only and isinstance(g, str | os.PathLike) else load(g) for g in golds]
    for is_file, group in groupby(items, key=lambda item: item.path is not None):
        if is_file:
            yield from load_entries([item.path for item in group if item.path is not None], sources)
        else:
            yield from (_entry_from_object(item, [load(source) for source in sources]) for item in group)


def _entry_from_object(item: SystemInput, corpora: Sequence[Corpus]) -> Entry:
    """Return the entry for a result, a pair of gold standard and predictions, or predictions for one of `corpora`."""
    predictions = item.predictions
    if isinstance(predictions, Result):
        return _rename_system(entry_from_result(predictions), item.name)
    if isinstance(predictions, tuple) and len(predictions) == 2:
        return _rename_system(entry_from_run(*load_inputs(*predictions)), item.name)
    if not corpora:
        name = predictions.name if isinstance(predictions, Run) else item.name
        raise UsageError(f"{name} has no gold standard. Pass the gold standard first: compare(gold, systems).")
    if len(corpora) == 1:
        return entry_from_run(corpora[0], load_aligned_run(corpora[0], predictions, item.name))
    run = load_run(predictions, system=item.name)
    corpus = corpora[_find_corpus(run, run.name, corpora)]
    return entry_from_run(corpus, align_run(corpus, run))


def load_entries(
    files: Sequence[str], golds: Sequence[str | Corpus] = (), formats: Formats | None = None
) -> Iterator[Entry]:
    """Yield an entry for every system on every dataset.

    With `golds`, `files` contain predictions for one of them. Without, each file contains gold and predictions, or
    results. A file may be written as `SYSTEM=FILE` to name the system.
    """
    formats = formats or Formats()
    if [*files, *golds].count("-") > 1:
        raise UsageError("standard input can be read only once. Pass - for one argument only.")
    for argument in files if not golds else ():
        system, name = parse_system_argument(argument)
        results = read_results(name)
        if results is None and name == "-":
            raise UsageError("standard input contains no results. Pass results, or name a file.")
        if results is None:
            yield _rename_system(_build_entry(*_load_both_sides(name, formats)), system)
        else:
            yield from (_rename_system(entry_from_result(result), system) for result in results)
    if golds:
        for corpus, run, name in _load_predictions(files, golds, formats):
            yield _build_entry(corpus, run, load_manifest(name, format=formats.predictions))


def load_dataset_entries(gold: str, predictions: Sequence[str], formats: Formats | None = None) -> list[Entry]:
    """Return an entry for every run on one gold standard, with different names; without `predictions`, `gold` has both.

    Raise `InputError` if a file is a result file, which contains no cases.
    """
    formats = formats or Formats()
    for _, name in map(parse_system_argument, [gold, *predictions]):
        if name != "-" and read_results(name) is not None:
            raise InputError(
                name,
                actual="a result file, which contains no cases",
                expected="a gold standard or predictions",
                remedy="Pass the gold file and the predictions",
            )
    inputs = detect_inputs(gold, predictions, gold_format=formats.gold, predictions_format=formats.predictions)
    corpus, runs = inputs.load(text=True)
    return [entry_from_run(corpus, run) for run in disambiguate_names(runs, inputs.run_names)]


def _rename_system(entry: Entry, system: str | None) -> Entry:
    """Return the entry with run and result renamed to `system`; unchanged if `system` is None."""
    if system is None:
        return entry
    run = None if entry.run is None else replace(entry.run, name=system)
    result = None if entry.result is None else replace(entry.result, run=system)
    return msgspec.structs.replace(entry, system=system, run=run, result=result)


def entry_from_result(result: Result) -> Entry:
    """Return the entry for a result."""
    return Entry(result.run, result.corpus, result.signature["data"], result=result)


def disambiguate_names(runs: Sequence[Run], paths: Sequence[str]) -> list[Run]:
    """Return `runs`; runs with the same name are renamed to the parts in which their paths in `paths` differ."""
    indices_by_name: dict[str, list[int]] = {}
    for index, run in enumerate(runs):
        indices_by_name.setdefault(run.name, []).append(index)
    names = [run.name for run in runs]
    for indices in indices_by_name.values():
        if len(indices) > 1:
            for index, name in zip(indices, _find_differences([paths[index] for index in indices]), strict=True):
                names[index] = name
    if len(set(names)) < len(names):  # a part is the name of another run
        names = [
            run.name if len(indices_by_name[run.name]) == 1 else printable_path(path)
            for run, path in zip(runs, paths, strict=True)
        ]
    return [run if run.name == name else replace(run, name=name) for run, name in zip(runs, names, strict=True)]


def _find_differences(paths: Sequence[str]) -> list[str]:
    """Return the part of each path between what all paths begin and end with; all paths in full if a part is empty.

    Parts end at a slash or dot.
    """
    tokens = [re.split(r"([/.])", path) for path in paths]
    start = _count_common_tokens(tokens)
    end = _count_common_tokens([path_tokens[start:][::-1] for path_tokens in tokens])
    parts = ["".join(path_tokens[start : len(path_tokens) - end]).strip("/.") for path_tokens in tokens]
    return [printable_path(name) for name in (parts if all(parts) else paths)]


def _count_common_tokens(paths: Sequence[Sequence[str]]) -> int:
    """Return the number of tokens with which all paths begin."""
    return sum(1 for _ in takewhile(lambda tokens: len(set(tokens)) == 1, zip(*paths, strict=False)))


def mark_selected(entries: Iterable[Entry], selected_on: Mapping[str, Sequence[str]]) -> Iterator[Entry]:
    """Yield `entries`, adding the datasets in `selected_on` to the metadata of their systems.

    Raises `UnknownNameError` after the last entry if `selected_on` names an unknown system or dataset.
    """
    systems, datasets = set(), set()
    for entry in entries:
        systems.add(entry.system)
        datasets.add(entry.dataset)
        selected = ",".join(selected_on.get(entry.system, ()))
        yield entry if not selected else _add_selected_on(entry, selected)
    for system, names in selected_on.items():
        if system not in systems:
            raise UnknownNameError("system", system, sorted(systems))
        for name in names:
            if name not in datasets:
                raise UnknownNameError("dataset", name, sorted(datasets))


def _add_selected_on(entry: Entry, names: str) -> Entry:
    """Return the entry with `names`, separated by commas, added to the datasets on which the system was selected."""

    def extend(metadata: Mapping[str, str]) -> dict[str, str]:
        return {**metadata, SELECTED_ON: ",".join(filter(None, [metadata.get(SELECTED_ON, ""), names]))}

    run = None if entry.run is None else replace(entry.run, metadata=extend(entry.run.metadata))
    result = None if entry.result is None else replace(entry.result, run_metadata=extend(entry.result.run_metadata))
    return msgspec.structs.replace(entry, run=run, result=result)


def find_excluded(
    systems_by_dataset: Mapping[str, Collection[str]], systems: Iterable[str], differing: Collection[str]
) -> dict[str, str]:
    """Return the datasets that cannot be averaged over, with the reason for each.

    A dataset is excluded if one of `systems` has no predictions for the dataset, or if the dataset is in `differing`:
    the datasets that are not the same in all files. Of the versions of a dataset, which have the same documents, only
    the newest of the others is averaged. `systems_by_dataset` has the systems with predictions, by dataset.
    """
    all_systems, reasons = list(systems), {}
    for name in sorted(systems_by_dataset):
        present = [system for system in all_systems if system in systems_by_dataset[name]]
        missing = [system for system in all_systems if system not in present]
        if len(missing) > len(present):
            reasons[name] = f"predictions of {', '.join(present)} only"
        elif missing:
            reasons[name] = f"no predictions of {', '.join(missing)}"
        elif name in differing:
            reasons[name] = "labels or texts differ between files"
    return reasons | _find_other_versions(systems_by_dataset.keys() - reasons.keys())


def _find_other_versions(names: Iterable[str]) -> dict[str, str]:
    """Return the datasets of which a newer version is in `names` too, each with a reason that names this version."""
    versions: dict[tuple[str, str | None], dict[str, str]] = {}
    for name in sorted(names):
        with suppress(UsageError):  # most files have names of another form
            dataset = parse_dataset(name)
            if dataset.version is not None:
                versions.setdefault((dataset.name, dataset.split), {})[dataset.version] = name
    reasons: dict[str, str] = {}
    for name_by_version in versions.values():
        *others, newest = sort_versions(list(name_by_version))
        reasons |= {name_by_version[other]: f"another version of {name_by_version[newest]}" for other in others}
    return reasons


def describe_separate_systems(entries: Iterable[Entry]) -> str:
    """Return a hint if there are several datasets and no system has predictions for two of them; else an empty text."""
    pairs = {(entry.system, entry.dataset) for entry in entries}
    systems, datasets = ({pair[side] for pair in pairs} for side in (0, 1))
    if len(datasets) < 2 or len(systems) < len(pairs):
        return ""
    return "no system has predictions for two datasets. To give the files of one system one name, write NAME=FILE."


def shared_text_warnings(digests: Mapping[str, frozenset[object]]) -> list[str]:
    """Return a warning if datasets have texts in common, which then count more than once; else an empty list.

    `digests`: by dataset, the digests of its texts.
    """
    counts = {(a, b): len(digests[a] & digests[b]) for a, b in combinations(digests, 2)}
    overlaps = [f"{a} and {b} {count}" for (a, b), count in counts.items() if count]
    if not overlaps:
        return []
    return [
        f"texts in common: {', '.join(overlaps)}. They count more than once, so intervals are too narrow and "
        "p-values too small. Compare on only one of these datasets"
    ]


def unchecked_text_notes(ids: Mapping[str, frozenset[str]], files: Set[str]) -> list[str]:
    """Return a note on datasets whose texts cannot be compared: equal document ids hint at equal texts.

    `ids`: by dataset, the ids of its documents. `files`: the datasets of result files, which contain no texts.
    """
    pairs = [(a, b) for a, b in combinations(ids, 2) if {a, b} & files]
    if not pairs:
        return []
    overlaps = [f"{a} and {b} {count}" for a, b in pairs if (count := len(ids[a] & ids[b]))]
    if not overlaps:
        return ["result files contain no texts, so it is unknown if datasets have texts in common"]
    return [
        f"document ids in common: {', '.join(overlaps)}. Result files contain no texts to compare: pass gold files and "
        "predictions. Equal texts count more than once, so intervals are too narrow and p-values too small"
    ]


def text_digests(corpus: Corpus) -> frozenset[object]:
    """Return the set of digests of the texts of a corpus."""
    return frozenset(corpus.table.column("text_digest").to_pylist())


def _load_both_sides(name: str, formats: Formats) -> tuple[Corpus, Run, Manifest]:
    """Load gold standard, predictions and manifest from one file; raise `UsageError` if it does not contain both."""
    try:
        sides = detect_inputs(name, (), gold_format=formats.gold, predictions_format=formats.predictions)
    except UsageError:
        message = f"{name} does not contain both gold labels and predictions. Pass the gold standard with --gold."
        raise UsageError(message) from None
    corpus, (run,) = sides.load()
    (manifest,) = sides.read_manifests()
    return corpus, run, manifest


def _load_predictions(
    files: Sequence[str], golds: Sequence[str | Corpus], formats: Formats
) -> Iterator[tuple[Corpus, Run, str]]:
    """Yield triples of a run, the gold standard that the run belongs to, and the path of the run.

    With several gold standards, a run belongs to the gold standard that shares most documents with the run, whose name
    its file name may begin or end with.
    """
    named_paths = [
        (system, name)
        for argument in files
        for system, path in [parse_system_argument(argument)]
        for name in expand_stored_predictions(path)
    ]
    paths = [name for _, name in named_paths]
    if len(golds) == 1 and isinstance(golds[0], str):
        corpus, runs = load_gold_and_runs(
            golds[0], paths, gold_format=formats.gold, predictions_format=formats.predictions
        )
        runs = _rename_runs(runs, named_paths)
        yield from ((corpus, run, name) for run, name in zip(disambiguate_names(runs, paths), paths, strict=True))
        return
    corpora = [load(gold, format=formats.gold) for gold in golds]
    if len({corpus.name for corpus in corpora}) < len(corpora):
        names = ", ".join(gold if isinstance(gold, str) else gold.name for gold in golds)
        raise UsageError(f"two of {names} have the same name. Pass each dataset once, under its own name.")
    runs = [load_run_for_any(name, corpora, format=formats.predictions) for name in paths]
    corpus_indices = [
        0 if len(corpora) == 1 else _find_corpus(run, name, corpora) for run, name in zip(runs, paths, strict=True)
    ]
    runs = _rename_runs(runs, named_paths)
    for index, corpus in enumerate(corpora):
        corpus_runs = [
            (
                _name_by_file(run, corpus.name) if system is None else run,
                name,
            )
            for run, (system, name), corpus_index in zip(runs, named_paths, corpus_indices, strict=True)
            if corpus_index == index
        ]
        unique_runs = disambiguate_names([run for run, _ in corpus_runs], [name for _, name in corpus_runs])
        on_corpus = partial(reload_and_align_run, corpus, format=formats.predictions)
        yield from (
            (corpus, on_corpus(run, name), name) for run, (_, name) in zip(unique_runs, corpus_runs, strict=True)
        )


def _rename_runs(runs: Sequence[Run], named_paths: Sequence[tuple[str | None, str]]) -> list[Run]:
    """Return `runs`, renamed to the system names in `named_paths`; None there leaves a name unchanged."""
    return [
        run if system is None else replace(run, name=system) for run, (system, _) in zip(runs, named_paths, strict=True)
    ]


def _find_corpus(run: Run, name: str, corpora: Sequence[Corpus]) -> int:
    """Return the index of the corpus that contains most documents of a run; raise `UsageError` without a unique one.

    Documents are compared by text if the run has texts of a corpus, else by id. If several corpora number their
    documents alike, the run belongs to the corpus that its manifest or else its file name names. `name` is the path of
    the run, for the error message.
    """
    overlap = [_count_shared(run.ids, corpus.ids) for corpus in corpora]
    if run.texts is not None:
        shared_texts = [_count_shared(run.texts.drop_null(), corpus.table.column("text")) for corpus in corpora]
        overlap = shared_texts if any(shared_texts) else overlap
    best = [index for index, count in enumerate(overlap) if count == max(overlap) and count]
    if len(best) > 1:
        digest = run.metadata.get("corpus", "").rpartition("@")[2]
        best = (
            [index for index in best if corpora[index].digest == digest]
            or [index for index in best if _name_by_file(run, corpora[index].name) is not run]
            or best
        )
    if len(best) != 1:
        problem = "documents of none of" if not best else "documents in several of"
        remedy = "Check that both have the same ids" if not best else "End its file name with its dataset"
        raise UsageError(
            f"{name} has predictions for {problem} {', '.join(corpus.name for corpus in corpora)}. {remedy}, or score "
            "it on its gold standard with karat score --json, then compare the results."
        )
    return best[0]


def _name_by_file(run: Run, dataset: str) -> Run:
    """Return the run, renamed if its file name begins or ends with the dataset."""
    return name_by_start_of_file(name_by_rest_of_file(run, dataset), dataset)


def _count_shared(values: Arrow, others: Arrow) -> int:
    """Return the number of `values` that are in `others`."""
    return int(pc.sum(pc.is_in(values, others)).as_py() or 0)


def read_results(name: str) -> list[Result] | None:
    """Read the results in a file; return None if the file does not exist, is a folder, or contains no results.

    A result on an old version of a dataset gets a note.
    """
    source = Source(name)
    if not source.exists or source.is_folder:
        return None
    if not is_result_file(source):
        return None
    data = source.read_bytes()
    lines = [line for line in data.splitlines() if line.strip()]
    # `karat score --json` writes one result per line; other programs may have laid one out over several.
    if not all(line.startswith(b'{"') for line in lines):
        lines = [data]
    results = (Result.from_json(line, where=f"{source.label}:{number}") for number, line in enumerate(lines, 1))
    return list(map(add_version_note, results))


def check_result(entry: Entry, request: Request) -> None:
    """Raise `UsageError` if a result is to be scored in another way: profile, settings, facets or knowledge base."""
    if entry.result is None:
        return
    settings = [name for name in request.overrides if name != "seed"]  # the seed is used for resampling only
    if (
        settings
        or request.requested_facets
        or request.kb is not None
        or request.profile != Request.from_options().profile
    ):
        raise UsageError(
            f"{entry.system} on {entry.dataset} is a result and cannot be rescored. Omit profile, settings, "
            "facets and knowledge base, or pass gold and predictions."
        )


def entry_from_run(corpus: Corpus, run: Run) -> Entry:
    """Return the entry for a run on a corpus."""
    data = DataName(corpus.name, corpus.digest, corpus.metadata.get(STEPS_KEY, ""))
    return Entry(run.name, corpus.name, str(data), corpus, run)


def entry_from_evaluation(evaluation: Evaluation) -> Entry:
    """Return the entry for the run of an evaluation in memory, with everything that the evaluation judged."""
    return msgspec.structs.replace(entry_from_run(*evaluation.source.data), judged=evaluation.inputs.judged)


def _build_entry(corpus: Corpus, run: Run, manifest: Manifest) -> Entry:
    """Return the entry for a run on a corpus, with the title from the manifest of its file."""
    return msgspec.structs.replace(entry_from_run(corpus, run), title=manifest.title)
