"""Documents and responses in the layout of Karat JSONL, from decoded JSON or Python's dictionaries."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from itertools import chain
from typing import TypeVar

import msgspec

from karat.formats.parsing.surfaces.entries import (
    END_NAMES,
    ID_NAMES,
    LINK_NAMES,
    LIST_NAMES,
    SCORE_NAMES,
    START_NAMES,
    TYPE_NAMES,
)
from karat.model.document import Candidate, Document, InventedMention, Label, Response, Tag, Triple, WrittenPrediction
from karat.model.errors import InputError, format_suggestions
from karat.model.output.command_options import advise_gold_standard

_T = TypeVar("_T", bound=msgspec.Struct)

_FIELD_SYNONYMS = {
    "labels": ("label", "predictions", "gold", *LIST_NAMES),
    "predictions": ("prediction", "labels", *LIST_NAMES),
    "start": START_NAMES,
    "end": END_NAMES,
    "entity": (*ID_NAMES, *LINK_NAMES),
    "score": SCORE_NAMES,
    "types": TYPE_NAMES,
}


def convert_object(
    value: object, object_type: type[_T], location: str, *, describe_alternative: Callable[[], str] = str
) -> _T:
    """Convert a decoded object to a document, a response or a part of them; an integer may be an id.

    Raise `InputError`, which names `location` and the invalid field, and the field that an unknown one may mean.
    `describe_alternative` returns the end of the advice to look up the fields.
    """
    if isinstance(value, dict):
        if object_type is Document and "predictions" in value:
            raise InputError(
                location,
                actual="predictions",
                expected="gold labels",
                remedy=advise_gold_standard(),
            )
        items = "labels" if object_type is Document else "predictions"
        if items in value and value[items] is None:
            raise InputError(
                location, actual=f"null at `{items}`", expected="a list", remedy="Write [] if there are none"
            )
    fields = _drop_nulls(value)
    if isinstance(fields, dict) and type(fields.get("id")) is int:
        fields["id"] = str(fields["id"])
    try:
        return msgspec.convert(fields, object_type)
    except msgspec.ValidationError as problem:
        if isinstance(fields, dict):
            check_keys(fields, location)
        actual, expected = _explain_problem(str(problem), object_type)
        suggestion = _suggest_field(str(problem), object_type)
        advice = f"{suggestion}See the documentation page 'Karat files' for the fields{describe_alternative()}"
    raise InputError(location, actual=actual, expected=expected, remedy=advice)


def check_keys(fields: Mapping[str, object], location: str) -> None:
    """Raise `InputError` if the keys of an object seem to be document ids: all have objects, or lists of objects."""
    names = {*Document.__struct_fields__, *Response.__struct_fields__, *chain(*_FIELD_SYNONYMS.values())}
    values = list(fields.values())
    members = chain.from_iterable(value if isinstance(value, list) else [value] for value in values)
    has_one_kind = len(values) > 1 and len(set(map(type, values))) == 1
    if has_one_kind and names.isdisjoint(fields) and all(isinstance(member, Mapping | list) for member in members):
        raise InputError(
            location,
            actual=f"an object with the ids of documents as keys, such as {next(iter(fields))!r}",
            expected="one object per document",
            remedy='Write each as {"id": "…", "predictions": […]}, in a gold standard as {"id": "…", "text": "…", '
            '"labels": […]}',
        )


def _drop_nulls(value: object) -> object:
    """Return a decoded value without null fields, except for `entity`, where null is NIL."""
    if not isinstance(value, dict):
        return value
    fields: dict[str, object] = {}
    for key, item in value.items():
        if isinstance(item, list) and key != "evaluation_span":
            fields[key] = [_drop_nulls(entry) for entry in item]
        elif key == "meta" and isinstance(item, dict):
            fields[key] = {name: value for name, value in item.items() if value is not None}
        elif isinstance(item, dict):
            fields[key] = _drop_nulls(item)
        elif item is not None or key == "entity":
            fields[key] = item
    return fields


def _get_field_names(object_type: type[msgspec.Struct], path: str) -> tuple[str, ...]:
    """Return the fields of the object at a path of msgspec such as `$.labels[0]`; `object_type` is the line's type."""
    inner = re.findall(r"[a-z]+(?=\[)", path)
    objects = {
        "labels": Label,
        "predictions": WrittenPrediction,
        "invented": InventedMention,
        "tags": Tag,
        "relations": Triple,
        "candidates": Candidate,
    }
    return (objects[inner[-1]] if inner and inner[-1] in objects else object_type).__struct_fields__


def _suggest_field(problem: str, object_type: type[msgspec.Struct]) -> str:
    """Return advice about the unknown field in a validation message of msgspec: a similar field, or `meta`; or `""`."""
    match = re.match(r"Object contains unknown field `(.*?)`(?: - at `(.*)`)?$", problem)
    if match is None:
        return ""
    fields = _get_field_names(object_type, match[2] or "")
    name = "".join(filter(str.isalnum, match[1].lower()))
    synonyms = [
        field
        for field, names in _FIELD_SYNONYMS.items()
        if field in fields and name in {synonym.replace("_", "") for synonym in names}
    ]
    question = format_suggestions(synonyms[:1] or get_close_matches(match[1].lower(), fields, n=1))
    if question:
        return f"{question} "
    return f"Put `{match[1]}` into the object `meta`, or delete it. " if "meta" in fields else ""


def _explain_problem(problem: str, object_type: type[msgspec.Struct]) -> tuple[str, str]:
    """Rephrase a validation message of msgspec as the actual and the expected value, for an `InputError`."""
    message, _, path = problem.partition(" - at `")
    suffix = f" at `{path.rstrip('`').removeprefix('$.')}`" if path.rstrip("`") not in ("", "$") else ""
    if match := re.fullmatch(r"Expected (.*), got (.*)", message):
        return f"{match[2]}{suffix}", match[1].replace("str", "string")
    if match := re.fullmatch(r"Expected (.*)", message):
        return f"another value{suffix}", match[1]
    if match := re.fullmatch(r"Object missing required field (.*)", message):
        return f"no field {match[1]}{suffix}", f"the field {match[1]}"
    if match := re.fullmatch(r"Object contains unknown field (.*)", message):
        return (
            f"the unknown field {match[1]}{suffix}",
            f"fields out of {', '.join(_get_field_names(object_type, path))}",
        )
    return f"{message}{suffix}", "a valid value"
