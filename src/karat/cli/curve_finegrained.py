"""`karat curve --over alpha` and `--over categories`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from karat.cli.choices import named_apart
from karat.pages.tables import aligned

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from karat.curves.alpha import AlphaCurve
    from karat.curves.categories import CategoryCurve
    from karat.kb.protocol import KB
    from karat.model.corpus import Corpus
    from karat.model.run import Run
    from karat.model.tables.arrow import Arrow

_STEPS = 10  # of the coarse curve
_UNDEFINED = "–"


class Files(NamedTuple):
    """Where results go."""

    json: str | None
    csv: str | None
    plot: str | None

    @property
    def quiet(self) -> bool:
        """Whether standard output is taken."""
        return "-" in (self.json, self.csv)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a curve is asked for."""

    gold: str
    runs: list[str]
    like: str
    choices: Mapping[str, str]
    kb: str | None
    measure: str | None
    files: Files
    gold_format: str | None
    answers_format: str | None
    allow_unknown: bool

    def load(self) -> tuple[Corpus, list[Run], dict[str, Any]]:
        """Both sides, and how they are to be scored."""
        from karat.data.load import load_both
        from karat.kb.folder import read_kb

        tables: KB | None = None if self.kb is None else read_kb(self.kb)
        formats = {"gold_format": self.gold_format, "answers_format": self.answers_format}
        corpus, runs = load_both(self.gold, self.runs, text=False, **formats)
        choices = dict(self.choices)
        how = {"like": self.like, "match": choices.pop("match", "strong"), "choices": choices, "kb": tables}
        return corpus, named_apart(runs, self.runs), {**how, "allow_unknown": self.allow_unknown}


def over_alpha(asked: Asked, preset: str, steps: int | None) -> None:
    """Fuzzy scores over alpha, and who leads from where to where."""
    import numpy as np

    from karat.curves.alpha import MEASURES, alpha_curve, reigns
    from karat.errors import UnknownNameError
    from karat.pages.charts.finegrained import alpha_chart, alpha_prf_chart
    from karat.pages.charts.save import save_chart

    measure = asked.measure or "micro.f1"
    if measure not in MEASURES:
        raise UnknownNameError("measure over alpha", measure, MEASURES)
    corpus, runs, how = asked.load()
    curves = [alpha_curve(corpus, run, preset=preset, **how) for run in runs]
    alpha = np.linspace(0, 1, (steps or 100) + 1)
    if asked.files.plot is not None:
        chart = alpha_prf_chart(curves[0], alpha) if len(curves) == 1 else alpha_chart(curves, measure, alpha)
        save_chart(chart, asked.files.plot)
    leaders = [{"from": reign.low, "to": reign.high, "runs": reign.runs} for reign in reigns(curves, measure)]
    if asked.files.json is not None:
        more = {"membership": preset, "measure": measure, "leaders": leaders}
        _save([_content(curve, "alpha", curve.table(alpha), **more) for curve in curves], asked.files.json)
    if asked.files.csv is not None:
        save_table([curve.table(alpha) for curve in curves], asked.files.csv)
    if not asked.files.quiet:
        _show_alpha(curves, measure, len(corpus))


def over_categories(asked: Asked) -> None:
    """Scores as combinations of categories are added, the best first."""
    from karat.curves.categories import MEASURES, category_curve
    from karat.errors import UnknownNameError
    from karat.pages.charts.finegrained import category_chart, category_prf_chart
    from karat.pages.charts.save import save_chart

    if asked.measure not in (None, *MEASURES):
        raise UnknownNameError("measure over categories", asked.measure, MEASURES)
    corpus, runs, how = asked.load()
    measure = asked.measure or "micro.f1"
    curves = [category_curve(corpus, run, measure=measure, **how) for run in runs]
    if asked.files.plot is not None:
        others = [short for short in reversed(MEASURES) if asked.measure is None and short != measure]
        if len(curves) == 1 and others:
            more = [category_curve(corpus, runs[0], measure=short, **how) for short in others]
            save_chart(category_prf_chart([*curves, *more]), asked.files.plot)
        else:
            save_chart(category_chart(curves), asked.files.plot)
    if asked.files.json is not None:
        _save(
            [_content(one, "categories", one.table, measure=measure, left_out=one.left_out) for one in curves],
            asked.files.json,
        )
    if asked.files.csv is not None:
        save_table([curve.table for curve in curves], asked.files.csv)
    if not asked.files.quiet:
        _show_categories(curves, len(corpus))


def save_table(tables: Sequence[Arrow], path: str) -> None:
    """Write the tables of several curves as one, as comma-separated values."""
    import pyarrow as pa
    from pyarrow import csv

    from karat.storage.files import writing

    with writing(path) as file:
        csv.write_csv(pa.concat_tables(tables), file)


def _content(curve: AlphaCurve | CategoryCurve, over: str, points: Arrow, **more: object) -> dict[str, object]:
    """What the file says about one curve: every column of its table, one entry per point."""
    from karat.model.result import Counted

    columns = points.drop_columns([name for name in ("run", "ordered_by") if name in points.column_names]).to_pydict()
    for name in Counted.__struct_fields__:
        if all(map(float.is_integer, columns[name])):
            columns[name] = list(map(int, columns[name]))  # files say 3, not 3.0
    return {
        "layout": "karat-curve/1",
        "over": over,
        "signature": str(curve.signature),
        "corpus": curve.corpus,
        "run": curve.run,
        "view": curve.view,
        **more,
        "points": columns,
    }


def _save(contents: Iterable[Mapping[str, object]], path: str) -> None:
    """One curve as an object; several as one object per line."""
    import msgspec

    from karat.storage.files import writing

    with writing(path) as file:
        for content in contents:
            file.write(msgspec.json.encode(content) + b"\n")


def _show_alpha(curves: Sequence[AlphaCurve], measure: str, documents: int) -> None:
    import numpy as np

    from karat.curves.alpha import reigns
    from karat.pages.charts.finegrained import FUZZY

    head, alpha = curves[0], np.linspace(0, 1, _STEPS + 1)
    one = len(curves) == 1
    columns = (
        {says: head.values(short, alpha) for short, says in FUZZY.items()}
        if one
        else {curve.run: curve.values(measure, alpha) for curve in curves}
    )
    what = f"scores of {head.run}" if one else FUZZY[measure]
    click.echo(f"{head.corpus}, {head.view}: {_documents(documents)}, {what} in percent, membership {head.preset}\n")
    rows = [[f"{at:.1f}", *(_percent(values[row]) for values in columns.values())] for row, at in enumerate(alpha)]
    click.echo(aligned([["alpha", *columns], *rows]))
    if not one:
        click.echo()
        for reign in reigns(curves, measure):
            who = f"{' and '.join(reign.runs)} lead{'s' * (len(reign.runs) == 1)}" if reign.runs else "nobody leads"
            click.echo(f"{reign.low:.3f} to {reign.high:.3f}: {who}")
    click.echo(f"\n{head.signature}")


def _show_categories(curves: Sequence[CategoryCurve], documents: int) -> None:
    from karat.pages.charts.finegrained import CUMULATIVE

    head = curves[0]
    says, size = CUMULATIVE[head.measure], len(head.combinations)
    click.echo(f"{head.corpus}, {head.view}: {_documents(documents)}, {says} in percent, best categories first\n")
    steps = sorted({1, *range(_STEPS, size, _STEPS), size} - {0})
    rows = [[f"{step}", *(_percent(curve.values()[step - 1]) for curve in curves)] for step in steps]
    click.echo(aligned([["combinations", *(curve.run for curve in curves)], *rows]))
    click.echo(f"\nAll: {int(head.mentions[-1]) if size else 0} mentions{_left_out(head.left_out)}")
    for curve in curves:
        click.echo("\n".join(f"best of {curve.run}: {combination}" for combination in curve.combinations[:1]))
    click.echo(f"\n{head.signature}")


def _left_out(counts: Mapping[str, int]) -> str:
    return f"; left out: {', '.join(f'{what} {count}' for what, count in counts.items())}" if counts else ""


def _documents(count: int) -> str:
    return f"{count} document{'s' * (count != 1)}"


def _percent(value: float) -> str:
    return _UNDEFINED if value != value else f"{100 * value:.1f}"
