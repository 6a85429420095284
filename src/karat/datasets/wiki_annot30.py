"""WIKI-ANNOT30: fragments of Wikipedia with all links they could have."""

from karat.spec.dataset import Dataset, File, Remark, Split, Version

DATASET = Dataset(
    title="WIKI-ANNOT30",
    says="Fragments of about thirty words from Wikipedia for the whole task; WIKI-DISAMB30 is for disambiguation.",
    tasks=("a2kb", "c2kb"),
    language="en",
    domain="wikipedia",
    document_type="short texts",
    licence="Not stated; texts CC BY-SA 3.0",
    citation="Ferragina and Scaiella 2010: TAGME: On-the-fly Annotation of Short Text Fragments (by Wikipedia "
    "Entities). CIKM.",
    kb="wikipedia",
    where=("http://acube.di.unipi.it/tagme-dataset/",),
    obtain="Take wiki-annot30.gz from http://acube.di.unipi.it/tagme-dataset/; data.tar.gz of Hasibi et al. 2016 "
    "(http://hasibi.com/files/res/data.tar.gz) holds the same fragments with numbers.",
    versions={
        "ferragina2010": Version(
            says="As published. Fragments have no ids, and no reader is here yet.",
            splits={
                "all": Split(
                    format=None,
                    files=(File("tagme/wiki-annot30"),),
                    unseen="No copy was at hand to take a checksum of, or to count in.",
                )
            },
        )
    },
    biases=(
        Remark(
            "The results that TAGME's authors published on it could be reproduced only in part.",
            "Hasibi et al. 2016: On the Reproducibility of the TAGME Entity Linking System. ECIR.",
        ),
    ),
)
