"""ZELDA-train: Wikipedia sections to train disambiguation on."""

from karat.spec.dataset import Dataset, File, Remark, Split, Version

DATASET = Dataset(
    title="ZELDA-train",
    says="About 95,000 sections of Wikipedia of December 2019 with 2.6 million mentions of some 822,000 entities, "
    "drawn so that the entities of ZELDA's test sets occur at least ten times where possible.",
    tasks=("d2kb",),
    language="en",
    domain="wikipedia",
    document_type="paragraphs",
    licence="CC BY-SA 3.0 (the Kensho Derived Wikimedia Dataset, its source)",
    citation="Milich and Akbik 2023: ZELDA: A Comprehensive Benchmark for Supervised Entity Disambiguation. EACL.",
    kb="wikipedia",
    where=("https://github.com/flairNLP/zelda",),
    versions={
        "milich2023": Version(
            says="As published. The paper gives 822,000 and 825,000 entities, the repository 821,559.",
            splits={
                "train": Split(
                    format="zelda",
                    files=(
                        File(
                            "zelda/train/zelda_train.jsonl",
                            url="https://nlp.informatik.hu-berlin.de/resources/datasets/zelda/zelda_full.zip",
                            member="train_data/zelda_train.jsonl",
                        ),
                    ),
                    unseen="No copy was at hand to take a checksum of, or to count in; the benchmark says what was "
                    "published.",
                )
            },
        )
    },
    biases=(
        Remark(
            "It is small beside the Wikipedia corpora of other systems, on purpose.", "Milich and Akbik 2023, section 7"
        ),
        Remark(
            "Authors of Wikipedia link an entity once, so that most mentions have no link.",
            "Milich and Akbik 2023, section 2.1",
        ),
    ),
)
