"""PubTator: sections, mentions, relations; units of offsets; what a file of lines cannot hold."""

from __future__ import annotations

import gzip
import io
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Corpus, Document, InputError, Label, Prediction, Response, Triple
from karat.formats.parsing.composite_ids import split_ids
from karat.formats.plugins.pubtator import FORMAT
from karat.model.errors import UsageError
from tests.formats.broken import nearly, read_or_refused

GOLD = """\
7|t|Café chalk lowers pain.
7|a|Chalk was given daily.
7\t5\t10\tchalk\tDrug\tD01
7\t18\t22\tpain\tT1,T2\t-1
7\t24\t29\tChalk\tDrug\tD01|D02\tcolumn
7\t34\t39\tgiven\tVerb
7\tCID\tD01\tD09

8|t|No abstract here.
8|a|
"""


def written(tmp_path, text: str | bytes, name: str = "gold.pubtator"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_documents_mentions_and_relations(tmp_path):
    corpus = karat.load(written(tmp_path, GOLD))
    seven, eight = corpus
    assert (seven.id, seven.text) == ("7", "Café chalk lowers pain.\nChalk was given daily.")
    assert seven.labels == (
        Label(5, 10, "D01", types=("Drug",)),
        Label(18, 22, None, types=("T1", "T2")),
        Label(24, 29, "D01", types=("Drug",)),
        Label(24, 29, "D02", types=("Drug",)),
        Label(34, 39, UNLINKED, types=("Verb",)),
    )
    assert seven.relations == (Triple("D01", "CID", "D09"),)
    assert (eight.text, eight.labels) == ("No abstract here.", ())
    assert corpus.skipped == {"columns after the id of a mention": 1, SEVERAL: 1}


def test_offsets_in_bytes_and_utf16_are_told_by_the_surfaces(tmp_path):
    in_bytes = "7|t|Café chalk 😀 pain\n7|a|\n7\t6\t11\tchalk\tDrug\tD01\n7\t17\t21\tpain\tSign\tD02\n"
    in_utf16 = in_bytes.replace("6\t11", "5\t10").replace("17\t21", "14\t18")
    for text, unit in ((in_bytes, "bytes"), (in_utf16, "UTF-16 units")):
        corpus = karat.load(written(tmp_path, text))
        assert [(label.start, label.end) for label in next(iter(corpus)).labels] == [(5, 10), (13, 17)]
        assert corpus.skipped == {f"texts whose offsets count {unit}": 1}


def test_repeated_and_odd_mentions_are_counted(tmp_path):
    rows = ["7|t|chalk", "7|a|", *["7\t0\t5\tchalk\tDrug\tD1"] * 2, "7\t0\t5\tchalk\tRock\tD1", "7\t0\t2\tcho\tX\t-"]
    corpus = karat.load(written(tmp_path, "\n".join(rows)))
    chalk = Label(0, 5, "D1", types=("Drug", "Rock"))
    assert next(iter(corpus)).labels == (chalk, Label(0, 2, UNLINKED, types=("X",), categories=("surface:cho",)))
    assert corpus.skipped == {
        "duplicate annotations (merged)": 1,
        "duplicate annotations of another type (types merged)": 1,
        "mentions whose surface differs from the text at their offsets": 1,
    }


def test_predictions_with_and_without_their_text(tmp_path):
    full = karat.load_run(written(tmp_path, GOLD, "full.pubtator"))
    bare = written(tmp_path, "".join(row + "\n" for row in GOLD.split("\n") if "\t" in row), "bare.pubtator")
    run = karat.load_run(bare, format="pubtator")
    first = (Prediction(5, 10, "D01", types=("Drug",)), Prediction(18, 22, None, types=("T1", "T2")))
    assert next(iter(full)).predictions[:2] == next(iter(run)).predictions[:2] == first
    assert [response.id for response in run] == ["7"]
    far = written(tmp_path, "7\t0\t99999999999\tchalk\tDrug\n", "far.pubtator")
    with pytest.raises(InputError, match=":1: found a mention from 0 to 99999999999 in an unknown text"):
        karat.load_run(far, format="pubtator")
    with pytest.raises(InputError) as caught:
        karat.load(bare, format="pubtator")
    assert str(caught.value).startswith(f"{bare}:1: found annotations of document '7' without a text; expected a line")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("7 0 5 chalk Drug D1", ":3: found '7 0 5 chalk Drug D1'; expected ID|t|TITLE"),
        ("7\t0\t5\tchalk", ":3: found '7\\t0\\t5\\tchalk'; expected ID|t|TITLE"),
        ("7\t0\tx\tchalk\tDrug\tD1", ":3: found 'x' for the offset; expected an integer."),
        ("7\t0\t9\tchalk\tDrug\tD1", ":3: found a mention from 0 to 9 in a text of 5 code points; expected"),
        ("7\t3\t3\t\tDrug\tD1", ":3: found a mention from 3 to 3 in a text of 5 code points; expected"),
    ],
)
def test_errors_say_where(tmp_path, row, message):
    path = written(tmp_path, f"7|t|chalk\n7|a|\n{row}\n")
    with pytest.raises(InputError) as caught:
        karat.load(path)
    assert str(caught.value).startswith(f"{path}{message}")


def test_a_document_twice_is_refused(tmp_path):
    path = written(tmp_path, "7|t|a\n7|a|b\n\n8|t|a\n\n7|t|c\n")
    with pytest.raises(InputError, match=r":6: found document '7' a second time"):
        karat.load(path)


TEXTS = st.text(alphabet="ab \té😀|\n", min_size=3, max_size=12)


@st.composite
def documents(draw):
    made = []
    for number in range(draw(st.integers(1, 3))):
        text = draw(TEXTS)
        ends = draw(st.sets(st.tuples(st.integers(0, 2), st.integers(3, len(text))), max_size=3))
        labels = tuple(
            Label(
                start,
                end,
                draw(st.sampled_from(["Q1", "a|b", None, UNLINKED])),
                types=tuple(draw(st.lists(st.sampled_from(["A", "B é"]), unique=True))),
            )
            for start, end in sorted(ends)
        )
        stated = tuple(draw(st.lists(st.just(Triple("Q1", "r", "Q2")), max_size=1)))
        made.append(Document(f"d {number}", text, labels, relations=stated))
    return made


@given(documents())
def test_what_is_written_is_read_again(made):
    file = io.BytesIO()
    FORMAT.write_corpus(Corpus.from_documents(made), file)
    assert FORMAT.recognises(file.getvalue())
    assert list(FORMAT.read_corpus(Held(file.getvalue()), True)) == made


class Held:
    """Bytes in memory, as a format is given them."""

    path = label = stem = "memory"

    def __init__(self, data: bytes) -> None:
        self.first_bytes = data

    def open_stream(self):
        return io.BytesIO(self.first_bytes)


@pytest.mark.parametrize(
    "document",
    [
        Document("a|b", "text"),
        Document("a\tb", "text"),
        Document("d", "line\r\nline"),
        Document("d", "text", (Label(0, 1, "Q\t1"),)),
        Document("d", "text", (Label(0, 1, "-1"),)),
        Document("d", "text", (Label(0, 1, "-"),)),
        Document("d", "text", (Label(0, 1, "Q1", types=("a,b",)),)),
        Document("d", "text", relations=(Triple("Q1", "r", "Q2", score=0.5),)),
        Document("d", "text", relations=(Triple("Q1", "7", "Q2"),)),
    ],
)
def test_what_cannot_be_held_is_refused(document):
    with pytest.raises(UsageError, match="that PubTator cannot store"):
        FORMAT.write_corpus(Corpus.from_documents([document]), io.BytesIO())


def test_predictions_are_read_by_the_format_itself():
    run = FORMAT.read_run(Held(GOLD.encode()))
    assert list(run)[1] == Response("8")
    assert len(run.predictions) == 5


@given(nearly(GOLD.encode()))
def test_broken_files_are_refused_in_words(data):
    read_or_refused(lambda source: FORMAT.read_corpus(source, True), data)


@pytest.mark.parametrize("head", [b"a|t|x", b"a|t|x\na|a|y\n", b"\n1|t|x\n1\t0\t1\tx\tT\n"])
def test_recognised(head):
    assert FORMAT.recognises(head)


@pytest.mark.parametrize("head", [b"", b"a|b|c", b"a|t|x\nb|a|y\n", b'{"a": "|t|"}', b"a\tb|t|x"])
def test_not_recognised(head):
    assert not FORMAT.recognises(head)


ARTICLE = """\
7|t|Aspirin helps.
7|a|

7|t|Ibuprofen too,
7|a|naïve ibuprofen.
7\t0\t9\tIbuprofen\tDrug\tD2
7\t21\t30\tibuprofen\tDrug\tD2

7\t15\t20\tnaïve\tTrait\tD3

8|t|Chalk.
8|a|
8\t0\t5\tChalk\tDrug\tD4
"""
SEVERAL = "mentions with several ids (each id counts, as in BioCreative; formats with -any accept one of them)"
JOINED = "passages joined with the previous one (the document continues after an empty line)"


def test_a_blank_line_ends_a_document_and_its_offsets(tmp_path):
    """Three passages of 7 become one document; each offset counts from the passage above it."""
    corpus = karat.load(written(tmp_path, ARTICLE))
    seven, eight = corpus
    assert seven.text == "Aspirin helps.\nIbuprofen too,\nnaïve ibuprofen."
    assert seven.labels == (
        Label(15, 24, "D2", types=("Drug",)),
        Label(36, 45, "D2", types=("Drug",)),
        Label(30, 35, "D3", types=("Trait",)),
    )
    assert eight.labels == (Label(0, 5, "D4", types=("Drug",)),)
    assert corpus.skipped == {JOINED: 1}
    run = karat.load_run(written(tmp_path, ARTICLE, "run.pubtator"))
    assert karat.evaluate(corpus, run)["strong:micro.f1"] == 1


def test_surfaces_of_another_text_are_refused(tmp_path):
    """Two of three surfaces do not stand where they should; capitals and one of three may differ."""
    text = "7|t|one two six\n7|a|\n7\t0\t3\t{}\tT\tA\n7\t4\t7\t{}\tT\tB\n7\t8\t11\t{}\tT\tC\n"
    with pytest.raises(InputError) as caught:
        karat.load(written(tmp_path, text.format("one", "six", "two")))
    assert ":4: found the surface 'six' where the text has 'two'; 2 of 3 surfaces differ;" in str(caught.value)
    for surfaces, differ in (("ONE", "TWO", "SIX"), 3), (("one", "two", "ten"), 1):
        corpus = karat.load(written(tmp_path, text.format(*surfaces)))
        assert corpus.skipped == {"mentions whose surface differs from the text at their offsets": differ}


# --- composite ids


@pytest.mark.parametrize(
    ("entity", "divided"),
    [
        ("D1", ("D1",)),
        ("D1|D2", ("D1", "D2")),
        ("MESH:D1,MESH:D2,-", ("MESH:D1", "MESH:D2")),
        ("D1|OMIM:123|D1", ("D1", "OMIM:123")),
        ("7157;7158", ("7157", "7158")),
        ("D1|-1", ("D1", "-1")),
        ("D1+D2", ("D1+D2",)),
        ("D1+D2|D3", ("D1+D2", "D3")),
        ("c|SUB|T|920|G;Gene:23417;Disease:C535702;VariantGroup:0",) * 2,
        ("rs1;Disease:D2;VariantGroup:0",) * 2,
        ("p|FS|S|119||;RS#:397514640;VariantGroup:0",) * 2,
        ("Paris, Texas",) * 2,
        ("-,-",) * 2,
    ],
)
def test_what_a_composite_id_joins(entity, divided):
    assert split_ids(entity) == ((divided,) if isinstance(divided, str) else divided)


COMPOSITE = """\
7|t|renal and hepatic failure, pain
7|a|
7\t0\t25\trenal and hepatic failure\tDisease\tD1|D2
7\t27\t31\tpain\tDisease\tD3
"""


def composite(tmp_path, reading, answered):
    """Precision and recall of links, and of the ids of the document, where the first mention is answered so."""
    gold = karat.load(written(tmp_path, COMPOSITE), format=reading)
    rows = COMPOSITE.replace("D1|D2\n", f"{answered[0]}\n")
    rows += "".join(f"7\t0\t25\trenal and hepatic failure\tDisease\t{more}\n" for more in answered[1:])
    run = karat.load_run(written(tmp_path, rows, "run.pubtator"), format=reading)
    names = [f"{relation}:micro.{short}" for relation in ("strong", "entity") for short in ("p", "r")]
    result = karat.evaluate(gold, run, measures=names)
    return tuple(result[name] for name in names)


@pytest.mark.parametrize(
    ("reading", "answered", "expected"),
    [
        # By default each id counts, as in BC5CDR's evaluation; before, the joined id was one id, and P and R here 1/2.
        ("pubtator", ["D1|D2"], (1, 1, 1, 1)),
        # Gold is D1, D2 and D3.
        ("pubtator", ["D2|D1"], (1, 1, 1, 1)),
        ("pubtator", ["D2", "D1"], (1, 1, 1, 1)),
        ("pubtator", ["D1"], (1, 2 / 3, 1, 2 / 3)),
        ("pubtator", ["D1|D9"], (2 / 3, 2 / 3, 2 / 3, 2 / 3)),
        # Any: gold is (D1 or D2) and D3.
        ("pubtator-any", ["D2"], (1, 1, 1, 1)),
        ("pubtator-any", ["D9|D2"], (1, 1, 1, 1)),
        ("pubtator-any", ["D9"], (1 / 2, 1 / 2, 1 / 2, 1 / 2)),
    ],
)
def test_what_a_composite_prediction_is_worth(tmp_path, reading, answered, expected):
    assert composite(tmp_path, reading, answered) == pytest.approx(expected)


def test_composite_ids_are_counted_on_both_sides(tmp_path):
    path = written(tmp_path, COMPOSITE)
    assert karat.load(path).skipped == {SEVERAL: 1}
    assert karat.load_run(path, format="pubtator").skipped == {SEVERAL: 1}
    result = karat.evaluate(karat.load(path), karat.load_run(path, format="pubtator"))
    assert result.skipped[f"gold: {SEVERAL}"] == 1


def test_an_id_that_would_be_read_as_two_is_not_written(tmp_path):
    corpus = Corpus.from_documents([Document("7", "pain", (Label(0, 4, "D1|D2"),))])
    with pytest.raises(UsageError, match=r"an id that is read as several.*D1\|D2"):
        karat.save(corpus, tmp_path / "x.pubtator", format="pubtator")


# --- published files


def published(shared, name):
    return shared / "formats" / "pubtator" / name


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "documents", "labels", "each", "relations", "skipped"),
    [
        # Four mentions of CDR's sample have two ids each, and one has the same id three times.
        ("CDR_sample.txt.gz", 50, 925, 929, 124, {"columns after the id of a mention": 5, SEVERAL: 4}),
        ("NLMchem_Test.PubTator.gz", 50, 12_411, 13_042, 0, {JOINED: 3_378, SEVERAL: 507}),
    ],
)
def test_every_surface_of_a_published_file_stands_in_its_text(
    shared, name, documents, labels, each, relations, skipped
):
    path = published(shared, name)
    corpus = karat.load(path)
    assert (len(corpus), len(corpus.labels), corpus.skipped) == (documents, each, skipped)
    assert sum(len(document.relations) for document in corpus) == relations
    spans = [dict.fromkeys((label.start, label.end, label.types) for label in document.labels) for document in corpus]
    found = [
        document.text[start:end] for document, places in zip(corpus, spans, strict=True) for start, end, _ in places
    ]
    rows = [line.split("\t") for line in gzip.decompress(path.read_bytes()).decode().split("\n")]
    assert found == [row[3] for row in rows if len(row) > 5]
    assert len(found) == labels


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("NCBItrainset_corpus.txt.gz", ":4557: found document '8528200' a second time"),
        ("tmVar3_Train.PubTator.gz", ":368: found a mention from 2043 to 2047 in a text of 2046 code points"),
    ],
)
def test_defects_of_published_files_are_named(shared, name, description):
    """NCBI's training set has one abstract twice; in tmVar's, an abstract lost a few blanks behind its offsets."""
    with pytest.raises(InputError, match=description):
        karat.load(published(shared, name))


@pytest.mark.shared
def test_the_package_bioc_reads_the_same(shared):
    pytest.importorskip("bioc", reason="the package bioc is not installed (pip install bioc)")
    path = published(shared, "CDR_sample.txt.gz")
    theirs = import_module("bioc.pubtator").loads(gzip.decompress(path.read_bytes()).decode())
    for peer, document in zip(theirs, karat.load(path), strict=True):
        assert (peer.pmid, f"{peer.title}\n{peer.abstract}") == (document.id, document.text)
        found = [(label.start, label.end, label.entity) for label in document.labels]
        assert found == [(note.start, note.end, note.id if note.id != "-1" else None) for note in peer.annotations]
        stated = [(one.subject, one.predicate, one.object) for one in document.relations]
        assert stated == [(one.id1, one.type, one.id2) for one in peer.relations]
