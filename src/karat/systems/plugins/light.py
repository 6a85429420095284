"""A linear model of a few dozen features, trained on published datasets, for detection and for ranking.

A stage is a step of a system: detection, candidates or ranking.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from karat.model.spec.external_access import TrainingDetails
from karat.model.spec.system import Link, Refine, System, option
from karat.systems.linking.lexicon import KB_DESCRIPTION, Lexicon, build_lexicon, snapshot_metadata
from karat.systems.linking.light.model import compute_weights_digest
from karat.systems.linking.light.stages import build_linker
from karat.systems.linking.name_linker import MODEL_DESCRIPTION, make_detection_stage
from karat.systems.linking.stages import USE_GIVEN_MENTIONS, chain_stages, make_candidate_stage, make_document_stage


@dataclass(frozen=True, slots=True)
class LightOptions:
    """The options of `light`."""

    kb: str = option("starter", KB_DESCRIPTION)
    detector: Literal["learned", "rules", "spacy"] = option(
        "learned", "Mention detector: learned, rules, or a spaCy model (extra spacy)."
    )
    model: str = option("en_core_web_sm", MODEL_DESCRIPTION)
    candidates: int = option(20, "Maximum number of candidates per mention.")
    min_mention: float = option(0.15, "Minimum probability of a mention, for the learned detector.")
    min_confidence: float = option(
        0.35, "Minimum score of a link on a detected mention. Given mentions are all linked."
    )

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon, with candidates weighted by counts and popularity."""
        return build_lexicon(self.kb, "both")


def _detect(options: LightOptions) -> Refine:
    """Return the stage that detects mentions with the detector in the options."""
    if options.detector != "learned":
        return make_detection_stage(options.detector, options.lexicon, options.model)
    linker = build_linker(options.lexicon)
    return make_document_stage(lambda document, response: linker.detect(document, response, options.min_mention))


def _candidates(options: LightOptions) -> Refine:
    """Return the stage that proposes the most likely entities of each surface."""
    return make_candidate_stage(options.lexicon, options.candidates)


def _rank(options: LightOptions, min_confidence: float = 0.0) -> Refine:
    """Return the stage that links each mention to its likeliest candidate and drops links below `min_confidence`."""
    linker = build_linker(options.lexicon)
    return make_document_stage(lambda document, response: linker.rank(document, response, min_confidence))


def _start(options: LightOptions, gold_mentions: bool) -> Link:
    """Return the function that detects and links mentions; given mentions are all linked."""
    if gold_mentions:
        return chain_stages(USE_GIVEN_MENTIONS, _candidates(options), _rank(options))
    return chain_stages(_detect(options), _candidates(options), _rank(options, options.min_confidence))


def _fingerprint(options: LightOptions) -> Mapping[str, str]:
    """Return the manifest entries on snapshot and weights."""
    return snapshot_metadata(options.kb) | {"weights": compute_weights_digest()}


SYSTEM = System(
    title="Light",
    description="Detects and links names with linear models of shares, names, words around, types and relatedness; "
    "their weights come with Karat.",
    start=_start,
    options=LightOptions,
    gold_mentions="optional",
    stages={"detect": _detect, "candidates": _candidates, "rank": lambda options: _rank(options)},
    fingerprint=_fingerprint,
    training=TrainingDetails(
        data="AIDA-B, WNED-CWEB, WNED-WIKI, Tweeki, Reddit, ShadowLinks, RSS-500, OKE 2016, Derczynski, DBpedia "
        "Spotlight and ACE2004",
        vocabulary="entities of the snapshot",
        candidate_list="aliases of the snapshot",
    ),
)
