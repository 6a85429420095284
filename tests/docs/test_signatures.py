"""Every call of a public function that the documentation shows fits its signature, and its Python runs."""

from __future__ import annotations

import ast
import doctest
import inspect
import re

import pytest

import karat
from karat import plugins
from tests.conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python.*?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`([^`\n]*karat\.\w+[^`\n]*)`")


def source(block: str) -> str:
    """A block without prompts and outputs."""
    if ">>> " not in block:
        return block
    return "".join(example.source for example in doctest.DocTestParser().get_examples(block))


def calls(code: str):
    """The calls of public names in code. An ellipsis replaces a value, or further arguments."""
    try:
        tree = ast.parse(code.replace("…", "..."))
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and re.fullmatch(r"karat(\.\w+)+", ast.unparse(node.func)):
            yield node


def shown():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for code in [*map(source, BLOCK.findall(text)), *INLINE.findall(BLOCK.sub("", text))]:
            for call in calls(code):
                yield pytest.param(call, id=f"{page.stem}: {ast.unparse(call)[:70]}")


SHOWN = list(shown())


def test_the_pages_show_calls_of_most_public_functions():
    called = {ast.unparse(shown.values[0].func).split(".")[1] for shown in SHOWN}
    functions = {name for name in karat.__all__ if inspect.isfunction(getattr(karat, name))}
    assert functions - called <= {"parse_measure", "parse_signature", "alpha_curve", "category_curve"}
    assert len(SHOWN) > 40


@pytest.mark.parametrize("call", SHOWN)
def test_a_call_that_a_page_shows_fits_the_signature(call):
    value = karat
    for name in ast.unparse(call.func).split(".")[1:]:
        value = getattr(value, name)
    arguments = [each for each in call.args if not (isinstance(each, ast.Constant) and each.value is ...)]
    keywords = {each.arg: each.value for each in call.keywords}
    signature = inspect.signature(value)
    bind = signature.bind if len(arguments) == len(call.args) else signature.bind_partial
    bind(*arguments, **keywords)


def test_specifications_are_importable_from_the_plugins_module():
    assert sorted(plugins.__all__) == sorted(dir(plugins))
    for name in plugins.__all__:
        assert inspect.getdoc(getattr(plugins, name))
    with pytest.raises(AttributeError, match="nothing"):
        _ = plugins.nothing


def test_what_functions_return_is_importable():
    """Every class that a public function names as its result is public, unless it is one of Python's."""
    for name in karat.__all__:
        value = getattr(karat, name)
        if inspect.isfunction(value):
            for word in re.findall(r"\b[A-Z]\w+", str(inspect.signature(value).return_annotation)):
                assert word in {*karat.__all__, "None", "PartitionedData"}, name
