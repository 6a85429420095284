"""Folders of tables: what is read, and every defect with its exact place."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat import InputError
from karat.kb.tsv_folder import load_tsv_folder

EXPECTED = (
    "any of redirects.tsv, same_as.tsv, subclass_of.tsv, entities.tsv, aliases.tsv, popular.tsv, demonyms.txt"
    " (also .gz, .zst)"
)
FILES = {
    "redirects.tsv": "#from\tto\nQ7\tQ6\n\nQ6\tQ5\n",
    "same_as.tsv": "Q5\tdbr:Ada Lovelace\r\n# the other one\r\nQ3\tQ4",
    "subclass_of.tsv": "\ufeffpainter\tperson\n",
    "entities.tsv": '\ufeff# id\tname\ttypes\nQ5\tAda\tpainter|poet\nQ3\nQ8\t\nQ2\t "Ten\t\nQ5\tAda\tpainter|poet\n',
    "aliases.tsv": "# id\talias\nQ7\tCountess\nQ5\t Ada |#1\nQ5\tCountess\r\nQ9\talias\n",
    "popular.tsv": 'surface\tids\nAda\tQ7|Q3\n# 1\tQ3\n# a remark\n\n#x\tQ8\r\n a \tQ2\n"\tQ2\nsurface\tQ2\n',
    "demonyms.txt": "# some\nTyrolean\r\n#x\n\n'Ulmer\n",
}


def folder(parent, files, name="small"):
    path = parent / name
    path.mkdir()
    for file, content in files.items():
        (path / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(path):
    with pytest.raises(InputError) as caught:
        load_tsv_folder(path)
    assert "\n" not in str(caught.value)
    return caught.value


def test_by_hand(tmp_path):
    kb = load_tsv_folder(folder(tmp_path, FILES | {"README.md": "Hello."}))
    assert kb.name == "small"
    assert kb.canonical_ids(["Q7", "Q6", "dbr:Ada Lovelace", "Q4", "#from"]) == ["Q5", "Q5", "Q5", "Q3", "#from"]
    assert kb.contains(["Q7", "dbr:Ada Lovelace", "Q4", "Q8", "Q9", "Ada"]) == [True, True, True, True, False, False]
    assert kb.hierarchy.find_ancestors("painter") == {"painter": 0, "person": 1}


def test_what_is_known_about_entities(tmp_path):
    kb = load_tsv_folder(folder(tmp_path, FILES))
    assert kb.names(["Q7", "dbr:Ada Lovelace", "Q3", "Q8", "Q2", "Q1"]) == ["Ada", "Ada", None, None, ' "Ten', None]
    both = frozenset({"painter", "poet"})
    assert kb.types(["Q6", "dbr:Ada Lovelace", "Q3", "Q8", "Q2", "Q1"]) == [both, both, None, None, frozenset(), None]
    assert kb.contains(["id", "# id"]) == [False, False]


def test_aliases_are_kept_letter_by_letter(tmp_path):
    kb = load_tsv_folder(folder(tmp_path, FILES))
    ada = {" Ada |#1", "Countess"}  # Q7 redirects to Q5
    assert kb.aliases(["Q5", "Q6", "dbr:Ada Lovelace", "Q9", "Q3", "Q1"]) == [ada, ada, ada, {"alias"}, None, None]


def test_surfaces_are_kept_letter_by_letter(tmp_path):
    kb = load_tsv_folder(folder(tmp_path, FILES))
    surfaces = ["Ada", "# 1", "#x", " a ", '"', "surface"]
    ids = [{"Q5", "Q3"}, {"Q3"}, {"Q8"}, {"Q2"}, {"Q2"}, {"Q2"}]  # Q7 redirects to Q5
    assert kb.popular_entities(surfaces) == ids
    assert kb.popular_entities(["ada", "a", "# a remark", "", "ids"]) == [None] * 5
    assert kb.are_demonyms(["Tyrolean", "#x", "'Ulmer", "# some", "tyrolean", ""]) == [True] * 3 + [False] * 3


def test_tables_may_have_a_header(tmp_path):
    plain = {"entities.tsv": "Q1\tOne\tX\n", "aliases.tsv": "Q1\t1\n", "popular.tsv": "one\tQ1\n"}
    headed = {
        "entities.tsv": "id\tname\ttypes\nQ1\tOne\tX\n",
        "aliases.tsv": "id\talias\nQ1\t1\n",
        "popular.tsv": "surface\tids\none\tQ1\n",
    }
    assert load_tsv_folder(folder(tmp_path, plain)).digest == load_tsv_folder(folder(tmp_path, headed, "headed")).digest
    # Only the first row can be one, and a surface of that name is not mistaken for it.
    later = {"entities.tsv": "Q1\nid\n", "popular.tsv": "surface\tQ1\nsurface\tQ1\n"}
    kb = load_tsv_folder(folder(tmp_path, later, "later"))
    assert (kb.contains(["id"]), kb.popular_entities(["surface"])) == ([True], [{"Q1"}])


def test_without_a_table_nothing_is_known(tmp_path):
    kb = load_tsv_folder(folder(tmp_path, {"redirects.tsv": "Q1\tQ2\n"}))
    assert (
        kb.names(["Q1"]),
        kb.aliases(["Q1"]),
        kb.types(["Q1"]),
        kb.popular_entities(["a"]),
        kb.are_demonyms(["a"]),
    ) == (
        [None],
        [None],
        [None],
        [None],
        [None],
    )


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_compressed_tables_say_the_same(suffix, tmp_path):
    def packed(text):
        return gzip.compress(text.encode()) if suffix == ".gz" else pa.compress(text.encode(), "zstd", asbytes=True)

    plain = load_tsv_folder(folder(tmp_path, FILES))
    files = {name + suffix: packed(text) for name, text in FILES.items()}
    assert load_tsv_folder(folder(tmp_path, files, "packed")).digest == plain.digest


def test_the_name_is_the_name_of_the_folder(tmp_path, monkeypatch):
    path = folder(tmp_path, FILES, "wikidata.2026")
    monkeypatch.chdir(path)
    assert [load_tsv_folder(given).name for given in (path, f"{path}/", ".")] == ["wikidata.2026"] * 3


@pytest.mark.parametrize("file", FILES)
def test_one_table_is_enough(file, tmp_path):
    kb = load_tsv_folder(folder(tmp_path, {file: FILES[file]}))
    assert (kb.contains(["Q1"]) is None) == (file != "entities.tsv")


def test_a_table_may_be_empty(tmp_path):
    kb = load_tsv_folder(folder(tmp_path, {"entities.tsv": "# id\n", "redirects.tsv": ""}))
    assert kb.contains(["Q1"]) == [False]


def test_only_newlines_end_a_line(tmp_path):
    kb = load_tsv_folder(folder(tmp_path, {"redirects.tsv": "a\u2028b\tc\x85d\n"}))
    assert kb.canonical_ids(["a\u2028b"]) == ["c\x85d"]


BAD = {
    "one column": ("redirects.tsv", "Q1\tQ2\n# hm\n\nQ3 Q4\n", ":4", "1 column", "2 columns: from, to"),
    "three columns": ("same_as.tsv", "Q1\tQ2\tQ3", ":1", "3 columns", "2 columns: one, other"),
    "a tab at the end": ("subclass_of.tsv", "a\tb\t\n", ":1", "3 columns", "2 columns: class, superclass"),
    "no source": ("redirects.tsv", "Q1\tQ2\n\tQ2\n", ":2", "an empty id", "an id"),
    "no target": ("redirects.tsv", "Q1\t \n", ":1", "an empty id", "an id"),
    "no id": ("entities.tsv", "# id\nQ1\tAda\n\tBob\n", ":3", "an empty id", "an id"),
    "nothing but a tab": ("same_as.tsv", "a\tb\n\t\n", ":2", "an empty id", "an id"),
    "four columns": ("entities.tsv", "Q1\tA\tX\tY\n", ":1", "4 columns", "1 to 3 columns: id, name, types"),
    "an empty type": ("entities.tsv", "# id\nQ1\nQ2\tA\tX||Y\n", ":3", "an empty type", "types"),
    "an entity again": (
        "entities.tsv",
        "Q1\tA\nQ2\tB\nQ1\tC\n",
        ":3",
        "a second row for 'Q1' that differs from {path}:1",
        "one row per id",
    ),
    "alias without id": ("aliases.tsv", "Q1\ta\n \tb\n", ":2", "an empty id", "an id"),
    "no alias": ("aliases.tsv", "id\talias\nQ1\ta\nQ1\t \n", ":3", "an empty alias", "an alias"),
    "an id alone": ("aliases.tsv", "Q1\n", ":1", "1 column", "2 columns: id, alias"),
    "surface without ids": ("popular.tsv", "a\tQ1\n#b\n", ":2", "1 column", "2 columns: surface, ids"),
    "surface with a tab": ("popular.tsv", "# a\tb\tQ1\n", ":1", "3 columns", "2 columns: surface, ids"),
    "blanks for a row": ("popular.tsv", "a\tQ1\n  \n", ":2", "1 column", "2 columns: surface, ids"),
    "no ids": ("popular.tsv", "surface\tids\na\tQ1\na\tQ1\nb\t\n", ":4", "an empty id", "an id"),
    "a missing id": ("popular.tsv", "a\tQ1||Q2\n", ":1", "an empty id", "an id"),
    "no surface": ("popular.tsv", "a\tQ1\n\tQ1\n", ":2", "an empty surface", "a surface"),
    "a surface again": (
        "popular.tsv.gz",
        "a\tQ1|Q2\na\tQ2\n",
        ":2",
        "a second row for 'a' that differs from {path}:1",
        "one row per surface",
    ),
    "two columns of demonyms": ("demonyms.txt", "# ok\nDane\tDenmark\n", ":2", "2 columns", "1 column: surface"),
    "two targets": (
        "redirects.tsv",
        "#\nQ1\tQ2\nQ3\tQ2\nQ1\tQ3\n",
        ":4",
        "a redirect from 'Q1' to 'Q3', and one to 'Q2' at {path}:2",
        "one target for each id",
    ),
    "cycle of redirects": (
        "redirects.tsv",
        "Q2\tQ3\n\nQ3\tQ1\nQ9\tQ1\nQ1\tQ2\nQ4\tQ9\n",
        ":5",
        "the cycle Q1 → Q2 → Q3 → Q1",
        "redirects without cycles",
    ),
    "redirect to itself": ("redirects.tsv", "Q1\tQ1\n", ":1", "the cycle Q1 → Q1", "redirects without cycles"),
    "cycle of classes": (
        "subclass_of.tsv.gz",
        "#\nb\ta\na\tb\na\tc\n",
        ":3",
        "the cycle a → b → a",
        "superclasses without cycles",
    ),
    "own superclass": ("subclass_of.tsv", "a\ta\n", ":1", "the cycle a → a", "superclasses without cycles"),
    "Latin-1": (
        "entities.tsv",
        b"Q1\n\xc3\xa9\nQ\xe9\n",
        ":3",
        "bytes that are not UTF-8 (byte 2 of the line)",
        "UTF-8",
    ),
    "UTF-16": (
        "same_as.tsv",
        "a\tb".encode("utf-16"),
        ":1",
        "bytes that are not UTF-8 (byte 1 of the line)",
        "UTF-8",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_tables(name, tmp_path):
    file, content, line, found, expected = BAD[name]
    path = folder(tmp_path, {"entities.tsv": "Q1\n", file: content}) / file
    problem = refused(path.parent)
    assert problem.where == f"{path}{line}"
    assert problem.actual == found.format(path=path)
    assert problem.expected == expected
    assert problem.remedy


def test_damaged_tables(tmp_path):
    cut = gzip.compress(b"Q1\tQ2\n" * 1000)[:-12]
    path = folder(tmp_path, {"redirects.tsv.gz": cut})
    problem = refused(path)
    assert problem.where == f"{path / 'redirects.tsv.gz'}"
    assert "damaged" in problem.actual
    (folder(tmp_path, {}, "other") / "redirects.tsv").mkdir()
    assert refused(tmp_path / "other").actual == "a folder"


def test_no_folder(tmp_path):
    (tmp_path / "redirects.tsv").write_text("Q1\tQ2\n")
    for given_path, found, remedy in [
        (tmp_path / "redirects.tsv", "a file", "Put the tables into a folder and name the folder"),
        (tmp_path / "none", "no such folder", "Check the path"),
        (f"{tmp_path}/\0", "a path with a NUL character", "Check the path"),
        (tmp_path / ("x" * 300), "a folder that cannot be read (File name too long)", "Check its name and permissions"),
    ]:
        problem = refused(given_path)
        assert problem.where == str(given_path)
        assert (problem.actual, problem.expected) == (found, f"a folder with {EXPECTED}")
        assert problem.remedy == remedy


@pytest.mark.parametrize(
    ("names", "found", "remedy"),
    [
        ([], "none of the tables", "Check the path"),
        (["README.md", "notes.txt", "names.tsv"], "none of the tables", "Check the path"),
        (
            ["README.md", "sameas.tsv"],
            "sameas.tsv",
            "Rename or convert sameas.tsv to same_as.tsv, or move files that are no tables to another folder",
        ),
        (
            ["Redirect.TSV", "entity.csv"],
            "Redirect.TSV and entity.csv",
            "Rename or convert Redirect.TSV to redirects.tsv and entity.csv to entities.tsv, "
            "or move files that are no tables to another folder",
        ),
        (
            ["redirects.tsv", "same-as.tsv.gz"],
            "same-as.tsv.gz",
            "Rename or convert same-as.tsv.gz to same_as.tsv, or move files that are no tables to another folder",
        ),
        (
            ["demonym.txt", "entities.tsv", "popular.txt"],
            "demonym.txt and popular.txt",
            "Rename or convert demonym.txt to demonyms.txt and popular.txt to popular.tsv, "
            "or move files that are no tables to another folder",
        ),
    ],
)
def test_folders_without_tables_and_misspelt_ones(names, found, remedy, tmp_path):
    path = folder(tmp_path, dict.fromkeys(names, ""))
    problem = refused(path)
    assert (problem.where, problem.actual, problem.expected) == (str(path), found, EXPECTED)
    assert problem.remedy == remedy


def test_other_files_may_lie_beside_the_tables(tmp_path):
    names = ["redirects.tsv", "redirects_old.tsv", "entities.jsonl", "names.tsv", "same_as_notes.txt", "LICENSE"]
    assert load_tsv_folder(folder(tmp_path, dict.fromkeys(names, ""))).contains(["Q1"]) is None


def test_one_table_in_two_files(tmp_path):
    problem = refused(folder(tmp_path, {"same_as.tsv": "", "same_as.tsv.gz": ""}))
    assert problem.where == str(tmp_path / "small")
    assert problem.actual == "same_as.tsv and same_as.tsv.gz"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(FILES)), st.binary(max_size=12) | st.text("ab#\t\r\n \ufeff").map(str.encode))
def test_nothing_but_an_input_error_escapes(tmp_path, file, content):
    path = tmp_path / "any"
    path.mkdir(exist_ok=True)
    for old in path.iterdir():
        old.unlink()
    (path / file).write_bytes(content)
    try:
        load_tsv_folder(path)
    except InputError as problem:
        assert str(path / file) in problem.where  # noqa: PT017 - the place is the point


@pytest.mark.shared
def test_no_row_of_a_real_snapshot_is_lost(shared):
    path = shared / "elevant" / "kb"
    kb = load_tsv_folder(path)
    rows = [row.split("\t") for row in (path / "entities.tsv").read_text(encoding="utf-8").split("\n")[1:] if row]
    assert kb.names([row[0] for row in rows]) == [row[1] for row in rows]
    assert kb.types([row[0] for row in rows]) == [frozenset(filter(None, row[2].split("|"))) for row in rows]
    rows = [row.split("\t") for row in (path / "popular.tsv").read_text(encoding="utf-8").split("\n")[1:] if row]
    assert kb.popular_entities([row[0] for row in rows]) == [set(row[1].split("|")) for row in rows]
    surfaces = [row for row in (path / "demonyms.txt").read_text(encoding="utf-8").split("\n") if row]
    assert all(kb.are_demonyms(surfaces))
