"""The results of each verification campaign in the archive."""

from __future__ import annotations

from karat.web.archive.resource import Resource
from karat.web.archive.shape import VerificationResource
from karat.web.archive.verification import build_verification, list_verifications

RESOURCE = Resource(
    VerificationResource, build_verification, is_available=lambda archive, _: bool(list_verifications(archive))
)
