"""Runtime against the length of texts: a point for each document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice

from karat.errors import UsageError
from karat.fitting import counted
from karat.model.signature import Signature
from karat.pages.charts.drawing import COLOURS, Spec, finished
from karat.pages.charts.extra import check_extra
from karat.pages.charts.labels import HEIGHT, WIDTH
from karat.running.experiment import Performed


@dataclass(frozen=True, slots=True)
class _Origin:
    signature: Signature
    corpus: str
    run: str
    view: str = ""


def lengths_chart(done: Sequence[Performed]) -> Spec:
    """What each system took for each document, over the characters of its text; both axes are logarithmic."""
    check_extra()
    import altair as alt

    rows = [
        {"system": one.ran.system, "characters": length, "ms": 1000 * reply.seconds}
        for one in done
        for reply, length in zip(one.ran.run, _lengths(one), strict=False)
        if reply.seconds and length and reply.error is None
    ]
    if not rows:
        raise UsageError("no document has a time above 0. Run a system that answers something.")
    systems = list(dict.fromkeys(str(row["system"]) for row in rows))
    colours = alt.Scale(domain=systems, range=list(islice(cycle(COLOURS), len(systems))))
    x, y = (
        alt.X("characters:Q", title="characters of the text", scale=alt.Scale(type="log", nice=True)),
        alt.Y("ms:Q", title="runtime in ms", scale=alt.Scale(type="log", nice=True)),
    )
    colour = alt.Color("system:N", scale=colours, legend=alt.Legend(title=None, orient="bottom", columns=3))
    points = alt.Chart(alt.InlineData(rows)).mark_point(filled=True, size=22, opacity=0.6)
    chart = alt.layer(points.encode(x=x, y=y, color=colour)).properties(width=WIDTH, height=HEIGHT)
    corpora = ", ".join(dict.fromkeys(one.corpus.name for one in done))
    clocks = "; ".join(dict.fromkeys(f"{one.ran.system}: {one.ran.clock}" for one in done if one.ran.clock))
    says = [f"{counted(len(rows), 'reply', 'replies')} with answers; times: {clocks}."]
    origins = [_Origin(one.result.signature, one.corpus.name, f"{one.ran.system} on {one.corpus.name}") for one in done]
    return finished(chart, origins, f"{corpora}: runtime over the length of texts", says, WIDTH)


def _lengths(one: Performed) -> list[int]:
    """The lengths of the texts, in the order of the replies."""
    table = one.corpus.table
    known = dict(zip(table.column("id").to_pylist(), map(len, table.column("text").to_pylist()), strict=True))
    return [known.get(id, 0) for id in one.ran.run.ids.to_pylist()]
