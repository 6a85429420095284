"""Figure 3, Table 2 and section 4: the categories, and what the relabelled datasets contain."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from karat.data.load import load
from karat.model.corpus import Corpus
from karat.model.document import Label
from karat.model.finegrained_scheme import COARSE_TYPES, DIMENSIONS, LEAVES, PARENTS, Dimension, get_title
from karat.model.results.exhibit import Cell, Exhibit, Explanation
from karat.model.results.plot import Plot, PlotPoint, PlotSeries
from karat.protocols.papers.claims import build_lost_claim, describe_share
from karat.protocols.suites.finegrained_2019.paper_data import GOLD_FILES, PaperData
from karat.protocols.suites.finegrained_2019.published_tables import DIMENSION_SIZES, TABLE_2
from karat.systems.claims.finegrained_2019 import parse_header, parse_rows

_ORIGINAL_ACE2004: Final = "bat/ACE2004_Coref_Turking"
_ORIGINAL_KORE50: Final = "elevant/benchmarks/kore50.benchmark.jsonl.gz"
_STATS: Final = f"karat data stats {' '.join(f'DIR/{file}' for file in GOLD_FILES.values())} --json -"


def build_scheme(paper: PaperData) -> Exhibit:
    """Return Figure 3: the dimensions, with the number of leaves that occur in the datasets."""
    missing = paper.explain_missing()
    labels = [] if missing else _list_labels(paper.unified)
    used = {category for label in labels for category in label.categories}
    return Exhibit(
        name="Figure 3",
        title="Categorisation scheme",
        command=_STATS,
        cells=tuple(
            Cell(
                get_title(name),
                "leaves",
                published,
                None if missing else str(len(used.intersection(DIMENSIONS[name].leaves))),
                missing,
            )
            for name, published in DIMENSION_SIZES.items()
        ),
        plots=tuple(map(_draw_dimension, DIMENSIONS.values())),
        notes=("Published numbers of leaves are the factors 7 × 5 × 4 × 6 in section 5; ours are leaves that occur.",),
    )


def _draw_dimension(dimension: Dimension) -> Plot:
    """Return a dimension as a graph: below it inner categories and leaves, and below these their leaves."""
    children = list(dict.fromkeys(PARENTS.get(leaf, leaf) for leaf in dimension.leaves))
    inner_leaves = [leaf for leaf in dimension.leaves if leaf in PARENTS]
    nodes = [
        PlotPoint(dimension.title, 0),
        *(PlotPoint(get_title(child), 1) for child in children),
        *(PlotPoint(get_title(leaf), 2) for leaf in inner_leaves),
    ]
    edges = [
        *((dimension.title, get_title(child)) for child in children),
        *((get_title(PARENTS[leaf]), get_title(leaf)) for leaf in inner_leaves),
    ]
    return Plot("graph", dimension.title, (PlotSeries("categories", tuple(nodes)),), edges=tuple(edges))


def build_counts(paper: PaperData) -> Exhibit:
    """Return Table 2: documents, sentences and annotations of each dataset, by category and type."""
    counts = {name: _count_labels(corpus) for name, corpus in paper.corpora.items()}
    cells = []
    for row, published_row in parse_rows(TABLE_2):
        for name, published in zip(parse_header(TABLE_2), published_row, strict=True):
            if name not in counts:
                cells.append(Cell(row, name, published, None, paper.data.explain_missing(GOLD_FILES[name])))
                continue
            value = _format_count(counts[name][row])
            explanation = None if value == published else _explain_count(paper.corpora[name], row)
            cells.append(Cell(row, name, published, value, explanation))
    return Exhibit(name="Table 2", title="Content of relabelled datasets", command=_STATS, cells=tuple(cells))


def _count_labels(corpus: Corpus) -> dict[str, int]:
    """Count documents, sentences and annotations of a corpus, and annotations by category and type, by row title.

    Documents must have the ends of their sentences in `meta["sentences"]`.
    """
    labels = _list_labels(corpus)
    categories = Counter(category for label in labels for category in label.categories)
    types = Counter(kind for label in labels for kind in label.types)
    return {
        "Documents": len(corpus),
        "Sentences": sum(len(document.meta["sentences"].split()) for document in corpus),
        "Annotations": len(labels),
        **{get_title(leaf, counted=True): categories[leaf] for leaf in LEAVES},
        **{kind: types[kind] for kind in COARSE_TYPES},
    }


def _explain_count(corpus: Corpus, row: str) -> Explanation | None:
    """Return why the number of labels of a type differs, with the number under the paper's count; None if unknown."""
    labels = _list_labels(corpus)
    if row == "Organisation":
        linked = sum(row in label.types for label in labels if label.entity is not None)
        n_nil = sum(row in label.types for label in labels if label.entity is None)
        reason = f"the paper does not count the {n_nil} NIL organisations, though it counts NIL persons and places"
        return Explanation("slip in the paper", reason, value_if_changed=_format_count(linked))
    if row == "Miscellany":
        untyped = [label for label in labels if not label.types]
        entities = ", ".join(sorted({_local_name(label) for label in untyped}))
        count = sum(row in label.types for label in labels) + len(untyped)
        reason = f"the file has no type for {entities}, which the paper counts as {row}"
        return Explanation("data missing", reason, value_if_changed=_format_count(count))
    return None


def _local_name(label: Label) -> str:
    """Return the part of the entity of a label after its last slash."""
    return (label.entity or "NIL").rpartition("/")[2]


def _format_count(count: int) -> str:
    """Return a count as Table 2 prints it."""
    return f"{count:,}" if count else "–"


def build_claims(paper: PaperData) -> Exhibit:
    """Return the claims of section 4 about the datasets."""
    return Exhibit(
        name="Section 4",
        title="Claims about the datasets",
        command=f"{_STATS}\nkarat data stats DIR/{_ORIGINAL_ACE2004} DIR/{_ORIGINAL_KORE50}",
        cells=(*_check_ace2004(paper), *_check_texts(paper), *_check_labels(paper), *_check_content(paper)),
        notes=(
            "Whether the authors skipped the annotation of ACE2004 whose link is no page is not known.",
            "By Table 2 too, the annotations of ACE2004 have three base forms more than annotations.",
        ),
    )


def _check_ace2004(paper: PaperData) -> Iterator[Cell]:
    """Yield the claims about ACE2004 before and after it was relabelled."""
    rows = {
        "annotations of ACE2004 after relabelling": "3,351",
        "documents of ACE2004 that are relabelled": "20 of 57",
        "annotations of these documents in the original data": "108",
    }
    corpus, path = paper.corpora.get("ACE2004"), paper.data.find(_ORIGINAL_ACE2004)
    missing = paper.data.explain_missing(GOLD_FILES["ACE2004"] if corpus is None else _ORIGINAL_ACE2004)
    values = [None if corpus is None else f"{len(corpus.labels):,}", None, None]
    if corpus is not None and path is not None:
        original = load(path)
        names = {re.sub(r"#.*", "", document.id).rpartition("/")[2] for document in corpus}
        relabelled = [document for document in original if document.id in names]
        values[1:] = [
            f"{len(relabelled)} of {len(original)}",
            str(sum(len(document.labels) for document in relabelled)),
        ]
        links = [label.entity or "" for document in relabelled for label in document.labels]
        n_valid = sum(link.count("http") <= 1 for link in links)
        missing = Explanation(
            "definition differs",
            "one annotation (Mohamed al-Dura) links to an address within an address, which is no page; it is not "
            "counted",
            value_if_changed=str(n_valid),
        )
    for (row, published), value in zip(rows.items(), values, strict=True):
        yield Cell(row, "claim", published, value, None if value == published else missing)


def _check_texts(paper: PaperData) -> Iterator[Cell]:
    """Yield whether the texts of KORE50 and VoxEL are those of the original datasets."""
    corpus, path = paper.corpora.get("KORE50"), paper.data.find(_ORIGINAL_KORE50)
    if corpus is None or path is None:
        file = GOLD_FILES["KORE50"] if corpus is None else _ORIGINAL_KORE50
        yield Cell("unchanged sentences of KORE50", "claim", "all", None, paper.data.explain_missing(file))
    else:
        relabelled_text = _normalise(" ".join(document.text for document in corpus))
        sentences = [_normalise(document.text) for document in load(path)]
        changed = [sentence for sentence in sentences if sentence not in relabelled_text]
        n_corrected = sum(_is_misspelt(sentence, relabelled_text) for sentence in changed)
        yield Cell(
            "unchanged sentences of KORE50",
            "claim",
            "all",
            describe_share(len(sentences) - len(changed), len(sentences)),
            Explanation(
                "slip in the paper",
                "a misspelling is corrected (aquired, acquired); but for one added letter the sentences are the same",
                value_if_changed=describe_share(len(sentences) - len(changed) + n_corrected, len(sentences)),
            ),
        )
    missing = Explanation("data missing", "the original dataset is not at hand", missing_file="VoxEL (ISWC 2018)")
    yield Cell("unchanged sentences of VoxEL", "claim", "all", None, missing)


def _normalise(text: str) -> str:
    """Return the letters and digits of `text` in lower case: editions differ in spaces and quotes."""
    return re.sub(r"\W", "", text.lower())


def _is_misspelt(sentence: str, text: str) -> bool:
    """Return whether `text` contains `sentence` with one more letter; both are normalised."""
    matcher = SequenceMatcher(None, sentence, text, autojunk=False)
    block = matcher.find_longest_match()
    start = block.b - block.a
    windows = (text[max(0, start - 1) : start + len(sentence)], text[start : start + len(sentence) + 1])
    return any(_adds_letter(sentence, window) for window in windows)


def _adds_letter(sentence: str, window: str) -> bool:
    """Return whether `window` is `sentence` with one more letter."""
    return any(window[:i] + window[i + 1 :] == sentence for i in range(len(window)))


def _check_labels(paper: PaperData) -> Iterator[Cell]:
    """Yield the claims about the annotations of all datasets: frequent categories, and validation."""
    frequent = "Common Form, Singular Noun, Non-Overlapping, Direct"
    claims = {
        "most frequent category of each dimension": frequent,
        "annotations with precisely one leaf of each dimension": "all",
        "mentions with trailing spaces": "none",
    }
    missing = paper.explain_missing()
    if missing is not None:
        yield from (Cell(row, "claim", published, None, missing) for row, published in claims.items())
        return
    surfaces = [
        (document.text[label.start : label.end], label) for document in paper.unified for label in document.labels
    ]
    counts = Counter(category for _, label in surfaces for category in label.categories)
    leaves = [max(dimension.leaves, key=lambda leaf: counts[leaf]) for dimension in DIMENSIONS.values()]
    invalid = [surface for surface, label in surfaces if not _has_one_leaf_each(label)]
    untrimmed = sum(surface != surface.strip() for surface, _ in surfaces)
    values = (
        ", ".join(map(get_title, leaves)),
        describe_share(len(surfaces) - len(invalid), len(surfaces)),
        str(untrimmed or "none"),
    )
    two_forms = Explanation(
        "slip in the paper",
        f"the links of a mention ({', '.join(sorted(set(invalid)))}) have two base forms each, and Table 2 counts both",
    )
    for (row, published), value in zip(claims.items(), values, strict=True):
        yield Cell(row, "claim", published, value, None if value == published else two_forms if invalid else None)


def _check_content(paper: PaperData) -> Iterator[Cell]:
    """Yield what the authors say that they added and corrected: NIL, types, alternatives, and misspelt names."""
    missing = paper.explain_missing()
    labels = [] if missing else _list_labels(paper.unified)
    counts = {
        "annotations of entities that Wikipedia does not have": sum(label.entity is None for label in labels),
        "annotations with the type of their entity": sum(bool(label.types) for label in labels),
        "mentions with several alternative links": 0 if missing else _count_alternatives(paper.unified),
    }
    for row, count in counts.items():
        value = None if missing else f"{count:,}"
        yield Cell(row, "claim", "some", value, missing, None if missing else count > 0)
    for surface, entity in (("Stewart Talbot", "Strobe_Talbott"), ("Coral Islands", "Kuril_Islands")):
        row = f"entity of the misspelt name {surface} in ACE2004"
        if "ACE2004" not in paper.corpora:
            yield Cell(row, "claim", entity, None, paper.data.explain_missing(GOLD_FILES["ACE2004"]))
            continue
        documents = paper.corpora["ACE2004"]
        pairs = [(document.text[label.start : label.end], label) for document in documents for label in document.labels]
        entities = {_local_name(label) for text, label in pairs if text == surface}
        yield Cell(row, "claim", entity, ", ".join(sorted(entities)) or "none")
    n_ambiguous = sum("(disambiguation)" in (label.entity or "") for label in labels)
    row = "links to pages that are titled as disambiguation pages"
    yield Cell(row, "claim", "none", None if missing else f"{n_ambiguous or 'none'}", missing)
    yield build_lost_claim(
        "links to redirects, other disambiguation pages and pages that do not exist",
        "none",
        "the pages of Wikipedia at the time are not at hand",
        "a dump of Wikipedia of 2019",
    )


def _count_alternatives(corpus: Corpus) -> int:
    """Return the number of mentions with more than one link."""
    counts = (Counter(label.mention_id for label in document.labels) for document in corpus)
    return sum(count > 1 for document_counts in counts for count in document_counts.values())


def _has_one_leaf_each(label: Label) -> bool:
    """Return whether a label has exactly one leaf of each dimension."""
    return Counter(category.partition(":")[0] for category in label.categories) == Counter(list(DIMENSIONS))


def _list_labels(corpus: Corpus) -> list[Label]:
    """Return all labels of a corpus."""
    return [label for document in corpus for label in document.labels]
