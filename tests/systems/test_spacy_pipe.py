"""Karat as a component of spaCy: linking in a pipeline, saving it, scoring it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import karat
from karat import Document, KaratError, Label, UnknownNameError, UsageError
from karat.model.corpus import Corpus
from tests.conftest import ROOT

pytestmark = pytest.mark.extras

SCORER = "karat.linker_scorer.v1"
NAMES = ("Berlin", "Paris", "Washington", "Zorblax Quux")
TEXT = "Berlin is near Paris, said Zorblax Quux."

ODD_SYSTEM = """
from dataclasses import dataclass

from karat import Candidate, Prediction, Response
from karat.plugins import System


def _respond(document):
    if "fail" in document.text:
        return Response(document.id, error="no idea")
    if document.labels:
        return Response(document.id, tuple(Prediction(label.start, label.end, None) for label in document.labels))
    spans = ((0, 3, "Q1", 0.1), (0, 9, "Q2", 0.2), (10, 12, None, 0.3))
    return Response(document.id, tuple(Prediction(*span, score=score) for *span, score in spans))


SYSTEM = System(
    title="Odd",
    description="Everything is NIL, and detected mentions overlap and split a word.",
    start=lambda options, gold_mentions: lambda documents: map(_respond, documents),
    gold_mentions="optional",
)
"""


@pytest.fixture
def spacy(monkeypatch, tmp_path):
    """Give spaCy with what Karat's entry points register, whether they are installed or not."""
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    spacy = pytest.importorskip("spacy")
    from karat.systems.spacy_pipe import factory, scorer

    assert factory.make_linker
    if SCORER not in spacy.registry.scorers:
        spacy.registry.scorers.register(SCORER, func=scorer.make_linker_scorer)
    return spacy


def pipeline(spacy, **config):
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "NAME", "pattern": name} for name in NAMES])
    nlp.add_pipe("karat_linker", config=config)
    return nlp


def links(doc):
    return [(span.text, span.kb_id_, span._.karat_score, span._.karat_candidates) for span in doc.ents]


def test_the_entry_points_of_the_package_need_no_import(tmp_path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = tmp_path / "karat-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: karat\nVersion: 0\n", encoding="utf-8")
    groups = [
        f"[{group}]\n" + "\n".join(f"{name} = {target}" for name, target in entries.items())
        for group, entries in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")
    code = (
        "import sys, spacy\n"
        "nlp = spacy.blank('en')\n"
        "assert 'karat.model.document' not in sys.modules\n"  # other people's pipelines stay as fast as they are
        "nlp.add_pipe('karat_linker', config={'system': 'popular', 'detect': True})\n"
        "print([span.kb_id_ for span in nlp('We saw Berlin and Paris.').ents])\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT / "src")])}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "['Q64', 'Q90']\n"), ran.stderr


SUBSTITUTE = "substitute=popularity"


@pytest.mark.parametrize(
    "system", ["graph", "popular", f"prior[{SUBSTITUTE}]", f"tagme[{SUBSTITUTE}]", "graph[variant=local]"]
)
def test_entities_of_earlier_components_get_the_links_of_the_system(spacy, system):
    doc = pipeline(spacy, system=system)(TEXT)
    spans = tuple(Label(span.start_char, span.end_char) for span in doc.ents)
    run = karat.link(system, Corpus.from_documents([Document("d", TEXT, spans)]), gold_mentions=True)
    (response,) = run
    predictions = {prediction.span: prediction for prediction in response.predictions}
    assert [span.text for span in doc.ents] == ["Berlin", "Paris", "Zorblax Quux"]
    for span in doc.ents:
        prediction = predictions.get((span.start_char, span.end_char))
        expected = karat.UNLINKED if prediction is None else prediction.entity
        assert span.kb_id_ == ("" if expected is karat.UNLINKED else expected or "NIL")
        assert span.label_ == "NAME"
        assert span._.karat_score == (None if prediction is None else prediction.score)
        pairs = () if prediction is None else tuple((c.entity, c.score) for c in prediction.candidates)
        assert span._.karat_candidates == pairs
    assert [span.kb_id_ for span in doc.ents[:2]] == ["Q64", "Q90"]


def test_a_stream_is_linked_in_batches_and_in_two_processes_as_one_by_one(spacy):
    nlp = pipeline(spacy)
    texts = [TEXT, "", "nothing here", "Washington, not Paris"] * 4
    expected = [links(nlp(text)) for text in texts]
    assert [links(doc) for doc in nlp.pipe(texts, batch_size=3)] == expected
    assert [links(doc) for doc in nlp.pipe(texts, batch_size=3, n_process=2)] == expected


def test_a_saved_pipeline_gives_the_same_predictions(spacy, tmp_path):
    nlp = pipeline(spacy, system="graph", options={"variant": "local", "candidates": 3})
    nlp.to_disk(tmp_path / "saved")
    expected = links(nlp(TEXT))
    assert len(expected[0][3]) <= 3
    assert links(spacy.load(tmp_path / "saved")(TEXT)) == expected
    linker = nlp.get_pipe("karat_linker")
    assert linker.from_bytes(linker.to_bytes()) is linker
    nlp.config.to_disk(tmp_path / "config.cfg")
    config = spacy.util.load_config(tmp_path / "config.cfg")
    assert config["components"]["karat_linker"]["scorer"]["@scorers"] == SCORER
    again = spacy.util.load_model_from_config(config)
    again.get_pipe("entity_ruler").from_disk(tmp_path / "saved" / "entity_ruler")
    again.get_pipe("karat_linker").from_disk(tmp_path / "saved" / "karat_linker")
    assert links(again(TEXT)) == expected


def test_a_config_overrides_what_was_saved_and_says_so(spacy, tmp_path):
    pipeline(spacy, system="graph").to_disk(tmp_path / "saved")
    config = {"components": {"karat_linker": {"system": "popular"}}}
    with pytest.warns(UserWarning, match="predictions may differ from those of the saved pipeline.*: system"):
        nlp = spacy.load(tmp_path / "saved", config=config)
    assert nlp.get_pipe("karat_linker").settings.system == "popular"
    (tmp_path / "saved" / "karat_linker" / "karat.json").write_text("{}", encoding="utf-8")
    with pytest.raises(karat.InputError, match="Save the pipeline again"):
        spacy.load(tmp_path / "saved")


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        ({"system": "grap"}, UnknownNameError, "Did you mean 'graph'"),
        ({"options": {"nonsense": 1}}, UnknownNameError, "option of light 'nonsense'"),
        ({"options": {"kb": "nowhere"}}, KaratError, "nowhere"),
        ({"system": "fevry:nowhere"}, KaratError, "nowhere"),
        ({"system": "oracle"}, UsageError, "needs gold labels"),
        ({"system": "tagme-api"}, UsageError, "Set detect to true"),
    ],
)
def test_a_bad_setting_is_one_clear_error(spacy, config, error, message):
    with pytest.raises(error, match=message):
        pipeline(spacy, **config)


def test_the_system_detects_mentions_if_asked(spacy, tmp_path):
    path = tmp_path / "odd.py"
    path.write_text(ODD_SYSTEM, encoding="utf-8")
    doc = pipeline(spacy, system=str(path))(TEXT)
    assert [span.kb_id_ for span in doc.ents] == ["NIL"] * 3
    doc = pipeline(spacy, system=str(path), detect=True)("Washington DC")
    assert [(span.text, span.kb_id_, span.label_) for span in doc.ents] == [
        ("Washington", "Q1", "MENTION"),
        ("DC", "NIL", "MENTION"),
    ]
    assert [span._.karat_score for span in doc.ents] == [0.1, 0.3]
    assert doc._.karat_skipped == {"mentions extended to whole tokens": 3, "overlapping mentions": 1}
    doc = pipeline(spacy, system=str(path), detect=True, spans_key="sc")("Washington DC")
    assert [span.kb_id_ for span in doc.spans["sc"]] == ["Q1", "Q2", "NIL"]
    assert [span._.karat_score for span in doc.spans["sc"]] == [None, None, 0.3]
    assert doc._.karat_skipped["scores and candidates of mentions that share a span"] == 2
    assert [span.label_ for span in doc.ents] == ["NAME"]  # of the entity ruler
    doc = spacy.blank("en")("Washington DC")
    doc.spans["sc"] = [doc[0:1], doc[0:2]]
    nlp = spacy.blank("en")
    linked = nlp.add_pipe("karat_linker", config={"spans_key": "sc", "system": str(path)})(doc)
    assert [span.kb_id_ for span in linked.spans["sc"]] == ["NIL", "NIL"]


def test_spacys_error_handler_decides_about_documents_that_fail(spacy, tmp_path):
    path = tmp_path / "odd.py"
    path.write_text(ODD_SYSTEM, encoding="utf-8")
    nlp = pipeline(spacy, system=str(path))
    texts = ["Berlin", "Berlin will fail", "Paris"]
    with pytest.raises(KaratError, match="no idea"):
        list(nlp.pipe(texts))
    failed = []
    nlp.set_error_handler(lambda name, component, docs, problem: failed.append((name, str(problem), len(docs))))
    assert [doc.text for doc in nlp.pipe(texts)] == ["Berlin", "Paris"]
    assert failed == [("karat_linker", f"karat_linker: {path} failed: no idea", 1)]


def examples(spacy, nlp):
    from spacy.training import Example

    corpus = karat.load("demo")
    docs = []
    for document in corpus:
        doc = nlp.make_doc(document.text)
        spans = [
            doc.char_span(label.start, label.end, "X", kb_id="NIL" if label.entity is None else str(label.entity or ""))
            for label in document.labels
        ]
        doc.ents = spacy.util.filter_spans([span for span in spans if span is not None])
        doc.user_data["id"] = document.id
        docs.append(doc)
    return docs, [Example(nlp.make_doc(doc.text), doc) for doc in docs]


def test_evaluation_in_spacy_gives_karats_measures_and_signature(spacy, tmp_path):
    nlp = spacy.blank("en")
    scorer = {"@scorers": SCORER, "profile": "gerbil", "view": "weak"}
    nlp.add_pipe("karat_linker", config={"system": "popular", "detect": True, "scorer": scorer})
    docs, pairs = examples(spacy, nlp)
    scores = nlp.evaluate(pairs)
    gold = karat.load(docs)
    run = karat.load_run(list(nlp.pipe(doc.text for doc in docs)), corpus=gold)
    result = karat.evaluate(gold, run, profile="gerbil", extra_measures=["weak:micro.f1", "weak:micro.p"])
    assert 0 < scores["karat_f1"] == result["weak:micro.f1"] < 1
    assert scores["karat_p"] == result["weak:micro.p"]
    assert scores["karat_measures"] == {name: result[name] for name in result.table_measures}
    signature = karat.parse_signature(scores["karat_signature"])
    assert str(signature) == scores["karat_signature"]
    assert scores["karat_signature"].replace("data:examples@", "data:docs@") == str(result.signature)
    assert nlp.get_pipe("karat_linker").score([])["karat_f1"] is None
    assert nlp.get_pipe_meta("karat_linker").default_score_weights["karat_f1"] == 1.0


@pytest.mark.parametrize("has_gold_mentions", [True, False])
def test_the_scorer_notes_that_spacys_linker_was_scored_on_the_gold_mentions(spacy, has_gold_mentions):
    """The pipeline finds Paris, and not Ulm. spaCy's linker gets both if use_gold_ents is true, its default."""
    from spacy.kb import InMemoryLookupKB
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    ruler = nlp.add_pipe("entity_ruler")
    config = {"use_gold_ents": has_gold_mentions, "scorer": {"@scorers": SCORER}, "incl_context": False}
    linker = nlp.add_pipe("entity_linker", config=config)
    reference = nlp.make_doc("Paris and Ulm")
    reference.ents = [reference.char_span(*span, label="GPE", kb_id="Q1") for span in ((0, 5), (10, 13))]

    def make_kb(vocab):
        kb = InMemoryLookupKB(vocab, entity_vector_length=2)
        kb.add_entity(entity="Q1", freq=1, entity_vector=[1.0, 0.0])
        kb.add_alias(alias="Paris", entities=["Q1"], probabilities=[1.0])
        return kb

    linker.set_kb(make_kb)
    nlp.initialize(lambda: [Example(nlp.make_doc(reference.text), reference)])
    ruler.add_patterns([{"label": "GPE", "pattern": "Paris"}])
    scores = nlp.evaluate([Example(nlp.make_doc(reference.text), reference)])
    assert scores["karat_measures"]["mention:micro.r"] == (1.0 if has_gold_mentions else 1 / 2)
    assert any("use_gold_ents = false" in note for note in scores["karat_notes"]) is has_gold_mentions


def test_spacys_command_writes_karats_measures(spacy, tmp_path):
    import srsly
    from spacy.cli.evaluate import evaluate
    from spacy.tokens import DocBin

    nlp = spacy.blank("en")
    nlp.add_pipe("karat_linker", config={"system": "popular", "detect": True})
    docs, pairs = examples(spacy, nlp)
    nlp.to_disk(tmp_path / "pipeline")
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "gold.spacy")
    evaluate(tmp_path / "pipeline", tmp_path / "gold.spacy", output=tmp_path / "scores.json")
    written = srsly.read_json(tmp_path / "scores.json")
    expected = nlp.evaluate(pairs)
    assert written["karat_signature"] == expected["karat_signature"]
    assert written["karat_f1"] == pytest.approx(expected["karat_f1"], abs=1e-9)  # spaCy writes ten digits
    assert written["karat_measures"] == pytest.approx(expected["karat_measures"], abs=1e-9)


def test_what_a_pipeline_links_is_read_from_a_docbin_with_scores_and_candidates(spacy, tmp_path):
    from spacy.tokens import DocBin

    nlp = pipeline(spacy)
    docs = list(nlp.pipe([TEXT, "Washington"]))
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "run.spacy")
    run, direct = karat.load_run(tmp_path / "run.spacy"), karat.load_run(docs)
    assert list(run) == list(direct)
    assert run.skipped == {"documents without an id (numbered)": 2}
    first = next(iter(run)).predictions[0]
    assert (first.entity, first.score, len(first.candidates)) == ("Q64", docs[0].ents[0]._.karat_score, 20)
    assert (
        karat.load(tmp_path / "run.spacy", format="spacy-docbin").skipped["scores and candidates of gold labels"] == 3
    )


def test_the_help_of_karat_loads_no_spacy():
    code = (
        "import sys; from karat.cli.main import karat; karat(['--help'], standalone_mode=False); "
        "assert 'spacy' not in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(ROOT) / "src")}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)


def test_mentions_in_a_span_group_are_read_by_its_name(spacy):
    from spacy.training import Example

    nlp = spacy.blank("en")
    config = {"system": "popular", "detect": True, "spans_key": "sc"}
    nlp.add_pipe("karat_linker", config=config)
    docs = list(nlp.pipe(["Berlin is near Paris."]))
    assert [span.text for span in docs[0].spans["sc"]] == ["Berlin", "Paris"]
    (response,) = karat.load_run(docs, spans_key="sc")
    (document,) = karat.load(docs, spans_key="sc")
    assert [item.entity for item in response.predictions] == [item.entity for item in document.labels] == ["Q64", "Q90"]
    unread = karat.load_run(docs)
    assert unread.skipped["span groups that are not read (sc: load_run(docs, spans_key=…) reads it)"] == 1
    with pytest.raises(UsageError, match=r"no Doc has a span group 'sk'\. They have: sc\."):
        karat.load_run(docs, spans_key="sk")
    with pytest.raises(UsageError, match="Pass a list of them"):
        karat.load_run([{"doc": "d", "start": 0, "end": 6}], spans_key="sc")
    with pytest.raises(UsageError, match="with spaCy's DocBin"):
        karat.load("gold.spacy", spans_key="sc")
    reference = nlp.make_doc("Berlin is near Paris.")
    reference.ents = [reference.char_span(0, 6, label="GPE", kb_id="Q64")]
    scores = nlp.evaluate([Example(nlp.make_doc(reference.text), reference)])
    assert (scores["karat_p"], scores["karat_r"]) == (0.5, 1.0)
    assert any("gold labels were read from doc.ents" in note for note in scores["karat_notes"])


def test_ids_of_an_entity_ruler_are_noted_since_they_are_no_links(spacy):
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "GPE", "pattern": "Paris", "id": "Q90"}])
    run = karat.load_run([nlp("In Paris.")])
    assert run.skipped["entities with an id in ent_id_, but not in kb_id_ (unlinked)"] == 1


def test_the_scorer_takes_settings_and_checks_names_when_the_pipeline_is_made(spacy):
    nlp = spacy.blank("en")
    scorer = {"@scorers": SCORER, "view": "strong[in-kb]", "settings": {"assignment": "greedy"}}
    nlp.add_pipe("karat_linker", config={"system": "popular", "detect": True, "scorer": scorer})
    _, pairs = examples(spacy, nlp)
    scores = nlp.evaluate(pairs)
    assert scores["karat_f1"] is not None
    assert "assignment:greedy" in scores["karat_signature"]
    with pytest.raises(UnknownNameError, match="gerbill"):
        spacy.blank("en").add_pipe("karat_linker", config={"scorer": {"@scorers": SCORER, "profile": "gerbill"}})


def test_spacys_own_scores_are_those_measures_of_karat_that_the_page_names(spacy):
    """Six mentions; five are predicted: Q1 right, Q2 for Q9, Q3 for NIL, NIL for Q4, NIL right."""
    from spacy.scorer import Scorer
    from spacy.tokens import Span
    from spacy.training import Example

    nlp = spacy.blank("en")

    def doc(ids):
        made = nlp.make_doc("Ulm Bonn Graz Oslo Bern Kiel")
        made.ents = [Span(made, at, at + 1, "LOC", kb_id=id) for at, id in enumerate(ids) if id]
        return made

    gold, predicted = doc(["Q1", "Q9", "NIL", "Q4", "NIL", "Q5"]), doc(["Q1", "Q2", "Q3", "NIL", "NIL", None])
    views = ["d2kb/strong[in-kb]:micro.p", "strong[in-kb]:accuracy", "strong:accuracy", "mention:micro.r"]
    result = karat.evaluate(karat.load([gold]), karat.load_run([predicted]), extra_measures=views)
    pairs = [Example(predicted, gold)]
    own = Scorer.score_links(pairs, negative_labels=["NIL"])
    assert own["nel_micro_p"] == result["d2kb/strong[in-kb]:micro.p"] == 1 / 3  # Q1, Q2, Q3
    assert own["nel_micro_r"] == result["strong[in-kb]:accuracy"] == 1 / 3  # Q1, Q9, Q4
    plain = Scorer.score_links(pairs, negative_labels=[])
    assert result["strong:accuracy"] == 2 / 5
    assert [plain[f"nel_micro_{short}"] for short in "prf"] == [pytest.approx(2 / 5)] * 3
    spans = Scorer.score_spans(pairs, "ents", getter=lambda made, _: made.ents, labeled=False)
    assert spans["ents_r"] == result["mention:micro.r"] == 5 / 6
