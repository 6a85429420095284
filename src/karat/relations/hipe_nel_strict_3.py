"""HIPE's strict match of links, @3."""

from karat.matching.align.walk import linked_within

RELATION = linked_within(3, exact=True)
