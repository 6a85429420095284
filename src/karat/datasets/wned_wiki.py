"""WNED-WIKI: Wikipedia articles by how hard their links are."""

from karat.spec.dataset import Dataset, File, Folder, Remark, Repair, Split, Version

DATASET = Dataset(
    title="WNED-WIKI",
    says="Wikipedia articles of 2013, forty for each bracket of the accuracy that a simple baseline reaches; the "
    "links of its authors are the gold standard.",
    tasks=("d2kb",),
    language="en",
    domain="wikipedia",
    document_type="articles",
    licence="Not stated; texts CC BY-SA 3.0",
    citation="Guo and Barbosa 2018: Robust Named Entity Disambiguation with Random Walks. Semantic Web 9(4).",
    kb="wikipedia",
    where=("https://doi.org/10.7939/DVN/10968", "https://github.com/U-Alberta/wned"),
    obtain="Get the WNED datasets at https://doi.org/10.7939/DVN/10968 and take wikipedia.xml and the folder RawText "
    "of its Wikipedia part.",
    versions={
        "guo2018": Version(
            says="The native files. ZELDA's copy with today's titles is zelda/wned-wiki.",
            splits={
                "all": Split(
                    format="wned",
                    files=(File("wned/wikipedia/wikipedia.xml"), Folder("wned/wikipedia/RawText", files=345)),
                    gold="wned/wikipedia",
                    unseen="No copy was at hand to take checksums of, or to count in.",
                    repairs=(
                        Repair(
                            where="Jiří_Třanovský",
                            fault="the document is in the XML twice, with 29 and 28 annotations",
                            remedy="the reader says so; ZELDA keeps the second, others drop the document",
                        ),
                    ),
                )
            },
        )
    },
    biases=(
        Remark(
            "Of the links that people looked at again, 88 % were accepted as they are; 35 % of all accepted links are "
            "missing in the gold standard.",
            "Ding et al. 2022, log files",
        ),
    ),
    excluded=(
        Remark(
            "Authors of Wikipedia link only what is not well known, and only once, so that precision means something "
            "only where mentions are given.",
            "ELEVANT, list of excluded benchmarks",
        ),
    ),
)
