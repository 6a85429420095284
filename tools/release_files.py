"""Files of this release, one of each layout that Karat writes, for the test of the upgrade promise.

`python tools/release_files.py` writes tests/fixtures/release/VERSION. It needs the packages of all extras. Run it until
the release is made, whenever a layout, a signature or a public name changes; afterwards the files stay as they are.
All data comes from the demo, which is Karat's own.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from unittest.mock import patch

import msgspec
from click.testing import CliRunner

import karat
import karat.plugins
from karat.cli.main import karat as karat_command
from karat.model.registry import list_plugins

ROOT = Path(__file__).resolve().parent.parent
RELEASES = ROOT / "tests" / "fixtures" / "release"
NAMES = "names.json"
NOW = 1_800_000_000.0
"""The time of all judgements and annotations."""


Sameness = Literal["always", "when read", "fields"]
"""When outputs have the same content: always, when they are computed from the same files, or only their fields are the
same, since the content depends on time, chance or the catalogue."""


@dataclass(frozen=True)
class ReleaseStep:
    """A call that writes files of the release, or reads them and writes figures."""

    outputs: tuple[str, ...]
    """Files and folders that the call writes."""
    call: Callable[[], object] | str
    """Function without arguments, or the arguments of `karat`; it runs in the folder of the release."""
    needs_extras: bool = False
    """Whether the call needs the packages of extras."""
    sameness: Sameness = "always"
    """When the content of the outputs is the same."""


def _save_data() -> None:
    """Save four documents of the demo as gold standard, six others for training, and two systems' predictions."""
    demo = karat.load("demo")
    documents = list(demo)
    gold = karat.Corpus.from_documents(documents[:4], name="gold", licence="Apache-2.0")
    karat.save(karat.Corpus.from_documents(documents[20:26], name="train"), "train.jsonl")
    karat.save(karat.Corpus.from_documents(documents[:4], name="second"), "second.jsonl")
    ids = {document.id for document in gold}
    for suffix in ("jsonl", "parquet", "arrow"):
        karat.save(gold, f"gold.{suffix}")
        for name in ("noisy", "prior"):
            run = karat.load_run(f"demo/{name}", corpus=demo)
            responses = [response for response in run if response.id in ids]
            karat.save(karat.Run.from_responses(responses, name=name, **run.metadata), f"{name}.{suffix}")


def _judge_campaign(path: str) -> None:
    """Let one person judge all tasks of a campaign, or choose all links of a survey."""
    from karat.protocols.verification.campaign import Decision
    from karat.protocols.verification.store.store import CampaignStore, SubmittedDecision

    store = CampaignStore.open(path, lambda: NOW)
    judge = store.find_judge(store.start_session(store.create_invitation("anna"), has_consented=True))
    is_survey = store.options.kind == "survey"
    number = 0
    while (task := store.lease_task(judge)) is not None:
        for index, link in enumerate(task.links):
            number += 1
            decision = Decision.CHOOSE if is_survey else Decision.VERIFY if number % 3 else Decision.REMOVE
            chosen = (link.options[0].entity,) if is_survey and link.options else ()
            store.record_decision(judge, task, SubmittedDecision(f"n{number}", index, decision, chosen=chosen))
    store.database.close()


def _shrink_database(path: str) -> None:
    """Rewrite a database with small pages, which most of its tables do not fill."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=DELETE")
        database.execute("PRAGMA page_size=512")
        database.execute("VACUUM")


def _create_campaign() -> None:
    """Create a campaign with short guidelines, because it is stored twice, and judge it."""
    guidelines = Path("guidelines.txt")
    guidelines.write_text("Verify, modify or remove each link.\n", encoding="utf-8")
    _run_karat(
        "verify create campaign --gold gold.jsonl --predictions noisy.jsonl --controls none --tasks-per-judge 0 "
        "--guidelines guidelines.txt"
    )
    guidelines.unlink()
    _judge_campaign("campaign.sqlite")
    _shrink_database("campaign.sqlite")


def _create_survey() -> None:
    """Create a survey and answer it."""
    _run_karat("verify create survey --gold gold.jsonl --kind survey")
    _judge_campaign("survey.sqlite")
    _run_karat("verify backup survey.sqlite --out survey.backup.jsonl")


def _create_annotation() -> None:
    """Annotate the documents of a project twice, with one difference, and adjudicate it."""
    from karat.protocols.annotation.changes import AnnotatedLabel, LabelEdit
    from karat.protocols.annotation.store.store import AnnotationStore

    _run_karat("annotate create annotation --texts gold.jsonl --store annotation.sqlite --annotators 2")
    store = AnnotationStore.open("annotation.sqlite", lambda: NOW)
    labels = {document.id: document.labels for document in karat.load("gold.jsonl")}
    people = [store.find_judge(store.start_session(store.create_invitation(w), has_consented=True)) for w in "ab"]
    for person in people:
        while (task := store.lease_document(person)) is not None:
            marked = [label for label in labels[task.document] if not label.mention_id and label.kind is None]
            version = marked if person == people[0] else marked[1:]
            edits = [LabelEdit(f"n{number}", AnnotatedLabel(label)) for number, label in enumerate(version)]
            if edits:
                store.submit_change(person, task, "edit", 0, edits, seconds=30.0)
            store.finish(person, task, "finish")
    lead = store.add_adjudicator("lead")
    for task in store.project.tasks:
        for region in store.get_adjudicated(task).regions:
            if region.is_open:
                digest = region.region.digest
                store.decide(lead, task, f"decide-{region.region.start}", digest, people[0], reason="in the guidelines")
    store.database.close()
    _shrink_database("annotation.sqlite")


def _write_encoder() -> None:
    """Write a BERT of one small layer in Hugging Face's layout, with weights by a fixed rule."""
    import torch
    from safetensors.torch import save_file

    size, n_positions = 8, 64
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters)]
    config = {"vocab_size": len(vocabulary), "hidden_size": size, "num_hidden_layers": 1, "num_attention_heads": 2}
    config |= {
        "intermediate_size": 8,
        "max_position_embeddings": n_positions,
        "type_vocab_size": 2,
        "model_type": "bert",
    }
    shapes = {
        "embeddings.word_embeddings": (len(vocabulary), size),
        "embeddings.position_embeddings": (n_positions, size),
    }
    shapes |= {"embeddings.token_type_embeddings": (2, size)}
    torch.manual_seed(3)
    weights = {f"bert.{name}.weight": torch.randn(shape) for name, shape in shapes.items()}
    for name in ("embeddings", "encoder.layer.0.attention.output", "encoder.layer.0.output"):
        weights |= {f"bert.{name}.LayerNorm.weight": torch.ones(size), f"bert.{name}.LayerNorm.bias": torch.zeros(size)}
    parts = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
    for name in (*parts, "intermediate.dense", "output.dense"):
        weights[f"bert.encoder.layer.0.{name}.weight"] = torch.randn((size, size))
        weights[f"bert.encoder.layer.0.{name}.bias"] = torch.zeros(size)
    Path("encoder").mkdir()
    Path("encoder/vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    Path("encoder/config.json").write_text(json.dumps(config), encoding="utf-8")
    save_file(weights, "encoder/model.safetensors")


def _train_model() -> None:
    """Train a tiny model for one epoch, and keep what a trained system needs."""
    _write_encoder()
    _run_karat(
        "train fevry --train gold.jsonl --out model --encoder encoder --preset small --epochs 1 --dimension 4 "
        "--max-length 32 --device cpu --no-bf16 --no-compile --seed 1"
    )
    shutil.rmtree("encoder")
    for path in Path("model").glob("*checkpoint*"):
        path.unlink()


def _read_archive() -> None:
    """Write what the leaderboard shows of the archive, with four of its many tables."""
    from karat.model.output.json_files import encode_line
    from karat.storage.content_store import FolderStore
    from karat.web.archive.archive import Archive
    from karat.web.archive.leaderboard import build_leaderboard

    leaderboard = build_leaderboard(Archive(FolderStore.open_or_create(Path("archive"))))
    short = msgspec.structs.replace(leaderboard, tables=leaderboard.tables[:4], measure_titles={})
    Path("read/leaderboard.json").write_bytes(encode_line(short))


def _score_all_profiles() -> None:
    """Write signature and headline scores under every profile, which are the same from each layout of the data."""
    figures = {}
    for profile in list_plugins("profiles"):
        settings = {"membership": "whole"} if profile == "finegrained" else {}  # the demo has other categories
        results = [
            karat.evaluate(f"gold.{suffix}", f"noisy.{suffix}", profile=profile, settings=settings)
            for suffix in ("jsonl", "parquet", "arrow")
        ]
        signatures = {str(result.signature) for result in results}
        scores = [{name: result[name] for name in result.table_measures} for result in results]
        assert len(signatures) == 1, signatures
        assert scores[0] == scores[1] == scores[2]
        figures[profile] = {"signature": signatures.pop(), "scores": scores[0]}
        assert str(karat.parse_signature(figures[profile]["signature"])) == figures[profile]["signature"]
    Path("read/profiles.json").write_text(json.dumps(figures, indent=1), encoding="utf-8")


WRITE = (
    ReleaseStep(
        (
            *(f"{name}.{suffix}" for name in ("gold", "noisy", "prior") for suffix in ("jsonl", "parquet", "arrow")),
            "train.jsonl",
            "second.jsonl",
        ),
        _save_data,
    ),
    ReleaseStep(("result.json",), "score gold.jsonl noisy.jsonl --by types --ci --resamples 50 --json result.json"),
    ReleaseStep(("other.json",), "score gold.jsonl prior.jsonl --by types --ci --resamples 50 --json other.json"),
    ReleaseStep(("verdicts.parquet",), "score gold.jsonl noisy.jsonl --verdicts verdicts.parquet"),
    ReleaseStep(("verdicts.jsonl",), "score gold.jsonl noisy.jsonl --verdicts verdicts.jsonl"),
    ReleaseStep(
        ("categorised.jsonl", "categories.json"),
        "data categorise gold.jsonl --out categorised.jsonl --json categories.json",
    ),
    ReleaseStep(("parts",), "data split gold.jsonl --out parts --parts dev=0.25,test=0.75"),
    ReleaseStep(("published",), "data sheet parts/dev.jsonl --name release --out published", sameness="fields"),
    ReleaseStep(("snapshot",), "kb build text train.jsonl --out ./snapshot", sameness="fields"),
    ReleaseStep(("runs", "runs.json"), "run popular --on gold.jsonl --out runs --json runs.json", sameness="fields"),
    ReleaseStep(
        ("lists.parquet", "lists.json"),
        "zelda candidates lists.parquet --text train.jsonl --json lists.json",
        needs_extras=True,
    ),
    ReleaseStep(
        ("benchmark", "benchmark.json"),
        "zelda sample train.jsonl gold.jsonl --out benchmark --json benchmark.json",
        sameness="fields",
    ),
    ReleaseStep(
        ("archive",),
        "report --gold gold.jsonl noisy.jsonl --archive archive",
        needs_extras=True,  # spaCy counts words for error categories
        sameness="fields",
    ),
    ReleaseStep(("campaign.sqlite",), _create_campaign, needs_extras=True, sameness="fields"),
    ReleaseStep(("survey.backup.jsonl",), _create_survey, needs_extras=True, sameness="fields"),
    ReleaseStep(("annotation.sqlite",), _create_annotation, needs_extras=True, sameness="fields"),
    ReleaseStep(
        ("campaign.backup.jsonl",),
        "verify backup campaign.sqlite --out campaign.backup.jsonl",
        needs_extras=True,
        sameness="fields",
    ),
    ReleaseStep(
        ("annotation.backup.jsonl",),
        "annotate backup annotation.sqlite --out annotation.backup.jsonl",
        needs_extras=True,
        sameness="fields",
    ),
    ReleaseStep(("model",), _train_model, needs_extras=True, sameness="fields"),
)
"""Calls that write files which Karat reads again."""

READ = (
    ReleaseStep(("read/profiles.json",), _score_all_profiles),
    ReleaseStep(("read/leaderboard.json",), _read_archive, needs_extras=True),
    *(
        ReleaseStep((f"read/{name}.json",), f"{arguments} --json read/{name}.json", sameness=sameness)
        for name, arguments, sameness in (
            (
                "comparison",
                "compare --gold gold.jsonl noisy.jsonl prior.jsonl --resamples 50 --permutations 50",
                "always",
            ),
            ("comparison-of-results", "compare result.json other.json --resamples 50 --permutations 50", "always"),
            ("gate", "gate noisy.jsonl --baseline prior.jsonl --gold gold.jsonl --resamples 50", "always"),
            ("gate-of-results", "gate result.json --baseline other.json --resamples 50", "always"),
            ("agreement", "agreement gold.jsonl second.jsonl", "always"),
            ("annotation-plan", "annotate plan noisy.jsonl prior.jsonl --gold gold.jsonl --difference 0.1", "always"),
            ("scorecard", "scorecard --gold gold.jsonl noisy.jsonl prior.jsonl", "always"),
            ("curve", "curve gold.jsonl noisy.jsonl", "always"),
            ("curve-of-coverage", "curve gold.jsonl noisy.jsonl --over coverage", "always"),
            ("curve-of-alpha", "curve categorised.jsonl noisy.jsonl --over alpha", "always"),
            ("curve-of-categories", "curve categorised.jsonl noisy.jsonl --over categories", "always"),
            ("cases", "show gold.jsonl noisy.jsonl", "always"),
            ("why", "why gold.jsonl noisy.jsonl --reference-profile gerbil", "always"),
            ("lint", "data lint gold.jsonl", "always"),
            ("stats", "data stats gold.jsonl", "always"),
            ("datasets", "data list", "fields"),
            ("dataset", "data show aida", "fields"),
            ("systems", "systems", "fields"),
            ("stages", "systems stages popular --on gold.jsonl", "always"),
            ("snapshot", "kb show ./snapshot", "when read"),
            ("kb-find", "kb find Paris", "always"),
            ("kb-diff", "kb diff starter starter gold.jsonl noisy.jsonl", "always"),
            ("near-misses", "kb near-misses gold.jsonl noisy.jsonl --kb starter", "always"),
            ("check-nil", "kb check-nil gold.jsonl", "always"),
            ("resolution", "kb resolve gold.jsonl --kb starter", "always"),
            ("scores-of-run", "score gold.jsonl runs/gold/popular.jsonl", "when read"),
            ("zelda-audit", "zelda audit train.jsonl gold.jsonl", "always"),
            ("zelda-scores", "zelda score gold.jsonl noisy.jsonl", "always"),
            ("zelda-stats", "zelda stats gold.jsonl --tokens spaces", "always"),
        )
    ),
    *(
        ReleaseStep(outputs, arguments, needs_extras=True, sameness=sameness)
        for outputs, arguments, sameness in (
            (  # spaCy counts words for error categories
                ("read/scores-with-snapshot.json",),
                "score gold.jsonl noisy.jsonl --kb ./snapshot --by error --json read/scores-with-snapshot.json",
                "when read",
            ),
            (
                ("read/zelda-recall.json",),
                "zelda recall gold.jsonl --candidate-lists lists.parquet --json read/zelda-recall.json",
                "when read",
            ),
            (("read/verification.json",), "verify report campaign.sqlite --json read/verification.json", "when read"),
            ((), "verify restore survey.backup.jsonl restored-survey.sqlite", "fields"),
            (("read/survey.json",), "verify survey restored-survey.sqlite --json read/survey.json", "when read"),
            (("judgements.jsonl",), "verify export campaign.sqlite --out judgements.jsonl", "when read"),
            (("overlay.jsonl",), "verify overlay campaign.sqlite --out overlay.jsonl", "when read"),
            (
                ("read/scores-with-overlay.json",),
                "score gold.jsonl noisy.jsonl --overlay overlay.jsonl --json read/scores-with-overlay.json",
                "when read",
            ),
            ((), "verify restore campaign.backup.jsonl restored.sqlite", "fields"),
            (
                ("read/restored-verification.json",),
                "verify report restored.sqlite --json read/restored-verification.json",
                "when read",
            ),
            (
                ("read/annotation-report.json",),
                "annotate report annotation.sqlite --json read/annotation-report.json",
                "when read",
            ),
            (("annotated.jsonl",), "annotate export annotation.sqlite --out annotated.jsonl", "when read"),
            ((), "annotate restore annotation.backup.jsonl restored-annotation.sqlite", "fields"),
            (
                ("read/restored-annotation-report.json",),
                "annotate report restored-annotation.sqlite --json read/restored-annotation-report.json",
                "when read",
            ),
            (
                ("read/trained.json",),
                "run fevry:model --on gold.jsonl --task d2kb --out trained --json read/trained.json",
                "fields",
            ),
        )
    ),
)
"""Calls that read the files of a release and write what they find."""


def _run_karat(arguments: str) -> None:
    """Run a command in this process; raise its exception if it fails."""
    done = CliRunner().invoke(karat_command, arguments.split(), prog_name="karat")
    if done.exception is not None and not (isinstance(done.exception, SystemExit) and done.exit_code in (0, 1)):
        raise done.exception


@contextmanager
def _enter(folder: Path) -> Iterator[None]:
    """Work in a folder, with no data of the user's at hand."""
    with TemporaryDirectory() as home, chdir(folder), patch.dict(os.environ, KARAT_HOME=home, COLUMNS="1000"):
        os.environ.pop("KARAT_DATA", None)
        yield


def run_steps(steps: Sequence[ReleaseStep], folder: Path, *, has_extras: bool) -> None:
    """Run the steps in a folder; those that need extras only if these are installed."""
    (folder / "read").mkdir(parents=True, exist_ok=True)
    with _enter(folder):
        for step in steps:
            if step.needs_extras and not has_extras:
                continue
            _run_karat(step.call) if isinstance(step.call, str) else step.call()


def list_names() -> dict[str, str]:
    """Return the public names of `karat` and `karat.plugins`, with the parameters of functions."""
    names = {}
    for module in (karat, karat.plugins):
        for name in module.__all__:
            value = getattr(module, name)
            kind = "class" if inspect.isclass(value) else "function" if inspect.isfunction(value) else "value"
            names[f"{module.__name__}.{name}"] = kind + (_list_parameters(value) if kind == "function" else "")
    return names


def _list_parameters(function: Callable[..., object]) -> str:
    """Return the parameters of a function without types; `=` marks those that may be omitted."""
    words = []
    for parameter in inspect.signature(function).parameters.values():
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        words.append(f"{star}{parameter.name}{'' if parameter.default is parameter.empty else '='}")
    return f"({', '.join(words)})"


def hide_version(text: str) -> str:
    """Return a text without the version of Karat in signatures and metadata."""
    return re.sub(r"(karat:|\"version\": ?\")\d+\.\d+\.\d+[\w.]*", r"\1VERSION", text)


def list_files(folder: Path, step: ReleaseStep) -> list[Path]:
    """Return the files below a folder that a step has written, relative to it."""
    paths = [folder / output for output in step.outputs]
    files = [item for path in paths for item in (path.rglob("*") if path.is_dir() else [path]) if item.is_file()]
    return sorted(path.relative_to(folder) for path in files)


def _remove_white_space(path: Path) -> None:
    """Rewrite a JSON file without indentation."""
    path.write_text(json.dumps(json.loads(path.read_bytes()), separators=(",", ":")) + "\n", encoding="utf-8")


def main() -> None:
    """Write the files of this release, in place of those that are there."""
    folder = RELEASES / karat.__version__
    with TemporaryDirectory() as temporary:
        fresh = Path(temporary) / "release"
        run_steps([*WRITE, *READ], fresh, has_extras=True)
        for path in fresh.glob("*.sqlite"):  # reading has switched them to a write-ahead log
            _shrink_database(str(path))
        (fresh / NAMES).write_text(json.dumps(list_names(), indent=1) + "\n", encoding="utf-8")
        for step in READ:
            if step.sameness == "fields":  # catalogues are long; only their fields are compared
                for path in list_files(fresh, step):
                    _remove_white_space(fresh / path)
        written = {Path(NAMES), *(path for step in (*WRITE, *READ) for path in list_files(fresh, step))}
        shutil.rmtree(folder, ignore_errors=True)
        for path in sorted(written):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(fresh / path, folder / path)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder.relative_to(ROOT)}: {len(written)} files, {size / 1000:.0f} kB")


if __name__ == "__main__":
    sys.exit(main())
