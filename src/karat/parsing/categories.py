"""The categorisation scheme of the fine-grained paper (Rosales-Méndez et al. 2019), in its three vocabularies."""

from __future__ import annotations

from karat.parsing.turtle import local

SCHEME: dict[str, dict[str, tuple[str, ...]]] = {
    "form": {
        "Full": ("Mnt-Full", "FullProperForm", "FullMentionPN"),
        "Short": ("Mnt-Short", "ShortProperForm", "ShortMentionPN"),
        "Extended": ("Mnt-Extended", "ExtendedProperForm", "ExtendedMentionPN"),
        "Alias": ("Mnt-Alias", "AliasProperForm", "AliasPN"),
        "NumericTemporal": ("Mnt-NumericTemporal", "NumericTemporalForm", "NumericTemporalPN"),
        "CommonForm": ("Mnt-CommonForm", "CommonForm", "CommonFormPN"),
        "ProForm": ("Mnt-ProForm", "ProForm", "Pro-formPN"),
    },
    "pos": {
        "NounSingular": ("PoS-NounSingular", "SingularNounPhrasePoS", "SingularNounPoS"),
        "NounPlural": ("PoS-NounPlural", "PluralNounPhrasePoS", "PluralNounPoS"),
        "Adjective": ("PoS-Adjective", "AdjectivePoS"),
        "Verb": ("PoS-Verb", "VerbPoS"),
        "Adverb": ("PoS-Adverb", "AdverbPoS"),
    },
    "overlap": {
        "None": ("Olp-None", "NoOverlap", "Non-Overlapping", "NonOverlapping"),
        "Maximal": ("Olp-Maximal", "MaximalOverlap"),
        "Intermediate": ("Olp-Intermediate", "IntermediateOverlap"),
        "Minimal": ("Olp-Minimal", "MinimalOverlap"),
    },
    "reference": {
        tag: (f"Ref-{tag}", f"{tag}Reference")
        for tag in ("Direct", "Anaphoric", "Metaphoric", "Metonymic", "Related", "Descriptive")
    },
}
"""By dimension and tag, how the paper's files (`el:`), the published vocabulary (`fel:`) and NIFify spell it."""

_CATEGORIES = {
    spelling: f"{dimension}:{tag}"
    for dimension, tags in SCHEME.items()
    for tag, spellings in tags.items()
    for spelling in spellings
}


def category(name: str) -> str | None:
    """The category that an address or a name with a prefix stands for, as `dimension:tag`."""
    return _CATEGORIES.get(local(name))
