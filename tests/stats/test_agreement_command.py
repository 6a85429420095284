"""`karat agreement`: items and categories worked by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

import karat
from karat import UNLINKED, Corpus, Document, InputError, Label, UsageError
from karat.analysis.explanation.agreement import agreement, collect_judgements
from karat.stats.agreement import cohen_kappa, krippendorff_alpha

TEXT = "Ada met Bob in Caen and Dijon"
ADA, BOB, CAEN, DIJON, IN_CAEN = (0, 3), (8, 11), (15, 19), (24, 29), (12, 19)


def annotator(name, *documents):
    """Each document is a dictionary from span to entity."""
    return Corpus.from_documents(
        [
            Document(f"d{i}", TEXT, tuple(Label(*span, entity) for span, entity in sorted(labels.items())))
            for i, labels in enumerate(documents)
            if labels is not None
        ],
        name=name,
    )


ANNA = annotator("anna", {ADA: "Q1", BOB: "Q2", CAEN: "Q3"}, {ADA: "Q1", DIJON: None})
BEN = annotator("ben", {ADA: "Q1", BOB: "Q9", IN_CAEN: "Q3"}, {ADA: UNLINKED, DIJON: None})


def test_items_and_categories_by_hand():
    """Five spans in the first text, two of them overlapping, and two in the second."""
    judged, excluded = collect_judgements([ANNA, BEN], ["d0", "d1"])
    none = 0
    names = {code: place for place, code in enumerate(dict.fromkeys(judged.codes.reshape(-1).tolist()))}
    assert excluded == 0
    assert judged.document.tolist() == [0, 0, 0, 0, 1, 1]
    anna, ben = judged.codes
    assert anna[0] == ben[0] > none  # Ada
    assert anna[1] != ben[1]  # Bob, another entity
    assert min(anna[1], ben[1]) > none
    assert (anna[2], ben[2] > 0) == (none, True)  # "in Caen": only Ben
    assert (anna[3] > 0, ben[3]) == (True, none)  # "Caen": only Anna
    assert anna[3] == ben[2]  # the same entity, but another item
    assert anna[4] != ben[4]  # Q1 and without link
    assert anna[5] == ben[5]  # both NIL
    assert len(names) == 7


def test_the_figures_by_hand():
    """Strong: of 5 and 4 links 2 match. Weak: Caen too. Mentions: of 5 and 5 marks 4 match."""
    found = agreement([ANNA, BEN], resamples=50)
    pair = found.pairs[0]
    assert (found.documents, found.items, pair.documents) == (2, 6, 2)
    assert pair.f1["strong"].value == pytest.approx(4 / 9)
    assert pair.f1["weak"].value == pytest.approx(6 / 9)
    assert pair.f1["mention"].value == pytest.approx(4 / 5)
    # Anna: Q1 Q2 none Q3 Q1 NIL. Ben: Q1 Q9 Q3 none without NIL. Agreed 2 of 6, by chance (2 + 1 + 1 + 1) / 36.
    assert pair.kappa.value == pytest.approx((2 / 6 - 5 / 36) / (1 - 5 / 36))
    # On the four that both marked: agreed 2, by chance (2 · 1 + 1 · 1) / 16.
    assert pair.kappa_of_links.value == pytest.approx((2 / 4 - 3 / 16) / (1 - 3 / 16))
    assert pair.kappa_of_links.items == 4
    assert found.fleiss.items == found.alpha.items == 6


def test_who_is_gold_does_not_matter():
    one, two = agreement([ANNA, BEN], resamples=50), agreement([BEN, ANNA], resamples=50)
    for relation in ("strong", "weak", "mention"):
        assert one.pairs[0].f1[relation].value == pytest.approx(two.pairs[0].f1[relation].value)
    assert one.pairs[0].kappa.value == pytest.approx(two.pairs[0].kappa.value)
    assert one.alpha.value == pytest.approx(two.alpha.value)


def test_documents_that_an_annotator_lacks_are_missing_not_none():
    chris = annotator("chris", {ADA: "Q1", BOB: "Q2", CAEN: "Q3"}, None)
    judged, _ = collect_judgements([ANNA, BEN, chris], ["d0", "d1"])
    assert judged.codes[2].tolist()[4:] == [-1, -1]
    found = agreement([ANNA, BEN, chris], resamples=0)
    assert found.fleiss.items == 4
    assert found.alpha.items == 6
    assert found.alpha.value == pytest.approx(krippendorff_alpha(judged.codes))
    with_chris = {(pair.annotator_a, pair.annotator_b): pair for pair in found.pairs}
    assert with_chris["anna", "chris"].f1["strong"].value == 1
    assert with_chris["anna", "chris"].documents == 1
    assert with_chris["anna", "chris"].kappa.value == 1


def test_what_a_third_marked_is_an_item_of_two():
    """Ada, Bob, and Caen that only Chris marked. Anna and Ben agree on Ada and on nothing in Caen: 2 of 3.

    By chance: Q1 always of 1/3 · 1/3, none of 2/3 · 1/3 and 1/3 · 1/3: (1 + 2) / 9.
    """
    anna = annotator("anna", {ADA: "Q1"})
    ben = annotator("ben", {ADA: "Q1", BOB: "Q9"})
    chris = annotator("chris", {ADA: "Q1", CAEN: "Q3"})
    found = agreement([anna, ben, chris], resamples=0)
    pair = found.pairs[0]
    assert (pair.annotator_a, pair.annotator_b, pair.kappa.items) == ("anna", "ben", 3)
    assert pair.kappa.value == pytest.approx((2 / 3 - 3 / 9) / (1 - 3 / 9))
    assert pair.kappa_of_links.items == 1
    alone = agreement([anna, ben], resamples=0).pairs[0]
    assert (alone.kappa.items, alone.kappa.value) == (2, pytest.approx((1 / 2 - 1 / 4) / (1 - 1 / 4)))


def test_the_kappa_of_a_pair_over_its_own_spans_does_not_depend_on_a_third(karat_cli, tmp_path):
    """Ada and Bob: agreed 1 of 2, by chance 1/4. With Caen, which only Chris marked, kappa rises to 0.5."""
    corpora = [annotator("anna", {ADA: "Q1"}), annotator("ben", {ADA: "Q1", BOB: "Q9"})]
    alone = agreement(corpora, resamples=0).pairs[0]
    corpora.append(annotator("chris", {ADA: "Q1", CAEN: "Q3"}))
    pair = agreement(corpora, resamples=0).pairs[0]
    assert pair.kappa_of_pair == alone.kappa_of_pair == alone.kappa
    assert (pair.kappa_of_pair.items, pair.kappa_of_pair.value) == (2, pytest.approx(1 / 3))
    assert (pair.kappa.items, pair.kappa.value) == (3, pytest.approx(0.5))
    for corpus in corpora:
        karat.save(corpus, tmp_path / f"{corpus.name}.jsonl")
    files = [tmp_path / f"{corpus.name}.jsonl" for corpus in corpora]
    ran = karat_cli("agreement", *files, "--resamples", "0")
    assert "of the pair: spans that at least one of the two annotators" in " ".join(ran.out.split())
    assert "of the pair" not in karat_cli("agreement", *files[:2], "--resamples", "0").out
    written = json.loads(karat_cli("agreement", *files, "--json", "-").out)
    assert written["pairs"][0]["kappa_of_pair"]["items"] == 2


def test_what_cannot_be_compared_is_left_out_and_counted():
    """A document of one annotator, and an alternative with another span. The alternative Q7 of Ada is compared."""
    labels = (
        Label(*ADA, "Q1", mention_id="a"),
        Label(*ADA, "Q7", mention_id="a"),
        Label(*BOB, "Q2", mention_id="b"),
        Label(7, 11, "Q2", mention_id="b"),
    )
    first = Corpus.from_documents([Document("d0", TEXT, labels), Document("x", TEXT)], name="first")
    second = annotator("second", {ADA: "Q7", (7, 11): "Q2"})
    found = agreement([first, second], resamples=0)
    assert sorted(found.excluded.values()) == [1, 1]
    assert found.pairs[0].f1["strong"].value == 1


@pytest.mark.parametrize("other", ["Q23306", "Q92", "Q100"])
@pytest.mark.parametrize("first_is_gold", [True, False])
def test_mentions_that_share_an_alternative_agree_in_both_directions(other, first_is_gold):
    """Three mentions, all agreed: F1 and kappa are 1, whichever id sorts first and whoever is the gold standard."""
    with_alternatives = Corpus.from_documents(
        [
            Document(
                "d0",
                TEXT,
                (
                    Label(*ADA, "Q84", mention_id="a"),
                    Label(*ADA, other, mention_id="a"),
                    Label(*BOB, "Q2"),
                    Label(*CAEN, "Q3"),
                ),
            )
        ],
        name="first",
    )
    second = annotator("second", {ADA: "Q84", BOB: "Q2", CAEN: "Q3"})
    pair = agreement([with_alternatives, second][:: 1 if first_is_gold else -1], resamples=0).pairs[0]
    assert [pair.f1[relation].value for relation in ("strong", "weak", "mention")] == [1, 1, 1]
    assert (pair.kappa.value, pair.kappa_of_links.value) == (1, 1)


@pytest.mark.parametrize("first_is_gold", [True, False])
def test_alternatives_with_several_spans_agree_with_as_many_mentions_as_possible(first_is_gold):
    """One mention is Ada or Bob, another only Ada: they agree with Bob and Ada, so that F1 of spans is 1.

    Of the links, only Q1 of the first mention agrees, with one of two: F1 is 2 * 1 / (2 + 2).
    """
    labels = (Label(*ADA, "Q1", mention_id="a"), Label(*BOB, "Q1", mention_id="a"), Label(*ADA, "Q2"))
    with_alternatives = Corpus.from_documents([Document("d0", TEXT, labels)], name="first")
    second = annotator("second", {ADA: "Q1", BOB: "Q1"})
    pair = agreement([with_alternatives, second][:: 1 if first_is_gold else -1], resamples=0).pairs[0]
    assert [pair.f1[relation].value for relation in ("mention", "strong")] == [1, 0.5]


@pytest.mark.parametrize("unlinked_span", [ADA, CAEN])
def test_a_mention_with_an_unlinked_alternative_is_ignored_whoever_is_the_gold_standard(unlinked_span):
    """Of three links two are compared: that on Bob agrees, and that on Ada has no partner. F1 is 2 * 1 / (2 + 1)."""
    labels = (Label(*ADA, "Q1", mention_id="a"), Label(*unlinked_span, mention_id="a"), Label(*BOB, "Q2"))
    first = Corpus.from_documents([Document("d0", TEXT, labels)], name="first")
    second = annotator("second", {ADA: "Q1", BOB: "Q2"})
    for corpora in ([first, second], [second, first]):
        assert agreement(corpora, resamples=0).pairs[0].f1["strong"].value == pytest.approx(2 / 3)


def test_mentions_of_the_same_span_and_entity_are_compared():
    """Two mentions that may both be Ada stay two where nobody else marked any, of three in all."""
    labels = tuple(Label(*span, "Q1", mention_id=name) for name, span in (("a", ADA), ("a", BOB), ("b", ADA)))
    first = Corpus.from_documents([Document("d0", TEXT, labels)], name="first")
    second = annotator("second", {CAEN: "Q1"})
    for corpora in ([first, second], [second, first]):
        f1 = agreement(corpora, resamples=0).pairs[0].f1["strong"]
        assert (f1.value, f1.items) == (0, 3)


def test_chains_of_alternatives_agree_in_both_directions():
    """Three mentions, each with two of the spans, agree with three: each takes the span that the next one leaves."""
    spans = [(0, 1), (2, 3), (4, 5)]
    chosen = [(0, 1), (0, 2), (1, 2)]
    labels = tuple(Label(*spans[span], "Q1", mention_id=f"m{n}") for n, pair in enumerate(chosen) for span in pair)
    first = Corpus.from_documents([Document("d0", TEXT, labels)], name="first")
    second = annotator("second", dict.fromkeys(spans, "Q1"))
    for corpora in ([first, second], [second, first]):
        f1 = agreement(corpora, resamples=0).pairs[0].f1
        assert [f1[relation].value for relation in ("mention", "strong", "weak")] == [1, 1, 1]


def test_an_alternative_counts_for_each_pair_and_the_commonest_for_all():
    """Ada: Anna Q1 or Q7, Ben Q1, Chris Q7, Dora Q7. Each pair with Anna agrees; of all four, three say Q7."""
    labels = (Label(*ADA, "Q1", mention_id="a"), Label(*ADA, "Q7", mention_id="a"), Label(*BOB, "Q2"))
    anna = Corpus.from_documents([Document("d0", TEXT, labels)], name="anna")
    others = [annotator(name, {ADA: id, BOB: "Q2"}) for name, id in (("ben", "Q1"), ("chris", "Q7"), ("dora", "Q7"))]
    found = agreement([anna, *others], resamples=0)
    kappas = {(pair.annotator_a, pair.annotator_b): pair.kappa.value for pair in found.pairs}
    assert [kappas["anna", name] for name in ("ben", "chris", "dora")] == [1, 1, 1]
    judged, _ = collect_judgements([anna, *others], ["d0"])
    ada = judged.codes[:, 0].tolist()
    assert ada[0] == ada[2] == ada[3] != ada[1]


def test_alternatives_of_another_span_match_by_the_relation():
    """Anna: "in Caen" or "Caen", both Q3; Ben: "Caen", and once "in Caen". All three relations match either."""
    labels = (Label(*CAEN, "Q3", mention_id="a"), Label(*IN_CAEN, "Q3", mention_id="a"))
    anna = Corpus.from_documents([Document("d0", TEXT, labels)], name="anna")
    for span in (CAEN, IN_CAEN):
        ben = annotator("ben", {span: "Q3"})
        for pair in (agreement([anna, ben], resamples=0).pairs[0], agreement([ben, anna], resamples=0).pairs[0]):
            assert [pair.f1[relation].value for relation in ("strong", "weak", "mention")] == [1, 1, 1]


def test_a_knowledge_base_makes_ids_the_same(tmp_path):
    (tmp_path / "redirects.tsv").write_text("Q9\tQ2\n", encoding="utf-8")
    kb = karat.open_kb(tmp_path)
    plain, resolved = agreement([ANNA, BEN], resamples=0), agreement([ANNA, BEN], kb=kb, resamples=0)
    assert resolved.pairs[0].f1["strong"].value == pytest.approx(6 / 9)
    assert resolved.pairs[0].kappa.value > plain.pairs[0].kappa.value


def test_no_order_of_documents_changes_anything():
    rng = np.random.default_rng(0)
    spans = [(i, i + 1) for i in range(12)]
    pages = [
        [{span: f"Q{rng.integers(3)}" for span in spans if rng.random() < 0.7} for _ in range(2)] for _ in range(10)
    ]
    one, two = (annotator(name, *(page[i] for page in pages)) for i, name in enumerate(("a", "b")))
    back = [Corpus.from_documents(list(corpus)[::-1], name=corpus.name) for corpus in (one, two)]
    here, there = agreement([one, two], resamples=100), agreement(back, resamples=100)
    assert here == there
    assert here.pairs[0].kappa.interval is not None


def categorised(name, *categories):
    """One document; for Ada, Bob and Caen the categories, or None where the span is not marked."""
    given = zip((ADA, BOB, CAEN, DIJON), categories, strict=True)
    labels = [Label(*span, "Q1", categories=own) for span, own in given if own is not None]
    return Corpus.from_documents([Document("d0", TEXT, tuple(labels))], name=name)


FULL, SHORT, DIRECT, METONYMIC = "form:FullName", "form:ShortName", "reference:Direct", "reference:Metonymic"


def test_agreement_on_categories_by_hand():
    anna = categorised("anna", (FULL, DIRECT), (SHORT, DIRECT), (SHORT, METONYMIC), (FULL,))
    ben = categorised("ben", (FULL, DIRECT), (FULL, DIRECT), (SHORT, DIRECT), None)
    found = agreement([anna, ben], resamples=0)
    kappa = found.pairs[0].kappa_of_categories
    assert list(found.categories) == ["form", "reference"]
    # Dijon is not Ben's. Form: same on two of three; by chance (1 · 2 + 2 · 1) / 9.
    assert (found.categories["form"].same.items, found.categories["form"].same.value) == (3, pytest.approx(2 / 3))
    assert kappa["form"].value == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    # Fleiss: six judgements, three of each: by chance 1/2.
    assert found.categories["form"].fleiss.value == pytest.approx((2 / 3 - 1 / 2) / (1 - 1 / 2))
    # Alpha: one item of three disagrees, so that of 6 ordered pairs 2 do; expected (6² - 3² - 3²) / (6 - 1).
    assert found.categories["form"].alpha.value == pytest.approx(1 - 2 / ((36 - 18) / 5))
    # Reference: same on two of three; by chance (2 · 3) / 9, which is as much.
    assert kappa["reference"].value == pytest.approx(0)


def test_several_categories_of_a_dimension_are_one_prediction():
    anna = categorised("anna", (FULL, SHORT), (SHORT,), (FULL,), None)
    ben = categorised("ben", (SHORT, FULL), (SHORT, FULL), (DIRECT,), None)
    found = agreement([anna, ben], resamples=0)
    assert list(found.categories) == ["form"]  # only Ben has a reference
    assert (found.categories["form"].same.items, found.categories["form"].same.value) == (2, 0.5)


def test_the_share_of_a_third_annotator_counts_where_two_judged():
    anna = categorised("anna", (FULL,), (FULL,), (FULL,), (FULL,))
    ben = categorised("ben", (FULL,), (FULL,), None, None)
    chris = categorised("chris", (FULL,), (SHORT,), (FULL,), None)
    found = agreement([anna, ben, chris], resamples=0).categories["form"]
    assert (found.same.items, found.same.value) == (3, pytest.approx(2 / 3))
    assert found.fleiss.items == 2


def test_categories_are_printed_and_written(karat_cli, tmp_path):
    anna, ben = categorised("anna", (FULL,), (SHORT,), None, None), categorised("ben", (FULL,), (FULL,), None, None)
    for corpus in (anna, ben):
        karat.save(corpus, tmp_path / f"{corpus.name}.jsonl")
    files = [tmp_path / "anna.jsonl", tmp_path / "ben.jsonl"]
    ran = karat_cli("agreement", *files)
    assert "all, on categories" in ran.out
    written = json.loads(karat_cli("agreement", *files, "--json", "-").out)
    assert written["categories"]["form"]["same"]["value"] == 0.5
    assert written["pairs"][0]["kappa_of_categories"]["form"]["value"] == 0


def test_every_kappa_that_is_undefined_has_its_reason(karat_cli, tmp_path):
    anna, ben = categorised("anna", (FULL,), (FULL,), None, None), categorised("ben", (FULL,), (FULL,), None, None)
    for corpus in (anna, ben):
        karat.save(corpus, tmp_path / f"{corpus.name}.jsonl")
    ran = karat_cli("agreement", tmp_path / "anna.jsonl", tmp_path / "ben.jsonl")
    assert "kappa on form of anna and ben undefined: all items have the same category" in " ".join(ran.out.split())


def test_texts_and_names_must_fit():
    other = Corpus.from_documents([Document("d0", TEXT + "!")], name="other")
    with pytest.raises(InputError, match="a different text from that of anna"):
        agreement([ANNA, other])
    with pytest.raises(UsageError, match="different names"):
        agreement([ANNA, ANNA])
    with pytest.raises(UsageError, match="no document"):
        agreement([ANNA, Corpus.from_documents([Document("y", "Another text")], name="other")])


def test_documents_with_other_ids_are_paired_by_their_text(karat_cli, tmp_path):
    """Both annotators link Ada, and only the first marks Bob: F1 is 2 · 1 / (2 + 1). Ben has the text twice."""
    first = [Document("a", TEXT, (Label(*ADA, "Q1"), Label(*BOB, "Q2"))), Document("b", "Only Anna")]
    second = [Document("x", TEXT, (Label(*ADA, "Q1"),)), Document("y", TEXT)]
    corpora = [Corpus.from_documents(first, name="anna"), Corpus.from_documents(second, name="ben")]
    result = agreement(corpora)
    assert (result.documents, result.pairs[0].f1["strong"].value) == (1, pytest.approx(2 / 3))
    assert result.excluded["documents of a single annotator"] == 2
    files = [tmp_path / f"{corpus.name}.jsonl" for corpus in corpora]
    for corpus, file in zip(corpora, files, strict=True):
        karat.save(corpus, file)
    ran = karat_cli("agreement", *files)
    assert f"{files[1]}: documents paired by their text, since their ids differ: 1" in ran.err


def test_the_command_prints_and_writes(karat_cli, tmp_path):
    for corpus in (ANNA, BEN):
        karat.save(corpus, tmp_path / f"{corpus.name}.jsonl")
    files = [tmp_path / "anna.jsonl", tmp_path / "ben.jsonl"]
    ran = karat_cli("agreement", *files, "--json", tmp_path / "all.json")
    assert ran.code == 0, ran.err
    assert "2 annotators, 2 documents, 6 spans marked by anyone" in ran.out
    assert "anna, ben" in ran.out
    written = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert written["pairs"][0]["f1"]["strong"]["value"] == pytest.approx(4 / 9)
    judged, _ = collect_judgements([ANNA, BEN], ["d0", "d1"])
    assert written["pairs"][0]["kappa"]["value"] == pytest.approx(cohen_kappa(judged.codes))
    alone = karat_cli("agreement", files[0])
    assert (alone.code, alone.out) == (2, "")
    assert "at least two annotators" in alone.err


def test_annotators_with_ids_of_different_schemes_are_bridged():
    """They agree on two of five spans as far as the built-in knowledge base knows: kappa (0.4 - 0.08) / 0.92.

    By chance they would agree on 2 * 1/5 * 1/5 = 0.08, since two of the five entities of both are the same.
    """
    spans = ((0, 6), (7, 12), (13, 16), (17, 20), (21, 24))
    pages = [f"https://en.wikipedia.org/wiki/{title}" for title in ("Berlin", "Paris", "No_page_1", "No_2", "No_3")]
    qids = ["Q64", "Q90", "Q999999991", "Q999999992", "Q999999993"]
    first, second = (
        Corpus.from_documents(
            [Document("d", "x" * 30, tuple(Label(*span, id) for span, id in zip(spans, ids, strict=True)))], name=name
        )
        for name, ids in (("a", pages), ("b", qids))
    )
    for corpora in ((first, second), (second, first)):
        found = agreement(corpora, resamples=0)
        assert found.kb == "starter"
        assert found.pairs[0].kappa.value == pytest.approx(0.32 / 0.92)
        assert found.pairs[0].f1["strong"].value == pytest.approx(0.4)


def test_predictions_are_an_annotator_behind_the_first_file(karat_cli, tmp_path):
    """Of three links and two links, two match: F1 is 4 / 5. The failed document is left out."""
    karat.save(annotator("gold", {ADA: "Q7259", BOB: "Q2", CAEN: "Q84"}, {ADA: "Q1"}), tmp_path / "gold.jsonl")
    entries = [
        {"mention": "Ada", "qid": "Q7259", "score": 0.5},
        {"mention": "Caen", "qid": "Q84"},
        {"mention": "Dijon"},
    ]
    lines = [{"id": "d0", "response": json.dumps(entries)}, {"id": "d1", "response": "I do not know."}]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)))
    ran = karat_cli("agreement", tmp_path / "gold.jsonl", tmp_path / "answers.jsonl", "--json", "-")
    found = json.loads(ran.out)
    assert (ran.code, found["annotators"], found["documents"]) == (0, ["gold", "answers"], 1)
    assert found["pairs"][0]["f1"]["strong"]["value"] == pytest.approx(4 / 5)
    assert "documents without predictions, or that failed (left out): 1" in ran.err
    assert "scores and candidates of predictions (not kept in labels): 1" in ran.err
    assert karat_cli("agreement", tmp_path / "answers.jsonl", tmp_path / "gold.jsonl").code == 2


def test_predictions_are_converted_to_gold_labels(karat_cli, tmp_path):
    """They stayed predictions, without a word."""
    karat.save(annotator("gold", {ADA: "Q1"}, {BOB: "Q2"}), tmp_path / "gold.jsonl")
    answers = [{"id": "d0", "response": '[{"mention": "Bob", "qid": "Q2"}, {"mention": "Bob", "qid": "Q2"}]'}]
    (tmp_path / "answers.jsonl").write_text(json.dumps(answers[0]) + "\n")
    ran = karat_cli(
        *("data", "convert", tmp_path / "answers.jsonl", tmp_path / "labels.jsonl"),
        *("--as", "gold", "--gold", tmp_path / "gold.jsonl"),
    )
    assert ran.code == 0
    (document,) = karat.load(tmp_path / "labels.jsonl")
    assert (document.id, document.text, document.labels) == ("d0", TEXT, (Label(*BOB, "Q2"),))
    assert "documents without predictions, or that failed (left out) 1" in ran.err
