"""The reproduction of each paper in the archive."""

from __future__ import annotations

from karat.web.archive.reproductions import build_papers, list_reproductions
from karat.web.archive.resource import Resource
from karat.web.archive.shape import PapersResource

RESOURCE = Resource(PapersResource, build_papers, is_available=lambda archive, _: bool(list_reproductions(archive)))
