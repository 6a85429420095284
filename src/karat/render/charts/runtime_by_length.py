"""Runtime over text length: a point per document."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice

from karat.model.errors import UsageError
from karat.model.output.text_layout import format_count
from karat.render.charts.drawing import COLOURS, Spec, SystemOrigin, finish_chart
from karat.render.charts.label_layout import HEIGHT, WIDTH
from karat.render.charts.requirements import check_extra
from karat.systems.running.experiment import ExperimentResult


def lengths_chart(results: Sequence[ExperimentResult]) -> Spec:
    """Draw a point per document: each system's runtime over the length of the text, on logarithmic axes.

    Raise `UsageError` if no document has a runtime.
    """
    check_extra()
    import altair as alt

    rows = [
        {"system": result.system_run.system, "characters": length, "ms": 1000 * response.seconds}
        for result in results
        for response, length in zip(result.system_run.run, _list_text_lengths(result), strict=False)
        if response.seconds and length and response.error is None
    ]
    if not rows:
        raise UsageError("no document has a runtime above 0. Run a system that returns predictions.")
    systems = list(dict.fromkeys(str(row["system"]) for row in rows))
    colours = alt.Scale(domain=systems, range=list(islice(cycle(COLOURS), len(systems))))
    x, y = (
        alt.X("characters:Q", title="characters of the text", scale=alt.Scale(type="log", nice=True)),
        alt.Y("ms:Q", title="runtime in ms", scale=alt.Scale(type="log", nice=True)),
    )
    colour = alt.Color("system:N", scale=colours, legend=alt.Legend(title=None, orient="bottom", columns=3))
    points = alt.Chart(alt.InlineData(rows)).mark_point(filled=True, size=22, opacity=0.6)
    chart = alt.layer(points.encode(x=x, y=y, color=colour)).properties(width=WIDTH, height=HEIGHT)
    corpora = ", ".join(dict.fromkeys(result.corpus.name for result in results))
    clocks = "; ".join(
        dict.fromkeys(
            f"{result.system_run.system}: {result.system_run.clock}" for result in results if result.system_run.clock
        )
    )
    description = [f"{format_count(len(rows), 'response', 'responses')} with predictions; times: {clocks}."]
    origins = [
        SystemOrigin(result.result.signature, result.corpus.name, f"{result.system_run.system} on {result.corpus.name}")
        for result in results
    ]
    return finish_chart(chart, origins, f"{corpora}: runtime over the length of texts", description, WIDTH)


def _list_text_lengths(result: ExperimentResult) -> list[int]:
    """Return the number of characters of the text that each response is about; 0 if the corpus lacks it."""
    table = result.corpus.table
    length_by_id = dict(zip(table.column("id").to_pylist(), map(len, table.column("text").to_pylist()), strict=True))
    return [length_by_id.get(id, 0) for id in result.system_run.run.ids.to_pylist()]
