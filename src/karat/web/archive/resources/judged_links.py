"""The links behind the results of each verification campaign in the archive."""

from __future__ import annotations

from karat.web.archive.resource import Resource
from karat.web.archive.shape import JudgedLinksResource
from karat.web.archive.verification import build_judged_links, has_judged_links

RESOURCE = Resource(JudgedLinksResource, build_judged_links, is_available=lambda archive, _: has_judged_links(archive))
