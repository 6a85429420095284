"""KDD: search queries with types and links from paid annotators."""

from karat.model.spec.dataset import Counts, Dataset, Remark, Split, Version, bat_file

_LINKED_LABELS = {"dev": (336, 333), "test": (346, 341)}


def _make_split(name: str, sha256: str, size: int, documents: int, labels: int) -> Split:
    """Return the split in the file `kdd_amt_NAME_1.txt`, with its checksum, bytes and expected sizes."""
    commit = "089e7958135a44a21b67420d2c48c800a5dfc754"
    file = bat_file(f"kdd/kdd_amt_{name}_1.txt", sha256, size=size, commit=commit)
    return Split(format="kdd", files=(file,), counts=Counts(documents, labels))


_SPLITS = {
    "dev": _make_split("d", "93998e13317fb8273dfcab590f954e6065e603b0716975264b6956083b904165", 72898, 777, 437),
    "test": _make_split("t", "5a48287911325125e424564e0cce626b628ac7c03c3f02e2b984066f740838ef", 77007, 819, 453),
}

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
            splits={
                name: split.add_steps(dict(zip(("drop-nil", "drop-unlinked"), _LINKED_LABELS[name], strict=True)))
                for name, split in _SPLITS.items()
            },
            default_split="test",
        ),
    },
    biases=(Remark("More than half of the queries have no linked mention.", "counted in the files"),),
)
