"""The sections of the fair evaluation with claims that can be checked, in its order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from karat.model.results.exhibit import Cell, Exhibit, Explanation
from karat.protocols.suites.fair_2023 import checks, examples
from karat.protocols.suites.fair_2023.claims import (
    ACCURACY,
    HIGH_NER,
    LOW_NER,
    PRINTED_ACCURACY,
    PRINTED_DEMONYMS,
    PRINTED_PARTIAL_NAMES,
    PaperClaim,
    PrintedClaim,
    PrintedContrast,
    PrintedRank,
    UncheckedClaim,
    check_contrasts,
)
from karat.protocols.suites.fair_2023.measurements import (
    BENCHMARKS,
    SPOTLIGHT,
    Measurements,
)
from karat.protocols.suites.fair_2023.tables import ALL_OUTPUTS, COMPARE, OPTIONS, SCORECARD, STATISTICS

_AT_HAND: Final = ("ReFinED", "REL", "GENRE", "Ambiverse", "Baseline")
"""The systems of Table 1 that ELEVANT still publishes outputs of; claims compare them."""


@dataclass(frozen=True, slots=True)
class ArithmeticClaim:
    """A difference between two scores that the paper states, both of outputs that are lost."""

    text: str
    """The claim in few words."""
    published: str
    """The statement of the paper."""
    reported: float
    """The score in the system's paper."""
    reproduced: float
    """The score in the fair evaluation."""
    low: float
    """The smallest difference that fits the claim."""
    high: float
    """The largest difference that fits the claim."""

    def to_cell(self, scores: Measurements) -> Cell:
        """Return the cell of the claim in an exhibit of claims."""
        gap = self.reported - self.reproduced
        value = f"{self.reported} − {self.reproduced} = {gap:.1f} points"
        is_equal = self.low <= round(gap, 1) <= self.high
        return Cell(self.text, "claim", self.published, value, is_equal=is_equal, is_from_paper=True)


AnyClaim: TypeAlias = PaperClaim | PrintedClaim | PrintedRank | UncheckedClaim | ArithmeticClaim
"""A claim of any kind."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the paper with its claims."""

    name: str
    """The name of the section."""
    title: str
    """Its heading."""
    command: str
    """The command lines that give the figures."""
    claims: tuple[AnyClaim, ...]
    """The claims."""

    def to_exhibit(self, scores: Measurements) -> Exhibit:
        """Return the exhibit of the claims."""
        return Exhibit(self.name, self.title, self.command, tuple(claim.to_cell(scores) for claim in self.claims))


_OVERFITTING: Final = (
    f"{COMPARE} --developed-on refined__aida_=aida-conll-test --developed-on rel__2014_=aida-conll-test "
    "--developed-on genre__yago_=aida-conll-test --developed-on ambiverse=kore50"
)
_COMPARE_ALL: Final = f"karat compare {ALL_OUTPUTS} {OPTIONS} -m"
_NER: Final = "'mention[in-kb]:micro.{}@mention-type=entity'"

_FILTER: Final = f"{_COMPARE_ALL} {_NER.format('p')} --set drop=lowercase"
_PARTIAL_NAMES: Final = (
    f"karat score DIR/elevant/results/ambiverse/ambiverse.kore50.linked_articles.jsonl.gz {OPTIONS} --by error"
)
_FAIR_STATISTICS: Final = "karat data stats DIR/elevant/benchmarks/{wiki-fair,news-fair}.benchmark.jsonl.gz"
_NEURAL, _TAG = "Neural EL", "TagMe"
_LOW_F1: Final = PrintedContrast("Overall F1", is_higher=False)


def _lose_output(system: str, text: str, published: str) -> UncheckedClaim:
    """Return a claim about a system of which no output is published."""
    folder = f"elevant/results/{system.lower().replace(' ', '-')}"
    return UncheckedClaim(text, published, f"no output of {system} is published", folder)


def _check_printed(system: str, text: str, published: str, *contrasts: PrintedContrast) -> PrintedClaim:
    """Return a claim about a system that printed values decide."""
    return PrintedClaim(text, published, system, contrasts)


_ALL_FILES: Final = tuple(BENCHMARKS.values())
_OTHER_MODELS: Final = "no output of this variant is published"

SECTIONS: Final = (
    Section(
        "Section 1.2",
        "Contributions",
        f"{COMPARE}\n{STATISTICS}",
        (
            PaperClaim(
                "linkers on the new benchmarks",
                "a more similar performance on our benchmarks than on existing benchmarks",
                checks.check_similar_performance,
                _AT_HAND,
            ),
            PaperClaim(
                "baseline on the new benchmarks",
                "a simple baseline achieves good performance as well",
                checks.check_good_baseline,
                _AT_HAND,
            ),
            PaperClaim(
                "named entities",
                "existing benchmarks almost exclusively annotate named (that is, capitalized) entities",
                checks.check_named_entities,
                files=("aida-conll-test", "kore50", "msnbc-updated"),
            ),
        ),
    ),
    Section(
        "Section 4",
        "Critical discussion of existing benchmarks",
        f"{STATISTICS}\nkarat data stats DIR/{examples.ORIGINAL_MSNBC}\n{COMPARE}",
        (
            PaperClaim(
                "articles of AIDA-CoNLL",
                "231 articles",
                checks.check_size("aida-conll-test", 231),
                files=("aida-conll-test",),
            ),
            PaperClaim(
                "sports in AIDA-CoNLL",
                "44% of articles are sports related",
                examples.check_sports,
                paths=(examples.AIDA_TEXTS,),
            ),
            UncheckedClaim(
                "outdated NIL in AIDA-CoNLL (Section 1.1)",
                "many entity mentions marked Unknown … for which there today is an entry in Wikidata",
                "which mentions have an entry today needs people who look them up",
                "the entities of the NIL mentions of AIDA-CoNLL",
            ),
            PaperClaim(
                "demonyms and metonyms in AIDA-CoNLL",
                "a large amount of demonym and metonym entity mentions",
                checks.check_largest_shares("AIDA-CoNLL", "demonym", "metonym"),
                files=_ALL_FILES,
                needs_kb=True,
            ),
            PaperClaim(
                "average results on AIDA-CoNLL",
                "much higher than the average results on all other benchmarks",
                checks.check_average_results,
                _AT_HAND,
            ),
            PaperClaim(
                "sentences of KORE50", "50 hand-crafted sentences", checks.check_size("kore50", 50), files=("kore50",)
            ),
            PaperClaim(
                "domains of KORE50",
                "five domains: celebrities, music, business, sports and politics",
                examples.check_domains,
                files=("kore50",),
            ),
            PaperClaim(
                "partial names and persons in KORE50",
                "a lot of partial names and entities of type person",
                checks.check_largest_shares("KORE50", "partial", "person"),
                files=_ALL_FILES,
            ),
            PaperClaim(
                "articles of MSNBC",
                "20 news articles",
                checks.check_size("msnbc-updated", 20),
                files=("msnbc-updated",),
            ),
            PaperClaim(
                "adjectives in MSNBC",
                "adjectival forms of geographic locations are rarely and inconsistently annotated",
                checks.check_adjectives,
                files=("msnbc-updated",),
                needs_kb=True,
            ),
            PaperClaim(
                "overlap in MSNBC",
                "overlapping annotations … fixed in the updated version",
                checks.check_no_overlap,
                files=("msnbc-updated",),
            ),
            PaperClaim(
                "examples of adjectives (footnote 5)",
                "“Iraqi”, “German” or “Syrian” are not annotated … “U.S.” in … “U.S. builder” is …, but not in "
                "the phrase “U.S. helicopter”",
                examples.check_adjective_examples,
                paths=(examples.ORIGINAL_MSNBC,),
            ),
            PaperClaim(
                "example of overlap (footnote 6)",
                "in the phrase “Frank Blake”, both, the entire phrase and “Blake” are annotated and linked to the same "
                "entity",
                examples.check_overlap_example,
                paths=(examples.ORIGINAL_MSNBC,),
            ),
            PaperClaim(
                "articles of the updated MSNBC",
                "Several articles differ from the ones in the original benchmark",
                examples.check_changed_articles,
                files=("msnbc-updated",),
                paths=(examples.ORIGINAL_MSNBC,),
            ),
            UncheckedClaim(
                "results on the updated MSNBC",
                "usually very similar to those on the original benchmark",
                "no output on the original benchmark is published",
                "elevant/results, outputs on msnbc",
            ),
        ),
    ),
    Section(
        "Section 5",
        "Our new fair benchmarks",
        f"{_FAIR_STATISTICS}\n{STATISTICS}",
        (
            PaperClaim(
                "articles of Wiki-Fair",
                "80 … Wikipedia articles",
                checks.check_size("wiki-fair", 80),
                files=("wiki-fair",),
            ),
            PaperClaim(
                "articles of News-Fair", "40 … news articles", checks.check_size("news-fair", 40), files=("news-fair",)
            ),
            PaperClaim(
                "annotated paragraphs",
                "three random consecutive paragraphs (or less …) were manually annotated",
                checks.check_paragraphs,
                files=("wiki-fair", "news-fair"),
            ),
            PaperClaim(
                "non-named entities",
                "we include non-named entities in the ground truth",
                checks.check_non_named_entities,
                files=("wiki-fair-no-coref", "news-fair-no-coref"),
            ),
            PaperClaim(
                "example of alternatives (footnote 8)",
                "both linking the entire phrase in “Chatham, New Jersey” … and linking just “Chatham” … (while linking "
                "“New Jersey” …) are considered correct",
                examples.check_split_example,
                files=("wiki-fair",),
            ),
            UncheckedClaim(
                "entities of Wikidata",
                "an order of magnitude greater than the number of entities in Wikipedia or DBpedia",
                "the number of entities is not in the folder of data",
                "dumps of Wikidata, Wikipedia and DBpedia of 2023",
            ),
        ),
    ),
    Section(
        "Section 6.1",
        "ReFinED",
        f"{SCORECARD}\n{COMPARE}",
        (
            PaperClaim(
                "NER and disambiguation",
                "strong both for NER and for disambiguation",
                check_contrasts("ReFinED", HIGH_NER, ACCURACY),
                _AT_HAND,
            ),
            PaperClaim("overall F1", "the best overall F1 score", checks.check_best_f1, _AT_HAND),
            PaperClaim(
                "competitors",
                "closest competitors are GENRE and REL, … considerably worse regarding NER (GENRE) or disambiguation "
                "(REL)",
                checks.check_competitors,
                _AT_HAND,
            ),
            PaperClaim(
                "NER",
                "the performance difference to the other systems is particularly large on Wiki-Fair and News-Fair",
                checks.check_ner_lead,
                _AT_HAND,
            ),
            PaperClaim(
                "lowercased mentions",
                "in contrast to most other systems, ReFinED sometimes links lowercased mentions",
                checks.check_lowercased_links,
                _AT_HAND,
            ),
            PaperClaim(
                "NIL on AIDA-CoNLL",
                "the highest numbers of NER FP for mentions where the ground truth entity is NIL",
                checks.check_nil_on_aida,
                _AT_HAND,
            ),
            PaperClaim(
                "NIL on the new benchmarks",
                "The same trend can not be observed on … Wiki-Fair and News-Fair",
                checks.check_nil_elsewhere,
                _AT_HAND,
            ),
            PaperClaim(
                "disambiguation", "the best performing disambiguation system", checks.check_best_accuracy, _AT_HAND
            ),
            PaperClaim(
                "metonyms, partial names and rare mentions",
                "among the best systems in these categories",
                checks.check_hard_categories,
                _AT_HAND,
                needs_kb=True,
            ),
            UncheckedClaim(
                "reproducibility",
                "minor deviations of ≤ 0.6% from its GitHub page",
                "the figures that the GitHub page of ReFinED had in 2023 are not published with the paper",
                "the GitHub page of ReFinED, as of 2023/05/24",
            ),
            UncheckedClaim(
                "correct links on NIL",
                "in many of these cases, the system’s predictions are actually correct",
                "whether a link is correct although the gold standard says NIL needs people who judge it",
                "judgements of the links of ReFinED on NIL mentions of AIDA-CoNLL",
            ),
            UncheckedClaim(
                "results in the paper of ReFinED",
                "higher results than those reported in the paper on all evaluated benchmarks",
                "the paper does not list the figures that it compares",
                "the paper of Ayoola et al. (2022)",
            ),
            UncheckedClaim(
                "Wikipedia model",
                "the fine-tuned version … outperforms the Wikipedia version on all benchmarks",
                _OTHER_MODELS,
                "elevant/results/refined, model trained on Wikipedia only",
            ),
            UncheckedClaim(
                "33M entities",
                "on News-Fair and Wiki-Fair … the 33M version is slightly better than the 6M version",
                _OTHER_MODELS,
                "elevant/results/refined, with 33M entities",
            ),
        ),
    ),
    Section(
        "Section 6.2",
        "REL",
        f"{SCORECARD}\n{COMPARE}",
        (
            PaperClaim("overall F1", "a high overall F1 score on all benchmarks", checks.check_high_f1, _AT_HAND),
            PaperClaim("NER", "performs particularly well in the NER task", check_contrasts("REL", HIGH_NER), _AT_HAND),
            PaperClaim("disambiguation", "outperformed by ReFinED and GENRE", checks.check_rel_accuracy, _AT_HAND),
            PaperClaim(
                "disambiguation on Wiki-Fair",
                "just barely outperforms our simple baseline",
                checks.check_wiki_fair_accuracy,
                ("REL", "Baseline"),
            ),
            PaperClaim(
                "NIL",
                "a high number of FPs for mentions where the ground truth entity is NIL … consistent across all "
                "benchmarks",
                checks.check_nil_everywhere("REL"),
                _AT_HAND,
            ),
            PaperClaim(
                "spans",
                "tends to detect mention spans that are shorter than those annotated",
                checks.check_more_included("REL", ("ReFinED", "GENRE")),
                _AT_HAND,
            ),
            PaperClaim(
                "other errors",
                "Many of the disambiguation errors fall into none of our specific error categories",
                checks.check_other_errors,
                ("REL",),
                needs_kb=True,
            ),
            PaperClaim(
                "partial names",
                "trouble disambiguating partial names on Wiki-Fair, but … not … on the other benchmarks",
                checks.check_partial_names_on_wiki_fair,
                ("REL",),
                needs_kb=True,
            ),
            UncheckedClaim(
                "version of 2019",
                "the 2014 version … outperforms the 2019 version on all our benchmarks except Wiki-Fair",
                _OTHER_MODELS,
                "elevant/results/rel, version of 2019",
            ),
            UncheckedClaim(
                "reproducibility",
                "for most benchmarks within a margin of error of < 1.0%",
                "the paper does not list the figures that it compares",
                "the figures of REL's paper and the outputs of 2023 on its benchmarks",
            ),
        ),
    ),
    Section(
        "Section 6.3",
        "GENRE",
        f"{SCORECARD}\n{COMPARE}",
        (
            PaperClaim(
                "overall F1", "typically outperformed by ReFinED and REL", checks.check_typically_outperformed, _AT_HAND
            ),
            PaperClaim(
                "NER and disambiguation",
                "a relatively weak NER F1, but strong disambiguation accuracy",
                check_contrasts("GENRE", LOW_NER, ACCURACY),
                _AT_HAND,
            ),
            PaperClaim(
                "NER F1 below the best system",
                "8.5%",
                checks.check_genre_ner,
                ("GENRE", "ReFinED"),
            ),
            PaperClaim(
                "precision of NER",
                "always better than recall, with an especially large difference on News-Fair and Wiki-Fair",
                checks.check_precision,
                ("GENRE",),
            ),
            PaperClaim(
                "false positives of NER",
                "among the systems with the lowest number of NER false positives",
                checks.check_few_false_positives,
                _AT_HAND,
            ),
            PaperClaim(
                "NIL",
                "very good at not linking mentions where the ground truth entity is NIL",
                checks.check_fewest_nil_links,
                _AT_HAND,
            ),
            PaperClaim(
                "demonyms",
                "the best system at disambiguating demonyms",
                checks.check_demonyms,
                _AT_HAND,
                needs_kb=True,
            ),
            PaperClaim(
                "metonyms",
                "only beaten by REL at disambiguating metonyms",
                checks.check_metonyms,
                _AT_HAND,
                needs_kb=True,
            ),
            UncheckedClaim(
                "reproducibility",
                "on the AIDA-CoNLL benchmark with a discrepancy of 0.7%",
                "the paper does not print the two figures",
                "the figure of GENRE's paper and elevant/results/genre, as of 2023/05/24",
            ),
            UncheckedClaim(
                "Wikipedia model",
                "performs very poorly in our evaluation",
                _OTHER_MODELS,
                "elevant/results/genre, model trained on Wikipedia only",
            ),
        ),
    ),
    Section(
        "Section 6.4",
        "Ambiverse",
        f"{SCORECARD}\n{COMPARE}\n{STATISTICS}",
        (
            PaperClaim(
                "AIDA-CoNLL",
                "outperformed by newer systems, even on its “own” benchmark AIDA-CoNLL",
                checks.check_beaten_on_aida,
                _AT_HAND,
            ),
            PaperClaim(
                "new benchmarks",
                "its overall F1 score is hardly better than the baseline",
                checks.check_hardly_better,
                ("Ambiverse", "Baseline"),
            ),
            PaperClaim(
                "spans",
                "tends to recognize smaller spans than those from the ground truth",
                checks.check_more_included("Ambiverse", ("ReFinED", "REL", "GENRE")),
                _AT_HAND,
            ),
            PaperClaim(
                "example of spans (footnote 12)",
                "in the mention “1936 Summer Olympics”, it detects only “Summer Olympics”",
                examples.check_short_span,
                ("Ambiverse",),
            ),
            PaperClaim(
                "wrong spans",
                "a relatively high number of “wrong span” errors on News-Fair and Wiki-Fair",
                checks.check_wrong_spans,
                _AT_HAND,
            ),
            PaperClaim(
                "NIL",
                "a high number of NER false positives for mentions where the ground truth entity is NIL across all "
                "benchmarks",
                checks.check_nil_everywhere("Ambiverse"),
                _AT_HAND,
            ),
            PaperClaim(
                "partial names",
                "a strength for disambiguating partial names on all benchmarks",
                checks.check_partial_names_everywhere,
                _AT_HAND,
                needs_kb=True,
            ),
            PaperClaim("partial names in KORE50", "59% of mentions", checks.check_partial_share, files=("kore50",)),
            PaperClaim(
                "demonyms and metonyms",
                "problems in the “demonym” and “metonym” category … particularly on AIDA-CoNLL",
                checks.check_country_names,
                _AT_HAND,
                needs_kb=True,
            ),
            PaperClaim(
                "highest rank",
                "achieves its highest ranking … [on] KORE50",
                checks.check_best_rank,
                _AT_HAND,
            ),
            PaperClaim(
                "lowest rank",
                "one of its lowest rankings on the AIDA-CoNLL test set",
                checks.check_lowest_rank,
                _AT_HAND,
            ),
        ),
    ),
    Section(
        "Section 7",
        "Conclusions",
        _OVERFITTING,
        (
            PaperClaim(
                "overfitting to the home benchmark",
                "the older systems tend to be overfitted to their respective benchmarks … ReFinED and REL … "
                "significantly better in that respect",
                checks.check_overfitting,
                _AT_HAND,
            ),
            PaperClaim(
                "best system",
                "ReFinED … performs best, even on our independently designed and fair benchmarks",
                checks.check_best_on_fair,
                _AT_HAND,
            ),
        ),
    ),
    Section(
        "Section A.1",
        "Excluded benchmarks",
        "karat data stats DIR/elevant/benchmarks/spotlight.benchmark.jsonl.gz",
        (
            PaperClaim(
                "paragraphs of DBpedia Spotlight",
                "35 paragraphs",
                checks.check_size("spotlight", 35),
                files=("spotlight",),
                explanation=Explanation(
                    "data missing",
                    "the file has the sentences of the paragraphs as documents and does not say where paragraphs end",
                    missing_file="the DBpedia Spotlight benchmark with its paragraphs",
                ),
            ),
            PaperClaim("non-named entities", "75%", checks.check_non_named, files=("spotlight",)),
            PaperClaim(
                "arbitrary annotations",
                "“curved”, “idea”, or “house” … [but not] “story”, “Russian” or “Web language” … (even though “Web” "
                "and “Web pages” are)",
                checks.check_odd_annotations,
                files=("spotlight",),
            ),
        ),
    ),
    Section(
        "Section A.2.1",
        "Neural EL",
        SCORECARD,
        (
            ArithmeticClaim("reproducibility, test set", "4.1%", 82.9, 78.8, 4.1, 4.1),
            ArithmeticClaim("reproducibility, development set", "7%", 84.9, 77.9, 7.0, 7.0),
            _check_printed(_NEURAL, "overall F1", "a low F1 score over all benchmarks", _LOW_F1),
            _lose_output(
                _NEURAL,
                "NER",
                "decent on benchmark that contain only named entities, but weak on News-Fair and Wiki-Fair",
            ),
            _check_printed(_NEURAL, "partial names", "particularly weak", PRINTED_PARTIAL_NAMES),
            _check_printed(_NEURAL, "demonyms", "solid in disambiguating demonyms", PRINTED_DEMONYMS),
            _lose_output(_NEURAL, "NER precision", "a relatively high NER precision"),
            _check_printed(
                _NEURAL,
                "lowercased mentions",
                "a high number of lowercased NER FNs",
                PrintedContrast("NER false negatives, lower-cased", is_higher=True),
            ),
            _lose_output(_NEURAL, "rank on demonyms", "3rd and 4th in the demonym category"),
            PrintedRank(
                "rank on partial names",
                "Only our baseline typically performs worse in this category",
                _NEURAL,
                "Disambiguation error rate, partial name",
                ("Baseline",),
            ),
        ),
    ),
    Section(
        "Section A.2.2",
        "TagMe",
        f"{SCORECARD}\n{_PARTIAL_NAMES}",
        (
            ArithmeticClaim("reproducibility", "almost 20%", 76.2, 57.5, 15.0, 20.0),
            _check_printed(
                _TAG,
                "non-named entities",
                "frequently predicts non-named entities",
                PrintedContrast("NER false positives, lower-cased", is_higher=True),
            ),
            _check_printed(_TAG, "disambiguation", "decent results in the overall disambiguation", PRINTED_ACCURACY),
            _lose_output(_TAG, "NER F1", "the lowest NER F1 scores on all benchmarks with particularly low precision"),
            _lose_output(
                _TAG,
                "NER recall",
                "low on benchmarks containing only named entities, but decent on News-Fair and Wiki-Fair",
            ),
            _lose_output(
                _TAG,
                "after filtering out non-named entities",
                "beats our baseline on every benchmark except Wiki-Fair",
            ),
            _check_printed(
                _TAG,
                "partially included mentions",
                "good results in the “partially included” category",
                PrintedContrast("NER false negatives, partially included", is_higher=False),
            ),
            _check_printed(
                _TAG,
                "wrong spans",
                "a relatively high number of NER FP errors in the “wrong span” category",
                PrintedContrast("NER false positives, wrong span", is_higher=True),
            ),
            _check_printed(
                _TAG,
                "demonyms",
                "a generally high number of demonym errors",
                PrintedContrast("Disambiguation error rate, demonym", is_higher=True),
            ),
            _lose_output(_TAG, "AIDA-CoNLL", "a weak disambiguation performance only on AIDA-CoNLL"),
            _lose_output(
                _TAG,
                "examples of spans and demonyms (footnotes 13 to 15)",
                "“2003 Kids' Choice Awards”, “London Heathrow airport”, “Polish citizens”",
            ),
            _check_printed(
                _TAG,
                "partial names",
                "a relatively low number of disambiguation errors in the “partial name” category",
                PrintedContrast("Disambiguation error rate, partial name", is_higher=False),
            ),
            _lose_output(
                _TAG,
                "KORE50",
                "the second-best performing system … in the overall disambiguation … the lowest NER recall",
            ),
            PaperClaim("partial names in KORE50", "59% of mentions", checks.check_partial_share, files=("kore50",)),
            PaperClaim(
                "partial names that Ambiverse disambiguates wrongly",
                "28",
                checks.check_ambiverse_partial_errors,
                ("Ambiverse",),
                needs_kb=True,
            ),
            _lose_output(_TAG, "of them not detected or disambiguated wrongly by TagMe", "24 out of 28"),
        ),
    ),
    Section(
        "Section A.2.3",
        "DBpedia Spotlight",
        "\n".join(
            (
                f"{_COMPARE_ALL} 'strong[in-kb]:micro.f1'",
                f"{_COMPARE_ALL} {_NER.format('p')}",
                f"{_COMPARE_ALL} {_NER.format('r')}",
                _FILTER,
                f"karat scorecard {ALL_OUTPUTS} {OPTIONS} --view 'strong[in-kb]'",
            )
        ),
        (
            PaperClaim(
                "overall F1",
                "the weakest performing system on almost all benchmarks",
                checks.check_weakest,
                (SPOTLIGHT,),
            ),
            PaperClaim(
                "NER precision",
                "the lowest NER precision on almost every benchmark",
                checks.check_lowest_precision,
                (SPOTLIGHT,),
            ),
            PaperClaim(
                "lowercased predictions",
                "it falsely detects too many lowercased mentions",
                checks.check_lowercased_detections,
                (SPOTLIGHT,),
            ),
            PaperClaim(
                "NER precision without lowercased predictions",
                "improves, but is still among the lowest on all benchmarks",
                checks.check_filter,
                (SPOTLIGHT,),
            ),
            PaperClaim(
                "NER recall",
                "the highest NER recall on News-Fair and the second-highest on Wiki-Fair (only outperformed by "
                "ReFinED)",
                checks.check_recall,
                (SPOTLIGHT, "ReFinED"),
            ),
            PaperClaim(
                "partially included mentions",
                "the most NER FNs in the “partially included” category on all benchmarks except KORE50",
                checks.check_most_included,
                (SPOTLIGHT,),
            ),
            PaperClaim(
                "partial names and rare entities",
                "performs particularly weak at disambiguating partial names and rare entities",
                checks.check_weak_disambiguation,
                (SPOTLIGHT,),
                needs_kb=True,
            ),
            PaperClaim(
                "examples of wrong links (footnotes 16 to 19)",
                "“sports” in “sports events”, “Spanish police”, “South” in “South Korea”, “Columbus” in “Columbus, "
                "Ohio”",
                examples.check_wrong_links,
                (SPOTLIGHT,),
            ),
            UncheckedClaim(
                "reproducibility, default configuration",
                "42.4% vs. 45.2% reported in the paper",
                "no output with this configuration is published",
                "elevant/results/dbpedia-spotlight, default configuration, on spotlight",
            ),
            UncheckedClaim(
                "reproducibility, best configuration",
                "33.6% vs. 56% reported in the paper",
                "no output with this configuration is published",
                "elevant/results/dbpedia-spotlight, confidence 0.35 and support 100, on spotlight",
            ),
        ),
    ),
    Section(
        "Section A.2.4",
        "Efficient EL",
        SCORECARD,
        (
            ArithmeticClaim(
                "reproducibility", "close, but not equal (85.0% … compared to 85.5%)", 85.5, 85.0, 0.1, 1.0
            ),
            *(
                _lose_output("Efficient EL", text, published)
                for text, published in (
                    ("overall F1", "only outperformed by ReFinED on AIDA-CoNLL"),
                    ("other benchmarks", "performs very poorly on all other benchmarks"),
                    ("NER", "the best NER system [on AIDA-CoNLL] … the lowest number of NER FPs"),
                    ("disambiguation", "close to that of GENRE and REL … significantly outperformed by ReFinED"),
                    ("demonyms and rare entities", "the best … on AIDA-CoNLL"),
                    ("metonyms and partial names", "significantly worse … than ReFinED, GENRE and REL"),
                )
            ),
        ),
    ),
    Section(
        "Section A.4",
        "Type Whitelist",
        _FAIR_STATISTICS,
        (
            PaperClaim(
                "types of annotated entities",
                "we annotated all entities that are an instance … of one of the types in a type whitelist",
                checks.check_whitelist,
                files=("wiki-fair", "news-fair"),
            ),
        ),
    ),
)
"""The sections with claims, in the order of the paper."""
