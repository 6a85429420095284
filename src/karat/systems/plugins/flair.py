"""Flair's entity linkers, in a separate Python environment."""

from __future__ import annotations

from dataclasses import dataclass

from karat.model.document import Prediction
from karat.model.spec.external_access import ExternalAccess
from karat.model.spec.system import System, SystemSample, option
from karat.systems.adapters.program import bridge_command, fingerprint_files, make_jsonl_linker


@dataclass(frozen=True, slots=True)
class _FlairOptions:
    """The options of `flair`."""

    argument: str = option("", "Linker: name or file of a SpanClassifier or EntityMentionLinker.")
    tagger: str = option("ner", "Tagger that detects mentions: name or file of a Flair model.")
    python: str = option("python3", "Python of the environment with flair.")
    candidates: int = option(1, "Maximum number of candidates per mention, if the linker ranks several.")
    env: str = option("", "Further environment variables to pass to the program, joined by +.")
    timeout: float = option(
        1800.0,
        "Timeout per document in seconds; the first one includes downloading and loading the models.",
        in_request=False,
    )


def _command(options: _FlairOptions) -> tuple[str, ...]:
    """Return the words of the command that runs the bridge to Flair."""
    return bridge_command("flair", options.python, options.argument, options.tagger, str(options.candidates))


SYSTEM = System(
    title="Flair's entity linkers",
    description="A span classifier over the entities of its training data, or a linker of biomedical mentions. A "
    "tagger detects the mentions if there are none.",
    start=lambda options, gold_mentions: make_jsonl_linker(_command(options), options.env, options.timeout),
    options=_FlairOptions,
    hardest_task="a2kb",
    gold_mentions="optional",
    argument="MODEL",
    id_space="its own",
    fingerprint=lambda options: fingerprint_files(_command(options)[1:]),
    requirements=("an environment with flair", "models of Flair"),
    citation="Akbik et al. 2019: FLAIR: An Easy-to-Use Framework for State-of-the-Art NLP. NAACL.",
    external_access=lambda options: ExternalAccess(command=_command(options)),
    sample=SystemSample(
        text="Berlin is near Atlantis.",
        options={"argument": "linker", "python": "{python}", "env": "PYTHONPATH"},
        package={
            "flair/__init__.py": "",
            "flair/data.py": """
from types import SimpleNamespace
class Span:
    def __new__(cls, tokens):
        spans = tokens[0].sentence.spans
        return spans.setdefault(tuple(map(id, tokens)), super().__new__(cls))
    def __init__(self, tokens):
        self.tokens, self.start_position, self.end_position = (
            tokens, tokens[0].start_position, tokens[-1].end_position)
        self.labels = getattr(self, "labels", {})
    def add_label(self, layer, value, score=1.0):
        self.labels.setdefault(layer, []).append(SimpleNamespace(value=value, score=score))
    def get_labels(self, layer): return self.labels.get(layer, [])
    def get_label(self, layer): return self.labels[layer][0]
class Sentence:
    def __init__(self, text):
        self.text, self.spans, self.tokens, start = text, {}, [], 0
        for word in text.rstrip(".").split(" "):
            self.tokens.append(SimpleNamespace(
                sentence=self, text=word, start_position=start, end_position=start + len(word)))
            start += len(word) + 1
    def get_spans(self, layer): return [span for span in self.spans.values() if span.get_labels(layer)]
""",
            "flair/nn.py": """
from flair.data import Span
class Tagger:
    label_type = "ner"
    def predict(self, sentence):
        for token in sentence.tokens:
            if token.text[0].isupper():
                Span([token]).add_label("ner", "LOC")
class Linker:
    label_type = "nel"
    def predict(self, sentence):
        for span in sentence.get_spans("nel"):
            known = span.tokens[0].text == "Berlin"
            span.labels["nel"] = []
            span.add_label("nel", "Berlin" if known else "<unk>", 0.75 if known else 0.5)
class Model:
    @staticmethod
    def load(name):
        print("loads", name)
        return {"ner": Tagger, "linker": Linker}[name]()
""",
        },
        predictions=(
            Prediction(0, 6, "Berlin", types=("LOC",), score=0.75),
            Prediction(15, 23, None, types=("LOC",), score=0.5),
        ),
    ),
)
