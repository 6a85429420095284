"""Reddit posts and comments with links on which all annotators agree."""

from karat.model.spec.dataset import Dataset, File, Remark, Split, Version

_ZIP = "https://zenodo.org/record/3970806/files/reddit_el.zip"


def _make_split(kind: str) -> Split:
    """Return the split of a kind of text, `post` or `comment`."""
    names = (f"gold_{kind}_annotations.tsv", f"{kind}s.tsv")
    return Split(
        format="reddit",
        files=tuple(File(f"reddit/{name}", url=_ZIP, member=name) for name in names),
        unverified_reason="No checksums and counts, because no copy was available.",
    )


DATASET = Dataset(
    title="Reddit",
    description="Top-scoring Reddit posts and comments, with the links on which all three annotators agree.",
    tasks=("d2kb", "a2kb", "c2kb"),
    language="en",
    domain="forum",
    document_type="short texts",
    licence="CC BY 4.0",
    citation="Botzer et al. 2021: Reddit Entity Linking Dataset. Information Processing and Management 58(3).",
    kb="wikipedia",
    sources=("https://doi.org/10.5281/zenodo.3970806",),
    versions={
        "botzer2021": Version(
            description="The original files.",
            splits={"posts": _make_split("post"), "comments": _make_split("comment")},
        )
    },
    biases=(
        Remark(
            "Links on which annotators disagree are excluded, which leaves the easier ones.",
            "Botzer et al. 2021; Milich and Akbik 2023, section 3.1",
        ),
    ),
)
