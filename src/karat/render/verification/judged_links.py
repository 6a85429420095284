"""The links that judges saw in a campaign, with their outcomes, as JSON for the viewer."""

from __future__ import annotations

from collections.abc import Mapping

from karat.model.output.json_files import JsonFile
from karat.protocols.verification.judgements import OUTCOMES
from karat.protocols.verification.measures import Verification
from karat.protocols.verification.posthoc import VARIANTS, LinkRoles, find_roles, find_union, match_links

TIED, OPEN = len(OUTCOMES), len(OUTCOMES) + 1
"""Codes of links without outcome, after those of `OUTCOMES`."""


class JudgedLinksFile(JsonFile, frozen=True, tag="karat-judged-links/1"):
    """The links behind the numbers of a verification report, as columns. No judge is named.

    `verification`: content hash of the report. `data`: digest of the gold standard. `outcome`: index into verified,
    modified, removed, tied and open. `becomes`: entity of a modified link, -1 for none. `correct_before`: indices of
    the links that match a gold link. `shared`: one link for each that several people judged. `agreed`: those of them on
    which all agree. `roles`: links behind the scores after verification, by variant. `pair_unions`:
    for each pair of the report and by variant, one link for each element of the union of accepted links.
    """

    verification: str
    data: str
    documents: list[str]
    entities: list[str]
    source: list[int]
    document: list[int]
    start: list[int]
    end: list[int]
    surface: list[str]
    entity: list[int]
    outcome: list[int]
    becomes: list[int]
    correct_before: list[int]
    shared: list[int]
    agreed: list[int]
    roles: Mapping[str, LinkRoles]
    pair_unions: list[Mapping[str, list[int]]]


def build_links_file(verification: Verification, digest: str) -> JudgedLinksFile:
    """Return the links behind a report; `digest` is the content hash of the report in the archive."""
    links = verification.judged_links
    sources = [source.source for source in verification.sources]
    documents = {name: index for index, name in enumerate(dict.fromkeys(link.link.document for link in links))}
    ids = dict.fromkeys(id for link in links for id in (link.link.entity, link.becomes) if id)
    entities = {id: index for index, id in enumerate(ids)}
    gold_links = [link.link for link in links if link.source == sources[0]]
    first = {link.link: index for index, link in reversed(list(enumerate(links)))}
    shared = {first[link]: is_agreed for link, is_agreed in verification.agreed_links.items()}
    is_correct = match_links([link.link for link in links], gold_links, weak=True)
    return JudgedLinksFile(
        verification=digest,
        data=verification.digest,
        documents=list(documents),
        entities=list(entities),
        source=[sources.index(link.source) for link in links],
        document=[documents[link.link.document] for link in links],
        start=[link.link.start for link in links],
        end=[link.link.end for link in links],
        surface=list(verification.surfaces),
        entity=[entities.get(link.link.entity, -1) for link in links],
        outcome=[
            OUTCOMES.index(link.outcome) if link.outcome is not None else TIED if link.is_tied else OPEN
            for link in links
        ],
        becomes=[
            entities[link.becomes] if link.becomes is not None and link.becomes != link.link.entity else -1
            for link in links
        ],
        correct_before=[index for index, correct in enumerate(is_correct) if correct],
        shared=sorted(shared),
        agreed=sorted(index for index, is_agreed in shared.items() if is_agreed),
        roles={name: find_roles(links, sources[0], variant) for name, variant in VARIANTS.items()},
        pair_unions=[
            {
                name: [indices[index] for index in find_union([links[index] for index in indices], variant)]
                for name, variant in VARIANTS.items()
            }
            for pair in verification.pairs
            for indices in [[i for i, link in enumerate(links) if link.source in (pair.source_a, pair.source_b)]]
        ],
    )
