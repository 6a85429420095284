"""HIPE-2022, ajmc: English commentaries on Sophocles from the nineteenth century."""

from karat.model.spec.dataset import Counts, Dataset, File, Split, Version, github_url

DATASET = Dataset(
    title="HIPE-2022 ajmc (English)",
    description="Scanned classical commentaries with OCR errors; persons, works, places and others are linked "
    "to Wikidata or NIL.",
    tasks=("a2kb", "d2kb", "erec", "rt2kb"),
    language="en",
    domain="commentaries",
    document_type="pages",
    licence="CC BY 4.0 (ajmc); HIPE-2022 as a whole CC BY-NC-SA 4.0",
    citation="Ehrmann et al. 2022: Introducing the HIPE 2022 Shared Task: Named Entity Recognition and Linking in "
    "Multilingual Historical Documents. ECIR.",
    kb="wikidata",
    sources=("https://github.com/hipe-eval/HIPE-2022-data", "https://doi.org/10.5281/zenodo.6375600"),
    versions={
        "v2.1": Version(
            description="Release 2.1 of the shared task.",
            splits={
                "test": Split(
                    format="hipe",
                    files=(
                        File(
                            "formats/hipe/HIPE-2022-v2.1-ajmc-test-en.tsv",
                            sha256="33d8165ab7f35c92e1ec7a0b2c21e6a45cafa03e8fb83b3e00368e2c09db6f7d",
                            size=200819,
                            url=github_url(
                                "hipe-eval/HIPE-2022-data",
                                "557db7f04dc756ea3259a0704e504e4faeb5b449",
                                "data/v2.1/ajmc/en/HIPE-2022-v2.1-ajmc-test-en.tsv",
                            ),
                        ),
                    ),
                    counts=Counts(documents=13, labels=348),
                )
            },
        )
    },
)
