"""A signature says the same in its short form, in full, in one line and over several."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import KaratError
from karat.evaluation.request import Request
from karat.model.output.text_layout import wrap_signature
from karat.model.profile_signatures import default_settings, find_overrides, parse_signature, shorten_signature
from karat.model.registry import list_plugins
from karat.model.signature import Signature
from karat.model.spec.settings.settings import SETTINGS, SIGNED_SETTINGS

OPEN = st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda text: text == text.strip())
VALUES = {name: st.sampled_from(list(SETTINGS[name].values)) if SETTINGS[name].values else OPEN for name in SETTINGS}
GIVEN = st.fixed_dictionaries({}, optional={**VALUES, "drop": OPEN, "kb": OPEN, "seed": st.integers(0, 99).map(str)})


@st.composite
def signatures(draw):
    """Signatures of every profile with any choices, whether these go together or not."""
    own = Request.from_options(profile=draw(st.sampled_from(list_plugins("profiles")))).signature(draw(OPEN))
    other = draw(GIVEN)
    return Signature(tuple((name, other.get(name, value)) for name, value in own.parts))


@given(signatures(), st.integers(40, 200))
def test_both_forms_parse_back_to_the_same(signature, width):
    for form in (signature, shorten_signature(signature)):
        assert karat.parse_signature(str(form)) == signature
        lines = wrap_signature(str(form), width)
        assert karat.parse_signature(lines) == signature
        assert max(map(len, lines.split("\n"))) <= width


@given(signatures())
def test_the_short_form_has_what_departs_and_nothing_else(signature):
    kept = dict(shorten_signature(signature).parts)
    profile = signature["profile"].partition("@")[0]
    assert list(kept)[:3] == ["karat", "profile", "data"]
    assert {
        name: value for name, value in default_settings(profile).items() if signature[name] != value
    } == find_overrides(signature)
    assert set(kept) == {"karat", "profile", "data", *find_overrides(signature)}
    assert shorten_signature(parse_signature(str(shorten_signature(signature)))) == shorten_signature(signature)


@pytest.mark.parametrize("profile", list_plugins("profiles"))
def test_nothing_departs_from_a_profile_by_itself(profile):
    signature = Request.from_options(profile=profile).signature("d@0")
    assert find_overrides(signature) == {}
    assert [name for name, _ in shorten_signature(signature).parts] == ["karat", "profile", "data"]
    said = karat.explain(shorten_signature(signature))
    assert "and no overrides" in said
    assert said.endswith(str(signature))
    assert all(f"\n  {name}=" in said for name in SIGNED_SETTINGS)


def test_explaining_marks_what_departs():
    signature = Request.from_options(settings={"assignment": "greedy", "seed": 3}).signature("d@0")
    assert str(shorten_signature(signature)).endswith("|data:d@0|assignment:greedy|seed:3")
    said = karat.explain(shorten_signature(signature))
    assert said == karat.explain(signature)
    assert [line.partition(":")[0] for line in said.split("\n") if line.startswith("*")] == [
        "* assignment=greedy (overrides optimal)",
        "* seed=3 (overrides 0)",
    ]
    assert "and 2 overrides (marked *)." in said


def test_a_short_form_of_a_table_that_was_another_is_not_filled_in():
    stale = "karat:0.1.0|profile:karat@00000000|data:d@0"
    with pytest.raises(KaratError, match="this version of Karat has no profile"):
        karat.parse_signature(stale)
    full = str(Request.from_options().signature("d@0")).replace("profile:karat@", "profile:karat@0")
    assert str(shorten_signature(karat.parse_signature(full))) == full  # which nothing can be left out of
    assert "which this version of Karat cannot compare" in karat.explain(full)


def test_a_profile_of_ones_own_is_signed_in_full(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from karat.model.spec.profile import Profile\n"
        'PROFILE = Profile(title="Mine", description="Mine.", settings={"nil": "dropped"}, '
        'measures=("strong:micro.f1",))\n'
    )
    signature = Request.from_options(profile=str(path)).signature("d@0")
    assert signature["profile"].startswith("mine.py@")
    assert shorten_signature(signature) == signature == karat.parse_signature(str(signature))
