"""NEEL 2016: tweets of the Making Sense of Microposts challenge."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Repair, Split, StepCounts, Version, github_url

_COMMIT = "bb6dab4fbea0cc68a1b956a715a2b7f178897d36"
_FOLDER = "src/main/resources/datasets/neel2016"
_TRAIN = (
    File(
        "bat/neel2016/NEEL2016-training.tsv",
        sha256="5c5155d9f8b9c4cdb1892507e73d710eb120c007cf94f7086e8a81058d501fbf",
        size=745038,
        url=github_url("marcocor/bat-framework", _COMMIT, f"{_FOLDER}/NEEL2016-training.tsv"),
    ),
    File(
        "bat/neel2016/NEEL2016-training_neel.gs",
        sha256="183cdaab9a193d801dfed733d7fc12c6c72da50f60ba4c68411c20deb0a618bb",
        size=593318,
        url=github_url("marcocor/bat-framework", _COMMIT, f"{_FOLDER}/NEEL2016-training_neel.gs"),
    ),
)
_DEV = (
    File(
        "bat/neel2016/NEEL2016-dev.tsv",
        sha256="0dd52adbf9c001dfb543cd4399818af65fd354d1f6bfd6fcf908bb5574a46975",
        size=13316,
        url=github_url("marcocor/bat-framework", _COMMIT, f"{_FOLDER}/NEEL2016-dev.tsv"),
    ),
    File(
        "bat/neel2016/NEEL2016-dev_neel.gs",
        sha256="547794492a5c9791746bc65a36d6829120f8914bf59d9a6b584a5ae4dfde96b7",
        size=23444,
        url=github_url("marcocor/bat-framework", _COMMIT, f"{_FOLDER}/NEEL2016-dev_neel.gs"),
    ),
)
_TEST = (
    File(
        "bat/neel2016/NEEL2016-test.tsv",
        sha256="44cb35e1518436836d02156c6252506069a303b72de080a9bbfb91148e9d07a9",
        size=420926,
        url=github_url("marcocor/bat-framework", _COMMIT, f"{_FOLDER}/NEEL2016-test.tsv"),
    ),
    File(
        "bat/neel2016/NEEL2016-test_neel.gs",
        sha256="1f3eff2b692d8746395898a7eb2fadbfff81d360b8bed722ad5a96b2c20e5e41",
        size=72781,
        url=github_url("marcocor/bat-framework", _COMMIT, f"{_FOLDER}/NEEL2016-test_neel.gs"),
    ),
)
_CORRUPT_ROW = Repair(
    location="NEEL2016-training_neel.gs",
    fault="one row has a number appended to its type (Organization373937812812615000)",
    remedy="left unchanged",
)
_TRAILING_SPACES = Repair(
    location="NEEL2016-test_neel.gs",
    fault="IRIs that end with a space",
    remedy="the reader removes the space and counts it",
    count=18,
)

DATASET = Dataset(
    title="NEEL 2016 (Microposts)",
    description="Tweets with typed mentions that are linked to DBpedia or grouped into NIL clusters.",
    tasks=("a2kb", "d2kb", "c2kb", "erec", "rt2kb"),
    language="en",
    domain="tweets",
    document_type="short texts",
    licence="Not stated; the tweets belong to their authors",
    citation="Rizzo et al. 2016: Making Sense of Microposts (#Microposts2016) Named Entity rEcognition and Linking "
    "(NEEL) Challenge. #Microposts2016.",
    kb="dbpedia",
    sources=("https://github.com/marcocor/bat-framework",),
    versions={
        "rizzo2016": Version(
            description="As published, with NIL.",
            splits={
                "train": Split(
                    format="neel",
                    files=_TRAIN,
                    counts=Counts(documents=6025, labels=8665),
                    repairs=(_CORRUPT_ROW,),
                ),
                "dev": Split(
                    format="neel",
                    files=_DEV,
                    counts=Counts(documents=100, labels=338),
                ),
                "test": Split(
                    format="neel",
                    files=_TEST,
                    counts=Counts(documents=3164, labels=1022),
                    repairs=(_TRAILING_SPACES,),
                ),
            },
            default_split="test",
        ),
        "bat1.3": Version(
            description="As BAT reads it: without NIL and without repeated rows.",
            splits={
                "train": Split(
                    format="neel",
                    files=_TRAIN,
                    counts=Counts(documents=6025, labels=8665),
                    steps=(
                        StepCounts("drop-nil", Counts(documents=6025, labels=6374)),
                        StepCounts("distinct", Counts(documents=6025, labels=6370)),
                    ),
                    repairs=(_CORRUPT_ROW,),
                ),
                "dev": Split(
                    format="neel",
                    files=_DEV,
                    counts=Counts(documents=100, labels=338),
                    steps=(
                        StepCounts("drop-nil", Counts(documents=100, labels=253)),
                        StepCounts("distinct", Counts(documents=100, labels=253)),
                    ),
                ),
                "test": Split(
                    format="neel",
                    files=_TEST,
                    counts=Counts(documents=3164, labels=1022),
                    steps=(
                        StepCounts("drop-nil", Counts(documents=3164, labels=738)),
                        StepCounts("distinct", Counts(documents=3164, labels=736)),
                    ),
                    repairs=(_TRAILING_SPACES,),
                ),
            },
            default_split="test",
        ),
    },
    biases=(Remark("2,868 of the 3,164 tweets of the test set have no mention.", "counted in the files"),),
)
