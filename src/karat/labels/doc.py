"""Documents."""

from karat.spec.label import Label

LABEL = Label(title="Documents", says="Each document by itself.", scores="documents")
