"""Printed tables of the fair evaluation (Bast, Hertel and Prange 2023), cell by cell, and the differences it states."""

from __future__ import annotations

from collections.abc import Mapping

from karat.protocols.papers.reproducibility import ResultGap

DATE = "2023/05/24"
"""The date of the paper; outputs that ELEVANT dates later are not those of the paper."""


STATED_GAPS: Mapping[str, tuple[ResultGap, ...]] = {
    "ReFinED": (ResultGap(0.6, is_from_paper=False), ResultGap(0.6, is_from_paper=False)),
    "REL": (ResultGap(1.0),),
    "GENRE": (ResultGap(0.7), ResultGap(None)),
    "Ambiverse": (),
    "Neural EL": (ResultGap(82.9 - 78.8), ResultGap(84.9 - 77.9)),
    "TagMe": (ResultGap(76.2 - 57.5),),
}
"""What Sections 6 and A.2 state about reported results: at most 0.6 points for ReFinED (its GitHub page, AIDA-CoNLL and
MSNBC), less than 1.0 on most benchmarks for REL, 0.7 on AIDA-CoNLL and very poor elsewhere for GENRE, reported and
reproduced scores for Neural EL and TagMe, and nothing comparable for Ambiverse."""

TABLE_2_COLUMNS = ("Wiki-Fair", "News-Fair")

TABLE_2: Mapping[str, tuple[str, ...]] = {
    "All": ("1761", "507"),
    "Coreference": ("281", "148"),
    "Linked to NIL": ("152", "90"),
    "Optional": ("455", "89"),
    "Alternative annotation": ("120", "23"),
}
"""Table 2: the number of annotations with each property."""

TABLE_3_COLUMNS = (
    "mentions",
    "lower",
    "multiword",
    "NIL",
    "demonym",
    "metonym",
    "partial",
    "rare",
    "person",
    "location",
    "organization",
)

TABLE_3: Mapping[str, tuple[str, ...]] = {
    "AIDA-CoNLL": ("5616", "0%", "37%", "20%", "6%", "9%", "14%", "12%", "18%", "30%", "55%"),
    "KORE50": ("144", "0%", "8%", "1%", "0%", "6%", "63%", "11%", "51%", "10%", "28%"),
    "MSNBC": ("739", "1%", "43%", "12%", "0%", "2%", "32%", "7%", "31%", "23%", "38%"),
    "News-Fair": ("275", "24%", "36%", "18%", "0%", "4%", "13%", "15%", "20%", "12%", "27%"),
    "Wiki-Fair": ("1035", "18%", "43%", "12%", "4%", "0%", "14%", "13%", "19%", "31%", "32%"),
}
"""Table 3: the number of mentions of each benchmark, and the shares with each trait."""

TABLE_4_COLUMNS = (
    "NER false negatives, lower-cased",
    "NER false negatives, partially included",
    "NER false positives, lower-cased",
    "NER false positives, gr. truth NIL",
    "NER false positives, wrong span",
    "Disambiguation error rate, demonym",
    "Disambiguation error rate, metonym",
    "Disambiguation error rate, partial name",
    "Disambiguation error rate, rare",
)

TABLE_4: Mapping[str, tuple[str, ...]] = {
    "ReFinED": ("39.6", "14.6", "6.6", "121.2", "11.4", "5.7%", "30.8%", "16.8%", "18.1%"),
    "REL": ("42.4", "20.8", "0.6", "115.4", "10.0", "19.0%", "27.1%", "25.0%", "31.9%"),
    "GENRE": ("44.4", "16.0", "1.4", "52.2", "13.2", "2.1%", "28.4%", "18.8%", "16.1%"),
    "Ambiverse": ("43.4", "33.6", "22.6", "121.8", "15.6", "39.6%", "73.9%", "29.3%", "43.6%"),
    "Neural EL": ("44.4", "17.6", "0.0", "95.6", "8.0", "22.5%", "78.1%", "54.4%", "74.6%"),
    "Baseline": ("41.8", "37.2", "56.2", "110.6", "10.2", "53.1%", "100.0%", "65.5%", "100.0%"),
    "TagMe": ("27.8", "21.4", "462.6", "70.8", "39.4", "51.5%", "63.4%", "22.7%", "60.5%"),
}
"""Table 4: numbers of detection errors and error rates of disambiguation, averaged over the benchmarks."""

WHITELIST: frozenset[str] = frozenset(
    [
        "Q215627",
        "Q95074",
        "Q27096213",
        "Q3895768",
        "Q43229",
        "Q17537576",
        "Q2424752",
        "Q1656682",
        "Q431289",
        "Q483394",
        "Q17376908",
        "Q43460564",
        "Q16521",
        "Q9174",
        "Q7257",
        "Q4164871",
        "Q12737077",
        "Q11862829",
        "Q21070598",
        "Q618779",
        "Q12136",
        "Q4392985",
        "Q373899",
        "Q22222786",
        "Q33829",
        "Q1075",
        "Q179661",
        "Q169872",
        "Q4936952",
        "Q349",
        "Q729",
    ]
)
"""Section A.4: the Wikidata types of annotated entities."""
