"""Explanations of signatures, measures, relations, settings and error categories as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from karat.evaluation.cases.errors import categories
from karat.evaluation.measures import expand_measure, find_short_name, get_measure
from karat.matching.read.facets import find_document_facet
from karat.matching.select.selection import FILTERS, check_filters
from karat.model.corpus import DataName
from karat.model.errors import KaratError, UnknownNameError
from karat.model.measure_name import MeasureName, parse_measure
from karat.model.output.text_layout import format_count
from karat.model.profile_signatures import find_overrides, get_profile, get_profile_name, parse_signature
from karat.model.registry import get_plugin, has_plugin, has_qualifier, list_plugins
from karat.model.signature import Signature
from karat.model.spec.category import ErrorCategory
from karat.model.spec.clustering import Clustering
from karat.model.spec.facet import Facet
from karat.model.spec.key import SETS, Key, parse_key
from karat.model.spec.relation import MatchRelation
from karat.model.spec.settings.settings import ORDER_NOTE, SETTINGS, SIGNED_SETTINGS, describe_value
from karat.model.spec.settings.task import TASK_ALIASES, TASKS, parse_task
from karat.model.spec.settings.user_terms import TERMS, lacks_view, parse_terms, parse_view_term

ERROR = "error"
"""The facet whose values are error categories."""

_CASE_GROUPS = "wrong predictions are grouped by their own value, all other cases by the gold value"


def explain(text: str | Signature) -> str:
    """Explain a signature, measure, relation, setting, profile, task, facet or error category, with edge cases.

    Raises `UnknownNameError` with similar names if `text` is none of these.
    """
    text = str(text).strip()
    if text.startswith("karat:"):
        return _describe_signature(parse_signature(text))
    if text in list_plugins("relations") or (":" not in text and has_qualifier(text) and has_plugin("relations", text)):
        return f"{text}: {_describe_comparison(text)}"
    if text in list_plugins("clusterings"):
        return f"{text}: {get_plugin('clusterings', text, Clustering).description}"
    if text in list_plugins("profiles"):
        return _describe_profile(text)
    if text == ERROR:
        return "\n".join(f"{name}: {category.title}." for name, category in categories().items())
    if (named_category := _find_category(text)) is not None:
        return _describe_category(*named_category)
    if text in SETS:
        return f"{text}: {', '.join(SETS[text])}"
    if text.lower() in (*TASKS, *TASK_ALIASES):
        return f"{parse_task(text)}: {TASKS[parse_task(text)].description}"
    if (key := parse_key(text)) is not None:
        return f"{text}: {_describe_key(key)}"
    setting, _, value = text.partition("=")
    if setting in SIGNED_SETTINGS:
        return _describe_setting(setting, value)
    if (facet_name := text.replace("_", "-")) in list_plugins("facets"):
        return _describe_facet(facet_name, get_plugin("facets", facet_name, Facet))
    values = sorted({value for setting in SIGNED_SETTINGS.values() for value in setting.values})
    names = [
        *values,
        *list_plugins("facets"),
        *list_plugins("relations"),
        *list_plugins("clusterings"),
        *list_plugins("profiles"),
        *SETS,
        *TASKS,
        *SIGNED_SETTINGS,
        *(phrase for phrase, term in TERMS.items() if term.part == "measure"),
    ]
    if (view := parse_view_term(text)) is not None and not view.filters:
        return f"{text} means {view.relation} in Karat.\n{view.relation}: {_describe_comparison(view.relation)}"
    if terms := parse_terms(text):
        term_names = f"{terms[0].view}:{', '.join(term.short_name for term in terms)}"
        lines = [f"{text} means {term_names} in Karat.", _describe_measure(terms[-1])]
        view = terms[0].view
        differing = ("nil", "empty") if view.filters else ("nil", "duplicates") if view.relation == "entity" else ()
        return "\n".join([*lines, *_describe_gerbil_settings(differing)])
    if text in values:
        settings = [name for name, item in SIGNED_SETTINGS.items() if text in item.values]
        return "\n".join(f"{name}={text}: {describe_value(name, text)}" for name in settings)
    if (short_name := find_short_name(text)) is not None:
        measure = f"strong:{short_name}"
        return f"{text} needs a match relation, such as {measure}.\n{_describe_measure(parse_measure(measure))}"
    if ":" not in text and not lacks_view(text) and get_close_matches(text.lower(), names, n=1):
        raise UnknownNameError("name", text, dict.fromkeys(names))
    return _describe_measure(parse_measure(expand_measure(text)[0]))


def _describe_gerbil_settings(names: Iterable[str]) -> list[str]:
    """Return lines on the settings of GERBIL by which a measure differs under its profile."""
    settings = get_profile("gerbil").settings
    return [
        f"Under --profile gerbil, {name}={settings[name]}: {describe_value(name, settings[name])}" for name in names
    ]


def _describe_facet(name: str, facet: Facet) -> str:
    """Return description, order of values, example and use of a facet, as lines of text."""
    command = "compare" if facet.from_outcomes is not None else "score"
    lines = [f"{name}: {facet.title}. {facet.description}"]
    lines += [f"Order of the values: {', '.join(facet.value_order)}."] * bool(facet.value_order)
    lines += [f"Example: {facet.example}"] * bool(facet.example)
    return "\n".join([*lines, f"Use: karat {command} … --by {name}"])


def _find_category(text: str) -> tuple[str, ErrorCategory] | None:
    """Return the name and error category for a name or title, in any case; None if there is none."""
    return next(
        ((name, category) for name, category in categories().items() if text.lower() in (name, category.title.lower())),
        None,
    )


def _describe_category(name: str, category: ErrorCategory) -> str:
    """Return title, rate, example and the command for cases of an error category, as lines of text."""
    lines = [f"{name}: {category.title}. {category.description}"]
    lines.append(
        f"Rate: of {category.total_description}."
        if category.total_description
        else "No rate is defined; only errors are counted."
    )
    if category.needs_candidates:
        lines.append("Undefined for systems that never have several candidates.")
    if category.required_facts:
        lines.append(
            f"Undecided if these facts are unknown, which --kb can provide: {', '.join(category.required_facts)}."
        )
    if category.example is not None:
        example = category.example
        total = "" if example.total is None else f" of {example.total}"
        errors = f"{example.errors} error{'s' * (example.errors != 1)}{total}"
        lines += ["Example:", f"  gold         {example.gold}", f"  predictions  {example.predictions}", f"  {errors}"]
    lines += [f"Measure: strong:micro.error-rate@{ERROR}={name}"] * bool(category.total_description)
    lines.append(f"Cases: karat show GOLD PREDICTIONS --error {name}")
    return "\n".join(lines)


def _describe_setting(name: str, value: str) -> str:
    """Return the description of one value of a setting, or of all its values if `value` is empty."""
    if value:
        return describe_value(name, value)
    setting = SIGNED_SETTINGS[name]
    lines = [f"{name}={value_name}: {setting.describe(value_name)}" for value_name in setting.values]
    return "\n".join(
        lines + ([f"{name}=…: {setting.open_description.format('…')}"] if setting.open_description else [])
    )


def _describe_signature(signature: Signature) -> str:
    """Return a line for every setting of a signature; overrides are marked with the profile's value.

    Raises `KaratError` for settings and values that this version does not know.
    """
    parts = signature.to_dict()
    overrides = find_overrides(signature)
    lines = [
        f"Scores computed by Karat {parts['karat']} on {_describe_data(parts.get('data', ''))}"
        f"{_describe_overrides(signature, overrides)}."
    ]
    for name, value in parts.items():
        if name in ("karat", "profile", "data"):
            continue
        if name not in SIGNED_SETTINGS:
            raise KaratError(
                f"the signature contains an unknown setting {name!r}. It was written by another version of Karat."
            )
        if value not in SIGNED_SETTINGS[name].values and not SIGNED_SETTINGS[name].open_description:
            raise KaratError(
                f"the signature contains an unknown value {name}={value!r}. It was written by another version of Karat."
            )
        override_note = f" (overrides {overrides[name]})" if overrides is not None and name in overrides else ""
        lines.append(f"{'*' if override_note else ' '} {name}={value}{override_note}: {describe_value(name, value)}")
        if name == "match":
            lines += [f"    {relation}: {_describe_comparison(relation)}" for relation in value.split(",")]
    return "\n".join([*lines, "In full:", str(signature)])


def _describe_overrides(signature: Signature, overrides: Mapping[str, str] | None) -> str:
    """Return the phrase that names the profile of a signature and its number of overrides.

    `overrides` None means that the profile cannot be compared.
    """
    profile = get_profile_name(signature)
    if overrides is None:
        return f" with the profile {profile}, which this version of Karat cannot compare" if profile else ""
    if not overrides:
        return f" with the profile {profile} and no overrides"
    number = format_count(len(overrides), "override")
    return f" with the profile {profile} and {number} (marked *)"


def _describe_data(data: str) -> str:
    """Return the phrase that names a corpus with its digest and steps, from the data part of a signature."""
    data_name = DataName.parse(data)
    steps = f" after the steps {data_name.steps}" if data_name.steps else ""
    return f"the corpus {data_name.name} (content {data_name.digest}){steps}" if data_name.name else "an unnamed corpus"


def _describe_relation(relation: MatchRelation) -> str:
    """Return the description of a relation, with its partial credit."""
    description = f"{relation.description} {ORDER_NOTE}" if relation.is_order_dependent else relation.description
    if not relation.partial_credit:
        return description
    points = ", ".join(f"{points:g} for a {name}" for name, points in relation.partial_credit.items())
    return (
        f"{description} Links that are close to the correct one get partial credit, which no reference tool gives: "
        f"{points}."
    )


def _describe_comparison(name: str) -> str:
    """Return what a view compares: the description of a relation, clustering or neleval key.

    Files are named but never executed, because a signature may come from an untrusted source.
    """
    if name.endswith(".py") or ".py@" in name:
        return (
            "A relation defined in a user's file, which is executed only when scoring; see the file for its definition."
        )
    task, _, inner = name.partition("/")
    if inner and task in TASKS:
        return _describe_comparison(inner)
    if name == "blanc":
        return "Pairs of mentions in one cluster (pairwise), and pairs in different clusters (pairwise-negative)."
    if name in list_plugins("clusterings"):
        return get_plugin("clusterings", name, Clustering).description
    key = parse_key(name)
    return _describe_relation(get_plugin("relations", name, MatchRelation)) if key is None else _describe_key(key)


def _describe_key(key: Key) -> str:
    """Return what a neleval key compares."""
    scope = f"annotations that meet {' and '.join(key.conditions)}" if key.conditions else "all annotations"
    fields = ", ".join(key.fields)
    if key.clustering is not None:
        clustering = get_plugin("clusterings", key.clustering, Clustering)
        return f"Of {scope}, mentions are the same if they agree in {fields}. {clustering.description}"
    if key.aggregator == "sets":
        return f"Of {scope}, the sets of their {fields} are compared; duplicates count once."
    kinds = {"max": "by the largest overlap", "sum": "by all overlaps together"}
    recall, precision = key.aggregator.removeprefix("overlap-")[:3], key.aggregator[-3:]
    return (
        f"Of {scope} that agree in {fields} apart from their span, the share of characters that the other side covers: "
        f"{kinds[recall]} for recall, {kinds[precision]} for precision."
    )


def _describe_profile(name: str) -> str:
    """Return the description and all settings of a profile, and whether the order of mentions matters."""
    profile = get_profile(name)
    lines = [f"{name}: {profile.description}"]
    for setting, value in profile.settings.items():
        lines.append(f"{setting}={value}: {describe_value(setting, value)}")
    order_dependent = find_order_dependent_settings(profile.settings)
    order = f"matters: {', '.join(order_dependent)}" if order_dependent else "never matters"
    return "\n".join([*lines, f"The order of mentions in the files {order}."])


def find_order_dependent_settings(settings: Mapping[str, str]) -> list[str]:
    """Return the settings and relations, as `NAME=VALUE`, whose result depends on the order of mentions in the files.

    `settings` are all settings of a profile, with `match`.
    """
    dependent = [
        f"{name}={value}" for name, value in settings.items() if value in SETTINGS[name].order_dependent_values
    ]
    relations = [name for name in settings["match"].split(",") if name in list_plugins("relations")]
    return [
        *dependent,
        *(f"match={name}" for name in relations if get_plugin("relations", name, MatchRelation).is_order_dependent),
    ]


def _describe_measure(name: MeasureName) -> str:
    """Return the formula, scope and edge cases of the measure `name`, as lines of text.

    Raise `UnknownNameError` if the measure, or a filter in `name` such as `nil` in `strong[nil]:micro.f1`, is unknown.
    """
    check_filters(name.view.filters)
    measure = get_measure(name)
    lines = [f"{name}: {measure.title}."]
    if name.view.task is not None:
        task = TASKS[parse_task(name.view.task)]
        lines.append(f"Task: {task.description}")
        if task.parts:
            return "\n".join([*lines, f"Of {', '.join(part.task for part in task.parts)}, each with its own scores."])
    lines.append(f"Match: {_describe_comparison(name.view.relation)}")
    lines += [f"Restricted to: {_describe_filter(item)}." for item in name.view.filters]
    if name.view.relation == "blanc":
        short = name.short_name
        lines.append(
            f"Formula: the mean of pairwise:{short} and pairwise-negative:{short}, each with {measure.formula}."
        )
        lines.append(
            "If neither side has a pair in one of the two, it is excluded from the mean. If neither side has two "
            "mentions, the score is 1 if both have the same mention, else 0 (Luo et al., 2014)."
        )
    else:
        lines.append(f"Formula: {measure.formula}.")
    if name.aggregate == "micro":
        lines.append("Micro: the formula on the sums over all documents.")
    elif name.aggregate == "macro" and measure.from_measures is None:
        lines.append("Macro: the mean of the documents' values, over the documents in which it is defined.")
    lines.append(f"Undefined (null) if {measure.undefined_case}.")
    if measure.from_statistics is not None and name.aggregate == "macro":
        lines.append(f"Empty documents, unless another rule is set: {SETTINGS['empty'].values['fair']}")
    if name.group is not None:
        facet, value = name.group
        scope = "the cases of such documents" if find_document_facet(facet) is not None else _CASE_GROUPS
        lines.append(f"Only cases with {facet} {value}: {scope}.")
    if measure.note:
        lines.append(measure.note)
    return "\n".join(lines)


def _describe_filter(condition: str) -> str:
    """Return the description of a filter, given by name or as `FACET=VALUE`."""
    if condition in FILTERS:
        return FILTERS[condition].description
    facet, _, value = condition.partition("=")
    return f"mentions and predictions whose {facet} is {value}, selected before matching"
