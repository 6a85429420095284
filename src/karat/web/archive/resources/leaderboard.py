"""Systems in descending order of their mean, with scores and significance."""

from __future__ import annotations

from karat.web.archive.leaderboard import build_leaderboard
from karat.web.archive.resource import Resource
from karat.web.archive.shape import LeaderboardResource

RESOURCE = Resource(LeaderboardResource, build_leaderboard)
