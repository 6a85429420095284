"""Every registered facet in every command that groups by one: groups or a message, never an internal error."""

import pytest

from karat import Corpus, Document, Label
from karat.data.describe import describe
from karat.kb.in_memory_kb import InMemoryKB
from karat.model.registry import list_plugins

COMMANDS = {
    "stats": ("data", "stats", "demo"),
    "score": ("score", "demo", "demo"),
    "split": ("data", "split", "demo", "--parts", "train=1/2,test=1/2"),
}
KBS = [(), ("--kb", "starter")]


@pytest.mark.parametrize("kb", KBS, ids=["", "kb"])
@pytest.mark.parametrize("name", list_plugins("facets"))
@pytest.mark.parametrize("command", COMMANDS)
def test_a_facet_has_groups_or_a_message(command, name, kb, karat_cli, tmp_path):
    out = ("--out", tmp_path / "parts") if command == "split" else ()
    ran = karat_cli(*COMMANDS[command], *out, *kb, "--by", name)
    assert ran.code == 0 or ran.err.startswith("karat: "), ran.err
    assert "Traceback" not in ran.err


def test_statistics_count_types_with_superclasses_and_labels_by_document():
    """A city is a place too; values are no entities."""
    labels = (Label(0, 3, "Q3012"), Label(8, 11, "DATETIME", types=("DATETIME",), kind="datetime"))
    corpus = Corpus.from_documents([Document("a", "Ulm 1st May.", labels), Document("b", "Ulm.", labels[:1])])
    kb = InMemoryKB.from_tables(types={"Q3012": ("Q515",)}, subclass_of=[("Q515", "Q2221906")])
    facets = describe(corpus, kb, by=("entity-type", "doc")).facets
    assert facets == {"entity-type": {"Q2221906": 2, "Q515": 2, "none": 1}, "doc": {"a": 2, "b": 1}}
    assert describe(corpus, by=("entity-type",)).facets == {"entity-type": {"none": 3}}
