"""Turtle is read line by line where that is the same as reading it triple by triple."""

from __future__ import annotations

import io
from contextlib import contextmanager
from unittest.mock import patch

import pyoxigraph
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from karat import InputError
from karat.formats.parsing.turtle import lines as turtle_lines
from karat.formats.parsing.turtle import statement_patterns as turtle_patterns
from karat.formats.parsing.turtle.triples import BlankNodeId, ResourceBuilder
from karat.formats.parsing.turtle.turtle import format_iri, format_literal, get_local_name, read_resources

PREFIXES = {"p": "http://p/", "q": "q:"}
ONCE = frozenset({"http://p/once"})
SKIP = frozenset({"http://p/skip"})


class Given:
    """Bytes to read from."""

    label = "x.ttl"

    def __init__(self, data: bytes) -> None:
        self.data = data

    @contextmanager
    def open_stream(self):
        yield io.BytesIO(self.data)


def by_line(data: bytes):
    return list(read_resources(Given(data), PREFIXES, single_valued=ONCE, skipped_predicates=SKIP))


def by_triple(data: bytes):
    """The definition: all of the file at once to the parser."""
    state = ResourceBuilder(ONCE, SKIP, "x.ttl")
    prelude = "".join(f"@prefix {name}: <{address}> . " for name, address in PREFIXES.items())
    quads = pyoxigraph.parse(prelude.encode() + data, pyoxigraph.RdfFormat.TURTLE, lenient=True)
    return [*state.add_quads(quads), *state.finish()]


def without_blanks(found):
    """Nodes without address have other names each time, and the same words in brackets may be one node or several."""
    masked = [
        (
            "[]" if isinstance(subject, BlankNodeId) else subject,
            {name: tuple("[]" if isinstance(v, BlankNodeId) else v for v in said) for name, said in values.items()},
        )
        for subject, values in found
    ]
    named = [(subject, values) for subject, values in masked if subject != "[]"]
    return named, {str(sorted(values.items())) for subject, values in masked if subject == "[]"}


LINES = [
    "@prefix p: <http://p/> .",
    "@prefix p: <http://other/> .",
    "@prefix r: <r:> .",
    "@base <http://base/> .",
    "PREFIX s: <s:>",
    "# a comment.",
    "<http://a>",
    "<http://b>  ",
    "<b>",
    "<http://a> p:x 1 .",
    "<http://c> a p:T ; p:once 1 .",
    "<sp ace> p:x 1 .",
    "<http://\\u0061> p:x 1 .",
    "    a p:T , p:U ;",
    "\tp:x 'one' , \"two\"@en ;",
    "  p:x p:y .",
    "  q:x <z> .\r",
    "  p:once 1 ;",
    "  p:once 2 ;",
    "  p:once 1 , 2 ;",
    "  p:skip 1 .",
    "  p:x [ p:y 1 ] ;",
    "  p:x [ p:y 1 ] .",
    "  p:x _:n .",
    "_:n p:y 3 .",
    '  p:x """a""" ;',
    '  p:x """a',
    '  b""" ;',
    '  p:x """a; .',
    '<b> p:c """" .',
    '  p:x "a;" ; # .',
    "  p:x 1 ,",
    "  p:x 1",
    "  p:x 1 ; p:y 2 ;",
    "  p:x 1 . <http://d> p:x 2 ;",
    "  p:x <<( p:a p:b p:c )>> .",
    "  r:x 5.",
    "  .",
    "  ;",
    "",
    "   ",
    "\xa0",
    "  p:x 1 ;\xa0",
    ".",
]


def alike(data: bytes, block: int, few: int):
    """What both ways say of a file, which must be the same: all of it, or where it is no Turtle."""
    try:
        expected = without_blanks(by_triple(data))
    except SyntaxError as problem:
        expected = problem.lineno
    except AttributeError:
        expected = "quoted"
    with (
        patch.multiple(turtle_lines, _BLOCK_SIZE=block, _MAX_NEW_LINES=few, _PATTERN_THRESHOLD=0),
        patch.object(turtle_patterns, "_MIN_FREQUENCY", 1),
    ):
        try:
            found = without_blanks(by_line(data))
        except InputError as problem:
            place = problem.where.removeprefix("x.ttl").removeprefix(":")
            found = int(place) if place else "quoted"
    assert found == expected
    return found


@given(st.lists(st.sampled_from(LINES), max_size=9), st.sampled_from([1, 7, 40, 1 << 20]), st.sampled_from([0, 1_000]))
@example(["<http://a>", "    a p:T , p:U ;", '  p:x """a', "  p:x p:y .", '  b""" ;', "  p:x p:y ."], 1 << 20, 1_000)
@example(["<http://a>", '  p:x "a;" ; # .', "  p:x p:y ."], 1 << 20, 1_000)
@example(["<http://a>", "  p:x 1 ;", "<http://b>", "  p:x p:y ."], 1 << 20, 1_000)
@example(["@prefix p: <http://p/> .", "<http://a> p:x 1 .", "@prefix p: <http://other/> .", "<http://a> p:x 1 ."], 7, 0)
def test_both_ways_read_the_same(lines, block, few):
    alike("\n".join(lines).encode(), block, few)


SHAPES = [
    "<{iri}>\n  a p:T ;\n  p:x <{iri}> ;\n  p:once {number} ;\n  p:y {literal} .\n",
    "<{iri}>\n  a p:T , p:U ;\n  p:x <{iri}> , p:z , <{iri}> ;\n  p:once {literal}^^p:int .\n\n",
    "<{iri}> <http://p/x> <{iri}> .\n",
    "<{iri}> <http://p/once> {literal}^^<http://p/int> .\n",
    "<{iri}> <http://p/skip> {literal}@en .\n",
    "<{iri}> <http://p/skip> {number} ; p:x {number} , {number} ; p:y 1 ; p:x 'one' .\n",
    "<{iri}> p:x [ p:y {number} ] .\n",
    "<{iri}> p:x {number} . # <{iri}> is a comment.\n",
    "<{iri}> p:x '<{iri}>' ; p:y {number}. \n",
    '<{iri}> p:x """{number}\n<{iri}> p:x {number} .\n""" .\n',
    "<{iri}> p:once {number} , {number} .\n",
    "<{iri}> <{iri}> <{iri}> .\n",
    "@prefix p: <http://other/{number}> .\n",
    "# {literal}\n",
    "_:n p:x <{iri}> .\n",
]
LITERALS = ['""', '"a"', '"a\\"b"', '"\\\\"', '"\\\\n\\n"', '"\\u0061"', '"a\\x"', '"\t"', '"\x7f"', "'a'", '"""a"""']
LITERALS += ['"é\u2028\U0001f600"']
TOKENS = st.fixed_dictionaries(
    {
        "iri": st.sampled_from(["a", "b", "http://a#char=0,1", "é", "\\u0061", "a b", "", "a<b"]),
        "number": st.sampled_from(["0", "007", "12", "-1", "1.5", "1e3", "12345678901234567890"]),
        "literal": st.sampled_from(LITERALS),
    }
)


@given(
    st.lists(st.tuples(st.sampled_from(SHAPES), TOKENS), max_size=14),
    st.sampled_from([1, 40, 1 << 20]),
    st.none() | st.tuples(st.integers(0, 400), st.sampled_from(list('<>"\\.;,# \n\r0a')), st.booleans()),
)
@example([(SHAPES[0], {"iri": iri, "number": "1", "literal": '"\\n"'}) for iri in "aabb"], 1 << 20, None)
@example([(SHAPES[9], {"iri": "a", "number": "1", "literal": '""'})] * 4, 1 << 20, None)
@example([(SHAPES[8], {"iri": "a", "number": number, "literal": '""'}) for number in ("1", "2", "1e3", "7")], 40, None)
def test_statements_of_one_shape_are_read_as_the_parser_does(statements, block, damage):
    text = "".join(shape.format(**tokens) for shape, tokens in statements)
    if damage is not None:
        place, sign, more = damage
        text = text[:place] + sign + text[place + (not more) :]
    alike(text.encode(), block, 1_000)


def test_statements_of_one_shape_are_parsed_once():
    data = "".join(f'<http://s/{i}>\n  a p:T ;\n  p:x "{i}" .\n\n' for i in range(300)).encode()
    often, small = (
        patch.object(turtle_patterns, "_MIN_FREQUENCY", 1),
        patch.object(turtle_lines, "_PATTERN_THRESHOLD", 0),
    )
    with patch.object(pyoxigraph, "parse", wraps=pyoxigraph.parse) as parse, often, small:
        assert len(by_line(data)) == 300
    given = [call.args[0] for call in parse.call_args_list if isinstance(call.args[0], str)]
    assert sum(text.count("p:x") for text in given) == 2  # the first, and the one that its shape is learnt from


def test_lines_that_come_again_are_parsed_once():
    data = "".join(f"<http://s/{i}>\n  a p:T ;\n  p:x {i % 3} .\n\n" for i in range(300)).encode()
    with patch.object(pyoxigraph, "parse", wraps=pyoxigraph.parse) as parse:
        assert len(by_line(data)) == 300
    given = [call.args[0] for call in parse.call_args_list if isinstance(call.args[0], str)]
    assert sum(text.count("p:x") for text in given) == 3


def test_a_statement_over_several_lines_stops_nothing():
    odd = '<http://odd>\n  p:x """first.\n\n<http://not/a/subject>\n second. """ ;\n  p:x 2 .\n'
    even = "<http://s>\n  p:x 1 .\n"
    found = by_line((even + odd + even + odd).encode())
    assert [subject for subject, _ in found] == ["http://s", "http://odd", "http://s", "http://odd"]
    assert found[1][1]["http://p/x"] == ("first.\n\n<http://not/a/subject>\n second. ", "2")


def test_a_second_value_of_what_is_said_once_begins_another_resource():
    found = by_line(b"<a> p:once 1 ; p:x 1 .\n<a> p:once 2 ; p:x 2 .\n<a> p:once 2 ; p:x 3 .")
    assert found == [
        ("a", {"http://p/once": ("1",), "http://p/x": ("1",)}),
        ("a", {"http://p/once": ("2", "2"), "http://p/x": ("2", "3")}),
    ]


@pytest.mark.parametrize(
    ("data", "where", "found"),
    [
        (b"\n<a> p:x 1\n\n<b> p:x 2 .\n", "x.ttl:4", "A dot is expected"),
        (b"<a> p:x 1 .\n<a> unknown:x 1 .\n", "x.ttl:2", "prefix unknown: has not been declared"),
        (b"<a> p:x 1 .\n" * 5 + b'<a> p:x "\xff" .', "x.ttl:6", "UTF-8"),
        (b'<a> p:x "open\n', "x.ttl:1", "line"),
        (b"<a> p:x <<( p:a p:b p:c )>> .", "x.ttl", "about a statement"),
    ],
)
def test_errors_say_where(data, where, found):
    with pytest.raises(InputError) as problem:
        by_line(data)
    assert problem.value.where == where
    assert found in problem.value.actual


def test_a_byte_order_mark_is_skipped():
    assert by_line(b"\xef\xbb\xbf<a> p:x 1 .") == [("a", {"http://p/x": ("1",)})]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
@example('\x00\t\n\r"\\ <>{}|^`\x7f\x85\ufeff\U0001f600')
def test_what_is_written_is_read(text):
    written = f"{format_iri(text)} {format_iri('p' + text)} {format_literal(text)} .".encode()
    assert by_line(written) == [(text, {f"p{text}": (text,)})]


def test_local_names():
    assert [get_local_name(name) for name in ("el:Mnt-Full", "http://x/y#z", "http://x/y", "z")] == [
        "Mnt-Full",
        "z",
        "y",
        "z",
    ]
