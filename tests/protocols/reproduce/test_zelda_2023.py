"""The tables and claims of the ZELDA paper, beside what Karat computes."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from karat import InputError
from karat.model.results.exhibit import count_statuses
from karat.protocols.suites.zelda_2023 import accuracies, reproduce_zelda_2023
from karat.protocols.suites.zelda_2023.published_tables import COLUMNS_1, COLUMNS_2, TABLE_1, TABLE_2, UNDERLINED_3
from karat.protocols.suites.zelda_2023.results_claims import _count_bart_parameters, _count_bert_parameters
from karat.protocols.suites.zelda_2023.training_setups import collect_setups
from karat.systems.claims.zelda_2023 import COLUMNS_3, COLUMNS_4, TABLE_3, TABLE_4
from tests.tools.paper_pages import check_pages

EXHIBITS = [
    "Section 1",
    "Table 1",
    "Section 2",
    "Table 2",
    "Section 3",
    "Table 3",
    "Table 4",
    "Section 4",
    "Section 5",
    "Appendix",
]


@pytest.fixture(scope="module")
def paper(shared):
    """The paper's text."""
    return (shared.parent / "papers" / "zelda.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def reproduction(shared):
    return reproduce_zelda_2023(str(shared))


@pytest.fixture(scope="module")
def exhibits(reproduction):
    """The exhibits by name, from the shared data."""
    return {exhibit.name: exhibit for exhibit in reproduction.exhibits}


def cell(exhibit, row, column="claim"):
    (found,) = (cell for cell in exhibit.cells if (cell.row, cell.column) == (row, column))
    return found


def read_table(paper, first, columns):
    """Return the rows of a table in the paper's text, from the line that starts with `first`, without marks."""
    lines = paper[paper.index(first) :].splitlines()[1:]
    rows = {}
    for line in lines:
        if line.startswith("Table "):
            return rows
        texts = re.sub(r"</?[iu]>", "", line).replace(" [†]", "†").replace("+ ", "+").split("\t")
        name = texts[0].removeprefix("- ").replace(" _{", "_").replace("_{", "_").rstrip("}")
        values = tuple(text.strip() for text in texts[1:])
        if any(values):
            rows[name] = values + ("",) * (len(columns) - len(values))
    return rows


@pytest.mark.shared
@pytest.mark.parametrize(
    ("first", "columns", "table"),
    [
        ("Approach\tTraining data", COLUMNS_1, TABLE_1),
        ("\tDomain\tDoc. Type", COLUMNS_2, TABLE_2),
        ("\tAIDA-B\tTWEEKI", COLUMNS_3, TABLE_3),
        ("Approach\t1\t[1 - 0.9]", COLUMNS_4, TABLE_4),
    ],
)
def test_published_tables_are_those_of_the_paper(paper, first, columns, table):
    assert read_table(paper, first, columns) == dict(table)
    assert tuple(paper[paper.index(first) :].splitlines()[0].split("\t")[1:]) == columns


@pytest.mark.shared
def test_underlined_values_are_those_of_the_paper(paper):
    table = paper[paper.index("\tAIDA-B\tTWEEKI") : paper.index("Table 3: Results")]
    underlined = set()
    for line in table.splitlines()[1:]:
        texts = line.split("\t")
        name = texts[0].replace(" _{", "_").rstrip("}")
        underlined |= {
            (name, column) for column, text in zip(COLUMNS_3, texts[1:], strict=False) if text.startswith("<u>")
        }
    assert underlined == set(UNDERLINED_3)


@pytest.mark.shared
@pytest.mark.extras  # spaCy and DuckDB
def test_every_table_and_section_has_an_outcome_and_one_claim_stays_unexplained(exhibits):
    assert list(exhibits) == EXHIBITS
    counts = {name: tuple(count_statuses(exhibit.cells).values()) for name, exhibit in exhibits.items()}
    # reproduced, explained, unexplained, impossible
    assert counts["Table 1"] == (59, 0, 0, 14)
    assert counts["Table 2"] == (45, 9, 0, 6)
    assert counts["Table 3"] == (8, 0, 0, 72)
    assert counts["Table 4"] == (4, 0, 0, 32)
    unexplained = [
        found.row for exhibit in exhibits.values() for found in exhibit.cells if found.status == "unexplained"
    ]
    assert unexplained == ["the smallest entity vocabulary"]


@pytest.mark.shared
@pytest.mark.extras  # spaCy and DuckDB
def test_sizes_of_test_sets_are_those_of_table_2_or_their_difference_has_evidence(exhibits):
    table = exhibits["Table 2"]
    assert cell(table, "WNED-CWEB", "∅ length").value == "1,433 tokens"
    assert cell(table, "WNED-WIKI", "∅ length").value == "315 tokens"
    assert cell(table, "REDDIT-POSTS", "Domain").value == "forum posts"
    length, entities = cell(table, "AIDA-B", "∅ length"), cell(table, "AIDA-B", "# Entities")
    assert (length.value, length.explanation.value_if_changed) == ("213 tokens", "201 tokens")
    assert (entities.value, entities.explanation.value_if_changed) == ("1,537", "1,538")
    assert "Ian Jones (rugby union, born 1967)" in entities.explanation.text
    assert cell(table, "SLINKS-TAIL", "# Docs").explanation.missing_file.startswith("test_data/jsonl/Tail_final.jsonl")


@pytest.mark.shared
@pytest.mark.extras  # spaCy and DuckDB
def test_the_systems_at_hand_have_tables_in_the_papers_form(exhibits):
    rows = {row[0]: row[1:] for row in exhibits["Table 3"].own_table}
    assert rows[""] == COLUMNS_3
    # accuracy over all mentions in the order of the columns: .8187, .7616, .8864, .8386, .6924, .8822, ...
    assert rows["dual encoder"] == (
        *("0.819", "0.762", "0.886", "0.839", "0.692", "0.882", "0.974", "0.652", "0.658"),
        "0.796",
    )
    assert rows["recall@20 of dual encoder"][:2] == ("0.961", "0.902")
    mfs, recall = rows["MFS, lists from here"], rows["CL-RECALL, lists from here"]
    assert all(float(first) <= float(second) for first, second in zip(mfs, recall, strict=True))
    brackets = {row[0]: row[1:] for row in exhibits["Table 4"].own_table}
    assert brackets["Approach"] == COLUMNS_4
    values = [float(value) for value in brackets["dual encoder"]]
    assert values[-1] == pytest.approx(sum(values[:-1]) / 8, abs=0.001)


@pytest.mark.shared
@pytest.mark.extras
def test_commands_give_the_values_of_the_tables(shared, exhibits, karat_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [line.replace("DIR", str(shared)) for line in exhibits["Table 3"].command.splitlines()]
    scores = karat_cli(*shlex.split(lines[0])[1:], "--json", "scores.json")
    assert scores.code == 0
    assert json.loads((tmp_path / "scores.json").read_text())["mean"] == pytest.approx(0.796, abs=0.0005)
    assert karat_cli(*shlex.split(lines[2])[1:]).code == 0
    assert karat_cli(*shlex.split(lines[3])[1:], "--json", "recall.json").code == 0
    found = json.loads((tmp_path / "recall.json").read_text())["lists"]["lists1"]["splits"]["aida-b"]
    own = {row[0]: row[1] for row in exhibits["Table 3"].own_table}
    assert f"{found['mfs']['value']:.3f}" == own["MFS, lists from here"]
    assert f"{found['recall']['value']:.3f}" == own["CL-RECALL, lists from here"]


def write_split(folder, name, documents):
    """Write a test set: by document id its bracket and its mentions with titles, one word each."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"test_{name}.jsonl").open("w", encoding="utf-8") as file:
        for id, (bracket, mentions) in documents.items():
            words = list(mentions)
            starts = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
            record = {
                "id": id,
                "text": " ".join(words),
                "index": [[start, start + len(word)] for start, word in zip(starts, words, strict=True)],
                "wikipedia_titles": list(mentions.values()),
                "wikipedia_ids": list(range(1, len(words) + 1)),
            }
            file.write(json.dumps(record | ({"bracket": bracket} if bracket else {})) + "\n")


def write_predictions(folder, name, documents):
    """Write predictions in ZELDA's layout: by document id the start, end and title of each."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
        for id, links in documents.items():
            for start, end, title in links:
                record = {"doc": id, "start": start, "end": end, "predicted": title, "candidates": [[title, 1.0]]}
                file.write(json.dumps(record) + "\n")


@pytest.fixture
def small(tmp_path):
    """A folder with two small test sets and with the predictions of a model of the paper and of another one."""
    write_split(
        tmp_path / "zelda/jsonl",
        "wned-wiki",
        {"a": ("1", {"Oslo": "Oslo", "Bonn": "Bonn"}), "b": ("0.3-0.4", {"Rome": "Rome", "Nice": "Nice"})},
    )
    write_split(tmp_path / "zelda/jsonl", "tweeki", {"t": (None, {"Bonn": "Bonn", "Oslo": "Oslo Airport"})})
    links = {"a": [(0, 4, "Oslo"), (5, 9, "Bonn")], "b": [(0, 4, "Rome"), (5, 9, "Pleasant")]}
    for name in ("FEVRY_CL", "mine"):
        write_predictions(tmp_path / "zelda/systems" / name, "wned-wiki", links)
    return tmp_path


def test_predictions_of_a_model_of_the_paper_fill_its_row_and_others_the_own_table(small):
    exhibits = {exhibit.name: exhibit for exhibit in reproduce_zelda_2023(str(small)).exhibits}
    table_3, table_4 = exhibits["Table 3"], exhibits["Table 4"]
    assert cell(table_3, "FEVRY_CL", "WNED-WIKI").value == "0.750"  # three of four mentions
    assert cell(table_3, "FEVRY_CL", "WNED-WIKI").status == "unexplained"  # 0.845 is published
    assert cell(table_3, "FEVRY_CL", "TWEEKI").explanation.missing_file == "zelda/systems/FEVRY_CL"
    assert cell(table_4, "FEVRY_CL", "1").value == "1.000"
    assert cell(table_4, "FEVRY_CL", "[0.4 - 0.3]").value == "0.500"
    own = {row[0]: dict(zip(COLUMNS_3, row[1:], strict=True)) for row in table_3.own_table[1:]}
    assert own["mine"]["WNED-WIKI"] == "0.750"
    assert (own["mine"]["TWEEKI"], own["mine"]["∅"]) == ("–", "–")  # without all splits there is no mean


@pytest.mark.extras  # DuckDB
def test_lists_are_built_from_the_titles_and_from_links_of_other_origin(small):
    table = {exhibit.name: exhibit for exhibit in reproduce_zelda_2023(str(small)).exhibits}["Table 3"]
    own = {row[0]: dict(zip(COLUMNS_3, row[1:], strict=True)) for row in table.own_table[1:]}
    # for WNED-WIKI: the titles, and the links of TWEEKI, by which Oslo is Oslo Airport too; both once, the title first
    assert own["MFS, lists from here"]["WNED-WIKI"] == "1.000"
    # for TWEEKI: Oslo Airport is called Oslo there only
    assert own["CL-RECALL, lists from here"]["TWEEKI"] == "0.500"


def test_counts_of_small_files_are_compared_and_missing_files_named(small):
    table = {exhibit.name: exhibit for exhibit in reproduce_zelda_2023(str(small)).exhibits}["Table 2"]
    assert cell(table, "TWEEKI", "# Mentions").value == "2"
    assert cell(table, "WNED-WIKI", "# Entities").value == "4"
    assert cell(table, "AIDA-B", "# Docs").status == "impossible"
    assert cell(table, "AIDA-B", "# Docs").explanation.missing_file == "zelda/jsonl/test_aida-b.jsonl"
    assert cell(table, "WNED-CWEB", "# Docs").explanation.missing_file == "zelda/jsonl/test_cweb.jsonl"
    assert cell(table, "TWEEKI", "Domain").status == "impossible"  # the content is not the registered one


def test_lists_of_zelda_give_mfs_and_recall(small):
    import pickle

    folder = small / "zelda/other"
    folder.mkdir()
    counts = {"Oslo": {"Oslo Airport": 2, "Oslo": 1}, "Bonn": {"Bonn": 5}}
    (folder / "zelda_mention_entities_counter.pickle").write_bytes(pickle.dumps(counts))
    exhibits = {exhibit.name: exhibit for exhibit in reproduce_zelda_2023(str(small)).exhibits}
    assert cell(exhibits["Table 3"], "MFS", "WNED-WIKI").value == "0.250"  # Bonn
    assert cell(exhibits["Table 3"], "CL-RECALL", "WNED-WIKI").value == "0.500"  # Bonn and Oslo
    assert cell(exhibits["Table 3"], "MFS", "TWEEKI").value == "1.000"
    assert cell(exhibits["Table 4"], "CG-recall", "1").value == "1.000"
    assert not any(note.startswith("Missing:") for note in exhibits["Table 3"].notes)


def test_training_text_gives_its_row_of_table_2(small):
    write_split(small / "zelda/train_data", "x", {"p": (None, {"Oslo": "Oslo", "Bonn": "Bonn"})})
    shutil.move(small / "zelda/train_data/test_x.jsonl", small / "zelda/train_data/zelda_train.jsonl")
    table = {exhibit.name: exhibit for exhibit in reproduce_zelda_2023(str(small)).exhibits}["Table 2"]
    assert cell(table, "ZELDA-TRAIN", "Domain").status == "reproduced"
    assert cell(table, "ZELDA-TRAIN", "# Docs").value == "0k"


def test_means_without_computed_values_are_those_of_the_printed_values(small):
    exhibits = {exhibit.name: exhibit for exhibit in reproduce_zelda_2023(str(small)).exhibits}
    means = [found for name in ("Table 3", "Table 4") for found in exhibits[name].cells if found.column == "∅"]
    assert {(mean.status, mean.is_from_paper) for mean in means} == {("reproduced", True)}
    mean = cell(exhibits["Table 3"], "LUKE_FT", "∅")
    assert (mean.published, mean.value) == ("0.710", "0.709")  # 6.382 / 9 is 0.7091, and nine values are rounded
    assert accuracies._check_mean("A", ["0.1", "0.2", "0.152"]).status == "unexplained"


def test_rows_of_trained_models_are_those_of_their_documentation():
    path = Path(__file__).parents[3] / "docs/measurements/training.md"
    rows = [line.replace("*", "").strip("| ").split(" | ") for line in path.read_text(encoding="utf-8").splitlines()]
    measured = {row[0]: (row[3], row[6]) for row in rows if len(row) == 7}
    for model, shares in accuracies.TRAINED_MODELS.items():
        name = f"{model}, all"
        if model.endswith(" with lists"):
            kind = model.removesuffix(" with lists")
            name = f"{kind}, lists, most confident first" if kind == "luke-head" else f"{kind}, lists"
        values = [f"{100 * shares[split].value:.1f}" for split in ("wned-wiki", "wned-cweb")]
        assert tuple(values) == measured[name]


def test_parameters_are_those_of_the_published_models():
    assert _count_bert_parameters() == 109_482_240
    assert _count_bart_parameters() == 139_420_416


def test_claims_that_the_printed_tables_contradict_need_a_change_that_gives_them(small):
    claims = {exhibit.name: exhibit for exhibit in reproduce_zelda_2023(str(small)).exhibits}["Section 4"]
    best = cell(claims, "the best classification model")
    assert (best.value, best.status, best.is_from_paper) == ("FEVRY_CL", "explained", True)
    second = cell(claims, "the second-best approach overall (Section 4.3)")
    assert second.explanation.value_if_changed == "FEVRY_ALL"  # without SLINKS-TAIL: 5.724 / 8 against 5.663 / 8
    assert "0.716 against 0.708 of FEVRY_CL and 0.694 of GENRE_ALL" in second.explanation.text
    falling = cell(claims, "models whose accuracy steadily decreases from the easiest to the hardest bracket")
    assert (falling.value, falling.status) == ("2 of 3", "explained")
    assert cell(claims, "FEVRY_ALL outperforms GENRE on SLINKS-SHADOW").status == "reproduced"


def test_sentences_of_aida_are_counted_where_its_files_are(small):
    (small / "aida").mkdir()
    lines = "-DOCSTART- -X- O O\n\nEU NNP\nrejects VBZ\n\nPeter NNP\n\n"
    (small / "aida/eng.train").write_text(lines, encoding="utf-8")
    claims = {exhibit.name: exhibit for exhibit in reproduce_zelda_2023(str(small)).exhibits}["Section 2"]
    assert cell(claims, "sentences in the training split of AIDA").value == "0k"  # two sentences
    entities = cell(claims, "entities in the training split of AIDA")
    assert (entities.value, entities.status) == ("at most 18,541", "explained")


def test_system_files_state_the_training_signal_of_every_model_in_table_1():
    models = {row for row in TABLE_1 if not row.endswith(")")}
    assert models <= collect_setups().keys()


def test_a_folder_with_predictions_only_leaves_table_1_and_the_claims(tmp_path):
    (tmp_path / "zelda/predictions").mkdir(parents=True)
    exhibits = {exhibit.name: exhibit for exhibit in reproduce_zelda_2023(str(tmp_path)).exhibits}
    assert list(exhibits) == EXHIBITS
    assert {found.status for found in exhibits["Table 2"].cells} == {"impossible"}
    assert cell(exhibits["Table 1"], "LUKE_GH", "Entity vocab").status == "reproduced"
    assert exhibits["Table 3"].own_table == ()
    assert any(note.startswith("No lists could be built") for note in exhibits["Table 3"].notes)


def test_a_folder_without_data_is_refused(tmp_path):
    with pytest.raises(InputError, match="zelda/jsonl"):
        reproduce_zelda_2023(str(tmp_path))


@pytest.mark.shared
@pytest.mark.extras  # spaCy and DuckDB
def test_the_page_is_what_the_suite_computes(reproduction):
    check_pages("zelda-2023", reproduction)
