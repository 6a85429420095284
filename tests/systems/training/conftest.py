"""A tiny world whose links follow from the words around them, and a tiny encoder."""

from __future__ import annotations

import json

import pytest

from karat import Corpus, Document, Label, Run
from karat.model.document import Candidate, Prediction, Response

WORDS = ("sings", "plays", "orbits", "shines", "the", "a", "we", "saw", "mercury", "jackson", ".", "band", "planet")
SENSES = {
    ("Mercury", "sings"): "Freddie_Mercury",
    ("Mercury", "orbits"): "Mercury_(planet)",
    ("Jackson", "sings"): "Michael_Jackson",
    ("Jackson", "plays"): "Bo_Jackson",
}


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory):
    """A BERT of two layers in Hugging Face's layout, with weights of chance."""
    import torch
    from safetensors.torch import save_file

    folder = tmp_path_factory.mktemp("encoder")
    letters = [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz()"] + list("abcdefghijklmnopqrstuvwxyz()")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS, *letters]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    said = {"vocab_size": len(vocabulary), "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    said |= {"intermediate_size": 64, "max_position_embeddings": 64, "type_vocab_size": 2, "model_type": "bert"}
    (folder / "config.json").write_text(json.dumps(said), encoding="utf-8")
    torch.manual_seed(3)
    shapes = {"embeddings.word_embeddings": (len(vocabulary), 32), "embeddings.position_embeddings": (64, 32)}
    shapes |= {"embeddings.token_type_embeddings": (2, 32)}
    weights = {f"bert.{name}.weight": torch.randn(shape) * 0.3 for name, shape in shapes.items()}
    for name in (
        "embeddings",
        *(f"encoder.layer.{n}.{part}" for n in (0, 1) for part in ("attention.output", "output")),
    ):
        weights |= {f"bert.{name}.LayerNorm.weight": torch.ones(32), f"bert.{name}.LayerNorm.bias": torch.zeros(32)}
    for layer in (0, 1):
        dense = {f"attention.self.{name}": (32, 32) for name in ("query", "key", "value")}
        dense |= {"attention.output.dense": (32, 32), "intermediate.dense": (64, 32), "output.dense": (32, 64)}
        for name, shape in dense.items():
            weights[f"bert.encoder.layer.{layer}.{name}.weight"] = torch.randn(shape) * 0.15
            weights[f"bert.encoder.layer.{layer}.{name}.bias"] = torch.zeros(shape[0])
    save_file(weights, folder / "model.safetensors")
    return folder


@pytest.fixture(scope="session")
def world() -> Corpus:
    """Sentences in which one word more says who is meant, and texts with two of them."""
    documents = []
    for number, (first, second) in enumerate((a, b) for a in SENSES for b in SENSES):
        text, labels = "", []
        for name, verb in (first, second):
            start = len(text) + len("We saw ")
            text += f"We saw {name} {verb} . "
            labels.append(Label(start, start + len(name), SENSES[name, verb]))
        documents.append(Document(f"d{number}", text, tuple(labels)))
    return Corpus.from_documents(documents, name="world")


@pytest.fixture(scope="session")
def lists(world) -> Run:
    """The candidates of each mention: all that its word may mean."""

    def response(document):
        predictions = []
        for label in document.labels:
            word = document.text[label.start : label.end]
            found = tuple(Candidate(entity) for (name, _), entity in SENSES.items() if name == word)
            predictions.append(Prediction(label.start, label.end, candidates=found))
        return Response(document.id, tuple(predictions))

    return Run.from_responses((response(document) for document in world), name="lists")
