"""PubTator with composite ids divided: any of them is right. No file is recognised as this format: name it."""

from __future__ import annotations

from karat.parsing.composite import ANY
from karat.parsing.pubtator import corpus_of, recognises, run_of
from karat.spec.format import Format, Sample

FORMAT = Format(
    title="PubTator, any id of a composite one",
    suffix=".pubtator",
    recognises=lambda opening: False,
    holds_gold=lambda source: recognises(source.opening),
    read_corpus=lambda source, text: corpus_of(source, ANY),
    read_run=lambda source: run_of(source, ANY),
    says="As pubtator. The ids that `|`, `,` or `;` join are alternatives: one that both sides name is enough. "
    "Never recognised: name it.",
    either=True,
    sample=Sample(
        {
            "sample.pubtator": "1|t|Ada met\n1\t0\t3\tAda\tPerson\tQ7259|Q1\n",
        },
        documents=1,
        mentions=2,
        given="sample.pubtator",
    ),
)
