"""ACE2004: some of the ACE coreference texts, linked by paid annotators."""

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
    finegrained_version,
)

_FILES = (
    bat_folder(
        "ACE2004_Coref_Turking/Dev/ProblemsNoTranscripts",
        "97d88819baf95907adf6489dd3712d7916c359534b85315dcf1cad9344e374b6",
        n_files=57,
        size=116498,
    ),
    bat_folder(
        "ACE2004_Coref_Turking/Dev/RawTextsNoTranscripts",
        "eb9f925c391f7d30cab2f52a7340e7ae0ce4d48ee0c2b5105e9f10bd8b00280f",
        n_files=57,
        size=131103,
    ),
)
_HIDDEN_FILE = Repair(
    location="ProblemsNoTranscripts/.goutputstream-9OIWHW",
    fault="a leftover file of an editor",
    remedy="hidden files are ignored",
)
_SPLIT = Split(
    format="wned",
    files=_FILES,
    main_file="bat/ACE2004_Coref_Turking/Dev",
    counts=Counts(documents=57, labels=306),
    repairs=(_HIDDEN_FILE,),
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
        "https://github.com/henryrosalesmendez/categorized_EMNLP_datasets",
    ),
    versions={
        "ratinov2011": Version.from_split(
            description="The original annotations, as distributed with BAT and GERBIL.",
            split=_SPLIT,
        ),
        "bat2013": Version.from_split(
            description="Without NIL, as in BAT and most papers.",
            split=_SPLIT.add_steps({"drop-nil": 257}),
        ),
        "guo2018": Version.from_split(
            description="Guo and Barbosa's copy in one XML file, with only the 36 texts that have annotations.",
            split=Split(
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
            ),
            obtain="Download the WNED datasets from https://doi.org/10.7939/DVN/10968 and use the XML file and "
            "the folder RawText of ACE2004; the same files are in data/corpus/corpus-long/ace of "
            "https://github.com/kermitt2/entity-fishing (commit d8fd427).",
        ),
        "rosales2019": finegrained_version(
            "ACE04",
            "eefdd83c3e92f230c8dcedcadeea1b74e6931be1f78a05920babcf4d9f68fed7",
            description="Twenty of the texts, annotated again with every possible link, each with base form, part of "
            "speech, overlap and reference; alternatives and NIL included. The files used for table 3 of the paper.",
            size=2426892,
            commit="09a913740af849f330e5d1af69be0173c2b87f4f",
            counts=Counts(documents=20, labels=3351),
            repairs=(
                Repair(
                    location="Executive_director",
                    fault="an IRI with a space, and no entity type",
                    remedy="the reader removes the space",
                ),
                Repair(
                    location="20001115_AFP_ARB.0089, sentence 81, 'Palestinians'",
                    fault="two tags for the base form",
                    remedy="both are read",
                ),
                Repair(
                    location="spans",
                    fault="crossing spans, which the scheme cannot express",
                    remedy="left unchanged",
                    count=3,
                ),
            ),
        ),
    },
    biases=(
        Remark(
            "Of the links that were re-examined, 96 % were accepted, but 66 % of all accepted links are "
            "missing in the gold standard.",
            "Ding et al. 2022, log files",
        ),
        Remark(
            "In rosales2019, the number of annotations of these texts grew from 108 to 3,351: the original annotates "
            "very few mentions.",
            "Rosales-Méndez et al. 2019, section 4",
        ),
        Remark(
            "In rosales2019, common nouns, singular nouns, direct references and spans without overlap are the most "
            "frequent.",
            "Rosales-Méndez et al. 2019, section 4",
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
