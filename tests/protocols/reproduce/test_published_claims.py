"""Published claims about systems, compared with scores of the outputs in a folder of data."""

from __future__ import annotations

import json
import shlex
import shutil

import jsonschema
import pytest
from msgspec.structs import replace

from karat import InputError, evaluate
from karat.cli.main import karat as karat_command
from karat.model.registry import get_plugin
from karat.model.spec.system import Claim, System
from karat.protocols.papers.data_folder import PublishedData
from karat.protocols.papers.output_files import OutputFiles, find_output, load_outputs
from karat.protocols.papers.published_claims import check_claims
from tests.conftest import SCHEMAS

TEXT = "Ada met Bob in Rome."
ARTICLE = {
    "id": 0,
    "title": "d",
    "text": TEXT,
    "evaluation_span": [0, len(TEXT)],
    "labels": [
        {"id": 0, "span": [0, 3], "entity_id": "Q1", "name": "Ada", "type": "Q215627"},
        {"id": 1, "span": [8, 11], "entity_id": "Q2", "name": "Bob", "type": "Q215627"},
        {"id": 2, "span": [15, 19], "entity_id": "Q3", "name": "Rome", "type": "Q27096213"},
    ],
    "entity_mentions": [
        {"span": [0, 3], "id": "Q1", "recognized_by": "N", "linked_by": "N", "candidates": ["Q1"]},
        {"span": [8, 11], "id": "Q9", "recognized_by": "N", "linked_by": "N", "candidates": ["Q9"]},
    ],
}
CLAIM = Claim(
    datasets=("kore50@elevant2024",),
    measure="strong[in-kb]:micro.f1",
    value=40.0,
    source="Nobody et al. 2013, Table 7",
    variant="New System",
    task="a2kb",
    profile="elevant",
)
"""One of two links is correct, and one of three mentions is found: F1 is 2 · 1/2 · 1/3 / (5/6), which is 40 %."""
FILE = "elevant/results/newcomer/new_system.kore50.linked_articles.jsonl"


@pytest.fixture
def folder(tmp_path):
    """A folder of data with one output, produced in 2024."""
    path = tmp_path / FILE
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(ARTICLE) + "\n", encoding="utf-8")
    write_date(tmp_path, "2024/08/28 13:25")
    return tmp_path


def write_date(folder, date):
    """Write the metadata of the output."""
    record = {"timestamp": date, "experiment_description": "Default settings."}
    path = folder / FILE.replace(".linked_articles.jsonl", ".metadata.json")
    path.write_text(json.dumps(record), encoding="utf-8")


def check(folder, *claims):
    """Return the reproduction of claims about a system."""
    system = System("New System", "", lambda options, gold_mentions: iter, claims=claims)
    return check_claims("newcomer", system, str(folder))


def list_cells(reproduction):
    """Return all cells."""
    return [cell for exhibit in reproduction.exhibits for cell in exhibit.cells]


@pytest.mark.parametrize(
    ("value", "gap", "rating"),
    [
        (40.0, "+0.0", "very good"),
        (41.0, "−1.0", "very good"),
        (38.9, "+1.1", "mediocre"),
        (50.0, "−10.0", "mediocre"),
        (50.1, "−10.1", "poor"),
    ],
)
def test_the_gap_to_the_claim_decides_on_the_rating(folder, value, gap, rating):
    reproduction = check(folder, replace(CLAIM, value=value))
    summary, exhibit = reproduction.exhibits
    row = ("New System, kore50@elevant2024", CLAIM.measure, f"{value:.1f}", "40.0", gap, rating)
    assert exhibit.own_table[1:] == (row,)
    n_equal = "1" if value == 40.0 else "0"
    assert summary.own_table[1:] == (
        (CLAIM.source, "1", "1", n_equal, gap, rating),
        ("all", "1", "1", n_equal, gap, rating),
    )


def test_detection_and_accuracy_are_computed_as_elevant_does(folder):
    detection = replace(CLAIM, measure="mention[in-kb]:micro.f1@mention-type=entity", value=80.0)
    accuracy = replace(
        CLAIM, measure="strong[in-kb]:micro.error-rate@error=disambiguation", is_complement=True, value=50.0
    )
    cells = list_cells(check(folder, detection, accuracy))
    assert [(cell.value, cell.status) for cell in cells] == [("80.0", "reproduced"), ("50.0", "reproduced")]
    assert cells[1].column == "1 − strong[in-kb]:micro.error-rate@error=disambiguation"


def test_scores_are_printed_as_the_source_prints_them(folder):
    [cell] = list_cells(check(folder, replace(CLAIM, value=0.4, is_fraction=True, decimals=3)))
    assert (cell.published, cell.value, cell.status) == ("0.400", "0.400", "reproduced")


def test_only_an_output_that_is_later_than_the_claim_explains_a_difference(folder):
    claim = replace(CLAIM, value=45.0)
    [cell] = list_cells(check(folder, claim))
    assert (cell.status, cell.explanation.cause) == ("explained", "later system version")
    assert "2024/08/28 (Default settings)" in cell.explanation.text
    assert cell.explanation.missing_file == "elevant/results/newcomer, as of 2013"
    write_date(folder, "2013/01/01 00:00")
    [cell] = list_cells(check(folder, claim))
    assert cell.status == "unexplained"
    (folder / FILE.replace(".linked_articles.jsonl", ".metadata.json")).unlink()
    [cell] = list_cells(check(folder, claim))
    assert cell.status == "unexplained"


def test_a_mean_needs_the_outputs_on_all_datasets(folder):
    both = replace(CLAIM, datasets=("kore50@elevant2024", "iitb@bat2013"))
    missing = FILE.replace("kore50", "iitb")
    [cell] = list_cells(check(folder, both))
    assert (cell.status, cell.explanation.missing_file) == ("impossible", f"{missing}.gz")
    right = {**ARTICLE, "entity_mentions": ARTICLE["entity_mentions"][:1]}  # F1 is 2 · 1 · 1/3 / (4/3), which is 50 %
    (folder / missing).write_text(json.dumps(right) + "\n", encoding="utf-8")
    [cell] = list_cells(check(folder, both))
    assert (cell.row, cell.value) == ("New System, mean of 2 datasets", "45.0")


def test_an_undefined_score_is_no_zero(folder):
    empty = {**ARTICLE, "entity_mentions": []}
    (folder / FILE).write_text(json.dumps(empty) + "\n", encoding="utf-8")
    reproduction = check(folder, replace(CLAIM, measure="strong:micro.p", profile="karat", value=0.0))
    [cell] = list_cells(reproduction)
    assert (cell.value, cell.status) == ("undefined", "explained")
    assert reproduction.exhibits[0].own_table[-1][2:] == ("0", "0", "–", "problematic")


def test_categories_do_not_count_for_the_rating_of_the_system(folder):
    detail = replace(CLAIM, measure="strong[in-kb]:micro.f1@mention-type=entity", is_detail=True)
    summary = check(folder, detail, replace(CLAIM, value=90.0)).exhibits[0].own_table
    assert [row[-1] for row in summary[1:]] == ["mediocre", "poor"]
    assert summary[-1][:2] == ("all but categories", "1")


def test_a_folder_without_any_output_is_refused(tmp_path):
    with pytest.raises(InputError, match="elevant/results or finegrained/systems or zelda/jsonl"):
        check(tmp_path, CLAIM)


def test_an_invalid_metadata_file_is_one_clear_error(folder):
    (folder / FILE.replace(".linked_articles.jsonl", ".metadata.json")).write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"metadata\.json: found invalid metadata .* Correct or remove the file"):
        check(folder, CLAIM)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "either SUITE or --system NAME"),
        (["zelda", "--system", "rel"], "either SUITE or --system NAME"),
        (["--system", "oracle"], "no claims are known about oracle. Choose one of: aida, ambiverse"),
        (["--system", "rell"], "rel"),
        (["--system", "rel", "--kb", "starter"], "takes no --kb"),
    ],
)
def test_wrong_arguments_are_explained(folder, karat_cli, arguments, message):
    run = karat_cli("reproduce", *arguments, "--data", folder)
    assert run.code == 2
    assert message in " ".join(run.err.split())


@pytest.mark.parametrize("variant", ["FEVRY_ALL", "FEVRY_CL"])
def test_what_has_no_output_names_the_folder_of_zelda(folder, variant):
    (folder / "zelda" / "jsonl").mkdir(parents=True)
    reproduction = check_claims("fevry", get_plugin("systems", "fevry", System), str(folder))
    cells = [cell for cell in list_cells(reproduction) if cell.row.startswith(variant)]
    assert {cell.status for cell in cells} == {"impossible"}


@pytest.mark.shared
def test_all_claims_of_the_fine_grained_paper_are_reproduced(shared):
    reproduction = check_claims("babelfy", get_plugin("systems", "babelfy", System), str(shared))
    assert reproduction.statuses == {"reproduced": 138, "explained": 0, "unexplained": 0, "impossible": 0}
    assert reproduction.exhibits[0].own_table[-1] == ("all but categories", "6", "6", "6", "+0.0", "very good")


@pytest.mark.shared
def test_claims_of_the_fair_evaluation_have_the_scores_of_its_suite(shared, karat_cli, tmp_path):
    run = karat_cli("reproduce", "--system", "refined", "--data", shared, "--json", tmp_path / "refined.json")
    assert run.code == 0
    record = json.loads((tmp_path / "refined.json").read_text(encoding="utf-8"))
    schema = json.loads((SCHEMAS / "reproduction.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(record)
    assert record["suite"] == "--system refined"
    cells = record["exhibits"][1]["cells"]
    assert [cell["value"] for cell in cells] == ["73.3", "82.7", "89.1"]  # as issue 30 states and Table 1 of the suite
    page = karat_cli("reproduce", "--system", "refined", "--data", shared, "--markdown").out
    assert page.startswith("# Published claims about ReFinED\n")
    assert "    karat reproduce --system refined --data DIR\n" in page
    assert "| Bast et al. 2023, Table 1 | 3 | 3 | 2 | −0.1 | very good |" in page


@pytest.mark.shared
def test_predictions_in_the_folder_of_a_zelda_model_are_scored(shared, tmp_path):
    zelda = tmp_path / "zelda"
    zelda.mkdir()
    (zelda / "jsonl").symlink_to(shared / "zelda" / "jsonl")
    (zelda / "systems" / "GENRE_CL").mkdir(parents=True)
    shutil.copy(shared / "zelda" / "predictions" / "tweeki.jsonl.gz", zelda / "systems" / "GENRE_CL")
    reproduction = check_claims("genre", get_plugin("systems", "genre", System), str(tmp_path))
    [cell] = [cell for cell in list_cells(reproduction) if cell.value is not None]
    result = evaluate(
        shared / "zelda" / "jsonl" / "test_tweeki.jsonl.gz",
        shared / "zelda" / "predictions" / "tweeki.jsonl.gz",
        profile="zelda",
    )
    assert (cell.row, cell.value) == ("GENRE_CL, zelda@milich2023/tweeki", f"{result['strong:micro.r']:.3f}")
    assert cell.status == "unexplained"  # they are the predictions of another model


@pytest.mark.shared
@pytest.mark.parametrize("name", ["rel", "dbpedia-spotlight"])
def test_every_command_can_be_parsed(name, shared):
    system = get_plugin("systems", name, System)
    reproduction = check_claims(name, system, str(shared))
    assert reproduction.statuses["unexplained"] == 0
    lines = {line for exhibit in reproduction.exhibits for line in exhibit.command.splitlines()}
    for line in lines:
        arguments = shlex.split(line.replace("DIR", str(shared)))[1:]
        command = karat_command.get_command(None, arguments.pop(0))
        with command.make_context(command.name, arguments) as context:
            assert not context.args


@pytest.mark.shared
def test_a_command_gives_the_score_of_its_claim(shared, karat_cli):
    system = get_plugin("systems", "freme", System)
    [_, exhibit] = check_claims("freme", system, str(shared)).exhibits
    [line] = exhibit.command.splitlines()
    record = json.loads(karat_cli(*shlex.split(line.replace("DIR", str(shared)))[1:], "--json", "-").out)
    overall = {cell.column: cell.value for cell in exhibit.cells if "@" not in cell.column}
    assert {name: f"{record['measures'][name]:.2f}" for name in overall} == overall


@pytest.mark.shared
def test_outputs_of_elevant_are_found_for_versions_with_the_same_mentions(shared):
    data = PublishedData(shared)
    output = find_output(data, "rel", "REL", "aida@bat2013/testa", has_gold_mentions=False)
    assert isinstance(output, OutputFiles)
    assert output.predictions.name == "rel__2014_.aida-conll-dev.linked_articles.jsonl.gz"
    corpus, run = load_outputs([output])
    assert len(corpus) == len(run) == 216
