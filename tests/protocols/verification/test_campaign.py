"""Campaigns: passages, tasks, what is left out, priorities and controls."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat import UNLINKED, Corpus, Document, InputError, Label, Prediction, Response, Run, UnknownNameError, UsageError
from karat.kb.in_memory_kb import InMemoryKB
from karat.protocols.verification.campaign import CONTROL_SOURCE
from karat.protocols.verification.campaign_builder import build_campaign
from karat.protocols.verification.controls import parse_controls
from karat.protocols.verification.judgements import Decision
from karat.protocols.verification.passages import split_passages

SENTENCE = "Anna went from Ulm to Bern by way of Chur. "


def text_of(sentences):
    return SENTENCE * sentences


def links_in(kind, sentences, entities=("Q1", "Q2", "Q3")):
    """Anna, Ulm and Bern in every sentence."""
    found = []
    for number in range(sentences):
        base = number * len(SENTENCE)
        spots = zip(((0, 4), (15, 18), (22, 26)), entities, strict=True)
        found += [kind(base + start, base + end, entity) for (start, end), entity in spots if entity != "-"]
    return tuple(found)


def corpus(documents=4, sentences=20):
    return Corpus.from_documents(
        [
            Document(f"d{k}", text_of(sentences), links_in(Label, sentences, (f"Q{k}a", f"Q{k}b", f"Q{k}c")))
            for k in range(documents)
        ],
        name="toy",
    )


def run(name, entities=None, documents=4, sentences=20):
    return Run.from_responses(
        [
            Response(f"d{k}", links_in(Prediction, sentences, entities or (f"Q{k}a", f"Q{k}b", f"Q{k}c")))
            for k in range(documents)
        ],
        name=name,
    )


@given(st.text(alphabet="ab .!?\n。", max_size=1500))
def test_passages_are_the_whole_text_and_near_the_length(text):
    found = split_passages(text, 60)
    assert "".join(text[span.start : span.end] for span in found) == text
    assert all(span.end - span.start >= 60 for span in found[:-1])
    assert all(span.end - span.start < 140 for span in found)


def test_passages_end_where_sentences_do():
    assert all(text_of(30)[span.start : span.end] in text_of(30) for span in split_passages(text_of(30)))
    assert [span.start % len(SENTENCE) for span in split_passages(text_of(30))] == [0] * len(
        split_passages(text_of(30))
    )
    assert split_passages("") == []


def test_each_task_is_one_passage_with_all_links_of_one_source_in_it():
    made = build_campaign(corpus(), [run("one"), run("two", ("-", "QX", "QY"))], name="c", controls=0)
    for task in made.tasks:
        per_sentence = 2 if task.source == 2 else 3
        assert len(task.links) == per_sentence * round(len(task.text) / len(SENTENCE))
        assert {task.surface(link) for link in task.links} <= {"Anna", "Ulm", "Bern"}
    assert made.options.sources == ("gold", "one", "two")
    assert {source: counts["shown"] for source, counts in made.options.counts.items()} == {
        "gold": 240,
        "one": 240,
        "two": 160,
    }


def test_the_same_seed_gives_the_same_order_and_another_seed_another():
    one, again, other = (build_campaign(corpus(), [run("one")], name="c", seed=seed, secret="s") for seed in (1, 1, 2))
    assert one == again
    assert one.tasks != other.tasks
    elsewhere = build_campaign(corpus(), [run("one")], name="c", seed=1)  # the seed says nothing about controls
    assert [task for task in elsewhere.tasks if not task.is_control] == [t for t in one.tasks if not t.is_control]
    assert elsewhere.tasks != one.tasks
    assert elsewhere.secret != build_campaign(corpus(), [run("one")], name="c", seed=1).secret
    assert Counter(task.source for task in one.tasks[:10]) != Counter({0: 10})  # sources are mixed


def test_what_cannot_be_judged_is_counted_and_not_lost():
    text = text_of(16)
    border = split_passages(text)[0].end
    labels = (
        Label(0, 4, "Q1"),
        Label(15, 18, None),
        Label(22, 26, UNLINKED),
        Label(border - 2, border + 3, "Q2"),
        Label(50, 54, "Q3", mention_id="u"),
        Label(50, 55, "Q4", mention_id="u"),
    )
    gold = Corpus.from_documents([Document("d", text, labels)])
    made = build_campaign(gold, [Run.from_responses([Response("d", (Prediction(0, 4, "Q1"),))], name="s")], name="c")
    assert made.options.counts["gold"] == {
        "links": 3,
        "shown": 2,
        "tasks": 1,
        "NIL": 1,
        "unlinked": 1,
        "alternatives and parts of other labels": 1,
        "cross the border of a passage": 1,
    }


def test_spellings_of_ids_do_not_give_a_source_away():
    gold = Corpus.from_documents([Document("d", "Ulm.", (Label(0, 3, "Q3012"),))])
    predictions = Run.from_responses(
        [Response("d", (Prediction(0, 3, "http://www.wikidata.org/entity/Q3012"),))], name="s"
    )
    made = build_campaign(gold, [predictions], name="c")
    assert {link.entity for task in made.tasks for link in task.links} == {"Q3012"}


def test_priorities_choose_what_is_shown_and_what_comes_first():
    gold = corpus(2, 1)
    agreeing = run("one", ("Q0a", "QX", "QY"), 2, 1), run("two", ("Q0a", "QX", "QY"), 2, 1)
    by = {
        name: build_campaign(gold, agreeing, name="c", priority=name, controls=0)
        for name in ("disagreements", "false-positives")
    }
    entities = {
        name: {(task.document, link.entity) for task in made.tasks for link in task.links} for name, made in by.items()
    }
    assert ("d0", "Q0a") not in entities["disagreements"]
    assert ("d0", "Q0b") in entities["disagreements"]
    assert entities["false-positives"] == {("d0", "QX"), ("d0", "QY"), ("d1", "Q0a"), ("d1", "QX"), ("d1", "QY")}
    suspicious = build_campaign(gold, agreeing, name="c", priority="suspicious", controls=0)
    assert [task.source for task in suspicious.tasks][:2] == [0, 0]
    with pytest.raises(UnknownNameError, match="Did you mean"):
        build_campaign(gold, agreeing, name="c", priority="disagreement")


def test_controls_are_made_of_what_all_sources_share():
    made = build_campaign(corpus(), [run("one"), run("two", ("-", "QX", "QY"))], name="c")
    assert made.options.controls == 0  # not one link is shared
    made = build_campaign(corpus(), [run("one")], name="c")
    controls = [task for task in made.tasks if task.is_control]
    assert controls
    assert made.options.controls == 1
    real = {(task.document, task.start): task for task in made.tasks if not task.is_control}
    for task in controls:
        assert task.source == CONTROL_SOURCE
        assert sorted(link.correct for link in task.links if link.correct) == sorted(
            [(Decision.VERIFY,), (Decision.VERIFY,), (Decision.MODIFY, Decision.REMOVE)]
        )
        shown = real[task.document, task.start]  # a control is as long as any other task, and changes one link of it
        assert (task.text, len(task.links)) == (shown.text, len(shown.links))
        ((astray, instead),) = (
            (link, other) for link, other in zip(task.links, shown.links, strict=True) if link.entity != other.entity
        )
        assert Decision.VERIFY not in astray.correct
        assert not astray.entity.startswith(f"Q{task.document[1]}")
        assert astray.entity[-1] == instead.entity[-1]  # Anna of another text, never a town
    assert build_campaign(corpus(), [], name="c").options.controls == 0  # nothing is shared with nobody


def test_no_control_is_better_than_an_absurd_one():
    """One text: whatever else it names is no other Anna, Ulm or Bern."""
    names = ("Anna", "Ulm", "Bern")
    texts = {f"d{k}": f"{name} met {other}." for k, (name, other) in enumerate(zip(names, "XYZ", strict=True))}
    spans = {id: ((0, text.index(" ")), (text.index(" met ") + 5, len(text) - 1)) for id, text in texts.items()}

    def links(kind, id):
        return tuple(kind(start, end, f"Q{id}{start}") for start, end in spans[id])

    gold = Corpus.from_documents([Document(id, text, links(Label, id)) for id, text in texts.items()])
    predicted = Run.from_responses([Response(id, links(Prediction, id)) for id in texts], name="s")
    assert build_campaign(gold, [predicted], name="c").options.controls == 0
    kb = InMemoryKB.from_tables(types={"Qd00": {"human"}, "Qd10": {"town"}, "Qd20": {"town"}})
    made = build_campaign(gold, [predicted], name="c", kb=kb)
    wrong = {
        (task.surface(link), link.entity)
        for task in made.tasks
        for link in task.links
        if Decision.MODIFY in link.correct
    }
    assert wrong == {("Ulm", "Qd20"), ("Bern", "Qd10")}  # a town for a town


def test_controls_of_ones_own():
    line = {"text": "Ulm.", "links": [{"start": 0, "end": 3, "entity": "Q3012", "correct": ["verify"]}]}
    (task,) = parse_controls("c.jsonl", [line])
    assert task.is_control
    for broken in ({"text": "Ulm."}, {**line, "links": []}, {**line, "text": "U"}):
        with pytest.raises(InputError, match=r"c\.jsonl:1"):
            parse_controls("c.jsonl", [broken])


def test_what_makes_no_campaign_is_refused():
    with pytest.raises(UsageError, match="different names"):
        build_campaign(corpus(), [run("one"), run("one")], name="c")
    with pytest.raises(UsageError, match="no links to judge"):
        build_campaign(corpus(), [run("one")], name="c", priority="false-positives")
    with pytest.raises(UsageError, match="controls"):
        build_campaign(corpus(), [run("one")], name="c", batch=1)


def _entities(made, source):
    """The entities of a source's links, sorted."""
    return sorted(link.entity for task in made.tasks for link in task.links if task.source == source)


def test_two_fragments_of_one_page_are_two_links_as_in_scoring():
    """The only fragment of a page is dropped; of two fragments, each is an entity."""
    page = "https://en.wikipedia.org/wiki/List_of_Jedi"
    text = "Kit Fisto met Plo Koon in the city of Ulm."
    gold = [Label(0, 9, f"{page}#Kit_Fisto"), Label(38, 41, "https://en.wikipedia.org/wiki/Ulm#History")]
    predicted = (Prediction(0, 9, f"{page}#Plo_Koon"), Prediction(38, 41, "https://en.wikipedia.org/wiki/Ulm"))
    made = build_campaign(
        Corpus.from_documents([Document("d", text, gold)]),
        [Run.from_responses([Response("d", predicted)], name="s")],
        name="jedi",
    )
    assert _entities(made, 0) == [f"{page}#Kit_Fisto", "https://en.wikipedia.org/wiki/Ulm"]
    assert _entities(made, 1) == [f"{page}#Plo_Koon", "https://en.wikipedia.org/wiki/Ulm"]


def test_ids_of_different_schemes_are_one_link_and_ids_of_nil_are_none():
    """The built-in knowledge base bridges pages and QIDs, so that both sources share the link to Berlin."""
    text = "Berlin and Atlantis are cities, one of them under water."
    gold = [Label(0, 6, "https://en.wikipedia.org/wiki/Berlin"), Label(11, 19, "http://aksw.org/notInWiki/Atlantis")]
    made = build_campaign(
        Corpus.from_documents([Document("d", text, gold)]),
        [Run.from_responses([Response("d", (Prediction(0, 6, "Q64"),))], name="s")],
        name="cities",
    )
    assert (_entities(made, 0), _entities(made, 1)) == (["Q64"], ["Q64"])
    assert made.options.counts["gold"]["NIL"] == 1
    assert made.options.kb.startswith("starter")
