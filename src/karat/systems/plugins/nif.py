"""Any NIF web service, with GERBIL's protocol."""

from __future__ import annotations

from dataclasses import dataclass

from karat.model.document import Document, Prediction
from karat.model.spec.system import Link, System, SystemSample, option
from karat.storage.http_client import WebRequest, parse_host
from karat.systems.adapters.nif import TURTLE, parse_nif_response, to_nif_request
from karat.systems.adapters.web_service import get_web_access, make_web_linker


@dataclass(frozen=True, slots=True)
class _NifOptions:
    """The options of `nif`."""

    argument: str = option("", "URL of the service.")
    timeout: float = option(600.0, "Timeout per document in seconds; GERBIL's is ten minutes.", in_request=False)
    version: str = option("", "Version of the service. Another version is not answered from the cache.")


_HEADERS = {"Content-Type": f"{TURTLE};charset=UTF-8", "Accept": TURTLE, "Accept-Charset": "UTF-8"}


def _start(options: _NifOptions, gold_mentions: bool) -> Link:
    """Return a linker that posts documents as NIF, with their mentions if given."""
    host = parse_host(options.argument)

    def make_request(document: Document) -> WebRequest:
        return WebRequest(body=to_nif_request(document), headers=_HEADERS)

    return make_web_linker(
        options.argument,
        make_request,
        lambda document, body: parse_nif_response(document, body, host),
        timeout=options.timeout,
    )


SYSTEM = System(
    title="Any NIF web service",
    description="A service that receives a document in NIF and returns it with annotations (GERBIL's protocol).",
    start=_start,
    options=_NifOptions,
    gold_mentions="optional",
    argument="https://linker.example/nif",
    id_space="its own",
    extra="services",
    external_access=lambda options: get_web_access(options.argument),
    sample=SystemSample(
        text="Berlin is old.",
        options={"argument": "{url}"},
        reply="""@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

<http://linker.example/d#char=0,14> a nif:RFC5147String, nif:String, nif:Context ;
    nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "14"^^xsd:nonNegativeInteger ;
    nif:isString "Berlin is old." .

<http://linker.example/d#char=0,6> a nif:RFC5147String, nif:String, nif:Phrase ;
    nif:anchorOf "Berlin" ; nif:referenceContext <http://linker.example/d#char=0,14> ;
    nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "6"^^xsd:nonNegativeInteger ;
    itsrdf:taIdentRef <http://dbpedia.org/resource/Berlin> .
""",
        predictions=(Prediction(0, 6, "http://dbpedia.org/resource/Berlin"),),
    ),
)
