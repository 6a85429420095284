"""Signatures and measure names as prose for a paper."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from karat.errors import KaratError, UnknownNameError
from karat.evaluation.cases.errors import categories
from karat.evaluation.measures import expanded, measure_of
from karat.fitting import counted
from karat.matching.read.facets import document_label
from karat.matching.select.select import FILTERS, checked
from karat.model.corpus import NamedData
from karat.model.name import MeasureName, ViewName, parse_measure
from karat.model.signature import Signature
from karat.registry import get, has, names, qualified
from karat.signing import departures, parse_signature, profile_in, profile_named
from karat.spec.category import Category
from karat.spec.choices.choices import CHOICES, IN_ORDER, SIGNED, sentence_of
from karat.spec.choices.task import ALSO, TASKS, task_named
from karat.spec.clustering import Clustering
from karat.spec.key import SETS, Key, key_of
from karat.spec.relation import Relation

ERROR = "error"
"""The label whose values are error categories."""

_BY_CASE = "wrong answers by the answer's own value, the rest by the gold's"


def explain(text: str | Signature) -> str:
    """What a signature, a measure, a relation, a choice or an error category means, with formula and edge cases."""
    text = str(text).strip()
    if text.startswith("karat:"):
        return _signature(parse_signature(text))
    if text in names("relations") or (":" not in text and qualified(text) and has("relations", text)):
        return f"{text}: {_compared(text)}"
    if text in names("clusterings"):
        return f"{text}: {get('clusterings', text, Clustering).says}"
    if text in names("profiles"):
        return _profile(text)
    if text == ERROR:
        return "\n".join(f"{name}: {category.title}." for name, category in categories().items())
    if (found := _category_named(text)) is not None:
        return _category(*found)
    if text in SETS:
        return f"{text}: {', '.join(SETS[text])}"
    if text.lower() in (*TASKS, *ALSO):
        return f"{task_named(text)}: {TASKS[task_named(text)].says}"
    if (key := key_of(text)) is not None:
        return f"{text}: {_key(key)}"
    choice, _, value = text.partition("=")
    if choice in SIGNED:
        return _choice(choice, value)
    known = [*names("relations"), *names("clusterings"), *names("profiles"), *SETS, *TASKS, *SIGNED]
    if ":" not in text and get_close_matches(text.lower(), known, n=1):
        raise UnknownNameError("name", text, known)
    return _measure(parse_measure(expanded(text)[0]))


def _category_named(text: str) -> tuple[str, Category] | None:
    """An error category by its name, or by the title that tables have."""
    return next(
        ((name, each) for name, each in categories().items() if text.lower() in (name, each.title.lower())), None
    )


def _category(name: str, category: Category) -> str:
    lines = [f"{name}: {category.title}. {category.says}"]
    lines.append(f"Rate: of {category.among}." if category.among else "There is no rate: only errors are counted.")
    if category.needs_candidates:
        lines.append("Undefined for systems that never have several candidates.")
    if category.needs:
        lines.append(f"Undecided where these facts are not known, which --kb has: {', '.join(category.needs)}.")
    if category.example is not None:
        own = category.example
        among = "" if own.total is None else f" of {own.total}"
        errors = f"{own.errors} error{'s' * (own.errors != 1)}{among}"
        lines += ["Example:", f"  gold     {own.gold}", f"  answers  {own.answers}", f"  {errors}"]
    lines += [f"Measure: strong:micro.error-rate@{ERROR}={name}"] * bool(category.among)
    lines.append(f"Cases: karat show GOLD ANSWERS --error {name}")
    return "\n".join(lines)


def _choice(name: str, value: str) -> str:
    if value:
        return sentence_of(name, value)
    choice = SIGNED[name]
    lines = [f"{name}={known}: {choice.sentence(known)}" for known in choice.values]
    return "\n".join(lines + ([f"{name}=…: {choice.open.format('…')}"] if choice.open else []))


def _signature(signature: Signature) -> str:
    """Every choice in a sentence; those that depart from the profile are marked with what it has there."""
    parts = signature.as_dict()
    departing = departures(signature)
    lines = [f"Scores computed by Karat {parts['karat']} on {_data(parts.get('data', ''))}{_by(signature, departing)}."]
    for name, value in parts.items():
        if name in ("karat", "profile", "data"):
            continue
        if name not in SIGNED:
            raise KaratError(f"the signature names an unknown choice {name!r}. It comes from another version of Karat.")
        if value not in SIGNED[name].values and not SIGNED[name].open:
            raise KaratError(f"the signature gives {name} an unknown value {value!r}. It comes from another version.")
        departs = f" (departs from {departing[name]})" if departing is not None and name in departing else ""
        lines.append(f"{'*' if departs else ' '} {name}={value}{departs}: {sentence_of(name, value)}")
        if name == "match":
            lines += [f"    {relation}: {_compared(relation)}" for relation in value.split(",")]
    return "\n".join([*lines, "In full:", str(signature)])


def _by(signature: Signature, departing: Mapping[str, str] | None) -> str:
    """By which profile, and in how many choices the signature departs from it."""
    profile = profile_in(signature)
    if departing is None:
        return f" by the profile {profile}, which this version cannot compare it with" if profile else ""
    if not departing:
        return f" by the profile {profile}, from which nothing departs"
    number = counted(len(departing), "choice")
    return f" by the profile {profile}, from which {number} (marked *) depart{'s' * (len(departing) == 1)}"


def _data(data: str) -> str:
    found = NamedData.parse(data)
    after = f" after the steps {found.steps}" if found.steps else ""
    return f"the corpus {found.name} (content {found.digest}){after}" if found.name else "an unnamed corpus"


def _says(relation: Relation) -> str:
    says = f"{relation.says} {IN_ORDER}" if relation.ordered else relation.says
    if not relation.near:
        return says
    points = ", ".join(f"{points:g} for a {name}" for name, points in relation.near.items())
    return f"{says} Partial credit, which no other program gives, to links that are near the right one: {points}."


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
