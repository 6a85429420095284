"""Systems on datasets, from whatever files say so: gold with answers, files that carry both, results.

Systems and datasets are told by the names of runs and corpora: what files say of themselves, or else their own names
(`SYSTEM.DATASET.linked_articles.jsonl`), or what is said before a file (`SYSTEM=FILE`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path

import msgspec
import pyarrow.compute as pc

from karat.data.load import inputs, laid_on, load, load_both, load_run_among, noted, stored_runs
from karat.errors import InputError, UnknownNameError, UsageError
from karat.model.corpus import STEPS, Corpus, NamedData
from karat.model.result import LAYOUT, Result
from karat.model.run import CHOSEN_ON, Run
from karat.storage.files import Source, readable

_RESULT = LAYOUT.partition("/")[0].encode() + b"/"


class Entry(msgspec.Struct, frozen=True, eq=False):
    """A system on a dataset: the gold standard with its answers, or the result that was made from them.

    `data` is the dataset with its fingerprint; `seconds` is what the system took for all of it, and `title` what it
    calls itself, where that is known.
    """

    system: str
    dataset: str
    data: str
    corpus: Corpus | None = None
    run: Run | None = None
    result: Result | None = None
    seconds: float | None = None
    title: str | None = None


class Formats(msgspec.Struct, frozen=True):
    """The formats of gold and answers, where they are not recognised."""

    gold: str | None = None
    answers: str | None = None


def entries(files: Sequence[str], golds: Sequence[str] = (), formats: Formats | None = None) -> Iterator[Entry]:
    """Every system on every dataset. With `golds`, files are answers to one of them; else each speaks for itself."""
    formats = formats or Formats()
    if [*files, *golds].count("-") > 1:
        raise UsageError("standard input can be read once. Give - for one argument only.")
    for given in files if not golds else ():
        system, name = named(given)
        found = results_in(name)
        if found is None and name == "-":
            raise UsageError("standard input holds no results, which alone can be read from there. Name a file.")
        if found is None:
            corpus, run = _both(name, formats)
            yield _called(_entry(corpus, run, name, formats.gold or formats.answers), system)
        else:
            yield from (_called(entry_of(result), system) for result in found)
    if golds:
        yield from (_entry(*each, formats.answers) for each in _answers(files, golds, formats))


def named(given: str) -> tuple[str | None, str]:
    """What a system is called if somebody says so, `SYSTEM=FILE`, and its file."""
    system, equals, path = given.partition("=")
    return (readable(system), path) if equals and system and path and not Path(given).exists() else (None, given)


def _called(entry: Entry, system: str | None) -> Entry:
    """An entry under another name, on both the run and the result."""
    if system is None:
        return entry
    run = None if entry.run is None else replace(entry.run, name=system)
    result = None if entry.result is None else replace(entry.result, run=system)
    return msgspec.structs.replace(entry, system=system, run=run, result=result)


def entry_of(result: Result) -> Entry:
    """A result as what it is about."""
    seconds = _noted_seconds(result.about_run, result.run)
    return Entry(result.run, result.corpus, result.signature["data"], result=result, seconds=seconds)


def named_apart(runs: Sequence[Run], given: Sequence[str]) -> list[Run]:
    """Runs of one name, called by their files instead."""
    names = [run.name for run in runs]
    return [
        replace(run, name=readable(path)) if names.count(run.name) > 1 else run
        for run, path in zip(runs, given, strict=True)
    ]


def chosen(entries: Iterable[Entry], given: Mapping[str, Sequence[str]]) -> Iterator[Entry]:
    """The entries, of which some systems are said to have been chosen among their variants on some datasets."""
    systems, datasets = set(), set()
    for entry in entries:
        systems.add(entry.system)
        datasets.add(entry.dataset)
        named = ",".join(given.get(entry.system, ()))
        yield entry if not named else _chosen_on(entry, named)
    for system, names in given.items():
        if system not in systems:
            raise UnknownNameError("system", system, sorted(systems))
        for name in names:
            if name not in datasets:
                raise UnknownNameError("dataset", name, sorted(datasets))


def _chosen_on(entry: Entry, names: str) -> Entry:
    """An entry whose manifest names further datasets on which it was chosen."""

    def told(about: Mapping[str, str]) -> dict[str, str]:
        return {**about, CHOSEN_ON: ",".join(filter(None, [about.get(CHOSEN_ON, ""), names]))}

    run = None if entry.run is None else replace(entry.run, about=told(entry.run.about))
    result = None if entry.result is None else replace(entry.result, about_run=told(entry.result.about_run))
    return msgspec.structs.replace(entry, run=run, result=result)


def left_out(
    answered: Mapping[str, Collection[str]], systems: Iterable[str], differing: Collection[str]
) -> dict[str, str]:
    """The datasets that cannot be averaged over, and why: some system did not answer, or files do not say the same."""
    every, found = list(systems), {}
    for name in sorted(answered):
        there = [system for system in every if system in answered[name]]
        missing = [system for system in every if system not in there]
        if len(missing) > len(there):
            found[name] = f"answers of {', '.join(there)} only"
        elif missing:
            found[name] = f"no answers of {', '.join(missing)}"
        elif name in differing:
            found[name] = "its labels or texts are not the same in all files"
    return found


def shared_texts(texts: Mapping[str, frozenset[object]]) -> list[str]:
    """Datasets that have documents in common, which then count more than once."""
    shared = {(one, two): len(texts[one] & texts[two]) for one, two in combinations(texts, 2)}
    found = [f"{one} and {two} {count}" for (one, two), count in shared.items() if count]
    if not found:
        return []
    return [
        f"texts in common: {', '.join(found)}. They count more than once, so that intervals are too narrow and "
        "p-values too small. Leave all but one of such benchmarks out"
    ]


def texts_of(corpus: Corpus) -> frozenset[object]:
    """What tells the texts of a corpus."""
    return frozenset(corpus.table.column("text_digest").to_pylist())


def _both(name: str, formats: Formats) -> tuple[Corpus, Run]:
    try:
        sides = inputs(name, (), gold_format=formats.gold, answers_format=formats.answers)
    except UsageError:
        problem = f"{name} does not hold both gold labels and answers. Give the gold standard of all with --gold."
        raise UsageError(problem) from None
    corpus, (run,) = sides.load()
    return corpus, run


def _answers(files: Sequence[str], golds: Sequence[str], formats: Formats) -> Iterator[tuple[Corpus, Run, str]]:
    """Every run with the gold standard that it answers."""
    told = [(system, name) for one in files for system, path in [named(one)] for name in stored_runs(path)]
    given = [name for _, name in told]
    if len(golds) == 1:
        corpus, runs = load_both(golds[0], given, gold_format=formats.gold, answers_format=formats.answers)
        runs = _renamed(runs, told)
        yield from ((corpus, run, name) for run, name in zip(named_apart(runs, given), given, strict=True))
        return
    corpora = [load(gold, format=formats.gold) for gold in golds]
    if len({corpus.name for corpus in corpora}) < len(corpora):
        raise UsageError(f"two of {', '.join(golds)} have the same name. Give each dataset once, under its own name.")
    runs = _renamed([load_run_among(name, corpora, format=formats.answers) for name in given], told)
    places = [_answered(run, name, corpora) for run, name in zip(runs, given, strict=True)]
    for place, corpus in enumerate(corpora):
        own = [(run, name) for run, name, at in zip(runs, given, places, strict=True) if at == place]
        apart = named_apart([run for run, _ in own], [name for _, name in own])
        on_corpus = partial(laid_on, corpus, format=formats.answers)
        yield from ((corpus, on_corpus(run, name), name) for run, (_, name) in zip(apart, own, strict=True))


def _renamed(runs: Sequence[Run], told: Sequence[tuple[str | None, str]]) -> list[Run]:
    return [run if system is None else replace(run, name=system) for run, (system, _) in zip(runs, told, strict=True)]


def _answered(run: Run, name: str, corpora: Sequence[Corpus]) -> int:
    """Which of several gold standards a run answers: the one that has its documents."""
    shared = [int(pc.sum(pc.is_in(run.ids, corpus.ids)).as_py() or 0) for corpus in corpora]
    best = [place for place, count in enumerate(shared) if count == max(shared) and count]
    if len(best) != 1:
        which = "documents of none of" if not best else "documents that are in several of"
        raise UsageError(
            f"{name} answers {which} {', '.join(corpus.name for corpus in corpora)}. Score it on its gold standard "
            "with karat score --json, and compare the results."
        )
    return best[0]


def results_in(name: str) -> list[Result] | None:
    """The results that a file holds; None where it is no file of results."""
    source = Source(name)
    if not source.exists or source.folder:
        return None
    head = source.opening.lstrip()
    if not head.startswith(b"{") or (_RESULT not in head and not (b'"measures"' in head and _RESULT in source.data())):
        return None
    data = source.data()
    lines = [line for line in data.splitlines() if line.strip()]
    # `karat score --json` writes one result per line; other programs may have laid one out over several.
    if not all(line.startswith(b'{"') for line in lines):
        lines = [data]
    return [Result.from_json(line, where=f"{source.label}:{number}") for number, line in enumerate(lines, 1)]


def entry_between(corpus: Corpus, run: Run) -> Entry:
    """A run on a corpus."""
    data = NamedData(corpus.name, corpus.digest, corpus.about.get(STEPS, ""))
    return Entry(run.name, corpus.name, str(data), corpus, run, seconds=_seconds(run))


def _entry(corpus: Corpus, run: Run, name: str, format: str | None) -> Entry:
    manifest, found = noted(name, format=format), entry_between(corpus, run)
    seconds = found.seconds if manifest.seconds is None else manifest.seconds
    return msgspec.structs.replace(found, seconds=seconds, title=manifest.title)


def _seconds(run: Run) -> float | None:
    """What all documents took, where every reply says so, or else what the manifest of the run says."""
    column = run.table.column("seconds") if "seconds" in run.table.column_names else None
    if column is None or column.null_count:
        return _noted_seconds(run.about, run.name)
    return float(pc.sum(column).as_py() or 0.0)


def _noted_seconds(about: Mapping[str, str], run: str) -> float | None:
    given = about.get("seconds")
    if given is None:
        return None
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise InputError(
            f"the manifest of {run}", found=f"seconds: {given!r}", expected="a number from 0 on", remedy="Correct it"
        )
    return seconds
