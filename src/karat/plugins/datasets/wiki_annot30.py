"""WIKI-ANNOT30: Wikipedia fragments with all possible links."""

from karat.model.spec.dataset import Dataset, File, Remark, Split, Version

DATASET = Dataset(
    title="WIKI-ANNOT30",
    description="Wikipedia fragments of about thirty words, for detection and linking; WIKI-DISAMB30 is for "
    "disambiguation.",
    tasks=("a2kb", "c2kb"),
    language="en",
    domain="wikipedia",
    document_type="short texts",
    licence="Not stated; texts CC BY-SA 3.0",
    citation="Ferragina and Scaiella 2010: TAGME: On-the-fly Annotation of Short Text Fragments (by Wikipedia "
    "Entities). CIKM.",
    kb="wikipedia",
    sources=("http://acube.di.unipi.it/tagme-dataset/",),
    obtain="Download wiki-annot30.gz from http://acube.di.unipi.it/tagme-dataset/; data.tar.gz of Hasibi et "
    "al. 2016 (http://hasibi.com/files/res/data.tar.gz) has the same fragments with numbers.",
    versions={
        "ferragina2010": Version.from_split(
            description="As published. Fragments have no ids, and Karat has no reader yet.",
            split=Split(
                format=None,
                files=(File("tagme/wiki-annot30"),),
                unverified_reason="No checksum and counts, because no copy was available.",
            ),
        )
    },
    biases=(
        Remark(
            "The published results of TAGME on it could be reproduced only in part.",
            "Hasibi et al. 2016: On the Reproducibility of the TAGME Entity Linking System. ECIR.",
        ),
    ),
)
