"""DBpedia Spotlight: paragraphs of the New York Times with links of all informative phrases."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Split, Version, elevant_split

DATASET = Dataset(
    title="DBpedia Spotlight",
    description="35 paragraphs from eight sections of the New York Times, as 58 sentences; all informative "
    "phrases are linked.",
    tasks=("a2kb", "d2kb", "c2kb", "erec"),
    language="en",
    domain="news",
    document_type="sentences",
    licence="Not stated; the texts belong to the New York Times",
    citation="Mendes et al. 2011: DBpedia Spotlight: Shedding Light on the Web of Documents. I-SEMANTICS.",
    kb="wikidata",
    sources=("https://github.com/ad-freiburg/elevant", "https://github.com/dice-group/gerbil"),
    versions={
        "elevant2024": Version.from_split(
            description="ELEVANT's copy with Wikidata ids, names and types.",
            split=elevant_split(
                "spotlight",
                "a81a4f8c0ed9476027264e5ddc500e5a078656c26f18472b2b6d487444abbfe6",
                size=50747,
                documents=58,
                labels=330,
                commit="HEAD",
            ),
        ),
        "gerbil1.2.6": Version.from_split(
            description="The NIF file distributed with GERBIL.",
            split=Split(
                format="nif",
                files=(
                    File(
                        "gerbil/spotlight/dbpedia-spotlight-nif.ttl",
                        url="https://github.com/dice-group/gerbil/releases/download/v1.2.6/gerbil_data.zip",
                        member="datasets/spotlight/dbpedia-spotlight-nif.ttl",
                    ),
                ),
                counts=Counts(documents=58, labels=330),
                unverified_reason="No checksum, because no copy was available; the counts are published "
                "and agree with ELEVANT's copy.",
            ),
            kb="dbpedia",
        ),
    },
    biases=(Remark("75 % of the annotated mentions are not named entities.", "Bast et al. 2023, appendix A.1"),),
    exclusions=(
        Remark(
            "The choice of mentions seems arbitrary: words such as 'curved' or 'idea' are annotated, but "
            "'Russian' or 'story' are not.",
            "Bast et al. 2023, appendix A.1",
        ),
    ),
)
