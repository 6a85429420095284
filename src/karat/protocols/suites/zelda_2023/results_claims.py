"""Claims of Sections 4 and 5 and of the appendix, checked by the printed tables and by the files at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final

from karat.data.load import load
from karat.model.results.exhibit import Cell, Explanation
from karat.model.spec.external_access import TrainingSetup, format_magnitude
from karat.protocols.papers.claims import build_claim, build_lost_claim, describe_share, mark_from_paper
from karat.protocols.papers.output_files import ZELDA_SYSTEMS
from karat.protocols.suites.zelda_2023.accuracies import count_falls
from karat.protocols.suites.zelda_2023.inputs import LISTS, ZeldaFiles
from karat.protocols.suites.zelda_2023.published_tables import EARLIER_SPLITS, LATE_SPLIT, UNDERLINED_3
from karat.protocols.suites.zelda_2023.split_sizes import NO_SPACY
from karat.protocols.zelda.texts.statistics import find_tokeniser, load_tokeniser
from karat.systems.claims.zelda_2023 import COLUMNS_3, COLUMNS_4, MEAN, TABLE_3, TABLE_4

Accuracies = Mapping[str, Mapping[str, float]]
"""Printed values by row and column."""

_BASELINES: Final = ("MFS", "CL-RECALL")
_CLASSIFIERS: Final = ("FEVRY_ALL", "FEVRY_CL", "LUKE_PRE", "LUKE_FT")
_SPLITS: Final = COLUMNS_3[:-1]
_HIGH_RECALL: Final = ("WNED-WIKI", "TWEEKI", "REDDIT-POSTS", "REDDIT-COMM.")
"""The splits of Wikipedia and social media; all others are of web pages and news."""
_KORE50: Final = "elevant/benchmarks/kore50.benchmark.jsonl.gz"


def read_printed(table: Mapping[str, Sequence[str]], columns: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the values of a printed table by row and column."""
    return {row: dict(zip(columns, map(float, texts), strict=True)) for row, texts in table.items()}


def build_section_4_claims(setups: Mapping[str, TrainingSetup]) -> Iterator[Cell]:
    """Check what Section 4 states about Tables 1, 3 and 4, by the printed values; `setups` are those of Table 1."""
    printed = read_printed(TABLE_3, COLUMNS_3)
    models = [row for row in printed if row not in _BASELINES]
    yield build_claim("models compared in Table 3", "8", f"{len(printed)}")
    yield _build_underline_claim(printed, models)
    reported = sorted(_reported(setup) for setup in setups.values())
    rank = reported.index(_reported(setups["GENRE"])) + 1
    yield build_claim(
        "GENRE is one of the lowest-scoring models in Table 1",
        "yes",
        f"rank {rank} of {len(reported)} from below (reported accuracies)",
        is_equal=rank <= len(reported) / 4,
    )
    yield _build_genre_claim(printed, models)
    yield from _build_list_claims(printed)
    yield from _build_fevry_claims(printed)
    gain = printed["GENRE_CL"][MEAN] - printed["GENRE_ALL"][MEAN]
    yield build_claim("GENRE_CL scores better than GENRE_ALL", "yes", f"{gain:+.3f}", is_equal=gain > 0)
    shadow = {row: printed[row]["SLINKS-SHADOW"] for row in ("FEVRY_ALL", "GENRE_ALL", "GENRE_CL")}
    yield build_claim(
        "FEVRY_ALL outperforms GENRE on SLINKS-SHADOW",
        "yes",
        f"{shadow['FEVRY_ALL']:g} against {shadow['GENRE_ALL']:g} and {shadow['GENRE_CL']:g}",
        is_equal=shadow["FEVRY_ALL"] > max(shadow["GENRE_ALL"], shadow["GENRE_CL"]),
    )
    yield from _build_bracket_claims(read_printed(TABLE_4, COLUMNS_4))
    best_classifier = max(printed[row][MEAN] for row in _CLASSIFIERS)
    yield build_claim(
        "GENRE outperforms all classification-based approaches",
        "yes",
        f"{printed['GENRE_CL'][MEAN]:g} against {best_classifier:g}",
        is_equal=printed["GENRE_CL"][MEAN] > best_classifier,
    )


def _reported(setup: TrainingSetup) -> float:
    """Return the reported accuracy on AIDA-B; 0 if there is none, which no model of Table 1 has."""
    return setup.aida_b_accuracy or 0.0


def _build_underline_claim(printed: Accuracies, models: Sequence[str]) -> Cell:
    """Check that underlined values are those of the best classification models, unless they are the best of all."""
    expected = set()
    for column in COLUMNS_3:
        best = max(printed[row][column] for row in _CLASSIFIERS)
        if best < max(printed[row][column] for row in models):
            expected |= {(row, column) for row in _CLASSIFIERS if printed[row][column] == best}
    return build_claim(
        "underlined values are the best of the classification models",
        f"{len(UNDERLINED_3)} of {len(UNDERLINED_3)}",
        f"{len(expected & set(UNDERLINED_3))} of {len(expected)}",
    )


def _build_genre_claim(printed: Accuracies, models: Sequence[str]) -> Cell:
    """Check that both GENRE models are ahead of all others on most splits; the better of the two is."""
    others = [row for row in models if not row.startswith("GENRE")]
    wins = {
        reading: sum(
            choose(printed["GENRE_ALL"][split], printed["GENRE_CL"][split]) > max(printed[row][split] for row in others)
            for split in _SPLITS
        )
        for reading, choose in (("both", min), ("better", max))
    }
    published = "most splits"

    def describe(count: int) -> str:
        return published if count > len(_SPLITS) / 2 else f"{count} of {len(_SPLITS)} splits"

    return build_claim(
        "the two GENRE models outperform all other models on",
        published,
        describe(wins["both"]),
        explanation=Explanation(
            "definition differs",
            f"the better of the two models is ahead on {wins['better']} of {len(_SPLITS)} splits, both on "
            f"{wins['both']}",
            value_if_changed=describe(wins["better"]),
        ),
    )


def _build_list_claims(printed: Accuracies) -> Iterator[Cell]:
    """Check what the paper states about its candidate lists, by Table 3."""
    recall = printed["CL-RECALL"]
    high = fmean(recall[split] for split in _HIGH_RECALL)
    low = fmean(recall[split] for split in _SPLITS if split not in _HIGH_RECALL)
    yield build_claim(
        "CL-RECALL is high on Wikipedia and social media, low on web pages and news",
        "yes",
        f"{high:.3f} against {low:.3f} (means)",
        is_equal=high > low,
    )
    exchanged = {
        **printed,
        "MFS": {**printed["MFS"], "SLINKS-TAIL": recall["SLINKS-TAIL"]},
        "CL-RECALL": {**recall, "SLINKS-TAIL": printed["MFS"]["SLINKS-TAIL"]},
    }
    yield build_claim(
        "CL-RECALL is an upper bound of MFS on",
        "all splits",
        _describe_bound(printed, "MFS"),
        explanation=Explanation(
            "slip in the paper",
            "with the two values of SLINKS-TAIL exchanged the bound holds",
            value_if_changed=_describe_bound(exchanged, "MFS"),
        ),
    )
    for row in ("FEVRY_CL", "LUKE_FT", "GENRE_CL"):
        yield build_claim(
            f"CL-RECALL is an upper bound of {row} on",
            "all splits",
            _describe_bound(printed, row),
            explanation=Explanation(
                "data missing",
                "the printed recall on SLINKS-TAIL is too low for the accuracy, so that one of them is off",
                missing_file=f"{LISTS} and {ZELDA_SYSTEMS}/{row}/shadowlinks-tail.jsonl",
            ),
        )
    easy = printed["MFS"]["SLINKS-TOP"]
    yield build_claim(
        "in SLINKS-TOP the correct entity is the most frequent sense (Section 3.1)",
        "always",
        f"in {100 * easy:.1f} % of mentions (MFS)",
        explanation=Explanation(
            "definition differs",
            "the dataset's authors rank senses by another count than ZELDA's lists, whose counts often are numbers of "
            "sources",
            missing_file=LISTS,
        ),
    )


def _describe_bound(printed: Accuracies, row: str) -> str:
    """Return on how many splits the accuracy of a row is at most CL-RECALL, naming the exceptions."""
    above = [split for split in _SPLITS if printed[row][split] > printed["CL-RECALL"][split]]
    return "all splits" if not above else f"{len(_SPLITS) - len(above)} of {len(_SPLITS)}, not {', '.join(above)}"


def _build_fevry_claims(printed: Accuracies) -> Iterator[Cell]:
    """Check the two statements that FEVRY_ALL, the classifier without lists, scores well."""
    earlier = {row: {MEAN: fmean(values[split] for split in EARLIER_SPLITS)} for row, values in printed.items()}
    for claim, choose in {
        "the best classification model": _best_classifier,
        "the second-best approach overall (Section 4.3)": _second_approach,
    }.items():
        yield build_claim(
            claim,
            "FEVRY_ALL",
            choose(printed),
            explanation=Explanation(
                "slip in the paper",
                f"by the mean of the {len(EARLIER_SPLITS)} splits without {LATE_SPLIT} the claim holds "
                f"({earlier['FEVRY_ALL'][MEAN]:.3f} against {earlier['FEVRY_CL'][MEAN]:.3f} of FEVRY_CL and "
                f"{earlier['GENRE_ALL'][MEAN]:.3f} of GENRE_ALL); the text counts 8 splits too",
                value_if_changed=choose(earlier),
            ),
        )


def _best_classifier(accuracies: Accuracies) -> str:
    """Return the classification model with the highest mean."""
    return max(_CLASSIFIERS, key=lambda row: accuracies[row][MEAN])


def _second_approach(accuracies: Accuracies) -> str:
    """Return the best model of the second-best approach, where models of one approach share the name's beginning."""
    ranked = sorted((row for row in accuracies if row not in _BASELINES), key=lambda row: -accuracies[row][MEAN])
    first = ranked[0].partition("_")[0]
    return next(row for row in ranked if not row.startswith(first))


def _build_bracket_claims(printed: Accuracies) -> Iterator[Cell]:
    """Check what Section 4.2 and the caption state about Table 4."""
    brackets = COLUMNS_4[:-1]
    models = {row: [values[column] for column in brackets] for row, values in printed.items() if "_" in row}
    in_pairs = {row: [fmean(values[i : i + 2]) for i in range(0, len(values), 2)] for row, values in models.items()}
    yield build_claim(
        "models whose accuracy steadily decreases from the easiest to the hardest bracket",
        "all",
        _describe_falling(models),
        explanation=Explanation(
            "definition differs",
            "GENRE_CL rises once and is level once; with brackets in pairs all models decrease",
            value_if_changed=_describe_falling(in_pairs),
        ),
    )
    yield build_claim(
        "models whose accuracy is lowest on the bracket [0.4 - 0.3]",
        "all",
        describe_share(sum(min(values) == values[-1] for values in models.values()), len(models)),
    )
    recall = [printed["CG-recall"][column] for column in brackets]
    spread = max(recall) - min(recall)
    smallest = min(max(values) - min(values) for values in models.values())
    yield build_claim(
        "CG-recall is independent of the brackets",
        "yes",
        f"differs by {spread:.3f}, accuracies by {smallest:.3f} or more",
        is_equal=spread < smallest / 5,
    )


def _describe_falling(models: Mapping[str, Sequence[float]]) -> str:
    """Return `all` if the values of all models fall at every step, else how many do."""
    return describe_share(sum(count_falls(values) == len(values) - 1 for values in models.values()), len(models))


def build_section_5_claims(files: ZeldaFiles) -> Iterator[Cell]:
    """Check what Section 5 states about KORE50."""
    path = files.data.find(_KORE50)
    n_mentions = None if path is None else sum(len(document.labels) for document in load(str(path)))
    yield build_claim(
        "mentions in KORE50",
        "144",
        None if n_mentions is None else f"{n_mentions}",
        explanation=files.data.explain_missing(_KORE50),
    )
    yield build_lost_claim(
        "sentences that Orr et al. sample for them",
        "520k",
        "the paper cites the number, and the sample is not at hand",
        "the sample of Wikipedia of Orr et al. (2021)",
    )


_TRAINING_TIMES: Final = {
    "FEVRY_ALL": "around 5h on one GPU",
    "FEVRY_CL": "2.5h on one GPU",
    "LUKE": "roughly 2h on one GPU",
    "GENRE": "around 16 hours on two GPUs",
}
_TRAINING_LOGS: Final = "logs of the training of FEVRY, LUKE and GENRE"
_HIDDEN, _ENTITY_DIMENSION, _BERT_VOCABULARY, _BART_VOCABULARY, _DECODER_VOCABULARY = 768, 200, 30_522, 50_265, 51_197
_STATED_ENTITIES, _TABLE_ENTITIES = 825_000, 822_000
_STATED_BERT: Final = 110_000_000
_ATTENTION: Final = 4 * (_HIDDEN + 1) * _HIDDEN
_FEED_FORWARD: Final = (_HIDDEN + 1) * 4 * _HIDDEN + (4 * _HIDDEN + 1) * _HIDDEN
_NORM: Final = 2 * _HIDDEN


def build_appendix_claims(files: ZeldaFiles) -> Iterator[Cell]:
    """Check the numbers of parameters and the length of contexts in the appendix."""
    yield from mark_from_paper(_build_parameter_claims())
    yield _build_context_claim(files)
    for model, hours in _TRAINING_TIMES.items():
        yield build_lost_claim(
            f"time of an epoch of {model}", hours, "the logs of the training are not published", _TRAINING_LOGS
        )


def _build_parameter_claims() -> Iterator[Cell]:
    """Check the sums of parameters, with the sizes of BERT and BART base."""
    projection = _HIDDEN * _ENTITY_DIMENSION
    embeddings = _ENTITY_DIMENSION * _STATED_ENTITIES
    decoder, bart = _HIDDEN * _DECODER_VOCABULARY, _count_bart_parameters()
    yield build_claim("768 × 200 parameters of the projection", "153k", f"{projection // 1000}k")
    yield build_claim("200 × 825k parameters of entities", "165M", format_magnitude(embeddings))
    yield build_claim(
        "parameters of LUKE and FEVRY",
        "274M",
        f"{(_STATED_BERT + projection + embeddings) / 1e6:.0f}M",
        explanation=Explanation(
            "definition differs",
            "with the exact number of BERT's parameters and the 822k entities of Table 2",
            value_if_changed=f"{(_count_bert_parameters() + projection + 200 * _TABLE_ENTITIES) / 1e6:.0f}M",
        ),
    )
    yield build_claim("768 × 51197 parameters of GENRE's decoder", "39M", f"{decoder / 1e6:.0f}M")
    yield build_claim(
        "parameters of GENRE: BART base and the decoder",
        "178M",
        f"{(bart + decoder) / 1e6:.0f}M",
        explanation=Explanation(
            "definition differs",
            "both numbers are rounded to millions before they are added",
            value_if_changed=f"{round(bart / 1e6) + round(decoder / 1e6)}M",
        ),
    )


def _count_bert_parameters(layers: int = 12, positions: int = 512, segments: int = 2) -> int:
    """Return the number of parameters of BERT base: embeddings, layers and pooler."""
    embeddings = (_BERT_VOCABULARY + positions + segments) * _HIDDEN + _NORM
    return embeddings + layers * (_ATTENTION + _FEED_FORWARD + 2 * _NORM) + (_HIDDEN + 1) * _HIDDEN


def _count_bart_parameters(layers: int = 6, positions: int = 1026) -> int:
    """Return the number of parameters of BART base: shared embeddings, and `layers` in encoder and decoder each."""
    embeddings = _BART_VOCABULARY * _HIDDEN + 2 * (positions * _HIDDEN + _NORM)
    encoder = layers * (_ATTENTION + _FEED_FORWARD + 2 * _NORM)
    return embeddings + encoder + layers * (2 * _ATTENTION + _FEED_FORWARD + 3 * _NORM)


def _build_context_claim(files: ZeldaFiles) -> Cell:
    """Check how many of spaCy's tokens a thousand characters of Wikipedia have, by WNED-WIKI."""
    claim, published = "tokens in GENRE's context of 1,000 characters", "roughly 190"
    corpus = files.corpora.get("wned-wiki")
    if corpus is None:
        return build_claim(
            claim, published, None, explanation=files.data.explain_missing("zelda/jsonl/test_wned-wiki.jsonl")
        )
    if find_tokeniser() != "spacy":
        return build_claim(claim, published, None, explanation=NO_SPACY)
    count_tokens = load_tokeniser("spacy")
    characters = sum(len(document.text) for document in corpus)
    tokens = sum(count_tokens(document.text) for document in corpus)
    value = 1000 * tokens / characters
    return build_claim(claim, published, f"{value:.0f} in WNED-WIKI", is_equal=round(value, -1) == 190)
