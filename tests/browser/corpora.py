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
    documents, replies = [], []
    for name, (text, mentions) in TEXTS.items():
        spans = [(text.index(mention), text.index(mention) + len(mention)) for mention in mentions]
        documents.append(karat.Document(name, text, tuple(karat.Label(s, e, f"Q{s + 1}") for s, e in spans)))
        replies.append(
            karat.Reply(name, tuple(karat.Answer(s, e, f"Q{s + 1 + i % 2}") for i, (s, e) in enumerate(spans)))
        )
    inner = (karat.Label(0, 20, "Q1"), karat.Label(14, 20, "Q2"), karat.Label(14, 25, "Q3"))
    documents.append(karat.Document("nested", "University of London City is not one.", inner))
    replies.append(karat.Reply("nested", (karat.Answer(0, 20, "Q1"), karat.Answer(14, 20, "Q2"))))
    return karat.Corpus.of(documents, name="scripts"), karat.Run.of(replies, name="half")


def hostile() -> tuple[karat.Corpus, karat.Run]:
    """Whatever can hold an attack does."""
    text = f"{ATTACK} was here."
    label = karat.Label(0, len(ATTACK), ATTACK, name=ATTACK, types=(ATTACK,))
    links = ["javascript:alert(1)", "https://evil.example/x"]
    document = karat.Document(ATTACK, text, (label,), meta={"title": ATTACK})
    others = [karat.Document(link, "Ada was here.", (karat.Label(0, 3, link),)) for link in links]
    replies = [karat.Reply(one.id, (karat.Answer(0, 3, "javascript:alert(2)"),)) for one in (document, *others)]
    return karat.Corpus.of([document, *others], name=ATTACK), karat.Run.of(replies, name=ATTACK)


def long(letters: int = 100_000, mentions: int = 2_500) -> tuple[karat.Corpus, karat.Run]:
    """A text with as many annotations as mentions and answers together."""
    step = letters // mentions
    words = [f"Name{number:04d} " + "went on and on " * 9 for number in range(mentions)]
    text = "".join(word[: step - 1] + " " for word in words)
    labels = tuple(karat.Label(n * step, n * step + 8, f"Q{n + 1}") for n in range(mentions))
    answers = tuple(karat.Answer(n * step, n * step + 8, f"Q{n + 1 + (n % 3 == 0)}") for n in range(mentions))
    corpus = karat.Corpus.of([karat.Document("long", text, labels)], name="long")
    return corpus, karat.Run.of([karat.Reply("long", answers)], name="most")
