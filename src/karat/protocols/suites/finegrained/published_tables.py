"""Printed figures of the fine-grained paper (Rosales-Méndez, Hogan and Poblete 2019), and those of its program.

Tables are as printed, cell by cell. Figure 5 is a drawing; its end points come from the authors' own file of values
(`strict-code`) and from the definition in the paper's text (`strict`), with links as written.
"""

from __future__ import annotations

TITLE = 20
"""Width of a row's title; its cells follow."""

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

TABLE_3 = """\
                       |A| B_s            B_r            T              D              A              F
Full Mention           766 0.93 0.46 0.61 0.75 0.53 0.62 0.82 0.59 0.69 0.84 0.57 0.68 0.78 0.57 0.66 0.82 0.55 0.65
Short Mention          497 0.44 0.16 0.23 0.37 0.24 0.29 0.54 0.44 0.48 0.5  0.3  0.37 0.5  0.36 0.42 0.39 0.28 0.33
Extended Mention         9 1.0  0.56 0.71 0.83 0.56 0.67 1.0  0.44 0.62 1.0  0.44 0.62 1.0  0.44 0.62 0.8  0.44 0.57
Alias                  112 0.56 0.16 0.25 0.33 0.21 0.25 0.52 0.32 0.4  0.67 0.38 0.48 0.6  0.29 0.4  0.55 0.29 0.38
Numeric/Temporal       404 0.45 0.01 0.02 0.82 0.24 0.37 0.14 0.03 0.05 0    0.0  0.0  0    0.0  0.0  0    0.0  0.0
Common Form          2,452 0.21 0.0  0.01 0.66 0.33 0.44 0.49 0.28 0.35 0.88 0.04 0.08 0.43 0.0  0.0  0.56 0.0  0.01
Pro-form               153 0    0.0  0.0  0    0.0  0.0  0.0  0.0  0.0  0    0.0  0.0  0    0.0  0.0  0    0.0  0.0
Singular Noun        2,623 0.79 0.17 0.28 0.73 0.45 0.56 0.62 0.38 0.47 0.87 0.24 0.38 0.79 0.2  0.32 0.74 0.19 0.31
Plural Noun            746 0.33 0.01 0.02 0.61 0.33 0.43 0.56 0.28 0.37 0.83 0.03 0.06 0.7  0.03 0.07 0.66 0.04 0.07
Adjective              516 0.77 0.02 0.04 0.26 0.07 0.11 0.56 0.24 0.34 0.65 0.14 0.23 0.72 0.21 0.32 0.6  0.14 0.22
Verb                   334 0    0.0  0.0  0.86 0.02 0.04 0.37 0.17 0.23 1.0  0.0  0.01 0    0.0  0.0  0    0.0  0.0
Adverb                  12 0    0.0  0.0  0    0.0  0.0  0.56 0.42 0.48 0    0.0  0.0  0    0.0  0.0  0    0.0  0.0
Non-Overlapping      2,871 0.75 0.12 0.2  0.67 0.33 0.45 0.58 0.38 0.46 0.84 0.19 0.32 0.78 0.19 0.3  0.71 0.17 0.27
Maximal Overlap        464 0.87 0.17 0.29 0.85 0.36 0.5  0.73 0.34 0.46 0.89 0.19 0.32 0.84 0.08 0.15 0.84 0.12 0.22
Intermediate Overlap    71 0.76 0.18 0.3  0.71 0.52 0.6  0.57 0.3  0.39 0.56 0.13 0.21 0.54 0.1  0.17 0.78 0.1  0.17
Minimal Overlap        825 0.82 0.04 0.09 0.61 0.37 0.46 0.5  0.15 0.23 0.8  0.09 0.17 0.72 0.09 0.16 0.66 0.06 0.12
Direct               3,106 0.79 0.13 0.23 0.71 0.43 0.53 0.63 0.38 0.47 0.83 0.21 0.33 0.76 0.19 0.3  0.7  0.17 0.27
Anaphoric              153 0    0.0  0.0  0    0.0  0.0  0.0  0.0  0.0  0    0.0  0.0  0    0.0  0.0  0    0.0  0.0
Metaphoric              69 0.0  0.0  0.0  0.57 0.29 0.38 0.43 0.35 0.38 0.91 0.14 0.25 0    0.0  0.0  0    0.0  0.0
Metonymic               73 0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0
Related                829 0.64 0.06 0.11 0.36 0.14 0.2  0.39 0.24 0.3  0.76 0.1  0.18 0.81 0.08 0.15 0.83 0.09 0.16
Descriptive            189 0.33 0.01 0.01 0.44 0.02 0.04 0.16 0.02 0.03 0.6  0.02 0.03 0    0.0  0.0  0.6  0.02 0.03
All                  4,231 0.77 0.11 0.19 0.67 0.35 0.46 0.59 0.33 0.42 0.84 0.17 0.29 0.77 0.16 0.26 0.72 0.14 0.24
"""
"""Mentions, and precision, recall and F1 of six systems."""

FIGURE_5 = """\
                      B_s   B_r     T     D     A     F
strict 0            0.498 0.511 0.501 0.658 0.672 0.608
strict-code 0       0.520 0.536 0.507 0.663 0.651 0.607
strict 1            0.187 0.423 0.363 0.283 0.258 0.236
strict-code 1       0.187 0.423 0.363 0.283 0.258 0.236
"""
"""Membership, alpha, and fuzzy F1."""
