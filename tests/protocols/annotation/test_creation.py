"""New projects: documents and spans that are drawn, suggestions, guidelines and types."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat import UNLINKED, Corpus, Document, InputError, Label, Prediction, Response, Run, UsageError
from karat.kb.type_names import WHITELIST_NAMES
from karat.model.errors import UnknownNameError
from karat.model.finegrained_scheme import COARSE_TYPES, DIMENSIONS, get_title
from karat.protocols.annotation.creation import NewProject, create_project, draw_corpus
from karat.protocols.annotation.guidelines import get_guidelines, list_guidelines, read_guidelines
from karat.protocols.annotation.sampling import choose_span, draw_documents, split_paragraphs
from karat.protocols.verification.guidelines import GUIDELINES

FIVE = "One.\n\nTwo\nlines.\n \nThree.\n\n\nFour.\n\nFive."


def corpus_of(*texts: str) -> Corpus:
    return Corpus.from_documents([Document(f"d{number}", text) for number, text in enumerate(texts)])


def run_of(name: str, *predictions: Prediction, document: str = "d0") -> Run:
    return Run.from_responses([Response(document, predictions)], name=name)


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        (FIVE, ["One.", "Two\nlines.", "Three.", "Four.", "Five."]),
        ("\n\n A b \r\n\r\nC\r\n\r\n", ["A b", "C"]),
        ("a\nb\nc", ["a", "b", "c"]),
        ("only", ["only"]),
        ("  \n ", ["  \n "]),
        ("", []),
    ],
)
def test_paragraphs(text, paragraphs):
    assert [text[span.start : span.end] for span in split_paragraphs(text)] == paragraphs


@given(st.text(alphabet="ab \n\r\t😀", max_size=30))
def test_paragraphs_cover_all_but_white_space(text):
    spans = split_paragraphs(text)
    covered = "".join(text[span.start : span.end] for span in spans)
    assert "".join(covered.split()) == "".join(text.split())
    assert all(first.end < second.start for first, second in itertools.pairwise(spans))


def test_three_random_consecutive_paragraphs():
    spans = {choose_span(Document("d", FIVE), "paragraphs", 3, seed) for seed in range(30)}
    texts = {FIVE[span.start : span.end] for span in spans}
    assert texts == {
        "One.\n\nTwo\nlines.\n \nThree.",
        "Two\nlines.\n \nThree.\n\n\nFour.",
        "Three.\n\n\nFour.\n\nFive.",
    }
    short = Document("d", "A.\n\nB.")
    assert choose_span(short, "paragraphs", 3, 0) == (0, 6)
    assert choose_span(short, "document", 3, 0) == (0, 6)
    assert choose_span(Document("d", "A. B.", evaluation_span=(3, 5)), "given", 3, 0) == (3, 5)
    with pytest.raises(UsageError, match="no evaluation span"):
        choose_span(short, "given", 3, 0)


def test_samples_depend_on_the_seed_but_not_on_the_order():
    texts = [f"Text {number}." for number in range(20)]
    corpus = corpus_of(*texts)
    reverse = Corpus.from_documents(reversed(list(corpus)))
    sample = draw_documents(corpus, 5, 7)
    assert len({document.id for document in sample}) == 5
    assert draw_documents(reverse, 5, 7) == sample
    assert draw_documents(corpus, 5, 8) != sample
    assert sorted(document.id for document in draw_documents(corpus, None, 0)) == sorted(corpus.ids.to_pylist())
    counts = Counter(document.id for seed in range(400) for document in draw_documents(corpus, 5, seed))
    assert all(60 < count < 140 for count in counts.values())  # 100 each
    for number in (0, 21):
        with pytest.raises(UsageError, match="from 1 to 20"):
            draw_documents(corpus, number, 0)


def test_equal_mentions_are_one_suggestion_whatever_their_spelling():
    corpus = corpus_of("Ada met Bob and Cy.")
    first = run_of("a", Prediction(0, 3, "Q7259"), Prediction(8, 11), Prediction(16, 18, None))
    second = run_of("b", Prediction(0, 3, "http://www.wikidata.org/entity/Q7259"), Prediction(8, 11, "Q5"))
    project = create_project("p", corpus, [first, second])
    (task,) = project.tasks
    assert [(item.id, item.label, item.sources) for item in task.suggestions] == [
        ("s0", Label(0, 3, "Q7259"), ("a", "b")),
        ("s1", Label(8, 11, "Q5"), ("b",)),
        ("s2", Label(16, 18, None), ("a",)),
    ]
    assert project.options.counts == {"predictions": 5, "suggestions": 3}
    assert project.options.prefill == "all"


def test_unlinked_mentions_are_suggestions_if_no_system_links_them():
    project = create_project("p", corpus_of("Ada met Bob."), [run_of("a", Prediction(0, 3))])
    assert [item.label for item in project.tasks[0].suggestions] == [Label(0, 3, UNLINKED)]


def test_suggestions_outside_the_sample_are_counted():
    corpus = Corpus.from_documents(
        [Document("d0", "Ada met Bob.", evaluation_span=(0, 7)), Document("d1", "Cy.", evaluation_span=(0, 3))]
    )
    run = Run.from_responses(
        [
            Response("d0", (Prediction(0, 3, "Q1"), Prediction(8, 11, "Q2"))),
            Response("d1", (Prediction(0, 2, "Q3"),)),
        ],
        name="a",
    )
    seed = next(seed for seed in range(9) if draw_documents(corpus, 1, seed)[0].id == "d0")
    project = create_project("p", corpus, [run], NewProject(documents=1, seed=seed, span="given"))
    assert [(task.document, task.start, task.end) for task in project.tasks] == [("d0", 0, 7)]
    assert project.options.counts == {
        "predictions": 1,
        "suggestions": 1,
        "predictions outside the evaluation span": 1,
        "predictions in documents that were not drawn": 1,
    }
    assert draw_corpus(corpus, NewProject(documents=1, seed=seed)).ids.to_pylist() == ["d0"]


def test_options_of_the_guidelines():
    corpus = corpus_of("Ada.")
    fair = create_project("p", corpus).options
    assert (fair.whitelist, fair.scheme, fair.prefill) == (tuple(sorted(WHITELIST_NAMES)), (), "none")
    fine = create_project("p", corpus, options=NewProject(guidelines="fine-grained")).options
    assert (fine.whitelist, fine.scheme) == ((), ("form", "pos", "overlap", "reference"))
    mixed = create_project("p", corpus, options=NewProject(scheme="fine-grained", types="none")).options
    assert (mixed.whitelist, mixed.scheme) == ((), ("form", "pos", "overlap", "reference"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"documents": 0}, "too small"),
        ({"annotators": 0}, "too small"),
        ({"paragraphs": 0}, "too small"),
        ({"seed": -1}, "too small"),
        ({"scheme": "coarse"}, "--scheme is coarse"),
        ({"prefill": "half"}, "needs suggestions"),
        ({"documents": 2}, "from 1 to 1"),
    ],
)
def test_invalid_options(options, message):
    with pytest.raises(UsageError, match=message):
        create_project("p", corpus_of("Ada."), options=NewProject(**options))


def test_systems_need_different_names():
    runs = [run_of("a", Prediction(0, 3, "Q1")), run_of("a", Prediction(0, 3, "Q2"))]
    with pytest.raises(UsageError, match="different names"):
        create_project("p", corpus_of("Ada."), runs)


def test_guidelines_are_files(tmp_path):
    assert list_guidelines() == ["fair", "fine-grained"]
    fair = get_guidelines("fair")
    assert fair.version.startswith("fair@")
    with pytest.raises(UnknownNameError, match="Did you mean 'fair'"):
        read_guidelines("fare")
    (tmp_path / "mine.md").write_text("Mark all.", encoding="utf-8")
    mine = read_guidelines(str(tmp_path / "mine.md"))
    assert (mine.name, mine.text) == ("mine", "Mark all.")
    (tmp_path / "mine.md").write_text("Mark none.", encoding="utf-8")
    assert read_guidelines(str(tmp_path / "mine.md")).version != mine.version
    (tmp_path / "empty.md").write_text(" ", encoding="utf-8")
    with pytest.raises(InputError, match="no text"):
        read_guidelines(str(tmp_path / "empty.md"))


@pytest.mark.parametrize("name", list_guidelines())
def test_guidelines_are_paragraphs_and_lists(name):
    """The page shows paragraphs and lists, so nothing else may occur."""
    for block in get_guidelines(name).text.strip().split("\n\n"):
        lines = block.split("\n")
        assert len(lines) == 1 or all(line.startswith("- ") for line in lines)


def test_guidelines_name_all_types_and_categories():
    fair, fine = get_guidelines("fair").text, get_guidelines("fine-grained").text
    assert all(f"{name}," in fair or f"{name}." in fair for name in WHITELIST_NAMES.values())
    assert all(get_title(leaf) in fine for dimension in DIMENSIONS.values() for leaf in dimension.leaves)
    assert all(name in fine for name in COARSE_TYPES)
    assert "QUANTITY" in fair
    assert "DATETIME" in fair


def test_guidelines_of_judges_agree_with_the_paper_that_they_cite():
    assert "need\n  no name" in GUIDELINES
    assert "QUANTITY or DATETIME" in GUIDELINES
    assert "not entities" not in GUIDELINES
