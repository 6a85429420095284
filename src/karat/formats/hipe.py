"""HIPE-2022 TSV, and that of HIPE-2020: a token per line, with columns for mentions, links and flags.

Mentions are those of NE-COARSE-LIT, their types in lower case; `NIL` is NIL and `_` no link. The text is made of the
tokens: a space behind each, a line break where MISC says EndOfLine, nothing where it says NoSpaceAfter. Tokens that
begin with # stand in the text and are not counted. Flags of a mention become its categories (`LED:0.06`), its fine type
the category `fine`.

In a gold standard a mention is linked by the NEL-LIT cell of its first token, and several links (`Q1|Q2`) are
alternatives, the first of which is the one that the scorer of the task takes. A metonymic sense (NE-COARSE-METO,
NEL-METO) on the span of a literal one is one more alternative, with the category `sense:metonymic`.

Answers are laid on the gold standard row by row, whatever their own MISC column, comments and quotes say. Several links
in a cell are a ranking: the first is the answer, all are candidates. Different links inside one mention are answers of
their own beside it, without type, and so are links outside all mentions. A type that the gold standard lacks is not
counted, nor is a metonymic sense. Nested mentions and components are counted and left out; `hipe-nested` reads the
former, `hipe-fine` fine types.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Answer, Candidate, EntityId, Label
from karat.model.run import Run
from karat.parsing.tokens.hipe import (
    Row,
    TableReading,
    Tokens,
    corpus_of,
    counted,
    links,
    mentions,
    pieces,
    recognises,
    run_of,
)
from karat.parsing.tokens.iob import OUTSIDE, MarkedTokens
from karat.spec.format import Bytes, Format, Sample

_LAYOUT = ("NoSpaceAfter", "EndOfLine", "EndOfSentence", "PySBDSegment")
_DISTANCE = re.compile(r"LED(\d+(?:\.\d+)?)")


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    return corpus_of(source, _labels)


def read_run(source: Bytes) -> Run:
    """A system's answers; where the file says too little, documents and spaces are those of the gold file beside it."""
    return run_of(source, _answers)


def read_run_on(source: Bytes, gold: Callable[[], Corpus]) -> Run:
    """A system's answers on the tokens of their gold standard."""
    return run_of(source, _answers, gold())


def _labels(tokens: Tokens, reading: TableReading) -> list[Label]:
    literal = mentions(tokens.rows, "NE-COARSE-LIT", reading)
    metonymic = {(mark.first, mark.last): mark for mark in mentions(tokens.rows, "NE-COARSE-METO", reading)}
    labels: list[Label] = []
    for mark in literal:
        start, end = tokens.span(mark)
        categories = _categories(tokens.rows, mark, reading.skipped)
        given = _alternatives(tokens.rows, mark, metonymic.pop((mark.first, mark.last), None), reading.skipped)
        unit = f"{mark.first}-{mark.last}" if len(given) > 1 else None
        labels += [
            Label(start, end, entity, types=(kind,), categories=(*categories, *more), unit=unit)
            for entity, kind, more in given
        ]
    reading.skipped["metonymic senses where no literal one is"] += len(metonymic)
    inside = {place for mark in literal for place in range(mark.first, mark.last)}
    outside = [place for place, row in enumerate(tokens.rows) if row.cells.get("NEL-LIT", "_") not in OUTSIDE]
    reading.skipped["links on tokens outside all mentions"] += len(set(outside) - inside)
    _count_other_layers(tokens.rows, reading)
    _count_flags(tokens.rows, reading.skipped)
    return labels


def _answers(tokens: Tokens, reading: TableReading) -> list[Answer]:
    """Mentions with their link; mentions that no single link covers and links that cover no mention, by themselves."""
    rows, skipped = tokens.rows, reading.skipped
    marked = {(mark.first, mark.last): mark for mark in mentions(rows, "NE-COARSE-LIT", reading)}
    linked = {(piece.first, piece.last): piece for piece in pieces(rows, "NEL-LIT", list(marked.values()))}
    found = []
    for place in sorted({**marked, **linked}):
        mark, piece = marked.get(place), linked.get(place)
        start, end = tokens.span(mark or linked[place])
        choices = links(piece.type if piece else "_")
        types = counted(mark.type, reading) if mark else ()
        skipped["NIL behind other links of a ranking"] += None in choices[1:]
        skipped["links that cover no whole mention (answers without type)"] += mark is None
        ids = [link for link in choices if isinstance(link, str)]
        candidates = tuple(map(Candidate, ids)) if len(choices) > 1 else ()
        found.append(Answer(start, end, choices[0], types=types, candidates=candidates))
    skipped["metonymic senses in answers"] += len(mentions(rows, "NE-COARSE-METO", reading))
    skipped["metonymic links in answers"] += len(pieces(rows, "NEL-METO", []))
    skipped["fine types of tokens in answers"] += sum(row.cells.get("NE-FINE-LIT", "_") not in OUTSIDE for row in rows)
    _count_other_layers(rows, reading)
    return found


def _alternatives(
    rows: Sequence[Row], mark: MarkedTokens, metonymic: MarkedTokens | None, skipped: Counter[str]
) -> list[tuple[EntityId, str, tuple[str, ...]]]:
    """What a gold mention may be linked to: entity, type and further categories of each alternative.

    A metonymic sense says nothing more if it has no link, and is no alternative to a literal one without.
    """
    found = {link: (link, mark.type, ()) for link in _first_links(rows, mark, "NEL-LIT", skipped)}
    if metonymic is None:
        return list(found.values())
    more = _first_links(rows, metonymic, "NEL-METO", skipped)
    if more == (UNLINKED,) or UNLINKED in found:
        skipped["metonymic senses without link, or of mentions without a literal link"] += 1
        return list(found.values())
    return [
        *found.values(),
        *((link, metonymic.type, ("sense:metonymic",)) for link in more if link not in found),
    ]


def _first_links(rows: Sequence[Row], mark: MarkedTokens, column: str, skipped: Counter[str]) -> tuple[EntityId, ...]:
    cells = [row.cells.get(column, "_") for row in rows[mark.first : mark.last]]
    skipped["mentions whose tokens are linked differently (the first counts)"] += len(set(cells)) > 1
    return links(cells[0])


def _categories(rows: Sequence[Row], mark: MarkedTokens, skipped: Counter[str]) -> tuple[str, ...]:
    """The fine type and the flags of a mention."""
    flags = dict.fromkeys(flag for row in rows[mark.first : mark.last] for flag in row.flags if flag not in _LAYOUT)
    skipped["mentions of a part of a token (the whole is taken)"] += any(f.startswith("Partial-") for f in flags)
    fine = [row.cells.get("NE-FINE-LIT", "_") for row in rows[mark.first : mark.last]]
    first = fine[0].partition("-")[2]
    whole = fine[0] not in OUTSIDE and all(tag.partition("-")[2] == first for tag in fine)
    if not whole and any(tag not in OUTSIDE for tag in fine):
        skipped["mentions whose fine type is not one"] += 1
    return (*((f"fine:{first}",) if whole else ()), *(_DISTANCE.sub(r"LED:\1", flag) for flag in flags))


def _count_other_layers(rows: Sequence[Row], reading: TableReading) -> None:
    """Count the mentions of columns that are not read here."""
    apart = reading._replace(skipped=Counter())
    reading.skipped["nested mentions"] += len(mentions(rows, "NE-NESTED", apart))
    reading.skipped["components of mentions"] += len(mentions(rows, "NE-FINE-COMP", apart))


def _count_flags(rows: Sequence[Row], skipped: Counter[str]) -> None:
    """Count the flags for which a corpus has no place."""
    for row in rows:
        skipped["flags that end a sentence"] += len({"EndOfSentence", "PySBDSegment"} & set(row.flags))
        if row.cells.get("NE-COARSE-LIT", "_") in OUTSIDE and row.cells.get("NE-COARSE-METO", "_") in OUTSIDE:
            skipped["flags of tokens outside mentions"] += len(set(row.flags) - set(_LAYOUT))


def _holds_gold(source: Bytes) -> bool:
    """A file that names documents and spaces, and ranks no links, is a gold standard."""
    head = source.opening
    rows = [line.split(b"\t") for line in head.split(b"\n") if line.count(b"\t") > 1]
    names = rows[0] if rows else []
    ranked = [names.index(column) for column in (b"NEL-LIT", b"NEL-METO") if column in names]
    several = any(b"|" in row[place] for row in rows[1:-1] for place in ranked if place < len(row))
    return b"document_id" in head and b"NoSpaceAfter" in head and not several


FORMAT = Format(
    title="HIPE-2022 TSV",
    suffix=".hipe.tsv",
    signs=("TOKEN", "NE-COARSE-LIT", "NEL-LIT"),
    recognises=recognises,
    holds_gold=_holds_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    read_run_on=read_run_on,
    by_row=True,
    says="A token per line with columns for mentions, links and flags, as in the HIPE shared tasks.",
    sample=Sample(
        {
            "sample.tsv": "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-FINE-METO\t"
            "NE-FINE-COMP\tNE-NESTED\tNEL-LIT\tNEL-METO\tMISC\n# hipe2022:document_id = a\n"
            "Ada\tB-pers\tO\tB-pers.ind\tO\tO\tO\tQ7259\t_\t_\nmet\tO\tO\tO\tO\tO\tO\t_\t_\t_\n",
        },
        documents=1,
        mentions=1,
        given="sample.tsv",
    ),
)
