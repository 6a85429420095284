"""The registration of `karat_linker` with spaCy, which imports this module through its entry point.

spaCy imports it with every pipeline, so that Karat's other modules are imported when the component is created. spaCy
evaluates the annotations of this module at run time, so it does not postpone them.
"""

from collections.abc import Callable
from typing import Any, Final

from spacy.language import Language
from spacy.tokens import Doc, Span

DEFAULT_SYSTEM: Final = "light"
"""The system that links if the config names none."""


@Language.factory(
    "karat_linker",
    assigns=["doc.ents", "token.ent_kb_id"],
    default_config={
        "system": DEFAULT_SYSTEM,
        "options": {},
        "detect": False,
        "spans_key": None,
        "scorer": {"@scorers": "karat.linker_scorer.v1"},
    },
    default_score_weights={"karat_f1": 1.0, "karat_p": 0.0, "karat_r": 0.0},
)
def make_linker(
    nlp: Language,
    name: str,
    system: str,
    options: dict[str, Any],
    detect: bool,
    spans_key: str | None,
    scorer: Callable[..., Any] | None,
) -> Any:  # noqa: ANN401  # the component's class would be imported with every pipeline
    """Create the component `karat_linker`; raise `KaratError` if the system or its options are unknown.

    The other parameters are those of `LinkerSettings`.
    """
    from karat.formats.plugins.spacy_docbin import CANDIDATES_ATTRIBUTE, SCORE_ATTRIBUTE, SKIPPED_ATTRIBUTE
    from karat.systems.spacy_pipe.linker import LinkerSettings, SpacyLinker, get_candidates, set_candidates

    Span.set_extension(SCORE_ATTRIBUTE, default=None, force=True)
    Span.set_extension(CANDIDATES_ATTRIBUTE, getter=get_candidates, setter=set_candidates, force=True)
    Doc.set_extension(SKIPPED_ATTRIBUTE, default={}, force=True)
    return SpacyLinker(name, LinkerSettings(system, dict(options), detect, spans_key), scorer)
