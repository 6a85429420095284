"""Generator of JSON Schemas, bill of materials, version in CITATION.cff, marked blocks in docs/ and output in README.

`python tools/generate.py` writes the files; `--check` lists stale files and exits 1 if there are any.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import msgspec
from click.testing import CliRunner

import karat
from differences import DIFFERENCES, PROFILES
from karat.analysis.explanation.prose import find_order_dependent_settings
from karat.cli.completion.names import collect_names
from karat.cli.main import karat as karat_command
from karat.kb.snapshot.table_schemas import TABLE_SCHEMAS
from karat.matching.judge.policy import OUTCOME_TABLE
from karat.matching.select.selection import FILTERS
from karat.model.document import Document, Header, WrittenResponse
from karat.model.limits import LIMITS, environment_variable
from karat.model.profile_signatures import get_profile
from karat.model.registry import get_plugin, list_plugins
from karat.model.results.verdict import WEIGHTS
from karat.model.spec.category import ErrorCategory, Example
from karat.model.spec.clustering import Clustering
from karat.model.spec.dataset import Dataset
from karat.model.spec.facet import Facet
from karat.model.spec.format import Format
from karat.model.spec.key import PRESETS, SETS
from karat.model.spec.measure import Measure
from karat.model.spec.profile import Profile
from karat.model.spec.relation import MatchRelation
from karat.model.spec.rule import Rule
from karat.model.spec.settings.empty import EMPTY
from karat.model.spec.settings.settings import SETTINGS
from karat.model.spec.settings.task import TASK_ALIASES, TASKS
from karat.model.spec.settings.user_terms import TERMS
from karat.model.spec.step import Step
from karat.model.spec.suite import Suite
from karat.render.schemas import (
    FILES,
    build_all_schemas,
    build_schema,
    build_schema_index,
    get_layout_name,
    get_schema_name,
)
from karat.render.systems.catalogue import list_systems
from lock import read_lock, read_project
from materials import build_bill
from shapes import build_typescript

ROOT = Path(__file__).resolve().parent.parent


def to_json(schema: dict[str, object]) -> str:
    """Return a JSON Schema as the text of its file, indented and with sorted keys."""
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def format_table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table; vertical bars in cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def policy() -> str:
    """Return a table of the outcome and weights for each state of gold and prediction."""
    rows = [
        [
            gold.name.lower().replace("_", " "),
            prediction.name.lower(),
            outcome.title,
            *(str(weight) for weight in WEIGHTS[outcome]),
        ]
        for (gold, prediction), outcome in OUTCOME_TABLE.items()
    ]
    head = [
        "gold",
        "prediction",
        "outcome",
        "matched prediction",
        "unmatched prediction",
        "matched gold",
        "unmatched gold",
    ]
    return format_table(head, rows)


def empty() -> str:
    """Return a table of precision, recall and F1 for empty gold standards or predictions, by rule."""

    def triple(case: tuple[float | None, ...]) -> str:
        return " / ".join("undefined" if value is None else f"{value:g}" for value in case)

    rows = []
    for name, rule in EMPTY.items():
        for level, cases in rule.tables().items():
            rows.append([name, level, *map(triple, cases)])
    return format_table(["rule", "P / R / F1 of", "both empty", "no gold", "no predictions"], rows)


def settings() -> str:
    """Return a table of all settings with their values."""
    rows = []
    for name, setting in SETTINGS.items():
        rows += [
            [f"`{name}`", f"`{value}`", description, "matters" if value in setting.order_dependent_values else ""]
            for value, description in setting.values.items()
        ]
        if setting.open_description:
            rows.append(
                [f"`{name}`", "any", setting.open_description.format("…"), "by relation" if name == "match" else ""]
            )
    return format_table(["setting", "value", "meaning", "order of mentions"], rows)


def profiles() -> str:
    """Return a list of all profiles and a table of their settings; `NAME-tac…` shares the column of NAME."""
    all_profiles = {name: get_profile(name) for name in list_plugins("profiles")}
    description = [
        f"- **`{name}`** {profile.description} {_describe_order(profile)}" for name, profile in all_profiles.items()
    ]
    distinct = {
        name: p
        for name, p in all_profiles.items()
        if not any(name.startswith(f"{other}-tac") for other in all_profiles)
    }
    rows = [[f"`{setting}`", *(f"`{p.settings[setting]}`" for p in distinct.values())] for setting in SETTINGS]
    return "\n".join(description) + "\n\n" + format_table(["setting", *(f"`{name}`" for name in distinct)], rows)


def _describe_order(profile: Profile) -> str:
    """Return a sentence that names the settings by which the order of mentions matters."""
    ordered = ", ".join(f"`{setting}`" for setting in find_order_dependent_settings(profile.settings))
    return f"*Order of mentions: {f'matters ({ordered})' if ordered else 'never matters'}.*"


def tasks() -> str:
    """Return a table of all tasks."""
    also = {name: [other for other, target in TASK_ALIASES.items() if target == name] for name in TASKS}
    rows = [
        [
            f"`{name}`",
            ", ".join(f"`{other}`" for other in also[name]) or "–",
            task.description,
            ", ".join(f"`{r}`" for r in dict.fromkeys([*task.match.values(), *task.other_relations]))
            if not task.parts
            else "–",
        ]
        for name, task in TASKS.items()
    ]
    return format_table(["task", "also", "what is asked", "relations"], rows)


def terms() -> str:
    """Return a table of the names that other tools use for measures, relations and filters, and Karat's names."""
    rows = [
        [phrase, term.tool, f"{term.part} `{term.value}`" + (f" of task `{term.task}`" if term.task else "")]
        for phrase, term in TERMS.items()
        if term.part != "task"
    ]
    return format_table(["term, in any case", "used by", "in Karat"], rows)


def formats() -> str:
    """Return a table of all formats and the kinds of data that they read and write."""
    rows = []
    for name in list_plugins("formats"):
        format = get_plugin("formats", name, Format)
        reads = [
            kind for kind, how in (("gold", format.read_corpus), ("predictions", format.read_run)) if how is not None
        ]
        writes = [
            kind
            for kind, how in (("gold", format.write_corpus), ("predictions", format.write_run))
            if how is not None or format.write_folder is not None
        ]
        rows.append(
            [f"`{name}`", format.title, ", ".join(reads) or "–", ", ".join(writes) or "–", format.description or "–"]
        )
    return format_table(["format", "", "reads", "writes", "note"], rows)


def limits() -> str:
    """Return a table of the limits on input, with their environment variables."""
    rows = [
        [f"`{environment_variable(name)}`", f"{limit.maximum:,} {limit.description}", limit.reason]
        for name, limit in LIMITS.items()
    ]
    return format_table(["variable", "at most", "why"], rows)


def steps() -> str:
    """Return a table of all steps."""
    rows = [
        [f"`{name}`", step.description] for name in list_plugins("steps") for step in [get_plugin("steps", name, Step)]
    ]
    return format_table(["step", "what it does"], rows)


def rules() -> str:
    """Return a table of all lint rules."""
    rows = [
        [f"`{name}`", rule.severity, rule.fix_description or "–", rule.description]
        for name in list_plugins("rules")
        for rule in [get_plugin("rules", name, Rule)]
    ]
    return format_table(["rule", "severity", "what `--fix` does", "what holds in a good gold standard"], rows)


def suites() -> str:
    """Return a table of all reproduction suites."""
    rows = [
        [f"`{name}`", s.title, s.description]
        for name in list_plugins("suites")
        for s in [get_plugin("suites", name, Suite)]
    ]
    return format_table(["suite", "agreement with", "what is compared"], rows)


def datasets() -> str:
    """Return a table of all registered datasets."""
    rows = [
        [f"`{name}`", d.title, d.language, d.licence]
        for name in list_plugins("datasets")
        for d in [get_plugin("datasets", name, Dataset)]
    ]
    return format_table(["name", "dataset", "language", "licence"], rows)


def systems() -> str:
    """Return tables of all systems: included in Karat, external, and those whose predictions can be imported."""
    rows = list_systems()
    spans = {"never": "no", "optional": "yes", "required": "only"}
    blocks = []
    for where, title in (("karat", "Included in Karat"), ("outside", "External")):
        cells = [
            [
                f"`{row.name}{':' + row.argument if row.argument else ''}`",
                row.description,
                f"`{row.hardest_task}`",
                spans[row.gold_mentions],
                ", ".join(row.requirements + (f"extra `{row.extra}`",) * bool(row.extra) + ("gold",) * row.needs_gold)
                or "–",
                row.id_space or "of the snapshot",
            ]
            for row in rows
            if row.where == where
        ]
        blocks.append(f"### {title}\n\n" + format_table(["system", "", "task", "spans", "needs", "ids"], cells))
    cells = [
        [f"`{row.name}`", row.title, ", ".join(f"`{name}`" for name in row.methods) or "–", row.untested_reason]
        for row in rows
        if row.where == "nowhere"
    ]
    header = ["system", "", "its method in Karat", "import its predictions as"]
    blocks.append("### Untested\n\n" + format_table(header, cells))
    return "\n\n".join(blocks)


def clusterings() -> str:
    """Return a table of all clusterings."""
    rows = [
        [f"`{n}`", c.title, c.description]
        for n in list_plugins("clusterings")
        for c in [get_plugin("clusterings", n, Clustering)]
    ]
    return format_table(["name", "clustering", "what it counts"], rows)


def keys() -> str:
    """Return two tables: neleval's measures with their keys, and sets of measures."""
    measures = format_table(["name", "key"], [[f"`{name}`", f"`{key}`"] for name, key in PRESETS.items()])
    sets = format_table(["set", "measures"], [[f"`{name}`", ", ".join(members)] for name, members in SETS.items()])
    return f"{measures}\n\n{sets}"


def relations() -> str:
    """Return a table of all match relations."""
    all_relations = [(name, get_plugin("relations", name, MatchRelation)) for name in list_plugins("relations")]
    rows = [
        [
            f"`{name}`",
            r.title,
            r.description,
            f"`{r.detection}`" if r.detection else "–",
            "matters" if r.is_order_dependent else "",
        ]
        for name, r in all_relations
    ]
    return format_table(["name", "relation", "a prediction matches when", "detection", "order of mentions"], rows)


def categories() -> str:
    """Return a table of all error categories with their examples."""
    rows = []
    for name in list_plugins("categories"):
        category = get_plugin("categories", name, ErrorCategory)
        example = category.example
        cell = (
            "–"
            if example is None
            else f"gold: {example.gold}<br>predictions: {example.predictions}<br>{_describe_example(example)}"
        )
        rows.append(
            [f"`{name}`", f"**{category.title}.** {category.description}", category.total_description or "–", cell]
        )
    return format_table(["category", "errors", "among", "example"], rows)


def _describe_example(example: Example) -> str:
    """Return the number of errors in an example, of how many, and the facts it needs, as Markdown."""
    facts = [f"{', '.join(example.demonyms)} are demonyms"] if example.demonyms else []
    facts += [f"{', '.join(example.links)} are links"] if example.links else []
    facts += [f"{text} is popular for {entity}" for text, entity in example.popular.items()]
    facts += [f"{entity} is {kind}" for entity, kind in example.types.items()]
    facts += [f"profile `{example.profile}`"] if example.profile != "karat" else []
    count = f"**{example.errors}**" if example.total is None else f"**{example.errors} of {example.total}**"
    return count + (f" ({'; '.join(facts)})" if facts else "")


def differences() -> str:
    """Return a table of the differences between the default profile, ELEVANT's program and its paper."""
    rows = []
    for difference in DIFFERENCES:
        sides = {"gold": difference.gold, "predictions": difference.predictions}
        side_texts = [
            f"{side}: {'; '.join(mention.description for mention in mentions) or 'none'}"
            for side, mentions in sides.items()
        ]
        where = "" if difference.span is None else f", evaluated from {difference.span[0]} to {difference.span[1]}"
        facts = [f"({'; '.join(difference.fact_descriptions)})"] if difference.fact_descriptions else []
        cell = "<br>".join([f"“{difference.text}”{where}", *side_texts, *facts])
        rows.append(
            [
                f"**{difference.title}.** {difference.description}",
                cell,
                f"`{difference.query}`",
                *difference.expected_counts.values(),
            ]
        )
    return format_table(["difference", "example", "query", *(f"`{name}`" for name in PROFILES)], rows)


def measures() -> str:
    """Return a table of all measures."""
    all_measures = [(name, get_plugin("measures", name, Measure)) for name in list_plugins("measures")]
    rows = []
    for name, m in all_measures:
        short_name = {"none": name, "optional": f"{name}[@k]", "required": f"{name.removesuffix('-at')}@k"}[m.cutoff]
        names = ", ".join(f"`{aggregate}.{short_name}`" for aggregate in m.aggregates) or f"`{short_name}`"
        rows.append([names, m.title, m.formula, m.undefined_case, m.note])
    return format_table(["name", "measure", "formula", "undefined where", "note"], rows)


def filters() -> str:
    """Return a table of all filters."""
    rows = [[f"`[{name}]`", filter.description] for name, filter in FILTERS.items()]
    return format_table(
        ["filter", "keeps"], [*rows, ["`[FACET=VALUE]`", "mentions and predictions with that value of a facet"]]
    )


def files() -> str:
    """Return a table of the commands with JSON output, with layout and schema."""
    layouts = [(command, get_layout_name(kinds)) for command, kinds in FILES.items()]
    rows = [[f"`karat {command}`", f"`{layout}`", link_schema(get_schema_name(layout))] for command, layout in layouts]
    return format_table(["command", "layout", "schema"], rows)


def link_schema(name: str) -> str:
    """Return a link to a schema in the repository; the site has it too (`site_schemas.py`)."""
    return f"[`{name}.schema.json`](../../src/karat/render/schema/{name}.schema.json)"


def api() -> str:
    """Return a table of all public names, with the first line of their docstrings."""
    rows = []
    for name in karat.__all__:
        value = getattr(karat, name)
        description = (inspect.getdoc(value) or "").split("\n")[0] if callable(value) else _CONSTANTS[name]
        rows.append([f"`{name}`", description])
    return format_table(["name", "what it is"], rows)


_CONSTANTS = {
    "UNLINKED": "The `entity` of a span that was marked but not linked; `None` is NIL.",
    "__version__": "The version of Karat, which is part of every signature.",
}


def commands() -> str:
    """Return what `--help` of every command prints, as Markdown; a group is followed by its commands."""
    blocks = []
    for name in _list_commands(karat_command, ""):
        arguments = [*name.split(), "--help"]
        done = CliRunner().invoke(karat_command, arguments, prog_name="karat", terminal_width=78)
        assert done.exit_code == 0, done.output
        blocks.append(f"## `karat {name}`" if name else "## `karat`")
        blocks.append(f"```text\n{done.stdout.rstrip()}\n```")
    return "\n\n".join(blocks)


def _list_commands(command: click.Command, name: str) -> Iterator[str]:
    """Yield `name` and, if it is a group, the names of all commands in it."""
    yield name
    if isinstance(command, click.Group):
        context = click.Context(command)
        for child in sorted(command.list_commands(context)):
            child_command = command.get_command(context, child)
            assert child_command is not None
            yield from _list_commands(child_command, f"{name} {child}".strip())


def layers() -> str:
    """Return the import layers in pyproject.toml as a code block."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(r"^layers = \[\n(.*?)^\]", text, re.DOTALL | re.MULTILINE)
    assert listed is not None
    names_and_descriptions = re.findall(r'^ +"(.+?)",(?:  # (.*))?$', listed[1], re.MULTILINE)
    lines = [
        f"{names}\n    {description}" if len(names) > 30 else f"{names:<32}{description}".rstrip()
        for names, description in names_and_descriptions
    ]
    return "```text\n" + "\n".join(lines) + "\n```"


def facets() -> str:
    """Return a table of the facets that scores can be grouped by."""
    all_facets = {name: get_plugin("facets", name, Facet) for name in list_plugins("facets")}
    parts = {
        name: facet.from_mentions is not None or facet.from_documents is not None for name, facet in all_facets.items()
    }
    rows = [[f"`{name}`", facet.description, "yes" if parts[name] else "no"] for name, facet in all_facets.items()]
    return format_table(["facet", "values", "makes parts of the data"], rows)


def snapshot_tables() -> str:
    """Return a table of the tables of a snapshot."""
    rows = [
        [f"`{name}`", ", ".join(schema.columns), schema.purpose, "yes" if schema.is_derived else "no"]
        for name, schema in TABLE_SCHEMAS.items()
    ]
    return format_table(["table", "columns", "needed for", "derived"], rows)


def annotate_resources() -> str:
    """Return a table of the JSON resources of `karat annotate serve`."""
    return _tabulate_routes("annotating/app.py")


def verify_resources() -> str:
    """Return a table of the JSON resources of `karat verify serve`."""
    return _tabulate_routes("judging/app.py")


def _tabulate_routes(path: str) -> str:
    """Return a table of the routes in a module of karat.web and of those for leads.

    The source is parsed and not imported, because the servers need packages of an extra.
    """
    rows = []
    for file in (path, "campaigns/lead.py"):
        source = (ROOT / "src" / "karat" / "web" / file).read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Tuple(elts=[ast.Constant(str(method)), ast.Constant(str(url)), _, ast.Constant(str(purpose))]):
                    if url.startswith("/api/"):
                        rows.append([f"`{method} {url}`", purpose])
    return format_table(["resource", "purpose"], rows)


def update_readme(text: str) -> str:
    """Run the examples in the text of the README, and return the text with their current output."""
    with TemporaryDirectory() as folder:
        for name, content in re.findall(r"```json (\S+)\n(.*?)```", text, re.DOTALL):
            (Path(folder) / name).write_text(content, encoding="utf-8")
        scored = _run_karat(["score", "gold.jsonl", "predictions.jsonl"], folder)
        demo = _run_karat(["demo"], folder).partition("\n4 systems on demo")[0].rstrip()
    text = re.sub(
        r"(\$ \.venv/bin/karat score \S+ \S+\n).*?\n```", lambda m: f"{m[1]}{scored}\n```", text, flags=re.DOTALL
    )
    return re.sub(
        r"(## What the demo prints\n\n```text\n).*?\n```", lambda m: f"{m[1]}{demo}\n```", text, flags=re.DOTALL
    )


def _run_karat(arguments: list[str], folder: str) -> str:
    """Run `karat` in `folder` and return its output, 80 columns wide."""
    command = [sys.executable, "-m", "karat", *arguments]
    wide = os.environ | {"COLUMNS": "80"}
    ran = subprocess.run(command, capture_output=True, check=True, cwd=folder, encoding="utf-8", env=wide)
    return ran.stdout.rstrip()


BLOCKS: dict[str, Callable[[], str]] = {
    block.__name__: block
    for block in (
        policy,
        empty,
        settings,
        profiles,
        tasks,
        terms,
        clusterings,
        keys,
        formats,
        limits,
        steps,
        rules,
        suites,
        datasets,
        systems,
        relations,
        categories,
        differences,
        measures,
        filters,
        facets,
        snapshot_tables,
        annotate_resources,
        verify_resources,
        layers,
        files,
        api,
        commands,
    )
}
"""The functions that return the generated Markdown blocks, by the name in the marker `<!-- generated: NAME -->`."""


def build_files() -> dict[Path, str]:
    """Return the expected content of every generated file, by path; nothing is written."""
    folder = ROOT / "src" / "karat" / "render" / "schema"
    files = {
        folder / "gold.schema.json": to_json(build_schema("Karat gold, one line", Document, Header)),
        folder / "predictions.schema.json": to_json(
            build_schema("Karat predictions, one line", WrittenResponse, Header)
        ),
        folder / "index.json": to_json(msgspec.to_builtins({"schemas": build_schema_index()})),
        ROOT / "src" / "karat" / "cli" / "completion" / "names.json": to_json(msgspec.to_builtins(collect_names())),
        ROOT / "web" / "src" / "shape.ts": build_typescript(),
        ROOT / "src" / "karat" / "karat.cdx.json": to_json(
            build_bill(karat.__version__, str(read_project()["license"]), read_lock("base"), read_lock("all"))
        ),
        **{folder / f"{name}.schema.json": to_json(schema) for name, schema in build_all_schemas().items()},
    }
    for page in [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        fresh = re.sub(
            r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)",
            lambda match: f"{match[1]}\n{BLOCKS[match[2]]()}\n\n{match[3]}",
            text,
            flags=re.DOTALL,
        )
        files[page] = fresh
    page = ROOT / "CITATION.cff"
    files[page] = re.sub(r"(?m)^version: .*$", f"version: {karat.__version__}", page.read_text(encoding="utf-8"))
    page = ROOT / "README.md"
    files[page] = update_readme(page.read_text(encoding="utf-8"))
    return files


def main() -> None:
    """Write the generated files, or with `--check` list stale ones and exit with status 1 if there are any."""
    files = build_files()
    stale = [
        path for path, content in files.items() if not path.exists() or path.read_text(encoding="utf-8") != content
    ]
    if "--check" in sys.argv:
        for path in stale:
            print(f"stale: {path.relative_to(ROOT)}; run `python tools/generate.py`")
        sys.exit(1 if stale else 0)
    for path, content in files.items():
        path.write_text(content, encoding="utf-8")
    print(f"{len(stale)} files changed")


if __name__ == "__main__":
    main()
