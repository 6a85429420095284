"""A BART of Hugging Face's `transformers` that writes titles, as in GENRE."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import torch
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody calls it

from karat.model.errors import InputError, UsageError
from karat.systems.linking.neural.metadata import check_train_extra
from karat.systems.linking.neural.models import TensorBatch
from karat.systems.linking.neural.snippets import Snippets
from karat.systems.linking.neural.title_model import NO_TARGET, TextStates, TitleModel
from karat.systems.linking.neural.tokens import TOKENIZER, MarkedText, tokenise_contexts, trim_context

MODEL_TYPE: Final = "bart"
_MARKS: Final = (" [START_ENT] ", " [END_ENT] ")
_LABEL_SMOOTHING: Final = 0.1


@dataclass(frozen=True, eq=False)
class BartPieces:
    """The tokenizer of a BART.

    `tokenizer`: the tokenizer of the library.
    `begin`, `end`: ids of the first and last token of a text.
    """

    tokenizer: Any = field(repr=False)
    begin: int
    end: int

    @classmethod
    def load(cls, folder: Path, begin: int, end: int) -> BartPieces:
        """Load `tokenizer.json`, or else `vocab.json` and `merges.txt` of a folder; raise `UsageError` without them."""
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        try:
            if TOKENIZER in names:
                tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
            elif {"vocab.json", "merges.txt"} <= set(names):
                tokenizer = Tokenizer(BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt")))
                tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
            else:
                raise UsageError(f"{folder} has no {TOKENIZER}, and no vocab.json with merges.txt.")
        except UsageError:
            raise
        except Exception as problem:  # noqa: BLE001  # the library raises plain exceptions
            raise InputError(
                str(folder), actual=str(problem), expected="a BART tokenizer", remedy="Name another model"
            ) from None
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return cls(tokenizer, begin, end)

    def save(self, folder: Path) -> None:
        """Write the tokenizer to the `tokenizer.json` of a model folder."""
        self.tokenizer.save(str(folder / TOKENIZER))

    def encode_titles(self, titles: Sequence[str]) -> list[list[int]]:
        """Return the tokens of titles, without those of begin and end."""
        return [encoding.ids for encoding in self.tokenizer.encode_batch(list(titles), add_special_tokens=False)]

    def to_contexts(self, texts: Iterable[MarkedText], context: int, max_length: int) -> Snippets:
        """Tokenise each mention, between the marks of GENRE, with `context` characters of text on each side.

        Windows longer than `max_length` tokens lose the tokens farthest from the mention.
        """
        return tokenise_contexts(texts, context, self._make_context(max_length))

    def _make_context(self, max_length: int) -> Callable[[str, str, str, str], tuple[list[int], int, int]]:
        """Return the function that builds the tokens of a window: LEFT [START_ENT] MENTION [END_ENT] RIGHT."""

        def build(title: str, left: str, surface: str, right: str) -> tuple[list[int], int, int]:
            before, mention, after = self.encode_titles(
                [f"{title} : {left}" if title else left, surface.join(_MARKS), right]
            )
            mention = mention[: max_length - 2]
            before, after = trim_context(before, after, max_length - 2 - len(mention))
            first = 1 + len(before)
            return [self.begin, *before, *mention, *after, self.end], first, first + len(mention) - 1

        return build


class BartModel(TitleModel):
    """A BART that writes titles; `encoder` is the whole BART, so that its weights share one learning rate."""

    encoder: Any

    def __init__(self, bart: Any, titles: Sequence[Sequence[int]]) -> None:  # noqa: ANN401  # a module of a library
        config = bart.config
        super().__init__(titles, get_title_prefix(config), config.eos_token_id)
        self.encoder = bart

    def encode_texts(self, batch: TensorBatch) -> TextStates:
        """Return the states of the texts."""
        tokens, mask = batch.tokens[batch.row], batch.mask[batch.row]
        states = self.encoder.get_encoder()(input_ids=tokens, attention_mask=mask.long()).last_hidden_state
        return TextStates(tokens, mask, states)

    def score_next_tokens(self, texts: TextStates, prefixes: Tensor) -> Tensor:
        """Return the log-probabilities of the token after each prefix [texts, vocabulary]."""
        return self._decode(texts, self.add_prefix(prefixes))[:, -1].float().log_softmax(-1)

    def title_loss(self, texts: TextStates, codes: Tensor) -> Tensor:
        """Return the mean loss per token of the titles of `codes`, one per text, with GENRE's label smoothing."""
        inputs, targets = self.make_targets(codes)
        logits = self._decode(texts, inputs).float()
        return F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=NO_TARGET, label_smoothing=_LABEL_SMOOTHING
        )

    def _decode(self, texts: TextStates, inputs: Tensor) -> Tensor:
        """Return the logits after each input of the decoder [titles, length, vocabulary]."""
        result = self.encoder(
            encoder_outputs=(texts.states,),
            attention_mask=texts.mask.long(),
            decoder_input_ids=inputs,
            use_cache=False,
        )
        logits: Tensor = result.logits
        return logits


def get_title_prefix(config: Any) -> tuple[int, ...]:  # noqa: ANN401  # a configuration of a library
    """Return the tokens before a title: the start token of the decoder and that of a text."""
    return (config.decoder_start_token_id, config.bos_token_id)


def load_bart(folder: Path, *, has_weights: bool = True, dropout: float = 0.1) -> Any:  # noqa: ANN401
    """Load a BART in Hugging Face's layout; without `has_weights`, only build it from its `config.json`.

    A folder without such a model raises `UsageError`.
    """
    check_train_extra(needs_bart=True)
    import transformers

    transformers.utils.logging.disable_progress_bar()
    try:
        config = transformers.BartConfig.from_pretrained(str(folder), dropout=dropout)
        if config.model_type != MODEL_TYPE:
            raise ValueError(f"a {config.model_type}")
        if not has_weights:
            return transformers.BartForConditionalGeneration(config)
        return transformers.BartForConditionalGeneration.from_pretrained(
            str(folder), config=config, dtype=torch.float32, local_files_only=True
        )
    except (OSError, ValueError, KeyError) as problem:
        first_line = str(problem).splitlines()[0]
        raise UsageError(f"{folder} has no BART ({first_line}). Name a folder in Hugging Face's layout.") from None
