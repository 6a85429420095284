"""What ELEVANT calls Karat's error categories: where its file of results keeps each, and its labels of cases."""

from __future__ import annotations

from typing import NamedTuple


class Name(NamedTuple):
    """A category's section and key in the results, and the labels of cases that are such errors or avoid them.

    A label is empty where ELEVANT has none.
    """

    section: str
    key: str
    error: str
    avoided: str = ""


NAMES = {
    "ner-fn": Name("ner_fn", "all", "NER_FN", "AVOIDED_NER_FN"),
    "ner-fn-lowercased": Name("ner_fn", "lowercased", "NER_FN_LOWERCASED", "AVOIDED_NER_FN_LOWERCASED"),
    "ner-fn-partially-included": Name(
        "ner_fn", "partially_included", "NER_FN_PARTIALLY_INCLUDED", "AVOIDED_NER_FN_PARTIALLY_INCLUDED"
    ),
    "ner-fn-partial-overlap": Name(
        "ner_fn", "partial_overlap", "NER_FN_PARTIAL_OVERLAP", "AVOIDED_NER_FN_PARTIAL_OVERLAP"
    ),
    "ner-fn-other": Name("ner_fn", "other", "NER_FN_OTHER", "AVOIDED_NER_FN_OTHER"),
    "ner-fp": Name("ner_fp", "all", "NER_FP"),
    "ner-fp-lowercased": Name("ner_fp", "lowercased", "NER_FP_LOWERCASED"),
    "ner-fp-groundtruth-unknown": Name(
        "ner_fp", "groundtruth_unknown", "NER_FP_GROUNDTRUTH_UNKNOWN", "AVOIDED_NER_FP_GROUNDTRUTH_UNKNOWN"
    ),
    "ner-fp-other": Name("ner_fp", "other", "NER_FP_OTHER"),
    "ner-fp-wrong-span": Name("ner_fp", "wrong_span", "NER_FP_WRONG_SPAN", "AVOIDED_NER_FP_WRONG_SPAN"),
    "disambiguation": Name("wrong_disambiguation", "all", "DISAMBIGUATION_WRONG", "DISAMBIGUATION_CORRECT"),
    "disambiguation-demonym": Name(
        "wrong_disambiguation", "demonym", "DISAMBIGUATION_DEMONYM_WRONG", "DISAMBIGUATION_DEMONYM_CORRECT"
    ),
    "disambiguation-metonymy": Name(
        "wrong_disambiguation", "metonymy", "DISAMBIGUATION_METONYMY_WRONG", "DISAMBIGUATION_METONYMY_CORRECT"
    ),
    "disambiguation-partial-name": Name(
        "wrong_disambiguation",
        "partial_name",
        "DISAMBIGUATION_PARTIAL_NAME_WRONG",
        "DISAMBIGUATION_PARTIAL_NAME_CORRECT",
    ),
    "disambiguation-rare": Name(
        "wrong_disambiguation", "rare", "DISAMBIGUATION_RARE_WRONG", "DISAMBIGUATION_RARE_CORRECT"
    ),
    "disambiguation-other": Name(
        "wrong_disambiguation", "other", "DISAMBIGUATION_OTHER_WRONG", "DISAMBIGUATION_OTHER_CORRECT"
    ),
    "disambiguation-wrong-candidates": Name(
        "wrong_disambiguation",
        "wrong_candidates",
        "DISAMBIGUATION_CANDIDATES_WRONG",
        "DISAMBIGUATION_CANDIDATES_CORRECT",
    ),
    "disambiguation-multiple-candidates": Name(
        "wrong_disambiguation",
        "multiple_candidates",
        "DISAMBIGUATION_MULTI_CANDIDATES_WRONG",
        "DISAMBIGUATION_MULTI_CANDIDATES_CORRECT",
    ),
    "hyperlink": Name("other_errors", "hyperlink", "HYPERLINK_WRONG", "HYPERLINK_CORRECT"),
    "coreference-undetected": Name("wrong_coreference", "undetected", "COREFERENCE_UNDETECTED"),
    "coreference-wrong-mention": Name(
        "wrong_coreference", "wrong_mention_referenced", "COREFERENCE_WRONG_MENTION_REFERENCED"
    ),
    "coreference-wrong-reference": Name(
        "wrong_coreference", "reference_wrongly_disambiguated", "COREFERENCE_REFERENCE_WRONGLY_DISAMBIGUATED"
    ),
    "coreference-false-detection": Name("wrong_coreference", "false_detection", "COREFERENCE_FALSE_DETECTION"),
}
"""By category, in the order of ELEVANT's file."""
