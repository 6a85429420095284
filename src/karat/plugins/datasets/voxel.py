"""VoxEL: the same news in five languages, with strict and relaxed annotations."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Repair, Split, Version, finegrained_version

_LANGUAGES = ("en", "de", "es", "fr", "it")
_LABELS = {"strict": 204, "relaxed": 674}


def _make_split(style: str, language: str) -> Split:
    """Return the split of an annotation style (`strict` or `relaxed`) in a language."""
    name = f"{style[0]}VoxEL-{language}.ttl"
    return Split(
        format="nif",
        files=(File(f"voxel/{name}", url="https://figshare.com/ndownloader/files/12012098", member=name),),
        counts=Counts(documents=15, labels=_LABELS[style]),
        language=language,
        unverified_reason="No checksum, because no copy was available; the counts are published.",
    )


DATASET = Dataset(
    title="VoxEL",
    description="Fifteen news articles of VoxEurop with the same sentences and annotations in each language. "
    "Strict: persons, organisations and places. Relaxed: everything with a Wikipedia page.",
    tasks=("a2kb", "d2kb", "c2kb", "erec"),
    language="de, en, es, fr, it",
    domain="news",
    document_type="articles",
    licence="CC BY 4.0 (its README); a copy at Hugging Face says CC BY-ND 4.0",
    citation="Rosales-Méndez et al. 2018: VoxEL: A Benchmark Dataset for Multilingual Entity Linking. ISWC.",
    kb="wikipedia",
    sources=(
        "https://figshare.com/articles/dataset/VoxEL/6539675",
        "https://github.com/henryrosalesmendez/categorized_EMNLP_datasets",
    ),
    versions={
        "rosales2018": Version(
            description="As published; 94 sentences in each language.",
            splits={
                f"{style}-{language}": _make_split(style, language)
                for style in ("strict", "relaxed")
                for language in _LANGUAGES
            },
            default_split="strict-en",
        ),
        "rosales2019": finegrained_version(
            "VoxEL",
            "ee6cc6eefe88b596a710f920233cb8cf1a3bc067028cfbf49bdcd9dc17b15c6a",
            description="The English texts, annotated again with every possible link, each with base form, part of "
            "speech, overlap and reference; alternatives and NIL included. The files used for table 3 of the paper.",
            size=904685,
            commit="3967ce8a3b710d9ef85410c2c611d7313317013b",
            counts=Counts(documents=15, labels=1107),
            language="en",
            repairs=(
                Repair(
                    location="overlap tags",
                    fault="mentions tagged as minimal overlap are not inside another mention",
                    remedy="left unchanged; karat data lint reports them",
                    count=5,
                ),
            ),
        ),
    },
    biases=(
        Remark(
            "Sentences and annotations correspond between the languages, unlike in natural texts.",
            "Rosales-Méndez et al. 2018, README",
        ),
        Remark(
            "In rosales2019, common nouns, singular nouns, direct references and spans without overlap are the most "
            "frequent.",
            "Rosales-Méndez et al. 2019, section 4",
        ),
    ),
)
