"""ERD 2014: queries of the Entity Recognition and Disambiguation challenge, short track."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Split, Version, github_url

_FOLDER = "src/main/resources/datasets/erd2014"

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
                        File(
                            "bat/erd2014/Trec_beta.query.txt",
                            sha256="f4cc1340f5446b7fe5cb3fdf6cf5018d5e44fa0d78e756db4a4795eb6ae3641d",
                            size=2798,
                            url=github_url("marcocor/bat-framework", "HEAD", f"{_FOLDER}/Trec_beta.query.txt"),
                        ),
                        File(
                            "bat/erd2014/Trec_beta.annotation.txt",
                            sha256="f88812e706c62fa92ab42b109d2e147ae3a66dfcc03ae177f395276f37b3cf57",
                            size=2607,
                            url=github_url("marcocor/bat-framework", "HEAD", f"{_FOLDER}/Trec_beta.annotation.txt"),
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
