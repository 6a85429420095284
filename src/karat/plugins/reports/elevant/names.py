"""ELEVANT's names of Karat's error categories, in its result and case files."""

from __future__ import annotations

from typing import NamedTuple


class ElevantName(NamedTuple):
    """ELEVANT's names of an error category."""

    section: str
    """Section of the result file."""
    key: str
    """Key in the section."""
    error: str
    """Label of cases that are such errors."""
    avoided: str = ""
    """Label of cases that avoid such errors, or empty if there is none."""


NAMES = {
    "ner-fn": ElevantName("ner_fn", "all", "NER_FN", "AVOIDED_NER_FN"),
    "ner-fn-lowercased": ElevantName("ner_fn", "lowercased", "NER_FN_LOWERCASED", "AVOIDED_NER_FN_LOWERCASED"),
    "ner-fn-partially-included": ElevantName(
        "ner_fn", "partially_included", "NER_FN_PARTIALLY_INCLUDED", "AVOIDED_NER_FN_PARTIALLY_INCLUDED"
    ),
    "ner-fn-partial-overlap": ElevantName(
        "ner_fn", "partial_overlap", "NER_FN_PARTIAL_OVERLAP", "AVOIDED_NER_FN_PARTIAL_OVERLAP"
    ),
    "ner-fn-other": ElevantName("ner_fn", "other", "NER_FN_OTHER", "AVOIDED_NER_FN_OTHER"),
    "ner-fp": ElevantName("ner_fp", "all", "NER_FP"),
    "ner-fp-lowercased": ElevantName("ner_fp", "lowercased", "NER_FP_LOWERCASED"),
    "ner-fp-groundtruth-unknown": ElevantName(
        "ner_fp", "groundtruth_unknown", "NER_FP_GROUNDTRUTH_UNKNOWN", "AVOIDED_NER_FP_GROUNDTRUTH_UNKNOWN"
    ),
    "ner-fp-other": ElevantName("ner_fp", "other", "NER_FP_OTHER"),
    "ner-fp-wrong-span": ElevantName("ner_fp", "wrong_span", "NER_FP_WRONG_SPAN", "AVOIDED_NER_FP_WRONG_SPAN"),
    "disambiguation": ElevantName("wrong_disambiguation", "all", "DISAMBIGUATION_WRONG", "DISAMBIGUATION_CORRECT"),
    "disambiguation-demonym": ElevantName(
        "wrong_disambiguation", "demonym", "DISAMBIGUATION_DEMONYM_WRONG", "DISAMBIGUATION_DEMONYM_CORRECT"
    ),
    "disambiguation-metonymy": ElevantName(
        "wrong_disambiguation", "metonymy", "DISAMBIGUATION_METONYMY_WRONG", "DISAMBIGUATION_METONYMY_CORRECT"
    ),
    "disambiguation-partial-name": ElevantName(
        "wrong_disambiguation",
        "partial_name",
        "DISAMBIGUATION_PARTIAL_NAME_WRONG",
        "DISAMBIGUATION_PARTIAL_NAME_CORRECT",
    ),
    "disambiguation-rare": ElevantName(
        "wrong_disambiguation", "rare", "DISAMBIGUATION_RARE_WRONG", "DISAMBIGUATION_RARE_CORRECT"
    ),
    "disambiguation-other": ElevantName(
        "wrong_disambiguation", "other", "DISAMBIGUATION_OTHER_WRONG", "DISAMBIGUATION_OTHER_CORRECT"
    ),
    "disambiguation-wrong-candidates": ElevantName(
        "wrong_disambiguation",
        "wrong_candidates",
        "DISAMBIGUATION_CANDIDATES_WRONG",
        "DISAMBIGUATION_CANDIDATES_CORRECT",
    ),
    "disambiguation-multiple-candidates": ElevantName(
        "wrong_disambiguation",
        "multiple_candidates",
        "DISAMBIGUATION_MULTI_CANDIDATES_WRONG",
        "DISAMBIGUATION_MULTI_CANDIDATES_CORRECT",
    ),
    "hyperlink": ElevantName("other_errors", "hyperlink", "HYPERLINK_WRONG", "HYPERLINK_CORRECT"),
    "coreference-undetected": ElevantName("wrong_coreference", "undetected", "COREFERENCE_UNDETECTED"),
    "coreference-wrong-mention": ElevantName(
        "wrong_coreference", "wrong_mention_referenced", "COREFERENCE_WRONG_MENTION_REFERENCED"
    ),
    "coreference-wrong-reference": ElevantName(
        "wrong_coreference", "reference_wrongly_disambiguated", "COREFERENCE_REFERENCE_WRONGLY_DISAMBIGUATED"
    ),
    "coreference-false-detection": ElevantName("wrong_coreference", "false_detection", "COREFERENCE_FALSE_DETECTION"),
}
"""Names by category, in the order of ELEVANT's file."""
