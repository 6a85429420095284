"""ShadowLinks: short texts that probe what a popular name hides."""

from karat.spec.dataset import Dataset, File, Remark, Split, Version

_AT = "https://huggingface.co/datasets/vera-pro/ShadowLink/resolve/main"


def _split(name: str) -> Split:
    return Split(
        format="shadowlinks",
        files=(File(f"shadowlinks/{name}.json", url=f"{_AT}/{name}.json"),),
        unseen="No copy was at hand to take a checksum of, or to count in.",
    )


DATASET = Dataset(
    title="ShadowLinks",
    says="Texts from the web with one mention each. Top: the mention means its most popular entity. Shadow: it means "
    "another one, which the popular one hides. Tail: a rare entity without a rival.",
    tasks=("d2kb",),
    language="en",
    domain="web",
    document_type="short texts",
    licence="Not stated",
    citation="Provatorova et al. 2021: Robustness Evaluation of Entity Disambiguation Using Prior Probes: the Case of "
    "Entity Overshadowing. EMNLP.",
    kb="wikipedia",
    where=("https://huggingface.co/datasets/vera-pro/ShadowLink",),
    versions={
        "provatorova2021": Version(
            says="The native files. ZELDA's copies with today's titles are zelda/shadowlinks-top and so on.",
            splits={"top": _split("Top"), "shadow": _split("Shadow"), "tail": _split("Tail")},
        )
    },
    biases=(
        Remark(
            "Each part holds one kind of ambiguity alone: read them side by side, never as one number.",
            "Provatorova et al. 2021; Milich and Akbik 2023, section 3.1",
        ),
    ),
)
