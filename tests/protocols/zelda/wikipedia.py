"""A small Wikipedia in Kensho's layout, of which every prediction is known."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path


def write_wikipedia(folder: Path, pages: dict[str, dict[str, list[tuple[str, str]]]], aliases=()) -> Path:
    """Pages by title; each has sections by name, and these have links: words and the title that they lead to.

    A section's text is its words with blanks between them; a title that is no page is dead.
    """
    folder.mkdir(exist_ok=True)
    ids = {title: 100 + number for number, title in enumerate(pages)}
    with (folder / "page.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["page_id", "item_id", "title", "views"])
        writer.writerows([id, id + 1000, title, 1] for title, id in ids.items())
    with (folder / "item_aliases.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item_id", "en_alias"])
        writer.writerows([ids[title] + 1000, alias] for title, alias in aliases)
    with (folder / "link_annotated_text.jsonl").open("w", encoding="utf-8") as file:
        for title, sections in pages.items():
            written = [_section(name, links, ids) for name, links in sections.items()]
            file.write(json.dumps({"page_id": ids[title], "sections": written}) + "\n")
    return folder


def _section(name, links, ids):
    text, offsets = "", []
    for words, _ in links:
        offsets.append(len(text))
        text += words + " "
    return {
        "name": name.split("#")[0],
        "text": text,
        "link_offsets": offsets,
        "link_lengths": [len(words) for words, _ in links],
        "target_page_ids": [ids.get(target, 999_999_999) for _, target in links],
    }


def crowd(sections: int, entities: int, seed: int = 1) -> dict[str, dict[str, list[tuple[str, str]]]]:
    """Pages with one section each, which link some of the entities E0, E1, …, the first ones more often."""
    drawn = random.Random(seed)
    pages: dict[str, dict[str, list[tuple[str, str]]]] = {f"E{number}": {} for number in range(entities)}
    for number in range(sections):
        linked = [f"E{int(entities * drawn.random() ** 2)}" for _ in range(drawn.randint(1, 4))]
        pages[f"Page {number}"] = {"History": [(f"word {title}", title) for title in linked]}
    return pages
