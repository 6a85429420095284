"""Options for output: files, tables and reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import click

from karat.cli.arguments import single_value
from karat.cli.options.declaration import Conditions, Decorator, combine_options, group_options, option

if TYPE_CHECKING:
    from karat.cli.html import HtmlOptions
    from karat.web.archive.archive import TextsShown

_C = TypeVar("_C", bound=Callable[..., Any])


def file_option(flag: str, parameter: str, help: str, **conditions: Unpack[Conditions]) -> Decorator:
    """Return a decorator that adds an output file, which may be named only once; `-` is standard output."""
    return option(flag, parameter, callback=single_value, multiple=True, metavar="FILE", help=help, **conditions)


def json_option(content: str = "the full output", **conditions: Unpack[Conditions]) -> Decorator:
    """Return a decorator that adds `--json` as `json_file`; `content` names what the file contains."""
    return file_option("--json", "json_file", f"Write {content} as JSON (- for standard output).", **conditions)


def layout_options(content: str = "tables", *, latex: bool = True) -> Decorator:
    """Return a decorator that adds `--markdown` and `--latex` as `table_format`; `content` names what is printed."""
    markdown = option("--markdown", "table_format", flag_value="markdown", help=f"Print {_title(content, 'Markdown')}.")
    if not latex:
        return markdown
    to_latex = option("--latex", "table_format", flag_value="latex", help=f"Print {_title(content, 'LaTeX')}.")
    return combine_options(markdown, to_latex)


def _title(content: str, language: str) -> str:
    """Return the content with its language: `LaTeX tables`, or `a table for papers in LaTeX`."""
    return f"{language} {content}" if " " not in content else f"{content} in {language}"


def details_option(help: str = "Print notes in full.", **conditions: Unpack[Conditions]) -> Decorator:
    """Return a decorator that adds the flag `--details`."""
    return option("--details", is_flag=True, help=help, **conditions)


def limit_option(default: int | None, items: str, *, min_value: int = 0) -> Decorator:
    """Return a decorator that adds `--limit`, the maximum number of `items`; a default of None is no limit."""
    return option(
        "--limit",
        default=default,
        show_default=default is not None,
        type=click.IntRange(min_value),
        metavar="N",
        help=f"Maximum number of {items}.",
    )


def to_option(target: str = "OUT", **conditions: Unpack[Conditions]) -> Decorator:
    """Return a decorator that adds `--to` as `target_format`, the format of the file that `target` names."""
    return option(
        "--to",
        "target_format",
        metavar="FORMAT",
        help=f"Output format, if the suffix of {target} is ambiguous.",
        **conditions,
    )


def title_option(**conditions: Unpack[Conditions]) -> Decorator:
    """Return a decorator that adds `--title`, the title of web pages."""
    return option("--title", default="Karat", show_default=True, help="Title of the pages.", **conditions)


def archive_option(content: str, **conditions: Unpack[Conditions]) -> Decorator:
    """Return a decorator that adds `--archive`, the folder to which the command adds `content`."""
    return option(
        "--archive", metavar="DIR", help=f"Archive folder to add the {content} to, for karat serve.", **conditions
    )


def figures_option(content: str, **conditions: Unpack[Conditions]) -> Decorator:
    """Return a decorator that adds `--figures`, the folder to which the command writes the figures of `content`."""
    return option(
        "--figures", metavar="DIR", help=f"Folder to write the figures of {content} to, as SVG files.", **conditions
    )


def texts_option(**conditions: Unpack[Conditions]) -> Decorator:
    """Return a decorator that adds `--texts`, the amount of document text in a report."""
    return option(
        "--texts",
        type=click.Choice(["all", "sentences", "none"]),
        default="all",
        show_default=True,
        help="Amount of document text in HTML reports.",
        **conditions,
    )


def html_file_option(help: str, **conditions: Unpack[Conditions]) -> Decorator:
    """Return a decorator that adds `--html` as `html_file`, a page in one file."""
    return file_option("--html", "html_file", help, **conditions)


def html_options(**conditions: Unpack[Conditions]) -> Decorator:
    """Return a decorator that adds `--html` and `--texts`, as the parameter `html` (file and amount of text)."""
    return group_options(
        "html",
        _build_html,
        html_file_option("Write an HTML report in one file; it contains document texts (see --texts).", **conditions),
        texts_option(needs=["--html"]),
    )


def _build_html(html_file: str | None, texts: TextsShown) -> HtmlOptions:
    """Return the value of `html_options`."""
    from karat.cli.html import HtmlOptions

    return HtmlOptions(html_file, texts)


def host_option(command: _C) -> _C:
    """Add `--host`, the address of a server, to a command (decorator)."""
    return option(
        "--host",
        default="127.0.0.1",
        show_default=True,
        metavar="ADDRESS",
        help="Address to listen on; 0.0.0.0 accepts other machines.",
    )(command)


def port_option(default: int) -> Decorator:
    """Return a decorator that adds `--port`."""
    return option(
        "--port",
        default=default,
        show_default=True,
        type=click.IntRange(0, 65535),
        metavar="N",
        help="Port; 0 picks a free one.",
    )


def allow_host_option(command: _C) -> _C:
    """Add `--allow-host` to a command, as `hosts` (decorator)."""
    return option(
        "--allow-host", "hosts", multiple=True, metavar="NAME", help="Additional host name to accept (repeatable)."
    )(command)
