"""AIDA-CoNLL: the names of the CoNLL-2003 news, linked to YAGO2."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Split, Version, elevant_split

_FILES = (
    File(
        "aida/AIDA-YAGO2-annotations.tsv",
        url="http://resources.mpi-inf.mpg.de/yago-naga/aida/download/aida-yago2-dataset.zip",
        member="AIDA-YAGO2-annotations.tsv",
    ),
    File("aida/eng.train"),
    File("aida/eng.testa"),
    File("aida/eng.testb"),
)
_ROWS = {"train": (0, 946), "testa": (946, 1162), "testb": (1162, 1393)}
_N_MENTIONS = {"train": 23396, "testa": 5917, "testb": 5616}
_N_LINKED = {"train": 18541, "testa": 4791, "testb": 4485}


def _make_split(name: str) -> Split:
    """Return the split `name` of the original files."""
    return Split(
        format="aida",
        files=_FILES,
        main_file="aida",
        document_range=_ROWS[name],
        counts=Counts(documents=_ROWS[name][1] - _ROWS[name][0], labels=_N_MENTIONS[name]),
        unverified_reason="The texts need an agreement with NIST, so there are no checksums. The counts are "
        "from the paper and agree with ELEVANT's copies of testa and testb.",
    )


DATASET = Dataset(
    title="AIDA-CoNLL",
    description="Reuters news of the 1990s in which every proper name annotated in CoNLL-2003 is linked or NIL.",
    tasks=("a2kb", "d2kb", "c2kb", "erec", "rt2kb"),
    language="en",
    domain="news",
    document_type="articles",
    licence="Annotations CC BY-SA 3.0; the texts belong to Reuters and need an agreement with NIST",
    citation="Hoffart et al. 2011: Robust Disambiguation of Named Entities in Text. EMNLP.",
    kb="yago2",
    sources=(
        "https://www.mpi-inf.mpg.de/departments/databases-and-information-systems/research/ambiverse-nlu/aida/downloads",
        "https://trec.nist.gov/data/reuters/reuters.html",
    ),
    obtain="Request the Reuters corpus RCV1 from NIST and build the English CoNLL-2003 files (eng.train, "
    "eng.testa, eng.testb) from it; the annotations are free (AIDA-YAGO2-annotations.tsv in "
    "aida-yago2-dataset.zip).",
    versions={
        "hoffart2011": Version(
            description="As published, with names that have no entity in YAGO2. Needs your own copy of CoNLL-2003.",
            splits={name: _make_split(name) for name in _ROWS},
            default_split="testb",
        ),
        "bat2013": Version(
            description="Only the linked names, as in BAT and most papers on disambiguation.",
            splits={name: _make_split(name).add_steps({"drop-nil": _N_LINKED[name]}) for name in _ROWS},
            default_split="testb",
        ),
        "elevant2024": Version(
            description="ELEVANT's copy with Wikidata ids. All words outside mentions are masked: predictions "
            "can be scored, but systems cannot be run unless `karat data convert --texts-from` adds the texts of "
            "ZELDA's copy (zelda/conll).",
            splits={
                "testa": elevant_split(
                    "aida-conll-dev",
                    "16432212479cc3938336993ade68dcc19064a70aafc7a7ca28831aa47152f65c",
                    size=894846,
                    documents=216,
                    labels=5917,
                ),
                "testb": elevant_split(
                    "aida-conll-test",
                    "9a841479da485c7457776e7c8a0919fede197ebd77fc3e5e32c440da7163ead5",
                    size=831663,
                    documents=231,
                    labels=5616,
                ),
            },
            default_split="testb",
            kb="wikidata",
            licence="Apache-2.0 (ELEVANT); annotations CC BY-SA 3.0",
        ),
    },
    biases=(
        Remark("44 % of the articles of the test set are about sports.", "Bast et al. 2023, section 4.1"),
        Remark(
            "In sports news, country names refer to teams: demonyms and metonyms are over-represented, which "
            "favours overfitting.",
            "Bast et al. 2023, sections 1 and 4.1",
        ),
        Remark("All systems score much higher on this dataset than on others.", "Bast et al. 2023, section 4.1"),
        Remark("Many NIL names have an entity today.", "Bast et al. 2023, section 1"),
        Remark(
            "Only some mentions are annotated, so systems are penalised for reasonable predictions.",
            "Cornolti et al. 2013, section 6",
        ),
        Remark(
            "Of the links of the test set that were re-examined, 91 % were accepted.",
            "Ding et al. 2022, log files",
        ),
    ),
)
