"""How much memory and time packs from dumps take: dumps are generated, built in a process of their own, and removed.

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

from tests.knowledge.generated import item, page_row, redirect_row, sql_dump, xml_dump

_LINKS = 20  # of an article
_ANCHORS = 8
_CLASSES = 5_000


def _write(path: Path, content: Iterable[bytes]) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for chunk in content:
            file.write(chunk)


def _items(count: int) -> Iterator[bytes]:
    """Items of some three kilobytes, made of some patterns so that making them takes less than reading them."""
    patterns = []
    for seed in range(200):
        draw = random.Random(seed)
        languages = {f"l{number}": f"Name 0000000 {number}" for number in range(12)}
        made = item(
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
        patterns.append(json.dumps(made, separators=(",", ":")).encode())
    yield b"[\n"
    for number in range(1, count + 1):
        yield patterns[number % 200].replace(b"0000000", b"%d" % number) + (b",\n" if number < count else b"\n")
    yield b"]\n"


def _wikipedia(folder: Path, count: int) -> None:
    """Articles under the titles that every fourth item names, as many redirects, and links between them."""
    titles = [f"Page {number}" for number in range(4, count + 1, 4)]
    many = len(titles)
    draw = random.Random(0)
    _write(
        folder / "enwiki-20261101-page.sql.gz",
        sql_dump(
            "page",
            (
                row
                for number, title in enumerate(titles, 1)
                for row in (page_row(number, title), page_row(many + number, f"Old {title}", redirect=True))
            ),
        ),
    )
    _write(
        folder / "enwiki-20261101-redirect.sql.gz",
        sql_dump("redirect", (redirect_row(many + number, title) for number, title in enumerate(titles, 1))),
    )
    _write(
        folder / "enwiki-20261101-page_props.sql.gz",
        sql_dump("page_props", ((n, "wikibase_item", f"Q{title[5:]}", None) for n, title in enumerate(titles, 1))),
    )
    _write(
        folder / "enwiki-20261101-linktarget.sql.gz",
        sql_dump("linktarget", ((n, 0, title.replace(" ", "_")) for n, title in enumerate(titles, 1))),
    )
    _write(
        folder / "enwiki-20261101-pagelinks.sql.gz",
        sql_dump(
            "pagelinks",
            ((n, 0, int(many * draw.random() ** 3) + 1) for n in range(1, many + 1) for _ in range(_LINKS)),
        ),
    )
    _write(
        folder / "enwiki-20261101-pages-articles-multistream.xml.gz",
        xml_dump((n, 0, title, None, _article(draw, titles)) for n, title in enumerate(titles, 1)),
    )


def _article(draw: random.Random, titles: list[str]) -> str:
    links = (titles[int(len(titles) * draw.random() ** 3)] for _ in range(_ANCHORS))
    return "{{Infobox|a=[[b]]}} " + " lies near ".join(f"[[{title}|Name {title[-3:]}]]" for title in links)


def _built(*arguments: str) -> tuple[float, float]:
    """The seconds and the highest memory in gigabytes of a command."""
    start = time.perf_counter()
    code = (
        "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(done.returncode)"
    )
    command = [sys.executable, "-c", code, sys.executable, "-m", "karat", "kb", "build", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, encoding="utf-8")
    return time.perf_counter() - start, int(done.stdout) / (1 << 20)


def _size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.iterdir()) / 1e6


def main(millions: list[float], memory: str) -> None:
    print("| million items | articles | wikipedia | memory | wikidata | memory | packs |")
    print("|---|---|---|---|---|---|---|")
    for million in millions:
        count = int(million * 1e6)
        with TemporaryDirectory(prefix="karat-dumps-") as name:
            folder = Path(name)
            _wikipedia(folder, count)
            _write(folder / "wikidata-20261101-all.json.gz", _items(count))
            pages = [str(path) for path in folder.glob("enwiki-*")]
            seconds, held = _built("wikipedia", *pages, "--memory", memory, "--out", str(folder / "en"))
            items = str(folder / "wikidata-20261101-all.json.gz")
            beside = ("--wikipedia", str(folder / "en"), "--memory", memory)
            more, other = _built("wikidata", items, *beside, "--out", str(folder / "wd"))
            packs = _size(folder / "en") + _size(folder / "wd")
        print(
            f"| {million:g} | {count // 4:,} | {seconds:.0f} s | {held:.2f} GB "
            f"| {more:.0f} s | {other:.2f} GB | {packs:.0f} MB |",
            flush=True,
        )
    print(f"this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20):.2f} GB", file=sys.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("millions", nargs="*", type=float, default=[1, 2, 4])
    parser.add_argument("--memory", default="2GB", help="what DuckDB may hold")
    given = parser.parse_args()
    main(given.millions, given.memory)
