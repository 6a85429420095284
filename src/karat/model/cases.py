"""What error categories may look at: every case of a view with what is known about it."""

from __future__ import annotations

import msgspec

from karat.model.tables.columns import Bools, Ints
from karat.model.truth import Truth


class Cases(msgspec.Struct, frozen=True):
    """The cases of a view that may be errors, side by side in arrays: mentions with what was answered, and answers.

    Parts of other segmentations are not among them. Linking: `right` (found and linked right), `wrong_link` (found and
    linked wrong), `missed` and `spurious` (a false negative, a false positive of linking). Detection: `detected`,
    `undetected` and `overdetected`. `counts` is false for a mention that is scored by its parts.
    """

    document: Ints
    counts: Bools

    right: Bools
    wrong_link: Bools
    missed: Bools
    spurious: Bools
    detected: Bools
    undetected: Bools
    overdetected: Bools

    coreference: Bools
    """The mention is a pronoun or a nominal phrase that refers back."""
    lowercased: Bools
    """The first letter of the text is no capital."""
    multiword: Bools
    """There is a blank in the text."""
    nil: Bools
    """There is a mention here, and the gold standard links it to NIL."""
    linked: Bools
    """There is a mention here, and the gold standard links it to an entity that is no quantity and no datetime."""

    around_spurious: Bools
    """A spurious mention lies inside this span, and is shorter."""
    across_spurious: Bools
    """A spurious mention overlaps this span."""
    at_mention: Bools
    """A mention overlaps this span."""
    off_its_mention: Bools
    """A mention of the answered entity overlaps this span, and has another."""

    demonym: Truth
    """The text is in the list of demonyms, and the entity is a place, a people or a language."""
    metonym: Truth
    """The text is popular for a place, and the entity is no place, person or people."""
    to_place: Truth
    """The answer leads to a place."""
    partial_name: Truth
    """The text is a part of the entity's name, which has several words."""
    rare: Truth
    """The text is popular for other entities only."""
    to_popular: Truth
    """The answer leads to an entity that the text is popular for."""

    several_candidates: Bools
    """The system had several candidates."""
    among_candidates: Bools
    """The entity was among the system's candidates."""
    false_coreference: Bools
    """The answer takes something for a coreference that is none."""
    hyperlink: Bools
    """The span is a link in the source."""
    wrong_reference: Bools
    """The antecedent, which is named and has the same entity, is linked as this is."""
    other_reference: Bools
    """The antecedent, which is named and has the same entity, is not linked as this is."""

    def __len__(self) -> int:
        return len(self.document)
