"""Training of `light`: `python tools/train_light.py SHARED` writes its weights, `--check` only compares them.

SHARED is a folder of published datasets. Documents that nearly equal a document of a test dataset are excluded. A hash
of the text assigns a fifth of the documents to the development part, on which the thresholds are tuned. The models are
fitted by Newton's method, so the same data always gives the same weights.

1. Ranking: conditional logit over the candidates of mentions whose entity is among them.
2. Confidence: logistic regression, whether the first candidate is correct, over all mentions with candidates.
3. Detection: logistic regression over proposed spans of datasets that annotate all names.
"""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

import karat
from karat.data.id_resolution import resolve_ids
from karat.evaluation.request import Request
from karat.kb.catalogue import open_starter
from karat.model.corpus import Corpus
from karat.model.document import Document, Prediction, Response
from karat.model.run import Run
from karat.model.tables.columns import Bools, Floats, Longs
from karat.stats.word_ngrams import hash_ngrams, split_words
from karat.systems.linking.abstention import abstain
from karat.systems.linking.lexicon import build_lexicon, snapshot_metadata
from karat.systems.linking.light.candidate_features import FEATURES, FeatureExtractor
from karat.systems.linking.light.detector import DETECTION_FEATURES, SpanExtractor
from karat.systems.linking.light.entity_tables import build_entity_tables
from karat.systems.linking.light.model import (
    BIAS,
    CONFIDENCE_FEATURES,
    WEIGHTS_FILE,
    LightWeights,
    TrainingSet,
    describe_links,
    softmax_by_owner,
)
from karat.systems.linking.light.stages import LightLinker, create_linker
from karat.systems.linking.stages import USE_GIVEN_MENTIONS, chain_stages, make_candidate_stage, make_document_stage
from karat.systems.running.nil_tuning import tune_nil

SEED: Final = "light-1"
TRAINING: Final = {
    **{
        name: f"data/zelda/jsonl/test_{name}.jsonl.gz"
        for name in ("aida-b", "cweb", "reddit-comments", "reddit-posts", "shadowlinks-top", "tweeki", "wned-wiki")
    },
    **{
        name: f"data/elevant/benchmarks/{name}.benchmark.jsonl.gz"
        for name in ("derczynski", "oke-2016-train", "rss-500", "spotlight")
    },
    "ace2004": "data/bat/ACE2004_Coref_Turking",
}
TESTS: Final = {
    "demo": "demo",
    **{
        name: f"data/elevant/benchmarks/{name}.benchmark.jsonl.gz"
        for name in ("kore50", "msnbc-updated", "wiki-fair", "wiki-fair-v2", "news-fair", "news-fair-v2-no-coref")
    },
    "msnbc": "data/bat/MSNBC",
    "aquaint": "data/bat/AQUAINT",
}
COMPLETE: Final = ("aida-b", "derczynski", "oke-2016-train", "spotlight", "tweeki")
"""The datasets that annotate every name, from which detection is learned."""
WITH_NIL: Final = ("derczynski", "oke-2016-train", "rss-500")
"""The datasets with NIL, on which the NIL threshold is tuned."""
MAX_CANDIDATES: Final = 20
PENALTY: Final = 3.0
"""The weight of the squared norm of the standardised weights."""
NGRAM: Final = 5
MAX_SHARED: Final = 0.2
"""The share of 5-grams of the shorter text from which two texts count as nearly the same."""
GRID: Final = tuple(round(0.05 * step, 2) for step in range(13))
DIGITS: Final = 5


@dataclass(frozen=True)
class Examples:
    """The mentions of some documents, with features of their candidates.

    `owner`: mention of each candidate.
    `candidates`, `mentions`: features.
    `is_gold`: whether each candidate is the gold entity.
    """

    owner: Longs
    candidates: Floats
    mentions: Floats
    is_gold: Bools


def is_dev(document: Document) -> bool:
    """Return whether a document belongs to the development part."""
    return hashlib.sha256((SEED + document.text).encode()).digest()[0] < 51


def load_documents(shared: Path) -> tuple[dict[str, list[Document]], tuple[TrainingSet, ...]]:
    """Load the training data with ids of the starter snapshot; return the documents and a record of each dataset."""
    kb_ids = frozenset(build_lexicon("starter", "both").ids)
    index, sizes = _index_tests(shared)
    documents, records = {}, []
    for name, path in TRAINING.items():
        corpus = resolve_ids(karat.load(shared / path), open_starter())[0]
        documents[name] = [document for document in corpus if not _is_near_duplicate(document, index, sizes)]
        spans = [(document, *span) for document in documents[name] for span in _collect_gold(document).items()]
        records.append(
            TrainingSet(
                name,
                path.removeprefix("data/"),
                corpus.digest,
                len(documents[name]),
                len(spans),
                sum(not kb_ids.isdisjoint(entities) for _, _, entities in spans),
                len(corpus) - len(documents[name]),
            )
        )
    return documents, tuple(records)


def _index_tests(shared: Path) -> tuple[dict[int, list[int]], list[int]]:
    """Return the test documents by the hashes of their 5-grams, and the number of 5-grams of each."""
    index: dict[int, list[int]] = {}
    sizes: list[int] = []
    for path in TESTS.values():
        for document in karat.load(path if path == "demo" else shared / path):
            hashes = set(hash_ngrams(split_words(document.text), NGRAM).tolist())
            for value in hashes:
                index.setdefault(value, []).append(len(sizes))
            sizes.append(len(hashes))
    return index, sizes


def _is_near_duplicate(document: Document, index: Mapping[int, list[int]], sizes: Sequence[int]) -> bool:
    """Return whether a document shares a fifth of its 5-grams, and at least 4, with a test document."""
    hashes = set(hash_ngrams(split_words(document.text), NGRAM).tolist())
    counts = Counter(number for value in hashes for number in index.get(value, ()))
    return any(count >= 4 and count >= MAX_SHARED * min(len(hashes), sizes[number]) for number, count in counts.items())


def _collect_gold(document: Document) -> dict[tuple[int, int], set[str | None]]:
    """Return the gold entities of each span of a document; None is NIL or unlinked."""
    gold: dict[tuple[int, int], set[str | None]] = {}
    for label in document.labels:
        if label.parent is None:
            gold.setdefault((label.start, label.end), set()).add(
                label.entity if isinstance(label.entity, str) else None
            )
    return gold


def collect_examples(documents: Iterable[Document], extractor: FeatureExtractor) -> Examples:
    """Return the gold mentions with candidates, and their features."""
    parts: list[Examples] = []
    n_mentions = 0
    for document in documents:
        gold = _collect_gold(document)
        mentions = [
            Prediction(*span, candidates=candidates)
            for span in sorted(gold)
            if (candidates := extractor.lexicon.find_candidates(document.text[slice(*span)], MAX_CANDIDATES))
        ]
        if not mentions:
            continue
        features = extractor.extract(document.text, mentions)
        is_gold = [
            candidate.entity in gold[mention.start, mention.end]
            for mention in mentions
            for candidate in mention.candidates
        ]
        parts.append(Examples(features.owner + n_mentions, features.candidates, features.mentions, np.array(is_gold)))
        n_mentions += len(mentions)
    return Examples(
        np.concatenate([part.owner for part in parts]),
        np.concatenate([part.candidates for part in parts]),
        np.concatenate([part.mentions for part in parts]),
        np.concatenate([part.is_gold for part in parts]),
    )


def fit(objective: Callable[[Floats], tuple[float, Floats, Floats]], n_weights: int, n_iterations: int = 50) -> Floats:
    """Maximise a concave function by Newton's method with step halving.

    `objective` returns value, gradient and negative Hessian at some weights.
    """
    weights = np.zeros(n_weights)
    value, gradient, curvature = objective(weights)
    for _ in range(n_iterations):
        step, factor = np.linalg.solve(curvature, gradient), 1.0
        while factor > 1e-6 and objective(weights + factor * step)[0] < value:
            factor /= 2
        weights = weights + factor * step
        before, (value, gradient, curvature) = value, objective(weights)
        if value - before < 1e-6:
            break
    return weights


def fit_ranking(examples: Examples) -> dict[str, float]:
    """Fit the ranking on mentions whose entity is a candidate; return the weights by feature."""
    n_mentions = len(examples.mentions)
    has_gold = np.bincount(examples.owner, examples.is_gold, n_mentions) > 0
    rows = has_gold[examples.owner]
    owner = (np.cumsum(has_gold) - 1)[examples.owner[rows]]
    n_mentions = int(has_gold.sum())
    scale = examples.candidates.std(axis=0)
    scale[scale == 0] = np.inf
    x, target = examples.candidates[rows] / scale, examples.is_gold[rows].astype(float)
    target /= np.bincount(owner, target)[owner]
    starts = np.searchsorted(owner, np.arange(n_mentions))

    def objective(weights: Floats) -> tuple[float, Floats, Floats]:
        probability = softmax_by_owner(x @ weights, owner, n_mentions)
        mean = np.add.reduceat(x * probability[:, None], starts, axis=0)
        value = float(target @ np.log(probability + 1e-300)) - PENALTY / 2 * float(weights @ weights)
        curvature = (x * probability[:, None]).T @ x - mean.T @ mean + PENALTY * np.eye(len(weights))
        return value, x.T @ (target - probability) - PENALTY * weights, curvature

    return _name_weights(FEATURES, fit(objective, len(FEATURES)) / scale)


def fit_logistic(features: Floats, target: Bools, names: Sequence[str]) -> dict[str, float]:
    """Fit a logistic regression; return the weights by feature, and the bias."""
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale[scale == 0] = np.inf
    x = np.column_stack([(features - mean) / scale, np.ones(len(features))])

    def objective(weights: Floats) -> tuple[float, Floats, Floats]:
        scores = x @ weights
        probability = 1 / (1 + np.exp(-scores))
        value = float((target * scores - np.logaddexp(0, scores)).sum()) - PENALTY / 2 * float(weights @ weights)
        curvature = (x * (probability * (1 - probability))[:, None]).T @ x + PENALTY * np.eye(len(weights))
        return value, x.T @ (target - probability) - PENALTY * weights, curvature

    weights = fit(objective, len(names) + 1)
    raw = weights[:-1] / scale
    return {**_name_weights(names, raw), BIAS: _round(float(weights[-1] - raw @ mean))}


def _name_weights(names: Sequence[str], weights: Floats) -> dict[str, float]:
    """Return rounded weights by feature."""
    return {name: _round(weight) for name, weight in zip(names, weights.tolist(), strict=True)}


def _round(value: float) -> float:
    """Return a number with five significant digits, so that the last bits of a processor do not matter."""
    return float(f"{value:.{DIGITS}g}")


def fit_confidence(examples: Examples, ranking: Mapping[str, float]) -> dict[str, float]:
    """Fit the probability that the first candidate of the ranking is correct."""
    n_mentions = len(examples.mentions)
    scores = examples.candidates @ np.array([ranking[name] for name in FEATURES])
    probability = softmax_by_owner(scores, examples.owner, n_mentions)
    order = np.lexsort((np.arange(len(probability)), -probability, examples.owner))
    starts = np.searchsorted(examples.owner, np.arange(n_mentions))
    features = describe_links(probability, order, starts, examples.candidates, examples.mentions)
    return fit_logistic(features, examples.is_gold[order[starts]], CONFIDENCE_FEATURES)


def fit_detection(documents: Iterable[Document], extractor: SpanExtractor) -> dict[str, float]:
    """Fit the probability that a proposed span is a gold mention."""
    features: list[Floats] = []
    target: list[bool] = []
    for document in documents:
        gold = _collect_gold(document)
        proposals = extractor.propose_spans(document.text)
        features.append(extractor.describe_spans(document.text, proposals))
        target += [(proposal.start, proposal.end) in gold for proposal in proposals]
    return fit_logistic(np.concatenate(features), np.array(target), DETECTION_FEATURES)


def tune_detection(linker: LightLinker, documents: Sequence[Document]) -> tuple[float, float]:
    """Return the thresholds of mentions and links with the best micro F1 of detection and linking together."""
    corpus = Corpus.from_documents(documents, name="dev")
    best = (-1.0, 0.0, 0.0)
    for min_mention in GRID:
        link = chain_stages(
            make_document_stage(lambda document, response, t=min_mention: linker.detect(document, response, t)),
            make_candidate_stage(linker.extractor.lexicon, MAX_CANDIDATES),
            make_document_stage(lambda document, response: linker.rank(document, response, 0.0)),
        )
        responses = list(link(corpus))
        for min_confidence in GRID:
            run = Run.from_responses(_drop_below(response, min_confidence) for response in responses)
            f1 = karat.evaluate(corpus, run, measures=["strong:micro.f1"])["strong:micro.f1"] or 0.0
            best = max(best, (round(f1, 9), -min_mention, -min_confidence))
    print(f"dev: strong:micro.f1 {best[0]:.4f} with own mentions")
    return -best[1], -best[2]


def _drop_below(response: Response, min_score: float) -> Response:
    """Return a response without links whose score is below `min_score`."""
    accepted = [prediction for prediction in response.predictions if (prediction.score or 1.0) >= min_score]
    return msgspec.structs.replace(response, predictions=tuple(accepted))


def train(shared: Path) -> LightWeights:
    """Train and tune all models."""
    documents, records = load_documents(shared)
    lexicon = build_lexicon("starter", "both")
    extractor = FeatureExtractor(lexicon, build_entity_tables(lexicon))
    train_part = {name: [document for document in part if not is_dev(document)] for name, part in documents.items()}
    dev_part = {name: [document for document in part if is_dev(document)] for name, part in documents.items()}
    examples = collect_examples((document for part in train_part.values() for document in part), extractor)
    ranking = fit_ranking(examples)
    detection = fit_detection((document for name in COMPLETE for document in train_part[name]), SpanExtractor(lexicon))
    weights = LightWeights(
        "karat-light/1",
        "tools/train_light.py",
        SEED,
        snapshot_metadata("starter")["kb"],
        records,
        sum(map(len, train_part.values())),
        sum(map(len, dev_part.values())),
        ranking,
        fit_confidence(examples, ranking),
        detection,
        {},
    )
    linker = create_linker(lexicon, weights)
    min_mention, min_confidence = tune_detection(
        linker, _number_documents(document for name in COMPLETE for document in dev_part[name])
    )
    nil = _tune_nil(linker, _number_documents(document for name in WITH_NIL for document in dev_part[name]))
    _print_dev_accuracy(linker, dev_part)
    return msgspec.structs.replace(
        weights, thresholds={"detection": min_mention, "confidence": min_confidence, "nil": nil}
    )


def _number_documents(documents: Iterable[Document]) -> list[Document]:
    """Return documents of several datasets with unique ids."""
    return [msgspec.structs.replace(document, id=str(number)) for number, document in enumerate(documents)]


def _tune_nil(linker: LightLinker, documents: Sequence[Document]) -> float:
    """Return the NIL threshold with the best micro F1 on given mentions."""
    corpus = Corpus.from_documents(documents, name="dev")
    tuned = tune_nil(corpus, Run.from_responses(_link_given(linker, corpus)), Request.from_options())
    print(f"dev: {tuned.measure} on given mentions {tuned.score:.4f} with nil={tuned.threshold:g}")
    print(f"dev: {tuned.measure} on given mentions {tuned.score_before:.4f} without NIL")
    return tuned.threshold


def _link_given(linker: LightLinker, documents: Iterable[Document]) -> list[Response]:
    """Return the responses to documents with given mentions."""
    link = chain_stages(
        USE_GIVEN_MENTIONS,
        make_candidate_stage(linker.extractor.lexicon, MAX_CANDIDATES),
        make_document_stage(lambda document, response: linker.rank(document, response, 0.0)),
    )
    return [abstain(response, 0.0) for response in link(documents)]


def _print_dev_accuracy(linker: LightLinker, dev_part: Mapping[str, Sequence[Document]]) -> None:
    """Print the share of correct links on given mentions whose entity the snapshot has, by dataset."""
    kb_ids = frozenset(linker.extractor.lexicon.ids)
    total = Counter[str]()
    for name, documents in dev_part.items():
        counts = Counter[str]()
        for document, response in zip(documents, _link_given(linker, documents), strict=True):
            links = {(prediction.start, prediction.end): prediction.entity for prediction in response.predictions}
            for span, entities in _collect_gold(document).items():
                if not kb_ids.isdisjoint(entities):
                    counts.update(n=1, correct=links.get(span) in entities)
        total += counts
        print(f"dev: {name:16} {counts['correct']:5} of {counts['n']:5} correct")
    print(f"dev: {'all':16} {total['correct']:5} of {total['n']:5} correct")


def encode(weights: LightWeights) -> bytes:
    """Return the content of the file of weights."""
    return msgspec.json.format(msgspec.json.encode(weights), indent=1) + b"\n"


def main() -> None:
    """Train, then write the weights, or with `--check` compare them with the file."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    content = encode(train(Path(arguments[0])))
    if "--check" not in sys.argv:
        WEIGHTS_FILE.write_bytes(content)
    elif WEIGHTS_FILE.read_bytes() != content:
        sys.exit(f"{WEIGHTS_FILE.name} differs from what the script computes")


if __name__ == "__main__":
    main()
