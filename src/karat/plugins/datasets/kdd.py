"""KDD: search queries with types and links from paid annotators."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Split, StepCounts, Version, github_url

_COMMIT = "089e7958135a44a21b67420d2c48c800a5dfc754"
_FOLDER = "src/main/resources/datasets/kdd"
_DEV = (
    File(
        "bat/kdd/kdd_amt_d_1.txt",
        sha256="93998e13317fb8273dfcab590f954e6065e603b0716975264b6956083b904165",
        size=72898,
        url=github_url("marcocor/bat-framework", _COMMIT, f"{_FOLDER}/kdd_amt_d_1.txt"),
    ),
)
_TEST = (
    File(
        "bat/kdd/kdd_amt_t_1.txt",
        sha256="5a48287911325125e424564e0cce626b628ac7c03c3f02e2b984066f740838ef",
        size=77007,
        url=github_url("marcocor/bat-framework", _COMMIT, f"{_FOLDER}/kdd_amt_t_1.txt"),
    ),
)

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
            splits={
                "dev": Split(format="kdd", files=_DEV, counts=Counts(documents=777, labels=437)),
                "test": Split(format="kdd", files=_TEST, counts=Counts(documents=819, labels=453)),
            },
            default_split="test",
        ),
        "bat1.3": Version(
            description="Only the linked mentions, as BAT reads them.",
            splits={
                "dev": Split(
                    format="kdd",
                    files=_DEV,
                    counts=Counts(documents=777, labels=437),
                    steps=(
                        StepCounts("drop-nil", Counts(documents=777, labels=336)),
                        StepCounts("drop-unlinked", Counts(documents=777, labels=333)),
                    ),
                ),
                "test": Split(
                    format="kdd",
                    files=_TEST,
                    counts=Counts(documents=819, labels=453),
                    steps=(
                        StepCounts("drop-nil", Counts(documents=819, labels=346)),
                        StepCounts("drop-unlinked", Counts(documents=819, labels=341)),
                    ),
                ),
            },
            default_split="test",
        ),
    },
    biases=(Remark("More than half of the queries have no linked mention.", "counted in the files"),),
)
