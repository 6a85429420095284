"""The outcome of a training, as text."""

from __future__ import annotations

from karat.model.output.text_layout import format_table, wrap_text
from karat.render.tables import UNDEFINED
from karat.systems.linking.neural.metadata import DESCRIPTION_KINDS
from karat.systems.training.curve import OUTSIDE_VOCABULARY, Epoch, TimeEstimate, TrainingResult

_COLUMNS = ("epoch", "loss", "accuracy on dev", "seconds", "mentions/s", "learning rate")


def format_epoch(epoch: Epoch) -> str:
    """Return a line about a finished epoch: loss, accuracy and seconds."""
    accuracy = "" if epoch.accuracy is None else f", {epoch.accuracy:.1%} correct"
    return f"epoch {epoch.number}: loss {epoch.loss:.4f}{accuracy} ({epoch.seconds:.0f} s)"


def format_estimate(estimate: TimeEstimate) -> str:
    """Return a line about the expected duration of a training."""
    epochs = f"{estimate.n_epochs} epoch{'s' * (estimate.n_epochs != 1)}"
    scoring = "" if estimate.has_scoring else ", without scoring the development data"
    steps = f"measured on {estimate.n_steps} step{'s' * (estimate.n_steps != 1)}"
    return f"about {_format_duration(estimate.seconds)} for {epochs} on this machine{scoring} ({steps})"


def _format_duration(seconds: float) -> str:
    """Return a duration with a fitting unit."""
    for size, unit in ((3600, "hour"), (60, "minute"), (1, "second")):
        count = round(seconds / size)
        if count >= 2 or unit == "second":
            return f"{max(1, count)} {unit}{'s' * (count > 1)}"
    raise AssertionError


def render_page(result: TrainingResult, width: int | None = None) -> str:
    """Render the learning curve, the number of weights, skipped items and the next command.

    `width`: columns to wrap at; None does not wrap.
    """
    rows = [_COLUMNS, *(_build_row(epoch) for epoch in result.curve.epochs)]
    size = result.parameters
    sizes = [
        ("weights", "number"),
        ("encoder", f"{size['encoder']:,}"),
        (f"other layers, for {result.n_entities:,} entities", f"{size['head']:,}"),
        ("total", f"{sum(size.values()):,}"),
    ]
    choice = "the last" if result.curve.accuracy is None else "the best"
    notes = [f"Trained on {result.device}; epoch {result.curve.best_epoch} is {choice} and was saved."]
    if result.curve.stopped_early:
        notes.append(f"Stopped early: {result.options.patience} epochs without improvement.")
    notes += [f"{item}: {count:,}." for item, count in result.counts.items() if count]
    if result.kind in DESCRIPTION_KINDS and result.counts.get(f"{OUTSIDE_VOCABULARY} (development)"):
        notes.append("Entities outside the vocabulary are never linked. Add those of dev and test: --vocabulary FILE")
    system = "cross-encoder[kb=SNAPSHOT]" if result.kind == "cross-encoder" else result.kind
    if result.has_dev_candidates:
        listed = f"{result.kind}[candidate-file=FILE]:{result.folder}"
        notes.append(f"Accuracy on dev is among the candidates, as with karat run '{listed}' --on DEV --task d2kb")
    notes.append(f"Use it: karat run '{system}:{result.folder}' --on DATASET --task d2kb")
    notes.append(f"Add test scores to its model card: karat systems card {result.folder} --scores RESULT")
    parts = [
        format_table(rows, (), width),
        format_table(sizes, (0,), width),
        "\n".join(wrap_text(note, width) for note in notes),
    ]
    return "\n\n".join(parts) + "\n"


def _build_row(epoch: Epoch) -> tuple[str, ...]:
    """Return the row of an epoch in the learning curve."""
    return (
        str(epoch.number),
        f"{epoch.loss:.4f}",
        UNDEFINED if epoch.accuracy is None else f"{100 * epoch.accuracy:.2f}",
        f"{epoch.seconds:.1f}",
        f"{epoch.n_mentions / epoch.seconds:,.0f}",
        f"{epoch.learning_rate:.1e}",
    )
