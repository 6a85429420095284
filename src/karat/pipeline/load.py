"""Corpora and runs by name or path, in any known format."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa

from karat.errors import InputError, UnknownNameError, UsageError
from karat.matching.pairing import pair
from karat.model import check
from karat.model.corpus import Corpus
from karat.model.result import Result
from karat.model.run import Run
from karat.pipeline.datasets import choose, finished, named, needs_text, ready, stored_answers
from karat.pipeline.save import save_results
from karat.registry import get, names
from karat.spec.dataset import is_bare_name
from karat.spec.format import Format
from karat.storage.files import Source, writing

_OWN = ("karat-jsonl", "karat-parquet")


def load(name: str | os.PathLike[str], *, format: str | None = None, text: bool = True) -> Corpus:
    """A gold standard: a registered name such as `demo` or `msnbc@guo2018`, a path, or `-` for standard input.

    The format is told from the content unless given. Without `text`, a format that can leaves the texts out.
    """
    given = os.fspath(name)
    asked = named(given)
    if asked is None:
        source = _source(given)
        return _corpus(source, _format(source, format), text=text)
    if stored_answers(given) is not None:
        raise UsageError(f"{given} are stored answers. Give the gold standard that they belong to.")
    chosen = choose(asked)
    source, found = Source(str(ready(chosen))), get("formats", format or chosen.format, Format)
    return finished(_corpus(source, found, text=text or needs_text(chosen)), chosen)


def _corpus(source: Source, found: Format, *, text: bool) -> Corpus:
    if found.read_corpus is None:
        raise UsageError(f"{source.label}: {found.title} holds no gold labels. Give a gold file.")
    return found.read_corpus(source, text)


def load_run(name: str | os.PathLike[str], *, corpus: Corpus | None = None, format: str | None = None) -> Run:
    """A system's answers: a path, `-`, or stored answers such as `demo/prior`.

    A file of gold labels is taken as the answers of a second annotator. With a corpus, documents and spans are
    checked against it at once; without, `evaluate` does so.
    """
    given = os.fspath(name)
    answers = stored_answers(given)
    if answers is not None:
        run = _run(Source(str(answers[0])), get("formats", format or answers[1], Format))
    elif named(given) is not None:
        gold = load(given, format=format)
        run = Run.of_gold(gold, name=gold.name)
    else:
        source = _source(given)
        run = _run(source, _format(source, format))
    if corpus is not None:
        pair(corpus, run)
    return run


def _run(source: Source, found: Format) -> Run:
    if found.holds_gold(source) and not (found.either and found.read_run is not None):
        if found.read_corpus is None:
            raise UsageError(f"{source.label} holds gold labels, which {found.title} cannot read. Give answers.")
        return Run.of_gold(found.read_corpus(source, True), name=source.stem)
    if found.read_run is None:
        raise UsageError(f"{source.label}: {found.title} holds no answers. Give a file of answers.")
    return found.read_run(source)


def load_both(
    gold: str,
    answers: Sequence[str],
    *,
    gold_format: str | None = None,
    answers_format: str | None = None,
    text: bool = True,
) -> tuple[Corpus, list[Run]]:
    """A gold standard and the runs on it, read side by side: while one is parsed, another is checked."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        corpus = pool.submit(load, gold, format=gold_format, text=text)
        runs = [pool.submit(load_run, name, format=answers_format) for name in answers]
        return corpus.result(), [run.result() for run in runs]


def stored_runs(given: str) -> list[str]:
    """The names that a single argument stands for: the stored answers of a dataset, or the argument itself."""
    asked = named(given)
    answers = () if asked is None or stored_answers(given) is not None else choose(asked).split.answers
    return [f"{given}/{system}" for system in answers] or [given]


def load_either(name: str | os.PathLike[str], *, kind: str | None = None, format: str | None = None) -> Corpus | Run:
    """Gold or answers, whichever a file holds, unless `kind` says so."""
    given = os.fspath(name)
    if kind is None:
        if stored_answers(given) is not None:
            kind = "answers"
        elif named(given) is not None:
            kind = "gold"
        else:
            source = _source(given)
            kind = "gold" if _format(source, format).holds_gold(source) else "answers"
    return load(name, format=format) if kind == "gold" else load_run(name, format=format)


def converted_in_blocks(
    source: str, target: str, chosen: Format, *, kind: str | None, format: str | None
) -> tuple[int, int] | None:
    """Documents and labels written without holding all in memory; None where the formats cannot do that."""
    if kind == "answers" or named(source) is not None or chosen.write_blocks is None or _source(source).passing:
        return None
    given = _source(source)
    found = _format(given, format)
    if found.corpus_blocks is None or not found.holds_gold(given):
        return None
    counts = [0, 0]
    seen: set[int] = set()

    def counted(blocks: Iterator[Corpus]) -> Iterator[Corpus]:
        for block in blocks:
            for id in block.ids.to_pylist():
                key = hash(id)
                if key in seen:
                    raise InputError(
                        given.label,
                        found=f"document {id!r} a second time",
                        expected="each document once",
                        remedy="Delete one of the two",
                    )
                seen.add(key)
            counts[0] += len(block)
            counts[1] += len(block.labels)
            yield block

    with writing(target) as file:
        chosen.write_blocks(counted(found.corpus_blocks(given)), file)
        if not counts[0]:
            check.some(pa.table({"id": []}), given.label)
    return counts[0], counts[1]


def target_format(path: str, format: str | None) -> tuple[str, Format]:
    """The format to write a file in, by its name and itself."""
    name = format or _by_suffix(path)
    return name, get("formats", name, Format)


def save(data: Corpus | Run | Result, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write a corpus or a run; the suffix chooses format and compression (`.gz`, `.zst`), `-` is standard output.

    A result is written as JSON; `Result.from_json` reads it.
    """
    target = os.fspath(path)
    if isinstance(data, Result):
        save_results([data], target)
        return
    _, chosen = target_format(target, format)
    write = chosen.write_corpus if isinstance(data, Corpus) else chosen.write_run
    if write is None:
        raise UsageError(f"{chosen.title} cannot hold this. Choose another format.")
    if isinstance(data, Corpus) and not data.has_text:
        raise UsageError(f"{data.name} was loaded without its texts. Load it again with text=True.")
    with writing(target) as file:
        write(data, file)  # type: ignore[arg-type]  # which of the two was decided by the same test


def _source(given: str) -> Source:
    """A file or standard input; a bare word that is neither is taken for a misspelt name."""
    if is_bare_name(given) and not Path(given).exists():
        raise UnknownNameError("dataset or file", given, names("datasets"))
    return Source(given)


def _formats() -> Iterator[tuple[str, Format]]:
    for name in names("formats"):
        yield name, get("formats", name, Format)


def _format(source: Source, forced: str | None) -> Format:
    if forced is not None:
        return get("formats", forced, Format)
    if not source.folder:
        for own in _OWN:  # so that Karat's own files do not wait for all other formats to be imported
            format = get("formats", own, Format)
            if format.certain is not None and format.certain(source.opening):
                return format
    if source.folder:
        files = source.names
        found = [(name, f) for name, f in _formats() if f.recognises_folder is not None and f.recognises_folder(files)]
        described = f"a folder of {len(files)} files in no known layout"
    else:
        found = [(name, known) for name, known in _formats() if known.recognises(source.opening)]
        found = [(name, known) for name, known in found if not known.loose] or found
        described = _described(source.opening)
    if len(found) != 1:
        several = ", ".join(f"{known.title} ({name})" for name, known in found)
        known = ", ".join(f"{known.title} ({name})" for name, known in _formats())
        raise InputError(
            source.label,
            found=f"content that could be {several}" if found else described,
            expected=f"one of {several or known}",
            remedy="Check the path, or name the format with --gold-format or --answers-format",
        )
    return found[0][1]


def _described(head: bytes) -> str:
    """What content that nobody recognises looks like."""
    start = head.lstrip()
    if not start:
        return "an empty file"
    if start.startswith(b"["):
        return "one JSON array, where each object belongs on a line of its own (as `jq -c '.[]'` writes them)"
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16 text"
    return f"content of an unknown format ({start[:40].decode(errors='replace')!r})"


def _by_suffix(path: str) -> str:
    if path == "-":
        return "karat-jsonl"
    bare = path.removesuffix(".gz").removesuffix(".zst")
    writers = [(name, known) for name, known in _formats() if known.write_corpus or known.write_run]
    longest = max((len(known.suffix) for _, known in writers if bare.endswith(known.suffix)), default=0)
    found = [name for name, known in writers if bare.endswith(known.suffix) and len(known.suffix) == longest]
    own = [name for name in found if name.startswith("karat-")]
    if len(own or found) == 1:
        return (own or found)[0]
    if found:
        raise UsageError(f"{path}: the suffix could mean {', '.join(found)}. Name the format with --to.")
    suffixes = ", ".join(sorted({known.suffix for _, known in writers}))
    raise UsageError(f"{path}: the suffix names no format. Use one of {suffixes} (also .gz, .zst), or give the format.")
