"""Wiki-Fair: Wikipedia articles annotated for a fair comparison, with coreference."""

from karat.model.spec.dataset import Dataset, Remark, Repair, Version, elevant_split

DATASET = Dataset(
    title="Wiki-Fair",
    description="Random Wikipedia articles with up to three consecutive, fully annotated paragraphs, including "
    "coreference; the rest is context.",
    tasks=("a2kb", "d2kb", "c2kb", "erec", "rt2kb"),
    language="en",
    domain="wikipedia",
    document_type="articles",
    licence="Apache-2.0 (ELEVANT); texts CC BY-SA 3.0",
    citation="Bast et al. 2023: A Fair and In-Depth Evaluation of Existing End-to-End Entity Linking Systems. EMNLP.",
    kb="wikidata",
    sources=(
        "https://github.com/ad-freiburg/fair-entity-linking-benchmarks",
        "https://github.com/ad-freiburg/elevant",
    ),
    versions={
        "v2": Version.from_split(
            description="Extended to 120 articles and updated.",
            split=elevant_split(
                "wiki-fair-v2",
                "540c79437b2cd03140c48ebfa6298e8c36077cc98b1e0fb1d144fa5906e2afce",
                size=741730,
                documents=120,
                labels=3371,
                commit="HEAD",
                repairs=(Repair(location="one label", fault="no entity id", remedy="read as an unlinked span"),),
            ),
            supersedes=("wiki-fair@v1",),
        ),
        "v1": Version.from_split(
            description="Eighty articles from a dump of 2020.",
            split=elevant_split(
                "wiki-fair",
                "f1032fa0983c07c38c28fec0d22e8105690baedf5d70a734191c395801cf9672",
                size=402215,
                documents=80,
                labels=1961,
            ),
        ),
        "v2-no-coref": Version.from_split(
            description="Extended to 120 articles and updated, without labels of pronouns and other "
            "coreferences, as used in the paper.",
            split=elevant_split(
                "wiki-fair-v2-no-coref",
                "4ac1fe61a931bab97416bfee6ac500408118b881f09f8fcf5c500fc53b5ce481",
                size=684823,
                documents=120,
                labels=2895,
                commit="HEAD",
            ),
            supersedes=("wiki-fair@v1-no-coref",),
        ),
        "v1-no-coref": Version.from_split(
            description="Eighty articles from a dump of 2020, without labels of pronouns and other "
            "coreferences, as used in the paper.",
            split=elevant_split(
                "wiki-fair-no-coref",
                "f80207fe17f096eeeb5ad6bd6258bc5f5e49f7d299949c8306e6868f54f8b522",
                size=372258,
                documents=80,
                labels=1677,
            ),
        ),
    },
    biases=(
        Remark(
            "Entities are defined by a list of types, including common nouns, with alternatives where "
            "annotators could differ and optional labels for dates and quantities.",
            "Bast et al. 2023, section 5",
        ),
        Remark(
            "18 % of the mentions are in lower case, 12 % are NIL (v1 without coreference).",
            "Bast et al. 2023, table 3",
        ),
    ),
)
