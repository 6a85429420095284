"""PubTator (`karat.parsing.pubtator` says how it is read); ids that join several are kept as written."""

from __future__ import annotations

from karat.parsing.pubtator import HOLDS, corpus_of, recognises, run_of, write_corpus
from karat.spec.format import Format

FORMAT = Format(
    title="PubTator",
    suffix=".pubtator",
    signs=("|t|", "|a|"),
    recognises=recognises,
    holds_gold=lambda source: recognises(source.opening),
    read_corpus=lambda source, text: corpus_of(source),
    read_run=run_of,
    write_corpus=write_corpus,
    holds=HOLDS,
    says="Title, abstract and tab-separated mentions of each document, as in biomedical corpora.",
    either=True,
)
