"""What is done with broken files of every format, knowledge bases, results, rules, and by commands."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from random import Random

import karat
from karat import Corpus, Run
from karat.data.load import load_gold_or_run, load_manifest, load_partitioned
from karat.formats.plugins import karat_jsonl
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.format import Format
from karat.storage.files import Source
from tests.conftest import EXTRA_FORMATS
from tests.formats.test_hf_datasets import Held
from tests.fuzzing import samples as sound
from tests.fuzzing.child import Child
from tests.fuzzing.harness import SECONDS, Case, FaultError, Files, Outcome, Target, attempt, command
from tests.fuzzing.mutations import broken, edited, revalued


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
        raise FaultError("what was written is not what was read")
    if random.random() < 0.3:
        corpus = data if isinstance(data, Corpus) else sound.CORPUS
        run = data if isinstance(data, Run) else Run.from_gold(data, name="itself")
        attempt(lambda: karat.evaluate(corpus, run, by=["types"]))
    if random.random() < 0.2:
        known = get_plugin(
            "formats", random.choice([n for n in list_plugins("formats") if n not in EXTRA_FORMATS]), Format
        )
        writer = known.write_corpus if isinstance(data, Corpus) else known.write_run
        if writer is not None:
            attempt(lambda: writer(data, io.BytesIO()))  # type: ignore[arg-type]


def read_sample(name: str, folder: Path, random: Random) -> bool:
    """A broken sample of a format, read as it and as what it seems to be."""
    sample = sound.samples()[name]
    known = get_plugin("formats", sample.format, Format)
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
    is_accepted = False
    for way in random.sample(ways, min(2, len(ways))):
        found = attempt(way)
        is_accepted |= found is not None
        for data in found if isinstance(found, tuple) else (found,):
            _used(data, random)
    return is_accepted


def _pieces(found: object) -> None:
    if not isinstance(found, Corpus | Run):
        list(found.tables(2))  # type: ignore[attr-defined]


# --- other files


def load_tsv_folder(folder: Path, random: Random) -> bool:
    """A broken knowledge base."""
    from karat.kb.tsv_folder import load_tsv_folder

    kb = attempt(lambda: load_tsv_folder(folder))
    if kb is not None and random.random() < 0.3:
        attempt(lambda: karat.evaluate(sound.CORPUS, sound.RUN, profile="elevant", kb=kb, by=["error", "mention-type"]))
    return kb is not None


def make_result(random: Random) -> Files:
    return {"one.json": random.choice((edited, revalued, revalued))(sound.result(), random)}


def read_result(folder: Path, random: Random) -> bool:
    """A broken result file, shown by whatever shows results."""
    from karat.model.results.result import Result

    data = (folder / "one.json").read_bytes()
    result = attempt(lambda: Result.from_json(data))
    if not isinstance(result, Result):
        return False
    attempt(result.to_json)
    (folder / "two.json").write_bytes(sound.result())
    command("compare", folder / "one.json", f"two={folder / 'two.json'}", "--permutations", 50)
    return True


def make_toml(random: Random) -> Files:
    if random.random() < 0.5:
        return {"rules.toml": _toml(sound.RULES, random)}
    return {"m.toml": _toml(random.choice((sound.MEMBERSHIP, sound.CONSENSUS)), random)}


def read_toml(folder: Path, random: Random) -> bool:
    """Broken rules of the linter, or a broken membership."""
    if random.random() < 0.5:
        (folder / "gold.jsonl").write_bytes(_gold())
        return command("data", "lint", folder / "gold.jsonl", "--rules", folder / "rules.toml")
    how = ["--profile", "finegrained", "--task", "a2kb", "--set", f"membership={folder / 'm.toml'}"]
    return command("score", "demo", "demo/prior", *how)


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
    ("reproduce", "finegrained-2019", "--data", "KB"),
)
"""What is called; capitals stand for files, of which one is broken."""


def _plan_command(random: Random) -> tuple[int, str]:
    """Which of the files is broken (gold, run, knowledge base, or a sample as gold or run), and the sample."""
    return random.randrange(5), random.choice(list(sound.samples()))


def make_command(random: Random) -> Files:
    """The files of a command, of which one is broken."""
    which, name = _plan_command(random)
    parts = {"gold": {"gold": _gold()}, "run": {"run": _predictions()}, "kb": sound.KB, "other": {"o": _predictions()}}
    side = ("gold", "run", "kb", "gold", "run")[which]
    parts[side] = broken(sound.samples()[name].files if which > 2 else parts[side], random)
    return {f"{part}/{name}": data for part, files in parts.items() for name, data in files.items()}


def call_command(folder: Path, random: Random) -> bool:
    """A command on files of which one is broken."""
    which, name = _plan_command(random)
    sample = sound.samples()[name]
    called = random.choice(COMMANDS)
    gold, run = sample.given if which == 3 else "gold", sample.given if which == 4 else "run"
    paths = {"GOLD": folder / "gold" / gold, "RUN": folder / "run" / run, "KB": folder / "kb"}
    paths |= {"OTHER": folder / "other" / "o", "OUT": folder / "out.json"}
    arguments = [paths.get(str(word), word) for word in called]
    arguments = [folder / str(word) if str(word).startswith("OUT.") else word for word in arguments]
    if which in (3, 4) and called[0] in ("score", "compare", "curve", "why"):
        arguments += ["--gold-format" if which == 3 else "--predictions-format", sample.format]
    return command(*arguments)


# --- one input


_SHARE = 60


@cache
def all_targets() -> dict[str, Target]:
    """All targets by name; those of campaigns and servers where their packages are installed."""
    share = _SHARE / len(sound.samples())
    targets = {name: Target(share, partial(_make_sample, name), partial(read_sample, name)) for name in sound.samples()}
    targets |= {
        "kb": Target(8, partial(broken, sound.KB), load_tsv_folder),
        "result": Target(8, make_result, read_result),
        "toml": Target(6, make_toml, read_toml),
        "command": Target(12, make_command, call_command),
    }
    from tests.fuzzing import archives, servers

    targets |= archives.TARGETS | servers.NIF_TARGETS
    if find_spec("sqlalchemy"):
        from tests.fuzzing import annotations, campaigns

        targets |= campaigns.TARGETS | annotations.TARGETS
        if find_spec("fastapi"):
            targets |= servers.TARGETS | annotations.SERVER_TARGETS
    return targets


def _make_sample(name: str, random: Random) -> Files:
    return broken(sound.samples()[name].files, random)


@cache
def _shares(only: str) -> tuple[list[str], list[float]]:
    """The names of targets, and how often each is tried."""
    targets = all_targets()
    names = [only] if only in targets else [name for name in targets if only in name] or list(targets)
    return names, [targets[name].share for name in names]


def make_case(seed: str, number: int, only: str = "") -> Case:
    """One input, which depends on these alone. `only` is the name of a target, or a part of it."""
    key = f"{seed}:{number}"
    name = Random(key).choices(*_shares(only))[0]
    return Case(name, key, all_targets()[name].make(Random(key)))


@cache
def child() -> Child:
    """The process in which inputs of all targets are used."""
    return Child(all_targets())


def tried(seed: str, number: int, *, only: str = "", seconds: float = SECONDS) -> Outcome:
    """One input, and what came of it."""
    return child().try_case(make_case(seed, number, only), seconds=seconds)
