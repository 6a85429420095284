"""Trainings, as `karat train` prints them."""

from __future__ import annotations

from karat.fitting import columns, wrapped
from karat.training.curve import Epoch, Trained

_HEAD = ("epoch", "loss", "accuracy on dev", "seconds", "mentions/s", "learning rate")


def epoch_line(epoch: Epoch) -> str:
    """An epoch as it ends."""
    right = "" if epoch.accuracy is None else f", {epoch.accuracy:.1%} right"
    return f"epoch {epoch.number}: loss {epoch.loss:.4f}{right} ({epoch.seconds:.0f} s)"


def trained_page(trained: Trained, width: int | None = None) -> str:
    """The learning curve, how large the linker is, what of the texts is not in it, and what to do next."""
    rows = [_HEAD, *(_row(epoch) for epoch in trained.curve.epochs)]
    size = trained.parameters
    sizes = [
        ("weights", "number"),
        ("encoder", f"{size['encoder']:,}"),
        (f"all else, for {trained.entities:,} entities", f"{size['head']:,}"),
        ("together", f"{sum(size.values()):,}"),
    ]
    notes = [f"Trained on {trained.device}; epoch {trained.curve.best} is kept."]
    if trained.curve.stopped_early:
        notes.append(f"Stopped early: {trained.plan.patience} epochs were no better.")
    notes += [f"{what}: {count:,}." for what, count in trained.counts.items() if count]
    notes.append(f"Use it: karat run {trained.kind}:{trained.folder} --on DATASET --task d2kb")
    parts = [columns(rows, (), width), columns(sizes, (0,), width), "\n".join(wrapped(note, width) for note in notes)]
    return "\n\n".join(parts) + "\n"


def _row(epoch: Epoch) -> tuple[str, ...]:
    return (
        str(epoch.number),
        f"{epoch.loss:.4f}",
        "–" if epoch.accuracy is None else f"{100 * epoch.accuracy:.2f}",
        f"{epoch.seconds:.1f}",
        f"{epoch.mentions / epoch.seconds:,.0f}",
        f"{epoch.rate:.1e}",
    )
