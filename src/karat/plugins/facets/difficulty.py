"""Difficulty."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from karat.kb.snapshot.name_index import fold_text
from karat.matching.facts.facts import AnnotationFacts, Facts
from karat.model.spec.facet import Facet
from karat.model.tables.columns import NIL, Bools, Longs
from karat.model.tables.facet_values import NONE, FacetValues, single_values, string_values
from karat.model.truth import NO, UNKNOWN, YES, from_optional

_WORD = re.compile(r"\w+")
_QUALIFIER = re.compile(r"\s*\([^()]*\)$")
_SHORT_WORDS = {"and", "for", "in", "of", "the"}  # not part of initials

LEVELS = ["popular", "variant", "overshadowed", "dissimilar", "nil", "coreference", "unknown", NONE]
"""The values, from easy to hard, and then those outside this order."""

_POPULAR, _VARIANT, _OVERSHADOWED, _DISSIMILAR, _NIL, _COREFERENCE, _UNKNOWN, _NONE = range(len(LEVELS))

_STORED = "have the value of the gold standard"
_COMPUTED = "have a value computed from the knowledge base"
_NO_KB = "are unknown, because there is no knowledge base: pass --kb"
_NO_ENTITY = "are unknown, because the knowledge base does not have their entity, its name or its frequency"


def resembles_name(text: str, name: str) -> bool:
    """Return whether a text has only words of a name, or the reverse, or consists of the initials of the name.

    Case, diacritics, and a qualifier in brackets at the end of the name are ignored.
    """
    name_words = _split_words(_QUALIFIER.sub("", name))
    words = _split_words(text)
    if not words or not name_words:
        return False
    initials = "".join(word[0] for word in name_words if word not in _SHORT_WORDS)
    return set(words) <= set(name_words) or set(name_words) <= set(words) or "".join(words) == initials


def _split_words(text: str) -> list[str]:
    """Return the words of a text without case and diacritics."""
    return _WORD.findall(fold_text(text))


def _read_values(facts: Facts | None, annotations: AnnotationFacts) -> FacetValues:
    """Return the stored difficulty of each gold label, or else the computed one; predictions have none."""
    count = len(annotations.entity)
    if facts is not None and annotations is not facts.gold:
        return single_values(np.full(count, 0), [NONE], has_values=False)
    column = annotations.mentions.field("difficulty")
    if column is None:
        return single_values(compute_levels(annotations), LEVELS)
    if not column.null_count:
        return string_values(column, count)
    stored = column.dictionary_encode()
    codes = len(LEVELS) + stored.indices.fill_null(0).to_numpy(zero_copy_only=False)
    is_stored = column.is_valid().to_numpy(zero_copy_only=False)
    values = [*LEVELS, *stored.dictionary.to_pylist()]
    names = list(dict.fromkeys(values))  # a stored value may be a level
    merged = np.array([names.index(value) for value in values])
    return single_values(merged[np.where(is_stored, codes, compute_levels(annotations))], names)


def compute_levels(annotations: AnnotationFacts) -> Longs:
    """Return the level of each gold label, as an index into `LEVELS`."""
    basic: list[tuple[Bools, int]] = [
        (annotations.is_coreference, _COREFERENCE),
        (annotations.entity == NIL, _NIL),
        (~annotations.is_linked, _NONE),
    ]
    if not annotations.has_kb:
        return _select_first(basic, _UNKNOWN)
    surfaces, codes = annotations.surfaces, annotations.surface_code.tolist()
    candidates = [surfaces.candidates[code] or frozenset() for code in codes]
    # The only candidate of a text is its most frequent entity, also if frequencies are unknown.
    popular = [
        surfaces.popular[code] or (entities if len(entities) < 2 else None)
        for code, entities in zip(codes, candidates, strict=True)
    ]
    is_candidate, is_popular = annotations.is_among(candidates), annotations.is_among(popular)
    has_candidates = np.array([bool(entities) for entities in candidates], np.bool_)
    entities = zip(annotations.entities.names, annotations.entities.types, strict=True)
    is_known = [name is not None or types is not None for name, types in entities]
    is_in_kb = np.array([*is_known, False, False], np.bool_)[annotations.entity]  # the last two are NIL and unlinked
    resembles = from_optional(
        None if name is None else resembles_name(text, name)
        for text, name in zip(annotations.texts, annotations.names, strict=True)
    )
    return _select_first(
        [
            *basic,
            (is_popular == YES, _POPULAR),
            ((is_candidate == YES) & (is_popular == UNKNOWN), _UNKNOWN),
            (is_candidate == YES, _OVERSHADOWED),
            (has_candidates & (is_candidate == UNKNOWN), _UNKNOWN),
            (~is_in_kb | (resembles == UNKNOWN), _UNKNOWN),  # a name in the gold standard says nothing about candidates
            (resembles == NO, _DISSIMILAR),
            (has_candidates, _OVERSHADOWED),
        ],
        _VARIANT,
    )


def _select_first(rules: Sequence[tuple[Bools, int]], default: int) -> Longs:
    """Return for each label the level of the first rule, a mask and a level, that applies to it."""
    masks, levels = zip(*rules, strict=True)
    codes: Longs = np.select(masks, levels, default).astype(np.int64)
    return codes


def _count_sources(annotations: AnnotationFacts) -> Counter[str]:
    """Count the gold labels with a stored, a computed and an unknown difficulty."""
    column = annotations.mentions.field("difficulty")
    n_labels = len(annotations.entity)
    n_stored = 0 if column is None else n_labels - column.null_count
    if n_stored == n_labels:
        return Counter({_STORED: n_stored})
    is_computed = np.ones(n_labels, np.bool_) if column is None else column.is_null().to_numpy(zero_copy_only=False)
    n_unknown = int(np.sum(is_computed & (compute_levels(annotations) == _UNKNOWN)))
    reason = _NO_ENTITY if annotations.has_kb else _NO_KB
    return Counter({_STORED: n_stored, _COMPUTED: n_labels - n_stored - n_unknown, reason: n_unknown})


FACET = Facet(
    title="Difficulty",
    description="How hard the entity of a mention is to find, from easy to hard: the text is most often used for it "
    "(`popular`), resembles its name and is known for no other entity (`variant`), is known for more frequent entities "
    "(`overshadowed`), or is unlike its name and not known for it (`dissimilar`). NIL, coreference and `unknown` are "
    "groups of their own. A difficulty in the gold standard takes precedence.",
    from_mentions=lambda mentions: string_values(mentions.field("difficulty"), len(mentions)),
    field="difficulty",
    from_facts=_read_values,
    count_sources=_count_sources,
    uses_gold_group=True,
    value_order=tuple(LEVELS),
    needs_context="parts",
    example="“Memphis” is most often used for the city in Tennessee: a mention of that city is `popular`, and one of "
    "the city in Egypt is `overshadowed`. “Merkel” is a `variant` of the name Angela Merkel, and “the Iron Lady” is "
    "`dissimilar` to the name Margaret Thatcher.",
)
