"""What every published claim and citation of a system must hold to."""

from __future__ import annotations

import re

import pytest

from karat.data.catalogue import choose_split
from karat.evaluation.request import Request
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.dataset import parse_dataset
from karat.model.spec.settings.task import TASKS
from karat.model.spec.system import System
from karat.render.paper.references import _CITATION

SYSTEMS = {name: get_plugin("systems", name, System) for name in list_plugins("systems")}
CLAIMS = {name: system.claims for name, system in SYSTEMS.items() if system.claims}
PLACE = re.compile(r"(Table|Figure|Section) [A-Z0-9][\d.]*$")


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_names_the_publication_and_the_place_in_it(name):
    assert [claim.source for claim in CLAIMS[name] if not PLACE.search(claim.source) or not claim.year] == []


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_is_about_datasets_of_the_catalogue_with_version_and_split(name):
    for claim in CLAIMS[name]:
        assert claim.datasets
        for dataset in claim.datasets:
            assert str(choose_split(parse_dataset(dataset)).name) == dataset


@pytest.mark.parametrize("name", CLAIMS)
def test_karat_can_compute_the_measure_of_a_claim_under_its_conventions(name):
    for profile, task, settings in {
        (claim.profile, claim.task, tuple(claim.settings.items())) for claim in CLAIMS[name]
    }:
        assert task in TASKS
        measures = [
            claim.measure
            for claim in CLAIMS[name]
            if (claim.profile, claim.task, tuple(claim.settings.items())) == (profile, task, settings)
        ]
        request = Request.from_options(
            profile=profile, settings={"task": task, **dict(settings)}, measures=list(dict.fromkeys(measures))
        )
        assert request.profile == profile


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claimed_score_has_the_digits_and_the_range_of_its_source(name):
    for claim in CLAIMS[name]:
        assert float(claim.format(claim.points)) == claim.value
        assert 0 <= claim.points <= 100
        assert claim.variant


@pytest.mark.parametrize("name", CLAIMS)
def test_no_claim_is_listed_twice(name):
    keys = [(claim.source, claim.variant, claim.datasets, claim.measure) for claim in CLAIMS[name]]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("name", [name for name, system in SYSTEMS.items() if system.citation])
def test_a_citation_has_authors_year_title_and_venue(name):
    assert _CITATION.fullmatch(SYSTEMS[name].citation)
