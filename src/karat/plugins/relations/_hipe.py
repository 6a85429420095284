"""The relations of the HIPE scorer: strict and fuzzy, of mentions with types (NERC) and of links (NEL)."""

from collections.abc import Callable
from functools import cache, partial

from karat.matching.align.hipe_walk import PAIR_RULE, PairTest, have_same_tokens, walk
from karat.matching.align.overlap import same_entity_in_top, same_types
from karat.model.items import Items, Pairs
from karat.model.spec.relation import MatchRelation
from karat.model.tables.columns import Bools


@cache  # strict and fuzzy relations share a walk
def _build_walk(k: int | None) -> Callable[[Items, Items], Pairs]:
    """Return the HIPE walk in which a pair is correct if `_get_label_test(k)` holds; see `walk`."""
    return partial(walk, has_same_label=_get_label_test(k))


@cache
def _get_label_test(k: int | None) -> PairTest:
    """Return the test whether the gold entity is among the first `k` links; whether types are equal if `k` is None."""
    return same_types if k is None else partial(same_entity_in_top, k)


def _mask_correct(k: int | None, exact: bool, gold: Items, predictions: Items, pairs: Pairs) -> Bools:
    """Return the mask of pairs with the same label by `_get_label_test(k)`, and `have_same_tokens` if `exact`."""
    has_label = _get_label_test(k)(gold, predictions, pairs)
    return has_label & have_same_tokens(gold, predictions, pairs) if exact else has_label


def _make_relation(k: int | None, *, exact: bool) -> MatchRelation:
    """Return the relation that compares the first `k` links of each prediction, or types if `k` is None."""
    span = "has exactly the span and words of" if exact else "overlaps"
    if k is None:
        rule = f"The prediction {span} the mention and{'' if exact else ' has'} its type."
    else:
        links = f"among the first {k} links of the prediction" if k > 1 else "the link of the prediction"
        rule = f"The prediction {span} the mention, whose entity is {links}."
    return MatchRelation(
        title=f"HIPE {'strict' if exact else 'fuzzy'} {'NERC' if k is None else f'NEL @{k}'}",
        description=f"{rule} {PAIR_RULE}",
        find_pairs=_build_walk(k),
        is_lenient=not exact,
        degree=partial(_mask_correct, k, exact),
        detection="mention" if exact else "mention-weak",
        is_typed=k is None,
        uses_gold_group=True,
        is_order_dependent=True,
    )


TABLE = {
    f"hipe-{name}": _make_relation(k, exact="strict" in name)
    for name, k in (
        ("nerc-strict", None),
        ("nerc-fuzzy", None),
        ("nel-strict", 1),
        ("nel-strict-3", 3),
        ("nel-strict-5", 5),
        ("nel-fuzzy", 1),
        ("nel-fuzzy-3", 3),
        ("nel-fuzzy-5", 5),
    )
}
