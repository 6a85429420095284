"""Options that commands share are declared once, and an option without effect is reported."""

from __future__ import annotations

import re

import click
import pyarrow as pa
import pytest

from karat.cli.lazy_group import LazyGroup
from karat.cli.main import karat as karat_group
from karat.cli.options.declaration import KaratOption, find_ineffective, find_parameter
from karat.data.custom_tables import CustomTables
from karat.data.format_detection import detect_format
from karat.matching.read.document_id_check import unknown_document_error
from karat.model.errors import InputError
from karat.model.output.command_options import format_option, use_command
from karat.storage.files import Source
from tests.conftest import ROOT


def list_commands(group=karat_group, path=()):
    """Yield every command with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, LazyGroup):
            yield from list_commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


def list_flags(command):
    return {flag for item in command.params for flag in item.opts}


COMMANDS = dict(list_commands())
CONDITIONAL = [
    (name, item)
    for name, command in COMMANDS.items()
    for item in command.params
    if isinstance(item, KaratOption) and (item.needs or item.unless)
]
SHARED = [
    "--kb",
    "--json",
    "--gold-format",
    "--predictions-format",
    "--allow-unknown",
    "--profile",
    "--set",
    "--resamples",
    "--permutations",
    "--seed",
    "--confidence",
    "--alpha",
    "--details",
    "--markdown",
    "--latex",
    "--html",
    "--by",
    "--measure",
    "--step",
    "--limit",
    "--columns",
    "--task",
]
SAME_HELP = [
    "--allow-unknown",
    "--set",
    "--seed",
    "--confidence",
    "--alpha",
    "--title",
    "--port",
    "--host",
    "--allow-host",
    "--columns",
]


def sample(item, value=None):
    """Return arguments that pass an option or argument, with a value if it takes one."""
    if isinstance(item, click.Argument):
        return [value or "x"]
    flag = max(item.opts, key=len)
    if item.is_flag:
        return [flag]
    choices = getattr(item.type, "choices", None)
    number = str(max(getattr(item.type, "min", None) or 0, 1))
    is_number = isinstance(item.type, click.types.IntParamType | click.types.FloatParamType)
    return [flag, value or (choices[0] if choices else number if is_number else "x")]


def required(command):
    """Return arguments for everything that a command requires."""
    return [part for item in command.params if item.required for part in sample(item)]


def switch_off(command, conditions):
    """Return arguments with which none of the conditions holds, though one may hold by default."""
    found = [find_parameter(command, condition) for condition in conditions]
    for item, value in found:
        if value is not None and item.default == value:
            named = {other for same, other in found if same is item}
            return sample(item, next(c for c in getattr(item.type, "choices", ("other",)) if c not in named))
    return []


def reports(command, arguments):
    """Return the options without effect in a call, by name, with their messages."""
    with command.make_context(command.name, arguments) as context:
        return {item.name: message for item, message in find_ineffective(context)}


def call(command, item, *more):
    """Return the arguments of a call with the option `item`; those in `more` are added unless it is there already."""
    return [*required(command), *sample(item), *(part for parts in more for part in parts)]


@pytest.mark.parametrize(("name", "item"), CONDITIONAL, ids=lambda part: part if isinstance(part, str) else part.name)
def test_an_option_without_effect_is_reported_and_only_then(name, item):
    command = COMMANDS[name]
    conditions = {condition: find_parameter(command, condition) for condition in (*item.needs, *item.unless)}
    if item.needs:
        missing = call(command, item, switch_off(command, item.needs))
        assert " has no effect without " in reports(command, missing)[item.name]
    needed = [sample(*conditions[item.needs[0]])] if item.needs else []
    needed.append(switch_off(command, item.unless))
    assert item.name not in reports(command, call(command, item, *needed))
    for condition in item.unless:
        message = reports(command, call(command, item, *needed[: len(item.needs)], sample(*conditions[condition])))
        assert f"with {condition}. Remove one of them." in message[item.name]


def test_the_tables_cover_the_options_that_were_ignored_silently():
    pairs = {(name, max(item.opts, key=len)) for name, item in CONDITIONAL}
    assert pairs >= {
        *(("score", f"--{flag}") for flag in ("confidence", "ci-unit", "ci-method", "plus-minus", "view", "texts")),
        ("score", "--resamples"),
        ("compare", "--texts"),
        ("report", "--resamples"),
        ("report", "--texts"),
        ("zelda score", "--lookup"),
    }


def test_a_contradiction_is_an_error_and_the_rest_a_note(karat_cli):
    refused = karat_cli("score", "demo", "demo", "--confidence", "0.9")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == "karat: --confidence has no effect without --ci. Add --ci, or remove --confidence.\n"
    noted = karat_cli("score", "demo", "demo", "--texts", "none")
    assert (noted.code, noted.err) == (
        0,
        "karat: --texts has no effect without --html. Add --html, or remove --texts.\n",
    )
    assert noted.out == karat_cli("score", "demo", "demo").out
    assert karat_cli("score", "demo", "demo", "--ci", "--confidence", "0.9").err == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "demo", "demo", "--html", "x.html", "--engine", "local"], "--html cannot be combined with --engine"),
        (["score", "demo", "demo", "--overlay", "x", "--verdicts", "x.jsonl"], "--overlay cannot be combined"),
        (["compare", "--gold", "demo", "demo", "--test", "bootstrap", "--permute", "signs"], "--test permutation"),
        (["curve", "demo", "demo", "--over", "alpha", "--calibration", "x.svg"], "--over threshold or --over coverage"),
        (["report", "--gold", "demo", "demo", "--to", "csv", "--archive", "x"], "--archive has no effect without"),
        (["systems", "--json", "x.json", "show", "graph"], "--json before show has no effect"),
    ],
)
def test_what_cannot_be_combined_leaves_no_file(arguments, message, karat_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = karat_cli(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("flag", SHARED)
def test_a_shared_option_is_declared_once(flag):
    sources = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "src" / "karat" / "cli").rglob("*.py"))]
    declared = re.compile(rf'\b(?:option|_policy_option|file_option)\(\s*(?:"-\w",\s*)?"{flag}"')
    assert sum(len(declared.findall(source)) for source in sources) == 1


def test_every_option_is_one_that_can_have_conditions():
    assert {
        (name, item.name)
        for name, command in COMMANDS.items()
        for item in command.params
        if isinstance(item, click.Option) and not isinstance(item, KaratOption) and item.name != "help"
    } == set()


READERS = [name for name, command in COMMANDS.items() if "--on-error" in list_flags(command)]
"""Commands that read gold standards or predictions."""


@pytest.mark.parametrize("name", READERS)
def test_messages_recommend_options_of_the_command(name, tmp_path):
    path = tmp_path / "unknown.jsonl"
    path.write_text("neither gold nor predictions")
    with use_command(f"karat {name}", list_flags(COMMANDS[name])):
        with pytest.raises(InputError) as unknown_format:
            detect_format(Source(str(path)), None, CustomTables())
        unknown_document = unknown_document_error("x", "z", "gold", 0, pa.array(["a"]), pa.array(["z"]))
    for error in (unknown_format.value, unknown_document):
        remedy = re.sub(r"karat [a-z]+ [^();]*", "", error.remedy)  # other commands have their own options
        assert {*re.findall(r"--[a-z-]+", remedy)} <= list_flags(COMMANDS[name])
    assert re.search("--allow-unknown|--on-error skip", unknown_document.remedy)


def test_no_command_has_more_than_fifteen_parameters():
    """A command with more of them has options that belong together, and are one value."""
    from inspect import signature, unwrap

    sizes = {name: len(signature(unwrap(command.callback)).parameters) for name, command in COMMANDS.items()}
    assert {name: size for name, size in sizes.items() if size > 15} == {}


def test_help_shows_the_same_words_for_the_same_option():
    """What differs is named here, and differs in what the option means for the command."""
    texts = {}
    for command in COMMANDS.values():
        for item in command.params:
            if isinstance(item, click.Option):
                texts.setdefault(max(item.opts, key=len), set()).add(item.help)
    same = [
        "--allow-unknown",
        "--set",
        "--seed",
        "--confidence",
        "--alpha",
        "--title",
        "--port",
        "--host",
        "--allow-host",
        "--columns",
    ]
    assert {flag: len(texts[flag]) for flag in same} == dict.fromkeys(same, 1)


def test_arguments_are_written_as_options_in_commands_and_by_keyword_in_python():
    assert (format_option("kb"), format_option("span_mismatch", "realign")) == ("kb=", "span_mismatch='realign'")
    with use_command("karat score", ["--kb"]):
        assert (format_option("kb"), format_option("span_mismatch", "realign")) == ("--kb", "--span-mismatch realign")
