"""Table 2 and the claims about test sets and training text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from karat.data.catalogue import add_registry_metadata
from karat.model.registry import get_plugin
from karat.model.results.exhibit import Cell, Exhibit, Explanation
from karat.model.spec.dataset import Dataset
from karat.protocols.papers.claims import build_claim, build_lost_claim, describe_share
from karat.protocols.suites.zelda_2023.inputs import TRAIN, ZeldaFiles
from karat.protocols.suites.zelda_2023.published_tables import COLUMNS_2, EARLIER_SPLITS, LATE_SPLIT, TABLE_2
from karat.protocols.zelda.split_predictions import collect_gold_mentions
from karat.protocols.zelda.texts.sections import read_sections
from karat.protocols.zelda.texts.statistics import (
    TextStatistics,
    TokenCounter,
    find_tokeniser,
    load_tokeniser,
    text_statistics,
)
from karat.systems.claims.zelda_2023 import SPLITS

_EARLIER: Final = "(flairNLP/zelda, commit fbdca5a)"
NO_SPACY: Final = Explanation(
    "data missing", "lengths are numbers of spaCy's tokens", missing_file="the Python package spacy"
)
"""Why lengths cannot be computed without spaCy."""
_EARLIER_WIKI: Final = Explanation(
    "data missing",
    "an earlier file, of 856,037 characters where today's has 858,790, may have the published counts",
    missing_file=f"test_data/jsonl/wikipedia_final.jsonl {_EARLIER}",
)
_EARLIER_TAIL: Final = Explanation(
    "data missing",
    "an earlier file has one more document, Tail: Swati Kerkar, which today's JSONL and CoNLL lack",
    missing_file=f"test_data/jsonl/Tail_final.jsonl {_EARLIER}",
)
_REDDIT: Final = "reddit/gold_post_annotations.tsv (doi.org/10.5281/zenodo.3970806)"
_EARLIER_POSTS: Final = Explanation(
    "data missing",
    "neither the JSONL nor the CoNLL, which has 703, has a 705th mention; the annotations that were converted may",
    missing_file=_REDDIT,
)
_MISSING_VERSIONS: Final[Mapping[tuple[str, str], Explanation]] = {
    ("WNED-WIKI", "# Docs"): _EARLIER_WIKI,
    ("WNED-WIKI", "# Entities"): _EARLIER_WIKI,
    ("WNED-WIKI", "# Mentions"): _EARLIER_WIKI,
    ("SLINKS-TAIL", "# Docs"): _EARLIER_TAIL,
    ("SLINKS-TAIL", "# Entities"): _EARLIER_TAIL,
    ("SLINKS-TAIL", "# Mentions"): _EARLIER_TAIL,
    ("REDDIT-POSTS", "# Mentions"): _EARLIER_POSTS,
}
"""Counts of Table 2 that need a version of the files that is not at hand, by split and column."""

_AIDA_TRAIN: Final = "aida/eng.train"


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of Table 2 as computed; None for what cannot be computed."""

    domain: str | None
    document_type: str | None
    counts: TextStatistics
    has_spacy_tokens: bool

    def format_values(self, format_count: Callable[[int], str]) -> dict[str, str | None]:
        """Return the values by column of Table 2; `format_count` formats numbers of documents, entities, mentions."""
        length = f"{self.counts.mean_length:,.0f} tokens" if self.has_spacy_tokens else None
        return {
            "Domain": self.domain,
            "Doc. Type": self.document_type,
            "# Docs": format_count(self.counts.documents),
            "∅ length": length,
            "# Entities": format_count(self.counts.entities),
            "# Mentions": format_count(self.counts.mentions),
        }


def build_table_2(files: ZeldaFiles) -> Exhibit:
    """Compare Table 2 with the counts of the files."""
    tokeniser = find_tokeniser()
    count_tokens = load_tokeniser(tokeniser)
    cells: list[Cell] = []
    for row, texts in TABLE_2.items():
        published = dict(zip(COLUMNS_2, texts, strict=True))
        computed = _compute_row(files, row, count_tokens, has_spacy_tokens=tokeniser == "spacy")
        if computed is None:
            name = _name_file(row)
            missing = files.data.explain_missing(name)
            cells += [Cell(row, column, text, None, missing) for column, text in published.items()]
            continue
        values = computed.format_values(_format_rounded if row == "ZELDA-TRAIN" else "{:,}".format)
        cells += [_build_cell(files, row, column, text, values[column]) for column, text in published.items()]
    return Exhibit(
        name="Table 2",
        title="Sizes of the evaluation splits and of the training split",
        command="karat zelda stats DIR/zelda/jsonl --tokens spacy\n"
        "karat zelda stats DIR/zelda/jsonl/test_aida-b.jsonl.gz --tokens spaces",
        cells=tuple(cells),
        notes=(
            "Counts are those of the JSONL files, which the authors have changed since. Domain and type are those "
            "of Karat's registry of datasets for files with this content.",
        ),
    )


def _name_file(row: str) -> str:
    """Return the name of the JSONL file of a split, or of the training text, in the folder of data."""
    if row == "ZELDA-TRAIN":
        return TRAIN
    name = SPLITS[row].replace("wned-cweb", "cweb")
    return f"zelda/jsonl/test_{name}.jsonl"


def _compute_row(files: ZeldaFiles, row: str, count_tokens: TokenCounter, *, has_spacy_tokens: bool) -> _Row | None:
    """Compute a row of Table 2; None if its file is missing."""
    if row == "ZELDA-TRAIN":
        path = files.data.find(TRAIN)
        dataset = get_plugin("datasets", "zelda-train", Dataset)
        if path is None:
            return None
        return _Row(dataset.domain, dataset.document_type, _count_training_text(str(path)), has_spacy_tokens)
    split = SPLITS[row]
    if split not in files.corpora:
        return None
    metadata = add_registry_metadata(files.corpora[split], Path(files.jsonl[split])).metadata
    counts = text_statistics(files.corpora[split], count_tokens)
    return _Row(metadata.get("domain"), metadata.get("document type"), counts, has_spacy_tokens)


@cache
def _count_training_text(path: str) -> TextStatistics:
    """Count the sections, tokens, entities and links of training text at `path`, as a stream."""
    count_tokens = load_tokeniser(find_tokeniser())
    documents = tokens = mentions = 0
    entities: set[str] = set()
    for section in read_sections(path):
        documents += 1
        tokens += count_tokens(section.text)
        titles = [link.title for link in section.links if link.title is not None]
        mentions += len(titles)
        entities.update(titles)
    return TextStatistics(documents, tokens, len(entities), mentions)


def _format_rounded(number: int) -> str:
    """Return a number as Table 2 prints those of the training split: `95k` or `2.6M`."""
    return f"{number / 1_000_000:.1f}M" if number >= 1_000_000 else f"{number / 1_000:.0f}k"


def _build_cell(files: ZeldaFiles, row: str, column: str, published: str, value: str | None) -> Cell:
    """Compare a cell of Table 2 with the computed value; case does not matter."""
    if value is None:
        unregistered = Explanation(
            "data missing",
            "the file differs from the registered one, so its domain is unknown",
            missing_file=_name_file(row),
        )
        return Cell(row, column, published, None, NO_SPACY if column == "∅ length" else unregistered)
    is_equal = value.casefold() == published.casefold()
    explanation = None if is_equal else _explain_difference(files, row, column)
    return Cell(row, column, published, value, explanation, is_equal)


def _explain_difference(files: ZeldaFiles, row: str, column: str) -> Explanation | None:
    """Return the reason why a value of Table 2 differs: another input that is computed here, or a missing version."""
    split = SPLITS.get(row)
    if split == "aida-b" and column == "∅ length":
        counts = text_statistics(files.corpora[split], load_tokeniser("spaces"))
        return Explanation(
            "definition differs",
            "the text is tokens joined by spaces, and these are counted",
            value_if_changed=f"{counts.mean_length:,.0f} tokens",
        )
    if split == "aida-b" and column == "# Entities":
        return _explain_both_titles(files, split)
    return _MISSING_VERSIONS.get((row, column))


def _explain_both_titles(files: ZeldaFiles, split: str) -> Explanation:
    """Return the explanation that entities are counted by their titles in both the JSONL and the CoNLL file."""
    if split not in files.conll:
        return files.data.explain_missing(f"zelda/conll/test_{split}.conll")
    corpora = (files.corpora[split], files.conll_corpora[split])
    by_file = [
        {mention.entity.replace("_", " ") for mention in collect_gold_mentions(corpus) if mention is not None}
        for corpus in corpora
    ]
    changed = ", ".join(sorted(by_file[0] ^ by_file[1]))
    return Explanation(
        "data missing",
        f"the JSONL and the CoNLL file have another title for the same mentions ({changed}); both are counted",
        value_if_changed=f"{len(by_file[0] | by_file[1]):,}",
    )


def build_introduction_claims() -> Iterator[Cell]:
    """Check the numbers of datasets and domains in the abstract and in Section 1, by the registry of datasets."""
    splits = get_plugin("datasets", "zelda", Dataset).versions["milich2023"].splits
    yield build_claim(
        "existing datasets as evaluation splits",
        "8",
        f"{len(splits)}",
        explanation=Explanation(
            "slip in the paper",
            f"there are eight splits without {LATE_SPLIT}, and by these the text's ranking of FEVRY_ALL holds too "
            "(Section 4)",
            value_if_changed=f"{len(EARLIER_SPLITS)}",
        ),
    )
    domains = {split.domain for split in splits.values()}
    yield build_claim(
        "different domains of the evaluation splits",
        "8",
        f"{len(domains)}",
        explanation=Explanation(
            "definition differs",
            f"each of the eight splits without {LATE_SPLIT} is taken for a domain; by Table 2 several splits share one",
            value_if_changed=f"{len(EARLIER_SPLITS)}",
        ),
    )


def build_aida_claims(files: ZeldaFiles) -> Iterator[Cell]:
    """Check the size of the training split of AIDA that Section 2.4 states."""
    path = files.data.find(_AIDA_TRAIN)
    sentences = None if path is None else _count_sentences(path)
    yield build_claim(
        "sentences in the training split of AIDA",
        "20k",
        None if sentences is None else f"{sentences // 1000}k",
        explanation=files.data.explain_missing(_AIDA_TRAIN),
    )
    splits = get_plugin("datasets", "aida", Dataset).versions["bat2013"].splits
    n_linked = splits["train"].expected_counts.labels
    n_all = sum(split.expected_counts.labels or 0 for split in splits.values())
    stated_entities = 30_000
    yield build_claim(
        "entities in the training split of AIDA",
        f"{stated_entities // 1000}k",
        f"at most {n_linked:,}",
        is_equal=n_linked is not None and n_linked >= stated_entities,
        explanation=Explanation(
            "slip in the paper",
            f"the split has fewer linked mentions than that; all splits of AIDA together have {n_all:,} linked "
            "mentions, which is 30k if rounded to ten thousands",
            value_if_changed=f"{round(n_all, -4) // 1000}k",
        ),
    )


def _count_sentences(path: Path) -> int:
    """Return the number of sentences in a file of CoNLL-2003: blocks of lines that begin no document."""
    blocks = path.read_text(encoding="utf-8").split("\n\n")
    return sum(bool(block.strip()) and not block.strip().startswith("-DOCSTART-") for block in blocks)


def build_section_3_claims(files: ZeldaFiles) -> Iterator[Cell]:
    """Check what Section 3 states about test sets and training text."""
    for split, noun, published in (("aida-b", "news articles in AIDA-B", "231"), ("tweeki", "tweets in TWEEKI", "500")):
        corpus = files.corpora.get(split)
        missing = files.data.explain_missing(f"zelda/jsonl/test_{split}.jsonl")
        yield build_claim(noun, published, None if corpus is None else f"{len(corpus)}", explanation=missing)
    for split in ("wned-wiki", "wned-cweb"):
        yield _build_difficulty_claim(files, split)
    yield _build_format_claim(files)
    yield build_lost_claim(
        "annotations of REDDIT-POSTS and REDDIT-COMMENTS on which all three annotators agree",
        "all",
        "the files have no single annotators",
        _REDDIT,
    )
    yield build_lost_claim(
        "entities of the test sets that ZELDA-TRAIN has at least 10 times, if its source does",
        "all",
        f"the folder of data has no {TRAIN}",
        TRAIN,
    )
    train = files.data.find(TRAIN)
    counts = None if train is None else _count_training_text(str(train))
    published_entities = "825k"  # Table 2 says 822k
    yield build_claim(
        "distinct entities in ZELDA-TRAIN",
        published_entities,
        None if counts is None else _format_rounded(counts.entities),
        explanation=files.data.explain_missing(TRAIN),
    )


def _build_format_claim(files: ZeldaFiles) -> Cell:
    """Check that every test set is there as CoNLL and as JSONL."""
    claim, published = "splits in two formats, CoNLL and JSONL", "all"
    if not files.jsonl or not files.conll:
        folder = "zelda/conll" if files.jsonl else "zelda/jsonl"
        return build_claim(claim, published, None, explanation=files.data.explain_missing(folder))
    n_both = len(set(files.jsonl) & set(files.conll))
    missing = [split for split in files.jsonl if split not in files.conll]
    return build_claim(
        claim,
        published,
        describe_share(n_both, len(set(SPLITS.values()))),
        explanation=files.data.explain_missing(f"zelda/conll/test_{missing[0]}.conll") if missing else None,
    )


def _build_difficulty_claim(files: ZeldaFiles, split: str) -> Cell:
    """Check that every document of a WNED split has a difficulty on a scale from 0 to 1."""
    corpus = files.corpora.get(split)
    claim = f"documents of {split.upper()} with a difficulty from 0 to 1"
    if corpus is None:
        name = split.replace("wned-cweb", "cweb")
        return build_claim(claim, "all", None, explanation=files.data.explain_missing(f"zelda/jsonl/test_{name}.jsonl"))
    n_valid = sum(_is_difficulty(str(document.meta.get("bracket", ""))) for document in corpus)
    return build_claim(claim, "all", describe_share(n_valid, len(corpus)))


def _is_difficulty(bracket: str) -> bool:
    """Return whether a bracket is a number, or an ascending pair of numbers, from 0 to 1."""
    try:
        ends = [float(end) for end in bracket.split("-")]
    except ValueError:
        return False
    return all(0 <= end <= 1 for end in ends) and all(low < high for low, high in pairwise(ends))
