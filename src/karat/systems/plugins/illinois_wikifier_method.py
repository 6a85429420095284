"""Local and global ranking and a linker, the method of the Illinois Wikifier (Ratinov et al., ACL 2011).

A linear model ranks the candidates of each mention by local features: prior of the surface, popularity, and cosine of
the words of the entity to those of the text and of the context. Its first choices are a disambiguation against which
all candidates are compared: by normalised Google distance and pointwise mutual information over links to an entity and
over links from it, and by direct links, each as mean and maximum over the other mentions. A second linear model ranks
by local and global features. A third one, the linker, gives the probability that the first candidate is correct, which
is the score of the mention. A detected mention below one half stays unlinked, that is NIL.

Differences from the publication: the words of an entity are those of its name, its description and the names of its
neighbours, so that two cosines take the place of the four with texts and link contexts of pages. The models are
logistic, not support vector machines, and were trained on a few hundred documents by `tools/train_methods.py`.
Mentions are detected as names, without noun phrases. The first disambiguation is that of blocks of up to 24 mentions.

A stage is a step of a system: detection, candidates or ranking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from karat.model.document import Document, Prediction, Response
from karat.model.spec.external_access import TrainingDetails
from karat.model.spec.system import Link, Refine, System, option
from karat.model.tables.columns import Floats, Longs
from karat.systems.linking.lexicon import Lexicon, snapshot_metadata
from karat.systems.linking.methods.blocks import CandidateArrays, choose_candidate, link_blocks
from karat.systems.linking.methods.context_words import Keywords, TextWords, WordVector, build_keywords
from karat.systems.linking.methods.learned_weights import LearnedWeights, LinearModel, load_weights
from karat.systems.linking.name_linker import NameLinkerOptions, detect_names, propose_candidates
from karat.systems.linking.relatedness import Neighbours, find_neighbours
from karat.systems.linking.stages import USE_GIVEN_MENTIONS, chain_stages, make_document_stage

_WINDOW: Final = 50
"""The number of words before and after a mention that are its context."""


@dataclass(frozen=True, slots=True)
class WikifierMethodOptions(NameLinkerOptions):
    """The options of `illinois-wikifier-method`."""

    linker: float = option(0.5, "Minimum probability that a detected mention's entity is correct; below, it is NIL.")


class WikifierWeights(LearnedWeights, frozen=True, kw_only=True):
    """The learned parts of the method.

    `local`: model of the local features.
    `ranker`: model of local and global features.
    `linker`: model of the features of the first candidate, its share and its lead over the second.
    """

    local: LinearModel
    ranker: LinearModel
    linker: LinearModel


class LinkStructure(NamedTuple):
    """The links of the entities of a lexicon.

    `inward`, `outward`: entities that link to each entity, and that it links to.
    `both`: both, with the entity itself.
    """

    inward: Neighbours
    outward: Neighbours
    both: Neighbours

    @classmethod
    def from_lexicon(cls, lexicon: Lexicon) -> LinkStructure:
        """Find the links of all entities of a lexicon."""
        return cls(find_neighbours(lexicon, "in"), find_neighbours(lexicon, "out"), find_neighbours(lexicon))

    def compare(self, codes: Longs, first_choices: Longs) -> list[Floats]:
        """Return matrices of candidates by first choices: distance and information over both directions, and links.

        `codes`: entity codes of the candidates.
        `first_choices`: indices of the first choices among them.
        """
        matrices = [
            measure[:, first_choices]
            for links in (self.inward, self.outward)
            for measure in (links.relatedness(codes), links.mutual_information(codes))
        ]
        direct = np.zeros((len(codes), len(first_choices)))
        for column, choice in enumerate(codes[first_choices].tolist()):
            low, high = int(self.both.starts[choice]), int(self.both.starts[choice + 1])
            direct[:, column] = np.isin(codes, self.both.neighbours[low:high])
        return [*matrices, direct]


def describe_locally(
    mentions: Sequence[Prediction],
    arrays: CandidateArrays,
    words: TextWords,
    text_vector: WordVector,
    lexicon: Lexicon,
    keywords: Keywords,
) -> Floats:
    """Return the local features of each candidate: prior, popularity, and cosines to text and context."""
    scale = np.log(lexicon.popularity.max() + 1)
    contexts = [keywords.weigh(words.count_around(mention.start, mention.end, _WINDOW)) for mention in mentions]
    rows = np.zeros((len(arrays.codes), 4))
    rows[:, 0] = arrays.prior
    for index, (owner, code) in enumerate(zip(arrays.owner.tolist(), arrays.codes.tolist(), strict=True)):
        if code >= 0:
            vector = keywords.get_vector(code)
            rows[index, 1:] = (
                np.log(lexicon.popularity[code]) / scale,
                vector.cosine(text_vector),
                vector.cosine(contexts[owner]),
            )
    return rows


def describe_globally(arrays: CandidateArrays, first_choices: Longs, links: LinkStructure) -> Floats:
    """Return the global features of each candidate: mean and maximum of each comparison to other mentions' choices."""
    codes = np.maximum(arrays.codes, 0)
    is_known = arrays.codes >= 0
    is_other = (arrays.owner[:, None] != np.arange(arrays.n_mentions)) & is_known[:, None] & is_known[first_choices]
    n_others = np.maximum(is_other.sum(axis=1), 1)
    columns = []
    for matrix in links.compare(codes, first_choices):
        masked = matrix * is_other
        columns += [masked.sum(axis=1) / n_others, masked.max(axis=1, initial=0.0)]
    return np.column_stack(columns)


def describe_first(scores: Floats, rows: Floats) -> Floats:
    """Return the features of the first candidate of a mention for the linker.

    They are its own, its share of the probability by the ranker, and its lead over the second candidate, at most 10.
    `scores`, `rows`: score by the ranker and features of each candidate.
    """
    order = np.argsort(-scores, kind="stable")
    shares = softmax(scores)
    lead = min(float(scores[order[0]] - scores[order[1]]), 10.0) if len(scores) > 1 else 10.0
    return np.array([*rows[order[0]], shares[order[0]], lead])


def softmax(scores: Floats) -> Floats:
    """Return the probabilities that scores stand for; they add up to 1."""
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum())


def rank_block(
    mentions: Sequence[Prediction],
    arrays: CandidateArrays,
    local_rows: Floats,
    links: LinkStructure,
    weights: WikifierWeights,
) -> list[Prediction]:
    """Return the mentions of a block, linked by the ranker; the score is the probability by the linker."""
    first_choices = arrays.find_best(weights.local.score(local_rows))
    rows = np.column_stack([local_rows, describe_globally(arrays, first_choices, links)])
    scores = weights.ranker.score(rows)
    linked = []
    for index, (mention, values) in enumerate(zip(mentions, arrays.split(scores), strict=True)):
        probability = weights.linker.predict(describe_first(values, rows[arrays.owner == index])[None, :])
        linked.append(choose_candidate(mention, softmax(values), float(probability[0])))
    return linked


def _rank(options: WikifierMethodOptions, linker: float) -> Refine:
    """Return the stage that links mentions and drops those whose probability is below `linker`."""
    lexicon, keywords = options.lexicon, build_keywords(options.lexicon)
    links, weights = LinkStructure.from_lexicon(lexicon), load_wikifier_weights()

    def rank(document: Document, response: Response) -> Response:
        words = TextWords.from_text(document.text)
        text_vector = keywords.weigh(words.count_all())

        def link_block(mentions: list[Prediction]) -> list[Prediction]:
            arrays = CandidateArrays.from_mentions(mentions, lexicon)
            local_rows = describe_locally(mentions, arrays, words, text_vector, lexicon, keywords)
            return rank_block(mentions, arrays, local_rows, links, weights)

        linked = link_blocks(response, link_block)
        accepted = (
            item if item.score is None or item.score >= linker else replace(item, entity=None)
            for item in linked.predictions
        )
        return replace(linked, predictions=tuple(accepted))

    return make_document_stage(rank)


@cache
def load_wikifier_weights() -> WikifierWeights:
    """Load the learned parts of the method; the result is cached."""
    return load_weights("illinois_wikifier_method", WikifierWeights)


def _start(options: WikifierMethodOptions, gold_mentions: bool) -> Link:
    """Return the function that detects and links mentions; given mentions are all linked, whatever the linker says."""
    if gold_mentions:
        return chain_stages(USE_GIVEN_MENTIONS, propose_candidates(options), _rank(options, 0.0))
    return chain_stages(detect_names(options), propose_candidates(options), _rank(options, options.linker))


SYSTEM = System(
    title="Method of the Illinois Wikifier",
    description="Ranks candidates by prior and words, then also by the links to a first disambiguation, and decides "
    "by a learned linker whether the best one is correct. The method of the Illinois Wikifier, with fewer features.",
    start=_start,
    options=WikifierMethodOptions,
    gold_mentions="optional",
    stages={
        "detect": detect_names,
        "candidates": propose_candidates,
        "rank": lambda options: _rank(options, options.linker),
    },
    fingerprint=lambda options: {**snapshot_metadata(options.kb), "weights": load_wikifier_weights().data[:8]},
    requirements=("links",),
    method_of="illinois-wikifier",
    citation="Ratinov et al. 2011: Local and Global Algorithms for Disambiguation to Wikipedia. ACL.",
    training=TrainingDetails(
        data="WNED-WIKI in ZELDA", vocabulary="entities of the snapshot", candidate_list="aliases of the snapshot"
    ),
)
