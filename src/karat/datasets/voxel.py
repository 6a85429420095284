"""VoxEL: the same news in five languages, annotated strictly and in a relaxed way."""

from karat.spec.dataset import Counts, Dataset, File, Remark, Split, Version

_LANGUAGES = ("en", "de", "es", "fr", "it")
_LABELS = {"strict": 204, "relaxed": 674}


def _split(how: str, language: str) -> Split:
    name = f"{how[0]}VoxEL-{language}.ttl"
    return Split(
        format="nif",
        files=(File(f"voxel/{name}", url="https://figshare.com/ndownloader/files/12012098", member=name),),
        counts=Counts(documents=15, labels=_LABELS[how]),
        language=language,
        unseen="No copy was at hand to take a checksum of; the counts are published ones.",
    )


DATASET = Dataset(
    title="VoxEL",
    says="Fifteen news articles of VoxEurop with the same sentences and the same annotations in each language. Strict: "
    "persons, organisations and places. Relaxed: everything that has a page in Wikipedia.",
    tasks=("a2kb", "d2kb", "c2kb", "erec"),
    language="de, en, es, fr, it",
    domain="news",
    document_type="articles",
    licence="CC BY 4.0 (its README); a copy at Hugging Face says CC BY-ND 4.0",
    citation="Rosales-Méndez et al. 2018: VoxEL: A Benchmark Dataset for Multilingual Entity Linking. ISWC.",
    kb="wikipedia",
    where=("https://figshare.com/articles/dataset/VoxEL/6539675",),
    versions={
        "rosales2018": Version(
            says="As published; 94 sentences in each language.",
            splits={
                f"{how}-{language}": _split(how, language) for how in ("strict", "relaxed") for language in _LANGUAGES
            },
            usual="strict-en",
        )
    },
    biases=(
        Remark(
            "Sentences and annotations correspond between the languages, as they do not in texts found elsewhere.",
            "Rosales-Méndez et al. 2018, README",
        ),
    ),
)
