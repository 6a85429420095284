"""Memory and time of sampling from many sections: python bench/zelda_sample.py [SECTIONS]."""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

ENTITIES = 14_000
OTHERS = 200_000
PER_PAGE = 4
WORDS = ["river", "city", "church", "tower", "bridge", "train", "letter", "music", "school", "league", "winter"]


def write_pages(folder: Path, sections: int) -> None:
    """Write pages with `sections` sections in all to `folder`, in Kensho's layout, and a test set next to the folder.

    Each section links five pages. The entities of the test set are the first pages.
    """
    rng = random.Random(19)
    pages = sections // PER_PAGE
    with (folder / "page.csv").open("w", encoding="utf-8") as file:
        file.write("page_id,item_id,title,views\n")
        file.writelines(f"{id},{id},Title {id},1\n" for id in range(max(pages, ENTITIES + OTHERS)))
    with (folder / "link_annotated_text.jsonl").open("w", encoding="utf-8") as file:
        for page in range(pages):
            record = {"page_id": page, "sections": [generate_section(rng, number) for number in range(PER_PAGE)]}
            file.write(json.dumps(record) + "\n")
    with (folder.parent / "test_own.jsonl").open("w", encoding="utf-8") as file:
        for id in range(ENTITIES):
            record = {"id": str(id), "text": "it", "index": [[0, 2]], "wikipedia_titles": [f"Title {id}"]}
            file.write(json.dumps(record) + "\n")


def generate_section(rng: random.Random, number: int) -> dict[str, object]:
    """Return a random section in Kensho's layout, with five links; low page ids are linked more often."""
    text, offsets, lengths, targets = "", [], [], []
    for _ in range(5):
        text += " ".join(rng.choices(WORDS, k=12)) + " "
        offsets.append(len(text))
        lengths.append(4)
        targets.append(int((ENTITIES + OTHERS) * rng.random() ** 2))
        text += "link "
    name = "Introduction" if number == 0 else f"Section {number}"
    return {"name": name, "text": text, "link_offsets": offsets, "link_lengths": lengths, "target_page_ids": targets}


def main() -> None:
    """Generate pages, sample training sections from them, and print time and memory."""
    sections = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with TemporaryDirectory(prefix="karat-bench-") as folder:
        source, benchmark = Path(folder) / "kdwd", Path(folder) / "benchmark"
        source.mkdir()
        write_pages(source, sections)
        size = (source / "link_annotated_text.jsonl").stat().st_size >> 20
        begun = time.perf_counter()
        arguments = [str(source), str(Path(folder) / "test_own.jsonl"), "--out", str(benchmark)]
        subprocess.run([sys.executable, "-m", "karat", "zelda", "sample", *arguments], check=True)
        took = time.perf_counter() - begun
        peak_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"{sections:,} sections ({size:,} MiB): {took:.0f} s, {peak_mib:,.0f} MiB at most")


if __name__ == "__main__":
    main()
