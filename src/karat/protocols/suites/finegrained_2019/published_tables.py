"""Printed values of the fine-grained paper (Rosales-Méndez, Hogan and Poblete 2019).

Tables are as printed, cell by cell. Figure 5 is a drawing; its end points come from the authors' own file of values.
"""

from __future__ import annotations

TABLE_2 = """\
                       KORE50  ACE2004  VoxEL
Documents                   1       20     15
Sentences                  50      214     94
Annotations               372    3,351  1,107
Full Name                  41      588    227
Short Name                114      307     97
Extended Name               1        8      –
Alias                       5       94     15
Numeric/Temporal           17      276    111
Common Form               157    1,974    615
Pro-form                   37      107     42
Singular Noun             248    1,943    683
Plural Noun                39      670    182
Adjective                  45      501    149
Verb                       40      232     85
Adverb                      –        5      8
No Overlap                307    2,161    792
Maximal Overlap            23      392     95
Intermediate Overlap        4       62     14
Minimal Overlap            38      736    206
Direct                    262    2,280    750
Anaphoric                  37      107     42
Metaphoric                  8       27     38
Metonymic                   3       60     21
Related                    54      698    224
Descriptive                 8      179     32
Person                    117      278     66
Organisation               40      199    120
Place                      19      519    168
Miscellany                196    2,352    753
"""
"""Documents, sentences, annotations, and annotations by category and type of entity."""


FIGURE_5 = """\
                      B_s   B_r     T     D     A     F
0                   0.520 0.536 0.507 0.663 0.651 0.607
1                   0.187 0.423 0.363 0.283 0.258 0.236
"""
"""Alpha, and fuzzy F1 of six systems, as the authors' program computes it."""

FIGURE_1 = {
    "interview": "td",
    "Martin Bashir": "bt,f",
    "documentary": "td",
    "Living with Michael Jackson": "bt,f",
    "Michael Jackson": "bd",
    "Pop": "d",
    "Joe": "t",
    "siblings": "td",
}
"""The mentions of the example, with the letters of the systems that annotate each."""

FIGURE_2 = {
    "interview": ".19",
    "Martin Bashir": "1",
    "2003": ".28",
    "documentary": ".28",
    "Living with Michael Jackson": ".97",
    "Michael Jackson": ".75",
    "King": ".08",
    "Pop": ".33",
    "King of Pop": ".94",
    "recalled": ".06",
    "Joe": "1",
    "sat": ".08",
    "white": ".11",
    "belt": ".14",
    "hand": ".14",
    "he": ".56",
    "his": ".39",
    "four": ".08",
    "siblings": ".14",
    "he and his four siblings": ".50",
    "rehearsed": ".08",
    "Russian": ".61",
    "daily": ".14",
    "Kommersant": ".97",
    "reports": ".06",
    "Moscow": ".94",
    "supply": ".06",
    "Greeks": ".94",
    "gas": ".36",
    "rock": "0",
    "prices": ".19",
    "rock bottom prices": ".28",
    "Tsipras": ".92",
    "prepares": ".03",
    "meet": ".06",
    "Russian (President)": ".53",
    "President": ".12",
    "Russian President": ".97",
}
"""The mentions of the questionnaire, with the ratio of respondents who would annotate each."""

TABLE_1 = {
    "Russian": {"Russia": "0.61", "Russians": "0.11", "Russian language": "0.08"},
    "Moscow": {"Government of Russia": "0.77", "Moscow": "0.36"},
    "Greeks": {"Greece": "0.77", "Greeks": "0.36"},
    "Russian (President)": {"Russia": "0.42", "Russians": "0.19"},
    "Russian President": {"Vladimir Putin": "0.77", "President of Russia": "0.61"},
}
"""The ratio of respondents who chose each link, by mention."""

RESPONSES = 36
"""Responses to the questionnaire."""

QUOTED_RATIOS = {
    "Living with Michael Jackson": "0.97",
    "Michael Jackson": "0.75",
    "documentary": "0.28",
    "his": "0.39",
    "white": "0.11",
    "he": "0.56",
    "he and his four siblings": "0.5",
}
"""Ratios of Figure 2 that section 2 quotes, by mention."""

DIMENSION_SIZES = {"form": "7", "pos": "5", "overlap": "4", "reference": "6"}
"""Leaves of each dimension of Figure 3, from the product in section 5."""
