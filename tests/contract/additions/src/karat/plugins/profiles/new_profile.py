"""A made-up profile."""

from karat.model.spec.profile import Profile

PROFILE = Profile(
    title="Made up",
    description="Weak matching, for a test.",
    settings={"match": "weak"},
    measures=("weak:micro.p", "weak:micro.r", "weak:micro.f1"),
    headline={"linking": "weak:micro.f1"},
)
