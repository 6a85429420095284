"""The commands that write files or a database, each with what is there before."""

import sys
from contextlib import closing
from pathlib import Path

from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.data.load import load, load_run, save
from karat.kb.snapshot.snapshot import Snapshot
from karat.model.errors import InputError
from karat.storage.content_store import SUFFIX_BY_KIND, FolderStore
from karat.web.archive.archive import Archive
from tests.storage.sweep import Scenario
from tests.systems.running.loopback import playing

TEXT = "Ada met Bob in Rome. "
TABLES = {
    "entities.tsv": "Q1\tAda\tperson\nQ2\tRome\tcity\n",
    "aliases.tsv": "Q1\tCountess\nQ2\tRoma\n",
    "subclass_of.tsv": "person\tbeing\n",
}


def corpus(documents=3, entity="Q1"):
    labels = (Label(0, 3, entity), Label(15, 19, "Q2"))
    return Corpus.from_documents([Document(f"d{k}", TEXT * (k + 1), labels) for k in range(documents)], name="toy")


def run_of(entity="Q1", documents=3):
    predictions = (Prediction(0, 3, entity, score=0.5),)
    return Run.from_responses([Response(f"d{k}", predictions) for k in range(documents)], name="linker")


def write_inputs(folder, *outputs):
    """Gold standard and predictions, and outputs of an earlier run."""
    save(corpus(), folder / "gold.jsonl")
    save(run_of(), folder / "predictions.jsonl")
    for name in outputs:
        (folder / name).write_bytes(b"what was there before\n")


def read_files(*names):
    """What is in files, whole; nothing for one that is missing."""
    return lambda folder: {name: (folder / name).read_bytes() for name in names if (folder / name).exists()}


def read_folder(name):
    def read(folder):
        return {
            str(path.relative_to(folder)): path.read_bytes() for path in (folder / name).rglob("*") if path.is_file()
        }

    return read


def file_scenario(arguments, *outputs):
    """A command that replaces one file."""
    return Scenario(
        lambda _: [*arguments, *outputs], lambda folder: write_inputs(folder, *outputs), read_files(*outputs)
    )


# Archives.


def prepare_archive(folder):
    from karat.analysis.comparison.entries import load_entries  # noqa: F401  # what the command imports
    from karat.cli.main import karat

    write_inputs(folder)
    save(run_of("Q9"), folder / "older.jsonl")
    arguments = ["report", "--gold", folder / "gold.jsonl", folder / "older.jsonl", "--archive", folder / "archive"]
    karat.main([*map(str, arguments), "--one-profile", "--resamples", "10"], standalone_mode=False)


def observe_archive(folder):
    """Entries that readers of the archive see; every file there is whole."""
    store = FolderStore(folder / "archive")  # one that is missing has no entries
    for kind in SUFFIX_BY_KIND:
        for digest in store.list_digests(kind):
            store.get(kind, digest)
    archive = Archive(store)
    for entry in archive.all_entries.values():
        assert entry.verdicts is not None
        for kind in ("verdicts", "texts", "credits", "curves"):
            assert getattr(entry, kind) is None or store.get(kind, getattr(entry, kind))
    return sorted((entry.system, entry.result) for entry in archive.all_entries.values())


ARCHIVE = ["report", "--gold", "gold.jsonl", "predictions.jsonl", "--one-profile", "--resamples", "10"]


# Knowledge bases.


def prepare_tables(folder):
    (folder / "tables").mkdir()
    for name, content in TABLES.items():
        (folder / "tables" / name).write_text(content, encoding="utf-8")


def prepare_snapshot(folder):
    from karat.kb.importers.importer import import_snapshot

    prepare_tables(folder)
    import_snapshot(str(folder / "tables"), folder / "kb", date="2025-01-01")
    with (folder / "tables" / "entities.tsv").open("a", encoding="utf-8") as file:
        file.write("Q3\tBern\tcity\n")


def observe_snapshot(folder):
    """All files of a snapshot that opens; None if there is none."""
    if not (folder / "kb").exists():
        return None
    snapshot = Snapshot.open(folder / "kb")
    names = snapshot.names(["Q1", "Q2", "Q3"])
    return names, snapshot.digest


# Systems.


def prepare_run(folder):
    write_inputs(folder)
    (folder / "runs" / "gold").mkdir(parents=True)


def observe_predictions(folder):
    """Predictions in the files, without times."""
    gold = load(folder / "gold.jsonl")
    found = {}
    for path in sorted((folder / "runs").rglob("*.jsonl")):
        found[str(path.relative_to(folder))] = [
            (response.id, [(p.start, p.end, p.entity) for p in response.predictions], response.error)
            for response in load_run(path, corpus=gold)
        ]
    return found


class _Service:
    """A service on this machine, whose address is in a file of the scenario."""

    def __init__(self, folder):
        self._folder = folder
        self._playing = playing(
            lambda asked: {"predictions": [{"start": 0, "end": 3, "entity": f"Q{len(asked.json['text'])}"}]}
        )

    def __enter__(self):
        service = self._playing.__enter__()
        (self._folder / "address").write_text(service.address, encoding="ascii")

    def __exit__(self, *error):
        return self._playing.__exit__(*error)


def prepare_service(folder):
    prepare_run(folder)
    return _Service(folder)


def run_command(folder):
    address = (folder / "address").read_text(encoding="ascii")
    return ["run", f"http:{address}/", "--on", "gold.jsonl", "--latency-probes", "0", "--workers", "2"]


# Campaigns.

CREATE = ["verify", "create", "toy", "--gold", "gold.jsonl", "--predictions", "predictions.jsonl", "--controls", "none"]
JUDGED = 1  # tasks


def open_campaign(path):
    from karat.protocols.verification.store.store import CampaignStore

    return CampaignStore.open(str(path))


def observe_campaign(name):
    """Tasks and records of a campaign; None if there is none."""

    def observe(folder):
        if not (folder / name).exists():
            return None
        try:
            store = open_campaign(folder / name)
        except InputError as problem:
            if "no campaign" not in str(problem):
                raise
            return None
        with closing(store.database), store.database.open_read_transaction() as connection:
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
            return len(store.campaign.tasks), sorted(record.id for record in store.get_records())

    return observe


def prepare_campaign(folder):
    from karat.cli.main import karat

    write_inputs(folder)
    names = ["--gold", folder / "gold.jsonl", "--predictions", folder / "predictions.jsonl"]
    karat.main(
        ["verify", "create", "toy", *map(str, names), "--controls", "none", "--store", str(folder / "toy.sqlite")],
        standalone_mode=False,
    )
    store = open_campaign(folder / "toy.sqlite")
    with closing(store.database):
        session = store.start_session(store.create_invitation("anna"), has_consented=True)
        judge = store.find_judge(session)
        store.lease_task(judge)
        (folder / "session").write_text(session, encoding="ascii")


def prepare_judged(folder):
    prepare_campaign(folder)
    _record(folder)
    for name in ("export.jsonl", "backup.jsonl"):
        (folder / name).write_bytes(b"what was there before\n")


def _record(folder):
    from karat.protocols.verification.store.store import SubmittedDecision

    store = open_campaign(folder / "toy.sqlite")
    with closing(store.database):
        judge = store.find_judge((folder / "session").read_text(encoding="ascii"))
        task = store.lease_task(judge)
        store.record_decision(judge, task, SubmittedDecision(id="a", link=0, decision="verify"))


def prepare_backup(folder):
    from karat.protocols.campaigns.backups import dump_backup

    prepare_judged(folder)
    store = open_campaign(folder / "toy.sqlite")
    with closing(store.database):
        (folder / "backup.jsonl").write_bytes(b"".join(dump_backup(store.database)))


def judge():
    """Judge over HTTP as a browser does, and say which judgements were acknowledged; what fails is tried again."""
    from karat.web.judging.app import JudgingConfig, create_app
    from tests.protocols.verification.client import Browser, serving

    store = open_campaign("toy.sqlite")
    with closing(store.database), serving(create_app(JudgingConfig(store))) as port, closing(Browser(port)) as browser:
        browser._cookie = f"karat_judge={Path('session').read_text(encoding='ascii')}"

        def ask(method, path, said=None):
            for _ in range(3):
                answer = browser.ask(method, path, said)
                if answer.status_code < 400:
                    return answer.json()
                sys.stdout.write(f"refused {answer.status_code} {answer.headers.get('retry-after')}\n")
                sys.stdout.flush()
                if answer.status_code != 503 or "retry-after" not in answer.headers:
                    raise SystemExit(f"a judge got {answer.status_code}: {answer.text}")
            raise SystemExit("a judge got 503 three times")

        while (answer := ask("GET", "/api/task"))["progress"]["completed"] < JUDGED:
            task = answer["task"]
            for place, link in enumerate(task["links"]):
                if link["decision"] is None:
                    said = {"id": f"{task['task']}-{place}", "link": place, "decision": "verify"}
                    record = ask("POST", f"/api/tasks/{task['task']}/judgements", said)
                    sys.stdout.write(f"acknowledged {record['id']}\n")
                    sys.stdout.flush()


SCENARIOS = {
    "score": file_scenario(["score", "gold.jsonl", "predictions.jsonl", "--json"], "out.json"),
    "score --verdicts": file_scenario(["score", "gold.jsonl", "predictions.jsonl", "--verdicts"], "out.parquet"),
    "score .gz": file_scenario(["score", "gold.jsonl", "predictions.jsonl", "--json"], "out.json.gz"),
    "score .zst": file_scenario(["score", "gold.jsonl", "predictions.jsonl", "--json"], "out.json.zst"),
    "convert": file_scenario(["data", "convert", "gold.jsonl", "--base", "https://x.org/"], "out.ttl"),
    "convert parquet": file_scenario(["data", "convert", "gold.jsonl"], "out.parquet"),
    "convert folder": Scenario(
        lambda _: ["data", "convert", "gold.jsonl", "out", "--to", "hf-datasets"],
        write_inputs,
        read_folder("out"),
        is_once=True,
    ),
    "report --to html": file_scenario([*ARCHIVE, "--out"], "out.html"),
    "report --archive": Scenario(lambda _: [*ARCHIVE, "--archive", "archive"], prepare_archive, observe_archive),
    "report --archive (new)": Scenario(lambda _: [*ARCHIVE, "--archive", "archive"], write_inputs, observe_archive),
    "kb import": Scenario(
        lambda _: ["kb", "import", "tables", "--date", "2026-01-01", "--out", "kb"], prepare_snapshot, observe_snapshot
    ),
    "kb import (new)": Scenario(
        lambda _: ["kb", "import", "tables", "--date", "2026-01-01", "--out", "kb"], prepare_tables, observe_snapshot
    ),
    "run": Scenario(
        lambda _: ["run", "oracle", "--on", "gold.jsonl", "--out", "runs"], prepare_run, observe_predictions
    ),
    "run a service": Scenario(run_command, prepare_service, observe_predictions),
    "verify create": Scenario(lambda _: CREATE, write_inputs, observe_campaign("toy.sqlite"), is_once=True),
    "verify judge": Scenario(
        lambda _: ["python:tests.storage.scenarios:judge"], prepare_campaign, observe_campaign("toy.sqlite")
    ),
    "verify export": Scenario(
        lambda _: ["verify", "export", "toy.sqlite", "--out", "export.jsonl"],
        prepare_judged,
        read_files("export.jsonl"),
    ),
    "verify backup": Scenario(
        lambda _: ["verify", "backup", "toy.sqlite", "--out", "backup.jsonl"],
        prepare_judged,
        read_files("backup.jsonl"),
    ),
    "verify restore": Scenario(
        lambda _: ["verify", "restore", "backup.jsonl", "copy.sqlite"],
        prepare_backup,
        observe_campaign("copy.sqlite"),
        is_once=True,
    ),
}
