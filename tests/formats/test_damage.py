"""Damaged files of the formats of BAT and neleval: nothing but a `KaratError` ever escapes a reader."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.model.errors import KaratError
from karat.model.registry import get_plugin
from karat.model.spec.format import Format
from karat.storage.files import Source

WNED = (
    '<?xml version="1.0"?><x.entityAnnotation><document docName="d"><annotation><mention>Ulm</mention>'
    "<wikiName>Ulm</wikiName><offset>0</offset><length>3</length></annotation></document></x.entityAnnotation>"
)
PROBLEM = (
    "<ReferenceProblem><ReferenceFileName>d</ReferenceFileName><ReferenceInstance><SurfaceForm>Ulm</SurfaceForm>"
    "<Offset>0</Offset><Length>3</Length><ChosenAnnotation>*null*</ChosenAnnotation></ReferenceInstance>"
    "</ReferenceProblem>"
)
IITB = (
    "<iitb.CSAW.entityAnnotations><annotation><docName>d</docName><userId>u</userId><wikiName>U</wikiName>"
    "<offset>0</offset><length>3</length></annotation></iitb.CSAW.entityAnnotations>"
)
GERDAQ = '<dataset><instance>a <annotation rank_0_id="7" rank_0_title="U">b</annotation></instance></dataset>'
ULM = "http://dbpedia.org/resource/Ulm"

# The format, what is given, and the files around it; the first file is the one that is damaged.
CASES = {
    "wned": ("wned", "", {"x.xml": WNED, "RawText/d": "Ulm 😀"}),
    "problems": ("wned", "", {"Problems/d": PROBLEM, "RawTexts/d": "Ulm 😀"}),
    "problem": ("wned", "Problems/d", {"Problems/d": PROBLEM, "RawTexts/d": "Ulm 😀"}),
    "wned texts": ("wned", "", {"RawText/d": "Ulm 😀", "x.xml": WNED}),
    "iitb": ("iitb", "", {"CSAW_Annotations.xml": IITB, "crawledDocs/d": "Ulm 😀"}),
    "meij": ("meij", "", {"original_tweets.list": "1\ta\tb\tc\td\n", "wsdm2012_annotations.txt": "1\t2\tU\n"}),
    "meij tags": ("meij", "", {"wsdm2012_annotations.txt": "1\t2\tU\n", "original_tweets.list": "1\ta\tb\tc\td\n"}),
    "gerdaq": ("gerdaq", "x.xml", {"x.xml": GERDAQ}),
    "neel": ("neel", "x.tsv", {"x_neel.gs": f"123456789\t0\t3\t{ULM}\t1\tT\n", "x.tsv": "|123456789|,|Ulm|\n"}),
    "neel tweets": ("neel", "x.tsv", {"x.tsv": "|123456789|,|Ulm|\n", "x_neel.gs": f"123456789\t0\t3\t{ULM}\t1\tT\n"}),
    "erd": ("erd", "", {"x.annotation.txt": "q\t0\tUlm\tulm\t1\n", "x.query.txt": "q\tulm\n"}),
    "kdd": ("kdd", "x.txt", {"x.txt": ".\tO\tO\t#\nulm\tulm\tO\tB-LOC\tUlm\thttp://x\nb\tO\tO\tI-LOC\n.\tO\tO\t#\n"}),
    "bat-csv": ("bat-csv", "x.csv", {"x.csv": "d,0,3,7,0.5\ne,1,2,-1\n"}),
    "neleval": ("neleval", "x.tab", {"x.tab": 'd\t0\t3\tQ1\t0.5\t{"type": "A"}\te\t0.4\tB\nd\t5\t6\tNIL3\n'}),
}
EDITS = st.lists(
    st.tuples(
        st.floats(0, 1), st.integers(0, 4), st.binary(max_size=3) | st.sampled_from([b"9" * 12, b"-", b"\xff", b"<"])
    ),
    min_size=1,
    max_size=3,
)


@pytest.mark.parametrize("case", CASES)
@given(edits=EDITS)
def test_damage_is_reported(case, edits):
    name, given_path, files = CASES[case]
    known = get_plugin("formats", name, Format)
    with TemporaryDirectory() as folder:
        for place, (path, content) in enumerate(files.items()):
            data = content.encode()
            for at, gone, new in edits if place == 0 else ():
                cut = int(at * len(data))
                data = data[:cut] + new + data[cut + gone :]
            (Path(folder) / path).parent.mkdir(exist_ok=True)
            (Path(folder) / path).write_bytes(data)
        source = Source(str(Path(folder) / given_path))
        for read in (lambda: known.read_corpus(source, True), lambda: known.read_run and known.read_run(source)):
            with suppress(KaratError):
                read()
