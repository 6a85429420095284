"""Derczynski: tweets annotated by experts."""

from karat.model.spec.dataset import Dataset, Remark, Repair, Version, elevant_split

DATASET = Dataset(
    title="Derczynski (IPM NEL)",
    description="Tweets with names linked by NLP experts, three annotators per mention.",
    tasks=("a2kb", "d2kb", "c2kb", "erec"),
    language="en",
    domain="tweets",
    document_type="short texts",
    licence="CC BY 4.0",
    citation="Derczynski et al. 2015: Analysis of Named Entity Recognition and Linking for Tweets. Information "
    "Processing and Management 51(2).",
    kb="wikidata",
    sources=("https://huggingface.co/datasets/strombergnlp/ipm_nel", "https://github.com/ad-freiburg/elevant"),
    versions={
        "elevant2024": Version.from_split(
            description="ELEVANT's copy with Wikidata ids, names and types; one tweet more than in the paper.",
            split=elevant_split(
                "derczynski",
                "6408616fc18976fb56e3cd1870c0e62bd8f5e1faa8b5638b1d13bbb709c0d4b8",
                size=62900,
                documents=183,
                labels=292,
                repairs=(
                    Repair(
                        location="IRIs in GERBIL's copy",
                        fault="invisible characters",
                        remedy="removed by ELEVANT, so scores differ from GERBIL's",
                    ),
                ),
            ),
        )
    },
    biases=(Remark("Omitted from the paper's tables only for lack of space.", "Bast et al. 2023, limitations"),),
)
