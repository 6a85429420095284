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


def test_projects_and_files_have_the_same_intervals():
    """The interval of F1 depends neither on the command, nor on which annotator of a document is the first."""
    labels = [Label(0, 6, "Q84"), Label(11, 16, "Q90"), Label(21, 25, "Q220")]
    first = [Document(f"d{n:02}", TEXT, tuple(labels[: n % 4])) for n in range(20)]
    second = [Document(f"d{n:02}", TEXT, tuple(labels[n % 3 :])) for n in range(20)]
    pairs = list(zip(first, second, strict=True))
    corpora = [Corpus.from_documents(documents, name=name) for documents, name in ((first, "a"), (second, "b"))]
    for order in (1, -1):
        mixed = [VersionPair(a.id, *((a, b) if n % 3 else (b, a))) for n, (a, b) in enumerate(pairs)]
        compared = compare_pairs(mixed, None, ScoreOptions(200, 0.95, 0))
        f1 = agreement(corpora[::order], resamples=200).pairs[0].f1
        assert f1["strong"].interval is not None
        assert (compared.links, compared.spans) == (f1["strong"], f1["mention"])
