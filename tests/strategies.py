"""What hypothesis draws from: documents, corpora and runs, small enough to collide often."""

from __future__ import annotations

from hypothesis import strategies as st

from karat import UNLINKED, Candidate, Corpus, Document, Label, Prediction, Response, Run, Tag, Triple
from karat.model.document import InventedMention

ENTITIES = ["Q1", "Q2", "Ünï|code:", None]
TEXT = st.text(alphabet="ab \r\n\ufeff\u0301é漢😀𝒳", min_size=8, max_size=12)
WORDS = st.text(alphabet='aZ0 é😀:|,"\\\n', max_size=5)
SCORES = st.none() | st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(-5, 5, allow_nan=False)
# Strategies are made once: hypothesis validates each new one when it is drawn from.
LINKS = st.sampled_from(ENTITIES)
LINKS_OR_NONE = st.sampled_from([*ENTITIES, UNLINKED])
MENTION_IDS = st.sampled_from([None, "u", "v"])
KINDS = st.sampled_from([None, "quantity", "datetime", "coreference", "descriptive"])
OPTIONAL_WORDS = st.none() | WORDS
FEW_WORDS = st.lists(WORDS, max_size=2)
WORD_PAIRS = st.dictionaries(WORDS, WORDS, max_size=2)


@st.composite
def spans(draw, length: int):
    start = draw(st.integers(0, length - 1))
    return start, draw(st.integers(start + 1, min(length, start + 5)))


@st.composite
def labels(draw, length: int, *, plain: bool, families: bool = False):
    entities = LINKS if plain else LINKS_OR_NONE
    count = draw(st.integers(0, 6))
    found: dict[tuple, Label] = {}
    for _ in range(count):
        start, end = draw(spans(length))
        entity = draw(entities)
        extra = {} if plain else {"optional": draw(st.booleans()), "mention_id": draw(MENTION_IDS)}
        found.setdefault((start, end, entity), Label(start, end, entity, **extra))
    if families and any(label.mention_id == "u" for label in found.values()):
        return tuple(
            Label(x.start, x.end, x.entity, optional=x.optional, mention_id=x.mention_id, parent="u")
            if x.mention_id == "v"
            else x
            for x in found.values()
        )
    return tuple(found.values())


@st.composite
def predictions(draw, length: int, *, plain: bool, scored: bool = True):
    entities = LINKS if plain else LINKS_OR_NONE
    return tuple(
        Prediction(*draw(spans(length)), draw(entities), score=draw(SCORES) if scored else None)
        for _ in range(draw(st.integers(0, 6)))
    )


@st.composite
def pairs(draw, *, plain: bool = False, families: bool = False, max_documents: int = 4):
    """A corpus and a run on it.

    `plain` has neither optional nor alternative gold nor spans without link; `families` has alternative segmentations.
    """
    documents, responses = [], []
    for number in range(draw(st.integers(1, max_documents))):
        text = draw(TEXT)
        inner = None if plain or draw(st.booleans()) else (1, len(text) - 1)
        documents.append(
            Document(f"d{number}", text, draw(labels(len(text), plain=plain, families=families)), evaluation_span=inner)
        )
        if plain or draw(st.integers(0, 5)):
            responses.append(Response(f"d{number}", draw(predictions(len(text), plain=plain))))
    if not responses:
        responses.append(Response("d0"))
    return Corpus.from_documents(documents), Run.from_responses(responses)


@st.composite
def families(draw):
    """A corpus in which roots offer other segmentations, and a run."""
    text = draw(TEXT)
    items = {}
    for unit, parent in (("r", None), ("a", "r"), ("b", "r"), ("c", "b")):
        start, end = draw(spans(len(text)))
        entity = draw(LINKS)
        items.setdefault(
            (start, end, entity),
            Label(start, end, entity, mention_id=unit, parent=parent, optional=draw(st.integers(0, 3)) == 0),
        )
    kept = [label for label in items.values() if label.mention_id == "r"]
    known = {"r"} if kept else set()
    for label in items.values():
        if label.parent in known:
            kept.append(label)
            known.add(label.mention_id)
    return Corpus.from_documents([Document("d", text, tuple(kept))]), Run.from_responses(
        [Response("d", draw(predictions(len(text), plain=True)))]
    )


tags = st.builds(Tag, WORDS, rank=st.none() | st.integers(1, 9), score=SCORES)
statements = st.builds(Triple, WORDS, WORDS, WORDS, score=SCORES)
FEW_TAGS, FEW_STATEMENTS = st.lists(tags, max_size=2), st.lists(statements, max_size=2)
CANDIDATES = st.lists(st.builds(Candidate, WORDS, score=SCORES), max_size=2)
metadata = st.dictionaries(st.sampled_from(["title", "language", "ünï"]), WORDS, max_size=2)


@st.composite
def rich_documents(draw):
    """Documents that use every field."""
    documents = []
    for number in range(draw(st.integers(1, 3))):
        text = draw(TEXT)
        plain = draw(labels(len(text), plain=False))
        full = tuple(
            Label(
                label.start,
                label.end,
                label.entity,
                same_as=tuple(draw(FEW_WORDS)),
                name=draw(OPTIONAL_WORDS),
                types=tuple(draw(FEW_WORDS)),
                categories=tuple(draw(FEW_WORDS)),
                difficulty=draw(OPTIONAL_WORDS),
                kind=draw(KINDS),
                optional=label.optional,
                mention_id=label.mention_id,
                nil_cluster=draw(OPTIONAL_WORDS),
            )
            for label in plain
        )
        documents.append(
            Document(
                f"d{number}" + draw(WORDS),
                text,
                full,
                evaluation_span=draw(st.none() | st.just((1, 4))),
                tags=tuple(draw(FEW_TAGS)),
                relations=tuple(draw(FEW_STATEMENTS)),
                meta=draw(WORD_PAIRS),
            )
        )
    return documents


invented_mentions = st.builds(
    InventedMention,
    WORDS,
    st.just(UNLINKED) | st.none() | WORDS,
    types=FEW_WORDS.map(tuple),
    score=SCORES,
)
FEW_INVENTED = st.lists(invented_mentions, max_size=2)


@st.composite
def rich_responses(draw):
    """Responses that use every field."""
    responses = []
    for number in range(draw(st.integers(1, 3))):
        full = tuple(
            Prediction(
                prediction.start,
                prediction.end,
                prediction.entity,
                same_as=tuple(draw(FEW_WORDS)),
                types=tuple(draw(FEW_WORDS)),
                score=prediction.score,
                candidates=tuple(draw(CANDIDATES)),
                nil_cluster=draw(OPTIONAL_WORDS),
            )
            for prediction in draw(predictions(10, plain=False))
        )
        responses.append(
            Response(
                f"d{number}" + draw(WORDS),
                full,
                tags=tuple(draw(FEW_TAGS)),
                relations=tuple(draw(FEW_STATEMENTS)),
                seconds=draw(st.none() | st.floats(0, 9)),
                tokens=draw(st.none() | st.integers(0, 2**40)),
                cost=draw(st.none() | st.floats(0, 9)),
                error=draw(OPTIONAL_WORDS),
                invented=tuple(draw(FEW_INVENTED)),
            )
        )
    return responses
