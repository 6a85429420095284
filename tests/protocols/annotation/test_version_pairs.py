"""Agreement of versions of documents: the same figures as `karat agreement`, in any order."""

from __future__ import annotations

import pytest

from karat import Corpus, Document, Label, agreement
from karat.analysis.explanation.agreement import ScoreOptions
from karat.protocols.annotation.version_pairs import VersionPair, compare_pairs

TEXT = "London and Paris and Rome."
FIRST = Document(
    "d",
    TEXT,
    (Label(0, 6, "Q84", mention_id="m"), Label(0, 6, "Q23306", mention_id="m"), Label(11, 16, "Q90"), Label(21, 25)),
)
SECOND = Document("d", TEXT, (Label(0, 6, "Q84"), Label(11, 16, "Q90"), Label(21, 25, "Q220")))


@pytest.mark.parametrize("versions", [(FIRST, SECOND), (SECOND, FIRST)])
def test_projects_and_files_have_the_same_agreement_of_mentions_with_alternatives(versions):
    """London and Paris agree, of two and three links: 2 · 2 / 5. By chance: Q84 and Q90 by 1/9 each; observed 2/3."""
    compared = compare_pairs([VersionPair("d", *versions)], None, ScoreOptions(0, 0.95, 0))
    corpora = [Corpus.from_documents([version], name=name) for version, name in zip(versions, "ab", strict=True)]
    measured = agreement(corpora, resamples=0).pairs[0]
    assert compared.links.value == measured.f1["strong"].value == pytest.approx(4 / 5)
    assert compared.spans.value == measured.f1["mention"].value == 1
    assert compared.kappa.value == measured.kappa_of_links.value == pytest.approx((2 / 3 - 2 / 9) / (1 - 2 / 9))
