"""What every public function promises: suggestions for misspelt keywords, and one sentence on what it accepts."""

from __future__ import annotations

import inspect

import pytest

import karat
from karat.model.spec.settings.settings import SIGNED_SETTINGS

FUNCTIONS = [name for name in karat.__all__ if inspect.isfunction(getattr(karat, name))]
SCORING = [name for name in FUNCTIONS if "settings" in inspect.signature(getattr(karat, name)).parameters]
DATA = ("gold", "golds", "predictions", "systems", "runs", "data")


def parameters(name: str):
    return inspect.signature(getattr(karat, name)).parameters


def test_no_function_swallows_keywords():
    for name in FUNCTIONS:
        kinds = {each.kind for each in parameters(name).values()}
        assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}, name


def test_functions_that_take_data_say_what_they_accept():
    for name in FUNCTIONS:
        if set(parameters(name)) & set(DATA) and name != "load_partitioned":  # its `gold` is a flag
            text = " ".join(inspect.getdoc(getattr(karat, name)).split())
            accepted = ("a path, a name from the catalogue", "are as in `linking_f1`", "lists of tuples (document,")
            assert any(words in text for words in accepted), name


def test_gold_comes_first_and_systems_second():
    for name in FUNCTIONS:
        names = [each for each in parameters(name) if each in DATA]
        assert names[:1] in ([], ["gold"], ["golds"], ["data"]), name
        others = list(parameters(name))
        assert not {"predictions", "systems", "runs"} & set(others) or others[0] == "gold", name


@pytest.mark.parametrize("name", SCORING)
def test_a_setting_as_a_keyword_says_where_it_belongs(name):
    function = getattr(karat, name)
    with pytest.raises(karat.UnknownKeywordError, match=r"`nil` is a setting. Pass it as settings=\{'nil': …\}"):
        function(None, None, nil="dropped")
    with pytest.raises(TypeError, match="'gold-mentions'"):
        function(None, None, gold_mentions="exact")
    with pytest.raises(karat.UsageError, match="Did you mean the setting 'assignment'"):
        function(None, None, asignment="greedy")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_misspelt_keyword_is_suggested(name):
    keywords = [each for each, parameter in parameters(name).items() if parameter.kind is parameter.KEYWORD_ONLY]
    for keyword in keywords:
        misspelt = keyword[:-1] if len(keyword) > 3 else f"{keyword}s"
        if misspelt in SIGNED_SETTINGS:
            continue
        with pytest.raises(karat.UnknownKeywordError, match=f"{name} has no keyword `{misspelt}`.*`{keyword}`"):
            getattr(karat, name)(None, **{misspelt: 1})


def test_levels_have_one_name_each():
    """`confidence` is the level of intervals, `alpha` that of tests, and nothing is called level."""
    for name in FUNCTIONS:
        assert "level" not in parameters(name)
    assert {name for name in FUNCTIONS if "confidence" in parameters(name)} == {"agreement", "evaluate"}
    assert {name for name in FUNCTIONS if "alpha" in parameters(name)} == {"compare", "scorecard"}


def test_resample_is_not_resamples():
    with pytest.raises(TypeError, match=r"evaluate has no keyword `resample`. Did you mean `resamples`\?"):
        karat.evaluate("demo", "demo/prior", resample=100)


def test_an_unknown_keyword_without_likeness_lists_all():
    with pytest.raises(karat.UnknownKeywordError, match=r"save has no keyword `zzz`\. Pass one of `data`, `path`, "):
        karat.save("demo", "x.jsonl", zzz=1)
