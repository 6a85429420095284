"""The catalogue of systems, as text and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from karat.model.output.json_files import JsonFile, JsonRecord, build_record, encode_indented
from karat.model.output.text_layout import format_table, wrap_text
from karat.model.registry import list_plugins
from karat.model.spec.external_access import TrainingSetup, format_magnitude, training_metadata
from karat.model.spec.settings.task import TASKS
from karat.model.spec.system import Claim, format_option_value
from karat.protocols.papers.published_claims import name_datasets, name_measure
from karat.render.tables import UNDEFINED
from karat.systems.linking.abstention import load_system
from karat.systems.linking.system import list_methods
from karat.systems.running.system import PUBLISHED

_GOLD_MENTIONS: Final = {"never": "no", "optional": "yes", "required": "only"}
_LOCATIONS: Final = {"karat": "included in Karat", "outside": "external"}


class OptionEntry(JsonRecord, frozen=True):
    """An option of a system: name, default, allowed values and description."""

    name: str
    default: str
    values: tuple[str, ...]
    description: str


class SystemEntry(JsonRecord, frozen=True):
    """A system: its hardest task, id space, requirements, options and default prompt.

    `id_space` is empty if the system uses the snapshot's ids. `gold_mentions`: whether it accepts gold mentions.
    `untested_reason`: format of predictions to import if Karat cannot run it. `training`: data it was trained on.
    `setups`: the training signals of its published models. `method_of`: the system whose published method it
    implements. `methods`: the systems in Karat that implement its own.
    """

    name: str
    title: str
    description: str
    hardest_task: str
    gold_mentions: Literal["never", "optional", "required"]
    id_space: str
    requirements: tuple[str, ...]
    stages: tuple[str, ...]
    extra: str | None
    needs_gold: bool
    untested_reason: str
    argument: str
    options: tuple[OptionEntry, ...]
    where: Literal["karat", "outside", "nowhere"]
    training: Mapping[str, str]
    setups: tuple[TrainingSetup, ...]
    method_of: str
    methods: tuple[str, ...]
    prompt: str = ""


class SystemsFile(JsonFile, frozen=True, tag="karat-systems/4"):
    """The output of `karat systems --json`."""

    systems: tuple[SystemEntry, ...]


def list_systems() -> list[SystemEntry]:
    """Return the catalogue entry of every system."""
    return [describe_system(name) for name in list_plugins("systems")]


def describe_system(name: str) -> SystemEntry:
    """Return the catalogue entry of the system called `name`."""
    system = load_system(name)
    hints = get_type_hints(system.options)
    options = tuple(
        OptionEntry(
            field.name.replace("_", "-"),
            "" if field.default is None else format_option_value(field.default),
            _list_values(hints[field.name]),
            field.metadata.get("description", ""),
        )
        for field in fields(system.options)
        if field.name != "argument"
    )
    return build_record(
        SystemEntry,
        system,
        name=name,
        stages=tuple(system.stages),
        options=options,
        where="nowhere" if system.untested_reason else "karat" if system.external_access is None else "outside",
        training=training_metadata(system.training.to_metadata()),
        methods=list_methods(name),
    )


def encode_list(rows: Sequence[SystemEntry]) -> bytes:
    """Encode the catalogue of systems as indented JSON."""
    return encode_indented(SystemsFile(tuple(rows)))


def render_list(rows: Sequence[SystemEntry], *, width: int | None = None) -> str:
    """Render systems as tables: included in Karat, external, and untested ones whose predictions can be imported.

    A last table has the systems whose published methods others implement, side by side.
    `width`: columns to wrap at; None does not wrap.
    """
    blocks = []
    for location, title in _LOCATIONS.items():
        cells = [
            [title, "solves", "spans", "needs", "ids"],
            *(_build_cells(row) for row in rows if row.where == location),
        ]
        blocks.append(format_table(cells, range(5), width))
    untested = [
        [row.name, row.hardest_task, row.id_space or "–", row.untested_reason] for row in rows if row.untested_reason
    ]
    blocks.append(
        format_table([["untested", "solves", "ids", "import its predictions as"], *untested], range(4), width)
    )
    originals = [[row.name, ", ".join(row.methods)] for row in rows if row.methods]
    if originals:
        blocks.append(format_table([["original", "its published method, in Karat"], *originals], range(2), width))
    return "\n\n".join([*blocks, _USAGE])


_USAGE: Final = """\
karat systems show NAME                show a system and its options
karat run NAME… --on DATASET           run a system
karat run predictions:FILE --on DATASET    import predictions
"""


def _build_cells(row: SystemEntry) -> list[str]:
    """Return the row of a system in the list."""
    return [
        f"{row.name}:…" if row.argument else row.name,
        row.hardest_task,
        _GOLD_MENTIONS[row.gold_mentions],
        _format_needs(row),
        row.id_space or "of the snapshot",
    ]


def _format_needs(row: SystemEntry) -> str:
    """Return the requirements of a system as text; `–` if it has none."""
    needs = [*row.requirements, *([f"extra {row.extra}"] if row.extra else []), *(["gold"] if row.needs_gold else [])]
    return ", ".join(needs) or "–"


def render_system(
    row: SystemEntry, *, citation: str = "", claims: Sequence[Claim] = (), width: int | None = None
) -> str:
    """Render a system with its description, requirements, training data, options and published scores.

    `citation` names its publication, and `claims` are the scores that publications report. `width`: columns to wrap at;
    None wraps the description at 120 columns and nothing else.
    """
    head = [f"{row.name}: {row.title}", "", row.description, ""]
    facts = [
        ["solves", f"{row.hardest_task}, {TASKS[row.hardest_task].title.lower()}"],
        ["takes spans", _GOLD_MENTIONS[row.gold_mentions]],
        ["ids", row.id_space or (UNDEFINED if row.untested_reason else "of the snapshot")],
        ["needs", _format_needs(row)],
        ["stages", ", ".join(row.stages) or "–"],
        *([f"training: {name}", description] for name, description in row.training.items()),
        *([["publication", citation]] if citation else []),
        *([["method of", f"{row.method_of}: its published method, not the system itself"]] if row.method_of else []),
        *([["its method", f"{', '.join(row.methods)}: its published method, in Karat"]] if row.methods else []),
    ]
    if row.untested_reason:
        facts = [
            facts[0],
            facts[2],
            ["import", f"untested: import its predictions as {row.untested_reason}"],
            *facts[5:],
        ]
    text = wrap_text("\n".join(head), width or 120) + "\n" + format_table(facts, (0, 1), width) + "\n"
    if row.setups:
        table = [_SETUP_HEADER, *map(_build_setup_cells, row.setups)]
        text += f"\n{format_table(table, range(len(_SETUP_HEADER)), width)}\n"
    if row.prompt:
        text += f"\nprompt:\n\n{row.prompt}"
    if row.options:
        table = [["option", "default", "description"]]
        table += [[option.name, option.default, _format_option(option)] for option in row.options]
        text += f"\n{format_table(table, (0, 1, 2), width)}\n"
        example = f"{row.options[0].name}={row.options[0].default or 'VALUE'}"
        rest = f":{row.argument}" if row.argument else ""
        text += f"\n{row.name}[{example}]{rest} sets an option in the name\n"
    return text + _render_claims(row.name, claims, width)


def render_published(width: int | None = None) -> str:
    """Render what `predictions:FILE` is, which stands for a system; `width` as in `render_system`."""
    return wrap_text(_PUBLISHED_PAGE, width or 120)


_PUBLISHED_PAGE: Final = f"""\
{PUBLISHED}:FILE: Predictions in a file

It stands for a system wherever systems are named: karat run scores the file beside the systems that it runs. FILE may \
have any format that karat score reads, and its header names the system. Nothing is run or sent, and times are those \
that the file states. It has no options.

karat run {PUBLISHED}:mine.jsonl light --on DATASET
"""


_CLAIM_HEADER: Final = ["published score", "dataset", "task", "measure", "value"]


def _render_claims(name: str, claims: Sequence[Claim], width: int | None) -> str:
    """Render the published scores of a system by source, without those of single categories; empty without any."""
    if not claims:
        return ""
    rows = [
        [
            f"{claim.source}: {claim.variant}",
            name_datasets(claim),
            claim.task,
            name_measure(claim),
            claim.format(claim.points),
        ]
        for claim in claims
        if not claim.is_detail
    ]
    n_details = len(claims) - len(rows)
    lines = [f"karat reproduce --system {name} --data DIR computes them again"]
    if n_details:
        lines.insert(0, f"{n_details} more published scores are of single categories of mentions.")
    table = format_table([_CLAIM_HEADER, *rows], range(len(_CLAIM_HEADER) - 1), width)
    return f"\n{table}\n\n" + wrap_text("\n".join(lines), width or 120) + "\n"


_SETUP_HEADER: Final = ["model", "trained on", "labels", "text", "also uses", "entities", "lists", "AIDA-B"]


def _build_setup_cells(setup: TrainingSetup) -> list[str]:
    """Return the row of a published model in the table of training signals; its accuracy is the reported one."""
    return [
        setup.model,
        f"{setup.size}{', one mention each' if setup.has_single_mentions else ''}",
        "some weak" if setup.has_weak_labels else "links",
        f"{setup.text_source} {setup.dump_date}",
        ", ".join(setup.features) or "–",
        format_magnitude(setup.entities),
        ", ".join(setup.candidate_lists) or "none",
        UNDEFINED if setup.aida_b_accuracy is None else f"{setup.aida_b_accuracy:g}",
    ]


def _format_option(option: OptionEntry) -> str:
    """Return the description of an option, with its allowed values if it has a fixed set."""
    return f"{option.description} One of {', '.join(option.values)}." if option.values else option.description


def _list_values(kind: Any) -> tuple[str, ...]:  # noqa: ANN401  # the type of a field
    """Return the allowed values of an option of type `Literal`; empty for any other type."""
    return tuple(map(str, get_args(kind))) if get_origin(kind) is Literal else ()
