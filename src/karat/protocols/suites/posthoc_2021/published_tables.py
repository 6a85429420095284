"""Printed values of the posthoc paper (Ding, Botzer and Weninger 2021), and the counts that its program logged.

The raw judgements are lost. The paper prints Table 1; Figures 3 and 4 are drawings. The values behind them are in the
log files that the authors published with their program (github.com/yifding/e2e_EL_evaluate, folders results and
RUN_FILES). Rates are rounded to six digits.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from karat.systems.claims.posthoc_2021 import parse_rows

COMMAND: Final = "karat reproduce posthoc-2021 --data DIR --all"
"""The command that prints all values, since they follow from the logged counts."""

SOURCES: Final = ("GT", "E2E", "REL")
"""The ground truth and the two systems."""

TABLE_1_COLUMNS: Final = (
    "Docs",
    *(f"{count} {source}" for count in ("Annotations", "Tasks", "Verified Annotations") for source in SOURCES),
)

TABLE_1 = """\
AIDA-train  946  18541* 18301 21204  2801 2802 2913  18511 18274 21172
AIDA-A      216  4791   4758  5443   713  715  725   4787  4754  5439
AIDA-B      231  4485   4375  5086   636  646  654   4480  4370  5079
ACE2004     57*  257    1355  1675   114  318  334   256   1352  1672
AQUAINT     50   727    810   925    175  170  179   727   810   925
CLUEWEB     320  11154  12273 23114  3526 3678 4944  11139 12247 23056
MSNBC       20   656    629   756    164  163  171   656   629   756
WIKIPEDIA   345* 6793*  8141  11184  1348 1578 1638  6786  8136  11177
"""
"""Documents, and annotations, tasks and annotations shown of each source, as printed."""

LOGGED_TABLE_1 = """\
AIDA-train  946  18541  18301 21204  2801 2802 2913  18511 18274 21172
AIDA-A      216  4791   4758  5443   713  715  725   4787  4754  5439
AIDA-B      231  4485   4375  5086   636  646  654   4480  4370  5079
ACE2004     57   257    1355  1675   114  318  334   256   1352  1672
AQUAINT     50   727    810   925    175  170  179   727   810   925
CLUEWEB     320  11154  12273 23113  3526 3678 4944  11139 12247 23056
MSNBC       20   656    629   756    164  163  171   656   629   756
WIKIPEDIA   345  6793   8141  11184  1348 1578 1638  6786  8136  11177
"""
"""The same counts in the logs num_documents/ori and num_documents/split."""

OUTCOMES = """\
AIDA-train  16407 1544 240  16398 1347 204  18571 1879 360
AIDA-A      4246  450  47   4283  360  64   4791  527  78
AIDA-B      4014  373  42   3940  291  59   4453  406  115
ACE2004     239   8    2    1241  92   19   1475  165  22
AQUAINT     654   38   17   753   48   9    817   58   28
CLUEWEB     9735  1096 220  10867 813  217  19686 2224 828
MSNBC       590   43   13   575   44   10   648   56   20
WIKIPEDIA   5917  667  143  7197  660  154  9441  1296 229
"""
"""Links that judges verified, modified and removed, of each source (log verify_rate)."""

JUDGED_FILES = """\
AIDA-train  17951 240  17745 204  20450 360
AIDA-A      4696  47   4643  64   5318  78
AIDA-B      4387  42   4231  59   4859  115
ACE2004     247   2    1333  19   1640  22
AQUAINT     692   17   801   9    875   28
CLUEWEB     10831 220  11680 217  21910 828
MSNBC       633   13   619   10   704   20
WIKIPEDIA   6584  143  7857  154  10737 229
"""
"""Annotations with and without an entity in the files of judgements of each source (log verify_rate)."""

TOTAL_OUTCOMES = (146938, 14485, 3140)
"""Links verified, modified and removed in all (last lines of the log verify_rate)."""


AFTER = """\
AIDA-train GT   5189  0.970900 0.967046 0.974947  0.847150 0.839751 0.854885
AIDA-train E2E  5089  0.983297 0.980350 0.986245  0.841433 0.833361 0.849168
AIDA-train REL  5980  0.946990 0.941973 0.952007  0.952245 0.947537 0.956617
AIDA-A     GT   1377  0.962963 0.954248 0.970951  0.826683 0.810474 0.842269
AIDA-A     E2E  1376  0.975291 0.968023 0.982558  0.836658 0.822319 0.851621
AIDA-A     REL  1585  0.951420 0.941956 0.959621  0.940150 0.929551 0.950125
AIDA-B     GT   1244  0.946945 0.936495 0.956592  0.810736 0.794219 0.828630
AIDA-B     E2E  1165  0.980258 0.973391 0.987124  0.785960 0.767378 0.803854
AIDA-B     REL  1420  0.947183 0.937324 0.957042  0.925671 0.913971 0.936683
ACE2004    GT   106   0.962264 0.933962 0.990566  0.373626 0.329670 0.421245
ACE2004    E2E  221   0.972851 0.954751 0.990950  0.787546 0.743590 0.827839
ACE2004    REL  262   0.931298 0.904580 0.954198  0.893773 0.860806 0.923077
AQUAINT    GT   189   0.931217 0.899471 0.957672  0.511628 0.468023 0.558140
AQUAINT    E2E  224   0.950893 0.924107 0.973214  0.619186 0.578488 0.665698
AQUAINT    REL  249   0.919679 0.891566 0.947791  0.665698 0.625000 0.706395
CLUEWEB    GT   3545  0.925811 0.918477 0.933145  0.586700 0.575617 0.597962
CLUEWEB    E2E  3185  0.963265 0.957928 0.968603  0.548445 0.538255 0.559528
CLUEWEB    REL  5004  0.903677 0.896483 0.910272  0.808366 0.799607 0.816947
MSNBC      GT   211   0.947867 0.919431 0.971564  0.763359 0.725191 0.805344
MSNBC      E2E  209   0.966507 0.942584 0.985646  0.770992 0.732824 0.812977
MSNBC      REL  254   0.933071 0.905512 0.956693  0.904580 0.874046 0.931298
WIKIPEDIA  GT   1788  0.904922 0.894295 0.915548  0.540234 0.525209 0.556260
WIKIPEDIA  E2E  1949  0.950231 0.942022 0.958440  0.618364 0.603673 0.633055
WIKIPEDIA  REL  2535  0.900197 0.890335 0.909665  0.761937 0.749249 0.773623
"""
"""Links of each source, and precision and recall after verification, each with the ends of its interval.

The log post_hoc_evaluation is of an earlier stage of the collection: it has about a third of the final judgements.
"""

UNION_KINDS = """\
AIDA-train  17063 5452 116 68  2352
AIDA-A      4489  1614 37  33  708
AIDA-B      4087  1467 32  42  697
ACE2004     239   36   9   7   557
AQUAINT     599   91   38  49  537
CLUEWEB     8593  3395 167 273 5737
MSNBC       570   151  19  43  122
WIKIPEDIA   5740  2118 253 657 4631
"""
"""Accepted links by their relation to the ground truth (log GT_over_union).

Same span and entity; same span; overlapping with the same entity; overlapping; no overlap.
"""

SHARED_VOTES = """\
AIDA-train  11864 1994 477 54
AIDA-A      2905  484  113 13
AIDA-B      2590  391  72  12
ACE2004     135   7    1   0
AQUAINT     202   19   3   0
CLUEWEB     3548  472  113 22
MSNBC       346   45   7   6
WIKIPEDIA   2007  234  33  9
"""
"""Links that all three sources have, by how many of their three judges verified them: 3, 2, 1, 0.

Log intersection_anno_agreement.
"""

TOTAL_ANNOTATIONS = 167432
"""Annotations in all, as the text prints."""

N_RESAMPLES: Final = 1000
"""Bootstrap samples of the paper's intervals."""


class AfterRow(NamedTuple):
    """A row of `AFTER`."""

    links: int
    precision: float
    precision_bounds: tuple[float, float]
    recall: float
    recall_bounds: tuple[float, float]


def parse_groups(table: str, size: int) -> dict[str, list[tuple[int, ...]]]:
    """Return the counts of each dataset in groups of `size` columns."""
    return {
        dataset: [tuple(map(int, cells[i : i + size])) for i in range(0, len(cells), size)]
        for dataset, cells in parse_rows(table)
    }


def parse_after() -> dict[tuple[str, str], AfterRow]:
    """Return the rows of `AFTER` by dataset and source."""
    rows = {}
    for dataset, (source, links, *scores) in parse_rows(AFTER):
        precision, precision_low, precision_high, recall, recall_low, recall_high = map(float, scores)
        bounds = (precision_low, precision_high), (recall_low, recall_high)
        rows[dataset, source] = AfterRow(int(links), precision, bounds[0], recall, bounds[1])
    return rows
