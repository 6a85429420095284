"""doccano: lines in the layouts that it exports, offsets in UTF-16 units, ids in a custom field, and broken files."""

from __future__ import annotations

import json
import zipfile

import pytest

import karat
from karat import Corpus, Document, InputError, Label
from karat.model.document import Triple

FIREMEN = "\U0001f468\U0001f3fb\U0001f692 firemen drive firetrucks"


def read(tmp_path, *lines):
    path = tmp_path / "admin.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return karat.load(path)


def test_spans_as_lists(tmp_path):
    line = {"id": 3, "text": "Ada met Bob", "label": [[0, 3, "PER"], [8, 11, "PER"]], "Comments": ["?"], "lang": "en"}
    corpus = read(tmp_path, line, {"id": 4, "text": "Nothing", "label": []})
    labels = (Label(0, 3, types=("PER",)), Label(8, 11, types=("PER",)))
    assert list(corpus) == [Document("3", "Ada met Bob", labels, meta={"lang": "en"}), Document("4", "Nothing")]
    assert corpus.skipped == {"comments (skipped)": 1}
    assert corpus.name == "admin"


def test_entities_with_relations(tmp_path):
    entities = [{"id": 1662, "label": "PER", "start_offset": 0, "end_offset": 3}]
    relations = [{"id": 273, "from_id": 1662, "to_id": 1662, "type": "knows"}]
    line = {"id": 6400, "text": "Ada", "Comments": [], "entities": entities, "relations": relations}
    corpus = read(tmp_path, line)
    assert corpus["6400"].labels == (Label(0, 3, types=("PER",)),)
    assert corpus.skipped == {"relations that are not between two linked mentions": 1}
    custom = {"labels": [{"start": 0, "end": 3, "type": "PER", "fields": {"entity": "Q7259"}}]}
    assert read(tmp_path, {**line, "karat": json.dumps(custom)})["6400"].relations == (
        Triple("Q7259", "knows", "Q7259"),
    )


def test_offsets_count_utf16_units_and_in_old_files_code_points(tmp_path):
    start = FIREMEN.index("firetrucks")
    assert (start, len(FIREMEN.encode("utf-16-le")) // 2 - 10) == (18, 21)
    corpus = read(tmp_path, {"text": FIREMEN, "label": [[21, 31, "THING"]]})
    assert corpus["1"].labels[0].span == (18, 28)
    old = read(tmp_path, {"text": FIREMEN, "label": [[1, 2, "THING"]]})
    assert old["1"].labels[0].span == (1, 2)
    assert old.skipped == {"texts whose offsets count code points": 1}


def test_what_changed_in_doccano_is_counted(tmp_path):
    path = tmp_path / "x.doccano.jsonl"
    labels = (Label(0, 3, "Q1", types=("PER",)), Label(4, 7, "Q2", types=("PER",)), Label(8, 11, None, types=("PER",)))
    karat.save(Corpus.from_documents([Document("d", "Ada met Bob", labels)]), path, format="doccano")
    line = json.loads(path.read_text())
    assert line["label"] == [[0, 3, "PER"], [4, 7, "PER"], [8, 11, "PER"]]
    line |= {"id": 99, "label": [[0, 3, "PER"], [4, 7, "LOC"]]}
    corpus = read(tmp_path, line)
    assert corpus["d"].labels == (labels[0], Label(4, 7, types=("LOC",)))
    assert corpus.skipped == {
        "spans that were added or changed in doccano (unlinked)": 1,
        "ids and fields of spans that were deleted or changed in doccano (dropped)": 2,
    }


def test_alternatives_share_a_span(tmp_path):
    path = tmp_path / "x.doccano.jsonl"
    labels = (Label(0, 3, "Q1", mention_id="m"), Label(0, 3, "Q2", mention_id="m"))
    karat.save(Corpus.from_documents([Document("d", "Ada", labels)]), path, format="doccano")
    assert json.loads(path.read_text())["label"] == [[0, 3, "MENTION"]]
    assert karat.load(path)["d"].labels == labels


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"text": "Ada", "label": [[0, 9, "PER"]]}, r"admin\.jsonl:2: found a span from 0 to 9 in a text of 3"),
        ({"text": "Ada", "label": [[0, "x", "PER"]]}, r":2, `label` 1: found `str` at `\[1\]`; expected `int`"),
        ({"text": 3, "label": []}, r":2: found int as `text`"),
        ({"text": "Ada", "label": [[0, 3, "PER"]], "karat": "{"}, r":2: found a field `karat` that is not valid JSON"),
    ],
)
def test_broken_lines_give_one_error_with_its_place(line, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read(tmp_path, {"text": "Ada", "label": [[0, 3, "PER"]]}, line)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("first", ['{"id": 1, "text": "Ada", "label": [[0, 3, "PER"]]}\n', ""])
def test_a_zip_file_of_annotators_is_recognised_by_its_first_file(first, method, tmp_path):
    """The export has a file per annotator; one who annotated nothing has an empty file."""
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("anna.jsonl", first)
        archive.writestr("ben.jsonl", '{"id": 1, "text": "Ada", "label": [[0, 3, "PER"]]}\n')
    (document,) = karat.load(path)
    assert document.text == "Ada"
