"""`karat data stats PATH…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.choices import apart, once
from karat.pages.tables import aligned

if TYPE_CHECKING:
    from collections.abc import Mapping

    from karat.data.describe import Description, Share

_LISTED = 16


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option(
    "--kb", metavar="DIR", help="Names, types and popular candidates: entities.tsv, popular.tsv, demonyms.txt."
)
@click.option("--step", "steps", multiple=True, metavar="NAME", help="Apply this step first (repeatable).")
@click.option("--gold-format", metavar="NAME", help="The format of PATH, where it is not recognised.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write everything as JSON.")
@click.option("--latex", is_flag=True, help="Print a LaTeX table.")
def command(
    paths: tuple[str, ...],
    kb: str | None,
    steps: tuple[str, ...],
    gold_format: str | None,
    json_file: str | None,
    latex: bool,
) -> None:
    """Describe corpora in numbers: documents, mentions, entities, NIL, types and so on.

    PATH is a file, a folder in a known layout, or a registered name. Several are shown side by side.

    \b
    karat data stats demo
    karat data stats gold.jsonl --kb DIR --json -
    """
    import msgspec

    from karat.data.describe import describe
    from karat.data.load import load
    from karat.kb.folder import read_kb
    from karat.storage.files import writing

    apart(list(paths), [json_file])
    tables = None if kb is None else read_kb(kb)
    found = []
    for path in paths:
        corpus = load(path, format=gold_format)
        if steps:
            from karat.data.steps import stepped

            corpus, counts = stepped(corpus, steps)
            for name, change in counts.items():
                click.echo(f"{corpus.name}, {name}: {change}", err=True)
        found.append(describe(corpus, tables))
    if json_file is not None:
        content = [one.to_dict() for one in found]
        with writing(json_file) as file:
            file.write(msgspec.json.encode(content[0] if len(content) == 1 else content) + b"\n")
    if json_file != "-":
        click.echo(_latex(found) if latex else _table(found), nl=False)


def _rows(found: list[Description]) -> list[list[str]]:
    rows = [[name, *(_shown(one.numbers[name]) for one in found)] for name in found[0].numbers]
    for name in found[0].columns:
        shares = [one.columns[name] for one in found]
        rows.append([f"  {name}", *(_shown_share(share) for share in shares)])
        if any(share.undecided for share in shares):
            rows.append(["    undecided", *(f"{share.undecided:,}" for share in shares)])
    return rows


def _shown_share(share: Share) -> str:
    if share.number is None:
        return "–"
    return f"{share.number:,}" if share.percent is None else f"{share.number:,} ({share.percent:.1f} %)"


def _shown(value: float | str | None) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else value


def _table(found: list[Description]) -> str:
    lines = [aligned([["", *(one.corpus for one in found)], *_rows(found)])]
    for one in found:
        for title, counts in _listed(one).items():
            if counts:
                shown = ", ".join(f"{name} {count}" for name, count in list(counts.items())[:_LISTED])
                more = f", and {len(counts) - _LISTED} more" if len(counts) > _LISTED else ""
                lines.append(f"{one.corpus}, {title}: {shown}{more}")
    reasons: dict[str, dict[str, None]] = {}
    for name, reason in (item for one in found for item in one.undefined.items()):
        reasons.setdefault(reason, {})[name] = None
    lines += [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]
    return "\n".join(lines) + "\n"


def _listed(one: Description) -> dict[str, Mapping[str, int]]:
    """Counts of labels that take a line each."""
    return {
        "traits of labels": {name: share.number for name, share in one.traits.items() if share.number},
        "undecided labels": {name: share.undecided for name, share in one.traits.items() if share.undecided},
        "mention types of labels": one.mention_types,
        "labels by their number of words": {f"{count}:": labels for count, labels in one.words.items()},
        "types": one.types,
        "categories": one.categories,
        "skipped": one.skipped,
    }


def _latex(found: list[Description]) -> str:
    def safe(text: str) -> str:
        return "".join(f"\\{c}" if c in "&%$#_{}" else c for c in text)

    lines = [f"\\begin{{tabular}}{{l{'r' * len(found)}}}", "\\hline"]
    for row in [["", *(one.corpus for one in found)], *_rows(found)]:
        lines.append(" & ".join(safe(cell) for cell in row) + " \\\\")
    return "\n".join([*lines, "\\hline", "\\end{tabular}"]) + "\n"
