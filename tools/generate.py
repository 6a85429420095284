"""Write what is generated: the JSON Schemas, the marked blocks in docs/ and what the README's examples print.

`python tools/generate.py` writes, `--check` only says what is stale and exits 1.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import karat
from differences import DIFFERENCES, PROFILES
from karat.cli.data import COMMANDS as DATA
from karat.cli.kb import COMMANDS as KB
from karat.cli.kb.build import COMMANDS as BUILD
from karat.cli.main import COMMANDS
from karat.cli.zelda import COMMANDS as ZELDA
from karat.explanation.prose import in_order
from karat.limits import LIMITS, variable_of
from karat.matching.judge.policy import FAIR
from karat.matching.select.select import FILTERS
from karat.model.document import Document, Header, WrittenReply
from karat.model.verdict import WEIGHTS
from karat.pages.schemas import FILES, layout_of, name_of, schema, schemas
from karat.registry import get, names
from karat.signing import profile_named
from karat.spec.category import Category, Example
from karat.spec.choices.choices import CHOICES
from karat.spec.choices.empty import EMPTY
from karat.spec.choices.task import ALSO, TASKS
from karat.spec.clustering import Clustering
from karat.spec.dataset import Dataset
from karat.spec.format import Format
from karat.spec.grouping import Grouping
from karat.spec.key import PRESETS, SETS
from karat.spec.measure import Measure
from karat.spec.profile import Profile
from karat.spec.relation import Relation
from karat.spec.step import Step
from karat.spec.suite import Suite
from shapes import typescript

ROOT = Path(__file__).resolve().parent.parent


def laid_out(schema: dict[str, object]) -> str:
    """A JSON Schema as it stands in its file."""
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def policy() -> str:
    """What each state of the gold against each state of the answer counts."""
    rows = [
        [
            gold.name.lower().replace("_", " "),
            answer.name.lower(),
            outcome.label,
            *(str(weight) for weight in WEIGHTS[outcome]),
        ]
        for (gold, answer), outcome in FAIR.items()
    ]
    head = ["gold", "answer", "outcome", "matched answer", "unmatched answer", "matched gold", "unmatched gold"]
    return table(head, rows)


def empty() -> str:
    """What scores are where a side is empty."""

    def triple(case: tuple[float | None, ...]) -> str:
        return " / ".join("undefined" if value is None else f"{value:g}" for value in case)

    rows = []
    for name, rule in EMPTY.items():
        for level, cases in rule.levels().items():
            rows.append([name, level, *map(triple, cases)])
    return table(["rule", "P / R / F1 of", "both empty", "no gold", "no answers"], rows)


def choices() -> str:
    """All choices with their values."""
    rows = []
    for name, choice in CHOICES.items():
        rows += [
            [f"`{name}`", f"`{value}`", says, "matters" if value in choice.ordered else ""]
            for value, says in choice.values.items()
        ]
        if choice.open:
            rows.append([f"`{name}`", "any", choice.open.format("…"), "by relation" if name == "match" else ""])
    return table(["choice", "value", "meaning", "order of mentions"], rows)


def profiles() -> str:
    """All profiles, and their choices side by side; presets of one profile share its choices."""
    found = {name: profile_named(name) for name in names("profiles")}
    says = [f"- **`{name}`** {profile.says} {_order(profile)}" for name, profile in found.items()]
    distinct = {name: p for name, p in found.items() if not any(name.startswith(f"{other}-tac") for other in found)}
    rows = [[f"`{choice}`", *(f"`{p.choices[choice]}`" for p in distinct.values())] for choice in CHOICES]
    return "\n".join(says) + "\n\n" + table(["choice", *(f"`{name}`" for name in distinct)], rows)


def _order(profile: Profile) -> str:
    ordered = ", ".join(f"`{choice}`" for choice in in_order(profile.choices))
    return f"*Order of mentions: {f'matters ({ordered})' if ordered else 'never matters'}.*"


def tasks() -> str:
    """All tasks."""
    also = {name: [other for other, known in ALSO.items() if known == name] for name in TASKS}
    rows = [
        [
            f"`{name}`",
            ", ".join(f"`{other}`" for other in also[name]) or "–",
            task.says,
            ", ".join(f"`{r}`" for r in dict.fromkeys([*task.match.values(), *task.others])) if not task.parts else "–",
        ]
        for name, task in TASKS.items()
    ]
    return table(["task", "also", "what is asked", "relations"], rows)


def formats() -> str:
    """All formats: what each reads and writes."""
    rows = []
    for name in names("formats"):
        known = get("formats", name, Format)
        reads = [what for what, how in (("gold", known.read_corpus), ("answers", known.read_run)) if how is not None]
        writes = [what for what, how in (("gold", known.write_corpus), ("answers", known.write_run)) if how is not None]
        rows.append([f"`{name}`", known.title, ", ".join(reads) or "–", ", ".join(writes) or "–", known.says or "–"])
    return table(["format", "", "reads", "writes", "note"], rows)


def limits() -> str:
    """How much Karat takes on."""
    rows = [[f"`{variable_of(name)}`", f"{one.most:,} {one.of}", one.why] for name, one in LIMITS.items()]
    return table(["variable", "at most", "why"], rows)


def steps() -> str:
    """All steps."""
    rows = [[f"`{name}`", step.says] for name in names("steps") for step in [get("steps", name, Step)]]
    return table(["step", "what it does"], rows)


def suites() -> str:
    """All conformance suites."""
    rows = [[f"`{name}`", s.title, s.says] for name in names("suites") for s in [get("suites", name, Suite)]]
    return table(["suite", "agreement with", "what is compared"], rows)


def datasets() -> str:
    """All registered benchmarks."""
    rows = [
        [f"`{name}`", d.title, d.language, d.licence]
        for name in names("datasets")
        for d in [get("datasets", name, Dataset)]
    ]
    return table(["name", "benchmark", "language", "licence"], rows)


def clusterings() -> str:
    """All clusterings."""
    rows = [[f"`{n}`", c.title, c.says] for n in names("clusterings") for c in [get("clusterings", n, Clustering)]]
    return table(["name", "clustering", "what it counts"], rows)


def keys() -> str:
    """neleval's measures and sets of measures."""
    measures = table(["name", "key"], [[f"`{name}`", f"`{key}`"] for name, key in PRESETS.items()])
    sets = table(["set", "measures"], [[f"`{name}`", ", ".join(found)] for name, found in SETS.items()])
    return f"{measures}\n\n{sets}"


def relations() -> str:
    """All relations."""
    found = [(name, get("relations", name, Relation)) for name in names("relations")]
    rows = [
        [f"`{name}`", r.title, r.says, f"`{r.detection}`" if r.detection else "–", "matters" if r.ordered else ""]
        for name, r in found
    ]
    return table(["name", "relation", "an answer matches when", "detection", "order of mentions"], rows)


def categories() -> str:
    """All error categories with their examples."""
    rows = []
    for name in names("categories"):
        category = get("categories", name, Category)
        found = category.example
        cell = "–" if found is None else f"gold: {found.gold}<br>answers: {found.answers}<br>{_worked(found)}"
        rows.append([f"`{name}`", f"**{category.title}.** {category.says}", category.among or "–", cell])
    return table(["category", "errors", "among", "example"], rows)


def _worked(example: Example) -> str:
    """What an example counts, and the facts it needs."""
    facts = [f"{', '.join(example.demonyms)} are demonyms"] if example.demonyms else []
    facts += [f"{', '.join(example.links)} are links"] if example.links else []
    facts += [f"{text} is popular for {entity}" for text, entity in example.popular.items()]
    facts += [f"{entity} is {kind}" for entity, kind in example.types.items()]
    facts += [f"profile `{example.like}`"] if example.like != "karat" else []
    count = f"**{example.errors}**" if example.total is None else f"**{example.errors} of {example.total}**"
    return count + (f" ({'; '.join(facts)})" if facts else "")


def differences() -> str:
    """Where the default profile, ELEVANT's program and its paper differ."""
    rows = []
    for found in DIFFERENCES:
        said = {"gold": found.gold, "answers": found.answers}
        shown = [f"{side}: {'; '.join(each.shown for each in saying) or 'none'}" for side, saying in said.items()]
        where = "" if found.span is None else f", evaluated from {found.span[0]} to {found.span[1]}"
        facts = [f"({'; '.join(found.known)})"] if found.known else []
        cell = "<br>".join([f"“{found.text}”{where}", *shown, *facts])
        rows.append([f"**{found.title}.** {found.says}", cell, f"`{found.asked}`", *found.counts.values()])
    return table(["difference", "example", "asked", *(f"`{name}`" for name in PROFILES)], rows)


def measures() -> str:
    """All measures."""
    found = [(name, get("measures", name, Measure)) for name in names("measures")]
    rows = []
    for name, m in found:
        own = {"none": name, "optional": f"{name}[@k]", "required": f"{name.removesuffix('-at')}@k"}[m.cutoff]
        shown = ", ".join(f"`{aggregate}.{own}`" for aggregate in m.aggregates) or f"`{own}`"
        rows.append([shown, m.title, m.formula, m.undefined, m.note])
    return table(["name", "measure", "formula", "undefined where", "note"], rows)


def filters() -> str:
    """All filters."""
    rows = [[f"`[{name}]`", known.says] for name, known in FILTERS.items()]
    return table(["filter", "keeps"], [*rows, ["`[LABEL=VALUE]`", "mentions and answers with that value of a label"]])


def files() -> str:
    """What commands write as JSON."""
    rows = [
        [f"`karat {command}`", f"`{layout}`", f"`{name_of(layout)}.schema.json`"]
        for command, layout in ((command, layout_of(kinds)) for command, kinds in FILES.items())
    ]
    return table(["command", "layout", "schema"], rows)


def api() -> str:
    """All public names."""
    rows = []
    for name in karat.__all__:
        value = getattr(karat, name)
        says = (inspect.getdoc(value) or "").split("\n")[0] if callable(value) else _CONSTANTS[name]
        rows.append([f"`{name}`", says])
    return table(["name", "what it is"], rows)


_CONSTANTS = {
    "UNLINKED": "The `entity` of a span that was marked but not linked; `None` is NIL.",
    "__version__": "The version of Karat, which is part of every signature.",
}


def commands() -> str:
    """The help of every command."""
    blocks = []
    groups = {"data": DATA, "kb": KB, "kb build": BUILD, "zelda": ZELDA}
    inside = [f"{group} {name}" for group, commands in groups.items() for name in sorted(commands)]
    for name in ("", *sorted(COMMANDS), *inside):
        arguments = [*name.split(), "--help"]
        wide = {**os.environ, "COLUMNS": "100"}
        done = subprocess.run([sys.executable, "-m", "karat", *arguments], capture_output=True, check=True, env=wide)
        blocks.append(f"## `karat {name}`" if name else "## `karat`")
        blocks.append(f"```text\n{done.stdout.decode().rstrip()}\n```")
    return "\n\n".join(blocks)


def layers() -> str:
    """The import layers, as pyproject.toml has them for the linter."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(r"^layers = \[\n(.*?)^\]", text, re.DOTALL | re.MULTILINE)
    assert listed is not None
    found = re.findall(r'^ +"(.+?)",(?:  # (.*))?$', listed[1], re.MULTILINE)
    lines = [f"{names}\n    {says}" if len(names) > 30 else f"{names:<32}{says}".rstrip() for names, says in found]
    return "```text\n" + "\n".join(lines) + "\n```"


def labels() -> str:
    """What scores can be grouped by."""
    found = {name: get("labels", name, Grouping) for name in names("labels")}
    parts = {name: label.carried is not None or label.documents is not None for name, label in found.items()}
    rows = [[f"`{name}`", label.says, "yes" if parts[name] else "no"] for name, label in found.items()]
    return table(["label", "values", "makes parts of the data"], rows)


def readme(text: str) -> str:
    """The README with what its examples print now."""
    with TemporaryDirectory() as folder:
        for name, content in re.findall(r"```json (\S+)\n(.*?)```", text, re.DOTALL):
            (Path(folder) / name).write_text(content, encoding="utf-8")
        scored = _printed(["score", "gold.jsonl", "answers.jsonl"], folder)
        demo = _printed(["demo"], folder).partition("\n4 systems on demo")[0].rstrip()
    text = re.sub(
        r"(\$ \.venv/bin/karat score \S+ \S+\n).*?\n```", lambda m: f"{m[1]}{scored}\n```", text, flags=re.DOTALL
    )
    return re.sub(
        r"(## What the demo prints\n\n```text\n).*?\n```", lambda m: f"{m[1]}{demo}\n```", text, flags=re.DOTALL
    )


def _printed(arguments: list[str], folder: str) -> str:
    command = [sys.executable, "-m", "karat", *arguments]
    wide = os.environ | {"COLUMNS": "80"}
    ran = subprocess.run(command, capture_output=True, check=True, cwd=folder, encoding="utf-8", env=wide)
    return ran.stdout.rstrip()


BLOCKS: dict[str, Callable[[], str]] = {
    block.__name__: block
    for block in (
        policy,
        empty,
        choices,
        profiles,
        tasks,
        clusterings,
        keys,
        formats,
        limits,
        steps,
        suites,
        datasets,
        relations,
        categories,
        differences,
        measures,
        filters,
        labels,
        layers,
        files,
        api,
        commands,
    )
}


def generated() -> dict[Path, str]:
    """Every generated file with the content it should have."""
    folder = ROOT / "src" / "karat" / "schema"
    files = {
        folder / "gold.schema.json": laid_out(schema("Karat gold, one line", Document, Header)),
        folder / "answers.schema.json": laid_out(schema("Karat answers, one line", WrittenReply, Header)),
        ROOT / "web" / "src" / "shape.ts": typescript(),
        **{folder / f"{name}.schema.json": laid_out(found) for name, found in schemas().items()},
    }
    for page in [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        fresh = re.sub(
            r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)",
            lambda match: f"{match[1]}\n{BLOCKS[match[2]]()}\n\n{match[3]}",
            text,
            flags=re.DOTALL,
        )
        files[page] = fresh
    page = ROOT / "README.md"
    files[page] = readme(page.read_text(encoding="utf-8"))
    return files


def main() -> None:
    """Write or check."""
    stale = [
        path
        for path, content in generated().items()
        if not path.exists() or path.read_text(encoding="utf-8") != content
    ]
    if "--check" in sys.argv:
        for path in stale:
            print(f"stale: {path.relative_to(ROOT)}; run `python tools/generate.py`")
        sys.exit(1 if stale else 0)
    for path, content in generated().items():
        path.write_text(content, encoding="utf-8")
    print(f"{len(stale)} files changed")


if __name__ == "__main__":
    main()
