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


def test_a_plugin_gets_its_pandas(tmp_path: Path) -> None:
    (tmp_path / "plugged.py").write_text("import pandas\n\nMADE = pandas.Series([1]).sum()\n", encoding="utf-8")
    code = (
        "import sys\n"
        "from karat.cli.startup import speed_up_start\n"
        "speed_up_start(['score'])\n"
        "import karat\n"
        "karat.load('demo')\n"
        "assert 'pandas' not in sys.modules\n"
        "from plugged import MADE\n"
        "assert MADE == 1"
    )
    _run(code, cwd=tmp_path)


def test_functions_of_pyarrow_are_the_same(tmp_path: Path) -> None:
    """Only what is written about them is shorter."""
    code = (
        "from karat.cli.startup import speed_up_start\n"
        "speed_up_start([])\n"
        "import pyarrow as pa, pyarrow.compute as pc\n"
        "assert pc.index_in(pa.array(['b']), pa.array(['a', 'b']), skip_nulls=True).to_pylist() == [1]\n"
        "assert pc.equal.__doc__"
    )
    _run(code, cwd=tmp_path)
