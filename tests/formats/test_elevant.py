"""ELEVANT's benchmarks."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Corpus, Document, InputError, Label, Run, UsageError
from karat.formats.parsing.json import blocks as json_blocks
from karat.formats.plugins.elevant import FORMAT
from karat.storage.files import Source
from tests import strategies

TEXT = "The ship Vega met her twin in Oslo in 1921."


def article(*labels, **fields):
    return {"id": 7, "title": "A meeting", "text": TEXT, "labels": list(labels), **fields}


def label(number, start, end, entity="Q1", **fields):
    return {"id": number, "span": [start, end], "entity_id": entity, "name": "Vega", "type": "OTHER", **fields}


def written(path, *articles):
    path.write_text("".join(json.dumps(one) + "\n" for one in articles), encoding="utf-8")
    return path


def lines(path):
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def read(path):
    return karat.load(path, format="elevant")


def rewritten(corpus):
    file = io.BytesIO()
    FORMAT.write_corpus(corpus, file)
    return [json.loads(line) for line in file.getvalue().splitlines()]


def test_what_becomes_of_what(tmp_path):
    corpus = read(
        written(
            tmp_path / "ships.benchmark.jsonl",
            article(
                label(0, 9, 13, type="Q11446|Q42889"),
                label(1, 18, 21, coref=True),
                label(2, 22, 26, "<NIL>", name="Unknown", coref=False),
                label(3, 22, 26, "<NO_MAPPING>", desc=True),
                label(4, 30, 34, "", optional=True, parent=None, children=[]),
                label(5, 38, 42, "1921", type="DATETIME"),
                label(6, 38, 42, "QUANTITY", type="QUANTITY", name=""),
                url="https://example.org/7",
                hyperlinks=[[[9, 13], "Vega (ship)"]],
                title_synonyms=[[0, 13]],
                evaluation_span=[0, 43],
                mood={"calm": [1, 2.5]},
            ),
        )
    )
    assert corpus.name == "ships"
    assert corpus.skipped == {"labels without entity id (read as unlinked)": 1}
    (document,) = corpus
    assert document == Document(
        "7",
        TEXT,
        (
            Label(9, 13, "Q1", name="Vega", types=("Q11446", "Q42889")),
            Label(18, 21, "Q1", name="Vega", types=("OTHER",), kind="coreference"),
            Label(22, 26, None, name="Unknown", types=("OTHER",), categories=("coreference:no",), mention_id="2"),
            Label(
                22,
                26,
                None,
                name="Vega",
                types=("OTHER",),
                categories=("nil:no-mapping",),
                kind="descriptive",
                optional=True,
                mention_id="3",
            ),
            Label(30, 34, UNLINKED, name="Vega", types=("OTHER",), optional=True),
            Label(38, 42, "1921", name="Vega", types=("DATETIME",), kind="datetime", optional=True, mention_id="5"),
            Label(38, 42, "QUANTITY", types=("QUANTITY",), kind="quantity", optional=True, mention_id="6"),
        ),
        evaluation_span=(0, 43),
        meta={
            "title": "A meeting",
            "url": "https://example.org/7",
            "hyperlinks": '[[[9,13],"Vega (ship)"]]',
            "title_synonyms": "[[0,13]]",
            "mood": '{"calm":[1,2.5]}',
        },
    )


def test_trees_and_what_they_cannot_say(tmp_path):
    corpus = read(
        written(
            tmp_path / "x",
            article(
                label(0, 0, 13, children=[1, 3]),
                label(1, 0, 3, parent=0, children=[2]),
                label(2, 4, 8, parent=1),
                label(3, 9, 13, parent=0, children=[2, 99]),
                label(4, 14, 17),
                label(9, 18, 21, parent=50),
                label(10, 22, 26, parent=11, children=[11]),
                label(11, 22, 25, parent=10, children=[10]),
                label(12, 30, 34, parent=12),
                label(13, 35, 37, parent=4),
            ),
        )
    )
    (document,) = corpus
    assert [(x.mention_id, x.parent, x.categories) for x in document.labels] == [
        ("0", None, ()),
        ("1", "0", ()),
        ("2", "1", ("also-part-of:3",)),
        ("3", "0", ()),
        ("4", None, ()),
        ("9", None, ("missing-parent:50",)),
        ("10", None, ("circular-parent:11",)),
        ("11", None, ("circular-parent:10",)),
        ("12", None, ("circular-parent:12", "not-listed-by:12")),
        ("13", "4", ("not-listed-by:4",)),
    ]
    assert corpus.skipped == {
        "labels whose parent is not in the document (read as separate mentions)": 1,
        "labels among their own ancestors (read as separate mentions)": 3,
        "children that are not in the document": 1,
    }


def test_what_is_not_known_is_counted_or_kept(tmp_path):
    path = written(
        tmp_path / "x",
        article(
            label(0, 0, 3, colour="red"), label(1, 4, 8, coref=True, desc=True, colour="blue"), mood="calm", x=None
        ),
    )
    corpus = read(path)
    assert next(iter(corpus)).meta == {"title": "A meeting", "mood": "calm"}
    assert corpus.skipped == {
        "fields `colour` of labels": 2,
        "coreference labels that are also descriptive (read as optional)": 1,
    }


def test_lines_are_numbered_over_blocks_and_blank_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(json_blocks, "_BLOCK_SIZE", 300)
    good = [json.dumps(article(label(0, 0, 3), id=number)) for number in range(9)]
    path = tmp_path / "x"
    path.write_bytes("\ufeff".encode() + "\r\n\n".join(good).encode())
    assert [document.id for document in read(path)] == [str(number) for number in range(9)]
    for bad, found in (
        (article(label(0, 0, 3), id=4), "document '4' a second time"),
        (article(label(0, 0, 300), id=99), "label [0, 300) in a text of 43 code points"),
    ):
        path.write_text("\n\n".join([*good[:7], json.dumps(bad), *good[7:]]), encoding="utf-8")
        with pytest.raises(InputError) as problem:
            read(path)
        assert (problem.value.where, problem.value.actual) == (f"{path}:15", found)


@pytest.mark.parametrize(
    ("line", "found", "expected"),
    [
        ('{"id": 1', "a line that is not valid JSON (Input data was truncated)", "one complete JSON object per line"),
        ("[1]", "`array`", "`object`"),
        ("{}", "no field `id`", "the field `id`"),
        ('{"id": 1}', "no field `text`", "the text"),
        ('{"id": 1, "text": 5}', "`int` at `text`", "`str | null`"),
        (json.dumps(article(label(0, "a", 3))), "`str` at `labels[0].span[0]`", "`int`"),
        (json.dumps(article(label(0, -1, 3))), "another value at `labels[0].span[0]`", "`int` >= 0"),
        (json.dumps(article({**label(0, 0, 3), "span": [0]})), "at `labels[0].span`", "`array` of at least length 2"),
        (json.dumps(article(label(3, 0, 3), label(3, 4, 8))), "the duplicate label id 3", "distinct ids"),
    ],
)
def test_errors_say_where(tmp_path, line, found, expected):
    path = tmp_path / "x.benchmark.jsonl"
    path.write_text(json.dumps(article(id=8)) + "\n" + line + "\n", encoding="utf-8")
    with pytest.raises(InputError) as problem:
        read(path)
    assert problem.value.where == f"{path}:2"
    assert problem.value.actual.endswith(found)
    assert problem.value.expected.startswith(expected)


PARTS = st.sampled_from(["Vega", "é", "\\u00e9", "\\n", '\\"', "\\\\", "𝄞", "\\ud834\\udd1e", "\x7f", " "])


@given(st.lists(st.lists(PARTS, max_size=4).map("".join), min_size=1, max_size=5), st.booleans())
def test_texts_are_what_json_says(texts, full):
    further = ', "coref": true' if full else ""
    labels = f'[{{"id": 0, "span": [0, 1], "entity_id": "Q1"{further}}}]'
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.jsonl"
        rows = (
            f'{{"id": {number}, "text": "{text}", "labels": {labels if text else "[]"}}}\n'
            for number, text in enumerate(texts)
        )
        path.write_text("".join(rows), encoding="utf-8")
        assert read(path).texts == [json.loads(f'"{text}"') for text in texts]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"5", "`int` at `text`"),
        (b'["a"]', "`array` at `text`"),
        (b'"\xff"', "not valid JSON"),
        (b"null", "no field `text`"),
    ],
)
@pytest.mark.parametrize("further", [b"", b', "coref": true'])
def test_texts_are_strings(tmp_path, text, found, further):
    line = b'{"id": %d, "text": %s, "labels": [{"id": 0, "span": [0, 1], "entity_id": "Q1"' + further + b"}]}\n"
    (tmp_path / "x.jsonl").write_bytes(line % (1, b'"Vega"') + line % (2, text))
    with pytest.raises(InputError, match=f"x.jsonl:2: .*{found}"):
        read(tmp_path / "x.jsonl")


def test_an_empty_file_is_refused(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"\n\n")
    with pytest.raises(InputError, match="no document"):
        read(path)


# --- there and back

_ids = st.integers(0, 6)
_labels = st.lists(
    st.fixed_dictionaries(
        {
            "span": strategies.spans(8).map(list),
            "entity_id": st.sampled_from(["Q1", "Q2", "<NIL>", "<NO_MAPPING>", ""]),
        },
        optional={
            "name": st.sampled_from(["Unknown", "the Ünï|code"]),
            "type": st.sampled_from(["OTHER", "Q5|Q6", "QUANTITY", "Q5|DATETIME"]),
            "parent": _ids,
            "children": st.lists(_ids, max_size=3, unique=True).map(sorted),
            "optional": st.just(True),
            "desc": st.just(True),
            "coref": st.booleans(),
        },
    ),
    max_size=6,
)


@st.composite
def _articles(draw):
    found = []
    for number in range(draw(st.integers(1, 3))):
        labels = draw(_labels)
        ids = sorted(draw(st.sets(_ids, min_size=len(labels), max_size=len(labels))))
        own = [{"id": i, **one} for i, one in zip(ids, labels, strict=True)]
        for one in own:
            if "children" in one:
                one["children"] = [child for child in one["children"] if child in ids]
        fields = {"evaluation_span": [1, 4], "hyperlinks": [[[0, 2], "é"]], "url": "u", "more": [1, {"a": "b"}]}
        kept = {name: value for name, value in fields.items() if draw(st.booleans())}
        found.append({"id": number, "title": "t", "text": draw(strategies.TEXT), **kept, "labels": own})
    return found


def _bare(article):
    """Without what says nothing: an empty list, a name or type that is not given, and what implies another."""
    labels = []
    for one in article["labels"]:
        quantity = one.get("type") in ("QUANTITY", "Q5|DATETIME")
        implied = {"desc"} if one.get("coref") else set()
        implied |= {"optional"} if quantity or one.get("desc") else set()
        kept = {name: value for name, value in one.items() if value not in ([], "") and name not in implied}
        labels.append(kept | ({"optional": True} if one.get("coref") and one.get("desc") and not quantity else {}))
    return {**article, "labels": labels}


@given(_articles())
def test_what_elevant_can_say_comes_back(articles):
    with TemporaryDirectory() as folder:
        corpus = read(written(Path(folder) / "x", *articles))
        again = rewritten(corpus)
        assert [_bare(one) for one in again] == [_bare(one) for one in articles]
        assert list(read(written(Path(folder) / "y", *again))) == list(corpus)


@given(strategies.rich_documents())
def test_other_corpora_keep_what_the_format_names(documents):
    def kept(document):
        rows = [(x.start, x.end, x.entity, x.name or None, x.categories, x.kind) for x in document.labels]
        return document.id, document.text, rows, document.evaluation_span, document.meta

    with TemporaryDirectory() as folder:
        again = read(written(Path(folder) / "x", *rewritten(Corpus.from_documents(documents))))
    assert list(map(kept, again)) == list(map(kept, documents))
    for new, old in zip(again, documents, strict=True):
        assert all(x.optional >= y.optional for x, y in zip(new.labels, old.labels, strict=True))


def test_alternatives_become_parts_and_units_are_numbered():
    labels = (
        Label(0, 8, "Q1", mention_id="ship"),
        Label(0, 8, "Q2", mention_id="ship"),
        Label(4, 8, "Q3", mention_id="part", parent="ship"),
        Label(9, 13, "Q4"),
        Label(22, 26, "Q5", mention_id="3"),
    )
    (one,) = rewritten(Corpus.from_documents([Document("d", TEXT, labels)]))
    assert one["id"] == "d"
    assert [(x["id"], x.get("parent"), x.get("children")) for x in one["labels"]] == [
        (0, None, [1, 2]),
        (1, 0, None),
        (2, 0, None),
        (5, None, None),
        (3, None, None),
    ]


@pytest.mark.parametrize(("name", "value"), [("labels", "x"), ("hyperlinks", "none"), ("sections", "[[1]]")])
def test_names_that_are_taken_are_refused(name, value):
    with pytest.raises(UsageError, match=f"document 'd': .*{name}"):
        rewritten(Corpus.from_documents([Document("d", TEXT, meta={name: value})]))


# --- what is this file


def test_recognition(tmp_path):
    head = b"".join(json.dumps(one).encode() + b"\n" for one in (article(), article(label(0, 0, 3), id=8)))
    assert FORMAT.recognises(head)
    assert FORMAT.recognises(head[: head.index(b"Q1") + 30])
    assert FORMAT.recognises(json.dumps(article(label(0, 0, 3), label(1, 4, 8))).encode()[:-30])
    mentions = [{"span": [0, 3], "id": "Q1"}]
    for other in (
        b"",
        b"{",
        b'{"id": [[[',
        b'{"id": "d", "text": "x"}',
        b'{"id": 1, "text": "x", "labels": 5}',
        b'{"id": 1, "text": "x", "labels": ["ORG"]}',
        b'{"id": "d", "text": "x", "labels": [{"start": 0, "end": 1}]}',
        json.dumps(article(label(0, 0, 3), entity_mentions=mentions)).encode(),
        json.dumps([article()]).encode(),
    ):
        assert not FORMAT.recognises(other)


def test_mentions_behind_the_opening_are_predictions(tmp_path):
    mention = {"span": [9, 13], "id": "Q2", "recognized_by": "a", "linked_by": "a", "candidates": []}
    path = written(
        tmp_path / "x",
        *(article(label(0, 0, 3), id=number) for number in range(600)),
        article(entity_mentions=[mention], id=600),
    )
    assert FORMAT.recognises(Source(str(path)).first_bytes)
    run = karat.load_run(path, format="elevant")
    assert [(len(run), len(run.predictions))] == [(601, 1)]
    labels = written(tmp_path / "y", article(label(0, 0, 3)))
    assert len(karat.load_run(labels, format="elevant").predictions) == 1  # a second annotator


_LINE = json.dumps(article(label(0, 0, 3, parent=1), label(1, 0, 8, children=[0]), hyperlinks=[[[0, 1], "x"]])).encode()
_PIECES = rb'null|"|{|}|[|]|,|:|0|-1|1e999|NaN|\ud800|1.5|true|"x"|99999999999|"text":null|[[|{"id":"a"|"parent":0'


@given(
    st.lists(st.tuples(st.integers(0, len(_LINE)), st.integers(0, 8), st.sampled_from(_PIECES.split(b"|"))), max_size=3)
)
@example([(0, len(_LINE), b"[" * 100_000)])
@example([(0, len(_LINE), b'{"id":' * 2000)])
def test_nothing_but_input_errors(edits):
    line = _LINE
    for place, length, piece in edits:
        line = line[:place] + piece + line[place + length :]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(line)
        FORMAT.recognises(line)
        for load in (karat.load, karat.load_run):
            with suppress(InputError):
                list(load(path, format="elevant"))


# --- the benchmarks that ELEVANT ships

_PRONOUNS = """i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its
itself we us our ours ourselves they them their theirs themselves""".split()  # noqa: SIM905
_BEFORE = ("the ", "that ", "this ", "these ", "those ", "my ", "your ", "his ", "her ", "its ", "our ", "their ")


def _refers(text):
    if text.lower() in _PRONOUNS and (text == "I" or not text.isupper()):
        return "coref_pronominal"
    word = next((word for word in _BEFORE if text.lower().startswith(word)), None)
    nominal = word is not None and len(text) > len(word) and not text[len(word)].isupper()
    return "coref_nominal" if nominal else None


def _mention_type(one, text):
    found = _refers(text)
    if one.kind == "coreference":
        return found if found == "coref_pronominal" else "coref_nominal"
    if found is not None and "coreference:no" not in one.categories:
        return found
    if one.entity is None:
        return "entity_unknown"
    first = next((character for character in one.name or "" if character.isalpha()), "")
    return "entity_named" if first.isupper() else "entity_non_named"


def _counted(corpus):
    """What ELEVANT counts, of what can be known without a knowledge base and a tokenizer."""
    types, mentions, words, tags = Counter(), Counter(), Counter(), Counter()
    for document in corpus:
        for one in document.labels:
            text = document.text[one.start : one.end]
            kind = _mention_type(one, text)
            form = "non_alpha" if not text[0].isalpha() else "capitalized" if text[0].isupper() else "lowercased"
            unmapped = "nil:no-mapping" in one.categories
            root = one.parent is None and not any("-parent:" in category for category in one.categories)
            types.update(one.types)
            mentions[kind] += 1
            words[str(len(text.split(" ")))] += 1
            tags[form] += 1
            tags["lowercased_non_named"] += (form, kind) == ("lowercased", "entity_non_named")
            tags["unknown"] += one.entity is None
            tags["unknown_no_mapping"] += unmapped
            tags["unknown_nil"] += one.entity is None and not unmapped
            tags["optional"] += one.optional
            tags["root" if root else "child"] += 1
    return types, mentions, words, tags


@pytest.mark.shared
def test_benchmarks_equal_their_own_statistics(shared):
    folder = shared / "elevant" / "benchmarks"
    files = sorted(folder.glob("*.benchmark_statistics.jsonl.gz"))
    assert len(files) == 17  # one of the 18 benchmarks, error-category-examples, has none
    for path in files:
        name = path.name.split(".")[0]
        total = lines(path)[0]
        corpus = read(folder / f"{name}.benchmark.jsonl.gz")
        types, mentions, words, tags = _counted(corpus)
        assert len(corpus) == total["text_statistics"]["articles"]
        assert len(corpus.labels) == total["text_statistics"]["labels"]
        assert dict(types) == total["types"]
        assert {kind: mentions[kind] for kind in total["mention_types"]} == total["mention_types"]
        assert dict(words) == total["multi_word_statistics"]
        by_knowledge = {"demonym", "metonym", "partial_name", "rare"}
        assert {tag: n for tag, n in total["tags"].items() if tag not in by_knowledge} == {
            tag: tags[tag] for tag in total["tags"] if tag not in by_knowledge
        }


@pytest.mark.shared
def test_benchmarks_are_written_as_they_were(shared):
    files = sorted((shared / "elevant" / "benchmarks").glob("*.benchmark.jsonl.gz"))
    assert len(files) == 18
    for path in files:
        assert rewritten(read(path)) == lines(path)
        assert FORMAT.recognises(Source(str(path)).first_bytes)


@pytest.mark.shared
def test_gold_as_predictions_scores_one(shared):
    corpus = read(shared / "elevant" / "benchmarks" / "wiki-fair-v2.benchmark.jsonl.gz")
    assert karat.evaluate(corpus, Run.from_gold(corpus))["strong:micro.f1"] == 1
