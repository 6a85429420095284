"""HIPE TSV: mentions, links and text from tokens; documents; files of predictions that say little."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given

import karat
from karat import UNLINKED, Candidate, InputError, Label, Prediction
from karat.formats.plugins import hipe
from tests.formats.broken import nearly, read_or_refused

COLUMNS = [
    "TOKEN",
    *("NE-COARSE-LIT", "NE-COARSE-METO", "NE-FINE-LIT", "NE-FINE-METO", "NE-FINE-COMP", "NE-NESTED"),
    *("NEL-LIT", "NEL-METO", "MISC"),
]


def table(*rows: str) -> str:
    """A table of rows `token coarse link …`, with `column=value` for other columns; `#` lines stay as they are."""
    made = ["\t".join(COLUMNS)]
    for row in rows:
        if row.startswith("# ") or not row:
            made.append(row)
            continue
        token, coarse, link, *more = row.split()
        cells = dict.fromkeys(COLUMNS, "_") | {"TOKEN": token, "NE-COARSE-LIT": coarse, "NEL-LIT": link}
        cells |= dict(entry.split("=") for entry in more)
        made.append("\t".join(cells.values()))
    return "\n".join(made) + "\n"


def written(tmp_path, text: str, name: str = "gold.tsv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


GOLD = table(
    "# hipe2022:document_id = one",
    "# hipe2022:date = 1890-01-01",
    "In O _",
    "Old B-loc Q1 NE-FINE-LIT=B-loc.town MISC=LED0.10",
    "Ulm I-loc Q1 NE-FINE-LIT=I-loc.town MISC=NoSpaceAfter|LED0.10",
    ", O _ MISC=EndOfLine",
    "#5 O _",
    "Ada B-pers NIL",
    "",
    "# hipe2022:document_id = two",
    "Bob B-pers _ MISC=NoSpaceAfter|EndOfSentence",
    ". O _ MISC=Odd",
)


def test_text_spans_links_and_flags(tmp_path):
    corpus = karat.load(written(tmp_path, GOLD))
    one, two = corpus
    assert (one.id, one.text, one.meta) == ("one", "In Old Ulm,\n#5 Ada", {"hipe2022:date": "1890-01-01"})
    assert one.labels == (
        Label(3, 10, "Q1", types=("loc",), categories=("fine:loc.town", "LED:0.10")),
        Label(15, 18, None, types=("pers",)),
    )
    assert (two.text, two.labels) == ("Bob.", (Label(0, 3, UNLINKED, types=("pers",)),))
    assert corpus.skipped == {"flags for the end of a sentence": 1, "flags of tokens outside mentions": 1}


def test_iobes_tags_and_neighbours(tmp_path):
    rows = ["# document_id = d", "a B-x Q1", "b E-x Q1", "c S-x Q2", "d S-x Q3", "e B-x Q4", "f B-x Q5", "g I-y Q6"]
    corpus = karat.load(written(tmp_path, table(*rows)))
    assert [(label.start, label.end, label.entity) for label in next(iter(corpus)).labels] == [
        (0, 3, "Q1"),
        (4, 5, "Q2"),
        (6, 7, "Q3"),
        (8, 9, "Q4"),
        (10, 11, "Q5"),
        (12, 13, "Q6"),
    ]
    assert corpus.skipped == {"mentions that begin without a B or S tag": 1}


def test_metonymic_senses_are_alternatives(tmp_path):
    rows = [
        "# document_id = d",
        "Ulm B-loc Q1 NE-COARSE-METO=B-org NEL-METO=Q2",
        "Bonn B-loc Q3|NIL NE-COARSE-METO=B-org NEL-METO=_",
        "town O _ NE-COARSE-METO=B-org NEL-METO=Q4",
        "Rome B-loc _ NE-COARSE-METO=B-org NEL-METO=Q5",
    ]
    corpus = karat.load(written(tmp_path, table(*rows)))
    assert next(iter(corpus)).labels == (
        Label(0, 3, "Q1", types=("loc",), mention_id="0-1"),
        Label(0, 3, "Q2", types=("org",), categories=("sense:metonymic",), mention_id="0-1"),
        Label(4, 8, "Q3", types=("loc",), mention_id="1-2"),
        Label(4, 8, None, types=("loc",), mention_id="1-2"),
        Label(14, 18, UNLINKED, types=("loc",)),
    )
    assert corpus.skipped == {
        "metonymic senses without link, or of mentions without a literal link": 2,
        "metonymic senses without a literal sense": 1,
    }


def test_what_is_left_out_is_counted(tmp_path):
    rows = [
        "# document_id = d",
        "a B-x Q1 NE-NESTED=B-y NE-FINE-COMP=B-z MISC=Partial-0:1",
        "b I-x Q2 NE-FINE-LIT=B-w",
        "# segment = 2",
        "c O Q3",
    ]
    corpus = karat.load(written(tmp_path, table(*rows) + "\tO\n"))
    assert next(iter(corpus)).labels == (Label(0, 3, "Q1", types=("x",), categories=("Partial-0:1",)),)
    assert corpus.skipped == {
        "comment lines inside documents": 1,
        "lines without a token": 1,
        "mentions whose tokens have different links (the first counts)": 1,
        "links on tokens outside all mentions": 1,
        "nested mentions": 1,
        "components of mentions": 1,
        "mentions of a part of a token (read as the whole token)": 1,
        "mentions with several fine types": 1,
    }


RUN = table(
    "In O _ NE-COARSE-METO=B-org NEL-METO=Q5",
    "Old B-loc Q7|Q1|NIL NE-COARSE-METO=B-org NEL-METO=Q9",
    "Ulm I-loc Q7|Q1|NIL NE-COARSE-METO=I-org NEL-METO=Q9",
)


def test_predictions_are_laid_on_the_gold_file_beside_them(tmp_path):
    rows = ["In O _", "Old O _", "Ulm B-loc Q1", ", O _", "#5 O _", "Ada B-pers NIL", "Bob O _", ". O _"]
    path = written(tmp_path, table(*rows), "team9_bundle1_tiny_en_1.tsv")
    with pytest.raises(InputError) as caught:
        karat.load_run(path)
    assert str(caught.value).startswith(f"{path}: found no line that names a document; expected lines such as")
    gold = tmp_path / "HIPE-2022-v2.1-tiny-test-en.tsv.gz"
    gold.write_bytes(gzip.compress(GOLD.encode()))
    run = karat.load_run(path)
    assert [(response.id, response.predictions) for response in run] == [
        ("one", (Prediction(7, 10, "Q1", types=("loc",)), Prediction(15, 18, None, types=("pers",)))),
        ("two", ()),
    ]
    assert run.skipped == {f"documents split and spaced as in {gold.name}": 2}


def test_a_gold_file_with_other_tokens_is_not_taken(tmp_path):
    written(tmp_path, GOLD, "HIPE-2022-v1.0-tiny-test-en.tsv")
    path = written(tmp_path, RUN, "team9_bundle1_tiny_en_1.tsv")
    with pytest.raises(InputError, match="no line that names a document"):
        karat.load_run(path)


def test_ranked_links_are_candidates(tmp_path):
    path = written(tmp_path, RUN.replace("In", "# document_id = d\nIn", 1), "run.tsv")
    run = karat.load_run(path)
    assert next(iter(run)).predictions == (
        Prediction(3, 10, "Q7", types=("loc",), candidates=(Candidate("Q7"), Candidate("Q1"), Candidate("NIL"))),
    )
    assert run.skipped["metonymic senses in predictions"] == 2
    assert run.skipped["documents without a NoSpaceAfter flag (spaces between all tokens)"] == 1


@pytest.mark.parametrize(
    ("gold_link", "ranking", "best_rank"),
    [
        ("NIL", "Q1|NIL", 2),
        ("NIL", "Q1|nil|Q2", 2),
        ("NIL", "Q1|Q2|Q3|NIL", 4),
        ("NIL", "NIL|Q1", 1),
        ("Q2", "NIL|Q2", 2),
        ("Q2", "Q1|NIL|Q3|Q2", 4),
        ("NIL", "Q1|Q2", None),
    ],
)
def test_nil_has_a_rank_of_its_own_in_a_ranking(tmp_path, gold_link, ranking, best_rank):
    """The scorer looks for the gold link among the first 1, 3 and 5 links, of which NIL is one."""
    document = "# hipe2022:document_id = d"
    gold = written(tmp_path, table(document, f"Ulm B-loc {gold_link} MISC=NoSpaceAfter"))
    run = written(tmp_path, table(document, f"Ulm B-loc {ranking}"), "run.tsv")
    measures = {1: "hipe-nel-strict:micro.f1", 3: "hipe-nel-strict-3:micro.f1", 5: "hipe-nel-strict-5:micro.f1"}
    result = karat.evaluate(karat.load(gold), karat.load_run(run), profile="hipe", measures=list(measures.values()))
    for k, name in measures.items():
        assert result[name] == (best_rank is not None and best_rank <= k), name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (table("a X-loc _"), ":2: found 'X-loc' in NE-COARSE-LIT; expected O, _ or B-, I-, E- or S- with a type."),
        (table("a loc _"), ":2: found 'loc' in NE-COARSE-LIT; expected"),
        (table("a B-loc _").replace("\t_\n", "\n"), ":2: found 9 columns; expected 10 columns."),
        (table(), ": found no token; expected a line of columns, then a token on each line."),
    ],
)
def test_errors_say_where(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        karat.load(path)
    assert str(caught.value).startswith(f"{path}{message}")


def test_runs_of_equal_links_are_read_only_by_their_own_name(tmp_path):
    rows = ["# document_id = d", "a B-x NIL MISC=NoSpaceAfter", "b B-x NIL", "c B-x Q1", "d O Q1", "e O _", "f O Q1|Q2"]
    path = written(tmp_path, table(*rows))
    assert [(label.start, label.end, label.entity) for label in next(iter(karat.load(path))).labels] == [
        (0, 1, None),
        (1, 2, None),
        (3, 4, "Q1"),
    ]
    corpus = karat.load(path, format="hipe-runs")
    assert next(iter(corpus)).labels == (
        Label(0, 2, None),
        Label(3, 6, "Q1"),
        Label(9, 10, "Q1", mention_id="5-6"),
        Label(9, 10, "Q2", mention_id="5-6"),
    )
    assert corpus.skipped == {"tokens of mentions (bounds and types are not read)": 3}
    written(tmp_path, table(*rows[1:]), "t_bundle1_x_en_1.tsv")
    written(tmp_path, table(*rows), "HIPE-2022-v2.0-x-test-en.tsv")
    run = karat.load_run(tmp_path / "t_bundle1_x_en_1.tsv", format="hipe-runs")
    assert next(iter(run)).predictions == (
        Prediction(0, 2, None),
        Prediction(3, 6, "Q1"),
        Prediction(9, 10, "Q1", candidates=(Candidate("Q1"), Candidate("Q2"))),
    )


def test_a_file_of_gold_is_told_from_predictions(tmp_path):
    ranked = GOLD.replace("\tQ1\t", "\tQ1|Q2\t")
    for name, text, metadata in (("a.tsv", GOLD, {"predictions": "labels"}), ("b.tsv", ranked, {})):
        assert karat.load_run(written(tmp_path, text, name)).metadata == metadata


@given(nearly(GOLD.encode()))
def test_broken_files_are_refused_in_words(data):
    read_or_refused(lambda source: hipe.FORMAT.read_corpus(source, True), data)
    read_or_refused(hipe.FORMAT.read_run, data)


@given(nearly(GOLD.encode()))
def test_broken_predictions_are_refused_beside_their_gold(corpus, data):
    read_or_refused(lambda source: hipe.FORMAT.read_run_with_gold(source, lambda: corpus), data)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return karat.load(written(tmp_path_factory.mktemp("hipe"), GOLD))


@pytest.mark.shared
def test_counts_on_the_shared_files(shared):
    folder = shared / "formats" / "hipe"
    gold = karat.load(folder / "HIPE-2022-v2.1-ajmc-test-en.tsv.gz")
    assert (len(gold), len(gold.labels)) == (13, 348)
    entities = [label.entity for document in gold for label in document.labels]
    assert (entities.count(None), entities.count(UNLINKED)) == (9, 165)
    assert gold.skipped == {
        "mentions of a part of a token (read as the whole token)": 2,
        "flags for the end of a sentence": 238,
        "flags of tokens outside mentions": 17,
    }
    for number, predictions in ((1, 370), (2, 356)):
        run = karat.load_run(folder / f"team2_bundle1_ajmc_en_{number}.tsv.gz", corpus=gold)
        assert (len(run), len(run.predictions)) == (13, predictions)
    by_runs = karat.load(folder / "HIPE-2022-v2.1-ajmc-test-en.tsv.gz", format="hipe-runs")
    assert len(by_runs.labels) == 183
