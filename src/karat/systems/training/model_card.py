"""Model cards: the README.md of a trained model in the layout of the Hugging Face Hub, with scores and signatures.

The card has a YAML header and a text. `karat train` writes it without test scores. Scores that are added later replace
the key `model-index` of the header and the part of the text between two marks; everything else belongs to the user.
`scores.json` has the same scores for programs. Facts that are not known are listed as unknown.

The folder of a model of spaCy, transformers or another library gets the same scores. Karat cannot check where their
predictions come from, and the card says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from karat.model.corpus import Corpus, DataName
from karat.model.errors import InputError, UsageError
from karat.model.json.decoder import read_json_value
from karat.model.results.result import Result
from karat.storage.atomic_writing import open_for_writing
from karat.storage.files import Source
from karat.systems.linking.neural.metadata import METADATA_FILE, read_metadata
from karat.systems.training.curve import TrainingResult
from karat.systems.training.options import TrainingOptions, find_unused_options
from karat.version import __version__

CARD: Final = "README.md"
SCORES: Final = "scores.json"
_UNKNOWN: Final = "unknown"
_LIBRARY_FILES: Final = {"meta.json": "spacy", "config.json": "transformers"}
"""Files of other libraries in the folders of their models, with the name of the library on the Hub."""

_UNCHECKED: Final = "The predictions were given to Karat, which cannot check that they come from this model."
_BEGIN, _END = "<!-- scores: written by karat -->", "<!-- end of scores -->"
_HUB_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[\w.-]+)?")
_LANGUAGE: Final = re.compile(r"[a-z]{2,3}")
_LICENCE: Final = re.compile(r"[a-z0-9][a-z0-9.-]*")
_FACTS: Final = (
    "licence",
    "language",
    "training data",
    "licence of the training data",
    "development data",
    "accuracy on the development data",
    "encoder",
    "entities",
    "weights",
    "epochs",
    "training time",
    "device",
    "version of Karat",
)
"""The facts that a card states, or lists as unknown."""


class CardMetric(msgspec.Struct, frozen=True, omit_defaults=True):
    """A score in a model card."""

    measure: str
    """The measure, such as `strong:micro.f1`."""
    title: str
    """The name for readers."""
    value: float | None
    """The score; None if it is undefined."""
    interval: tuple[float, float] | None = None
    """The confidence interval, if there is one."""


class CardScores(msgspec.Struct, frozen=True, omit_defaults=True):
    """The scores of a model on one dataset, with the signature that says how they were computed."""

    dataset: str
    """The name of the dataset."""
    digest: str
    """The digest of the gold standard."""
    task: str
    """The task, such as `d2kb`."""
    documents: int
    """The number of documents."""
    signature: str
    """The full signature."""
    metrics: tuple[CardMetric, ...]
    """The headline scores."""
    confidence: float | None = None
    """The level of the intervals."""
    is_training_data: bool = False
    """Whether the model was trained on a dataset of this name."""
    options: str = ""
    """The options with which the model ran, such as a file of candidates."""

    @property
    def title(self) -> str:
        """The name of the dataset for readers, with what must not be overlooked: training data and options."""
        remarks = ["training data"] * self.is_training_data + [self.options] * bool(self.options)
        return f"{self.dataset} ({', '.join(remarks)})" if remarks else self.dataset

    @classmethod
    def from_result(cls, result: Result, training_data: str) -> CardScores:
        """Return the headline scores of a result, or all scores of its table if it has none.

        `training_data`: name of the dataset on which the model was trained.
        """
        titles = dict(result.headline) or {name: name for name in result.table_measures}
        signature = str(result.signature)
        data = DataName.parse(_get_part(signature, "data"))
        metrics = tuple(
            CardMetric(measure, title, result[measure], result.intervals.get(measure))
            for title, measure in titles.items()
        )
        return cls(
            dataset=result.corpus,
            digest=data.digest,
            task=_get_part(signature, "task"),
            documents=len(result.ids),
            signature=signature,
            metrics=metrics,
            confidence=result.confidence,
            is_training_data=result.corpus == training_data,
            options=",".join(
                option
                for option in result.run_metadata.get("options", "").split(",")
                if option and not option.startswith("argument=")
            ),
        )


def collect_facts(result: TrainingResult, train: Corpus, dev: Corpus | None, encoder: str) -> dict[str, str]:
    """Return the facts of a training for its card; those that are unknown are missing."""
    epochs, accuracy = result.curve.epochs, result.curve.accuracy
    scope = " among given candidates" if result.has_dev_candidates else ""
    pretraining = f"; the first {result.options.pretrain_epochs} on names" if result.options.pretrain_epochs else ""
    facts = {
        "language": train.metadata.get("language", ""),
        "training data": _name_corpus(train),
        "licence of the training data": train.metadata.get("licence", ""),
        "development data": "none" if dev is None else _name_corpus(dev),
        "accuracy on the development data": "none"
        if accuracy is None
        else f"{accuracy:.4f}{scope}, which chose the epoch",
        "encoder": Path(encoder).name,
        "entities": f"{result.n_entities:,}",
        "weights": f"{sum(result.parameters.values()):,}",
        "epochs": f"{len(epochs)}, of which number {result.curve.best_epoch} was saved{pretraining}",
        "training time": f"{sum(epoch.seconds for epoch in epochs):.0f} s",
        "device": result.device,
        "version of Karat": __version__,
    }
    return {name: value for name, value in facts.items() if value}


def write_card(folder: Path, facts: Mapping[str, str] | None = None, *, datasets: Sequence[str] = ()) -> None:
    """Write the card of a model without test scores, unless the folder has one.

    `facts`: values of `_FACTS`; those that are missing are unknown. `datasets`: names of the training data, of which
    the header lists those that can be names on the Hub.
    """
    if not (folder / CARD).exists():
        metadata = read_metadata(folder)
        defaults = {
            "training data": metadata["metadata"].get("data", ""),
            "encoder": metadata["metadata"].get("encoder", ""),
        }
        known_facts = {name: value for name, value in (defaults | dict(facts or {})).items() if value}
        _write_text(folder / CARD, _format_card(folder.resolve().name, metadata, known_facts, datasets))


def update_card(folder: Path, results: Iterable[Result] = (), *, licence: str = "") -> list[CardScores]:
    """Add scores to the card of a model, or set its licence; return all scores of the card.

    `folder` has a model that Karat trained, or one of another library. Scores of the same dataset with the same
    signature are replaced. A folder without card gets one. Results of other predictions than those of a model that
    Karat trained, and a licence that is no identifier, raise `UsageError`; a card without header raises `InputError`.
    """
    if licence and not _LICENCE.fullmatch(licence):
        raise UsageError(f"{licence!r} is not an identifier of a licence. Write it as the Hub does: apache-2.0, mit, …")
    is_checked = not _is_foreign_model(folder)
    metadata = read_metadata(folder) if is_checked else {"metadata": {}}
    new_scores = []
    for result in results:
        if is_checked:
            _check_weights(result, metadata, folder)
        new_scores.append(CardScores.from_result(result, metadata["metadata"].get("data", "")))
    if is_checked:
        write_card(folder)
    elif not (folder / CARD).exists():
        _write_text(folder / CARD, _format_foreign_card(folder))
    scores = {(item.dataset, item.signature): item for item in [*_read_scores(folder / SCORES), *new_scores]}
    ordered = sorted(scores.values(), key=lambda item: (item.dataset, item.signature))
    path = folder / CARD
    header, text = _split_card(Source(str(path)).read_bytes().decode(errors="replace"), str(path))
    if new_scores:
        index = _format_model_index(folder.resolve().name, ordered)
        part = [*_format_scores(ordered), *([] if is_checked else ["", _UNCHECKED])]
        header, text = _replace_key(header, "model-index", index), _replace_scores(text, part)
    if licence:
        header = _replace_key(header, "license", [f"license: {licence}"])
        text = re.sub(r"(?m)^\| licence \| .* \|$", f"| licence | {licence} |", text, count=1)
    if new_scores:
        _write_text(folder / SCORES, json.dumps(msgspec.to_builtins(ordered), ensure_ascii=False, indent=1) + "\n")
    _write_text(path, "\n".join(["---", *header, "---", text]))
    return ordered


def _is_foreign_model(folder: Path) -> bool:
    """Return whether a folder has no model that Karat trained, but a card or a file of another library."""
    return not (folder / METADATA_FILE).exists() and any((folder / name).exists() for name in (CARD, *_LIBRARY_FILES))


def _check_weights(result: Result, metadata: Mapping[str, Any], folder: Path) -> None:
    """Raise `UsageError` if the run of a result does not state that it comes from the weights of this model."""
    weights = result.run_metadata.get("weights")
    if weights != metadata["digest"]:
        problem = "the run does not name its weights" if weights is None else f"the run has other weights ({weights})"
        raise UsageError(
            f"{result.run} on {result.corpus}: {problem}, not those of {folder}. Run this model: "
            f"karat run {metadata['kind']}:{folder} --on DATASET --task d2kb, and score its predictions."
        )


def _get_part(signature: str, name: str) -> str:
    """Return the part `name` of a full signature; empty if it has none."""
    parts = dict(part.partition(":")[::2] for part in signature.split("|"))
    return parts.get(name, "")


def _name_corpus(corpus: Corpus) -> str:
    """Return name and digest of a corpus."""
    return f"{corpus.name}@{corpus.digest}"


def _read_scores(path: Path) -> list[CardScores]:
    """Read the scores that a card has; none without file."""
    if not path.exists():
        return []
    return read_json_value(
        Source(str(path)).read_bytes(),
        list[CardScores],
        str(path),
        actual="other content ({problem})",
        expected="scores as karat systems card writes them",
        remedy="Delete the file and add the scores again",
    )


def _write_text(path: Path, text: str) -> None:
    """Write a text file, which appears when it is complete."""
    with open_for_writing(str(path)) as file:
        file.write(text.encode())


# --- the parts of a card


def _format_card(name: str, metadata: Mapping[str, Any], facts: Mapping[str, str], datasets: Sequence[str]) -> str:
    """Return the card of a model without test scores."""
    kind = metadata["kind"]
    hub_names = [dataset for dataset in datasets if _HUB_NAME.fullmatch(dataset)]
    language = facts.get("language", "")
    header = [
        f"license: {_UNKNOWN}",
        *([f"language: {language}"] if _LANGUAGE.fullmatch(language) else []),
        "library_name: karat",
        "tags:",
        *(f"- {tag}" for tag in ("entity-linking", "entity-disambiguation", "karat", kind)),
        *(["datasets:", *(f"- {_quote(dataset)}" for dataset in hub_names)] if hub_names else []),
        *_format_model_index(name, []),
    ]
    rows = [f"| {fact} | {_escape(facts.get(fact, _UNKNOWN))} |" for fact in _FACTS]
    unused = find_unused_options(kind, TrainingOptions.from_dict(metadata["options"]), has_candidates=True)
    options = [
        f"| {option} | {_escape(str(value))} |" for option, value in metadata["options"].items() if option not in unused
    ]
    text = [
        "",
        f"# {name}",
        "",
        f"An entity linker of the kind `{kind}`, trained with Karat. It links given mentions to entities.",
        "",
        "```sh",
        f"karat run {kind}:{name} --on DATASET --task d2kb",
        "```",
        "",
        "Karat loads the folder; `transformers` does not.",
        "",
        "## Scores",
        "",
        _BEGIN,
        *_format_scores([]),
        _END,
        "",
        "## Facts",
        "",
        "| | |",
        "|---|---|",
        *rows,
        f"| digest of weights and entities | {metadata['digest']} |",
        "| intended use, limits, bias | unknown |",
        "",
        "## Training options",
        "",
        "| | |",
        "|---|---|",
        *options,
        "",
    ]
    return "\n".join(["---", *header, "---", *text])


def _format_foreign_card(folder: Path) -> str:
    """Return the card of a model of another library without test scores."""
    name = folder.resolve().name
    library = next((library for file, library in _LIBRARY_FILES.items() if (folder / file).exists()), _UNKNOWN)
    header = [f"license: {_UNKNOWN}", f"library_name: {library}", "tags:", "- entity-linking"]
    text = ["", f"# {name}", "", "## Scores", "", _BEGIN, *_format_scores([]), _END, ""]
    return "\n".join(["---", *header, "---", *text])


def _format_model_index(name: str, scores: Sequence[CardScores]) -> list[str]:
    """Return the lines of the header with the scores, as the Hub reads them; undefined scores are missing there.

    Without any score there are none, since the Hub requires results.
    """
    lines = []
    for item in scores:
        metrics = [metric for metric in item.metrics if metric.value is not None]
        if not metrics:
            continue
        lines += [
            "  - task:",
            "      type: entity-linking",
            f"      name: {_quote(item.task)}",
            "    dataset:",
            f"      type: {_quote(item.dataset)}",
            f"      name: {_quote(item.title)}",
            "      args:",
            f"        digest: {_quote(item.digest)}",
            "    metrics:",
        ]
        for metric in metrics:
            lines += [
                f"    - type: {_quote(metric.measure)}",
                f"      name: {_quote(metric.title)}",
                f"      value: {metric.value:.6f}",
                "      args:",
                f"        signature: {_quote(item.signature)}",
            ]
    return ["model-index:", f"- name: {_quote(name)}", "  results:", *lines] if lines else []


def _format_scores(scores: Sequence[CardScores]) -> list[str]:
    """Return the lines of the text between the marks: a table of scores, and the signature of each row."""
    if not scores:
        return ["No test scores yet. Add them with `karat systems card DIR --scores result.json`."]
    lines = ["| dataset | documents | task | score | value | signature |", "|---|---|---|---|---|---|"]
    for number, item in enumerate(scores, 1):
        for metric in item.metrics:
            value = "undefined" if metric.value is None else f"{metric.value:.4f}"
            if metric.interval is not None and item.confidence is not None:
                value += f" ({item.confidence:.0%}: {metric.interval[0]:.4f} to {metric.interval[1]:.4f})"
            score = metric.title if metric.title == metric.measure else f"{metric.title} ({metric.measure})"
            cells = (item.title, f"{item.documents:,}", item.task, score, value, str(number))
            lines.append("| " + " | ".join(map(_escape, cells)) + " |")
    signatures = [f"{number}. `{item.signature}`" for number, item in enumerate(scores, 1)]
    return [*lines, "", "Signatures, which `karat explain` reads:", "", *signatures]


def _replace_scores(text: str, lines: Sequence[str]) -> str:
    """Return the text with new `lines` between the marks, or with a section at the end if the marks are missing."""
    part = "\n".join([_BEGIN, *lines, _END])
    start, end = text.find(_BEGIN), text.find(_END)
    if 0 <= start < end:
        return text[:start] + part + text[end + len(_END) :]
    return f"{text.rstrip()}\n\n## Scores\n\n{part}\n"


def _split_card(card: str, where: str) -> tuple[list[str], str]:
    """Return the lines of the YAML header and the text of a card; raise `InputError` if it has no header."""
    lines = card.replace("\r\n", "\n").split("\n")
    if lines[0].strip() != "---" or "---" not in (line.strip() for line in lines[1:]):
        raise InputError(
            where,
            actual="a card without YAML header",
            expected="a first line ---, the header, and a line ---",
            remedy="Add the header, or rename the file to get a new card",
        )
    end = next(number for number, line in enumerate(lines[1:], 1) if line.strip() == "---")
    return lines[1:end], "\n".join(lines[end + 1 :])


def _replace_key(header: Sequence[str], key: str, new_lines: Sequence[str]) -> list[str]:
    """Return the lines of a header in which `new_lines` replace a key with its value, or follow if it is missing."""
    start = next((number for number, line in enumerate(header) if line.startswith(f"{key}:")), len(header))
    end = start + 1
    while end < len(header) and (not header[end] or header[end][0] in " \t-#"):
        end += 1
    return [*header[:start], *new_lines, *header[end:]]


def _quote(text: str) -> str:
    """Return a text as a double-quoted string of YAML."""
    return json.dumps(text, ensure_ascii=False)


def _escape(text: str) -> str:
    """Return a text for a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")
