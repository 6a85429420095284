"""MSNBC: twenty news stories of January 2007, in the original and an updated version."""

from karat.model.spec.dataset import (
    Counts,
    Dataset,
    File,
    Folder,
    Remark,
    Repair,
    Split,
    Version,
    bat_folder,
    elevant_split,
    github_url,
)

_FILES = (
    bat_folder(
        "MSNBC/Problems", "7a16fe499b9f448b4ec60f7a128a551ae0e7147fa95c502d0b3f873c1ab9f634", n_files=20, size=255870
    ),
    bat_folder(
        "MSNBC/RawTextsSimpleChars_utf8",
        "6bc69ef9006b2703a5f7efa557aa549f4d65f87d6f48964a77543765a63e242a",
        n_files=20,
        size=67104,
    ),
)
_WNED = github_url(
    "kermitt2/entity-fishing", "d8fd4279aeaa34c50a228cd518bd6a9467c860c5", "data/corpus/corpus-long/msnbc"
)
_UPDATED_FILES = (
    File(
        "formats/wned/msnbc/msnbc.xml",
        sha256="3a2efbbe78d12a2e207b246caf2028a66c447a356dcd19eb9fbafb51da13766f",
        size=110853,
        url=f"{_WNED}/msnbc.xml",
    ),
    Folder(
        "formats/wned/msnbc/RawText",
        n_files=20,
        sha256="22692f229861d21d397d8a477ead7ca02bff63a7353067db0e5336fc6a7d036c",
        size=67717,
        url=f"{_WNED}/RawText",
        file_names=(
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
    location="RawTextsSimpleChars_utf8",
    fault="the surface form in the XML differs from the text at its offset",
    remedy="the offset is used; the reader counts the cases",
    count=12,
)
_UPDATED_SPLIT = Split(
    format="wned",
    files=_UPDATED_FILES,
    main_file="formats/wned/msnbc",
    counts=Counts(documents=20, labels=739),
)
_SPLIT = Split(
    format="wned",
    files=_FILES,
    main_file="bat/MSNBC",
    counts=Counts(documents=20, labels=755),
    repairs=(_SURFACES,),
)

DATASET = Dataset(
    title="MSNBC",
    description="The two top stories of each of ten sections of MSNBC News; important entities and references to them.",
    tasks=("a2kb", "d2kb", "c2kb", "erec"),
    language="en",
    domain="news",
    document_type="articles",
    licence="Not stated; the texts belong to MSNBC",
    citation="Cucerzan 2007: Large-Scale Named Entity Disambiguation Based on Wikipedia Data. EMNLP-CoNLL.",
    kb="wikipedia",
    sources=("https://doi.org/10.7939/DVN/10968", "https://github.com/marcocor/bat-framework"),
    versions={
        "guo2018": Version.from_split(
            description="Updated by Guo and Barbosa: links to deleted pages became NIL, and overlapping "
            "mentions were removed. At least six texts were replaced by others on the same topic.",
            split=_UPDATED_SPLIT,
            supersedes=("msnbc@cucerzan2007",),
        ),
        "guo2018-linked": Version.from_split(
            description="The updated version without NIL, as used in papers on disambiguation.",
            split=_UPDATED_SPLIT.add_steps({"drop-nil": 656}),
        ),
        "cucerzan2007": Version.from_split(
            description="The original annotations, as distributed with BAT and GERBIL.",
            split=_SPLIT,
        ),
        "bat2013": Version.from_split(
            description="The original as BAT reads it: without NIL, and with only the longest of overlapping "
            "mentions. The BAT paper counts 658, probably without pages missing in Wikipedia in "
            "2012; the list of these pages is lost.",
            split=_SPLIT.add_steps({"drop-nil": 747, "longest": 737}),
        ),
        "elevant2024": Version.from_split(
            description="ELEVANT's copy of the updated version, with Wikidata ids, names and types.",
            split=elevant_split(
                "msnbc-updated",
                "19cfc18a514b18a44818be3210a83688873cbe65368b599a3ecc34a9ee5a1f1e",
                size=146497,
                documents=20,
                labels=739,
            ),
            kb="wikidata",
        ),
    },
    biases=(
        Remark(
            "Demonyms are annotated rarely and inconsistently: 'U.S.' in one phrase, but not in the next.",
            "Bast et al. 2023, section 4.3",
        ),
        Remark(
            "The annotations are the corrected output of the author's own system.",
            "Bast et al. 2023, section 4.3",
        ),
        Remark("The original has overlapping mentions without a clear reason.", "Bast et al. 2023, section 4.3"),
        Remark("A third of the mentions are partial names.", "Bast et al. 2023, table 3"),
        Remark(
            "Of the links that were re-examined, 91 % were accepted; 14 % of all accepted links are missing in "
            "the gold standard.",
            "Ding et al. 2022, log files",
        ),
    ),
)
