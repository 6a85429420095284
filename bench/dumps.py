"""Memory and time of building snapshots from generated dumps.

python bench/dumps.py --memory 500MB 1 2 4      # millions of items, with a quarter as many articles
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.kb.building.generated import item, page_row, redirect_row, sql_dump, xml_dump

_LINKS = 20  # of an article
_ANCHORS = 8
_CLASSES = 5_000


def _write_gzip(path: Path, content: Iterable[bytes]) -> None:
    """Write chunks of bytes to a gzip file."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        for chunk in content:
            file.write(chunk)


def _generate_items(count: int) -> Iterator[bytes]:
    """Yield a JSON dump of `count` items of about three kilobytes, built from 200 patterns to be fast."""
    patterns = []
    for seed in range(200):
        draw = random.Random(seed)
        languages = {f"l{number}": f"Name 0000000 {number}" for number in range(12)}
        item_record = item(
            "Q0000000",
            {"en": "Name 0000000", **languages} if seed % 20 else languages,
            aliases=[f"Alias 0000000 {number}" for number in range(seed % 4)] + [f"Shared {draw.randrange(50_000)}"],
            description=f"the entity number 0000000 of kind {seed}",
            claims={
                "P31": [f"Q{draw.randrange(1, _CLASSES)}"],
                **({"P279": [f"Q{draw.randrange(1, 60)}"]} if seed % 50 == 0 else {}),
                "P17": ["Q183", ("Q184", "deprecated")],
                "P646": ["/m/0000000"],
            },
            sitelinks={"enwiki": "Page 0000000"} if seed % 4 == 0 else {"dewiki": "Seite 0000000"},
        )
        patterns.append(json.dumps(item_record, separators=(",", ":")).encode())
    yield b"[\n"
    for number in range(1, count + 1):
        yield patterns[number % 200].replace(b"0000000", b"%d" % number) + (b",\n" if number < count else b"\n")
    yield b"]\n"


def _write_wikipedia_dumps(folder: Path, count: int) -> None:
    """Write the six Wikipedia dumps of articles for every fourth of `count` items, with redirects and links."""
    titles = [f"Page {number}" for number in range(4, count + 1, 4)]
    n_titles = len(titles)
    draw = random.Random(0)
    _write_gzip(
        folder / "enwiki-20261101-page.sql.gz",
        sql_dump(
            "page",
            (
                row
                for number, title in enumerate(titles, 1)
                for row in (page_row(number, title), page_row(n_titles + number, f"Old {title}", redirect=True))
            ),
        ),
    )
    _write_gzip(
        folder / "enwiki-20261101-redirect.sql.gz",
        sql_dump("redirect", (redirect_row(n_titles + number, title) for number, title in enumerate(titles, 1))),
    )
    _write_gzip(
        folder / "enwiki-20261101-page_props.sql.gz",
        sql_dump("page_props", ((n, "wikibase_item", f"Q{title[5:]}", None) for n, title in enumerate(titles, 1))),
    )
    _write_gzip(
        folder / "enwiki-20261101-linktarget.sql.gz",
        sql_dump("linktarget", ((n, 0, title.replace(" ", "_")) for n, title in enumerate(titles, 1))),
    )
    _write_gzip(
        folder / "enwiki-20261101-pagelinks.sql.gz",
        sql_dump(
            "pagelinks",
            ((n, 0, int(n_titles * draw.random() ** 3) + 1) for n in range(1, n_titles + 1) for _ in range(_LINKS)),
        ),
    )
    _write_gzip(
        folder / "enwiki-20261101-pages-articles-multistream.xml.gz",
        xml_dump((n, 0, title, None, _generate_article(draw, titles)) for n, title in enumerate(titles, 1)),
    )


def _generate_article(draw: random.Random, titles: list[str]) -> str:
    """Return the wikitext of an article with eight links to random titles, low numbers more often."""
    links = (titles[int(len(titles) * draw.random() ** 3)] for _ in range(_ANCHORS))
    return "{{Infobox|a=[[b]]}} " + " lies near ".join(f"[[{title}|Name {title[-3:]}]]" for title in links)


def measure_build(*arguments: str) -> tuple[float, float]:
    """Run `karat kb build` with `arguments`; return its seconds and its peak memory in gigabytes."""
    start = time.perf_counter()
    code = (
        "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(done.returncode)"
    )
    command = [sys.executable, "-c", code, sys.executable, "-m", "karat", "kb", "build", *arguments]
    process = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, encoding="utf-8")
    return time.perf_counter() - start, int(process.stdout) / (1 << 20)


def _folder_megabytes(folder: Path) -> float:
    """Return the size of the files in a folder in megabytes."""
    return sum(path.stat().st_size for path in folder.iterdir()) / 1e6


def main(millions: list[float], memory: str) -> None:
    """Generate dumps of each size, build snapshots from them, and print a row of a Markdown table for each.

    `millions`: numbers of items in millions.
    `memory`: memory limit of DuckDB.
    """
    print("| million items | articles | wikipedia | memory | wikidata | memory | snapshots |")
    print("|---|---|---|---|---|---|---|")
    for million in millions:
        count = int(million * 1e6)
        with TemporaryDirectory(prefix="karat-dumps-") as name:
            folder = Path(name)
            _write_wikipedia_dumps(folder, count)
            _write_gzip(folder / "wikidata-20261101-all.json.gz", _generate_items(count))
            pages = [str(path) for path in folder.glob("enwiki-*")]
            seconds, memory_gb = measure_build("wikipedia", *pages, "--memory", memory, "--out", str(folder / "en"))
            items = str(folder / "wikidata-20261101-all.json.gz")
            options = ("--wikipedia", str(folder / "en"), "--memory", memory)
            wikidata_seconds, wikidata_memory = measure_build("wikidata", items, *options, "--out", str(folder / "wd"))
            snapshots = _folder_megabytes(folder / "en") + _folder_megabytes(folder / "wd")
        print(
            f"| {million:g} | {count // 4:,} | {seconds:.0f} s | {memory_gb:.2f} GB "
            f"| {wikidata_seconds:.0f} s | {wikidata_memory:.2f} GB | {snapshots:.0f} MB |",
            flush=True,
        )
    print(f"this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20):.2f} GB", file=sys.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("millions", nargs="*", type=float, default=[1, 2, 4])
    parser.add_argument("--memory", default="2GB", help="memory limit of DuckDB")
    arguments = parser.parse_args()
    main(arguments.millions, arguments.memory)
