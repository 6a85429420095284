"""Measures, one file each; variants of one measure share a file."""

TABLE = dict.fromkeys(("f1-sd", "p-sd", "r-sd"), "_standard_deviation")
