"""ACE2004: some of the ACE coreference texts, linked by paid annotators."""

from karat.model.spec.dataset import Counts, Dataset, File, Folder, Remark, Repair, Split, StepCounts, Version

_BAT = "https://github.com/marcocor/bat-framework/archive/bb6dab4fbea0cc68a1b956a715a2b7f178897d36.zip"
_FILES = (
    Folder(
        "bat/ACE2004_Coref_Turking/Dev/ProblemsNoTranscripts",
        n_files=57,
        sha256="97d88819baf95907adf6489dd3712d7916c359534b85315dcf1cad9344e374b6",
        size=116498,
        url=_BAT,
        member="src/main/resources/datasets/ACE2004_Coref_Turking/Dev/ProblemsNoTranscripts",
    ),
    Folder(
        "bat/ACE2004_Coref_Turking/Dev/RawTextsNoTranscripts",
        n_files=57,
        sha256="eb9f925c391f7d30cab2f52a7340e7ae0ce4d48ee0c2b5105e9f10bd8b00280f",
        size=131103,
        url=_BAT,
        member="src/main/resources/datasets/ACE2004_Coref_Turking/Dev/RawTextsNoTranscripts",
    ),
)
_HIDDEN_FILE = Repair(
    location="ProblemsNoTranscripts/.goutputstream-9OIWHW",
    fault="a leftover file of an editor",
    remedy="hidden files are ignored",
)

DATASET = Dataset(
    title="ACE2004",
    description="News in which the first name of each coreference chain is linked; 35 of the 57 texts have links.",
    tasks=("a2kb", "d2kb", "c2kb", "erec"),
    language="en",
    domain="news",
    document_type="articles",
    licence="Not stated; the texts belong to the Linguistic Data Consortium",
    citation="Ratinov et al. 2011: Local and Global Algorithms for Disambiguation to Wikipedia. ACL.",
    kb="wikipedia",
    sources=(
        "https://cogcomp.seas.upenn.edu/page/resource_view/4",
        "https://github.com/marcocor/bat-framework",
        "https://doi.org/10.7939/DVN/10968",
    ),
    versions={
        "ratinov2011": Version(
            description="The original annotations, as distributed with BAT and GERBIL.",
            splits={
                "all": Split(
                    format="wned",
                    files=_FILES,
                    main_file="bat/ACE2004_Coref_Turking/Dev",
                    counts=Counts(documents=57, labels=306),
                    repairs=(_HIDDEN_FILE,),
                )
            },
        ),
        "bat2013": Version(
            description="Without NIL, as in BAT and most papers.",
            splits={
                "all": Split(
                    format="wned",
                    files=_FILES,
                    main_file="bat/ACE2004_Coref_Turking/Dev",
                    counts=Counts(documents=57, labels=306),
                    steps=(StepCounts("drop-nil", Counts(documents=57, labels=257)),),
                    repairs=(_HIDDEN_FILE,),
                )
            },
        ),
        "guo2018": Version(
            description="Guo and Barbosa's copy in one XML file, with only the 36 texts that have annotations.",
            splits={
                "all": Split(
                    format="wned",
                    files=(
                        File(
                            "formats/wned/ace/ace.xml",
                            sha256="55f2fa5874953da945011f92a09189cab82bf59d10280bd945c33f1a254df797",
                            size=48121,
                        ),
                        Folder(
                            "formats/wned/ace/RawText",
                            n_files=57,
                            sha256="eb9f925c391f7d30cab2f52a7340e7ae0ce4d48ee0c2b5105e9f10bd8b00280f",
                            size=131103,
                        ),
                    ),
                    main_file="formats/wned/ace",
                    counts=Counts(documents=36, labels=306),
                )
            },
            obtain="Download the WNED datasets from https://doi.org/10.7939/DVN/10968 and use the XML file and "
            "the folder RawText of ACE2004; the same files are in data/corpus/corpus-long/ace of "
            "https://github.com/kermitt2/entity-fishing (commit d8fd427).",
        ),
    },
    biases=(
        Remark(
            "Of the links that were re-examined, 96 % were accepted, but 66 % of all accepted links are "
            "missing in the gold standard.",
            "Ding et al. 2022, log files",
        ),
        Remark(
            "Names are misspelt in the texts, such as Stewart Talbot for Strobe Talbott.",
            "Rosales-Méndez et al. 2019, section 4",
        ),
    ),
    exclusions=(
        Remark(
            "Very few mentions are annotated, so precision is meaningful only for given mentions; some spans "
            "are questionable.",
            "ELEVANT, list of excluded benchmarks",
        ),
    ),
)
