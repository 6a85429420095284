"""Packages in environments of their own: Karat's small programs there speak JSON lines."""

from __future__ import annotations

import sys

import pytest

from karat.model.corpus import Corpus
from karat.model.document import Candidate, Document, Label, Prediction
from karat.model.errors import UsageError
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.system import System
from karat.systems.running.run import run_system
from karat.systems.running.system import RunnableSystem
from karat.systems.running.system_runner import RunOptions

WISHES = RunOptions(workers=1, attempts=1)
CORPUS = Corpus.from_documents([Document("d1", "Berlin is old.", (Label(0, 6, "Q64"),))])


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))


def package(tmp_path, monkeypatch, files: dict[str, str]) -> None:
    """Packages that the other environment has, played by a few lines."""
    for name, text in files.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))


REFINED = {
    "refined/__init__.py": "",
    "refined/data_types/__init__.py": "",
    "refined/inference/__init__.py": "",
    "refined/data_types/base_types.py": """
class Entity:
    wikidata_entity_id = "Q64"
class Span:
    def __init__(self, text, start, ln):
        self.text, self.start, self.ln = text, start, ln
        self.predicted_entity, self.entity_linking_model_confidence_score = Entity(), 0.75
""",
    "refined/inference/processor.py": """
from refined.data_types.base_types import Span
class Refined:
    @classmethod
    def from_pretrained(cls, model_name, entity_set):
        assert (model_name, entity_set) == ("aida_model", "wikipedia")
        return cls()
    def process_text(self, text, spans=None):
        return spans or [Span(text[:6], 0, 6)]
""",
}

LINKINGS = {
    "entity_linkings.py": """
from dataclasses import dataclass
@dataclass
class Output:
    query: str
    start: int
    end: int
    id: str
class Retriever:
    @dataclass
    class Config:
        model_name_or_path: str
    def __init__(self, dictionary, config=None, index_path=None):
        assert (dictionary, config.model_name_or_path, index_path) == ("own.jsonl", "counts.json", None)
    def predict(self, sentence, spans=None, top_k=5):
        return [[Output(sentence[b:e], b, e, id) for id in ("Q64", "-1", "Q821244")[:top_k]] for b, e in spans]
class Reranker:
    def __init__(self, retriever, config=None):
        self.retriever = retriever
    def predict(self, sentence, spans, num_candidates=30):
        return [found[1] for found in self.retriever.predict(sentence, spans, num_candidates)]
def load_dictionary(name): return name
def get_retrievers(name): return {"prior": Retriever}[name]
def get_rerankers(name): return {"fevry": Reranker}[name]
""",
}


@pytest.mark.parametrize("given", [False, True])
def test_refined_is_asked_in_its_own_environment(tmp_path, monkeypatch, given):
    package(tmp_path, monkeypatch, REFINED)
    named = RunnableSystem.from_text(f"refined[python={sys.executable},model=aida_model,env=PYTHONPATH]")
    ran = run_system(named, CORPUS, RunOptions(workers=1, attempts=1, gold_mentions=given))
    (response,) = ran.run
    assert response.error is None
    assert response.predictions == (Prediction(0, 6, "Q64", score=0.75),)
    assert "AIDA-CoNLL" in ran.run.metadata["training: data"]


@pytest.mark.parametrize("reranker", ["", "fevry"])
def test_entity_linkings_gets_the_mentions_in_its_own_environment(tmp_path, monkeypatch, reranker):
    package(tmp_path, monkeypatch, LINKINGS)
    options = "dictionary=own.jsonl,retriever=prior,retriever-model=counts.json,env=PYTHONPATH"
    named = RunnableSystem.from_text(f"entity-linkings[python={sys.executable},{options},reranker={reranker}]")
    (response,) = run_system(named, CORPUS, WISHES).run
    assert response.error is None
    first = Prediction(0, 6, "Q64", candidates=(Candidate("Q64"), Candidate("Q821244")))
    assert response.predictions == ((Prediction(0, 6, None),) if reranker else (first,))


@pytest.mark.extras
def test_a_real_pipeline_of_spacy_links_by_its_own_knowledge_base(tmp_path):
    spacy = pytest.importorskip("spacy")
    from spacy.kb import InMemoryLookupKB
    from spacy.tokens import Doc, Span
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    ruler = nlp.add_pipe("entity_ruler")
    linker = nlp.add_pipe("entity_linker", config={"incl_context": False})

    def knowledge(vocab):
        kb = InMemoryLookupKB(vocab, entity_vector_length=2)
        kb.add_entity(entity="Q64", freq=1, entity_vector=[1.0, 0.0])
        kb.add_alias(alias="Berlin", entities=["Q64"], probabilities=[1.0])
        return kb

    linker.set_kb(knowledge)
    doc = nlp.make_doc("Berlin is old.")
    gold = Doc(nlp.vocab, words=[token.text for token in doc])
    gold.ents = [Span(gold, 0, 1, label="GPE", kb_id="Q64")]
    nlp.initialize(lambda: [Example(doc, gold)])
    ruler.add_patterns([{"label": "GPE", "pattern": "Berlin"}])
    nlp.to_disk(tmp_path / "pipeline")
    (response,) = run_system(
        RunnableSystem.from_text(f"spacy[python={sys.executable}]:{tmp_path / 'pipeline'}"), CORPUS, WISHES
    ).run
    assert response.error is None
    assert response.predictions == (Prediction(0, 6, "Q64", types=("GPE",)),)


def test_what_is_missing_there_is_the_error_of_the_document():
    (response,) = run_system(RunnableSystem.from_text(f"refined[python={sys.executable}]"), CORPUS, WISHES).run
    assert "No module named 'refined'" in (response.error or "")


def test_systems_that_were_not_tried_say_what_to_hand_in():
    untried = [name for name in list_plugins("systems") if get_plugin("systems", name, System).untested_reason]
    assert len(untried) >= 15
    with pytest.raises(UsageError, match="predictions:FILE"):
        RunnableSystem.from_text("luke")
