"""The fine-grained paper's procedure in plain Python, written from its description and nothing else.

A gold standard is a list of annotations (key, link, categories), where a key is a document and a span; predictions
are one
link for each key.
"""

from __future__ import annotations

from typing import NamedTuple

DIMENSIONS = ("form", "pos", "overlap", "reference")
INNER = {
    "form:ProperForm": ("form:Full", "form:Short", "form:Extended", "form:Alias"),
    "pos:NounPhrase": ("pos:NounSingular", "pos:NounPlural"),
}


class Annotation(NamedTuple):
    key: tuple
    link: str | None
    categories: tuple[str, ...]


class Score(NamedTuple):
    tp: int
    fp: int
    fn: int


def annotations(corpus):
    return [
        Annotation((document.id, label.start, label.end), last(label.entity), label.categories)
        for document in corpus
        for label in document.labels
    ]


def predictions(run):
    return {
        (response.id, prediction.start, prediction.end): last(prediction.entity)
        for response in run
        for prediction in response.predictions
        if prediction.entity is None or isinstance(prediction.entity, str)
    }


def last(entity):
    return None if entity is None else entity.rpartition("/")[2]


def score(chosen, given):
    """Filtered first, merged second; predictions elsewhere are dropped."""
    accepted = {}
    for each in chosen:
        accepted.setdefault(each.key, set()).update([each.link] if each.link is not None else [])
    tp = fp = fn = 0
    for key, links in accepted.items():
        if key not in given:
            fn += 1
        elif given[key] in links:
            tp += 1
        else:
            fp, fn = fp + 1, fn + 1
    return Score(tp, fp, fn)


def of_category(gold, category):
    leaves = INNER.get(category, (category,))
    return [each for each in gold if set(leaves) & set(each.categories)]


def combination(each):
    """The leaves of the four dimensions, where there is exactly one in each."""
    own = [[c.partition(":")[2] for c in each.categories if c.startswith(f"{d}:")] for d in DIMENSIONS]
    return "+".join(leaf for (leaf,) in own) if all(len(found) == 1 for found in own) else None


def measures(found):
    precision = found.tp / (found.tp + found.fp) if found.tp + found.fp else None
    recall = found.tp / (found.tp + found.fn) if found.tp + found.fn else None
    both = (precision or 0) + (recall or 0)
    f1 = None if found == (0, 0, 0) else 2 * precision * recall / both if both else 0.0
    return {"micro.p": precision, "micro.r": recall, "micro.f1": f1}


def fuzzy(gold, given, weight, pick):
    """Right predictions, all predictions, and the sums of weights that were earned and that could be."""
    weights, earned, right = {}, {}, set()
    for each in gold:
        weights.setdefault(each.key, []).append(weight(each.categories))
        if each.link is not None and given.get(each.key) == each.link:
            right.add(each.key)
            earned.setdefault(each.key, []).append(weight(each.categories))
    whole = {key: pick(found) for key, found in weights.items()}
    got = sum((max(found) if pick is max else whole[key]) for key, found in earned.items())
    return len(right), len(given), got, sum(whole.values())
