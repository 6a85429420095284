"""Signatures and measure names as prose for a paper."""

from __future__ import annotations

from karat.errors import KaratError, UnknownNameError
from karat.matching.select import FILTERS, checked
from karat.model.name import MeasureName, ViewName, parse_measure
from karat.model.signature import Signature, parse_signature
from karat.pipeline.folds import needs_detection
from karat.registry import get, names
from karat.spec.measure import Measure
from karat.spec.profile import CHOICES
from karat.spec.relation import Relation


def explain(text: str | Signature) -> str:
    """What a signature, a measure, a relation or a choice means, in sentences, with formula and edge cases."""
    text = str(text).strip()
    if text.startswith("karat:"):
        return _signature(parse_signature(text))
    if text in names("relations"):
        return f"{text}: {_relation(text).says}"
    choice, _, value = text.partition("=")
    if choice in CHOICES:
        return _choice(choice, value)
    return _measure(parse_measure(text))


def _choice(name: str, value: str) -> str:
    choice = CHOICES[name]
    if value and value not in choice.values and not choice.open:
        raise UnknownNameError(f"value of {name}", value, choice.values)
    if value:
        return choice.values.get(value) or choice.open.format(value)
    lines = [f"{name}={known}: {says}" for known, says in choice.values.items()]
    return "\n".join(lines + ([f"{name}=…: {choice.open.format('…')}"] if choice.open else []))


def _signature(signature: Signature) -> str:
    parts = signature.as_dict()
    lines = [f"Scores computed by Karat {parts['karat']} on {_data(parts.get('data', ''))}."]
    for name, value in parts.items():
        if name in ("karat", "data"):
            continue
        if name not in CHOICES:
            raise KaratError(f"the signature names an unknown choice {name!r}. It comes from another version of Karat.")
        choice = CHOICES[name]
        if value not in choice.values and not choice.open:
            raise KaratError(f"the signature gives {name} an unknown value {value!r}. It comes from another version.")
        lines.append(choice.values[value] if value in choice.values else choice.open.format(value))
        if name == "match":
            lines += [
                f"{relation}: {_relation(relation).says}" for relation in value.split(",") if ".py@" not in relation
            ]
    return "\n".join(lines)


def _data(data: str) -> str:
    name, _, digest = data.rpartition("@")
    return f"the corpus {name} (content {digest})" if name else "an unnamed corpus"


def _relation(name: str) -> Relation:
    return get("relations", name, Relation)


def _measure(name: MeasureName) -> str:
    needs_detection(name)  # says so if there is no such measure
    checked(name.view.filters)
    measure = get("measures", name.measure, Measure)
    relation = _relation(name.view.relation)
    lines = [f"{name}: {measure.title} under {relation.title.lower()}."]
    lines.append(f"Match: {relation.says}")
    lines += [f"Restricted to: {_filter(name.view, item)}." for item in name.view.filters]
    lines.append(f"Formula: {measure.formula}.")
    if name.aggregate == "micro":
        lines.append("Micro: the formula on the sums over all documents.")
    elif name.aggregate == "macro" and measure.values is not None:
        lines.append("Macro: the mean of the documents' values, over the documents in which it is defined.")
    lines.append(f"Undefined, and null, where {measure.undefined}.")
    if measure.values is not None and name.aggregate == "macro":
        lines.append(f"Empty documents: {CHOICES['empty'].values['fair']}")
    if name.group is not None:
        label, value = name.group
        which = (
            "of that document" if label == "doc" else "wrong answers by the answer's own value, the rest by the gold's"
        )
        lines.append(f"Only cases with {label} {value}: {which}.")
    if measure.note:
        lines.append(measure.note)
    return "\n".join(lines)


def _filter(view: ViewName, item: str) -> str:
    if item in FILTERS:
        return FILTERS[item].says
    label, _, value = item.partition("=")
    return f"mentions and answers whose {label} is {value}, chosen before they are matched"
