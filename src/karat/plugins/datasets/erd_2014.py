"""ERD 2014: queries of the Entity Recognition and Disambiguation challenge, short track."""

from karat.model.spec.dataset import Counts, Dataset, Remark, Split, Version, bat_file

DATASET = Dataset(
    title="ERD 2014, short track (beta)",
    description="TREC queries; each may have several interpretations, which are sets of entities.",
    tasks=("a2kb", "c2kb"),
    language="en",
    domain="queries",
    document_type="queries",
    licence="Not stated",
    citation="Carmel et al. 2014: ERD'14: Entity Recognition and Disambiguation Challenge. SIGIR Forum 48(2).",
    kb="wikipedia",
    sources=("https://github.com/marcocor/bat-framework",),
    versions={
        "carmel2014": Version(
            description="The development queries, as distributed with BAT; a mention is the first occurrence "
            "of its text.",
            splits={
                "dev": Split(
                    format="erd",
                    files=(
                        bat_file(
                            "erd2014/Trec_beta.query.txt",
                            "f4cc1340f5446b7fe5cb3fdf6cf5018d5e44fa0d78e756db4a4795eb6ae3641d",
                            size=2798,
                            commit="HEAD",
                        ),
                        bat_file(
                            "erd2014/Trec_beta.annotation.txt",
                            "f88812e706c62fa92ab42b109d2e147ae3a66dfcc03ae177f395276f37b3cf57",
                            size=2607,
                            commit="HEAD",
                        ),
                    ),
                    main_file="bat/erd2014",
                    counts=Counts(documents=91, labels=56),
                )
            },
        )
    },
    biases=(Remark("47 of the 91 queries have no entity.", "counted in the files"),),
)
