"""Every command that writes JSON writes what its schema says."""

from __future__ import annotations

import json
import shutil

import click
import jsonschema
import pytest
from click.testing import CliRunner

import karat
from karat.cli.annotate import COMMANDS as ANNOTATE
from karat.cli.annotate import command as annotate_group
from karat.cli.data import COMMANDS as DATA
from karat.cli.data import command as data_group
from karat.cli.kb import COMMANDS as KB
from karat.cli.kb import command as kb_group
from karat.cli.main import COMMANDS
from karat.cli.main import karat as command_line
from karat.cli.systems import COMMANDS as SYSTEMS
from karat.cli.systems import command as systems_group
from karat.cli.verify import COMMANDS as VERIFY
from karat.cli.verify import command as verify_group
from karat.cli.zelda import COMMANDS as ZELDA
from karat.cli.zelda import command as zelda_group
from karat.data.catalogue import list_splits
from karat.model.corpus import Corpus
from karat.model.registry import list_plugins
from karat.model.run import Run
from karat.model.spec.dataset import DatasetName
from karat.render.data.datasets import encode_dataset
from karat.render.schemas import FILES, get_layout_name, get_schema_name
from tests.conftest import ROOT, SCHEMAS

DRAWS = "--resamples 20 --permutations 19"


def writes_json() -> set[str]:
    """The commands that have an option `--json`."""
    context = click.Context(command_line)
    groups = {
        "annotate": (annotate_group, ANNOTATE),
        "data": (data_group, DATA),
        "kb": (kb_group, KB),
        "systems": (systems_group, SYSTEMS),
        "verify": (verify_group, VERIFY),
        "zelda": (zelda_group, ZELDA),
    }
    every_command = {name: command_line.get_command(context, name) for name in COMMANDS}
    for above, (group, inside) in groups.items():
        every_command |= {f"{above} {name}": group.get_command(context, name) for name in inside}
    return {name for name, known in every_command.items() if any("--json" in option.opts for option in known.params)}


def schema_of(command: str) -> jsonschema.Draft202012Validator:
    path = SCHEMAS / f"{get_schema_name(get_layout_name(FILES[command]))}.schema.json"
    return jsonschema.Draft202012Validator(json.loads(path.read_text(encoding="utf-8")))


def ran(*arguments: object) -> str:
    done = CliRunner().invoke(command_line, [*map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def objects(text: str) -> list[dict[str, object]]:
    """What a file holds: one object, or one on each line."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two small gold standards, the predictions of two systems to each, results, categories, and a gold with
    defects."""
    folder = tmp_path_factory.mktemp("files")
    documents = list(karat.load("demo"))
    karat.save(karat.load("demo"), folder / "demo.jsonl")
    karat.save(karat.load_run("demo/prior"), folder / "prior-demo.jsonl")
    for name, some in (("north", documents[:8]), ("south", documents[8:16])):
        karat.save(Corpus.from_documents(some, name=name), folder / f"{name}.jsonl")
        ids = {document.id for document in some}
        for system in ("prior", "noisy"):
            responses = [response for response in karat.load_run(f"demo/{system}") if response.id in ids]
            karat.save(Run.from_responses(responses, name=system), folder / f"{system}-{name}.jsonl")
            predictions = folder / f"{system}-{name}.jsonl"
            ran("score", folder / f"{name}.jsonl", predictions, "--json", predictions.with_suffix(".json"))
    fewer = [karat.Document(id=one.id, text=one.text, labels=one.labels[1:]) for one in documents[:8]]
    karat.save(Corpus.from_documents(fewer, name="other"), folder / "other.jsonl")
    ran("data", "categorise", folder / "north.jsonl", "--out", folder / "categorised.jsonl")
    bad = {"id": "d", "text": "in Ulm.", "labels": [{"start": 2, "end": 6, "entity": "Q1"}, {"start": 3, "end": 99}]}
    (folder / "bad.jsonl").write_text(json.dumps(bad) + "\n", encoding="utf-8")
    nil = {"id": "d", "text": "in Ulm.", "labels": [{"start": 3, "end": 6, "entity": None}]}
    (folder / "nil.jsonl").write_text(json.dumps(nil) + "\n", encoding="utf-8")
    (folder / "lists.json").write_text(json.dumps({"Cambridge": {"Q350": 3, "Q49111": 1}}), encoding="utf-8")
    shutil.copy(ROOT / "tests" / "protocols" / "reproduce" / "own_cases.json", folder / "cases.json")
    return folder


WRITES = {
    "agreement": [
        "agreement north.jsonl other.jsonl",
        "agreement north.jsonl other.jsonl categorised.jsonl --resamples 0",
    ],
    "annotate plan": ["annotate plan --gold north.jsonl prior-north.jsonl noisy-north.jsonl --difference 0.1"],
    "annotate report": [],  # needs a database: tests/protocols/annotation has one
    "scorecard": [f"scorecard --gold north.jsonl prior-north.jsonl noisy-north.jsonl {DRAWS}"],
    "compare": [
        "compare --gold north.jsonl prior-north.jsonl noisy-north.jsonl --by types --sensitivity "
        f"--best-threshold oracle {DRAWS}",
        "compare prior-north.json noisy-north.json prior-south.json noisy-south.json --developed-on "
        f"prior=north {DRAWS}",
    ],
    "reproduce": ["reproduce cases --data cases.json"],
    "curve": [
        "curve north.jsonl prior-north.jsonl noisy-north.jsonl",
        "curve north.jsonl noisy-north.jsonl --set threshold=oracle-bat -m macro.p",
        "curve north.jsonl prior-north.jsonl noisy-north.jsonl --over coverage",
        "curve categorised.jsonl prior-north.jsonl noisy-north.jsonl --over alpha --steps 4",
        "curve categorised.jsonl prior-north.jsonl --over categories",
    ],
    "data add": ["data add north.jsonl --name north"],
    "data categorise": ["data categorise north.jsonl", "data categorise categorised.jsonl --evaluate"],
    "data fetch": ["data fetch demo"],
    "data lint": ["data lint north.jsonl", "data lint bad.jsonl"],
    "data list": ["data list", "data list --all --task c2kb"],
    "data show": ["data show demo", "data show aida"],
    "data split": ["data split demo.jsonl --out parts --parts dev=1/2,test=1/2 --by types --training north.jsonl"],
    "data stats": ["data stats north.jsonl", "data stats north.jsonl other.jsonl"],
    "gate": ["gate noisy-north.jsonl --baseline prior-north.jsonl --gold north.jsonl --resamples 20"],
    "kb fetch": [],  # needs a server: tests/knowledge plays one
    "kb find": ["kb find Cambridge", "kb find Cambrigde --fuzzy", "kb find xyzzyx"],
    "kb diff": ["kb diff starter starter north.jsonl", "kb diff starter starter north.jsonl prior-north.jsonl"],
    "kb near-misses": [
        "kb near-misses north.jsonl prior-north.jsonl noisy-north.jsonl",
        "kb near-misses north.jsonl noisy-north.jsonl --credit parent=0.5,sibling=0.25",
    ],
    "kb check-nil": ["kb check-nil north.jsonl", "kb check-nil nil.jsonl"],
    "kb resolve": ["kb resolve north.jsonl resolved.jsonl"],
    "kb show": ["kb show", "kb show starter"],
    "score": [
        "score north.jsonl prior-north.jsonl noisy-north.jsonl",
        "score north.jsonl prior-north.jsonl --ci --resamples 20 --by types --by error --threshold oracle",
    ],
    "show": [
        "show north.jsonl prior-north.jsonl noisy-north.jsonl",
        "show north.jsonl prior-north.jsonl noisy-north.jsonl --flips prior,noisy --outcome wrong --type PER",
    ],
    "systems": ["systems"],
    "systems stages": ["systems stages popular --on north.jsonl"],
    "run": ["run oracle --on north.jsonl", "run predictions:prior-north.jsonl --on north.jsonl"],
    "verify report": [],  # need a database: tests/verification has one
    "verify survey": [],
    "zelda audit": ["zelda audit north.jsonl south.jsonl"],
    "zelda candidates": [],  # needs DuckDB: tests/zelda
    "zelda recall": ["zelda recall demo.jsonl --candidate-lists lists.json"],
    "zelda sample": ["zelda sample north.jsonl south.jsonl --out bed"],
    "zelda score": [
        "zelda score north.jsonl prior-north.jsonl",
        "zelda score demo.jsonl prior-demo.jsonl --train south.jsonl --candidate-lists lists.json",
    ],
    "zelda stats": ["zelda stats north.jsonl south.jsonl --tokens words"],
    "why": ["why north.jsonl noisy-north.jsonl --reference-profile gerbil --set-reference prefixes=Q"],
}
"""By command, what it is called with; the option `--json` follows."""


def test_every_command_that_writes_json_has_a_schema_and_is_tried():
    assert writes_json() == set(FILES) == set(WRITES)


@pytest.mark.parametrize(("command", "given"), [(name, given) for name, each in WRITES.items() for given in each])
def test_what_a_command_writes_is_what_its_schema_says(command, given, files, monkeypatch):
    monkeypatch.chdir(files)
    monkeypatch.setenv("KARAT_HOME", str(files / "home"))
    validator = schema_of(command)
    for each in objects(ran(*given.split(), "--json", "-")):
        validator.validate(each)
        assert each["layout"] == get_layout_name(FILES[command])
        assert not validator.is_valid({key: value for key, value in each.items() if key != "layout"})
        assert not validator.is_valid(each | {"layout": "karat-other/2"})
        assert not validator.is_valid(each | {"surprise": 1})


def test_every_benchmark_can_be_shown():
    validator = schema_of("data show")
    for name in list_plugins("datasets"):
        splits = list_splits(DatasetName(name))
        validator.validate(json.loads(encode_dataset(name, splits[0].dataset, splits)))


@pytest.mark.parametrize("path", sorted(SCHEMAS.iterdir()), ids=lambda path: path.name)
def test_schemas_are_schemas(path):
    jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))
