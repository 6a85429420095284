"""ZELDA: nine test sets for disambiguation, with Wikipedia titles of October 2022."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Repair, Split, Version, github_url

_REPOSITORY = "flairNLP/zelda"
_TEXTS = {
    "aida-b": ("news", "articles"),
    "tweeki": ("tweets", "short texts"),
    "reddit-posts": ("forum posts", "short texts"),
    "reddit-comments": ("forum comments", "short texts"),
    "wned-wiki": ("wikipedia", "articles"),
    "cweb": ("web", "pages"),
    "shadowlinks-top": ("web", "short texts"),
    "shadowlinks-shadow": ("web", "short texts"),
    "shadowlinks-tail": ("web", "short texts"),
}
"""Domain and document type of each test set, by the name in its files."""
_COMMIT, _EARLIER_COMMIT = "727063404217f879a8b031144338cbc6275b665b", "c41f3fae7abd2e8ac1a817091e8cf883dbd5dc4b"
# Test sets by name: checksum, bytes, documents and labels
_JSONL = {
    "aida-b": ("2caf934f1723af7048dced267cb615563532b858d9e2e6251c7af5c6dce63e52", 438342, 231, 4485),
    "tweeki": ("36c392bb78cbf318a6ba9b04504d44efdc3a1fbb70144cb8980dd36ec6cc5afd", 110940, 500, 860),
    "reddit-posts": ("7d56301352af1774177f542f15f318f27fbd86458955fbf45f900bdfd485c4bd", 97975, 377, 704),
    "reddit-comments": ("0e31a9c2c6e0bd2ffd67f412db8ae40d7ee382ea3fafd431e30ee357043839ca", 132456, 360, 638),
    "wned-wiki": ("013ba9c3e03d41b5d050562c11af0d3ea98dfd74d3d40fffd84ba9531b38f41b", 858790, 319, 6765),
    "wned-cweb": ("6b004b7f8b925f0d7990bb0caa1370d8a20366bd27bf44656c33a263f7adf84c", 3008963, 320, 11116),
    "shadowlinks-top": ("cfb112d0a7d3390de4fa1e8a718a44f52a6cd7b11060b601525502eeb0d099c3", 282518, 904, 904),
    "shadowlinks-shadow": ("85c8e294d6e5a9c771956e843d9bbd5954c1649525b945e849a9eb24ba67565a", 286215, 904, 904),
    "shadowlinks-tail": ("75883148f0c7e950a5e68b5a7999f653a44668c7651da5d34a2b9fc7af0dd83a", 293645, 901, 901),
}
_CONLL = {
    "aida-b": ("94c597043bcdb6e80591227f4028807a14399b3cd5cf70965da47fbfe6af3428", 580980, 231, 4485),
    "tweeki": ("d5116102439340a6b20913ad6c573341dae97914d96b0e0ca96dc84297e83578", 122670, 500, 848),
    "reddit-posts": ("e0aad8deec0a6101649c64b387e43049354fc33ade4664f751ac9425811d3688", 103398, 377, 703),
    "reddit-comments": ("c3af95917bb9e406d0d689afb5e867099a32ed9f3a17d1076917f2b833024079", 165112, 360, 637),
    "wned-wiki": ("1ba6d617729d2b2292b324925ac3bf570654bd5b4879a0dc7b0e16e3de0890af", 1478370, 345, 6765),
    "shadowlinks-top": ("c368fd970679a683b7248e1f7ff73e8f099ee119b7501fec8248ae6b2ab97f25", 358990, 904, 904),
    "shadowlinks-shadow": ("4d9e5eb8d7b9fdbf683cdf55f3561edfa32e83ac96fc8422dcfd4434cb5aad16", 361159, 904, 904),
    "shadowlinks-tail": ("d487da94b72b530861d975f49ca49ecf9d85d096f87ae363b4df0b7c736a1aa2", 395468, 901, 899),
}
_JSONL_REPAIRS = {
    "reddit-posts": (Repair("8byc78", "two mentions overlap", "both are read"),),
    "wned-wiki": (
        Repair(
            "Jiří_Třanovský",
            "19 spans are shifted, and one ends after the text",
            "the reader extends the text",
            19,
        ),
        Repair("mentions", "&amp; instead of &", "left unchanged", 12),
    ),
    "wned-cweb": (Repair("bracket", "the top bracket is 1.0, but 1 in WNED-WIKI", "left unchanged"),),
    "shadowlinks-top": (Repair("Fredonia", "the span covers the wrong text", "left unchanged"),),
    "shadowlinks-tail": (
        Repair(
            "United States v. One Tyrannosaurus Bataar Skeleton",
            "the span ends after the text",
            "the reader extends the text",
        ),
    ),
}
_CONLL_REPAIRS = {
    "tweeki": (Repair("tokens", "I- tags at the beginning of a mention", "skipped and counted", 2),),
    "wned-wiki": (Repair("documents", "26 documents without annotations and without bracket", "left unchanged", 26),),
}


def _make_split(
    name: str, layout: str, sha256: str, size: int, documents: int, labels: int, repairs: tuple[Repair, ...]
) -> Split:
    """Return the split of a test set in a layout, `jsonl` or `conll`; `size` is the number of bytes of its file."""
    is_jsonl, stem = layout == "jsonl", "cweb" if name == "wned-cweb" else name
    domain, document_type = _TEXTS[stem]
    commit = _COMMIT if is_jsonl or name.startswith("reddit") else _EARLIER_COMMIT
    path = f"{layout}/test_{stem}.{layout}"
    return Split(
        format="zelda" if is_jsonl else "zelda-conll",
        files=(File(f"zelda/{path}", sha256, size, github_url(_REPOSITORY, commit, f"test_data/{path}")),),
        counts=Counts(documents=documents, labels=labels),
        domain=domain,
        document_type=document_type,
        repairs=repairs,
    )


DATASET = Dataset(
    title="ZELDA",
    description="Eight datasets as nine test sets in one format: news, tweets, forum, Wikipedia, web, and "
    "texts that test popular, overshadowed and rare entities. The score is the unweighted mean of "
    "the accuracies.",
    tasks=("d2kb",),
    language="en",
    domain="mixed",
    document_type="mixed",
    licence="Not stated; the terms of the sources apply to each part",
    citation="Milich and Akbik 2023: ZELDA: A Comprehensive Benchmark for Supervised Entity Disambiguation. EACL.",
    kb="wikipedia",
    sources=(
        "https://github.com/flairNLP/zelda",
        "https://nlp.informatik.hu-berlin.de/resources/datasets/zelda/zelda_full.zip",
    ),
    versions={
        "milich2023": Version(
            description="The JSONL files; their counts differ from table 2 of the paper by one document or a "
            "few mentions.",
            splits={
                name: _make_split(name, "jsonl", *row, _JSONL_REPAIRS.get(name, ())) for name, row in _JSONL.items()
            },
        ),
        "milich2023-conll": Version(
            description="The CoNLL files for Flair: tokens, with slightly fewer mentions. The file of "
            "WNED-CWEB is missing in the repository.",
            splits={
                name: _make_split(name, "conll", *row, _CONLL_REPAIRS.get(name, ())) for name, row in _CONLL.items()
            },
        ),
    },
    biases=(
        Remark(
            "Training texts were chosen so that test entities occur at least ten times where possible, so "
            "results may say little about zero-shot systems.",
            "Milich and Akbik 2023, section 7",
        ),
        Remark(
            "Scores differ from those on the original datasets, because links were updated to Wikipedia of "
            "October 2022.",
            "Milich and Akbik 2023, section 3.1",
        ),
    ),
)
