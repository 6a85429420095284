"""NEEL 2016: tweets of the Making Sense of Microposts challenge."""

from karat.model.spec.dataset import Counts, Dataset, Remark, Repair, Split, Version, bat_file

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
_LINKED_LABELS = {"train": (6374, 6370), "dev": (253, 253), "test": (738, 736)}


def _make_split(
    name: str, tweets: tuple[str, int], entities: tuple[str, int], counts: Counts, *repairs: Repair
) -> Split:
    """Return the split in `NEEL2016-NAME.tsv` and `NEEL2016-NAME_neel.gs`, with checksum and bytes of both files."""
    paths = {f"neel2016/NEEL2016-{name}.tsv": tweets, f"neel2016/NEEL2016-{name}_neel.gs": entities}
    files = (bat_file(path, sha256, size=size) for path, (sha256, size) in paths.items())
    return Split("neel", tuple(files), counts, repairs=repairs)


_SPLITS = {
    "train": _make_split(
        "training",
        ("5c5155d9f8b9c4cdb1892507e73d710eb120c007cf94f7086e8a81058d501fbf", 745038),
        ("183cdaab9a193d801dfed733d7fc12c6c72da50f60ba4c68411c20deb0a618bb", 593318),
        Counts(documents=6025, labels=8665),
        _CORRUPT_ROW,
    ),
    "dev": _make_split(
        "dev",
        ("0dd52adbf9c001dfb543cd4399818af65fd354d1f6bfd6fcf908bb5574a46975", 13316),
        ("547794492a5c9791746bc65a36d6829120f8914bf59d9a6b584a5ae4dfde96b7", 23444),
        Counts(documents=100, labels=338),
    ),
    "test": _make_split(
        "test",
        ("44cb35e1518436836d02156c6252506069a303b72de080a9bbfb91148e9d07a9", 420926),
        ("1f3eff2b692d8746395898a7eb2fadbfff81d360b8bed722ad5a96b2c20e5e41", 72781),
        Counts(documents=3164, labels=1022),
        _TRAILING_SPACES,
    ),
}

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
            splits=_SPLITS,
            default_split="test",
        ),
        "bat1.3": Version(
            description="As BAT reads it: without NIL and without repeated rows.",
            splits={
                name: split.add_steps(dict(zip(("drop-nil", "distinct"), _LINKED_LABELS[name], strict=True)))
                for name, split in _SPLITS.items()
            },
            default_split="test",
        ),
    },
    biases=(Remark("2,868 of the 3,164 tweets of the test set have no mention.", "counted in the files"),),
)
