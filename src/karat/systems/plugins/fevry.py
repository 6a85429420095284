"""A softmax over all entities, trained with `karat train fevry` (Févry et al. 2020)."""

from karat.model.spec.external_access import TrainingSetup
from karat.systems.claims.zelda_2023 import list_zelda_claims
from karat.systems.linking.model_system import build_model_system


def _original_setup(candidate_list: str, aida_b_accuracy: float) -> TrainingSetup:
    """Return the training signal of a model of Févry et al. (2020), which was not released."""
    return TrainingSetup(
        model=f"FEVRY_{candidate_list}",
        paper="Févry et al. (2020)",
        source="Milich and Akbik 2023, Table 1",
        snippets=17_500_000,
        dump_date="2019-04",
        features=("AIDA-TRAIN",),
        entities=5_700_000,
        candidate_lists=(candidate_list, "custom"),
        aida_b_accuracy=aida_b_accuracy,
    )


SYSTEM = build_model_system(
    "fevry",
    title="FEVRY",
    description="Links each given mention to the most likely of its candidates or of all entities in the training "
    "data.",
    citation="Févry et al. 2020: Empirical Evaluation of Pretraining Strategies for Supervised Entity Linking. arXiv.",
    claims=list_zelda_claims("FEVRY_ALL", "FEVRY_CL"),
    setups=(_original_setup("HF", 92.5), _original_setup("PPR", 96.7)),
)
