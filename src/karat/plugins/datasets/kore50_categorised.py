"""KORE50 with the categories of fine-grained evaluation."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Repair, Split, Version, github_url

DATASET = Dataset(
    title="KORE50, categorised",
    description="KORE50, annotated again with every possible link, each with base form, part of speech, "
    "overlap and reference; alternatives and NIL included. One document with fifty sentences.",
    tasks=("a2kb", "d2kb", "c2kb", "erec", "rt2kb"),
    language="en",
    domain="mixed",
    document_type="sentences",
    licence="Not stated",
    citation="Rosales-Méndez et al. 2019: Fine-Grained Evaluation for Entity Linking. EMNLP-IJCNLP.",
    kb="wikipedia",
    sources=("https://github.com/henryrosalesmendez/categorized_EMNLP_datasets",),
    versions={
        "rosales2019": Version(
            description="The files used for table 3 of the paper.",
            splits={
                "all": Split(
                    format="nif-categorised",
                    files=(
                        File(
                            "finegrained/gold/categorizedKORE50.ttl",
                            sha256="c71a0df280a8160c6e49369af31b11f51ac88eec5deabf04d1aa31ae8c8c2d88",
                            size=319473,
                            url=github_url(
                                "henryrosalesmendez/categorized_EMNLP_datasets",
                                "3967ce8a3b710d9ef85410c2c611d7313317013b",
                                "categorizedKORE50.ttl",
                            ),
                        ),
                    ),
                    counts=Counts(documents=1, labels=372),
                    repairs=(
                        Repair(
                            location="head of the file",
                            fault="the prefixes el: and mnt: are used but not declared",
                            remedy="the reader declares them",
                            count=2,
                        ),
                        Repair(
                            location="text",
                            fault="a byte order mark inside the text",
                            remedy="left unchanged, because offsets include it",
                            count=2,
                        ),
                    ),
                )
            },
        )
    },
    biases=(
        Remark(
            "Common nouns, singular nouns, direct references and spans without overlap are the most frequent.",
            "Rosales-Méndez et al. 2019, section 4",
        ),
    ),
)
