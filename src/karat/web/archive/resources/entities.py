"""Entities, surface forms and confusions over all datasets."""

from __future__ import annotations

from karat.web.archive.case_search import build_entities, can_search
from karat.web.archive.resource import Resource
from karat.web.archive.shape import EntitiesResource

RESOURCE = Resource(
    EntitiesResource,
    build_entities,
    is_available=lambda archive, _: can_search() and any(entry.verdicts for entry in archive.entries),
)
