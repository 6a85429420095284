"""MSNBC: twenty news stories of January 2007, in the original and in the updated form."""

from karat.spec.dataset import Applied, Counts, Dataset, File, Folder, Remark, Repair, Split, Version, github

_BAT = "https://github.com/marcocor/bat-framework/archive/bb6dab4fbea0cc68a1b956a715a2b7f178897d36.zip"
_FILES = (
    Folder(
        "bat/MSNBC/Problems",
        files=20,
        sha256="7a16fe499b9f448b4ec60f7a128a551ae0e7147fa95c502d0b3f873c1ab9f634",
        size=255870,
        url=_BAT,
        member="src/main/resources/datasets/MSNBC/Problems",
    ),
    Folder(
        "bat/MSNBC/RawTextsSimpleChars_utf8",
        files=20,
        sha256="6bc69ef9006b2703a5f7efa557aa549f4d65f87d6f48964a77543765a63e242a",
        size=67104,
        url=_BAT,
        member="src/main/resources/datasets/MSNBC/RawTextsSimpleChars_utf8",
    ),
)
_WNED = github("kermitt2/entity-fishing", "d8fd4279aeaa34c50a228cd518bd6a9467c860c5", "data/corpus/corpus-long/msnbc")
_UPDATED = (
    File(
        "formats/wned/msnbc/msnbc.xml",
        sha256="3a2efbbe78d12a2e207b246caf2028a66c447a356dcd19eb9fbafb51da13766f",
        size=110853,
        url=f"{_WNED}/msnbc.xml",
    ),
    Folder(
        "formats/wned/msnbc/RawText",
        files=20,
        sha256="22692f229861d21d397d8a477ead7ca02bff63a7353067db0e5336fc6a7d036c",
        size=67717,
        url=f"{_WNED}/RawText",
        names=(
            "13259309",
            "16384904",
            "16417540",
            "16442287",
            "16442342",
            "16443053",
            "16444023",
            "16444229",
            "16444287",
            "16447201",
            "16447720",
            "16451112",
            "16451212",
            "16451635",
            "16452612",
            "16453733",
            "16454203",
            "16454435",
            "16455207",
            "3683270",
        ),
    ),
)
_SURFACES = Repair(
    where="RawTextsSimpleChars_utf8",
    fault="the surface form in the XML is not the text at its offset",
    remedy="the offset counts; the reader says how many there are",
    count=12,
)

DATASET = Dataset(
    title="MSNBC",
    says="The two top stories of each of ten sections of MSNBC News; important entities and what refers to them.",
    tasks=("a2kb", "d2kb", "c2kb", "erec"),
    language="en",
    domain="news",
    document_type="articles",
    licence="Not stated; the texts belong to MSNBC",
    citation="Cucerzan 2007: Large-Scale Named Entity Disambiguation Based on Wikipedia Data. EMNLP-CoNLL.",
    kb="wikipedia",
    where=("https://doi.org/10.7939/DVN/10968", "https://github.com/marcocor/bat-framework"),
    versions={
        "guo2018": Version(
            says="Updated by Guo and Barbosa: links to pages that are gone became NIL, overlapping mentions were taken "
            "out. At least six texts are others on the same topic.",
            splits={
                "all": Split(
                    format="wned",
                    files=_UPDATED,
                    gold="formats/wned/msnbc",
                    counts=Counts(documents=20, labels=739),
                )
            },
            supersedes=("msnbc@cucerzan2007",),
        ),
        "guo2018-linked": Version(
            says="The updated version without NIL, as papers on disambiguation count it.",
            splits={
                "all": Split(
                    format="wned",
                    files=_UPDATED,
                    gold="formats/wned/msnbc",
                    counts=Counts(documents=20, labels=739),
                    steps=(Applied("drop-nil", Counts(documents=20, labels=656)),),
                )
            },
        ),
        "cucerzan2007": Version(
            says="The original annotations, as BAT and GERBIL pass them on.",
            splits={
                "all": Split(
                    format="wned",
                    files=_FILES,
                    gold="bat/MSNBC",
                    counts=Counts(documents=20, labels=755),
                    repairs=(_SURFACES,),
                )
            },
        ),
        "bat2013": Version(
            says="What BAT makes of the original: without NIL, and of overlapping mentions the longest. BAT's paper "
            "counts 658, probably without pages that Wikipedia did not have in 2012; a list of those is lost.",
            splits={
                "all": Split(
                    format="wned",
                    files=_FILES,
                    gold="bat/MSNBC",
                    counts=Counts(documents=20, labels=755),
                    steps=(
                        Applied("drop-nil", Counts(documents=20, labels=747)),
                        Applied("longest", Counts(documents=20, labels=737)),
                    ),
                    repairs=(_SURFACES,),
                )
            },
        ),
        "elevant2024": Version(
            says="ELEVANT's copy of the updated version, with Wikidata ids, names and types.",
            splits={
                "all": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/msnbc-updated.benchmark.jsonl",
                            sha256="19cfc18a514b18a44818be3210a83688873cbe65368b599a3ecc34a9ee5a1f1e",
                            size=146497,
                            url=github(
                                "ad-freiburg/elevant",
                                "b9d07cf8ced11ee404f4bb7ec28307ef645c7363",
                                "benchmarks/msnbc-updated.benchmark.jsonl",
                            ),
                        ),
                    ),
                    counts=Counts(documents=20, labels=739),
                )
            },
            kb="wikidata",
        ),
    },
    biases=(
        Remark(
            "Adjectives of places are annotated rarely and without a rule: 'U.S.' is in one phrase, not in the next.",
            "Bast et al. 2023, section 4.3",
        ),
        Remark(
            "Annotations began as the output of the author's own system, which was then corrected.",
            "Bast et al. 2023, section 4.3",
        ),
        Remark("The original has overlapping mentions for no clear reason.", "Bast et al. 2023, section 4.3"),
        Remark("A third of the mentions are partial names.", "Bast et al. 2023, table 3"),
        Remark(
            "Of the links that people looked at again, 91 % were accepted as they are; 14 % of all accepted links are "
            "missing in the gold standard.",
            "Ding et al. 2022, log files",
        ),
    ),
)
