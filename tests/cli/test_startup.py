"""What the command line spares itself, and that nobody else misses it."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not installed")


def _run(code: str, *arguments: str, cwd: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=cwd, capture_output=True, encoding="utf-8", check=False
    )
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("first", ["karat", "karat/__main__.py"])
def test_scoring_imports_no_pandas(first: str, tmp_path: Path) -> None:
    """The first argument is what was called, and says nothing of what the command does."""
    code = (
        f"import sys; sys.argv[0] = {first!r}\n"
        "from karat.cli.main import main\n"
        "main()\n"
        "assert 'pandas' not in sys.modules and 'ssl' not in sys.modules"
    )
    _run(code, "score", "demo", "demo/noisy", cwd=tmp_path)


def test_other_code_gets_its_pandas(tmp_path: Path) -> None:
    """Also pyarrow, once it converts to pandas."""
    code = (
        "import sys\n"
        "from karat.cli.startup import import_arrow, speed_up_start\n"
        "finders = list(sys.meta_path)\n"
        "speed_up_start(['score'])\n"
        "import_arrow()\n"
        "import karat\n"
        "corpus = karat.load('demo')\n"
        "assert 'pandas' not in sys.modules\n"
        "assert sys.meta_path == finders\n"
        "assert len(corpus.table.select(['id']).to_pandas()) == len(corpus)\n"
        "import pandas\n"
        "assert pandas.Series([1]).sum() == 1"
    )
    _run(code, cwd=tmp_path)


def test_nothing_is_hidden_from_a_python_file_of_the_user(tmp_path: Path) -> None:
    """It may pass a series of pandas to pyarrow, whose NaN is null."""
    code = (
        "from karat.cli.startup import import_arrow, speed_up_start\n"
        "speed_up_start(['score', '--match', './near.py'])\n"
        "import_arrow()\n"
        "import pandas, pyarrow\n"
        "assert pyarrow.array(pandas.Series([float('nan')])).null_count == 1"
    )
    _run(code, cwd=tmp_path)


def test_the_tokenizer_of_a_command_imports_no_torch(tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    pytest.importorskip("torch")
    code = (
        "import sys\n"
        "from karat.cli.startup import speed_up_start\n"
        "from karat.matching.facts.word_counts import count_words\n"
        "speed_up_start(['score'])\n"
        "assert count_words(['Ada met Bob.'])[0].all == 3\n"
        "assert 'torch' not in sys.modules\n"
        "import torch"
    )
    _run(code, cwd=tmp_path)


def test_a_scoring_command_has_one_thread_for_matrices_unless_the_user_chose(tmp_path: Path) -> None:
    code = (
        "import os\n"
        "from karat.cli.startup import speed_up_start\n"
        "os.environ.pop('OPENBLAS_NUM_THREADS', None)\n"
        "speed_up_start(['run'])\n"
        "assert 'OPENBLAS_NUM_THREADS' not in os.environ\n"
        "speed_up_start(['score'])\n"
        "assert os.environ['OPENBLAS_NUM_THREADS'] == '1'\n"
        "os.environ['OPENBLAS_NUM_THREADS'] = '4'\n"
        "speed_up_start(['score'])\n"
        "assert os.environ['OPENBLAS_NUM_THREADS'] == '4'"
    )
    _run(code, cwd=tmp_path)
