"""Train the reference linkers on documents of ZELDA's WNED splits, and measure what they and the hardware give.

    python bench/train.py prepare SHARED DIR       tokens, candidates and weights as plain files (needs karat[train])
    python bench/train.py run DIR OUT [SECONDS]    training and prediction (needs torch, numpy and safetensors alone)
    python bench/train.py speed DIR OUT            throughput with 821,559 entities (the same)
    python bench/train.py report DIR OUT           the tables of docs/training.md

SHARED is a folder of published benchmarks. Documents are split 80/20 by a seed; of the 80, a tenth chooses learning
rates and epochs, then training begins anew on all of them. Candidates are those of a published dual encoder, sorted, so
that their order says nothing.
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

from karat.linking.neural.decide import Decisions, decide
from karat.linking.neural.encoder import BertEncoder, BertShape, encoder_folder, read_encoder
from karat.linking.neural.models import BiEncoderModel, EntityModel, FevryModel, LukeModel, parameters
from karat.linking.neural.snippets import Snippets
from karat.training.baselines import listed_gold, most_frequent, most_popular, seen
from karat.training.curve import Epoch
from karat.training.loop import fit
from karat.training.plan import PRESETS, TrainingPlan

SPLITS = {"wned-wiki": "WNED-WIKI", "cweb": "WNED-CWEB"}
PEAK = 989e12  # dense bf16 of an H200, by its maker
BASE = BertShape(30522, 768, 12, 12, 3072)
ZELDA_ENTITIES, ZELDA_MENTIONS, ZELDA_SECTIONS = 821_559, 2_600_000, 95_000
SEED = 20261116


# Preparation


def prepare(shared: Path, folder: Path) -> None:
    import gzip

    from safetensors.torch import save_file

    from karat.linking.neural.encoder import MINILM, read_weights
    from karat.linking.neural.tokens import MarkedText, WordPieces

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
    pieces = WordPieces.read(encoder_folder(MINILM))
    marked = [
        MarkedText(text, spans, [codes[title] for title in golds], [sorted(codes[t] for t in each) for each in listed])
        for (text, spans, golds), listed in zip(texts, lists, strict=True)
    ]
    every = pieces.snippets(marked, 400)
    every.save(folder / "snippets.npz")
    titles, lengths = pieces.names(names, 24)
    rng = np.random.default_rng(SEED)
    part = np.full(len(texts), 2)
    for number in range(len(SPLITS)):
        places = rng.permutation(np.flatnonzero(np.array(split) == number))
        held = len(places) // 5
        dev = (len(places) - held) // 10
        part[places[held : held + dev]] = 1
        part[places[held + dev :]] = 0
    np.savez_compressed(
        folder / "rest.npz", titles=titles.astype(np.uint16), lengths=lengths.astype(np.uint8), part=part, split=split
    )
    surface = [texts[d][0][s:e] for d, s, e in zip(every.document, every.start, every.end, strict=True)]
    chosen = _chosen(texts, other, codes)
    _baselines(every, part, surface, chosen, folder)
    (folder.parent / "titles.json").write_text(json.dumps(names, ensure_ascii=False), encoding="utf-8")
    (folder / "model").mkdir(exist_ok=True)
    source = encoder_folder(MINILM)
    (folder / "model/config.json").write_bytes((source / "config.json").read_bytes())
    weights = {
        name: tensor.half()
        for name, tensor in read_weights(source / "model.safetensors").items()
        if tensor.is_floating_point()
    }
    save_file(weights, folder / "model/model.safetensors")
    print(f"{len(texts)} documents, {every.mentions} mentions, {len(every)} windows, {len(names)} entities")


def _chosen(texts: list[Any], other: list[list[str | None]], codes: dict[str, int]) -> list[int]:
    """The dual encoder's own choice for each mention, in the order of the windows."""
    found = []
    for (_, spans, _), predicted in zip(texts, other, strict=True):
        order = sorted(range(len(spans)), key=spans.__getitem__)
        found.extend(codes.get(predicted[place] or "", -1) for place in order)
    return found


def _baselines(
    every: Snippets, part: np.ndarray[Any, Any], surface: list[str], chosen: list[int], folder: Path
) -> None:
    held, train = part[every.document] == 2, part[every.document] != 2
    known, test = every.of_mentions(np.flatnonzero(train)), every.of_mentions(np.flatnonzero(held))
    words = [one for one, is_known in zip(surface, train, strict=True) if is_known]
    asked = [one for one, is_held in zip(surface, held, strict=True) if is_held]
    np.savez_compressed(
        folder / "baselines.npz",
        mfs=most_frequent(known, words, asked),
        popular=most_popular(known, test),
        dual=np.array(chosen)[held],
        listed=listed_gold(test),
        seen=seen(known, test),
    )


# Training


class Bed:
    """All that was prepared, with the parts of the split."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.every = Snippets.read(folder / "snippets.npz")
        with np.load(folder / "rest.npz") as rest:
            self.titles, self.lengths = rest["titles"].astype(np.int64), rest["lengths"].astype(np.int64)
            self.part, self.split = rest["part"], rest["split"]
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def of(self, *parts: int) -> Snippets:
        return self.every.of_documents(np.flatnonzero(np.isin(self.part, parts)))

    def model(self, kind: str, plan: TrainingPlan) -> EntityModel:
        torch.manual_seed(plan.seed)
        encoder = read_encoder(self.folder / "model", plan.dropout)
        if kind == "bi-encoder":
            return BiEncoderModel(encoder, self.titles, self.lengths).to(self.device)
        kinds: dict[str, Callable[..., EntityModel]] = {"fevry": FevryModel, "luke-head": LukeModel}
        return kinds[kind](encoder, len(self.titles), plan.dimension).to(self.device)


SMALL = PRESETS["small"]
TRIALS: dict[str, tuple[str, list[TrainingPlan]]] = {
    "fevry": (
        "fevry",
        [SMALL.but(rate=rate, head_rate=head) for rate, head in ((1e-4, 5e-3), (2e-4, 5e-3), (2e-4, 1e-2))],
    ),
    "fevry-lists": ("fevry", [SMALL.but(softmax="listed")]),
    "fevry-sampled": ("fevry", [SMALL.but(softmax="sampled", negatives=16384)]),
    "luke-head": ("luke-head", [SMALL.but(masked=masked) for masked in (0.6, 0.9)]),
    "bi-encoder": (
        "bi-encoder",
        [SMALL.but(softmax="sampled", negatives=256, hard=8, rate=rate, head_rate=1e-3) for rate in (1e-4, 2e-4)],
    ),
}
SHARES = {"fevry": 0.27, "fevry-lists": 0.37, "fevry-sampled": 0.47, "luke-head": 0.68, "bi-encoder": 1.0}


def run(folder: Path, out: Path, budget: float = 540) -> None:
    begin = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    bed = Bed(folder)
    found: dict[str, Any] = {"device": _device(bed.device), "torch": torch.__version__}
    predictions: dict[str, Any] = {}
    predictions["zero-shot"] = _predict(bed, bed.model("bi-encoder", SMALL), "bi-encoder")
    for name, (kind, plans) in TRIALS.items():
        limit = begin + budget * SHARES[name]
        found[name], predictions[name] = _trained(bed, kind, plans, limit, budget)
        print(name, json.dumps(_scores(bed, predictions[name])), flush=True)
        _write(out, found, predictions)
    print(f"{time.perf_counter() - begin:.0f} s", flush=True)


def _trained(bed: Bed, kind: str, plans: list[TrainingPlan], limit: float, budget: float) -> tuple[Any, Any]:
    """Each plan on nine tenths, judged on the tenth; then the best of them on all, for as many epochs as were best."""
    train, dev = bed.of(0), bed.of(1)
    trials = []
    for place, plan in enumerate(plans):
        now = time.perf_counter()
        share = now + (limit - now) / (len(plans) - place + 1.2)  # the last part is for the training on all
        model = bed.model(kind, plan)
        curve = fit(model, train, dev, plan, tell=_tell(kind), until=lambda share=share: time.perf_counter() > share)
        trials.append((curve.accuracy or 0.0, plan, curve))
        del model
    _, plan, curve = max(trials, key=lambda trial: trial[0])
    final = bed.model(kind, plan)
    start = time.perf_counter()
    # the schedule of the best trial, and an end where that was best
    last = fit(final, bed.of(0, 1), None, plan, tell=_tell(kind), until=_after(curve.best))
    spent = time.perf_counter() - start
    about = {
        "plan": plan.written(),
        "trials": [{"plan": plan.written(), "curve": curve.written()} for _, plan, curve in trials],
        "final": last.written(),
        "parameters": parameters(final),
        "seconds": spent,
        "speed": _speed(final, last.epochs[-1], bed.of(0, 1), plan),
    }
    start = time.perf_counter()
    predicted = _predict(bed, final, kind)
    about["seconds_to_predict"] = time.perf_counter() - start
    return about, predicted


def _after(epochs: int) -> Callable[[], bool]:
    left = iter(range(epochs - 1))
    return lambda: next(left, None) is None


def _tell(kind: str) -> Callable[[Epoch], None]:
    def tell(epoch: Epoch) -> None:
        said = "" if epoch.accuracy is None else f" dev {epoch.accuracy:.4f}"
        print(f"{kind} {epoch.number}: loss {epoch.loss:.4f}{said} {epoch.seconds:.2f} s", flush=True)

    return tell


def _predict(bed: Bed, model: EntityModel, kind: str) -> dict[str, Decisions]:
    held = bed.of(2)
    ways: dict[str, dict[str, bool]] = {"all": {"listed": False}, "lists": {"listed": True}}
    if kind == "luke-head":
        ways |= {f"{name} in order": {**way, "in_order": True} for name, way in ways.items()}
    return {name: decide(model, held, most=5, batch=64, **way) for name, way in ways.items()}


def _scores(bed: Bed, predicted: dict[str, Decisions]) -> dict[str, Any]:
    held = bed.of(2)
    with np.load(bed.folder / "baselines.npz") as base:
        known = base["seen"]
    split = bed.split[held.document]
    groups = {"seen": known, "unseen": ~known, "both": known | ~known}
    return {
        way: {
            f"{name} {group}": round(float((each.decided == held.gold)[chosen & (split == number)].mean()), 4)
            for number, name in enumerate(SPLITS)
            for group, chosen in groups.items()
        }
        for way, each in predicted.items()
    }


def _speed(model: EntityModel, epoch: Epoch, part: Snippets, plan: TrainingPlan) -> dict[str, float]:
    """Mentions a second, and the share of the peak that the operations of the model itself would take."""
    shape = model.encoder.shape
    flops = 3 * shape.flops(epoch.tokens, epoch.tokens // len(part))
    if plan.softmax == "full" and not isinstance(model, BiEncoderModel):
        flops += 3 * 2 * epoch.mentions * model.size * plan.dimension
    return {
        "mentions_per_second": epoch.mentions / epoch.seconds,
        "tokens_per_second": epoch.tokens / epoch.seconds,
        "tflops": flops / epoch.seconds / 1e12,
        "share_of_peak": flops / epoch.seconds / PEAK,
    }


def _write(out: Path, found: dict[str, Any], predictions: dict[str, dict[str, Decisions]]) -> None:
    (out / "results.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    arrays = {
        f"{name}/{way}": each.codes.astype(np.int32) for name, ways in predictions.items() for way, each in ways.items()
    }
    np.savez_compressed(out / "predictions.npz", **arrays)


def _device(device: torch.device) -> str:
    return torch.cuda.get_device_name() if device.type == "cuda" else "CPU"


# Throughput


def speed(folder: Path, out: Path) -> None:
    """Steps of training at the size of ZELDA: as many entities, full windows, mentions as in its sections."""
    out.mkdir(parents=True, exist_ok=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    small = BertShape.read(folder / "model")
    found = []
    sizes = {"MiniLM": small, "BERT base": BASE}
    zelda = PRESETS["zelda"].but(epochs=2)
    plain = [
        (name, softmax, batch) for name in sizes for softmax in ("full", "sampled", "listed") for batch in (64, 256)
    ]
    asked = [(*each, False) for each in plain] + [
        (name, softmax, 256, True) for name in reversed(sizes) for softmax in ("sampled", "full")
    ]
    for name, softmax, batch, compiled in asked:
        plan = zelda.but(softmax=softmax, batch=batch, compiled=compiled)
        found.append(_timed(name, sizes[name], plan, device))
        print(json.dumps(found[-1]), flush=True)
        (out / "speed.json").write_text(json.dumps(found, indent=1), encoding="utf-8")


def _timed(
    name: str,
    shape: BertShape,
    plan: TrainingPlan,
    device: torch.device,
    entities: int = ZELDA_ENTITIES,
    steps: int = 12,
) -> dict[str, Any]:
    rng = np.random.default_rng(SEED)
    model = FevryModel(BertEncoder(shape, plan.dropout), entities, plan.dimension).to(device)
    made = _generated(
        rng, plan.batch * steps, plan.tokens, ZELDA_MENTIONS // ZELDA_SECTIONS, shape.vocabulary, entities
    )
    curve = fit(model, made, None, plan)
    epoch = curve.epochs[-1]  # the first one is slower
    rates = _speed(model, epoch, made, plan)
    memory = torch.cuda.max_memory_allocated() if device.type == "cuda" else 0
    if device.type == "cuda":
        del model
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    return {
        "encoder": name,
        "softmax": plan.softmax,
        "batch": plan.batch,
        "compiled": plan.compiled,
        "device": _device(device),
        **rates,
        "hours_per_epoch_of_zelda": ZELDA_MENTIONS / rates["mentions_per_second"] / 3600,
        "gigabytes": memory / 1e9,
    }


def _generated(
    rng: np.random.Generator, count: int, length: int, each: int, vocabulary: int, entities: int, listed: int = 20
) -> Snippets:
    """Windows of chance, all of them full."""
    mentions = count * each
    first = np.tile(1 + np.arange(each) * ((length - 2) // each), count)
    whole = {
        "tokens": rng.integers(1000, vocabulary, count * length),
        "ends": np.arange(1, count + 1) * length,
        "window": np.repeat(np.arange(count), each),
        "first": first,
        "last": first + 2,
        "gold": rng.integers(entities, size=mentions),
        "candidates": rng.integers(entities, size=mentions * listed),
        "candidate_ends": np.arange(1, mentions + 1) * listed,
        **{name: np.zeros(mentions) for name in ("document", "start", "end")},
    }
    return Snippets(**{name: values.astype(np.int32) for name, values in whole.items()})


# Tables


def report(folder: Path, out: Path) -> None:
    bed = Bed(folder)
    held = bed.of(2)
    split = bed.split[held.document]
    with np.load(folder / "baselines.npz") as base, np.load(out / "predictions.npz") as found:
        known = base["seen"]
        rows = {
            "most frequent sense of the training part": base["mfs"] == held.gold,
            "most popular candidate": base["popular"] == held.gold,
            "the dual encoder's own choice": base["dual"] == held.gold,
            **{name.replace("/", ", "): found[name][:, 0] == held.gold for name in found},
            "entity is a candidate": base["listed"],
            "entity is seen": known,
        }
    groups = [(known, "seen"), (~known, "unseen"), (known | ~known, "all")]
    heads = [f"{title} {group}" for title in SPLITS.values() for _, group in groups]
    sizes = [int((chosen & (split == n)).sum()) for n in range(len(SPLITS)) for chosen, _ in groups]
    print(_markdown(["", *(f"{head} ({size:,})" for head, size in zip(heads, sizes, strict=True))]))
    print(_markdown(["---"] * (1 + len(heads))))
    for name, right in rows.items():
        shares = [right[chosen & (split == n)].mean() for n in range(len(SPLITS)) for chosen, _ in groups]
        print(_markdown([name, *(f"{100 * share:.1f}" for share in shares)]))
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    print()
    for name, about in results.items():
        if isinstance(about, dict):
            best = max((trial["curve"] for trial in about["trials"]), key=_accuracy)
            curve = " ".join(f"{100 * epoch['accuracy']:.1f}" for epoch in best["epochs"])
            sizes_of, speeds = about["parameters"], about["speed"]
            epochs = about["final"]["epochs"]
            print(
                f"{name}: {about['plan']['rate']:.1e}, {about['plan']['head_rate']:.1e}, "
                f"masked {about['plan']['masked']}, epoch {best['best']}; curve {curve}; "
                f"weights {sizes_of['encoder']:,} + {sizes_of['head']:,}; "
                f"{np.median([epoch['seconds'] for epoch in epochs]):.1f} s an epoch; "
                f"{speeds['mentions_per_second']:,.0f} mentions/s, {speeds['share_of_peak']:.1%} of the peak"
            )


def _accuracy(curve: dict[str, Any]) -> float:
    return max(epoch["accuracy"] for epoch in curve["epochs"])


def _markdown(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


COMMANDS: dict[str, Callable[..., None]] = {"prepare": prepare, "run": run, "speed": speed, "report": report}

if __name__ == "__main__":
    asked, *paths = sys.argv[1:]
    COMMANDS[asked](*map(Path, paths[:2]), *map(float, paths[2:]))
