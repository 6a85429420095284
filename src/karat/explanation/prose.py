"""Signatures and measure names as prose for a paper."""

from __future__ import annotations

from collections.abc import Mapping

from karat.errors import KaratError
from karat.evaluation.measures import measure_of, profile_named
from karat.matching.read.facets import document_label
from karat.matching.select.select import FILTERS, checked
from karat.model.name import MeasureName, ViewName, parse_measure
from karat.model.signature import Signature, parse_signature
from karat.registry import get, has, names
from karat.spec.choices.choices import CHOICES, IN_ORDER, SIGNED, sentence_of
from karat.spec.choices.task import ALSO, TASKS, task_named
from karat.spec.clustering import Clustering
from karat.spec.key import SETS, Key, key_of
from karat.spec.relation import Relation

_BY_CASE = "wrong answers by the answer's own value, the rest by the gold's"


def explain(text: str | Signature) -> str:
    """What a signature, a measure, a relation or a choice means, in sentences, with formula and edge cases."""
    text = str(text).strip()
    if text.startswith("karat:"):
        return _signature(parse_signature(text))
    if text in names("relations") or (">=" in text and ":" not in text and has("relations", text)):
        return f"{text}: {_compared(text)}"
    if text in names("clusterings"):
        return f"{text}: {get('clusterings', text, Clustering).says}"
    if text in names("profiles"):
        return _profile(text)
    if text in SETS:
        return f"{text}: {', '.join(SETS[text])}"
    if text.lower() in (*TASKS, *ALSO):
        return f"{task_named(text)}: {TASKS[task_named(text)].says}"
    if (key := key_of(text)) is not None:
        return f"{text}: {_key(key)}"
    choice, _, value = text.partition("=")
    if choice in SIGNED:
        return _choice(choice, value)
    return _measure(parse_measure(text))


def _choice(name: str, value: str) -> str:
    if value:
        return sentence_of(name, value)
    choice = SIGNED[name]
    lines = [f"{name}={known}: {choice.sentence(known)}" for known in choice.values]
    return "\n".join(lines + ([f"{name}=…: {choice.open.format('…')}"] if choice.open else []))


def _signature(signature: Signature) -> str:
    parts = signature.as_dict()
    lines = [f"Scores computed by Karat {parts['karat']} on {_data(parts.get('data', ''))}."]
    for name, value in parts.items():
        if name in ("karat", "data"):
            continue
        if name not in SIGNED:
            raise KaratError(f"the signature names an unknown choice {name!r}. It comes from another version of Karat.")
        if value not in SIGNED[name].values and not SIGNED[name].open:
            raise KaratError(f"the signature gives {name} an unknown value {value!r}. It comes from another version.")
        lines.append(sentence_of(name, value))
        if name == "match":
            lines += [f"{relation}: {_compared(relation)}" for relation in value.split(",")]
    return "\n".join(lines)


def _data(data: str) -> str:
    name, _, digest = data.rpartition("@")
    return f"the corpus {name} (content {digest})" if name else "an unnamed corpus"


def _says(relation: Relation) -> str:
    return f"{relation.says} {IN_ORDER}" if relation.ordered else relation.says


def _compared(name: str) -> str:
    """What is compared in a view: by a relation, a clustering, or a key of neleval's.

    A file is named, but never run: a signature may come from anybody.
    """
    if name.endswith(".py") or ".py@" in name:
        return "A relation of somebody's own, in a file, which only scoring runs; the file says what it compares."
    task, _, inner = name.partition("/")
    if inner and task in TASKS:
        return _compared(inner)
    if name == "blanc":
        return "Pairs of mentions in one cluster (pairwise), and pairs that are kept apart (pairwise-negative)."
    if name in names("clusterings"):
        return get("clusterings", name, Clustering).says
    key = key_of(name)
    return _says(get("relations", name, Relation)) if key is None else _key(key)


def _key(key: Key) -> str:
    which = f"annotations that meet {' and '.join(key.conditions)}" if key.conditions else "all annotations"
    fields = ", ".join(key.fields)
    if key.clustering is not None:
        clustering = get("clusterings", key.clustering, Clustering)
        return f"Of {which}, mentions are the same if they agree in {fields}. {clustering.says}"
    if key.aggregator == "sets":
        return f"Of {which}, the sets of their {fields} are compared; what occurs twice counts once."
    kinds = {"max": "by the one that covers most", "sum": "by all together"}
    recall, precision = key.aggregator.removeprefix("overlap-")[:3], key.aggregator[-3:]
    return (
        f"Of {which} that agree in {fields} but for their place, the share of characters that the other side covers: "
        f"{kinds[recall]} for recall, {kinds[precision]} for precision."
    )


def _profile(name: str) -> str:
    profile = profile_named(name)
    lines = [f"{name}: {profile.says}"]
    for choice, value in profile.choices.items():
        lines.append(f"{choice}={value}: {sentence_of(choice, value)}")
    ordered = in_order(profile.choices)
    order = f"matters: {', '.join(ordered)}" if ordered else "never matters"
    return "\n".join([*lines, f"The order of mentions in the files {order}."])


def in_order(choices: Mapping[str, str]) -> list[str]:
    """Those of some choices that look at the order of mentions in the files; of relations, each by itself."""
    found = [f"{name}={value}" for name, value in choices.items() if value in CHOICES[name].ordered]
    relations = [name for name in choices["match"].split(",") if name in names("relations")]
    return [*found, *(f"match={name}" for name in relations if get("relations", name, Relation).ordered)]


def _measure(name: MeasureName) -> str:
    checked(name.view.filters)
    measure = measure_of(name)
    lines = [f"{name}: {measure.title}."]
    if name.view.task is not None:
        task = TASKS[task_named(name.view.task)]
        lines.append(f"Task: {task.says}")
        if task.parts:
            return "\n".join([*lines, f"Of {', '.join(part.task for part in task.parts)}, each with its own scores."])
    lines.append(f"Match: {_compared(name.view.relation)}")
    lines += [f"Restricted to: {_filter(name.view, item)}." for item in name.view.filters]
    if name.view.relation == "blanc":
        short = name.short
        lines.append(
            f"Formula: the mean of pairwise:{short} and pairwise-negative:{short}, each with {measure.formula}."
        )
        lines.append("Of the two, one in which neither side has a pair is left out of the mean.")
    else:
        lines.append(f"Formula: {measure.formula}.")
    if name.aggregate == "micro":
        lines.append("Micro: the formula on the sums over all documents.")
    elif name.aggregate == "macro" and measure.derive is None:
        lines.append("Macro: the mean of the documents' values, over the documents in which it is defined.")
    lines.append(f"Undefined, and null, where {measure.undefined}.")
    if measure.values is not None and name.aggregate == "macro":
        lines.append(f"Empty documents, unless another rule is chosen: {CHOICES['empty'].values['fair']}")
    if name.group is not None:
        label, value = name.group
        which = "those of such documents" if document_label(label) is not None else _BY_CASE
        lines.append(f"Only cases with {label} {value}: {which}.")
    if measure.note:
        lines.append(measure.note)
    return "\n".join(lines)


def _filter(view: ViewName, item: str) -> str:
    if item in FILTERS:
        return FILTERS[item].says
    label, _, value = item.partition("=")
    return f"mentions and answers whose {label} is {value}, chosen before they are matched"
