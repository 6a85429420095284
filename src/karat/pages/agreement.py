"""How far annotators agree, as `karat agree` prints and writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from karat.fitting import counted, wrapped
from karat.pages.files import Written, line
from karat.pages.tables import aligned

if TYPE_CHECKING:
    from karat.explanation.agreement import Agreed, Agreement, PairAgreed


class AgreedValue(Written, frozen=True):
    """A coefficient with its interval over documents, the items it is over, and why it has no value."""

    value: float | None
    interval: tuple[float, float] | None
    items: int
    undefined: str | None


class AnnotatorPair(Written, frozen=True):
    """Two annotators: micro F1 by relation, Cohen's kappa over all items, over those both marked, by dimension."""

    one: str
    two: str
    documents: int
    f1: Mapping[str, AgreedValue]
    kappa: AgreedValue
    kappa_of_links: AgreedValue
    kappa_of_categories: Mapping[str, AgreedValue]


class AgreedCategories(Written, frozen=True):
    """All annotators on the categories of a dimension: the share of items they agree on, Fleiss' kappa, alpha."""

    same: AgreedValue
    fleiss: AgreedValue
    alpha: AgreedValue


class AgreementFile(Written, frozen=True):
    """What `karat agree --json` writes."""

    layout: Literal["karat-agreement/1"]
    annotators: tuple[str, ...]
    documents: int
    items: int
    interval_level: float
    resamples: int
    left_out: Mapping[str, int]
    pairs: tuple[AnnotatorPair, ...]
    fleiss: AgreedValue
    fleiss_of_links: AgreedValue
    alpha: AgreedValue
    alpha_of_links: AgreedValue
    categories: Mapping[str, AgreedCategories]


def json_of(found: Agreement) -> bytes:
    """All of it."""
    return line(
        AgreementFile(
            layout="karat-agreement/1",
            annotators=found.annotators,
            documents=found.documents,
            items=found.items,
            interval_level=found.level,
            resamples=found.resamples,
            left_out=found.left_out,
            pairs=tuple(map(_pair, found.pairs)),
            fleiss=_value(found.fleiss),
            fleiss_of_links=_value(found.fleiss_of_links),
            alpha=_value(found.alpha),
            alpha_of_links=_value(found.alpha_of_links),
            categories={
                dimension: AgreedCategories(*map(_value, agreed)) for dimension, agreed in found.categories.items()
            },
        )
    )


def _pair(pair: PairAgreed) -> AnnotatorPair:
    f1 = {relation: _value(agreed) for relation, agreed in pair.f1.items()}
    kappas = _value(pair.kappa), _value(pair.kappa_of_links)
    by_dimension = {dimension: _value(agreed) for dimension, agreed in pair.kappa_of_categories.items()}
    return AnnotatorPair(pair.one, pair.two, pair.documents, f1, *kappas, by_dimension)


def _value(agreed: Agreed) -> AgreedValue:
    return AgreedValue(agreed.value, agreed.interval, agreed.items, agreed.reason)


def page(found: Agreement, *, width: int | None = None) -> str:
    """All of it, as people read it."""
    numbers = (len(found.annotators), "annotator"), (found.documents, "document"), (found.items, "span")
    head = f"{', '.join(counted(number, word) for number, word in numbers)} marked by anyone"
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
        aligned([["F1 in percent, one as gold for the other", *relations], *f1], width=width),
        aligned([["Cohen's kappa", "all spans", "items", "on links", "items"], *kappa], width=width),
        aligned([["all annotators", "all spans", "items", "on links", "items"], *every], width=width),
    ]
    blocks += _categories(found, width)
    if found.resamples:
        level = f"{100 * found.level:g} %"
        blocks.append(f"In brackets: {level} intervals from {found.resamples} samples of as many documents.")
    said = [f"left out: {', '.join(f'{what} {count}' for what, count in found.left_out.items())}"]
    blocks += said if found.left_out else []
    return wrapped("\n\n".join([*blocks, *_undefined(found)]) + "\n", width)


def _categories(found: Agreement, width: int | None) -> list[str]:
    """What annotators agree on by dimension of the categories, where they give any."""
    if not found.categories:
        return []
    kappa = [[f"{pair.one}, {pair.two}", *map(_cell, pair.kappa_of_categories.values())] for pair in found.pairs]
    every = [
        [dimension, str(own.same.items), _cell(own.same, percent=True), _cell(own.fleiss), _cell(own.alpha)]
        for dimension, own in found.categories.items()
    ]
    head = ["all, on categories", "items", "the same, in percent", "Fleiss' kappa", "alpha"]
    return [
        aligned([["Cohen's kappa on categories", *found.categories], *kappa], width=width),
        aligned([head, *every], width=width),
    ]


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
    every |= {
        f"{name} on {dimension}": agreed
        for dimension, own in found.categories.items()
        for name, agreed in {"Fleiss' kappa": own.fleiss, "alpha": own.alpha}.items()
    }
    lines = [f"{name} undefined: {agreed.reason}" for name, agreed in every.items() if agreed.reason is not None]
    return ["\n".join(lines)] if lines else []
