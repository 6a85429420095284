"""`karat report --to paper`: a folder that TeX typesets, with every convention in words and what to cite."""

from __future__ import annotations

import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.extras

HOSTILE = r"a_b & {c} % \input{/etc/passwd} 中文 $x^2$ #1 é ł ~ <t>|"


@pytest.fixture
def folder(tmp_path, karat_cli):
    path = tmp_path / "paper"
    ran = karat_cli("report", "--gold", "demo", "demo", "--to", "paper", "--out", path, "--resamples", "50")
    assert (ran.code, ran.err) == (0, "")
    return path


def typeset(folder) -> str:
    """Typeset the paper with its references and return the log; every error of TeX fails the test."""
    program = shutil.which("pdflatex")
    assert program, "there is no TeX. Install Debian's texlive-latex-recommended."
    for command in ([program, "-halt-on-error", "-interaction=nonstopmode", "paper"], ["bibtex", "paper"]) * 2:
        ran = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        assert ran.returncode == 0, ran.stdout.decode(errors="replace")[-2000:]
    return (folder / "paper.log").read_text(errors="replace")


def test_pdflatex_typesets_the_folder_with_its_references(folder):
    typeset(folder)
    assert (folder / "paper.pdf").read_bytes().startswith(b"%PDF")
    bibliography = (folder / "paper.bbl").read_text()
    assert bibliography.count(r"\bibitem") == 2  # Karat and the demo; the systems of the demo have no publication


def test_tables_fit_the_page_without_being_scaled(folder):
    """Wide tables are divided into columns that fit; a table is one float of its own, not one of many in a box."""
    log = typeset(folder)
    assert "Overfull" not in log
    assert r"\resizebox" not in (folder / "paper.tex").read_text()
    tables = {path.name: path.read_text() for path in (folder / "tables").iterdir()}
    assert r"\resizebox" not in "".join(tables.values())
    scores = tables["1-demo.tex"]
    assert scores.count(r"\begin{tabular}{lrrr}") == 4  # a part for each of four views, below each other
    assert all(f"{{c}}{{{view}}}" in scores for view in ("strong", "strong[in-kb]", "mention", "weak"))
    assert "strong:macro.f1" in tables["1-demo-2.tex"]


def test_a_dataset_of_ones_own_is_cited_with_what_it_states(tmp_path, karat_cli, monkeypatch):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    gold, predictions = tmp_path / "gold.jsonl", tmp_path / "run.jsonl"
    gold.write_text('{"id": "d", "text": "Ulm.", "labels": [{"start": 0, "end": 3, "entity": "Q3012"}]}\n')
    predictions.write_text('{"id": "d", "predictions": [{"start": 0, "end": 3, "entity": "Q3012"}]}\n')
    stated = ("--creator", "Ada Lovelace", "--creator", "Bob and {Sons", "--published", "2025-03-01")
    for name, metadata in (("mine", stated), ("bare", ())):
        assert karat_cli("data", "add", gold, "--name", name, *metadata).code == 0
        ran = karat_cli("report", "--gold", name, predictions, "--to", "paper", "--out", tmp_path / name)
        assert ran.code == 0, ran.err
        assert ("references.bib: fill in AUTHOR and YEAR of bare" in ran.out) == (name == "bare")
        assert "not cited, publication unknown: run" in ran.out
        typeset(tmp_path / name)
    mine, bare = (" ".join((tmp_path / name / "paper.bbl").read_text().split()) for name in ("mine", "bare"))
    assert "Ada Lovelace and {Bob and Sons}" in mine
    assert "2025" in mine
    assert "AUTHOR" in bare
    assert "YEAR" in bare


def test_oracle_scores_are_marked_in_the_paper(tmp_path, karat_cli):
    out = tmp_path / "paper"
    arguments = ("demo/noisy", "demo/prior", "--profile", "gerbil", "--by", "types", "--to", "paper", "--out", out)
    assert karat_cli("report", "--gold", "demo", *arguments, "--resamples", "20").code == 0
    assert "strong (oracle)" in (out / "tables" / "1-demo.tex").read_text()
    assert "strong (oracle), by types" in (out / "tables" / "1-demo-types.tex").read_text()
    assert "(oracle) by dataset" in (out / "paper.tex").read_text()


def test_names_that_are_tex_are_typeset_as_text(tmp_path, karat_cli):
    gold, predictions = tmp_path / "gold.jsonl", tmp_path / "run.jsonl"
    gold.write_text('{"id": "d", "text": "Ulm.", "labels": [{"start": 0, "end": 3, "entity": "Q3012"}]}\n')
    predictions.write_text('{"id": "d", "predictions": [{"start": 0, "end": 3, "entity": "Q3012"}]}\n')
    out = tmp_path / "paper"
    ran = karat_cli("report", "--gold", gold, f"{HOSTILE}={predictions}", "--to", "paper", "--out", out)
    assert ran.code == 0, ran.err
    assert "(/etc/passwd" not in typeset(out)  # the log lists every file that TeX opens


def test_every_convention_of_the_signature_is_in_words(folder):
    from karat.model.spec.settings.settings import describe_value
    from karat.render.tables import escape_latex

    methods = (folder / "methods.tex").read_text()
    (signature,) = (folder / "signatures.txt").read_text().splitlines()
    settings = dict(part.split(":", 1) for part in signature.split("|"))
    described = {name: value for name, value in settings.items() if name not in ("karat", "profile", "data")}
    assert len(described) > 20
    for name, value in described.items():
        assert escape_latex(describe_value(name, value)) in methods


def test_the_figure_has_a_bar_with_its_interval_for_each_system(folder):
    root = ElementTree.fromstring((folder / "figures" / "scores.svg").read_text())
    bars = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title") if ", demo: " in (title.text or "")]
    assert [re.match(r"\w+", text)[0] for text in bars] == ["perfect", "prior", "noisy"]
    assert sum("[" in text for text in bars) == 2  # a perfect score has no interval
    assert (folder / "figures" / "scores.pdf").read_bytes().startswith(b"%PDF")


def test_a_paper_needs_a_folder(karat_cli):
    ran = karat_cli("report", "--gold", "demo", "demo", "--to", "paper")
    assert ran.code == 2
    assert "Add --out DIR" in ran.err
