"""Class labels of the library datasets: columns of numbers whose names are in the metadata of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from karat.model.json.decoder import JsonError, decode_json
from karat.model.tables.arrow import Arrow

_METADATA_KEY: Final = b"huggingface"
_MISSING: Final = -1  # the number of a value without a label


def read_named_rows(table: Arrow) -> list[dict[str, Any]]:
    """Return the rows of a table, with names in place of the numbers of class labels, also in lists and objects.

    A missing label becomes None. A number without a name stays, so that the reader of the row refuses it.
    """
    rows: list[dict[str, Any]] = table.to_pylist()
    features = {name: feature for name, feature in _read_features(table).items() if _has_class_label(feature)}
    return (
        [{name: _decode(value, features.get(name)) for name, value in row.items()} for row in rows]
        if features
        else rows
    )


def _read_features(table: Arrow) -> Mapping[str, Any]:
    """Return the features of the columns that the library stores in the schema; empty if there are none."""
    try:
        features = decode_json((table.schema.metadata or {})[_METADATA_KEY])["info"]["features"]
    except (KeyError, TypeError, JsonError):
        return {}
    return features if isinstance(features, dict) else {}


def _is_class_label(feature: object) -> bool:
    """Return whether a feature is a class label with names."""
    return isinstance(feature, dict) and feature.get("_type") == "ClassLabel" and isinstance(feature.get("names"), list)


def _get_members(feature: object) -> object:
    """Return the feature of the members of a list; None if the feature is not one of lists."""
    if isinstance(feature, list):
        return feature[0] if feature else None
    return feature.get("feature") if isinstance(feature, dict) and isinstance(feature.get("_type"), str) else None


def _get_fields(feature: object) -> dict[str, Any]:
    """Return the features of the fields of an object; empty if the feature is not one of objects."""
    return feature if isinstance(feature, dict) and not isinstance(feature.get("_type"), str) else {}


def _has_class_label(feature: object) -> bool:
    """Return whether a feature is a class label or contains one."""
    members = _get_members(feature)
    nested = [*_get_fields(feature).values(), *([] if members is None else [members])]
    return _is_class_label(feature) or any(map(_has_class_label, nested))


def _decode(value: Any, feature: Any) -> Any:  # noqa: ANN401  # any value of a table
    """Return a value with names in place of the numbers of class labels."""
    if value is None or not _has_class_label(feature):
        return value
    if _is_class_label(feature):
        names = feature["names"]
        is_named = isinstance(value, int) and 0 <= value < len(names)
        return str(names[value]) if is_named else None if value == _MISSING else value
    members = _get_members(feature)
    if isinstance(value, dict):  # an object, or one of lists, as the library stores a list of objects
        fields = _get_fields(feature) or {name: [item] for name, item in _get_fields(members).items()}
        return {name: _decode(item, fields.get(name)) for name, item in value.items()}
    return [_decode(item, members) for item in value] if isinstance(value, list) else value
