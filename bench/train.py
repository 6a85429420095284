"""Training of the reference linkers on ZELDA's WNED splits, with accuracy and throughput.

    python bench/train.py prepare SHARED DIR       tokens, candidates and weights as plain files (needs karat[train])
    python bench/train.py run DIR OUT [SECONDS]    training and prediction (needs torch, numpy and safetensors alone)
    python bench/train.py speed DIR OUT            throughput with 821,559 entities (the same)
    python bench/train.py report DIR OUT           the tables of docs/measurements/training.md

SHARED is a folder of published benchmarks. Documents are split 80/20 by a seed. A tenth of the 80 per cent selects
learning rates and epochs, then training restarts on all of them. Candidates are those of a published dual encoder, in
sorted order, so that their order carries no information.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from baselines import (
    gold_candidate_mask,
    predict_most_frequent,
    predict_most_popular,
    seen_entity_mask,
)
from karat.systems.linking.neural.encoder import BertConfig, BertEncoder, find_encoder_folder, load_encoder
from karat.systems.linking.neural.inference import EntityPredictions, predict_entities
from karat.systems.linking.neural.models import BiEncoderModel, EntityModel, FevryModel, LukeModel, count_parameters
from karat.systems.linking.neural.snippets import Snippets
from karat.systems.training.curve import Epoch
from karat.systems.training.options import PRESETS, TrainingOptions
from karat.systems.training.trainer import fit

SPLITS = {"wned-wiki": "WNED-WIKI", "cweb": "WNED-CWEB"}
PEAK = 989e12  # dense bf16 of an H200, by its maker
BASE = BertConfig(30522, 768, 12, 12, 3072)
ZELDA_ENTITIES, ZELDA_MENTIONS, ZELDA_SECTIONS = 821_559, 2_600_000, 95_000
SEED = 20261116


# Preparation


def prepare(shared: Path, folder: Path) -> None:
    """Write windows, titles, split, baselines and encoder as files to `folder`, from ZELDA's files in `shared`."""
    import gzip

    from safetensors.torch import save_file

    from karat.systems.linking.neural.encoder import read_weights
    from karat.systems.linking.neural.metadata import MINILM
    from karat.systems.linking.neural.tokens import MarkedText, WordPieces

    folder.mkdir(parents=True, exist_ok=True)
    texts, split, lists, other = [], [], [], []
    for number, name in enumerate(SPLITS):
        listed = {}
        with gzip.open(shared / f"data/zelda/predictions/{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            for line in map(json.loads, file):
                listed[line["doc"], line["start"], line["end"]] = line
        with gzip.open(shared / f"data/zelda/jsonl/test_{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            for document in map(json.loads, file):
                spans = [tuple(span) for span in document["index"]]
                lines = [listed.get((document["id"], *span), {}) for span in spans]
                texts.append((document["text"], spans, document["wikipedia_titles"]))
                lists.append([[title for title, _ in line.get("candidates", ())] for line in lines])
                other.append([line.get("predicted") for line in lines])
                split.append(number)
    names = sorted(
        {title for _, _, golds in texts for title in golds}
        | {title for document in lists for titles in document for title in titles}
    )
    codes = {title: code for code, title in enumerate(names)}
    pieces = WordPieces.load(find_encoder_folder(MINILM))
    marked = [
        MarkedText(
            text, spans, [codes[title] for title in golds], [sorted(codes[t] for t in titles) for titles in listed]
        )
        for (text, spans, golds), listed in zip(texts, lists, strict=True)
    ]
    every = pieces.to_snippets(marked, 400)
    every.save(folder / "snippets.npz")
    titles, lengths = pieces.encode_names(names, 24)
    rng = np.random.default_rng(SEED)
    part = np.full(len(texts), 2)
    for number in range(len(SPLITS)):
        documents = rng.permutation(np.flatnonzero(np.array(split) == number))
        held = len(documents) // 5
        dev = (len(documents) - held) // 10
        part[documents[held : held + dev]] = 1
        part[documents[held + dev :]] = 0
    np.savez_compressed(
        folder / "rest.npz", titles=titles.astype(np.uint16), lengths=lengths.astype(np.uint8), part=part, split=split
    )
    surface = [texts[d][0][s:e] for d, s, e in zip(every.document, every.start, every.end, strict=True)]
    chosen = list_encoder_choices(texts, other, codes)
    _write_baselines(every, part, surface, chosen, folder)
    (folder.parent / "titles.json").write_text(json.dumps(names, ensure_ascii=False), encoding="utf-8")
    (folder / "model").mkdir(exist_ok=True)
    source = find_encoder_folder(MINILM)
    (folder / "model/config.json").write_bytes((source / "config.json").read_bytes())
    weights = {
        name: tensor.half()
        for name, tensor in read_weights(source / "model.safetensors").items()
        if tensor.is_floating_point()
    }
    save_file(weights, folder / "model/model.safetensors")
    print(f"{len(texts)} documents, {every.n_mentions} mentions, {len(every)} windows, {len(names)} entities")


def list_encoder_choices(texts: list[Any], other: list[list[str | None]], codes: dict[str, int]) -> list[int]:
    """Return the entity code that the dual encoder predicted for each mention, in text order; -1 if unknown.

    `texts`: text, spans and gold titles of each document.
    `other`: predicted title of each mention, by document.
    """
    choices = []
    for (_, spans, _), predicted in zip(texts, other, strict=True):
        order = sorted(range(len(spans)), key=spans.__getitem__)
        choices.extend(codes.get(predicted[mention] or "", -1) for mention in order)
    return choices


def _write_baselines(
    every: Snippets, part: np.ndarray[Any, Any], surface: list[str], chosen: list[int], folder: Path
) -> None:
    """Write the predictions of the baselines on the test part, and masks of its mentions, to `folder`.

    `part`: part of each document: 0 training, 1 development, 2 test.
    `surface`, `chosen`: surface and dual encoder's entity code of each mention.
    """
    held, train = part[every.document] == 2, part[every.document] != 2
    train_mentions, test = every.select_mentions(np.flatnonzero(train)), every.select_mentions(np.flatnonzero(held))
    train_surfaces = [text for text, is_train in zip(surface, train, strict=True) if is_train]
    test_surfaces = [text for text, is_held in zip(surface, held, strict=True) if is_held]
    np.savez_compressed(
        folder / "baselines.npz",
        mfs=predict_most_frequent(train_mentions, train_surfaces, test_surfaces),
        popular=predict_most_popular(train_mentions, test),
        dual=np.array(chosen)[held],
        listed=gold_candidate_mask(test),
        seen=seen_entity_mask(train_mentions, test),
    )


# Training


class TrainingData:
    """The prepared files, with the parts of the split: 0 training, 1 development, 2 test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.every = Snippets.load(folder / "snippets.npz")
        with np.load(folder / "rest.npz") as rest:
            self.titles, self.lengths = rest["titles"].astype(np.int64), rest["lengths"].astype(np.int64)
            self.part, self.split = rest["part"], rest["split"]
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def select_parts(self, *parts: int) -> Snippets:
        """Return the windows of the documents in these parts."""
        return self.every.select_documents(np.flatnonzero(np.isin(self.part, parts)))

    def create_model(self, kind: str, plan: TrainingOptions) -> EntityModel:
        """Return an untrained model of a kind with the prepared encoder, on the device."""
        torch.manual_seed(plan.seed)
        encoder = load_encoder(self.folder / "model", plan.dropout)
        if kind == "bi-encoder":
            return BiEncoderModel(encoder, self.titles, self.lengths).to(self.device)
        kinds: dict[str, Callable[..., EntityModel]] = {"fevry": FevryModel, "luke-head": LukeModel}
        return kinds[kind](encoder, len(self.titles), plan.dimension).to(self.device)


SMALL = PRESETS["small"]
TRIALS: dict[str, tuple[str, list[TrainingOptions]]] = {
    "fevry": (
        "fevry",
        [
            SMALL.replace(learning_rate=rate, head_learning_rate=head)
            for rate, head in ((1e-4, 5e-3), (2e-4, 5e-3), (2e-4, 1e-2))
        ],
    ),
    "fevry-lists": ("fevry", [SMALL.replace(softmax="listed")]),
    "fevry-sampled": ("fevry", [SMALL.replace(softmax="sampled", negatives=16384)]),
    "luke-head": ("luke-head", [SMALL.replace(mask_prob=share) for share in (0.6, 0.9)]),
    "bi-encoder": (
        "bi-encoder",
        [
            SMALL.replace(
                softmax="sampled", negatives=256, hard_negatives=8, learning_rate=rate, head_learning_rate=1e-3
            )
            for rate in (1e-4, 2e-4)
        ],
    ),
}
SHARES = {"fevry": 0.27, "fevry-lists": 0.37, "fevry-sampled": 0.47, "luke-head": 0.68, "bi-encoder": 1.0}


def run(folder: Path, out: Path, budget: float = 540) -> None:
    """Train all models of `TRIALS` within `budget` seconds; write results and test predictions to `out`."""
    begin = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    data = TrainingData(folder)
    results: dict[str, Any] = {"device": _describe_device(data.device), "torch": torch.__version__}
    predictions: dict[str, Any] = {}
    predictions["zero-shot"] = _predict_test(data, data.create_model("bi-encoder", SMALL), "bi-encoder")
    for name, (kind, plans) in TRIALS.items():
        limit = begin + budget * SHARES[name]
        results[name], predictions[name] = train_model(data, kind, plans, limit, budget)
        print(name, json.dumps(_compute_accuracies(data, predictions[name])), flush=True)
        _write_results(out, results, predictions)
    print(f"{time.perf_counter() - begin:.0f} s", flush=True)


def train_model(
    data: TrainingData, kind: str, plans: list[TrainingOptions], limit: float, budget: float
) -> tuple[Any, Any]:
    """Train with each plan, select the best on the development part, and train with it on both parts.

    `limit`: time (of `perf_counter`) by which training should end.
    Return a record of trials, curves, parameters and speed, and the predictions on the test part.
    """
    train, dev = data.select_parts(0), data.select_parts(1)
    trials = []
    for number, plan in enumerate(plans):
        now = time.perf_counter()
        share = now + (limit - now) / (len(plans) - number + 1.2)  # the last part is for the training on all
        model = data.create_model(kind, plan)
        curve = fit(
            model,
            train,
            dev,
            plan,
            report=_make_reporter(kind),
            should_stop=lambda share=share: time.perf_counter() > share,
        )
        trials.append((curve.accuracy or 0.0, plan, curve))
        del model
    _, plan, curve = max(trials, key=lambda trial: trial[0])
    final = data.create_model(kind, plan)
    start = time.perf_counter()
    # the schedule of the best trial, and an end where that was best
    last = fit(
        final,
        data.select_parts(0, 1),
        None,
        plan,
        report=_make_reporter(kind),
        should_stop=_stop_after(curve.best_epoch),
    )
    spent = time.perf_counter() - start
    metadata = {
        "plan": plan.to_dict(),
        "trials": [{"plan": plan.to_dict(), "curve": curve.to_dict()} for _, plan, curve in trials],
        "final": last.to_dict(),
        "parameters": count_parameters(final),
        "seconds": spent,
        "speed": _compute_speed(final, last.epochs[-1], data.select_parts(0, 1), plan),
    }
    start = time.perf_counter()
    predicted = _predict_test(data, final, kind)
    metadata["seconds_to_predict"] = time.perf_counter() - start
    return metadata, predicted


def _stop_after(epochs: int) -> Callable[[], bool]:
    """Return a function that is called after each epoch and returns True from the given number of epochs on."""
    left = iter(range(epochs - 1))
    return lambda: next(left, None) is None


def _make_reporter(kind: str) -> Callable[[Epoch], None]:
    """Return a function that prints the figures of an epoch."""

    def tell(epoch: Epoch) -> None:
        accuracy = "" if epoch.accuracy is None else f" dev {epoch.accuracy:.4f}"
        print(f"{kind} {epoch.number}: loss {epoch.loss:.4f}{accuracy} {epoch.seconds:.2f} s", flush=True)

    return tell


def _predict_test(data: TrainingData, model: EntityModel, kind: str) -> dict[str, EntityPredictions]:
    """Return the predictions of a model on the test part, by way: all entities or candidate lists, and in order."""
    held = data.select_parts(2)
    ways: dict[str, dict[str, bool]] = {"all": {"use_candidates": False}, "lists": {"use_candidates": True}}
    if kind == "luke-head":
        ways |= {f"{name} in order": {**way, "most_confident_first": True} for name, way in ways.items()}
    return {name: predict_entities(model, held, top_k=5, batch_size=64, **way) for name, way in ways.items()}


def _compute_accuracies(data: TrainingData, predicted: dict[str, EntityPredictions]) -> dict[str, Any]:
    """Return the accuracy of each way by split and by whether the entity was seen in training."""
    held = data.select_parts(2)
    with np.load(data.folder / "baselines.npz") as base:
        seen = base["seen"]
    split = data.split[held.document]
    groups = {"seen": seen, "unseen": ~seen, "both": seen | ~seen}
    return {
        way: {
            f"{name} {group}": round(float((prediction.best_codes == held.gold)[chosen & (split == number)].mean()), 4)
            for number, name in enumerate(SPLITS)
            for group, chosen in groups.items()
        }
        for way, prediction in predicted.items()
    }


def _compute_speed(model: EntityModel, epoch: Epoch, part: Snippets, plan: TrainingOptions) -> dict[str, float]:
    """Return mentions, tokens and TFLOP per second of an epoch, and the share of the GPU's peak."""
    config = model.encoder.config
    flops = 3 * config.flops(epoch.n_tokens, epoch.n_tokens // len(part))
    if plan.softmax == "full" and not isinstance(model, BiEncoderModel):
        flops += 3 * 2 * epoch.n_mentions * model.n_entities * plan.dimension
    return {
        "mentions_per_second": epoch.n_mentions / epoch.seconds,
        "tokens_per_second": epoch.n_tokens / epoch.seconds,
        "tflops": flops / epoch.seconds / 1e12,
        "share_of_peak": flops / epoch.seconds / PEAK,
    }


def _write_results(out: Path, results: dict[str, Any], predictions: dict[str, dict[str, EntityPredictions]]) -> None:
    """Write the results as JSON and the predicted codes as a NumPy file."""
    (out / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    arrays = {
        f"{name}/{way}": prediction.codes.astype(np.int32)
        for name, ways in predictions.items()
        for way, prediction in ways.items()
    }
    np.savez_compressed(out / "predictions.npz", **arrays)


def _describe_device(device: torch.device) -> str:
    """Return the product name of the GPU, or `CPU`."""
    return torch.cuda.get_device_name() if device.type == "cuda" else "CPU"


# Throughput


def speed(folder: Path, out: Path) -> None:
    """Measure training at ZELDA's size: its number of entities, full windows, and mentions per section.

    Print the figures of each encoder, softmax and batch size, and write them to `speed.json` in `out`.
    """
    out.mkdir(parents=True, exist_ok=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    small = BertConfig.load(folder / "model")
    results = []
    sizes = {"MiniLM": small, "BERT base": BASE}
    zelda = PRESETS["zelda"].replace(epochs=2)
    plain = [
        (name, softmax, batch) for name in sizes for softmax in ("full", "sampled", "listed") for batch in (64, 256)
    ]
    trials = [(*trial, False) for trial in plain] + [
        (name, softmax, 256, True) for name in reversed(sizes) for softmax in ("sampled", "full")
    ]
    for name, softmax, batch, compiled in trials:
        plan = zelda.replace(softmax=softmax, batch_size=batch, compile_encoder=compiled)
        results.append(measure_speed(name, sizes[name], plan, device))
        print(json.dumps(results[-1]), flush=True)
        (out / "speed.json").write_text(json.dumps(results, indent=1), encoding="utf-8")


def measure_speed(
    name: str,
    shape: BertConfig,
    plan: TrainingOptions,
    device: torch.device,
    entities: int = ZELDA_ENTITIES,
    steps: int = 12,
) -> dict[str, Any]:
    """Train on random windows and return the speed of the last epoch, with memory and projected hours for ZELDA.

    `steps`: number of batches per epoch.
    """
    rng = np.random.default_rng(SEED)
    model = FevryModel(BertEncoder(shape, plan.dropout), entities, plan.dimension).to(device)
    snippets = generate_snippets(
        rng, plan.batch_size * steps, plan.max_length, ZELDA_MENTIONS // ZELDA_SECTIONS, shape.vocabulary_size, entities
    )
    curve = fit(model, snippets, None, plan)
    epoch = curve.epochs[-1]  # the first one is slower
    rates = _compute_speed(model, epoch, snippets, plan)
    memory = torch.cuda.max_memory_allocated() if device.type == "cuda" else 0
    if device.type == "cuda":
        del model
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    return {
        "encoder": name,
        "softmax": plan.softmax,
        "batch": plan.batch_size,
        "compiled": plan.compile_encoder,
        "device": _describe_device(device),
        **rates,
        "hours_per_epoch_of_zelda": ZELDA_MENTIONS / rates["mentions_per_second"] / 3600,
        "gigabytes": memory / 1e9,
    }


def generate_snippets(
    rng: np.random.Generator,
    count: int,
    length: int,
    mentions_per_window: int,
    vocabulary: int,
    entities: int,
    listed: int = 20,
) -> Snippets:
    """Return `count` random windows of `length` tokens.

    `vocabulary`, `entities`: numbers of tokens and entities to draw from.
    `listed`: number of candidates per mention.
    """
    mentions = count * mentions_per_window
    first = np.tile(1 + np.arange(mentions_per_window) * ((length - 2) // mentions_per_window), count)
    whole = {
        "tokens": rng.integers(1000, vocabulary, count * length),
        "ends": np.arange(1, count + 1) * length,
        "window": np.repeat(np.arange(count), mentions_per_window),
        "first_token": first,
        "last_token": first + 2,
        "gold": rng.integers(entities, size=mentions),
        "candidates": rng.integers(entities, size=mentions * listed),
        "candidate_ends": np.arange(1, mentions + 1) * listed,
        **{name: np.zeros(mentions) for name in ("document", "start", "end")},
    }
    return Snippets(**{name: values.astype(np.int32) for name, values in whole.items()})


# Tables


def report(folder: Path, out: Path) -> None:
    """Print the tables of accuracies and the figures of each training as Markdown."""
    data = TrainingData(folder)
    held = data.select_parts(2)
    split = data.split[held.document]
    with np.load(folder / "baselines.npz") as base, np.load(out / "predictions.npz") as predictions:
        seen = base["seen"]
        rows = {
            "most frequent sense of the training part": base["mfs"] == held.gold,
            "most popular candidate": base["popular"] == held.gold,
            "the dual encoder's own choice": base["dual"] == held.gold,
            **{name.replace("/", ", "): predictions[name][:, 0] == held.gold for name in predictions},
            "entity is a candidate": base["listed"],
            "entity is seen": seen,
        }
    groups = [(seen, "seen"), (~seen, "unseen"), (seen | ~seen, "all")]
    heads = [f"{title} {group}" for title in SPLITS.values() for _, group in groups]
    sizes = [int((chosen & (split == n)).sum()) for n in range(len(SPLITS)) for chosen, _ in groups]
    print(_format_row(["", *(f"{head} ({size:,})" for head, size in zip(heads, sizes, strict=True))]))
    print(_format_row(["---"] * (1 + len(heads))))
    for name, correct in rows.items():
        shares = [correct[chosen & (split == n)].mean() for n in range(len(SPLITS)) for chosen, _ in groups]
        print(_format_row([name, *(f"{100 * share:.1f}" for share in shares)]))
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    print()
    for name, metadata in results.items():
        if isinstance(metadata, dict):
            best = max((trial["curve"] for trial in metadata["trials"]), key=_best_accuracy)
            curve = " ".join(f"{100 * epoch['accuracy']:.1f}" for epoch in best["epochs"])
            sizes_of, speeds = metadata["parameters"], metadata["speed"]
            epochs = metadata["final"]["epochs"]
            print(
                f"{name}: {metadata['plan']['learning_rate']:.1e}, {metadata['plan']['head_learning_rate']:.1e}, "
                f"mask_prob {metadata['plan']['mask_prob']}, epoch {best['best_epoch']}; curve {curve}; "
                f"weights {sizes_of['encoder']:,} + {sizes_of['head']:,}; "
                f"{np.median([epoch['seconds'] for epoch in epochs]):.1f} s an epoch; "
                f"{speeds['mentions_per_second']:,.0f} mentions/s, {speeds['share_of_peak']:.1%} of the peak"
            )


def _best_accuracy(curve: dict[str, Any]) -> float:
    """Return the highest accuracy of a learning curve, given as a dictionary."""
    return max(epoch["accuracy"] for epoch in curve["epochs"])


def _format_row(cells: list[str]) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


COMMANDS: dict[str, Callable[..., None]] = {"prepare": prepare, "run": run, "speed": speed, "report": report}

if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    COMMANDS[command](*map(Path, paths[:2]), *map(float, paths[2:]))
