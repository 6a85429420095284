"""Systems that could not be tested: they are listed, and users provide their prediction files instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from karat.model.errors import UsageError
from karat.model.spec.external_access import TrainingDetails, TrainingSetup
from karat.model.spec.system import Claim, Link, System
from karat.systems.claims.bat_2013 import list_bat_claims, list_quoted_claims
from karat.systems.claims.fair_2023 import list_compared_claims, list_fair_claims
from karat.systems.claims.finegrained_2019 import list_finegrained_claims
from karat.systems.claims.posthoc_2021 import list_posthoc_claims
from karat.systems.claims.zelda_2023 import list_setup_claims, list_zelda_claims

_NO_TRAINING: Final = TrainingDetails()
_SURVEY: Final = "Milich and Akbik 2023, Table 1"
_AIDA: Final = "AIDA-TRAIN"


def _define(
    title: str,
    description: str,
    prediction_format: str,
    *,
    id_space: str = "enwiki",
    hardest_task: str = "a2kb",
    gold_mentions: Literal["never", "optional"] = "never",
    training: TrainingDetails = _NO_TRAINING,
    setups: Sequence[TrainingSetup] = (),
    citation: str = "",
    claims: Sequence[Claim] = (),
) -> System:
    """Return a system that raises `UsageError` when it is started.

    `prediction_format`: format of the prediction file that users provide instead.
    The other parameters are fields of `System`; with `setups`, `training` is their summary, and what they
    report is added to the claims.
    """

    def start(options: object, gold_mentions: bool) -> Link:
        raise UsageError(f"{title} is untested and cannot run. Provide its predictions.")

    return System(
        title,
        description,
        start,
        hardest_task=hardest_task,
        gold_mentions=gold_mentions,
        id_space=id_space,
        untested_reason=prediction_format,
        training=TrainingDetails.from_setups(setups) if setups else training,
        setups=tuple(setups),
        citation=citation,
        claims=(*claims, *list_setup_claims(setups)),
    )


def _luke_setup(candidate_list: str, aida_b_accuracy: float, *features: str) -> TrainingSetup:
    """Return the training signal of a LUKE model with a candidate list, reported accuracy and further features."""
    return TrainingSetup(
        model=f"LUKE_{candidate_list}{'+AIDA' if features else ''}",
        paper="Yamada et al. (2022)",
        source=_SURVEY,
        snippets=10_000_000,
        is_approximate=True,
        dump_date="2018-12",
        features=features,
        entities=128_000,
        candidate_lists=(candidate_list,),
        aida_b_accuracy=aida_b_accuracy,
    )


def _broscheit_setup(snippets: int, entities: int, aida_b_accuracy: float) -> TrainingSetup:
    """Return the training signal of a model of Broscheit (2019), with its reported accuracy."""
    return TrainingSetup(
        model=f"BROSCHEIT_{entities // 1000}k",
        paper="Broscheit (2019)",
        source=_SURVEY,
        snippets=snippets,
        has_weak_labels=True,
        dump_date="2017-06",
        features=(_AIDA,),
        entities=entities,
        aida_b_accuracy=aida_b_accuracy,
    )


UNTESTED_SYSTEMS: Final[Mapping[str, System]] = {
    "aida": _define(
        "AIDA",
        "Links all mentions jointly in a graph, or each by context, or by prior only.",
        "NIF, ELEVANT's linked articles or Karat JSONL",
        id_space="yago",
        hardest_task="sa2kb",
        gold_mentions="optional",
        citation="Hoffart et al. 2011: Robust Disambiguation of Named Entities in Text. EMNLP.",
        claims=[
            *list_bat_claims("AIDA-Local", "AIDA-CocktailParty", "AIDA-PriorityOnly"),
            *list_quoted_claims(),
            *list_finegrained_claims("A"),
        ],
    ),
    "ambiverse": _define(
        "Ambiverse",
        "Detects mentions by a conditional random field with facts about names (KnowNER) and links them as AIDA does.",
        "ELEVANT's linked articles",
        id_space="yago",
        citation="Seyler et al. 2018: A Study of the Importance of External Knowledge in the Named "
        "Entity Recognition Task. ACL.",
        claims=list_fair_claims("Ambiverse"),
    ),
    "blink": _define(
        "BLINK",
        "A bi-encoder of mentions and Wikipedia entities.",
        "BLINK's JSON lines (format `blink`)",
        citation="Wu et al. 2020: Scalable Zero-Shot Entity Linking with Dense Entity Retrieval. EMNLP.",
    ),
    "bootleg": _define(
        "Bootleg",
        "Self-supervised disambiguation with types and a knowledge base, designed for rare entities.",
        "Karat JSONL",
        id_space="",
        hardest_task="d2kb",
        setups=[
            TrainingSetup(
                model="BOOTLEG",
                paper="Orr et al. (2021)",
                source=_SURVEY,
                snippets=5_700_000,
                snippet_unit="sentences",
                has_weak_labels=True,
                dump_date="2019-11",
                features=("KB", "types", _AIDA),
                entities=3_300_000,
                candidate_lists=("PPR", "custom"),
                aida_b_accuracy=96.7,
            )
        ],
        citation="Orr et al. 2021: Bootleg: Chasing the Tail with Self-Supervised Named Entity Disambiguation. arXiv.",
    ),
    "broscheit": _define(
        "Broscheit's BERT entity linker",
        "Classifies every token of a text as one of the most frequent entities, with BERT.",
        "Karat JSONL",
        setups=[_broscheit_setup(8_800_000, 700_000, 78.8), _broscheit_setup(2_400_000, 500_000, 87.9)],
        citation="Broscheit 2019: Investigating Entity Knowledge in BERT with Simple Neural End-to-End "
        "Entity Linking. CoNLL.",
    ),
    "cmns": _define(
        "CMNS",
        "Ranks the entities of a tweet by lexical matching of n-grams, then by supervised learning; never published.",
        "Karat JSONL",
        hardest_task="rc2kb",
        citation="Meij et al. 2012: Adding Semantics to Microblog Posts. WSDM.",
    ),
    "e2e": _define(
        "End-to-end neural entity linking",
        "Detects and links mentions jointly, with embeddings of words and entities.",
        "NIF or ELEVANT's linked articles",
        training=TrainingDetails(data="AIDA-CoNLL; embeddings: Wikipedia"),
        citation="Kolitsas et al. 2018: End-to-End Neural Entity Linking. CoNLL.",
        claims=list_posthoc_claims("E2E"),
    ),
    "efficient-el": _define(
        "Efficient EL",
        "A generative model with parallel decoding.",
        "Karat JSONL",
        training=TrainingDetails(data="AIDA-CoNLL"),
        citation="De Cao et al. 2021: Highly Parallel Autoregressive Entity Linking with "
        "Discriminative Correction. EMNLP.",
        claims=list_compared_claims(
            "aida@elevant2024/testb",
            "Efficient EL",
            section="A.2.4",
            paper="De Cao et al. 2021",
            reported=85.5,
            reproduced=85.0,
        ),
    ),
    "extend": _define(
        "ExtEnD",
        "Extractive entity disambiguation.",
        "Karat JSONL",
        hardest_task="d2kb",
        setups=[
            TrainingSetup(
                model="EXTEND",
                paper="Barba et al. (2022)",
                source=_SURVEY,
                snippets=9_000_000,
                has_single_mentions=True,
                dump_date="2019-05",
                features=(_AIDA,),
                entities=1_500_000,
                candidate_lists=("GH",),
                aida_b_accuracy=92.6,
            )
        ],
        citation="Barba et al. 2022: ExtEnD: Extractive Entity Disambiguation. ACL.",
    ),
    "falcon2": _define(
        "Falcon 2.0",
        "Links entities and relations in short texts by rules of English morphology; returns texts without offsets.",
        "JSON with texts instead of offsets",
        id_space="wikidata",
    ),
    "fred": _define(
        "FRED",
        "Machine reading for the Semantic Web, including entity linking.",
        "NIF",
        id_space="dbpedia",
        citation="Gangemi et al. 2017: Semantic Web Machine Reading with FRED. Semantic Web.",
    ),
    "freme": _define(
        "FREME NER",
        "A web service that detects and links named entities; supported by GERBIL.",
        "NIF",
        id_space="dbpedia",
        claims=list_finegrained_claims("F"),
    ),
    "illinois-wikifier": _define(
        "Illinois Wikifier",
        "Detects mentions by Wikipedia anchors and titles and disambiguates them for coherence.",
        "BAT's CSV or Karat JSONL",
        hardest_task="sa2kb",
        gold_mentions="optional",
        citation="Ratinov et al. 2011: Local and Global Algorithms for Disambiguation to Wikipedia. ACL.",
        claims=list_bat_claims("Illinois Wikifier"),
    ),
    "kbed": _define(
        "KBED",
        "Disambiguates with entity types, descriptions and the facts of Wikidata (Ayoola et al. 2022).",
        "Karat JSONL",
        id_space="wikidata",
        hardest_task="d2kb",
        setups=[
            TrainingSetup(
                model="AYOOLA",
                paper="Ayoola et al. (2022)",
                source=_SURVEY,
                snippets=20_000_000,
                is_approximate=True,
                has_weak_labels=True,
                dump_date="2021-07",
                features=("KB", "descriptions", "types"),
                entities=6_200_000,
                candidate_lists=("GH",),
                aida_b_accuracy=90.4,
            )
        ],
        citation="Ayoola et al. 2022: Improving Entity Disambiguation by Reasoning over a Knowledge Base. NAACL.",
    ),
    "luke": _define(
        "LUKE",
        "A language model with entity embeddings; links the most confident mentions first.",
        "Karat JSONL",
        hardest_task="d2kb",
        setups=[
            _luke_setup("GH", 92.4),
            _luke_setup("PPR", 94.6),
            _luke_setup("GH", 95.0, _AIDA),
            _luke_setup("PPR", 97.1, _AIDA),
        ],
        citation="Yamada et al. 2022: Global Entity Disambiguation with BERT. NAACL.",
        claims=list_zelda_claims("LUKE_PRE", "LUKE_FT"),
    ),
    "neural-el": _define(
        "Neural EL",
        "Disambiguates by entity descriptions, contexts, types and prior.",
        "ELEVANT's linked articles or Karat JSONL",
        citation="Gupta et al. 2017: Entity Linking via Joint Encoding of Types, Descriptions, and Context. EMNLP.",
        claims=[
            *list_fair_claims("Neural EL"),
            *list_compared_claims(
                "aida@elevant2024/testb",
                "Neural EL",
                section="A.2.1",
                paper="Gupta et al. 2017",
                reported=82.9,
                reproduced=78.8,
                has_gold_mentions=True,
            ),
            *list_compared_claims(
                "aida@elevant2024/testa",
                "Neural EL",
                section="A.2.1",
                paper="Gupta et al. 2017",
                reported=84.9,
                reproduced=77.9,
                has_gold_mentions=True,
            ),
        ],
    ),
    "opentapioca": _define("OpenTapioca", "A simple linker for Wikidata.", "NIF", id_space="wikidata"),
    "relik": _define(
        "ReLiK",
        "A retriever proposes entities, and a reader detects their mentions.",
        "Karat JSONL",
        training=TrainingDetails(data="BLINK's snippets of Wikipedia, AIDA-CoNLL"),
    ),
    "wikifier": _define(
        "Wikifier",
        "A multilingual web service that links mentions to Wikipedia pages, ranked by PageRank.",
        "Karat JSONL",
    ),
    "wikipedia-miner": _define(
        "Wikipedia Miner",
        "A classifier with prior, relatedness and context, trained on Wikipedia links.",
        "BAT's CSV or Karat JSONL",
        hardest_task="sa2kb",
        citation="Milne and Witten 2008: Learning to Link with Wikipedia. CIKM.",
        claims=list_bat_claims("Wikipedia Miner"),
    ),
}
"""The systems by name."""
