"""Error categories."""

from karat.spec.label import Label

LABEL = Label(
    title="Error categories",
    says="Kinds of errors: how many there are, and among how many cases there could have been one.",
    scores="errors",
    column="errors",
)
