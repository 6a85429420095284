"""Laws of order: what does not say that it looks at the order of mentions in the files never does; the rest does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Candidate, Corpus, Document, Label, Prediction, Response, Run
from karat.analysis.explanation.prose import find_order_dependent_settings
from karat.kb.in_memory_kb import InMemoryKB
from karat.model.profile_signatures import get_profile
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.relation import MatchRelation
from karat.model.spec.settings.settings import ORDER_NOTE, SETTINGS
from tests.conftest import with_settings
from tests.strategies import spans

LENGTH = 12
KB = InMemoryKB.from_tables(
    names={"Q1": "Ada Lovelace", "Q2": "Ulm", "Q3": "Germany"},
    types={"Q1": ("Q215627",), "Q2": ("Q27096213", "Q43229"), "Q3": ("Q27096213",)},
    popular={"Ulm": ("Q2",), "b": ("Q2", "Q1")},
    demonyms=frozenset({"German"}),
)
ENTITIES = st.sampled_from(["Q1", "Q2", "Q3", "http://dbpedia.org/resource/A", None, UNLINKED])
WORDS = st.sampled_from([(), ("A",), ("A", "B"), ("B",)])
SAME = st.sampled_from([(), (), ("Q2",)])
MENTION_IDS = st.sampled_from([None, None, "u", "v"])
KINDS = st.sampled_from([None, None, "quantity", "coreference"])
CANDIDATES = st.sampled_from([(), ("Q1",), ("Q2", "Q1")])
PLACES = st.lists(st.tuples(spans(LENGTH), ENTITIES), max_size=5)
TEXTS = st.text(alphabet="ab 'U", min_size=LENGTH, max_size=LENGTH)
SCORES = st.sampled_from([st.none(), st.sampled_from([0.25, 0.5])])
INNER = st.sampled_from([None, (1, 10)])


@st.composite
def _labels(draw):
    found = {}
    for _ in range(draw(st.integers(0, 5))):
        start, end = draw(spans(LENGTH))
        entity = draw(ENTITIES)
        found[start, end, entity] = Label(
            start,
            end,
            entity,
            optional=draw(st.integers(0, 4)) == 0,
            mention_id=draw(MENTION_IDS),
            types=draw(WORDS),
            categories=draw(WORDS),
            kind=draw(KINDS),
            same_as=draw(SAME),
        )
    return tuple(found.values())


@st.composite
def _predictions(draw, scores):
    """Predictions that collide often, and twins that differ only in what they say besides."""
    places = draw(PLACES)
    places += draw(st.lists(st.sampled_from(places), max_size=2)) if places else []
    return tuple(
        Prediction(
            *span,
            entity,
            score=draw(scores),
            types=draw(WORDS),
            same_as=draw(SAME),
            candidates=tuple(map(Candidate, draw(CANDIDATES))),
        )
        for span, entity in places
    )


@st.composite
def _shuffled(draw):
    """A corpus and a run, and both again with documents, labels and predictions in another order."""
    scores = draw(SCORES)
    count = draw(st.integers(1, 2))
    documents = [Document(f"d{i}", draw(TEXTS), draw(_labels()), evaluation_span=draw(INNER)) for i in range(count)]
    responses = [Response(f"d{i}", draw(_predictions(scores))) for i in range(count)]
    other = [
        Document(d.id, d.text, tuple(draw(st.permutations(d.labels))), evaluation_span=d.evaluation_span)
        for d in documents
    ]
    again = [Response(r.id, tuple(draw(st.permutations(r.predictions)))) for r in responses]
    return (documents, responses), (draw(st.permutations(other)), draw(st.permutations(again)))


def _said(documents, responses, **options):
    """Everything that an evaluation says but for numbers of rows; or why it is not possible."""
    try:
        result = karat.evaluate(
            Corpus.from_documents(documents), Run.from_responses(responses), kb=KB, **with_settings(options)
        )
    except karat.KaratError as problem:
        return str(problem)
    groups = {
        (label, view, value): (group.counts, group.measures, group.errors, group.undecided)
        for label, views in result.groups.items()
        for view, values in views.items()
        for value, group in values.items()
    }
    sums = {view: statistics.weights.sum(axis=0).tolist() for view, statistics in result.views.items()}
    return result.measures, groups, sums, result.notes, result.skipped, str(result.signature)


LINKED = [
    name
    for name in list_plugins("relations")
    if get_plugin("relations", name, MatchRelation).min_relatedness is not None
]
UNORDERED = [
    name
    for name in list_plugins("relations")
    if name not in LINKED and not get_plugin("relations", name, MatchRelation).is_order_dependent
]
ORDERED = [
    name for name in list_plugins("relations") if get_plugin("relations", name, MatchRelation).is_order_dependent
]
MEASURES = [f"{relation}:micro.f1" for relation in UNORDERED]
MEASURES += [f"strong[{part}]:micro.f1" for part in ("in-kb", "nil", "gold-in-kb")]
MEASURES += ["strong:accuracy", "strong:macro.f1", "strong:aurc", "b-cubed:micro.f1", "ceaf-mention:micro.f1"]
LABELS = [name for name in list_plugins("facets") if name != "error"]
MORE = {
    ("assignment", "lookup"): {"measures": ["strong:micro.f1", "mention:micro.f1"]},
    ("nil", "emerging"): {"prefixes": "gerbil"},
    ("prefixes", "gerbil"): {"nil": "emerging"},
    ("unknown-ids", "alike"): {"ids": "resolved"},
    ("gold-mentions", "exact"): {"task": "d2kb", "measures": ()},
    ("gold-mentions", "best"): {"task": "d2kb", "measures": ()},
    ("gold-mentions", "best-overlap"): {"task": "d2kb", "measures": ()},
    ("groups", "filtered"): {"task": "d2kb", "measures": (), "by": ["types"]},
    **{("task", name): {"measures": ()} for name in SETTINGS["task"].values},
}
"""What else has to be asked for where a value is to be tried."""

_ABOUT_ERRORS = ("categories", "unknown-names", "near-mentions", "false-coreference")
VALUES = [(name, value) for name, setting in SETTINGS.items() for value in setting.values if name != "membership"]


def _asked(name: str, value: str) -> dict[str, object]:
    by = ["error"] if name in _ABOUT_ERRORS else ["types", "nil"]
    measures = ["strong:micro.f1"] if name in _ABOUT_ERRORS else MEASURES
    return {"measures": measures, "by": by, name: value, **MORE.get((name, value), {})}


def _some(share: int) -> settings:
    return settings(max_examples=max(4, settings.default.max_examples // share))


@given(_shuffled())
def test_karat_never_looks_at_the_order(pair):
    one, two = (_said(*side, measures=MEASURES, by=LABELS) for side in pair)
    assert one == two


@given(_shuffled())
def test_error_categories_of_karat_never_look_at_the_order(pair):
    one, two = (_said(*side, measures=["strong:micro.f1", "weak:micro.f1"], by=["error"]) for side in pair)
    assert one == two


@pytest.mark.parametrize(
    "profile",
    [name for name in list_plugins("profiles") if not find_order_dependent_settings(get_profile(name).settings)],
)
@_some(3)
@given(pair=_shuffled())
def test_profiles_that_do_not_say_so_never_look_at_the_order(profile, pair):
    one, two = (_said(*side, profile=profile) for side in pair)
    assert one == two


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, value in VALUES if value not in SETTINGS[name].order_dependent_values]
)
@_some(5)
@given(pair=_shuffled())
def test_values_that_do_not_say_so_never_look_at_the_order(name, value, pair):
    one, two = (_said(*side, **_asked(name, value)) for side in pair)
    assert one == two


TWINS = ([Label(0, 4, "Q1")], [Prediction(0, 4, "Q1"), Prediction(0, 4, "Q2")])
CROWD = (
    [Label(0, 10, "Q1"), Label(5, 8, "Q1")],
    [Prediction(0, 3, "Q1"), Prediction(5, 8, "Q1"), Prediction(10, 12, "Q2")],
)
WORKED = {
    ("gold-mentions", "best"): TWINS,
    ("gold-mentions", "best-overlap"): TWINS,
    ("assignment", "greedy"): CROWD,
    ("assignment", "first"): CROWD,
    ("assignment", "lookup"): TWINS,
    ("overlaps", "longest"): TWINS,
    ("alternatives", "first"): (
        [Label(0, 4, "Q1", mention_id="u"), Label(0, 4, "Q2", mention_id="u")],
        [Prediction(0, 4, "Q1")],
    ),
    ("clusters", "neleval"): (
        [Label(0, 4, "Q1"), Label(5, 8, "Q1")],
        [Prediction(0, 4, "Q1"), Prediction(0, 4, "Q2"), Prediction(5, 8, "Q1")],
    ),
}
"""For each value that looks at the order, what scores otherwise if the predictions stand the other way round.

Where there is a single prediction, the labels do."""

LOST = (
    [Label(0, 10, "Q1", types=("A",))],
    [Prediction(0, 3, "Q2", types=("B",)), Prediction(0, 10, "Q1", types=("A",))],
)
"""A mention that HIPE's scorer gives to the first prediction, right or wrong."""


def _scores(example, **options) -> list[object]:
    labels, predictions = example
    orders = [
        (labels, predictions),
        (labels, predictions[::-1]) if len(predictions) > 1 else (labels[::-1], predictions),
    ]
    return [
        karat.evaluate(
            Corpus.from_documents([Document("d", "x" * LENGTH, tuple(gold))]),
            Run.from_responses([Response("d", tuple(given))]),
            **with_settings(options),
        ).measures
        for gold, given in orders
    ]


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, v in VALUES if v in SETTINGS[n].order_dependent_values])
def test_values_that_say_so_look_at_the_order(name, value):
    asked = _asked(name, value) | {"by": []}
    one, two = _scores(WORKED[name, value], **asked)
    assert one != two
    assert karat.explain(f"{name}={value}").endswith(ORDER_NOTE)


@pytest.mark.parametrize("relation", ORDERED)
def test_relations_that_say_so_look_at_the_order(relation):
    one, two = _scores(LOST, measures=[f"{relation}:micro.f1"], profile="hipe")
    assert one != two
    assert karat.explain(relation).endswith(ORDER_NOTE)


@pytest.mark.parametrize(
    "profile", [name for name in list_plugins("profiles") if find_order_dependent_settings(get_profile(name).settings)]
)
def test_a_profile_says_setting_by_setting_what_looks_at_the_order(profile):
    said = karat.explain(profile).split("\n")
    settings = get_profile(profile).settings
    ordered = find_order_dependent_settings(settings)
    assert said[-1] == f"The order of mentions in the files matters: {', '.join(ordered)}."
    closed = [line for line in said if line.endswith(ORDER_NOTE)]
    assert [line.partition(":")[0] for line in closed] == [one for one in ordered if not one.startswith("match=")]


def test_karat_says_that_it_does_not():
    assert karat.explain("karat").endswith("\nThe order of mentions in the files never matters.")
    assert ORDER_NOTE not in karat.explain("karat")
    result = karat.evaluate(karat.load("demo"), karat.load_run("demo/prior"), profile="gerbil")
    assert karat.explain(result.signature).count(ORDER_NOTE) == 1
