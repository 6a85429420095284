"""HIPE's fuzzy match of links."""

from karat.matching.align.walk import linked_within

RELATION = linked_within(1, exact=False)
