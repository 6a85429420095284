"""Options that state what the authors of a dataset know about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from karat.cli.options.declaration import Decorator, group_options, option

if TYPE_CHECKING:
    from karat.data.publishing.manifest import DatasetMetadata


class PublicationOptions(NamedTuple):
    """Name, version, guidelines and metadata of a dataset to publish."""

    name: str | None
    version: str | None
    changes: str
    guidelines: tuple[str, ...]
    metadata: DatasetMetadata


def publication_options(name: str, version: str) -> Decorator:
    """Return a decorator that adds the options of a dataset to publish, as the parameter `publication`.

    `name` and `version` are the help of `--name` and `--version`.
    """
    return group_options(
        "publication",
        _build_options,
        option("--name", metavar="NAME", help=name),
        option("--version", metavar="VERSION", help=version),
        option("--changes", default="", metavar="TEXT", help="What distinguishes this version."),
        option("--guidelines", multiple=True, metavar="FILE", help="Guidelines of the annotators (repeatable)."),
        option("--full-name", default="", metavar="TEXT", help="Title of the dataset, for lists and tables."),
        option("--description", default="", metavar="TEXT", help="One or two sentences about the content."),
        option("--licence", default="", metavar="TEXT", help="Licence of texts and annotations."),
        option("--citation", default="", metavar="TEXT", help="Publication to cite."),
        option("--url", default="", metavar="URL", help="Address of the dataset."),
        option("--published", default="", metavar="DATE", help="Date of publication (YYYY-MM-DD)."),
        option("--creator", "creators", multiple=True, metavar="TEXT", help="Author of the dataset (repeatable)."),
        option("--source", "sources", multiple=True, metavar="TEXT", help="Origin of the texts (repeatable)."),
        option("--language", default="", metavar="CODE", help="Language of the texts."),
        option("--domain", default="", metavar="TEXT", help="Domain of the texts, such as news."),
        option("--document-type", default="", metavar="TEXT", help="Kind of document, such as tweet."),
        option("--links-to", default="", metavar="TEXT", help="Knowledge base of the links, such as Wikidata."),
        option("--bias", "biases", multiple=True, metavar="TEXT", help="Known bias, as a sentence (repeatable)."),
    )


def _build_options(
    name: str | None,
    version: str | None,
    changes: str,
    guidelines: tuple[str, ...],
    links_to: str,
    full_name: str,
    **metadata: str | tuple[str, ...],
) -> PublicationOptions:
    """Return the value of `publication_options`; raise `UsageError` for an invalid date."""
    from datetime import date

    import msgspec

    from karat.data.publishing.manifest import DatasetMetadata
    from karat.model.errors import UsageError

    stated = msgspec.convert({**metadata, "kb": links_to, "title": full_name}, DatasetMetadata)
    try:
        _ = date.fromisoformat(stated.published) if stated.published else None
    except ValueError:
        raise UsageError(f"--published {stated.published}: write a date as YYYY-MM-DD.") from None
    return PublicationOptions(name, version, changes, guidelines, stated)
