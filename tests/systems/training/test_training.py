"""The training loop on the CPU: a tiny model learns its texts by heart, stops, goes on, and predictions as a system."""

from __future__ import annotations

import json

import numpy as np
import pytest
from msgspec.structs import replace

import karat
from karat import Candidate, Corpus, Document, Label, Prediction, Response, Run, UsageError
from karat.model.errors import InputError, KaratError
from karat.systems.api import link
from karat.systems.linking.model_system import ModelOptions, list_candidate_files, model_fingerprint
from karat.systems.training.options import PRESETS, TrainingOptions, get_preset, read_entity_list

pytestmark = pytest.mark.extras

QUICK = TrainingOptions(
    epochs=20,
    batch_size=4,
    learning_rate=3e-3,
    head_learning_rate=2e-2,
    max_length=32,
    dimension=16,
    dropout=0.0,
    bf16=False,
    warm_up=0.05,
)


def accuracy(corpus, run):
    return karat.evaluate(corpus, run, settings={"task": "d2kb"}, measures=["strong:micro.r"])["strong:micro.r"]


def trained(kind, world, encoder, folder, plan=QUICK, **more):
    from karat.systems.training.train import train_linker

    return train_linker(kind, world, folder, plan, encoder=str(encoder), device="cpu", **more)


@pytest.mark.parametrize(
    ("kind", "plan"),
    [
        ("fevry", QUICK),
        ("fevry", QUICK.replace(softmax="sampled", negatives=2)),
        ("fevry", QUICK.replace(softmax="listed")),
        ("luke-head", QUICK.replace(mask_prob=0.8, epochs=60, patience=25)),
        ("bi-encoder", QUICK.replace(softmax="sampled", negatives=4, hard_negatives=1, head_learning_rate=3e-3)),
    ],
)
def test_a_tiny_model_learns_its_texts_by_heart_and_is_a_system(kind, plan, world, lists, tiny_encoder, tmp_path):
    known = [lists] if plan.softmax == "listed" or plan.hard_negatives else []
    found = trained(kind, world, tiny_encoder, tmp_path / "m", plan, dev=world, candidate_runs=known)
    assert found.curve.epochs[-1].loss < found.curve.epochs[0].loss
    assert found.curve.accuracy == 1.0
    run = link(f"{kind}:{tmp_path / 'm'}", world, gold_mentions=True)
    if not known:  # otherwise it was tried on candidates, and here chooses from all
        assert accuracy(world, run) == 1.0
    assert run.metadata["training: data"] == "world"
    assert (
        json.loads((tmp_path / "m" / "curve.json").read_text(encoding="utf-8"))["curve"]["best_epoch"]
        == found.curve.best_epoch
    )


def test_a_training_that_is_stopped_goes_on_as_if_it_had_not_been(world, tiny_encoder, tmp_path):
    import torch

    from karat.systems.linking.neural.encoder import load_encoder
    from karat.systems.linking.neural.tokens import WordPieces
    from karat.systems.linking.neural.trained_linker import TrainedLinker
    from karat.systems.training.preparation import prepare_training_data
    from karat.systems.training.trainer import fit

    plan = QUICK.replace(epochs=4, dropout=0.1)
    pieces = WordPieces.load(tiny_encoder)
    bed = prepare_training_data(world, None, (), pieces, plan)

    def begin():
        torch.manual_seed(plan.seed)
        encoder = load_encoder(tiny_encoder, plan.dropout)
        return TrainedLinker.create("fevry", encoder, pieces, bed.entities, bed.names, plan.to_dict(), {}).model

    whole, first, second = begin(), begin(), begin()
    fit(whole, bed.train, bed.train, plan)
    fit(first, bed.train, bed.train, plan, folder=tmp_path, should_stop=lambda: True)
    curve = fit(second, bed.train, bed.train, plan, folder=tmp_path, resume=True)
    assert [epoch.number for epoch in curve.epochs] == [1, 2, 3, 4]
    for one, other in zip(whole.state_dict().values(), second.state_dict().values(), strict=True):
        assert torch.equal(one, other)
    with pytest.raises(UsageError, match=r"learning_rate 0\.003, not 1\.0\. Use the same options"):
        fit(second, bed.train, bed.train, plan.replace(learning_rate=1.0), folder=tmp_path, resume=True)
    (tmp_path / "checkpoint.pt").write_bytes(b"torn")
    with pytest.raises(InputError, match="a checkpoint"):
        fit(second, bed.train, bed.train, plan, folder=tmp_path, resume=True)


def test_a_training_is_not_resumed_with_other_data(world, lists, tiny_encoder, tmp_path, monkeypatch):
    from karat.systems.linking.neural.trained_linker import TrainedLinker

    plan = QUICK.replace(epochs=2)
    part = Corpus.from_documents(list(world)[:12], name="part")
    with monkeypatch.context() as patch:
        patch.setattr(TrainedLinker, "save", lambda linker, folder: (_ for _ in ()).throw(UsageError("stopped")))
        with pytest.raises(UsageError, match="stopped"):
            trained("fevry", world, tiny_encoder, tmp_path, plan, dev=world)
    for data, changes, difference in (
        (part, {"dev": world}, "other training data"),
        (world, {"dev": part}, "other development data"),
        (world, {}, "other development data"),
        (world, {"dev": world, "candidate_runs": [lists]}, "other candidates"),
        (world, {"dev": world, "vocabulary": ["Freddie_Mercury"]}, "other entities"),
    ):
        with pytest.raises(UsageError, match=difference):
            trained("fevry", data, tiny_encoder, tmp_path, plan, resume=True, **changes)
    assert len(trained("fevry", world, tiny_encoder, tmp_path, plan, dev=world, resume=True).curve.epochs) == 2


def test_each_advice_about_a_folder_can_be_followed(world, tiny_encoder, tmp_path):
    """A training that ends before its first checkpoint is complete starts again; another folder stays untouched."""
    plan = QUICK.replace(epochs=1)
    for folder in (tmp_path / "new", tmp_path / "part"):
        with pytest.raises(UsageError, match="no epoch was completed"):
            trained("fevry", world, tiny_encoder, folder, plan, resume=True)
        (tmp_path / "part").mkdir(exist_ok=True)
        (tmp_path / "part" / "checkpoint.part").write_bytes(b"torn")
    trained("fevry", world, tiny_encoder, tmp_path / "part", plan)
    assert not (tmp_path / "part" / "checkpoint.part").exists()
    (tmp_path / "part" / "linker.json").unlink()
    for resume in (False, True):
        with pytest.raises(UsageError, match="is not empty and has no checkpoint"):
            trained("fevry", world, tiny_encoder, tmp_path / "part", plan, resume=resume)
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "checkpoint.pt").write_bytes(b"torn")
    with pytest.raises(UsageError, match="Resume it with --resume, or name a new folder"):
        trained("fevry", world, tiny_encoder, tmp_path / "half", plan)


def test_a_vocabulary_may_be_that_of_a_sampled_benchmark(tmp_path):
    """The page id, which may be missing, is no part of the entity; ids of a plain list stay as written."""
    (tmp_path / "vocabulary.tsv").write_text("\tNirvana\n12\tBob Marley\n", encoding="utf-8")
    (tmp_path / "plain.txt").write_text("Q1\n\nFreddie_Mercury\n", encoding="utf-8")
    assert read_entity_list(str(tmp_path / "vocabulary.tsv")) == ["Nirvana", "Bob Marley"]
    assert read_entity_list(str(tmp_path / "plain.txt")) == ["Q1", "Freddie_Mercury"]
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    with pytest.raises(UsageError, match="contains no entities"):
        read_entity_list(str(tmp_path / "empty.txt"))


def test_a_folder_of_candidates_is_each_of_its_files(lists, tmp_path):
    for name in ("a", "b"):
        karat.save(lists, str(tmp_path / f"{name}.jsonl"))
    assert list_candidate_files(str(tmp_path)) == [f"{tmp_path}/a.jsonl", f"{tmp_path}/b.jsonl"]
    assert list_candidate_files(f"{tmp_path}/a.jsonl") == [f"{tmp_path}/a.jsonl"]
    assert model_fingerprint(ModelOptions(candidate_file=str(tmp_path)), "fevry") == {
        "candidates": f"{lists.digest} {lists.digest}"
    }


def test_candidates_of_other_documents_and_shared_texts_are_told(world, lists, tiny_encoder, tmp_path):
    other = Run.from_responses((replace(response, id=f"x{response.id}") for response in lists), name="other")
    for plan in (QUICK, QUICK.replace(softmax="listed")):
        with pytest.raises(UsageError, match="no mention of world has candidates"):
            trained("fevry", world, tiny_encoder, tmp_path / "m", plan, candidate_runs=[other])
    dev = Corpus.from_documents(
        [*list(world)[:3], Document("new", "We saw Mercury .", (Label(7, 14, "Q1"),))], name="dev"
    )
    counts = trained("fevry", world, tiny_encoder, tmp_path / "m", QUICK.replace(epochs=1), dev=dev).counts
    assert counts["development documents with a text of the training data, so the accuracy on dev is too high"] == 3
    assert (counts["linked mentions (training)"], counts["linked mentions (development)"]) == (32, 7)
    assert counts["mentions whose entity is not in the vocabulary (development)"] == 1


def test_further_alternatives_and_parts_of_mentions_are_counted(tiny_encoder, tmp_path):
    """They were dropped in silence."""
    labels = (
        Label(7, 14, "Mercury_(planet)", mention_id="m"),
        Label(7, 14, "Bo_Jackson", mention_id="m"),
        Label(7, 10, "Q1", parent="m"),
    )
    corpus = Corpus.from_documents([Document("d", "We saw Mercury .", labels)], name="alternatives")
    counts = trained("fevry", corpus, tiny_encoder, tmp_path / "m", QUICK.replace(epochs=1)).counts
    assert counts["linked mentions (training)"] == 1
    assert counts["links that are further alternatives or parts of mentions, not used (training)"] == 2


@pytest.mark.parametrize("device", ["gpu0", "cuda:99"])
def test_a_device_that_is_missing_is_one_clear_error(world, tiny_encoder, tmp_path, device):
    from karat.systems.training.train import train_linker

    with pytest.raises(UsageError, match=f"'{device}' cannot be used"):
        train_linker("fevry", world, tmp_path / "m", QUICK, encoder=str(tiny_encoder), device=device)


def test_the_accuracy_on_dev_among_candidates_is_that_of_the_run(world, lists, tiny_encoder, tmp_path, monkeypatch):
    from karat.render.systems.training import render_page

    monkeypatch.chdir(tmp_path)
    karat.save(lists, "lists.jsonl")
    plan = QUICK.replace(epochs=2, softmax="listed")
    result = trained("fevry", world, tiny_encoder, "m", plan, dev=world, candidate_runs=[lists])
    run = link("fevry[candidate-file=lists.jsonl]:m", world, gold_mentions=True)
    assert accuracy(world, run) == result.curve.accuracy
    assert run.metadata["candidates"] == lists.digest
    assert "karat run 'fevry[candidate-file=FILE]:m' --on DEV" in render_page(result)
    assert "among given candidates" in (tmp_path / "m" / "README.md").read_text(encoding="utf-8")
    for system in ("fevry[kb=starter]:m", "fevry[candidate-file=other.jsonl]:m"):
        other = Candidate("Q1")
        responses = [Response("d0", (Prediction(7, 14, candidates=(other,)),))]
        karat.save(Run.from_responses(responses), "other.jsonl")
        with pytest.raises(UsageError, match="m knows no candidate of"):
            link(system, world, gold_mentions=True)


def test_files_of_two_trainings_are_refused(world, tiny_encoder, tmp_path):
    from karat.systems.linking.neural.trained_linker import TrainedLinker

    trained("fevry", world, tiny_encoder, tmp_path, QUICK.replace(epochs=1))
    entities = json.loads((tmp_path / "entities.json").read_text(encoding="utf-8"))
    entities = {name: values[::-1] for name, values in entities.items()}
    (tmp_path / "entities.json").write_text(json.dumps(entities), encoding="utf-8")
    with pytest.raises(InputError, match="other weights or entities"):
        TrainedLinker.load(tmp_path)


def test_it_stops_when_nothing_gets_better_and_keeps_the_best(world, tiny_encoder, tmp_path):
    found = trained("fevry", world, tiny_encoder, tmp_path / "m", QUICK.replace(patience=2), dev=world)
    assert found.curve.stopped_early
    assert len(found.curve.epochs) == found.curve.best_epoch + 2
    assert found.curve.accuracy == max(epoch.accuracy for epoch in found.curve.epochs)


def test_the_same_seed_gives_the_same_predictions(world, tiny_encoder, tmp_path):
    plan = QUICK.replace(epochs=3)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        trained("fevry", world, tiny_encoder, tmp_path / name, plan.replace(seed=seed))
    digests = {
        name: json.loads((tmp_path / name / "linker.json").read_text(encoding="utf-8"))["digest"] for name in "abc"
    }
    assert digests["a"] == digests["b"] != digests["c"]
    assert list(link(f"fevry:{tmp_path / 'a'}", world, gold_mentions=True)) == list(
        link(f"fevry:{tmp_path / 'b'}", world, gold_mentions=True)
    )


def test_candidates_bind_and_a_mention_without_any_is_free(world, lists, tiny_encoder, tmp_path):
    from karat.systems.linking.neural.inference import predict_entities
    from karat.systems.linking.neural.ranking import load_linker
    from karat.systems.training.preparation import prepare_training_data

    trained("fevry", world, tiny_encoder, tmp_path / "m", QUICK.replace(epochs=1))
    linker = load_linker(str(tmp_path / "m"))
    bed = prepare_training_data(world, None, [lists], linker.pieces, QUICK, linker.entities)
    free = predict_entities(linker.model, bed.train, use_candidates=False, top_k=4)
    bound = predict_entities(linker.model, bed.train, use_candidates=True, top_k=4)
    for place, codes in enumerate(bound.codes):
        low = 0 if place == 0 else bed.train.candidate_ends[place - 1]
        listed = set(bed.train.candidates[low : bed.train.candidate_ends[place]].tolist())
        assert set(codes[codes >= 0].tolist()) == listed
        best = next(code for code in free.codes[place] if code in listed)
        assert bound.best_codes[place] == best
    assert free.probabilities.sum(1) == pytest.approx(1, abs=1e-5)
    bare = prepare_training_data(world, None, (), linker.pieces, QUICK, linker.entities)
    assert (predict_entities(linker.model, bare.train, use_candidates=True).best_codes == free.best_codes).all()


def test_lukes_order_decides_one_mention_of_each_window_at_a_time(world, tiny_encoder):
    import torch

    from karat.systems.linking.neural.encoder import load_encoder
    from karat.systems.linking.neural.inference import predict_entities
    from karat.systems.linking.neural.models import LukeModel
    from karat.systems.linking.neural.tokens import WordPieces
    from karat.systems.training.preparation import prepare_training_data

    torch.manual_seed(5)
    model = LukeModel(load_encoder(tiny_encoder), 4, 8)
    torch.nn.init.normal_(model.table.weight)
    bed = prepare_training_data(world, None, (), WordPieces.load(tiny_encoder), QUICK)
    seen = []
    original = model.encode_mentions

    def mentions(batch, known=None):
        seen.append(0 if known is None else int((known != -1).sum()))
        return original(batch, known)

    model.encode_mentions = mentions
    ordered = predict_entities(
        model, bed.train, use_candidates=False, most_confident_first=True, batch_size=len(bed.train)
    )
    assert seen == [0, len(bed.train)]  # two mentions in each window: the surest, then the other, which sees it
    model.encode_mentions = original
    at_once = predict_entities(model, bed.train, use_candidates=False)
    surest = [
        max(np.flatnonzero(bed.train.window == window), key=lambda place: at_once.probabilities[place, 0])
        for window in range(len(bed.train))
    ]
    assert (ordered.best_codes[surest] == at_once.best_codes[surest]).all()
    assert not np.allclose(ordered.probabilities, at_once.probabilities)


def test_our_bert_is_that_of_hugging_face(tiny_encoder):
    transformers = pytest.importorskip("transformers")
    import torch

    from karat.systems.linking.neural.encoder import load_encoder

    theirs = transformers.AutoModel.from_pretrained(str(tiny_encoder)).eval()
    ours = load_encoder(tiny_encoder).eval()
    tokens = torch.randint(4, 30, (3, 20))
    seen = torch.arange(20) < torch.tensor([[20], [7], [13]])
    with torch.no_grad():
        found = theirs(input_ids=tokens, attention_mask=seen.long()).last_hidden_state
        assert torch.allclose(ours(tokens, seen)[seen], found[seen], atol=1e-5)


def test_windows_cut_no_mention_and_lose_none(tiny_encoder):
    from karat.systems.linking.neural.snippets import split_windows
    from karat.systems.linking.neural.tokens import MarkedText, WordPieces

    assert split_windows([(3, 5)], 10, 5) == [(0, 3), (3, 8), (8, 10)]
    assert split_windows([(0, 8)], 10, 4) == [(0, 4), (4, 8), (8, 10)]  # longer than a window: it is cut
    text = "we saw mercury . " * 30
    spans = [(start, start + 7) for start in range(7, len(text), 17)]
    found = WordPieces.load(tiny_encoder).to_snippets([MarkedText(text, spans)], 13)
    assert found.n_mentions == 30
    words = np.concatenate([found.tokens[found.ends[w] - size :][f : last + 1] for w, size, f, last in _places(found)])
    assert len(set(words.tolist())) == 1


def _places(found):
    sizes = np.diff(found.ends, prepend=0)
    return zip(found.window, sizes[found.window], found.first_token, found.last_token, strict=True)


def test_a_sampled_softmax_is_the_full_one_in_the_mean(tiny_encoder):
    import torch

    from karat.systems.linking.neural.encoder import load_encoder
    from karat.systems.linking.neural.models import FevryModel
    from karat.systems.training.trainer import full_softmax_loss, sampled_softmax_loss

    torch.manual_seed(1)
    model = FevryModel(load_encoder(tiny_encoder), 400, 8)
    torch.nn.init.normal_(model.table.weight)
    vectors, gold = torch.randn(1, 8) / 2, torch.randint(400, (1,))
    none = torch.full((1, 1), -1)
    with torch.no_grad():  # the sum below the fraction, of which the loss is the logarithm
        sampled = [
            sampled_softmax_loss(model, vectors, gold, none, QUICK.replace(negatives=100)).exp() for _ in range(300)
        ]
        whole = float(full_softmax_loss(model, vectors, gold).exp())
    assert float(torch.stack(sampled).mean()) == pytest.approx(whole, rel=0.03)


def test_logits_are_made_in_parts_with_the_gradients_of_the_whole(tiny_encoder, monkeypatch):
    import torch
    from torch.nn.functional import cross_entropy

    from karat.systems.linking.neural.encoder import load_encoder
    from karat.systems.linking.neural.models import LukeModel
    from karat.systems.training import trainer

    torch.manual_seed(1)
    model = LukeModel(load_encoder(tiny_encoder), 50, 8)
    torch.nn.init.normal_(model.weights)
    vectors, gold = torch.randn(6, 8, requires_grad=True), torch.randint(50, (6,))
    weights = (vectors, model.table.weight, model.weights)
    whole = cross_entropy(vectors @ model.table.weight.T + model.weights, gold)
    straight = torch.autograd.grad(whole * 3, weights)
    monkeypatch.setattr(trainer, "_MAX_LOGITS", 100)
    parts = trainer.full_softmax_loss(model, vectors, gold)
    pieced = torch.autograd.grad(parts * 3, weights)
    assert torch.allclose(whole, parts)
    assert all(torch.allclose(one, other, atol=1e-6) for one, other in zip(straight, pieced, strict=True))


def test_bad_input_is_one_clear_error(world, tiny_encoder, tmp_path):
    bare = Corpus.from_documents([Document("d", "We saw Mercury .", (Label(7, 14),))], name="bare")
    with pytest.raises(UsageError, match="no linked mention"):
        trained("fevry", bare, tiny_encoder, tmp_path / "m")
    with pytest.raises(UsageError, match="in the vocabulary"):
        trained("fevry", world, tiny_encoder, tmp_path / "m", vocabulary=["Q1"])
    with pytest.raises(UsageError, match="--candidates"):
        trained("fevry", world, tiny_encoder, tmp_path / "m", QUICK.replace(softmax="listed"))
    with pytest.raises(UsageError, match="--dev"):
        trained("fevry", world, tiny_encoder, tmp_path / "m", QUICK.replace(patience=1))
    with pytest.raises(UsageError, match="64 tokens"):
        trained("fevry", world, tiny_encoder, tmp_path / "m", QUICK.replace(max_length=100))
    with pytest.raises(UsageError, match=r"config\.json"):
        trained("fevry", world, tmp_path / "none", tmp_path / "m")
    assert not (tmp_path / "m").exists()
    with pytest.raises(UsageError, match="no trained model"):
        link(f"fevry:{tmp_path}", world, gold_mentions=True)
    trained("fevry", world, tiny_encoder, tmp_path / "m", QUICK.replace(epochs=1))
    for resume in (False, True):
        with pytest.raises(UsageError, match="training is complete"):
            trained("fevry", world, tiny_encoder, tmp_path / "m", resume=resume)
    with pytest.raises(UsageError, match="is a fevry"):
        link(f"bi-encoder:{tmp_path / 'm'}", world, gold_mentions=True)
    (tmp_path / "m" / "model.safetensors").write_bytes(b"torn")
    from karat.systems.linking.neural.ranking import load_linker

    load_linker.cache_clear()
    with pytest.raises(InputError, match="safetensors"):
        link(f"fevry:{tmp_path / 'm'}", world, gold_mentions=True)


def test_the_preset_of_zelda_is_that_of_its_paper():
    found = PRESETS["zelda"]
    assert (found.epochs, found.batch_size, found.learning_rate, found.max_length, found.dimension) == (
        6,
        64,
        5e-5,
        400,
        200,
    )
    with pytest.raises(KaratError, match="zelda"):
        get_preset("zeldas")


def test_the_command_trains_and_what_it_made_runs(world, lists, tiny_encoder, tmp_path, monkeypatch, karat_cli):
    monkeypatch.chdir(tmp_path)
    karat.save(world, "world.jsonl")
    karat.save(lists, "lists.jsonl")
    wishes = [
        "--preset",
        "small",
        "--epochs",
        "2",
        "--max-length",
        "32",
        "--device",
        "cpu",
        "--seed",
        "4",
    ]
    given = ["--train", "world.jsonl", "--dev", "world.jsonl", "--candidates", "lists.jsonl", "--encoder", tiny_encoder]
    ran = karat_cli("train", "fevry", *given, "--out", "m", "--dimension", "8", *wishes)
    assert ran.code == 0, ran.err
    assert "epoch 2 is the best" in ran.out or "epoch 1 is the best" in ran.out
    assert "karat run 'fevry:m'" in ran.out
    assert ran.err.count("epoch 1: ") == ran.err.count("epoch 2: ") == 1
    assert "for 2 epochs on this machine, without scoring the development data (measured on 1 step)" in ran.err
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == [
        "README.md",
        "config.json",
        "curve.json",
        "entities.json",
        "linker.json",
        "model.safetensors",
        "tokenizer.json",
    ]
    ran = karat_cli("run", "fevry:m", "--on", "world.jsonl", "--task", "d2kb")
    assert ran.code == 0, ran.err
    bi_encoder = ["bi-encoder", *given[:2], "--encoder", tiny_encoder, "--out", "b", *wishes]
    ran = karat_cli("train", *bi_encoder, "--dimension", "8")
    unused = "karat: this training does not use --dimension. Omit it, or train fevry, luke-head or luke-ft.\n"
    assert (ran.code, ran.err) == (2, unused)
    ran = karat_cli("train", *bi_encoder)
    assert ran.code == 0, ran.err
    ran = karat_cli("train", "fevry", *given, "--out", "m", *wishes)
    assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_what_needs_no_training(world, lists, tiny_encoder):
    from bench.baselines import (
        gold_candidate_mask,
        predict_most_frequent,
        predict_most_popular,
        seen_entity_mask,
    )

    from karat.systems.linking.neural.tokens import WordPieces
    from karat.systems.training.preparation import prepare_training_data

    bed = prepare_training_data(world, None, [lists], WordPieces.load(tiny_encoder), QUICK)
    words = ["Mercury", "Mercury", "Jackson"]
    first = bed.train.select_mentions(np.arange(3))
    chosen = predict_most_frequent(first, words, ["Jackson", "Venus"])
    assert chosen.tolist() == [first.gold[2], -1]
    assert gold_candidate_mask(bed.train).all()
    assert seen_entity_mask(first, bed.train).mean() < 1
    assert set(predict_most_popular(first, bed.train).tolist()) <= set(bed.train.candidates.tolist())
