"""Spans that contradict the text that a file states for them, in every format that states it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import karat
from karat import Corpus, Document, InputError, Label
from karat.formats.parsing.surfaces.search import REALIGNED

TEXT = "Berlin is an hour from Poland and Ulm."
GOLD = Corpus.from_documents(
    [Document("http://x/d", TEXT, (Label(0, 6, "Q7"), Label(23, 29, "Q8"), Label(34, 37, "Q9")))]
)
PLAIN = Corpus.from_documents(
    [Document("d", TEXT, (Label(0, 6, "Q7"), Label(23, 29, "Q8"), Label(34, 37, "Q9")))], name="plain"
)
DATASETS = {
    "brat": ("x.ann", "mentions whose surface differs from the text at their offsets"),
    "bioc": ("x.bioc.xml", "mentions whose surface differs from the text at their offsets"),
    "pubtator": ("x.pubtator", "mentions whose surface differs from the text at their offsets"),
    "nif": ("x.ttl", "anchors that differ from the text"),
    "nif-categorised": ("x.categorised.ttl", "anchors that differ from the text"),
}


def written(path: Path, format: str, changes: dict[str, str]) -> Path:
    """Write the gold standard in a format, and change the written bytes of its only file with annotations."""
    karat.save(GOLD if format.startswith("nif") else PLAIN, path, format=format)
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.suffix == ".ann"]
    for file in files:
        content = file.read_text(encoding="utf-8")
        for old, new in changes.items():
            assert old in content
            content = content.replace(old, new)
        file.write_text(content, encoding="utf-8")
    return path


def spans(items):
    (item,) = items
    return [(one.start, one.end) for one in (item.labels if isinstance(item, Document) else item.predictions)]


def shifted(format: str) -> dict[str, str]:
    """Return the changes that move the span of "Poland" by three characters to the left."""
    if format == "bioc":
        return {'"offset": 23': '"offset": 20'}
    return {"23": "20", "29": "26"}


@pytest.mark.parametrize("format", DATASETS)
def test_one_wrong_span_of_a_gold_standard_is_counted_or_moved(karat_cli, tmp_path, format):
    name, note = DATASETS[format]
    path = written(tmp_path / (name if format != "brat" else "folder"), format, shifted(format))
    corpus = karat.load(path, format=format)
    assert corpus.skipped[note] == 1
    assert spans(corpus) == [(0, 6), (20, 26), (34, 37)]
    out = tmp_path / "out.jsonl"
    ran = karat_cli("data", "convert", path, out, "--from", format, "--as", "gold", "--span-mismatch", "realign")
    assert re.search(rf"{REALIGNED} \(in (document 'd'|d.ann|<http://x/d>)\): 1", ran.err), ran.err
    assert spans(karat.load(out)) == [(0, 6), (23, 29), (34, 37)]


@pytest.mark.parametrize("format", ["brat", "bioc", "pubtator"])
def test_one_wrong_span_of_predictions_is_moved_on_request(tmp_path, format):
    path = written(tmp_path / (DATASETS[format][0] if format != "brat" else "folder"), format, shifted(format))
    run = karat.load_run(path, corpus=None, format=format, span_mismatch="realign")
    assert spans(run) == [(0, 6), (23, 29), (34, 37)]
    assert run.skipped[REALIGNED] == 1


@pytest.mark.parametrize("format", DATASETS)
def test_a_gold_standard_of_wrong_spans_is_refused(tmp_path, format):
    """Two of three surfaces differ, so the offsets belong to another text."""
    changes = shifted(format) | ({'"offset": 34': '"offset": 33'} if format == "bioc" else {"34": "33", "37": "36"})
    path = written(tmp_path / (DATASETS[format][0] if format != "brat" else "folder"), format, changes)
    with pytest.raises(InputError, match=r"'Poland' where the text has 'om Pol'; 2 of 3 .*span_mismatch='realign'"):
        karat.load(path, format=format)


@pytest.mark.parametrize("has_text", [True, False])
@pytest.mark.parametrize("format", ["nif", "nif-categorised"])
def test_a_wrong_span_of_nif_predictions_is_refused_moved_or_skipped(karat_cli, tmp_path, format, has_text):
    """Without a text of its own, the file is compared with the gold standard."""
    changes = shifted(format) | ({} if has_text else {"nif:isString": "nif:sourceUrl"})
    path = written(tmp_path / DATASETS[format][0], format, changes)
    with pytest.raises(InputError, match=r"prediction 2: found the text 'Poland' at \[20, 26\).*'om Pol'"):
        karat.load_run(path, corpus=GOLD, format=format)
    run = karat.load_run(path, corpus=GOLD, format=format, span_mismatch="realign")
    assert spans(run) == [(0, 6), (23, 29), (34, 37)]
    assert run.skipped[REALIGNED] == 1


def test_anchors_of_predictions_count_in_their_kind_of_offsets(tmp_path):
    """The anchor is compared after the conversion: [2, 8) as code points is [3, 9) in UTF-16."""
    gold = Corpus.from_documents([Document("http://x/d", "😀 Berlin", (Label(2, 8, "http://x/B"),))])
    path = tmp_path / "x.ttl"
    karat.save(gold, path)
    content = path.read_text(encoding="utf-8").replace('beginIndex "2"', 'beginIndex "3"')
    path.write_text(content.replace('endIndex "8"', 'endIndex "9"'), encoding="utf-8")
    with pytest.raises(InputError, match="offsets='utf16'"):
        karat.load_run(path, corpus=gold)
    assert spans(karat.load_run(path, corpus=gold, offsets="utf16")) == [(2, 8)]


def test_anchors_without_any_text_are_not_compared(tmp_path):
    """The gold standard has no texts, and neither do the predictions."""
    path = written(tmp_path / "x.ttl", "nif", shifted("nif") | {"nif:isString": "nif:note"})
    assert spans(karat.load_run(path)) == [(0, 6), (20, 26), (34, 37)]


def test_a_right_surface_in_another_case_is_not_moved(tmp_path):
    """Otherwise "berlin" would move to its second occurrence, which is in lower case."""
    gold = Corpus.from_documents([Document("d", "Berlin, berlin", (Label(0, 6, "Q7"),))])
    path = tmp_path / "x.pubtator"
    karat.save(gold, path, format="pubtator")
    path.write_text(path.read_text(encoding="utf-8").replace("\tBerlin\t", "\tberlin\t"), encoding="utf-8")
    assert spans(karat.load_run(path, format="pubtator", span_mismatch="realign")) == [(0, 6)]


def test_a_surface_that_the_text_lacks_stays_and_is_counted(karat_cli, tmp_path):
    path = written(tmp_path / "x.ttl", "nif", {'anchorOf "Poland"': 'anchorOf "Prague"'})
    ran = karat_cli("data", "convert", path, tmp_path / "out.jsonl", "--span-mismatch", "realign")
    assert (ran.code, REALIGNED in ran.err) == (0, False)
    assert "anchors that differ from the text" in ran.out + ran.err
    assert spans(karat.load(tmp_path / "out.jsonl")) == [(0, 6), (23, 29), (34, 37)]


def test_conel_realigns_stated_spans(karat_cli, tmp_path):
    mark = {"mention": "Poland", "entity": "Poland", "span": [20, 26]}
    turn = {"speaker": "USER", "turn_number": 0, "utterance": TEXT, "el_annotations": [mark]}
    path = tmp_path / "x.json"
    path.write_text(json.dumps([{"dialogue_id": "1", "dataset_name": "x", "turns": [turn]}]), encoding="utf-8")
    corpus = karat.load(path, format="conel")
    assert corpus.skipped["mentions whose surface differs from the text at their offsets"] == 1
    assert spans(corpus) == [(20, 26)]
    out = tmp_path / "out.jsonl"
    assert karat_cli("data", "convert", path, out, "--from", "conel", "--span-mismatch", "realign").code == 0
    assert spans(karat.load(out)) == [(23, 29)]


def test_wned_realigns_spans(karat_cli, tmp_path):
    texts = tmp_path / "RawText"
    texts.mkdir()
    (texts / "d").write_text(TEXT, encoding="utf-8")
    path = tmp_path / "x.xml"
    path.write_text(
        '<x.entityAnnotation><document docName="d"><annotation><mention>Poland</mention><wikiName>Poland</wikiName>'
        "<offset>20</offset><length>6</length></annotation></document></x.entityAnnotation>",
        encoding="utf-8",
    )
    assert spans(karat.load(path)) == [(20, 26)]
    assert karat_cli("data", "convert", path, tmp_path / "out.jsonl", "--span-mismatch", "realign").code == 0
    assert spans(karat.load(tmp_path / "out.jsonl")) == [(23, 29)]
