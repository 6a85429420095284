"""What each rule must find, and what it must not, by hand."""

from __future__ import annotations

from typing import NamedTuple

from karat import UNLINKED, Document, Label, Tag, Triple
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.rule import LintContext, Rule

WIKI = "https://en.wikipedia.org/wiki/"


class Case(NamedTuple):
    """Documents, and the findings expected: (surface, part of what is said, whether a fix removes it)."""

    rule: str
    documents: list[Document]
    expected: list[tuple[str, str, bool]]
    context: LintContext = LintContext()


def document(text: str, *labels: Label, **more: object) -> Document:
    return Document(str(more.pop("id", "d")), text, labels, **more)


def tagged(start: int, end: int, *categories: str, **more: object) -> Label:
    return Label(start, end, str(more.pop("entity", "Q1")), categories=categories, **more)


ULM = "Old Ulm and new Ulm."  # Ulm at 4 and 16
LONG = " ".join(f"word{number} follows" for number in range(60))

CASES = [
    Case(
        "surface",
        [document(ULM, tagged(3, 6, "surface:Ulm"), tagged(16, 19, "surface:Ulm"), tagged(0, 3, "surface:Rom"))],
        [(" Ul", "the source has 'Ulm'", True), ("Old", "the source has 'Rom'", False)],
    ),
    Case("surface", [document("Ulm, Bonn Ulm", tagged(5, 9, "surface:Ulm"))], [("Bonn", "'Ulm'", False)]),
    Case(
        "word-boundary",
        [document(ULM, Label(0, 2, "Q1"), Label(1, 6, "Q2"), Label(4, 7, "Q3"), Label(16, 20, "Q4"))],
        [("Ol", "ends inside a word", False), ("ld Ul", "starts and ends inside", False)],
    ),
    Case(
        "word-boundary",
        [document("東京大学 cafe\u0301", Label(0, 2, "Q1"), Label(5, 9, "Q2"))],
        [("cafe", "ends", False)],
    ),
    Case("word-boundary", [document("Ulm's Q-tip\u0301.", Label(0, 3, "Q1"), Label(8, 12, "Q2"))], []),
    Case(
        "white-space",
        [
            document(ULM, Label(3, 7, "Q1"), Label(7, 8, "Q2"), Label(16, 19, "Q3")),
            document("   ", Label(0, 1), id="e"),
        ],
        [(" Ulm", "surrounding white space", True), (" ", "only white space", False)],
    ),
    Case(
        "out-of-range",
        [
            document("Ulm", Label(0, 4, "Q1"), Label(3, 5, "Q2"), Label(2, 1, "Q3"), Label(0, 3, "Q4")),
            document("Ulm", id="e", evaluation_span=(0, 9)),
            document("Ulm", id="f", evaluation_span=(0, 3)),
        ],
        [("Ulm", "3 code points", True), ("", "3 code points", True), ("", "reversed", True), ("", "evaluation", True)],
    ),
    Case(
        "crossing",
        [
            document(
                "outside trade deals", Label(0, 13, "Q1"), Label(8, 19, "Q2"), Label(8, 13, "Q3"), Label(0, 7, "Q4")
            )
        ],
        [("outside trade", "crosses 'trade deals' [8, 19)", False)],
    ),
    Case(
        "crossing",
        [
            document(
                "outside trade deals",
                Label(0, 19, "Q0", mention_id="r"),
                Label(0, 13, "Q1", mention_id="a", parent="r"),
                Label(8, 19, "Q2", mention_id="b", parent="r"),
            )
        ],
        [],
    ),
    Case(
        "duplicate-span",
        [
            document(
                ULM,
                Label(4, 7, "Q1", mention_id="a"),
                Label(4, 7, "Q1", mention_id="b"),
                Label(4, 7, "Q2", mention_id="c"),
                Label(16, 19, "Q1", mention_id="d"),
                Label(16, 19, "Q2", mention_id="d"),
            )
        ],
        [("Ulm", "repeats an earlier label", True), ("Ulm", "marked 3 times", False)],
    ),
    Case(
        "duplicate-span",
        [
            document(
                ULM, Label(0, 7, "Q1", mention_id="r"), Label(0, 7, "Q2", mention_id="p", parent="r"), Label(4, 7, "Q1")
            )
        ],
        [],
    ),
    Case(
        "colliding-ids",
        [
            document(
                ULM,
                Label(4, 7, "Q1", mention_id="7"),
                Label(16, 19, "Q2", mention_id="7"),
                Label(4, 8, "Q3", mention_id="8"),
            )
        ],
        [("Ulm", "does not overlap", False)],
    ),
    Case(
        "colliding-ids",
        [document(ULM), document("Bonn"), document("Rom", id="e")],
        [("", "2 documents have this id", False)],
    ),
    Case(
        "colliding-ids",
        [document(ULM, Label(0, 7, "Q1", mention_id="7"), Label(4, 7, "Q2", mention_id="7"), Label(16, 19, "Q1"))],
        [],
    ),
    Case(
        "inconsistent-surface",
        [document("Ulm, Ulm, Ulmer and Ulm.", Label(0, 3, "Q1"), Label(20, 23, UNLINKED))],
        [("Ulm", "not linked here, but to Q1 at 0", False), ("Ulm", "not marked here, but linked to Q1", False)],
    ),
    Case("inconsistent-surface", [document("東京は東京", Label(0, 2, "Q1"))], [("東京", "not marked here", False)]),
    Case(
        "inconsistent-surface",
        [
            document("Ulm, old Ulm, Ulm.", Label(0, 3, "Q1"), Label(5, 12, "Q2"), evaluation_span=(0, 13)),
            document("He saw that He came.", Label(0, 2, "Q1", kind="coreference"), id="e"),
            document("it was it", Label(0, 2, "Q1", optional=True), id="f"),
        ],
        [],
    ),
    Case(
        "unmarked-elsewhere",
        [
            document("The U.S. builder left Ulm.", Label(4, 8, "Q30"), Label(22, 25, "Q3"), id="a"),
            document("A U.S. helicopter, and a U.S. ship, near Ulmer Ulm-Mitte.", id="b"),
            document("Ulm and Ulm.", Label(0, 3, "Q3"), id="c"),  # for the rule inconsistent-surface
            document("New Ulm is not Neu-Ulm.", Label(0, 7, "Q5"), Label(15, 22, "Q6"), id="d"),
            document("It is in Ulm.", evaluation_span=(0, 8), id="e"),
        ],
        [
            ("U.S.", "not marked here and 1 more times, but linked to Q30 in document 'a'", False),
            ("Ulm", "not marked here, but linked to Q3 in document 'a'", False),
        ],
    ),
    Case(
        "unmarked-elsewhere",
        [
            document("It is 7.", Label(0, 2, "Q1", kind="coreference"), Label(6, 7, "Q2"), id="a"),
            document("It is 7. It is so.", id="b"),
        ],
        [],
    ),
    Case(
        "unmarked-elsewhere",
        [document("東京", Label(0, 2, "Q1"), id="a"), document("は東京", id="b")],
        [("東京", "not marked here, but linked to Q1 in document 'a'", False)],
    ),
    Case(
        "misspelt-name",
        [
            document(
                "Coral Islands, Micheal, Germans, Iraqi, Zurich and Boeing 737.",
                Label(0, 13, "Q1"),
                Label(15, 22, "Q2"),
                Label(24, 31, "Q3", name="Germany"),
                Label(33, 38, "Q4", name="Iraq"),
                Label(40, 46, "Q5"),
                Label(51, 61, "Q6", name="Boeing 747"),
            )
        ],
        [("Coral Islands", "similar to 'Kuril Islands'", False), ("Micheal", "similar to 'michael'", False)],
        LintContext(
            names={
                "Q1": frozenset({"Kuril Islands", "Kurils"}),
                "Q2": frozenset({"Michael Jordan", "Air Jordan"}),
                "Q5": frozenset({"Zürich"}),
            }
        ),
    ),
    Case(
        "misspelt-name",
        [
            document("Ula, Strobe Talbott.", Label(0, 3, "Q1", name="Ulm"), Label(5, 19, "Q2", name="Strobe Talbott")),
            document("The Times, US Open.", Label(0, 9, "Q1", name="Times"), id="e"),
            document("US Open", Label(0, 7, "Q2", name="U.S. Open"), id="g"),
            document("Ruth Bater Ginsburg", Label(0, 19, "Q3", name="Ruth Bader Ginsburg"), id="f"),
        ],
        [("Ruth Bater Ginsburg", "similar to 'Ruth Bader Ginsburg'", False)],
    ),
    Case(
        "ambiguous-surface",
        [document(ULM, Label(4, 7, "Q1"), Label(16, 19, "Q2"))],
        [("Ulm", "linked to Q2 here, but to Q1 before", False)],
    ),
    Case(
        "ambiguous-surface",
        [
            document(ULM, Label(4, 7, "Q1", mention_id="a"), Label(4, 7, "Q2", mention_id="a"), Label(16, 19, "Q2")),
            document("he, he", tagged(0, 2, "form:ProForm"), tagged(4, 6, "form:ProForm", entity="Q2"), id="e"),
        ],
        [],
    ),
    Case(
        "redirect",
        [
            document(
                ULM,
                Label(0, 3, "Old Town", same_as=("B",)),
                Label(4, 7, WIKI + "Old_Town"),
                Label(16, 19, "Ulm"),
                tags=(Tag("Old_Town"),),
            )
        ],
        [
            ("Old", "Old Town redirects to New Town", True),
            ("Old", "B redirects to C", True),
            ("Ulm", f"redirects to {WIKI}New_Town", True),
            ("", "tag: Old_Town redirects to New_Town", True),
        ],
        LintContext(redirects={"Old_Town": "New_Town", "B": "C"}),
    ),
    Case("redirect", [document(ULM, Label(4, 7, "A b"))], [], LintContext(redirects={"A b": "A_b", "A_b": "A b"})),
    Case(
        "disambiguation",
        [document(ULM, Label(0, 3, "Old (disambiguation)"), Label(4, 7, WIKI + "Ulm%C3%BC"), Label(16, 19, "Ulm"))],
        [("Old", "is a disambiguation page", False), ("Ulm", "is a disambiguation page", False)],
        LintContext(disambiguation=frozenset({"Ulmü"})),
    ),
    Case(
        "unknown-id",
        [
            document(
                ULM,
                Label(0, 3, "Q1", same_as=("elsewhere",)),
                Label(4, 7, "Q9"),
                Label(8, 11, "7", kind="quantity"),
                Label(16, 19, "Q5"),
                relations=(Triple("Q1", "P1", "Q1"),),
            )
        ],
        [("Ulm", "Q9 is not in the knowledge base", False)],
        LintContext(has_entity=frozenset({"Q1"}).__contains__, redirects={"Q5": "Q1"}),
    ),
    Case("unknown-id", [document(ULM, Label(0, 3, "Q9"))], []),
    Case(  # 4 of 5 links are QIDs, which are 80 %: an address of Wikidata is one, NIL and values are no links
        "other-ids",
        [
            document(ULM, Label(0, 3, "Q1"), Label(4, 7, "http://www.wikidata.org/entity/Q2"), Label(8, 11, None)),
            document(
                ULM,
                Label(4, 7, "Q 64"),
                Label(0, 3, "Old", same_as=("Q3",)),
                Label(12, 15, "2020", kind="quantity"),
                Label(16, 19, "Q4"),
                id="e",
            ),
        ],
        [("Ulm", "Q 64 is no QID, unlike 4 of 5 links", False)],
    ),
    Case(  # 3 of 4 links are QIDs, which are 75 %
        "other-ids",
        [document(ULM, Label(0, 3, "Q1"), Label(4, 7, "Ulm"), Label(12, 15, "Q2"), Label(16, 19, "Q3"))],
        [],
    ),
    Case("other-ids", [document(ULM, Label(0, 3, "1984"), Label(4, 7, "Ulm"))], []),  # titles have no scheme
    Case(
        "illegal-iri",
        [
            document(
                ULM,
                Label(0, 3, " " + WIKI + "New Town"),
                Label(4, 7, WIKI + 'Ulm,_"City"'),
                Label(8, 11, WIKI + 'Ulm"'),
                Label(12, 15, "http://x.org/50%#a#b"),
                Label(16, 19, "Q1 ", same_as=("",)),
            )
        ],
        [
            ("Old", "surrounding white space", True),
            ("Old", "the character ' '", True),
            ("Ulm", "the character '\"'", True),
            ("and", "the character '\"'", True),
            ("new", "a % that is not an escape", False),
            ("new", "a second #", False),
            ("Ulm", "surrounding white space", True),
            ("Ulm", "an empty id in ''", False),
        ],
    ),
    Case(
        "illegal-iri",
        [document(ULM, Label(0, 3, WIKI + "Ulmü_(%C3%BC)#a"), Label(4, 7, "A|b c"), Label(8, 9, None))],
        [],
    ),
    Case(
        "encoding",
        [
            document(
                "Fran\ufffdois saw caf\u00c3\u00a9 &amp; \\u014d, na\u00efve \u00c9\u00bb.",
                Label(0, 8, "Fran\ufffdois"),
                Label(9, 12, "Yoshir\\u014d &amp; \u00c3\u00a9 %25C3"),
                Label(13, 18, "Q1"),
            )
        ],
        [
            ("Fran\ufffdois", "replacement character (U+FFFD) in the text", False),
            ("f\u00c3\u00a9 &amp; \\u014d, na\u00efve \u00c9\u00bb", "a literal \\u escape in the text", False),
            ("saw caf\u00c3\u00a9 &amp; \\u014d, n", "HTML entity in the text", False),
            ("caf\u00c3\u00a9", "UTF-8 read in another encoding in the text", False),
            ("Fran\ufffdois", "replacement character (U+FFFD) in 'Fran", False),
            ("saw", "a literal \\u escape", True),
            ("saw", "an HTML entity", True),
            ("saw", "UTF-8 read in another encoding", True),
            ("saw", "double percent-encoding", True),
        ],
    ),
    Case(
        "encoding",
        [document("Ben\x97Ulm\x00", Label(0, 3, "A%C3%A9"))],
        [
            ("Ben\x97Ulm\x00", "Windows-1252 read as Latin-1", False),
            ("Ben\x97Ulm\x00", "a control character", False),
        ],
    ),
    Case("encoding", [document("naïve “É» Ä.\tOK\n", Label(0, 5, "Müller & Söhne 25%"))], []),
    Case(
        "category-dimension",
        [
            document(
                ULM, tagged(0, 3, "form:Full", "form:Full"), tagged(4, 7, "form:Full", "form:Short", "x"), Label(8, 11)
            )
        ],
        [
            ("Old", "form:Full 2 times", True),
            ("Ulm", "form is Full and Short", False),
            ("and", "no tag in form", False),
        ],
        LintContext(dimensions=frozenset({"form"})),
    ),
    Case("category-dimension", [document(ULM, tagged(0, 3, "form:Full", "mine:a", "mine:b"), Label(4, 7))], []),
    Case(
        "overlap-tag",
        [
            document(
                "new Ulm city hall",
                tagged(0, 17, "overlap:None"),
                tagged(4, 12, "overlap:Intermediate"),
                tagged(4, 7, "overlap:Minimal"),
                tagged(4, 7, "overlap:None", entity="Q2"),
                tagged(13, 17, "pos:x"),
            )
        ],
        [("new Ulm city hall", "overlap:None, but the spans imply Maximal", True), ("Ulm", "imply Minimal", True)],
    ),
    Case(
        "overlap-tag",
        [document("outside trade deals", tagged(0, 13, "overlap:Maximal"), tagged(8, 19, "overlap:None"))],
        [],
    ),
    Case(
        "alternative-categories",
        [
            document(
                ULM,
                tagged(4, 7, "pos:Noun", "form:Full", mention_id="a"),
                tagged(4, 7, "pos:Adjective", "form:Short", mention_id="a", entity="Q2"),
                tagged(16, 19, "pos:Adjective"),
            )
        ],
        [("Ulm", "pos is Adjective here, but Noun in another alternative", False)],
    ),
    Case(
        "missing-types",
        [document(ULM, Label(0, 3, "Q1"), Label(4, 7, "Q2"), Label(8, 11, "Q3", types=("PER",)), Label(16, 19, None))],
        [("Old", "Q1 has no type here", True), ("Ulm", "Q2 has no type here", False)],
        LintContext(has_types=True, types={"Q1": frozenset({"LOC"})}),
    ),
    Case("missing-types", [document(ULM, Label(0, 3, "Q1"))], []),
    Case(
        "type-whitelist",
        [
            document(
                ULM,
                Label(0, 3, "Q1", types=("X", "PER")),
                Label(4, 7, "Q2", types=("X",)),
                Label(8, 11, "Q3"),
                Label(12, 15, "Q4"),
                Label(16, 19, "3", types=("X",), kind="quantity"),
            )
        ],
        [("Ulm", "Q2 has no allowed type (X)", False), ("and", "Q3 has no allowed type (Y)", False)],
        LintContext(whitelist=frozenset({"PER"}), types={"Q3": frozenset({"Y"})}),
    ),
    Case("type-whitelist", [document(ULM, Label(0, 3, "Q1", types=("X",)))], []),
    Case(
        "proform",
        [
            document(
                "he and him",
                tagged(0, 2, "form:ProForm", "reference:Direct"),
                tagged(3, 6, "form:Full", "reference:Direct"),
                tagged(7, 10, "form:ProForm", "reference:Anaphoric"),
            )
        ],
        [("he", "a pro-form whose reference is Direct", False)],
    ),
    Case(
        "parents",
        [
            document(
                "new Ulm city hall",
                Label(0, 12, "Q0", mention_id="r"),
                Label(0, 3, "Q0", mention_id="r"),  # another span of the mention, which the parts need not overlap
                Label(4, 7, "Q1", mention_id="a", parent="r"),
                Label(13, 17, "Q2", mention_id="b", parent="r"),
                Label(0, 3, "Q3", mention_id="c", parent="gone"),
                Label(4, 12, "Q4", mention_id="e", parent="f"),
                Label(8, 12, "Q5", mention_id="f", parent="e"),
                tagged(0, 2, "missing-parent:20", "also-part-of:3"),
            )
        ],
        [
            ("hall", "does not overlap its parent [0, 12)", False),
            ("new", "its parent 'gone' is not in the document", True),
            ("Ulm city", "it is its own ancestor", True),
            ("city", "it is its own ancestor", True),
            ("ne", "its parent 20 is not in the document", True),
            ("ne", "3 lists it too", False),
        ],
    ),
    Case(
        "empty-document",
        [
            document(ULM),
            document("  ", id="e"),
            document(ULM, Label(4, 7), id="f"),
            document(ULM, tags=(Tag("Q1"),), id="g"),
        ],
        [("", "no labels", False), ("", "no text", False)],
    ),
    Case(
        "near-duplicates",
        [
            document(LONG, id="a"),
            document(LONG.replace("word7 ", "other "), id="b"),
            document(ULM, id="c"),
            document(ULM.upper(), id="d"),
            document(" ".join(reversed(LONG.split())), id="e"),
            document("", id="f"),
            document("Ulm", id="g"),
        ],
        [
            ("", "of its runs of 5 words with document 'a'", False),
            ("", "has the words of document 'c'", False),
        ],
    ),
    Case(
        "reading",
        [document(ULM)],
        [("", "labels given twice: 3", False)],
        LintContext(skipped={"labels given twice": 3}),
    ),
    Case("reading", [document(ULM)], []),
]

CASES += [
    Case(name, list(rule.example.documents), list(rule.example.findings), rule.example.context)
    for name in list_plugins("rules")
    if (rule := get_plugin("rules", name, Rule)).example is not None
]
