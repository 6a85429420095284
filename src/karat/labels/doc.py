"""Documents."""

from karat.spec.grouping import Grouping

GROUPING = Grouping(title="Documents", says="Each document by itself.", scores="documents")
