"""Databases of both kinds, and a server of a small project."""

from importlib.util import find_spec

import pytest

from tests.protocols.annotation.projects import make_project, make_task, suggest
from tests.protocols.verification.client import Browser, serving
from tests.protocols.verification.conftest import (  # noqa: F401  # fixtures
    address,
    clock,
    closed,
    other_address,
    own_postgres,
    postgres,
)

collect_ignore = [] if find_spec("sqlalchemy") else ["test_tool_files.py"]  # all its tests are marked `extras`


@pytest.fixture
def project():
    """Three documents, the first with suggestions; half of the documents of each annotator show them."""
    from karat import Label

    suggested = suggest(Label(0, 7, "Q1"), Label(9, 19, "Q1408"))
    return make_project(
        [make_task(0, suggestions=suggested), make_task(1, suggestions=suggested), make_task(2, "Ulm 🏰 in Ulm.")],
        prefill="half",
        consent="I agree.",
        scheme=("form", "pos"),
        whitelist=("Q215627",),
    )


@pytest.fixture
def store(address, project, clock):  # noqa: F811
    from karat.protocols.annotation.store.store import AnnotationStore

    return AnnotationStore.create(address, project, clock)


@pytest.fixture
def client(store):
    """Browsers of a server."""
    from karat.kb.catalogue import open_starter
    from karat.web.annotating.app import AnnotatingConfig, create_app

    browsers = []
    with serving(create_app(AnnotatingConfig(store, open_starter()))) as port:
        yield lambda: browsers.append(Browser(port)) or browsers[-1]
        for browser in browsers:
            browser.close()
