"""The training loop on the CPU: a tiny model learns its texts by heart, stops, goes on, and answers as a system."""

from __future__ import annotations

import json

import numpy as np
import pytest

import karat
from karat import Corpus, Document, Label, UsageError
from karat.errors import InputError, KaratError
from karat.linking.named import link
from karat.training.plan import PRESETS, TrainingPlan, preset

pytestmark = pytest.mark.extras

QUICK = TrainingPlan(
    epochs=20, batch=4, rate=3e-3, head_rate=2e-2, tokens=32, dimension=16, dropout=0.0, half=False, warm_up=0.05
)


def accuracy(corpus, run):
    return karat.evaluate(corpus, run, task="d2kb", measures=["strong:micro.r"])["strong:micro.r"]


def trained(kind, world, encoder, folder, plan=QUICK, **more):
    from karat.training.train import train_linker

    return train_linker(kind, world, folder, plan, encoder=str(encoder), device="cpu", **more)


@pytest.mark.parametrize(
    ("kind", "plan"),
    [
        ("fevry", QUICK),
        ("fevry", QUICK.but(softmax="sampled", negatives=2)),
        ("fevry", QUICK.but(softmax="listed")),
        ("luke-head", QUICK.but(masked=0.8, epochs=60, patience=25)),
        ("bi-encoder", QUICK.but(softmax="sampled", negatives=4, hard=1, head_rate=3e-3)),
    ],
)
def test_a_tiny_model_learns_its_texts_by_heart_and_is_a_system(kind, plan, world, lists, tiny_encoder, tmp_path):
    known = [lists] if plan.softmax == "listed" or plan.hard else []
    found = trained(kind, world, tiny_encoder, tmp_path / "m", plan, dev=world, lists=known)
    assert found.curve.epochs[-1].loss < found.curve.epochs[0].loss
    assert found.curve.accuracy == 1.0
    run = link(f"{kind}:{tmp_path / 'm'}", world, given=True)
    if not known:  # otherwise it was tried on candidates, and here chooses from all
        assert accuracy(world, run) == 1.0
    assert run.about["training: data"] == "world"
    assert json.loads((tmp_path / "m" / "curve.json").read_text(encoding="utf-8"))["curve"]["best"] == found.curve.best


def test_a_training_that_is_stopped_goes_on_as_if_it_had_not_been(world, tiny_encoder, tmp_path):
    import torch

    from karat.linking.neural.encoder import read_encoder
    from karat.linking.neural.folder import TrainedLinker
    from karat.linking.neural.tokens import WordPieces
    from karat.training.loop import fit
    from karat.training.prepare import training_bed

    plan = QUICK.but(epochs=4, dropout=0.1)
    pieces = WordPieces.read(tiny_encoder)
    bed = training_bed(world, None, (), pieces, plan.tokens)

    def begin():
        torch.manual_seed(plan.seed)
        encoder = read_encoder(tiny_encoder, plan.dropout)
        return TrainedLinker.begin("fevry", encoder, pieces, bed.entities, bed.names, plan.written(), {}).model

    whole, first, second = begin(), begin(), begin()
    fit(whole, bed.train, bed.train, plan)
    fit(first, bed.train, bed.train, plan, folder=tmp_path, until=lambda: True)
    curve = fit(second, bed.train, bed.train, plan, folder=tmp_path, resume=True)
    assert [epoch.number for epoch in curve.epochs] == [1, 2, 3, 4]
    for one, other in zip(whole.state_dict().values(), second.state_dict().values(), strict=True):
        assert torch.equal(one, other)
    with pytest.raises(UsageError, match="another rate"):
        fit(second, bed.train, bed.train, plan.but(rate=1.0), folder=tmp_path, resume=True)
    (tmp_path / "checkpoint.pt").write_bytes(b"torn")
    with pytest.raises(InputError, match="a checkpoint"):
        fit(second, bed.train, bed.train, plan, folder=tmp_path, resume=True)


def test_it_stops_when_nothing_gets_better_and_keeps_the_best(world, tiny_encoder, tmp_path):
    found = trained("fevry", world, tiny_encoder, tmp_path / "m", QUICK.but(patience=2), dev=world)
    assert found.curve.stopped_early
    assert len(found.curve.epochs) == found.curve.best + 2
    assert found.curve.accuracy == max(epoch.accuracy for epoch in found.curve.epochs)


def test_the_same_seed_gives_the_same_answers(world, tiny_encoder, tmp_path):
    plan = QUICK.but(epochs=3)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        trained("fevry", world, tiny_encoder, tmp_path / name, plan.but(seed=seed))
    digests = {
        name: json.loads((tmp_path / name / "linker.json").read_text(encoding="utf-8"))["digest"] for name in "abc"
    }
    assert digests["a"] == digests["b"] != digests["c"]
    assert list(link(f"fevry:{tmp_path / 'a'}", world, given=True)) == list(
        link(f"fevry:{tmp_path / 'b'}", world, given=True)
    )


def test_candidates_bind_and_a_mention_without_any_is_free(world, lists, tiny_encoder, tmp_path):
    from karat.linking.neural.decide import decide
    from karat.linking.neural.rank import read_linker
    from karat.training.prepare import training_bed

    trained("fevry", world, tiny_encoder, tmp_path / "m", QUICK.but(epochs=1))
    linker = read_linker(str(tmp_path / "m"))
    bed = training_bed(world, None, [lists], linker.pieces, 32, linker.entities)
    free = decide(linker.model, bed.train, listed=False, most=4)
    bound = decide(linker.model, bed.train, listed=True, most=4)
    for place, codes in enumerate(bound.codes):
        low = 0 if place == 0 else bed.train.candidate_ends[place - 1]
        listed = set(bed.train.candidates[low : bed.train.candidate_ends[place]].tolist())
        assert set(codes[codes >= 0].tolist()) == listed
        best = next(code for code in free.codes[place] if code in listed)
        assert bound.decided[place] == best
    assert free.shares.sum(1) == pytest.approx(1, abs=1e-5)
    bare = training_bed(world, None, (), linker.pieces, 32, linker.entities)
    assert (decide(linker.model, bare.train, listed=True).decided == free.decided).all()


def test_lukes_order_decides_one_mention_of_each_window_at_a_time(world, tiny_encoder):
    import torch

    from karat.linking.neural.decide import decide
    from karat.linking.neural.encoder import read_encoder
    from karat.linking.neural.models import LukeModel
    from karat.linking.neural.tokens import WordPieces
    from karat.training.prepare import training_bed

    torch.manual_seed(5)
    model = LukeModel(read_encoder(tiny_encoder), 4, 8)
    torch.nn.init.normal_(model.table.weight)
    bed = training_bed(world, None, (), WordPieces.read(tiny_encoder), 32)
    seen = []
    original = model.mentions

    def mentions(batch, known=None):
        seen.append(0 if known is None else int((known != -1).sum()))
        return original(batch, known)

    model.mentions = mentions
    ordered = decide(model, bed.train, listed=False, in_order=True, batch=len(bed.train))
    assert seen == [0, len(bed.train)]  # two mentions in each window: the surest, then the other, which sees it
    model.mentions = original
    at_once = decide(model, bed.train, listed=False)
    surest = [
        max(np.flatnonzero(bed.train.window == window), key=lambda place: at_once.shares[place, 0])
        for window in range(len(bed.train))
    ]
    assert (ordered.decided[surest] == at_once.decided[surest]).all()
    assert not np.allclose(ordered.shares, at_once.shares)


def test_our_bert_is_that_of_hugging_face(tiny_encoder):
    transformers = pytest.importorskip("transformers")
    import torch

    from karat.linking.neural.encoder import read_encoder

    theirs = transformers.AutoModel.from_pretrained(str(tiny_encoder)).eval()
    ours = read_encoder(tiny_encoder).eval()
    tokens = torch.randint(4, 30, (3, 20))
    seen = torch.arange(20) < torch.tensor([[20], [7], [13]])
    with torch.no_grad():
        found = theirs(input_ids=tokens, attention_mask=seen.long()).last_hidden_state
        assert torch.allclose(ours(tokens, seen)[seen], found[seen], atol=1e-5)


def test_windows_cut_no_mention_and_lose_none(tiny_encoder):
    from karat.linking.neural.snippets import windows
    from karat.linking.neural.tokens import MarkedText, WordPieces

    assert windows([(3, 5)], 10, 5) == [(0, 3), (3, 8), (8, 10)]
    assert windows([(0, 8)], 10, 4) == [(0, 4), (4, 8), (8, 10)]  # longer than a window: it is cut
    text = "we saw mercury . " * 30
    spans = [(start, start + 7) for start in range(7, len(text), 17)]
    found = WordPieces.read(tiny_encoder).snippets([MarkedText(text, spans)], 13)
    assert found.mentions == 30
    words = np.concatenate([found.tokens[found.ends[w] - size :][f : last + 1] for w, size, f, last in _places(found)])
    assert len(set(words.tolist())) == 1


def _places(found):
    sizes = np.diff(found.ends, prepend=0)
    return zip(found.window, sizes[found.window], found.first, found.last, strict=True)


def test_a_sampled_softmax_is_the_full_one_in_the_mean(tiny_encoder):
    import torch

    from karat.linking.neural.encoder import read_encoder
    from karat.linking.neural.models import FevryModel
    from karat.training.losses import full_softmax, sampled_softmax

    torch.manual_seed(1)
    model = FevryModel(read_encoder(tiny_encoder), 400, 8)
    torch.nn.init.normal_(model.table.weight)
    vectors, gold = torch.randn(1, 8) / 2, torch.randint(400, (1,))
    none = torch.full((1, 1), -1)
    with torch.no_grad():  # the sum below the fraction, of which the loss is the logarithm
        sampled = [sampled_softmax(model, vectors, gold, none, QUICK.but(negatives=100)).exp() for _ in range(300)]
        whole = float(full_softmax(model, vectors, gold).exp())
    assert float(torch.stack(sampled).mean()) == pytest.approx(whole, rel=0.03)


def test_logits_are_made_in_parts_with_the_gradients_of_the_whole(tiny_encoder, monkeypatch):
    import torch
    from torch.nn.functional import cross_entropy

    from karat.linking.neural.encoder import read_encoder
    from karat.linking.neural.models import LukeModel
    from karat.training import losses

    torch.manual_seed(1)
    model = LukeModel(read_encoder(tiny_encoder), 50, 8)
    torch.nn.init.normal_(model.weights)
    vectors, gold = torch.randn(6, 8, requires_grad=True), torch.randint(50, (6,))
    weights = (vectors, model.table.weight, model.weights)
    whole = cross_entropy(vectors @ model.table.weight.T + model.weights, gold)
    straight = torch.autograd.grad(whole * 3, weights)
    monkeypatch.setattr(losses, "_LOGITS_AT_ONCE", 100)
    parts = losses.full_softmax(model, vectors, gold)
    pieced = torch.autograd.grad(parts * 3, weights)
    assert torch.allclose(whole, parts)
    assert all(torch.allclose(one, other, atol=1e-6) for one, other in zip(straight, pieced, strict=True))


def test_bad_input_is_one_clear_error(world, tiny_encoder, tmp_path):
    bare = Corpus.of([Document("d", "We saw Mercury .", (Label(7, 14),))], name="bare")
    with pytest.raises(UsageError, match="no linked mention"):
        trained("fevry", bare, tiny_encoder, tmp_path / "m")
    with pytest.raises(UsageError, match="in the vocabulary"):
        trained("fevry", world, tiny_encoder, tmp_path / "m", vocabulary=["Q1"])
    with pytest.raises(UsageError, match="--candidates"):
        trained("fevry", world, tiny_encoder, tmp_path / "m", QUICK.but(softmax="listed"))
    with pytest.raises(UsageError, match="--dev"):
        trained("fevry", world, tiny_encoder, tmp_path / "m", QUICK.but(patience=1))
    with pytest.raises(UsageError, match="64 tokens"):
        trained("fevry", world, tiny_encoder, tmp_path / "m", QUICK.but(tokens=100))
    with pytest.raises(UsageError, match=r"config\.json"):
        trained("fevry", world, tmp_path / "none", tmp_path / "m")
    assert not (tmp_path / "m").exists()
    with pytest.raises(UsageError, match="no trained linker"):
        link(f"fevry:{tmp_path}", world, given=True)
    trained("fevry", world, tiny_encoder, tmp_path / "m", QUICK.but(epochs=1))
    with pytest.raises(UsageError, match="already"):
        trained("fevry", world, tiny_encoder, tmp_path / "m")
    with pytest.raises(UsageError, match="is a fevry"):
        link(f"bi-encoder:{tmp_path / 'm'}", world, given=True)
    (tmp_path / "m" / "model.safetensors").write_bytes(b"torn")
    from karat.linking.neural.rank import read_linker

    read_linker.cache_clear()
    with pytest.raises(InputError, match="safetensors"):
        link(f"fevry:{tmp_path / 'm'}", world, given=True)


def test_the_preset_of_zelda_is_that_of_its_paper():
    found = PRESETS["zelda"]
    assert (found.epochs, found.batch, found.rate, found.tokens, found.dimension) == (6, 64, 5e-5, 400, 200)
    with pytest.raises(KaratError, match="zelda"):
        preset("zeldas")


def test_the_command_trains_and_what_it_made_runs(world, lists, tiny_encoder, tmp_path, monkeypatch, karat_cli):
    monkeypatch.chdir(tmp_path)
    karat.save(world, "world.jsonl")
    karat.save(lists, "lists.jsonl")
    wishes = [
        "--preset",
        "small",
        "--epochs",
        "2",
        "--tokens",
        "32",
        "--dimension",
        "8",
        "--device",
        "cpu",
        "--seed",
        "4",
    ]
    given = ["--train", "world.jsonl", "--dev", "world.jsonl", "--candidates", "lists.jsonl", "--encoder", tiny_encoder]
    ran = karat_cli("train", "fevry", *given, "--out", "m", *wishes)
    assert ran.code == 0, ran.err
    assert "epoch 2 is kept" in ran.out or "epoch 1 is kept" in ran.out
    assert "karat run fevry:m" in ran.out
    assert ran.err.count("epoch") == 2
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == [
        "config.json",
        "curve.json",
        "entities.json",
        "linker.json",
        "model.safetensors",
        "tokenizer.json",
    ]
    ran = karat_cli("run", "fevry:m", "--on", "world.jsonl", "--task", "d2kb")
    assert ran.code == 0, ran.err
    ran = karat_cli("train", "bi-encoder", *given[:2], "--encoder", tiny_encoder, "--out", "b", *wishes)
    assert ran.code == 0, ran.err
    ran = karat_cli("train", "fevry", *given, "--out", "m", *wishes)
    assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_what_needs_no_training(world, lists, tiny_encoder):
    from karat.linking.neural.tokens import WordPieces
    from karat.training.baselines import listed_gold, most_frequent, most_popular, seen
    from karat.training.prepare import training_bed

    bed = training_bed(world, None, [lists], WordPieces.read(tiny_encoder), 32)
    words = ["Mercury", "Mercury", "Jackson"]
    first = bed.train.of_mentions(np.arange(3))
    chosen = most_frequent(first, words, ["Jackson", "Venus"])
    assert chosen.tolist() == [first.gold[2], -1]
    assert listed_gold(bed.train).all()
    assert seen(first, bed.train).mean() < 1
    assert set(most_popular(first, bed.train).tolist()) <= set(bed.train.candidates.tolist())
