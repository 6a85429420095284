"""How the HIPE scorer counts: rows paired with the gold standard by place, and its rules one by one."""

from __future__ import annotations

import gzip

import pytest

import karat
from karat import Candidate, Corpus, Document, InputError, Label, Prediction, Response, Run
from karat.analysis.comparison.entries import load_entries
from karat.data.load import load_gold_and_runs
from tests.formats.test_hipe import table, written

NERC, NEL = "rt2kb/hipe-nerc-strict", "hipe-nel-strict"


def counts(gold, run, view, **formats):
    """TP, FP and FN of a view."""
    corpus, [loaded] = load_gold_and_runs(str(gold), [str(run)], **formats)
    found = karat.evaluate(corpus, loaded, profile="hipe", measures=[f"{view}:micro.f1"]).counts(view)
    return found.matched_predictions, found.unmatched_predictions, found.unmatched_gold


def both(tmp_path, gold, run):
    """Files of a gold standard and a run from rows, of one document."""
    name = "# hipe2022:document_id = d"
    return written(tmp_path, table(name, *gold)), written(tmp_path, table(*run), "run.tsv")


@pytest.mark.shared
@pytest.mark.parametrize(
    ("case", "view", "expected"),
    [
        ("meto", NERC, (1, 0, 0)),
        ("case", NERC, (1, 0, 0)),
        ("hash", NERC, (1, 0, 0)),
        ("newtype", NERC, (1, 0, 0)),
        ("split", NEL, (0, 2, 1)),
        ("outside", NEL, (1, 1, 0)),
        ("pipe", NEL, (0, 1, 1)),
    ],
)
def test_the_small_cases_of_the_scorer(shared, case, view, expected):
    folder = shared / "formats" / "hipe" / "cases"
    assert counts(folder / f"{case}.gold.tsv", folder / f"{case}.pred.tsv", view) == expected


def test_what_a_rule_leaves_out_of_a_run_is_counted(tmp_path):
    gold = ["New B-loc Q60", "York I-loc Q60", "#1 B-loc _", "on O _", "Monday O _"]
    run = [
        "New B-LOC Q60",
        "York I-LOC Q1",
        "#1 B-loc Q3",
        "on O Q2 NE-COARSE-METO=B-org NEL-METO=Q5",
        "Monday B-time _ NE-FINE-LIT=B-time.day",
    ]
    gold_path, run_path = both(tmp_path, gold, run)
    corpus = karat.load(gold_path)
    assert corpus.skipped == {"tags of tokens that begin with #": 1}
    loaded = karat.load_run(run_path, corpus=corpus)
    assert next(iter(loaded)).predictions == (
        Prediction(0, 3, "Q60"),
        Prediction(0, 8, types=("loc",)),
        Prediction(4, 8, "Q1"),
        Prediction(12, 14, "Q2"),
        Prediction(15, 21),
    )
    assert loaded.skipped == {
        "links that do not cover a whole mention (predictions without type)": 3,
        "predictions of a type that the gold standard lacks (type not scored)": 1,
        "metonymic senses in predictions": 1,
        "metonymic links in predictions": 1,
        "fine types of tokens in predictions": 1,
        "tags of tokens that begin with #": 1,
    }


GOLD = (
    "# document_id = one",
    "In O _",
    "Ulm B-loc Q1 MISC=NoSpaceAfter",
    ", O _",
    '"x" O _',
    "#5 O _",
    "Ada B-pers NIL",
    "# document_id = two",
    "Bob B-pers Q2 MISC=NoSpaceAfter",
    ". O _",
)


@pytest.mark.parametrize(
    ("rows", "skipped"),
    [
        (GOLD, {}),
        ([row.partition(" MISC")[0] for row in GOLD], {}),  # another MISC column
        ([row.replace(" O _", " O _ MISC=NoSpaceAfter") for row in GOLD], {}),
        ([row for row in GOLD if not row.startswith("# ")], {}),  # no line names a document
        ([row for row in GOLD if not row.startswith("#")], {}),  # tokens with # were taken for comments
        ([*GOLD[:3], "# a comment", "", *GOLD[3:]], {"comment lines inside documents": 1}),
        (
            [row.replace('"x"', '"""x"""') for row in GOLD],
            {"tokens quoted differently than in the gold standard (paired by position)": 1},
        ),
        (
            [row.replace("In ", "in ") for row in GOLD],
            {"tokens that differ from the gold standard (paired by position)": 1},
        ),
        ([*GOLD[7:], *GOLD[:7]], {}),  # named documents in another order
    ],
)
def test_rows_are_paired_by_place(tmp_path, rows, skipped):
    corpus = karat.load(written(tmp_path, table(*GOLD)))
    run = karat.load_run(written(tmp_path, table(*rows), "run.tsv"), corpus=corpus)
    assert {response.id: response.predictions for response in run} == {
        "one": (Prediction(3, 6, "Q1", types=("loc",)), Prediction(15, 18, None, types=("pers",))),
        "two": (Prediction(0, 3, "Q2", types=("pers",)),),
    }
    assert run.skipped == skipped


def test_blank_cells_behind_a_comment_make_no_token(tmp_path):
    text = table(*(row for row in GOLD if not row.startswith("# ")))
    head, rest = text.split("\n", 1)
    blank = "# document_id" + "\t" * 11
    path = written(tmp_path, f"{head}\n{blank}\n# segment{blank[13:]}\n{rest}" + "\t" * 11 + "\n", "run.tsv")
    run = karat.load_run(path, corpus=karat.load(written(tmp_path, table(*GOLD))))
    assert len(run.predictions) == 3
    assert run.skipped == {"lines without a token": 1}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (GOLD[:-1], ":10: found 1 tokens in document 'two'; expected 2 tokens, as many as in the gold standard."),
        (
            [row for row in GOLD if not row.startswith(("# ", ","))],
            ":4: found 6 tokens, which first differ from the gold standard in document 'one'; expected 7 tokens",
        ),
        (
            [row for row in GOLD[:-1] if not row.startswith("# ")],
            ":8: found 6 tokens, which first differ from the gold standard in document 'two'; expected 7 tokens",
        ),
        (
            [f"a{row}" for row in GOLD if not row.startswith("#")],
            ":2: found the token 'aIn'; 7 of 7 tokens differ from the gold standard; expected 'In' at this",
        ),
        (("# document_id = three", "a O _"), ":3: found document 'three', which gold does not have"),
    ],
)
def test_rows_that_cannot_be_paired_are_refused(tmp_path, rows, message):
    path = written(tmp_path, table(*rows), "run.tsv")
    with pytest.raises(InputError) as caught:
        karat.load_run(path, corpus=karat.load(written(tmp_path, table(*GOLD))))
    assert str(caught.value).startswith(f"{path}{message}")


def test_a_run_without_its_gold_is_read_by_its_own_columns_and_says_so(tmp_path):
    ranked = [row.replace("Q2", "Q2|Q3") for row in GOLD]
    run = karat.load_run(written(tmp_path, table(*ranked), "run.tsv"))
    said = "documents spaced by their MISC column (read without the gold standard)"
    assert (len(run.predictions), run.skipped) == (3, {said: 2})


def test_a_run_beside_several_golds_is_laid_on_the_tokens_of_its_own(tmp_path):
    golds = written(tmp_path, table(*GOLD[:7]), "a.tsv"), written(tmp_path, table(*GOLD[7:]), "b.tsv")
    bare = [row.partition(" MISC")[0] for row in GOLD]
    runs = written(tmp_path, table(*bare[:7]), "c.tsv"), written(tmp_path, table(*bare[7:]), "d.tsv")
    for entry in load_entries([*map(str, runs)], [*map(str, golds)]):
        assert karat.evaluate(entry.corpus, entry.run, profile="hipe")["hipe-nel-strict:micro.f1"] == 1


def test_pooled_runs_are_laid_each_on_its_own_gold(tmp_path):
    first, second = written(tmp_path, table(*GOLD[:7]), "a.tsv"), written(tmp_path, table(*GOLD[7:]), "b.tsv")
    bare = [row.partition(" MISC")[0] for row in GOLD if not row.startswith("# ")]
    runs = written(tmp_path, table(*bare[:6]), "c.tsv"), written(tmp_path, table(*bare[6:]), "d.tsv")
    assert counts(f"{first}+{second}", f"{runs[0]}+{runs[1]}", NEL) == (3, 0, 0)


@pytest.mark.shared
def test_a_run_with_another_misc_column_scores_the_same(shared, tmp_path):
    folder = shared / "formats" / "hipe"
    gold = folder / "HIPE-2022-v2.1-ajmc-test-de.tsv.gz"
    rows = gzip.decompress((folder / "team1_bundle4_ajmc_de_1.tsv.gz").read_bytes()).decode().split("\n")
    other = [row.rpartition("\t")[0] + "\tNoSpaceAfter" if "\t" in row[1:] else row for row in rows[1:]]
    path = written(tmp_path, "\n".join([rows[0], *other]), "run.tsv")
    assert counts(gold, path, NERC) == counts(gold, folder / "team1_bundle4_ajmc_de_1.tsv.gz", NERC)


@pytest.mark.parametrize(
    ("gold", "prediction", "expected"),
    [
        ("Q1", "Q1|Q2", (1, 1, 1)),
        ("Q2", "Q1|Q2", (0, 1, 1)),
        ("Q3", "Q1|Q2|Q3|Q4|Q5|Q6", (0, 1, 1)),
        ("Q4", "Q1|Q2|Q3|Q4|Q5|Q6", (0, 0, 1)),
        ("Q5", "Q1|Q2|Q3|Q4|Q5|Q6", (0, 0, 1)),
        ("Q6", "Q1|Q2|Q3|Q4|Q5|Q6", (0, 0, 0)),
        ("Q3", "NIL|Q1|Q2|Q3", (0, 0, 1)),
        ("Q2", "NIL|Q1|Q2|Q3", (0, 1, 1)),
        ("NIL", "NIL|Q1", (1, 1, 1)),
        ("Q1|Q2", "Q3|Q2", (0, 0, 0)),
        ("Q1|Q2", "Q3|Q1", (0, 1, 1)),
    ],
)
def test_at_3_and_at_5_look_at_the_first_links_of_the_prediction(tmp_path, gold, prediction, expected):
    """By hand: the first link of the gold standard is looked for among the first 1, 3 and 5 of the prediction."""
    paths = both(tmp_path, [f"Ulm B-loc {gold}", "on O _"], [f"Ulm B-loc {prediction}", "on O _"])
    found = [counts(*paths, f"{NEL}{first}")[0] for first in ("", "-3", "-5")]
    assert tuple(found) == expected
    overlapping = both(tmp_path, [f"Ulm B-loc {gold}", "on I-loc _"], [f"Ulm B-loc {prediction}", "on O _"])
    assert tuple(counts(*overlapping, f"hipe-nel-fuzzy{first}")[0] for first in ("", "-3", "-5")) == expected
    assert [counts(*overlapping, f"{NEL}{first}") for first in ("", "-3", "-5")] == [(0, 1, 1)] * 3


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        ("abcde", (0, 0, 1)),  # x a b | c d | e: the entity of the prediction ranks first
        ("xabcd", (0, 0, 1)),  # wherever it is among the candidates
        ("axbcd", (0, 0, 1)),
        ("abxcd", (0, 0, 1)),
        ("abcxd", (0, 0, 1)),
        ("abcdx", (0, 0, 1)),
        ("acx", (0, 1, 1)),
        ("abdec", (0, 0, 0)),
        ("abdecx", (0, 0, 0)),
    ],
)
def test_k_links_are_looked_at_wherever_the_prediction_is_among_its_candidates(candidates, expected):
    """By hand: gold is c, the prediction is x, and the ranking is x with the other candidates behind it."""
    corpus = Corpus.from_documents([Document("d", "Ulm", (Label(0, 3, "c"),))])
    prediction = Prediction(0, 3, "x", candidates=tuple(map(Candidate, candidates)))
    run = Run.from_responses([Response("d", (prediction,))])
    views = [f"{NEL}{first}" for first in ("", "-3", "-5")]
    result = karat.evaluate(corpus, run, profile="hipe", measures=[f"{view}:micro.f1" for view in views])
    assert tuple(result.counts(view).matched_predictions for view in views) == expected


def test_ranked_links_are_resolved_as_predictions_are(tmp_path):
    paths = both(tmp_path, ["Ulm B-loc kb/Q2"], ["Ulm B-loc other/Q1|other/Q2"])
    corpus, [run] = load_gold_and_runs(str(paths[0]), [str(paths[1])])
    for ids, found in (("as-written", 0), ("last-segment", 1)):
        result = karat.evaluate(corpus, run, profile="hipe", measures=[f"{NEL}-3:micro.f1"], settings={"ids": ids})
        assert result.counts(f"{NEL}-3").matched_predictions == found


def test_fine_types_by_hand(tmp_path):
    """Strict: Ulm is right, Rhine has another fine type, Bob ends elsewhere. Fuzzy: Bob is right too."""
    gold = [
        "Ulm B-loc _ NE-FINE-LIT=B-loc.adm.town",
        "Rhine B-loc _ NE-FINE-LIT=B-loc.phys.hydro",
        "Bob B-pers _ NE-FINE-LIT=B-pers.ind",
        "Roe I-pers Q1 NE-FINE-LIT=I-pers.ind",
    ]
    run = [
        "Ulm O _ NE-FINE-LIT=B-LOC.ADM.TOWN",
        "Rhine B-loc _ NE-FINE-LIT=B-loc.adm.town",
        "Bob B-pers _ NE-FINE-LIT=B-pers.ind",
        "Roe B-pers _ NE-FINE-LIT=B-time.day",
    ]
    formats = {"gold_format": "hipe-fine", "predictions_format": "hipe-fine"}
    paths = both(tmp_path, gold, run)
    assert counts(*paths, NERC, **formats) == (1, 2, 2)
    assert counts(*paths, "rt2kb/hipe-nerc-fuzzy", **formats) == (2, 1, 1)
    assert karat.load(paths[0], format="hipe-fine").skipped == {"links of tokens (only mentions are read)": 1}


def test_nested_mentions_by_hand(tmp_path):
    """Strict: of three nested mentions one is right and one ends elsewhere; one prediction stands where none is."""
    gold = [
        "Earl B-pers _",
        "of I-pers _",
        "Ulm I-pers _ NE-NESTED=B-loc.town",
        "Bishop B-pers _",
        "New I-pers _ NE-NESTED=B-loc.town",
        "York I-pers _ NE-NESTED=I-loc.town",
        "Bonn B-org _ NE-NESTED=B-loc.town",
    ]
    run = [row.partition(" NE-")[0] for row in gold]
    run = [f"{row} NE-NESTED=B-loc.town" if row.startswith(("Ulm", "New", "Earl")) else row for row in run]
    formats = {"gold_format": "hipe-nested", "predictions_format": "hipe-nested"}
    paths = both(tmp_path, gold, run)
    assert counts(*paths, NERC, **formats) == (1, 2, 2)
    assert counts(*paths, "rt2kb/hipe-nerc-fuzzy", **formats) == (2, 1, 1)


def test_a_metonymic_sense_of_the_gold_standard_is_no_prediction_for_the_scorer(tmp_path):
    """Another profile may accept it; the scorer compares literal senses with literal ones."""
    gold = ["Ulm B-loc Q1 NE-COARSE-METO=B-org NEL-METO=Q2"]
    paths = both(tmp_path, gold, ["Ulm B-loc Q2"])
    assert counts(*paths, NEL) == (0, 1, 1)
    # The type of a metonymic sense is no type that the gold standard has, so such a prediction is not scored.
    assert counts(*both(tmp_path, gold, ["Ulm B-org Q1"]), NERC) == (0, 0, 1)
    corpus, [run] = load_gold_and_runs(str(paths[0]), [str(both(tmp_path, gold, ["Ulm B-loc Q2"])[1])])
    assert karat.evaluate(corpus, run)["strong:micro.f1"] == 1


@pytest.mark.parametrize("link", ["NIL", "Q1", "Q9"])
@pytest.mark.parametrize("run", ["Ulm O _", "Ulm B-loc Q5", "Ulm B-loc Q7"])
def test_a_mention_is_in_the_group_of_its_literal_type(tmp_path, link, run):
    """Whatever sorts first, NIL, Q1 or the literal Q5: the type is that of NE-COARSE-LIT."""
    gold, run = both(tmp_path, [f"Ulm B-loc Q5 NE-COARSE-METO=B-org NEL-METO={link}"], [run])
    corpus, [loaded] = load_gold_and_runs(str(gold), [str(run)])
    result = karat.evaluate(corpus, loaded, profile="hipe", by=["types"])
    assert {view: set(groups) for view, groups in result.groups["types"].items()} == {
        view: {"loc"} for view in (NERC, "rt2kb/hipe-nerc-fuzzy", NEL, "hipe-nel-fuzzy")
    }
    assert set(karat.evaluate(corpus, loaded, by=["types"]).groups["types"]["mention"]) == {"loc"}


@pytest.mark.parametrize("token", ["ulm", '"Ulm"'])
def test_strict_matching_compares_the_words_of_the_tokens(tmp_path, token):
    """By hand, as in the scorer: an entity is a type with two offsets and its words; fuzzy matching ignores words."""
    gold = ["In O _", "New B-loc Q1", "Ulm I-loc Q1", "Ada B-pers Q2"]
    paths = both(tmp_path, gold, [*gold[:2], gold[2].replace("Ulm", token), gold[3]])
    for strict, fuzzy in ((NERC, "rt2kb/hipe-nerc-fuzzy"), (NEL, "hipe-nel-fuzzy"), (f"{NEL}-3", "hipe-nel-fuzzy-3")):
        assert counts(*paths, strict) == (1, 1, 1)
        assert counts(*paths, fuzzy) == (2, 0, 0)
    corpus, [run] = load_gold_and_runs(str(paths[0]), [str(paths[1])])
    assert [prediction.categories for prediction in next(iter(run)).predictions] == [("words:other",), ()]
    assert karat.evaluate(corpus, run)["strong:micro.f1"] == 1  # other profiles compare offsets


def test_each_token_with_a_link_outside_mentions_is_a_prediction(tmp_path):
    """By hand: with O in NE-COARSE-LIT, New and York are two wrong predictions; with _ they are one."""
    gold = ["New B-loc Q60", "York I-loc Q60"]
    assert counts(*both(tmp_path, gold, ["New O Q60", "York O Q60"]), NEL) == (0, 2, 1)
    assert counts(*both(tmp_path, gold, ["New O Q60", "York O Q60"]), "hipe-nel-fuzzy") == (1, 1, 0)
    assert counts(*both(tmp_path, gold, ["New _ Q60", "York _ Q1"]), NEL) == (1, 0, 0)


def test_links_ignore_case(tmp_path):
    gold = ["Ulm B-loc Q60", "Ada B-pers NIL"]
    assert counts(*both(tmp_path, gold, ["Ulm B-loc q60", "Ada B-pers nil"]), NEL) == (2, 0, 0)


@pytest.mark.parametrize("column", ["NE-COARSE-LIT", "NEL-LIT"])
def test_an_empty_cell_is_refused_with_the_reason(tmp_path, column):
    gold, run = both(tmp_path, ["Ulm B-loc Q1"], [f"Ulm B-loc Q1 {column}="])
    message = f":2: found an empty cell in {column}, which the HIPE scorer counts as an entity without a name"
    with pytest.raises(InputError, match=message):
        karat.load_run(run, corpus=karat.load(gold))


def test_tokens_behind_the_last_are_left_out_and_counted(tmp_path):
    """The scorer cuts a run without documents into those of the gold standard; a single document must have all."""
    corpus = karat.load(written(tmp_path, table(*GOLD)))
    rows = [row for row in GOLD if not row.startswith("# ")]
    run = karat.load_run(written(tmp_path, table(*rows, "End B-loc Q9"), "run.tsv"), corpus=corpus)
    assert (len(run.predictions), run.skipped) == (
        3,
        {"tokens after the last token of the gold standard (not scored)": 1},
    )
    gold, run = both(tmp_path, ["Ulm B-loc Q1"], ["Ulm B-loc Q1", "End O _"])
    with pytest.raises(InputError, match="found 2 tokens"):
        karat.load_run(run, corpus=karat.load(gold))


@pytest.mark.parametrize("n_different", [20, 21])
def test_a_run_without_documents_may_confuse_twenty_tokens(tmp_path, n_different):
    words = [f"w{number}" for number in range(60)]
    gold = table("# document_id = a", *(f"{word} O _" for word in words), "# document_id = b", "Ulm B-loc Q1")
    run = table(*(f"{'x' * (i < n_different)}{word} O _" for i, word in enumerate(words)), "Ulm B-loc Q1")
    corpus, path = karat.load(written(tmp_path, gold)), written(tmp_path, run, "run.tsv")
    if n_different == 20:
        skipped = {"tokens that differ from the gold standard (paired by position)": 20}
        assert karat.load_run(path, corpus=corpus).skipped == skipped
    else:
        with pytest.raises(InputError, match=r"21 different tokens differ .* the HIPE scorer gives up after 20"):
            karat.load_run(path, corpus=corpus)
