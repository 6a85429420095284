"""The official figures of all submitted runs of HIPE-2022 that are at hand, beside Karat's under the profile `hipe`."""

from __future__ import annotations

import shutil
from collections import Counter

import pytest

from karat import InputError
from karat.protocols.suites.hipe import reproduce_hipe

pytestmark = pytest.mark.shared
RUN = "team2_bundle1_ajmc_en_1"
GOLD = "HIPE-2022-v2.1-ajmc-test-en.tsv.gz"


@pytest.mark.extras  # it takes long
def test_all_official_figures_are_equal(shared):
    """Forty runs on six gold tables: six figures in each of 704 rows, no slip of the scorer among them."""
    found = reproduce_hipe(str(shared / "formats" / "hipe"))
    assert (found.experiments, found.n_compared, found.n_equal) == (40, 4224, 4224)
    assert (list(found.differences), list(found.notes)) == ([], [])
    tasks: Counter[str] = Counter()
    for kind, group in found.groups.items():
        tasks[kind.split("-")[0]] += group.figures
    assert tasks == {"NE": 3792, "NEL": 432}


def copied(shared, folder, *names):
    for name in names:
        shutil.copyfile(shared / "formats" / "hipe" / name, folder / name)
    return folder


def test_another_official_figure_is_told(shared, tmp_path):
    scores = f"{RUN}_nel.scores.tsv"
    copied(shared, tmp_path, GOLD, f"{RUN}.tsv.gz", scores)
    path = tmp_path / scores
    path.write_text(path.read_text(encoding="utf-8").replace("\t8\t362\t", "\t9\t362\t"), encoding="utf-8")
    found = reproduce_hipe(str(tmp_path))
    assert (found.n_compared, found.n_equal, len(found.differences)) == (24, 23, 1)
    (one,) = found.differences
    assert (one.figure, one.value, one.expected, one.reason) == ("NEL-LIT-micro-fuzzy-@1 ALL TP", 8, 9, None)


def test_runs_that_cannot_be_compared_are_told(shared, tmp_path):
    copied(shared, tmp_path, GOLD, f"{RUN}_nel.scores.tsv")
    assert list(reproduce_hipe(str(tmp_path)).notes) == [f"{RUN}: the run is missing"]
    (tmp_path / f"{RUN}.tsv").write_text("TOKEN\tNE-COARSE-LIT\tNEL-LIT\na\tO\t_\n", encoding="utf-8")
    found = reproduce_hipe(str(tmp_path))
    assert (found.n_compared, found.n_equal) == (24, 0)
    assert "found 1 tokens" in str(found.differences[0].reason)
    (tmp_path / GOLD).unlink()
    assert list(reproduce_hipe(str(tmp_path)).notes) == [f"{RUN}: the gold table is missing"]
    (tmp_path / f"{RUN}_nel.scores.tsv").unlink()
    with pytest.raises(InputError, match="no file with official scores"):
        reproduce_hipe(str(tmp_path))


def test_a_score_file_of_another_kind_is_refused(shared, tmp_path):
    copied(shared, tmp_path, GOLD, f"{RUN}.tsv.gz")
    scores = tmp_path / f"{RUN}_nel.scores.tsv"
    scores.write_text("System\tEvaluation\tLabel\nx\tNE-COARSE-METO-micro-fuzzy\tALL\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"nel\.scores\.tsv:2: found the evaluation 'NE-COARSE-METO-micro-fuzzy'"):
        reproduce_hipe(str(tmp_path))
