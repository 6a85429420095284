"""Titles as a tree of tokens: what may come next is what some title has next, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.model.errors import UsageError
from karat.systems.linking.trie import MAX_STEPS, N_BEAMS, TitleConstraint, TitleTrie, build_candidate_tries

END = 99
TITLES = st.lists(st.lists(st.integers(0, 4), max_size=5), min_size=1, max_size=12)


@given(TITLES)
def test_what_may_follow_is_what_follows_in_some_title(titles):
    trie = TitleTrie.from_titles(titles, END)
    whole = [[*title, END] for title in titles]
    assert len(trie) == len({tuple(title) for title in titles})
    for title in whole:
        for cut in range(len(title) + 1):
            prefix = title[:cut]
            follow = {other[cut] for other in whole if other[:cut] == prefix and len(other) > cut}
            assert trie.find_next_tokens(prefix) == sorted(follow)
        assert titles[trie.find_title(title)] == title[:-1]
        assert trie.find_title(title[:-1]) == -1
    assert trie.find_next_tokens([7]) == []
    assert trie.count_by_length().sum() == len(trie)


def test_of_equal_titles_the_first_counts():
    trie = TitleTrie.from_titles([[1, 2], [1], [1, 2]], END)
    assert trie.find_title([1, 2, END]) == 0
    assert trie.find_title([1, END]) == 1
    assert trie.count_longer(2) == 1
    with pytest.raises(UsageError, match="needs at least one title"):
        TitleTrie.from_titles([], END)


def test_a_tree_is_written_and_read(tmp_path):
    trie = TitleTrie.from_titles([[1, 2], [1], [3]], END)
    trie.save(tmp_path / "titles.npz")
    again = TitleTrie.load(tmp_path / "titles.npz")
    assert again.find_next_tokens([1]) == trie.find_next_tokens([1]) == [2, END]


def test_a_constraint_binds_all_inputs_or_each_to_its_own():
    every = TitleConstraint(TitleTrie.from_titles([[1, 2], [3]], END), (50, 51))
    assert every(0, np.array([50])) == [51]
    assert every(7, np.array([50, 51])) == [1, 3]
    assert every(0, np.array([50, 51, 3])) == [END]
    assert every(0, np.array([50, 51, 3, END])) == [END]  # a beam that has ended
    own = TitleConstraint(build_candidate_tries([[[1, 2]], []], END, nil=[9]), (50,))
    assert own(0, np.array([50])) == [1]
    assert own(1, np.array([50])) == [9]
    assert own.find_title(1, np.array([50, 9, END, 0, 0])) == 0
    assert own.find_title(1, np.array([50, 9])) == -1


def test_a_hundred_thousand_titles_take_little():
    rng = np.random.default_rng(1)
    titles = [rng.integers(0, 30_000, rng.integers(1, 8)).tolist() for _ in range(100_000)]
    trie = TitleTrie.from_titles(titles, 30_000)
    assert trie.n_bytes < 20e6
    for place in range(0, 100_000, 9_973):
        assert titles[trie.find_title([*titles[place], 30_000])] == titles[place]


@pytest.mark.extras
def test_generate_writes_titles_only():
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(2)
    config = transformers.BartConfig(
        vocab_size=60,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        forced_eos_token_id=None,
        forced_bos_token_id=None,
    )
    model = transformers.BartForConditionalGeneration(config).eval()
    titles = [[5, 6, 7], [5, 9], [11], [12, 5, 6, 7, 8]]
    tokens = torch.randint(4, 60, (3, 9))
    for tries in (TitleTrie.from_titles(titles, 2), build_candidate_tries([titles[:2], [titles[3]], []], 2, nil=[13])):
        constraint = TitleConstraint(tries, (2,))
        settings = constraint.generate_options()
        assert (settings["num_beams"], settings["max_new_tokens"]) == (N_BEAMS, MAX_STEPS)
        written = model.generate(tokens, attention_mask=torch.ones_like(tokens), **settings)
        assert all(constraint.find_title(number, row) >= 0 for number, row in enumerate(written))
