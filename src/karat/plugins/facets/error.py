"""Error categories."""

from karat.model.spec.facet import Facet

FACET = Facet(
    title="Error categories",
    description="Error categories: the number of errors, and the number of cases in which the error was possible.",
    scores="errors",
    column="errors",
    example="“Memphis”, linked to the city in Tennessee instead of the city in Egypt, is a wrong link.",
)
