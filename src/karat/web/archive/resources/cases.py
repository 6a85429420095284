"""Every case of every system on a dataset."""

from __future__ import annotations

from karat.web.archive.cases import build_cases
from karat.web.archive.resource import Resource
from karat.web.archive.shape import CasesResource

RESOURCE = Resource(
    CasesResource,
    build_cases,
    is_per_dataset=True,
    is_available=lambda archive, key: any(entry.verdicts for entry in archive.get_entries(key)),
)
