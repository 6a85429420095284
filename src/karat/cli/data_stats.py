"""`karat data stats PATH…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.choices import apart, once
from karat.cli.columns import aligned

if TYPE_CHECKING:
    from karat.pipeline.describe import Description


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

    from karat.kb.lexicon import read_lexicon
    from karat.pipeline.describe import describe
    from karat.pipeline.load import load
    from karat.storage.files import writing

    apart(list(paths), [json_file])
    lexicon = None if kb is None else read_lexicon(kb)
    found = []
    for path in paths:
        corpus = load(path, format=gold_format)
        if steps:
            from karat.pipeline.steps import stepped

            corpus, counts = stepped(corpus, steps)
            for name, change in counts.items():
                click.echo(f"{corpus.name}, {name}: {change}", err=True)
        found.append(describe(corpus, lexicon))
    if json_file is not None:
        content = [one.to_dict() for one in found]
        with writing(json_file) as file:
            file.write(msgspec.json.encode(content[0] if len(content) == 1 else content) + b"\n")
    if json_file != "-":
        click.echo(_latex(found) if latex else _table(found), nl=False)


def _rows(found: list[Description]) -> list[list[str]]:
    names = list(found[0].numbers)
    return [[name, *(_shown(one.numbers[name]) for one in found)] for name in names]


def _shown(value: float | str | None) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else value


def _table(found: list[Description]) -> str:
    lines = [aligned([["", *(one.corpus for one in found)], *_rows(found)])]
    for one in found:
        for title, counts in (("types", one.types), ("categories", one.categories), ("skipped", one.skipped)):
            if counts:
                shown = ", ".join(f"{name} {count}" for name, count in list(counts.items())[:12])
                more = f", and {len(counts) - 12} more" if len(counts) > 12 else ""
                lines.append(f"{one.corpus}, {title}: {shown}{more}")
    reasons = {
        reason: [n for n, r in found[0].undefined.items() if r == reason] for reason in found[0].undefined.values()
    }
    lines += [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]
    return "\n".join(lines) + "\n"


def _latex(found: list[Description]) -> str:
    def safe(text: str) -> str:
        return "".join(f"\\{c}" if c in "&%$#_{}" else c for c in text)

    lines = [f"\\begin{{tabular}}{{l{'r' * len(found)}}}", "\\hline"]
    for row in [["", *(one.corpus for one in found)], *_rows(found)]:
        lines.append(" & ".join(safe(cell) for cell in row) + " \\\\")
    return "\n".join([*lines, "\\hline", "\\end{tabular}"]) + "\n"
