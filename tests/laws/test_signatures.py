"""A signature says the same in its short form, in full, in one line and over several."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import KaratError
from karat.evaluation.request import Request
from karat.fitting import chained
from karat.model.signature import Signature
from karat.registry import names
from karat.signing import departures, parse_signature, short, usual
from karat.spec.choices.choices import CHOICES, SIGNED

OPEN = st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda text: text == text.strip())
VALUES = {name: st.sampled_from(list(CHOICES[name].values)) if CHOICES[name].values else OPEN for name in CHOICES}
GIVEN = st.fixed_dictionaries({}, optional={**VALUES, "drop": OPEN, "kb": OPEN, "seed": st.integers(0, 99).map(str)})


@st.composite
def signatures(draw):
    """Signatures of every profile with any choices, whether these go together or not."""
    own = Request.of(like=draw(st.sampled_from(names("profiles")))).signature(draw(OPEN))
    other = draw(GIVEN)
    return Signature(tuple((name, other.get(name, value)) for name, value in own.parts))


@given(signatures(), st.integers(40, 200))
def test_both_forms_parse_back_to_the_same(signature, width):
    for form in (signature, short(signature)):
        assert karat.parse_signature(str(form)) == signature
        lines = chained(str(form), width)
        assert karat.parse_signature(lines) == signature
        assert max(map(len, lines.split("\n"))) <= width


@given(signatures())
def test_the_short_form_has_what_departs_and_nothing_else(signature):
    kept = dict(short(signature).parts)
    profile = signature["profile"].partition("@")[0]
    assert list(kept)[:3] == ["karat", "profile", "data"]
    assert {name: value for name, value in usual(profile).items() if signature[name] != value} == departures(signature)
    assert set(kept) == {"karat", "profile", "data", *departures(signature)}
    assert short(parse_signature(str(short(signature)))) == short(signature)


@pytest.mark.parametrize("profile", names("profiles"))
def test_nothing_departs_from_a_profile_by_itself(profile):
    signature = Request.of(like=profile).signature("d@0")
    assert departures(signature) == {}
    assert [name for name, _ in short(signature).parts] == ["karat", "profile", "data"]
    said = karat.explain(short(signature))
    assert "from which nothing departs" in said
    assert said.endswith(str(signature))
    assert all(f"\n  {name}=" in said for name in SIGNED)


def test_explaining_marks_what_departs():
    signature = Request.of(choices={"assignment": "greedy", "seed": 3}).signature("d@0")
    assert str(short(signature)).endswith("|data:d@0|assignment:greedy|seed:3")
    said = karat.explain(short(signature))
    assert said == karat.explain(signature)
    assert [line.partition(":")[0] for line in said.split("\n") if line.startswith("*")] == [
        "* assignment=greedy (departs from optimal)",
        "* seed=3 (departs from 0)",
    ]
    assert "from which 2 choices (marked *) depart." in said


def test_a_short_form_of_a_table_that_was_another_is_not_filled_in():
    stale = "karat:0.1.0|profile:karat@00000000|data:d@0"
    with pytest.raises(KaratError, match="none of this version"):
        karat.parse_signature(stale)
    full = str(Request.of().signature("d@0")).replace("profile:karat@", "profile:karat@0")
    assert str(short(karat.parse_signature(full))) == full  # which nothing can be left out of
    assert "which this version cannot compare it with" in karat.explain(full)


def test_a_profile_of_ones_own_is_signed_in_full(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from karat.spec.profile import Profile\n"
        'PROFILE = Profile(title="Mine", says="Mine.", choices={"nil": "dropped"}, measures=("strong:micro.f1",))\n'
    )
    signature = Request.of(like=str(path)).signature("d@0")
    assert signature["profile"].startswith("mine.py@")
    assert short(signature) == signature == karat.parse_signature(str(signature))
