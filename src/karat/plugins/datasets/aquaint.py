"""AQUAINT: fifty short newswire stories, linked in the style of Wikipedia."""

from karat.model.spec.dataset import Counts, Dataset, Remark, Split, Version, bat_folder

DATASET = Dataset(
    title="AQUAINT",
    description="Associated Press stories of 250 to 300 words, in which important concepts are linked once.",
    tasks=("a2kb", "d2kb", "c2kb", "erec"),
    language="en",
    domain="news",
    document_type="articles",
    licence="Not stated; the texts belong to the Associated Press",
    citation="Milne and Witten 2008: Learning to Link with Wikipedia. CIKM.",
    kb="wikipedia",
    sources=("https://community.nzdl.org/wikification/", "https://github.com/marcocor/bat-framework"),
    versions={
        "milne2008": Version.from_split(
            description="The original annotations, as distributed with BAT and GERBIL; the BAT paper has the "
            "same counts.",
            split=Split(
                format="wned",
                files=(
                    bat_folder(
                        "AQUAINT/Problems",
                        "8a0b4d3fd498ed8e84dae0d20dcfcfd196abb932caa026b5e7d39d40b3788d3b",
                        n_files=50,
                        size=285108,
                    ),
                    bat_folder(
                        "AQUAINT/RawTexts",
                        "391399fc1d85dfd4cca9a4b6b58d690fcb31370fbd4a88dce3d203b0afe212c5",
                        n_files=50,
                        size=70799,
                    ),
                ),
                main_file="bat/AQUAINT",
                counts=Counts(documents=50, labels=727),
            ),
        )
    },
    biases=(
        Remark(
            "Only one mention of each entity is annotated, and only of the most important entities.",
            "Cornolti et al. 2013, section 4",
        ),
        Remark(
            "Systems are penalised for reasonable predictions that are missing in the gold standard.",
            "Cornolti et al. 2013, section 6",
        ),
        Remark(
            "Of the links that were re-examined, 92 % were accepted; 41 % of all accepted links are missing in "
            "the gold standard.",
            "Ding et al. 2022, log files",
        ),
    ),
    exclusions=(
        Remark(
            "Annotations are inconsistent: obvious names are missing in some texts, and some common nouns are "
            "included.",
            "ELEVANT, list of excluded benchmarks",
        ),
    ),
)
