"""ShadowLinks: short texts that test overshadowed entities."""

from karat.model.spec.dataset import Dataset, File, Remark, Split, Version

_BASE_URL = "https://huggingface.co/datasets/vera-pro/ShadowLink/resolve/main"


def _make_split(name: str) -> Split:
    """Return a split of the dataset by its name in the files."""
    return Split(
        format="shadowlinks",
        files=(File(f"shadowlinks/{name}.json", url=f"{_BASE_URL}/{name}.json"),),
        unverified_reason="No checksum and counts, because no copy was available.",
    )


DATASET = Dataset(
    title="ShadowLinks",
    description="Web texts with one mention each. Top: the mention refers to its most popular entity. Shadow: "
    "it refers to a less popular entity. Tail: a rare entity without competitors.",
    tasks=("d2kb",),
    language="en",
    domain="web",
    document_type="short texts",
    licence="Not stated",
    citation="Provatorova et al. 2021: Robustness Evaluation of Entity Disambiguation Using Prior Probes: the Case of "
    "Entity Overshadowing. EMNLP.",
    kb="wikipedia",
    sources=("https://huggingface.co/datasets/vera-pro/ShadowLink",),
    versions={
        "provatorova2021": Version(
            description="The original files. ZELDA's copies with current titles are zelda/shadowlinks-top and so on.",
            splits={"top": _make_split("Top"), "shadow": _make_split("Shadow"), "tail": _make_split("Tail")},
        )
    },
    biases=(
        Remark(
            "Each part has only one kind of ambiguity: report the parts separately, never as one score.",
            "Provatorova et al. 2021; Milich and Akbik 2023, section 3.1",
        ),
    ),
)
