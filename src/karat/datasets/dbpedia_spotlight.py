"""DBpedia Spotlight: paragraphs of the New York Times with links to all that informs."""

from karat.spec.dataset import Counts, Dataset, File, Remark, Split, Version, github

DATASET = Dataset(
    title="DBpedia Spotlight",
    says="35 paragraphs of eight sections of the New York Times, as 58 sentences; whatever adds information is linked.",
    tasks=("a2kb", "d2kb", "c2kb", "erec"),
    language="en",
    domain="news",
    document_type="sentences",
    licence="Not stated; the texts belong to the New York Times",
    citation="Mendes et al. 2011: DBpedia Spotlight: Shedding Light on the Web of Documents. I-SEMANTICS.",
    kb="wikidata",
    where=("https://github.com/ad-freiburg/elevant", "https://github.com/dice-group/gerbil"),
    versions={
        "elevant2024": Version(
            says="ELEVANT's copy with Wikidata ids, names and types.",
            splits={
                "all": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/spotlight.benchmark.jsonl",
                            sha256="a81a4f8c0ed9476027264e5ddc500e5a078656c26f18472b2b6d487444abbfe6",
                            size=50747,
                            url=github("ad-freiburg/elevant", "HEAD", "benchmarks/spotlight.benchmark.jsonl"),
                        ),
                    ),
                    counts=Counts(documents=58, labels=330),
                )
            },
        ),
        "gerbil1.2.6": Version(
            says="The NIF file that GERBIL ships.",
            splits={
                "all": Split(
                    format="nif",
                    files=(
                        File(
                            "gerbil/spotlight/dbpedia-spotlight-nif.ttl",
                            url="https://github.com/dice-group/gerbil/releases/download/v1.2.6/gerbil_data.zip",
                            member="datasets/spotlight/dbpedia-spotlight-nif.ttl",
                        ),
                    ),
                    counts=Counts(documents=58, labels=330),
                    unseen="No copy was at hand to take a checksum of; the counts are published ones, which "
                    "ELEVANT's copy has too.",
                )
            },
            kb="dbpedia",
        ),
    },
    biases=(Remark("75 % of the annotations are not of named entities.", "Bast et al. 2023, appendix A.1"),),
    excluded=(
        Remark(
            "What is annotated seems arbitrary: plain words such as 'curved' or 'idea' are in, while 'Russian' or "
            "'story' are not.",
            "Bast et al. 2023, appendix A.1",
        ),
    ),
)
