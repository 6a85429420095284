"""Recognition of NEEL's lines, which look like neleval's but count span ends differently."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ROW = re.compile(r"\d{8,}\t\d+\t\d+\t\s*(?:http://dbpedia\.org/resource/[^\t]+|NIL[^\t]*)\t([^\t]+)\t[^\t]+", re.ASCII)


def is_neel(lines: Sequence[str]) -> bool:
    """Return whether each line has tweet, start, end, DBpedia resource or NIL, score and type, and not all are NIL."""
    return bool(lines) and all(map(_ROW.fullmatch, lines)) and any("dbpedia" in line for line in lines)


def is_neel_gold(lines: Sequence[str]) -> bool:
    """Return whether the lines are NEEL's and all scores are the `1` of gold files, which excludes neleval's format."""
    return is_neel(lines) and all(line.split("\t")[4] == "1" for line in lines)
