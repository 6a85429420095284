"""AIDA-CoNLL: the names of the CoNLL-2003 news, linked to YAGO2."""

from karat.spec.dataset import Applied, Counts, Dataset, File, Remark, Split, Version, github

_ELEVANT = "b9d07cf8ced11ee404f4bb7ec28307ef645c7363"
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
_MARKED = {"train": 23396, "testa": 5917, "testb": 5616}
_LINKED = {"train": 18541, "testa": 4791, "testb": 4485}


def _split(name: str, *, linked: bool) -> Split:
    documents = _ROWS[name][1] - _ROWS[name][0]
    return Split(
        format="aida",
        files=_FILES,
        gold="aida",
        rows=_ROWS[name],
        counts=Counts(documents=documents, labels=_MARKED[name]),
        steps=(Applied("drop-nil", Counts(documents=documents, labels=_LINKED[name])),) if linked else (),
        unseen="The texts need an agreement with NIST, and no copy was at hand to take checksums of. The counts are "
        "those of the paper; ELEVANT's copies of testa and testb have as many.",
    )


DATASET = Dataset(
    title="AIDA-CoNLL",
    says="Reuters news of the 1990s in which every proper name that CoNLL-2003 marks is linked or said to be NIL.",
    tasks=("a2kb", "d2kb", "c2kb", "erec", "rt2kb"),
    language="en",
    domain="news",
    document_type="articles",
    licence="Annotations CC BY-SA 3.0; the texts belong to Reuters and need an agreement with NIST",
    citation="Hoffart et al. 2011: Robust Disambiguation of Named Entities in Text. EMNLP.",
    kb="yago2",
    where=(
        "https://www.mpi-inf.mpg.de/departments/databases-and-information-systems/research/ambiverse-nlu/aida/downloads",
        "https://trec.nist.gov/data/reuters/reuters.html",
    ),
    obtain="Ask NIST for the Reuters corpus RCV1 and make the English CoNLL-2003 files (eng.train, eng.testa, "
    "eng.testb) from it; the annotations are free (AIDA-YAGO2-annotations.tsv in aida-yago2-dataset.zip).",
    versions={
        "hoffart2011": Version(
            says="As published: with the names that have no entity in YAGO2. Bring your own CoNLL-2003.",
            splits={name: _split(name, linked=False) for name in _ROWS},
            usual="testb",
        ),
        "bat2013": Version(
            says="The linked names alone, as BAT and most papers on disambiguation count them.",
            splits={name: _split(name, linked=True) for name in _ROWS},
            usual="testb",
        ),
        "elevant2024": Version(
            says="ELEVANT's copy with Wikidata ids. All words outside mentions are masked, so that answers can be "
            "scored but no system can be run on it.",
            splits={
                "testa": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/aida-conll-dev.benchmark.jsonl",
                            sha256="16432212479cc3938336993ade68dcc19064a70aafc7a7ca28831aa47152f65c",
                            size=894846,
                            url=github("ad-freiburg/elevant", _ELEVANT, "benchmarks/aida-conll-dev.benchmark.jsonl"),
                        ),
                    ),
                    counts=Counts(documents=216, labels=5917),
                ),
                "testb": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/aida-conll-test.benchmark.jsonl",
                            sha256="9a841479da485c7457776e7c8a0919fede197ebd77fc3e5e32c440da7163ead5",
                            size=831663,
                            url=github("ad-freiburg/elevant", _ELEVANT, "benchmarks/aida-conll-test.benchmark.jsonl"),
                        ),
                    ),
                    counts=Counts(documents=231, labels=5616),
                ),
            },
            usual="testb",
            kb="wikidata",
            licence="Apache-2.0 (ELEVANT); annotations CC BY-SA 3.0",
        ),
    },
    biases=(
        Remark("44 % of the articles of the test set are about sports.", "Bast et al. 2023, section 4.1"),
        Remark(
            "In sports news the name of a country stands for its team: demonyms and metonyms are too frequent, which "
            "invites overfitting.",
            "Bast et al. 2023, sections 1 and 4.1",
        ),
        Remark("All systems score much higher here than elsewhere.", "Bast et al. 2023, section 4.1"),
        Remark("Many names said to be NIL have an entity today.", "Bast et al. 2023, section 1"),
        Remark(
            "Only a part of the mentions is marked, so that systems are punished for reasonable answers.",
            "Cornolti et al. 2013, section 6",
        ),
        Remark(
            "Of the links of the test set that people looked at again, 91 % were accepted as they are.",
            "Ding et al. 2022, log files",
        ),
    ),
)
