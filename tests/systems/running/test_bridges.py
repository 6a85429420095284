"""Packages in environments of their own: Karat's small programs there speak JSON lines."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import pytest

from karat import load_run
from karat.model.corpus import Corpus
from karat.model.document import Candidate, Document, Label, Prediction
from karat.model.errors import KaratError, UsageError
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
        self.text, self.start, self.ln, self.coarse_type = text, start, ln, "MENTION"
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


@pytest.mark.parametrize("n_workers", [1, 2])
def test_the_time_of_a_document_does_not_include_loading_the_package(tmp_path, monkeypatch, n_workers):
    """Each worker waits a second for its package; the call itself takes far less than half a second."""
    slow = REFINED | {"refined/__init__.py": "import time; time.sleep(1.0)"}
    package(tmp_path, monkeypatch, slow)
    corpus = Corpus.from_documents([Document(f"d{number}", f"Berlin {number}.") for number in range(2)])
    named = RunnableSystem.from_text(f"refined[python={sys.executable},model=aida_model,env=PYTHONPATH]")
    ran = run_system(named, corpus, replace(WISHES, workers=n_workers))
    assert [response.error for response in ran.run] == [None, None]
    assert all(response.seconds is not None and response.seconds < 0.5 for response in ran.run)
    assert ran.clock == ("local call" if n_workers == 1 else "local call, 2 documents at once")


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


@pytest.mark.extras
def test_a_trained_linker_of_spacy_decides_by_the_context(tmp_path):
    spacy = pytest.importorskip("spacy")
    from spacy.kb import InMemoryLookupKB
    from spacy.tokens import Span
    from spacy.training import Example

    spacy.util.fix_random_seed(1)
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    ruler = nlp.add_pipe("entity_ruler")
    linker = nlp.add_pipe("entity_linker", config={"incl_prior": False})

    def knowledge(vocab):
        kb = InMemoryLookupKB(vocab, entity_vector_length=2)
        kb.set_entities(entity_list=["Q90", "Q47899"], freq_list=[1, 1], vector_list=[[1.0, 0.0], [0.0, 1.0]])
        kb.add_alias(alias="Paris", entities=["Q90", "Q47899"], probabilities=[0.5, 0.5])
        return kb

    def example(text, entity):
        doc = nlp.make_doc(text)
        gold = doc.copy()
        gold.ents = [Span(gold, 0, 1, label="NAME", kb_id=entity)]
        for token in gold:
            token.is_sent_start = token.i == 0
        return Example(doc, gold)

    verbs = {"Q90": ("lies on the river", "has a tower"), "Q47899": ("sang a song", "sold her perfume")}
    examples = [example(f"Paris {verb}.", entity) for entity, texts in verbs.items() for verb in texts]
    linker.set_kb(knowledge)
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    ruler.add_patterns([{"label": "NAME", "pattern": name} for name in ("Paris", "Atlantis")])
    nlp.to_disk(tmp_path / "pipeline")
    texts = {"a": "Paris lies on the river.", "b": "Paris sang a song.", "c": "Atlantis has a tower."}
    corpus = Corpus.from_documents([Document(id, text) for id, text in texts.items()])
    named = RunnableSystem.from_text(f"spacy[python={sys.executable}]:{tmp_path / 'pipeline'}")
    run = run_system(named, corpus, WISHES).run
    assert [response.error for response in run] == [None] * 3
    assert {response.id: response.predictions[0].entity for response in run} == {"a": "Q90", "b": "Q47899", "c": None}


@pytest.mark.parametrize("text", ["Berlin is old.", "Atlantis is old."])
def test_flair_links_given_mentions_also_those_within_a_word(tmp_path, monkeypatch, text):
    package(tmp_path, monkeypatch, dict(get_plugin("systems", "flair", System).sample.package))
    named = RunnableSystem.from_text(f"flair[python={sys.executable},env=PYTHONPATH]:linker")
    corpus = Corpus.from_documents([Document("d1", text, (Label(0, 3, "Q1"),))])
    (response,) = run_system(named, corpus, RunOptions(workers=1, attempts=1, gold_mentions=True)).run
    known = Prediction(0, 3, "Berlin", score=0.75)
    assert (response.error, response.predictions) == (
        None,
        (known if text.startswith("Berlin") else Prediction(0, 3, None, score=0.5),),
    )


MENTION_LINKER = """
from flair.data import Span
class Linker:
    label_type, entity_label_types = "link", {"ner": {"disease", "gene"}}
    def predict(self, sentence, top_k=1):
        for span in sentence.get_spans("ner"):
            assert span.get_label("ner").value == "disease"
            if span.tokens[0].text == "Berlin":
                for number in range(top_k):
                    span.add_label("link", f"MESH:{number}", 1.0 - number / 4)
class Model:
    load = staticmethod(lambda name: Linker())
"""


def test_a_linker_of_flair_that_ranks_several_gives_candidates_and_no_label_is_no_link(tmp_path, monkeypatch):
    files = dict(get_plugin("systems", "flair", System).sample.package)
    package(tmp_path, monkeypatch, files | {"flair/nn.py": MENTION_LINKER})
    named = RunnableSystem.from_text(f"flair[python={sys.executable},env=PYTHONPATH,candidates=2]:disease-linker")
    labels = (Label(0, 6, "Q64"), Label(10, 13, "Q1"))
    corpus = Corpus.from_documents([Document("d1", "Berlin is old.", labels)])
    (response,) = run_system(named, corpus, RunOptions(workers=1, attempts=1, gold_mentions=True)).run
    candidates = (Candidate("MESH:0", 1.0), Candidate("MESH:1", 0.75))
    first = Prediction(0, 6, "MESH:0", score=1.0, candidates=candidates)
    assert (response.error, response.predictions) == (None, (first, Prediction(10, 13)))


@pytest.mark.extras
def test_real_models_of_flair_detect_and_link(tmp_path):
    pytest.importorskip("flair", reason="needs the package flair")
    import torch
    from flair.data import Dictionary, Sentence
    from flair.embeddings import OneHotEmbeddings
    from flair.models import SequenceTagger, SpanClassifier

    def dictionary(*items):
        made = Dictionary(add_unk=True)
        for item in items:
            made.add_item(item)
        return made

    sentences = []
    for first, second in (("Berlin", "Paris"), ("Paris", "Berlin")) * 2:
        sentence = Sentence(f"{first} is near {second} .")
        for start, name in ((0, first), (3, second)):
            span = sentence[start : start + 1]
            span.add_label("nel", f"{name} (city)")
            span.add_label("ner", "LOC")
        sentences.append(sentence)
    words = dictionary("Berlin", "Paris", "is", "near", ".")
    torch.manual_seed(0)
    linker = SpanClassifier(OneHotEmbeddings(words, embedding_length=8), dictionary("Berlin (city)", "Paris (city)"))
    tags = dictionary("LOC")
    tags.span_labels = True
    tagger = SequenceTagger(OneHotEmbeddings(words, embedding_length=8), tags, "ner", use_rnn=False, use_crf=False)
    for model, name in ((linker, "linker.pt"), (tagger, "tagger.pt")):
        optimizer = torch.optim.Adam(model.parameters(), 0.1)
        for _ in range(60):
            optimizer.zero_grad()
            for sentence in sentences:
                sentence.clear_embeddings()
            model.forward_loss(sentences)[0].backward()
            optimizer.step()
        model.save(tmp_path / name)
    environment = f"python={sys.executable},env=PYTHONPATH,tagger={tmp_path / 'tagger.pt'}"
    named = RunnableSystem.from_text(f"flair[{environment}]:{tmp_path / 'linker.pt'}")
    corpus = Corpus.from_documents([Document("d1", "Paris is near Berlin .", (Label(0, 5, "Paris (city)"),))])
    for given, expected in ((True, ["Paris (city)"]), (False, ["Paris (city)", "Berlin (city)"])):
        (response,) = run_system(named, corpus, RunOptions(workers=1, attempts=1, gold_mentions=given)).run
        assert response.error is None
        assert [prediction.entity for prediction in response.predictions] == expected
        assert all(prediction.score > 0.5 for prediction in response.predictions)
    read = Sentence("Paris is near Berlin .")
    tagger.predict(read)
    for span in read.get_spans("ner"):
        span.add_label("nel", "")
    linker.predict(read)
    (tmp_path / "run.jsonl").write_text(json.dumps(read.to_dict("nel")), encoding="utf-8")
    (again,) = load_run(tmp_path / "run.jsonl", corpus=corpus)
    assert [(p.start, p.end, p.entity) for p in again.predictions] == [
        (p.start, p.end, p.entity) for p in response.predictions
    ]
    assert again.id == "d1"


SPACY = {
    "spacy/__init__.py": """
from types import SimpleNamespace
from spacy import util
COMPONENTS = []
def load(name):
    if "popular_linker" not in COMPONENTS:
        raise ValueError(f"[E002] Can't find factory for 'popular_linker' for {name}. {'Known: tagger. ' * 50}")
    return lambda text: SimpleNamespace(ents=[])
""",
    "spacy/util.py": """
import runpy
def import_file(name, path):
    runpy.run_path(path)
""",
}


def test_a_pipeline_that_cannot_be_loaded_ends_the_run_and_names_the_component(tmp_path, monkeypatch):
    package(tmp_path, monkeypatch, SPACY)
    named = RunnableSystem.from_text(f"spacy[python={sys.executable},env=PYTHONPATH]:mine")
    with pytest.raises(KaratError, match=r"factory for 'popular_linker' for mine.*karat systems show spacy"):
        run_system(named, CORPUS, WISHES)


def test_a_file_with_own_components_is_imported_before_the_pipeline(tmp_path, monkeypatch):
    package(tmp_path, monkeypatch, SPACY)
    (tmp_path / "parts.py").write_text("import spacy\nspacy.COMPONENTS.append('popular_linker')\n", encoding="utf-8")
    options = f"python={sys.executable},env=PYTHONPATH,code={tmp_path / 'parts.py'}"
    named = RunnableSystem.from_text(f"spacy[{options}]:mine")
    (response,) = run_system(named, CORPUS, WISHES).run
    assert (response.error, response.predictions) == (None, ())


def test_systems_that_were_not_tried_say_what_to_hand_in():
    untried = [name for name in list_plugins("systems") if get_plugin("systems", name, System).untested_reason]
    assert len(untried) >= 15
    with pytest.raises(UsageError, match="predictions:FILE"):
        RunnableSystem.from_text("luke")
