"""Systems that could not be tested: they are listed, and users provide their prediction files instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from karat.model.errors import UsageError
from karat.model.spec.external_access import TrainingDetails
from karat.model.spec.system import Link, System

_NO_TRAINING: Final = TrainingDetails()


def _define(
    title: str,
    description: str,
    prediction_format: str,
    *,
    id_space: str = "enwiki",
    hardest_task: str = "a2kb",
    training: TrainingDetails = _NO_TRAINING,
) -> System:
    """Return a system that raises `UsageError` when it is started.

    `prediction_format`: format of the prediction file that users provide instead.
    The other parameters are fields of `System`.
    """

    def start(options: object, gold_mentions: bool) -> Link:
        raise UsageError(f"{title} is untested and cannot run. Provide its predictions.")

    return System(
        title,
        description,
        start,
        hardest_task=hardest_task,
        id_space=id_space,
        untested_reason=prediction_format,
        training=training,
    )


UNTESTED_SYSTEMS: Final[Mapping[str, System]] = {
    "aida": _define(
        "AIDA",
        "Links all mentions jointly in a graph, or each by context, or by prior only. The system `graph` "
        "reimplements it.",
        "NIF, ELEVANT's linked articles or Karat JSONL",
        id_space="yago",
        hardest_task="sa2kb",
    ),
    "blink": _define(
        "BLINK", "A bi-encoder of mentions and Wikipedia entities.", "BLINK's JSON lines (format `blink`)"
    ),
    "bootleg": _define(
        "Bootleg",
        "Self-supervised disambiguation with types and a knowledge base, designed for rare entities.",
        "Karat JSONL",
        id_space="",
        hardest_task="d2kb",
        training=TrainingDetails(
            data="Wikipedia, AIDA-CoNLL",
            size="5.7 million sentences",
            weak_labels="yes",
            dump_date="November 2019",
            vocabulary="3.3 million entities",
            candidate_list="PPR and its own",
            extra_features="knowledge base, types",
        ),
    ),
    "e2e": _define(
        "End-to-end neural entity linking",
        "Detects and links mentions jointly, with embeddings of words and entities.",
        "NIF or ELEVANT's linked articles",
        training=TrainingDetails(data="AIDA-CoNLL; embeddings: Wikipedia"),
    ),
    "efficient-el": _define(
        "Efficient EL",
        "A generative model with parallel decoding.",
        "Karat JSONL",
        training=TrainingDetails(data="AIDA-CoNLL"),
    ),
    "extend": _define(
        "ExtEnD",
        "Extractive entity disambiguation.",
        "Karat JSONL",
        hardest_task="d2kb",
        training=TrainingDetails(
            data="Wikipedia, AIDA-CoNLL",
            size="9 million snippets",
            weak_labels="no",
            dump_date="May 2019",
            vocabulary="1.5 million entities",
            candidate_list="GH",
        ),
    ),
    "falcon2": _define(
        "Falcon 2.0",
        "Links entities and relations in short texts by rules of English morphology; returns texts without offsets.",
        "JSON with texts instead of offsets",
        id_space="wikidata",
    ),
    "flair": _define("Flair's entity linker", "The entity linker of Flair, which includes ZELDA.", "Karat JSONL"),
    "fred": _define(
        "FRED", "Machine reading for the Semantic Web, including entity linking.", "NIF", id_space="dbpedia"
    ),
    "freme": _define(
        "FREME NER",
        "A web service that detects and links named entities; supported by GERBIL.",
        "NIF",
        id_space="dbpedia",
    ),
    "genre": _define(
        "GENRE",
        "A generative model that writes the text with entity titles, restricted to existing titles.",
        "ELEVANT's linked articles or Karat JSONL",
        training=TrainingDetails(
            data="Wikipedia; one model also AIDA-CoNLL",
            size="9 million snippets",
            weak_labels="no",
            dump_date="May 2019",
            vocabulary="1.5 million entities",
            candidate_list="GH, or none",
        ),
    ),
    "illinois-wikifier": _define(
        "Illinois Wikifier",
        "Detects mentions by Wikipedia anchors and titles and disambiguates them for coherence.",
        "BAT's CSV or Karat JSONL",
        hardest_task="sa2kb",
    ),
    "luke": _define(
        "LUKE",
        "A language model with entity embeddings; links the most confident mentions first.",
        "Karat JSONL",
        hardest_task="d2kb",
        training=TrainingDetails(
            data="Wikipedia; some models also AIDA-CoNLL",
            size="about 10 million snippets",
            weak_labels="no",
            dump_date="December 2018",
            vocabulary="128,000 entities",
            candidate_list="GH or PPR",
        ),
    ),
    "neural-el": _define(
        "Neural EL",
        "Disambiguates by entity descriptions, contexts, types and prior.",
        "ELEVANT's linked articles or Karat JSONL",
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
    ),
}
"""The systems by name."""
