"""Constrained beam search: exact with wide beams, bound to its tree, and equal to that of Hugging Face."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.model.errors import InputError, KaratError, UsageError
from karat.systems.linking.neural.beam_search import write_titles
from karat.systems.linking.trie import TitleTrie

END = 5
TITLES = st.lists(st.lists(st.integers(0, 4), max_size=4).map(tuple), min_size=1, max_size=10, unique=True)


def scorer(seed):
    """Return log-probabilities that depend on the input and the whole prefix, drawn by chance."""

    def score(inputs, prefixes):
        rows = [
            np.random.default_rng([seed, number, *(token + 1 for token in prefix)]).normal(0, 2, END + 1)
            for number, prefix in zip(inputs.tolist(), prefixes.tolist(), strict=True)
        ]
        logits = np.array(rows)
        return (logits - np.log(np.exp(logits).sum(1, keepdims=True))).astype(np.float32)

    return score


def total(score, number, title):
    """Return the mean log-probability of a title, token by token."""
    tokens = (*title, END)
    parts = [
        score(np.array([number]), np.array([tokens[:cut]], np.int64).reshape(1, cut))[0, token]
        for cut, token in enumerate(tokens)
    ]
    return float(np.mean(parts))


@given(TITLES, st.integers(0, 1000))
def test_a_beam_as_wide_as_the_tree_finds_the_best_title_of_all(titles, seed):
    score = scorer(seed)
    found = write_titles(score, [TitleTrie.from_titles(titles, END)] * 2, n_beams=len(titles), max_steps=6)
    for number, written in enumerate(found):
        exact = sorted((total(score, number, title) for title in titles), reverse=True)
        assert [title.score for title in written] == pytest.approx(exact, abs=1e-5)
        assert total(score, number, titles[written[0].number]) == pytest.approx(exact[0], abs=1e-5)


@given(TITLES, TITLES, st.integers(0, 1000), st.integers(1, 4), st.integers(1, 6))
def test_narrow_beams_write_titles_of_their_own_tree_within_the_steps(titles, others, seed, n_beams, max_steps):
    tries = [TitleTrie.from_titles(names, END) for names in (titles, others)]
    for number, (names, written) in enumerate(
        zip((titles, others), write_titles(scorer(seed), tries, n_beams=n_beams, max_steps=max_steps), strict=True)
    ):
        assert len(written) <= n_beams
        assert [title.score for title in written] == sorted((title.score for title in written), reverse=True)
        for title in written:
            assert len(names[title.number]) < max_steps
            assert title.score == pytest.approx(total(scorer(seed), number, names[title.number]), abs=1e-5)


def test_a_title_that_is_too_long_is_not_written_and_no_beam_is_an_error():
    trie = TitleTrie.from_titles([(1, 2, 3)], END)
    assert write_titles(scorer(1), [trie], max_steps=3) == [[]]
    assert len(write_titles(scorer(1), [trie], max_steps=4)[0]) == 1
    with pytest.raises(UsageError, match="1 or more"):
        write_titles(scorer(1), [trie], n_beams=0)


@pytest.fixture(scope="module")
def bart(tmp_path_factory):
    """A small BART with random weights and a tokenizer of letters, in Hugging Face's layout."""
    transformers = pytest.importorskip("transformers")
    import torch
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split

    folder = tmp_path_factory.mktemp("bart")
    letters = {
        letter: 4 + index for index, letter in enumerate("abcdefghijklmnopqrstuvwxyz[]_().ABCDEFGHIJKLMNOPQRSTUVWXYZ ")
    }
    vocabulary = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, **letters}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Split(Regex("."), "isolated")
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(2)
    config = transformers.BartConfig(
        vocab_size=len(vocabulary),
        d_model=16,
        encoder_layers=1,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_position_embeddings=96,
        init_std=0.8,
        forced_eos_token_id=None,
        forced_bos_token_id=None,
    )
    transformers.BartForConditionalGeneration(config).eval().save_pretrained(str(folder))
    return folder


@pytest.mark.extras
def test_our_search_agrees_with_generate_of_hugging_face(bart):
    import torch

    from karat.systems.linking.neural.bart import BartModel, BartPieces, load_bart
    from karat.systems.linking.neural.inference import _write_titles
    from karat.systems.linking.neural.models import TensorBatch
    from karat.systems.linking.trie import TitleConstraint

    network = load_bart(bart).eval()
    pieces = BartPieces.load(bart, 0, 2)
    rng = np.random.default_rng(3)
    names = sorted({"".join(rng.choice(list("abc"), rng.integers(1, 7))) for _ in range(60)})
    model = BartModel(network, pieces.encode_titles(names)).eval()
    rows = torch.arange(12)
    tokens = torch.randint(4, 40, (12, 9))
    lists = torch.from_numpy(rng.integers(0, len(names), (12, 4)))
    batch = TensorBatch(tokens, torch.ones_like(tokens).bool(), rows, rows, rows, rows, lists, rows)
    n_beams, max_steps = 3, 6
    for use_candidates in (False, True):
        with torch.inference_mode():
            codes, _ = _write_titles(
                model, batch, 1, use_candidates=use_candidates, n_beams=n_beams, max_steps=max_steps
            )
        tries = [
            TitleTrie.from_titles([model.titles[code] for code in row], model.end) if use_candidates else model.trie
            for row in lists.tolist()
        ]
        constraint = TitleConstraint(tries, model.prefix)
        written = network.generate(
            tokens,
            attention_mask=torch.ones_like(tokens),
            decoder_input_ids=torch.tensor([model.prefix]).expand(12, -1),
            prefix_allowed_tokens_fn=constraint,
            num_beams=n_beams,
            max_new_tokens=max_steps,
            do_sample=False,
            early_stopping="never",
        )
        numbers = [constraint.find_title(row, written[row]) for row in range(12)]
        theirs = [lists[row][n] if use_candidates else n for row, n in enumerate(numbers)]
        assert codes[:, 0].tolist() == [int(code) for code in theirs]
        assert len(set(numbers)) > 1


@pytest.mark.extras
def test_a_bart_is_trained_saved_and_run(bart, tmp_path):
    from karat import Corpus, Document, Label
    from karat.systems.api import link
    from karat.systems.training.options import TrainingOptions
    from karat.systems.training.train import train_linker

    documents = [
        Document(f"d{n}", f"x {word} y", (Label(2, 3, word.upper() * 2),)) for n, word in enumerate("abcd" * 3)
    ]
    corpus = Corpus.from_documents(documents, name="letters")
    plan = TrainingOptions(epochs=30, batch_size=4, learning_rate=5e-3, max_length=60, bf16=False, dropout=0.0)
    result = train_linker("genre", corpus, tmp_path / "m", plan, bart=str(bart), device="cpu", dev=corpus)
    assert result.curve.epochs[-1].loss < 0.7 * result.curve.epochs[0].loss
    run = link(f"genre:{tmp_path / 'm'}", corpus, gold_mentions=True)
    predicted = [prediction.entity for response in run for prediction in response.predictions]
    correct = [document.labels[0].entity == entity for document, entity in zip(documents, predicted, strict=True)]
    assert np.mean(correct) == result.curve.accuracy  # as before it was saved
    assert json.loads((tmp_path / "m" / "config.json").read_text(encoding="utf-8"))["model_type"] == "bart"
    assert run.metadata["training: encoder"] == str(bart)


@pytest.mark.extras
def test_a_folder_without_a_bart_is_one_clear_error(tmp_path, monkeypatch):
    from karat.systems.linking.neural import bart as module
    from karat.systems.linking.neural import metadata

    monkeypatch.setattr(metadata, "find_spec", lambda name: None)
    with pytest.raises(KaratError, match=r"karat\[genre\]"):
        module.load_bart(tmp_path)
    monkeypatch.undo()
    pytest.importorskip("transformers")
    with pytest.raises(UsageError, match="has no BART"):
        module.load_bart(tmp_path)
    with pytest.raises(UsageError, match=r"tokenizer\.json"):
        module.BartPieces.load(tmp_path, 0, 2)


@pytest.mark.extras
def test_a_tokenizer_of_two_files_is_read_and_written(tmp_path):
    from karat.systems.linking.neural.bart import BartPieces

    words = ["<s>", "<pad>", "</s>", "<unk>", "B", "e", "r", "l", "i", "n", "Be", "\u0120", "er"]
    (tmp_path / "vocab.json").write_text(
        json.dumps({word: index for index, word in enumerate(words)}), encoding="utf-8"
    )
    (tmp_path / "merges.txt").write_text("#version: 0.2\nB e\ne r\n", encoding="utf-8")
    pieces = BartPieces.load(tmp_path, 0, 2)
    assert pieces.encode_titles(["Berlin", "e r"]) == [[10, 6, 7, 8, 9], [5, 11, 6]]
    (tmp_path / "saved").mkdir()
    pieces.save(tmp_path / "saved")
    assert BartPieces.load(tmp_path / "saved", 0, 2).encode_titles(["Berlin"]) == [[10, 6, 7, 8, 9]]
    (tmp_path / "vocab.json").write_text("torn", encoding="utf-8")
    with pytest.raises(InputError, match="a BART tokenizer"):
        BartPieces.load(tmp_path, 0, 2)
