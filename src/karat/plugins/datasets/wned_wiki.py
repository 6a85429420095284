"""WNED-WIKI: Wikipedia articles grouped by difficulty."""

from karat.model.spec.dataset import Dataset, File, Folder, Remark, Repair, Split, Version

DATASET = Dataset(
    title="WNED-WIKI",
    description="Wikipedia articles of 2013, forty per accuracy bracket of a simple baseline; the links in the "
    "articles are the gold standard.",
    tasks=("d2kb",),
    language="en",
    domain="wikipedia",
    document_type="articles",
    licence="Not stated; texts CC BY-SA 3.0",
    citation="Guo and Barbosa 2018: Robust Named Entity Disambiguation with Random Walks. Semantic Web 9(4).",
    kb="wikipedia",
    sources=("https://doi.org/10.7939/DVN/10968", "https://github.com/U-Alberta/wned"),
    obtain="Download the WNED datasets from https://doi.org/10.7939/DVN/10968 and use wikipedia.xml and the "
    "folder RawText of the Wikipedia part.",
    versions={
        "guo2018": Version.from_split(
            description="The original files. ZELDA's copy with current titles is zelda/wned-wiki.",
            split=Split(
                format="wned",
                files=(File("wned/wikipedia/wikipedia.xml"), Folder("wned/wikipedia/RawText", n_files=345)),
                main_file="wned/wikipedia",
                unverified_reason="No checksums and counts, because no copy was available.",
                repairs=(
                    Repair(
                        location="Jiří_Třanovský",
                        fault="the document occurs twice in the XML, with 29 and 28 annotations",
                        remedy="the reader reports it; ZELDA uses the second copy, others drop the document",
                    ),
                ),
            ),
        )
    },
    biases=(
        Remark(
            "Of the links that were re-examined, 88 % were accepted; 35 % of all accepted links are missing in "
            "the gold standard.",
            "Ding et al. 2022, log files",
        ),
    ),
    exclusions=(
        Remark(
            "Wikipedia authors link only lesser-known entities, and only once, so precision is meaningful only "
            "for given mentions.",
            "ELEVANT, list of excluded benchmarks",
        ),
    ),
)
