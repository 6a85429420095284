"""What is broken by the fuzzer: a small sound sample of every format, and of all else that a command reads.

Formats that Karat writes are sampled by writing; the samples of others are those of their own tests. A folder is a
table of files, and so is a file with what lies beside it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

import karat
from karat import UNLINKED, Candidate, Corpus, Document, Label, Prediction, Response, Run, Tag, Triple
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.format import Format
from tests.conftest import EXTRA_FORMATS
from tests.formats import (
    test_aida,
    test_bioc,
    test_blink,
    test_brat,
    test_conel,
    test_damage,
    test_elevant,
    test_elevant_linked,
    test_hf_datasets,
    test_hipe,
    test_kilt,
    test_nif_categorised,
    test_pubtator,
    test_reddit,
    test_shadowlinks,
    test_simple_jsonl,
    test_tweeki,
    test_tweeki_jsonl,
    test_zelda,
)

Files = dict[str, bytes]


class Sample(NamedTuple):
    """The format, the path that is given (empty for the folder itself), and the files by their paths."""

    format: str
    given: str
    files: Files


TEXT = "Ada met Bob of Ulm 😀 in 1921."
CORPUS = Corpus.from_documents(
    [
        Document(
            "d1",
            TEXT,
            (
                Label(0, 3, "Q1", same_as=("ada",), name="Ada", types=("PER", "Q5"), categories=("form:Full",)),
                Label(8, 11, None, types=("PER",), nil_cluster="NIL1", difficulty="hard"),
                Label(15, 18, "Q3", types=("LOC",), optional=True),
                Label(24, 28, "Q4", kind="datetime"),
            ),
            evaluation_span=(0, 28),
            tags=(Tag("Q1", rank=1, score=0.5), Tag("Q3")),
            relations=(Triple("Q1", "knows", "Q3", score=0.25),),
            meta={"domain": "news", "year": "1921"},
        ),
        Document("d2", "Ulm again", (Label(0, 3, "Q3", mention_id="u"), Label(0, 9, "Q5", mention_id="v", parent="u"))),
        Document("d3", "nothing"),
    ],
    name="toy",
    language="en",
)
PLAIN = Corpus.from_documents(
    [Document("d1", TEXT, (Label(0, 3, "Q1"), Label(15, 18, "Q3"))), Document("d2", "Ulm")], name="toy"
)
RUN = Run.from_responses(
    [
        Response(
            "d1",
            (
                Prediction(0, 3, "Q1", types=("PER",), score=0.9, candidates=(Candidate("Q1", 0.9), Candidate("Q2"))),
                Prediction(8, 11, None, nil_cluster="NIL1", score=0.5),
                Prediction(15, 18, UNLINKED, score=0.1),
            ),
            tags=(Tag("Q1", rank=1, score=0.5), Tag("Q2", rank=2)),
            relations=(Triple("Q1", "knows", "Q3"),),
            seconds=0.5,
            tokens=7,
            cost=0.25,
        ),
        Response("d2", (Prediction(0, 3, "Q3", score=0.4),)),
        Response("d3", error="timeout"),
    ],
    name="system",
)
ANSWERED = Run.from_responses(
    [Response("d1", (Prediction(0, 3, "Q1", score=0.5),)), Response("d2", (Prediction(0, 3, "Q3", score=0.2),))]
)


def _lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _parquet(rows: dict[str, list[object]]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(rows), file)
    return file.getvalue()


_TAGGED = test_hf_datasets.ROWS | {"ner_tags": [["B-PER", "I-PER", "O", "S-LOC"], ["B-PER", "O"]]}
_BIOC = {"source": "S", "date": "", "key": "k", "documents": [test_bioc.article(annotations=test_bioc.LOOSE)]}
_UNNAMED = test_hipe.table(
    *("In O _", "Old O _", "Ulm B-loc Q1", ", O _", "#5 O _", "Ada B-pers NIL", "Bob O _", ". O _")
)
_HIPE = {"x.tsv": test_hipe.GOLD.encode()}
_ARTICLE = test_elevant.article(
    test_elevant.label(0, 9, 13, parent=1), test_elevant.label(1, 4, 13, children=[0]), hyperlinks=[[[0, 3], "x"]]
)
_LINKED = {
    "id": 7,
    "title": "",
    "text": test_elevant_linked.TEXT,
    "labels": [test_elevant_linked.LABEL],
    "entity_mentions": [
        test_elevant_linked.mention(9, 13, "Q1", candidates=["Q1", "<NIL>"]),
        test_elevant_linked.mention(22, 26, "<NIL>"),
    ],
}
_SIMPLE = [
    {"text": test_simple_jsonl.TEXT, "title": "T", "labels": [test_simple_jsonl.entry(9, 13, "Q1", coref=True)]},
    {"id": "b", "text": "", "labels": [], "mood": [1]},
]
_PREDICTED = {"predictions": [test_simple_jsonl.entry(9, 13, "Q1", candidates=["Q1", "Q2"])]}
_KILT = {"id": 1, "output": [{"prediction": "A", "provenance": [{"wikipedia_id": 5, "title": "A", "score": 0.5}]}]}

_OWN: dict[str, Sample] = {
    "aida": Sample("aida", "x.tsv", {"x.tsv": test_aida.MERGED.encode()}),
    "aida folder": Sample(
        "aida",
        "",
        {"AIDA-YAGO2-annotations.tsv": test_aida.ANNOTATIONS.encode(), "eng.train": test_aida.TEXT.encode()},
    ),
    "bioc": Sample("bioc", "x.json", {"x.json": json.dumps(_BIOC).encode()}),
    "bioc lines": Sample("bioc-any", "x.json", {"x.json": _lines(test_bioc.article(), test_bioc.article(id="8"))}),
    "bioc xml": Sample("bioc", "x.xml", {"x.xml": test_bioc.XML.encode()}),
    "blink": Sample("blink", "x.jsonl", {"x.jsonl": _lines(test_blink.OWN, test_blink.OWN)}),
    "blink nil": Sample("blink", "x.jsonl", {"x.jsonl": _lines(test_blink.NIL_AWARE)}),
    "brat": Sample("brat", "", {"one.ann": test_brat.ANN.encode(), "one.txt": test_brat.TEXT.encode()}),
    "brat file": Sample("brat", "one.ann", {"one.ann": test_brat.ANN.encode(), "one.txt": test_brat.TEXT.encode()}),
    "conel": Sample("conel", "gold.json", {"gold.json": json.dumps(test_conel.GOLD).encode()}),
    "conel run": Sample(
        "conel",
        "gold-tool.json",
        {"gold-tool.json": json.dumps(test_conel.RUN).encode(), "gold.json": json.dumps(test_conel.GOLD).encode()},
    ),
    "conel rows": Sample(
        "conel",
        "gold-rows.json",
        {"gold-rows.json": json.dumps(test_conel.ROWS).encode(), "gold.json": json.dumps(test_conel.GOLD).encode()},
    ),
    "conel folder": Sample(
        "conel",
        "",
        {
            "gold/gold.json": json.dumps(test_conel.ROWS).encode(),
            "dataset/ConEL_a.json": json.dumps(test_conel.GOLD).encode(),
            "runs/a.json": json.dumps(test_conel.ROWS).encode(),
        },
    ),
    "elevant": Sample("elevant", "x.benchmark.jsonl", {"x.benchmark.jsonl": _lines(_ARTICLE)}),
    "elevant linked": Sample(
        "elevant-linked",
        "x.y.linked_articles.jsonl",
        {"x.y.linked_articles.jsonl": _lines(_LINKED), "x.y.metadata.json": b'{"name": "X", "runtime": 1.5}'},
    ),
    "hf-datasets tokens": Sample(
        "hf-datasets", "x.arrow", {"x.arrow": test_hf_datasets.with_names(test_hf_datasets.ROWS)}
    ),
    "hf-datasets parquet": Sample("hf-datasets", "x.parquet", {"x.parquet": _parquet(_TAGGED)}),
    "hf-datasets folder": Sample(
        "hf-datasets",
        "",
        {
            "data-00000-of-00001.arrow": test_hf_datasets.with_names(test_hf_datasets.ROWS),
            "state.json": b'{"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}',
            "dataset_info.json": b'{"features": {}}',
        },
    ),
    "hipe": Sample("hipe", "x.tsv", _HIPE),
    "hipe run": Sample(
        "hipe",
        "team9_bundle1_tiny_en_1.tsv",
        {"team9_bundle1_tiny_en_1.tsv": _UNNAMED.encode(), "HIPE-2022-v2.1-tiny-test-en.tsv": test_hipe.GOLD.encode()},
    ),
    "hipe candidates": Sample(
        "hipe", "x.tsv", {"x.tsv": test_hipe.RUN.replace("In", "# document_id = d\nIn", 1).encode()}
    ),
    "hipe-fine": Sample("hipe-fine", "x.tsv", _HIPE),
    "hipe-nested": Sample("hipe-nested", "x.tsv", _HIPE),
    "hipe-runs": Sample("hipe-runs", "x.tsv", _HIPE),
    "kilt": Sample("kilt", "x.jsonl", {"x.jsonl": _lines(test_kilt.GOLD, {**test_kilt.GOLD, "id": 2})}),
    "kilt predictions": Sample("kilt", "x.jsonl", {"x.jsonl": _lines(_KILT, {**test_kilt.GOLD, **_KILT, "id": 2})}),
    "nif-categorised": Sample("nif-categorised", "x.ttl", {"x.ttl": test_nif_categorised.GOLD.encode()}),
    "nif-categorised-literal": Sample(
        "nif-categorised-literal", "x.ttl", {"x.ttl": test_nif_categorised.PREDICTIONS.encode()}
    ),
    "pubtator": Sample("pubtator", "x.pubtator", {"x.pubtator": test_pubtator.GOLD.encode()}),
    "pubtator-any": Sample("pubtator-any", "x.pubtator", {"x.pubtator": test_pubtator.COMPOSITE.encode()}),
    "pubtator composite": Sample("pubtator", "x.pubtator", {"x.pubtator": test_pubtator.ARTICLE.encode()}),
    "reddit": Sample("reddit", "", {name: text.encode() for name, text in test_reddit.FILES.items()}),
    "shadowlinks": Sample("shadowlinks", "Top.json", {"Top.json": json.dumps([test_shadowlinks.ENTRY] * 2).encode()}),
    "simple-jsonl": Sample("simple-jsonl", "x.jsonl", {"x.jsonl": _lines(*_SIMPLE)}),
    "simple-jsonl run": Sample("simple-jsonl", "x.jsonl", {"x.jsonl": _lines(_PREDICTED)}),
    "tweeki": Sample("tweeki", "x.conll", {"x.conll": test_tweeki.GOLD.encode()}),
    "tweeki-jsonl": Sample("tweeki-jsonl", "x.jsonl", {"x.jsonl": _lines(test_tweeki_jsonl.GOLD)}),
    "zelda": Sample("zelda", "x.jsonl", {"x.jsonl": _lines(test_zelda.GOLD)}),
}
for _name, (_format, _given, _files) in test_damage.CASES.items():
    _OWN[_name] = Sample(_format, _given, {path: text.encode() for path, text in _files.items()})


def _written(name: str, known: Format) -> Iterator[tuple[str, Sample]]:
    """What Karat itself writes in a format, gold and predictions: all that it holds, else what every format holds."""
    for what, write, rich, plain in (
        ("gold", known.write_corpus, CORPUS, PLAIN),
        ("predictions", known.write_run, RUN, ANSWERED),
    ):
        if write is not None:
            path = f"{what}{known.suffix}"
            try:
                data = _bytes(write, rich)
            except karat.KaratError:
                data = _bytes(write, plain)
            yield f"{name} {what}", Sample(name, path, {path: data})


def _bytes(write: Callable[[Corpus | Run, io.BytesIO], None], data: Corpus | Run) -> bytes:
    file = io.BytesIO()
    write(data, file)
    return file.getvalue()


@cache
def samples() -> dict[str, Sample]:
    """All samples by name; those that need an extra where it is installed."""
    found = dict(_OWN)
    for name in list_plugins("formats"):
        if name not in EXTRA_FORMATS or find_spec(EXTRA_FORMATS[name]):
            known = get_plugin("formats", name, Format)
            found |= _written(name, known)
            if known.sample is not None:
                files = {path: text.encode() for path, text in known.sample.files.items()}
                found[f"{name} sample"] = Sample(name, known.sample.main_file, files)
    if find_spec("spacy"):
        from tests.formats.test_spacy_docbin import made_by_spacy

        found["spacy-docbin user data"] = Sample("spacy-docbin", "x.spacy", {"x.spacy": made_by_spacy()})
    return found


KB: Files = {
    "redirects.tsv": b"Q7\tQ6\nQ6\tQ1\n",
    "same_as.tsv": b"Q1\tdbr:Ada\nQ3\tQ4\n",
    "subclass_of.tsv": b"PER\tQ5\nQ5\tQ35120\n",
    "entities.tsv": b"id\tname\ttypes\nQ1\tAda\tPER|Q5\nQ3\tUlm\tLOC\nQ8\n",
    "aliases.tsv": b"id\talias\nQ1\tCountess\n",
    "popular.tsv": b"surface\tids\nAda\tQ1|Q3\n",
    "demonyms.txt": b"# some\nUlmer\n",
}
RULES = b"""dimensions = ["form"]

[[rule]]
name = "years"
says = "A year is numeric."
severity = "warning"
match = "all"
when.surface = '\\d{4}'
when.entity = 'Q\\d+'
when.without = ["form:Alias"]
then.add = ["form:NumericTemporal"]
then.remove = ["form:*"]
"""
MEMBERSHIP = b"""combine = "min"
default = 0.2
[weights]
"form:Full" = 0.9
"pos:Verb" = 0.1
"""
CONSENSUS = b"""default = 0.2
[consensus]
"form:Full + overlap:None" = [1, 0.8]
"pos:Verb" = 0.1
[weights]
"reference:Related" = 0.3
"""


@cache
def result() -> bytes:
    """A result file with groups and intervals."""
    measures = ["strong:micro.f1", "strong:macro.f1", "mention:micro.f1"]
    return karat.evaluate(CORPUS, RUN, measures=measures, by=["types"]).to_json() + b"\n"
