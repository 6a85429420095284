"""Titles written token by token (GENRE, De Cao et al. 2021), trained with `karat train genre`."""

from dataclasses import dataclass

from karat.model.spec.external_access import TrainingSetup
from karat.model.spec.system import option
from karat.systems.claims.fair_2023 import list_fair_claims
from karat.systems.claims.zelda_2023 import list_zelda_claims
from karat.systems.linking.model_system import ModelOptions, build_model_system
from karat.systems.linking.trie import MAX_STEPS, N_BEAMS


def _original_setup(variant: str, aida_b_accuracy: float, features: tuple[str, ...], *lists: str) -> TrainingSetup:
    """Return the training signal of a model of De Cao et al. (2021), named by `variant`."""
    return TrainingSetup(
        model=f"GENRE{variant}",
        paper="De Cao et al. (2021)",
        source="Milich and Akbik 2023, Table 1",
        snippets=9_000_000,
        has_single_mentions=True,
        dump_date="2019-05",
        features=features,
        entities=1_500_000,
        candidate_lists=lists,
        aida_b_accuracy=aida_b_accuracy,
    )


@dataclass(frozen=True, slots=True)
class GenreOptions(ModelOptions):
    """The options of `genre`."""

    beam: int = option(N_BEAMS, "Number of beams.")
    max_steps: int = option(MAX_STEPS, "Maximum number of tokens of a title; longer titles cannot be written.")


SYSTEM = build_model_system(
    "genre",
    title="GENRE",
    description="Writes the title of each given mention's entity token by token, among the titles of its candidates or "
    "of all entities in the training data.",
    options=GenreOptions,
    prediction_options=lambda options: {"n_beams": options.beam, "max_steps": options.max_steps},
    citation="De Cao et al. 2021: Autoregressive Entity Retrieval. ICLR.",
    claims=(*list_fair_claims("GENRE"), *list_zelda_claims("GENRE_ALL", "GENRE_CL")),
    setups=(
        _original_setup("", 89.3, (), "GH"),
        _original_setup("_+AIDA", 93.3, ("AIDA-TRAIN",), "GH"),
        _original_setup("_+AIDA-NOC", 91.2, ("AIDA-TRAIN",)),
    ),
)
