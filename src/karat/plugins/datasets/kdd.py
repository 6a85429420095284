"""KDD: search queries with types and links from paid annotators."""

from msgspec.structs import replace

from karat.model.spec.dataset import Counts, Dataset, Remark, Split, StepCounts, Version, bat_file

_COMMIT = "089e7958135a44a21b67420d2c48c800a5dfc754"
_SPLITS = {
    "dev": Split(
        format="kdd",
        files=(
            bat_file(
                "kdd/kdd_amt_d_1.txt",
                "93998e13317fb8273dfcab590f954e6065e603b0716975264b6956083b904165",
                size=72898,
                commit=_COMMIT,
            ),
        ),
        counts=Counts(documents=777, labels=437),
    ),
    "test": Split(
        format="kdd",
        files=(
            bat_file(
                "kdd/kdd_amt_t_1.txt",
                "5a48287911325125e424564e0cce626b628ac7c03c3f02e2b984066f740838ef",
                size=77007,
                commit=_COMMIT,
            ),
        ),
        counts=Counts(documents=819, labels=453),
    ),
}
_LINKED_LABELS = {"dev": (336, 333), "test": (346, 341)}


def _drop_unlinked(name: str, split: Split) -> Split:
    """Return the split `name` with only its linked labels."""
    counts = [replace(split.counts, labels=labels) for labels in _LINKED_LABELS[name]]
    return replace(split, steps=tuple(map(StepCounts, ("drop-nil", "drop-unlinked"), counts)))


DATASET = Dataset(
    title="KDD queries",
    description="Search queries with one word per line, mention types, and entity titles and URLs.",
    tasks=("a2kb", "c2kb", "erec", "rt2kb"),
    language="en",
    domain="queries",
    document_type="queries",
    licence="Not stated",
    citation="BAT, which distributes the files, names no paper.",
    kb="wikipedia",
    sources=("https://github.com/marcocor/bat-framework",),
    versions={
        "bat1.3-files": Version(
            description="All annotated mentions, including NIL and unlinked ones.",
            splits=_SPLITS,
            default_split="test",
        ),
        "bat1.3": Version(
            description="Only the linked mentions, as BAT reads them.",
            splits={name: _drop_unlinked(name, split) for name, split in _SPLITS.items()},
            default_split="test",
        ),
    },
    biases=(Remark("More than half of the queries have no linked mention.", "counted in the files"),),
)
