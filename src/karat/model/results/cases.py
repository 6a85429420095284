"""The facts about the cases of a view that error categories use."""

from __future__ import annotations

import msgspec

from karat.model.tables.columns import Bools, Ints
from karat.model.truth import Truth


class CaseArrays(msgspec.Struct, frozen=True):
    """The cases of a view that may be errors, as parallel arrays: mentions and predictions.

    Parts of alternative segmentations are excluded.
    """

    document: Ints
    """The document of the case."""
    is_counted: Bools
    """Whether the case counts; false for a mention that is scored by its parts."""

    correct: Bools
    """The mention is found and linked correctly."""
    wrong_link: Bools
    """The mention is found and linked wrongly."""
    missed: Bools
    """A false negative of linking."""
    spurious: Bools
    """A false positive of linking."""
    detected: Bools
    """The mention is detected."""
    undetected: Bools
    """A false negative of detection."""
    overdetected: Bools
    """A false positive of detection."""

    coreference: Bools
    """The text is a pronoun or a nominal phrase that refers back."""
    lowercased: Bools
    """The first letter of the text is not a capital."""
    multiword: Bools
    """The text contains a space."""
    nil: Bools
    """The gold mention is linked to NIL."""
    linked: Bools
    """The gold mention is linked to an entity other than a quantity or datetime."""

    contains_spurious: Bools
    """A shorter spurious prediction is inside this span."""
    overlaps_spurious: Bools
    """A spurious prediction overlaps this span."""
    overlaps_mention: Bools
    """A gold mention overlaps this span."""
    has_wrong_span: Bools
    """A gold mention of the predicted entity overlaps this span, but has another span."""

    leads_to_entity: Bools
    """The prediction is linked to an entity."""

    demonym: Truth
    """The text is a demonym, and the entity is a location, a people or a language."""
    metonym: Truth
    """The most popular entity of the text is a location, but the entity is no location, person or people."""
    leads_to_location: Truth
    """The predicted entity is a location."""
    partial_name: Truth
    """The text is a part of the entity's name, which has several words."""
    rare: Truth
    """The text is popular for other entities only."""
    leads_to_popular: Truth
    """The predicted entity is one that the text is popular for."""

    has_several_candidates: Bools
    """The system returned several candidates."""
    has_correct_candidate: Bools
    """The gold entity is among the system's candidates."""
    false_coreference: Bools
    """The predicted span is treated as coreference but is none."""
    hyperlink: Bools
    """The span is a hyperlink in the source text."""
    wrong_reference: Bools
    """The named antecedent, which has the same gold entity, has the same predicted entity."""
    other_reference: Bools
    """The named antecedent, which has the same gold entity, has another predicted entity."""

    def __len__(self) -> int:
        return len(self.document)
