"""What all charts share: lines, labels, titles, letters."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle, islice
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from karat.model.signature import Signature
from karat.plots.labels import HEIGHT, SIZE, WIDTH, Placed
from karat.registry import get
from karat.spec.profile import Profile

if TYPE_CHECKING:
    import altair as alt

Spec: TypeAlias = dict[str, object]
"""A Vega-Lite specification with its data inside."""

Row: TypeAlias = Mapping[str, object]

INK, PALE = "#222222", "#6b6b6b"

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""Told apart with any colour vision (Okabe and Ito, 2008, without the yellow, which is too pale for a line)."""

_DASHES = ([1, 0], [8, 3], [2, 2], [9, 3, 2, 3], [5, 3], [14, 4], [8, 2, 2, 2, 2, 2], [1, 3])
"""One more than there are colours: a pair of colour and dash comes again only after 56 lines."""

_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first is inside vl-convert and as wide as the second, so that pictures look alike on every machine."""

_LETTERS_ACROSS = 6.0  # pixels that a letter of a subtitle takes, with some to spare


class Origin(Protocol):
    """Where the numbers of a chart come from."""

    @property
    def signature(self) -> Signature:
        """Everything that decided them."""

    @property
    def corpus(self) -> str:
        """The name of the corpus."""

    @property
    def run(self) -> str:
        """The name of the run."""

    @property
    def view(self) -> str:
        """The relation."""


def lines(rows: Iterable[Row], names: Sequence[str], x: alt.X, y: alt.Y, curve: _Interpolation) -> alt.Chart:
    """One line per name, through its rows in their order; rows say theirs in the field `line`."""
    import altair as alt

    colour = alt.Color(
        "line:N",
        scale=alt.Scale(domain=list(names), range=list(islice(cycle(COLOURS), len(names)))),
        legend=alt.Legend(title=None, orient="bottom", columns=4, symbolType="stroke", symbolSize=700),
    )
    dash = alt.StrokeDash(
        "line:N", scale=alt.Scale(domain=list(names), range=list(islice(cycle(_DASHES), len(names))))
    )
    return (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_line(interpolate=curve, strokeWidth=2)
        .encode(x=x, y=y, color=colour, strokeDash=dash, order=alt.Order("place:Q"))
    )
