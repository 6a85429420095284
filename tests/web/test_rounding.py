"""Numbers on pages are rounded as commands print them."""

from __future__ import annotations

import json
import subprocess
from random import Random

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.extras

WEB = ROOT / "web"
SCRIPT = """
import { transformSync } from "esbuild";
import { readFileSync } from "node:fs";
const code = transformSync(readFileSync("src/rounding.ts", "utf8"), { loader: "ts" }).code;
const { formatFixed } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
const cases = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map(([value, digits]) => formatFixed(value, digits))));
"""


def test_pages_round_as_commands_do():
    """96.25 is exactly between 96.2 and 96.3: commands print 96.2, and pages printed 96.3."""
    if not (WEB / "node_modules").exists():
        pytest.skip("run npm install in web first")
    random = Random(0)
    values = [96.25, 96.75, 0.25, 0.75, 99.95, 0.05, 0.15, 2.5, 3.5, 0.0625, -96.25, -0.5, 0.0, 100.0, 1e9 + 0.25]
    values += [random.randrange(100_000) / 2 ** random.randrange(1, 6) for _ in range(500)]
    values += [100 * random.randrange(1000) / random.randrange(1, 1000) for _ in range(500)]
    cases = [(value, digits) for value in values for digits in (0, 1, 2, 3)]
    done = subprocess.run(
        ["node", "--input-type=module", "-e", SCRIPT],
        cwd=WEB,
        input=json.dumps(cases).encode(),
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout) == [f"{value:.{digits}f}" for value, digits in cases]
    assert "96.2" in json.loads(done.stdout)
