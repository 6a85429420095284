"""The links behind the numbers of a verification report."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from karat.protocols.verification.campaign_builder import build_campaign
from karat.protocols.verification.judgements import Decision, Judgement
from karat.protocols.verification.measures import measure_campaign
from karat.protocols.verification.posthoc import VARIANTS
from karat.render.verification.judged_links import build_links_file
from karat.render.verification.report import build_file
from karat.storage.content_store import MemoryStore
from karat.web.archive.archive import Archive
from karat.web.archive.verification import (
    build_verification,
    has_judged_links,
    store_campaign,
    store_verification,
)
from tests.protocols.verification.test_campaign import corpus, run

CAMPAIGN = build_campaign(
    corpus(2, 4), [run("one", None, 2, 4), run("two", ("-", "QX", "QY"), 2, 4)], name="toy", controls=0, batch=0
)


def judge_links(decisions):
    """Judge the links of all tasks in turn; None leaves a link open."""
    links = [(task, index) for task in CAMPAIGN.tasks for index in range(len(task.links))]
    return [
        Judgement(
            id=f"{task.number}-{index}-{judge}",
            judge=judge,
            task=task.number,
            decision=decision,
            server_time="2026-01-01T00:00:00Z",
            link=index,
            entity=task.links[index].entity,
            becomes="QZ" if decision is Decision.MODIFY else None,
        )
        for judge, judge_decisions in zip("ab", decisions, strict=True)
        for (task, index), decision in zip(links, judge_decisions, strict=False)
        if decision is not None
    ]


DECISIONS = st.lists(st.sampled_from([None, Decision.VERIFY, Decision.MODIFY, Decision.REMOVE]), max_size=60)


@settings(max_examples=25)
@given(st.tuples(DECISIONS, DECISIONS))
def test_links_are_as_many_as_the_report_counts(decisions):
    verification = measure_campaign(CAMPAIGN, judge_links(decisions), resamples=0)
    file = build_links_file(verification, "digest")

    def count(indices, source):
        return sum(file.source[index] == source for index in indices)

    for index, source in enumerate(verification.sources):
        outcomes = Counter(outcome for outcome, at in zip(file.outcome, file.source, strict=True) if at == index)
        assert [outcomes[code] for code in range(5)] == [*source.outcomes[:3], source.n_tied, source.n_open]
        assert count(file.correct_before, index) == source.original["weak"].counts.correct
        for name in VARIANTS:
            counts = source.posthoc[name].counts
            assert count(file.roles[name].counted, index) == counts.links
            assert count(file.roles[name].correct, index) == counts.correct
            assert len(file.roles[name].union) == counts.union
            assert len(file.roles[name].missing) == verification.missing_from_gold[name].missing
    for pair, unions in zip(verification.pairs, file.pair_unions, strict=True):
        assert {name: len(indices) for name, indices in unions.items()} == {
            name: scores.union for name, scores in pair.posthoc.items()
        }
    assert len(file.shared) == verification.agreement.items
    assert verification.agreement.observed in (None, len(file.agreed) / max(1, len(file.shared)))


def test_an_archive_keeps_the_links_of_the_last_report_and_does_without():
    records = judge_links(([Decision.VERIFY] * 9, [Decision.REMOVE] * 9))
    files = MemoryStore()
    archive = Archive(files)
    assert not has_judged_links(archive)
    store_verification(files, build_file(measure_campaign(CAMPAIGN, records[:3], resamples=0)))
    assert build_verification(archive).has_links == [False]
    store_campaign(files, measure_campaign(CAMPAIGN, records, resamples=0))
    assert has_judged_links(archive)
    resource = build_verification(archive)
    assert (len(resource.campaigns), resource.has_links) == (1, [True])
