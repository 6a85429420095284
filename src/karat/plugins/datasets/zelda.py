"""ZELDA: nine test sets for disambiguation, with Wikipedia titles of October 2022."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Repair, Split, Version, github_url

_REPOSITORY = "flairNLP/zelda"
_COMMIT, _EARLIER_COMMIT = "727063404217f879a8b031144338cbc6275b665b", "c41f3fae7abd2e8ac1a817091e8cf883dbd5dc4b"


def _make_jsonl_split(
    name: str, sha256: str, *, size: int, documents: int, labels: int, repairs: tuple[Repair, ...] = ()
) -> Split:
    """Return the split of a test set in JSONL, with its checksum, its number of bytes and the expected sizes."""
    url = github_url(_REPOSITORY, _COMMIT, f"test_data/jsonl/test_{name}.jsonl")
    return Split(
        format="zelda",
        files=(File(f"zelda/jsonl/test_{name}.jsonl", sha256, size, url),),
        counts=Counts(documents=documents, labels=labels),
        repairs=repairs,
    )


def _make_conll_split(
    name: str, sha256: str, *, size: int, documents: int, labels: int, repairs: tuple[Repair, ...] = ()
) -> Split:
    """Return the split of a test set in CoNLL format, with its checksum, its number of bytes and the expected sizes."""
    commit = _COMMIT if name.startswith("reddit") else _EARLIER_COMMIT
    url = github_url(_REPOSITORY, commit, f"test_data/conll/test_{name}.conll")
    return Split(
        format="zelda-conll",
        files=(File(f"zelda/conll/test_{name}.conll", sha256, size, url),),
        counts=Counts(documents=documents, labels=labels),
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
                "aida-b": _make_jsonl_split(
                    "aida-b",
                    "2caf934f1723af7048dced267cb615563532b858d9e2e6251c7af5c6dce63e52",
                    size=438342,
                    documents=231,
                    labels=4485,
                ),
                "tweeki": _make_jsonl_split(
                    "tweeki",
                    "36c392bb78cbf318a6ba9b04504d44efdc3a1fbb70144cb8980dd36ec6cc5afd",
                    size=110940,
                    documents=500,
                    labels=860,
                ),
                "reddit-posts": _make_jsonl_split(
                    "reddit-posts",
                    "7d56301352af1774177f542f15f318f27fbd86458955fbf45f900bdfd485c4bd",
                    size=97975,
                    documents=377,
                    labels=704,
                    repairs=(Repair("8byc78", "two mentions overlap", "both are read"),),
                ),
                "reddit-comments": _make_jsonl_split(
                    "reddit-comments",
                    "0e31a9c2c6e0bd2ffd67f412db8ae40d7ee382ea3fafd431e30ee357043839ca",
                    size=132456,
                    documents=360,
                    labels=638,
                ),
                "wned-wiki": _make_jsonl_split(
                    "wned-wiki",
                    "013ba9c3e03d41b5d050562c11af0d3ea98dfd74d3d40fffd84ba9531b38f41b",
                    size=858790,
                    documents=319,
                    labels=6765,
                    repairs=(
                        Repair(
                            "Jiří_Třanovský",
                            "19 spans are shifted, and one ends after the text",
                            "the reader extends the text",
                            19,
                        ),
                        Repair("mentions", "&amp; instead of &", "left unchanged", 12),
                    ),
                ),
                "wned-cweb": _make_jsonl_split(
                    "cweb",
                    "6b004b7f8b925f0d7990bb0caa1370d8a20366bd27bf44656c33a263f7adf84c",
                    size=3008963,
                    documents=320,
                    labels=11116,
                    repairs=(Repair("bracket", "the top bracket is 1.0, but 1 in WNED-WIKI", "left unchanged"),),
                ),
                "shadowlinks-top": _make_jsonl_split(
                    "shadowlinks-top",
                    "cfb112d0a7d3390de4fa1e8a718a44f52a6cd7b11060b601525502eeb0d099c3",
                    size=282518,
                    documents=904,
                    labels=904,
                    repairs=(Repair("Fredonia", "the span covers the wrong text", "left unchanged"),),
                ),
                "shadowlinks-shadow": _make_jsonl_split(
                    "shadowlinks-shadow",
                    "85c8e294d6e5a9c771956e843d9bbd5954c1649525b945e849a9eb24ba67565a",
                    size=286215,
                    documents=904,
                    labels=904,
                ),
                "shadowlinks-tail": _make_jsonl_split(
                    "shadowlinks-tail",
                    "75883148f0c7e950a5e68b5a7999f653a44668c7651da5d34a2b9fc7af0dd83a",
                    size=293645,
                    documents=901,
                    labels=901,
                    repairs=(
                        Repair(
                            "United States v. One Tyrannosaurus Bataar Skeleton",
                            "the span ends after the text",
                            "the reader extends the text",
                        ),
                    ),
                ),
            },
        ),
        "milich2023-conll": Version(
            description="The CoNLL files for Flair: tokens, with slightly fewer mentions. The file of "
            "WNED-CWEB is missing in the repository.",
            splits={
                "aida-b": _make_conll_split(
                    "aida-b",
                    "94c597043bcdb6e80591227f4028807a14399b3cd5cf70965da47fbfe6af3428",
                    size=580980,
                    documents=231,
                    labels=4485,
                ),
                "tweeki": _make_conll_split(
                    "tweeki",
                    "d5116102439340a6b20913ad6c573341dae97914d96b0e0ca96dc84297e83578",
                    size=122670,
                    documents=500,
                    labels=848,
                    repairs=(Repair("tokens", "I- tags at the beginning of a mention", "skipped and counted", 2),),
                ),
                "reddit-posts": _make_conll_split(
                    "reddit-posts",
                    "e0aad8deec0a6101649c64b387e43049354fc33ade4664f751ac9425811d3688",
                    size=103398,
                    documents=377,
                    labels=703,
                ),
                "reddit-comments": _make_conll_split(
                    "reddit-comments",
                    "c3af95917bb9e406d0d689afb5e867099a32ed9f3a17d1076917f2b833024079",
                    size=165112,
                    documents=360,
                    labels=637,
                ),
                "wned-wiki": _make_conll_split(
                    "wned-wiki",
                    "1ba6d617729d2b2292b324925ac3bf570654bd5b4879a0dc7b0e16e3de0890af",
                    size=1478370,
                    documents=345,
                    labels=6765,
                    repairs=(
                        Repair(
                            "documents", "26 documents without annotations and without bracket", "left unchanged", 26
                        ),
                    ),
                ),
                "shadowlinks-top": _make_conll_split(
                    "shadowlinks-top",
                    "c368fd970679a683b7248e1f7ff73e8f099ee119b7501fec8248ae6b2ab97f25",
                    size=358990,
                    documents=904,
                    labels=904,
                ),
                "shadowlinks-shadow": _make_conll_split(
                    "shadowlinks-shadow",
                    "4d9e5eb8d7b9fdbf683cdf55f3561edfa32e83ac96fc8422dcfd4434cb5aad16",
                    size=361159,
                    documents=904,
                    labels=904,
                ),
                "shadowlinks-tail": _make_conll_split(
                    "shadowlinks-tail",
                    "d487da94b72b530861d975f49ca49ecf9d85d096f87ae363b4df0b7c736a1aa2",
                    size=395468,
                    documents=901,
                    labels=899,
                ),
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
