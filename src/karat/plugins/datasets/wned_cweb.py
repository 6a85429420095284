"""WNED-CWEB: web pages grouped by difficulty."""

from karat.model.spec.dataset import Counts, Dataset, File, Folder, Remark, Split, Version

DATASET = Dataset(
    title="WNED-CWEB",
    description="ClueWeb12 pages, forty per accuracy bracket of a simple baseline; the links are Google's "
    "automatic annotations (FACC1).",
    tasks=("d2kb",),
    language="en",
    domain="web",
    document_type="pages",
    licence="Not stated; the texts come from ClueWeb12",
    citation="Guo and Barbosa 2018: Robust Named Entity Disambiguation with Random Walks. Semantic Web 9(4).",
    kb="wikipedia",
    sources=("https://doi.org/10.7939/DVN/10968", "https://github.com/U-Alberta/wned"),
    obtain="Download the WNED datasets from https://doi.org/10.7939/DVN/10968 and use clueweb.xml and the "
    "folder RawText of the ClueWeb part.",
    versions={
        "guo2018": Version.from_split(
            description="The original files. ZELDA's copy with current titles is zelda/wned-cweb.",
            split=Split(
                format="wned",
                files=(File("wned/clueweb/clueweb.xml"), Folder("wned/clueweb/RawText", n_files=320)),
                main_file="wned/clueweb",
                counts=Counts(documents=320, labels=11154),
                unverified_reason="No checksums, because no copy was available; the counts are published.",
            ),
        )
    },
    biases=(
        Remark(
            "Of the links that were re-examined, 88 % were accepted; 32 % of all accepted links are missing in "
            "the gold standard.",
            "Ding et al. 2022, log files",
        ),
    ),
    exclusions=(
        Remark("The gold standard was generated automatically and has errors.", "ELEVANT, list of excluded benchmarks"),
    ),
)
