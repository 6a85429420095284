"""`karat run` and `karat serve-nif` as users call them."""

from __future__ import annotations

import json
import re
import shlex
import sys
import textwrap
import threading
from pathlib import Path

import pytest

import karat
from karat.analysis.comparison.api import compare
from karat.data.load import load, load_run
from karat.model.errors import InputError, UsageError
from karat.model.spec.external_access import TrainingDetails
from karat.systems.adapters.nif import TURTLE
from karat.systems.running.experiment import ExperimentFile
from karat.systems.running.nif_handler import open_nif_handler
from karat.systems.running.system import RunnableSystem, make_titles_unique
from karat.systems.running.system_runner import RunOptions
from karat.web.server.nif_server import create_server
from tests.conftest import ROOT
from tests.systems.running.loopback import Played, playing


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    lines = [
        {"id": "d1", "text": "Berlin is old.", "labels": [{"start": 0, "end": 6, "entity": "Q64"}]},
        {"id": "d2", "text": "So is Paris.", "labels": [{"start": 6, "end": 11, "entity": "Q90"}]},
    ]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (tmp_path / "linker.py").write_text(
        textwrap.dedent("""
        import json, re, sys
        found = re.finditer("Berlin|Paris", sys.stdin.read())
        print(json.dumps([{"start": m.start(), "end": m.end(), "entity": "Q64"} for m in found]))
        """),
        encoding="utf-8",
    )


COMMAND = f"command:{shlex.quote(sys.executable)} linker.py"


def test_a_run_ends_with_scores_times_failures_and_what_to_open_next(karat_cli):
    ran = karat_cli("run", COMMAND, "--on", "gold.jsonl", "--json", "out.json")
    assert ran.code == 0, ran.err
    assert "linking (in-KB)" in ran.out
    assert "time and cost" in ran.out
    shown = next(line for line in ran.out.splitlines() if "karat show" in line)
    assert karat_cli(*shlex.split(shown.strip())[1:]).code == 0
    (row,) = json.loads(Path("out.json").read_text(encoding="utf-8"))["runs"]
    run = load_run(row["file"], corpus=load("gold.jsonl"))
    assert len(run) == 2
    assert run.metadata["corpus"].startswith("gold@")
    assert row["measures"]["strong:micro.f1"] == 0.5
    again = karat_cli("run", COMMAND, "--on", "gold.jsonl")
    assert "from cache" in again.out
    refused = karat_cli("compare", "out.json")
    assert refused.code == 2
    assert "out.json: found the output of a command (layout karat-runs/2), which contains no documents" in refused.err
    assert "or the results of karat score --json" in refused.err


def test_what_failed_is_said_and_why(karat_cli):
    with playing(lambda asked: Played(b"no", 500) if "Paris" in asked.json["text"] else {"predictions": []}) as service:
        ran = karat_cli(
            "run", f"http:{service.address}/", "--on", "gold.jsonl", "--attempts", "1", "--latency-probes", "0"
        )
    assert ran.code == 0
    assert "1 failed: 127.0.0.1" in ran.out
    assert "500 Internal Server Error (no) (d2)" in ran.out
    assert "to retry only the failed documents" in ran.out


def test_responses_of_a_service_from_the_cache_are_dated(karat_cli):
    asked = []

    def prediction(request):
        asked.append(request.json["text"])
        return Played(b"no", 500) if "Paris" in request.json["text"] and len(asked) < 3 else {"predictions": []}

    with playing(prediction) as service:
        options = ["--on", "gold.jsonl", "--attempts", "1", "--latency-probes", "0", "--workers", "1"]
        first = karat_cli("run", f"http:{service.address}/", *options)
        second = karat_cli("run", f"http:{service.address}/", *options, "--json", "out.json")
        assert "1 failed" in first.out
        assert "responses of http" not in first.out
        noted = " ".join(second.out.split())
        assert re.search(
            r"from cache: 1 of 2 responses of http:\S+ on gold, received \d{4}-\d\d-\d\d \d\d:\d\d UTC", noted
        )
        assert "If the service has changed since, add --no-cache." in noted
        (row,) = json.loads(Path("out.json").read_text(encoding="utf-8"))["runs"]
        assert re.fullmatch(r"1 of 2, received from (\S+) to \1", row["manifest"]["responses from the cache"])
        assert len(asked) == 3
        karat_cli("run", f"http[version=2]:{service.address}/", *options)
        assert len(asked) == 5, "a named version has no responses in the cache"


def test_memory_is_said_to_include_karat_where_it_does(karat_cli):
    ran = karat_cli("run", "popular", COMMAND, "--on", "gold.jsonl")
    noted = " ".join(ran.out.split())
    assert "memory: peak, including Karat and systems run before: popular" in noted
    assert "including Karat and systems run before: popular, command" not in noted


def test_details_print_every_error_in_full(karat_cli):
    Path("fail.py").write_text("import sys; sys.exit('a long reason ' * 25 + sys.stdin.read())", encoding="utf-8")
    command = ["run", f"command:{shlex.quote(sys.executable)} fail.py", "--on", "gold.jsonl", "--attempts", "1"]
    reason = " ".join(["a long reason"] * 17)  # 237 characters: longer than the start that is shown without details
    assert reason not in " ".join(karat_cli(*command).out.split())
    assert reason in " ".join(karat_cli(*command, "--details").out.split())


def test_texts_leave_the_machine_only_with_consent(karat_cli):
    ran = karat_cli("run", "http:https://linker.example/", "--on", "gold.jsonl")
    assert ran.code == 2
    assert "up to 2 documents with 26 characters are sent to linker.example" in ran.err
    assert "--yes" in ran.err


def test_two_systems_on_one_host_are_both_named(karat_cli):
    ran = karat_cli("run", "http:https://linker.example/a", "http:https://linker.example/b", "--on", "gold.jsonl")
    assert ran.code == 2
    assert ran.err.count("up to 2 documents with 26 characters are sent to linker.example") == 2


def test_mentions_are_given_where_the_task_says_so(karat_cli):
    asked = []

    def prediction(request):
        asked.append(request.json.get("spans"))
        return {"predictions": [{"start": s, "end": e, "entity": "Q64"} for s, e in request.json.get("spans", [])]}

    with playing(prediction) as service:
        arguments = ("run", f"http:{service.address}/", "--on", "gold.jsonl", "--task", "d2kb", "--latency-probes", "0")
        ran = karat_cli(*arguments)
    assert ran.code == 0, ran.err
    assert sorted(asked) == [[[0, 6]], [[6, 11]]]
    shown = next(line for line in ran.out.splitlines() if "karat show" in line)
    assert "mentions: gold: http:" in ran.out
    assert ".d2kb.jsonl --set task=d2kb" in ran.out, "predictions to another question, which commands ask alike"
    assert karat_cli(*shlex.split(shown.removesuffix("\\").strip())[1:]).code == 0


def test_the_first_documents_are_compared_with_their_own_gold(karat_cli):
    ran = karat_cli("run", COMMAND, "--on", "gold.jsonl", "--limit", "1")
    assert ran.code == 0, ran.err
    shown = next(line for line in ran.out.splitlines() if "karat show" in line)
    gold = shlex.split(shown.strip())[2]
    assert gold == "runs/gold-1/gold.jsonl"
    assert len(load(gold)) == 1


def test_a_system_that_predictions_nothing_ends_the_run_with_1(karat_cli):
    with playing(lambda asked: Played(b"no", 403)) as service:
        ran = karat_cli("run", f"http:{service.address}/", "--on", "gold.jsonl", "--latency-probes", "0")
    assert ran.code == 1
    assert "2 failed: 127.0.0.1" in ran.out


def test_a_system_that_cannot_start_does_not_stop_the_others(karat_cli):
    ran = karat_cli("run", "popular", "fevry:nowhere", "--on", "demo", "--limit", "2")
    assert ran.code == 1
    assert "popular" in ran.out
    assert "fevry:nowhere did not run: " in ran.err
    alone = karat_cli("run", "fevry:nowhere", "--on", "demo", "--limit", "2")
    assert alone.code == 2
    assert alone.out == ""


def test_what_a_model_says_is_final_and_not_asked_for_again(karat_cli):
    said = {"choices": [{"message": {"content": "I cannot."}}]}
    with playing(lambda asked: said) as service:
        arguments = ("run", f"llm[url={service.address}/v1,kb=]:small", "--on", "gold.jsonl")
        ran = karat_cli(*arguments)
        karat_cli(*arguments)
    assert len(service.asked) == 2
    assert "2 errors of these will not change on retry" in ran.out
    assert "to retry only the failed documents" not in ran.out
    assert "llm:small" in ran.out, "its name, without an address that is longer than the name"


def says_berlin(asked):
    """A model that names the only city of the text, in an unreadable way for Paris."""
    is_berlin = asked.json["messages"][0]["content"].endswith("Berlin is old.")
    content = '[{"text": "Berlin", "title": "Berlin"}]' if is_berlin else "Paris, of course."
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 500_000}
    return {"model": "small-1", "choices": [{"message": {"content": content}}], "usage": usage}


def test_prices_and_snapshots_do_not_change_the_request_so_the_cache_stays(karat_cli):
    def run(options: str) -> dict[str, object]:
        ran = karat_cli("run", f"llm[url={service.address}/v1{options}]:small", "--on", "gold.jsonl", "--json", "-")
        (row,) = json.loads(ran.out)["runs"]
        (prediction,) = next(iter(load_run(row["file"]))).predictions
        return {**row, "entity": prediction.entity}

    with playing(says_berlin) as service:
        first = run("")
        priced = run(",price-in=2,price-out=4")
        titled = run(",kb=")
        assert len(service.asked) == 2, "each document once"
        warmer = run(",temperature=1")
        assert len(service.asked) == 4, "another temperature is another request"
    assert (first.get("cost"), first["entity"]) == (None, "Q64")
    assert priced["cost"] == 8, "two requests of 2 + 0.5 * 4"
    assert (priced["cached"], titled["cached"], warmer["cached"]) == (2, 2, 0)
    assert titled["entity"] == "Berlin"
    assert first["counts"] == priced["counts"]


def test_replies_are_kept_as_they_came_and_can_be_read_again(karat_cli):
    with playing(says_berlin) as service:
        arguments = ("run", f"llm[url={service.address}/v1]:small", "--on", "gold.jsonl")
        ran = karat_cli(*arguments)
        again = karat_cli(*arguments)
    (path,) = Path("runs").rglob("replies/*.jsonl")
    assert f"Replies as they came: {path}" in ran.out
    assert f"Replies as they came: {path}" in again.out, "from the cache too"
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert records[1]["response"]["body"]["choices"][0]["message"]["content"] == "Paris, of course."
    scored = karat_cli("score", "gold.jsonl", str(path))
    assert "failed: no list of predictions in the answer (d2)" in scored.out


def test_options_of_systems_are_flags_of_stages_too(karat_cli):
    ran = karat_cli("systems", "stages", "prior", "--on", "gold.jsonl", "--substitute", "popularity")
    assert ran.code == 0, ran.err
    assert "prior[substitute=popularity] on gold" in ran.out
    assert karat_cli("systems", "stages", "prior", "--substitut", "x").code == 2
    assert "no stages" in karat_cli("systems", "stages", "predictions:x.jsonl").err


def test_repeated_runs_show_how_much_scores_vary(karat_cli):
    ran = karat_cli("run", COMMAND, "--on", "gold.jsonl", "--repeat", "2")
    assert ran.code == 0, ran.err
    assert "repeated runs" in ran.out
    assert "sd" in ran.out


def test_a_system_may_be_given_a_title(karat_cli):
    with playing(says_berlin) as service:
        model = f"llm[url={service.address}/v1]:small"
        ran = karat_cli("run", f"A={model}", "my second=oracle", "--on", "gold.jsonl", "--json", "out.json")
    assert ran.code == 0, ran.err
    rows = json.loads(Path("out.json").read_text(encoding="utf-8"))["runs"]
    assert [row["system"] for row in rows] == ["A", "my second"]
    assert rows[0]["file"] == "runs/gold/A.jsonl"
    assert karat_cli("compare", "--gold", "gold.jsonl", *(row["file"] for row in rows)).code == 0


def test_titles_in_experiments_name_their_training_too(karat_cli, tmp_path):
    more = {"training.A.data": '"the gold itself"'}
    systems = json.dumps(["A=oracle", "B=oracle"])
    (tmp_path / "e.toml").write_text(experiment(systems=systems, **more), encoding="utf-8")
    assert karat_cli("run", "e.toml").code == 0
    runs = {name: load_run(f"runs/gold/{name}.jsonl") for name in "AB"}
    assert [runs[name].name for name in "AB"] == ["A", "B"]
    assert "the gold itself" in runs["A"].metadata.values()
    assert "the gold itself" not in runs["B"].metadata.values()


def test_two_systems_of_one_title_are_told_apart_by_what_differs():
    url = "http://models.example.org:8000/v1"
    texts = [f"llm[url={url},prompt=a.txt]:small", f"llm[url={url},prompt=b.txt]:small", f"llm[url={url}]:small"]
    systems = make_titles_unique([RunnableSystem.from_text(text) for text in texts])
    assert [system.title for system in systems] == ["llm[prompt=a.txt]:small", "llm[prompt=b.txt]:small", "llm:small"]
    with pytest.raises(UsageError, match="A occurs twice"):
        make_titles_unique([RunnableSystem.from_text("A=oracle"), RunnableSystem.from_text("A=popular")])


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("nif:http://127.0.0.1:9124/nif", "nif:127.0.0.1:9124"),
        ("http:https://linker.example/link?x=1", "http:linker.example"),
        ("llm[url=http://localhost:8000/v1]:small", "llm:small"),
        ("command:./linker --depth=2", "command:./linker --depth=2"),
        ("graph[variant=local]", "graph[variant=local]"),
        ("predictions:runs/a=b.jsonl", "a=b"),
    ],
)
def test_default_titles_are_short_and_an_equals_sign_elsewhere_is_no_title(text, title):
    assert RunnableSystem.from_text(text).title == title


def test_two_services_on_one_host_are_told_apart_by_their_paths():
    systems = [RunnableSystem.from_text(f"nif:http://127.0.0.1:9124/{path}") for path in ("a", "b")]
    assert [system.title for system in make_titles_unique(systems)] == ["nif:127.0.0.1:9124/a", "nif:127.0.0.1:9124/b"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("prior",), "--on demo"),
        (("pryor", "--on", "demo"), "Did you mean 'prior'"),
        (("command", "--on", "demo"), "command:./my-linker"),
        (("prior", "--colour", "red", "--on", "demo"), "unknown option"),
        (("prior", "--kb"), "needs a value"),
        (
            ("prior", "--on", "demo", "-m", "InKB"),
            "karat run has no option -m. See karat run --help. karat score has -m",
        ),
        (("-x", "prior", "--on", "demo"), "karat run has no option -x. See karat run --help.\n"),
        (("--colour", "prior", "--on", "demo"), "no system: 'prior' is the value of --colour. Name a system first"),
        (("wikifier", "--on", "demo"), "Provide its predictions as Karat JSONL"),
        (("oracle", "oracle", "--on", "demo"), "occurs twice"),
        (("command:./none", "--on", "gold.jsonl"), "cannot be started"),
        (("none.toml",), "none.toml: found no such file"),
    ],
)
def test_what_cannot_be_run_is_one_clear_message(karat_cli, arguments, said):
    ran = karat_cli("run", *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err


# --- experiments


def experiment(**more: str) -> str:
    said = {"systems": json.dumps([COMMAND, "oracle"]), "datasets": '["gold.jsonl"]', **more}
    return "".join(f"{name} = {value}\n" for name, value in said.items())


def test_an_experiment_file_runs_commands_only_if_that_is_allowed(karat_cli, tmp_path):
    (tmp_path / "e.toml").write_text(experiment(), encoding="utf-8")
    refused = karat_cli("run", "e.toml")
    assert refused.code == 2
    assert "--allow-commands" in refused.err
    assert karat_cli("run", "e.toml", "--allow-commands").code == 0


def test_a_program_that_is_named_like_a_plugin_is_told_how_to_run_it(karat_cli):
    ran = karat_cli("run", "./linker.py", "--on", "gold.jsonl")
    assert ran.code == 2
    assert "has no SYSTEM of type System" in ran.err
    assert "write 'command:python3 ./linker.py'" in ran.err


def test_options_that_an_experiment_file_would_not_heed_are_refused(karat_cli, tmp_path):
    (tmp_path / "e.toml").write_text(experiment(), encoding="utf-8")
    ran = karat_cli("run", "e.toml", "--allow-commands", "--workers", "8")
    assert ran.code == 2
    assert "contains all other options" in ran.err
    (tmp_path / "e.toml").write_text(experiment() + '[options]\ncolour = "red"\n', encoding="utf-8")
    assert "unknown option" in karat_cli("run", "e.toml", "--allow-commands").err


def test_an_experiment_gives_tables_of_bats_shape(karat_cli, tmp_path):
    more = {"relations": '["weak", "strong"]', "threshold": '"oracle"', "similarity": '["strong"]', "title": '"Two"'}
    (tmp_path / "e.toml").write_text(experiment(**more), encoding="utf-8")
    ran = karat_cli("run", "e.toml", "--allow-commands")
    assert ran.code == 0, ran.err
    rows = [line.split() for line in ran.out.splitlines()]
    assert ["dataset", "system", "t", "F1", "micro", "P", "micro", "R", "micro"] in rows
    assert "similarity by strong on gold, macro, in percent" in ran.out
    assert "ms per document" in ran.out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"threshold": "0.5"}, "0.500"),
        ({"threshold": '">0.5"'}, ">0.500"),
        ({"tune-on": '"gold.jsonl"'}, "1.000"),  # all scores of the oracle are 1
        ({}, "–"),
    ],
)
def test_tables_of_experiments_show_every_threshold(karat_cli, tmp_path, more, said):
    """A fixed or tuned threshold drops predictions just as one that was selected on the scored data."""
    more = {"systems": '["oracle"]', "relations": '["weak", "strong"]', **more}
    (tmp_path / "e.toml").write_text(experiment(**more), encoding="utf-8")
    ran = karat_cli("run", "e.toml")
    assert ran.code == 0, ran.err
    rows = [line.split() for line in ran.out.split("ms per document")[0].splitlines()]
    assert [row[-4] for row in rows if "oracle" in row] == [said, said]


def test_similarities_in_experiments_are_above_the_fixed_threshold(karat_cli, tmp_path):
    """They are shown without `relations` too."""
    systems = ["demo/noisy", "demo/prior"]
    shown = {}
    for threshold in ("none", "0.8"):
        more = {"systems": json.dumps([f"predictions:{name}" for name in systems]), "datasets": '["demo"]'}
        text = experiment(**more, similarity='["strong"]', threshold=f'"{threshold}"')
        (tmp_path / "e.toml").write_text(text, encoding="utf-8")
        ran = karat_cli("run", "e.toml")
        assert ran.code == 0, ran.err
        matrix = ran.out.split("similarity by strong on demo, macro, in percent")[1].splitlines()
        pairs = karat.similarity("demo", systems, settings={"match": "strong", "threshold": threshold}).pairs
        shown[threshold] = matrix[2].split()[-1]
        assert shown[threshold] == f"{100 * pairs[0].macro.value:.1f}"
    assert shown["none"] != shown["0.8"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("systems = [", "Unclosed array|Invalid value|Unexpected"),
        ('systems = ["prior"]', "datasets"),
        ('systems = ["prior"]\ndatasets = ["demo"]\ncolour = "red"', "colour"),
        ('systems = ["prior"]\ndatasets = ["demo"]\n[run]\nspeed = 3', "speed"),
        (
            'systems = ["prior"]\ndatasets = ["demo"]\n[run]\nworkers = "many"',
            "found `str` at `workers`; expected `int`",
        ),
        ('systems = ["prior"]\ndatasets = ["demo"]\ntune-on = ["demo"]', "found `array` at `tune-on`; expected `str"),
    ],
)
def test_a_wrong_experiment_file_is_one_clear_message(karat_cli, tmp_path, text, said):
    (tmp_path / "e.toml").write_text(text, encoding="utf-8")
    ran = karat_cli("run", "e.toml")
    assert ran.code == 2
    assert re.search(said, ran.err), ran.err
    assert "the documentation page 'Run systems' lists all fields" in ran.err


def test_the_documentation_lists_all_fields_of_experiments():
    page = (ROOT / "docs" / "how-to" / "run-systems.md").read_text(encoding="utf-8")
    table = re.search(r"All fields:\n\n(.*?)\n\n", page, re.DOTALL)[1]
    fields = [*ExperimentFile.__struct_encode_fields__, *RunOptions.__dataclass_fields__]
    fields += TrainingDetails.__dataclass_fields__
    names = {name.replace("_", "-") for name in fields} - {"gold-mentions"}  # set by `task`
    assert names <= set(re.findall(r"[\w-]+", table))


def test_comparing_systems_of_different_training_says_so(karat_cli, tmp_path):
    more = {"training.oracle.data": '"the gold itself"', "training.command.data": '"nothing"'}
    (tmp_path / "e.toml").write_text(experiment(**more), encoding="utf-8")
    assert karat_cli("run", "e.toml", "--allow-commands").code == 0
    files = sorted(str(path) for path in (tmp_path / "runs").rglob("*.jsonl"))
    notes = " ".join(compare("gold.jsonl", files).notes)
    assert "systems differ in their training (data)" in notes
    assert "the gold itself" in notes


# --- GERBIL's protocol, both ways


def test_a_system_that_is_served_predictions_as_it_does_here(karat_cli):
    named = RunnableSystem.from_text(COMMAND)
    with open_nif_handler(named) as prediction, create_server("127.0.0.1", 0, prediction, TURTLE) as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        name = f"nif:http://127.0.0.1:{serving.server_port}/"
        ran = karat_cli("run", name, COMMAND, "--on", "gold.jsonl", "--json", "-")
        wrong = karat_cli(
            "run", f"http:http://127.0.0.1:{serving.server_port}/", "--on", "gold.jsonl", "--attempts", "1"
        )
        serving.shutdown()
        thread.join()
    rows = json.loads(ran.out)["runs"]
    assert [row["measures"]["strong:micro.f1"] for row in rows] == [0.5, 0.5]
    assert all(not row["failed"] for row in rows)
    assert "400 Bad Request" in wrong.out


def test_given_mentions_are_linked_over_nif():
    asked = []

    def plain(request):
        asked.append(request.json)
        return {"predictions": [{"start": s, "end": e, "entity": "Q64"} for s, e in request.json.get("spans", [])]}

    body = (
        "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
        "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
        "<http://www.aksw.org/gerbil/NifWebService/request_0#char=0,24> a nif:Context ;\n"
        '  nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "24"^^xsd:nonNegativeInteger ;\n'
        '  nif:isString "Berlin is in Germany now"^^xsd:string .\n'
        "<http://www.aksw.org/gerbil/NifWebService/request_0#char=0,6> a nif:Phrase ;\n"
        "  nif:referenceContext <http://www.aksw.org/gerbil/NifWebService/request_0#char=0,24> ;\n"
        '  nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "6"^^xsd:nonNegativeInteger ;\n'
        '  nif:anchorOf "Berlin" .\n'
    )
    with (
        playing(plain) as service,
        open_nif_handler(RunnableSystem.from_text(f"http:{service.address}/")) as prediction,
    ):
        said = prediction(body.encode()).decode()
    assert asked[0]["spans"] == [[0, 6]]
    assert "<http://www.wikidata.org/entity/Q64>" in said
    assert 'nif:isString "Berlin is in Germany now"' in said
    assert "request_0#char=0,24" in said


WIDE_REQUEST = (
    "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
    '<http://x/r> a nif:Context ; nif:isString "{text}"{end} .\n'
)
BERLIN = (
    "<http://x/r#1> a nif:Phrase ; nif:referenceContext <http://x/r> ; "
    'nif:anchorOf "Berlin" ; nif:beginIndex "{0}" ; nif:endIndex "{1}" .'
)


@pytest.mark.parametrize(
    ("body", "span"),
    [
        (WIDE_REQUEST.format(text="😀 Berlin", end="") + BERLIN.format(3, 9), (3, 9)),
        (WIDE_REQUEST.format(text="😀 Berlin", end="") + BERLIN.format(2, 8), (2, 8)),
        (WIDE_REQUEST.format(text="😀 Berlin", end=' ; nif:endIndex "9"'), (3, 9)),
        (WIDE_REQUEST.format(text="😀 Berlin", end=' ; nif:endIndex "8"'), (2, 8)),
    ],
)
def test_served_systems_answer_in_the_units_of_the_request(body, span):
    def predict(request):
        assert request.json.get("spans", [[2, 8]]) == [[2, 8]]
        return {"predictions": [{"start": 2, "end": 8, "entity": "Q64"}]}

    with (
        playing(predict) as service,
        open_nif_handler(RunnableSystem.from_text(f"http:{service.address}/")) as handle,
    ):
        response = handle(body.encode()).decode()
    assert f'nif:beginIndex "{span[0]}"' in response
    assert f'nif:endIndex "{span[1]}"' in response


def test_served_systems_answer_an_empty_text_and_name_no_options():
    with open_nif_handler(RunnableSystem.from_text(COMMAND)) as handle:
        assert b'nif:isString ""' in handle(WIDE_REQUEST.format(text="", end="").encode())
        with pytest.raises(InputError) as error:
            handle((WIDE_REQUEST.format(text="In Berlin now", end="") + BERLIN.format(4, 10)).encode())
    assert str(error.value).endswith("Correct the request.")


@pytest.mark.parametrize(("system", "is_warned"), [(COMMAND, True), ("popular", False)])
def test_a_served_system_that_accepts_no_mentions_is_announced_as_such(karat_cli, monkeypatch, system, is_warned):
    """GERBIL's D2KB sends mentions, which a program that is started once per document never sees."""
    monkeypatch.setattr("http.server.HTTPServer.serve_forever", lambda server: None)
    announced = karat_cli("serve-nif", system, "--port", "0")
    assert ("accepts no mentions, so it detects mentions for D2KB too" in announced.err) is is_warned


def test_resolved_ids_use_the_knowledge_base_of_the_systems(karat_cli):
    titles = {"id": "d1", "text": "Berlin is old.", "labels": [{"start": 0, "end": 6, "entity": "enwiki:Berlin"}]}
    Path("titles.jsonl").write_text(json.dumps(titles) + "\n", encoding="utf-8")
    options = ["--profile", "bat-paper", "--set", "ids=resolved", "--json", "out.json"]
    assert karat_cli("run", "popular", "--on", "titles.jsonl", *options).code == 2
    assert karat_cli("run", "popular", "--on", "titles.jsonl", "--kb", "starter", *options).code == 0
    (row,) = json.loads(Path("out.json").read_text(encoding="utf-8"))["runs"]
    assert row["measures"]["strong:micro.f1"] == 1.0


@pytest.fixture
def titles():
    """A gold standard of titles for predictions of Wikidata ids, of which a table maps one."""
    labels = [
        {"start": 0, "end": 6, "entity": "http://dbpedia.org/resource/Berlin"},
        {"start": 11, "end": 16, "entity": "http://dbpedia.org/resource/Paris"},
    ]
    Path("titles.jsonl").write_text(
        json.dumps({"id": "d1", "text": "Berlin and Paris.", "labels": labels}) + "\n", encoding="utf-8"
    )
    predictions = [{"start": 0, "end": 6, "entity": "Q64"}, {"start": 11, "end": 16, "entity": "Q90"}]
    Path("mine.jsonl").write_text(json.dumps({"id": "d1", "predictions": predictions}) + "\n", encoding="utf-8")
    Path("tables").mkdir()
    Path("tables/same_as.tsv").write_text("Q64\thttp://dbpedia.org/resource/Berlin\n", encoding="utf-8")


def test_the_scoring_uses_the_knowledge_base_whatever_options_the_system_has(karat_cli, titles):
    scoring = ("--profile", "gerbil", "--kb", "tables", "--json", "-")
    ran = karat_cli("run", "predictions:mine.jsonl", "--on", "titles.jsonl", *scoring)
    assert ran.code == 0, ran.err
    (row,) = json.loads(ran.out)["runs"]
    assert row["measures"]["strong:micro.f1"] == 0.5, "one of two links is in the table"
    scored = json.loads(karat_cli("score", "titles.jsonl", "mine.jsonl", *scoring).out)
    assert scored["measures"]["strong:micro.f1"] == 0.5


def test_the_commands_that_a_run_ends_with_name_the_knowledge_base(karat_cli, titles):
    ran = karat_cli("run", "predictions:mine.jsonl", "--on", "titles.jsonl", "--profile", "gerbil", "--kb", "tables")
    assert "|kb:tables@" in ran.out.replace("\n", "")
    assert "--profile gerbil --kb tables" in " ".join(ran.out.replace("\\", "").split())


def test_a_system_in_brackets_keeps_its_own_knowledge_base(karat_cli, titles):
    ran = karat_cli("run", "popular[kb=starter]", "--on", "titles.jsonl", "--kb", "tables", "--json", "-")
    assert ran.code == 0, ran.err
    (row,) = json.loads(ran.out)["runs"]
    assert row["system"] == "popular[kb=starter]"


@pytest.mark.parametrize("system", ["popular", "llm[url=http://localhost:1/v1]:small"])
def test_tables_for_a_system_that_needs_a_snapshot_are_an_error_that_names_the_other_use(karat_cli, titles, system):
    ran = karat_cli("run", system, "--on", "titles.jsonl", "--kb", "tables")
    assert ran.code == 2
    assert "karat kb import tables --date YYYY-MM-DD" in ran.err
    assert "To use it in the scoring only, name the snapshot of the system too, as in SYSTEM[kb=starter]" in ran.err


@pytest.mark.parametrize(
    ("system", "more"),
    [
        ("predictions:mine.jsonl", 'kb = "tables"'),
        ("predictions:mine.jsonl", '[options]\nkb = "tables"'),
        ("popular", 'kb = "tables"\n[options]\nkb = "starter"'),
    ],
    ids=["field", "option", "field for the scoring, option for the system"],
)
def test_an_experiment_scores_with_its_knowledge_base(karat_cli, titles, system, more):
    Path("e.toml").write_text(
        f'systems = ["{system}"]\ndatasets = ["titles.jsonl"]\nprofile = "gerbil"\n{more}\n', encoding="utf-8"
    )
    ran = karat_cli("run", "e.toml", "--json", "out.json")
    assert ran.code == 0, ran.err
    assert "|kb:tables@" in ran.out.replace("\n", "")
    (row,) = json.loads(Path("out.json").read_text(encoding="utf-8"))["runs"]
    assert row["measures"]["strong:micro.f1"] == 0.5


def test_an_experiment_warns_and_says_which_ids_cannot_match(karat_cli, titles):
    Path("e.toml").write_text(
        'systems = ["predictions:mine.jsonl"]\ndatasets = ["titles.jsonl"]\nprofile = "gerbil"\n'
        'relations = ["weak", "strong"]\n',
        encoding="utf-8",
    )
    ran = karat_cli("run", "e.toml", "--details")
    assert ran.out.startswith("mine: warning: no predicted id starts with a prefix of the knowledge base")
    line = "ids: gold DBpedia en 2; predictions QID 2; 2 gold labels cannot match any predicted id"
    assert line in " ".join(ran.out.split())
