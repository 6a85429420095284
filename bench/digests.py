"""Digests of what Karat says about real data: `python bench/digests.py SHARED > FILE`.

Two versions of Karat that give the same scores, explanations, comparisons and pages print the same lines. Run it before
and after a change that is to make Karat faster and nothing else, and compare the two files.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import karat
from karat.data.load import load_gold_and_runs
from karat.kb.tsv_folder import load_tsv_folder
from karat.model.registry import list_plugins

LINKERS = ("ambiverse", "baseline", "genre", "rel")
BENCHMARKS = ("kore50", "spotlight", "msnbc-updated", "wiki-fair-v2")
FACETS = ("types", "mention-type", "nil", "length", "doc")


def print_digest(title: str, data: bytes | str) -> None:
    """Print the SHA-256 digest of `data` with a name."""
    print(hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()[:32], title, flush=True)


def run_command(*arguments: str) -> bytes:
    """Return what a command of Karat prints on both streams, in a process of its own, and its exit code."""
    command = [sys.executable, "-m", "karat", *arguments]
    finished = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return finished.stdout + str(finished.returncode).encode()


def print_result_digests(elevant: Path, files: list[Path]) -> None:
    """Print digests of the results of some files of linked articles under all profiles, with and without intervals."""
    kb = load_tsv_folder(str(elevant / "kb"))
    for path in files:
        layout = "elevant-linked"
        corpus, [run] = load_gold_and_runs(str(path), [str(path)], gold_format=layout, predictions_format=layout)
        for profile in list_plugins("profiles"):
            for resamples, by in ((0, ()), (100, FACETS)):
                for base in (None, kb):
                    try:
                        result = karat.evaluate(corpus, run, profile=profile, kb=base, resamples=resamples, by=by)
                        output = result.to_json()
                    except karat.KaratError as problem:
                        output = str(problem).encode()
                    print_digest(f"evaluate {path.name} {profile} {resamples} {base is not None}", output)


def print_command_digests(elevant: Path, files: dict[str, list[Path]]) -> None:
    """Print digests of explanations, comparisons, suites and reports of the same files."""
    kb = str(elevant / "kb")
    for path in (files["kore50"][3], files["spotlight"][1], files["msnbc-updated"][2]):
        for profile in ("gerbil", "elevant", "bat", "neleval"):
            print_digest(
                f"why {path.name} {profile}",
                run_command("why", str(path), str(path), "--reference-profile", profile, "--kb", kb, "--json", "-"),
            )
    some = list(map(str, chain(files["kore50"], files["spotlight"])))
    common = ["--kb", kb, "--resamples", "100"]
    compare = ["compare", *some, *common, "--permutations", "1000", "--json", "-", "--by", "mention-type"]
    print_digest("compare", run_command(*compare, "--similarity", "--sensitivity", "--linking-loss"))
    print_digest("reproduce", run_command("reproduce", "elevant", "--data", str(elevant / "results"), "--kb", kb))
    for options in (["--one-profile"], [], ["--why", "gerbil", "--why", "elevant"]):
        with TemporaryDirectory() as folder:
            page = Path(folder) / "report.html"
            run_command("report", *some, *common, *options, "--out", str(page))
            print_digest(f"report {' '.join(options)}", page.read_bytes())
    with TemporaryDirectory() as folder:
        flips = Path(folder) / "flips.jsonl"
        run_command("compare", *some, *common, "--flips", str(flips))
        print_digest("flips", flips.read_bytes())


def main() -> None:
    """Print the digests for the data in the folder that the command line names."""
    elevant = Path(sys.argv[1]) / "data" / "elevant"
    files = {
        benchmark: [
            next((elevant / "results" / linker).glob(f"*.{benchmark}.linked_articles.jsonl.gz")) for linker in LINKERS
        ]
        for benchmark in BENCHMARKS
    }
    print_result_digests(elevant, [*(paths[index] for index, paths in enumerate(files.values())), files["kore50"][1]])
    print_command_digests(elevant, files)


if __name__ == "__main__":
    main()
