"""The densest subgraph over semantic signatures, the method of Babelfy (Moro, Raganato and Navigli, TACL 2014).

The semantic signature of an entity is the set of entities that a random walk with restart from it visits often. The
walk follows a link with a probability in proportion to the number of triangles with this link, plus 1. In a text, two
candidates of different mentions are connected if one is in the signature of the other. While a mention has more than μ
candidates, the weakest candidate of the most ambiguous mention is removed. Of all these graphs, the one with the
highest mean degree remains. The weight of a candidate is its degree times the share of other mentions to which it is
connected. Its score is its share of the weights of all candidates of its mention, and a link needs the score θ.

Differences from the publication: the graph is that of a snapshot without directions, not BabelNet with WordNet, so only
entities are linked, no word senses. Visits are computed as probabilities instead of being drawn; moves that add less
than a tenth of the needed share of visits are left out. Detection takes names that are often links, without
overlaps, instead of all fragments with a noun. A text is linked in blocks of up to 24 mentions. A given mention without
any connection is linked to its first candidate with the score 0.

A stage is a step of a system: detection, candidates or ranking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import numpy as np
from msgspec.structs import replace

from karat.model.document import Document, Prediction, Response
from karat.model.spec.system import Link, Refine, System, option
from karat.model.tables.columns import Bools, Floats, Longs
from karat.systems.linking.lexicon import KB_DESCRIPTION, SNAPSHOT_TRAINING, Lexicon, build_lexicon, snapshot_metadata
from karat.systems.linking.methods.blocks import CandidateArrays, choose_candidate, link_blocks
from karat.systems.linking.methods.spotting import MIN_LINK_PROBABILITY_DESCRIPTION, make_spot_stage
from karat.systems.linking.relatedness import find_neighbours
from karat.systems.linking.stages import USE_GIVEN_MENTIONS, chain_stages, make_candidate_stage, make_document_stage

_RESTART: Final = 0.85
"""The probability of a restart of the walk."""
_MIN_VISITS: Final = 1e-4
"""The share of the steps of a walk that must visit an entity of the signature: 100 of 1,000,000."""


@dataclass(frozen=True, slots=True)
class BabelfyMethodOptions:
    """The options of `babelfy-method`."""

    kb: str = option("starter", KB_DESCRIPTION)
    min_link_probability: float = option(0.05, MIN_LINK_PROBABILITY_DESCRIPTION)
    ambiguity: int = option(10, "μ, the number of candidates of a mention above which the weakest are removed.")
    theta: float = option(0.8, "θ, the minimum score of a detected mention's entity.")
    candidates: int = option(20, "Maximum number of candidates per mention.")

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon, with candidates weighted by counts and popularity."""
        return build_lexicon(self.kb, "both")


@dataclass(frozen=True, eq=False)
class SignatureGraph:
    """A graph without directions whose semantic signatures are computed when they are needed.

    `starts`: first entry of each node in `targets`, and the length of `targets`.
    `targets`: neighbours of each node, sorted, without itself.
    """

    starts: Longs = field(repr=False)
    targets: Longs = field(repr=False)
    _shares: dict[int, Floats] = field(default_factory=dict, repr=False)
    _signatures: dict[int, Longs] = field(default_factory=dict, repr=False)

    @classmethod
    def from_edges(cls, n_nodes: int, edges: Sequence[tuple[int, int]]) -> SignatureGraph:
        """Build from pairs of connected nodes; loops are dropped."""
        pairs = np.array([pair for a, b in edges for pair in ((a, b), (b, a)) if a != b], np.int64).reshape(-1, 2)
        keys = np.unique(pairs[:, 0] * n_nodes + pairs[:, 1])
        return cls(np.searchsorted(keys, np.arange(n_nodes + 1) * n_nodes), keys % n_nodes)

    def get_neighbours(self, node: int) -> Longs:
        """Return the neighbours of a node, sorted."""
        return self.targets[self.starts[node] : self.starts[node + 1]]

    def get_shares(self, node: int) -> Floats:
        """Return the probability that a walk goes from a node to each of its neighbours; the result is cached.

        It is in proportion to the number of triangles with both, plus 1.
        """
        shares = self._shares.get(node)
        if shares is None:
            neighbours = self.get_neighbours(node)
            counts = self.starts[neighbours + 1] - self.starts[neighbours]
            owner = np.repeat(np.arange(len(neighbours)), counts)
            steps = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
            second = self.targets[self.starts[neighbours][owner] + steps]
            is_triangle = np.isin(second, neighbours)
            weights = 1.0 + np.bincount(owner[is_triangle], minlength=len(neighbours))
            shares = self._shares[node] = weights / max(weights.sum(), 1.0)
        return shares

    def visits(self, node: int, tolerance: float = 0.0) -> dict[int, float]:
        """Return the share of the steps of a walk from a node that arrive at each node by a link.

        Moves that add less than `tolerance` are left out; with 0, moves end where all later ones together add less
        than 1e-9.
        """
        shares: dict[int, float] = {}
        frontier = {node: _RESTART}
        while frontier and sum(frontier.values()) > 1e-9:
            arrivals: dict[int, float] = {}
            for source, mass in frontier.items():
                steps = mass * (1 - _RESTART) * self.get_shares(source)
                mask = steps > tolerance
                for target, step in zip(self.get_neighbours(source)[mask].tolist(), steps[mask].tolist(), strict=True):
                    arrivals[target] = arrivals.get(target, 0.0) + step
            for target, mass in arrivals.items():
                shares[target] = shares.get(target, 0.0) + mass
            frontier = {target: mass for target, mass in arrivals.items() if mass * (1 - _RESTART) > tolerance}
        return shares

    def get_signature(self, node: int) -> Longs:
        """Return the semantic signature of a node, sorted and without the node itself; the result is cached."""
        signature = self._signatures.get(node)
        if signature is None:
            visits = self.visits(node, _MIN_VISITS / 10)
            members = [target for target, share in visits.items() if share >= _MIN_VISITS and target != node]
            signature = self._signatures[node] = np.array(sorted(members), np.int64)
        return signature


@cache
def _build_graph(lexicon: Lexicon) -> SignatureGraph:
    """Build the graph of the entities of a lexicon; the result is cached."""
    neighbours = find_neighbours(lexicon)
    n_entities = len(lexicon.ids)
    owner = np.repeat(np.arange(n_entities), np.diff(neighbours.starts))
    mask = (neighbours.neighbours < n_entities) & (neighbours.neighbours != owner)
    starts = np.searchsorted(owner[mask], np.arange(n_entities + 1))
    return SignatureGraph(starts, neighbours.neighbours[mask])


def connect_candidates(arrays: CandidateArrays, graph: SignatureGraph) -> Bools:
    """Return the matrix of connections from candidates to candidates of other mentions that are in their signatures."""
    edges = np.zeros((len(arrays.codes), len(arrays.codes)), np.bool_)
    for code in np.unique(arrays.codes[arrays.codes >= 0]).tolist():
        edges[arrays.codes == code] = np.isin(arrays.codes, graph.get_signature(code))
    return np.asarray(edges & (arrays.owner[:, None] != arrays.owner))


def score_candidates(arrays: CandidateArrays, edges: Bools, ambiguity: int) -> Floats:
    """Return the score of each candidate in the densest subgraph, 0 for others; scores of a mention add up to 1 or 0.

    `edges`: matrix of connections between candidates.
    `ambiguity`: number of candidates of a mention above which the weakest are removed.
    """
    connections = edges.astype(np.int64) + edges.T
    to_mentions = np.zeros((len(arrays.codes), arrays.n_mentions), np.int64)
    for mention in range(arrays.n_mentions):
        to_mentions[:, mention] = connections[:, arrays.owner == mention].sum(axis=1)
    alive = np.ones(len(arrays.codes), np.bool_)
    n_candidates = np.bincount(arrays.owner, minlength=arrays.n_mentions)
    best, best_density = _weigh_candidates(arrays, to_mentions, alive), _mean_degree(to_mentions, alive)
    while n_candidates.size and n_candidates.max() > ambiguity:
        mention = int(np.argmax(n_candidates))
        members = np.flatnonzero(alive & (arrays.owner == mention))
        weights = _weigh_candidates(arrays, to_mentions, alive)
        weakest = int(members[::-1][np.argmin(weights[members[::-1]])])  # of equal ones, the least likely
        alive[weakest] = False
        n_candidates[mention] -= 1
        to_mentions[:, mention] -= connections[:, weakest]
        density = _mean_degree(to_mentions, alive)
        if density > best_density:
            best, best_density = _weigh_candidates(arrays, to_mentions, alive), density
    totals = np.bincount(arrays.owner, best, minlength=arrays.n_mentions)[arrays.owner]
    return np.asarray(best / np.where(totals > 0, totals, 1.0))


def _weigh_candidates(arrays: CandidateArrays, to_mentions: Longs, alive: Bools) -> Floats:
    """Return degree times share of connected mentions of each candidate; 0 outside the mask `alive`."""
    share = (to_mentions > 0).sum(axis=1) / max(arrays.n_mentions - 1, 1)
    return np.asarray(share * to_mentions.sum(axis=1) * alive)


def _mean_degree(to_mentions: Longs, alive: Bools) -> float:
    """Return the mean degree of the candidates in the mask `alive`."""
    return float(to_mentions[alive].sum()) / max(int(alive.sum()), 1)


def _detect(options: BabelfyMethodOptions) -> Refine:
    """Return the stage that detects words that are often links."""
    return make_spot_stage(options.lexicon, options.min_link_probability)


def _candidates(options: BabelfyMethodOptions) -> Refine:
    """Return the stage that proposes the most likely entities of each surface."""
    return make_candidate_stage(options.lexicon, options.candidates)


def _rank(options: BabelfyMethodOptions, theta: float) -> Refine:
    """Return the stage that links mentions in the densest subgraph and drops links whose score is below `theta`."""
    lexicon, graph = options.lexicon, _build_graph(options.lexicon)

    def link_block(mentions: list[Prediction]) -> list[Prediction]:
        arrays = CandidateArrays.from_mentions(mentions, lexicon)
        scores = score_candidates(arrays, connect_candidates(arrays, graph), options.ambiguity)
        return [choose_candidate(*pair) for pair in zip(mentions, arrays.split(scores), strict=True)]

    def rank(document: Document, response: Response) -> Response:
        linked = link_blocks(response, link_block)
        accepted = (item for item in linked.predictions if item.score is None or item.score >= theta)
        return replace(linked, predictions=tuple(accepted))

    return make_document_stage(rank)


def _start(options: BabelfyMethodOptions, gold_mentions: bool) -> Link:
    """Return the function that detects and links mentions; given mentions are all linked, regardless of θ."""
    if gold_mentions:
        return chain_stages(USE_GIVEN_MENTIONS, _candidates(options), _rank(options, 0.0))
    return chain_stages(_detect(options), _candidates(options), _rank(options, options.theta))


SYSTEM = System(
    title="Method of Babelfy",
    description="Connects candidates by semantic signatures from random walks and links names in the densest "
    "subgraph. The method of Babelfy, over the links of a snapshot and without word senses.",
    start=_start,
    options=BabelfyMethodOptions,
    gold_mentions="optional",
    stages={"detect": _detect, "candidates": _candidates, "rank": lambda options: _rank(options, options.theta)},
    fingerprint=lambda options: snapshot_metadata(options.kb),
    requirements=("links",),
    method_of="babelfy",
    citation="Moro et al. 2014: Entity Linking meets Word Sense Disambiguation: A Unified Approach. TACL.",
    training=SNAPSHOT_TRAINING,
)
