"""Train the small learned parts of the methods of Wikipedia Miner and of the Illinois Wikifier.

Usage: python tools/train_methods.py DIR, where DIR is the folder of published data. The texts are those of WNED-WIKI in
ZELDA's copy (DIR/zelda/jsonl/test_wned-wiki.jsonl.gz), with the built-in snapshot and popularity in place of counts. No
document of KORE50, MSNBC, AQUAINT, wiki-fair, news-fair or the demo is used: documents that share eight words in a row
with one of them are left out. The weights are written to src/karat/systems/linking/methods/weights, with the seed and
the digest of the data; the same input gives the same bytes.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import karat
from karat.data.id_resolution import resolve_ids
from karat.kb.catalogue import open_starter
from karat.model.corpus import Corpus
from karat.model.document import Document, EntityId, Prediction, Response
from karat.model.spec.system import hide_gold
from karat.model.tables.columns import Bools, Floats, Longs
from karat.stats.word_ngrams import hash_ngrams, split_words
from karat.systems.linking.lexicon import Lexicon, snapshot_metadata
from karat.systems.linking.methods.blocks import CandidateArrays
from karat.systems.linking.methods.context_words import TextWords, build_keywords
from karat.systems.linking.methods.learned_weights import DecisionTree, DecisionTrees, LinearModel
from karat.systems.linking.methods.spotting import find_spots
from karat.systems.linking.relatedness import find_neighbours, split_blocks
from karat.systems.plugins.illinois_wikifier_method import (
    LinkStructure,
    WikifierMethodOptions,
    WikifierWeights,
    describe_first,
    describe_globally,
    describe_locally,
)
from karat.systems.plugins.wikipedia_miner_method import (
    MinerMethodOptions,
    MinerWeights,
    describe_block,
    describe_topics,
    disambiguate,
)

WEIGHTS = Path(__file__).parent.parent / "src" / "karat" / "systems" / "linking" / "methods" / "weights"
TRAINING = "zelda/jsonl/test_wned-wiki.jsonl.gz"
TESTS = (
    "elevant/benchmarks/kore50.benchmark.jsonl.gz",
    "elevant/benchmarks/msnbc-updated.benchmark.jsonl.gz",
    "bat/AQUAINT",
    "elevant/benchmarks/wiki-fair-v2.benchmark.jsonl.gz",
    "elevant/benchmarks/news-fair-v2-no-coref.benchmark.jsonl.gz",
)
SEED = 2026
N_TREES, MAX_DEPTH, MIN_LEAF, N_THRESHOLDS = 5, 5, 20, 32
"""Number and size of trees, chosen by the accuracy on the given mentions of ZELDA's web pages (CWEB)."""
RUN_LENGTH = 8
"""The number of equal words in a row that make two texts the same."""


def load_training(data: Path) -> Corpus:
    """Load the training documents with the ids of the snapshot, without those that are also in a test."""
    test_texts = [document.text for path in TESTS for document in karat.load(data / path)]
    test_texts += [document.text for document in karat.load("demo")]
    seen = np.unique(np.concatenate([hash_ngrams(split_words(text), RUN_LENGTH) for text in test_texts]))
    corpus = resolve_ids(karat.load(data / TRAINING), open_starter())[0]
    documents = [
        document for document in corpus if not np.isin(hash_ngrams(split_words(document.text), RUN_LENGTH), seen).any()
    ]
    print(f"{len(documents)} of {len(corpus)} documents share no {RUN_LENGTH} words with a test")
    return Corpus.from_documents(documents, name=corpus.name)


def list_blocks(
    corpus: Corpus, lexicon: Lexicon, max_candidates: int
) -> Iterator[tuple[Document, list[Prediction], list[EntityId]]]:
    """Yield document, mentions with candidates, and gold entities of each block of gold mentions."""
    for document in corpus:
        entities = {(label.start, label.end): label.entity for label in document.labels}
        mentions = [
            Prediction(span.start, span.end, candidates=candidates)
            for span in hide_gold(document, gold_mentions=True).labels
            if (candidates := lexicon.find_candidates(document.text[span.start : span.end], max_candidates))
        ]
        for block in split_blocks(len(mentions)) if mentions else ():
            yield document, mentions[block], [entities[item.start, item.end] for item in mentions[block]]


def mark_correct(mentions: Sequence[Prediction], gold: Sequence[EntityId]) -> Bools:
    """Return which candidates of some mentions are their gold entities."""
    return np.array(
        [item.entity == entity for mention, entity in zip(mentions, gold, strict=True) for item in mention.candidates]
    )


def grow_trees(rows: Floats, labels: Bools, groups: Longs, rng: np.random.Generator) -> DecisionTrees:
    """Grow trees on resampled groups of rows; rows of a group, such as a mention or document, stay together."""
    trees = []
    names = np.unique(groups)
    members = {name: np.flatnonzero(groups == name) for name in names.tolist()}
    for _ in range(N_TREES):
        sample = np.concatenate([members[name] for name in rng.choice(names, len(names)).tolist()])
        features: list[int] = []
        values: list[float] = []
        left: list[int] = []
        _grow(rows[sample], labels[sample].astype(float), features, values, left)
        trees.append(DecisionTree(tuple(features), tuple(values), tuple(left)))
    return DecisionTrees(tuple(trees))


def _grow(rows: Floats, labels: Floats, features: list[int], values: list[float], left: list[int]) -> None:
    """Append the nodes of a tree, level by level, so that the right child of a node follows its left child."""
    queue = [(np.arange(len(rows)), 0)]
    features.append(-1)
    values.append(0.0)
    left.append(0)
    for node, (members, depth) in enumerate(queue):
        values[node] = round(float((labels[members].sum() + 1) / (len(members) + 2)), 3)
        split = None if depth == MAX_DEPTH else _find_split(rows[members], labels[members])
        if split is None:
            continue
        features[node], values[node], left[node] = split[0], split[1], len(features)
        is_right = rows[members, split[0]] > split[1]
        for mask in (~is_right, is_right):
            queue.append((members[mask], depth + 1))
            features.append(-1)
            values.append(0.0)
            left.append(0)


def _find_split(rows: Floats, labels: Floats) -> tuple[int, float] | None:
    """Return feature and threshold that reduce the Gini impurity most; None if no split has enough rows."""
    best: tuple[float, int, float] | None = None
    n_rows, n_true = len(labels), labels.sum()
    base = n_true * (n_rows - n_true) / n_rows
    for feature in range(rows.shape[1]):
        column = rows[:, feature]
        for threshold in np.unique(np.quantile(column, np.linspace(0, 1, N_THRESHOLDS + 1)[1:-1]).round(4)).tolist():
            is_right = column > threshold
            n_right = int(is_right.sum())
            if min(n_right, n_rows - n_right) < MIN_LEAF:
                continue
            right = labels[is_right].sum()
            impurity = right * (n_right - right) / n_right
            impurity += (n_true - right) * (n_rows - n_right - n_true + right) / (n_rows - n_right)
            if impurity < base - 1e-9 and (best is None or impurity < best[0]):
                best = (float(impurity), feature, threshold)
    return None if best is None else best[1:]


def fit_logistic(rows: Floats, labels: Floats, groups: Longs | None = None, l2: float = 1.0) -> LinearModel:
    """Fit a linear model by damped Newton steps: binary, or with `groups` a choice of one row in each group of rows."""
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    x = (rows - mean) / scale
    x = x if groups is not None else np.column_stack([x, np.ones(len(x))])
    w = np.zeros(x.shape[1])
    loss, p = _compute_loss(x, labels, groups, w, l2)
    for _ in range(50):
        if groups is None:
            hessian = (x * (p * (1 - p))[:, None]).T @ x
        else:
            means = np.zeros((groups.max() + 1, x.shape[1]))
            np.add.at(means, groups, x * p[:, None])
            hessian = (x * p[:, None]).T @ x - means.T @ means
        step = np.linalg.solve(hessian + l2 * np.eye(len(w)), x.T @ (labels - p) - l2 * w)
        while (new := _compute_loss(x, labels, groups, w + step, l2))[0] > loss and np.abs(step).max() > 1e-10:
            step = step / 2
        w, (loss, p) = w + step, new
        if np.abs(step).max() < 1e-8:
            break
    weights = w[: rows.shape[1]] / scale
    bias = 0.0 if groups is not None else float(w[-1] - weights @ mean)
    return LinearModel(tuple(float(f"{weight:.5g}") for weight in weights), float(f"{bias:.5g}"))


def _compute_loss(x: Floats, labels: Floats, groups: Longs | None, w: Floats, l2: float) -> tuple[float, Floats]:
    """Return the negative log-likelihood with penalty, and the probability of each row; parameters as above."""
    z = x @ w
    penalty = l2 / 2 * float(w @ w)
    if groups is None:
        return float((np.logaddexp(0, z) - labels * z).sum()) + penalty, 1 / (1 + np.exp(-z))
    highest = np.full(groups.max() + 1, -np.inf)
    np.maximum.at(highest, groups, z)
    powers = np.exp(z - highest[groups])
    totals = np.bincount(groups, powers)
    likelihood = labels @ (z - (highest + np.log(totals))[groups])
    return penalty - float(likelihood), powers / totals[groups]


def train_miner(corpus: Corpus, origin: Mapping[str, Any]) -> MinerWeights:
    """Train the trees of `wikipedia-miner-method`."""
    options = MinerMethodOptions(substitute="popularity")
    lexicon, rng = options.lexicon, np.random.default_rng(SEED)
    neighbours = find_neighbours(lexicon)
    rows, labels, groups = [], [], []
    for n_blocks, (document, mentions, gold) in enumerate(list_blocks(corpus, lexicon, options.candidates)):
        arrays, features = describe_block(mentions, document.text, lexicon, neighbours)
        correct = mark_correct(mentions, gold)
        has_gold = np.bincount(arrays.owner, correct)[arrays.owner] > 0
        rows.append(features[has_gold])
        labels.append(correct[has_gold])
        groups.append(np.full(int(has_gold.sum()), n_blocks))
    disambiguator = grow_trees(*map(np.concatenate, (rows, labels, groups)), rng)
    rows, labels, groups = [], [], []
    for index, document in enumerate(corpus):
        spots = find_spots(document.text, lexicon, options.min_link_probability)
        mentions = [
            Prediction(
                spot.start,
                spot.end,
                candidates=lexicon.find_candidates(document.text[spot.start : spot.end], options.candidates),
            )
            for spot in spots
        ]
        response = disambiguate(document, Response(document.id, tuple(mentions)), lexicon, neighbours, disambiguator)
        topics = describe_topics(response.predictions, document.text, lexicon, neighbours)
        entities = {label.entity for label in document.labels}
        rows += list(topics.values())
        labels += [entity in entities for entity in topics]
        groups += [index] * len(topics)
    detector = grow_trees(np.array(rows), np.array(labels), np.array(groups), rng)
    probability = detector.predict(np.array(rows))
    print(f"topics: {len(labels)}, links: {sum(labels)}; F1 of links on the training data by threshold:")
    for threshold in np.arange(0.05, 0.65, 0.05):
        n_true = int(np.array(labels)[probability >= threshold].sum())
        print(f"  {threshold:.2f} {2 * n_true / (sum(labels) + (probability >= threshold).sum()):.3f}")
    return MinerWeights(disambiguator=disambiguator, detector=detector, **origin)


def train_wikifier(corpus: Corpus, origin: Mapping[str, Any]) -> WikifierWeights:
    """Train the linear models of `illinois-wikifier-method`."""
    options = WikifierMethodOptions()
    lexicon = options.lexicon
    keywords, links = build_keywords(lexicon), LinkStructure.from_lexicon(lexicon)
    blocks, is_in_snapshot = [], []
    for document, mentions, gold in list_blocks(corpus, lexicon, options.candidates):
        arrays = CandidateArrays.from_mentions(mentions, lexicon)
        words = TextWords.from_text(document.text)
        vector = keywords.weigh(words.count_all())
        local_rows = describe_locally(mentions, arrays, words, vector, lexicon, keywords)
        blocks.append((arrays, local_rows, mark_correct(mentions, gold)))
        is_in_snapshot.append(np.array([entity in lexicon.codes for entity in gold]))
    local = fit_logistic(*_select_choices([(arrays, rows, correct) for arrays, rows, correct in blocks]))
    ranked = [
        (
            arrays,
            np.column_stack([rows, describe_globally(arrays, arrays.find_best(local.score(rows)), links)]),
            correct,
        )
        for arrays, rows, correct in blocks
    ]
    ranker = fit_logistic(*_select_choices(ranked))
    first_rows, first_labels = [], []
    for (arrays, rows, correct), in_snapshot in zip(ranked, is_in_snapshot, strict=True):
        scores = ranker.score(rows)
        for index in np.flatnonzero(in_snapshot).tolist():  # the snapshot lacks most entities, unlike Wikipedia
            mask = arrays.owner == index
            first_rows.append(describe_first(scores[mask], rows[mask]))
            first_labels.append(bool(correct[mask][np.argmax(scores[mask])]))
    linker = fit_logistic(np.array(first_rows), np.array(first_labels, float))
    accuracy = [
        np.mean([correct[arrays.find_best(model(rows))].mean() for arrays, rows, correct in data])
        for data, model in ((blocks, lambda rows: rows[:, 0]), (blocks, local.score), (ranked, ranker.score))
    ]
    print(f"accuracy on the training data: prior {accuracy[0]:.3f}, local {accuracy[1]:.3f}, ranker {accuracy[2]:.3f}")
    return WikifierWeights(local=local, ranker=ranker, linker=linker, **origin)


def _select_choices(blocks: Sequence[tuple[CandidateArrays, Floats, Bools]]) -> tuple[Floats, Floats, Longs]:
    """Return rows, labels and groups of the mentions that have several candidates, one of them correct."""
    rows, labels, groups, n_groups = [], [], [], 0
    for arrays, features, correct in blocks:
        for index in range(arrays.n_mentions):
            mask = arrays.owner == index
            if mask.sum() > 1 and correct[mask].sum() == 1:
                rows.append(features[mask])
                labels.append(correct[mask].astype(float))
                groups.append(np.full(int(mask.sum()), n_groups))
                n_groups += 1
    return np.concatenate(rows), np.concatenate(labels), np.concatenate(groups)


def main(arguments: Sequence[str]) -> None:
    """Train both methods and write their weights."""
    data = Path(arguments[0])
    corpus = load_training(data)
    origin = {
        "seed": SEED,
        "corpora": (TRAINING,),
        "n_mentions": len(corpus.labels),
        "data": hashlib.sha256((data / TRAINING).read_bytes()).hexdigest(),
        "kb": snapshot_metadata("starter")["kb"],
    }
    for name, train in (("wikipedia_miner_method", train_miner), ("illinois_wikifier_method", train_wikifier)):
        content = msgspec.json.encode(train(corpus, origin)) + b"\n"
        (WEIGHTS / f"{name}.json").write_bytes(content)
        print(f"{name}: {len(content):,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
