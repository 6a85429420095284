"""VoxEL (English) with the categories of fine-grained evaluation."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Repair, Split, Version, github_url

DATASET = Dataset(
    title="VoxEL (English), categorised",
    description="The English VoxEL, annotated again with every possible link, each with base form, part of "
    "speech, overlap and reference; alternatives and NIL included.",
    tasks=("a2kb", "d2kb", "c2kb", "erec", "rt2kb"),
    language="en",
    domain="news",
    document_type="articles",
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
                            "finegrained/gold/categorizedVoxEL.ttl",
                            sha256="ee6cc6eefe88b596a710f920233cb8cf1a3bc067028cfbf49bdcd9dc17b15c6a",
                            size=904685,
                            url=github_url(
                                "henryrosalesmendez/categorized_EMNLP_datasets",
                                "3967ce8a3b710d9ef85410c2c611d7313317013b",
                                "categorizedVoxEL.ttl",
                            ),
                        ),
                    ),
                    counts=Counts(documents=15, labels=1107),
                    repairs=(
                        Repair(
                            location="head of the file",
                            fault="the prefixes el: and mnt: are used but not declared",
                            remedy="the reader declares them",
                            count=2,
                        ),
                        Repair(
                            location="overlap tags",
                            fault="mentions tagged as minimal overlap are not inside another mention",
                            remedy="left unchanged; karat data lint reports them",
                            count=5,
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
