"""HIPE's strict match of links."""

from karat.matching.align.hipe_walk import build_nel_relation

RELATION = build_nel_relation(1, exact=True)
