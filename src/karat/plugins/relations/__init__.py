"""Match relations, one file each; variants of one relation share a file."""

TABLE = dict.fromkeys(
    (
        *("hipe-nerc-strict", "hipe-nerc-fuzzy", "hipe-nel-strict", "hipe-nel-strict-3", "hipe-nel-strict-5"),
        *("hipe-nel-fuzzy", "hipe-nel-fuzzy-3", "hipe-nel-fuzzy-5"),
    ),
    "_hipe",
)
