"""Results, comparisons, corpora and runs as tables of notebooks and papers."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from tests.render.notebook.typeset import tables

NASTY = r"a_b&c%d$e#f{g}~^\x<script>alert(1)</script>|*[1cm]"


@pytest.fixture(scope="module")
def gold():
    return karat.load("demo")


@pytest.fixture(scope="module")
def runs(gold):
    return [karat.load_run(f"demo/{name}", corpus=gold) for name in ("perfect", "prior", "noisy")]


@pytest.fixture(scope="module")
def values(gold, runs):
    """One of each that shows itself, with names that are code in every language."""
    label = Label(0, 3, NASTY, types=(NASTY,))
    corpus = Corpus.from_documents([Document(NASTY, "Ada", (label,))], name=NASTY)
    run = Run.from_responses([Response(NASTY, (Prediction(0, 3, NASTY, types=(NASTY,)),))], name=NASTY)
    other = Run.from_responses([Response(NASTY)], name="[5cm]")
    quick = {"permutations": 20, "resamples": 20}
    return {
        "corpus": corpus,
        "run": run,
        "result": karat.evaluate(corpus, run, by=["types"]),
        "comparison": karat.compare(corpus, [run, other], similarity="strong", **quick),
        "cases": karat.find_cases(corpus, [run, other]),
        "card": karat.scorecard(gold, runs[1:], **quick),
        "curve": karat.threshold_curve(gold, runs[2]),
    }


NAMES = ["corpus", "run", "result", "comparison", "cases", "card", "curve"]


class Tags(HTMLParser):
    """All tags and all text of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self.open = set(), "", []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_show_tables_in_which_names_are_data(values, name):
    page = Tags(values[name]._repr_html_())
    assert page.open == []
    assert page.tags <= {
        "div",
        "p",
        "strong",
        "b",
        "br",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
    }
    assert "table" in page.tags
    if name not in ("card", "curve"):
        assert NASTY in page.text


@pytest.mark.parametrize("name", NAMES)
def test_latex_is_tables_and_comments(values, name):
    assert tables(values[name].to_latex())


@pytest.mark.parametrize("name", NAMES)
def test_markdown_has_rows_of_one_length(values, name):
    blocks = [block.splitlines() for block in values[name].to_markdown().split("\n\n") if block.startswith("|")]
    assert blocks
    for block in blocks:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block}) == 1


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs a TeX")
def test_tex_typesets_all_of_it(values, tmp_path):
    pages = "\n\n".join(values[name].to_latex() for name in NAMES)
    document = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n" + pages + "\n\\end{document}\n"
    (tmp_path / "all.tex").write_text(document, encoding="utf-8")
    ran = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout.decode(errors="replace")[-2000:]
    assert (tmp_path / "all.pdf").stat().st_size > 1000


def test_the_best_are_bold_and_nothing_where_one_stands_alone(karat_cli):
    first, second, *_ = tables(karat_cli("score", "demo", "demo", "--latex").out)
    assert first[0] == ["", "strong[in-kb]", "strong", "mention", "weak"]
    assert first[1][:4] == ["", "P", "R", "F1"]
    assert first[2][:2] == ["perfect", r"\textbf{100.0}"]
    assert first[3][:4] == ["prior", "74.3", "54.2", "62.7"]
    assert ["strong:accuracy", r"\textbf{100.0}", "76.0", "83.7"] in second
    alone = karat_cli("score", "demo", "demo/noisy", "--latex").out
    assert "textbf" not in alone
    assert ["strong", "65.0", "58.8", "61.7", "262", "237", "154"] in tables(alone)[0]


def test_where_less_is_better_the_least_is_bold(karat_cli):
    [rows] = tables(karat_cli("score", "demo", "demo", "--latex", "-m", "strong:ece", "-m", "strong:macro.f1-sd").out)
    shown = {row[0]: [cell for cell in row[1:] if "textbf" in cell] for row in rows[1:]}
    values = [float(re.sub(r"[^\d.]", "", cell)) for cell in rows[1][1:] if cell != "--"]
    assert shown["strong:ece"] == [rf"\textbf{{{min(values)}}}"]
    assert shown["strong:macro.f1-sd"] == []


def test_terminal_notebook_and_papers_lead_with_the_same_scores(karat_cli):
    terminal = karat_cli("score", "demo", "demo/prior").out
    scores = ["74.3", "54.2", "62.7"]
    assert next(line for line in terminal.splitlines() if line.startswith("prior")).split()[1:4] == scores
    result = karat.evaluate("demo", "demo/prior")
    assert tables(result.to_latex())[0][1][1:4] == scores
    rows = re.findall(r"<tr>(.*?)</tr>", result._repr_html_())
    assert re.findall(r">([\d.]+)<", rows[1])[:3] == scores
    assert "strong[in-kb]:micro.f1 0.6267" in repr(result)


def test_markdown_and_intervals_on_the_command_line(karat_cli):
    ran = karat_cli("score", "demo", "demo/noisy", "demo/prior", "--markdown", "--ci", "--plus-minus", "--by", "types")
    assert ran.code == 0
    assert r"|  | strong\[in-kb\] P | strong\[in-kb\] R | strong\[in-kb\] F1 |" in ran.out
    assert re.search(r"^\| prior \| \*\*74\.3 ± \d", ran.out, re.MULTILINE)
    assert "| strong, by types | noisy P | noisy R | noisy F1 | noisy gold |" in ran.out


def test_marks_of_significance_and_bold_in_a_comparison(karat_cli):
    first, *_ = tables(karat_cli("compare", "--gold", "demo", "demo", "--latex", "--permutations", "500").out)
    assert first[1][4] == r"\textbf{100.0 $\pm$0.0 (1*)}"


def test_the_papers_table_of_benchmarks_has_no_empty_columns(karat_cli):
    ran = karat_cli("data", "stats", "demo", "--latex")
    [rows] = tables(ran.out)
    assert rows[1][:5] == ["dataset", "docs", "words", "mentions", "entities"]
    assert rows[2][:2] == ["demo", "50"]
    assert not {"0", "0.0", "--"} & set(rows[2])
    assert "% metonym, rare: needs --kb with popular.tsv" in ran.out
    assert tables(karat.load("demo").to_latex()) == [rows]


def test_a_corpus_without_texts_shows_itself_too(gold, tmp_path):
    karat.save(gold, tmp_path / "gold.parquet")
    assert ">surface<" not in karat.load(tmp_path / "gold.parquet", text=False)._repr_html_()
    assert "surface" in gold._repr_html_()
    assert "and 317 more labels" in gold._repr_html_()


def test_tables_are_read_strictly():
    good = "% a\n\n\\begin{tabular}{lr}\n\\toprule\na & b \\\\\n\\midrule\nc & 1 \\\\\n\\bottomrule\n\\end{tabular}\n"
    assert tables(good) == [[["a", "b"], ["c", "1"]]]
    for bad in ("c_d & 1", "c & 1 & 2", "[c & 1", r"\x & 1", "c & $1"):
        with pytest.raises(AssertionError):
            tables(good.replace("c & 1", bad))
    with pytest.raises(AssertionError):
        tables(good + "prose\n")
