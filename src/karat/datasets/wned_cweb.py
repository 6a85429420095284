"""WNED-CWEB: web pages by how hard their links are."""

from karat.spec.dataset import Counts, Dataset, File, Folder, Remark, Split, Version

DATASET = Dataset(
    title="WNED-CWEB",
    says="Pages of ClueWeb12, forty for each bracket of the accuracy that a simple baseline reaches; the links are "
    "Google's automatic annotations (FACC1).",
    tasks=("d2kb",),
    language="en",
    domain="web",
    document_type="pages",
    licence="Not stated; the texts come from ClueWeb12",
    citation="Guo and Barbosa 2018: Robust Named Entity Disambiguation with Random Walks. Semantic Web 9(4).",
    kb="wikipedia",
    where=("https://doi.org/10.7939/DVN/10968", "https://github.com/U-Alberta/wned"),
    obtain="Get the WNED datasets at https://doi.org/10.7939/DVN/10968 and take clueweb.xml and the folder RawText of "
    "its ClueWeb part.",
    versions={
        "guo2018": Version(
            says="The native files. ZELDA's copy with today's titles is zelda/wned-cweb.",
            splits={
                "all": Split(
                    format="wned",
                    files=(File("wned/clueweb/clueweb.xml"), Folder("wned/clueweb/RawText", files=320)),
                    gold="wned/clueweb",
                    counts=Counts(documents=320, labels=11154),
                    unseen="No copy was at hand to take checksums of; the counts are published ones.",
                )
            },
        )
    },
    biases=(
        Remark(
            "Of the links that people looked at again, 88 % were accepted as they are; 32 % of all accepted links are "
            "missing in the gold standard.",
            "Ding et al. 2022, log files",
        ),
    ),
    excluded=(
        Remark("The gold standard was made by a program and has its errors.", "ELEVANT, list of excluded benchmarks"),
    ),
)
