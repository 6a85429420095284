"""No format follows a path out of its folder."""

from __future__ import annotations

import json

import pytest

import karat
from karat import InputError
from karat.storage.files import Source

SECRET = "the secret of Ulm"

WNED = """<?xml version="1.0"?><msnbc.entityAnnotation><document docName="{name}"><annotation><mention>the</mention>
<wikiName>X</wikiName><offset>0</offset><length>3</length></annotation></document></msnbc.entityAnnotation>"""

PROBLEM = (
    "<ReferenceProblem><ReferenceFileName>{name}</ReferenceFileName><ReferenceInstance><SurfaceForm>the</SurfaceForm>"
    "<Offset>0</Offset><Length>3</Length><ChosenAnnotation>X</ChosenAnnotation></ReferenceInstance></ReferenceProblem>"
)


@pytest.fixture
def places(tmp_path):
    """A folder to read, and a secret next to it."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text(SECRET)
    return folder, tmp_path / "secret.txt"


def _refused(path, *, found: str = "leads out of the folder", **options) -> None:
    with pytest.raises(InputError) as problem:
        karat.load(str(path), **options)
    assert found in str(problem.value)
    assert SECRET not in str(problem.value)


@pytest.mark.parametrize("name", ["../secret.txt", "{secret}", "a/../../secret.txt", ".."])
def test_no_name_leads_out(places, name):
    folder, secret = places
    for look in (
        Source(str(folder)).get_child,
        Source(str(folder / "x.json")).get_sibling,
        Source(str(folder / "x")).get_parent_sibling,
    ):
        with pytest.raises(InputError, match="a path that leads out of the folder"):
            look(name.format(secret=secret))


def test_links_inside_a_folder_are_followed_and_others_are_not(places):
    folder, secret = places
    (folder / "own.txt").write_text("own")
    (folder / "in").symlink_to("own.txt")
    (folder / "out").symlink_to(secret)
    (folder / "up").symlink_to("..")
    (folder / "again").symlink_to("again")
    source = Source(str(folder))
    assert source.get_child("in").read_bytes() == b"own"
    assert source.get_child("again").file_names == ()
    for name in ("out", "up", "up/secret.txt"):
        with pytest.raises(InputError, match="a link that leads out of the folder"):
            source.get_child(name)
        with pytest.raises(InputError, match="a link that leads out of the folder"):
            Source(str(folder / "own.txt")).get_sibling(name)
    assert Source(str(folder), trust_links=True).get_child("out").read_bytes() == SECRET.encode()


def test_a_linked_folder_and_a_linked_file_are_what_the_user_named(places, tmp_path):
    folder, _ = places
    (folder / "a.ann").write_text("T1\tPER 0 3\tAda\n")
    (folder / "a.txt").write_text("Ada")
    (tmp_path / "link").symlink_to(folder)
    assert len(karat.load(str(tmp_path / "link"))) == 1
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("a.ann", "a.txt"):
        (elsewhere / name).symlink_to(folder / name)
    assert len(karat.load(str(elsewhere / "a.ann"), format="brat")) == 1


def test_a_text_of_brat_is_no_link_out(places):
    folder, secret = places
    (folder / "a.ann").write_text("T1\tPER 0 3\tthe\n")
    (folder / "a.txt").symlink_to(secret)
    _refused(folder)
    _refused(folder / "a.ann", format="brat")


@pytest.mark.parametrize("name", ["../../secret.txt", "{secret}", "link"])
@pytest.mark.parametrize("layout", ["wned", "problems", "problem"])
def test_a_text_of_wned_is_in_its_folder(places, name, layout):
    folder, secret = places
    texts = folder / ("RawText" if layout == "wned" else "RawTexts")
    texts.mkdir()
    (texts / "other").write_text("other")
    (texts / "link").symlink_to(secret)
    name = name.format(secret=secret)
    if layout == "wned":
        (folder / "msnbc.xml").write_text(WNED.format(name=name))
        path = folder
    else:
        (folder / "Problems").mkdir()
        (folder / "Problems" / "p.xml").write_text(PROBLEM.format(name=name))
        path = folder if layout == "problems" else folder / "Problems" / "p.xml"
    _refused(path, format="wned", found="leads out of the folder" if name == "link" else "no text")


def test_the_folder_of_texts_is_no_link_out(places, tmp_path):
    folder, _ = places
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "d").write_text(SECRET)
    (folder / "msnbc.xml").write_text(WNED.format(name="d"))
    (folder / "RawText").symlink_to(hidden)
    _refused(folder, format="wned")


@pytest.mark.parametrize("name", ["../secret.txt", "{secret}", "link.arrow"])
def test_no_data_file_of_hf_datasets_lies_elsewhere(places, name):
    folder, secret = places
    (folder / "link.arrow").symlink_to(secret)
    state = {"_data_files": [{"filename": name.format(secret=secret)}]}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")
    _refused(folder, format="hf-datasets")


def _conel(folder) -> None:
    dialogue = {"dialogue_id": "1", "turns": [{"turn_number": 0, "utterance": "Ulm", "el_annotations": []}]}
    (folder / "dataset").mkdir(exist_ok=True)
    (folder / "dataset" / "ConEL_EL.json").write_text(json.dumps([dialogue]))
    (folder / "runs").mkdir()
    (folder / "runs" / "run.json").write_text(json.dumps([["1", 0, "Ulm", "Ulm"]]))


def test_a_run_of_conel_reads_the_published_folder_above_it_and_no_other(places, tmp_path):
    folder, _ = places
    _conel(folder)
    assert len(karat.load_run(str(folder / "runs" / "run.json")).predictions) == 1
    hidden = tmp_path / "hidden"
    (folder / "dataset").rename(hidden)
    (folder / "dataset").symlink_to(hidden)
    with pytest.raises(InputError, match="a link that leads out of the folder"):
        karat.load_run(str(folder / "runs" / "run.json"))


def test_texts_are_looked_for_in_the_folder_above_and_not_below_it(places, monkeypatch):
    """A problem alone in a folder of many files: only the names of the folders there are looked at."""
    folder, _ = places
    (folder / "Problems").mkdir()
    (folder / "Problems" / "p.xml").write_text(PROBLEM.format(name="t"))
    (folder / "RawTexts").mkdir()
    (folder / "RawTexts" / "t").write_text("the text")
    monkeypatch.setattr(Source, "file_names", property(_only_texts))
    assert karat.load(str(folder / "Problems" / "p.xml"), format="wned")["t"].text == "the text"


def _only_texts(source: Source) -> tuple[str, ...]:
    assert source.path.endswith("RawTexts"), source.path
    return ("t",)
