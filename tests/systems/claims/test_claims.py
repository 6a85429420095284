"""The scores that five papers report about systems, as claims in the files of the systems."""

from __future__ import annotations

from collections import Counter

import pytest

from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.system import Claim, System
from karat.systems.claims.bat_2013 import list_bat_claims
from karat.systems.claims.fair_2023 import list_fair_claims
from karat.systems.claims.finegrained_2019 import list_finegrained_claims
from karat.systems.claims.posthoc_2021 import list_posthoc_claims
from karat.systems.claims.zelda_2023 import list_zelda_claims

PAPERS = {
    "bat-framework": "Cornolti et al. 2013",
    "fine-grained": "Rosales-Méndez et al. 2019",
    "fair-evaluation": "Bast et al. 2023",
    "zelda": "Milich and Akbik 2023",
}


def list_claims():
    """Return the claims of all systems with the systems' names."""
    return [(name, claim) for name in list_plugins("systems") for claim in get_plugin("systems", name, System).claims]


def find(claims, measure, dataset):
    """Return the value of the one claim with a measure on a dataset."""
    [claim] = [claim for claim in claims if claim.measure == measure and claim.datasets == (dataset,)]
    return claim.value


def test_every_score_of_the_tables_belongs_to_a_system():
    counts = Counter(claim.source.rpartition("quoted in ")[2].partition(",")[0] for _, claim in list_claims())
    assert counts == {
        "Cornolti et al. 2013": 56 * 3 + 2,  # rows of six tables with F1, precision and recall; two scores of AIDA
        "Rosales-Méndez et al. 2019": 23 * 6 * 3,  # categories and all mentions, six systems
        "Bast et al. 2023": 7 * 3 + 2 * 6,  # Table 1, and six scores of own papers with their reproductions
        "Milich and Akbik 2023": 8 * 10 + 4 * 8 + 14,  # Tables 3, 4 without means, and 1
        "Ding et al. 2021": 8 * 2 * 2,  # precision and recall on eight datasets
    }


def test_scores_are_those_of_the_printed_tables():
    assert find(list_bat_claims("TagMe 2"), "weak:micro.f1", "aida@bat2013/testb") == 58.3
    assert find(list_bat_claims("Wikipedia Miner"), "entity:micro.r", "meij@bat2013") == 47.3
    assert find(list_posthoc_claims("REL"), "strong:micro.p", "aida@bat2013/testb") == 0.711557
    assert find(list_posthoc_claims("E2E"), "strong:micro.r", "wned-wiki@guo2018") == 0.436929
    assert find(list_zelda_claims("GENRE_CL"), "strong:micro.r", "zelda@milich2023/tweeki") == 0.801
    assert find(list_zelda_claims("LUKE_FT"), "strong:micro.r@bracket=0.3-0.4", "zelda@milich2023/wned-wiki") == 0.562
    assert [claim.value for claim in list_fair_claims("GENRE")] == [64.6, 74.2, 87.4]
    overall = [claim.value for claim in list_finegrained_claims("D") if not claim.is_detail]
    assert overall == [0.84, 0.17, 0.29]


def test_scores_that_papers_quote_from_the_systems_own_papers_are_claims_of_these_papers():
    sources = {
        (name, claim.source.partition(",")[0], claim.value) for name, claim in list_claims() if "quoted" in claim.source
    }
    assert ("dbpedia-spotlight", "Mendes et al. 2011", 45.2) in sources
    assert ("neural-el", "Gupta et al. 2017", 84.9) in sources
    assert ("efficient-el", "De Cao et al. 2021", 85.5) in sources
    assert ("luke", "Yamada et al. 2022", 97.1) in sources
    assert ("fevry", "Févry et al. 2020", 92.5) in sources


@pytest.mark.shared
@pytest.mark.parametrize("paper", PAPERS)
def test_every_claimed_score_is_in_the_text_of_the_paper(shared, paper):
    text = (shared.parent / "papers" / f"{paper}.txt").read_text(encoding="utf-8")
    claims = [claim for _, claim in list_claims() if PAPERS[paper] in claim.source]
    assert claims
    assert [claim for claim in claims if not is_printed(claim, text)] == []


def is_printed(claim: Claim, text: str) -> bool:
    """Return whether a score is in a text, with or without the zeros after its last digit."""
    full = claim.format(claim.points)
    return any(form in text for form in (full, full.rstrip("0"), full.rstrip("0").rstrip(".")))


def test_a_claim_knows_its_year_and_its_points():
    claim = list_posthoc_claims("REL")[0]
    assert (claim.year, claim.points, claim.format(71.1)) == ("2021", pytest.approx(73.72), "0.711000")
    [quoted, _] = [claim for name, claim in list_claims() if name == "efficient-el"]
    assert (quoted.year, quoted.points, quoted.format(85.04)) == ("2021", 85.5, "85.0")
