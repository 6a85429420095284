"""ZELDA-train: Wikipedia sections for training disambiguation."""

from karat.model.spec.dataset import Dataset, File, Remark, Split, Version

DATASET = Dataset(
    title="ZELDA-train",
    description="About 95,000 sections from Wikipedia of December 2019 with 2.6 million mentions of some "
    "822,000 entities, sampled so that the entities of ZELDA's test sets occur at least ten times "
    "where possible.",
    tasks=("d2kb",),
    language="en",
    domain="wikipedia",
    document_type="paragraphs",
    licence="CC BY-SA 3.0 (the Kensho Derived Wikimedia Dataset, its source)",
    citation="Milich and Akbik 2023: ZELDA: A Comprehensive Benchmark for Supervised Entity Disambiguation. EACL.",
    kb="wikipedia",
    sources=("https://github.com/flairNLP/zelda",),
    versions={
        "milich2023": Version(
            description="As published. The paper states 822,000 and 825,000 entities, the repository 821,559.",
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
                    unverified_reason="No checksum and counts, because no copy was available; the description "
                    "gives the published numbers.",
                )
            },
        )
    },
    biases=(
        Remark(
            "It is deliberately small compared with the Wikipedia corpora of other systems.",
            "Milich and Akbik 2023, section 7",
        ),
        Remark(
            "Wikipedia authors link an entity only once, so most mentions are unlinked.",
            "Milich and Akbik 2023, section 2.1",
        ),
    ),
)
