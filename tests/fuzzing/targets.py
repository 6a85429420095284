"""What is done with broken files, and what may come of it: a result, or one `KaratError` that is fit to be read."""

from __future__ import annotations

import io
import signal
import sys
import traceback
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

import karat
from karat import Corpus, InputError, KaratError, Run
from karat.data.load import load_gold_or_run, load_manifest, load_partitioned
from karat.formats.plugins import karat_jsonl
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.format import Format
from karat.storage.files import Source
from tests.conftest import _karat
from tests.formats.test_hf_datasets import Held
from tests.fuzzing import samples as sound
from tests.fuzzing.mutations import broken, edited, revalued

LONGEST = 4000
"""Characters of a message: unknown formats list all that are known."""


class Escape(NamedTuple):
    """What should not have come of an input."""

    input: str
    what: str
    place: str
    details: str


@contextmanager
def _written(files: dict[str, bytes]) -> Iterator[Path]:
    with TemporaryDirectory(prefix="karat-fuzz-") as folder:
        for name, data in files.items():
            path = Path(folder) / name
            with suppress(OSError):  # a name that this file system cannot hold
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        yield Path(folder)


def message_fault(message: str) -> str | None:
    """What is wrong with a message: more than one line, control characters, no UTF-8, or too long."""
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in message):
        return "control characters in a message"
    if len(message) > LONGEST:
        return f"a message of {len(message)} characters"
    return None


class _FaultError(Exception):
    """An outcome that is no exception, and still wrong."""


def _said(problem: KaratError) -> None:
    fault = message_fault(str(problem))
    if fault is not None:
        raise _FaultError(f"{fault}: {str(problem)[:300]!r}") from problem
    if isinstance(problem, InputError) and not all((problem.where, problem.actual, problem.expected, problem.remedy)):
        raise _FaultError(f"a message without one of its parts: {problem}") from problem


def _try(act: Callable[[], object]) -> object:
    try:
        return act()
    except KaratError as problem:
        _said(problem)
        return None


def _used(data: object, random: Random) -> None:
    """Whatever can be read can be looked at, scored, described, and written: read again it is the same."""
    if not isinstance(data, Corpus | Run):
        return
    if isinstance(data, Corpus) and not data.has_text:
        return
    items = list(data)
    file = io.BytesIO()
    write, read = (
        (karat_jsonl.write_corpus, lambda source: karat_jsonl.read_corpus(source, True))
        if isinstance(data, Corpus)
        else (karat_jsonl.write_run, karat_jsonl.read_run)
    )
    write(data, file)
    again = read(Held(file.getvalue()))
    if list(again) != items or again.digest != data.digest:
        raise _FaultError("what was written is not what was read")
    if random.random() < 0.3:
        corpus = data if isinstance(data, Corpus) else sound.CORPUS
        run = data if isinstance(data, Run) else Run.from_gold(data, name="itself")
        _try(lambda: karat.evaluate(corpus, run, by=["types"]))
    if random.random() < 0.2:
        known = get_plugin(
            "formats", random.choice([n for n in list_plugins("formats") if n != "spacy-docbin"]), Format
        )
        writer = known.write_corpus if isinstance(data, Corpus) else known.write_run
        if writer is not None:
            _try(lambda: writer(data, io.BytesIO()))  # type: ignore[arg-type]


def read_sample(name: str, random: Random) -> None:
    """A broken sample of a format, read as it and as what it seems to be."""
    sample = sound.samples()[name]
    known = get_plugin("formats", sample.format, Format)
    with _written(broken(sample.files, random)) as folder:
        path = folder / sample.given
        format = sample.format if random.random() < 0.75 else None
        ways: list[Callable[[], object]] = [lambda: load_gold_or_run(path, format=format)]
        if known.read_corpus is not None:
            ways.append(lambda: karat.load(path, format=format, text=random.random() < 0.8))
        ways.append(lambda: karat.load_run(path, format=format))
        ways.append(lambda: karat.load_run(path, format=format, corpus=sound.CORPUS))
        ways.append(lambda: load_manifest(str(path), format=format))
        if known.read_both is not None:
            ways.append(lambda: known.read_both and known.read_both(Source(str(path))))
        if known.read_corpus_blocks is not None:
            ways.append(lambda: known.read_corpus_blocks and list(known.read_corpus_blocks(Source(str(path)))))
        if known.open_partitions is not None:
            ways.append(lambda: _pieces(load_partitioned(path, gold=random.random() < 0.5, format=format)))
        for way in random.sample(ways, min(2, len(ways))):
            found = _try(way)
            for data in found if isinstance(found, tuple) else (found,):
                _used(data, random)


def _pieces(found: object) -> None:
    if not isinstance(found, Corpus | Run):
        list(found.tables(2))  # type: ignore[attr-defined]


# --- other files


def load_tsv_folder(random: Random) -> None:
    """A broken knowledge base."""
    from karat.kb.tsv_folder import load_tsv_folder

    with _written(broken(sound.KB, random)) as folder:
        kb = _try(lambda: load_tsv_folder(folder))
        if kb is not None and random.random() < 0.3:
            _try(
                lambda: karat.evaluate(sound.CORPUS, sound.RUN, profile="elevant", kb=kb, by=["error", "mention-type"])
            )


def read_result(random: Random) -> None:
    """A broken result file, shown by whatever shows results."""
    from karat.model.results.result import Result

    data = random.choice((edited, revalued, revalued))(sound.result(), random)
    result = _try(lambda: Result.from_json(data))
    if isinstance(result, Result):
        _try(result.to_json)
        with _written({"one.json": data, "two.json": sound.result()}) as folder:
            _command("compare", folder / "one.json", f"two={folder / 'two.json'}", "--permutations", 50)


def read_toml(random: Random) -> None:
    """Broken rules of the linter, or a broken membership."""
    if random.random() < 0.5:
        with _written({"rules.toml": _toml(sound.RULES, random), "gold.jsonl": _gold()}) as folder:
            _command("data", "lint", folder / "gold.jsonl", "--rules", folder / "rules.toml")
        return
    with _written({"m.toml": _toml(random.choice((sound.MEMBERSHIP, sound.CONSENSUS)), random)}) as folder:
        how = ["--profile", "finegrained", "--task", "a2kb", "--set", f"membership={folder / 'm.toml'}"]
        _command("score", "demo", "demo/prior", *how)


_TOML = [b'"x"', b"1", b"1.5", b"nan", b"inf", b"[]", b"{}", b"[1, 2]", b'["x"]', b"true", b"1979-05-27", b"9" * 30]


def _toml(data: bytes, random: Random) -> bytes:
    lines = data.split(b"\n")
    place = random.choice([i for i, line in enumerate(lines) if b"=" in line])
    key, _, _ = lines[place].partition(b" = ")
    lines[place] = key + b" = " + random.choice(_TOML)
    return random.choice((edited(data, random), b"\n".join(lines), edited(b"\n".join(lines), random)))


# --- commands


@cache
def _gold() -> bytes:
    file = io.BytesIO()
    karat_jsonl.write_corpus(sound.CORPUS, file)
    return file.getvalue()


@cache
def _predictions() -> bytes:
    file = io.BytesIO()
    karat_jsonl.write_run(sound.RUN, file)
    return file.getvalue()


_FEW = ("--permutations", 20, "--resamples", 20)
COMMANDS: tuple[tuple[object, ...], ...] = (
    ("score", "GOLD", "RUN"),
    ("score", "GOLD", "RUN", "--by", "types", "--by", "nil", "--ci", "--resamples", 20, "--json", "OUT"),
    ("score", "GOLD", "RUN", "--profile", "elevant", "--by", "error", "--kb", "KB", "--verdicts", "-"),
    ("score", "GOLD", "RUN", "--profile", "gerbil", "--set", "prefixes=Q", "--json", "-"),
    ("score", "GOLD", "RUN", "--threshold", "oracle", "--allow-unknown"),
    ("score", "GOLD", "RUN", "--task", "c2kb"),
    ("score", "GOLD", "RUN", "--task", "re"),
    ("score", "GOLD"),
    ("score", "GOLD", "RUN", "--engine", "local"),
    ("score", "GOLD", "RUN", "--drop-predictions", "lowercase", "--verdicts", "OUT"),
    ("compare", "--gold", "GOLD", "RUN", "OTHER", *_FEW, "--by", "types", "--flips", "-"),
    ("compare", "--gold", "GOLD", "RUN", "OTHER", *_FEW, "--similarity", "--markdown"),
    ("compare", "GOLD", "RUN", *_FEW),
    ("scorecard", "--gold", "GOLD", "RUN", "OTHER", *_FEW, "--kb", "KB", "--latex"),
    ("scorecard", "GOLD", "RUN", *_FEW),
    ("curve", "GOLD", "RUN", "--csv", "-"),
    ("curve", "GOLD", "RUN", "--over", "categories"),
    ("why", "GOLD", "RUN", "--reference-profile", "gerbil", "--set-reference", "prefixes=Q"),
    ("agreement", "GOLD", "GOLD", "--resamples", 20),
    ("agreement", "GOLD", "RUN", "--resamples", 20, "--kb", "KB"),
    ("data", "stats", "GOLD", "--kb", "KB"),
    ("data", "stats", "GOLD", "RUN", "--json", "-"),
    ("data", "lint", "GOLD", "--kb", "KB", "--json", "-"),
    ("data", "lint", "GOLD", "--fix", "OUT.jsonl", "--types", "RUN", "--redirects", "RUN"),
    ("data", "categorise", "GOLD", "--kb", "KB", "--out", "OUT.jsonl"),
    ("data", "categorise", "GOLD", "--evaluate"),
    ("data", "convert", "GOLD", "OUT.jsonl"),
    ("data", "convert", "GOLD", "OUT.parquet"),
    ("data", "convert", "GOLD", "OUT.ttl"),
    ("data", "convert", "RUN", "-", "--to", "karat-jsonl", "--step", "drop-nil"),
    ("data", "convert", "RUN", "OUT.parquet", "--as", "predictions"),
    ("data", "fetch", "kore50", "--from", "KB"),
    ("reproduce", "cases", "--data", "GOLD"),
    ("reproduce", "elevant", "--data", "KB"),
    ("reproduce", "hipe", "--data", "KB"),
    ("reproduce", "finegrained", "--data", "KB"),
)
"""What is called; capitals stand for files, of which one is broken."""


def _command(*arguments: object) -> None:
    ran = _karat(*arguments)
    if ran.code not in (0, 1, 2) or "Traceback" in ran.err:
        raise _FaultError(f"exit code {ran.code}: {ran.err[:300]!r}")
    for line in ran.err.split("\n") if ran.code == 2 else ():
        if (fault := message_fault(line)) is not None:
            raise _FaultError(f"{fault}: {ran.err[:300]!r}")
    if ran.code == 2 and ran.err.startswith("karat: ") and ran.err.count("\n") != 1:
        raise _FaultError(f"more than one line: {ran.err[:300]!r}")


def call_command(random: Random) -> None:
    """A command on files of which one is broken."""
    everything = sound.samples()
    gold, run = {"gold": _gold()}, {"run": _predictions()}
    kb = sound.KB
    sample = everything[random.choice(list(everything))]
    given_gold, given_run = "gold", "run"
    which = random.randrange(5)
    if which == 0:
        gold = broken(gold, random)
    elif which == 1:
        run = broken(run, random)
    elif which == 2:
        kb = broken(kb, random)
    elif which == 3:
        gold, given_gold = broken(sample.files, random), sample.given
    else:
        run, given_run = broken(sample.files, random), sample.given
    called = random.choice(COMMANDS)
    parts = {"gold": gold, "run": run, "kb": kb, "other": {"other": _predictions()}}
    files = {f"{part}/{name}": data for part, its in parts.items() for name, data in its.items()}
    with _written(files) as folder:
        paths = {"GOLD": folder / "gold" / given_gold, "RUN": folder / "run" / given_run, "KB": folder / "kb"}
        paths |= {"OTHER": folder / "other" / "other", "OUT": folder / "out.json"}
        arguments = [paths.get(str(word), word) for word in called]
        arguments = [folder / str(word) if str(word).startswith("OUT.") else word for word in arguments]
        if which in (3, 4) and called[0] in ("score", "compare", "curve", "why"):
            arguments += ["--gold-format" if which == 3 else "--predictions-format", sample.format]
        _command(*arguments)


# --- one input


TARGETS: tuple[tuple[int, str, Callable[[Random], None]], ...] = (
    (8, "kb", load_tsv_folder),
    (8, "result", read_result),
    (6, "toml", read_toml),
    (12, "command", call_command),
)
_SHARE = 60


@cache
def _targets(only: str) -> tuple[list[str], list[float]]:
    """The names of samples and of other targets, and how often each is tried."""
    shares = {sample: _SHARE / len(sound.samples()) for sample in sound.samples()}
    shares |= {name: share for share, name, _ in TARGETS}
    found = {name: share for name, share in shares.items() if only in name} or shares
    return list(found), list(found.values())


def tried(seed: str, number: int, *, only: str = "", seconds: int = 0) -> Escape | None:
    """One input, which depends on these alone; what escaped, if anything did. `only` is a part of a target's name."""
    random = Random(f"{seed}:{number}")
    name = random.choices(*_targets(only))[0]
    others = {known: act for _, known, act in TARGETS}
    act = partial(others[name], random) if name in others else partial(read_sample, name, random)
    try:
        with warnings.catch_warnings(), _limit(seconds):
            warnings.simplefilter("error")
            act()
    except KaratError as problem:  # of what was already read
        return _escape(f"{seed}:{number} {name}", "an error late", problem)
    except Exception as problem:  # noqa: BLE001 that is what is looked for
        return _escape(f"{seed}:{number} {name}", type(problem).__name__, problem)
    return None


def _escape(input: str, what: str, problem: Exception) -> Escape:
    frames = traceback.extract_tb(problem.__traceback__)
    ours = [frame for frame in frames if "/karat/" in frame.filename.replace("\\", "/")] or list(frames)
    place = f"{ours[-1].filename.replace(chr(92), '/').rpartition('/karat/')[2]}:{ours[-1].lineno}"
    return Escape(input, f"{what}: {str(problem)[:200]}", place, "".join(traceback.format_exception(problem)))


@contextmanager
def _limit(seconds: int) -> Iterator[None]:
    """An input that takes too long is an escape too; only where signals can stop it."""
    if not seconds or sys.platform == "win32":
        yield
        return

    def late(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
