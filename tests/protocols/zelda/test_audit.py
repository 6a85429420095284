"""What training text gives away, by hand."""

from __future__ import annotations

import json

import pytest

from karat import Corpus, Document, InputError, Label
from karat.protocols.zelda.audit import audit_training_text
from karat.protocols.zelda.training_links import NEW_WORDS, SEEN, UNSEEN
from karat.stats.share import Share

TEXT = "The old town of Ulm lies on the Danube and has a very tall church tower of stone."


def train(path, *rows):
    lines = []
    for number, (text, links) in enumerate(rows):
        index = [[text.index(words), text.index(words) + len(words)] for words, _ in links]
        titles = [title for _, title in links]
        lines.append({"page_id": number, "section_name": "S", "text": text, "index": index, "wikipedia_titles": titles})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def test_entities_words_and_texts_by_hand(tmp_path):
    path = train(
        tmp_path / "train.jsonl",
        ("Ulm is here.", [("Ulm", "Ulm")]),
        ("So it is: " + TEXT, [("the Danube", "Danube")]),
        ("Nothing of it", []),
    )
    labels = (Label(16, 19, "Ulm"), Label(32, 38, "Danube"), Label(0, 3, "The (article)"))
    short = Document("short", "Ulm, the town.", (Label(0, 3, "Ulm"),))
    found = audit_training_text(path, {"one": Corpus.from_documents([Document("d", TEXT, labels), short])})
    assert (found.sections, found.links, found.entities) == (3, 2, 2)
    own = found.splits["one"]
    assert own.pairs == Share(1, 3)
    assert own.entities == Share(2, 3)
    assert own.surfaces == Share(1, 3)
    assert own.mentions == {SEEN: Share(2, 4), NEW_WORDS: Share(1, 4), UNSEEN: Share(1, 4)}
    assert own.unseen == Share(1, 4)
    assert [(near.document, near.section, near.shared) for near in own.near_duplicates] == [("d", "1 S", 1.0)]
    assert own.short_documents == 1


def test_another_text_about_the_same_is_not_near(tmp_path):
    words = TEXT.split()
    path = train(tmp_path / "train.jsonl", (" ".join(reversed(words)), [("Ulm", "Ulm")]))
    assert (
        audit_training_text(path, {"one": Corpus.from_documents([Document("d", TEXT)])}).splits["one"].near_duplicates
        == ()
    )


def test_text_whose_links_are_all_dead_is_refused(tmp_path):
    path = train(tmp_path / "train.jsonl", ("Ulm is here.", [("Ulm", None)]))
    with pytest.raises(InputError, match="1 sections without links to known pages"):
        audit_training_text(path, {"one": Corpus.from_documents([Document("d", TEXT)])})


def test_pages_say_what_was_found(tmp_path, karat_cli):
    path = train(tmp_path / "train.jsonl", (TEXT, [("Ulm", "Ulm")]))
    (tmp_path / "test_own.jsonl").write_text(
        json.dumps({"id": "d", "text": TEXT, "index": [[16, 19]], "wikipedia_titles": ["Ulm"]}) + "\n", encoding="utf-8"
    )
    ran = karat_cli("zelda", "audit", path, tmp_path / "test_own.jsonl", "--details")
    assert (ran.code, ran.err) == (0, "")
    assert "own d: 100 % as in 0 S" in ran.out
    written = json.loads(karat_cli("zelda", "audit", path, tmp_path / "test_own.jsonl", "--json", "-").out)
    assert written["splits"]["own"]["near_duplicates"] == [{"document": "d", "section": "0 S", "shared": 1.0}]
