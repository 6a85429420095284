"""ACE2004 with the categories of fine-grained evaluation."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Repair, Split, Version, github_url

DATASET = Dataset(
    title="ACE2004, categorised",
    description="Twenty of the 57 texts of ACE2004, annotated again with every possible link, each with base "
    "form, part of speech, overlap and reference; alternatives and NIL included.",
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
                            "finegrained/gold/categorizedACE04.ttl",
                            sha256="eefdd83c3e92f230c8dcedcadeea1b74e6931be1f78a05920babcf4d9f68fed7",
                            size=2426892,
                            url=github_url(
                                "henryrosalesmendez/categorized_EMNLP_datasets",
                                "09a913740af849f330e5d1af69be0173c2b87f4f",
                                "categorizedACE04.ttl",
                            ),
                        ),
                    ),
                    counts=Counts(documents=20, labels=3351),
                    repairs=(
                        Repair(
                            location="head of the file",
                            fault="the prefixes el: and mnt: are used but not declared",
                            remedy="the reader declares them",
                            count=2,
                        ),
                        Repair(
                            location="Executive_director",
                            fault="an IRI with a space, and no entity type",
                            remedy="the reader removes the space",
                        ),
                        Repair(
                            location="20001115_AFP_ARB.0089, sentence 81, 'Palestinians'",
                            fault="two tags for the base form",
                            remedy="both are read",
                        ),
                        Repair(
                            location="spans",
                            fault="crossing spans, which the scheme cannot express",
                            remedy="left unchanged",
                            count=3,
                        ),
                    ),
                )
            },
        )
    },
    biases=(
        Remark(
            "The number of annotations of these texts grew from 108 to 3,351: the original annotates very few "
            "mentions.",
            "Rosales-Méndez et al. 2019, section 4",
        ),
        Remark(
            "Common nouns, singular nouns, direct references and spans without overlap are the most frequent.",
            "Rosales-Méndez et al. 2019, section 4",
        ),
    ),
)
