"""IITB: web pages in which almost everything is linked."""

from karat.spec.dataset import Applied, Counts, Dataset, File, Folder, Remark, Repair, Split, Version

_BAT = "https://github.com/marcocor/bat-framework/archive/bb6dab4fbea0cc68a1b956a715a2b7f178897d36.zip"
_FILES = (
    File(
        "bat/iitb/CSAW_Annotations.xml",
        sha256="6b2f6fd5b35405e18abd56982be1e16b6895c4e5717385adbcf9fcb8cb6ed5b6",
        size=3261307,
        url=_BAT,
        member="src/main/resources/datasets/iitb/CSAW_Annotations.xml",
    ),
    Folder(
        "bat/iitb/crawledDocs",
        files=650,
        sha256="06a025d31b9a6f30136e79687ac1cee027a387656bf73760da6c9a17c0f59c0d",
        size=4697534,
        url=_BAT,
        member="src/main/resources/datasets/iitb/crawledDocs",
    ),
)
_UNUSED = Repair(
    where="crawledDocs",
    fault="texts that nobody annotated",
    remedy="the reader leaves them out and counts them",
    count=546,
)

DATASET = Dataset(
    title="IITB",
    says="Pages about sport, entertainment, science, technology and health; ten people annotated almost every mention, "
    "also of things that matter little.",
    tasks=("a2kb", "d2kb", "c2kb", "erec"),
    language="en",
    domain="web",
    document_type="pages",
    licence="Not stated",
    citation="Kulkarni et al. 2009: Collective Annotation of Wikipedia Entities in Web Text. KDD.",
    kb="wikipedia",
    where=("http://www.cse.iitb.ac.in/soumen/doc/CSAW/Annot/", "https://github.com/marcocor/bat-framework"),
    versions={
        "kulkarni2009": Version(
            says="All annotations of all annotators, with those that say that there is no page (NIL).",
            splits={
                "all": Split(
                    format="iitb",
                    files=_FILES,
                    gold="bat/iitb",
                    counts=Counts(documents=104, labels=19751),
                    repairs=(_UNUSED,),
                )
            },
        ),
        "bat2013": Version(
            says="What BAT makes of it: without NIL, what several annotators say alike once, and without the document "
            "that then has nothing. BAT's paper counts 11,245, probably without nine links to pages that Wikipedia did "
            "not have in 2012.",
            splits={
                "all": Split(
                    format="iitb",
                    files=_FILES,
                    gold="bat/iitb",
                    counts=Counts(documents=104, labels=19751),
                    steps=(
                        Applied("drop-nil", Counts(documents=104, labels=12099)),
                        Applied("distinct", Counts(documents=104, labels=11254)),
                        Applied("drop-empty", Counts(documents=103, labels=11254)),
                    ),
                    repairs=(_UNUSED,),
                )
            },
        ),
    },
    biases=(
        Remark(
            "Almost all mentions are annotated, also of things that matter little: the most detailed of the five sets.",
            "Cornolti et al. 2013, section 4",
        ),
        Remark(
            "Texts hold what stood around the article on the page, with no mark of it, and drift between topics.",
            "Cornolti et al. 2013, section 6",
        ),
    ),
)
