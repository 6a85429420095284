"""Figures 1 and 2, Table 1 and section 2: an example of annotations, and a questionnaire.

The outputs of the example and the responses are lost; the claims about the responses follow from the printed ratios.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final

from karat.matching.weighting.membership import RATINGS
from karat.model.finegrained_scheme import get_leaves
from karat.model.results.exhibit import Cell, Exhibit, Explanation
from karat.model.results.plot import Plot, PlotPoint, PlotSeries
from karat.protocols.papers.claims import describe_share, mark_from_paper
from karat.protocols.suites.finegrained_2019.paper_data import COMMAND, PaperData
from karat.protocols.suites.finegrained_2019.published_tables import (
    FIGURE_1,
    FIGURE_2,
    QUOTED_RATIOS,
    RESPONSES,
    TABLE_1,
)
from karat.systems.claims.finegrained_2019 import NAMES

_EXAMPLE_OUTPUTS: Final = "outputs of Babelfy, TagME, DBpedia Spotlight and FRED on the example text"
_RESPONSE_FILE: Final = "responses to the questionnaire (users.dcc.uchile.cl/~hrosales/questionnaire)"
_NO_RESPONSES: Final = Explanation(
    "data missing", "only the ratios of the responses are published", missing_file=_RESPONSE_FILE
)
_NOUNS: Final = frozenset(get_leaves("pos:NounPhrase"))
_SECOND_SENTENCE: Final = "Russian"
"""The first mention of the second sentence in Figure 2."""
_FIRST_ONLY: Final = "in the first sentence, which has all examples of points 1 to 5,"
_MIN_ANSWERS: Final = 33
"""The fewest answers to a question that explain all ratios; each question was optional."""


def build_example(paper: PaperData) -> Exhibit:
    """Return Figure 1: who annotates what in one sentence. None of these outputs is at hand."""
    present = [NAMES[system] for system in paper.runs]
    outputs = f"outputs of {', '.join(present)}" if present else "no outputs"
    missing = Explanation("data missing", "the outputs on this text are not published", missing_file=_EXAMPLE_OUTPUTS)
    return Exhibit(
        name="Figure 1",
        title="Annotations of four systems in one sentence",
        command=COMMAND,
        cells=tuple(Cell(mention, "systems", letters, None, missing) for mention, letters in FIGURE_1.items()),
        notes=(
            "b is Babelfy, t TagME, d DBpedia Spotlight and f FRED.",
            f"The folder of data has {outputs} on the three datasets, and none of FRED.",
        ),
    )


def build_ratios() -> Exhibit:
    """Return Figure 2: the ratio of respondents who would annotate each mention, drawn as bars."""
    points = tuple(PlotPoint(mention, float(ratio)) for mention, ratio in FIGURE_2.items())
    return Exhibit(
        name="Figure 2",
        title="Ratio of respondents who would annotate each mention",
        command="karat verify survey CAMPAIGN.sqlite",
        cells=tuple(Cell(mention, "ratio", ratio, None, _NO_RESPONSES) for mention, ratio in FIGURE_2.items()),
        plots=(
            Plot(
                "bars",
                "Ratio of respondents who would annotate each mention",
                (PlotSeries("respondents", points),),
                "mention",
                "ratio",
                (0, 1),
            ),
        ),
        notes=(
            "The bars show the printed ratios.",
            "karat verify create NAME --gold FILE --kind survey asks people the same questions about any text.",
            "The setting membership=questionnaire weighs mentions by these ratios.",
        ),
    )


def build_links() -> Exhibit:
    """Return Table 1: the ratio of respondents who chose each of several links of a mention."""
    return Exhibit(
        name="Table 1",
        title="Ratio of respondents who chose each link",
        command="karat verify survey CAMPAIGN.sqlite",
        cells=tuple(
            Cell(f"{mention}: {link}", "Ratio", ratio, None, _NO_RESPONSES)
            for mention, links in TABLE_1.items()
            for link, ratio in links.items()
        ),
    )


def build_claims() -> Exhibit:
    """Return the claims of section 2, checked against the printed ratios."""
    return Exhibit(
        name="Section 2",
        title="Claims about the responses",
        command=COMMAND,
        cells=mark_from_paper(
            chain(
                _list_mailing(),
                _check_extremes(),
                _check_quotations(),
                _check_groups(),
                _check_links(),
                _check_shares(),
            )
        ),
        notes=(
            "The claims are computed from the printed ratios of Figure 2 and Table 1.",
            "The paper does not print the categories of the mentions; they are those of membership=questionnaire.",
        ),
    )


def mention_categories() -> dict[str, list[frozenset[str]]]:
    """Return the categories of each mention of the questionnaire, one set for each link."""
    categories: dict[str, list[frozenset[str]]] = {}
    for rating in RATINGS:
        categories.setdefault(rating.mention.partition(":")[0], []).append(rating.categories)
    return categories


def _list_mailing() -> Iterator[Cell]:
    """Yield how many researchers were asked; the mails are lost."""
    for row, published in (
        ("researchers to whom the questionnaire was sent", "321"),
        ("requests that were delivered", "232"),
        ("responses", f"{RESPONSES}"),
    ):
        yield Cell(row, "claim", published, None, _NO_RESPONSES)


def _check_extremes() -> Iterator[Cell]:
    """Yield the claims about the mentions that all respondents, or none, would annotate."""
    for description, ratio, published in (("all respondents", 1, "Martin Bashir, Joe"), ("no respondent", 0, "rock")):
        mentions = [mention for mention, text in FIGURE_2.items() if float(text) == ratio]
        yield Cell(f"mentions that {description} would annotate", "claim", published, ", ".join(mentions))


def _check_quotations() -> Iterator[Cell]:
    """Yield the ratios that the text quotes, beside those of Figure 2."""
    for mention, published in QUOTED_RATIOS.items():
        yield Cell(f"ratio of {mention}", "claim", published, f"{float(FIGURE_2[mention]):g}")


def _check_groups() -> Iterator[Cell]:
    """Yield the claims about the most popular common entities, and parts of speech other than nouns."""
    categories = mention_categories()
    first = list(FIGURE_2)[: list(FIGURE_2).index(_SECOND_SENTENCE)]
    common = {
        mention: float(ratio)
        for mention, ratio in FIGURE_2.items()
        if all({"form:CommonForm", "reference:Direct"} <= leaves for leaves in categories[mention])
    }
    yield Cell(
        "common entity with the highest ratio",
        "claim",
        "documentary (0.28)",
        _list_highest(common, 1),
        Explanation(
            "slip in the paper",
            f"gas is in the second sentence; {_FIRST_ONLY} documentary has the highest ratio but for Pop, which is "
            "written as a name",
            value_if_changed=_list_highest({m: r for m, r in common.items() if m in first and m.islower()}, 1),
        ),
    )
    others = {
        mention: float(ratio)
        for mention, ratio in FIGURE_2.items()
        if not any(_NOUNS & leaves for leaves in categories[mention])
    }
    yield Cell(
        "parts of speech other than nouns with the highest ratios",
        "claim",
        "his (0.39), white (0.11)",
        _list_highest(others, 2),
        Explanation(
            "slip in the paper",
            f"the adjective Russian is in the second sentence; {_FIRST_ONLY} the claim holds",
            value_if_changed=_list_highest({m: r for m, r in others.items() if m in first}, 2),
        ),
    )


def _list_highest(ratios: Mapping[str, float], count: int) -> str:
    """Return the `count` mentions with the highest ratios, and the ratios, as text."""
    best = sorted(ratios.items(), key=lambda item: -item[1])[:count]
    return ", ".join(f"{mention} ({ratio:.2f})" for mention, ratio in best)


def _check_links() -> Iterator[Cell]:
    """Yield the claims about which link of a mention respondents prefer."""
    for mention, published in (
        ("Russian", "Russia"),
        ("Greeks", "Greece"),
        ("Moscow", "Government of Russia"),
        ("Russian President", "Vladimir Putin"),
    ):
        ratios = {link: float(ratio) for link, ratio in TABLE_1[mention].items()}
        yield Cell(f"preferred link of {mention}", "claim", published, max(ratios, key=ratios.__getitem__))


def _check_shares() -> Iterator[Cell]:
    """Yield whether every printed ratio is a share of the responses."""
    ratios = [*FIGURE_2.values(), *(ratio for links in TABLE_1.values() for ratio in links.values())]
    yield Cell(
        f"ratios that are shares of {RESPONSES} responses",
        "claim",
        "all",
        _count_shares(ratios, RESPONSES),
        Explanation(
            "definition differs",
            f"each question was optional; shares of {_MIN_ANSWERS} to {RESPONSES} answers give all ratios",
            value_if_changed=_count_shares(ratios, _MIN_ANSWERS),
        ),
    )


def _count_shares(ratios: list[str], min_answers: int) -> str:
    """Return how many `ratios` are a rounded share of `min_answers` to `RESPONSES` answers, or `all`."""
    shares = {round(n / size, 2) for size in range(min_answers, RESPONSES + 1) for n in range(size + 1)}
    count = sum(float(ratio) in shares for ratio in ratios)
    return describe_share(count, len(ratios))
