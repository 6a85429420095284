"""Declaration of commands and options: groups of options as one value, and options that need other options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, Protocol, TypedDict, TypeVar

import click

from karat.cli.output import echo
from karat.cli.startup import import_arrow
from karat.model.errors import UsageError
from karat.model.output.command_options import use_command

_C = TypeVar("_C", bound=Callable[..., Any])


class Decorator(Protocol):
    """A function that adds options to a command."""

    def __call__(self, command: _C, /) -> _C:
        """Add the options to `command` and return it."""


class Conditions(TypedDict, total=False):
    """Under which conditions an option has an effect; see `KaratOption`."""

    needs: Sequence[str]
    unless: Sequence[str]
    is_strict: bool
    hint: str


class KaratOption(click.Option):
    """An option that may have no effect without others, or beside others.

    `needs` and `unless` name options of the same command: `--ci` means that the option is given, `--over alpha` that it
    has this value. An argument is named by its metavar.
    """

    needs: tuple[str, ...]
    """Options of which at least one must apply; empty if the option always has an effect."""
    unless: tuple[str, ...]
    """Options of which none may apply."""
    is_strict: bool
    """Whether the option without effect is an error; otherwise it is only noted."""
    hint: str
    """Another way to the same end, which is added to the message; empty if there is none."""
    repeat_hint: str
    """What to do with several values, if an option of one value is repeated; empty if there is nothing to add."""

    def __init__(
        self,
        declarations: Sequence[str],
        needs: Sequence[str] = (),
        unless: Sequence[str] = (),
        is_strict: bool = False,
        hint: str = "",
        repeat_hint: str = "",
        **attributes: Any,  # noqa: ANN401  # those of click
    ) -> None:
        super().__init__(declarations, **attributes)
        self.needs, self.unless, self.is_strict, self.hint = tuple(needs), tuple(unless), is_strict, hint
        self.repeat_hint = repeat_hint


class KaratCommand(click.Command):
    """A command that refuses repeated options of one value, and reports options without effect before it runs."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; raise `UsageError` if an option of one value is given again, which would be lost."""
        _, _, occurrences = self.make_parser(ctx).parse_args(list(args))
        for item, count in Counter(occurrences).items():
            if count > 1 and isinstance(item, click.Option) and not (item.multiple or item.is_flag or item.count):
                hint = item.repeat_hint if isinstance(item, KaratOption) else ""
                raise UsageError(f"{max(item.opts, key=len)} is repeated {count} times. Pass it once. {hint}".rstrip())
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Report options without effect, then run the command; messages recommend only its options."""
        check_effects(ctx)
        import_arrow()
        with use_command(ctx.command_path, {flag for item in self.params for flag in item.opts}):
            return super().invoke(ctx)


def karat_command(
    cls: type[KaratCommand] = KaratCommand,
    **attributes: Any,  # noqa: ANN401  # those of click
) -> Callable[[Callable[..., Any]], KaratCommand]:
    """Return a decorator that makes a function a command of the class `cls`, with attributes of click."""
    return click.command(cls=cls, **attributes)


def option(*declarations: str, **attributes: Any) -> Decorator:  # noqa: ANN401  # those of `KaratOption` and click
    """Return a decorator that adds an option to a command, with the attributes of `KaratOption` and of click."""
    return click.option(*declarations, cls=KaratOption, **attributes)


def group_options(parameter: str, build: Callable[..., object], *options: Decorator) -> Decorator:
    """Return a decorator that adds `options` to a command, which gets their values as one parameter.

    `build` creates the value of `parameter` from keyword arguments, which have the names of the options.
    """

    def collect() -> None:
        """Do nothing; click attaches the options to this function, so that their names are known."""

    for add_option in options:
        add_option(collect)
    names = list(dict.fromkeys(item.name for item in vars(collect)["__click_params__"] if item.expose_value))

    def decorate(command: _C) -> _C:
        @wraps(command)
        def run(*arguments: object, **values: object) -> object:
            value = build(**{name: values.pop(name) for name in names})
            return command(*arguments, **values, **{parameter: value})

        decorated: Any = combine_options(*options)(run)
        result: _C = decorated
        return result

    return decorate


def combine_options(*options: Decorator) -> Decorator:
    """Return a decorator that adds several options, in the order of the help."""

    def decorate(command: _C) -> _C:
        for add_option in reversed(options):
            command = add_option(command)
        return command

    return decorate


def find_parameter(command: click.Command, condition: str) -> tuple[click.Parameter, str | None]:
    """Return the parameter that a condition such as `--ci`, `--over alpha` or `OUT` names, and the value it requires.

    Raise `LookupError` if the command has no such parameter.
    """
    name, _, value = condition.partition(" ")
    for item in command.params:
        if name in (*item.opts, item.human_readable_name, item.make_metavar(click.Context(command)).strip("[]…")):
            return item, value or None
    raise LookupError(f"{command.name} has no option {condition}")


def check_effects(context: click.Context) -> None:
    """Raise `UsageError`, or print one note on standard error, for each option of the call that has no effect."""
    for item, problem in find_ineffective(context):
        message = f"{problem} {item.hint}".rstrip()
        if item.is_strict:
            raise UsageError(message)
        echo(f"karat: {message}", err=True)


def find_ineffective(context: click.Context) -> Iterator[tuple[KaratOption, str]]:
    """Yield each option on the command line that has no effect in this call, with the reason and the remedy."""
    for item in context.command.params:
        if not isinstance(item, KaratOption) or not _is_given(context, item):
            continue
        flag = max(item.opts, key=len)
        if item.needs and not any(_applies(context, condition) for condition in item.needs):
            needed = " or ".join(item.needs)
            yield item, f"{flag} has no effect without {needed}. Add {needed}, or remove {flag}."
        for condition in item.unless:
            if _applies(context, condition):
                problem = "cannot be combined" if item.is_strict else "has no effect"
                yield item, f"{flag} {problem} with {condition}. Remove one of them."


def _is_given(context: click.Context, item: click.Parameter) -> bool:
    """Return whether the command line has an option."""
    return context.get_parameter_source(item.name or "") is click.core.ParameterSource.COMMANDLINE


def _applies(context: click.Context, condition: str) -> bool:
    """Return whether the call meets a condition: an option is given and not switched off, or has the named value."""
    item, value = find_parameter(context.command, condition)
    actual = context.params.get(item.name or "")
    if value is None and isinstance(item, click.Option) and isinstance(item.flag_value, str):
        return bool(actual == item.flag_value)  # one of several flags for the same parameter
    return actual not in (None, False, (), "", 0) if value is None else str(actual) == value
