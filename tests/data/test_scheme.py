"""The vocabulary of the fine-grained scheme."""

from __future__ import annotations

import pytest

from karat.model.errors import UnknownNameError
from karat.model.finegrained_scheme import (
    DIMENSIONS,
    LEAVES,
    NODES,
    find_category,
    get_dimension,
    get_leaves,
    get_title,
    is_leaf,
    spell_category,
)


def test_dimensions_and_their_leaves_in_the_papers_order():
    assert [(name, len(dimension.leaves)) for name, dimension in DIMENSIONS.items()] == [
        ("form", 7),
        ("pos", 5),
        ("overlap", 4),
        ("reference", 6),
    ]
    assert list(LEAVES) == [leaf for dimension in DIMENSIONS.values() for leaf in dimension.leaves]
    assert (LEAVES[0], LEAVES[6], LEAVES[12], LEAVES[-1]) == (
        "form:Full",
        "form:ProForm",
        "overlap:None",
        "reference:Descriptive",
    )


def test_inner_nodes_stand_for_leaves():
    proper = ("form:Full", "form:Short", "form:Extended", "form:Alias")
    assert get_leaves("form:ProperForm") == DIMENSIONS["form"].inner["form:ProperForm"] == proper
    assert get_leaves("pos:NounPhrase") == ("pos:NounSingular", "pos:NounPlural")
    assert get_leaves("overlap:None") == ("overlap:None",)
    assert get_leaves("reference") == DIMENSIONS["reference"].leaves
    assert [node for node in NODES if not is_leaf(node)] == ["form:ProperForm", "pos:NounPhrase"]
    assert not is_leaf("form")
    assert not is_leaf("case:upper")
    assert get_dimension("pos:NounPhrase").title == "Part of Speech"


def test_titles_are_those_of_the_two_tables():
    assert (get_title("form:Full"), get_title("form:Full", counted=True)) == ("Full Mention", "Full Name")
    assert (get_title("overlap:None"), get_title("overlap:None", counted=True)) == ("Non-Overlapping", "No Overlap")
    assert (get_title("form"), get_title("pos:NounPhrase")) == ("Base Form", "Noun Phrase")


@pytest.mark.parametrize("dialect", ["el", "fel", "nifify"])
@pytest.mark.parametrize("category", NODES)
def test_every_dialect_is_read_as_it_is_spelt(category, dialect):
    assert find_category(spell_category(category, dialect)) == category


def test_spellings_are_distinct_but_for_their_category():
    spellings = [name for node in NODES.values() for name in (*node.el, *node.fel, *node.nifify)]
    assert len(set(spellings)) == len(spellings)
    assert spell_category("pos:NounSingular") == "SingularNounPhrasePoS"
    assert find_category("Mnt-Unheard") is None


def test_an_unknown_category_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'form:Alias'"):
        get_leaves("form:Alia")
