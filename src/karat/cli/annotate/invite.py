"""`karat annotate invite STORE WORKER…`."""

from __future__ import annotations

import click

from karat.cli.campaigns import check_invitations, invitation_options, lead_option, print_invitations, print_lead_links
from karat.cli.options.declaration import karat_command, option
from karat.cli.output import echo


@karat_command()
@click.argument("store")
@click.argument("workers", nargs=-1, required=True)
@option("--adjudicator", is_flag=True, help="Invite people who decide where annotators disagree.")
@lead_option
@invitation_options(8767, "karat annotate serve")
def command(store: str, workers: tuple[str, ...], adjudicator: bool, lead: bool, days: float, url: str) -> None:
    """Create invitation links for annotators.

    WORKER is any name. Each link works once. Browsers do not include the code after the # in requests. Adjudicators see
    the labels of all annotators, so they get no further documents to annotate. With --lead, the links open the lead
    page until they expire or `karat annotate revoke` ends them; a lead should not annotate.

    \b
    karat annotate invite demo.sqlite anna ben
    karat annotate invite demo.sqlite carla --adjudicator
    """
    from karat.model.errors import UsageError
    from karat.protocols.annotation.store.store import AnnotationStore

    if adjudicator and lead:
        raise UsageError("--adjudicator and --lead are different links. Pass one of them.")
    annotation_store = AnnotationStore.open(store)
    check_invitations(annotation_store, workers, days)
    if lead:
        print_lead_links(annotation_store, workers, days, url, "an annotator")
        return
    adjudicators = annotation_store.get_adjudicators()
    pseudonyms = {worker: person for person, worker in annotation_store.get_workers().items()}
    for worker in dict.fromkeys(workers):
        person = pseudonyms.get(worker)
        if adjudicator:
            annotation_store.add_adjudicator(worker)
            if person is not None and person not in adjudicators:
                echo(f"{worker} was an annotator and is an adjudicator from now on.", err=True)
        elif person in adjudicators:
            echo(f"{worker} is an adjudicator and gets no documents to annotate. Invite another name.", err=True)
    print_invitations(annotation_store, dict.fromkeys(workers), days, url)
