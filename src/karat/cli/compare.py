"""`karat compare ANSWERS… --gold GOLD`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.choices import apart, chosen, named_apart, once
from karat.cli.columns import aligned

if TYPE_CHECKING:
    from karat.model.result import Scored
    from karat.pipeline.similarity import Comparison


@click.command()
@click.argument("answers", nargs=-1, required=True)
@click.option("--gold", required=True, metavar="GOLD", help="The gold standard that tells right from wrong.")
@click.option("--match", multiple=True, metavar="R,…", help="Relations  [default: strong,weak,mention-weak,entity]")
@click.option("--like", default="karat", show_default=True, metavar="PROFILE", help="The table of conventions to use.")
@click.option("--set", "overrides", multiple=True, metavar="CHOICE=VALUE", help="Override one choice of the profile.")
@click.option("--best", metavar="SWEEP", help="Compare above each system's best threshold: oracle, oracle-bat-paper, …")
@click.option("--kb", metavar="DIR", help="Resolve ids by the tables in this folder.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write all of it as JSON.")
@click.option("--gold-format", metavar="NAME", help="The format of GOLD, where it is not recognised.")
@click.option("--answers-format", metavar="NAME", help="The format of ANSWERS, where it is not recognised.")
@click.option("--allow-unknown", is_flag=True, help="Leave out answers to documents that GOLD does not have.")
def command(
    answers: tuple[str, ...],
    gold: str,
    match: tuple[str, ...],
    like: str,
    overrides: tuple[str, ...],
    best: str | None,
    kb: str | None,
    json_file: str | None,
    gold_format: str | None,
    answers_format: str | None,
    allow_unknown: bool,
) -> None:
    """Say how alike systems are, what each finds that another does not, and what they find together.

    Similarity is that of the BAT paper (equations 4 and 5): the share of both outputs that the other system matches.

    \b
    karat compare --gold gold.jsonl one.jsonl two.jsonl three.jsonl
    karat compare --gold demo demo --match strong
    karat compare --gold demo demo --best oracle-bat-paper      as in the paper's Table 9
    """
    from karat.kb.folder import read_kb
    from karat.pipeline.load import load_both, stored_runs
    from karat.pipeline.similarity import similarity
    from karat.storage.files import writing

    given = [name for one in answers for name in stored_runs(one)]
    apart([gold, *given], [json_file])
    corpus, loaded = load_both(gold, given, gold_format=gold_format, answers_format=answers_format, text=False)
    found = similarity(
        corpus,
        named_apart(loaded, given),
        match=",".join(match) or "strong,weak,mention-weak,entity",
        like=like,
        best=best,
        kb=None if kb is None else read_kb(kb),
        allow_unknown=allow_unknown,
        **chosen(overrides),
    )
    if json_file is not None:
        with writing(json_file) as file:
            file.write(_json(found))
    if json_file != "-":
        click.echo(_page(found, corpus.name), nl=False)


def _json(found: Comparison) -> bytes:
    import msgspec

    likeness = [
        {**pair._asdict(), "macro": pair.macro.value, "micro": pair.micro.value, "undefined": pair.micro.reason}
        for pair in found.likeness
    ]
    together = [
        {
            **group._asdict(),
            "oracle_recall": group.oracle_recall,
            "missed_together": [
                {"one": one, "two": two, "count": count} for (one, two), count in group.missed_together.items()
            ],
        }
        for group in found.together
    ]
    return msgspec.json.encode(
        {
            "signature": str(found.signature),
            "runs": found.runs,
            "oracle_thresholds": found.thresholds if found.oracle else {},
            "notes": found.notes,
            "similarity": likeness,
            "together": together,
        }
    )


def _page(found: Comparison, corpus: str) -> str:
    relations = [group.relation for group in found.together]
    blocks = [f"{len(found.runs)} systems on {corpus}{', above their best thresholds (oracle)' * bool(found.oracle)}"]
    for relation in relations:
        pairs = {(pair.one, pair.two): pair for pair in found.likeness if pair.relation == relation}
        group = next(group for group in found.together if group.relation == relation)
        rows = [
            [one, *(_both(pairs[one, two]) if (one, two) in pairs else "" for two in found.runs[1:])]
            for one in found.runs[:-1]
        ]
        blocks.append(aligned([[f"{relation}: similarity in percent, macro/micro", *found.runs[1:]], *rows]))
        only = [[f"{p.one}, not {p.two}", *_share(p.only_one, p.right_one)] for p in pairs.values()]
        only += [[f"{p.two}, not {p.one}", *_share(p.only_two, p.right_two)] for p in pairs.values()]
        blocks.append(aligned([[f"{relation}: found by one only", "answers", "right", "%"], *only]))
        recall = group.oracle_recall
        lines = [
            f"{relation}: of {group.gold} gold mentions {group.found_by_any} are found by at least one system"
            + (f" ({100 * recall:.1f} %, the recall of an oracle of all)" if recall is not None else "")
            + f", {group.found_by_all} by all, {group.missed_by_all} by none",
            f"  found by one alone: {', '.join(f'{name} {count}' for name, count in group.found_alone.items())}",
            "  missed together: "
            + ", ".join(f"{one} and {two} {count}" for (one, two), count in group.missed_together.items()),
        ]
        blocks.append("\n".join(lines))
    said = [*found.oracle, *found.notes]
    blocks += ["\n".join(said)] if said else []
    return "\n\n".join([*blocks, str(found.signature)]) + "\n"


def _both(pair: tuple[str, str, str, Scored, Scored, int, int, int, int]) -> str:
    return "/".join("–" if score.value is None else f"{100 * score.value:.1f}" for score in pair[3:5])


def _share(count: int, right: int) -> list[str]:
    return [str(count), str(right), f"{100 * right / count:.0f}" if count else "–"]
