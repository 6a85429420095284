"""Error categories and counts of all systems."""

from __future__ import annotations

from karat.web.archive.leaderboard import build_errors
from karat.web.archive.resource import Resource
from karat.web.archive.shape import ErrorsResource

RESOURCE = Resource(ErrorsResource, build_errors)
