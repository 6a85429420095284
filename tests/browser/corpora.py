"""Corpora that pages have a hard time with."""

from __future__ import annotations

import karat

ATTACK = "</script><img src=x onerror=\"alert('in')\"><svg onload=alert(1)>"

TEXTS = {
    "arabic": ("زار أحمد مدينة القاهرة في مصر.", ["أحمد", "القاهرة", "مصر"]),
    "hebrew": ("דוד בן־גוריון גר בתל אביב.", ["דוד בן־גוריון", "תל אביב"]),
    "chinese": ("张伟住在北京，李娜住在上海。", ["张伟", "北京", "李娜", "上海"]),
    "thai": ("สมชายอยู่ที่กรุงเทพฯในประเทศไทย", ["สมชาย", "กรุงเทพฯ", "ประเทศไทย"]),
    "emoji": ("🎻🇫🇷 Zoë 👩‍👩‍👧 lives in Łódź 🏙️ now.", ["Zoë", "Łódź"]),
    "marks": ("Re\u0301gine and Zoe\u0308 met in Ko\u0308ln.", ["Re\u0301gine", "Zoe\u0308", "Ko\u0308ln"]),
}
"""Texts with their mentions. In `marks` letters are followed by combining marks."""


def scripts() -> tuple[karat.Corpus, karat.Run]:
    """Texts in several scripts; the system gets every other mention."""
    documents, responses = [], []
    for name, (text, mentions) in TEXTS.items():
        spans = [(text.index(mention), text.index(mention) + len(mention)) for mention in mentions]
        documents.append(karat.Document(name, text, tuple(karat.Label(s, e, f"Q{s + 1}") for s, e in spans)))
        responses.append(
            karat.Response(name, tuple(karat.Prediction(s, e, f"Q{s + 1 + i % 2}") for i, (s, e) in enumerate(spans)))
        )
    inner = (karat.Label(0, 20, "Q1"), karat.Label(14, 20, "Q2"), karat.Label(14, 25, "Q3"))
    documents.append(karat.Document("nested", "University of London City is not one.", inner))
    responses.append(karat.Response("nested", (karat.Prediction(0, 20, "Q1"), karat.Prediction(14, 20, "Q2"))))
    return karat.Corpus.from_documents(documents, name="scripts"), karat.Run.from_responses(responses, name="half")


def hostile() -> tuple[karat.Corpus, karat.Run]:
    """Whatever can hold an attack does."""
    text = f"{ATTACK} was here."
    label = karat.Label(0, len(ATTACK), ATTACK, name=ATTACK, types=(ATTACK,))
    links = ["javascript:alert(1)", "https://evil.example/x"]
    document = karat.Document(ATTACK, text, (label,), meta={"title": ATTACK})
    others = [karat.Document(link, "Ada was here.", (karat.Label(0, 3, link),)) for link in links]
    responses = [
        karat.Response(one.id, (karat.Prediction(0, 3, "javascript:alert(2)"),)) for one in (document, *others)
    ]
    return karat.Corpus.from_documents([document, *others], name=ATTACK), karat.Run.from_responses(
        responses, name=ATTACK
    )


def long(letters: int = 100_000, mentions: int = 2_500) -> tuple[karat.Corpus, karat.Run]:
    """A text with as many annotations as mentions and predictions together."""
    step = letters // mentions
    words = [f"Name{number:04d} " + "went on and on " * 9 for number in range(mentions)]
    text = "".join(word[: step - 1] + " " for word in words)
    labels = tuple(karat.Label(n * step, n * step + 8, f"Q{n + 1}") for n in range(mentions))
    predictions = tuple(karat.Prediction(n * step, n * step + 8, f"Q{n + 1 + (n % 3 == 0)}") for n in range(mentions))
    corpus = karat.Corpus.from_documents([karat.Document("long", text, labels)], name="long")
    return corpus, karat.Run.from_responses([karat.Response("long", predictions)], name="most")


def three() -> tuple[karat.Corpus, list[karat.Run]]:
    """Forty documents of four mentions: one system is nearly always right, two others half of the time."""
    text = "Ada Bob Cid Dan"
    starts = range(0, 16, 4)
    labels = tuple(karat.Label(start, start + 3, f"Q{start + 1}") for start in starts)
    documents = [karat.Document(f"d{number}", text, labels) for number in range(40)]
    hits = {
        "ahead": lambda number: 4 - (number == 0),
        "near-a": lambda number: 3 - 2 * (number % 2) + (number == 1),
        "near-b": _count_hits,
    }
    runs = []
    for name, count in hits.items():
        responses = [
            karat.Response(
                f"d{number}",
                tuple(
                    karat.Prediction(start, start + 3, f"Q{start + 1}" if index < count(number) else "Q99")
                    for index, start in enumerate(starts)
                ),
            )
            for number in range(40)
        ]
        runs.append(karat.Run.from_responses(responses, name=name))
    return karat.Corpus.from_documents(documents, name="three"), runs


def _count_hits(number: int) -> int:
    """How many mentions of a document `near-b` gets."""
    return 1 + 2 * (number % 2)


def parts() -> tuple[karat.Corpus, karat.Run]:
    """A mention that its parts make right, one that is found as such, and one below a prediction of another span."""
    labels = (
        karat.Label(0, 15, "Q64", mention_id="whole"),
        karat.Label(0, 6, "Q64", mention_id="city", parent="whole"),
        karat.Label(8, 15, "Q183", mention_id="country", parent="whole"),
        karat.Label(20, 23, "Q3012"),
        karat.Label(28, 34, "Q84"),
    )
    document = karat.Document("a", "Berlin, Germany and Ulm and London City.", labels)
    spans = [(0, 6, "Q64"), (8, 15, "Q183"), (20, 23, "Q3012"), (28, 39, "Q23311")]
    response = karat.Response("a", tuple(karat.Prediction(*span) for span in spans))
    return karat.Corpus.from_documents([document], name="parts"), karat.Run.from_responses([response], name="parts")
