"""IITB: web pages in which almost every mention is linked."""

from msgspec.structs import replace

from karat.model.spec.dataset import Counts, Dataset, Remark, Repair, Split, StepCounts, Version, bat_folder, bat_member

_FILES = (
    bat_member(
        "iitb/CSAW_Annotations.xml", "6b2f6fd5b35405e18abd56982be1e16b6895c4e5717385adbcf9fcb8cb6ed5b6", size=3261307
    ),
    bat_folder(
        "iitb/crawledDocs",
        "06a025d31b9a6f30136e79687ac1cee027a387656bf73760da6c9a17c0f59c0d",
        n_files=650,
        size=4697534,
    ),
)
_UNUSED_TEXTS = Repair(
    location="crawledDocs",
    fault="texts without annotations",
    remedy="the reader skips and counts them",
    count=546,
)
_SPLIT = Split(
    format="iitb",
    files=_FILES,
    main_file="bat/iitb",
    counts=Counts(documents=104, labels=19751),
    repairs=(_UNUSED_TEXTS,),
)

DATASET = Dataset(
    title="IITB",
    description="Pages about sport, entertainment, science, technology and health; ten people annotated almost "
    "every mention, including minor ones.",
    tasks=("a2kb", "d2kb", "c2kb", "erec"),
    language="en",
    domain="web",
    document_type="pages",
    licence="Not stated",
    citation="Kulkarni et al. 2009: Collective Annotation of Wikipedia Entities in Web Text. KDD.",
    kb="wikipedia",
    sources=("http://www.cse.iitb.ac.in/soumen/doc/CSAW/Annot/", "https://github.com/marcocor/bat-framework"),
    versions={
        "kulkarni2009": Version.from_split(
            description="All annotations of all annotators, including NIL.",
            split=_SPLIT,
        ),
        "bat2013": Version.from_split(
            description="As BAT reads it: without NIL, with identical annotations of several annotators "
            "merged, and without the document that then has no annotations. The BAT paper counts "
            "11,245, probably without nine links to pages missing in Wikipedia in 2012.",
            split=replace(
                _SPLIT,
                steps=(
                    StepCounts("drop-nil", Counts(documents=104, labels=12099)),
                    StepCounts("distinct", Counts(documents=104, labels=11254)),
                    StepCounts("drop-empty", Counts(documents=103, labels=11254)),
                ),
            ),
        ),
    },
    biases=(
        Remark(
            "Almost all mentions are annotated, including minor ones: the most detailed of the five datasets.",
            "Cornolti et al. 2013, section 4",
        ),
        Remark(
            "Texts include unmarked page elements around the article and mix topics.",
            "Cornolti et al. 2013, section 6",
        ),
    ),
)
