"""Systems that could not be tested, and the prediction files that replace them."""

from __future__ import annotations

from karat.model.errors import UsageError
from karat.model.spec.external_access import TrainingDetails
from karat.model.spec.system import Link, System

_NO_TRAINING = TrainingDetails()


def define_untested_system(
    title: str,
    description: str,
    prediction_format: str,
    *,
    hardest_task: str = "a2kb",
    id_space: str = "",
    training: TrainingDetails = _NO_TRAINING,
) -> System:
    """Return the specification of a system that is listed, but raises `UsageError` when it is started.

    `prediction_format`: format of the prediction file that users provide instead.
    The other parameters are fields of `System`.
    """

    def start(options: object, gold_mentions: bool) -> Link:
        raise UsageError(f"{title} is untested and cannot run. Provide its predictions.")

    return System(
        title,
        description,
        start,
        hardest_task=hardest_task,
        id_space=id_space,
        untested_reason=prediction_format,
        training=training,
    )
