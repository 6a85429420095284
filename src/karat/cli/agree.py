"""`karat agree FILE FILE…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.choices import apart, once
from karat.pages.tables import aligned

if TYPE_CHECKING:
    from karat.explanation.agreement import Agreed, Agreement


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--kb", metavar="DIR", help="Ids that stand for the same entity in these tables are the same.")
@click.option("--level", default=0.95, show_default=True, metavar="L", help="The level of the intervals.")
@click.option("--resamples", default=1000, show_default=True, metavar="N", help="Samples of documents for intervals.")
@click.option("--seed", default=0, show_default=True, metavar="N", help="What random numbers start from.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write all of it as JSON.")
@click.option("--format", "format_name", metavar="NAME", help="The format of the files, where it is not recognised.")
def command(
    files: tuple[str, ...],
    kb: str | None,
    level: float,
    resamples: int,
    seed: int,
    json_file: str | None,
    format_name: str | None,
) -> None:
    """Say how far annotators of the same documents agree.

    Each FILE holds the gold labels of one annotator. F1 takes one annotator as the gold standard for another. Kappa and
    alpha correct for chance; their items are the spans that anybody marked, and their categories the entities, NIL,
    without link, and none where an annotator did not mark the span. "On links" are the items that all marked.

    \b
    karat agree anna.jsonl ben.jsonl
    karat agree anna.jsonl ben.jsonl chris.jsonl --json agreement.json
    """
    from dataclasses import replace

    from karat.data.load import load
    from karat.errors import UsageError
    from karat.explanation.agreement import agreement
    from karat.kb.folder import read_kb
    from karat.storage.files import writing

    if len(files) < 2 or files.count("-") > 1:
        raise UsageError("agreement is that of at least two annotators. Give a file for each, standard input once.")
    if resamples < 0 or seed < 0:
        raise UsageError(f"resamples is {resamples} and seed {seed}. Give numbers from 0 on.")
    apart(list(files), [json_file])
    corpora = [load(name, format=format_name) for name in files]
    names = [corpus.name for corpus in corpora]
    corpora = [
        replace(corpus, name=name) if names.count(corpus.name) > 1 else corpus
        for corpus, name in zip(corpora, files, strict=True)
    ]
    tables = None if kb is None else read_kb(kb)
    found = agreement(corpora, kb=tables, resamples=resamples, level=level, seed=seed)
    if json_file is not None:
        with writing(json_file) as file:
            file.write(_json(found))
    if json_file != "-":
        click.echo(_page(found), nl=False)


def _json(found: Agreement) -> bytes:
    import msgspec

    def plain(agreed: Agreed) -> dict[str, object]:
        ends = None if agreed.interval is None else list(agreed.interval)
        return {"value": agreed.value, "interval": ends, "items": agreed.items, "undefined": agreed.reason}

    whole = ("fleiss", "fleiss_of_links", "alpha", "alpha_of_links")
    return msgspec.json.encode(
        {
            "annotators": found.annotators,
            "documents": found.documents,
            "items": found.items,
            "interval_level": found.level,
            "resamples": found.resamples,
            "left_out": dict(found.left_out),
            "pairs": [
                {
                    "one": pair.one,
                    "two": pair.two,
                    "documents": pair.documents,
                    "f1": {relation: plain(agreed) for relation, agreed in pair.f1.items()},
                    "kappa": plain(pair.kappa),
                    "kappa_of_links": plain(pair.kappa_of_links),
                }
                for pair in found.pairs
            ],
            **{name: plain(getattr(found, name)) for name in whole},
        }
    )


def _page(found: Agreement) -> str:
    head = f"{len(found.annotators)} annotators, {found.documents} documents, {found.items} spans marked by anyone"
    relations = list(found.pairs[0].f1)
    f1 = [
        [f"{pair.one}, {pair.two}", *(_cell(pair.f1[relation], percent=True) for relation in relations)]
        for pair in found.pairs
    ]
    kappa = [
        [f"{pair.one}, {pair.two}", _cell(pair.kappa), str(pair.kappa.items), *_on_links(pair.kappa_of_links)]
        for pair in found.pairs
    ]
    every = [
        ["Fleiss' kappa", _cell(found.fleiss), str(found.fleiss.items), *_on_links(found.fleiss_of_links)],
        ["Krippendorff's alpha", _cell(found.alpha), str(found.alpha.items), *_on_links(found.alpha_of_links)],
    ]
    blocks = [
        head,
        aligned([["F1 in percent, one as gold for the other", *relations], *f1]),
        aligned([["Cohen's kappa", "all spans", "items", "on links", "items"], *kappa]),
        aligned([["all annotators", "all spans", "items", "on links", "items"], *every]),
    ]
    if found.resamples:
        level = f"{100 * found.level:g} %"
        blocks.append(f"In brackets: {level} intervals from {found.resamples} samples of as many documents.")
    said = [f"left out: {', '.join(f'{what} {count}' for what, count in found.left_out.items())}"]
    blocks += said if found.left_out else []
    return "\n\n".join([*blocks, *_undefined(found)]) + "\n"


def _on_links(agreed: Agreed) -> list[str]:
    return [_cell(agreed), str(agreed.items)]


def _cell(agreed: Agreed, *, percent: bool = False) -> str:
    if agreed.value is None:
        return "–"
    factor, digits = (100, 1) if percent else (1, 3)
    value = f"{factor * agreed.value:.{digits}f}"
    if agreed.interval is None:
        return value
    low, high = (f"{factor * end:.{digits}f}" for end in agreed.interval)
    return f"{value} [{low}, {high}]"


def _undefined(found: Agreement) -> list[str]:
    """Why something has no value."""
    every = {
        f"{name} of {pair.one} and {pair.two}": agreed
        for pair in found.pairs
        for name, agreed in {**pair.f1, "kappa": pair.kappa, "kappa on links": pair.kappa_of_links}.items()
    }
    every |= {"Fleiss' kappa": found.fleiss, "Fleiss' kappa on links": found.fleiss_of_links}
    every |= {"alpha": found.alpha, "alpha on links": found.alpha_of_links}
    lines = [f"{name} undefined: {agreed.reason}" for name, agreed in every.items() if agreed.reason is not None]
    return ["\n".join(lines)] if lines else []
