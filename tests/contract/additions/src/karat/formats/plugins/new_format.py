"""A made-up format: lines of `document|text|mention|entity`."""

from __future__ import annotations

from karat.formats.parsing.lines import read_lines
from karat.model.corpus import Corpus
from karat.model.defects import skip_or_raise
from karat.model.document import Document, Label
from karat.model.errors import InputError
from karat.model.spec.format import ByteSource, Format, Sample


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold standard in `source`, one document per line, always with texts (`text` is ignored)."""
    documents, numbers = [], []
    for line in read_lines(source):
        cells = line.text.rstrip("\n").split("|")
        if len(cells) == 4 and cells[2] and cells[2] in cells[1]:
            start = cells[1].index(cells[2])
            documents.append(Document(cells[0], cells[1], (Label(start, start + len(cells[2]), cells[3] or None),)))
            numbers.append(line.number)
        elif line.text.strip():
            skip_or_raise(
                InputError(
                    f"{source.label}:{line.number}",
                    actual=f"{len(cells)} cells",
                    expected="document|text|mention|entity",
                    remedy="Correct the line",
                )
            )
    return Corpus.from_reader(
        documents, name=source.stem, skipped={}, locate_row=lambda row: f"{source.label}:{numbers[row]}"
    )


FORMAT = Format(
    title="Made-up lines",
    suffix=".lines",
    recognises=lambda head: head.startswith(b"made-up|"),
    has_gold=lambda source: True,
    read_corpus=read_corpus,
    description="One mention per line, for a test.",
    sample=Sample(
        {"sample.lines": "made-up|Ada met Bob.|Ada|Q1\ntwo|Bob left.|Bob|\n"},
        documents=2,
        mentions=2,
        main_file="sample.lines",
    ),
)
