"""Lines of NEEL: what sets them apart from neleval's, which look alike but count ends otherwise."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ROW = re.compile(r"\d{8,}\t\d+\t\d+\t\s*(?:http://dbpedia\.org/resource/[^\t]+|NIL[^\t]*)\t([^\t]+)\t[^\t]+", re.ASCII)


def is_neel(lines: Sequence[str]) -> bool:
    """Whether each line has tweet, start, end, DBpedia resource or NIL, score and type."""
    return bool(lines) and all(map(_ROW.fullmatch, lines)) and any("dbpedia" in line for line in lines)


def is_neel_gold(lines: Sequence[str]) -> bool:
    """Whether all scores are the bare 1 of the gold files, too: such lines are certainly not neleval's."""
    return is_neel(lines) and all(line.split("\t")[4] == "1" for line in lines)
