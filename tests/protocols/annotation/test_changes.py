"""Laws of changes: their fold, and undo and redo."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from karat import Label
from karat.protocols.annotation.changes import (
    AnnotatedLabel,
    Change,
    DocumentState,
    LabelEdit,
    apply_changes,
    reverse_edits,
)

IDS = ("n0", "n1", "s0")
states = st.one_of(
    st.none(), st.just(UNSET), st.integers(1, 4).map(lambda n: AnnotatedLabel(Label(n, n + 1, f"Q{n}"), "x" * (n % 2)))
)
edits = st.dictionaries(st.sampled_from(IDS), states, min_size=1)
actions = st.lists(st.one_of(edits, st.sampled_from(["undo", "redo", "finish", "reopen", "round"])), max_size=25)


def make_changes(steps):
    """Changes as the store would write them; an undo or redo of nothing is left out."""
    state, changes = DocumentState(), []
    for number, step in enumerate(steps):
        kind = "edit" if isinstance(step, dict) else step
        fields = {}
        if kind in ("undo", "redo"):
            stack = state.done if kind == "undo" else state.undone
            if not stack:
                continue
            last = stack[-1]
            fields = {"undone_id": last.id, "edits": reverse_edits(last) if kind == "undo" else last.edits}
        elif kind == "edit":
            before = [LabelEdit(id, after, state.labels.get(id, UNSET)) for id, after in step.items()]
            fields = {"edits": tuple(before)}
        change = Change(id=f"c{number}", annotator="a", task=0, kind=kind, server_time="", **fields)
        changes.append(change)
        state = state.extend([change])
    return changes


@given(actions, st.integers(0, 25))
def test_a_state_is_the_fold_of_all_changes_however_they_arrive(steps, cut):
    changes = make_changes(steps)
    whole = DocumentState().extend(changes)
    assert DocumentState().extend(changes[:cut]).extend(changes[cut:]) == whole
    assert whole.labels == apply_changes(changes)
    assert whole.revision == sum(change.kind not in ("finish", "reopen") for change in changes)


@given(actions)
def test_undo_takes_back_and_redo_restores(steps):
    before = DocumentState().extend(make_changes(steps))
    after = DocumentState().extend(make_changes([*steps, {"n0": None, "n1": UNSET}]))
    undone = DocumentState().extend(make_changes([*steps, {"n0": None, "n1": UNSET}, "undo"]))
    redone = DocumentState().extend(make_changes([*steps, {"n0": None, "n1": UNSET}, "undo", "redo"]))
    assert undone.labels == before.labels
    assert redone.labels == after.labels
    assert (redone.done, redone.undone) == (after.done, ())


@given(actions)
def test_everything_can_be_undone_and_done_again(steps):
    changes = make_changes([step for step in steps if step != "round"])
    state = DocumentState().extend(changes)
    n_done = len(state.done)
    kinds = ["undo"] * n_done + ["redo"] * n_done
    every = make_changes([*[step for step in steps if step != "round"], *kinds])
    assert DocumentState().extend(every[: len(changes) + n_done]).labels == {}
    assert DocumentState().extend(every).labels == state.labels
