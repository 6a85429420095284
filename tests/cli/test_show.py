"""`karat show`: cases for people and for programs."""

from __future__ import annotations

import json
import unicodedata

import pytest

from karat import Corpus, Document, Label, Prediction, Response, Run, save


def columns(line: str) -> int:
    return sum(
        0 if unicodedata.category(sign) in ("Mn", "Me", "Cf") else 1 + (unicodedata.east_asian_width(sign) in "WF")
        for sign in line
    )


@pytest.fixture(autouse=True)
def _terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def fits(text: str) -> bool:
    return all(columns(line) <= 80 for line in text.splitlines())


def test_a_mention_in_its_sentence_with_gold_and_predictions_by_name(karat_cli):
    ran = karat_cli("show", "demo", "demo", "--outcome", "wrong-link", "--system", "prior", "--limit", 1)
    assert ran.code == 0
    assert ran.out == (
        "perfect, prior, noisy on demo: strong, profile karat\n"
        "33 of 373 cases; outcome wrong-link; of prior\n"
        "\n"
        "all cases   tp  fp  fn  wrong link  ignored  part\n"
        "perfect    262   0   0           0       40     0\n"
        "prior      136  14  93          33       39     8\n"
        "noisy      154  53  78          30       39     0\n"
        "\n"
        "1.  document news-01, 0–10, type ORG\n"
        "    [Washington] and Brussels traded accusations over cheese tariffs on\n"
        "    Thursday, while Berlin urged both sides to count to ten.\n"
        "    gold                 Q11268  United States Congress\n"
        "    perfect  tp          Q11268  United States Congress\n"
        "    prior    wrong link  Q61     Washington, D.C.\n"
        "                         Metonyms, Missing candidates\n"
        "    noisy    tp          Q11268  United States Congress\n"
        "\n"
        "… and 32 more cases: --limit 33 shows all, --json and --jsonl write all\n"
    )


@pytest.mark.parametrize(
    "asked",
    [
        "--flips prior,noisy",
        "--error ner-fn-lowercased --system noisy",
        "--type PER --outcome wrong",
        "--entity NIL",
        "--doc news-01 --doc news-02",
        "--view mention --outcome fp",
        "--view weak",
        "--profile gerbil",
        "--profile elevant --outcome wrong",
    ],
)
def test_everything_fits_80_columns(karat_cli, asked):
    ran = karat_cli("show", "demo", "demo", "--limit", 400, *asked.split())
    assert (ran.code, ran.err) == (0, "")
    assert fits(ran.out)
    assert "more case" not in ran.out


@pytest.mark.parametrize("entity", ["Q64", "http://dbpedia.org/resource/" + "Federal_" * 20, "城" * 70, "אבג 123"])
def test_long_wide_and_strange_names_fit_too(karat_cli, tmp_path, entity):
    text = f"{'wide ' * 20}\n{'柏' * 90} {'א' * 30} Ulm\x1b[31m\u202e {'x' * 200}\r\nend " + "." * 3000
    start = text.index("Ulm")
    label = Label(start, start + 3, entity, name=entity[::-1], types=("LOC" * 20,))
    long = Label(start, start + 260, "Q1")
    save(Corpus.from_documents([Document("d" * 99, text, (label, long))]), tmp_path / "gold.jsonl")
    names = ["mine" * 30, "ours" * 30, "柏林" * 20]
    for name in names:
        responses = [Response("d" * 99, (Prediction(start, start + 9, entity), Prediction(5, 9, entity)))]
        save(Run.from_responses(responses, name=name), tmp_path / f"{name[:9]}.jsonl")
    ran = karat_cli("show", tmp_path / "gold.jsonl", *(tmp_path / f"{name[:9]}.jsonl" for name in names))
    assert ran.code == 0
    assert fits(ran.out)
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out
    assert r"\x1b[31m\u202e" in ran.out.replace("\n    ", "")


def test_a_name_that_is_written_to_the_left_ends_its_line(karat_cli, tmp_path):
    save(Corpus.from_documents([Document("d", "שלום Ulm", (Label(0, 4, "7", name="שלום"),))]), tmp_path / "gold.jsonl")
    save(Run.from_responses([Response("d", (Prediction(0, 4, "7"),))], name="mine"), tmp_path / "mine.jsonl")
    lines = karat_cli("show", tmp_path / "gold.jsonl", tmp_path / "mine.jsonl").out.splitlines()
    assert next(line for line in lines if line.endswith("7  שלום")).lstrip().startswith("gold")


def test_lines_and_json_say_the_same(karat_cli, tmp_path):
    both = karat_cli("show", "demo", "demo", "--flips", "prior,noisy", "--json", tmp_path / "x.json", "--jsonl", "-")
    assert both.code == 0
    lines = [json.loads(line) for line in both.out.splitlines()]
    whole = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert whole["cases"] == lines
    assert len(lines) == 136
    assert (whole["total"], whole["filter"]["flips"]) == (373, ["prior", "noisy"])
    assert lines[0]["gold"][0]["name"] == "United States Congress"


@pytest.mark.parametrize(
    ("asked", "description"),
    [
        ("--flips prior", "write A,B"),
        ("--flips prior,noise", "Did you mean 'noisy'"),
        ("--outcome wron", "Did you mean 'wrong'"),
        ("--error ner-fm", "or 'ner-fn'"),
        ("--type PERS", "Did you mean 'PER'"),
        ("--doc news-99", "unknown document"),
        ("--entity Q0", "linked to Q0"),
        ("--limit -1", "--limit"),
        ("--view strng", "Did you mean 'strong'"),
        ("--profile gerbli", "Did you mean 'gerbil'"),
    ],
)
def test_bad_requests_are_one_message(karat_cli, asked, description):
    ran = karat_cli("show", "demo", "demo", *asked.split())
    assert (ran.code, ran.out) == (2, "")
    assert description in ran.err
    assert "Traceback" not in ran.err


def test_views_of_types_show_the_predicted_types(karat_cli, tmp_path):
    document = Document("d", "Ann Lee sang.", [Label(0, 7, "Q1", types=("PER",))])
    save(Corpus.from_documents([document], name="gold"), tmp_path / "gold.jsonl")
    predictions = [Prediction(0, 7, "Q1", types=("ORG", "LOC"))]
    save(Run.from_responses([Response("d", predictions)], name="mine"), tmp_path / "mine.jsonl")
    files = (tmp_path / "gold.jsonl", tmp_path / "mine.jsonl")
    assert "    mine  wrong link  Q1  type ORG, LOC\n" in karat_cli("show", *files, "--view", "typed").out
    assert "    mine  tp  Q1\n" in karat_cli("show", *files).out


@pytest.mark.parametrize(("term", "view"), [("EE", "strong[nil]"), ("Mw InKB", "weak[in-kb]"), ("mm", "mention-weak")])
def test_views_may_be_named_as_in_other_tools(karat_cli, tmp_path, term, view):
    asked = ("demo", "demo/noisy")
    assert karat_cli("show", *asked, "--view", term).out == karat_cli("show", *asked, "--view", view).out
    score = ("score", *asked, "--match", "strong[nil],weak[in-kb],mention-weak", "--verdicts")
    assert karat_cli(*score, tmp_path / "term.jsonl", "--view", term).code == 0
    assert karat_cli(*score, tmp_path / "view.jsonl", "--view", view).code == 0
    lines = [(tmp_path / name).read_text(encoding="utf-8") for name in ("term.jsonl", "view.jsonl")]
    assert lines[0] == lines[1]


def test_results_are_refused_by_name(karat_cli, tmp_path):
    path = tmp_path / "result.json"
    karat_cli("score", "demo", "demo/prior", "--json", path)
    for given in ([path], ["demo", path]):
        ran = karat_cli("show", *given)
        assert ran.code == 2
        assert "a result file, which contains no cases" in ran.err


def test_errors_stand_side_by_side_under_the_titles_of_cards(karat_cli):
    ran = karat_cli("score", "demo", "demo", "--by", "error")
    block = ran.out[ran.out.index("strong, errors") : ran.out.index("\nids: ")]
    assert fits(block)
    lines = {line[:33].rstrip(): line[33:].split() for line in block.splitlines()}
    assert lines["strong, errors"] == ["perfect", "prior", "noisy"]
    assert lines["Undetected mentions"][3:6] == ["30.9", "80", "259"]
    assert "ner-fn" not in block
    assert "required facts" in block
    assert "strong[in-kb]" in block, "other views are named"
    wide = karat_cli("score", "demo", "demo", "--by", "error", "--ci", "--resamples", 20).out
    assert wide.count("strong, errors") > 1, "what does not fit side by side stands below"


@pytest.mark.parametrize("view", [None, "weak", "all"])
def test_verdicts_are_of_one_view_in_their_sentences(karat_cli, view):
    more = () if view is None else ("--view", view)
    lines = karat_cli("score", "demo", "demo/prior", "--verdicts", "-", *more).out.splitlines()
    rows = [json.loads(line) for line in lines]
    assert {row["view"] for row in rows} == (
        {"strong", "strong[in-kb]", "strong[nil]", "weak", "mention"} if view == "all" else {view or "strong"}
    )
    for row in rows:
        start = row.get("gold_start", row.get("prediction_start")) - row["sentence_start"]
        assert row["sentence"][start:].startswith(row["text"])
    assert rows[0]["gold_name"] == "United States Congress"
    assert rows[0]["prediction_name"] == "Washington, D.C."


def test_a_view_is_asked_for_with_verdicts_only(karat_cli):
    assert "Add --verdicts" in karat_cli("score", "demo", "demo/prior", "--view", "weak").err
    assert "unknown view" in karat_cli("score", "demo", "demo/prior", "--verdicts", "-", "--view", "x").err
