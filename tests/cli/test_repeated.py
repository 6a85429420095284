"""An option of one value that is repeated is refused: the first value would be lost in silence."""

from __future__ import annotations

import click
import pytest

import karat
from karat import Corpus, Document, Label, UsageError
from karat.model.errors import InputError
from karat.systems.running.experiment import create_experiment
from tests.cli.test_options import COMMANDS

SINGLE = [
    (name, item)
    for name, command in COMMANDS.items()
    for item in command.params
    if isinstance(item, click.Option) and not (item.multiple or item.is_flag or item.count)
]


@pytest.mark.parametrize(("name", "item"), SINGLE, ids=[f"{name} {item.name}" for name, item in SINGLE])
def test_every_option_of_one_value_is_refused_if_repeated(name, item):
    flag = max(item.opts, key=len)
    values = [f"{flag}=1"] * 2 if item.nargs == 1 else [flag, *["1"] * item.nargs] * 2
    with pytest.raises(UsageError, match=f"^{flag} is repeated 2 times. Pass it once"):
        COMMANDS[name].make_context(name, values)


def test_advice_on_several_knowledge_bases(karat_cli, tmp_path):
    ran = karat_cli("score", "demo", "demo/prior", "--kb", "starter", "--kb", tmp_path)
    assert ran.code == 2
    assert ran.err.strip() == (
        "karat: --kb is repeated 2 times. Pass it once. To use several, write the rows of their tables into one folder."
    )


@pytest.mark.parametrize("command", ["run", "systems stages"])
def test_linkers_say_how_several_snapshots_are_joined(karat_cli, command):
    ran = karat_cli(*command.split(), "popular", "--on", "demo", "--kb", "starter", "--kb", "mine")
    assert (ran.code, ran.err.strip()) == (2, "karat: --kb is repeated. Join them by +: --kb starter+mine.")


def test_an_option_in_brackets_is_written_once(karat_cli):
    ran = karat_cli("run", "popular[kb=starter,kb=mine]", "--on", "demo")
    assert ran.code == 2
    assert "popular[kb=starter,kb=mine] has an option twice" in ran.err


def test_only_linkers_join_knowledge_bases_and_all_others_say_so():
    for use in (
        lambda: karat.open_kb("starter+starter"),
        lambda: karat.evaluate("demo", "demo/prior", kb="starter+starter"),
        lambda: karat.resolve_ids("demo", "starter+starter"),
    ):
        with pytest.raises(InputError, match=r"starter\+starter: found several knowledge bases joined by \+"):
            use()


def test_joined_snapshots_of_a_linker_map_its_ids_by_the_first(karat_cli, tmp_path):
    """The gold standard has a page for a linker of items, so that scoring maps ids as well."""
    page = "https://en.wikipedia.org/wiki/Berlin"
    gold = Corpus.from_documents([Document("d", "Berlin", [Label(0, 6, page)])], name="gold")
    karat.save(gold, tmp_path / "gold.jsonl")
    ran = karat_cli(
        "run", "popular", "--on", tmp_path / "gold.jsonl", "--kb", "starter+starter", "--out", tmp_path / "runs"
    )
    assert ran.code == 0, ran.err
    assert "100.0" in ran.out


def test_experiments_resolve_ids_by_the_first_of_joined_snapshots():
    experiment = create_experiment(
        ["popular"], {"kb": "starter+starter"}, datasets=("demo",), settings={"ids": "resolved"}
    )
    assert experiment.id_kb == "starter"
    assert experiment.request.kb.name == "starter"


def test_a_folder_whose_name_has_a_plus_is_one_knowledge_base(tmp_path):
    folder = tmp_path / "a+b"
    folder.mkdir()
    (folder / "redirects.tsv").write_text("Old\tNew\n", encoding="utf-8")
    assert karat.open_kb(folder).canonical_ids(["Old"]) == ["New"]
