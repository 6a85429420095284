"""The types of the pieces that the client asks for, as TypeScript."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from karat.archive import shape
from karat.pages.files import Written

_HEAD = "// Generated from src/karat/archive/shape.py by tools/generate.py.\n"
_PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null"}


def _type(kind: Any) -> str:  # noqa: ANN401  # whatever an annotation can be
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in inner)
    if origin is UnionType:
        return " | ".join(dict.fromkeys(map(_type, inner)))
    if origin is tuple and inner[1:] == (...,):
        return f"{_type(inner[0])}[]"
    if origin is list:
        return f"({_type(inner[0])})[]" if get_origin(inner[0]) is UnionType else f"{_type(inner[0])}[]"
    if origin is tuple:
        return f"[{', '.join(map(_type, inner))}]"
    if origin in (dict, Mapping):
        return f"Record<string, {_type(inner[1])}>"
    return str(kind.__name__)


def typescript() -> str:
    """One interface for each part of a piece."""
    parts = [
        kind
        for kind in vars(shape).values()
        if isinstance(kind, type) and issubclass(kind, Written) and kind is not Written
    ]
    blocks = [_HEAD]
    for kind in parts:
        hints = get_type_hints(kind)
        names = [field.encode_name for field in msgspec.structs.fields(kind)]
        says = inspect.cleandoc(kind.__doc__ or "").replace("\n", "\n * ")
        body = "\n".join(f"  {name}: {_type(hints[name])};" for name in names)
        blocks.append(f"/** {says} */\nexport interface {kind.__name__} {{\n{body}\n}}\n")
    return "\n".join(blocks)
