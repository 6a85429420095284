"""The committed weights of `light` come from the recorded data."""

import sys

import pytest

import karat
from karat.data.id_resolution import resolve_ids
from karat.kb.catalogue import open_starter
from karat.systems.linking.light.model import WEIGHTS_FILE, load_weights
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))


@pytest.mark.parametrize("data", load_weights().data, ids=lambda data: data.name)
def test_the_data_has_the_recorded_digest(data, shared):
    corpus = resolve_ids(karat.load(shared / data.path), open_starter())[0]
    assert corpus.digest == data.digest
    assert len(corpus) == data.documents + data.excluded


@pytest.mark.extras
def test_the_script_computes_the_committed_weights_again(shared):
    import train_light

    assert train_light.encode(train_light.train(shared.parent)) == WEIGHTS_FILE.read_bytes()
