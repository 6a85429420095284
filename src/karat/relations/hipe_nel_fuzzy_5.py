"""HIPE's fuzzy match of links, @5."""

from karat.matching.align.walk import linked_within

RELATION = linked_within(5, exact=False)
