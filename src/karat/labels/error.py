"""Error categories."""

from karat.spec.grouping import Grouping

GROUPING = Grouping(
    title="Error categories",
    says="Kinds of errors: how many there are, and among how many cases there could have been one.",
    scores="errors",
    column="errors",
)
