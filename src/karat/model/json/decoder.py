"""The only decoder of JSON: whatever is wrong with the bytes, one exception says what and where.

A lint rule bans the decoders of other libraries outside this module. Nesting beyond Python's limit, lone surrogates,
bytes that are not UTF-8 and numbers out of range are thus errors of the input everywhere, never of the program.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, Generic, TypeAlias, TypeVar, overload

import msgspec

from karat.model.errors import InputError

Json: TypeAlias = bytes | str | memoryview
"""Encoded JSON."""

VALID_JSON: Final = "valid JSON"
"""The expected input, for errors about wrong syntax."""

FINITE_NUMBER: Final = "a finite number"
"""The expected input, for errors about NaN, infinities and numbers that are too large."""

_T = TypeVar("_T")
_ESCAPES: Final = re.compile(
    rb"\\\\|\\u(?:d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(?P<lone>d[89a-f][0-9a-f]{2}))", re.IGNORECASE
)
_BYTE: Final = re.compile(r"\(byte (\d+)\)")
_CONSTANT: Final = re.compile(rb"-?(?:NaN|Infinity)\b")
_LAST_KEY: Final = re.compile(rb'"([^"\\]{1,40})"\s*:\s*\Z')
_OMIT: Final = "Omit the field if there is no value"
_PREFIX_DECODER: Final = json.JSONDecoder()
_PROBLEMS: Final = (msgspec.DecodeError, UnicodeError, RecursionError, OverflowError)


class JsonError(ValueError):
    """Bytes that are not the expected JSON; `expected` and `remedy` are phrases as in `InputError`.

    `is_syntax` tells broken JSON from a valid value of another type.
    """

    def __init__(
        self,
        message: str,
        expected: str = VALID_JSON,
        remedy: str = "Check that it was not cut off",
        *,
        is_syntax: bool = True,
    ) -> None:
        super().__init__(message)
        self.expected, self.remedy, self.is_syntax = expected, remedy, is_syntax


class JsonDecoder(Generic[_T]):
    """A decoder of values of one type, for many values."""

    def __init__(self, kind: type[_T]) -> None:
        self._decoder: msgspec.json.Decoder[_T] = msgspec.json.Decoder(kind)

    def decode(self, data: Json) -> _T:
        """Decode a value; raise `JsonError` if it is invalid."""
        try:
            return self._decoder.decode(data)
        except _PROBLEMS as problem:
            raise _explain(problem, data) from None

    def decode_lines(self, data: Json) -> list[_T]:
        """Decode one value per line; raise `JsonError` if one is invalid."""
        try:
            return self._decoder.decode_lines(data)
        except _PROBLEMS as problem:
            raise _explain(problem, data) from None


@overload
def decode_json(data: Json) -> Any: ...  # noqa: ANN401  # any JSON


@overload
def decode_json(data: Json, kind: type[_T], *, strict: bool = True) -> _T: ...


def decode_json(data: Json, kind: Any = Any, *, strict: bool = True) -> Any:
    """Decode a value of type `kind`; raise `JsonError` if it is invalid. Unless `strict`, numbers may be strings."""
    try:
        return msgspec.json.decode(data, type=kind, strict=strict)
    except _PROBLEMS as problem:
        raise _explain(problem, data) from None


def read_json_value(
    data: Json, kind: type[_T], where: str, *, expected: str, remedy: str, actual: str = "{problem}"
) -> _T:
    """Decode a value of type `kind`; raise `InputError` about the file or line `where` if it is invalid.

    `actual`, `expected` and `remedy` are the phrases of the error; `{problem}` in `actual` becomes what is wrong.
    """
    try:
        return decode_json(data, kind)
    except JsonError as problem:
        raise InputError(where, actual=actual.format(problem=problem), expected=expected, remedy=remedy) from None


def decode_json_prefix(text: str, offset: int = 0) -> tuple[Any, int]:
    """Decode the value that begins at `offset`; return it with the offset behind it. Any text may follow.

    Raise `JsonError` if there is no complete value.
    """
    try:
        return _decode_prefix(text, offset)
    except JsonError:
        raise
    except (ValueError, RecursionError, OverflowError) as problem:
        raise _explain(problem, text) from None


def find_json_prefix(text: str, offset: int) -> tuple[Any, int] | None:
    """Decode as `decode_json_prefix` does, but return None if there is no complete value.

    This is for many attempts on one text: an explanation of each failure would read the whole text.
    """
    try:
        return _decode_prefix(text, offset)
    except (ValueError, RecursionError, OverflowError):  # JsonError is a ValueError
        return None


def _decode_prefix(text: str, offset: int) -> tuple[Any, int]:
    """Decode the value that begins at `offset`; raise the exceptions of the libraries."""
    value, end = _PREFIX_DECODER.raw_decode(text, offset)
    msgspec.json.encode(value)  # rejects lone surrogates, which UTF-8 cannot encode
    return value, end


def decode_exact_json(data: bytes) -> Any:  # noqa: ANN401  # any JSON
    """Decode a value of unknown type; raise `JsonError` also for a key that occurs twice in an object.

    An integer of more than 18 digits becomes a float, as in Arrow's columns of scores and times.
    """
    try:
        value = json.loads(
            data.decode(),
            object_pairs_hook=_reject_duplicate_keys,
            parse_constant=_reject_constant,
            parse_float=_parse_finite,
            parse_int=_parse_integer,
        )
        msgspec.json.encode(value)  # rejects lone surrogates, which UTF-8 cannot encode
    except JsonError:
        raise
    except (ValueError, RecursionError, OverflowError) as problem:
        raise _explain(problem, data) from None
    return value


def _explain(problem: Exception, data: Json) -> JsonError:
    """Return the error that says what is wrong with `data`, from the exception of a library."""
    if isinstance(problem, msgspec.ValidationError):
        return JsonError(str(problem), "another value", "Correct it", is_syntax=False)
    if isinstance(problem, RecursionError):
        return JsonError("values that are nested too deeply", "a few levels of nesting", "Remove the inner levels")
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
    lone = next((match for match in _ESCAPES.finditer(raw) if match["lone"]), None)
    if lone is not None or isinstance(problem, UnicodeEncodeError):
        position = "" if lone is None else f", byte {lone.start() + 1}"
        return JsonError(
            f"a lone surrogate (\\ud800 to \\udfff{position})", "complete characters", "Write the character itself"
        )
    try:
        raw.decode()
    except UnicodeDecodeError as invalid:
        return JsonError(f"bytes that are not UTF-8 (byte {invalid.start + 1})", "UTF-8", "Convert it to UTF-8")
    if (byte := _BYTE.search(str(problem))) and (constant := _find_constant(raw, int(byte[1]))):
        return JsonError(constant, FINITE_NUMBER, _OMIT)
    return JsonError(str(problem))


def _find_constant(raw: bytes, offset: int) -> str | None:
    """Return NaN or an infinity at which decoding stopped, with the name of its field, or None if there is none."""
    start = offset - (raw[offset - 1 : offset] == b"-")  # an error in -Infinity is reported behind the sign
    if (constant := _CONSTANT.match(raw, start)) is None:
        return None
    key = _LAST_KEY.search(raw, max(0, start - 60), start)
    field = f"`{key[1].decode('utf-8', 'replace')}` is " if key else ""
    return f"{field}{constant[0].decode()} (byte {start + 1})"


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a dictionary from the pairs of an object; raise `JsonError` if a key occurs twice."""
    values = dict(pairs)
    if len(values) < len(pairs):
        duplicate = next(key for key in values if sum(key == other for other, _ in pairs) > 1)
        raise JsonError(f"the duplicate key {duplicate!r}", "distinct keys", "Delete one of the two")
    return values


def _reject_constant(name: str) -> float:
    """Raise `JsonError` for NaN or Infinity, which Python's decoder accepts."""
    raise JsonError(name, FINITE_NUMBER, _OMIT)


def _parse_finite(digits: str) -> float:
    """Parse a number; raise `JsonError` if it is too large for a float."""
    if not math.isfinite(value := float(digits)):
        raise JsonError(f"the number {digits}", FINITE_NUMBER, _OMIT)
    return value


def _parse_integer(digits: str) -> int | float:
    """Parse an integer; one of more than 18 digits becomes a float."""
    return int(digits) if len(digits.lstrip("-")) <= 18 else _parse_finite(digits)
