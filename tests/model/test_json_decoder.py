"""The decoder of JSON: one exception for everything that can be wrong, and no other decoder in the package."""

import subprocess
import sys
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat import InputError
from karat.model.json.decoder import (
    JsonDecoder,
    JsonError,
    decode_exact_json,
    decode_json,
    decode_json_prefix,
    read_json_value,
)
from tests.conftest import ROOT

DEEP = b"[" * 100_000
BROKEN = {
    DEEP: "nested too deeply",
    b'{"a":' * 50_000: "nested too deeply",
    rb'"\ud800"': r"a lone surrogate (\ud800 to \udfff, byte 2)",
    rb'"a\udc00b"': r"a lone surrogate (\ud800 to \udfff, byte 3)",
    rb'"\\\ud800x"': r"a lone surrogate (\ud800 to \udfff, byte 4)",
    b'"ab\xff"': "bytes that are not UTF-8 (byte 4)",
    b'"\xed\xa0\x80"': "bytes that are not UTF-8 (byte 2)",
}


@pytest.mark.parametrize("decode", [decode_json, decode_exact_json, JsonDecoder(object).decode])
@pytest.mark.parametrize(("data", "message"), BROKEN.items(), ids=range(len(BROKEN)))
def test_what_is_wrong_is_said_with_its_byte(decode, data, message):
    with pytest.raises(JsonError) as caught:
        decode(data)
    assert message in str(caught.value)
    assert caught.value.is_syntax


@pytest.mark.parametrize("number", ["9" * 5000, "1e999", "-1e999"])
def test_numbers_out_of_range_are_errors(number):
    for decode in (decode_json, decode_json_prefix, lambda text: decode_exact_json(text.encode())):
        if decode is decode_json_prefix and "e" in number:
            continue  # Python reads it as infinite
        with pytest.raises(JsonError):
            decode(number)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('{"score": NaN}', "`score` is NaN (byte 11)"),
        ('{"score":-Infinity}', "`score` is -Infinity (byte 10)"),
        ("[1, Infinity]", "Infinity (byte 5)"),
    ],
)
def test_a_number_that_is_not_finite_is_named_with_its_field(data, message):
    with pytest.raises(JsonError) as caught:
        decode_json(data)
    assert (str(caught.value), caught.value.expected) == (message, "a finite number")


def test_pairs_of_surrogates_and_escaped_backslashes_are_text():
    assert decode_json(rb'"\ud83d\ude00 \\ud800"') == decode_exact_json(rb'"\ud83d\ude00 \\ud800"') == "😀 \\ud800"


def test_a_value_of_another_type_is_no_error_of_syntax():
    with pytest.raises(JsonError, match="Expected `int`, got `str`") as caught:
        decode_json(b'"x"', int)
    assert not caught.value.is_syntax


def test_a_prefix_ends_where_its_value_ends():
    assert decode_json_prefix('x {"a": 1} y', 2) == ({"a": 1}, 10)
    for text in ("[" * 50_000, '{"a"', r'"\ud800"', "1" * 5000):
        with pytest.raises(JsonError):
            decode_json_prefix(text)


def test_the_error_of_an_input_names_the_place():
    with pytest.raises(InputError) as caught:
        read_json_value(
            DEEP, object, "a.json:3", expected="an object", remedy="Write one", actual="no object ({problem})"
        )
    assert str(caught.value) == (
        "a.json:3: found no object (values that are nested too deeply); expected an object. Write one."
    )


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_nothing_but_its_own_error_escapes(data):
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    for decode in (
        decode_json,
        decode_exact_json,
        JsonDecoder(dict[str, int]).decode,
        JsonDecoder(object).decode_lines,
    ):
        with suppress(JsonError):
            msgspec.json.encode(decode(raw))


@pytest.mark.parametrize(
    "code",
    [
        "import json\njson.loads('1')",
        "from json import load\nload",
        "import json\njson.JSONDecoder()",
        "import msgspec\nmsgspec.json.decode(b'1')",
        "import msgspec\nmsgspec.json.Decoder(int)",
        "import orjson\norjson",
    ],
)
def test_a_lint_rule_bans_other_decoders(code):
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--stdin-filename",
        "src/karat/storage/x.py",
        "--select",
        "TID251",
        "-",
    ]
    ran = subprocess.run(command, input=code, text=True, capture_output=True, cwd=ROOT, check=False)
    assert ran.returncode == 1, ran.stderr
    assert "use karat.model.json.decoder" in ran.stdout
