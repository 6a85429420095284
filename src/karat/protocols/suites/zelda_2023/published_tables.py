"""The tables of the ZELDA paper as printed, subscripts behind an underscore."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from karat.systems.claims.zelda_2023 import COLUMNS_3, MEAN

COLUMNS_1: Final = (
    "Training data",
    "Weak labels?",
    "Data source",
    "Additional features",
    "Entity vocab",
    "Candidate lists",
    "AIDA-B",
)
"""Columns of Table 1 after the approach."""

TABLE_1: Final[Mapping[str, tuple[str, ...]]] = {
    "Yamada et al. (2022)": ("~10M snippets", "no", "Wikipedia (Dec, 2018)", "", "", "", ""),
    "LUKE_GH": ("", "", "", "", "128k", "GH", "92.4"),
    "LUKE_PPR": ("", "", "", "", "128k", "PPR", "94.6"),
    "LUKE_GH+AIDA": ("", "", "", "+AIDA-TRAIN", "128k", "GH", "95"),
    "LUKE_PPR+AIDA": ("", "", "", "+AIDA-TRAIN", "128k", "PPR", "97.1"),
    "Barba et al. (2022)": ("9M snippets†", "no", "Wikipedia (May, 2019)", "", "", "", ""),
    "EXTEND": ("", "", "", "+AIDA-TRAIN", "1.5M", "GH", "92.6"),
    "Ayoola et al. (2022)": (
        "~20M snippets",
        "yes",
        "Wikipedia (July, 2021)",
        "+KB +descriptions +types",
        "",
        "",
        "",
    ),
    "AYOOLA": ("", "", "", "", "6.2M", "GH", "90.4"),
    "De Cao et al. (2021)": ("9M snippets†", "no", "Wikipedia (May, 2019)", "", "", "", ""),
    "GENRE": ("", "", "", "", "1.5M", "GH", "89.3"),
    "GENRE_+AIDA": ("", "", "", "+AIDA-TRAIN", "1.5M", "GH", "93.3"),
    "GENRE_+AIDA-NOC": ("", "", "", "+AIDA-TRAIN", "1.5M", "none", "91.2"),
    "Orr et al. (2021)": ("5.7M sentences", "yes", "Wikipedia (Nov, 2019)", "+KB +types +AIDA-TRAIN", "", "", ""),
    "BOOTLEG": ("", "", "", "", "3.3M", "PPR+custom", "96.7"),
    "Férvy et al. (2020)": ("17.5M snippets", "no", "Wikipedia (Apr, 2019)", "+AIDA-TRAIN", "", "", ""),
    "FEVRY_HF": ("", "", "", "", "5.7M", "HF+custom", "92.5"),
    "FEVRY_PPR": ("", "", "", "", "5.7M", "PPR+custom", "96.7"),
    "Broscheit (2019)": ("", "yes", "Wikipedia (June, 2017)", "+AIDA-TRAIN", "", "", ""),
    "BROSCHEIT_700k": ("8.8M snippets", "", "", "", "700k", "none", "78.8"),
    "BROSCHEIT_500k": ("2.4M snippets", "", "", "", "500k", "none", "87.9"),
}
"""Table 1 by approach: papers, each followed by its models; a text is empty where the paper prints nothing."""

COLUMNS_2: Final = ("Domain", "Doc. Type", "# Docs", "∅ length", "# Entities", "# Mentions")
"""Columns of Table 2 after the split."""

TABLE_2: Final[Mapping[str, tuple[str, ...]]] = {
    "AIDA-B": ("news", "articles", "231", "201 tokens", "1,538", "4,485"),
    "TWEEKI": ("tweets", "short texts", "500", "16 tokens", "639", "860"),
    "REDDIT-POSTS": ("forum posts", "short texts", "377", "20 tokens", "524", "705"),
    "REDDIT-COMMENTS": ("forum comments", "short texts", "360", "41 tokens", "483", "638"),
    "WNED-WIKI": ("Wikipedia", "articles", "318", "315 tokens", "5,293", "6,747"),
    "WNED-CWEB": ("web", "pages", "320", "1,433 tokens", "4,467", "11,116"),
    "SLINKS-TOP": ("web", "short texts", "904", "35 tokens", "899", "904"),
    "SLINKS-SHADOW": ("web", "short texts", "904", "35 tokens", "902", "904"),
    "SLINKS-TAIL": ("web", "short texts", "902", "35 tokens", "902", "902"),
    "ZELDA-TRAIN": ("Wikipedia", "paragraphs", "95k", "527 tokens", "822k", "2.6M"),
}
"""Table 2 by split."""


UNDERLINED_3: Final = (
    ("FEVRY_CL", "REDDIT-POSTS"),
    ("FEVRY_CL", "REDDIT-COMM."),
    ("FEVRY_CL", "WNED-CWEB"),
    ("FEVRY_CL", "WNED-WIKI"),
    ("FEVRY_CL", MEAN),
    ("LUKE_FT", "TWEEKI"),
    ("LUKE_FT", "WNED-CWEB"),
    ("LUKE_FT", "SLINKS-TAIL"),
)
"""The underlined values of Table 3: the best classification models, unless they are the best of all."""

LATE_SPLIT: Final = "SLINKS-TAIL"
"""The split without which the text's number of splits and its ranking of FEVRY_ALL hold: the text may be older."""

EARLIER_SPLITS: Final = tuple(split for split in COLUMNS_3 if split not in (LATE_SPLIT, MEAN))
"""All other splits."""

QUOTED_CLAIMS: Final = (
    ("tokens of a snippet of AYOOLA", "512", "the paper of Ayoola et al. (2022)"),
    ("tokens of a snippet of GENRE", "100", "the paper of De Cao et al. (2021)"),
    ("epochs of BROSCHEIT_700k and BROSCHEIT_500k", "4 and 14", "the paper of Broscheit (2019)"),
    ("unlabelled mentions in Wikipedia, by Orr et al.", "68%", "the paper of Orr et al. (2021)"),
    ("entities of the general model of Wu et al.", "5.9M", "the paper of Wu et al. (2020)"),
)
"""What Section 2 quotes from other papers besides Table 1: the claim, its value and its source."""
