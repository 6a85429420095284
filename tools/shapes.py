"""TypeScript types of the resources that the web client requests."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from karat.model.output.json_files import JsonFile, JsonRecord
from karat.web.archive import shape

_HEAD = "// Generated from src/karat/web/archive/shape.py by tools/generate.py.\n"
_PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null"}


def _to_typescript(kind: Any) -> str:  # noqa: ANN401  # any annotation
    """Return the TypeScript type of a Python annotation."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in inner)
    if origin is UnionType:
        return " | ".join(dict.fromkeys(map(_to_typescript, inner)))
    if origin is tuple and inner[1:] == (...,):
        return f"{_to_typescript(inner[0])}[]"
    if origin is list:
        return (
            f"({_to_typescript(inner[0])})[]" if get_origin(inner[0]) is UnionType else f"{_to_typescript(inner[0])}[]"
        )
    if origin is tuple:
        return f"[{', '.join(map(_to_typescript, inner))}]"
    if origin in (dict, Mapping):
        return f"Record<string, {_to_typescript(inner[1])}>"
    return str(kind.__name__)


def build_typescript() -> str:
    """Return the text of a TypeScript file with one interface for each JSON record in `karat.web.archive.shape`."""
    parts = [
        kind
        for kind in vars(shape).values()
        if isinstance(kind, type) and issubclass(kind, JsonRecord) and kind not in (JsonRecord, JsonFile)
    ]
    blocks = [_HEAD]
    for kind in parts:
        hints = get_type_hints(kind)
        names = [field.encode_name for field in msgspec.structs.fields(kind)]
        description = inspect.cleandoc(kind.__doc__ or "").replace("\n", "\n * ")
        fields = {name: _to_typescript(hints[name]) for name in names}
        if kind.__struct_config__.tag is not None:
            fields = {kind.__struct_config__.tag_field: f'"{kind.__struct_config__.tag}"', **fields}
        body = "\n".join(f"  {name}: {annotation};" for name, annotation in fields.items())
        blocks.append(f"/** {description} */\nexport interface {kind.__name__} {{\n{body}\n}}\n")
    return "\n".join(blocks)
