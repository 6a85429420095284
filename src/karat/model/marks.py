"""What readers note among the categories of a label or answer, because no field says it."""

UNMAPPED = "nil:no-mapping"
"""NIL, because the reference that was given could not be found in the knowledge base."""

NOT_COREFERENCE = "coreference:no"
"""The label says of itself that it refers to nothing before it, whatever its text looks like."""

NO_ROOT = ("missing-parent:", "circular-parent:")
"""What such a mark begins with: the label is a part of another that could not be kept."""
