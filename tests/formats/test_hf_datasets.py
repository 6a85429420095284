"""Hugging Face datasets: Karat's own columns round trip, tokens with tags and links, folders; the library itself."""

from __future__ import annotations

import io
import json
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

import karat
from karat import UNLINKED, Corpus, Document, InputError, Label, Prediction, Run
from karat.formats.plugins.hf_datasets import FORMAT
from tests import strategies
from tests.formats.broken import nearly, read_or_refused

NAMES = ["O", "B-PER", "I-PER", "S-LOC"]
ROWS = {
    "doc_id": ["a", "b"],
    "tokens": [["Ada", "King", "of", "Ulm"], ["Bob", "."]],
    "ner_tags": [[1, 2, 0, 3], [1, 0]],
    "entity_ids": [["Q1", "Q1", "_", None], ["NIL", "O"]],
    "text": ["Ada  King of Ulm", None],
    "lang": ["en", "de"],
}


def stream(rows: dict, **metadata: str) -> bytes:
    table = pa.table(rows).replace_schema_metadata(metadata or None)
    file = io.BytesIO()
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


def with_names(rows: dict) -> bytes:
    tags = {"feature": {"names": NAMES, "_type": "ClassLabel"}, "_type": "List"}
    return stream(rows, huggingface=json.dumps({"info": {"features": {"ner_tags": tags}}}))


DOCUMENTS = [
    Document("a", "Ada  King of Ulm", (Label(0, 9, "Q1", types=("PER",)), Label(13, 16, UNLINKED, types=("LOC",)))),
    Document("b", "Bob .", (Label(0, 3, None, types=("PER",)),)),
]


def test_tokens_with_tags_and_links(tmp_path):
    (tmp_path / "x.arrow").write_bytes(with_names(ROWS))
    corpus = karat.load(tmp_path / "x.arrow")
    assert list(corpus) == DOCUMENTS
    assert corpus.skipped == {"columns that are not read (lang)": 1}
    pq.write_table(pa.ipc.open_stream(with_names(ROWS)).read_all(), tmp_path / "x.parquet")
    assert list(karat.load(tmp_path / "x.parquet", format="hf-datasets")) == DOCUMENTS
    run = FORMAT.read_run(Held(with_names(ROWS)))
    assert next(iter(run)).predictions == (Prediction(0, 9, "Q1", types=("PER",)), Prediction(13, 16, types=("LOC",)))


def test_a_null_id_leaves_the_other_column_of_ids(tmp_path):
    rows = {"id": ["a", None, None], "doc_id": ["x", "y", None], "tokens": [["Ada"]] * 3, "ner_tags": [["O"]] * 3}
    (tmp_path / "x.arrow").write_bytes(stream(rows))
    corpus = karat.load(tmp_path / "x.arrow")
    assert [document.id for document in corpus] == ["a", "y", "3"]
    assert corpus.skipped == {"documents without an id (numbered)": 1}


def test_rows_without_ids_texts_and_links_and_with_odd_ones(tmp_path):
    rows = {"tokens": [["Ada", "of", "Ulm"], ["x"]], "ner_tags": [["I-PER", "O", "B-LOC"], ["O"]], "text": ["Ada", "x"]}
    (tmp_path / "x.arrow").write_bytes(stream({**rows, "entity_ids": [["Q1", "Q2", "NIL"], None]}))
    corpus = karat.load(tmp_path / "x.arrow")
    assert list(corpus) == [
        Document("1", "Ada of Ulm", (Label(0, 3, "Q1", types=("PER",)), Label(7, 10, None, types=("LOC",)))),
        Document("2", "x"),
    ]
    assert corpus.skipped == {
        "documents without an id (numbered)": 2,
        "texts that lack a token (tokens joined by spaces)": 1,
        "mentions that begin without a B or S tag": 1,
        "links on tokens outside all mentions": 1,
    }


@given(strategies.rich_documents(), strategies.metadata)
def test_a_written_corpus_is_read_again(documents, metadata):
    corpus = Corpus.from_documents(documents, name="mine", **metadata)
    read = FORMAT.read_corpus(Held(written(FORMAT.write_corpus, corpus)), True)
    assert list(read) == documents
    assert (read.name, read.metadata, read.digest, read.skipped) == ("mine", metadata, corpus.digest, {})


@given(strategies.rich_responses(), strategies.metadata)
def test_a_written_run_is_read_again(responses, metadata):
    run = Run.from_responses(responses, name="mine", **metadata)
    data = written(FORMAT.write_run, run)
    read = FORMAT.read_run(Held(data))
    assert list(read) == responses
    assert (read.name, read.metadata, read.digest) == ("mine", metadata, run.digest)
    assert FORMAT.recognises(data)
    assert not FORMAT.has_gold(Held(data))


def written(write, what) -> bytes:
    file = io.BytesIO()
    write(what, file)
    return file.getvalue()


class Held:
    """Bytes in memory, as a format is given them."""

    path = label = stem = "memory"
    is_folder = False

    def __init__(self, data: bytes) -> None:
        self.first_bytes = data

    def read_bytes(self) -> bytes:
        return self.first_bytes

    def open_stream(self) -> BytesIO:
        return BytesIO(self.first_bytes)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            with_names({**ROWS, "ner_tags": [[1], [1, 0]]}),
            ": row 1: found 4 tokens, 1 tags and 4 links; expected the same number",
        ),
        (
            with_names({**ROWS, "ner_tags": [[1, 2, 0, 9], [1, 0]]}),
            ": row 1: found the tag 9; expected a string such as",
        ),
        (stream(ROWS), ": row 1: found the tag 1; expected a string such as B-PER"),
        (
            stream({"tokens": [["a"]], "ner_tags": [["X-Y"]]}),
            ": row 1, token 1: found the tag 'X-Y'; expected O, or B-",
        ),
        (stream({"tokens": [["a"]], "ner_tags": ["O"]}), ": row 1: found no list in `ner_tags`; expected lists"),
        (stream({"id": ["a"]}), ": found the columns id; expected `id` and `labels`, or `tokens` and `ner_tags`."),
        (stream({"id": ["a"], "text": ["b"], "labels": [["c"]]}), ": found a column of another type at labels[]"),
        (
            stream({"id": ["a"], "text": ["b"], "labels": [[{"start": 0, "end": 1}]]}),
            ": found labels without a field `entity`; expected start, end and entity",
        ),
        (
            stream({"id": ["a"], "text": ["b"], "labels": [[{"start": 0, "end": 9, "entity": "Q1"}]]}),
            ": row 1: found label [0, 9) in a text of 1 code points; expected an end inside the text.",
        ),
        (
            stream({"id": ["a"], "text": ["b"], "labels": [[]], "meta": [5]}),
            ": found a column of another type at meta (int64 instead of map<string, string>)",
        ),
        (
            stream({"id": ["a"], "text": ["b"], "labels": [[]], "meta": [[{"key": "k"}]]}),
            ": found a column of another type at meta (list<",
        ),
        (with_names(ROWS)[:-100], ": found data that cannot be read ("),
        (b"", ": found data that cannot be read ("),
    ],
)
def test_errors_say_where(tmp_path, data, message):
    path = tmp_path / "x.arrow"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        karat.load(path, format="hf-datasets")
    assert str(caught.value).startswith(f"{path}{message}")


@given(nearly(with_names(ROWS)))
def test_broken_files_are_refused_in_words(data):
    read_or_refused(lambda source: FORMAT.read_corpus(source, True), data)


def test_a_folder_as_the_library_saves_it(tmp_path):
    for split in ("train", "test"):
        folder = tmp_path / split
        folder.mkdir()
        for number in range(2):
            part = {name: values[number : number + 1] for name, values in ROWS.items() if name != "text"}
            (folder / f"data-{number}.arrow").write_bytes(with_names(part))
        files = [{"filename": f"data-{number}.arrow"} for number in range(2)]
        (folder / "state.json").write_text(json.dumps({"_data_files": files}))
        (folder / "dataset_info.json").write_text("{}")
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert [document.text for document in karat.load(tmp_path / "test")] == ["Ada King of Ulm", "Bob ."]
    with pytest.raises(InputError, match=r"found several splits in one folder \(test, train\); expected one split"):
        karat.load(tmp_path)
    (tmp_path / "test" / "state.json").write_text("{}")
    with pytest.raises(InputError, match=r"state\.json: found data that cannot be read \('_data_files'\)"):
        karat.load(tmp_path / "test")


@pytest.mark.extras
def test_the_library_reads_what_is_written_and_the_other_way_round(tmp_path):
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    corpus = Corpus.from_documents([Document("d", "Ada met Bob.", (Label(0, 3, "Q1"), Label(8, 11)), meta={"k": "v"})])
    karat.save(corpus, tmp_path / "gold.arrow", format="hf-datasets")
    opened = datasets.Dataset.from_file(str(tmp_path / "gold.arrow"))
    assert opened[0]["labels"][0]["entity"] == "Q1"
    opened.save_to_disk(str(tmp_path / "saved"))
    assert list(karat.load(tmp_path / "saved")) == list(corpus)
    features = datasets.Features(
        {
            "id": datasets.Value("string"),
            "tokens": datasets.List(datasets.Value("string")),
            "ner_tags": datasets.List(datasets.ClassLabel(names=NAMES)),
        }
    )
    rows = {"id": ["a"], "tokens": [["Ada", "King"]], "ner_tags": [[1, 2]]}
    made = datasets.Dataset.from_dict(rows, features=features)
    made.save_to_disk(str(tmp_path / "tags"))
    made.to_parquet(str(tmp_path / "tags.parquet"))
    expected = [Document("a", "Ada King", (Label(0, 8, types=("PER",)),))]
    assert list(karat.load(tmp_path / "tags")) == expected
    assert list(karat.load(tmp_path / "tags.parquet", format="hf-datasets")) == expected


@pytest.mark.parametrize("head", [b"", b"\xff\xff\xff\xff", stream({"a": [1]}), stream({"tokens": [1]}), b"PAR1"])
def test_not_recognised(head):
    assert not FORMAT.recognises(head)


@pytest.mark.parametrize("kind", ["gold", "predictions"])
def test_a_folder_that_karat_writes_is_as_the_library_saves_it(tmp_path, kind, karat_cli):
    """What `load_from_disk` looks for: the state names the files, which are Arrow streams; the info is there."""
    source, read = ("demo", karat.load) if kind == "gold" else ("demo/noisy", karat.load_run)
    folder = tmp_path / "mine"
    folder.mkdir()  # an empty folder is as good as none
    karat.save(read(source), folder, format="hf-datasets")
    assert {path.name for path in folder.iterdir()} == {"data-00000-of-00001.arrow", "state.json", "dataset_info.json"}
    state = json.loads((folder / "state.json").read_text())
    keys = {
        "_data_files",
        "_fingerprint",
        "_format_columns",
        "_format_kwargs",
        "_format_type",
        "_output_all_columns",
        "_split",
    }
    assert set(state) == keys
    [table] = [pa.ipc.open_stream((folder / each["filename"]).read_bytes()).read_all() for each in state["_data_files"]]
    assert not [field.name for field in table.schema if pa.types.is_map(field.type)]
    assert set(json.loads((folder / "dataset_info.json").read_text())) == {
        "citation",
        "description",
        "homepage",
        "license",
    }
    assert read(folder).digest == read(source).digest
    assert karat_cli("data", "convert", source, folder, "--to", "hf-datasets").code == 2
    assert not list(tmp_path.glob(".*"))
    with pytest.raises(karat.UsageError, match="already exists"):
        karat.save(read(source), folder, format="hf-datasets")
    with pytest.raises(karat.UsageError, match="no folder"):
        karat.save(read(source), tmp_path / "nowhere" / "mine", format="hf-datasets")


@pytest.mark.parametrize(
    ("licence", "expected"),
    [("CC BY 4.0", "cc-by-4.0"), ("Apache-2.0", "apache-2.0"), ("CC0", "cc0-1.0"), ("Ask the authors", "other")],
)
def test_the_card_of_a_split_says_what_its_metadata_state(licence, expected, tmp_path):
    metadata = {"licence": licence, "split": "dev", "creators": "Ada", "description": "Short texts."}
    corpus = karat.Corpus.from_documents([karat.Document("d", "Ulm")], **metadata)
    karat.save(corpus, tmp_path / "hub", format="hf-hub")
    card = (tmp_path / "hub" / "README.md").read_text()
    assert (tmp_path / "hub" / "dev.parquet").exists()
    assert f'license: "{expected}"' in card
    assert "Short texts." in card
    assert "- Creators: Ada" in card
    assert "`linked`" in card


def test_the_card_names_the_version_of_a_dataset_in_the_catalogue(tmp_path):
    for name, expected in (("mine@2/test", "- Version: mine@2\n"), ("mine@2", "- Version: mine@2\n"), ("mine", "")):
        corpus = Corpus.from_documents([Document("d", "Ulm")], name=name)
        folder = tmp_path / expected.strip(" -\n").replace(" ", "") / name.replace("/", "-")
        folder.parent.mkdir(exist_ok=True)
        karat.save(corpus, folder, format="hf-hub")
        card = (folder / "README.md").read_text()
        assert expected in card
        assert ("Version" in card) == bool(expected)


def test_a_file_of_a_hub_folder_is_read_by_its_path(tmp_path):
    """The Hub has no maps, so `meta` is a list of key and value; the file is read without naming its format."""
    document = Document("d", "Ada met Bob.", (Label(0, 3, "Q1"), Label(8, 11, None)), meta={"k": "v", "l": ""})
    corpus = Corpus.from_documents([document, Document("e", "Ulm")], name="test")
    karat.save(corpus, tmp_path / "hub", format="hf-hub")
    for path in (tmp_path / "hub" / "test.parquet", tmp_path / "hub"):
        read = karat.load(path)
        assert (read.name, read.digest, list(read)) == ("test", corpus.digest, list(corpus))
