"""Fine-grained evaluation worked out by hand: parts of a gold standard, membership functions, curves, the table."""

from __future__ import annotations

import re

import numpy as np
import pytest

import karat
from karat import Corpus, Document, InputError, Label, Prediction, Response, Run, UsageError
from karat.analysis.curves.alpha import alpha_curve, find_leaders
from karat.analysis.curves.categories import category_curve
from karat.data.corpus_pool import pool_runs
from karat.matching.weighting.membership import RATINGS, parse_membership
from karat.model.finegrained_scheme import DIMENSIONS, NODES, is_leaf
from tests.conftest import ROOT, with_settings

TEXT = "Lima beat Oslo. She cooks rice for Danes in Lima town."


def tags(text):
    return tuple(map(":".join, zip(DIMENSIONS, text.split(), strict=True)))


def label(mention, entity, categories, nth=0):
    start = [found.start() for found in re.finditer(rf"\b{mention}\b", TEXT)][nth]
    return Label(start, start + len(mention), entity, categories=tags(categories))


def corpus() -> Corpus:
    """Nine labels of eight mentions: the first Lima and Danes have two alternatives each, She is NIL."""
    labels = (
        label("Lima", "w/Lima", "Full NounSingular None Related"),
        label("Lima", "w/Lima_FC", "Alias NounSingular None Metonymic"),
        label("Oslo", "w/Oslo_FC", "Alias NounSingular None Metonymic"),
        label("She", None, "ProForm NounSingular None Anaphoric"),
        label("cooks", "w/Cooking", "CommonForm Verb None Direct"),
        label("rice", "w/Rice", "CommonForm NounSingular None Direct"),
        label("Danes", "w/Danes", "Full NounPlural None Direct"),
        label("Danes", "w/Denmark", "Alias NounPlural None Related"),
        label("Lima town", "w/Lima", "Extended NounSingular Maximal Direct"),
        label("Lima", "w/Lima", "Full NounSingular Minimal Direct", nth=1),
    )
    return Corpus.from_documents([Document("d", TEXT, labels)], name="supper")


def run(name="cook", **links) -> Run:
    """Predictions by mention; `Lima` is the first."""
    spans = {mention: TEXT.index(mention) for mention in links}
    predictions = [Prediction(start, start + len(mention), f"v/{links[mention]}") for mention, start in spans.items()]
    return Run.from_responses([Response("d", tuple(predictions))], name=name)


COOK = {"Lima": "Lima", "Oslo": "Oslo", "She": "Ann", "rice": "Rice", "Danes": "Denmark", "in": "India"}
"""Right are Lima, rice and Danes; wrong Oslo and She; `in` is no mention; cooks, Lima town and its Lima are missed."""


def evaluated(links=COOK, **options):
    return karat.evaluate(corpus(), run(**links), profile="finegrained", **with_settings(options))


def figures(group):
    counts = group.counts
    return counts.matched_gold, counts.unmatched_predictions, counts.unmatched_gold


def test_the_whole():
    result = evaluated()
    counts = result.counts("strong")
    assert (counts.matched_gold, counts.unmatched_predictions, counts.unmatched_gold) == (3, 2, 5)
    assert result["strong:micro.p"] == pytest.approx(3 / 5)
    assert result["strong:micro.r"] == pytest.approx(3 / 8)
    assert result.skipped == {"predictions off the gold mentions": 1}


PARTS = {
    "form:Full": (
        1,
        1,
        2,
    ),  # Lima is right; Denmark, right for another category, is wrong here; the last Lima is missed
    "form:Alias": (1, 2, 2),  # Denmark is right; Lima and Oslo are wrong
    "form:ProperForm": (2, 1, 3),  # Lima and Denmark are right by one of their alternatives; Oslo is wrong
    "form:Extended": (0, 0, 1),
    "form:CommonForm": (1, 0, 1),
    "form:ProForm": (0, 1, 1),  # nothing matches NIL
    "pos:NounSingular": (2, 2, 4),
    "pos:NounPlural": (1, 0, 0),
    "pos:NounPhrase": (3, 2, 4),
    "pos:Verb": (0, 0, 1),
    "overlap:None": (3, 2, 3),
    "overlap:Maximal": (0, 0, 1),
    "overlap:Minimal": (0, 0, 1),
    "reference:Direct": (1, 1, 4),
    "reference:Related": (2, 0, 0),
    "reference:Metonymic": (0, 2, 2),
    "reference:Anaphoric": (0, 1, 1),
}


def test_by_category():
    groups = evaluated(by=["category"]).groups["category"]["strong"]
    assert {name: figures(group) for name, group in groups.items()} == PARTS


def test_by_dimension():
    groups = evaluated(by=["form"]).groups["form"]["strong"]
    assert {f"form:{name}": figures(group) for name, group in groups.items()} == {
        name: found for name, found in PARTS.items() if name.startswith("form:")
    }


def test_by_combination():
    groups = evaluated(by=["pos+reference"]).groups["pos+reference"]["strong"]
    assert {name: figures(group) for name, group in groups.items()} == {
        "NounSingular+Related": (1, 0, 0),
        "NounSingular+Metonymic": (0, 2, 2),
        "NounSingular+Anaphoric": (0, 1, 1),
        "NounSingular+Direct": (1, 0, 2),
        "Verb+Direct": (0, 0, 1),
        "NounPlural+Direct": (0, 1, 1),
        "NounPlural+Related": (1, 0, 0),
    }


def test_precision_without_predictions_is_undefined_and_0_on_request():
    verbs = evaluated(by=["pos"]).groups["pos"]["strong"]["Verb"]
    assert verbs["micro.p"] == (None, 0, "there are no predictions")
    assert (verbs["micro.r"].value, verbs["micro.f1"].value) == (0, 0)
    assert evaluated(by=["pos"], empty="zero").groups["pos"]["strong"]["Verb"].measures["micro.p"] == 0


def test_nil_is_a_label_of_its_own_though_nothing_matches_it():
    result = evaluated(by=["nil"], measures=["strong[in-kb]:micro.r", "strong[nil]:micro.r"])
    assert result["strong[in-kb]:micro.r"] == pytest.approx(3 / 7)
    assert result["strong[nil]:micro.r"] == 0
    groups = evaluated(by=["nil"]).groups["nil"]["strong"]
    assert {name: figures(group) for name, group in groups.items()} == {"true": (0, 1, 1), "false": (3, 1, 4)}


def test_an_prediction_of_another_type_is_wrong_in_a_part_by_types():
    gold = Corpus.from_documents(
        [Document("d", "ab", (Label(0, 1, "a", types=("X",)), Label(1, 2, "b", types=("Y",))))]
    )
    both = Run.from_responses([Response("d", (Prediction(0, 1, "b"), Prediction(1, 2, "b")))])
    groups = karat.evaluate(gold, both, profile="finegrained", by=["types"]).groups["types"]["strong"]
    assert {name: figures(group) for name, group in groups.items()} == {"X": (0, 1, 1), "Y": (1, 0, 0)}


def test_links_are_compared_by_what_follows_the_last_slash():
    assert (
        karat.evaluate(corpus(), run(**COOK), profile="finegrained", settings={"ids": "as-written"})["strong:micro.r"]
        == 0
    )


def test_categories_need_mentions_that_are_given():
    with pytest.raises(UsageError, match=r"predictions have no form.*Use the task d2kb"):
        evaluated(task="a2kb", by=["form"])


def test_runs_of_one_system_keep_its_name():
    def named(name):
        return Run.from_responses([Response(name, ())], name=name)

    def joined(*names):
        return pool_runs(list(map(named, names)), has_numbered_ids=False).name

    assert joined("AIDA_KORE50", "AIDA_ACE", "AIDA_VoxEL") == "AIDA"
    assert joined("one-big_a", "one-big_b") == "one-big"
    assert joined("kore50", "ace") == "kore50+ace"
    assert joined("a_x", "ab_x") == "a_x+ab_x"


# --- fuzzy recall. Strict are Danes alone (its first alternative), and Lima town in the authors' program.

FUZZY = {
    # 1 for Danes, of which the prediction, Denmark, earns 0; all else weighs 0
    "strict:0": 0 / 1,
    # Danes earns 0.5 of 1, Lima and rice 0.5 each; seven mentions of 0.5
    "strict:0.5": 1.5 / 4.5,
    "strict:1": 3 / 8,
    # Danes weighs as its lightest, 0; Lima town 1
    "strict-code:0": 0 / 1,
    # three right at 0.5; seven at 0.5 and Lima town at 1
    "strict-code:0.5": 1.5 / 4.5,
    "strict-code:1": 3 / 8,
}


@pytest.mark.parametrize("how", FUZZY)
def test_fuzzy_recall(how):
    result = evaluated(membership=how)
    assert result["strong:micro.r"] == pytest.approx(FUZZY[how])
    assert result["strong:micro.p"] == pytest.approx(3 / 5)
    p, r = 3 / 5, FUZZY[how]
    assert result["strong:micro.f1"] == pytest.approx(2 * p * r / (p + r))
    assert result.signature["membership"] == how


def test_the_heaviest_alternative_earns_all():
    assert evaluated({**COOK, "Danes": "Danes"}, membership="strict:0")["strong:micro.r"] == 1
    assert evaluated({**COOK, "Danes": "Danes"}, membership="strict-code:0")["strong:micro.r"] == 0


def test_precision_counts_what_weighs_nothing():
    result = evaluated(membership="strict:0", by=["form"])
    common = result.groups["form"]["strong"]["CommonForm"]
    assert (common["micro.p"].value, common["micro.r"].value, common["micro.f1"].value) == (1, None, None)
    assert (
        evaluated(membership="strict:0", by=["form"], empty="zero")
        .groups["form"]["strong"]["CommonForm"]
        .measures["micro.r"]
        == 0
    )


def test_an_annotation_with_a_dimension_left_open_is_not_known_to_be_strict():
    bare = Label(0, 1, "a", categories=tags("Full NounSingular None Direct")[:3])
    known = Label(1, 2, "b", categories=tags("Full NounSingular None Direct"))
    gold, both = (
        Corpus.from_documents([Document("d", "ab", (bare, known))]),
        Run.from_responses([Response("d", (Prediction(1, 2, "b"),))]),
    )
    assert (
        karat.evaluate(gold, both, profile="finegrained", settings={"membership": "strict:0.25"})["strong:micro.r"]
        == 1 / 1.25
    )


def test_detection_finds_a_mention_whole():
    """Of five detected, Danes weighs 1 and the others 0.5, whichever alternative was answered."""
    result = evaluated(membership="strict:0.5", measures=["mention:micro.r"], task="a2kb")
    assert result["mention:micro.r"] == pytest.approx((4 * 0.5 + 1) / 4.5)


def test_accuracy_is_not_weighed():
    result = karat.evaluate(corpus(), run(**COOK), settings={"membership": "strict:0.5"})
    assert "strong:micro.f1" in result.table_measures
    assert "strong:accuracy" not in result.measures
    with pytest.raises(UsageError, match="strong:accuracy counts mentions"):
        evaluated(membership="strict:0.5", measures=["strong:accuracy"])


@pytest.mark.parametrize(
    "how", ["strict", "strict:2", "strict:x", "strict:", "stricter:1", "strict-code:-1", "nothing"]
)
def test_functions_that_there_are_not(how):
    with pytest.raises(UsageError, match="membership is"):
        evaluated(membership=how)


def test_a_function_needs_categories():
    gold = Corpus.from_documents([Document("d", "ab", (Label(0, 1, "a"),))])
    with pytest.raises(UsageError, match="karat data categorise"):
        karat.evaluate(
            gold, Run.from_responses([Response("d", (Prediction(0, 1, "a"),))]), settings={"membership": "strict:0"}
        )


def test_clusters_are_not_weighed():
    with pytest.raises(UsageError, match="compares clusters"):
        evaluated(membership="strict:0", measures=["b-cubed:micro.f1"], task="a2kb")


# --- functions from files

WEIGHTS = """
default = 0.5
combine = "{}"

[weights]
"form:Full" = 0.9
"form:ProperForm" = 0.8
"pos:Verb" = 0.1
"overlap:Minimal" = 0.5
"""


def written(tmp_path, text):
    path = tmp_path / "weights.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("combine", "categories", "weight"),
    [
        ("min", "Full NounSingular None Direct", 0.9),  # a leaf goes before its node
        ("min", "Short NounSingular None Direct", 0.8),
        ("min", "Full Verb Minimal Direct", 0.1),
        ("max", "Full Verb Minimal Direct", 0.9),
        ("product", "Full Verb Minimal Direct", 0.9 * 0.1 * 0.5),
        ("min", "CommonForm NounSingular None Direct", 0.5),  # nothing is said of any
    ],
)
def test_weights_of_categories(tmp_path, combine, categories, weight):
    how = parse_membership(written(tmp_path, WEIGHTS.format(combine)))
    assert how.weight(tags(categories)) == pytest.approx(weight)
    assert how.weight(tags(categories)[::-1]) == pytest.approx(weight)


CONSENSUS = """
default = 0.2
[consensus]
"form:Full + overlap:None" = [1, 0.8]
"form:Full+overlap:Minimal" = 0.6
"pos:Verb" = 0.1
[weights]
"reference:Related" = 0.3
"""


@pytest.mark.parametrize(
    ("categories", "weight"),
    [
        ("Full NounSingular None Direct", 0.9),  # both ratings of the pair
        ("Full NounSingular Maximal Direct", 0.8),  # three ratings share the form, none more
        ("Full Verb None Direct", 0.9),  # a pair says more than one
        ("CommonForm Verb Maximal Direct", 0.1),
        ("CommonForm NounSingular Maximal Related", 0.3),
        ("CommonForm NounSingular Maximal Direct", 0.2),
    ],
)
def test_ratings(tmp_path, categories, weight):
    assert parse_membership(written(tmp_path, CONSENSUS)).weight(tags(categories)) == pytest.approx(weight)


def test_a_file_is_told_by_its_content(tmp_path):
    names = set()
    for default in (0.5, 0.25):
        path = written(tmp_path, f'default = {default}\n[weights]\n"form:Full" = 1')
        result = evaluated(membership=path)
        name = result.signature["membership"]
        assert re.fullmatch(r"weights\.toml@[0-9a-f]{8}", name)
        assert name in karat.explain(str(result.signature))
        names.add(name)
    assert len(names) == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = ", "invalid TOML"),
        ("default = 1", "neither weights nor ratings"),
        ("[weights]", "neither weights nor ratings"),
        ("[weight]\na = 1", "the key 'weight'"),
        ("weights = 3", "weights = 3"),
        ("[weights]\n'form:Ful' = 1", "the category 'form:Ful'"),
        ("[weights]\nFull = 1", "the category 'Full'"),
        ("[weights]\n'form:Full' = 1.5", "form:Full = 1.5"),
        ("[weights]\n'form:Full' = true", "form:Full = True"),
        ("[weights]\n'form:Full' = nan", "form:Full = nan"),
        ("[weights]\n'form:Full' = '1'", "form:Full = '1'"),
        ("combine = 'mean'\n[weights]\n'form:Full' = 1", "combine = 'mean'"),
        ("combine = []\n[weights]\n'form:Full' = 1", "combine = []"),
        ("default = -1\n[weights]\n'form:Full' = 1", "default = -1"),
        ("[consensus]\n'form:Full' = []", "no ratio for 'form:Full'"),
        ("[consensus]\n'form:Full' = [0.5, 2]", "form:Full = 2"),
        ("[consensus]\n'form:Full+pos:Vreb' = 0.5", "the category 'pos:Vreb'"),
    ],
)
def test_files_that_are_wrong(tmp_path, text, found):
    path = written(tmp_path, text)
    with pytest.raises(InputError) as problem:
        evaluated(membership=path)
    assert problem.value.where == path
    assert problem.value.actual.startswith(found)


def test_a_file_that_is_not_there(tmp_path, karat_cli):
    karat.save(corpus(), tmp_path / "gold.jsonl")
    karat.save(run(**COOK), tmp_path / "cook.jsonl")
    path = tmp_path / "none.toml"
    ran = karat_cli("score", tmp_path / "gold.jsonl", tmp_path / "cook.jsonl", "--set", f"membership={path}")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert f"{path}: found no such file" in ran.err


def test_a_corpus_may_have_dimensions_of_its_own(tmp_path):
    gold = Corpus.from_documents(
        [Document("d", "ab", (Label(0, 1, "a", categories=("case:lower",)), Label(1, 2, "b")))]
    )
    half = Run.from_responses([Response("d", (Prediction(0, 1, "a"),))])
    how = written(tmp_path, 'default = 0.5\n[weights]\n"case:lower" = 0.25')
    assert karat.evaluate(gold, half, settings={"membership": how})["strong:micro.r"] == pytest.approx(0.25 / 0.75)


def test_the_page_shows_files_that_work(tmp_path):
    page = (ROOT / "docs" / "reference" / "error-categories.md").read_text(encoding="utf-8")
    shown = re.findall(r"```toml [^\n]*\n(.*?)```", page, re.DOTALL)
    assert len(shown) == 2
    weights, consensus = (parse_membership(written(tmp_path, text)) for text in shown)
    assert weights.weight(tags("CommonForm Verb None Direct")) == pytest.approx(0.1)
    assert consensus.weight(tags("Full NounSingular None Direct")) == pytest.approx(0.985)


# --- the questionnaire


def test_every_rated_mention_has_one_leaf_in_each_dimension():
    assert len({rated.mention for rated in RATINGS}) == len(RATINGS) == 44
    for rated in RATINGS:
        assert sorted(category.partition(":")[0] for category in rated.categories) == sorted(DIMENSIONS)
        assert all(is_leaf(category) for category in rated.categories)
        assert 0 <= rated.ratio <= 1


@pytest.mark.parametrize(
    ("categories", "weight"),
    [
        ("Full NounSingular None Direct", (1 + 0.97) / 2),  # Martin Bashir, Kommersant
        ("Short NounSingular None Direct", (1 + 0.92) / 2),  # Joe, Tsipras
        ("CommonForm Verb None Direct", (0.06 + 0.08 + 0.08 + 0.06 + 0.06 + 0.03 + 0.06) / 7),
        ("Alias NounSingular None Metonymic", 0.77),
        ("ProForm NounPlural Minimal Anaphoric", (0.56 + 0.39) / 2),  # he and his share three
    ],
)
def test_the_questionnaire(categories, weight):
    assert parse_membership("questionnaire").weight(tags(categories)) == pytest.approx(weight)


def test_what_nobody_was_asked_about_weighs_the_mean_of_all():
    how = parse_membership("questionnaire")
    assert how.weight(()) == pytest.approx(sum(rated.ratio for rated in RATINGS) / len(RATINGS))
    assert all(0 <= how.weight([leaf]) <= 1 for leaf in NODES)


def test_the_questionnaire_scores():
    result = evaluated(membership="questionnaire")
    assert result.signature["membership"] == "questionnaire"
    assert "authors who would annotate" in karat.explain(str(result.signature))
    assert 0 < result["strong:micro.r"] < 1


# --- curves


def test_over_alpha_by_hand():
    """All predictions count: six, of which three are right. Recall is (3 alpha) / (1 + 7 alpha)."""
    curve = alpha_curve(corpus(), run(**COOK))
    assert curve.values("micro.p", np.array([0.0, 1.0])).tolist() == [0.5, 0.5]
    assert curve.values("micro.r", np.array([0.0, 0.5, 1.0])) == pytest.approx([0, 1.5 / 4.5, 3 / 8])
    assert (curve.signature["membership"], curve.signature["task"]) == ("strict:0-1", "a2kb")


def test_leaders_by_hand():
    """One finds Danes alone, the other Lima, Oslo and rice: recall is 1 and 3 alpha, of the same whole."""
    strict = alpha_curve(corpus(), run("strict", Danes="Danes"))
    loose = alpha_curve(corpus(), run("loose", Lima="Lima", Oslo="Oslo_FC", rice="Rice"))
    found = find_leaders([strict, loose], "micro.r")
    assert [(reign.runs, reign.low, reign.high) for reign in found] == [
        (("strict",), 0, pytest.approx(1 / 3)),
        (("loose",), pytest.approx(1 / 3), 1),
    ]
    # Both are always right.
    assert find_leaders([strict, loose], "micro.p") == [(0, 1, ("strict", "loose"))]


def test_best_first_by_hand():
    """Denmark and the first Lima are found in combinations of their own; rice in one with nothing else."""
    curve = category_curve(corpus(), run(**COOK))
    assert curve.combinations[:3] == (
        "Full+NounSingular+None+Related",
        "Alias+NounPlural+None+Related",
        "CommonForm+NounSingular+None+Direct",
    )
    assert curve.values("micro.f1", alone=True)[:4].tolist() == [1, 1, 1, 0]
    assert curve.mentions.tolist() == [1, 2, 3, 4, 4, 5, 6, 7, 8]
    assert curve.weights[-1].tolist() == [3, 2, 3, 5]
    assert curve.excluded == {}
    # In the order of the scheme: Full+NounSingular+Minimal, Full+NounPlural (Danes is there), Extended, Alias, …
    assert curve.combinations[3:6] == (
        "Full+NounSingular+Minimal+Direct",
        "Full+NounPlural+None+Direct",
        "Extended+NounSingular+Maximal+Direct",
    )


def test_what_is_in_no_combination_is_counted():
    more = Label(4, 5, "x", categories=("form:Full", "form:Alias", *tags("Full NounSingular None Direct")[1:]))
    document = next(iter(corpus()))
    optional = Label(5, 6, "y", optional=True, categories=tags("Full NounSingular None Direct"))
    gold = Corpus.from_documents([Document("d", TEXT, (*document.labels, more, optional))])
    curve = category_curve(gold, run(**COOK))
    assert curve.excluded == {"optional labels": 1, "labels without one category in every dimension": 1}
    assert curve.mentions[-1] == 8


@pytest.mark.parametrize(
    "settings",
    [{"profile": "karat"}, {"settings": {"task": "a2kb"}}, {"settings": {"membership": "strict:0"}}, {"match": "weak"}],
)
def test_best_first_curves_need_parts_that_stand_alone(settings):
    with pytest.raises(UsageError, match="profile='finegrained'"):
        category_curve(corpus(), run(**COOK), **with_settings(settings))


# --- the table


def test_the_table_names_categories_as_the_paper_does(tmp_path, karat_cli):
    karat.save(corpus(), tmp_path / "gold.jsonl")
    karat.save(run(**COOK), tmp_path / "cook.jsonl")
    karat.save(run("lazy", rice="Rice"), tmp_path / "lazy.jsonl")
    ran = karat_cli(
        *("score", tmp_path / "gold.jsonl", tmp_path / "cook.jsonl", tmp_path / "lazy.jsonl"),
        *("--profile", "finegrained", "--by", "form", "--by", "category"),
    )
    assert ran.code == 0
    block = ran.out.split("\n\n")[2].splitlines()
    assert block[0].split() == ["strong,", "by", "form", "mentions", "cook", "lazy"]
    assert block[1].split() == ["P", "R", "F1"] * 2
    rows = [line.split() for line in block[2:]]
    assert rows == [
        ["Proper", "Noun", "5", "66.7", "40.0", "50.0", "–", "0.0", "0.0"],
        ["Full", "Mention", "3", "50.0", "33.3", "40.0", "–", "0.0", "0.0"],
        ["Extended", "Mention", "1", "–", "0.0", "0.0", "–", "0.0", "0.0"],
        ["Alias", "3", "33.3", "33.3", "33.3", "–", "0.0", "0.0"],
        ["Common", "Form", "2", "100.0", "50.0", "66.7", "100.0", "50.0", "66.7"],
        ["Pro-form", "1", "0.0", "0.0", "0.0", "–", "0.0", "0.0"],
    ]
    assert ran.out.split("\n\n")[3].split() == ["All", "8", "60.0", "37.5", "46.2", "100.0", "12.5", "22.2"]
    titles = [line.split("  ")[0] for line in ran.out.splitlines()]
    assert titles.index("Noun Phrase") > titles.index("Proper Noun")
    assert "  Singular Noun" in ran.out


def test_the_table_of_weighed_mentions_says_so(tmp_path, karat_cli):
    karat.save(corpus(), tmp_path / "gold.jsonl")
    karat.save(run(**COOK), tmp_path / "cook.jsonl")
    sides = (tmp_path / "gold.jsonl", tmp_path / "cook.jsonl")
    ran = karat_cli("score", *sides, "--profile", "finegrained", "--by", "pos", "--set", "membership=strict:0.25")
    block = ran.out.split("\n\n")[2].splitlines()
    assert block[0].split()[3] == "weight"
    assert block[-1].split()[:2] == ["Verb", "0.2"]
