"""HIPE's fuzzy match with the first five links of a prediction."""

from karat.matching.align.hipe_walk import build_nel_relation

RELATION = build_nel_relation(5, exact=False)
